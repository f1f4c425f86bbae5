/* SPDX-License-Identifier: MIT
 *
 * The limits of vertex attributes against their definition, byte by byte, over small domains
 * whole; what happens at the top of 32 and 64 bits; and the reference's cases.
 */
#include "support.h"

#include "base/util.h"
#include "vertex_model.h"

/* By the definition: each byte of the element is one of the buffer's. */
static bool is_inside(uint64_t size, uint64_t offset, uint64_t element, uint32_t stride,
                      uint32_t bytes)
{
   for (uint32_t i = 0; i < bytes; i++)
      if (offset + element * stride + i >= size)
         return false;
   return true;
}

static void lasts_match_their_definition(void **state)
{
   for (uint32_t size = 0; size < 28; size++)
      for (uint32_t offset = 0; offset < 32; offset++)
         for (uint32_t stride = 0; stride < 10; stride++)
            for (uint32_t bytes = 1; bytes <= 16; bytes++) {
               bool fits = is_inside(size, offset, 0, stride, bytes);
               uint32_t last = model_vertex_last(size, offset, stride, bytes);
               assert_int_equal(agxr_vertex_fits(size, offset, bytes), fits);
               assert_int_equal(model_vertex_base(1000, size, offset, bytes, 7),
                                fits ? 1000 + offset : 7);
               if (!fits)
                  assert_int_equal(last, 0);
               for (uint32_t element = 0; fits && element < 32; element++)
                  assert_int_equal(element <= last,
                                   is_inside(size, offset, element, stride, bytes));
            }
}

/* Where the sink's element lies, all its bytes are the sink's, and no smaller one's are. */
static void sinks_match_their_definition(void **state)
{
   const uint64_t address = 5, sink_B = 20;
   for (uint32_t size = 0; size < 12; size++)
      for (uint32_t offset = 0; offset < 12; offset++)
         for (uint32_t stride = 0; stride < 9; stride++)
            for (uint32_t bytes = 1; bytes <= 8; bytes++)
               for (uint64_t sink = 20; sink < 28; sink++) {
                  uint64_t base = model_vertex_base(address, size, offset, bytes, sink);
                  uint64_t want = 0;
                  while (stride && base + want * stride < sink)
                     want++;
                  uint32_t element = 99;
                  assert_true(model_vertex_sink(address, size, offset, stride, bytes, sink, sink_B,
                                                &element));
                  assert_int_equal(element, want);
                  if (stride)
                     assert_true(base + want * stride + bytes <= sink + sink_B);
               }
}

static void instances_match_their_definition(void **state)
{
   for (uint32_t last = 0; last < 12; last++)
      for (uint32_t base = 0; base < 14; base++)
         for (uint32_t divisor = 0; divisor < 6; divisor++) {
            uint64_t count = model_vertex_instances(last, base, divisor);
            for (uint32_t instance = 0; instance < 80; instance++)
               assert_int_equal(instance < count,
                                model_vertex_element(instance, base, divisor) <= last);
         }
}

static void nothing_wraps_at_the_top(void **state)
{
   const uint32_t top = UINT32_MAX;
   uint32_t element;
   assert_false(agxr_vertex_fits(UINT64_MAX, UINT64_MAX, 1));
   assert_false(agxr_vertex_fits(top, top - 3ull, 4));
   assert_true(agxr_vertex_fits(top, top - 4ull, 4));
   assert_false(agxr_vertex_fits(UINT64_MAX, top - 3ull, 4)); /* of 2^32 - 1 bytes */
   assert_int_equal(model_vertex_last(UINT64_MAX, 0, 1, 1), top - 1);
   assert_int_equal(model_vertex_last(UINT64_MAX, 0, top, 16), 0);
   assert_int_equal(model_vertex_last(UINT64_MAX, 1ull << 32, 1, 1), 0);
   assert_int_equal(model_vertex_instances(top, 0, 1), 1ull << 32);
   assert_int_equal(model_vertex_instances(top, 0, top), 1ull << 32);
   assert_int_equal(model_vertex_instances(top, top, top), top);
   assert_int_equal(model_vertex_instances(top - 1, top, 1), 0);
   assert_true(model_vertex_sink(1ull << 40, top, 0, 1, 16, (1ull << 40) + top, 16384, &element));
   assert_int_equal(element, top);
   assert_false(model_vertex_sink(1ull << 40, top, 0, 4, 16, 1ull << 41, 16384, &element));
   assert_true(model_vertex_sink(1ull << 40, 3, 0, 4, 16, 1ull << 41, 16384, &element));
}

static void references_cases_hold(void **state)
{
   static const struct {
      uint32_t format_B, buffer_B, stride, offset;
      bool use_sink;
      uint32_t last;
   } cases[] = {
      {16, 64, 16, 0, false, 3},  {16, 63, 16, 0, false, 2},
      {16, 15, 16, 0, true, 0},   {16, 16, 16, 0, false, 0},
      {12, 100, 12, 4, false, 7}, {4, 4, 0, 0, false, 4294967295},
      {4, 3, 0, 0, true, 0},      {8, 1000, 24, 16, false, 40},
      {16, 0, 16, 0, true, 0},    {4, 4294967295, 1, 0, false, 4294967291},
      {16, 32, 32, 16, false, 0}, {16, 31, 32, 16, true, 0},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      assert_int_equal(
         model_vertex_last(cases[i].buffer_B, cases[i].offset, cases[i].stride, cases[i].format_B),
         cases[i].last);
      assert_int_equal(
         model_vertex_base(4096, cases[i].buffer_B, cases[i].offset, cases[i].format_B, 7),
         cases[i].use_sink ? 7 : 4096 + cases[i].offset);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(lasts_match_their_definition),
      cmocka_unit_test(sinks_match_their_definition),
      cmocka_unit_test(instances_match_their_definition),
      cmocka_unit_test(nothing_wraps_at_the_top),
      cmocka_unit_test(references_cases_hold),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
