/* SPDX-License-Identifier: MIT
 *
 * What opt_algebraic does to any operation: constants fold, stand second and go outside. Its rules
 * have tests of their own: algebraic_*_test.c.
 */
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define LOAD1                  PASS_LOAD("%0:32")
#define LOAD2                  "%0:32 = load_shared #0:32\n%1:32 = load_shared #4:32\n"
#define OUT                    PASS_STORE("%9:32")
#define PASSES                 agxc_opt_algebraic, agxc_opt_copy_prop
#define BECOMES(before, after) CASE(before, after, PASSES)
#define STAYS(text)            NEGCASE(text, PASSES)

static void constants_fold(void **state)
{
   BECOMES(LOAD1 "%2:32 = iadd #0xffffffff:32, #2:32\n"
                 "%9:32 = iadd %0:32, %2:32\n" OUT,
           LOAD1 "%9:32 = iadd %0:32, #1:32\n" OUT);
   BECOMES(LOAD1 "%2:16 = iadd #0xffff:16, #2:16\n"
                 "%3:32 = zext %2:16\n"
                 "%9:32 = iadd %0:32, %3:32\n" OUT,
           LOAD1 "%9:32 = iadd %0:32, #1:32\n" OUT);
   BECOMES(LOAD1 "%2:32 = sdiv #0x80000000:32, #0xffffffff:32\n"
                 "%9:32 = iadd %0:32, %2:32\n" OUT,
           LOAD1 "%9:32 = iadd %0:32, #0x80000000:32\n" OUT);
   BECOMES(LOAD2 "%2:1 = ult #1:32, #2:32\n"
                 "%9:32 = select %2:1, %0:32, %1:32\n" OUT,
           LOAD1 PASS_STORE("%0:32"));
   /* Floats of 16 bits are left to the hardware. */
   STAYS(LOAD1 "%2:16 = fadd #0x3c00:16, #0x3c00:16\n"
               "%3:32 = zext %2:16\n"
               "%9:32 = iadd %0:32, %3:32\n" OUT);
}

static void constants_stand_second(void **state)
{
   BECOMES(LOAD1 "%9:32 = umin #7:32, %0:32\n" OUT, LOAD1 "%9:32 = umin %0:32, #7:32\n" OUT);
   BECOMES(LOAD1 "%9:32 = fmul #7:32, %0:32\n" OUT, LOAD1 "%9:32 = fmul %0:32, #7:32\n" OUT);
   /* Not of what does not commute. */
   STAYS(LOAD1 "%9:32 = ishl #7:32, %0:32\n" OUT);
   STAYS(LOAD1 "%9:32 = isub #7:32, %0:32\n" OUT);
   STAYS(LOAD1 "%2:1 = ult #7:32, %0:32\n"
               "%9:32 = select %2:1, %0:32, #5:32\n" OUT);
}

static void constants_go_outside(void **state)
{
   BECOMES(LOAD1 "%2:32 = iadd %0:32, #5:32\n"
                 "%9:32 = ishl %2:32, #2:32\n" OUT,
           LOAD1 "%10:32 = ishl %0:32, #2:32\n"
                 "%9:32 = iadd %10:32, #0x14:32\n" OUT);
   BECOMES(LOAD2 "%2:32 = iadd %0:32, #5:32\n"
                 "%9:32 = iadd %2:32, %1:32\n" OUT,
           LOAD2 "%10:32 = iadd %0:32, %1:32\n"
                 "%9:32 = iadd %10:32, #5:32\n" OUT);
   BECOMES(LOAD1 "%2:32 = ishl %0:32, #1:32\n"
                 "%9:32 = ishl %2:32, #3:32\n" OUT,
           LOAD1 "%9:32 = ishl %0:32, #4:32\n" OUT);
   /* A constant that the shift cuts: the address would be another. */
   STAYS(LOAD1 "%2:32 = iadd %0:32, #0x40000001:32\n"
               "%9:32 = ishl %2:32, #2:32\n" OUT);
   /* Sums that are needed otherwise. */
   STAYS(LOAD2 "%2:32 = iadd %0:32, #5:32\n"
               "%3:32 = iadd %2:32, %1:32\n"
               "%9:32 = ixor %3:32, %2:32\n" OUT);
   /* Two shifts that are free are better than one that is not. */
   STAYS(LOAD1 "%2:32 = ishl %0:32, #3:32\n"
               "%9:32 = ishl %2:32, #3:32\n" OUT);
}

static void memory_and_lanes_stay(void **state)
{
   STAYS(LOAD1 "%2:32 = ballot #1:1\n"
               "%9:32 = iadd %2:32, %0:32\n" OUT);
   /* An index that leaves its buffer must do so afterwards, too. */
   STAYS(LOAD1 "%2:32 = element #0x40000001:32, #4:32\n"
               "%3:32 = load_buffer %2:32, #0:64, #0:64\n"
               "%9:32 = iadd %3:32, %0:32\n" OUT);
   BECOMES(LOAD1 "%2:32 = element #5:32, #4:32\n"
                 "%3:32 = load_buffer %2:32, #0:64, #0:64\n"
                 "%9:32 = iadd %3:32, %0:32\n" OUT,
           LOAD1 "%3:32 = load_buffer #0x14:32, #0:64, #0:64\n"
                 "%9:32 = iadd %3:32, %0:32\n" OUT);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(constants_fold),
      cmocka_unit_test(constants_stand_second),
      cmocka_unit_test(constants_go_outside),
      cmocka_unit_test(memory_and_lanes_stay),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
