/* SPDX-License-Identifier: MIT
 *
 * Rules of opt_algebraic, each with what it must leave alone.
 */
#include "pass_support.h"

#define LOAD2 "%0:32 = load_shared #0:32\n%1:32 = load_shared #4:32\n"
/* One value in, %9 out: operations before and after. */
#define RULE(before, after)                                                                        \
   CASE(PASS_LOAD("%0:32") before PASS_STORE("%9:32"), PASS_LOAD("%0:32") after, RULE_PASSES)
#define KEEPS(ops)           RULE(ops, ops PASS_STORE("%9:32"))
#define RULE2(before, after) CASE(LOAD2 before PASS_STORE("%9:32"), LOAD2 after, RULE_PASSES)
#define RULE_PASSES          agxc_opt_algebraic, agxc_opt_copy_prop
#define OUT                  PASS_STORE("%9:32")

static void sums(void **state)
{
   RULE2("%2:32 = ineg %1:32\n%9:32 = iadd %0:32, %2:32\n",
         "%10:32 = isub %0:32, %1:32\n" PASS_STORE("%10:32"));
   RULE2("%2:32 = iadd %0:32, #5:32\n%3:32 = isub %2:32, %1:32\n%9:32 = iadd %3:32, #3:32\n",
         "%10:32 = isub %0:32, %1:32\n%9:32 = iadd %10:32, #8:32\n" OUT);
   RULE("%2:32 = isub #7:32, %0:32\n%9:32 = iadd %2:32, #2:32\n",
        "%10:32 = isub #9:32, %0:32\n" PASS_STORE("%10:32"));
   RULE("%2:32 = isub %0:32, %0:32\n%9:32 = iadd %2:32, %0:32\n", PASS_STORE("%0:32"));
   /* A sum that is needed otherwise keeps its constant. */
   RULE2("%2:32 = iadd %0:32, #5:32\n%3:32 = iadd %2:32, %1:32\n%9:32 = imul %3:32, %2:32\n",
         "%2:32 = iadd %0:32, #5:32\n%3:32 = iadd %2:32, %1:32\n%9:32 = imul %3:32, %2:32\n" OUT);
}

static void products(void **state)
{
   RULE("%2:32 = iadd %0:32, #2:32\n%9:32 = imul %2:32, #3:32\n",
        "%10:32 = imul %0:32, #3:32\n%11:32 = iadd %10:32, #6:32\n" PASS_STORE("%11:32"));
   RULE("%2:32 = imul %0:32, #3:32\n%9:32 = ishl %2:32, #2:32\n",
        "%10:32 = imul %0:32, #0xc:32\n" PASS_STORE("%10:32"));
   /* A step of a uniform stride. */
   RULE("%2:32 = iadd %0:32, #0xffffffff:32\n%9:32 = imul %2:32, u4l:32\n",
        "%10:32 = imul %0:32, u4l:32\n%11:32 = isub %10:32, u4l:32\n" PASS_STORE("%11:32"));
   KEEPS("%2:32 = iadd %0:32, #5:32\n%9:32 = imul %2:32, u4l:32\n");
}

static void bits(void **state)
{
   RULE("%2:32 = ushr %0:32, #0x18:32\n%9:32 = iand %2:32, #0xff:32\n",
        "%2:32 = ushr %0:32, #0x18:32\n" PASS_STORE("%2:32"));
   CASE(PASS_LOAD("%0:32") "%2:32 = ishl %0:32, #8:32\n%9:32 = iand %2:32, #0xff:32\n" OUT,
        PASS_STORE("#0:32"), RULE_PASSES);
   RULE("%2:32 = iand %0:32, #0xff:32\n%9:32 = iand %2:32, #0x3f0:32\n",
        "%10:32 = iand %0:32, #0xf0:32\n" PASS_STORE("%10:32"));
   RULE("%2:32 = ushr %0:32, #8:32\n%9:32 = ishl %2:32, #8:32\n",
        "%10:32 = iand %0:32, #0xffffff00:32\n" PASS_STORE("%10:32"));
   RULE("%2:32 = ior %0:32, #0xf00:32\n%9:32 = iand %2:32, #0xff:32\n",
        "%10:32 = iand %0:32, #0xff:32\n" PASS_STORE("%10:32"));
   CASE(LOAD2 "%2:32 = ixor %0:32, %1:32\n%9:32 = ixor %2:32, %1:32\n" OUT,
        PASS_LOAD("%0:32") PASS_STORE("%0:32"), RULE_PASSES);
   /* The way up is free in a sum. */
   KEEPS("%2:32 = ushr %0:32, #8:32\n%9:32 = ishl %2:32, #2:32\n");
   KEEPS("%2:32 = ushr %0:32, #0x17:32\n%9:32 = iand %2:32, #0xff:32\n");
}

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
   CASE("%9:32 = fmul #0x400000:32, #0x7f000000:32\n" OUT, PASS_STORE("#0:32"), RULE_PASSES);
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

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums),         cmocka_unit_test(products),
      cmocka_unit_test(bits),         cmocka_unit_test(truths),
      cmocka_unit_test(floats),       cmocka_unit_test(choices_know_their_condition),
      cmocka_unit_test(exact_floats), cmocka_unit_test(widths),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
