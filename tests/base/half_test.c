/* SPDX-License-Identifier: MIT
 *
 * Conversion between float and half, against the definition of a half.
 */
#include "support.h"

#include <math.h>
#include <string.h>

#include "base/half.h"

static float from_bits(uint32_t bits)
{
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

/* The value of a half by its definition, not by bit tricks. */
static double definition(uint16_t half)
{
   int exponent = half >> 10 & 31;
   double magnitude =
      exponent ? ldexp(1024 + (half & 1023), exponent - 25) : ldexp(half & 1023, -24);
   return half & 0x8000 ? -magnitude : magnitude;
}

static void every_half_converts_exactly_and_back(void **state)
{
   for (uint32_t half = 0; half < 65536; half++) {
      float value = agx_half_to_float((uint16_t)half);
      if ((half & 0x7c00) == 0x7c00) {
         assert_true(half & 0x3ff ? isnan(value) : isinf(value));
         continue;
      }
      assert_true((double)value == definition((uint16_t)half));
      assert_int_equal(!!signbit(value), half >> 15);
      assert_int_equal(agx_half_from_float(value), half);
   }
}

static void rounding_is_to_nearest_even(void **state)
{
   /* Between two neighbouring finite halves: below, at and above the middle. */
   for (uint32_t half = 0; half < 0x7bff; half++) {
      double low = definition((uint16_t)half), high = definition((uint16_t)(half + 1));
      float middle = (float)((low + high) / 2);
      uint32_t even = half & 1 ? half + 1 : half;
      assert_int_equal(agx_half_from_float(middle), even);
      assert_int_equal(agx_half_from_float(nextafterf(middle, 0)), half);
      assert_int_equal(agx_half_from_float(nextafterf(middle, INFINITY)), half + 1);
      assert_int_equal(agx_half_from_float(-middle), even | 0x8000);
   }
}

static void the_ends_of_the_range(void **state)
{
   assert_int_equal(agx_half_from_float(65519.0f), 0x7bff);
   assert_int_equal(agx_half_from_float(65520.0f), 0x7c00);
   assert_int_equal(agx_half_from_float(from_bits(0x7f7fffff)), 0x7c00);
   assert_int_equal(agx_half_from_float(-INFINITY), 0xfc00);
   assert_int_equal(agx_half_from_float(from_bits(0x7f800001)), 0x7e00);
   assert_int_equal(agx_half_from_float(from_bits(0x33000000)), 0); /* 2^-25: a tie */
   assert_int_equal(agx_half_from_float(from_bits(0x33000001)), 1);
   assert_int_equal(agx_half_from_float(from_bits(0x80000001)), 0x8000);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_half_converts_exactly_and_back),
      cmocka_unit_test(rounding_is_to_nearest_even),
      cmocka_unit_test(the_ends_of_the_range),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
