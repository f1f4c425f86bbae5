/* SPDX-License-Identifier: MIT
 *
 * The rules of images against their definition, over small domains whole: a texel is read if and
 * only if it is one of the view's. Hardware is as it is described: it sees x and y only, clamps
 * levels and forgets high bits of layers.
 */
#include "support.h"

#include "base/util.h"
#include "image_model.h"

/* What hardware reads: 0 outside, else a number for the texel. */
static uint32_t hardware(uint32_t x, uint32_t level, uint32_t layer, uint32_t width,
                         uint32_t levels, uint32_t layers)
{
   level = AGX_MIN(level, levels - 1);
   layer = AGX_MIN(layer & 0xffff, layers - 1);
   uint32_t side = AGX_MAX(width >> level, 1u);
   return x < side ? 1 + x + 100 * level + 10000 * layer : 0;
}

static const uint32_t far[] = {0x7fff,     0xffff,     0x10000,    0x10001,   0x7fffffff,
                               0x80000000, 0xfffffff8, 0xffffffff, 0x20000000};

/* The first numbers, then those far away. */
static uint32_t number(uint32_t i, uint32_t near)
{
   return i < near ? i : far[i - near];
}

static void levels_and_layers_that_are_missing_read_zero(void **state)
{
   const uint32_t near = 7, all = near + AGX_COUNT(far);
   for (uint32_t levels = 1; levels <= 4; levels++)
      for (uint32_t layers = 1; layers <= 4; layers++)
         for (uint32_t l = 0; l < all; l++)
            for (uint32_t a = 0; a < all; a++)
               for (uint32_t i = 0; i < all; i++) {
                  uint32_t level = number(l, near), layer = number(a, near), x = number(i, near);
                  uint32_t moved = model_image_x(x, level, levels - 1, layer, layers);
                  bool is_there =
                     level < levels && layer < layers && x < AGX_MAX(5u >> (level & 31), 1u);
                  uint32_t want = is_there ? 1 + x + 100 * level + 10000 * layer : 0;
                  assert_int_equal(hardware(moved, level, layer, 5, levels, layers), want);
               }
}

static void far_outside_is_outside_whatever_the_offset(void **state)
{
   for (int32_t offset = -8; offset <= 15; offset++) {
      uint32_t at = AGXR_FAR_OUTSIDE + (uint32_t)offset;
      assert_true(at >= 16384 && at <= UINT16_MAX);
      assert_true((int32_t)at > 0);
   }
}

static void samples_take_the_nearest_layer(void **state)
{
   for (uint32_t layers = 1; layers < 40; layers++)
      for (uint32_t i = 0; i < 50 + AGX_COUNT(far); i++) {
         uint32_t layer = number(i, 50), got = model_sampled_layer(layer, layers);
         assert_true(got < layers);
         assert_true(got == layer || (layer >= layers && got == layers - 1));
         assert_int_equal(model_descriptor_index(layer, layers), got);
      }
}

/* Texel i of a buffer, by its bytes. */
static bool has_texel(uint64_t size_B, uint32_t texel_B, uint64_t i)
{
   for (uint32_t byte = 0; byte < texel_B; byte++)
      if (i * texel_B + byte >= size_B)
         return false;
   return true;
}

static void texels_of_buffers_match_their_definition(void **state)
{
   for (uint32_t texel_B = 1; texel_B <= 16; texel_B++)
      for (uint32_t size = 0; size < 100; size++) {
         uint32_t count = agxr_texel_count(size, texel_B);
         for (uint32_t i = 0; i < 110 + AGX_COUNT(far); i++) {
            uint32_t index = number(i, 110);
            struct model_texel at = model_texel_at(index, count);
            bool is_inside = at.x < AGXR_TEXEL_COLUMNS && at.y < agxr_texel_rows(count);
            assert_int_equal(is_inside, has_texel(size, texel_B, index));
            if (is_inside)
               assert_int_equal(at.y * AGXR_TEXEL_COLUMNS + at.x, index);
         }
      }
   assert_int_equal(agxr_texel_count(UINT64_MAX, 1), AGXR_MAX_TEXELS);
   assert_int_equal(agxr_texel_count(7, 0), 0);
}

static void rows_of_buffers_end_where_they_should(void **state)
{
   static const uint32_t counts[] = {
      1, 16383, 16384, 16385, 32768, (1 << 28) - 16384, (1 << 28) - 1, 1 << 28};
   for (size_t i = 0; i < AGX_COUNT(counts); i++) {
      uint32_t count = counts[i], rows = agxr_texel_rows(count);
      struct model_texel last = model_texel_at(count - 1, count),
                         next = model_texel_at(count, count);
      assert_int_equal(last.y, rows - 1);
      assert_int_equal(last.y * AGXR_TEXEL_COLUMNS + last.x, count - 1);
      assert_int_equal(next.y, AGXR_FAR_OUTSIDE);
      assert_true(rows <= AGXR_TEXEL_ROWS);
   }
   assert_int_equal(agxr_texel_rows(0), 1);
}

static void samples_that_are_missing_are_outside(void **state)
{
   for (uint32_t samples = 2; samples <= 4; samples += 2)
      for (uint32_t layers = 1; layers <= 3; layers++)
         for (uint32_t s = 0; s < 8 + AGX_COUNT(far); s++)
            for (uint32_t a = 0; a < 5 + AGX_COUNT(far); a++) {
               uint32_t sample = number(s, 8), layer = number(a, 5);
               uint32_t x = model_sample_x(3, sample, samples, layer, layers);
               uint32_t word = model_sample_word(sample, layer);
               assert_int_equal(x == 3, sample < samples && layer < layers);
               if (x == 3) {
                  assert_int_equal(word & 0xffff, sample);
                  assert_int_equal(word >> 16, layer);
               }
            }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(levels_and_layers_that_are_missing_read_zero),
      cmocka_unit_test(far_outside_is_outside_whatever_the_offset),
      cmocka_unit_test(samples_take_the_nearest_layer),
      cmocka_unit_test(texels_of_buffers_match_their_definition),
      cmocka_unit_test(rows_of_buffers_end_where_they_should),
      cmocka_unit_test(samples_that_are_missing_are_outside),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
