/* SPDX-License-Identifier: MIT
 *
 * Loads that move up over ifs, and loads that stay.
 */
#include "agx/compiler/opt/loads/loads.h"
#include "pass_support.h"

#define CONDITION PASS_LOAD("%0:32") "%1:1 = ieq %0:32, #0:32\n"
#define IF        "branch %1:1\nif\n" PASS_STORE("#1:32") "else\nend\n"
#define LOAD      "%3:32 = load_global u0l:64, %2:32, #2:64\n" /* of memory that nothing writes */
#define ADDRESS   "%2:32 = iadd %0:32, #4:32\n"

static void loads_move_with_their_address(void **state)
{
   CASE(CONDITION IF ADDRESS LOAD PASS_STORE("%3:32"),
        CONDITION ADDRESS LOAD IF PASS_STORE("%3:32"), agxc_opt_hoist_loads);
   /* Over several, and into the arm of another. */
   CASE(CONDITION IF IF ADDRESS LOAD PASS_STORE("%3:32"),
        CONDITION ADDRESS LOAD IF IF PASS_STORE("%3:32"), agxc_opt_hoist_loads);
   CASE(CONDITION "branch %1:1\nif\n" IF ADDRESS LOAD PASS_STORE("%3:32") "else\nend\n",
        CONDITION "branch %1:1\nif\n" ADDRESS LOAD IF PASS_STORE("%3:32") "else\nend\n",
        agxc_opt_hoist_loads);
}

#define STAYS(text) NEGCASE(text, agxc_opt_hoist_loads)

static void what_may_not_run_stays(void **state)
{
   /* The thread may be gone before. */
   STAYS(CONDITION "branch %1:1\nif\nreturn\nelse\nend\n" ADDRESS LOAD PASS_STORE("%3:32"));
   STAYS("loop\n" CONDITION "branch %1:1\nif\nbreak\nelse\nend\n" ADDRESS LOAD PASS_STORE(
      "%3:32") "continuing\nend\n");
   /* Out of an arm. */
   STAYS(CONDITION "branch %1:1\nif\n" ADDRESS LOAD PASS_STORE("%3:32") "else\nend\n");
   /* Over a loop, which may not end. */
   STAYS(CONDITION
         "loop\nbranch %1:1\nif\nbreak\nelse\nend\ncontinuing\nend\n" ADDRESS LOAD PASS_STORE(
            "%3:32"));
}

static void what_may_change_stays(void **state)
{
   /* Memory that somebody may write. */
   STAYS(CONDITION IF ADDRESS "%3:32 = load_global u0l:64, %2:32, #0:64\n" PASS_STORE("%3:32"));
   /* An address that the if makes, or that another load gives. */
   STAYS(CONDITION IF "%2:32 = phi #4:32, %0:32\n" LOAD PASS_STORE("%3:32"));
   STAYS(CONDITION IF PASS_LOAD("%2:32") LOAD PASS_STORE("%3:32"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_move_with_their_address),
      cmocka_unit_test(what_may_not_run_stays),
      cmocka_unit_test(what_may_change_stays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
