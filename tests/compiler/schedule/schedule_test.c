/* SPDX-License-Identifier: MIT
 *
 * The scheduler where registers run out; schedule/schedule.ir has the others.
 */
#include "agx/compiler/schedule/schedule.h"
#include "pass_support.h"

#include <string.h>

#define STORE(data, base, index)                                                                   \
   "agx.store " data ":32, " base ":64, " index ":32, format=i32, mask=x, group=a\n"
#define LANE "%0:32 = agx.mfsr sr=thread_index_in_simdgroup\n"

/* Twelve loads of four words, and after each of them sums that live at once. */
static const char *loads_and_sums(struct agx_arena *arena)
{
   const char *text = PASS_HEADER LANE;
   unsigned id = 1, all = 0;
   for (unsigned i = 0; i < 12; i++, id += 17) {
      unsigned v = id, e = id + 1, sum = id + 5;
      text = agx_arena_printf(arena,
                              "%s%%%u:32x4 = agx.load u%ul:64, %%0:32, format=i32, mask=xyzw, "
                              "group=a\n%%%u:32, %%%u:32, %%%u:32, %%%u:32 = split %%%u:32x4\n",
                              text, v, 4 * i, e, e + 1, e + 2, e + 3, v);
      for (unsigned j = 0; j < 12; j++) {
         unsigned a = j < 6 ? e + j % 4 : sum + j - 6;
         unsigned b = j < 6 ? e + (j + 1 + j / 4) % 4 : all;
         text =
            agx_arena_printf(arena, "%s%%%u:32 = agx.iadd %%%u:32, %%%u:32\n", text, sum + j, a, b);
         all = j < 6 ? all : sum + j;
      }
   }
   return agx_arena_printf(arena, "%s" STORE("%%%u", "u100l", "%%0"), text, all);
}

/* An order that needs too many registers is made again with less room, not given up: most
 * loads still come before the first sum. */
static void registers_that_run_out_cost_few_loads(void **state)
{
   struct agxc_options options = {.chip = agx_chip_find("g13g")};
   struct agx_arena arena;
   jmp_buf failed;
   agx_arena_init(&arena, NULL, SIZE_MAX, &failed);
   struct agxc_shader *shader = NULL;
   assert_ok(agxc_parse(&arena, &options, loads_and_sums(&arena), &shader));
   assert_true(agxc_schedule(shader));
   assert_ok(agxc_validate(shader, AGXC_STAGE_MACHINE));
   const char *text = agxc_print(shader, &arena), *sum = strstr(text, "agx.iadd");
   unsigned loads = 0;
   for (; (text = strstr(text, "agx.load")) && text < sum; text++)
      loads++;
   assert_in_range(loads, 8, 12);
   agx_arena_fini(&arena);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(registers_that_run_out_cost_few_loads),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
