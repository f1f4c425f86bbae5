/* SPDX-License-Identifier: MIT
 *
 * Contraction: which products join which sums, and which must not.
 */
#include "agx/compiler/opt/opt.h"
#include "pass_support.h"

#define AB  PASS_LOAD("%0:32") PASS_LOAD("%1:32")
#define ABC AB PASS_LOAD("%2:32")

static void products_join_their_sum(void **state)
{
   CASE(ABC "%3:32 = fmul %0:32, %1:32\n%4:32 = fadd %3:32, %2:32\n" PASS_STORE("%4:32"),
        ABC "%4:32 = ffma %0:32, %1:32, %2:32\n" PASS_STORE("%4:32"), agxc_opt_contraction);
   CASE(ABC "%3:32 = fmul %0:32, %1:32\n%4:32 = fadd %2:32, %3:32\n" PASS_STORE("%4:32"),
        ABC "%4:32 = ffma %0:32, %1:32, %2:32\n" PASS_STORE("%4:32"), agxc_opt_contraction);
   /* c - a b is -a b + c; a b - c is a b + -c, which a constant takes in. */
   CASE(ABC "%3:32 = fmul %0:32, %1:32\n%4:32 = fsub %2:32, %3:32\n" PASS_STORE("%4:32"),
        ABC "%5:32 = fneg %0:32\n%4:32 = ffma %5:32, %1:32, %2:32\n" PASS_STORE("%4:32"),
        agxc_opt_contraction);
   CASE(AB "%3:32 = fmul %0:32, %1:32\n%4:32 = fsub %3:32, #0x3f800000:32\n" PASS_STORE("%4:32"),
        AB "%4:32 = ffma %0:32, %1:32, #0xbf800000:32\n" PASS_STORE("%4:32"), agxc_opt_contraction);
}

static void one_of_two_products_joins(void **state)
{
   CASE(ABC "%3:32 = fmul %0:32, %1:32\n%4:32 = fmul %1:32, %2:32\n"
            "%5:32 = fadd %3:32, %4:32\n" PASS_STORE("%5:32"),
        ABC "%3:32 = fmul %0:32, %1:32\n%5:32 = ffma %1:32, %2:32, %3:32\n" PASS_STORE("%5:32"),
        agxc_opt_contraction);
}

static void a_product_joins_all_its_sums(void **state)
{
   CASE(ABC "%3:32 = fmul %0:32, %1:32\n%4:32 = fadd %3:32, %2:32\n"
            "%5:32 = fsub %3:32, %4:32\n" PASS_STORE("%5:32"),
        ABC "%4:32 = ffma %0:32, %1:32, %2:32\n%6:32 = fneg %4:32\n"
            "%5:32 = ffma %0:32, %1:32, %6:32\n" PASS_STORE("%5:32"),
        agxc_opt_contraction);
}

static void what_is_exact_stays(void **state)
{
   NEGCASE(ABC "%3:32 = fmul.exact %0:32, %1:32\n%4:32 = fadd %3:32, %2:32\n" PASS_STORE("%4:32"),
           agxc_opt_contraction);
   NEGCASE(ABC "%3:32 = fmul %0:32, %1:32\n%4:32 = fadd.exact %3:32, %2:32\n" PASS_STORE("%4:32"),
           agxc_opt_contraction);
}

static void what_is_needed_otherwise_stays(void **state)
{
   NEGCASE(ABC "%3:32 = fmul %0:32, %1:32\n%4:32 = fadd %3:32, %2:32\n" PASS_STORE("%3:32")
              PASS_STORE("%4:32"),
           agxc_opt_contraction);
   /* Integers are not floats. */
   NEGCASE(ABC "%3:32 = imul %0:32, %1:32\n%4:32 = fadd %3:32, %2:32\n" PASS_STORE("%4:32"),
           agxc_opt_contraction);
}

static void equal_operations_are_as_exact_as_the_strictest(void **state)
{
   CASE(AB "%3:32 = fmul %0:32, %1:32\n%4:32 = fmul.exact %0:32, %1:32\n"
           "%5:32 = fadd %3:32, %4:32\n" PASS_STORE("%5:32"),
        AB "%3:32 = fmul.exact %0:32, %1:32\n%5:32 = fadd %3:32, %3:32\n" PASS_STORE("%5:32"),
        agxc_opt_cse, agxc_opt_copy_prop, agxc_opt_contraction);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_join_their_sum),
      cmocka_unit_test(one_of_two_products_joins),
      cmocka_unit_test(a_product_joins_all_its_sums),
      cmocka_unit_test(what_is_exact_stays),
      cmocka_unit_test(what_is_needed_otherwise_stays),
      cmocka_unit_test(equal_operations_are_as_exact_as_the_strictest),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
