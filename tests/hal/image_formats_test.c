/* SPDX-License-Identifier: MIT
 *
 * Every format of the table through compiler, driver and virtual device: fetches, samples, stores
 * and loads of all levels, layers and texels and of what lies outside, in all dimensions and both
 * layouts, against format_model.h and the rules of sampling as the APIs define them.
 * AGX_IMAGE_FORMATS=all takes every format with every shape and sampler (make image-formats); else
 * each format meets a few of them, others for each.
 */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/format.h"
#include "base/status.h"
#include "base/util.h"
#include "format_model.h"

#define LANES        32u
#define MAX_REQUESTS (1u << 16)
#define MAX_IMAGE_B  (1u << 17)

/* As the kernels number them. */
enum dimension {
   LINE,
   LINES,
   FLAT,
   LAYERS,
   SOLID,
   CUBE,
   CUBES,
   DIMENSIONS,
};

struct shape {
   enum dimension dimension;
   uint32_t width, height, depth, levels, flags;
};

static const struct shape shapes[] = {
   {FLAT, 7, 5, 1, 3, 0},
   {LAYERS, 7, 5, 3, 3, 0},
   {SOLID, 7, 5, 4, 3, 0},
   {LINE, 33, 1, 1, 6, 0},
   {CUBE, 4, 4, 6, 3, 0},
   {FLAT, 13, 9, 1, 1, AGX_IMAGE_LINEAR},
   {LINES, 9, 1, 3, 4, 0},
   {FLAT, 33, 17, 1, 6, 0},
   {CUBES, 4, 4, 12, 3, 0},
   {FLAT, 1, 1, 1, 1, 0},
   {LAYERS, 7, 5, 3, 1, AGX_IMAGE_LINEAR},
   {SOLID, 1, 8, 17, 5, 0},
   {LAYERS, 16, 16, 2, 5, 0},
   {FLAT, 1, 1, 1, 1, AGX_IMAGE_LINEAR},
   {LINE, 1, 1, 1, 1, 0},
   {FLAT, 2, 70, 1, 7, 0},
};

enum kernel {
   FETCH,
   SAMPLE,
   STORE,
   KERNELS,
};

struct bench {
   struct fixture fixture;
   struct agx_executable *executables[KERNELS][3];
   struct agx_sampler *plain;
   struct agx_buffer *requests, *results;
   void *request, *result;
   struct agx_test_rng rng;
   bool takes_all;
   uint64_t texels[KERNELS], images;
};

/* One image of one format, what the host wrote to it, and its model. */
struct subject {
   struct bench *bench;
   const struct shape *shape;
   struct format_model model;
   enum format_class class;
   struct agx_image *image;
   uint8_t texels[MAX_IMAGE_B];
   uint32_t level_at[16];
};

/* ---- set-up ------------------------------------------------------------ */

static struct agx_executable *load_kernel(struct bench *bench, const char *name, const char *class)
{
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_executable *executable;
   char file[80];
   snprintf(file, sizeof(file), "kernels/image_formats_%s%s.spv", name, class);
   char *path = agx_test_path(file);
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(bench->fixture.device, &desc, &executable));
   free(spirv);
   free(path);
   return executable;
}

static int setup(void **state)
{
   static const char *const names[] = {"fetch", "sample", "store"}, *const classes[] = {"", "_u",
                                                                                        "_i"};
   struct bench *bench = calloc(1, sizeof(*bench));
   const char *all = getenv("AGX_IMAGE_FORMATS");
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", "validate,bounds", 1);
   fixture_open(&bench->fixture, "virtual");
   for (uint32_t k = 0; k < KERNELS; k++)
      for (uint32_t c = 0; c < 3; c++)
         bench->executables[k][c] = load_kernel(bench, names[k], classes[c]);
   assert_ok(agx_sampler_create(bench->fixture.device, NULL, &bench->plain));
   uint32_t *words;
   bench->requests = fixture_buffer(&bench->fixture, MAX_REQUESTS * 32, &words);
   bench->request = words;
   bench->results = fixture_buffer(&bench->fixture, MAX_REQUESTS * 16, &words);
   bench->result = words;
   bench->rng.state = 77;
   bench->takes_all = all && strcmp(all, "all") == 0;
   *state = bench;
   return 0;
}

static int teardown(void **state)
{
   struct bench *bench = *state;
   print_message("%llu images; texels fetched %llu, sampled %llu, stored and loaded %llu\n",
                 (unsigned long long)bench->images, (unsigned long long)bench->texels[FETCH],
                 (unsigned long long)bench->texels[SAMPLE],
                 (unsigned long long)bench->texels[STORE]);
   for (uint32_t k = 0; k < KERNELS; k++)
      for (uint32_t c = 0; c < 3; c++)
         agx_release(bench->executables[k][c]);
   agx_release(bench->plain);
   agx_release(bench->requests);
   agx_release(bench->results);
   fixture_close(&bench->fixture);
   free(bench);
   unsetenv("AGX_VIRTUAL_STRICT");
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
   return 0;
}

/* ---- images ------------------------------------------------------------ */

static uint32_t side(uint32_t size, uint32_t level)
{
   return AGX_MAX(size >> level, 1u);
}

static struct agx_image_region whole_level(const struct shape *shape, uint32_t level)
{
   return (struct agx_image_region){
      .level = level,
      .width = side(shape->width, level),
      .height = side(shape->height, level),
      .depth = shape->dimension == SOLID ? side(shape->depth, level) : shape->depth,
   };
}

static uint32_t level_texels(const struct shape *shape, uint32_t level)
{
   struct agx_image_region region = whole_level(shape, level);
   return region.width * region.height * region.depth;
}

/* The host's copy of a texel that is there. */
static uint8_t *host_texel(struct subject *subject, uint32_t level, uint32_t x, uint32_t y,
                           uint32_t z)
{
   struct agx_image_region region = whole_level(subject->shape, level);
   uint32_t at = (z * region.height + y) * region.width + x;
   return subject->texels + subject->level_at[level] + (size_t)at * subject->model.texel_B;
}

/* Random bits are any number, also no number; for filters they should stay moderate. */
static void fill_at_random(struct subject *subject, uint32_t size_B, bool is_moderate)
{
   for (uint32_t i = 0; i < size_B; i++)
      subject->texels[i] = (uint8_t)agx_test_random(&subject->bench->rng);
   if (!is_moderate || subject->model.reading != READ_FLOAT)
      return;
   for (uint32_t i = 0; i < size_B; i += subject->model.texel_B) {
      uint8_t *texel = subject->texels + i;
      if (subject->model.has_shared_exponent)
         texel[3] = (uint8_t)((texel[3] & 7) | 0x78);
      else if (subject->model.part[0].bits == 11)
         for (uint32_t c = 0; c < 4; c++) /* no exponent of ones: clear its middle bits */
            texel[c] &= c == 0 ? 0xff : c == 1 ? 0xfd : c == 2 ? 0xef : 0xbf;
      else
         for (uint32_t c = 0; c < subject->model.count; c++) {
            uint32_t bytes = subject->model.part[c].bits / 8;
            uint8_t *top = texel + c * bytes + bytes - 1;
            *top = (uint8_t)((*top & 0x83) | 0x3c); /* around 1 */
         }
   }
}

static void make_subject(struct subject *subject, struct bench *bench,
                         const struct agx_format *format, const struct shape *shape,
                         bool is_moderate)
{
   static const uint32_t types[] = {AGX_IMAGE_1D, AGX_IMAGE_1D,   AGX_IMAGE_2D,  AGX_IMAGE_2D,
                                    AGX_IMAGE_3D, AGX_IMAGE_CUBE, AGX_IMAGE_CUBE};
   const struct agx_image_desc desc = {
      .size = sizeof(desc),
      .type = types[shape->dimension],
      .format = format->name,
      .width = shape->width,
      .height = shape->height,
      .depth = shape->depth,
      .levels = shape->levels,
      .flags = shape->flags | AGX_IMAGE_HOST_READ,
   };
   subject->bench = bench;
   subject->shape = shape;
   format_model_read(format->name, &subject->model);
   subject->class = format_model_class(&subject->model);
   assert_int_equal(subject->model.texel_B, format->texel_B);
   assert_ok(agx_image_create(bench->fixture.device, &desc, &subject->image));
   uint32_t at = 0;
   for (uint32_t level = 0; level < shape->levels; level++) {
      subject->level_at[level] = at;
      at += level_texels(shape, level) * subject->model.texel_B;
   }
   assert_true(at <= MAX_IMAGE_B);
   fill_at_random(subject, at, is_moderate);
   for (uint32_t level = 0; level < shape->levels; level++) {
      struct agx_image_region region = whole_level(shape, level);
      assert_ok(agx_image_write(subject->image, &region, subject->texels + subject->level_at[level],
                                0, 0));
   }
   bench->images++;
}

/* ---- dispatches -------------------------------------------------------- */

static void run(struct subject *subject, enum kernel kernel, uint32_t count, uint32_t level,
                struct agx_sampler *sampler)
{
   struct bench *bench = subject->bench;
   uint32_t images = kernel == FETCH ? 5 : kernel == SAMPLE ? 7 : 6, bound = 0;
   uint32_t dimension = subject->shape->dimension;
   struct agx_binding bindings[10] = {0};
   for (; bound < images; bound++) {
      bindings[bound] = (struct agx_binding){.binding = bound, .sampler = bench->plain};
      if (bound == dimension) {
         bindings[bound].image = subject->image;
         bindings[bound].first_level = level;
         bindings[bound].sampler = sampler ? sampler : bench->plain;
      }
   }
   bindings[bound].ref = (struct agx_buffer_ref){bench->requests, 0, AGX_WHOLE_LENGTH};
   bindings[bound].binding = bound;
   bound++;
   bindings[bound].ref = (struct agx_buffer_ref){bench->results, 0, AGX_WHOLE_LENGTH};
   bindings[bound].binding = bound;
   bound++;
   if (kernel == FETCH) {
      bindings[bound] = (struct agx_binding){.binding = bound, .sampler = bench->plain};
      bound++;
   }
   const struct agx_dispatch dispatch = {
      .executable = bench->executables[kernel][subject->class],
      .workgroups = {agx_div_up(count, LANES), 1, 1},
      .bindings = bindings,
      .binding_count = bound,
      .push = &dimension,
      .push_B = sizeof(dimension),
   };
   memset(bench->result, 0x5a, (size_t)count * 16);
   struct agx_command_buffer *commands = fixture_begin(&bench->fixture);
   struct agx_semaphore *done = fixture_semaphore(&bench->fixture);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&bench->fixture, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(done);
   agx_release(commands);
   bench->texels[kernel] += count;
}

/* ---- comparisons ------------------------------------------------------- */

static double result_of(const struct subject *subject, uint32_t request, uint32_t c)
{
   uint32_t word = ((const uint32_t *)subject->bench->result)[request * 4 + c];
   float value;
   if (subject->class == FORMAT_OF_UINTS)
      return word;
   if (subject->class == FORMAT_OF_SINTS)
      return (int32_t)word;
   memcpy(&value, &word, sizeof(value));
   return (double)value;
}

/* What reads outside: zeros, but 1 for an alpha that the format does not have. */
static void outside_texel(const struct subject *subject, double out[4])
{
   out[0] = out[1] = out[2] = 0.0;
   out[3] = subject->model.has[3] ? 0.0 : 1.0;
}

static void compare(const struct subject *subject, uint32_t request, const double want[4],
                    const double slack[4], const char *what)
{
   for (uint32_t c = 0; c < 4; c++) {
      double got = result_of(subject, request, c);
      double allowed = format_model_tolerance(&subject->model, want[c]) + (slack ? slack[c] : 0.0);
      if (got == want[c] || (isnan(got) && isnan(want[c])) || fabs(got - want[c]) <= allowed)
         continue;
      const struct shape *shape = subject->shape;
      fail_msg("%s, dimension %u of %u x %u x %u, %u levels, flags %u: %s channel %u: %.9g, want "
               "%.9g +- %g",
               subject->model.name, shape->dimension, shape->width, shape->height, shape->depth,
               shape->levels, shape->flags, what, c, got, want[c], allowed);
   }
}

/* ---- fetches ----------------------------------------------------------- */

struct fetch {
   int32_t x, y, z, level;
};

static uint32_t add_fetch(struct bench *bench, uint32_t count, struct fetch fetch)
{
   assert_true(count < MAX_REQUESTS);
   ((struct fetch *)bench->request)[count] = fetch;
   return count + 1;
}

/* All texels of each level and those around it, levels around, and places far away. */
static uint32_t ask_fetches(struct subject *subject)
{
   static const int32_t far[] = {-1, -32768, INT32_MIN, INT32_MAX, 65536, 1 << 20, 0xfff0, 16384};
   const struct shape *shape = subject->shape;
   struct bench *bench = subject->bench;
   uint32_t count = 0, d = shape->dimension;
   int32_t levels = (int32_t)shape->levels;
   for (int32_t level = -1; level <= levels + 1; level++) {
      bool is_there = level >= 0 && level < levels;
      struct agx_image_region region = whole_level(shape, is_there ? (uint32_t)level : 0);
      bool has_y = d >= FLAT, has_z = d != LINE && d != FLAT;
      for (int32_t z = has_z ? -1 : 0; z <= (int32_t)region.depth - !has_z; z++)
         for (int32_t y = has_y ? -1 : 0; y <= (int32_t)region.height - !has_y; y++)
            for (int32_t x = -1; x <= (int32_t)region.width; x++)
               count = add_fetch(bench, count, (struct fetch){x, y, z, level});
   }
   for (uint32_t i = 0; i < AGX_COUNT(far); i++) {
      count = add_fetch(bench, count, (struct fetch){far[i], 0, 0, 0});
      count = add_fetch(bench, count, (struct fetch){0, d >= FLAT ? far[i] : 0, 0, 0});
      count = add_fetch(bench, count, (struct fetch){0, 0, d != LINE && d != FLAT ? far[i] : 0, 0});
      count = add_fetch(bench, count, (struct fetch){0, 0, 0, far[i]});
   }
   return count;
}

static bool is_inside(const struct subject *subject, const struct fetch *f)
{
   if (f->level < 0 || f->level >= (int32_t)subject->shape->levels)
      return false;
   struct agx_image_region region = whole_level(subject->shape, (uint32_t)f->level);
   return f->x >= 0 && f->y >= 0 && f->z >= 0 && f->x < (int32_t)region.width &&
          f->y < (int32_t)region.height && f->z < (int32_t)region.depth;
}

static void expect_fetch(struct subject *subject, const struct fetch *f, double out[4])
{
   if (is_inside(subject, f))
      format_model_decode(
         &subject->model,
         host_texel(subject, (uint32_t)f->level, (uint32_t)f->x, (uint32_t)f->y, (uint32_t)f->z),
         out);
   else
      outside_texel(subject, out);
}

static void check_fetches(struct subject *subject)
{
   if (subject->shape->dimension > SOLID)
      return;
   uint32_t count = ask_fetches(subject);
   run(subject, FETCH, count, 0, NULL);
   for (uint32_t i = 0; i < count; i++) {
      const struct fetch *f = &((const struct fetch *)subject->bench->request)[i];
      double want[4];
      char what[80];
      expect_fetch(subject, f, want);
      snprintf(what, sizeof(what), "fetch of %d, %d, %d, level %d:", f->x, f->y, f->z, f->level);
      compare(subject, i, want, NULL, what);
   }
}

/* ---- all formats ------------------------------------------------------- */

typedef void check_subject(struct subject *subject);

static bool may_have(const struct agx_format *format, const struct shape *shape)
{
   (void)format;
   (void)shape;
   return true;
}

/* In short runs the formats take turns with the shapes. */
static void for_each_subject(struct bench *bench, check_subject *check, bool is_moderate)
{
   const struct agx_format *format;
   struct subject *subject = calloc(1, sizeof(*subject));
   for (uint32_t f = 0; (format = agx_format_at(f)); f++)
      for (uint32_t s = 0; s < AGX_COUNT(shapes); s++) {
         if ((!bench->takes_all && (s + f) % 5 != 0) || !may_have(format, &shapes[s]))
            continue;
         make_subject(subject, bench, format, &shapes[s], is_moderate);
         check(subject);
         agx_release(subject->image);
      }
   free(subject);
}

static void fetches_are_decoded(void **state)
{
   for_each_subject(*state, check_fetches, false);
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
   const struct CMUnitTest tests[] = {
      CASE(fetches_are_decoded),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
