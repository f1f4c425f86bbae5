/* SPDX-License-Identifier: MIT
 *
 * Rules of floats: those of real numbers, but for what is exact.
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

static void floats(void **state)
{
   RULE("%2:32 = fadd %0:32, #0:32\n%9:32 = fmul %2:32, #0x3f800000:32\n", PASS_STORE("%0:32"));
   RULE("%2:32 = fmul %0:32, #0x40000000:32\n%9:32 = fmul %2:32, #0x40400000:32\n",
        "%10:32 = fmul %0:32, #0x40c00000:32\n" PASS_STORE("%10:32"));
   RULE("%9:32 = fdiv %0:32, #0x41200000:32\n",
        "%10:32 = fmul %0:32, #0x3dcccccd:32\n" PASS_STORE("%10:32"));
   RULE("%2:32 = fmax %0:32, #0:32\n%9:32 = fmin %2:32, #0x3f800000:32\n",
        "%10:32 = fsat %0:32\n" PASS_STORE("%10:32"));
   /* This gives 1 for a NaN, where saturation gives 0. */
   KEEPS("%2:32 = fmin %0:32, #0x3f800000:32\n%9:32 = fmax %2:32, #0:32\n");
   RULE("%2:32 = fsqrt %0:32\n%9:32 = frcp %2:32\n",
        "%10:32 = frsqrt %0:32\n" PASS_STORE("%10:32"));
   RULE("%2:32 = flog2 %0:32\n%3:32 = fmul %2:32, #0x40000000:32\n%9:32 = fexp2 %3:32\n",
        "%10:32 = fmul %0:32, %0:32\n" PASS_STORE("%10:32"));
   /* A denormal is zero to the hardware. */
   CASE("%9:32 = fmul #0x400000:32, #0x7f000000:32\n" OUT, PASS_STORE("#0:32"), PASSES);
}

static void exact_floats(void **state)
{
   /* -0 + 0 is 0, infinity * 0 is not a number, and two products round twice. */
   KEEPS("%9:32 = fadd.exact %0:32, #0:32\n");
   KEEPS("%9:32 = fmul.exact %0:32, #0:32\n");
   KEEPS("%2:32 = fmul.exact %0:32, #0x40000000:32\n%9:32 = fmul.exact %2:32, #0x40400000:32\n");
   KEEPS("%2:32 = fmul.exact %0:32, #0x40000000:32\n%9:32 = fmul %2:32, #0x40400000:32\n");
   KEEPS("%2:32 = fsqrt %0:32\n%9:32 = frcp.exact %2:32\n");
   /* -0 is what a sum leaves alone. */
   RULE("%9:32 = fadd.exact %0:32, #0x80000000:32\n", PASS_STORE("%0:32"));
   RULE("%2:32 = fneg %0:32\n%9:32 = fadd.exact %2:32, u4l:32\n",
        "%10:32 = fsub.exact u4l:32, %0:32\n" PASS_STORE("%10:32"));
}

static void zeros_have_signs(void **state)
{
   BECOMES(LOAD1 "%9:32 = fsub.exact #0x80000000:32, %0:32\n" OUT,
           LOAD1 "%10:32 = fneg.exact %0:32\n" PASS_STORE("%10:32"));
   BECOMES(LOAD1 "%9:32 = fsub %0:32, #0:32\n" OUT, LOAD1 PASS_STORE("%0:32"));
   BECOMES(LOAD1 "%2:32 = fabs %0:32\n"
                 "%3:32 = fneg %2:32\n"
                 "%9:32 = fabs %3:32\n" OUT,
           LOAD1 "%2:32 = fabs %0:32\n" PASS_STORE("%2:32"));
   /* 0 - 0 is 0, not -0; x + 0 is not -0 either. */
   STAYS(LOAD1 "%9:32 = fsub.exact #0:32, %0:32\n" OUT);
   STAYS(LOAD1 "%9:32 = fadd.exact %0:32, #0:32\n" OUT);
   STAYS(LOAD2 "%2:32 = fsub.exact %0:32, %1:32\n"
               "%9:32 = fneg %2:32\n" OUT);
   STAYS(LOAD1 "%2:32 = fmax.exact %0:32, #0:32\n"
               "%9:32 = fmin.exact %2:32, #0x3f800000:32\n" OUT);
}

static void infinities_and_no_numbers_count(void **state)
{
   /* Infinity - infinity, 0 / 0. */
   STAYS(LOAD1 "%9:32 = fsub %0:32, %0:32\n" OUT);
   STAYS(LOAD1 "%9:32 = fdiv %0:32, %0:32\n" OUT);
   STAYS(LOAD1 "%2:32 = fadd.exact %0:32, #0x7f000000:32\n"
               "%9:32 = fadd %2:32, #0x7f000000:32\n" OUT);
   /* A divisor whose inverse is no ordinary number. */
   STAYS(LOAD1 "%9:32 = fdiv %0:32, #0:32\n" OUT);
   STAYS(LOAD1 "%9:32 = fdiv %0:32, #0x800000:32\n" OUT);
   STAYS(LOAD1 "%2:32 = fmul %0:32, #0x7f000000:32\n"
               "%9:32 = fmul %2:32, #0x7f000000:32\n" OUT);
   BECOMES(LOAD1 "%9:32 = fdiv %0:32, #0x40000000:32\n" OUT,
           LOAD1 "%10:32 = fmul %0:32, #0x3f000000:32\n" PASS_STORE("%10:32"));
}

static void limits_take_numbers(void **state)
{
   BECOMES(LOAD1 "%2:32 = fmin %0:32, #0x40000000:32\n"
                 "%9:32 = fmin %2:32, #0x3f800000:32\n" OUT,
           LOAD1 "%10:32 = fmin %0:32, #0x3f800000:32\n" PASS_STORE("%10:32"));
   BECOMES(LOAD1 "%9:32 = fmax %0:32, %0:32\n" OUT, LOAD1 PASS_STORE("%0:32"));
   /* Different ones. */
   STAYS(LOAD1 "%2:32 = fmax %0:32, #0x40000000:32\n"
               "%9:32 = fmin %2:32, #0x3f800000:32\n" OUT);
   STAYS(LOAD1 "%2:32 = fmax %0:32, #0x80000000:32\n"
               "%9:32 = fmin %2:32, #0x40000000:32\n" OUT);
}

static void roots_and_powers(void **state)
{
   BECOMES(LOAD1 "%2:32 = flog2 %0:32\n"
                 "%3:32 = fmul %2:32, #0x3f000000:32\n"
                 "%9:32 = fexp2 %3:32\n" OUT,
           LOAD1 "%10:32 = fsqrt %0:32\n" PASS_STORE("%10:32"));
   BECOMES(LOAD1 "%2:32 = flog2 %0:32\n"
                 "%3:32 = fmul %2:32, #0x40800000:32\n"
                 "%9:32 = fexp2 %3:32\n" OUT,
           LOAD1 "%10:32 = fmul %0:32, %0:32\n"
                 "%11:32 = fmul %10:32, %10:32\n" PASS_STORE("%11:32"));
   /* Not of five, nor what is computed as written. */
   STAYS(LOAD1 "%2:32 = flog2 %0:32\n"
               "%3:32 = fmul %2:32, #0x40a00000:32\n"
               "%9:32 = fexp2 %3:32\n" OUT);
   STAYS(LOAD1 "%2:32 = flog2 %0:32\n"
               "%3:32 = fmul.exact %2:32, #0x40000000:32\n"
               "%9:32 = fexp2 %3:32\n" OUT);
   STAYS(LOAD1 "%2:32 = flog2.exact %0:32\n"
               "%3:32 = fmul %2:32, #0x40000000:32\n"
               "%9:32 = fexp2 %3:32\n" OUT);
   STAYS(LOAD1 "%2:32 = fsqrt.exact %0:32\n"
               "%9:32 = frcp %2:32\n" OUT);
   STAYS(LOAD1 "%2:32 = flog2 %0:32\n"
               "%9:32 = fexp2 %2:32\n" OUT);
}

static void sums_of_products(void **state)
{
   BECOMES(LOAD2 "%9:32 = ffma %0:32, #0x3f800000:32, %1:32\n" OUT,
           LOAD2 "%10:32 = fadd %0:32, %1:32\n" PASS_STORE("%10:32"));
   BECOMES(LOAD2 "%9:32 = ffma %0:32, %1:32, #0:32\n" OUT,
           LOAD2 "%10:32 = fmul %0:32, %1:32\n" PASS_STORE("%10:32"));
   /* That one rounding and signs of zeros remain. */
   STAYS(LOAD2 "%9:32 = ffma.exact %0:32, %1:32, #0:32\n" OUT);
   STAYS(LOAD2 "%2:32 = fmul %0:32, %1:32\n"
               "%9:32 = fadd %2:32, %1:32\n" OUT);
}

static void conversions_of_choices(void **state)
{
   BECOMES(LOAD1 "%2:1 = ult %0:32, #9:32\n"
                 "%3:32 = select %2:1, #1:32, #0xffffffff:32\n"
                 "%9:32 = s2f %3:32\n" OUT,
           LOAD1 "%2:1 = ult %0:32, #9:32\n"
                 "%12:32 = select %2:1, #0x3f800000:32, #0xbf800000:32\n" PASS_STORE("%12:32"));
   BECOMES(LOAD1 "%2:1 = ult %0:32, #9:32\n"
                 "%3:32 = select %2:1, #1:32, #0xffffffff:32\n"
                 "%9:32 = u2f %3:32\n" OUT,
           LOAD1 "%2:1 = ult %0:32, #9:32\n"
                 "%12:32 = select %2:1, #0x3f800000:32, #0x4f800000:32\n" PASS_STORE("%12:32"));
   STAYS(LOAD1 "%2:1 = ult %0:32, #9:32\n"
               "%3:32 = select %2:1, #1:32, %0:32\n"
               "%9:32 = s2f %3:32\n" OUT);
   /* Short integers have another sign. */
   STAYS(LOAD1 "%2:1 = ult %0:32, #9:32\n"
               "%3:16 = select %2:1, #1:16, #0xffff:16\n"
               "%9:32 = s2f %3:16\n" OUT);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(floats),
      cmocka_unit_test(exact_floats),
      cmocka_unit_test(zeros_have_signs),
      cmocka_unit_test(infinities_and_no_numbers_count),
      cmocka_unit_test(limits_take_numbers),
      cmocka_unit_test(roots_and_powers),
      cmocka_unit_test(sums_of_products),
      cmocka_unit_test(conversions_of_choices),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
