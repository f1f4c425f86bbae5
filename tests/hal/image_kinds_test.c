/* SPDX-License-Identifier: MIT
 *
 * Images of the less plain kinds through every layer, against small models: buffers of texels,
 * multisampled images, comparisons and gathers, and atomics. Nothing outside of what is bound is
 * touched.
 */
#include "image_launch.h"

#include <math.h>
#include <string.h>

#include "base/util.h"

/* ---- buffers of texels ------------------------------------------------- */

/* More than a row of 16384 texels, ending in the middle of one. */
#define TEXELS 40003u

static void check_texels(struct image_launch *it, uint32_t offset_B, uint32_t texels)
{
   static uint32_t old_counts[TEXELS + 8];
   uint32_t random = 41 + texels, *memory;
   struct agx_buffer *buffers[3];
   for (uint32_t i = 0; i < 3; i++)
      buffers[i] = fixture_buffer(&it->fixture, offset_B + 8ull * TEXELS + 64, &memory);
   void *at[3];
   for (uint32_t i = 0; i < 3; i++) {
      assert_ok(agx_buffer_map(buffers[i], &at[i]));
      at[i] = (uint8_t *)at[i] + offset_B;
      memset(at[i], 0x5a, 8ull * TEXELS + 64);
   }
   for (uint32_t i = 0; i < TEXELS; i++) {
      ((float *)at[0])[i] = (float)i + 0.5f;
      ((uint32_t *)at[1])[i] = old_counts[i] = i * 7;
   }
   for (uint32_t i = TEXELS; i < TEXELS + 8; i++)
      old_counts[i] = 0x5a5a5a5a;
   static const char *const formats[] = {"r32f", "r32ui", "rgba16f"};
   for (uint32_t i = 0; i < 3; i++)
      image_bind(it, (struct agx_binding){.binding = i,
                                          .ref = {buffers[i], offset_B, texels * (i == 2 ? 8 : 4)},
                                          .format = formats[i]});
   uint32_t *requests = image_bind_buffer(it, 3, IMAGE_REQUESTS * 4);
   uint32_t(*y)[2][4] = image_bind_buffer(it, 4, IMAGE_REQUESTS * 32);
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      uint32_t what = image_random(&random) % 8;
      requests[i] = what < 4    ? image_random(&random) % AGX_MAX(texels, 1u)
                    : what == 4 ? texels - 4 + image_random(&random) % 8
                    : what == 5 ? (uint32_t) - (int32_t)(image_random(&random) % 20)
                    : what == 6 ? 1u << image_random(&random) % 32
                                : texels + image_random(&random) % 100000;
   }
   image_run(it, "kernels/image_texels.spv");
   static uint32_t added[TEXELS + 8];
   memset(added, 0, sizeof(added));
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++)
      if (requests[i] < texels)
         added[requests[i]]++;
   for (uint32_t i = 0; i < TEXELS + 8; i++)
      assert_int_equal(((uint32_t *)at[1])[i], old_counts[i] + added[i]);
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      bool is_inside = requests[i] < texels;
      float want = is_inside ? (float)requests[i] + 0.5f : 0.0f;
      if (image_float(y[i][0][0]) != want)
         fail_msg("texel %u of %u: %g, want %g", requests[i], texels,
                  (double)image_float(y[i][0][0]), (double)want);
      uint32_t later = requests[i] + 7, got = y[i][1][0];
      if (later < texels)
         assert_in_range(got - old_counts[later], 0, added[later]);
      else
         assert_int_equal(got, 0);
      for (uint32_t k = 1; k < 4; k++)
         assert_int_equal(y[i][1][k], texels);
   }
   for (uint32_t i = 0; i < TEXELS + 4; i++) {
      const uint16_t *texel = (const uint16_t *)at[2] + 4 * (size_t)i;
      bool is_stored = i < texels && added[i];
      assert_int_equal(texel[1], is_stored ? 0x3c00 : 0x5a5a);
      assert_int_equal(texel[3], is_stored ? 0x4200 : 0x5a5a);
   }
   image_drop_bindings(it);
}

static void texels_of_buffers(void **state)
{
   check_texels(*state, 0, TEXELS);
   check_texels(*state, 48, TEXELS - 5000);
   check_texels(*state, 16, 16384);
   check_texels(*state, 16, 3);
   check_texels(*state, 0, 0);
}

static void bad_texels_are_refused(void **state)
{
   static const struct {
      struct agx_binding binding;
      agx_status status;
      const char *text;
   } cases[] = {
      {{.ref = {NULL, 4, 64}, .format = "r32f"}, AGX_INVALID_ARGUMENT, "offset 4"},
      {{.ref = {NULL, 0, 64}}, AGX_INVALID_ARGUMENT, "without a format"},
      {{.ref = {NULL, 0, 64}, .format = "R32G32B32_SFLOAT"}, AGX_UNIMPLEMENTED, "R32G32B32"},
      {{.ref = {NULL, 0, 1 << 20}, .format = "r32f"}, AGX_OUT_OF_RANGE, "length"},
   };
   struct image_launch *it = *state;
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      uint32_t *memory;
      for (uint32_t b = 0; b < 3; b++) {
         struct agx_binding binding = cases[b ? 0 : i].binding;
         binding.binding = b;
         binding.ref.buffer = fixture_buffer(&it->fixture, 4096, &memory);
         if (b) {
            binding.ref.offset_B = 0;
            binding.format = b == 1 ? "r32ui" : "rgba16f";
         }
         image_bind(it, binding);
      }
      image_bind_buffer(it, 3, IMAGE_REQUESTS * 4);
      image_bind_buffer(it, 4, IMAGE_REQUESTS * 32);
      assert_fails(image_record(it, "kernels/image_texels.spv", 1, false), cases[i].status,
                   cases[i].text);
      image_drop_bindings(it);
   }
}

/* Columns and rows of the descriptor hold so many; no part of a range is left out silently. */
static void more_texels_than_a_descriptor_holds(void **state)
{
   struct image_launch *it = *state;
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 4ull << 28 | 16384};
   struct agx_buffer *large;
   uint32_t *memory;
   for (uint32_t more_B = 0; more_B <= 4; more_B += 4) {
      assert_ok(agx_vmem_reserve(it->fixture.device, &desc, &large));
      image_bind(it,
                 (struct agx_binding){.ref = {large, 0, (4ull << 28) + more_B}, .format = "r32f"});
      for (uint32_t b = 1; b < 3; b++)
         image_bind(
            it, (struct agx_binding){.binding = b,
                                     .ref = {fixture_buffer(&it->fixture, 4096, &memory), 0, 64},
                                     .format = b == 1 ? "r32ui" : "rgba16f"});
      image_bind_buffer(it, 3, IMAGE_REQUESTS * 4);
      image_bind_buffer(it, 4, IMAGE_REQUESTS * 32);
      if (more_B)
         assert_fails(image_record(it, "kernels/image_texels.spv", 1, false), AGX_OUT_OF_RANGE,
                      "268435457 texels");
      else
         assert_ok(image_record(it, "kernels/image_texels.spv", 1, false));
      image_drop_bindings(it);
   }
}

/* What is given must be of the kind that is wanted; nothing at all is an image that is not there.
 */
static void other_kinds_are_refused(void **state)
{
   struct image_launch *it = *state;
   uint32_t *memory;
   image_bind(it, (struct agx_binding){
                     .image = image_make(
                        it, (struct agx_image_desc){
                               .type = AGX_IMAGE_2D, .format = "r32f", .width = 8, .height = 8})});
   for (uint32_t b = 1; b < 3; b++)
      image_bind(it, (struct agx_binding){.binding = b});
   image_bind_buffer(it, 3, IMAGE_REQUESTS * 4);
   image_bind_buffer(it, 4, IMAGE_REQUESTS * 32);
   assert_fails(image_record(it, "kernels/image_texels.spv", 1, false), AGX_INVALID_ARGUMENT,
                "a buffer of texels is wanted, not an image");
   image_drop_bindings(it);
   image_bind(it, (struct agx_binding){
                     .ref = {fixture_buffer(&it->fixture, 64, &memory), 0, AGX_WHOLE_LENGTH}});
   assert_fails(image_record(it, "kernels/image_fetch.spv", 1, false), AGX_INVALID_ARGUMENT,
                "an image is wanted, not a buffer");
}

/* ---- samples ----------------------------------------------------------- */

struct sample_request {
   int32_t at[3], number;
};

static void check_samples(struct image_launch *it, uint32_t width, uint32_t height,
                          uint32_t samples)
{
   static uint8_t bytes[128 * 128 * 4];
   static float floats[128 * 128];
   uint32_t random = width * samples;
   struct agx_image_desc desc = {
      .type = AGX_IMAGE_2D, .format = "r32f", .width = width, .height = height, .samples = samples};
   struct agx_image *flat = image_make(it, desc), *stored = image_make(it, desc);
   desc.depth = 3;
   struct agx_image *layers = image_make(it, desc);
   desc.format = "rgba8";
   struct agx_image *packed = image_make(it, desc), *images[] = {flat, layers, stored, packed};
   image_fill(flat, image_number);
   image_fill(layers, image_number);
   for (uint32_t i = 0; i < 4; i++)
      image_bind(it, (struct agx_binding){.binding = i, .image = images[i]});
   struct sample_request *requests = image_bind_buffer(it, 4, IMAGE_REQUESTS * 16);
   uint32_t(*y)[4] = image_bind_buffer(it, 5, IMAGE_REQUESTS * 16);
   image_bind(it, (struct agx_binding){.binding = 6, .sampler = it->nearest});
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      requests[i] = (struct sample_request){{(int)(image_random(&random) % (width + 8)) - 4,
                                             (int)(image_random(&random) % (height + 8)) - 4,
                                             (int)(image_random(&random) % 5) - 1},
                                            (int)(image_random(&random) % (samples + 2)) - 1};
      if (i % 16 == 7)
         requests[i].at[image_random(&random) % 3] =
            (int32_t)(0x10000u << image_random(&random) % 16);
      if (i % 16 == 8)
         requests[i].number = (int32_t)(0x100u << image_random(&random) % 24);
   }
   image_run(it, "kernels/image_samples.spv");
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      const struct sample_request *r = &requests[i];
      bool in_plane = r->at[0] >= 0 && r->at[1] >= 0 && r->at[0] < (int)width &&
                      r->at[1] < (int)height && r->number >= 0 && r->number < (int)samples;
      bool in_layers = in_plane && r->at[2] >= 0 && r->at[2] < 3;
      float a = in_plane ? image_number(r->at[0], r->at[1], 0, 0, r->number) : 0;
      float b = in_layers ? image_number(r->at[0], r->at[1], r->at[2], 0, r->number) : 0;
      if (image_float(y[i][0]) != a || image_float(y[i][1]) != b)
         fail_msg("sample %d at %d, %d, %d: %g and %g, want %g and %g", r->number, r->at[0],
                  r->at[1], r->at[2], (double)image_float(y[i][0]), (double)image_float(y[i][1]),
                  (double)a, (double)b);
      assert_int_equal(y[i][2], samples);
      assert_int_equal(y[i][3], 3);
   }
   for (uint32_t sample = 0; sample < samples; sample++)
      for (uint32_t layer = 0; layer < 3; layer++) {
         const struct agx_image_region region = {
            .z = layer, .width = width, .height = height, .depth = 1, .sample = sample};
         static uint8_t wanted[128 * 128 * 4];
         static float wanted_floats[128 * 128];
         memset(wanted, 0, sizeof(wanted));
         memset(wanted_floats, 0, sizeof(wanted_floats));
         for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
            const struct sample_request *r = &requests[i];
            if (r->number != (int)sample || r->at[0] < 0 || r->at[1] < 0 ||
                r->at[0] >= (int)width || r->at[1] >= (int)height)
               continue;
            uint32_t at = (uint32_t)r->at[1] * width + (uint32_t)r->at[0];
            wanted_floats[at] = (float)(1 + r->at[0] + 64 * r->at[1] + 4096 * r->number);
            if (r->at[2] == (int)layer)
               memcpy(wanted + 4 * at,
                      (uint8_t[]){(uint8_t)r->at[0], (uint8_t)r->at[1], (uint8_t)r->at[2],
                                  (uint8_t)(r->number + 1)},
                      4);
         }
         assert_ok(agx_image_read(packed, &region, bytes, 0, 0));
         assert_memory_equal(bytes, wanted, 4ull * width * height);
         if (layer)
            continue;
         assert_ok(agx_image_read(stored, &region, floats, 0, 0));
         assert_memory_equal(floats, wanted_floats, 4ull * width * height);
      }
   image_drop_bindings(it);
}

static void samples_are_loaded_and_stored(void **state)
{
   check_samples(*state, 20, 12, 4);
   check_samples(*state, 20, 12, 2);
   check_samples(*state, 100, 70, 4);
   check_samples(*state, 70, 100, 2);
   check_samples(*state, 1, 1, 2);
}

/* ---- samples of the less plain kinds ----------------------------------- */

/* Four channels that differ. */
static void fill_channels(struct agx_image *image)
{
   for (uint32_t y = 0; y < 12; y++) {
      float row[20][4];
      for (uint32_t x = 0; x < 20; x++)
         for (uint32_t c = 0; c < 4; c++)
            row[x][c] = (float)(1 + x + 64 * y + 4096 * c);
      const struct agx_image_region region = {.y = y, .width = 20, .height = 1, .depth = 1};
      assert_ok(agx_image_write(image, &region, row, 0, 0));
   }
}

static float depth_texel(int x, int y, int z, int level, int sample)
{
   return (float)((x * 7 + y * 3 + z * 5) % 16) / 16.0f;
}

static int inside(int at, int size)
{
   return AGX_MIN(AGX_MAX(at, 0), size - 1);
}

static float passes(float reference, int x, int y, int z)
{
   return reference <= depth_texel(inside(x, 20), inside(y, 12), z, 0, 0);
}

static float channel_at(int x, int y, int c)
{
   return (float)(1 + inside(x, 20) + 64 * inside(y, 12) + 4096 * c);
}

static void check_more(const float *r, uint32_t i, uint32_t (*y)[4])
{
   static const int8_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
   static const int8_t offsets[4][2] = {{-8, 7}, {1, 0}, {0, -1}, {3, 2}};
   int u = (int)floorf(r[0] * 20.0f - 0.5f), v = (int)floorf(r[1] * 12.0f - 0.5f);
   int px = (int)floorf(r[0] * 20.0f), py = (int)floorf(r[1] * 12.0f);
   for (int k = 0; k < 4; k++) {
      int x = u + corners[k][0], w = v + corners[k][1];
      assert_true(image_float(y[0][k]) == channel_at(x, w, 1));
      assert_true(image_float(y[1][k]) == channel_at(x, w, 3));
      assert_true(image_float(y[2][k]) == channel_at(x + (int)(i & 7) - 4, w + 2, 2));
      assert_true(image_float(y[3][k]) == channel_at(u + offsets[k][0], v + offsets[k][1], 0));
      assert_true(image_float(y[4][k]) == passes(r[2], x, w, 0));
   }
   assert_true(image_float(y[5][0]) == passes(r[2], px, py, 0));
   assert_true(image_float(y[5][1]) == passes(r[2], px + 2, py - 3, 0));
   assert_true(image_float(y[5][2]) == passes(r[2], px, py, 0));
   assert_true(image_float(y[5][3]) == passes(r[2], px, py, 1));
   /* A footprint of 2^n texels of 16 chooses level n. */
   int level = (int)lrintf(log2f(r[3] * 16.0f));
   int at[3], near[3];
   for (int k = 0; k < 3; k++) {
      at[k] = (int)floorf(r[k] * (float)AGX_MAX(16 >> level, 1));
      near[k] = (int)floorf(r[k] * 16.0f);
   }
   assert_true(image_float(y[6][0]) == image_number(at[0], at[1], at[2], level, 0));
   assert_true(image_float(y[6][1]) == image_number(at[0], at[1], at[2], level, 0));
   assert_true(image_float(y[6][2]) == channel_at(px, py, 0));
   assert_true(image_float(y[6][3]) == channel_at(px, py, 1));
   assert_true(image_float(y[7][0]) == image_number(inside(near[0] + 1, 16),
                                                    inside(near[1] - 1, 16),
                                                    inside(near[2] + 2, 16), 0, 0));
}

static void gathers_comparisons_and_derivatives(void **state)
{
   struct image_launch *it = *state;
   const struct agx_sampler_desc desc = {.size = sizeof(desc),
                                         .wrap = {AGX_WRAP_EDGE, AGX_WRAP_EDGE, AGX_WRAP_EDGE},
                                         .compare = AGX_COMPARE_LESS_OR_EQUAL};
   struct agx_image *images[] = {
      image_make(it,
                 (struct agx_image_desc){
                    .type = AGX_IMAGE_2D, .format = "rgba32f", .width = 20, .height = 12}),
      image_make(it,
                 (struct agx_image_desc){
                    .type = AGX_IMAGE_2D, .format = "r32f", .width = 20, .height = 12}),
      image_make(it, (struct agx_image_desc){.type = AGX_IMAGE_3D,
                                             .format = "r32f",
                                             .width = 16,
                                             .height = 16,
                                             .depth = 16,
                                             .levels = 5}),
      image_make(it,
                 (struct agx_image_desc){
                    .type = AGX_IMAGE_2D, .format = "r32f", .width = 20, .height = 12, .depth = 2}),
   };
   fill_channels(images[0]);
   image_fill(images[1], depth_texel);
   image_fill(images[2], image_number);
   image_fill(images[3], depth_texel);
   for (uint32_t i = 0; i < 4; i++) {
      struct agx_sampler *sampler = it->nearest;
      if (i % 2)
         assert_ok(agx_sampler_create(it->fixture.device, &desc, &sampler));
      image_bind(it, (struct agx_binding){.binding = i, .image = images[i], .sampler = sampler});
   }
   float(*requests)[4] = image_bind_buffer(it, 4, IMAGE_REQUESTS * 16);
   uint32_t(*y)[8][4] = image_bind_buffer(it, 5, IMAGE_REQUESTS * 128);
   uint32_t random = 31;
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      for (uint32_t k = 0; k < 3; k++)
         requests[i][k] = ((float)(image_random(&random) % 61) + 0.37f) / 61.5f;
      requests[i][3] = (float)(1u << image_random(&random) % 5) / 16.0f;
   }
   image_run(it, "kernels/image_more.spv");
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++)
      check_more(requests[i], i, y[i]);
}

/* ---- atomics ----------------------------------------------------------- */

static void atomics_on_slices_and_faces(void **state)
{
   struct image_launch *it = *state;
   static uint32_t solid[5][7][9], cube[6][8][8], got[6 * 8 * 9];
   struct agx_image *images[] = {
      image_make(it, (struct agx_image_desc){.type = AGX_IMAGE_3D,
                                             .format = "r32ui",
                                             .width = 9,
                                             .height = 7,
                                             .depth = 5,
                                             .flags = AGX_IMAGE_ATOMICS}),
      image_make(it, (struct agx_image_desc){.type = AGX_IMAGE_CUBE,
                                             .format = "r32ui",
                                             .width = 8,
                                             .height = 8,
                                             .flags = AGX_IMAGE_ATOMICS}),
   };
   for (uint32_t i = 0; i < 2; i++)
      image_bind(it, (struct agx_binding){.binding = i, .image = images[i]});
   int32_t(*requests)[4] = image_bind_buffer(it, 2, IMAGE_REQUESTS * 16);
   uint32_t random = 5;
   for (uint32_t i = 0; i < IMAGE_REQUESTS; i++) {
      for (uint32_t k = 0; k < 3; k++)
         requests[i][k] = (int)(image_random(&random) % 11) - 1;
      if (i % 16 == 3)
         requests[i][image_random(&random) % 3] = (int32_t)(0x10000u << image_random(&random) % 16);
      requests[i][3] = (int)(image_random(&random) % 1000);
      const int32_t *r = requests[i];
      if (r[0] >= 0 && r[1] >= 0 && r[2] >= 0 && r[0] < 9 && r[1] < 7 && r[2] < 5)
         solid[r[2]][r[1]][r[0]] += (uint32_t)r[3];
      if (r[0] >= 0 && r[1] >= 0 && r[2] >= 0 && r[0] < 8 && r[1] < 8 && r[2] < 6)
         cube[r[2]][r[1]][r[0]] = AGX_MAX(cube[r[2]][r[1]][r[0]], (uint32_t)r[3]);
   }
   image_run(it, "kernels/image_atomic3.spv");
   const struct agx_image_region whole = {.width = 9, .height = 7, .depth = 5};
   assert_ok(agx_image_read(images[0], &whole, got, 0, 0));
   assert_memory_equal(got, solid, sizeof(solid));
   const struct agx_image_region faces = {.width = 8, .height = 8, .depth = 6};
   assert_ok(agx_image_read(images[1], &faces, got, 0, 0));
   assert_memory_equal(got, cube, sizeof(cube));
}

AGX_TEST_FILE(void)
{
#define CASE(test)                                                                                 \
   cmocka_unit_test_setup_teardown(test, image_launch_open_bounds, image_launch_close)
   const struct CMUnitTest tests[] = {
      CASE(texels_of_buffers),
      CASE(bad_texels_are_refused),
      CASE(more_texels_than_a_descriptor_holds),
      CASE(other_kinds_are_refused),
      CASE(samples_are_loaded_and_stored),
      CASE(gathers_comparisons_and_derivatives),
      CASE(atomics_on_slices_and_faces),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
