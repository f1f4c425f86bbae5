/* SPDX-License-Identifier: MIT
 *
 * lower_narrow: what 8 and 16 bits cannot do themselves is done on more; what can, stays.
 */
#include "agx/compiler/lower/lower.h"
#include "golden_support.h"

#define HALVES "%0:16 = load_shared #0:32\n%1:16 = load_shared #4:32\n"
#define BYTES  "%0:8 = load_shared #0:32\n%1:8 = load_shared #4:32\n"
#define COUNT  "%2:32 = load_shared #8:32\n"
#define HALF   "store_shared #0:32, %9:16\n"
#define BYTE   "store_shared #0:32, %9:8\n"
#define BOTH8  "store_shared #4:32, %1:8\n"
#define BOTH16 "store_shared #4:32, %1:16\n"

static const pass_fn passes[] = {agxc_lower_narrow};

static struct pass_golden begin(void)
{
   return (struct pass_golden){.passes = passes, .pass_count = AGX_COUNT(passes), .shared_B = 64};
}

static void divisions(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "by way of floats", HALVES "%9:16 = udiv %0:16, %1:16\n" HALF);
   pass_case(&g, "with a sign", HALVES "%9:16 = sdiv %0:16, %1:16\n" HALF);
   pass_case(&g, "by a constant: its reciprocal", HALVES "%9:16 = umod %0:16, #7:16\n" HALF);
   pass_case(&g, "by a negative one", HALVES "%9:16 = sdiv %0:16, #0xfffd:16\n" HALF);
   pass_case(&g, "by a power of two: a shift", BYTES "%9:8 = udiv %0:8, #4:8\n" BYTE);
   pass_case(&g, "its remainder: a mask", HALVES "%9:16 = umod %0:16, #8:16\n" HALF);
   pass_case(&g, "not with a sign", HALVES "%9:16 = srem %0:16, #8:16\n" HALF);
   pass_case(&g, "the divisor's sign", BYTES "%9:8 = smod %0:8, %1:8\n" BYTE);
   pass_golden_check(&g, "compiler/lower_narrow_divisions.txt");
}

static void others(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "high products", BYTES "%9:8 = umulh %0:8, %1:8\n" BYTE);
   pass_case(&g, "with a sign", HALVES "%9:16 = smulh %0:16, %1:16\n" HALF);
   pass_case(&g, "reversed bits", HALVES "%9:16 = bitrev %0:16\n" HALF);
   pass_case(&g, "fields", HALVES COUNT "%9:16 = sbfe %0:16, %2:32, #3:32\n" HALF);
   pass_case(&g, "fields put into others", BYTES "%9:8 = bfi %0:8, %1:8, #2:32, #3:32\n" BYTE);
   pass_case(&g, "a shift of a byte reads upper bits: zeros",
             BYTES COUNT "%9:8 = ushr %0:8, %2:32\n" BYTE);
   pass_case(&g, "or its sign", BYTES COUNT "%9:8 = ashr %0:8, %2:32\n" BYTE);
   pass_case(&g, "compares, signed",
             BYTES "%3:1 = slt %0:8, %1:8\n%9:8 = select %3:1, %0:8, %1:8\n" BYTE);
   pass_case(&g, "or not, with a constant",
             BYTES "%3:1 = ult %0:8, #0xff:8\n%9:8 = select %3:1, %0:8, %1:8\n" BYTE);
   pass_case(&g, "the smaller byte", BYTES "%9:8 = imin %0:8, %1:8\n" BYTE);
   pass_case(&g, "ones of a byte", BYTES "%9:8 = bitcount %0:8\n" BYTE);
   pass_golden_check(&g, "compiler/lower_narrow.txt");
}

static void what_low_bits_decide_stays(void **state)
{
   struct pass_golden g = begin();
   pass_case_same(&g, "sum", BYTES "%9:8 = iadd %0:8, %1:8\n" BYTE);
   pass_case_same(&g, "product", BYTES "%9:8 = imul %0:8, %1:8\n" BYTE);
   pass_case_same(&g, "left shift", BYTES COUNT "%9:8 = ishl %0:8, %2:32\n" BOTH8 BYTE);
   pass_case_same(&g, "choice",
                  BYTES COUNT "%3:1 = ieq %2:32, #0:32\n"
                              "%9:8 = select %3:1, %0:8, %1:8\n" BYTE);
   pass_golden_check(&g, NULL);
}

/* Rows have 16 bits; 32 are the other passes' affair. */
static void what_rows_do_stays(void **state)
{
   struct pass_golden g = begin();
   pass_case_same(&g, "right shift", HALVES COUNT "%9:16 = ashr %0:16, %2:32\n" BOTH16 HALF);
   pass_case_same(&g, "minimum", HALVES "%9:16 = imin %0:16, %1:16\n" HALF);
   pass_case_same(&g, "compare",
                  HALVES "%3:1 = slt %0:16, %1:16\n"
                         "%9:16 = select %3:1, %0:16, %1:16\n" HALF);
   pass_case_same(&g, "words",
                  COUNT "%9:32 = udiv %2:32, #7:32\n%10:32 = bitrev %9:32\n"
                        "store_shared #0:32, %10:32\n");
   pass_golden_check(&g, NULL);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(divisions),
      cmocka_unit_test(others),
      cmocka_unit_test(what_low_bits_decide_stays),
      cmocka_unit_test(what_rows_do_stays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
