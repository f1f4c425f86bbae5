/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "robustness/buffer.h"

/* All small sizes against the definition: no byte of the access lies outside. */
static void bounds_match_their_definition(void **state)
{
   for (uint32_t size = 0; size < 40; size++) {
      for (uint32_t bytes = 1; bytes <= 16; bytes++) {
         uint32_t last = agxr_buffer_last_offset(bytes, size);
         for (uint64_t offset = 0; offset < 64; offset++) {
            bool inside = offset + bytes <= size;
            assert_int_equal(agxr_buffer_in_bounds((uint32_t)offset, bytes, size), inside);
            assert_true(!inside || offset <= last);
         }
         assert_true(bytes > size || agxr_buffer_in_bounds(last, bytes, size));
      }
   }
}

static void nothing_wraps_at_the_top(void **state)
{
   assert_false(agxr_buffer_in_bounds(UINT32_MAX, 4, 16));
   assert_false(agxr_buffer_in_bounds(UINT32_MAX - 3, 4, UINT32_MAX));
   assert_true(agxr_buffer_in_bounds(UINT32_MAX - 4, 4, UINT32_MAX));
   assert_int_equal(agxr_buffer_last_offset(16, UINT32_MAX), UINT32_MAX - 16);
}

int main(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(bounds_match_their_definition),
      cmocka_unit_test(nothing_wraps_at_the_top),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
