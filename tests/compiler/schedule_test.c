/* SPDX-License-Identifier: MIT
 *
 * The scheduler: loads come together, and nothing passes what it must not pass.
 */
#include "agx/compiler/schedule/schedule.h"
#include "pass_support.h"

#include <string.h>

#define LOAD(d, base, index)                                                                       \
   d ":32 = agx.load " base ":64, " index ":32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
#define STORE(data, base, index)                                                                   \
   "agx.store " data ":32, " base ":64, " index ":32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
#define LLOAD(d, base, index) d ":32 = agx.lload " base ":16, " index ":16, #2:64, #1:64\n"
#define LSTORE(data, base, index)                                                                  \
   "agx.lstore " data ":32, " base ":16, " index ":16, #2:64, #1:64\n"
#define ADD(d, a, b) d ":32 = agx.iadd " a ":32, " b ", #0:64, #0:64\n"
#define LANE         "%0:32 = agx.mfsr #0x34:64\n"

/* The second load and its address pass the use of the first one. */
static void loads_come_together(void **state)
{
   CASE(LANE LOAD("%1", "u0l", "%0") ADD("%2", "%1", "%0:32") ADD("%3", "%0", "#1:32")
           LOAD("%4", "u0l", "%3") ADD("%5", "%2", "%4:32") STORE("%5", "u0l", "%0"),
        LANE LOAD("%1", "u0l", "%0") ADD("%3", "%0", "#1:32") LOAD("%4", "u0l", "%3")
           ADD("%2", "%1", "%0:32") ADD("%5", "%2", "%4:32") STORE("%5", "u0l", "%0"),
        agxc_schedule);
}

/* A store to another place of the same buffer doesn't hold a load back. */
static void what_is_apart_passes(void **state)
{
   CASE(LANE ADD("%1", "%0", "#1:32") STORE("%0", "u0l", "%1") LOAD("%2", "u0l", "%0")
           STORE("%2", "u0l", "%0"),
        LANE LOAD("%2", "u0l", "%0") ADD("%1", "%0", "#1:32") STORE("%0", "u0l", "%1")
           STORE("%2", "u0l", "%0"),
        agxc_schedule);
   CASE("%0:16 = agx.mfsr #0x34:64\n%1:32 = agx.mfsr #0x34:64\n" LSTORE("%1", "%0", "#1")
           LLOAD("%2", "%0", "#2") LSTORE("%2", "%0", "#1"),
        "%0:16 = agx.mfsr #0x34:64\n%1:32 = agx.mfsr #0x34:64\n" LLOAD("%2", "%0", "#2")
           LSTORE("%1", "%0", "#1") LSTORE("%2", "%0", "#1"),
        agxc_schedule);
}

/* Another buffer may be the same memory; so may an index that nobody knows. */
static void what_may_meet_stays(void **state)
{
   NEGCASE(LANE STORE("%0", "u2l", "%0") LOAD("%1", "u0l", "%0") STORE("%1", "u0l", "%0"),
           agxc_schedule);
   NEGCASE(LANE ADD("%1", "%0", "%0:32") STORE("%0", "u0l", "%1") LOAD("%2", "u0l", "%0")
              STORE("%2", "u0l", "%0"),
           agxc_schedule);
   NEGCASE("%0:16 = agx.mfsr #0x34:64\n%1:32 = agx.mfsr #0x34:64\n" LSTORE("%1", "%0", "#1")
              LLOAD("%2", "%0", "#1") LSTORE("%2", "%0", "#2"),
           agxc_schedule);
}

/* Atomic loads of one word (whose indices may be equal) must not find an older value after a
 * newer one; others change places when a longer way begins with the later one. */
static void atomic_loads_keep_their_order(void **state)
{
#define LANES "%0:16 = agx.mfsr #0x34:64\n"
#define FIRST(exact)                                                                               \
   "%1:32 = agx.lload" exact " %0:16, #1:16, #2:64, #1:64\n%2:32 = agx.iadd %1:32, #1:32, #0:64, " \
   "#0:64\n"
#define SECOND(exact) "%3:16 = agx.lload" exact " %0:16, #2:16, #1:64, #1:64\n"
#define REST                                                                                       \
   LLOAD("%4", "%3", "#0")                                                                         \
   ADD("%5", "%4", "%1:32") ADD("%6", "%5", "%2:32") LSTORE("%6", "%0", "#1")
   CASE(LANES FIRST("") SECOND("") REST,
        LANES SECOND("") "%1:32 = agx.lload %0:16, #1:16, #2:64, #1:64\n" LLOAD("%4", "%3", "#0")
           ADD("%2", "%1", "#1:32") ADD("%5", "%4", "%1:32") ADD("%6", "%5", "%2:32")
              LSTORE("%6", "%0", "#1"),
        agxc_schedule);
   CASE(LANES FIRST(".exact") SECOND(".exact") REST,
        LANES "%1:32 = agx.lload.exact %0:16, #1:16, #2:64, #1:64\n" SECOND(".exact")
           ADD("%2", "%1", "#1:32") LLOAD("%4", "%3", "#0") ADD("%5", "%4", "%1:32")
              ADD("%6", "%5", "%2:32") LSTORE("%6", "%0", "#1"),
        agxc_schedule);
}

static void barriers_hold_memory(void **state)
{
   NEGCASE(LANE "agx.barrier\n" LOAD("%1", "u0l", "%0") STORE("%1", "u0l", "%0"), agxc_schedule);
   NEGCASE(LANE STORE("%0", "u0l", "%0") "agx.barrier\n" LOAD("%1", "u0l", "%0")
              STORE("%1", "u0l", "%0"),
           agxc_schedule);
}

/* Readers of a loop's variable stay before its next value. */
static void a_loop_variable_is_free_for_its_next_value(void **state)
{
   NEGCASE(LANE "loop\n"
                "   %1:32 = phi %0:32, %3:32\n"
                "   agx.if_icmp %1:32, #9:32, #0:64, #0:64, #2:64\n"
                "   if\n"
                "      break\n"
                "   else\n"
                "   end\n"
                "continuing\n"
                "   %2:32 = agx.imul %1:32, #3:32, #0:64\n"
                "   %4:32 = agx.iadd %2:32, %1:32, #0:64, #0:64\n"
                "   %3:32 = agx.iadd %1:32, #1:32, #0:64, #0:64\n"
                "   agx.store %4:32, u0l:64, %0:32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
                "end\n",
           agxc_schedule);
   /* Also where the next value is not made in the last block. */
   NEGCASE(LANE "loop\n"
                "   %1:32 = phi %0:32, %3:32\n"
                "   %2:32 = agx.imul %1:32, #3:32, #0:64\n"
                "   %4:32 = agx.iadd %2:32, %1:32, #0:64, #0:64\n"
                "   %3:32 = agx.iadd %1:32, #1:32, #0:64, #0:64\n"
                "   agx.store %4:32, u0l:64, %0:32, #0:64, #2:64, #1:64, #0:64, #0:64\n"
                "   agx.if_icmp %4:32, #9:32, #0:64, #0:64, #2:64\n"
                "   if\n"
                "      break\n"
                "   else\n"
                "   end\n"
                "continuing\n"
                "end\n",
           agxc_schedule);
}

/* Twelve loads of four words, and after each of them sums that live at once. */
static const char *loads_and_sums(struct agx_arena *arena)
{
   const char *text = PASS_HEADER LANE;
   unsigned id = 1, all = 0;
   for (unsigned i = 0; i < 12; i++, id += 17) {
      unsigned v = id, e = id + 1, sum = id + 5;
      text =
         agx_arena_printf(arena,
                          "%s%%%u:32x4 = agx.load u%ul:64, %%0:32, #0:64, #2:64, #15:64, "
                          "#0:64, #0:64\n%%%u:32, %%%u:32, %%%u:32, %%%u:32 = split %%%u:32x4\n",
                          text, v, 4 * i, e, e + 1, e + 2, e + 3, v);
      for (unsigned j = 0; j < 12; j++) {
         unsigned a = j < 6 ? e + j % 4 : sum + j - 6;
         unsigned b = j < 6 ? e + (j + 1 + j / 4) % 4 : all;
         text = agx_arena_printf(arena, "%s%%%u:32 = agx.iadd %%%u:32, %%%u:32, #0:64, #0:64\n",
                                 text, sum + j, a, b);
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
      cmocka_unit_test(loads_come_together),
      cmocka_unit_test(what_is_apart_passes),
      cmocka_unit_test(what_may_meet_stays),
      cmocka_unit_test(atomic_loads_keep_their_order),
      cmocka_unit_test(barriers_hold_memory),
      cmocka_unit_test(a_loop_variable_is_free_for_its_next_value),
      cmocka_unit_test(registers_that_run_out_cost_few_loads),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
