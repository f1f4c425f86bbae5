/* SPDX-License-Identifier: MIT
 *
 * Images of the less plain kinds through every layer, against small models: buffers of texels,
 * arrays that code indexes, multisampled images, comparisons and gathers, views, and what is not
 * there. Runs strict, checked and watched: nothing outside of what is bound is touched.
 */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

#define MAX_BOUND 32
#define REQUESTS  512

struct bench {
   struct fixture fixture;
   struct agx_sampler *nearest;
   struct agx_binding bindings[MAX_BOUND];
   uint32_t count;
   uint32_t robustness;
};

static int setup(void **state)
{
   static struct bench bench;
   bench = (struct bench){0};
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", "validate,bounds", 1);
   fixture_open(&bench.fixture, "virtual");
   const struct agx_sampler_desc desc = {.size = sizeof(desc),
                                         .wrap = {AGX_WRAP_EDGE, AGX_WRAP_EDGE, AGX_WRAP_EDGE}};
   assert_ok(agx_sampler_create(bench.fixture.device, &desc, &bench.nearest));
   *state = &bench;
   return 0;
}

static void drop_bindings(struct bench *bench)
{
   for (uint32_t i = 0; i < bench->count; i++) {
      agx_release(bench->bindings[i].ref.buffer);
      agx_release(bench->bindings[i].image);
      if (bench->bindings[i].sampler != bench->nearest)
         agx_release(bench->bindings[i].sampler);
   }
   bench->count = 0;
}

static int teardown(void **state)
{
   struct bench *bench = *state;
   drop_bindings(bench);
   agx_release(bench->nearest);
   fixture_close(&bench->fixture);
   unsetenv("AGX_VIRTUAL_STRICT");
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
   return 0;
}

/* ---- making and binding ------------------------------------------------ */

static struct agx_image *make(struct bench *bench, struct agx_image_desc desc)
{
   struct agx_image *image = NULL;
   desc.size = sizeof(desc);
   desc.flags |= AGX_IMAGE_HOST_READ;
   assert_ok(agx_image_create(bench->fixture.device, &desc, &image));
   return image;
}

static struct agx_binding *bind(struct bench *bench, struct agx_binding binding)
{
   assert_true(bench->count < MAX_BOUND);
   bench->bindings[bench->count] = binding;
   return &bench->bindings[bench->count++];
}

static void *bind_buffer(struct bench *bench, uint32_t binding, uint64_t size)
{
   uint32_t *memory;
   struct agx_buffer *buffer = fixture_buffer(&bench->fixture, size, &memory);
   bind(bench, (struct agx_binding){.binding = binding, .ref = {buffer, 0, AGX_WHOLE_LENGTH}});
   return memory;
}

static agx_status record(struct bench *bench, const char *kernel, uint32_t workgroups, bool submit)
{
   struct agx_executable_desc desc = {.size = sizeof(desc), .robustness = bench->robustness};
   struct agx_executable *executable;
   char *path = agx_test_path(kernel);
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(bench->fixture.device, &desc, &executable));
   free(spirv);
   free(path);
   const struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .executable = executable,
      .workgroups = {workgroups, 1, 1},
      .bindings = bench->bindings,
      .binding_count = bench->count,
   };
   struct agx_command_buffer *commands = fixture_begin(&bench->fixture);
   agx_status status = agx_cmd_dispatch(commands, &dispatch);
   if (submit && status == AGX_OK) {
      struct agx_semaphore *done = fixture_semaphore(&bench->fixture);
      assert_ok(agx_command_buffer_end(commands));
      assert_ok(fixture_submit(&bench->fixture, commands, NO_POINT, (struct agx_point){done, 1}));
      assert_ok(fixture_wait(done, 1));
      agx_release(done);
   }
   agx_release(commands);
   agx_release(executable);
   return status;
}

static void run(struct bench *bench, const char *kernel)
{
   assert_ok(record(bench, kernel, REQUESTS / 32, true));
}

static uint32_t next(uint32_t *random)
{
   *random = *random * 1664525u + 1013904223u;
   return *random >> 8;
}

static float as_float(uint32_t bits)
{
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

/* Copies all of a level, a row at a time from fill(x, y, z, level, sample). */
typedef float fill_texel(int x, int y, int z, int level, int sample);

static void fill(struct agx_image *image, fill_texel *texel)
{
   struct agx_image_info info = {.size = sizeof(info)};
   agx_image_get_info(image, &info);
   for (uint32_t level = 0; level < info.levels; level++)
      for (uint32_t sample = 0; sample < info.samples; sample++) {
         uint32_t width = AGX_MAX(info.width >> level, 1u), depth = info.depth;
         uint32_t height = AGX_MAX(info.height >> level, 1u);
         if (info.type == AGX_IMAGE_3D)
            depth = AGX_MAX(depth >> level, 1u);
         for (uint32_t z = 0; z < depth; z++)
            for (uint32_t y = 0; y < height; y++) {
               float row[128];
               for (uint32_t x = 0; x < width; x++)
                  row[x] = texel((int)x, (int)y, (int)z, (int)level, (int)sample);
               const struct agx_image_region region = {.level = level,
                                                       .y = y,
                                                       .z = z,
                                                       .width = width,
                                                       .height = 1,
                                                       .depth = 1,
                                                       .sample = sample};
               assert_ok(agx_image_write(image, &region, row, 0, 0));
            }
      }
}

static float number_of(int x, int y, int z, int level, int sample)
{
   return (float)(1 + x + 64 * y + 4096 * z + 65536 * level + 1048576 * sample);
}

/* ---- buffers of texels ------------------------------------------------- */

/* More than a row of 16384 texels, ending in the middle of one. */
#define TEXELS 40003u

static void check_texels(struct bench *bench, uint32_t offset_B, uint32_t texels)
{
   static uint32_t old_counts[TEXELS + 8];
   uint32_t random = 41 + texels, *memory;
   struct agx_buffer *buffers[3];
   for (uint32_t i = 0; i < 3; i++)
      buffers[i] = fixture_buffer(&bench->fixture, offset_B + 8ull * TEXELS + 64, &memory);
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
      bind(bench, (struct agx_binding){.binding = i,
                                       .ref = {buffers[i], offset_B, texels * (i == 2 ? 8 : 4)},
                                       .format = formats[i]});
   uint32_t *requests = bind_buffer(bench, 3, REQUESTS * 4);
   uint32_t(*y)[2][4] = bind_buffer(bench, 4, REQUESTS * 32);
   for (uint32_t i = 0; i < REQUESTS; i++) {
      uint32_t what = next(&random) % 8;
      requests[i] = what < 4    ? next(&random) % AGX_MAX(texels, 1u)
                    : what == 4 ? texels - 4 + next(&random) % 8
                    : what == 5 ? (uint32_t) - (int32_t)(next(&random) % 20)
                    : what == 6 ? 1u << next(&random) % 32
                                : texels + next(&random) % 100000;
   }
   run(bench, "kernels/image_texels.spv");
   static uint32_t added[TEXELS + 8];
   memset(added, 0, sizeof(added));
   for (uint32_t i = 0; i < REQUESTS; i++)
      if (requests[i] < texels)
         added[requests[i]]++;
   for (uint32_t i = 0; i < TEXELS + 8; i++)
      assert_int_equal(((uint32_t *)at[1])[i], old_counts[i] + added[i]);
   for (uint32_t i = 0; i < REQUESTS; i++) {
      bool is_inside = requests[i] < texels;
      float want = is_inside ? (float)requests[i] + 0.5f : 0.0f;
      if (as_float(y[i][0][0]) != want)
         fail_msg("texel %u of %u: %g, want %g", requests[i], texels, (double)as_float(y[i][0][0]),
                  (double)want);
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
   drop_bindings(bench);
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
   struct bench *bench = *state;
   for (size_t i = 0; i < AGX_COUNT(cases); i++) {
      uint32_t *memory;
      for (uint32_t b = 0; b < 3; b++) {
         struct agx_binding binding = cases[b ? 0 : i].binding;
         binding.binding = b;
         binding.ref.buffer = fixture_buffer(&bench->fixture, 4096, &memory);
         if (b) {
            binding.ref.offset_B = 0;
            binding.format = b == 1 ? "r32ui" : "rgba16f";
         }
         bind(bench, binding);
      }
      bind_buffer(bench, 3, REQUESTS * 4);
      bind_buffer(bench, 4, REQUESTS * 32);
      assert_fails(record(bench, "kernels/image_texels.spv", 1, false), cases[i].status,
                   cases[i].text);
      drop_bindings(bench);
   }
}

/* What is given must be of the kind that is wanted; nothing at all is an image that is not there.
 */
static void other_kinds_are_refused(void **state)
{
   struct bench *bench = *state;
   uint32_t *memory;
   bind(bench, (struct agx_binding){
                  .image = make(
                     bench, (struct agx_image_desc){
                               .type = AGX_IMAGE_2D, .format = "r32f", .width = 8, .height = 8})});
   for (uint32_t b = 1; b < 3; b++)
      bind(bench, (struct agx_binding){.binding = b});
   bind_buffer(bench, 3, REQUESTS * 4);
   bind_buffer(bench, 4, REQUESTS * 32);
   assert_fails(record(bench, "kernels/image_texels.spv", 1, false), AGX_INVALID_ARGUMENT,
                "a buffer of texels is wanted, not an image");
   drop_bindings(bench);
   bind(bench, (struct agx_binding){
                  .ref = {fixture_buffer(&bench->fixture, 64, &memory), 0, AGX_WHOLE_LENGTH}});
   assert_fails(record(bench, "kernels/image_fetch.spv", 1, false), AGX_INVALID_ARGUMENT,
                "an image is wanted, not a buffer");
}

/* ---- arrays ------------------------------------------------------------ */

static float by_which;
static float of_which(int x, int y, int z, int level, int sample)
{
   return number_of(x, y, z, level, sample) + by_which;
}

static float expect_of(uint32_t which, int x, int y, int z, int level, int size, int levels)
{
   int side = AGX_MAX(size >> level, 1);
   bool is_there = level < levels && x >= 0 && y >= 0 && x < side && y < side;
   return is_there ? number_of(x, y, z, level, 0) + 100000.0f * (float)which : 0.0f;
}

struct heap_request {
   uint32_t which;
   int32_t x, y, level;
};

/* `missing` of the sized array is not bound. */
static void check_heap(struct bench *bench, uint32_t unsized, uint32_t missing, uint32_t robustness)
{
   struct agx_image *stored[3];
   uint32_t random = 9 + unsized, indices = AGX_MIN(unsized, 4u);
   bench->robustness = robustness;
   /* Sizes and levels differ: 32, 16, 8, 4 texels. */
   for (uint32_t e = 0; e < 4; e++) {
      struct agx_image *image = make(bench, (struct agx_image_desc){.type = AGX_IMAGE_2D,
                                                                    .format = "r32f",
                                                                    .width = 32u >> e,
                                                                    .height = 32u >> e,
                                                                    .levels = 3});
      by_which = 100000.0f * (float)e;
      fill(image, of_which);
      if (e == missing)
         agx_release(image);
      else
         bind(bench, (struct agx_binding){.binding = 0, .element = e, .image = image});
   }
   for (uint32_t e = 0; e < unsized; e++) {
      struct agx_image *image = make(bench, (struct agx_image_desc){.type = AGX_IMAGE_2D,
                                                                    .format = "r32f",
                                                                    .width = 16,
                                                                    .height = 16,
                                                                    .depth = 2 + e,
                                                                    .levels = 1 + e % 3});
      by_which = 100000.0f * (float)e;
      fill(image, of_which);
      bind(bench, (struct agx_binding){.binding = 1, .element = e, .image = image});
   }
   static const uint32_t wraps[] = {AGX_WRAP_EDGE, AGX_WRAP_BORDER, AGX_WRAP_REPEAT};
   for (uint32_t e = 0; e < 3; e++) {
      const struct agx_sampler_desc desc = {.size = sizeof(desc),
                                            .wrap = {wraps[e], wraps[e], wraps[e]},
                                            .border = AGX_BORDER_OPAQUE_WHITE};
      struct agx_sampler *sampler;
      assert_ok(agx_sampler_create(bench->fixture.device, &desc, &sampler));
      bind(bench, (struct agx_binding){.binding = 2, .element = e, .sampler = sampler});
      stored[e] =
         make(bench, (struct agx_image_desc){
                        .type = AGX_IMAGE_2D, .format = "r32f", .width = 32, .height = 16});
      bind(bench, (struct agx_binding){.binding = 3, .element = e, .image = stored[e]});
   }
   struct heap_request *requests = bind_buffer(bench, 4, REQUESTS * 16);
   uint32_t(*y)[3][4] = bind_buffer(bench, 5, REQUESTS * 48);
   bind(bench, (struct agx_binding){.binding = 6, .sampler = bench->nearest});
   uint32_t *list;
   struct agx_buffer *texels = fixture_buffer(&bench->fixture, 64, &list);
   for (uint32_t i = 0; i < 16; i++)
      ((float *)list)[i] = (float)i * 3.0f;
   bind(bench, (struct agx_binding){
                  .binding = 7, .element = 1, .ref = {texels, 16, 40}, .format = "r32f"});
   for (uint32_t i = 0; i < REQUESTS; i++) {
      bool wild = robustness != AGX_ROBUST_OFF && i % 16 == 3;
      requests[i] = (struct heap_request){wild ? 3u << next(&random) % 30 : next(&random) % indices,
                                          (int)(next(&random) % 24) - 3,
                                          (int)(next(&random) % 24) - 3, (int)(next(&random) % 4)};
   }
   run(bench, "kernels/image_heap.spv");
   for (uint32_t i = 0; i < REQUESTS; i++) {
      const struct heap_request *r = &requests[i];
      uint32_t s = AGX_MIN(r->which, 3u), u = AGX_MIN(r->which, unsized - 1);
      int x = r->x, v = r->y, cx = AGX_MIN(AGX_MAX(x, 0), 31), cy = AGX_MIN(AGX_MAX(v, 0), 31);
      bool inside = x >= 0 && v >= 0;
      float want[4] = {
         s == missing ? 0 : expect_of(s, x, v, 0, r->level, 32 >> s, 3),
         expect_of(u, x, v, 1, r->level, 16, 1 + (int)u % 3),
         missing == 2 ? 0 : expect_of(2, x, v, 0, 0, 8, 3),
         0,
      };
      /* Normalised coordinates: all but the first column and row are beyond the last texel. */
      uint32_t wrap = wraps[r->which % 3];
      (void)cx, (void)cy;
      int px = x < 0 ? 0 : x > 0 ? 31 : 16, py = v < 0 ? 0 : v > 0 ? 31 : 16;
      want[3] = wrap == AGX_WRAP_REPEAT                         ? number_of(16, 16, 0, 0, 0)
                : wrap == AGX_WRAP_EDGE || (inside && !x && !v) ? number_of(px, py, 0, 0, 0)
                                                                : 1.0f;
      if (missing == 0)
         want[3] = 0;
      for (uint32_t k = 0; k < 4; k++)
         if (as_float(y[i][0][k]) != want[k])
            fail_msg("%u of element %u at %d, %d level %d: %g, want %g", k, r->which, x, v,
                     r->level, (double)as_float(y[i][0][k]), (double)want[k]);
      assert_int_equal(y[i][1][0], s == missing ? 0 : 32 >> s);
      assert_int_equal(y[i][1][1], s == missing ? 0 : 32 >> s);
      assert_int_equal(y[i][1][2], 2 + u);
      assert_int_equal(y[i][1][3], s == missing ? 0 : 3);
      float want_list = (r->which & 1) && x >= 0 && x < 10 ? (float)(x + 4) * 3.0f : 0.0f;
      assert_true(as_float(y[i][2][0]) == want_list);
   }
   for (uint32_t e = 0; e < 3; e++) {
      const struct agx_image_region all = {.width = 32, .height = 16, .depth = 1};
      float got[REQUESTS];
      assert_ok(agx_image_read(stored[e], &all, got, 0, 0));
      for (uint32_t i = 0; i < REQUESTS; i++)
         assert_true(got[i] == (requests[i].which % 3 == e ? (float)(i + 1) : 0.0f));
   }
   drop_bindings(bench);
}

static void arrays_are_indexed(void **state)
{
   check_heap(*state, 4, 9, AGX_ROBUST_OFF);
   check_heap(*state, 2, 9, AGX_ROBUST_OFF);
}

static void wild_indices_are_the_last(void **state)
{
   check_heap(*state, 4, 9, AGX_ROBUST_CLAMP);
   check_heap(*state, 3, 9, AGX_ROBUST_ZERO);
}

static void missing_elements_read_zero(void **state)
{
   for (uint32_t missing = 0; missing < 4; missing++)
      check_heap(*state, 4, missing, AGX_ROBUST_OFF);
}

/* ---- samples ----------------------------------------------------------- */

struct sample_request {
   int32_t at[3], number;
};

static void check_samples(struct bench *bench, uint32_t width, uint32_t height, uint32_t samples)
{
   static uint8_t bytes[128 * 128 * 4];
   static float floats[128 * 128];
   uint32_t random = width * samples;
   struct agx_image_desc desc = {
      .type = AGX_IMAGE_2D, .format = "r32f", .width = width, .height = height, .samples = samples};
   struct agx_image *flat = make(bench, desc), *stored = make(bench, desc);
   desc.depth = 3;
   struct agx_image *layers = make(bench, desc);
   desc.format = "rgba8";
   struct agx_image *packed = make(bench, desc), *images[] = {flat, layers, stored, packed};
   fill(flat, number_of);
   fill(layers, number_of);
   for (uint32_t i = 0; i < 4; i++)
      bind(bench, (struct agx_binding){.binding = i, .image = images[i]});
   struct sample_request *requests = bind_buffer(bench, 4, REQUESTS * 16);
   uint32_t(*y)[4] = bind_buffer(bench, 5, REQUESTS * 16);
   bind(bench, (struct agx_binding){.binding = 6, .sampler = bench->nearest});
   for (uint32_t i = 0; i < REQUESTS; i++) {
      requests[i] = (struct sample_request){{(int)(next(&random) % (width + 8)) - 4,
                                             (int)(next(&random) % (height + 8)) - 4,
                                             (int)(next(&random) % 5) - 1},
                                            (int)(next(&random) % (samples + 2)) - 1};
      if (i % 16 == 7)
         requests[i].at[next(&random) % 3] = (int32_t)(0x10000u << next(&random) % 16);
      if (i % 16 == 8)
         requests[i].number = (int32_t)(0x100u << next(&random) % 24);
   }
   run(bench, "kernels/image_samples.spv");
   for (uint32_t i = 0; i < REQUESTS; i++) {
      const struct sample_request *r = &requests[i];
      bool in_plane = r->at[0] >= 0 && r->at[1] >= 0 && r->at[0] < (int)width &&
                      r->at[1] < (int)height && r->number >= 0 && r->number < (int)samples;
      bool in_layers = in_plane && r->at[2] >= 0 && r->at[2] < 3;
      float a = in_plane ? number_of(r->at[0], r->at[1], 0, 0, r->number) : 0;
      float b = in_layers ? number_of(r->at[0], r->at[1], r->at[2], 0, r->number) : 0;
      if (as_float(y[i][0]) != a || as_float(y[i][1]) != b)
         fail_msg("sample %d at %d, %d, %d: %g and %g, want %g and %g", r->number, r->at[0],
                  r->at[1], r->at[2], (double)as_float(y[i][0]), (double)as_float(y[i][1]),
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
         for (uint32_t i = 0; i < REQUESTS; i++) {
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
   drop_bindings(bench);
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
      assert_true(as_float(y[0][k]) == channel_at(x, w, 1));
      assert_true(as_float(y[1][k]) == channel_at(x, w, 3));
      assert_true(as_float(y[2][k]) == channel_at(x + (int)(i & 7) - 4, w + 2, 2));
      assert_true(as_float(y[3][k]) == channel_at(u + offsets[k][0], v + offsets[k][1], 0));
      assert_true(as_float(y[4][k]) == passes(r[2], x, w, 0));
   }
   assert_true(as_float(y[5][0]) == passes(r[2], px, py, 0));
   assert_true(as_float(y[5][1]) == passes(r[2], px + 2, py - 3, 0));
   assert_true(as_float(y[5][2]) == passes(r[2], px, py, 0));
   assert_true(as_float(y[5][3]) == passes(r[2], px, py, 1));
   /* A footprint of 2^n texels of 16 chooses level n. */
   int level = (int)lrintf(log2f(r[3] * 16.0f));
   int at[3], near[3];
   for (int k = 0; k < 3; k++) {
      at[k] = (int)floorf(r[k] * (float)AGX_MAX(16 >> level, 1));
      near[k] = (int)floorf(r[k] * 16.0f);
   }
   assert_true(as_float(y[6][0]) == number_of(at[0], at[1], at[2], level, 0));
   assert_true(as_float(y[6][1]) == number_of(at[0], at[1], at[2], level, 0));
   assert_true(as_float(y[6][2]) == channel_at(px, py, 0));
   assert_true(as_float(y[6][3]) == channel_at(px, py, 1));
   assert_true(as_float(y[7][0]) == number_of(inside(near[0] + 1, 16), inside(near[1] - 1, 16),
                                              inside(near[2] + 2, 16), 0, 0));
}

static void gathers_comparisons_and_derivatives(void **state)
{
   struct bench *bench = *state;
   const struct agx_sampler_desc desc = {.size = sizeof(desc),
                                         .wrap = {AGX_WRAP_EDGE, AGX_WRAP_EDGE, AGX_WRAP_EDGE},
                                         .compare = AGX_COMPARE_LESS_OR_EQUAL};
   struct agx_image *images[] = {
      make(bench,
           (struct agx_image_desc){
              .type = AGX_IMAGE_2D, .format = "rgba32f", .width = 20, .height = 12}),
      make(bench,
           (struct agx_image_desc){
              .type = AGX_IMAGE_2D, .format = "r32f", .width = 20, .height = 12}),
      make(bench, (struct agx_image_desc){.type = AGX_IMAGE_3D,
                                          .format = "r32f",
                                          .width = 16,
                                          .height = 16,
                                          .depth = 16,
                                          .levels = 5}),
      make(bench,
           (struct agx_image_desc){
              .type = AGX_IMAGE_2D, .format = "r32f", .width = 20, .height = 12, .depth = 2}),
   };
   fill_channels(images[0]);
   fill(images[1], depth_texel);
   fill(images[2], number_of);
   fill(images[3], depth_texel);
   for (uint32_t i = 0; i < 4; i++) {
      struct agx_sampler *sampler = bench->nearest;
      if (i % 2)
         assert_ok(agx_sampler_create(bench->fixture.device, &desc, &sampler));
      bind(bench, (struct agx_binding){.binding = i, .image = images[i], .sampler = sampler});
   }
   float(*requests)[4] = bind_buffer(bench, 4, REQUESTS * 16);
   uint32_t(*y)[8][4] = bind_buffer(bench, 5, REQUESTS * 128);
   uint32_t random = 31;
   for (uint32_t i = 0; i < REQUESTS; i++) {
      for (uint32_t k = 0; k < 3; k++)
         requests[i][k] = ((float)(next(&random) % 61) + 0.37f) / 61.5f;
      requests[i][3] = (float)(1u << next(&random) % 5) / 16.0f;
   }
   run(bench, "kernels/image_more.spv");
   for (uint32_t i = 0; i < REQUESTS; i++)
      check_more(requests[i], i, y[i]);
}

/* ---- atomics ----------------------------------------------------------- */

static void atomics_on_slices_and_faces(void **state)
{
   struct bench *bench = *state;
   static uint32_t solid[5][7][9], cube[6][8][8], got[6 * 8 * 9];
   struct agx_image *images[] = {
      make(bench, (struct agx_image_desc){.type = AGX_IMAGE_3D,
                                          .format = "r32ui",
                                          .width = 9,
                                          .height = 7,
                                          .depth = 5,
                                          .flags = AGX_IMAGE_ATOMICS}),
      make(bench, (struct agx_image_desc){.type = AGX_IMAGE_CUBE,
                                          .format = "r32ui",
                                          .width = 8,
                                          .height = 8,
                                          .flags = AGX_IMAGE_ATOMICS}),
   };
   for (uint32_t i = 0; i < 2; i++)
      bind(bench, (struct agx_binding){.binding = i, .image = images[i]});
   int32_t(*requests)[4] = bind_buffer(bench, 2, REQUESTS * 16);
   uint32_t random = 5;
   for (uint32_t i = 0; i < REQUESTS; i++) {
      for (uint32_t k = 0; k < 3; k++)
         requests[i][k] = (int)(next(&random) % 11) - 1;
      if (i % 16 == 3)
         requests[i][next(&random) % 3] = (int32_t)(0x10000u << next(&random) % 16);
      requests[i][3] = (int)(next(&random) % 1000);
      const int32_t *r = requests[i];
      if (r[0] >= 0 && r[1] >= 0 && r[2] >= 0 && r[0] < 9 && r[1] < 7 && r[2] < 5)
         solid[r[2]][r[1]][r[0]] += (uint32_t)r[3];
      if (r[0] >= 0 && r[1] >= 0 && r[2] >= 0 && r[0] < 8 && r[1] < 8 && r[2] < 6)
         cube[r[2]][r[1]][r[0]] = AGX_MAX(cube[r[2]][r[1]][r[0]], (uint32_t)r[3]);
   }
   run(bench, "kernels/image_atomic3.spv");
   const struct agx_image_region whole = {.width = 9, .height = 7, .depth = 5};
   assert_ok(agx_image_read(images[0], &whole, got, 0, 0));
   assert_memory_equal(got, solid, sizeof(solid));
   const struct agx_image_region faces = {.width = 8, .height = 8, .depth = 6};
   assert_ok(agx_image_read(images[1], &faces, got, 0, 0));
   assert_memory_equal(got, cube, sizeof(cube));
}

/* ---- views ------------------------------------------------------------- */

static void views_choose_format_channels_and_layers(void **state)
{
   struct bench *bench = *state;
   static const char order[] = "rgba01";
   static const char *const swizzles[] = {NULL, "bgra", "rrr1", "0a1g"};
   for (uint32_t s = 0; s < AGX_COUNT(swizzles); s++) {
      struct agx_image *packed = make(
         bench,
         (struct agx_image_desc){.type = AGX_IMAGE_2D, .format = "r32ui", .width = 8, .height = 8});
      struct agx_image *layers = make(bench, (struct agx_image_desc){.type = AGX_IMAGE_2D,
                                                                     .format = "r32f",
                                                                     .width = 8,
                                                                     .height = 8,
                                                                     .depth = 5,
                                                                     .levels = 2});
      fill(layers, number_of);
      uint32_t texels[64];
      for (uint32_t i = 0; i < 64; i++)
         texels[i] = i | (255 - i) << 8 | 2 * i << 16 | (100 + i) << 24;
      const struct agx_image_region all = {.width = 8, .height = 8, .depth = 1};
      assert_ok(agx_image_write(packed, &all, texels, 0, 0));
      bind(bench, (struct agx_binding){
                     .binding = 0, .image = packed, .format = "rgba8", .swizzle = swizzles[s]});
      bind(bench, (struct agx_binding){.binding = 1,
                                       .image = layers,
                                       .first_layer = 1 + s % 3,
                                       .layer_count = 2,
                                       .first_level = s % 2});
      bind(bench, (struct agx_binding){.binding = 2}); /* a 3D image that is not there */
      int32_t(*requests)[4] = bind_buffer(bench, 3, REQUESTS * 16);
      uint32_t(*y)[4][4] = bind_buffer(bench, 4, REQUESTS * 64);
      bind(bench, (struct agx_binding){.binding = 5, .sampler = bench->nearest});
      uint32_t random = 8 + s;
      for (uint32_t i = 0; i < REQUESTS; i++)
         for (uint32_t k = 0; k < 4; k++)
            requests[i][k] =
               k == 3 ? (int)(next(&random) % 3) : (int)(next(&random) % 10) - (k < 2);
      run(bench, "kernels/image_fetch.spv");
      for (uint32_t i = 0; i < REQUESTS; i++) {
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
            if (fabsf(as_float(y[i][0][c]) - want) > 1e-6f)
               fail_msg("swizzle %u channel %u at %d, %d level %d: %g, want %g", s, c, r[0], r[1],
                        r[3], (double)as_float(y[i][0][c]), (double)want);
         }
         int level = r[3] + (int)(s % 2), side = 8 >> level;
         bool is_there = level < 2 && r[0] >= 0 && r[1] >= 0 && r[0] < side && r[1] < side &&
                         r[2] >= 0 && r[2] < 2;
         float want = is_there ? number_of(r[0], r[1], r[2] + 1 + (int)s % 3, level, 0) : 0;
         assert_true(as_float(y[i][1][0]) == want);
         for (uint32_t c = 0; c < 4; c++)
            assert_int_equal(y[i][2][c], 0);
      }
      drop_bindings(bench);
   }
}

static void bad_views_are_refused(void **state)
{
   struct bench *bench = *state;
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
      binding.image = make(
         bench,
         (struct agx_image_desc){.type = AGX_IMAGE_2D, .format = "r32f", .width = 8, .height = 8});
      bind(bench, binding);
      for (uint32_t b = 1; b < 3; b++)
         bind(bench, (struct agx_binding){.binding = b});
      bind_buffer(bench, 3, REQUESTS * 16);
      bind_buffer(bench, 4, REQUESTS * 64);
      bind(bench, (struct agx_binding){.binding = 5, .sampler = bench->nearest});
      assert_fails(record(bench, "kernels/image_fetch.spv", 1, false), cases[i].status,
                   cases[i].text);
      drop_bindings(bench);
   }
}

static void cubes_are_made_of_layers(void **state)
{
   struct bench *bench = *state;
   static const struct agx_image_desc descs[] = {
      {.type = AGX_IMAGE_2D, .format = "r32f", .width = 4, .height = 4},
      {.type = AGX_IMAGE_2D, .format = "r32f", .width = 4, .height = 4, .depth = 2},
      {.type = AGX_IMAGE_2D, .format = "r32f", .width = 1, .height = 1, .depth = 8},
      {.type = AGX_IMAGE_1D, .format = "r32f", .width = 4, .height = 1},
   };
   for (uint32_t i = 0; i < 4; i++) {
      struct agx_image *image = make(bench, descs[i]);
      fill(image, number_of);
      bind(bench, (struct agx_binding){.binding = i,
                                       .image = image,
                                       .sampler = bench->nearest,
                                       .first_layer = i == 2,
                                       .layer_count = i == 2 ? 6 : 0});
   }
   float(*requests)[4] = bind_buffer(bench, 4, REQUESTS * 16);
   uint32_t(*y)[4][4] = bind_buffer(bench, 5, REQUESTS * 64);
   for (uint32_t i = 0; i < REQUESTS; i++) {
      requests[i][0] = requests[i][1] = requests[i][2] = 0.25f;
      requests[i][i % 3] = i / 3 % 2 ? -1.0f : 1.0f;
   }
   run(bench, "kernels/image_sample.spv");
   for (uint32_t i = 0; i < REQUESTS; i++)
      assert_true(as_float(y[i][2][0]) ==
                  number_of(0, 0, (int)(1 + 2 * (i % 3) + i / 3 % 2), 0, 0));
}

AGX_TEST_FILE(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
   const struct CMUnitTest tests[] = {
      CASE(texels_of_buffers),
      CASE(bad_texels_are_refused),
      CASE(other_kinds_are_refused),
      CASE(arrays_are_indexed),
      CASE(wild_indices_are_the_last),
      CASE(missing_elements_read_zero),
      CASE(samples_are_loaded_and_stored),
      CASE(gathers_comparisons_and_derivatives),
      CASE(atomics_on_slices_and_faces),
      CASE(views_choose_format_channels_and_layers),
      CASE(bad_views_are_refused),
      CASE(cubes_are_made_of_layers),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
