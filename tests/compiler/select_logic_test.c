/* SPDX-License-Identifier: MIT
 *
 * Connectives of compares: one select in front of a compare instead of two booleans.
 */
#include "pass_support.h"

#define LOAD2  "%0:32 = load_shared #0:32\n%1:32 = load_shared #4:32\n"
#define ROWS   "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n%1:32 = agx.lload _, #1:16, #2:64, #1:64\n"
#define LSTORE "agx.lstore %9:32, _, #0:16, #2:64, #1:64\n"
#define LOGIC(ops, rows)                                                                           \
   CASE(LOAD2 ops "%9:32 = select %4:1, #5:32, #6:32\n" PASS_STORE("%9:32"), ROWS rows LSTORE,     \
        agxc_select)

static void compares_are_forced(void **state)
{
   /* x < 7 and x != y: where the first fails, y meets itself. */
   LOGIC("%2:1 = ult %0:32, #7:32\n%3:1 = ine %0:32, %1:32\n%4:1 = iand %2:1, %3:1\n",
         "%11:32 = agx.icsel %0:32, #7:32, %0:32, %1:32, #1:64\n"
         "%9:32 = agx.icsel %11:32, %1:32, #6:32, #5:32, #0:64\n");
   /* x >= 7 or x >= y: nothing is below 0. */
   LOGIC("%2:1 = uge %0:32, #7:32\n%3:1 = uge %0:32, %1:32\n%4:1 = ior %2:1, %3:1\n",
         "%11:32 = agx.icsel %0:32, #7:32, %1:32, #0:32, #1:64\n"
         "%9:32 = agx.icsel %0:32, %11:32, #6:32, #5:32, #1:64\n");
   /* An ordered compare of floats fails for NaN. */
   LOGIC("%2:1 = ult %0:32, #7:32\n%3:1 = flt %0:32, %1:32\n%4:1 = iand %2:1, %3:1\n",
         "%11:32 = agx.icsel %0:32, #7:32, %0:32, u0l:32, #1:64\n"
         "%9:32 = agx.fcsel %11:32, %1:32, #5:32, #6:32, #1:64\n");
}

static void some_cannot_be_forced(void **state)
{
   /* Nothing makes a < b true for every b, nor the other way round. */
   LOGIC("%2:1 = flt %1:32, %0:32\n%3:1 = flt %0:32, %1:32\n%4:1 = ior %2:1, %3:1\n",
         "%2:16 = agx.fcsel %1:32, %0:32, #1:16, #0:16, #1:64\n"
         "%3:16 = agx.fcsel %0:32, %1:32, #1:16, #0:16, #1:64\n"
         "%4:16 = agx.or %2:16, %3:16\n"
         "%9:32 = agx.icsel %4:16, #0:16, #6:32, #5:32, #0:64\n");
   /* A compare that is wanted elsewhere is there anyway. */
   CASE(LOAD2 "%2:1 = ult %0:32, #7:32\n%3:1 = ult %0:32, %1:32\n%4:1 = iand %2:1, %3:1\n"
              "%5:1 = ixor %2:1, %3:1\n%6:32 = select %5:1, #1:32, #2:32\n"
              "%9:32 = select %4:1, %6:32, #6:32\n" PASS_STORE("%9:32"),
        ROWS "%2:16 = agx.icsel %0:32, #7:32, #1:16, #0:16, #1:64\n"
             "%3:16 = agx.icsel %0:32, %1:32, #1:16, #0:16, #1:64\n"
             "%4:16 = agx.and %2:16, %3:16\n%5:16 = agx.xor %2:16, %3:16\n"
             "%6:32 = agx.icsel %5:16, #0:16, #2:32, #1:32, #0:64\n"
             "%9:32 = agx.icsel %4:16, #0:16, #6:32, %6:32, #0:64\n" LSTORE,
        agxc_select);
}

static void zero_is_an_immediate_of_float_limits(void **state)
{
   CASE(PASS_LOAD("%0:32") "%9:32 = fmax %0:32, #0:32\n" PASS_STORE("%9:32"),
        "%0:32 = agx.lload _, #0:16, #2:64, #1:64\n"
        "%9:32 = agx.fcsel %0:32, f0:16, %0:32, #0:32, #7:64\n" LSTORE,
        agxc_select);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(compares_are_forced),
      cmocka_unit_test(some_cannot_be_forced),
      cmocka_unit_test(zero_is_an_immediate_of_float_limits),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
