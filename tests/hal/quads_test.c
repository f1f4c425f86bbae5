/* SPDX-License-Identifier: MIT
 *
 * Quads of a compute kernel through all layers: derivatives in workgroups of many shapes, and
 * samples whose level of detail follows from the quad (tests/kernels/quads.comp, image_quads.comp).
 * Images hold their level's number in each texel, so that a sample tells which level it came from.
 */
#include "image_launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define GROUPS 3u /* along x; 2 along y */

/* ---- derivatives -------------------------------------------------------- */

struct shape {
   uint32_t size[3];
   bool is_linear;
};

static uint32_t threads_of(const struct shape *shape)
{
   return shape->size[0] * shape->size[1] * shape->size[2];
}

static uint32_t index_of(const struct shape *shape, const uint32_t local[3])
{
   return local[0] + shape->size[0] * (local[1] + shape->size[1] * local[2]);
}

/* The neighbour along x (0) or y (1). */
static uint32_t neighbour(const struct shape *shape, uint32_t index, unsigned axis)
{
   if (shape->is_linear)
      return index ^ 1u << axis;
   const uint32_t *size = shape->size;
   uint32_t local[3] = {index % size[0], index / size[0] % size[1], index / size[0] / size[1]};
   local[axis] ^= 1;
   return index_of(shape, local);
}

static float rounded(float a)
{
   volatile float kept = a; /* in no wider register */
   return kept;
}

/* The value of the right or lower one minus that of the other. */
static float difference(const struct shape *shape, const float *own, const float *other,
                        uint32_t index, unsigned axis)
{
   return neighbour(shape, index, axis) > index ? rounded(*other - *own) : rounded(*own - *other);
}

struct derivatives {
   float dx, dy, width;
};

/* Of a component, or of the product of two (b not NULL). */
static struct derivatives derive(const struct shape *shape, const float (*x)[4], uint32_t index,
                                 unsigned component, const float *scale)
{
   float d[2];
   for (unsigned axis = 0; axis < 2; axis++) {
      uint32_t near = neighbour(shape, index, axis);
      float own = x[index][component], other = x[near][component];
      if (scale) {
         own = rounded(own * scale[index]);
         other = rounded(other * scale[near]);
      }
      d[axis] = difference(shape, &own, &other, index, axis);
   }
   return (struct derivatives){d[0], d[1], rounded(fabsf(d[0]) + fabsf(d[1]))};
}

static void check_floats(const struct shape *shape, const float (*x)[4], const float (*y)[4],
                         uint32_t index)
{
   struct derivatives d[4];
   for (unsigned i = 0; i < 4; i++) {
      d[i] = derive(shape, x, index, i, NULL);
      assert_true(y[0][i] == d[i].dx && y[1][i] == d[i].dy && y[2][i] == d[i].width);
   }
   assert_true(y[3][0] == d[0].dx && y[3][1] == d[1].dy && y[3][2] == d[2].width);
   assert_true(y[3][3] == d[3].dx && y[4][0] == d[0].dy && y[4][1] == d[1].dy);
   assert_true(y[4][2] == d[2].width && y[4][3] == d[3].width);
   assert_true(y[5][0] == d[0].dx && y[5][1] == d[1].dx); /* halves hold x and y exactly */
   assert_true(y[5][2] == d[0].dy && y[5][3] == d[1].dy);
}

/* What the kernel computes where only some quads are. */
static void check_flow(const struct shape *shape, const float (*x)[4], const float *y,
                       uint32_t index)
{
   static float w[1024], three[1024];
   const uint32_t *size = shape->size;
   uint32_t quad = shape->is_linear ? index / 4
                                    : index % size[0] / 2 + index / size[0] % size[1] / 2 +
                                         index / size[0] / size[1];
   float b[4] = {0};
   for (uint32_t i = 0; i < threads_of(shape); i++) {
      w[i] = x[i][3];
      three[i] = 3.1f;
   }
   if (quad & 1)
      b[0] = derive(shape, x, index, 2, w).dx;
   else
      b[1] = derive(shape, x, index, 2, three).dy;
   for (uint32_t i = 0; i < (quad & 3); i++) {
      b[2] += derive(shape, x, index, i & 1, NULL).dx * (float)(i + 1);
      b[3] += derive(shape, x, index, 1 - (i & 1), NULL).width;
   }
   assert_memory_equal(y, b, sizeof(b));
}

static void check_ids(const struct shape *shape, const uint32_t (*ids)[4], uint32_t group,
                      uint32_t index)
{
   const uint32_t *size = shape->size, threads = threads_of(shape);
   uint32_t local[3] = {index % size[0], index / size[0] % size[1], index / size[0] / size[1]};
   uint32_t global[3] = {local[0] + group % GROUPS * size[0], local[1] + group / GROUPS * size[1],
                         local[2]};
   assert_int_equal(ids[index][0], local[0] | local[1] << 10 | local[2] << 20);
   assert_int_equal(ids[index][1], global[0] | global[1] << 10 | global[2] << 20);
   for (unsigned axis = 0; axis < 2; axis++)
      assert_int_equal(ids[neighbour(shape, index, axis)][2], ids[index][2] ^ 1u << axis);
   assert_int_equal(ids[index][3], threads - 1 - index);
}

static void dispatch(struct image_launch *it, const struct shape *shape, const char *kernel,
                     const uint32_t workgroups[3])
{
   const struct agx_specialization sizes[] = {
      {.id = 0, .bytes = 4, .value = shape->size[0]},
      {.id = 1, .bytes = 4, .value = shape->size[1]},
      {.id = 2, .bytes = 4, .value = shape->size[2]},
   };
   struct agx_executable_desc desc = {.size = sizeof(desc),
                                      .robustness = it->robustness,
                                      .specializations = sizes,
                                      .specialization_count = 3};
   struct agx_executable *executable;
   char *path = agx_test_path(kernel);
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(it->fixture.device, &desc, &executable));
   free(spirv);
   free(path);
   const struct agx_dispatch launch = {
      .size = sizeof(launch),
      .executable = executable,
      .workgroups = {workgroups[0], workgroups[1], workgroups[2]},
      .bindings = it->bindings,
      .binding_count = it->count,
   };
   struct agx_command_buffer *commands = fixture_begin(&it->fixture);
   struct agx_semaphore *done = fixture_semaphore(&it->fixture);
   assert_ok(agx_cmd_dispatch(commands, &launch));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&it->fixture, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(done);
   agx_release(commands);
   agx_release(executable);
}

/* x and y are multiples of 1/8, z and w of nothing. */
static void fill(float (*x)[4], uint32_t count)
{
   uint32_t random = 7;
   for (uint32_t i = 0; i < count; i++)
      for (unsigned c = 0; c < 4; c++) {
         float number = (float)(image_random(&random) % 1024) - 512.0f;
         x[i][c] = c < 2 ? number / 8.0f : number / 37.0f;
      }
}

static void run_shape(struct image_launch *it, const struct shape *shape)
{
   const uint32_t groups = 2 * GROUPS, threads = threads_of(shape), count = groups * threads;
   float(*x)[4] = image_bind_buffer(it, 0, count * 16ull);
   float(*y)[8][4] = image_bind_buffer(it, 1, count * 128ull);
   uint32_t(*ids)[4] = image_bind_buffer(it, 2, count * 16ull);
   fill(x, count);
   dispatch(it, shape, shape->is_linear ? "kernels/quads_linear.spv" : "kernels/quads_squares.spv",
            (const uint32_t[]){GROUPS, 2, 1});
   for (uint32_t group = 0; group < groups; group++)
      for (uint32_t index = 0; index < threads; index++) {
         const float(*own)[4] = (const float(*)[4])(x + group * threads);
         const float(*got)[4] = (const float(*)[4])y[group * threads + index];
         check_floats(shape, own, got, index);
         check_flow(shape, own, got[6], index);
         check_ids(shape, (const uint32_t(*)[4])(ids + group * threads), group, index);
         uint32_t right = neighbour(shape, index, 0), below = neighbour(shape, index, 1);
         uint32_t across = neighbour(shape, right, 1);
         uint32_t last = AGX_MAX(AGX_MAX(right, below), AGX_MAX(index, across));
         assert_true(got[7][0] == own[right][0] && got[7][1] == own[below][0]);
         assert_true(got[7][2] == own[across][0] && got[7][3] == own[last][0]);
      }
   image_drop_bindings(it);
}

static void derivatives_in_any_workgroup(void **state)
{
   static const struct shape shapes[] = {
      {{2, 2, 1}, false},  {{6, 4, 2}, false},  {{2, 10, 3}, false}, {{16, 16, 1}, false},
      {{10, 6, 1}, false}, {{64, 2, 1}, false}, {{2, 2, 7}, false},  {{4, 1, 1}, true},
      {{3, 4, 2}, true},   {{20, 1, 1}, true},  {{1, 1, 36}, true},  {{128, 1, 1}, true},
   };
   struct image_launch *it = *state;
   for (size_t i = 0; i < AGX_COUNT(shapes); i++)
      for (it->robustness = AGX_ROBUST_OFF; it->robustness <= AGX_ROBUST_ZERO; it->robustness++)
         run_shape(it, &shapes[i]);
}

/* ---- levels of detail --------------------------------------------------- */

enum {
   FLAT,
   DEPTH,
   SOLID,
   FLATS,
   CUBE,
   LINE,
   DEPTHS,
   IMAGES,
};

static const struct agx_image_desc kinds[IMAGES] = {
   [FLAT] = {.type = AGX_IMAGE_2D, .width = 64, .height = 64, .levels = 7},
   [DEPTH] = {.type = AGX_IMAGE_2D, .width = 64, .height = 64, .levels = 7},
   [SOLID] = {.type = AGX_IMAGE_3D, .width = 16, .height = 16, .depth = 16, .levels = 5},
   [FLATS] = {.type = AGX_IMAGE_2D, .width = 32, .height = 32, .depth = 3, .levels = 6},
   [CUBE] = {.type = AGX_IMAGE_CUBE, .width = 32, .height = 32, .levels = 6},
   [LINE] = {.type = AGX_IMAGE_1D, .width = 128, .levels = 8},
   [DEPTHS] = {.type = AGX_IMAGE_2D, .width = 64, .height = 64, .depth = 2, .levels = 7},
};

static float level_texel(int x, int y, int z, int level, int sample)
{
   return (float)level;
}

static float layer_texel(int x, int y, int z, int level, int sample)
{
   return (float)(level + 10 * z);
}

/* 0.5 passes from level 4 on, in the next layer from level 2 on. */
static float depth_texel(int x, int y, int z, int level, int sample)
{
   return ((float)(level + 2 * z) + 0.5f) / 8.0f;
}

static void bind_images(struct image_launch *it)
{
   struct agx_sampler_desc desc = {.size = sizeof(desc), .between_levels = AGX_FILTER_LINEAR};
   image_texel *const texels[IMAGES] = {
      [DEPTH] = depth_texel, [DEPTHS] = depth_texel, [FLATS] = layer_texel};
   for (uint32_t i = 0; i < IMAGES; i++) {
      struct agx_image_desc kind = kinds[i];
      struct agx_sampler *sampler;
      bool compares = i == DEPTH || i == DEPTHS;
      kind.format = "r32f";
      kind.height = AGX_MAX(kind.height, 1u);
      struct agx_image *image = image_make(it, kind);
      image_fill(image, texels[i] ? texels[i] : level_texel);
      desc.compare = compares ? AGX_COMPARE_LESS_OR_EQUAL : AGX_COMPARE_OFF;
      desc.between_levels = compares ? AGX_FILTER_NEAREST : AGX_FILTER_LINEAR;
      assert_ok(agx_sampler_create(it->fixture.device, &desc, &sampler));
      image_bind(it, (struct agx_binding){.binding = i, .image = image, .sampler = sampler});
   }
}

static bool is_near(float got, float want)
{
   return fabsf(got - want) < 1.0f / 1024;
}

/* What a sample of levels gives: the level, within those of the image. */
static float level_of(unsigned kind, float lod)
{
   return fminf(fmaxf(lod, 0), (float)(kinds[kind].levels - 1));
}

/* Levels that lie in the middle between two are not asked for. */
static float passes(float lod, int layer)
{
   return roundf(level_of(DEPTH, lod)) + 2.0f * (float)layer >= 4;
}

static void check_levels(const float *r, const float (*y)[4])
{
   float step = fmaxf(r[0], r[1]), bias = r[2], flat = log2f(64 * step), solid = log2f(16 * step);
   float line = log2f(128 * r[0]), cube = log2f(16 * step), flats = log2f(32 * step);
   for (unsigned i = 0; i < 4; i++)
      assert_true(is_near(y[0][i], level_of(FLAT, flat + (i % 2 ? bias : 0))));
   assert_true(y[1][0] == passes(flat, 0) && y[1][1] == passes(flat + bias, 0));
   assert_true(y[1][2] == passes(flat, 0) && y[1][3] == passes(flat, 1));
   assert_true(is_near(y[2][0], level_of(SOLID, solid)));
   assert_true(is_near(y[2][1], level_of(SOLID, solid)));
   assert_true(is_near(y[2][2], 10 + level_of(FLATS, flats)));
   assert_true(is_near(y[2][3], level_of(LINE, line)));
   assert_true(is_near(y[3][2], level_of(FLAT, fmaxf(flat, r[3]))));
   assert_true(is_near(y[3][3], level_of(FLAT, fmaxf(flat + bias, r[3]))));
   assert_true(is_near(y[4][0], level_of(FLAT, flat)));
   assert_true(is_near(y[4][2], level_of(FLATS, flats)));
   assert_true(is_near(y[5][2], level_of(FLAT, flat)));
   assert_true(is_near(y[5][3], bias > 0 ? level_of(FLAT, fmaxf(flat, r[3]))
                                         : level_of(SOLID, solid + bias)));
   if (step > 0)
      assert_true(is_near(y[4][1], flat) && is_near(y[4][3], flats));
   if (step > 0 && step < 0.125f) { /* all on one face */
      assert_true(is_near(y[3][0], level_of(CUBE, cube)));
      assert_true(is_near(y[3][1], level_of(CUBE, cube + bias)));
      assert_true(is_near(y[5][0], level_of(CUBE, cube)) && is_near(y[5][1], cube));
   }
}

static void levels_come_from_quads(void **state)
{
   static const char *const kernels[] = {"kernels/image_quads_squares.spv",
                                         "kernels/image_quads_linear.spv"};
   static const float requests[][4] = {
      {0.015625f, 0.015625f, 1, 0},
      {0.125f, 0.0625f, -1, 2},
      {0.03125f, 0.5f, 0.75f, 1},
      {1, 0, -2, 3},
      {0, 0.09375f, 2, 4.25f},
      {0, 0, 3, 0},
      {0.0051f, 0.0037f, 4, 0.5f},
      {0.11f, 0.07f, -0.3f, 0},
      {0, 0, -1, 2.5f},
      {2, 3, 1, 0},
      {0.0625f, 0.1f, 0, 1.5f},
   };
   struct image_launch *it = *state;
   for (size_t k = 0; k < AGX_COUNT(kernels); k++) {
      bind_images(it);
      float *in = image_bind_buffer(it, IMAGES, sizeof(requests));
      float(*y)[6][4] = image_bind_buffer(it, IMAGES + 1, AGX_COUNT(requests) * 32 * 96);
      memcpy(in, requests, sizeof(requests));
      it->robustness = k ? AGX_ROBUST_ZERO : AGX_ROBUST_OFF;
      image_run_groups(it, kernels[k], AGX_COUNT(requests));
      for (uint32_t i = 0; i < 32 * AGX_COUNT(requests); i++)
         check_levels(requests[i / 32], (const float(*)[4])y[i]);
      image_drop_bindings(it);
   }
}

/* Code reads a layer's register with an array's coordinates, though the question has no layer. */
static void levels_of_arrays_are_asked_for_without_a_layer(void **state)
{
   struct image_launch *it = *state;
   const struct agx_sampler_desc desc = {.size = sizeof(desc)};
   struct agx_image_desc kind = kinds[FLATS];
   struct agx_sampler *sampler;
   kind.format = "r32f";
   assert_ok(agx_sampler_create(it->fixture.device, &desc, &sampler));
   image_bind(it, (struct agx_binding){.image = image_make(it, kind), .sampler = sampler});
   float *y = image_bind_buffer(it, 1, sizeof(float[32][2]));
   for (uint32_t i = 0; i < 64; i++)
      y[i] = (float)i;
   image_run_groups(it, "kernels/image_query_layers.spv", 1);
   for (uint32_t i = 0; i < 64; i++)
      assert_true(y[i] == (float)i);
   image_drop_bindings(it);
}

AGX_TEST_FILE(void)
{
#define CASE(test, open) cmocka_unit_test_setup_teardown(test, open, image_launch_close)
   const struct CMUnitTest tests[] = {
      CASE(derivatives_in_any_workgroup, image_launch_open_bounds),
      CASE(derivatives_in_any_workgroup, image_launch_open_noopt),
      CASE(levels_come_from_quads, image_launch_open_bounds),
      CASE(levels_come_from_quads, image_launch_open_noopt),
      CASE(levels_of_arrays_are_asked_for_without_a_layer, image_launch_open_bounds),
      CASE(levels_of_arrays_are_asked_for_without_a_layer, image_launch_open_noopt),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
