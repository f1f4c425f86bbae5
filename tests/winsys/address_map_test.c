/* SPDX-License-Identifier: MIT
 *
 * How the GPU address space is divided: as recorded on an M1, as the kernel asks for it, and what
 * is refused.
 */
#include "support.h"

#include "base/util.h"
#include "winsys/va_heap_impl.h"

static void m1_plan_is_the_recorded_one(void **state)
{
   struct agxw_address_map map;
   assert_ok(agxw_address_map_make(0x4000, 0x7fffff8000, 0x20000000, &map));
   assert_int_equal(map.zero_page, 0x100000000);
   assert_int_equal(map.null_start, 0x1000000000);
   assert_int_equal(map.null_end, 0x1100000000);
   assert_int_equal(map.usc_start, 0x1100000000);
   assert_int_equal(map.usc_end, 0x1200000000);
   assert_int_equal(map.user_start, 0x2000000000);
   assert_int_equal(map.user_end, 0x77ffff8000);
   assert_int_equal(map.kernel_start, 0x77ffff8000);
   assert_int_equal(map.kernel_end, 0x7fffff8000);
}

static void kernel_s_wish_is_met(void **state)
{
   struct agxw_address_map map;
   assert_ok(agxw_address_map_make(0, 0x8000000000, UINT64_C(40) << 30, &map));
   assert_int_equal(map.kernel_end - map.kernel_start, UINT64_C(40) << 30);
   assert_ok(agxw_address_map_make(0, 0x8000000000, (UINT64_C(40) << 30) + 1, &map));
   assert_int_equal(map.kernel_end - map.kernel_start, (UINT64_C(40) << 30) + 16384);
}

static void hostile_values_are_refused(void **state)
{
   static const uint64_t bad[][3] = {
      {0, 0, 0},
      {0x8000000000, 0x4000, 0},
      {0x4000, 0x1100000000, 0},            /* too small */
      {0x4000, 0x7fffff8000, 0x7fffff8000}, /* all of it for the kernel */
      {0x4000, 0x7fffff8000, UINT64_MAX},
      {0x4000, UINT64_MAX, 0},              /* beyond 40 bits */
      {UINT64_C(1) << 37, 0x7fffff8000, 0}, /* no room for the zero page */
   };
   for (size_t i = 0; i < AGX_COUNT(bad); i++) {
      struct agxw_address_map map = {.usc_start = 1};
      assert_fails(agxw_address_map_make(bad[i][0], bad[i][1], bad[i][2], &map), AGX_INCOMPATIBLE,
                   "device: ");
      assert_int_equal(map.usc_start, 0);
   }
}

static void parts_never_overlap(void **state)
{
   struct agx_test_rng rng = {7};
   int made = 0;
   for (int i = 0; i < 2000; i++) {
      struct agxw_address_map map;
      uint64_t start = agx_test_random(&rng) >> (24 + agx_test_random_below(&rng, 16));
      uint64_t end = agx_test_random(&rng) >> (24 + agx_test_random_below(&rng, 4));
      uint64_t kernel = agx_test_random(&rng) >> (25 + agx_test_random_below(&rng, 16));
      if (agxw_address_map_make(start, end, kernel, &map) != AGX_OK)
         continue;
      made++;
      assert_true(start <= map.zero_page && map.zero_page < map.null_start);
      assert_true(map.null_start < map.null_end && map.null_end <= map.usc_start);
      assert_true(agx_is_aligned(map.usc_start, UINT64_C(1) << 32));
      assert_int_equal(map.usc_end - map.usc_start, UINT64_C(1) << 32);
      assert_true(map.usc_end <= map.user_start && map.user_start < map.user_end);
      assert_true(map.user_end <= map.kernel_start && map.kernel_end <= end);
      assert_true(map.kernel_end - map.kernel_start >= kernel);
      assert_true(agx_is_aligned(map.kernel_start | map.kernel_end, 16384));
   }
   assert_true(made > 20);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(m1_plan_is_the_recorded_one),
      cmocka_unit_test(kernel_s_wish_is_met),
      cmocka_unit_test(hostile_values_are_refused),
      cmocka_unit_test(parts_never_overlap),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
