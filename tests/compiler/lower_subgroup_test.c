/* SPDX-License-Identifier: MIT
 *
 * lower_subgroup: what operations between lanes become where all lanes run, and where some
 * may be away; and that no two of them count as one across blocks.
 */
#include "agx/compiler/opt/opt.h"
#include "agx/compiler/lower/lower.h"
#include "golden_support.h"

#define IN   "%0:32 = sysval #0xc:64\n%1:32 = ishl %0:32, #2:32\n%2:32 = load_shared %1:32\n"
#define OUT  "store_shared %1:32, "
#define IF   "%3:1 = ieq %2:32, #0:32\nbranch %3:1\nif\n"
#define END  "else\nend\n"
#define HALF "%4:16 = trunc %2:32\n"
#define BACK "%6:32 = zext %5:16\n" OUT "%6:32\n"

static const pass_fn passes[] = {agxc_lower_subgroup};
static const pass_fn cse[] = {agxc_opt_cse};

static struct pass_golden begin(void)
{
   return (struct pass_golden){.passes = passes, .pass_count = 1, .shared_B = 8192};
}

static void where_all_lanes_run(void **state)
{
   struct pass_golden g = begin();
   pass_case_same(
      &g, "rows as they are",
      IN "%4:32 = shuffle %2:32, #5:32, #1:64\n%5:32 = reduce %4:32, #0x10:64, #0x20:64\n"
         "%6:32 = scan %5:32, #0x10:64, #0:64\n%7:32 = reduce %6:32, #1:64, #4:64\n" OUT "%7:32\n");
   pass_case(&g, "any lane", IN "%4:32 = shuffle %2:32, %2:32, #0:64\n" OUT "%4:32\n");
   pass_case(&g, "a distance", IN "%4:32 = shuffle %2:32, %2:32, #2:64\n" OUT "%4:32\n");
   pass_case(&g, "the first lane", IN "%4:32 = broadcast_first %2:32\n" OUT "%4:32\n");
   pass_case(&g, "one lane",
             IN "%3:32 = load_global u0l:64, #0:32, #2:64\n"
                "%4:32 = broadcast %2:32, %3:32\n" OUT "%4:32\n");
   pass_case(&g, "what is the same everywhere",
             IN "%3:32 = load_global u0l:64, #0:32, #2:64\n%4:32 = broadcast_first %3:32\n"
                "%5:32 = shuffle %2:32, %4:32, #1:64\n" OUT "%5:32\n");
   pass_case(&g, "two and eight lanes",
             IN "%4:32 = reduce %2:32, #0x10:64, #2:64\n%5:32 = reduce %4:32, #0x1e:64, #8:64\n" OUT
                "%5:32\n");
   pass_case(&g, "a product", IN "%4:32 = reduce %2:32, #0x20:64, #4:64\n" OUT "%4:32\n");
   pass_case(&g, "an inclusive scan", IN "%4:32 = scan %2:32, #1:64, #1:64\n" OUT "%4:32\n");
   pass_case(&g, "signed halves", IN HALF "%5:16 = scan %4:16, #0x14:64, #0:64\n" BACK);
   pass_case(&g, "booleans",
             IN "%3:1 = ieq %2:32, #0:32\n%4:1 = reduce %3:1, #0:64, #0x20:64\n"
                "%5:1 = scan %4:1, #4:64, #1:64\n%6:32 = zext %5:1\n" OUT "%6:32\n");
   pass_case(&g, "sums of 64 bits",
             IN "%4:64 = pack64 %2:32, %2:32\n%5:64 = reduce %4:64, #0x10:64, #0x20:64\n"
                "%6:32, %7:32 = unpack64 %5:64\n" OUT "%6:32\n" OUT "%7:32\n");
   pass_case(&g, "the largest of 64 bits",
             IN "%4:64 = pack64 %2:32, %2:32\n%5:64 = reduce %4:64, #0x16:64, #0x20:64\n"
                "%6:32, %7:32 = unpack64 %5:64\n" OUT "%6:32\n" OUT "%7:32\n");
   pass_golden_check(&g, "compiler/lower_subgroup.txt");
}

static void where_lanes_may_be_away(void **state)
{
   struct pass_golden g = begin();
   pass_case_same(&g, "rows as they are",
                  IN IF "   %4:32 = shuffle %2:32, #5:32, #1:64\n"
                        "   %5:32 = reduce %4:32, #0x10:64, #0x20:64\n"
                        "   %6:32 = scan %5:32, #0x10:64, #0:64\n   " OUT "%6:32\n" END);
   pass_case(&g, "any lane", IN IF "%4:32 = shuffle %2:32, %2:32, #0:64\n" OUT "%4:32\n" END);
   pass_case(&g, "any lane's half", IN IF HALF "%5:16 = shuffle %4:16, %2:32, #0:64\n" BACK END);
   pass_case(&g, "the first lane", IN IF "%4:32 = broadcast_first %2:32\n" OUT "%4:32\n" END);
   pass_case(&g, "two lanes", IN IF "%4:32 = reduce %2:32, #0x10:64, #2:64\n" OUT "%4:32\n" END);
   pass_case(&g, "sixteen lanes",
             IN IF "%4:32 = reduce %2:32, #1:64, #0x10:64\n" OUT "%4:32\n" END);
   pass_case(&g, "a product of four lanes",
             IN IF "%4:32 = reduce %2:32, #0x20:64, #4:64\n" OUT "%4:32\n" END);
   pass_golden_check(&g, "compiler/lower_subgroup_away.txt");
}

static void lanes_are_not_shared_across_blocks(void **state)
{
   struct pass_golden g = {.passes = cse, .pass_count = 1, .shared_B = 8192};
   pass_case(&g, "once in a block, but again inside the if",
             IN
             "%3:1 = ieq %2:32, #0:32\n%4:32 = ballot %3:1\n%5:32 = ballot %3:1\n"
             "%6:32 = iadd %4:32, %5:32\n" OUT "%6:32\nbranch %3:1\nif\n"
             "   %7:32 = ballot %3:1\n   %8:32 = active_rank\n   %9:32 = iadd %7:32, %8:32\n   " OUT
             "%9:32\n" END "%10:32 = ballot %3:1\n" OUT "%10:32\n");
   pass_golden_check(&g, "compiler/lower_subgroup_cse.txt");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(where_all_lanes_run),
      cmocka_unit_test(where_lanes_may_be_away),
      cmocka_unit_test(lanes_are_not_shared_across_blocks),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
