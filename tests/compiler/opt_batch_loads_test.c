/* SPDX-License-Identifier: MIT
 *
 * Loads of several iterations of a loop with barriers at once, and loops that keep theirs.
 */
#include "agx/compiler/opt/loads/loads.h"
#include "pass_support.h"

#define AT(limit)                                                                                  \
   "loop\n%1:32 = phi #0:32, %2:32\n%3:1 = ult %1:32, " limit                                      \
   "\nbranch %3:1\nif\nelse\nbreak\nend\n"
#define BEGIN       AT("u0l:32")
#define ADDRESS     "%4:32 = iadd %1:32, %0:32\n"
#define LOAD        "%5:32 = load_global u2l:64, %4:32, #2:64\n" /* of memory that nothing writes */
#define BARRIER     "barrier #3:32\n"
#define STEP(value) "%2:32 = iadd %1:32, " value "\ncontinuing\nend\n"
#define X           PASS_LOAD("%0:32")
#define USE         PASS_STORE("%5:32")

#define TEST "%3:1 = ult %1:32, u0l:32\nbranch %3:1\nif\nelse\nbreak\nend\n"
#define FIRST                                                                                      \
   "%8:32 = isub u0l:32, %1:32\n%9:32 = mov %1:32\n%10:32 = iadd %9:32, %0:32\n"                   \
   "%11:32 = load_global u2l:64, %10:32, #2:64\n"
#define AHEAD(distance, is_turn, there, place, address, value)                                     \
   is_turn ":1 = ult " distance ", %8:32\n" there ":32 = iadd %1:32, " distance "\n" place         \
           ":32 = select " is_turn ":1, " there ":32, %1:32\n" address ":32 = iadd " place         \
           ":32, %0:32\n" value ":32 = load_global u2l:64, " address ":32, #2:64\n"

static void loads_go_two_ahead(void **state)
{
   CASE(X BEGIN ADDRESS LOAD USE BARRIER STEP("#0x10:32"),
        X "loop\n%17:32 = phi #0:32, %19:32\n%1:32 = phi #0:32, %2:32\n" TEST
          "%6:32 = iand %1:32, #0x10:32\n%7:1 = ieq %6:32, #0:32\nbranch %7:1\nif\n" FIRST AHEAD(
             "#0x10:32", "%12", "%13", "%14", "%15",
             "%16") "else\nend\n%18:32 = phi %11:32, %17:32\n%19:32 = phi %16:32, %17:32\n%5:32 = "
                    "mov %18:32\n" USE BARRIER STEP("#0x10:32"),
        agxc_opt_batch_loads);
}

#define LONG PASS_STORE("%1:32") PASS_STORE("%0:32") PASS_STORE("%4:32") PASS_STORE("%2:32")

/* Where iterations are longer; and only what the address needs is copied. */
static void loads_go_four_ahead(void **state)
{
   CASE(
      X BEGIN ADDRESS LOAD USE BARRIER "%2:32 = iadd %1:32, #0x10:32\n" LONG "continuing\nend\n",
      X
      "loop\n%27:32 = phi #0:32, %31:32\n%28:32 = phi #0:32, %32:32\n%29:32 = phi #0:32, "
      "%33:32\n%1:32 = phi #0:32, %2:32\n" TEST
      "%6:32 = iand %1:32, #0x30:32\n%7:1 = ieq %6:32, #0:32\nbranch %7:1\nif\n" FIRST AHEAD(
         "#0x10:32", "%12", "%13", "%14", "%15", "%16")
         AHEAD("#0x20:32", "%17", "%18", "%19", "%20", "%21") AHEAD(
            "#0x30:32", "%22", "%23", "%24", "%25",
            "%26") "else\nend\n%30:32 = phi %11:32, %27:32\n%31:32 = phi %16:32, %28:32\n%32:32 = "
                   "phi %21:32, %29:32\n%33:32 = phi %26:32, %29:32\n" ADDRESS
                   "%5:32 = mov %30:32\n" USE BARRIER "%2:32 = iadd %1:32, #0x10:32\n" LONG
                   "continuing\nend\n",
      agxc_opt_batch_loads);
}

#define COUNTS                                                                                     \
   "loop\n%20:32 = phi #0:32, %21:32\n%22:1 = ult %20:32, u6l:32\nbranch %22:1\nif\nelse\n"        \
   "break\nend\n" BARRIER "%21:32 = iadd %20:32, #1:32\ncontinuing\nend\n"
#define BEHIND "%4:32 = iadd %1:32, %20:32\n"

/* What another loop has counted is a number like any other: nothing of that loop is copied. */
static void counters_of_other_loops_are_numbers(void **state)
{
   CASE(COUNTS BEGIN BEHIND LOAD USE BARRIER STEP("#0x10:32"),
        COUNTS "loop\n%34:32 = phi #0:32, %36:32\n%1:32 = phi #0:32, %2:32\n" TEST
               "%23:32 = iand %1:32, #0x10:32\n%24:1 = ieq %23:32, #0:32\nbranch %24:1\nif\n"
               "%25:32 = isub u0l:32, %1:32\n%26:32 = mov %1:32\n%27:32 = iadd %26:32, %20:32\n"
               "%28:32 = load_global u2l:64, %27:32, #2:64\n%29:1 = ult #0x10:32, %25:32\n"
               "%30:32 = iadd %1:32, #0x10:32\n%31:32 = select %29:1, %30:32, %1:32\n"
               "%32:32 = iadd %31:32, %20:32\n%33:32 = load_global u2l:64, %32:32, #2:64\n"
               "else\nend\n%35:32 = phi %28:32, %34:32\n%36:32 = phi %33:32, %34:32\n"
               "%5:32 = mov %35:32\n" USE BARRIER STEP("#0x10:32"),
        agxc_opt_batch_loads);
}

#define STAYS(text) NEGCASE(text, agxc_opt_batch_loads)

static void short_turns_without_barriers_stay(void **state)
{
   STAYS(X BEGIN ADDRESS LOAD USE STEP("#0x10:32"));
}

static void loads_that_may_change_stay(void **state)
{
   STAYS(X BEGIN ADDRESS "%5:32 = load_global u2l:64, %4:32, #0:64\n" USE BARRIER STEP("#0x10:32"));
   /* Beside one of these the other would gain nothing. */
   STAYS(X BEGIN ADDRESS LOAD "%6:32 = load_global u2l:64, %4:32, #0:64\n" PASS_STORE("%6:32")
            USE BARRIER STEP("#0x10:32"));
}

/* The next iteration's address is known only then. */
static void other_addresses_stay(void **state)
{
   STAYS(BEGIN "%4:32 = load_shared %1:32\n" LOAD USE BARRIER STEP("#0x10:32"));
   STAYS(X "loop\n%1:32 = phi #0:32, %2:32\n%4:32 = phi %0:32, %5:32\n%3:1 = ult %1:32, u0l:32\n"
           "branch %3:1\nif\nelse\nbreak\nend\n" LOAD USE BARRIER STEP("#0x10:32"));
}

/* Loads that not every iteration does. */
static void conditional_loads_stay(void **state)
{
   STAYS(X BEGIN ADDRESS "%6:1 = ult %4:32, u4l:32\nbranch %6:1\nif\n" LOAD USE
                         "else\nend\n" BARRIER STEP("#0x10:32"));
   STAYS(X BEGIN ADDRESS
         "%6:1 = ult %4:32, u4l:32\nbranch %6:1\nif\nreturn\nelse\nend\n" LOAD USE BARRIER STEP(
            "#0x10:32"));
}

/* In front of the exit there is one more than there are iterations. */
static void loads_of_the_test_stay(void **state)
{
   STAYS(X "loop\n%1:32 = phi #0:32, %2:32\n" ADDRESS LOAD
           "%3:1 = ult %1:32, u0l:32\nbranch %3:1\nif\nelse\nbreak\nend\n" USE BARRIER STEP(
              "#0x10:32"));
}

/* Steps that a counter could wrap with, and limits that change. */
static void other_loops_stay(void **state)
{
   STAYS(X BEGIN ADDRESS LOAD USE BARRIER STEP("#0x18:32"));
   STAYS(X BEGIN ADDRESS LOAD USE BARRIER STEP("%0:32"));
   STAYS(X "loop\n%1:32 = phi #0:32, %2:32\n%6:32 = load_shared #4:32\n%3:1 = ult %1:32, %6:32\n"
           "branch %3:1\nif\nelse\nbreak\nend\n" ADDRESS LOAD USE BARRIER STEP("#0x10:32"));
   /* Turns that are long already. */
   STAYS(X BEGIN ADDRESS LOAD USE BARRIER "loop\n%6:32 = load_shared #4:32\n%7:1 = ieq %6:32, "
                                          "#0:32\nbranch %7:1\nif\nbreak\nelse\nend\n"
                                          "continuing\nend\n" STEP("#0x10:32"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(loads_go_two_ahead),
      cmocka_unit_test(loads_go_four_ahead),
      cmocka_unit_test(counters_of_other_loops_are_numbers),
      cmocka_unit_test(short_turns_without_barriers_stay),
      cmocka_unit_test(loads_that_may_change_stay),
      cmocka_unit_test(other_addresses_stay),
      cmocka_unit_test(conditional_loads_stay),
      cmocka_unit_test(loads_of_the_test_stay),
      cmocka_unit_test(other_loops_stay),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
