/* SPDX-License-Identifier: MIT
 *
 * The limits of buffers against their definition, byte by byte, over small domains whole; and
 * what happens at the top of 32 and 64 bits.
 */
#include "support.h"

#include "robustness/buffer.h"

/* By the definition: each byte of the access is one of the buffer's. */
static bool is_inside(uint64_t size, uint32_t constant, uint64_t index, uint32_t stride,
                      uint32_t bytes)
{
   for (uint32_t i = 0; i < bytes; i++)
      if (constant + index * stride + i >= size)
         return false;
   return true;
}

static void counts_match_their_definition(void **state)
{
   for (uint32_t size = 0; size < 24; size++)
      for (uint32_t constant = 0; constant < 12; constant++)
         for (uint32_t stride = 1; stride < 9; stride++)
            for (uint32_t bytes = 1; bytes <= 8; bytes++) {
               uint32_t count = agxr_buffer_count(size, constant, stride, bytes);
               uint32_t last = agxr_buffer_last(size, constant, stride, bytes);
               for (uint32_t index = 0; index < 28; index++)
                  assert_int_equal(index < count, is_inside(size, constant, index, stride, bytes));
               assert_int_equal(last, count ? count - 1 : 0);
            }
}

static void guards_match_their_definition(void **state)
{
   for (uint32_t size = 0; size < 24; size++)
      for (uint32_t constant = 0; constant < 28; constant++)
         for (uint32_t bytes = 1; bytes <= 16; bytes++) {
            uint64_t want = is_inside(size, constant, 0, 1, bytes) ? 1000 + constant : 7;
            assert_int_equal(agxr_buffer_guard(1000, size, constant, bytes, 7), want);
         }
}

/* The smallest index of which all bytes lie in the sink, or none. */
static void sinks_match_their_definition(void **state)
{
   for (uint32_t sink = 0; sink < 40; sink++)
      for (uint32_t constant = 0; constant < 8; constant++)
         for (uint32_t stride = 1; stride < 9; stride++)
            for (uint32_t bytes = 1; bytes <= 8; bytes++) {
               uint64_t address = 5, sink_B = 10, first = 0;
               while (address + constant + first * stride < sink)
                  first++;
               uint64_t at = address + constant + first * stride;
               bool want = address + constant <= sink && at + bytes <= sink + sink_B;
               uint32_t index = 99;
               assert_int_equal(
                  agxr_buffer_sink(address, constant, stride, bytes, sink, sink_B, &index), want);
               assert_int_equal(index, want ? first : 0);
            }
}

static void nothing_wraps_at_the_top(void **state)
{
   const uint32_t top = UINT32_MAX;
   assert_int_equal(agxr_buffer_count(top, top, 1, 1), 0);
   assert_int_equal(agxr_buffer_count(1ull << 32, top, 1, 1), 1);
   assert_int_equal(agxr_buffer_count(1ull << 32, 0, 1, 1), top);
   assert_int_equal(agxr_buffer_count(UINT64_MAX, 0, 1, 1), top);
   assert_int_equal(agxr_buffer_count(UINT64_MAX, top, 8192, 16), top);
   assert_int_equal(agxr_buffer_count(15, top, top, 16), 0);
   assert_int_equal(agxr_buffer_last(1ull << 32, 0, 4, 4), (1u << 30) - 1);
   assert_int_equal(agxr_buffer_guard(1ull << 40, top, top - 3, 4, 7), 7);
   assert_int_equal(agxr_buffer_guard(1ull << 40, 1ull << 32, top - 3, 4, 7),
                    (1ull << 40) + top - 3);

   uint32_t index;
   assert_true(agxr_buffer_sink(1ull << 40, 0, 1, 16, (1ull << 40) + top, 16384, &index));
   assert_int_equal(index, top);
   assert_false(agxr_buffer_sink(1ull << 40, 0, 1, 16, (1ull << 41), 16384, &index));
   assert_false(agxr_buffer_sink(1ull << 40, 0, 8192, 16, (1ull << 40) + top, 16384, &index));
   assert_false(agxr_buffer_sink(UINT64_MAX, 4, 1, 1, 100, 16384, &index));
   assert_false(agxr_buffer_sink(1ull << 40, 0, 1, 1, 1ull << 39, 16384, &index));
}

/* As the compiler may ask for it: every stride and access finds room in a sink of a page. */
static void every_stride_reaches_a_sink(void **state)
{
   const uint64_t address = (3ull << 32) + 4096, sink = (4ull << 32) - 32768;
   for (uint32_t stride = 1; stride <= 8192; stride++)
      for (uint32_t constant = 0; constant < 64; constant += 4) {
         uint32_t index = 0;
         assert_true(agxr_buffer_sink(address, constant, stride, 16, sink, 16384, &index));
         uint64_t at = address + constant + (uint64_t)index * stride;
         assert_true(at >= sink && at + 16 <= sink + 16384);
      }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_match_their_definition),
      cmocka_unit_test(guards_match_their_definition),
      cmocka_unit_test(sinks_match_their_definition),
      cmocka_unit_test(nothing_wraps_at_the_top),
      cmocka_unit_test(every_stride_reaches_a_sink),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
