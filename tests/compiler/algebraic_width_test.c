/* SPDX-License-Identifier: MIT
 *
 * Rules of changes of width, each with what it must leave alone.
 */
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define LOAD1                  PASS_LOAD("%0:32")
#define OUT                    PASS_STORE("%9:32")
#define PASSES                 agxc_opt_algebraic, agxc_opt_copy_prop
#define BECOMES(before, after) CASE(before, after, PASSES)
#define STAYS(text)            NEGCASE(text, PASSES)
/* One value in or two, %9 out: operations before and after. */
#define RULE(before, after) BECOMES(LOAD1 before OUT, LOAD1 after)
#define KEEPS(ops)          RULE(ops, ops OUT)

static void widths(void **state)
{
   RULE("%2:16 = trunc %0:32\n%3:8 = trunc %2:16\n%9:32 = zext %3:8\n",
        "%10:8 = trunc %0:32\n%9:32 = zext %10:8\n" OUT);
   RULE("%2:64 = sext %0:32\n%9:32 = trunc %2:64\n", PASS_STORE("%0:32"));
   RULE("%2:8 = trunc %0:32\n%3:16 = zext %2:8\n%9:32 = sext %3:16\n",
        "%2:8 = trunc %0:32\n%10:32 = zext %2:8\n" PASS_STORE("%10:32"));
   RULE("%2:8 = trunc %0:32\n%3:32 = zext %2:8\n%9:32 = iand %3:32, #0x1ff:32\n",
        "%2:8 = trunc %0:32\n%3:32 = zext %2:8\n" PASS_STORE("%3:32"));
   /* Signs spread through zeros only; what is cut off is gone; a float may lose bits. */
   KEEPS("%2:8 = trunc %0:32\n%3:16 = sext %2:8\n%9:32 = zext %3:16\n");
   KEEPS("%2:16 = trunc %0:32\n%9:32 = zext %2:16\n");
   KEEPS("%2:8 = trunc %0:32\n%3:32 = zext %2:8\n%9:32 = iand %3:32, #0x7f:32\n");
   KEEPS("%2:16 = f2f %0:32\n%9:32 = f2f %2:16\n");
}

static void changes_of_changes(void **state)
{
   BECOMES(LOAD1 "%2:64 = zext %0:32\n"
                 "%9:32 = trunc %2:64\n" OUT,
           LOAD1 PASS_STORE("%0:32"));
   BECOMES("%2:8 = load_shared #8:32\n"
           "%3:16 = sext %2:8\n"
           "%9:32 = sext %3:16\n" OUT,
           "%2:8 = load_shared #8:32\n"
           "%10:32 = sext %2:8\n" PASS_STORE("%10:32"));
   BECOMES("%2:16 = load_shared #8:32\n"
           "%3:32 = zext %2:16\n"
           "%4:64 = sext %3:32\n"
           "%5:8 = trunc %4:64\n"
           "%9:32 = zext %5:8\n" OUT,
           "%2:16 = load_shared #8:32\n"
           "%11:8 = trunc %2:16\n"
           "%9:32 = zext %11:8\n" OUT);
   BECOMES("%2:16 = load_shared #8:32\n"
           "%3:32 = f2f %2:16\n"
           "%4:16 = f2f %3:32\n"
           "%9:32 = zext %4:16\n" OUT,
           "%2:16 = load_shared #8:32\n"
           "%9:32 = zext %2:16\n" OUT);
   /* What was cut is gone, a sign does not spread through zeros, and halves round. */
   STAYS("%2:8 = load_shared #8:32\n"
         "%3:16 = sext %2:8\n"
         "%9:32 = zext %3:16\n" OUT);
   STAYS(LOAD1 "%2:16 = trunc %0:32\n"
               "%9:32 = sext %2:16\n" OUT);
   STAYS(LOAD1 "%2:16 = f2f %0:32\n"
               "%9:32 = f2f %2:16\n" OUT);
   /* Floats are no integers. */
   STAYS("%2:16 = load_shared #8:32\n"
         "%3:32 = f2f %2:16\n"
         "%4:16 = trunc %3:32\n"
         "%9:32 = zext %4:16\n" OUT);
}

static void masks_of_extensions(void **state)
{
   BECOMES("%2:16 = load_shared #8:32\n"
           "%3:32 = zext %2:16\n"
           "%9:32 = iand %3:32, #0x3ffff:32\n" OUT,
           "%2:16 = load_shared #8:32\n"
           "%3:32 = zext %2:16\n" PASS_STORE("%3:32"));
   STAYS("%2:16 = load_shared #8:32\n"
         "%3:32 = zext %2:16\n"
         "%9:32 = iand %3:32, #0x17fff:32\n" OUT);
   STAYS("%2:16 = load_shared #8:32\n"
         "%3:32 = sext %2:16\n"
         "%9:32 = iand %3:32, #0xffff:32\n" OUT);
   STAYS(LOAD1 "%2:1 = ult %0:32, #9:32\n"
               "%3:16 = zext %2:1\n"
               "%9:32 = zext %3:16\n" OUT);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(widths),
      cmocka_unit_test(changes_of_changes),
      cmocka_unit_test(masks_of_extensions),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
