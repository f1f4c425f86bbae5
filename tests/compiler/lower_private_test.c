/* SPDX-License-Identifier: MIT
 *
 * Where private variables go: registers, a choice among registers, workgroup memory, or scratch
 * memory.
 */
#include "agx/compiler/lower/lower.h"
#include "golden_support.h"

static const pass_fn passes[] = {agxc_lower_private};

#define LANE "%0:32 = sysval #13:32\n"
#define OUT  "store_shared #0:32, %9:32\n"

static void test_places(void **state)
{
   struct pass_golden golden = {.passes = passes, .pass_count = 1, .shared_B = 64};
   pass_case(&golden, "constant offsets are registers, also across branches",
             LANE "private #0:32, #8:32\n"
                  "store_private #4:32, %0:32, #0:32\n"
                  "%1:1 = ieq %0:32, #3:32\n"
                  "branch %1:1\n"
                  "if\n"
                  "  store_private #4:32, #7:32, #0:32\n"
                  "else\n"
                  "end\n"
                  "%9:32 = load_private #4:32, #0:32\n" OUT);
   pass_case(&golden, "what is never written is 0",
             "private #0:32, #8:32\n%9:32 = load_private #0:32, #0:32\n" OUT);
   pass_case(&golden, "vectors of registers",
             LANE "private #0:32, #16:32\n"
                  "%1:32x2 = collect %0:32, #5:32\n"
                  "store_private #8:32, %1:32x2, #0:32\n"
                  "%9:32 = load_private #12:32, #0:32\n" OUT);
   pass_case(&golden, "a short array is chosen from",
             LANE "private #0:32, #12:32\n"
                  "store_private #0:32, #10:32, #0:32\n"
                  "store_private #4:32, #11:32, #0:32\n"
                  "store_private #8:32, #12:32, #0:32\n"
                  "%1:32 = ishl %0:32, #2:32\n"
                  "%9:32 = load_private %1:32, #0:32\n" OUT);
   pass_case(&golden, "a dynamic store keeps what it does not hit",
             LANE "private #0:32, #8:32\n"
                  "store_private #0:32, #10:32, #0:32\n"
                  "%1:32 = ishl %0:32, #2:32\n"
                  "store_private %1:32, %0:32, #0:32\n"
                  "%9:32 = load_private #0:32, #0:32\n" OUT);
   pass_case(&golden, "of an array of pairs only the members meant",
             LANE "private #0:32, #24:32\n"
                  "store_private #4:32, #10:32, #0:32\n"
                  "%1:32 = ishl %0:32, #3:32\n"
                  "%2:32 = iadd %1:32, #4:32\n"
                  "%9:32 = load_private %2:32, #0:32\n" OUT);
   pass_case(&golden, "behind a constant, choices before it are below zero",
             LANE "private #0:32, #20:32\n"
                  "store_private #0:32, #9:32, #0:32\n"
                  "store_private #8:32, #10:32, #0:32\n"
                  "store_private #12:32, #11:32, #0:32\n"
                  "store_private #16:32, #12:32, #0:32\n"
                  "%1:32 = ishl %0:32, #2:32\n"
                  "%2:32 = iadd %1:32, #8:32\n"
                  "%9:32 = load_private %2:32, #0:32\n" OUT);
   pass_case(&golden, "words that all threads have room for are workgroup memory",
             LANE "private #0:32, #96:32\n"
                  "%1:32 = ishl %0:32, #2:32\n"
                  "%2:32x2 = collect %0:32, #5:32\n"
                  "store_private %1:32, %2:32x2, #0:32\n"
                  "%3:32 = load_private %1:32, #0:32\n"
                  "%4:32 = load_private #4:32, #0:32\n"
                  "%9:32 = iadd %3:32, %4:32\n" OUT);
   pass_case(&golden, "halves are not",
             LANE "private #0:32, #96:32\n"
                  "%1:32 = ishl %0:32, #1:32\n%2:16 = trunc %0:32\n"
                  "store_private %1:32, %2:16, #0:32\n"
                  "%3:16 = load_private %1:32, #0:32\n"
                  "%9:32 = zext %3:16\n" OUT);
   pass_case(&golden, "a long array is scratch memory",
             LANE "private #0:32, #256:32\n"
                  "private #1:32, #256:32\n"
                  "%1:32 = ishl %0:32, #2:32\n"
                  "store_private %1:32, %0:32, #0:32\n"
                  "store_private #8:32, %0:32, #1:32\n"
                  "store_private %1:32, %0:32, #1:32\n"
                  "%2:32 = load_private %1:32, #1:32\n"
                  "%3:32 = load_private %1:32, #0:32\n"
                  "%9:32 = iadd %2:32, %3:32\n" OUT);
   pass_case(&golden, "what nothing loads is dropped",
             LANE "private #0:32, #256:32\n"
                  "%1:32 = ishl %0:32, #2:32\n"
                  "store_private %1:32, %0:32, #0:32\n"
                  "%9:32 = iadd %0:32, #1:32\n" OUT);
   pass_case(&golden, "elements that overlap are scratch memory",
             LANE "private #0:32, #4:32\n"
                  "store_private #0:32, %0:32, #0:32\n"
                  "%1:16 = load_private #2:32, #0:32\n"
                  "%9:32 = zext %1:16\n" OUT);
   pass_case_same(&golden, "without private variables", LANE "%9:32 = iadd %0:32, #1:32\n" OUT);
   pass_golden_check(&golden, "compiler/lower_private.txt");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_places),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
