/* SPDX-License-Identifier: MIT
 *
 * Loads of several ifs that come to wait together, and ifs that stay as they are.
 */
#include "agx/compiler/opt/loads/loads.h"
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define X            PASS_LOAD("%0:32") "%1:1 = ieq %0:32, #0:32\n"
#define Y            "%2:1 = ieq %0:32, #1:32\n"
#define LOAD(d, at)  d " = load_global u0l:64, " at ", #0:64\n"
#define IF(c, lines) "branch " c "\nif\n" lines "else\nend\n"
#define END          PASS_STORE("%9:32")
/* The last if, as it is and split: what it adds to. */
#define LAST(old)                                                                                  \
   IF("%2:1", LOAD("%7:32", "%0:32") "%8:32 = fadd %7:32, " old "\n")                              \
   "%9:32 = phi %8:32, " old "\n"
#define LAST_LOAD IF("%2:1", LOAD("%7:32", "%0:32"))
#define LAST_SUM(result, old)                                                                      \
   "%8:32 = fadd " result ", " old "\n%9:32 = select %2:1, %8:32, " old "\n"

static void sums_wait_once(void **state)
{
   CASE(
      X Y IF("%1:1",
             "%3:32 = iadd %0:32, #4:32\n" LOAD(
                "%4:32",
                "%3:32") "%5:32 = fadd %4:32, %0:32\n") "%6:32 = phi %5:32, %0:32\n" LAST("%6:32")
         END,
      X Y "%3:32 = iadd %0:32, #4:32\n" IF(
         "%1:1",
         LOAD("%4:32",
              "%3:32")) "%10:32 = phi %4:32, #0:32\n" LAST_LOAD "%11:32 = phi %7:32, #0:32\n"
                        "%5:32 = fadd %10:32, %0:32\n%6:32 = select %1:1, %5:32, %0:32\n" LAST_SUM(
                           "%11:32", "%6:32") END,
      agxc_opt_defer_uses);
}

static void zeros_need_no_select(void **state)
{
   CASE(X Y IF("%1:1", LOAD("%4:32", "%0:32")) "%6:32 = phi %4:32, #0:32\n" LAST("%6:32") END,
        X Y IF("%1:1", LOAD("%4:32", "%0:32")) "%10:32 = phi %4:32, #0:32\n" LAST_LOAD
                                               "%11:32 = phi %7:32, #0:32\n" LAST_SUM("%11:32",
                                                                                      "%10:32") END,
        agxc_opt_defer_uses, agxc_opt_copy_prop);
}

static void loads_in_front_wait_too(void **state)
{
   CASE(X Y LOAD("%4:32", "%0:32") "%6:32 = fadd %4:32, %0:32\n" LAST("%6:32") PASS_STORE("%1:1")
           END,
        X Y LOAD("%4:32", "%0:32") LAST_LOAD
        "%10:32 = phi %7:32, #0:32\n"
        "%6:32 = fadd %4:32, %0:32\n" LAST_SUM("%10:32", "%6:32") PASS_STORE("%1:1") END,
        agxc_opt_defer_uses);
}

static void both_arms_may_load(void **state)
{
   CASE(X LOAD("%3:32", "%0:32") "branch %1:1\nif\n" LOAD(
           "%4:32",
           "%0:32") "%5:32 = fadd %4:32, %3:32\nelse\n" LOAD("%6:32",
                                                             "#8:32") "end\n"
                                                                      "%7:32 = phi %5:32, "
                                                                      "%6:32\n" PASS_STORE("%7:32"),
        X LOAD("%3:32", "%0:32") "branch %1:1\nif\n" LOAD("%4:32", "%0:32") "else\n" LOAD(
           "%6:32",
           "#8:32") "end\n%9:32 = phi #0:32, %6:32\n%8:32 = phi %4:32, #0:32\n"
                    "%5:32 = fadd %8:32, %3:32\n%7:32 = select %1:1, %5:32, %9:32\n" PASS_STORE(
                       "%7:32"),
        agxc_opt_defer_uses);
}

/* An if that loads but can't be split: what needs an earlier load waits behind it. */
static void uses_move_over_what_stays(void **state)
{
   CASE(X LOAD("%3:32", "%0:32") "%4:32 = fadd %3:32, %0:32\n" IF(
           "%1:1", LOAD("%5:32", "%0:32") PASS_STORE("%5:32")) PASS_STORE("%4:32"),
        X LOAD("%3:32", "%0:32")
           IF("%1:1", LOAD("%5:32", "%0:32")
                         PASS_STORE("%5:32")) "%4:32 = fadd %3:32, %0:32\n" PASS_STORE("%4:32"),
        agxc_opt_defer_uses);
}

#define STAYS(text) NEGCASE(text, agxc_opt_defer_uses)

static void a_single_if_stays(void **state)
{
   STAYS(PASS_LOAD("%0:32") Y LAST("%0:32") END);
   /* One before it that stores does not wait for anything. */
   STAYS(X Y IF("%1:1", PASS_STORE("#1:32")) LAST("%0:32") END);
   /* All threads decide the same. */
   STAYS(X "%3:1 = ieq u4l:32, #1:32\n" LOAD("%4:32", "%0:32") IF(
      "%3:1",
      LOAD("%7:32",
           "%0:32") "%8:32 = fadd %7:32, %4:32\n") "%9:32 = phi %8:32, %4:32\n" PASS_STORE("%1:1")
            END);
}

static void what_has_effects_stays(void **state)
{
   STAYS(X Y IF("%1:1", LOAD("%4:32", "%0:32") PASS_STORE("%4:32")) LAST("%0:32") END);
   STAYS(X Y IF(
      "%1:1",
      LOAD("%4:32",
           "%0:32") "%5:32 = broadcast_first %4:32\n") "%6:32 = phi %5:32, %0:32\n" LAST("%6:32")
            END);
}

static void what_waits_anyway_stays(void **state)
{
   /* A load that needs another. */
   STAYS(X Y LOAD("%3:32", "%0:32")
            IF("%1:1", LOAD("%4:32", "%3:32")
                          LOAD("%5:32", "%4:32")) "%6:32 = phi %5:32, %0:32\n" PASS_STORE("%2:1")
               PASS_STORE("%6:32"));
   /* One whose address is computed from another, in the arm. */
   STAYS(X Y LOAD("%3:32", "%0:32")
            IF("%1:1", "%4:32 = iadd %3:32, #1:32\n" LOAD(
                          "%5:32", "%4:32")) "%6:32 = phi %5:32, %0:32\n" PASS_STORE("%2:1")
               PASS_STORE("%6:32"));
   /* A condition that does. */
   STAYS(LOAD("%0:32", "#0:32") Y LAST("%0:32") END);
   /* Behind a barrier everything is there. */
   STAYS(X Y LOAD("%3:32", "%0:32") "barrier #3:64\n" LAST("%3:32") PASS_STORE("%1:1") END);
}

static void long_arms_stay(void **state)
{
   STAYS(X Y LOAD("%3:32", "%0:32") IF(
      "%1:1",
      LOAD("%4:32",
           "%0:32") "%10:32 = frcp %4:32\n%11:32 = frcp %10:32\n"
                    "%12:32 = frcp %11:32\n%13:32 = frcp %12:32\n%14:32 = frcp %13:32\n"
                    "%15:32 = frcp %14:32\n") "%6:32 = phi %15:32, %3:32\n" PASS_STORE("%2:1")
            PASS_STORE("%6:32"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_wait_once),
      cmocka_unit_test(zeros_need_no_select),
      cmocka_unit_test(loads_in_front_wait_too),
      cmocka_unit_test(both_arms_may_load),
      cmocka_unit_test(uses_move_over_what_stays),
      cmocka_unit_test(a_single_if_stays),
      cmocka_unit_test(what_has_effects_stays),
      cmocka_unit_test(what_waits_anyway_stays),
      cmocka_unit_test(long_arms_stay),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
