/* SPDX-License-Identifier: MIT
 *
 * Rules of truths, compares and choices, each with what it must leave alone.
 */
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define LOAD1                  PASS_LOAD("%0:32")
#define LOAD2                  "%0:32 = load_shared #0:32\n%1:32 = load_shared #4:32\n"
#define OUT                    PASS_STORE("%9:32")
#define PASSES                 agxc_opt_algebraic, agxc_opt_copy_prop
#define BECOMES(before, after) CASE(before, after, PASSES)
#define STAYS(text)            NEGCASE(text, PASSES)
/* One value in or two, %9 out: operations before and after. */
#define RULE(before, after) BECOMES(LOAD1 before OUT, LOAD1 after)
#define KEEPS(ops)          RULE(ops, ops OUT)

static void truths(void **state)
{
   RULE("%2:1 = ult %0:32, #3:32\n%3:1 = inot %2:1\n%9:32 = select %3:1, #1:32, #2:32\n",
        "%10:1 = uge %0:32, #3:32\n%9:32 = select %10:1, #1:32, #2:32\n" OUT);
   /* Both are false for NaN. */
   RULE("%2:1 = flt %0:32, #3:32\n%3:1 = inot %2:1\n%9:32 = zext %3:1\n",
        "%2:1 = flt %0:32, #3:32\n%11:32 = select %2:1, #0:32, #1:32\n" PASS_STORE("%11:32"));
   RULE("%2:1 = ult %0:32, #3:32\n%3:32 = select %2:1, #1:32, #0:32\n%4:1 = ine %3:32, #0:32\n"
        "%9:32 = select %4:1, #7:32, %0:32\n",
        "%2:1 = ult %0:32, #3:32\n%9:32 = select %2:1, #7:32, %0:32\n" OUT);
   RULE("%2:32 = iadd %0:32, #5:32\n%3:1 = ieq %2:32, #7:32\n%9:32 = select %3:1, #1:32, #0:32\n",
        "%10:1 = ieq %0:32, #2:32\n%9:32 = select %10:1, #1:32, #0:32\n" OUT);
   /* Sums wrap, so this says nothing about order. */
   KEEPS("%2:32 = iadd %0:32, #5:32\n%3:1 = ult %2:32, #7:32\n%9:32 = select %3:1, #1:32, #0:32\n");
   RULE("%2:1 = ult %0:32, #1:32\n%3:1 = ult %0:32, #0:32\n%4:1 = ior %2:1, %3:1\n"
        "%9:32 = select %4:1, #1:32, #0:32\n",
        "%10:1 = ieq %0:32, #0:32\n%9:32 = select %10:1, #1:32, #0:32\n" OUT);
}

static void choices_know_their_condition(void **state)
{
   RULE("%2:1 = ult %0:32, #3:32\n%3:1 = uge %0:32, #3:32\n%4:1 = ieq %0:32, #1:32\n"
        "%5:1 = select %2:1, %4:1, %3:1\n%9:32 = select %5:1, #7:32, %0:32\n",
        "%4:1 = ieq %0:32, #1:32\n%11:1 = uge %0:32, #3:32\n"
        "%12:1 = ior %11:1, %4:1\n%9:32 = select %12:1, #7:32, %0:32\n" OUT);
   /* Another limit says nothing. */
   KEEPS("%2:1 = ult %0:32, #3:32\n%3:1 = uge %0:32, #4:32\n%4:1 = ieq %0:32, #1:32\n"
         "%5:1 = select %2:1, %4:1, %3:1\n%9:32 = select %5:1, #7:32, %0:32\n");
}

static void compares_lose_their_sums(void **state)
{
   BECOMES(LOAD1 "%2:32 = ixor %0:32, #5:32\n"
                 "%3:1 = ine %2:32, #7:32\n"
                 "%9:32 = select %3:1, %0:32, #9:32\n" OUT,
           LOAD1 "%10:1 = ine %0:32, #2:32\n"
                 "%9:32 = select %10:1, %0:32, #9:32\n" OUT);
   BECOMES(LOAD2 "%2:32 = isub %0:32, %1:32\n"
                 "%3:1 = ieq %2:32, #0:32\n"
                 "%9:32 = select %3:1, %0:32, #9:32\n" OUT,
           LOAD2 "%10:1 = ieq %0:32, %1:32\n"
                 "%9:32 = select %10:1, %0:32, #9:32\n" OUT);
   /* The difference may wrap, so its sign says nothing; nor do products or masks. */
   STAYS(LOAD2 "%2:32 = isub %0:32, %1:32\n"
               "%3:1 = slt %2:32, #0:32\n"
               "%9:32 = select %3:1, %0:32, #9:32\n" OUT);
   STAYS(LOAD1 "%2:32 = imul %0:32, #6:32\n"
               "%3:1 = ieq %2:32, #0xc:32\n"
               "%9:32 = select %3:1, %0:32, #9:32\n" OUT);
   STAYS(LOAD1 "%2:32 = ior %0:32, #1:32\n"
               "%3:1 = ieq %2:32, #3:32\n"
               "%9:32 = select %3:1, %0:32, #9:32\n" OUT);
}

static void nothing_is_below_zero(void **state)
{
   BECOMES(LOAD1 "%2:1 = ult %0:32, #0:32\n"
                 "%9:32 = select %2:1, %0:32, #9:32\n" OUT,
           PASS_STORE("#9:32"));
   BECOMES(LOAD1 "%2:1 = uge %0:32, #1:32\n"
                 "%9:32 = select %2:1, %0:32, #9:32\n" OUT,
           LOAD1 "%10:1 = ine %0:32, #0:32\n"
                 "%9:32 = select %10:1, %0:32, #9:32\n" OUT);
   BECOMES(LOAD1 "%2:1 = ult #0:32, %0:32\n"
                 "%9:32 = select %2:1, %0:32, #9:32\n" OUT,
           LOAD1 "%10:1 = ine %0:32, #0:32\n"
                 "%9:32 = select %10:1, %0:32, #9:32\n" OUT);
   BECOMES(LOAD2 "%2:1 = sge %0:32, %0:32\n"
                 "%9:32 = select %2:1, #3:32, %1:32\n" OUT,
           PASS_STORE("#3:32"));
   /* With a sign a lot is. */
   STAYS(LOAD1 "%2:1 = slt %0:32, #0:32\n"
               "%9:32 = select %2:1, %0:32, #9:32\n" OUT);
   STAYS(LOAD1 "%2:1 = sge %0:32, #1:32\n"
               "%9:32 = select %2:1, %0:32, #9:32\n" OUT);
}

static void floats_may_be_no_numbers(void **state)
{
   BECOMES(LOAD2 "%2:1 = feq %0:32, %1:32\n"
                 "%3:1 = inot %2:1\n"
                 "%9:32 = select %3:1, #3:32, %1:32\n" OUT,
           LOAD2 "%10:1 = fne %0:32, %1:32\n"
                 "%9:32 = select %10:1, #3:32, %1:32\n" OUT);
   /* A NaN does not equal itself, and is not ordered. */
   STAYS(LOAD1 "%2:1 = feq %0:32, %0:32\n"
               "%9:32 = select %2:1, #3:32, %0:32\n" OUT);
   STAYS(LOAD1 "%2:1 = fge %0:32, %0:32\n"
               "%9:32 = select %2:1, #3:32, %0:32\n" OUT);
   STAYS(LOAD2 "%2:1 = flt %0:32, %1:32\n"
               "%3:1 = fge %0:32, %1:32\n"
               "%4:1 = ior %2:1, %3:1\n"
               "%9:32 = select %4:1, #3:32, %0:32\n" OUT);
   /* Zeros of both signs are equal, their bits are not. */
   STAYS(LOAD1 "%2:1 = feq %0:32, #0:32\n"
               "%9:32 = select %2:1, #0:32, %0:32\n" OUT);
}

static void choices_of_choices(void **state)
{
   BECOMES(LOAD2 "%2:1 = ult %0:32, %1:32\n"
                 "%3:32 = select %2:1, %0:32, #7:32\n"
                 "%9:32 = select %2:1, %3:32, %1:32\n" OUT,
           LOAD2 "%2:1 = ult %0:32, %1:32\n"
                 "%10:32 = select %2:1, %0:32, %1:32\n" PASS_STORE("%10:32"));
   BECOMES(LOAD2 "%2:1 = ult %0:32, %1:32\n"
                 "%3:32 = select %2:1, #5:32, #7:32\n"
                 "%4:1 = ult %3:32, #6:32\n"
                 "%9:32 = select %4:1, %0:32, %1:32\n" OUT,
           LOAD2 "%2:1 = ult %0:32, %1:32\n"
                 "%9:32 = select %2:1, %0:32, %1:32\n" OUT);
   BECOMES(LOAD2 "%2:1 = ult %0:32, %1:32\n"
                 "%3:32 = select %2:1, #5:32, #7:32\n"
                 "%4:1 = ult %3:32, #9:32\n"
                 "%9:32 = select %4:1, %0:32, %1:32\n" OUT,
           LOAD1 PASS_STORE("%0:32"));
   /* Another condition, and a choice of what varies. */
   STAYS(LOAD2 "%2:1 = ult %0:32, %1:32\n"
               "%3:1 = ult %1:32, %0:32\n"
               "%4:32 = select %2:1, %0:32, #7:32\n"
               "%9:32 = select %3:1, %4:32, %1:32\n" OUT);
   STAYS(LOAD2 "%2:1 = ult %0:32, %1:32\n"
               "%3:32 = select %2:1, #5:32, %0:32\n"
               "%4:1 = ult %3:32, #6:32\n"
               "%9:32 = select %4:1, %0:32, %1:32\n" OUT);
}

static void truths_combine(void **state)
{
   BECOMES(LOAD2 "%2:1 = ult %0:32, %1:32\n"
                 "%3:1 = ult %0:32, #9:32\n"
                 "%4:1 = select %2:1, %3:1, #0:1\n"
                 "%9:32 = select %4:1, %0:32, %1:32\n" OUT,
           LOAD2 "%2:1 = ult %0:32, %1:32\n"
                 "%3:1 = ult %0:32, #9:32\n"
                 "%10:1 = iand %2:1, %3:1\n"
                 "%9:32 = select %10:1, %0:32, %1:32\n" OUT);
   BECOMES(LOAD2 "%2:1 = ult %0:32, %1:32\n"
                 "%3:1 = inot %2:1\n"
                 "%4:1 = iand %2:1, %3:1\n"
                 "%9:32 = select %4:1, %0:32, %1:32\n" OUT,
           LOAD2 "%2:1 = ult %0:32, %1:32\n"
                 "%10:1 = uge %0:32, %1:32\n"
                 "%4:1 = iand %2:1, %10:1\n"
                 "%9:32 = select %4:1, %0:32, %1:32\n" OUT);
   /* Two truths that both vary are a choice. */
   STAYS(LOAD2 "%2:1 = ult %0:32, %1:32\n"
               "%3:1 = ult %0:32, #9:32\n"
               "%4:1 = ult %1:32, #9:32\n"
               "%5:1 = select %2:1, %3:1, %4:1\n"
               "%9:32 = select %5:1, %0:32, %1:32\n" OUT);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(truths),
      cmocka_unit_test(choices_know_their_condition),
      cmocka_unit_test(compares_lose_their_sums),
      cmocka_unit_test(nothing_is_below_zero),
      cmocka_unit_test(floats_may_be_no_numbers),
      cmocka_unit_test(choices_of_choices),
      cmocka_unit_test(truths_combine),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
