/* SPDX-License-Identifier: MIT
 *
 * Branches on constants.
 */
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define GOES(before, after) CASE(before, after, agxc_opt_control_flow, agxc_opt_copy_prop)

static void the_chosen_arm_stays(void **state)
{
   GOES("branch #1:1\nif\n" PASS_STORE("#1:32") "else\n" PASS_STORE("#2:32") "end\n",
        PASS_STORE("#1:32"));
   GOES("branch #0:1\nif\n" PASS_STORE("#1:32") "else\n" PASS_STORE("#2:32") "end\n",
        PASS_STORE("#2:32"));
}

static void phis_behind_take_its_value(void **state)
{
   GOES("branch #1:1\nif\n" PASS_LOAD("%0:32") "else\n" PASS_LOAD(
           "%1:32") "end\n"
                    "%2:32 = phi %0:32, %1:32\n" PASS_STORE("%2:32"),
        PASS_LOAD("%0:32") PASS_STORE("%0:32"));
}

static void nests_go_at_once(void **state)
{
   GOES(
      PASS_LOAD("%0:32") "%1:1 = ieq %0:32, #0:32\nbranch #1:1\nif\nbranch %1:1\nif\n" PASS_STORE("#1:32") "else\nend\nbranch #0:1\nif\n" PASS_STORE(
         "#2:32") "else\n" PASS_STORE("#3:32") "end\nelse\nend\n" PASS_STORE("#4:32"),
      PASS_LOAD("%0:32") "%1:1 = ieq %0:32, #0:32\nbranch %1:1\nif\n" PASS_STORE(
         "#1:32") "else\nend\n" PASS_STORE("#3:32") PASS_STORE("#4:32"));
}

/* The break that never happens no longer counts among the ways behind the loop. */
static void edges_of_what_goes_are_forgotten(void **state)
{
   GOES(PASS_LOAD("%0:32") "loop\n%1:32 = phi %0:32, %4:32\n%2:1 = ult %1:32, #9:32\nbranch %2:1\n"
                           "if\nelse\nbreak\nend\nbranch #0:1\nif\nbreak\nelse\nend\ncontinuing\n"
                           "%4:32 = iadd %1:32, #1:32\nend\n%5:32 = phi %1:32, %0:32\n" PASS_STORE(
                              "%5:32"),
        PASS_LOAD("%0:32") "loop\n%1:32 = phi %0:32, %4:32\n%2:1 = ult %1:32, #9:32\nbranch %2:1\n"
                           "if\nelse\nbreak\nend\n%4:32 = iadd %1:32, #1:32\n"
                           "continuing\nend\n" PASS_STORE("%1:32"));
}

#define HEADER "loop\n%1:32 = phi #0:32, %4:32\n%2:1 = ult %1:32, #9:32\n"
#define EXIT   "branch %2:1\nif\nelse\nbreak\nend\n"

static void a_continuing_part_joins_the_body(void **state)
{
   GOES(HEADER EXIT PASS_STORE("%1:32") "continuing\n%4:32 = iadd %1:32, #1:32\nend\n",
        HEADER EXIT PASS_STORE("%1:32") "%4:32 = iadd %1:32, #1:32\ncontinuing\nend\n");
   /* With the exit in it. */
   GOES(HEADER "continuing\n%4:32 = iadd %1:32, #1:32\n" EXIT "end\n",
        HEADER "%4:32 = iadd %1:32, #1:32\n" EXIT "continuing\nend\n");
   /* Not where something continues. */
   NEGCASE(
      HEADER EXIT PASS_LOAD("%5:32") "%6:1 = ieq %5:32, #0:32\nbranch %6:1\nif\ncontinue\n"
                                     "else\nend\n" PASS_STORE(
                                        "%1:32") "continuing\n%4:32 = iadd %1:32, #1:32\nend\n",
      agxc_opt_control_flow);
}

static void other_branches_stay(void **state)
{
   NEGCASE(PASS_LOAD("%0:32") "%1:1 = ieq %0:32, #0:32\nbranch %1:1\nif\n" PASS_STORE(
              "#1:32") "else\nend\n",
           agxc_opt_control_flow);
   /* What follows a break that is sure would be cut off. */
   NEGCASE("loop\nbranch #1:1\nif\nbreak\nelse\nend\n" PASS_STORE("#1:32") "continuing\nend\n",
           agxc_opt_control_flow);
   /* Nor would anything come behind a loop whose only exit went, where a phi counts the ways. */
   NEGCASE("loop\nbranch #1:1\nif\nelse\nbreak\nend\ncontinuing\nend\n" HEADER EXIT
           "%4:32 = iadd %1:32, #1:32\ncontinuing\nend\n",
           agxc_opt_control_flow);
}

/* An arm with a loop in it goes, exits and all. */
static void loops_go_with_their_arm(void **state)
{
   GOES("branch #0:1\nif\n" HEADER EXIT "%4:32 = iadd %1:32, #1:32\ncontinuing\nend\n"
        "else\nend\n" PASS_STORE("#1:32"),
        PASS_STORE("#1:32"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_chosen_arm_stays),
      cmocka_unit_test(phis_behind_take_its_value),
      cmocka_unit_test(nests_go_at_once),
      cmocka_unit_test(edges_of_what_goes_are_forgotten),
      cmocka_unit_test(a_continuing_part_joins_the_body),
      cmocka_unit_test(other_branches_stay),
      cmocka_unit_test(loops_go_with_their_arm),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
