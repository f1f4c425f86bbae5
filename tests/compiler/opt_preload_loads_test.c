/* SPDX-License-Identifier: MIT
 *
 * Loads of ifs behind loops that move in front of them, and loads that stay.
 */
#include "agx/compiler/opt/loads/loads.h"
#include "pass_support.h"

#define X           PASS_LOAD("%0:32")
#define BREAK       "branch %2:1\nif\nbreak\nelse\nend\n"
#define LOOP(lines) "loop\n" lines BREAK "continuing\nend\n"
#define LOADING     LOOP("%1:32 = load_global u0l:64, %0:32, #0:64\n%2:1 = ieq %1:32, #0:32\n")
#define COMPUTE     "%3:1 = ult %0:32, u4l:32\n"
#define ADDRESS     "%4:32 = iadd %0:32, #4:32\n"
#define LOAD        "%5:32 = load_global u2l:64, %4:32, #2:64\n" /* of memory that nothing writes */
#define IF(lines)   "branch %3:1\nif\n" lines "else\nend\n"

static void loads_move_in_front(void **state)
{
   CASE(X LOADING COMPUTE IF(ADDRESS LOAD PASS_STORE("%5:32")),
        X COMPUTE ADDRESS
           IF("%6:32 = load_global u2l:64, %4:32, #2:64\n") "%5:32 = phi %6:32, #0:32\n" LOADING IF(
              PASS_STORE("%5:32")),
        agxc_opt_preload_loads);
   /* Over barriers as well, and what the arm stores does not matter. */
   CASE(
      X LOADING "barrier #3:64\n" COMPUTE IF(PASS_STORE("%0:32") ADDRESS LOAD PASS_STORE("%5:32")),
      X COMPUTE ADDRESS IF(
         "%6:32 = load_global u2l:64, %4:32, #2:64\n") "%5:32 = phi %6:32, #0:32\n" LOADING
                                                       "barrier #3:64\n" IF(PASS_STORE("%0:32")
                                                                               PASS_STORE("%5:32")),
      agxc_opt_preload_loads);
}

#define STAYS(text) NEGCASE(text, agxc_opt_preload_loads)

static void nothing_to_gain_stays(void **state)
{
   /* The loop does not wait, */
   STAYS(X LOOP("%1:32 = load_shared %0:32\n%2:1 = ieq %1:32, #0:32\n")
            COMPUTE IF(ADDRESS LOAD PASS_STORE("%5:32")));
   /* or the arm waits for another load, too. */
   STAYS(X LOADING COMPUTE IF(ADDRESS LOAD "%6:32 = load_global u0l:64, %4:32, #0:64\n" PASS_STORE(
      "%5:32") PASS_STORE("%6:32")));
}

static void what_may_not_run_stays(void **state)
{
   /* The thread may be gone before: in the loop, or behind it. */
   STAYS(X "loop\n%1:32 = load_global u0l:64, %0:32, #0:64\n%2:1 = ieq %1:32, #0:32\n"
           "branch %2:1\nif\nreturn\nelse\nend\n%6:1 = ieq %1:32, #1:32\n"
           "branch %6:1\nif\nbreak\nelse\nend\ncontinuing\nend\n" COMPUTE IF(
              ADDRESS LOAD PASS_STORE("%5:32")));
   STAYS(X LOADING COMPUTE
         "branch %3:1\nif\nreturn\nelse\nend\n" IF(ADDRESS LOAD PASS_STORE("%5:32")));
}

static void what_is_not_known_stays(void **state)
{
   /* Memory that somebody may write; */
   STAYS(X LOADING COMPUTE IF(ADDRESS
                              "%5:32 = load_global u2l:64, %4:32, #0:64\n" PASS_STORE("%5:32")));
   /* a condition, or an address, from the loop. */
   STAYS(X LOADING "%3:1 = ult %1:32, u4l:32\n" IF(ADDRESS LOAD PASS_STORE("%5:32")));
   STAYS(X LOADING COMPUTE IF("%4:32 = iadd %1:32, #4:32\n" LOAD PASS_STORE("%5:32")));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_move_in_front),
      cmocka_unit_test(nothing_to_gain_stays),
      cmocka_unit_test(what_may_not_run_stays),
      cmocka_unit_test(what_is_not_known_stays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
