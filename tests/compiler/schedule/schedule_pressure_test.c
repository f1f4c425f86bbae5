/* SPDX-License-Identifier: MIT
 *
 * Blocks whose values cost threads are ordered so that fewer live at once; others stay.
 */
#include "pass_support.h"

#include <string.h>

#include "agx/compiler/schedule/schedule.h"
#include "agx/compiler/analysis/liveness.h"

#define LANE                                                                                       \
   "%0:32 = agx.mfsr sr=thread_index_in_simdgroup\n%1:16 = agx.mfsr "                              \
   "sr=thread_index_in_simdgroup\n"
#define BARRIER "agx.barrier\n"
#define ROWS    4
#define STEPS   32

/* A matrix product as producers write it: everything is read between two barriers (a row of four
 * words for each of the steps, and as many words for each row of sums), then sums row by row. */
static const char *reads_then_sums(struct agx_arena *arena, unsigned rows, unsigned steps)
{
   const char *text = PASS_HEADER LANE BARRIER;
   unsigned id = 2;
   for (unsigned i = 0; i < rows * steps / 4 + steps; i++, id += 5)
      text =
         agx_arena_printf(arena,
                          "%s%%%u:32x4 = agx.lload %%1:16, #%u:16, format=i32, mask=xyzw\n%%%u:32, "
                          "%%%u:32, %%%u:32, %%%u:32 = split %%%u:32x4\n",
                          text, id, 4 * i, id + 1, id + 2, id + 3, id + 4, id);
   text = agx_arena_printf(arena, "%s" BARRIER, text);
   unsigned sums[4 * ROWS], b = 2 + 5 * rows * steps / 4;
   for (unsigned row = 0; row < rows; row++)
      for (unsigned k = 0; k < steps; k++)
         for (unsigned column = 0; column < 4; column++) {
            unsigned a = 2 + 5 * (row * steps / 4 + k / 4) + 1 + k % 4,
                     *sum = &sums[4 * row + column];
            text = agx_arena_printf(arena,
                                    k ? "%s%%%u:32 = agx.ffma %%%u:32, %%%u:32, %%%u:32\n"
                                      : "%s%%%u:32 = agx.fmul %%%u:32, %%%u:32\n",
                                    text, id, a, b + 5 * k + 1 + column, *sum);
            *sum = id++;
         }
   for (unsigned i = 0; i < 4 * rows; i++)
      text = agx_arena_printf(arena,
                              "%sagx.store %%%u:32, u0l:64, %%0:32, format=i32, mask=x, group=a\n",
                              text, sums[i]);
   return text;
}

static uint32_t pressure(struct agxc_shader *shader)
{
   agxc_index(shader);
   return agxc_liveness_compute(shader)->max_halves;
}

static struct agxc_shader *parse(struct agx_arena *arena, const struct agxc_options *options,
                                 unsigned rows, unsigned steps)
{
   struct agxc_shader *shader = NULL;
   assert_ok(agxc_parse(arena, options, reads_then_sums(arena, rows, steps), &shader));
   return shader;
}

static void sums_stand_behind_their_reads(void **state)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_arena arena;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = parse(&arena, &options, ROWS, STEPS);
   assert_true(pressure(shader) >= 512);
   assert_true(agxc_schedule_pressure(shader));
   assert_ok(agxc_validate(shader, AGXC_STAGE_MACHINE));
   /* Sixteen sums, four words for each row, a row of four, and what has just been read. */
   assert_in_range(pressure(shader), 1, 104);
   /* All reads are still between the barriers. */
   const char *text = agxc_print(shader, &arena), *end = text;
   for (const char *at = text; (at = strstr(at, BARRIER)); at++)
      end = at;
   assert_null(strstr(end, "agx.lload"));
   agx_arena_fini(&arena);
}

/* Four vectors times four, added to sixteen sums, one element of all vectors after the other, while
 * thirteen further words wait. */
static const char *outer_products(struct agx_arena *arena, const char *header)
{
   const char *text = agx_arena_printf(arena, "%s%s", header, LANE);
   for (unsigned i = 0; i < 29; i++)
      text = agx_arena_printf(arena,
                              "%s%%%u:32 = agx.load u0l:64, %%0:32, format=i32, mask=x, group=a\n",
                              text, 100 + i);
   text = agx_arena_printf(arena, "%sagx.if_icmp %%0:32, #1:32, #1:64, cond=ult\nif\nelse\nend\n",
                           text);
   for (unsigned i = 0; i < 8; i++)
      text = agx_arena_printf(
         arena,
         "%s%%%u:32x4 = agx.lload %%1:16, #%u:16, format=i32, mask=xyzw\n%%%u:32, "
         "%%%u:32, %%%u:32, %%%u:32 = split %%%u:32x4\n",
         text, 10 + 5 * i, 4 * i, 11 + 5 * i, 12 + 5 * i, 13 + 5 * i, 14 + 5 * i, 10 + 5 * i);
   unsigned sums[16], id = 200;
   for (unsigned i = 0; i < 16; i++)
      sums[i] = 100 + i;
   for (unsigned k = 0; k < 4; k++)
      for (unsigned i = 0; i < 16; i++, id++) {
         text = agx_arena_printf(arena, "%s%%%u:32 = agx.ffma %%%u:32, %%%u:32, %%%u:32\n", text,
                                 id, 11 + 5 * (i / 4) + k, 31 + 5 * (i % 4) + k, sums[i]);
         sums[i] = id;
      }
   text = agx_arena_printf(arena, "%sagx.if_icmp %%0:32, #1:32, #1:64, cond=ult\nif\nelse\nend\n",
                           text);
   for (unsigned i = 0; i < 29; i++)
      text = agx_arena_printf(arena,
                              "%sagx.store %%%u:32, u0l:64, %%0:32, format=i32, mask=x, group=a\n",
                              text, i < 16 ? sums[i] : 100 + i);
   return text;
}

static void vectors_come_one_after_the_other(void **state)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_arena arena;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = NULL;
   assert_ok(agxc_parse(&arena, &options, outer_products(&arena, PASS_HEADER), &shader));
   assert_true(pressure(shader) > 120);
   assert_true(agxc_schedule_pressure(shader));
   assert_ok(agxc_validate(shader, AGXC_STAGE_MACHINE));
   /* 29 words, the lane, four vectors and one more. */
   assert_in_range(pressure(shader), 1, 104);
   agx_arena_fini(&arena);
}

/* A core has room for one such workgroup, by its memory: registers that a second one would need
 * are free. */
static void registers_that_no_workgroup_gains_are_free(void **state)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_arena arena;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = NULL;
   const char *header = "shader main local 256x1x1 shared 32000 push 0\n";
   assert_ok(agxc_parse(&arena, &options, outer_products(&arena, header), &shader));
   assert_false(agxc_schedule_pressure(shader));
   agx_arena_fini(&arena);
}

/* Where no thread is lost there is nothing to do. */
static void few_registers_stay(void **state)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_arena arena;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = parse(&arena, &options, 1, 8);
   assert_false(agxc_schedule_pressure(shader));
   agx_arena_fini(&arena);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_stand_behind_their_reads),
      cmocka_unit_test(vectors_come_one_after_the_other),
      cmocka_unit_test(registers_that_no_workgroup_gains_are_free),
      cmocka_unit_test(few_registers_stay),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
