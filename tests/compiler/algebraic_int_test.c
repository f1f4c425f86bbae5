/* SPDX-License-Identifier: MIT
 *
 * Rules of integers, each with what it must leave alone.
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
#define RULE(before, after)  BECOMES(LOAD1 before OUT, LOAD1 after)
#define KEEPS(ops)           RULE(ops, ops OUT)
#define RULE2(before, after) BECOMES(LOAD2 before OUT, LOAD2 after)

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
        PASS_STORE("#0:32"), PASSES);
   RULE("%2:32 = iand %0:32, #0xff:32\n%9:32 = iand %2:32, #0x3f0:32\n",
        "%10:32 = iand %0:32, #0xf0:32\n" PASS_STORE("%10:32"));
   RULE("%2:32 = ushr %0:32, #8:32\n%9:32 = ishl %2:32, #8:32\n",
        "%10:32 = iand %0:32, #0xffffff00:32\n" PASS_STORE("%10:32"));
   RULE("%2:32 = ior %0:32, #0xf00:32\n%9:32 = iand %2:32, #0xff:32\n",
        "%10:32 = iand %0:32, #0xff:32\n" PASS_STORE("%10:32"));
   CASE(LOAD2 "%2:32 = ixor %0:32, %1:32\n%9:32 = ixor %2:32, %1:32\n" OUT,
        PASS_LOAD("%0:32") PASS_STORE("%0:32"), PASSES);
   /* The way up is free in a sum. */
   KEEPS("%2:32 = ushr %0:32, #8:32\n%9:32 = ishl %2:32, #2:32\n");
   KEEPS("%2:32 = ushr %0:32, #0x17:32\n%9:32 = iand %2:32, #0xff:32\n");
}

static void sums_wrap(void **state)
{
   BECOMES(LOAD1 "%2:32 = iadd %0:32, #0xffffffff:32\n"
                 "%9:32 = iadd %2:32, #1:32\n" OUT,
           LOAD1 "%9:32 = iadd %0:32, #0:32\n" OUT);
   BECOMES(LOAD2 "%2:32 = isub %0:32, %1:32\n"
                 "%9:32 = iadd %2:32, %1:32\n" OUT,
           LOAD1 PASS_STORE("%0:32"));
   BECOMES(LOAD2 "%2:32 = iadd %0:32, %1:32\n"
                 "%9:32 = isub %2:32, %0:32\n" OUT,
           "%1:32 = load_shared #4:32\n" PASS_STORE("%1:32"));
   BECOMES(LOAD1 "%2:32 = inot %0:32\n"
                 "%9:32 = iadd %2:32, #1:32\n" OUT,
           LOAD1 "%10:32 = ineg %0:32\n" PASS_STORE("%10:32"));
   BECOMES(LOAD2 "%2:32 = isub %0:32, %1:32\n"
                 "%9:32 = ineg %2:32\n" OUT,
           LOAD2 "%10:32 = isub %1:32, %0:32\n" PASS_STORE("%10:32"));
   /* What is taken away is another value. */
   STAYS(LOAD2 "%2:32 = isub %0:32, %1:32\n"
               "%9:32 = iadd %2:32, %0:32\n" OUT);
   STAYS(LOAD1 "%2:32 = inot %0:32\n"
               "%9:32 = iadd %2:32, #2:32\n" OUT);
}

static void short_sums_wrap_elsewhere(void **state)
{
   /* Rules are for words: 16 bits lose what 32 would keep. */
   STAYS(LOAD1 "%2:16 = trunc %0:32\n"
               "%3:16 = iadd %2:16, #1:16\n"
               "%4:32 = zext %3:16\n"
               "%9:32 = iadd %4:32, #0xffffffff:32\n" OUT);
}

static void products_wrap(void **state)
{
   BECOMES(LOAD1 "%2:32 = imul %0:32, #0x10000:32\n"
                 "%9:32 = imul %2:32, #0x10000:32\n" OUT,
           PASS_STORE("#0:32"));
   BECOMES(LOAD1 "%2:32 = ineg %0:32\n"
                 "%9:32 = imul %2:32, #3:32\n" OUT,
           LOAD1 "%10:32 = imul %0:32, #0xfffffffd:32\n" PASS_STORE("%10:32"));
   /* The high word is another. */
   STAYS(LOAD1 "%2:32 = iadd %0:32, #5:32\n"
               "%9:32 = umulh %2:32, #3:32\n" OUT);
   STAYS(LOAD1 "%2:32 = imul %0:32, #0xfffffffd:32\n"
               "%9:32 = udiv %2:32, #5:32\n" OUT);
}

static void shifts_end_at_the_width(void **state)
{
   BECOMES(LOAD1 "%2:32 = ishl %0:32, #0x11:32\n"
                 "%9:32 = ishl %2:32, #0xf:32\n" OUT,
           PASS_STORE("#0:32"));
   BECOMES(LOAD1 "%2:32 = ushr %0:32, #0x11:32\n"
                 "%9:32 = ushr %2:32, #0xf:32\n" OUT,
           PASS_STORE("#0:32"));
   BECOMES(LOAD1 "%2:32 = ashr %0:32, #0x11:32\n"
                 "%9:32 = ashr %2:32, #0x14:32\n" OUT,
           LOAD1 "%10:32 = ashr %0:32, #0x1f:32\n" PASS_STORE("%10:32"));
   BECOMES(LOAD1 "%2:32 = iand %0:32, #0x7fffffff:32\n"
                 "%9:32 = ashr %2:32, #3:32\n" OUT,
           LOAD1 "%2:32 = iand %0:32, #0x7fffffff:32\n"
                 "%10:32 = ushr %2:32, #3:32\n" PASS_STORE("%10:32"));
   BECOMES(LOAD1 "%2:32 = ishl %0:32, #8:32\n"
                 "%9:32 = ushr %2:32, #8:32\n" OUT,
           LOAD1 "%10:32 = iand %0:32, #0xffffff:32\n" PASS_STORE("%10:32"));
   /* Signs come down with an arithmetic shift, and two amounts that vary don't add up. */
   STAYS(LOAD1 "%2:32 = ishl %0:32, #8:32\n"
               "%9:32 = ashr %2:32, #8:32\n" OUT);
   STAYS(LOAD2 "%2:32 = ushr %0:32, #8:32\n"
               "%9:32 = ashr %2:32, %1:32\n" OUT);
   STAYS(LOAD2 "%2:32 = ushr %0:32, %1:32\n"
               "%9:32 = ushr %2:32, %1:32\n" OUT);
   STAYS(LOAD1 "%2:32 = ashr %0:32, #8:32\n"
               "%9:32 = ushr %2:32, #8:32\n" OUT);
}

static void limits_absorb(void **state)
{
   BECOMES(LOAD1 "%9:32 = umin %0:32, #0xffffffff:32\n" OUT, LOAD1 PASS_STORE("%0:32"));
   BECOMES(LOAD1 "%9:32 = imax %0:32, #0x7fffffff:32\n" OUT, PASS_STORE("#0x7fffffff:32"));
   BECOMES(LOAD1 "%2:32 = iand %0:32, #0xff:32\n"
                 "%9:32 = umin %2:32, #0xff:32\n" OUT,
           LOAD1 "%2:32 = iand %0:32, #0xff:32\n" PASS_STORE("%2:32"));
   BECOMES(LOAD1 "%2:32 = imin %0:32, #9:32\n"
                 "%9:32 = imin %2:32, #0xfffffff0:32\n" OUT,
           LOAD1 "%10:32 = imin %0:32, #0xfffffff0:32\n" PASS_STORE("%10:32"));
   /* The greatest of one kind is -1 of the other. */
   STAYS(LOAD1 "%9:32 = imin %0:32, #0xffffffff:32\n" OUT);
   STAYS(LOAD1 "%9:32 = umax %0:32, #0x7fffffff:32\n" OUT);
   STAYS(LOAD1 "%2:32 = iand %0:32, #0x1ff:32\n"
               "%9:32 = umin %2:32, #0xff:32\n" OUT);
   STAYS(LOAD1 "%2:32 = imin %0:32, #9:32\n"
               "%9:32 = umin %2:32, #7:32\n" OUT);
   STAYS(LOAD1 "%2:32 = imax %0:32, #9:32\n"
               "%9:32 = imin %2:32, #7:32\n" OUT);
}

static void logic_absorbs(void **state)
{
   BECOMES(LOAD2 "%2:32 = ior %0:32, %1:32\n"
                 "%9:32 = iand %2:32, %0:32\n" OUT,
           LOAD1 PASS_STORE("%0:32"));
   BECOMES(LOAD1 "%2:32 = inot %0:32\n"
                 "%9:32 = ior %2:32, %0:32\n" OUT,
           PASS_STORE("#0xffffffff:32"));
   BECOMES(LOAD1 "%2:32 = ineg %0:32\n"
                 "%9:32 = inot %2:32\n" OUT,
           LOAD1 "%10:32 = iadd %0:32, #0xffffffff:32\n" PASS_STORE("%10:32"));
   STAYS(LOAD2 "%2:32 = ixor %0:32, %1:32\n"
               "%9:32 = iand %2:32, %0:32\n" OUT);
   STAYS(LOAD1 "%2:32 = ior %0:32, #0xf0:32\n"
               "%9:32 = iand %2:32, #0xff:32\n" OUT);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums),
      cmocka_unit_test(products),
      cmocka_unit_test(bits),
      cmocka_unit_test(sums_wrap),
      cmocka_unit_test(short_sums_wrap_elsewhere),
      cmocka_unit_test(products_wrap),
      cmocka_unit_test(shifts_end_at_the_width),
      cmocka_unit_test(limits_absorb),
      cmocka_unit_test(logic_absorbs),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
