/* SPDX-License-Identifier: MIT
 *
 * Reductions: which are rows, and what becomes of the others. lower_subgroup_test.c has more of
 * them.
 */
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/lower/lower.h"
#include "pass_support.h"

#define OUT                    PASS_STORE("%9:32")
#define PASSES                 agxc_lower_subgroup, agxc_opt_copy_prop
#define BECOMES(before, after) CASE(before, after, PASSES)
#define STAYS(text)            NEGCASE(text, PASSES)

static void rows_stay(void **state)
{
   /* Sums of a quad and of all lanes, whoever runs. */
   STAYS("%8:32 = sysval #0xd:64\n"
         "%9:32 = reduce %8:32, #0x10:64, #0x20:64\n" OUT);
   STAYS("%8:32 = sysval #0xd:64\n"
         "%9:32 = reduce %8:32, #0x16:64, #4:64\n" OUT);
   STAYS("%8:32 = sysval #0xd:64\n"
         "%9:32 = scan %8:32, #0x10:64, #0:64\n" OUT);
   STAYS("%8:32 = sysval #0xd:64\n"
         "%2:1 = ult %8:32, #9:32\n"
         "branch %2:1\n"
         "if\n"
         "%3:32 = reduce %8:32, #0x10:64, #4:64\n"
         "store_shared #8:32, %3:32\n"
         "else\n"
         "end\n"
         "%9:32 = iadd %8:32, #1:32\n" OUT);
}

static void one_lane_is_itself(void **state)
{
   BECOMES("%8:32 = sysval #0xd:64\n"
           "%9:32 = reduce %8:32, #0x10:64, #1:64\n" OUT,
           "%8:32 = sysval #0xd:64\n" PASS_STORE("%8:32"));
}

static void pairs_ask_their_neighbour(void **state)
{
   BECOMES("%8:32 = sysval #0xd:64\n"
           "%9:32 = reduce %8:32, #0x10:64, #2:64\n" OUT,
           "%8:32 = sysval #0xd:64\n"
           "%10:32 = shuffle %8:32, #1:32, #1:64\n"
           "%11:32 = iadd %8:32, %10:32\n" PASS_STORE("%11:32"));
   /* Who may be away. */
   BECOMES("%8:32 = sysval #0xd:64\n"
           "%2:1 = ult %8:32, #9:32\n"
           "branch %2:1\n"
           "if\n"
           "%3:32 = reduce %8:32, #0x10:64, #2:64\n"
           "store_shared #8:32, %3:32\n"
           "else\n"
           "end\n"
           "%9:32 = iadd %8:32, #1:32\n" OUT,
           "%8:32 = sysval #0xd:64\n"
           "%2:1 = ult %8:32, #9:32\n"
           "branch %2:1\n"
           "if\n"
           "%10:32 = shuffle %8:32, #1:32, #1:64\n"
           "%11:32 = iadd %8:32, %10:32\n"
           "%12:32 = ballot #1:1\n"
           "%13:32 = sysval #0xd:64\n"
           "%14:32 = ixor %13:32, #1:32\n"
           "%15:32 = ushr %12:32, %14:32\n"
           "%16:32 = iand %15:32, #1:32\n"
           "%17:1 = ine %16:32, #0:32\n"
           "%18:32 = select %17:1, %11:32, %8:32\n"
           "store_shared #8:32, %18:32\n"
           "else\n"
           "end\n"
           "%9:32 = iadd %8:32, #1:32\n" OUT);
}

static void products_have_no_row(void **state)
{
   BECOMES("%8:32 = sysval #0xd:64\n"
           "%9:32 = reduce %8:32, #0x20:64, #4:64\n" OUT,
           "%8:32 = sysval #0xd:64\n"
           "%10:32 = shuffle %8:32, #1:32, #1:64\n"
           "%11:32 = imul %8:32, %10:32\n"
           "%12:32 = shuffle %11:32, #2:32, #1:64\n"
           "%13:32 = imul %11:32, %12:32\n" PASS_STORE("%13:32"));
}

static void truths_are_ballots(void **state)
{
   BECOMES("%8:32 = sysval #0xd:64\n"
           "%2:1 = ult %8:32, #9:32\n"
           "%3:1 = reduce %2:1, #0:64, #0x20:64\n"
           "%9:32 = zext %3:1\n" OUT,
           "%8:32 = sysval #0xd:64\n"
           "%2:1 = ult %8:32, #9:32\n"
           "%10:1 = inot %2:1\n"
           "%11:32 = ballot %10:1\n"
           "%12:1 = ieq %11:32, #0:32\n"
           "%9:32 = zext %12:1\n" OUT);
   BECOMES("%8:32 = sysval #0xd:64\n"
           "%2:1 = ult %8:32, #9:32\n"
           "%3:1 = reduce %2:1, #4:64, #4:64\n"
           "%9:32 = zext %3:1\n" OUT,
           "%8:32 = sysval #0xd:64\n"
           "%2:1 = ult %8:32, #9:32\n"
           "%10:32 = ballot %2:1\n"
           "%11:32 = sysval #0xd:64\n"
           "%12:32 = iand %11:32, #0x1c:32\n"
           "%13:32 = ishl #0xf:32, %12:32\n"
           "%14:32 = iand %10:32, %13:32\n"
           "%15:32 = bitcount %14:32\n"
           "%16:32 = iand %15:32, #1:32\n"
           "%17:1 = ine %16:32, #0:32\n"
           "%9:32 = zext %17:1\n" OUT);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_stay),
      cmocka_unit_test(one_lane_is_itself),
      cmocka_unit_test(pairs_ask_their_neighbour),
      cmocka_unit_test(products_have_no_row),
      cmocka_unit_test(truths_are_ballots),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
