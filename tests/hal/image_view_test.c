/* SPDX-License-Identifier: MIT
 *
 * Views of images through every layer: another format, swizzled channels, a range of layers and
 * levels, and cubes over the layers of other images.
 */
#include "image_launch.h"

#include <math.h>
#include <string.h>

#include "base/util.h"

static void views_choose_format_channels_and_layers(void **state)
{
   struct image_launch *it = *state;
   static const char order[] = "rgba01";
   static const char *const swizzles[] = {NULL, "bgra", "rrr1", "0a1g"};
   for (uint32_t s = 0; s < AGX_COUNT(swizzles); s++) {
      struct agx_image *packed = image_make(
         it,
         (struct agx_image_desc){.type = AGX_IMAGE_2D, .format = "r32ui", .width = 8, .height = 8});
      struct agx_image *layers = image_make(it, (struct agx_image_desc){.type = AGX_IMAGE_2D,
                                                                        .format = "r32f",
                                                                        .width = 8,
                                                                        .height = 8,
                                                                        .depth = 5,
                                                                        .levels = 2});
      image_fill(layers, image_number);
      uint32_t texels[64];
      for (uint32_t i = 0; i < 64; i++)
         texels[i] = i | (255 - i) << 8 | 2 * i << 16 | (100 + i) << 24;
      const struct agx_image_region all = {.width = 8, .height = 8, .depth = 1};
      assert_ok(agx_image_write(packed, &all, texels, 0, 0));
      image_bind(it, (struct agx_binding){
                        .binding = 0, .image = packed, .format = "rgba8", .swizzle = swizzles[s]});
      image_bind(it, (struct agx_binding){.binding = 1,
                                          .image = layers,
                                          .first_layer = 1 + s % 3,
                                          .layer_count = 2,
                                          .first_level = s % 2});
      image_bind(it, (struct agx_binding){.binding = 2}); /* a 3D image that is not there */
      int32_t(*requests)[4] = image_bind_buffer(it, 3, IMAGE_REQUESTS * 16);
      uint32_t(*y)[4][4] = image_bind_buffer(it, 4, IMAGE_REQUESTS * 64);
      image_bind(it, (struct agx_binding){.binding = 5, .sampler = it->nearest});
      uint32_t random = 8 + s;
      for (uint32_t i = 0; i < IMAGE_REQUESTS; i++)
         for (uint32_t k = 0; k < 4; k++)
            requests[i][k] = k == 3 ? (int)(image_random(&random) % 3)
                                    : (int)(image_random(&random) % 10) - (k < 2);
      image_run(it, "kernels/image_fetch.spv");
      for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
         const int32_t *r = requests[i];
         bool is_inside = r[3] == 0 && r[0] >= 0 && r[0] < 8 && r[1] >= 0 && r[1] < 8;
         const uint8_t *bytes = (const uint8_t *)&texels[is_inside ? r[1] * 8 + r[0] : 0];
         for (uint32_t c = 0; c < 4; c++) {
            uint32_t from =
               (uint32_t)(strchr(order, (swizzles[s] ? swizzles[s] : order)[c]) - order);
            float want = !is_inside ? 0.0f
                         : from < 4 ? (float)bytes[from] / 255.0f
                                    : (float)(from - 4);
            if (!is_inside && from == 5)
               want = 1.0f; /* what the swizzle puts in stays */
            if (fabsf(image_float(y[i][0][c]) - want) > 1e-6f)
               fail_msg("swizzle %u channel %u at %d, %d level %d: %g, want %g", s, c, r[0], r[1],
                        r[3], (double)image_float(y[i][0][c]), (double)want);
         }
         int level = r[3] + (int)(s % 2), side = 8 >> level;
         bool is_there = level < 2 && r[0] >= 0 && r[1] >= 0 && r[0] < side && r[1] < side &&
                         r[2] >= 0 && r[2] < 2;
         float want = is_there ? image_number(r[0], r[1], r[2] + 1 + (int)s % 3, level, 0) : 0;
         assert_true(image_float(y[i][1][0]) == want);
         for (uint32_t c = 0; c < 4; c++)
            assert_int_equal(y[i][2][c], 0);
      }
      image_drop_bindings(it);
   }
}

static void bad_views_are_refused(void **state)
{
   struct image_launch *it = *state;
   static const struct {
      struct agx_binding binding;
      agx_status status;
      const char *text;
   } cases[] = {
      {{.format = "rgba16f"}, AGX_INVALID_ARGUMENT, "of another size"},
      {{.format = "rgb32f"}, AGX_UNIMPLEMENTED, "rgb32f"},
      {{.swizzle = "rgbx"}, AGX_INVALID_ARGUMENT, "swizzle"},
      {{.first_layer = 1}, AGX_OUT_OF_RANGE, "layers from 1 of 1"},
      {{.first_level = 1}, AGX_OUT_OF_RANGE, "levels from 1 of 1"},
   };
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      struct agx_binding binding = cases[i].binding;
      binding.image = image_make(
         it,
         (struct agx_image_desc){.type = AGX_IMAGE_2D, .format = "r32f", .width = 8, .height = 8});
      image_bind(it, binding);
      for (uint32_t b = 1; b < 3; b++)
         image_bind(it, (struct agx_binding){.binding = b});
      image_bind_buffer(it, 3, IMAGE_REQUESTS * 16);
      image_bind_buffer(it, 4, IMAGE_REQUESTS * 64);
      image_bind(it, (struct agx_binding){.binding = 5, .sampler = it->nearest});
      assert_fails(image_record(it, "kernels/image_fetch.spv", 1, false), cases[i].status,
                   cases[i].text);
      image_drop_bindings(it);
   }
}

static void cubes_are_made_of_layers(void **state)
{
   struct image_launch *it = *state;
   static const struct agx_image_desc descs[] = {
      {.type = AGX_IMAGE_2D, .format = "r32f", .width = 4, .height = 4},
      {.type = AGX_IMAGE_2D, .format = "r32f", .width = 4, .height = 4, .depth = 2},
      {.type = AGX_IMAGE_2D, .format = "r32f", .width = 1, .height = 1, .depth = 8},
      {.type = AGX_IMAGE_1D, .format = "r32f", .width = 4, .height = 1},
   };
   for (uint32_t i = 0; i < 4; i++) {
      struct agx_image *image = image_make(it, descs[i]);
      image_fill(image, image_number);
      image_bind(it, (struct agx_binding){.binding = i,
                                          .image = image,
                                          .sampler = it->nearest,
                                          .first_layer = i == 2,
                                          .layer_count = i == 2 ? 6 : 0});
   }
   float(*requests)[4] = image_bind_buffer(it, 4, IMAGE_REQUESTS * 16);
   uint32_t(*y)[4][4] = image_bind_buffer(it, 5, IMAGE_REQUESTS * 64);
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      requests[i][0] = requests[i][1] = requests[i][2] = 0.25f;
      requests[i][i % 3] = i / 3 % 2 ? -1.0f : 1.0f;
   }
   image_run(it, "kernels/image_sample.spv");
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++)
      assert_true(image_float(y[i][2][0]) ==
                  image_number(0, 0, (int)(1 + 2 * (i % 3) + i / 3 % 2), 0, 0));
}

AGX_TEST_FILE(void)
{
#define CASE(test)                                                                                 \
   cmocka_unit_test_setup_teardown(test, image_launch_open_bounds, image_launch_close)
   const struct CMUnitTest tests[] = {
      CASE(views_choose_format_channels_and_layers),
      CASE(bad_views_are_refused),
      CASE(cubes_are_made_of_layers),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
