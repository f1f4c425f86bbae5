/* SPDX-License-Identifier: MIT
 *
 * Loops that become copies, and loops that must stay.
 */
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

static const pass_fn whole[] = {agxc_opt_unroll,    agxc_opt_copy_prop,    agxc_opt_algebraic,
                                agxc_opt_copy_prop, agxc_opt_control_flow, agxc_opt_copy_prop};

static void becomes(const char *before, const char *after)
{
   check_passes(whole, AGX_COUNT(whole), before, after);
}

/* for (counter = first; condition; counter = next) body */
#define LOOP(first, next, condition, body)                                                         \
   "loop\n%0:32 = phi " first ", %2:32\n" condition "branch %1:1\nif\nelse\nbreak\nend\n" body     \
   "continuing\n" next "end\n"
#define UP(limit) "%1:1 = ult %0:32, " limit "\n"
#define PLUS_ONE  "%2:32 = iadd %0:32, #1:32\n"
#define BODY      "store_shared #4:32, %0:32\n"

static void counted_loops_become_copies(void **state)
{
   becomes(LOOP("#0:32", PLUS_ONE, UP("#3:32"), BODY),
           "store_shared #4:32, #0:32\nstore_shared #4:32, #1:32\nstore_shared #4:32, #2:32\n");
   /* Any counter that can be computed. */
   becomes(LOOP("#0x20:32", "%2:32 = ushr %0:32, #2:32\n", "%1:1 = ine %0:32, #0:32\n", BODY),
           "store_shared #4:32, #0x20:32\nstore_shared #4:32, #8:32\nstore_shared #4:32, #2:32\n");
   /* None at all. */
   becomes(LOOP("#3:32", PLUS_ONE, UP("#3:32"), BODY), "");
}

static void values_are_carried_and_leave(void **state)
{
   becomes("%9:32 = load_shared #0:32\n"
           "loop\n%0:32 = phi #0:32, %2:32\n%3:32 = phi %9:32, %4:32\n" UP(
              "#2:32") "branch %1:1\nif\nelse\nbreak\nend\n%4:32 = imul %3:32, %9:32\n"
                       "continuing\n" PLUS_ONE "end\nstore_shared %0:32, %3:32\n",
           "%9:32 = load_shared #0:32\n%11:32 = imul %9:32, %9:32\n%14:32 = imul %11:32, %9:32\n"
           "store_shared #2:32, %14:32\n");
}

static void phis_swap_at_once(void **state)
{
   becomes(
      "%8:32 = load_shared #0:32\n%9:32 = load_shared #4:32\n"
      "loop\n%0:32 = phi #0:32, %2:32\n%3:32 = phi %8:32, %4:32\n%4:32 = phi %9:32, %3:32\n" UP(
         "#3:32") "branch %1:1\nif\nelse\nbreak\nend\ncontinuing\n" PLUS_ONE "end\n"
                  "store_shared %3:32, %4:32\n",
      "%8:32 = load_shared #0:32\n%9:32 = load_shared #4:32\nstore_shared %9:32, %8:32\n");
}

static void inner_control_flow_is_copied(void **state)
{
   becomes("%8:32 = load_shared #0:32\n%9:1 = ult %8:32, #5:32\n" LOOP(
              "#0:32", PLUS_ONE, UP("#2:32"), "branch %9:1\nif\n" BODY "else\nend\n"),
           "%8:32 = load_shared #0:32\n%9:1 = ult %8:32, #5:32\n"
           "branch %9:1\nif\nstore_shared #4:32, #0:32\nelse\nend\n"
           "branch %9:1\nif\nstore_shared #4:32, #1:32\nelse\nend\n");
}

static void nests_go_from_the_inside(void **state)
{
   becomes("loop\n%10:32 = phi #0:32, %12:32\n%11:1 = ult %10:32, #2:32\nbranch %11:1\nif\nelse\n"
           "break\nend\n" LOOP(
              "#0:32", PLUS_ONE, UP("#2:32"),
              "store_shared %10:32, %0:32\n") "continuing\n%12:32 = iadd %10:32, #1:32\nend\n",
           "store_shared #0:32, #0:32\nstore_shared #0:32, #1:32\n"
           "store_shared #1:32, #0:32\nstore_shared #1:32, #1:32\n");
}

static void a_test_at_the_end_counts_too(void **state)
{
   becomes("loop\n%0:32 = phi #0:32, %2:32\n" BODY "continuing\n" PLUS_ONE
           "%1:1 = ult %2:32, #2:32\nbranch %1:1\nif\nelse\nbreak\nend\nend\n",
           "store_shared #4:32, #0:32\nstore_shared #4:32, #1:32\n");
}

#define STAYS(...) check_passes((const pass_fn[]){agxc_opt_unroll}, 1, __VA_ARGS__, __VA_ARGS__)

static void other_loops_stay(void **state)
{
   /* The limit isn't known. */
   STAYS("%9:32 = load_shared #0:32\n" LOOP("#0:32", PLUS_ONE, UP("%9:32"), BODY));
   /* Too many iterations, or none ending. */
   STAYS(LOOP("#0:32", PLUS_ONE, UP("#0x1000:32"), BODY));
   STAYS(LOOP("#1:32", "%2:32 = ishl %0:32, #0:32\n", UP("#3:32"), BODY));
   /* Two ways out. */
   STAYS("%8:32 = load_shared #0:32\n%9:1 = ult %8:32, #5:32\n" LOOP(
      "#0:32", PLUS_ONE, UP("#2:32"), "branch %9:1\nif\nbreak\nelse\nend\n" BODY));
   /* What is behind uses what a loop inside computes. */
   STAYS("loop\n%0:32 = phi #0:32, %2:32\n"
         "loop\n%3:32 = phi %0:32, %4:32\n%4:32 = load_shared %3:32\n%5:1 = ult %4:32, #9:32\n"
         "branch %5:1\nif\nelse\nbreak\nend\ncontinuing\nend\n"
         "%2:32 = iadd %0:32, #1:32\n%1:1 = ult %2:32, #2:32\nbranch %1:1\nif\nelse\nbreak\nend\n"
         "continuing\nend\nstore_shared %0:32, %4:32\n");
   /* A counter of 16 bits: nothing here knows its rules. */
   STAYS("loop\n%0:16 = phi #0:16, %2:16\n%1:1 = ult %0:16, #3:16\nbranch %1:1\nif\nelse\nbreak\n"
         "end\n"
         "store_shared #4:32, %0:16\n"
         "continuing\n%2:16 = iadd %0:16, #1:16\nend\n");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(counted_loops_become_copies),
      cmocka_unit_test(values_are_carried_and_leave),
      cmocka_unit_test(phis_swap_at_once),
      cmocka_unit_test(inner_control_flow_is_copied),
      cmocka_unit_test(nests_go_from_the_inside),
      cmocka_unit_test(a_test_at_the_end_counts_too),
      cmocka_unit_test(other_loops_stay),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
