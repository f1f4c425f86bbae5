/* SPDX-License-Identifier: MIT
 *
 * Samples by coordinates through a whole launch: wrap modes, filters, levels, gathers, comparisons,
 * cubes, samplers from the heap, and sRGB behind a swizzle.
 */
#include "image_support.h"

#include <math.h>

#include "base/util.h"

static void test_wrap_modes(void **state)
{
   /* Texel x of row 0 at coordinate u, nearest; -1: border. */
   static const struct {
      enum agx_hw_wrap mode;
      float u;
      int x;
   } rows[] = {
      {AGX_HW_WRAP_CLAMP_TO_EDGE, -0.3f, 0},
      {AGX_HW_WRAP_CLAMP_TO_EDGE, 1.7f, 7},
      {AGX_HW_WRAP_REPEAT, -0.2f, 6},
      {AGX_HW_WRAP_REPEAT, 2.3f, 2},
      {AGX_HW_WRAP_MIRRORED_REPEAT, -0.3f, 2},
      {AGX_HW_WRAP_MIRRORED_REPEAT, 1.1f, 7},
      {AGX_HW_WRAP_MIRRORED_REPEAT, 1.9f, 0},
      {AGX_HW_WRAP_CLAMP_TO_BORDER, -0.01f, -1},
      {AGX_HW_WRAP_CLAMP_TO_BORDER, 0.99f, 7},
      {AGX_HW_WRAP_CLAMP_TO_BORDER, 1.0f, -1},
      {AGX_HW_WRAP_MIRRORED_CLAMP_TO_EDGE, -0.3f, 2},
      {AGX_HW_WRAP_MIRRORED_CLAMP_TO_EDGE, 3.0f, 7},
   };
   for (size_t i = 0; i < AGX_COUNT(rows); i++) {
      struct image_case c;
      image_begin(&c, SAMPLE);
      image_fill_plain(&c);
      c.sampler.wrap_s = rows[i].mode;
      c.sampler.border_colour = AGX_HW_BORDER_COLOUR_OPAQUE_WHITE;
      c.input[0][0] = image_bits(rows[i].u);
      c.input[0][1] = image_bits(0.0625f);
      assert_ok(image_run(&c));
      assert_true(image_float(c.output[0][0]) == (rows[i].x < 0 ? 1.0f : (float)rows[i].x));
      image_end(&c);
   }
}

/* The image is linear in x, y and level, and so must what filters make of it be. */
static void test_linear_filter(void **state)
{
   struct image_case c;
   struct agx_test_rng rng = {77};
   image_begin(&c, SAMPLE);
   c.texture.unk_mipmapped = true;
   c.texture.last_level = 3;
   image_fill_plain(&c);
   c.sampler.magnify = c.sampler.minify = AGX_HW_FILTER_LINEAR;
   c.sampler.wrap_s = c.sampler.wrap_t = AGX_HW_WRAP_CLAMP_TO_EDGE;
   float x[THREADS], y[THREADS];
   for (unsigned i = 0; i < THREADS; i++) {
      x[i] = 0.5f + (float)agx_test_random_below(&rng, 700) / 100.0f;
      y[i] = 0.5f + (float)agx_test_random_below(&rng, 700) / 100.0f;
      c.input[i][0] = image_bits(x[i] / 8.0f);
      c.input[i][1] = image_bits(y[i] / 8.0f);
   }
   assert_ok(image_run(&c));
   for (unsigned i = 0; i < THREADS; i++)
      assert_true(fabsf(image_float(c.output[i][0]) - (x[i] - 0.5f + 10.0f * (y[i] - 0.5f))) <
                  1e-4f);
   /* Between levels 0 and 1, a quarter of the way: centre of both. */
   c.sampler.mip_filter = AGX_HW_MIP_FILTER_LINEAR;
   c.input[0][0] = c.input[0][1] = image_bits(0.5f);
   c.input[0][4] = 0x3400; /* 0.25 */
   assert_ok(image_run(&c));
   assert_true(fabsf(image_float(c.output[0][0]) - (0.75f * 38.5f + 0.25f * 116.5f)) < 1e-4f);
   /* The nearest level, and the sampler's clamp. */
   c.sampler.mip_filter = AGX_HW_MIP_FILTER_NEAREST;
   c.input[0][4] = 0x4000; /* 2.0 */
   assert_ok(image_run(&c));
   assert_true(image_float(c.output[0][0]) == 205.5f);
   c.sampler.maximum_lod = 1;
   assert_ok(image_run(&c));
   assert_true(image_float(c.output[0][0]) == 116.5f);
   image_end(&c);
}

static void test_offset_gather_compare(void **state)
{
   struct image_case c;
   image_begin(&c,
               READ "smpf r=r20..r23 texture=ts0 sampler=ss0 coord=r4 extra=r8l dim=2d mask=xyzw "
                    "lod_mode=auto_lod gather=gather_r group=a" WRITE);
   image_fill_plain(&c);
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][0] = image_bits(3.0f / 8.0f), c.input[i][1] = image_bits(4.0f / 8.0f);
      c.input[i][4] = 0x0f | 1 << 4; /* x - 1, y + 1 */
   }
   assert_ok(image_run(&c));
   /* Texels 1..2, 4..5: lower left, lower right, upper right, upper left. */
   const float four[4] = {51, 52, 42, 41};
   for (unsigned ch = 0; ch < 4; ch++)
      assert_true(image_float(c.output[0][ch]) == four[ch]);
   image_end(&c);
   image_begin(&c,
               READ "smpf r=r20..r23 texture=ts0 sampler=ss0 coord=r4 extra=r8 dim=2d mask=xyzw "
                    "lod_mode=auto_lod shadow group=a" WRITE);
   image_fill_plain(&c);
   c.sampler.compare_enable = true;
   c.sampler.compare_func = AGX_HW_COMPARE_FUNC_LESS;
   c.sampler.magnify = AGX_HW_FILTER_LINEAR;
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][0] = image_bits(3.25f / 8.0f), c.input[i][1] = image_bits(0.5f / 8.0f);
      c.input[i][4] = image_bits(2.5f); /* less than 3, not than 2; 3 weighs three quarters */
   }
   assert_ok(image_run(&c));
   assert_true(image_float(c.output[0][0]) == 0.75f);
   image_end(&c);
}

static void test_level_of_detail(void **state)
{
   struct image_case c;
   image_begin(&c,
               READ "smpf r=r20..r21 texture=ts0 sampler=ss0 coord=r4 lod=r8..r11 dim=2d mask=xy "
                    "lod_mode=lod_grad query_lod group=a" WRITE);
   c.texture.unk_mipmapped = true;
   c.texture.last_level = 3;
   c.sampler.mip_filter = AGX_HW_MIP_FILTER_LINEAR;
   c.sampler.maximum_lod = 2;
   for (unsigned i = 0; i < THREADS; i++) {
      /* d/dx.x, d/dy.x, d/dx.y, d/dy.y: four texels a pixel in y, two in x. */
      c.input[i][4] = image_bits(0.25f), c.input[i][7] = image_bits(i ? 1.0f : 0.5f);
   }
   assert_ok(image_run(&c));
   assert_true(image_float(c.output[0][0]) == 2.0f && image_float(c.output[0][1]) == 2.0f);
   assert_true(image_float(c.output[1][0]) == 2.0f && image_float(c.output[1][1]) == 3.0f);
   image_end(&c);
}

/* The faces of a cube, by their centres; 6 layers. */
static void test_cube(void **state)
{
   static const float axis[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                    {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
   struct image_case c;
   image_begin(&c,
               READ "smpf r=r20..r23 texture=ts0 sampler=ss0 coord=r4 lod=r8l dim=cube mask=xyzw "
                    "lod_mode=lod_min group=a" WRITE);
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_CUBE;
   struct agx_layout layout =
      image_layout((struct agx_layout_shape){.width = 8, .height = 8, .depth = 6});
   for (uint32_t face = 0; face < 6; face++)
      image_fill_level(&c, &layout, 0, face, 8, 8);
   for (unsigned i = 0; i < 6; i++) {
      for (unsigned a = 0; a < 3; a++)
         c.input[i][a] = image_bits(axis[i][a] * 3.0f);
   }
   /* +x face: s goes against z, t against y. */
   const float corner[3] = {1, 0.9f, 0.9f};
   for (unsigned a = 0; a < 3; a++)
      c.input[6][a] = image_bits(corner[a]);
   assert_ok(image_run(&c));
   for (unsigned i = 0; i < 6; i++)
      assert_true(image_float(c.output[i][0]) == (float)(44 + 1000 * i));
   assert_true(image_float(c.output[6][0]) == 0.0f);
   image_end(&c);
}

/* Direction to the corner of all positive axes, of a cube whose faces are 1, 2, 3 ... */
static void test_cube_corner(void **state)
{
   struct image_case c;
   image_begin(&c,
               READ "smpf r=r20..r23 texture=ts0 sampler=ss0 coord=r4 lod=r8l dim=cube mask=xyzw "
                    "lod_mode=lod_min group=a" WRITE);
   c.texture.dimension = AGX_HW_TEXTURE_DIMENSION_CUBE;
   c.texture.width = c.texture.height = 1;
   c.sampler.magnify = AGX_HW_FILTER_LINEAR;
   for (uint32_t face = 0; face < 6; face++)
      agxs_put_le32(c.pixels + 128 * face, image_bits((float)(face + 1)));
   for (unsigned a = 0; a < 3; a++)
      c.input[0][a] = image_bits(1.0f);
   assert_ok(image_run(&c));
   /* A quarter each of +x, +y, +z and their average; one face weighs as much as another. */
   assert_true(fabsf(image_float(c.output[0][0]) - (1 + 3 + 5) / 3.0f) < 1e-6f);
   image_end(&c);
}

/* Registers name samplers of the command's heap, from 28 on. */
static void test_sampler_heap(void **state)
{
   struct image_case c;
   image_begin(&c, READ "mov d=r3l a=r9l\n"
                        "smpf r=r20..r23 texture=ts0 sampler=r3l coord=r4 lod=r8l dim=2d mask=xyzw "
                        "lod_mode=lod_min group=a" WRITE);
   image_fill_plain(&c);
   static const enum agx_hw_wrap modes[] = {AGX_HW_WRAP_CLAMP_TO_EDGE, AGX_HW_WRAP_REPEAT,
                                            AGX_HW_WRAP_MIRRORED_REPEAT};
   static const float texels[] = {7, 1, 6};
   for (unsigned i = 0; i < AGX_COUNT(modes); i++) {
      struct agx_hw_sampler sampler = c.sampler;
      sampler.wrap_s = modes[i];
      assert_ok(agx_hw_sampler_pack(&sampler, c.heap + 0x100 + 8 * i));
   }
   c.launch.options.sampler_heap = HEAP + 0x100;
   c.launch.options.sampler_count = AGX_COUNT(modes);
   for (unsigned i = 0; i < THREADS; i++) {
      c.input[i][0] = image_bits(1.2f), c.input[i][1] = image_bits(0.0625f);
      c.input[i][5] = 28 + i % 3;
   }
   assert_ok(image_run(&c));
   for (unsigned i = 0; i < THREADS; i++)
      assert_true(image_float(c.output[i][0]) == texels[i % 3]);
   c.input[5][5] = 31;
   assert_fails(image_run(&c), AGX_INVALID_ARGUMENT, "lane 5: sampler 3 of a heap of 3");
   c.input[5][5] = 27;
   assert_fails(image_run(&c), AGX_INVALID_ARGUMENT, "sampler state 27");
   c.input[5][5] = 30;
   c.launch.options.sampler_heap = 0x5000000000;
   assert_fails(image_run(&c), AGX_DATA_LOSS, "sampler is not mapped");
   image_end(&c);
}

/* Where a view shows alpha as a colour it is not curved, and a colour as alpha is. */
static void test_srgb_swizzle(void **state)
{
   struct image_case c;
   image_begin(&c, FETCH_2D);
   c.texture.channels = AGX_HW_CHANNELS_R8G8B8A8;
   c.texture.type = AGX_HW_TEXTURE_TYPE_UNORM;
   c.texture.srgb = true;
   c.texture.swizzle_r = AGX_HW_CHANNEL_A;
   c.texture.swizzle_a = AGX_HW_CHANNEL_R;
   agxs_put_le32(c.pixels, 0x33000033);
   assert_ok(image_run(&c));
   assert_true(image_float(c.output[0][0]) == 0.2f);
   assert_true(fabs(image_float(c.output[0][3]) - pow((0.2 + 0.055) / 1.055, 2.4)) < 1e-6);
   image_end(&c);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrap_modes),
      cmocka_unit_test(test_linear_filter),
      cmocka_unit_test(test_offset_gather_compare),
      cmocka_unit_test(test_level_of_detail),
      cmocka_unit_test(test_cube),
      cmocka_unit_test(test_cube_corner),
      cmocka_unit_test(test_sampler_heap),
      cmocka_unit_test(test_srgb_swizzle),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
