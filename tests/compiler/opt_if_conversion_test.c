/* SPDX-License-Identifier: MIT
 *
 * Which ifs become selects, and which stay.
 */
#include "agx/compiler/opt/opt.h"
#include "uniform_support.h"

static void check(const char *before, const char *after)
{
   uniform_check(
      &(struct uniform_case){.pass = agxc_opt_if_conversion, .before = before, .after = after});
}

#define X                          "%0:32 = sysval #6:32\n%1:1 = ult %0:32, u4l:32\n"
#define USE(ref)                   "store_global u2l:64, %0:32, " ref ", #0:64\n"
#define IF(then_lines, else_lines) "branch %1:1\nif\n" then_lines "else\n" else_lines "end\n"

static void short_arms_become_selects(void **state)
{
   check(X IF("   %2:32 = iadd %0:32, #5:32\n", "") "%3:32 = phi %2:32, %0:32\n" USE("%3:32"),
         X "%2:32 = iadd %0:32, #5:32\n%3:32 = select %1:1, %2:32, %0:32\n" USE("%3:32"));
   check(X IF("   %2:32 = iadd %0:32, #5:32\n",
              "   %3:32 = ixor %0:32, #9:32\n") "%4:32 = phi "
                                                "%2:32, %3:32\n" USE("%4:32"),
         X "%2:32 = iadd %0:32, #5:32\n%3:32 = ixor %0:32, #9:32\n"
           "%4:32 = select %1:1, %2:32, %3:32\n" USE("%4:32"));
}

static void ifs_in_ifs_flatten_from_inside(void **state)
{
   check(X "%2:1 = ult %0:32, u5l:32\n" IF(
            "   branch %2:1\n   if\n      %3:32 = iadd %0:32, #5:32\n   else\n   end\n"
            "   %4:32 = phi %3:32, #7:32\n",
            "") "%5:32 = phi %4:32, %0:32\n" USE("%5:32"),
         X "%2:1 = ult %0:32, u5l:32\n%3:32 = iadd %0:32, #5:32\n"
           "%4:32 = select %2:1, %3:32, #7:32\n%5:32 = select %1:1, %4:32, %0:32\n" USE("%5:32"));
}

static void conditions_are_constants_in_their_arms(void **state)
{
   /* a && b and a || b, as short circuits make them. */
   check(X IF("   %2:1 = ult %0:32, u5l:32\n",
              "") "%3:1 = phi %2:1, %1:1\nbranch %3:1\nif\n   " USE("#1:32") "else\nend\n",
         X "%2:1 = ult %0:32, u5l:32\n%3:1 = select %1:1, %2:1, #0:1\nbranch %3:1\nif\n   " USE(
            "#1:32") "else\nend\n");
   check(X "%4:1 = inot %1:1\nbranch %4:1\nif\n   %2:1 = ult %0:32, u5l:32\nelse\nend\n"
           "%3:1 = phi %2:1, %1:1\nbranch %3:1\nif\n   " USE("#1:32") "else\nend\n",
         X "%4:1 = inot %1:1\n%2:1 = ult %0:32, u5l:32\n%3:1 = select %1:1, #1:1, %2:1\n"
           "branch %3:1\nif\n   " USE("#1:32") "else\nend\n");
}

static void negated_conditions_count_too(void **state)
{
   check(X "%4:1 = uge %0:32, u4l:32\n" IF("   %2:1 = ult %0:32, u5l:32\n",
                                           "") "%3:1 = phi "
                                               "%2:1, %4:1\n"
                                               "branch %3:1\nif\n   " USE("#1:32") "else\nend\n",
         X "%4:1 = uge %0:32, u4l:32\n%2:1 = ult %0:32, u5l:32\n"
           "%3:1 = select %1:1, %2:1, #1:1\nbranch %3:1\nif\n   " USE("#1:32") "else\nend\n");
   /* A NaN is neither less nor not less. */
   check("%0:32 = sysval #6:32\n%1:1 = flt %0:32, u4l:32\n%4:1 = fge %0:32, u4l:32\n" IF(
            "   %2:1 = ult %0:32, u5l:32\n",
            "") "%3:1 = phi %2:1, %4:1\nbranch %3:1\nif\n   " USE("#1:32") "else\nend\n",
         "%0:32 = sysval #6:32\n%1:1 = flt %0:32, u4l:32\n%4:1 = fge %0:32, u4l:32\n"
         "%2:1 = ult %0:32, u5l:32\n%3:1 = select %1:1, %2:1, %4:1\nbranch %3:1\nif\n   " USE(
            "#1:32") "else\nend\n");
}

static void empty_ifs_go(void **state)
{
   check(X IF("", "") USE("#1:32"), X USE("#1:32"));
   check("%0:32 = sysval #6:32\n%1:1 = ult %0:32, u4l:32\nloop\n   branch %1:1\n   if\n   else\n"
         "   end\n   branch %1:1\n   if\n      break\n   else\n   end\ncontinuing\nend\n",
         "%0:32 = sysval #6:32\n%1:1 = ult %0:32, u4l:32\nloop\n   branch %1:1\n   if\n"
         "      break\n   else\n   end\ncontinuing\nend\n");
}

static void effects_and_what_others_see_stay(void **state)
{
   check(X IF("   " USE("#1:32"), ""), NULL);
   check(X IF("   %2:32 = load_shared %0:32\n", "") "%3:32 = phi %2:32, #0:32\n" USE("%3:32"),
         NULL);
   check(X IF("   %2:32 = reduce %0:32, #0:64, #0x20:64\n",
              "") "%3:32 = phi %2:32, #0:32\n" USE("%3:32"),
         NULL);
   check(X IF("   return\n", "") USE("#1:32"), NULL);
   check(X "loop\n   branch %1:1\n   if\n      break\n   else\n   end\ncontinuing\nend\n", NULL);
}

static void long_arms_stay(void **state)
{
   /* Two square roots; and what a jump can skip for the whole dispatch. */
   check(X IF("   %2:32 = frsqrt %0:32\n   %3:32 = frsqrt %2:32\n", "") "%4:32 = phi %3:32, "
                                                                        "%0:32\n" USE("%4:32"),
         NULL);
   check("%0:32 = sysval #6:32\n%1:1 = ult u5l:32, u4l:32\n" IF(
            "   %2:32 = frsqrt %0:32\n", "") "%4:32 = phi %2:32, %0:32\n" USE("%4:32"),
         NULL);
   /* More values than an if costs instructions. */
   check(X IF("   %2:32 = iadd %0:32, #1:32\n   %3:32 = iadd %0:32, #2:32\n"
              "   %4:32 = iadd %0:32, #3:32\n   %5:32 = iadd %0:32, #4:32\n",
              "") "%6:32 = phi %2:32, #1:32\n%7:32 = phi %3:32, #2:32\n"
                  "%8:32 = phi %4:32, #3:32\n%9:32 = phi %5:32, #4:32\n" USE("%6:32") USE("%7:32")
                     USE("%8:32") USE("%9:32"),
         NULL);
}

static void what_no_select_can_do_stays(void **state)
{
   /* Other lanes would vote; */
   check("%0:32 = load_shared #0:32\n"
         "%2:1 = ult %0:32, #9:32\n"
         "branch %2:1\n"
         "if\n"
         "   %3:32 = ballot #1:1\n"
         "else\n"
         "end\n"
         "%9:32 = phi %3:32, #0:32\n"
         "store_shared #4:32, %9:32\n",
         NULL);
   /* constant memory may end there; */
   check("%0:32 = load_shared #0:32\n"
         "%2:1 = ult %0:32, #9:32\n"
         "branch %2:1\n"
         "if\n"
         "   %3:32 = load_global u0l:64, %0:32, #2:64\n"
         "else\n"
         "end\n"
         "%9:32 = phi %3:32, #0:32\n"
         "store_shared #4:32, %9:32\n",
         NULL);
   /* so may images, and they cost; */
   check("%5:32x2 = load_shared #8:32\n"
         "%0:32 = load_shared #0:32\n"
         "%2:1 = ult %0:32, #9:32\n"
         "branch %2:1\n"
         "if\n"
         "   %7:32x4 = image_fetch %5:32x2, #0:16, _, _, _, #1:64, #2:64, #0:64\n"
         "   %3:32, %10:32, %11:32, %12:32 = split %7:32x4\n"
         "else\n"
         "end\n"
         "%9:32 = phi %3:32, #0:32\n"
         "store_shared #4:32, %9:32\n",
         NULL);
   /* no select is wider than a word, or narrower than a half, */
   check("%5:64 = load_global u0l:64, #0:32, #0:64\n"
         "%0:32 = load_shared #0:32\n"
         "%2:1 = ult %0:32, #9:32\n"
         "branch %2:1\n"
         "if\n"
         "   %6:64 = pack64 %0:32, #1:32\n"
         "else\n"
         "end\n"
         "%7:64 = phi %6:64, %5:64\n"
         "%8:32, %9:32 = unpack64 %7:64\n"
         "store_shared #4:32, %9:32\n",
         NULL);
   check("%0:32 = load_shared #0:32\n"
         "%2:1 = ult %0:32, #9:32\n"
         "%5:8 = trunc %0:32\n"
         "branch %2:1\n"
         "if\n"
         "   %6:8 = iadd %5:8, #1:8\n"
         "else\n"
         "end\n"
         "%7:8 = phi %6:8, %5:8\n"
         "%9:32 = zext %7:8\n"
         "store_shared #4:32, %9:32\n",
         NULL);
   /* or a vector; */
   check("%5:32x2 = load_shared #8:32\n"
         "%0:32 = load_shared #0:32\n"
         "%2:1 = ult %0:32, #9:32\n"
         "branch %2:1\n"
         "if\n"
         "   %6:32x2 = collect %0:32, #1:32\n"
         "else\n"
         "end\n"
         "%7:32x2 = phi %6:32x2, %5:32x2\n"
         "store_shared #8:32, %7:32x2\n",
         NULL);
   /* four of them cost more than the if. */
   check("%0:32 = load_shared #0:32\n"
         "%2:1 = ult %0:32, #9:32\n"
         "branch %2:1\n"
         "if\n"
         "else\n"
         "end\n"
         "%3:32 = phi #1:32, #2:32\n"
         "%4:32 = phi #3:32, #2:32\n"
         "%5:32 = phi #4:32, #2:32\n"
         "%6:32 = phi #5:32, #2:32\n"
         "%7:32 = iadd %3:32, %4:32\n"
         "%8:32 = iadd %5:32, %6:32\n"
         "%9:32 = iadd %8:32, %7:32\n"
         "store_shared #4:32, %9:32\n",
         NULL);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_arms_become_selects),
      cmocka_unit_test(ifs_in_ifs_flatten_from_inside),
      cmocka_unit_test(conditions_are_constants_in_their_arms),
      cmocka_unit_test(negated_conditions_count_too),
      cmocka_unit_test(empty_ifs_go),
      cmocka_unit_test(effects_and_what_others_see_stay),
      cmocka_unit_test(long_arms_stay),
      cmocka_unit_test(what_no_select_can_do_stays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
