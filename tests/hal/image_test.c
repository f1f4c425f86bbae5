/* SPDX-License-Identifier: MIT
 *
 * Images through every layer: fetches and samples of what lies inside and outside, stores and
 * atomics, queries; against a model that knows each texel. Runs strict and checked.
 */
#include "image_launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

/* ---- the model --------------------------------------------------------- */

struct shape {
   uint32_t type, width, height, depth, levels, flags;
   const char *format;
};

static uint32_t side(uint32_t size, int level)
{
   return AGX_MAX(size >> level, 1u);
}

static uint32_t depth_at(const struct shape *shape, int level)
{
   return shape->type == AGX_IMAGE_3D ? side(shape->depth, level) : shape->depth;
}

/* What is different for each texel, and never zero. */
static float texel(int x, int y, int z, int level)
{
   return (float)(1 + x + 32 * y + 1024 * z + 65536 * level);
}

static float expected(const struct shape *shape, int x, int y, int z, int level)
{
   bool is_inside = level >= 0 && level < (int)shape->levels && x >= 0 && y >= 0 && z >= 0 &&
                    x < (int)side(shape->width, level) && y < (int)side(shape->height, level) &&
                    z < (int)depth_at(shape, level);
   return is_inside ? texel(x, y, z, level) : 0.0f;
}

static struct agx_image *make_image(struct image_launch *it, const struct shape *shape)
{
   const struct agx_image_desc desc = {
      .size = sizeof(desc),
      .type = shape->type,
      .format = shape->format,
      .width = shape->width,
      .height = shape->height,
      .depth = shape->depth,
      .levels = shape->levels,
      .flags = shape->flags | AGX_IMAGE_HOST_READ,
   };
   struct agx_image *image = NULL;
   assert_ok(agx_image_create(it->fixture.device, &desc, &image));
   return image;
}

static struct agx_image *make_filled(struct image_launch *it, const struct shape *shape)
{
   struct agx_image *image = make_image(it, shape);
   for (int level = 0; level < (int)shape->levels; level++) {
      struct agx_image_region region = {
         .level = (uint32_t)level, .width = side(shape->width, level), .height = 1, .depth = 1};
      float row[64];
      for (int z = 0; z < (int)depth_at(shape, level); z++)
         for (int y = 0; y < (int)side(shape->height, level); y++) {
            for (int x = 0; x < (int)region.width; x++)
               row[x] = texel(x, y, z, level);
            region.y = (uint32_t)y;
            region.z = (uint32_t)z;
            assert_ok(agx_image_write(image, &region, row, 0, 0));
         }
   }
   return image;
}

static void bind_image(struct image_launch *it, uint32_t binding, struct agx_image *image)
{
   it->bindings[it->count++] =
      (struct agx_binding){.binding = binding, .image = image, .sampler = it->nearest};
}

/* ---- copies ------------------------------------------------------------ */

static void copies_keep_every_texel(void **state)
{
   static const struct shape shapes[] = {
      {AGX_IMAGE_2D, 37, 21, 1, 6, 0, "rgba8"},
      {AGX_IMAGE_2D, 200, 130, 3, 1, 0, "R8_UNORM"},
      {AGX_IMAGE_2D, 37, 21, 2, 1, AGX_IMAGE_LINEAR, "rgba16f"},
      {AGX_IMAGE_2D, 20, 9, 2, 1, AGX_IMAGE_ATOMICS, "r32ui"},
      {AGX_IMAGE_3D, 17, 9, 5, 3, 0, "GL_RGBA32F"},
      {AGX_IMAGE_CUBE, 16, 16, 6, 5, 0, "R32_SFLOAT"},
      {AGX_IMAGE_1D, 100, 1, 4, 2, 0, "rg16f"},
   };
   static uint8_t put[1 << 20], got[1 << 20];
   uint32_t random = 5;
   for (size_t i = 0; i < AGX_COUNT(shapes); i++) {
      const struct shape *shape = &shapes[i];
      struct agx_image *image = make_image(*state, shape);
      struct agx_image_info info = {.size = sizeof(info)};
      agx_image_get_info(image, &info);
      uint64_t at = 0;
      for (size_t b = 0; b < sizeof(put); b++)
         put[b] = (uint8_t)image_random(&random);
      for (int pass = 0; pass < 2; pass++) {
         at = 0;
         for (int level = 0; level < (int)shape->levels; level++) {
            const struct agx_image_region region = {.level = (uint32_t)level,
                                                    .width = side(shape->width, level),
                                                    .height = side(shape->height, level),
                                                    .depth = depth_at(shape, level)};
            assert_ok(pass ? agx_image_read(image, &region, got + at, 0, 0)
                           : agx_image_write(image, &region, put + at, 0, 0));
            at += (uint64_t)region.width * region.height * region.depth * info.texel_B;
         }
      }
      assert_memory_equal(put, got, at);
      const struct agx_image_region outside = {
         .x = 1, .width = shape->width, .height = 1, .depth = 1};
      assert_fails(agx_image_read(image, &outside, got, 0, 0), AGX_OUT_OF_RANGE, "image copy");
      agx_release(image);
   }
}

static void bad_images_are_refused(void **state)
{
   static const struct {
      struct shape shape;
      agx_status status;
      const char *text;
   } cases[] = {
      {{AGX_IMAGE_2D, 4, 4, 1, 4, 0, "rgba8"}, AGX_OUT_OF_RANGE, "4 levels"},
      {{AGX_IMAGE_2D, 4, 4, 1, 1, 0, "BC1_RGB_UNORM_BLOCK"}, AGX_UNIMPLEMENTED, "BC1"},
      {{AGX_IMAGE_2D, 4, 4, 1, 2, AGX_IMAGE_LINEAR, "rgba8"}, AGX_INVALID_ARGUMENT, "linear"},
      {{AGX_IMAGE_2D, 4, 4, 1, 1, AGX_IMAGE_ATOMICS, "rgba16f"}, AGX_INVALID_ARGUMENT, "8 bytes"},
      {{AGX_IMAGE_CUBE, 4, 5, 6, 1, 0, "rgba8"}, AGX_INVALID_ARGUMENT, "type 3"},
      {{AGX_IMAGE_1D, 4, 2, 1, 1, 0, "rgba8"}, AGX_INVALID_ARGUMENT, "type 0"},
      {{AGX_IMAGE_2D, 16385, 2, 1, 1, 0, "rgba8"}, AGX_OUT_OF_RANGE, "16385"},
      {{AGX_IMAGE_2D, 4, 2, 2049, 1, 0, "rgba8"}, AGX_OUT_OF_RANGE, "2049"},
      {{9, 4, 2, 1, 1, 0, "rgba8"}, AGX_INVALID_ARGUMENT, "type 9"},
   };
   struct image_launch *it = *state;
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      const struct shape *shape = &cases[i].shape;
      const struct agx_image_desc desc = {.size = sizeof(desc),
                                          .type = shape->type,
                                          .format = shape->format,
                                          .width = shape->width,
                                          .height = shape->height,
                                          .depth = shape->depth,
                                          .levels = shape->levels,
                                          .flags = shape->flags};
      struct agx_image *image;
      assert_fails(agx_image_create(it->fixture.device, &desc, &image), cases[i].status,
                   cases[i].text);
   }
}

/* ---- kernels ----------------------------------------------------------- */

static const struct shape flat = {AGX_IMAGE_2D, 20, 12, 1, 5, 0, "r32f"};
static const struct shape layered = {AGX_IMAGE_2D, 16, 16, 3, 3, 0, "r32f"};
static const struct shape solid = {AGX_IMAGE_3D, 8, 8, 4, 4, 0, "r32f"};

#define REQUESTS 512

static void fetches_give_texels_or_zero(void **state)
{
   struct image_launch *it = *state;
   bind_image(it, 0, make_filled(it, &flat));
   bind_image(it, 1, make_filled(it, &layered));
   bind_image(it, 2, make_filled(it, &solid));
   int32_t(*requests)[4] = image_bind_buffer(it, 3, REQUESTS * 16);
   float(*y)[4][4] = image_bind_buffer(it, 4, REQUESTS * 64);
   it->bindings[it->count++] = (struct agx_binding){.binding = 5, .sampler = it->nearest};
   uint32_t random = 77;
   for (int i = 0; i < REQUESTS; i++) {
      requests[i][0] = (int)(image_random(&random) % 25) - 3;
      requests[i][1] = (int)(image_random(&random) % 18) - 3;
      requests[i][2] = (int)(image_random(&random) % 6) - 1;
      requests[i][3] = (int)(image_random(&random) % 7) - 1;
      if (i % 32 == 5) /* far away */
         requests[i][image_random(&random) % 4] = (int32_t)(0x10000u << image_random(&random) % 16);
   }
   image_run_groups(it, "kernels/image_fetch.spv", REQUESTS / 32);
   for (int i = 0; i < REQUESTS; i++) {
      const int32_t *r = requests[i];
      float want[] = {
         expected(&flat, r[0], r[1], 0, r[3]), expected(&layered, r[0], r[1], r[2], r[3]),
         expected(&solid, r[0], r[1], r[2], r[3]),
         expected(&flat, (int32_t)((uint32_t)r[0] - 8), (int32_t)((uint32_t)r[1] + 7), 0, r[3])};
      for (int k = 0; k < 4; k++)
         if (y[i][k][0] != want[k])
            fail_msg("fetch %d of %d, %d, %d level %d: %g, want %g", k, r[0], r[1], r[2], r[3],
                     (double)y[i][k][0], (double)want[k]);
   }
}

static void queries_give_the_view(void **state)
{
   struct image_launch *it = *state;
   static const struct shape cube = {AGX_IMAGE_CUBE, 32, 32, 6, 6, 0, "rgba8"};
   static const struct shape stored = {AGX_IMAGE_2D, 13, 7, 5, 1, AGX_IMAGE_LINEAR, "r32ui"};
   bind_image(it, 0, make_image(it, &flat));
   it->bindings[0].first_level = 1;
   it->bindings[0].level_count = 3;
   bind_image(it, 1, make_image(it, &layered));
   bind_image(it, 2, make_image(it, &solid));
   bind_image(it, 3, make_image(it, &cube));
   bind_image(it, 4, make_image(it, &stored));
   int32_t *y = image_bind_buffer(it, 5, 256);
   for (int level = 0; level < 3; level++) {
      const int32_t want[] = {(int)side(20, level + 1),
                              (int)side(12, level + 1),
                              16 >> level,
                              16 >> level,
                              3,
                              8 >> level,
                              8 >> level,
                              (int)side(4, level),
                              32 >> level,
                              32 >> level,
                              13,
                              7,
                              5,
                              3,
                              4};
      y[0] = level;
      image_run_groups(it, "kernels/image_query.spv", 1);
      for (size_t i = 0; i < AGX_COUNT(want); i++)
         if (y[1 + i] != want[i])
            fail_msg("level %d: %zu is %d, want %d", level, i, y[1 + i], want[i]);
   }
}

/* The face that a direction meets, and with it the layer. */
static int face_of(const float *v)
{
   int axis = 0;
   for (int i = 1; i < 3; i++)
      if (fabsf(v[i]) > fabsf(v[axis]))
         axis = i;
   return 2 * axis + (v[axis] < 0);
}

static void samples_find_level_and_texel(void **state)
{
   struct image_launch *it = *state;
   static const struct shape cube = {AGX_IMAGE_CUBE, 1, 1, 6, 1, 0, "r32f"};
   static const struct shape line = {AGX_IMAGE_1D, 32, 1, 1, 3, 0, "r32f"};
   bind_image(it, 0, make_filled(it, &flat));
   bind_image(it, 1, make_filled(it, &layered));
   bind_image(it, 2, make_filled(it, &cube));
   bind_image(it, 3, make_filled(it, &line));
   float(*requests)[4] = image_bind_buffer(it, 4, REQUESTS * 16);
   float(*y)[4][4] = image_bind_buffer(it, 5, REQUESTS * 64);
   uint32_t random = 99;
   for (int i = 0; i < REQUESTS; i++) {
      for (int k = 0; k < 3; k++)
         requests[i][k] = ((float)(image_random(&random) % 91) - 15.0f + 0.37f) / 61.0f;
      requests[i][2] = (float)(image_random(&random) % 60) / 10.0f - 1.23f;
      requests[i][3] =
         (float)(image_random(&random) % 6) + (float)(image_random(&random) % 7) / 16.0f - 0.2f;
   }
   image_run_groups(it, "kernels/image_sample.spv", REQUESTS / 32);
   const struct shape *shapes[] = {&flat, &layered, &cube, &line};
   for (int i = 0; i < REQUESTS; i++)
      for (int k = 0; k < 4; k++) {
         const float *r = requests[i];
         const struct shape *shape = shapes[k];
         int level = k == 2 ? 0 : (int)lrintf(fminf(fmaxf(r[3], 0), (float)shape->levels - 1));
         int w = (int)side(shape->width, level), h = (int)side(shape->height, level);
         int u = (int)floorf(r[0] * (float)w), v = (int)floorf(r[1] * (float)h);
         u = u < 0 ? 0 : AGX_MIN(u, w - 1);
         v = v < 0 ? 0 : AGX_MIN(v, h - 1);
         int layer = k == 1 ? (int)lrintf(fminf(fmaxf(r[2], 0), 2)) : k == 2 ? face_of(r) : 0;
         float want = texel(u, k == 3 || k == 2 ? 0 : v, layer, level);
         if (y[i][k][0] != want)
            fail_msg("sample %d at %g, %g, %g level %g: %g, want %g", k, (double)r[0], (double)r[1],
                     (double)r[2], (double)r[3], (double)y[i][k][0], (double)want);
      }
}

static void gradients_and_gathers(void **state)
{
   struct image_launch *it = *state;
   bind_image(it, 0, make_filled(it, &flat));
   float(*requests)[4] = image_bind_buffer(it, 1, REQUESTS * 16);
   float(*y)[2][4] = image_bind_buffer(it, 2, REQUESTS * 32);
   uint32_t random = 3;
   for (int i = 0; i < REQUESTS; i++) {
      requests[i][0] = ((float)(image_random(&random) % 61) + 0.37f) / 61.0f;
      requests[i][1] = ((float)(image_random(&random) % 61) + 0.37f) / 61.0f;
      int level = (int)(image_random(&random) % 5);
      /* Along columns only, or along rows only: the longer one decides. */
      requests[i][2] = i % 2 ? 0.01f / 20.0f : (float)(1 << level) / 20.0f;
      requests[i][3] = i % 2 ? (float)(1 << level) / 12.0f : 0.01f / 12.0f;
   }
   image_run_groups(it, "kernels/image_gather.spv", REQUESTS / 32);
   for (int i = 0; i < REQUESTS; i++) {
      const float *r = requests[i];
      int level = (int)lrintf(log2f(fmaxf(r[2] * 20.0f, r[3] * 12.0f)));
      int u = (int)floorf(r[0] * (float)side(20, level));
      int v = (int)floorf(r[1] * (float)side(12, level));
      assert_true(y[i][0][0] == texel(u, v, 0, level));
      static const int8_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
      for (int k = 0; k < 4; k++) {
         u = (int)floorf(r[0] * 20.0f - 0.5f) + corners[k][0];
         v = (int)floorf(r[1] * 12.0f - 0.5f) + corners[k][1];
         u = u < 0 ? 0 : AGX_MIN(u, 19);
         v = v < 0 ? 0 : AGX_MIN(v, 11);
         assert_true(y[i][1][k] == texel(u, v, 0, 0));
      }
   }
}

static void check_writes(struct image_launch *it, uint32_t flags)
{
   const struct shape stored = {AGX_IMAGE_2D, 16, 16, 3, 1, flags, "r32ui"};
   static const struct shape counted = {AGX_IMAGE_2D, 16, 16, 1, 1, AGX_IMAGE_ATOMICS, "r32ui"};
   const struct agx_image_region all = {.width = 16, .height = 16, .depth = 1};
   uint32_t count[16][16], texels[3][16][16];
   it->count = 0;
   bind_image(it, 0, make_image(it, &stored));
   bind_image(it, 1, make_image(it, &counted));
   uint32_t(*y)[32] = image_bind_buffer(it, 2, 32 * 32 * 4);
   for (uint32_t i = 0; i < 256; i++)
      count[i / 16][i % 16] = i * i;
   assert_ok(agx_image_write(it->bindings[1].image, &all, count, 0, 0));
   image_run_groups(it, "kernels/image_write.spv", 1);
   struct agx_image_region layers = all;
   layers.depth = 3;
   assert_ok(agx_image_read(it->bindings[0].image, &layers, texels, 0, 0));
   assert_ok(agx_image_read(it->bindings[1].image, &all, count, 0, 0));
   for (uint32_t i = 0; i < 256; i++) {
      uint32_t row = i / 16, column = i % 16;
      for (uint32_t layer = 0; layer < 3; layer++)
         assert_int_equal(texels[layer][row][column], (row << 16 | column) + (layer << 8));
      assert_int_equal(count[row][column], AGX_MAX(i * i + column + 100 * row, 7u));
   }
   for (uint32_t i = 0; i < 1024; i++) {
      uint32_t row = 23 - i / 32, column = 23 - i % 32;
      bool is_inside = row < 16 && column < 16;
      assert_int_equal(y[i / 32][i % 32], is_inside ? (row << 16 | column) + 256 : 0);
   }
   for (uint32_t i = 0; i < it->count; i++) {
      agx_release(it->bindings[i].ref.buffer);
      agx_release(it->bindings[i].image);
   }
   it->count = 0;
}

static void writes_outside_are_dropped(void **state)
{
   check_writes(*state, 0);
   check_writes(*state, AGX_IMAGE_LINEAR);
}

static void bindings_are_checked(void **state)
{
   struct image_launch *it = *state;
   static const struct shape plain = {AGX_IMAGE_2D, 16, 16, 3, 1, 0, "r32ui"};
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_executable *executable;
   struct agx_binding_info info = {.size = sizeof(info)};
   char *path = agx_test_path("kernels/image_write.spv");
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(it->fixture.device, &desc, &executable));
   assert_ok(agx_executable_get_binding(executable, 0, &info));
   assert_int_equal(info.type, AGX_BINDING_STORAGE_IMAGE);
   assert_true(info.is_written && !info.has_atomics);
   assert_ok(agx_executable_get_binding(executable, 1, &info));
   assert_true(info.has_atomics);
   bind_image(it, 0, make_image(it, &plain));
   bind_image(it, 1, make_image(it, &plain));
   image_bind_buffer(it, 2, 4096);
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = executable,
                                   .workgroups = {1, 1, 1},
                                   .bindings = it->bindings,
                                   .binding_count = 3};
   struct agx_command_buffer *commands = fixture_begin(&it->fixture);
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_INVALID_ARGUMENT, "AGX_IMAGE_ATOMICS");
   it->bindings[0].first_level = 1;
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_OUT_OF_RANGE, "levels from 1 of 1");
   dispatch.binding_count = 0;
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_INVALID_ARGUMENT, "binding 0");
   agx_release(commands);
   agx_release(executable);
   free(spirv);
   free(path);
}

AGX_TEST_FILE(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, image_launch_open, image_launch_close)
   const struct CMUnitTest tests[] = {
      CASE(copies_keep_every_texel),      CASE(bad_images_are_refused),
      CASE(fetches_give_texels_or_zero),  CASE(queries_give_the_view),
      CASE(samples_find_level_and_texel), CASE(writes_outside_are_dropped),
      CASE(bindings_are_checked),         CASE(gradients_and_gathers),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
