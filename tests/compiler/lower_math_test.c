/* SPDX-License-Identifier: MIT
 *
 * lower_math: float divisions and bit fields that no row computes, and those that stay.
 */
#include "agx/compiler/lower/lower.h"
#include "golden_support.h"

#define WORDS  "%0:32 = load_shared #0:32\n%1:32 = load_shared #4:32\n%2:32 = load_shared #8:32\n"
#define HALVES "%0:16 = load_shared #0:32\n%1:16 = load_shared #4:32\n"
#define USED   "store_shared #4:32, %2:32\n"
#define OUT    "store_shared #0:32, %9:32\n"
#define HALF   "store_shared #0:32, %9:16\n"

static const pass_fn passes[] = {agxc_lower_math};

static struct pass_golden begin(void)
{
   return (struct pass_golden){.passes = passes, .pass_count = AGX_COUNT(passes), .shared_B = 64};
}

static void what_has_no_row(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "a quotient", WORDS "%9:32 = fdiv %0:32, %1:32\n" OUT);
   pass_case(&g, "a remainder rounds down", WORDS "%9:32 = fmod %0:32, %1:32\n" OUT);
   pass_case(&g, "or toward zero", WORDS "%9:32 = frem %0:32, %1:32\n" OUT);
   pass_case(&g, "halves are computed as floats", HALVES "%9:16 = fdiv %0:16, %1:16\n" HALF);
   pass_case(&g, "and so are their remainders", HALVES "%9:16 = fmod %0:16, %1:16\n" HALF);
   pass_case(&g, "a field of any length", WORDS "%9:32 = ubfe %0:32, %1:32, %2:32\n" OUT);
   pass_case(&g, "of no length", WORDS "%9:32 = ubfe %0:32, %1:32, #0:32\n" OUT);
   pass_case(&g, "of all bits", WORDS "%9:32 = bfi %0:32, %1:32, %2:32, #32:32\n" OUT);
   pass_case(&g, "with a sign, however short", WORDS "%9:32 = sbfe %0:32, %1:32, #5:32\n" OUT);
   pass_case(&g, "put into another", WORDS "%9:32 = bfi %0:32, %1:32, #4:32, %2:32\n" OUT);
   pass_golden_check(&g, "compiler/lower_math.txt");
}

static void what_has_one_stays(void **state)
{
   struct pass_golden g = begin();
   pass_case_same(&g, "field of 1", WORDS "%9:32 = ubfe %0:32, %1:32, #1:32\n" USED OUT);
   pass_case_same(&g, "field of 31", WORDS "%9:32 = ubfe %0:32, %1:32, #31:32\n" USED OUT);
   pass_case_same(&g, "insert of 1", WORDS "%9:32 = bfi %0:32, %1:32, %2:32, #1:32\n" USED OUT);
   pass_case_same(&g, "insert of 31", WORDS "%9:32 = bfi %0:32, %1:32, %2:32, #31:32\n" USED OUT);
   pass_case_same(&g, "product", WORDS "%9:32 = fmul %0:32, %1:32\n" USED OUT);
   pass_case_same(&g, "product of halves", HALVES "%9:16 = fmul %0:16, %1:16\n" HALF);
   pass_golden_check(&g, NULL);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_has_no_row),
      cmocka_unit_test(what_has_one_stays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
