/* SPDX-License-Identifier: MIT
 *
 * What `make ulp` judges with.
 */

#include "support.h"
#include "ulp.h"

/* ---- the table ----------------------------------------------------------- */

/* The judge knows what it allows: an error within the rule, and one beyond it. */
static void spans_are_those_of_the_table(void **state)
{
   struct ulp_format f = ulp_format_of(32, &ulp_libm);
   struct ulp_span third = ulp_div(&f, ulp_point(1), ulp_point(3));
   assert_true(third.hi - 1.0 / 3 == 2.5 * 0x1p-25);
   assert_true(ulp_of(&f, 1) == 0x1p-24 && ulp_of(&f, 1.5) == 0x1p-23);
   assert_true(ulp_of(&f, 0) == 0x1p-149);
   assert_true(ulp_div(&f, ulp_point(1), ulp_point(0x1p127)).any);
   struct ulp_span tiny = ulp_mul(&f, ulp_point(0x1p-100), ulp_point(0x1p-30));
   assert_true(tiny.lo == 0 && tiny.hi == 0x1p-130);
   struct ulp_span large = ulp_mul(&f, ulp_point(0x1p100), ulp_point(0x1p30));
   assert_true(large.lo == f.most && large.hi > f.most);
   assert_true(ulp_rounded(&f, 1).lo == 1 && ulp_rounded(&f, 1).hi == 1);
   assert_true(ulp_rounded(&f, 1 + 0x1p-30).hi == 1 + 0x1p-23);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(spans_are_those_of_the_table)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
