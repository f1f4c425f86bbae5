/* SPDX-License-Identifier: MIT
 *
 * Costs of instructions, spot-checked against the published measurements that
 * cost.def takes them from.
 */
#include "support.h"

#include <string.h>

#include "agx/isa/cost.h"
#include "base/util.h"

static const struct {
   const char *text;
   unsigned throughput, latency;
   bool shared;
} cases[] = {
   {"ldimm32 d=r0 imm=5", 1, 2, false},
   {"mov d=r0 a=r1", 1, 2, false},
   {"fadd d=r0 a=r1 b=r2", 1, 3, false},
   {"hfma d=r0l a=r1l b=r2l c=r3l", 1, 3, false},
   {"iadd d=r0l a=r1l b=r2l", 1, 3, false},
   {"iadd d=dr0 a=dr2 b=r4.sx", 5, 11, false},
   {"icsel d=r0l a=r1l b=r2l x=r3l y=r4l cond=ult", 1, 3, false},
   {"icsel d=r0 a=r1l b=r2l x=r3 y=r4 cond=ult", 1, 5, false},
   {"fcsel d=r0 a=r1 b=r2 x=r3 y=r4 cond=flt", 1, 5, false},
   {"xor d=r0 a=r1 b=r2", 2, 3, false},
   {"imul d=r0 a=r1 b=r2", 4, 4, true},
   {"imadd d=dr0 a=r2 b=r3 c=r4", 8, 10, true},
   {"shl d=r0 b=r1 c=3", 4, 4, true},
   {"f_to_s32 d=r0 a=r1 round=rtz", 4, 4, true},
   {"exp2 d=r0 a=r1", 4, 5, true},
   {"rcp d=r0 a=r1", 6, 7, true},
   {"rsqrt d=r0 a=r1", 8, 9, true},
   {"shuffle d=r0 a=r1 b=1 window=simd op=xor", 2, 5, true},
   {"simd d=r0 a=r1 op=fadd", 16, 30, true},
   {"simd d=r0 a=r1 prefix op=iadd", 13, 24, true},
   {"quad d=r0 a=r1 op=iadd", 8, 15, true},
   {"quad d=r0 a=r1 prefix op=iadd", 3, 7, true},
   {"load r=r0 base=du0 index=r4 format=i32 mask=x group=a", 2, 200, false},
   {"lload r=r0 base=r4l index=0 format=i32 mask=x", 1, 30, false},
   {"barrier", 2, 10, false},
   {"stop", 1, 1, false},
};

static void measured_costs(void **state)
{
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_isa_instr instr;
      assert_ok(agx_isa_parse(cases[i].text, strlen(cases[i].text), &instr));
      struct agx_isa_cost cost = agx_isa_cost(&instr);
      if (cost.throughput != cases[i].throughput || cost.latency != cases[i].latency ||
          cost.shared_pipe != cases[i].shared)
         fail_msg("%s: %u/%u", cases[i].text, cost.throughput, cost.latency);
   }
}

/* Every row of the integer-and-complex pipe is shared, and no row is free. */
static void units_and_costs_agree(void **state)
{
   for (unsigned op = 0; op < AGX_ISA_OP_COUNT; op++) {
      struct agx_isa_instr instr = {.op = (uint16_t)op};
      struct agx_isa_cost cost = agx_isa_cost(&instr);
      assert_true(cost.throughput > 0 && cost.latency > 0);
      if (agx_isa_info(op)->unit == AGX_ISA_UNIT_IC)
         assert_true(cost.shared_pipe);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(measured_costs),
      cmocka_unit_test(units_and_costs_agree),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
