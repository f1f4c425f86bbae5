/* SPDX-License-Identifier: MIT
 *
 * The precision of each floating-point operation against Vulkan's table, by the C library and over
 * some thousand inputs; `make ulp` asks MPFR over many more. AGX_ULP_INPUTS says how many.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "support.h"
#include "ulp.h"

#define DEFAULT_INPUTS 8192

static uint32_t inputs(void)
{
   const char *text = getenv("AGX_ULP_INPUTS");
   uint32_t count = text ? (uint32_t)strtoul(text, NULL, 0) : DEFAULT_INPUTS;
   return count - count % ULP_GROUP;
}

static unsigned misses_of(struct ulp_device *device, const struct ulp_operation *operation,
                          unsigned width, bool is_precise)
{
   struct ulp_result result = {0};
   struct ulp_plan plan = {.count = inputs(), .total = inputs(), .is_precise = is_precise};
   if (ulp_operands(operation) == 1 && ulp_bits(ulp_kind(operation, 0), width) == 16)
      plan.count = plan.total = 65536;
   assert_ok(ulp_device_load(device, operation, width, is_precise));
   assert_ok(ulp_measure(device, operation, width, &plan, &result));
   if (result.misses)
      printf("%s of %u bits%s: %llu misses, first of %x %x %x %x %x %x gives %x\n", operation->name,
             width, is_precise ? ", precise" : "", (unsigned long long)result.misses,
             result.missed[0], result.missed[1], result.missed[2], result.missed[3],
             result.missed[4], result.missed[5], result.missed_got);
   return result.misses != 0;
}

static void operations_are_as_precise_as_vulkan_asks(void **state)
{
   struct ulp_device *device;
   unsigned missed = 0;
   assert_ok(ulp_device_open(65536, &device));
   for (size_t i = 0; i < ulp_operation_count; i++)
      for (unsigned width = 16; width <= 32; width *= 2)
         for (unsigned precise = 0; precise < 2 && ulp_exists(&ulp_operations[i], width); precise++)
            missed += misses_of(device, &ulp_operations[i], width, precise);
   ulp_device_close(device);
   assert_int_equal(missed, 0);
}

/* ---- what once was wrong -------------------------------------------------- */

struct known {
   const char *name;
   bool is_precise;
   uint32_t x[2]; /* bits */
   double want;
};

static const struct ulp_operation *find(const char *name)
{
   size_t i = 0;
   while (strcmp(ulp_operations[i].name, name) != 0)
      i++;
   return &ulp_operations[i];
}

static void assert_known(const struct known *known, size_t count)
{
   struct ulp_device *device;
   assert_ok(ulp_device_open(ULP_GROUP, &device));
   for (; count-- > 0; known++) {
      const struct ulp_operation *operation = find(known->name);
      memcpy(ulp_device_in(device), known->x, sizeof(known->x));
      assert_ok(ulp_device_load(device, operation, 32, known->is_precise));
      assert_ok(ulp_device_run(device, ULP_GROUP));
      double got = ulp_decode(32, *ulp_device_out(device));
      bool is_right = isnan(known->want)   ? isnan(got)
                      : isinf(known->want) ? got == known->want
                                           : fabs(got - known->want) <= 1e-6 * fabs(known->want);
      if (!is_right)
         fail_msg("%s of %x, %x: %g, not %g", known->name, known->x[0], known->x[1], got,
                  known->want);
   }
   ulp_device_close(device);
}

static void ldexp_far_below_is_zero(void **state)
{
   static const struct known cases[] = {
      {"Ldexp", false, {0x7f7fffff, (uint32_t)-1000}, 0},
      {"Ldexp", false, {0x7f7fffff, 0x80000000}, 0},
      {"Ldexp", false, {0x7f000000, (uint32_t)-252}, 0x1p-125},
      {"Ldexp", true, {0x7f800000, (uint32_t)-1000}, INFINITY},
   };
   assert_known(cases, AGX_COUNT(cases));
}

static void atan2_has_no_range(void **state)
{
   static const struct known cases[] = {
      {"Atan2", false, {0x7f000000, 0x7f000000}, 0.78539816339744831},
      {"Atan2", false, {0x7e000000, 0x7f000000}, 0.24497866312686414}, /* atan(1 / 4) */
      {"Atan2", false, {0x7f7fffff, 0x7f000000}, 1.1071487028},
      {"Atan2", false, {0x00800000, 0x00c00000}, 0.58800260354756756}, /* atan(2 / 3) */
      {"Atan2", false, {0x00ffffff, 0x3f800000}, 2.350988561514728e-38},
      {"Atan2", true, {0x7f800000, 0x7f800000}, 0.78539816339744831},
      {"Atan2", true, {0x7f800000, 0x7f000000}, 1.5707963267948966},
   };
   assert_known(cases, AGX_COUNT(cases));
}

static void arcs_and_tanh_of_nan_are_nan(void **state)
{
   static const struct known cases[] = {
      {"Atan", true, {0x7fc00000}, NAN},
      {"Tanh", true, {0x7fc00000}, NAN},
      {"Atan2", true, {0x7fc00000, 0}, NAN},
      {"Atan2", true, {0, 0x7fc00000}, NAN},
      {"Atan2", true, {0x7fc00000, 0xc0000000}, NAN},
   };
   assert_known(cases, AGX_COUNT(cases));
}

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
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(spans_are_those_of_the_table), cmocka_unit_test(ldexp_far_below_is_zero),
      cmocka_unit_test(atan2_has_no_range), cmocka_unit_test(arcs_and_tanh_of_nan_are_nan),
      cmocka_unit_test(operations_are_as_precise_as_vulkan_asks)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
