/* SPDX-License-Identifier: MIT
 *
 * What the passes of lower/ make of arithmetic computes what it computed before, and none of the
 * operations that selection doesn't know is left.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "agx/compiler/lower/lower.h"
#include "ir_eval.h"
#include "ir_text.h"

/* Kernels of %0 and %1, which are the first two words of push constants; %9 is stored. */
static const char *const kernels[] = {
   /* 32 bits */
   "%9:32 = udiv %0:32, #10:32\n",
   "%9:32 = umod %0:32, #7:32\n",
   "%9:32 = sdiv %0:32, #0xfffffffd:32\n",
   "%9:32 = smod %0:32, #16:32\n",
   "%2:32 = ior %1:32, #1:32\n%9:32 = udiv %0:32, %2:32\n",
   "%2:32 = ior %1:32, #1:32\n%9:32 = srem %0:32, %2:32\n",
   "%2:32 = iand %1:32, #15:32\n%9:32 = ubfe %0:32, #3:32, %2:32\n",
   "%2:32 = iand %1:32, #15:32\n%9:32 = sbfe %0:32, #5:32, %2:32\n",
   "%2:32 = iand %1:32, #15:32\n%9:32 = bfi %0:32, %1:32, #8:32, %2:32\n",
   /* 8 and 16 bits */
   "%2:16 = trunc %0:32\n%3:16 = udiv %2:16, #13:16\n%9:32 = zext %3:16\n",
   "%2:16 = trunc %0:32\n%3:16 = srem %2:16, #11:16\n%9:32 = sext %3:16\n",
   "%2:8 = trunc %0:32\n%3:8 = trunc %1:32\n%4:8 = umulh %2:8, %3:8\n%9:32 = zext %4:8\n",
   "%2:8 = trunc %0:32\n%3:8 = trunc %1:32\n%4:8 = imin %2:8, %3:8\n%9:32 = sext %4:8\n",
   "%2:8 = trunc %0:32\n%3:8 = bitrev %2:8\n%9:32 = zext %3:8\n",
   "%2:8 = trunc %0:32\n%3:8 = ashr %2:8, #3:32\n%9:32 = sext %3:8\n",
   "%2:8 = trunc %0:32\n%3:1 = ult %2:8, #100:8\n%9:32 = zext %3:1\n",
   /* 64 bits */
   "%2:64 = pack64 %0:32, %1:32\n%3:64 = ineg %2:64\n%4:64 = ushr %3:64, #20:32\n"
   "%9:32 = trunc %4:64\n",
   "%2:64 = pack64 %0:32, %1:32\n%3:64 = ashr %2:64, #40:32\n%9:32 = trunc %3:64\n",
   "%2:64 = pack64 %0:32, %1:32\n%3:64 = pack64 %1:32, %0:32\n%4:1 = slt %2:64, %3:64\n"
   "%5:64 = select %4:1, %2:64, %3:64\n%9:32 = trunc %5:64\n",
   "%2:64 = sext %0:32\n%3:64 = imax %2:64, #5:64\n%4:32 = bitcount %3:64\n%9:32 = iadd %4:32, "
   "%1:32\n",
   "%2:64 = pack64 %0:32, %1:32\n%3:64 = bitrev %2:64\n%4:64 = find_umsb %3:64\n"
   "%9:32 = trunc %4:64\n",
   "%2:64 = zext %0:32\n%3:64 = umod %2:64, #1000:64\n%9:32 = trunc %3:64\n",
   "%2:64 = pack64 %0:32, %1:32\n%3:64 = ubfe %2:64, #20:32, #30:32\n%9:32 = trunc %3:64\n",
};

static const uint32_t numbers[] = {0, 1, 2, 9, 255, 0x8000, 0x7fffffff, 0x80000000, 0xfffffffe};

/* What the kernel stores for those push constants. */
static uint32_t run(const struct agxc_shader *shader, uint32_t a, uint32_t b)
{
   uint32_t result = 0xdeadbeef;
   struct ir_eval eval = {
      .shader = shader,
      .buffers = {{(uint8_t *)&result, sizeof(result)}},
      .workgroups = {1, 1, 1},
      .max_steps = 1000,
   };
   memcpy(eval.push, (uint32_t[]){a, b}, 8);
   assert_ok(ir_eval_run(&eval));
   return result;
}

static void lower_all(struct agxc_shader *shader)
{
   static bool (*const passes[])(struct agxc_shader *) = {
      agxc_lower_subgroup, agxc_lower_narrow, agxc_lower_int64,
      agxc_lower_division, agxc_lower_math,
   };
   for (size_t i = 0; i < AGX_COUNT(passes); i++) {
      passes[i](shader);
      agxc_index(shader);
      assert_ok(agxc_validate(shader, AGXC_STAGE_GENERIC));
   }
}

static bool is_unknown_to_selection(const struct agxc_instr *instr)
{
   bool is_division = instr->op >= AGXC_OP_UDIV && instr->op <= AGXC_OP_SMOD;
   bool is_division_of_floats = instr->op >= AGXC_OP_FDIV && instr->op <= AGXC_OP_FMOD;
   return is_division || is_division_of_floats || instr->op == AGXC_OP_ELEMENT;
}

static void arithmetic_stays_the_same(void **state)
{
   for (size_t i = 0; i < AGX_COUNT(kernels); i++) {
      uint32_t before[AGX_COUNT(numbers)][AGX_COUNT(numbers)];
      struct ir_text text;
      char body[1024];
      snprintf(body, sizeof(body),
               "%%0:32 = load_push offset=0\n%%1:32 = load_push offset=4\n%s"
               "store_buffer #0:32, %%9:32, binding=0, access=0\n",
               kernels[i]);
      ir_text_begin(&text, "1x1x1", body);
      for (size_t a = 0; a < AGX_COUNT(numbers); a++)
         for (size_t b = 0; b < AGX_COUNT(numbers); b++)
            before[a][b] = run(text.shader, numbers[a], numbers[b]);
      lower_all(text.shader);
      agxc_foreach_block (block, text.shader)
         agxc_foreach_instr (instr, block)
            if (is_unknown_to_selection(instr))
               fail_msg("%s is left of\n%s", agxc_op_info(instr->op)->name, kernels[i]);
      for (size_t a = 0; a < AGX_COUNT(numbers); a++)
         for (size_t b = 0; b < AGX_COUNT(numbers); b++) {
            uint32_t after = run(text.shader, numbers[a], numbers[b]);
            if (after != before[a][b])
               fail_msg("%u, %u: %u, not %u\n%s", numbers[a], numbers[b], after, before[a][b],
                        kernels[i]);
         }
      ir_text_end(&text);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(arithmetic_stays_the_same),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
