/* SPDX-License-Identifier: MIT
 *
 * Loops that take several iterations at a time.
 */
#include "agx/compiler/opt/loads/loads.h"
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define N PASS_LOAD("%9:32")
#define LOOP(header, body, step)                                                                   \
   "loop\n%0:32 = phi #0:32, %2:32\n" header "branch %1:1\nif\nelse\nbreak\nend\n" body            \
   "continuing\n%2:32 = iadd %0:32, " step "\nend\n"
#define BODY "store_shared #4:32, %0:32\n"

static void four_turns_at_a_time(void **state)
{
   CASE(N LOOP("%1:1 = ult %0:32, %9:32\n", BODY, "#1:32"),
        N "%10:32 = umax %9:32, #3:32\n%11:32 = isub %10:32, #3:32\n"
          "loop\n%12:32 = phi #0:32, %21:32\n%13:1 = ult %12:32, %11:32\nbranch %13:1\nif\nelse\n"
          "break\nend\nstore_shared #4:32, %12:32\n%15:32 = iadd %12:32, #1:32\n"
          "store_shared #4:32, %15:32\n%17:32 = iadd %15:32, #1:32\n"
          "store_shared #4:32, %17:32\n%19:32 = iadd %17:32, #1:32\n"
          "store_shared #4:32, %19:32\n%21:32 = iadd %19:32, #1:32\ncontinuing\nend\n"
          "loop\n%0:32 = phi %12:32, %2:32\n%1:1 = ult %0:32, %9:32\nbranch %1:1\nif\nelse\nbreak\n"
          "end\n" BODY "continuing\n%2:32 = iadd %0:32, #1:32\nend\n",
        agxc_opt_unroll_partial);
}

static void signed_limits_do_not_wrap(void **state)
{
   CASE(N LOOP("%3:1 = sge %0:32, %9:32\n%1:1 = inot %3:1\n", BODY, "#2:32"),
        N
        "%10:32 = imax %9:32, #0x80000006:32\n%11:32 = isub %10:32, #6:32\n"
        "loop\n%12:32 = phi #0:32, %25:32\n%13:1 = slt %12:32, %11:32\nbranch %13:1\nif\nelse\n"
        "break\nend\nstore_shared #4:32, %12:32\n%16:32 = iadd %12:32, #2:32\n"
        "store_shared #4:32, %16:32\n%19:32 = iadd %16:32, #2:32\n"
        "store_shared #4:32, %19:32\n%22:32 = iadd %19:32, #2:32\n"
        "store_shared #4:32, %22:32\n%25:32 = iadd %22:32, #2:32\ncontinuing\nend\n"
        "loop\n%0:32 = phi %12:32, %2:32\n%3:1 = sge %0:32, %9:32\n%1:1 = inot %3:1\nbranch %1:1\n"
        "if\nelse\nbreak\nend\n" BODY "continuing\n%2:32 = iadd %0:32, #2:32\nend\n",
        agxc_opt_unroll_partial);
}

/* Eight iterations are twice four: copies follow each other without tests. */
static void known_turns_need_no_tests(void **state)
{
   CASE(LOOP("%1:1 = ult %0:32, #8:32\n", BODY, "#1:32"),
        "loop\n%0:32 = phi #0:32, %8:32\n%1:1 = ult %0:32, #8:32\nbranch %1:1\nif\nelse\nbreak\n"
        "end\n" BODY "%2:32 = iadd %0:32, #1:32\n"
        "store_shared #4:32, %2:32\n%4:32 = iadd %2:32, #1:32\n"
        "store_shared #4:32, %4:32\n%6:32 = iadd %4:32, #1:32\n"
        "store_shared #4:32, %6:32\n%8:32 = iadd %6:32, #1:32\ncontinuing\nend\n",
        agxc_opt_control_flow, agxc_opt_unroll_partial);
}

#define KNOWN "%1:1 = ult %0:32, #4:32\n"

/* Loads from scratch memory wait together, or stores to it follow what was loaded together. */
static void scratch_memory_is_one_way(void **state)
{
   CASE(LOOP(KNOWN, "%3:32 = load_scratch %0:32\n" PASS_STORE("%3:32"), "#1:32"),
        "loop\n%0:32 = phi #0:32, %12:32\n" KNOWN "branch %1:1\nif\nelse\nbreak\nend\n"
        "%3:32 = load_scratch %0:32\n" PASS_STORE(
           "%3:32") "%2:32 = iadd %0:32, #1:32\n%5:32 = "
                    "load_scratch %2:32\n" PASS_STORE(
                       "%5:32") "%6:32 = iadd %2:32, #1:32\n%8:32 = load_scratch "
                                "%6:32\n" PASS_STORE("%8:32") "%9:32 = iadd %6:32, "
                                                              "#1:32\n%11:32 = load_scratch "
                                                              "%9:32\n" PASS_STORE(
                                                                 "%11:32") "%12:32 = iadd %9:32, "
                                                                           "#1:"
                                                                           "32\ncontinuing\nend\n",
        agxc_opt_control_flow, agxc_opt_unroll_partial);
   NEGCASE(LOOP(KNOWN, "%3:32 = load_scratch %0:32\nstore_scratch #0:32, %3:32\n", "#1:32"),
           agxc_opt_unroll_partial);
}

#define STAYS(text) NEGCASE(text, agxc_opt_unroll_partial)

static void other_loops_stay(void **state)
{
   /* The limit changes. */
   STAYS("loop\n%0:32 = phi #0:32, %2:32\n%3:32 = load_shared %0:32\n%1:1 = ult %0:32, %3:32\n"
         "branch %1:1\nif\nelse\nbreak\nend\n" BODY "continuing\n%2:32 = iadd %0:32, #1:32\nend\n");
   /* Downwards, by what isn't constant, and to another end than a limit. */
   STAYS(N LOOP("%1:1 = ult %0:32, %9:32\n", BODY, "#0xffffffff:32"));
   STAYS(N LOOP("%1:1 = ult %0:32, %9:32\n", BODY, "%9:32"));
   STAYS(N LOOP("%1:1 = ine %0:32, %9:32\n", BODY, "#1:32"));
   /* Threads wait for each other in each iteration. */
   STAYS(N LOOP("%1:1 = ult %0:32, %9:32\n", BODY "barrier #3:32\n", "#1:32"));
   /* The limit is an iteration, too, and may be the last number there is. */
   STAYS(N LOOP("%1:1 = uge %9:32, %0:32\n", BODY, "#1:32"));
   /* The counter is the greater side. */
   STAYS(N LOOP("%1:1 = ult %9:32, %0:32\n", BODY, "#1:32"));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(four_turns_at_a_time),      cmocka_unit_test(signed_limits_do_not_wrap),
      cmocka_unit_test(known_turns_need_no_tests), cmocka_unit_test(scratch_memory_is_one_way),
      cmocka_unit_test(other_loops_stay),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
