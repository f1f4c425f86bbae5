/* SPDX-License-Identifier: MIT
 *
 * What selection makes of constants, over more of them than select/alu.ir could show.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/select/select.h"
#include "ir_text.h"

/* The n-th machine instruction of that opcode. */
static struct agxc_instr *machine_at(const struct ir_text *t, enum agx_isa_op opcode, unsigned n)
{
   agxc_foreach_instr_of (instr, t->shader)
      if (agxc_has_opcode(instr, opcode) && n-- == 0)
         return instr;
   fail_msg("no %s", agx_isa_info(opcode)->name);
   return NULL;
}

/* What selection makes of the constant in a float sum. */
static struct agxc_ref float_source(float value)
{
   struct ir_text t;
   uint32_t bits;
   char body[128];
   memcpy(&bits, &value, sizeof(bits));
   snprintf(body, sizeof(body), "%%0:32 = load_shared #0:32\n%%1:32 = fadd %%0:32, #0x%x:32\n",
            bits);
   ir_text_begin(&t, "32x1x1", body);
   agxc_select(t.shader);
   struct agxc_ref source = *agxc_machine_b(machine_at(&t, AGX_ISA_OP_FADD, 0));
   ir_text_end(&t);
   return source;
}

/* Source of the format: docs/hw/machine.md, section 4. */
static void every_small_float_is_an_immediate(void **state)
{
   (void)state;
   for (int i = 0; i < 256; i++) {
      int e = i >> 4 & 7, m = i & 15;
      float magnitude = e ? (float)(16 + m) * (float)(1 << e) / 128.0f : (float)m / 64.0f;
      struct agxc_ref source = float_source(i & 0x80 ? -magnitude : magnitude);
      assert_int_equal(source.kind, AGXC_FIMM);
      assert_int_equal(source.imm, i);
   }
   assert_int_equal(float_source(1.03f).kind, AGXC_UNIFORM);
   assert_int_equal(float_source(32.0f).kind, AGXC_UNIFORM);
}

#define CONSTANTS 300

/* Uniform registers hold constants until what bindings and push data may need is left; behind that
 * each costs an instruction. */
static void constants_leave_uniforms_to_bindings(void **state)
{
   (void)state;
   static char body[CONSTANTS * 64];
   size_t length = (size_t)snprintf(body, sizeof(body), "%%0:32 = load_shared #0:32\n");
   for (unsigned i = 0; i < CONSTANTS; i++)
      length +=
         (size_t)snprintf(body + length, sizeof(body) - length, "%%%u:32 = ixor %%0:32, #0x%x:32\n",
                          i + 1, 0x10000 + AGX_MAX(i, 1u));
   struct ir_text t;
   ir_text_begin(&t, "32x1x1", body);
   agxc_select(t.shader);
   unsigned uniforms = 0, loaded = 0;
   for (unsigned i = 0; i < CONSTANTS; i++) {
      struct agxc_ref source = *agxc_machine_b(machine_at(&t, AGX_ISA_OP_XOR, i));
      uniforms += source.kind == AGXC_UNIFORM;
      loaded += source.kind == AGXC_VALUE && agxc_has_opcode(source.value->def, AGX_ISA_OP_LDIMM32);
   }
   /* The first two are the same, which has one place. */
   assert_int_equal(agxc_machine_b(machine_at(&t, AGX_ISA_OP_XOR, 0))->half,
                    agxc_machine_b(machine_at(&t, AGX_ISA_OP_XOR, 1))->half);
   assert_int_equal(uniforms, t.shader->uniform_halves / 2 + 1);
   assert_int_equal(uniforms + loaded, CONSTANTS);
   assert_in_range(t.shader->uniform_count, 1, AGX_PROGRAM_MAX_UNIFORMS - 1);
   assert_in_range(t.shader->uniform_halves, 100, 448);
   ir_text_end(&t);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_small_float_is_an_immediate),
      cmocka_unit_test(constants_leave_uniforms_to_bindings),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
