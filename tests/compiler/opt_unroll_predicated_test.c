/* SPDX-License-Identifier: MIT
 *
 * Loops of few iterations that take several at a time under masks.
 */
#include "agx/compiler/opt/loads/loads.h"
#include "pass_support.h"

#define N       "%9:32 = load_shared #0:32\n"
#define TEST(n) "%1:1 = ult %0:32, " n "\nbranch %1:1\nif\nelse\nbreak\nend\n"
#define LOOP(phis, body, step)                                                                     \
   "loop\n%0:32 = phi #0:32, %2:32\n" phis TEST("%9:32") body "%2:32 = iadd %0:32, " step          \
                                                              "\ncontinuing\nend\n"
#define SUM                 "%3:32 = phi #0:32, %4:32\n"
#define CONST               "#6:64" /* nothing writes it */
#define LOAD(d, at, access) d " = load_global u0l:64, " at ", " access "\n"
/* So long that two iterations are worth a wait, and three are not. */
#define LONG(d, x, y)                                                                              \
   "%5:32 = fexp2 " x "\n%6:32 = flog2 %5:32\n%7:32 = fexp2 %6:32\n" d " = fadd %7:32, " y "\n"
#define END PASS_STORE("%3:32")

/* The loads of both iterations come before what needs them; a sum counts only true iterations. */
static void sums_keep_their_order(void **state)
{
   CASE(
      N LOOP(SUM, LOAD("%8:32", "%0:32", CONST) LONG("%4:32", "%8:32", "%3:32"), "#0x20:32") END,
      N
      "loop\n%0:32 = phi #0:32, %23:32\n"
      "%3:32 = phi #0:32, %21:32\n" TEST("%9:32") LOAD("%8:32", "%0:32", CONST) LONG(
         "%4:32", "%8:32",
         "%3:32") "%10:32 = isub %9:32, %0:32\n%11:1 = ult #0x20:32, %10:32\n"
                  "%12:32 = iadd %0:32, #0x20:32\n%13:32 = select %11:1, %12:32, %0:32\n" LOAD(
                     "%15:32", "%13:32",
                     CONST) "%16:32 = fexp2 %15:32\n%17:32 = flog2 %16:32\n%18:32 = fexp2 %17:32\n"
                            "%19:32 = fadd %18:32, %4:32\n%21:32 = select %11:1, %19:32, %4:32\n"
                            "%22:32 = iadd %0:32, #0x40:32\n%23:32 = select %11:1, %22:32, %9:32\n"
                            "continuing\nend\n" END,
      agxc_opt_unroll_predicated);
}

/* Where the counter is only part of a place, the place is chosen. */
static void places_are_counters(void **state)
{
#define PLACE "%10:32 = iadd %0:32, %9:32\n"
   CASE(
      N LOOP(SUM, PLACE LOAD("%8:32", "%10:32", CONST) LONG("%4:32", "%8:32", "%3:32"), "#0x20:32")
         END,
      N "loop\n%0:32 = phi #0:32, %24:32\n%3:32 = phi #0:32, %22:32\n" TEST("%9:32")
         PLACE LOAD("%8:32", "%10:32", CONST) LONG(
            "%4:32", "%8:32",
            "%3:32") "%11:32 = isub %9:32, %0:32\n%12:1 = ult #0x20:32, %11:32\n"
                     "%21:32 = iadd %10:32, #0x20:32\n%14:32 = select %12:1, %21:32, %10:32\n" LOAD(
                        "%15:32", "%14:32",
                        CONST) "%16:32 = fexp2 %15:32\n%17:32 = flog2 %16:32\n%18:32 = fexp2 "
                               "%17:32\n"
                               "%19:32 = fadd %18:32, %4:32\n%22:32 = select %12:1, %19:32, %4:32\n"
                               "%23:32 = iadd %0:32, #0x40:32\n%24:32 = select %12:1, %23:32, "
                               "%9:32\n"
                               "continuing\nend\n" END,
      agxc_opt_unroll_predicated);
}

/* Loads that need loads wait twice in each iteration: more iterations are worth it. The limit is a
 * load that the loop's test does: it goes to the front. */
static void waits_are_worth_code(void **state)
{
#define FIRST                                                                                      \
   LOAD("%5:32", "%0:32", CONST)                                                                   \
   LOAD("%6:32", "%5:32", CONST)                                                                   \
   "%7:32 = fexp2 %6:32\n%8:32 = fexp2 %7:32\n%4:32 = fadd %3:32, %8:32\n"
   CASE(
      "loop\n%0:32 = phi #0:32, %2:32\n" SUM LOAD("%9:32", "#4:32", CONST) TEST("%9:32") FIRST
      "%2:32 = iadd %0:32, #1:32\ncontinuing\nend\n" END,
      LOAD("%9:32", "#4:32",
           CONST) "loop\n%0:32 = phi #0:32, %34:32\n%3:32 = phi #0:32, %32:32\n" TEST("%9:32") FIRST
      "%10:32 = isub %9:32, %0:32\n"
      "%11:1 = ult #1:32, %10:32\n%12:32 = iadd %0:32, #1:32\n"
      "%13:32 = select %11:1, %12:32, %0:32\n" LOAD("%15:32", "%13:32", CONST)
         LOAD("%16:32", "%15:32",
              CONST) "%17:32 = fexp2 %16:32\n%18:32 = fexp2 %17:32\n%19:32 = fadd %4:32, %18:32\n"
                     "%21:32 = select %11:1, %19:32, %4:32\n"
                     "%22:1 = ult #2:32, %10:32\n%23:32 = iadd %0:32, #2:32\n"
                     "%24:32 = select %22:1, %23:32, %0:32\n" LOAD("%26:32", "%24:32", CONST) LOAD(
                        "%27:32", "%26:32",
                        CONST) "%28:32 = fexp2 %27:32\n%29:32 = fexp2 %28:32\n%30:32 = fadd "
                               "%21:32, %29:32\n"
                               "%32:32 = select %22:1, %30:32, %21:32\n"
                               "%33:32 = iadd %0:32, #3:32\n%34:32 = select %22:1, %33:32, %9:32\n"
                               "continuing\nend\n" END,
      agxc_opt_unroll_predicated);
}

/* Stores come behind the loads of all iterations, and for true iterations only. */
static void stores_are_masked(void **state)
{
   CASE(N LOOP("",
               LOAD("%5:32", "%0:32", CONST) "%6:32 = fexp2 %5:32\n%7:32 = flog2 %6:32\n"
                                             "store_global u4l:64, %0:32, %7:32, #0:64\n",
               "#2:32"),
        N "loop\n%0:32 = phi #0:32, %20:32\n" TEST("%9:32") LOAD(
           "%5:32", "%0:32",
           CONST) "%6:32 = fexp2 %5:32\n%7:32 = flog2 %6:32\n"
                  "%10:32 = isub %9:32, %0:32\n%11:1 = ult #2:32, %10:32\n"
                  "%12:32 = iadd %0:32, #2:32\n%13:32 = select %11:1, %12:32, %0:32\n" LOAD(
                     "%15:32", "%13:32",
                     CONST) "%16:32 = fexp2 %15:32\n%17:32 = flog2 %16:32\n"
                            "%19:32 = iadd %0:32, #4:32\n%20:32 = select %11:1, %19:32, %9:32\n"
                            "store_global u4l:64, %0:32, %7:32, #0:64\nbranch %11:1\nif\n"
                            "store_global u4l:64, %13:32, %17:32, "
                            "#0:64\nelse\nend\ncontinuing\nend\n",
        agxc_opt_unroll_predicated);
}

#define STAYS(text) NEGCASE(text, agxc_opt_unroll_predicated)

static void other_loops_stay(void **state)
{
   /* No load to wait for; or much else to do. */
   STAYS(N LOOP(SUM, "%4:32 = fadd %3:32, %0:32\n", "#1:32") END);
   STAYS(N LOOP(SUM,
                LOAD("%8:32", "%0:32", CONST) LONG(
                   "%10:32", "%8:32",
                   "%3:32") "%11:32 = fsin %10:32\n%12:32 = fexp2 %11:32\n%13:32 = fexp2 %12:32\n"
                            "%14:32 = fsin %13:32\n%15:32 = fexp2 %14:32\n%16:32 = fexp2 %15:32\n"
                            "%17:32 = fexp2 %16:32\n%18:32 = fexp2 %17:32\n%4:32 = flog2 %18:32\n",
                "#1:32") END);
   /* A load of the same each time. */
   STAYS(N LOOP(SUM, LOAD("%8:32", "#8:32", CONST) "%4:32 = fadd %3:32, %8:32\n", "#1:32") END);
   /* A counter that wraps may still come to its end. */
   STAYS(N LOOP(SUM, LOAD("%8:32", "%0:32", CONST) "%4:32 = fadd %3:32, %8:32\n", "#3:32") END);
   /* The counter is used behind the loop. */
   STAYS(N LOOP(SUM, LOAD("%8:32", "%0:32", CONST) "%4:32 = fadd %3:32, %8:32\n", "#1:32")
            END PASS_STORE("%0:32"));
   /* An address from what an iteration before left: it would be a wrong one. */
   STAYS(N LOOP(SUM, LOAD("%8:32", "%3:32", CONST) "%4:32 = iadd %0:32, %8:32\n", "#1:32") END);
   /* Loads that others see, or that see the stores of an iteration before. */
   STAYS(N LOOP(SUM, LOAD("%8:32", "%0:32", "#1:64") "%4:32 = fadd %3:32, %8:32\n", "#1:32") END);
   STAYS(N LOOP("", LOAD("%5:32", "%0:32", "#0:64") "store_global u4l:64, %0:32, %5:32, #0:64\n",
                "#1:32"));
   /* In front of the exit the last counter is seen, which is not n. */
   STAYS(N "loop\n%0:32 = phi #0:32, %2:32\n" SUM
           "store_global u4l:64, %0:32, %0:32, #0:64\n" TEST("%9:32")
              LOAD("%8:32", "%0:32", CONST) "%4:32 = fadd %3:32, %8:32\n"
                                            "%2:32 = iadd %0:32, #4:32\ncontinuing\nend\n" END);
   STAYS(N "loop\n%0:32 = phi #0:32, %2:32\n" SUM LOAD("%8:32", "%0:32", CONST) TEST(
      "%9:32") "%4:32 = fadd %3:32, %8:32\n%2:32 = iadd %0:32, #4:32\ncontinuing\nend\n" END);
   /* Lanes of an iteration that is none must not take part. */
   STAYS(N LOOP(SUM,
                LOAD("%8:32", "%0:32", CONST) "%7:32 = reduce %8:32, #1:32, #0x20:32\n"
                                              "%4:32 = fadd %3:32, %7:32\n",
                "#1:32") END);
   /* Wide loads that lanes share. */
   STAYS(N LOOP(
      SUM,
      "%8:32x4 = load_global u0l:64, %0:32, #6:64\n%10:32x4 = load_global u4l:64, %0:32, #6:64\n"
      "%11:32, %12:32, %13:32, %14:32 = split %8:32x4\n%15:32, %16:32, %17:32, %18:32 = split "
      "%10:32x4\n"
      "%19:32 = fadd %11:32, %15:32\n%4:32 = fadd %3:32, %19:32\n",
      "#0x20:32") END);
   /* The rest that opt_unroll_partial left. */
   STAYS(N "loop\n%20:32 = phi #0:32, %21:32\n%22:1 = ult %20:32, %9:32\nbranch "
           "%22:1\nif\nelse\nbreak\nend\n" PASS_STORE(
              "%20:32") "%21:32 = iadd %20:32, #4:32\ncontinuing\nend\n"
                        "loop\n%0:32 = phi %20:32, %2:32\n" SUM TEST("%9:32")
                           LOAD("%8:32", "%0:32", CONST) "%4:32 = fadd %3:32, %8:32\n%2:32 = iadd "
                                                         "%0:32, #1:32\ncontinuing\nend\n" END);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums_keep_their_order), cmocka_unit_test(places_are_counters),
      cmocka_unit_test(waits_are_worth_code),  cmocka_unit_test(stores_are_masked),
      cmocka_unit_test(other_loops_stay),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
