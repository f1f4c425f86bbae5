/* SPDX-License-Identifier: MIT
 *
 * lower_division as text: which sequence a divisor gets. tests/compiler/expression_test.c
 * computes them.
 */
#include "agx/compiler/lower/lower.h"
#include "golden_support.h"

#define WORDS  "%0:32 = load_shared #0:32\n%1:32 = load_shared #4:32\n"
#define SHORT  "%2:32 = iand %0:32, #0xff:32\n"
#define OUT    "store_shared #0:32, %9:32\n"
#define BY(op) WORDS "%9:32 = " op "\n" OUT

static const pass_fn passes[] = {agxc_lower_division};

static struct pass_golden begin(void)
{
   return (struct pass_golden){.passes = passes, .pass_count = AGX_COUNT(passes), .shared_B = 64};
}

static void by_constants(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "a power of two: a shift", BY("udiv %0:32, #8:32"));
   pass_case(&g, "its remainder: a mask", BY("umod %0:32, #16:32"));
   pass_case(&g, "one product", BY("udiv %0:32, #3:32"));
   pass_case(&g, "one product and a sum", BY("udiv %0:32, #7:32"));
   pass_case(&g, "a remainder", BY("umod %0:32, #3:32"));
   pass_case(&g, "a signed power of two rounds toward zero", BY("sdiv %0:32, #4:32"));
   pass_case(&g, "a negative divisor", BY("sdiv %0:32, #0xfffffffd:32"));
   pass_case(&g, "the dividend's sign", BY("srem %0:32, #8:32"));
   pass_case(&g, "the divisor's sign: a mask", BY("smod %0:32, #8:32"));
   pass_case(&g, "the divisor's sign: one more", BY("smod %0:32, #5:32"));
   pass_case(&g, "one: nothing", BY("sdiv %0:32, #1:32"));
   pass_case(&g, "zero: anything", BY("udiv %0:32, #0:32"));
   pass_golden_check(&g, "compiler/lower_division_constants.txt");
}

static void by_values(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "two steps of float division", BY("udiv %0:32, %1:32"));
   pass_case(&g, "signs apart", BY("srem %0:32, %1:32"));
   pass_case(&g, "a uniform: its reciprocal", BY("umod %0:32, u4l:32"));
   pass_case(&g, "from outside the loop: its reciprocal",
             WORDS "loop\n%3:32 = load_shared #8:32\n%4:1 = ieq %3:32, #0:32\nbranch %4:1\n"
                   "if\nbreak\nelse\nend\n%9:32 = udiv %3:32, %1:32\n" OUT "continuing\nend\n");
   pass_golden_check(&g, "compiler/lower_division_values.txt");
}

/* What is known of the dividend counts. */
static void short_dividends(void **state)
{
   struct pass_golden g = begin();
   pass_case(&g, "a product of 32 bits", WORDS SHORT "%9:32 = udiv %2:32, #3:32\n" OUT);
   pass_case(&g, "below the divisor", WORDS SHORT "%9:32 = udiv %2:32, #0x101:32\n" OUT);
   pass_case(&g, "never negative", WORDS SHORT "%9:32 = sdiv %2:32, #4:32\n" OUT);
   pass_case(&g, "one step of float division", WORDS SHORT "%9:32 = udiv %2:32, %1:32\n" OUT);
   pass_golden_check(&g, "compiler/lower_division_short.txt");
}

static void what_divides_nothing_stays(void **state)
{
   struct pass_golden g = begin();
   pass_case_same(&g, "high product", BY("umulh %0:32, %1:32"));
   pass_case_same(&g, "float quotient", BY("fdiv %0:32, %1:32"));
   pass_golden_check(&g, NULL);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_constants),
      cmocka_unit_test(by_values),
      cmocka_unit_test(short_dividends),
      cmocka_unit_test(what_divides_nothing_stays),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
