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
   uint32_t turn; /* of short runs */
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

/* ---- samples ----------------------------------------------------------- */

struct sample {
   float at[4], level, unused[3];
};

struct sampling {
   uint32_t wrap[3], border;
};

#define SAME(wrap)                                                                                 \
   {                                                                                               \
      wrap, wrap, wrap                                                                             \
   }
static const struct sampling samplings[] = {
   {SAME(AGX_WRAP_REPEAT), 0},
   {SAME(AGX_WRAP_MIRROR), 0},
   {SAME(AGX_WRAP_EDGE), 0},
   {SAME(AGX_WRAP_MIRROR_ONCE), 0},
   {SAME(AGX_WRAP_BORDER), AGX_BORDER_TRANSPARENT_BLACK},
   {SAME(AGX_WRAP_BORDER), AGX_BORDER_OPAQUE_BLACK},
   {SAME(AGX_WRAP_BORDER), AGX_BORDER_OPAQUE_WHITE},
   {{AGX_WRAP_BORDER, AGX_WRAP_REPEAT, AGX_WRAP_MIRROR}, AGX_BORDER_OPAQUE_WHITE},
   {{AGX_WRAP_EDGE, AGX_WRAP_BORDER, AGX_WRAP_REPEAT}, AGX_BORDER_OPAQUE_BLACK},
   {{AGX_WRAP_MIRROR_ONCE, AGX_WRAP_MIRROR, AGX_WRAP_BORDER}, AGX_BORDER_OPAQUE_WHITE},
};

/* A texel's place along an axis of n texels; -1: the border. */
static int64_t wrapped(int64_t i, int64_t n, uint32_t wrap)
{
   int64_t turn = ((i % (2 * n)) + 2 * n) % (2 * n);
   switch (wrap) {
   case AGX_WRAP_REPEAT:
      return turn % n;
   case AGX_WRAP_MIRROR:
      return turn < n ? turn : 2 * n - 1 - turn;
   case AGX_WRAP_MIRROR_ONCE:
      return AGX_MIN(i < 0 ? -1 - i : i, n - 1);
   case AGX_WRAP_EDGE:
      return i < 0 ? 0 : AGX_MIN(i, n - 1);
   default:
      return i < 0 || i >= n ? -1 : i;
   }
}

static void border_texel(const struct subject *subject, uint32_t border, double out[4])
{
   for (uint32_t c = 0; c < 4; c++) {
      bool is_one = border == AGX_BORDER_OPAQUE_WHITE || (c == 3 && border);
      out[c] = subject->model.has[c] ? is_one : c == 3;
   }
}

/* Where a sample lies in a level: axes that are filtered, in texels, and the layer. */
struct place {
   uint32_t axes, layer;
   double at[3];
};

static uint32_t sampled_layer(float layer, uint32_t layers)
{
   double rounded = rint((double)layer);
   return rounded <= 0.0 ? 0 : AGX_MIN((uint32_t)rounded, layers - 1);
}

/* OpenGL 4.6, table 8.19: the signs and axes of each face's s, t. */
static void face_of(const float at[4], uint32_t *out_face, double st[2])
{
   double x = (double)at[0], y = (double)at[1], z = (double)at[2];
   double ax = fabs(x), ay = fabs(y), az = fabs(z), s, t, most;
   if (ax > ay && ax > az)
      *out_face = x < 0, s = x < 0 ? z : -z, t = -y, most = ax;
   else if (ay > az)
      *out_face = 2 + (y < 0), s = x, t = y < 0 ? -z : z, most = ay;
   else
      *out_face = 4 + (z < 0), s = z < 0 ? -x : x, t = -y, most = az;
   st[0] = 0.5 * (s / most + 1.0);
   st[1] = 0.5 * (t / most + 1.0);
}

static struct place place_of(const struct subject *subject, const struct sample *sample,
                             uint32_t level)
{
   static const uint8_t axes[] = {1, 1, 2, 2, 3, 2, 2};
   const struct shape *shape = subject->shape;
   struct agx_image_region region = whole_level(shape, level);
   double size[3] = {region.width, region.height, region.depth};
   struct place place = {.axes = axes[shape->dimension]};
   double at[3] = {(double)sample->at[0], (double)sample->at[1], (double)sample->at[2]};
   if (shape->dimension == LINES || shape->dimension == LAYERS)
      place.layer = sampled_layer(sample->at[2], shape->depth);
   if (shape->dimension >= CUBE) {
      face_of(sample->at, &place.layer, at);
      if (shape->dimension == CUBES)
         place.layer += 6 * sampled_layer(sample->at[3], shape->depth / 6);
   }
   for (uint32_t i = 0; i < place.axes; i++)
      place.at[i] = at[i] * size[i];
   return place;
}

static void read_wrapped(struct subject *subject, const struct sampling *sampling, uint32_t level,
                         const struct place *place, const int64_t texel[3], double out[4])
{
   struct agx_image_region region = whole_level(subject->shape, level);
   int64_t size[3] = {region.width, region.height, region.depth}, at[3] = {0, 0, place->layer};
   bool is_cube = subject->shape->dimension >= CUBE;
   for (uint32_t i = 0; i < place->axes; i++) {
      at[i] = wrapped(texel[i], size[i], is_cube ? AGX_WRAP_EDGE : sampling->wrap[i]);
      if (at[i] < 0) {
         border_texel(subject, sampling->border, out);
         return;
      }
   }
   format_model_decode(
      &subject->model,
      host_texel(subject, level, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]), out);
}

/* Adds share times a level's colour, and how far hardware with 8 bits of weight may be off. */
static void add_level(struct subject *subject, const struct sampling *sampling,
                      const struct sample *sample, uint32_t level, double share, bool is_linear,
                      double sum[4], double slack[4])
{
   struct place place = place_of(subject, sample, level);
   int64_t low[3] = {0}, texel[3];
   double weight[3] = {0}, least[4], most[4], read[4];
   for (uint32_t i = 0; i < place.axes; i++) {
      double at = place.at[i] - (is_linear ? 0.5 : 0.0);
      low[i] = (int64_t)floor(at);
      weight[i] = at - floor(at);
   }
   for (uint32_t corner = 0; corner < (is_linear ? 1u << place.axes : 1u); corner++) {
      double part = share;
      for (uint32_t i = 0; i < 3; i++) {
         texel[i] = low[i] + (corner >> i & 1);
         if (is_linear && i < place.axes)
            part *= corner >> i & 1 ? weight[i] : 1.0 - weight[i];
      }
      read_wrapped(subject, sampling, level, &place, texel, read);
      for (uint32_t c = 0; c < 4; c++) {
         sum[c] = corner == 0 && part == 1.0 ? read[c] : sum[c] + part * read[c];
         least[c] = corner ? fmin(least[c], read[c]) : read[c];
         most[c] = corner ? fmax(most[c], read[c]) : read[c];
      }
   }
   /* At a face's edge the neighbour counts a little, as directions are rounded. */
   double edge = subject->shape->dimension >= CUBE ? 0x1p-14 : 0.0;
   for (uint32_t c = 0; c < 4 && is_linear; c++)
      slack[c] += edge + (most[c] - least[c]) * place.axes / 256.0 +
                  fmax(fabs(least[c]), fabs(most[c])) * 0x1p-21;
}

/* ---- which samples ----------------------------------------------------- */

static uint32_t below(struct bench *bench, uint32_t bound)
{
   return (uint32_t)agx_test_random_below(&bench->rng, bound);
}

/* Around a texel's centre, so that it is clear which texel is nearest. */
static double near_texel(struct bench *bench, uint32_t size)
{
   double texel = (double)below(bench, 5 * size + 4) - 2.0 * size - 2.0;
   return (texel + 0.25 + below(bench, 65) / 128.0) / size;
}

static void ask_face(struct bench *bench, uint32_t size, bool is_linear, float at[4])
{
   static const struct {
      int8_t axis[3], sign[3]; /* which of m, s, t each coordinate is */
   } faces[] = {
      {{0, 2, 1}, {1, -1, -1}}, {{0, 2, 1}, {-1, -1, 1}}, {{1, 0, 2}, {1, 1, 1}},
      {{1, 0, 2}, {1, -1, -1}}, {{1, 2, 0}, {1, -1, 1}},  {{1, 2, 0}, {-1, -1, -1}},
   };
   uint32_t face = below(bench, 6);
   double mst[3] = {1.0}, scale = 0.25 + below(bench, 1000) / 100.0;
   for (uint32_t i = 1; i < 3; i++) {
      double texel = is_linear ? 0.5 + (size - 1) * (below(bench, 1000) / 1000.0)
                               : below(bench, size) + 0.25 + below(bench, 65) / 128.0;
      mst[i] = 2.0 * texel / size - 1.0;
   }
   for (uint32_t i = 0; i < 3; i++)
      at[i] = (float)(mst[faces[face].axis[i]] * faces[face].sign[i] * scale);
}

static void ask_sample(struct subject *subject, bool is_linear, bool has_fractions,
                       struct sample *out)
{
   struct bench *bench = subject->bench;
   const struct shape *shape = subject->shape;
   int32_t level = (int32_t)below(bench, shape->levels + 3) - 1;
   uint32_t there = AGX_MIN((uint32_t)AGX_MAX(level, 0), shape->levels - 1);
   struct agx_image_region region = whole_level(shape, there);
   uint32_t d = shape->dimension;
   double fraction = has_fractions ? below(bench, 4) / 4.0 : 0.0;
   *out = (struct sample){.level = (float)(level + fraction)};
   double layer = (double)below(bench, shape->depth + 4) - 2.0 + below(bench, 7) / 8.0 - 0.375;
   if (d >= CUBE) {
      /* Between levels what is inside of a face's filter in the smaller one is in the larger. */
      there = AGX_MIN(there + (fraction > 0.0), shape->levels - 1);
      ask_face(bench, side(shape->width, there), is_linear, out->at);
      out->at[3] = (float)layer;
      return;
   }
   out->at[0] = (float)near_texel(bench, region.width);
   out->at[1] = (float)near_texel(bench, region.height);
   out->at[2] = (float)(d == SOLID ? near_texel(bench, region.depth) : layer);
}

static void expect_sample(struct subject *subject, const struct sampling *sampling,
                          const struct agx_sampler_desc *desc, const struct sample *sample,
                          double want[4], double slack[4])
{
   bool is_linear = desc->magnify == AGX_FILTER_LINEAR;
   double last = subject->shape->levels - 1.0;
   double level = fmin(fmax((double)sample->level, 0.0), last);
   if (desc->between_levels == AGX_FILTER_NONE)
      level = 0.0;
   uint32_t low = (uint32_t)level;
   double share = level - low;
   memset(want, 0, 4 * sizeof(*want));
   memset(slack, 0, 4 * sizeof(*slack));
   add_level(subject, sampling, sample, low, 1.0 - share, is_linear, want, slack);
   if (share > 0.0)
      add_level(subject, sampling, sample, low + 1, share, is_linear, want, slack);
}

#define SAMPLES 512u

static void check_sampling(struct subject *subject, const struct sampling *sampling, bool is_linear,
                           uint32_t between)
{
   struct bench *bench = subject->bench;
   struct sample *samples = bench->request;
   struct agx_sampler *sampler;
   struct agx_sampler_desc desc = {.size = sizeof(desc),
                                   .magnify = is_linear,
                                   .minify = is_linear,
                                   .between_levels = between,
                                   .border = sampling->border};
   memcpy(desc.wrap, sampling->wrap, sizeof(desc.wrap));
   assert_ok(agx_sampler_create(bench->fixture.device, &desc, &sampler));
   for (uint32_t i = 0; i < SAMPLES; i++)
      ask_sample(subject, is_linear, is_linear && between == AGX_FILTER_LINEAR, &samples[i]);
   run(subject, SAMPLE, SAMPLES, 0, sampler);
   for (uint32_t i = 0; i < SAMPLES; i++) {
      double want[4], slack[4];
      char what[200];
      expect_sample(subject, sampling, &desc, &samples[i], want, slack);
      snprintf(
         what, sizeof(what),
         "%s sample of %.9g, %.9g, %.9g, %.9g, level %g, wrap %u %u %u, border %u, between %u:",
         is_linear ? "linear" : "nearest", (double)samples[i].at[0], (double)samples[i].at[1],
         (double)samples[i].at[2], (double)samples[i].at[3], (double)samples[i].level, desc.wrap[0],
         desc.wrap[1], desc.wrap[2], desc.border, between);
      compare(subject, i, want, slack, what);
   }
   agx_release(sampler);
}

static void check_samples(struct subject *subject, bool is_linear)
{
   struct bench *bench = subject->bench;
   static const uint32_t betweens[] = {AGX_FILTER_NEAREST, AGX_FILTER_NONE, AGX_FILTER_LINEAR};
   uint32_t turn = bench->turn++;
   for (uint32_t i = 0; i < AGX_COUNT(samplings); i++)
      if (bench->takes_all || (i + turn) % 3 == 0)
         check_sampling(subject, &samplings[i], is_linear,
                        betweens[(i + turn / 3) % (is_linear ? 3 : 2)]);
}

static void check_nearest(struct subject *subject)
{
   check_samples(subject, false);
}

static void check_linear(struct subject *subject)
{
   if (subject->class == FORMAT_OF_FLOATS)
      check_samples(subject, true);
}

/* ---- stores and loads -------------------------------------------------- */

struct store {
   int32_t at[3];
   uint32_t is_load;
   uint32_t texel[4];
};

static float some_float(struct bench *bench, enum format_reading reading)
{
   static const float special[] = {
      NAN,      INFINITY,          -INFINITY, 0.0f,       -0.0f,    1.0f,     -1.0f,
      65504.0f, 65519.0f,          65520.0f,  65408.f,    65535.0f, 1e30f,    -1e30f,
      0x1p-24f, 0x1p-25f,          0x1p-14f,  0x1.8p-25f, 0x1p-20f, 64512.0f, 65024.0f,
      65023.f,  1.0009765625f / 2, 0.5f,      0.0031308f, 2049.0f,  2051.0f,  0x1p-15f,
      1e-40f,   0x1.ffep-15f};
   uint32_t kind = below(bench, 4);
   if (kind == 0)
      return special[below(bench, AGX_COUNT(special))];
   if (kind == 1 || reading != READ_FLOAT)
      return (float)below(bench, 1 << 24) * (1.4f / (1 << 24)) - (below(bench, 4) ? 0.0f : 1.2f);
   float value =
      ldexpf(1.0f + (float)below(bench, 1 << 20) / (1 << 20), (int)below(bench, 46) - 28);
   return below(bench, 4) ? value : -value;
}

/* A number that the channel can hold, where those are integers. */
static uint32_t some_value(struct subject *subject, uint32_t c)
{
   struct bench *bench = subject->bench;
   uint32_t bits = 8, word = (uint32_t)agx_test_random(&bench->rng);
   for (uint32_t i = 0; i < subject->model.count; i++)
      if (subject->model.part[i].channel == c)
         bits = subject->model.part[i].bits;
   if (subject->class == FORMAT_OF_FLOATS) {
      float value = some_float(bench, subject->model.reading);
      memcpy(&word, &value, sizeof(word));
      return word;
   }
   return subject->class == FORMAT_OF_UINTS ? word >> (32 - bits)
                                            : (uint32_t)((int32_t)word >> (32 - bits));
}

static double number_in(const struct subject *subject, uint32_t word)
{
   float value;
   memcpy(&value, &word, sizeof(value));
   return subject->class == FORMAT_OF_UINTS   ? (double)word
          : subject->class == FORMAT_OF_SINTS ? (double)(int32_t)word
                                              : (double)value;
}

/* Most texels of a level, and places outside. */
static uint32_t ask_stores(struct subject *subject, uint32_t level)
{
   static const int32_t far[] = {-1, INT32_MIN, INT32_MAX, 65536, 1 << 20, 16384, 131072};
   struct agx_image_region region = whole_level(subject->shape, level);
   struct bench *bench = subject->bench;
   struct store *stores = bench->request;
   uint32_t count = 0, d = subject->shape->dimension;
   int32_t has_y = d >= FLAT, has_z = d != LINE && d != FLAT;
   for (int32_t z = -has_z; z < (int32_t)region.depth + has_z; z++)
      for (int32_t y = -has_y; y < (int32_t)region.height + has_y; y++)
         for (int32_t x = -1; x < (int32_t)region.width + 1; x++)
            if (below(bench, 8))
               stores[count++] = (struct store){.at = {x, y, z}};
   for (uint32_t i = 0; i < AGX_COUNT(far); i++) {
      stores[count++] = (struct store){.at = {far[i], 0, 0}};
      if (has_y)
         stores[count++] = (struct store){.at = {0, far[i], 0}};
      if (has_z)
         stores[count++] = (struct store){.at = {0, 0, far[i]}};
   }
   for (uint32_t i = 0; i < count; i++)
      for (uint32_t c = 0; c < 4; c++)
         stores[i].texel[c] = some_value(subject, c);
   while (count % LANES) /* those of lanes that are left over */
      stores[count++] = (struct store){.at = {-1, 0, 0}};
   assert_true(count <= MAX_REQUESTS);
   return count;
}

static bool is_in_region(const struct agx_image_region *region, const int32_t at[3])
{
   return at[0] >= 0 && at[1] >= 0 && at[2] >= 0 && at[0] < (int32_t)region->width &&
          at[1] < (int32_t)region->height && at[2] < (int32_t)region->depth;
}

/* Compares with what the host finds, which then is what the host knows. */
static void check_stored(struct subject *subject, uint32_t level, uint32_t count)
{
   static uint8_t found[MAX_IMAGE_B];
   const struct shape *shape = subject->shape;
   const struct store *stores = subject->bench->request;
   uint32_t texel_B = subject->model.texel_B;
   struct agx_image_region region = whole_level(shape, level);
   assert_ok(agx_image_read(subject->image, &region, found, 0, 0));
   for (uint32_t i = 0; i < count; i++) {
      const struct store *s = &stores[i];
      if (!is_in_region(&region, s->at))
         continue;
      uint8_t *known =
         host_texel(subject, level, (uint32_t)s->at[0], (uint32_t)s->at[1], (uint32_t)s->at[2]);
      const uint8_t *texel = found + (known - subject->texels - subject->level_at[level]);
      double value[4], got[4];
      for (uint32_t c = 0; c < 4; c++)
         value[c] = number_in(subject, s->texel[c]);
      format_model_decode(&subject->model, texel, got);
      if (!format_model_is_stored(&subject->model, texel, value))
         fail_msg("%s, dimension %u, flags %u, level %u: %.9g, %.9g, %.9g, %.9g at %d, %d, %d is "
                  "stored as %.9g, %.9g, %.9g, %.9g",
                  subject->model.name, shape->dimension, shape->flags, level, value[0], value[1],
                  value[2], value[3], s->at[0], s->at[1], s->at[2], got[0], got[1], got[2], got[3]);
      memcpy(known, texel, texel_B);
   }
   for (uint32_t l = 0; l < shape->levels; l++) {
      region = whole_level(shape, l);
      assert_ok(agx_image_read(subject->image, &region, found, 0, 0));
      if (memcmp(found, subject->texels + subject->level_at[l], level_texels(shape, l) * texel_B))
         fail_msg("%s, dimension %u, flags %u: stores to level %u have changed other texels of "
                  "level %u",
                  subject->model.name, shape->dimension, shape->flags, level, l);
   }
}

static void check_loaded(struct subject *subject, uint32_t level, uint32_t count)
{
   struct store *stores = subject->bench->request;
   struct agx_image_region region = whole_level(subject->shape, level);
   for (uint32_t i = 0; i < count; i++)
      stores[i].is_load = 1;
   run(subject, STORE, count, level, NULL);
   for (uint32_t i = 0; i < count; i++) {
      const int32_t *at = stores[i].at;
      double want[4];
      char what[80];
      if (is_in_region(&region, at))
         format_model_decode(
            &subject->model,
            host_texel(subject, level, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]), want);
      else
         outside_texel(subject, want);
      snprintf(what, sizeof(what), "load of %d, %d, %d, level %u:", at[0], at[1], at[2], level);
      compare(subject, i, want, NULL, what);
   }
}

static void check_stores(struct subject *subject)
{
   if (subject->shape->dimension == CUBES)
      return;
   for (uint32_t level = 0; level < subject->shape->levels; level++) {
      uint32_t count = ask_stores(subject, level);
      run(subject, STORE, count, level, NULL);
      check_stored(subject, level, count);
      check_loaded(subject, level, count);
   }
}

/* ---- all formats ------------------------------------------------------- */

typedef void check_subject(struct subject *subject);

/* In short runs the formats take turns with the shapes. */
static void for_each_subject(struct bench *bench, check_subject *check, bool is_moderate)
{
   const struct agx_format *format;
   struct subject *subject = calloc(1, sizeof(*subject));
   for (uint32_t f = 0; (format = agx_format_at(f)); f++)
      for (uint32_t s = 0; s < AGX_COUNT(shapes); s++) {
         if (!bench->takes_all && (s + f) % 5 != 0)
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

static void nearest_texels_and_borders(void **state)
{
   for_each_subject(*state, check_nearest, false);
}

static void linear_filters(void **state)
{
   for_each_subject(*state, check_linear, true);
}

static void stores_are_encoded(void **state)
{
   for_each_subject(*state, check_stores, false);
}

/* Compressed blocks, depth, three channels, 64 bits: by the name that was asked for. */
static void other_formats_are_refused(void **state)
{
   static const char *const names[] = {
      "BC1_RGB_UNORM_BLOCK",
      "BC1_RGBA_SRGB_BLOCK",
      "BC2_UNORM_BLOCK",
      "BC3_SRGB_BLOCK",
      "BC4_SNORM_BLOCK",
      "BC5_UNORM_BLOCK",
      "BC6H_UFLOAT_BLOCK",
      "VK_FORMAT_BC7_UNORM_BLOCK",
      "ETC2_R8G8B8_UNORM_BLOCK",
      "EAC_R11_UNORM_BLOCK",
      "ASTC_4x4_UNORM_BLOCK",
      "ASTC_12x12_SRGB_BLOCK",
      "PVRTC1_2BPP_UNORM_BLOCK_IMG",
      "GL_COMPRESSED_RGBA8_ETC2_EAC",
      "D32_SFLOAT",
      "D24_UNORM_S8_UINT",
      "S8_UINT",
      "R8G8B8_UNORM",
      "R16G16B16_SFLOAT",
      "R32G32B32_SFLOAT",
      "R64_UINT",
      "R8_USCALED",
      "A2R10G10B10_UNORM_PACK32",
      "G8_B8R8_2PLANE_420_UNORM",
      "",
      "R8_UNORMX",
   };
   struct bench *bench = *state;
   for (uint32_t i = 0; i < AGX_COUNT(names); i++) {
      const struct agx_image_desc desc = {
         .size = sizeof(desc), .type = AGX_IMAGE_2D, .format = names[i], .width = 4, .height = 4};
      struct agx_image *image;
      assert_fails(agx_image_create(bench->fixture.device, &desc, &image), AGX_UNIMPLEMENTED,
                   names[i]);
   }
}

int main(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
   const struct CMUnitTest tests[] = {
      CASE(fetches_are_decoded), CASE(nearest_texels_and_borders), CASE(linear_filters),
      CASE(stores_are_encoded),  CASE(other_formats_are_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
