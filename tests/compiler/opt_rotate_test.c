/* SPDX-License-Identifier: MIT
 *
 * Loops that test behind their body.
 */
#include "agx/compiler/opt/loads/loads.h"
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define N           PASS_LOAD("%9:32")
#define CONST_LOAD  "%3:32 = load_global u0l:64, %9:32, #2:64\n"
#define SHARED_LOAD PASS_LOAD("%3:32")
#define LOOP(test, body)                                                                           \
   "loop\n%0:32 = phi #0:32, %2:32\n%8:32 = phi #7:32, %4:32\n" test "branch %1:1\nif\nelse\n"     \
   "break\nend\n" body "%4:32 = iadd %8:32, %3:32\n%2:32 = iadd %0:32, #1:32\ncontinuing\nend\n"
#define BELOW "%1:1 = ult %0:32, %9:32\n"

#define ROTATED(load)                                                                              \
   "%10:1 = ult #0:32, %9:32\nbranch %10:1\nif\nloop\n%0:32 = phi #0:32, %2:32\n"                  \
   "%8:32 = phi #7:32, %4:32\n" load "%4:32 = iadd %8:32, %3:32\n%2:32 = iadd %0:32, #1:32\n"      \
   "%11:1 = ult %2:32, %9:32\nbranch %11:1\nif\nelse\nbreak\nend\ncontinuing\nend\nelse\nend\n"    \
   "%13:32 = phi %4:32, #7:32\n"

static void the_test_goes_behind_the_body(void **state)
{
   CASE(N LOOP(BELOW, CONST_LOAD) PASS_STORE("%8:32"), N ROTATED(CONST_LOAD) PASS_STORE("%13:32"),
        agxc_opt_rotate);
   CASE(N LOOP(BELOW, SHARED_LOAD) PASS_STORE("%8:32"), N ROTATED(SHARED_LOAD) PASS_STORE("%13:32"),
        agxc_opt_rotate);
}

/* Opt_licm moves the load into the if, in front of the loop. */
static void the_load_then_moves(void **state)
{
   CASE(N LOOP(BELOW, CONST_LOAD) PASS_STORE("%8:32"),
        N "%10:1 = ult #0:32, %9:32\nbranch %10:1\nif\n" CONST_LOAD
          "loop\n%0:32 = phi #0:32, %2:32\n%8:32 = phi #7:32, %4:32\n"
          "%4:32 = iadd %8:32, %3:32\n%2:32 = iadd %0:32, #1:32\n"
          "%11:1 = ult %2:32, %9:32\nbranch %11:1\nif\nelse\nbreak\nend\ncontinuing\nend\n"
          "else\nend\n%13:32 = phi %4:32, #7:32\n" PASS_STORE("%13:32"),
        agxc_opt_rotate, agxc_opt_licm);
}

/* The loop leaves where the condition holds, and one phi takes over another's last value. */
static void arms_and_phis_keep_their_sides(void **state)
{
   CASE(N "loop\n%0:32 = phi #0:32, %2:32\n%8:32 = phi #7:32, %0:32\n%1:1 = uge %0:32, %9:32\n"
          "branch %1:1\nif\nbreak\nelse\nend\n" CONST_LOAD "store_shared #4:32, %3:32\n"
          "%2:32 = iadd %0:32, #1:32\ncontinuing\nend\n" PASS_STORE("%8:32") PASS_STORE("%0:32"),
        N "%10:1 = uge #0:32, %9:32\nbranch %10:1\nif\nelse\nloop\n%0:32 = phi #0:32, "
          "%2:32\n" CONST_LOAD "store_shared #4:32, %3:32\n%2:32 = iadd %0:32, #1:32\n"
          "%11:1 = uge %2:32, %9:32\nbranch %11:1\nif\nbreak\nelse\nend\ncontinuing\nend\nend\n"
          "%12:32 = phi #0:32, %2:32\n%13:32 = phi #7:32, %0:32\n" PASS_STORE("%13:32")
             PASS_STORE("%12:32"),
        agxc_opt_rotate);
}

/* A second loop, rotated as well, whose body reads what the first one left. */
static void loops_see_what_others_left(void **state)
{
   CASE(N LOOP(
           BELOW,
           CONST_LOAD) "loop\n%20:32 = phi #0:32, %22:32\n%21:1 = ult %20:32, %9:32\nbranch "
                       "%21:1\nif\nelse\n"
                       "break\nend\n%23:32 = load_global u2l:64, %9:32, #2:64\n%24:32 = iadd "
                       "%23:32, %8:32\n"
                       "store_shared #4:32, %24:32\n%22:32 = iadd %20:32, #1:32\ncontinuing\nend\n",
        N "%25:1 = ult #0:32, %9:32\nbranch %25:1\nif\nloop\n%0:32 = phi #0:32, %2:32\n"
          "%8:32 = phi #7:32, %4:32\n" CONST_LOAD
          "%4:32 = iadd %8:32, %3:32\n%2:32 = iadd %0:32, #1:32\n%26:1 = ult %2:32, %9:32\n"
          "branch %26:1\nif\nelse\nbreak\nend\ncontinuing\nend\nelse\nend\n"
          "%28:32 = phi %4:32, #7:32\n%30:1 = ult #0:32, %9:32\nbranch %30:1\nif\nloop\n"
          "%20:32 = phi #0:32, %22:32\n%23:32 = load_global u2l:64, %9:32, #2:64\n"
          "%24:32 = iadd %23:32, %28:32\nstore_shared #4:32, %24:32\n"
          "%22:32 = iadd %20:32, #1:32\n%31:1 = ult %22:32, %9:32\nbranch %31:1\nif\nelse\nbreak\n"
          "end\ncontinuing\nend\nelse\nend\n",
        agxc_opt_rotate);
}

#define STAYS(text) NEGCASE(text, agxc_opt_rotate)

static void other_loops_stay(void **state)
{
   /* Nothing stays the same, or what is read may be written. */
   STAYS(N LOOP(BELOW, "%3:32 = load_global u0l:64, %0:32, #2:64\n") PASS_STORE("%8:32"));
   STAYS(N LOOP(BELOW, SHARED_LOAD "store_shared #4:32, %8:32\n") PASS_STORE("%8:32"));
   STAYS(N LOOP(BELOW, "%3:32 = load_global u0l:64, %9:32, #0:64\nstore_shared #4:32, %8:32\n")
            PASS_STORE("%8:32"));
   /* Others may write it at any time. */
   STAYS(N LOOP(BELOW, "%3:32 = load_global u0l:64, %9:32, #1:64\n") PASS_STORE("%8:32"));
   /* Threads wait for each other. */
   STAYS(N LOOP(BELOW, CONST_LOAD "barrier #3:32\n") PASS_STORE("%8:32"));
   /* Only some iterations load. */
   STAYS(N LOOP(
      BELOW, "%5:1 = ult %0:32, #3:32\nbranch %5:1\nif\n%6:32 = load_global u0l:64, %9:32, #2:64\n"
             "store_shared #4:32, %6:32\nelse\nend\n%3:32 = iadd %0:32, #5:32\n")
            PASS_STORE("%8:32"));
   /* The test reads memory. */
   STAYS(N LOOP("%6:32 = load_shared %0:32\n%1:1 = ult %0:32, %6:32\n", CONST_LOAD)
            PASS_STORE("%8:32"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_test_goes_behind_the_body),
      cmocka_unit_test(the_load_then_moves),
      cmocka_unit_test(arms_and_phis_keep_their_sides),
      cmocka_unit_test(loops_see_what_others_left),
      cmocka_unit_test(other_loops_stay),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
