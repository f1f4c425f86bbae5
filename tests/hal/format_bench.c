/* SPDX-License-Identifier: MIT
 *
 * The device, images and kernels with which image_formats_*.c go through formats and shapes.
 */
#include "format_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

static const struct image_shape shapes[] = {
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

/* ---- set-up ------------------------------------------------------------ */

static struct agx_executable *load_kernel(struct format_bench *it, const char *name,
                                          const char *class)
{
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_executable *executable;
   char file[80];
   snprintf(file, sizeof(file), "kernels/image_formats_%s%s.spv", name, class);
   char *path = agx_test_path(file);
   char *spirv = agx_test_read_file(path, &desc.data_B);
   desc.data = spirv;
   assert_ok(agx_executable_create(it->fixture.device, &desc, &executable));
   free(spirv);
   free(path);
   return executable;
}

int format_bench_open(void **state)
{
   static const char *const names[] = {"fetch", "sample", "store", "texels", "samples"},
                            *const classes[] = {"", "_u", "_i"};
   struct format_bench *it = calloc(1, sizeof(*it));
   const char *all = getenv("AGX_IMAGE_FORMATS");
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   setenv("AGX_DEBUG", "validate,bounds", 1);
   fixture_open(&it->fixture, "virtual");
   for (uint32_t k = 0; k < KERNELS; k++)
      for (uint32_t c = 0; c < 3; c++)
         it->executables[k][c] = load_kernel(it, names[k], classes[c]);
   assert_ok(agx_sampler_create(it->fixture.device, NULL, &it->plain));
   uint32_t *words;
   it->requests = fixture_buffer(&it->fixture, MAX_REQUESTS * 32, &words);
   it->request = words;
   it->results = fixture_buffer(&it->fixture, MAX_REQUESTS * 16, &words);
   it->result = words;
   it->rng.state = 77;
   it->takes_all = all && strcmp(all, "all") == 0;
   *state = it;
   return 0;
}

int format_bench_close(void **state)
{
   struct format_bench *it = *state;
   print_message(
      "%llu images; texels fetched %llu, sampled %llu, stored and loaded %llu, of buffers "
      "%llu, of multisampled images %llu\n",
      (unsigned long long)it->images, (unsigned long long)it->texels[FETCH],
      (unsigned long long)it->texels[SAMPLE], (unsigned long long)it->texels[STORE],
      (unsigned long long)it->texels[TEXELS], (unsigned long long)it->texels[SAMPLES_OF_TEXELS]);
   for (uint32_t k = 0; k < KERNELS; k++)
      for (uint32_t c = 0; c < 3; c++)
         agx_release(it->executables[k][c]);
   agx_release(it->plain);
   agx_release(it->requests);
   agx_release(it->results);
   fixture_close(&it->fixture);
   free(it);
   unsetenv("AGX_VIRTUAL_STRICT");
   unsetenv("AGX_VIRTUAL_CHECK");
   unsetenv("AGX_DEBUG");
   return 0;
}

uint32_t format_bench_below(struct format_bench *it, uint32_t bound)
{
   return (uint32_t)agx_test_random_below(&it->rng, bound);
}

/* ---- images ------------------------------------------------------------ */

static uint32_t side(uint32_t size, uint32_t level)
{
   return AGX_MAX(size >> level, 1u);
}

struct agx_image_region subject_level(const struct subject *subject, uint32_t level)
{
   const struct image_shape *shape = subject->shape;
   return (struct agx_image_region){
      .level = level,
      .width = side(shape->width, level),
      .height = side(shape->height, level),
      .depth = shape->dimension == SOLID ? side(shape->depth, level) : shape->depth,
   };
}

static uint32_t level_texels(const struct subject *subject, uint32_t level)
{
   struct agx_image_region region = subject_level(subject, level);
   return region.width * region.height * region.depth;
}

uint8_t *subject_texel(struct subject *subject, uint32_t level, uint32_t x, uint32_t y, uint32_t z)
{
   struct agx_image_region region = subject_level(subject, level);
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

static void make_subject(struct subject *subject, struct format_bench *it,
                         const struct agx_format *format, const struct image_shape *shape,
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
   subject->bench = it;
   subject->shape = shape;
   format_model_read(format->name, &subject->model);
   subject->class = format_model_class(&subject->model);
   assert_int_equal(subject->model.texel_B, format->texel_B);
   assert_ok(agx_image_create(it->fixture.device, &desc, &subject->image));
   uint32_t at = 0;
   for (uint32_t level = 0; level < shape->levels; level++) {
      subject->level_at[level] = at;
      at += level_texels(subject, level) * subject->model.texel_B;
   }
   assert_true(at <= MAX_IMAGE_B);
   fill_at_random(subject, at, is_moderate);
   for (uint32_t level = 0; level < shape->levels; level++) {
      struct agx_image_region region = subject_level(subject, level);
      assert_ok(agx_image_write(subject->image, &region, subject->texels + subject->level_at[level],
                                0, 0));
   }
   it->images++;
}

void for_each_subject(struct format_bench *it, check_subject *check, bool is_moderate)
{
   const struct agx_format *format;
   struct subject *subject = calloc(1, sizeof(*subject));
   for (uint32_t f = 0; (format = agx_format_at(f)); f++)
      for (uint32_t s = 0; s < AGX_COUNT(shapes); s++) {
         if (!it->takes_all && (s + f) % 5 != 0)
            continue;
         make_subject(subject, it, format, &shapes[s], is_moderate);
         check(subject);
         agx_release(subject->image);
      }
   free(subject);
}

void for_each_format(struct format_bench *it, check_subject *check, const struct image_shape *shape)
{
   const uint32_t texels = shape->width * shape->height * shape->depth;
   const struct agx_format *format;
   struct subject *subject = calloc(1, sizeof(*subject));
   for (uint32_t f = 0; (format = agx_format_at(f)); f++) {
      bool is_left_out = !it->takes_all && texels > 4096 && f % 8 != 0;
      if (is_left_out || (uint64_t)texels * format->texel_B > MAX_IMAGE_B)
         continue;
      subject->bench = it;
      subject->shape = shape;
      format_model_read(format->name, &subject->model);
      subject->class = format_model_class(&subject->model);
      fill_at_random(subject, texels * format->texel_B, false);
      check(subject);
   }
   free(subject);
}

/* ---- dispatches -------------------------------------------------------- */

void format_bench_run(struct format_bench *it, enum kernel kernel, enum format_class class,
                      uint32_t count, const struct agx_binding *bound, uint32_t bound_count)
{
   struct agx_binding bindings[10];
   memcpy(bindings, bound, bound_count * sizeof(*bound));
   struct agx_buffer *const buffers[] = {it->requests, it->results};
   for (uint32_t i = 0; i < 2; i++)
      bindings[bound_count + i] =
         (struct agx_binding){.binding = bound_count + i, .ref = {buffers[i], 0, AGX_WHOLE_LENGTH}};
   bindings[bound_count + 2] =
      (struct agx_binding){.binding = bound_count + 2, .sampler = it->plain};
   const struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .executable = it->executables[kernel][class],
      .workgroups = {agx_div_up(count, LANES), 1, 1},
      .bindings = bindings,
      .binding_count = bound_count + (kernel == FETCH ? 3 : 2),
      .push = &it->dimension,
      .push_B = sizeof(it->dimension),
   };
   memset(it->result, 0x5a, (size_t)count * 16);
   struct agx_command_buffer *commands = fixture_begin(&it->fixture);
   struct agx_semaphore *done = fixture_semaphore(&it->fixture);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&it->fixture, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(done);
   agx_release(commands);
   it->texels[kernel] += count;
}

void subject_run(struct subject *subject, enum kernel kernel, uint32_t count, uint32_t first_level,
                 struct agx_sampler *sampler)
{
   struct format_bench *it = subject->bench;
   uint32_t images = kernel == FETCH ? 5 : kernel == SAMPLE ? 7 : 6;
   struct agx_binding bound[7] = {0};
   it->dimension = subject->shape->dimension;
   for (uint32_t i = 0; i < images; i++) {
      bound[i] = (struct agx_binding){.binding = i, .sampler = it->plain};
      if (i == it->dimension) {
         bound[i].image = subject->image;
         bound[i].first_level = first_level;
         bound[i].sampler = sampler ? sampler : it->plain;
      }
   }
   format_bench_run(it, kernel, subject->class, count, bound, images);
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

bool is_in_region(const struct agx_image_region *region, const int32_t at[3])
{
   return at[0] >= 0 && at[1] >= 0 && at[2] >= 0 && at[0] < (int32_t)region->width &&
          at[1] < (int32_t)region->height && at[2] < (int32_t)region->depth;
}

void subject_decode(struct subject *subject, uint32_t level, const int32_t at[3], double out[4])
{
   if (level < subject->shape->levels) {
      struct agx_image_region region = subject_level(subject, level);
      if (is_in_region(&region, at)) {
         format_model_decode(
            &subject->model,
            subject_texel(subject, level, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]), out);
         return;
      }
   }
   out[0] = out[1] = out[2] = 0.0;
   out[3] = subject->model.has[3] ? 0.0 : 1.0;
}

void subject_compare(const struct subject *subject, uint32_t request, const double want[4],
                     const double slack[4], const char *what)
{
   for (uint32_t c = 0; c < 4; c++) {
      double got = result_of(subject, request, c);
      double allowed = format_model_tolerance(&subject->model, want[c]) + (slack ? slack[c] : 0.0);
      if (got == want[c] || (isnan(got) && isnan(want[c])) || fabs(got - want[c]) <= allowed)
         continue;
      const struct image_shape *shape = subject->shape;
      fail_msg("%s, dimension %u of %u x %u x %u, %u levels, flags %u: %s channel %u: %.9g, want "
               "%.9g +- %g",
               subject->model.name, shape->dimension, shape->width, shape->height, shape->depth,
               shape->levels, shape->flags, what, c, got, want[c], allowed);
   }
}
