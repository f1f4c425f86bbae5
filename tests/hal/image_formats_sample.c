/* SPDX-License-Identifier: MIT
 *
 * Samples of one image: wrap modes, borders, filters, cubes, against the APIs' definitions.
 */
#include "format_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

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
   const struct image_shape *shape = subject->shape;
   struct agx_image_region region = subject_level(subject, level);
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
   struct agx_image_region region = subject_level(subject, level);
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
      subject_texel(subject, level, (uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]), out);
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

/* Around a texel's centre, so that it is clear which texel is nearest. */
static double near_texel(struct format_bench *it, uint32_t size)
{
   double texel = (double)format_bench_below(it, 5 * size + 4) - 2.0 * size - 2.0;
   return (texel + 0.25 + format_bench_below(it, 65) / 128.0) / size;
}

static void ask_face(struct format_bench *it, uint32_t size, bool is_linear, float at[4])
{
   static const struct {
      int8_t axis[3], sign[3]; /* which of m, s, t each coordinate is */
   } faces[] = {
      {{0, 2, 1}, {1, -1, -1}}, {{0, 2, 1}, {-1, -1, 1}}, {{1, 0, 2}, {1, 1, 1}},
      {{1, 0, 2}, {1, -1, -1}}, {{1, 2, 0}, {1, -1, 1}},  {{1, 2, 0}, {-1, -1, -1}},
   };
   uint32_t face = format_bench_below(it, 6);
   double mst[3] = {1.0}, scale = 0.25 + format_bench_below(it, 1000) / 100.0;
   for (uint32_t i = 1; i < 3; i++) {
      double texel = is_linear
                        ? 0.5 + (size - 1) * (format_bench_below(it, 1000) / 1000.0)
                        : format_bench_below(it, size) + 0.25 + format_bench_below(it, 65) / 128.0;
      mst[i] = 2.0 * texel / size - 1.0;
   }
   for (uint32_t i = 0; i < 3; i++)
      at[i] = (float)(mst[faces[face].axis[i]] * faces[face].sign[i] * scale);
}

static void ask_sample(struct subject *subject, bool is_linear, bool has_fractions,
                       struct sample *out)
{
   struct format_bench *it = subject->bench;
   const struct image_shape *shape = subject->shape;
   int32_t level = (int32_t)format_bench_below(it, shape->levels + 3) - 1;
   uint32_t there = AGX_MIN((uint32_t)AGX_MAX(level, 0), shape->levels - 1);
   struct agx_image_region region = subject_level(subject, there);
   uint32_t d = shape->dimension;
   double fraction = has_fractions ? format_bench_below(it, 4) / 4.0 : 0.0;
   *out = (struct sample){.level = (float)(level + fraction)};
   double layer = (double)format_bench_below(it, shape->depth + 4) - 2.0 +
                  format_bench_below(it, 7) / 8.0 - 0.375;
   if (d >= CUBE) {
      /* Between levels what is inside of a face's filter in the smaller one is in the larger. */
      there = AGX_MIN(there + (fraction > 0.0), shape->levels - 1);
      ask_face(it, subject_level(subject, there).width, is_linear, out->at);
      out->at[3] = (float)layer;
      return;
   }
   out->at[0] = (float)near_texel(it, region.width);
   out->at[1] = (float)near_texel(it, region.height);
   out->at[2] = (float)(d == SOLID ? near_texel(it, region.depth) : layer);
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
   struct format_bench *it = subject->bench;
   struct sample *samples = it->request;
   struct agx_sampler *sampler;
   struct agx_sampler_desc desc = {.size = sizeof(desc),
                                   .magnify = is_linear,
                                   .minify = is_linear,
                                   .between_levels = between,
                                   .border = sampling->border};
   memcpy(desc.wrap, sampling->wrap, sizeof(desc.wrap));
   assert_ok(agx_sampler_create(it->fixture.device, &desc, &sampler));
   for (uint32_t i = 0; i < SAMPLES; i++)
      ask_sample(subject, is_linear, is_linear && between == AGX_FILTER_LINEAR, &samples[i]);
   subject_run(subject, SAMPLE, SAMPLES, 0, sampler);
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
      subject_compare(subject, i, want, slack, what);
   }
   agx_release(sampler);
}

static void check_samples(struct subject *subject, bool is_linear)
{
   struct format_bench *it = subject->bench;
   static const uint32_t betweens[] = {AGX_FILTER_NEAREST, AGX_FILTER_NONE, AGX_FILTER_LINEAR};
   uint32_t turn = it->turn++;
   for (uint32_t i = 0; i < AGX_COUNT(samplings); i++)
      if (it->takes_all || (i + turn) % 3 == 0)
         check_sampling(subject, &samplings[i], is_linear,
                        betweens[(i + turn / 3) % (is_linear ? 3 : 2)]);
}

void check_nearest(struct subject *subject)
{
   check_samples(subject, false);
}

void check_linear(struct subject *subject)
{
   if (subject->class == FORMAT_OF_FLOATS)
      check_samples(subject, true);
}
