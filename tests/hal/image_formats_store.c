/* SPDX-License-Identifier: MIT
 *
 * Stores to one image, what they leave in its memory, and what loads make of that.
 */
#include "format_bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

/* ---- stores and loads -------------------------------------------------- */

struct store {
   int32_t at[3];
   uint32_t is_load;
   uint32_t texel[4];
};

static float some_float(struct format_bench *it, enum format_reading reading)
{
   static const float special[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1.0f, -1.0f, 65504.0f,
                                   65519.0f, 65520.0f, 65408.f, 65535.0f, 1e30f, -1e30f, 0x1p-24f,
                                   0x1p-25f, 0x1p-14f, 0x1.8p-25f, 0x1p-20f, 64512.0f, 65024.0f,
                                   65023.f, 1.0009765625f / 2, 0.5f, 0.0031308f, 2049.0f, 2051.0f,
                                   0x1p-15f, 1e-40f, 0x1.ffep-15f,
                                   /* Shared exponents that rounding carries into. */
                                   0x1.ffcp0f, 0x1.ffcp14f};
   uint32_t kind = format_bench_below(it, 4);
   if (kind == 0)
      return special[format_bench_below(it, AGX_COUNT(special))];
   if (kind == 1 || reading != READ_FLOAT)
      return (float)format_bench_below(it, 1 << 24) * (1.4f / (1 << 24)) -
             (format_bench_below(it, 4) ? 0.0f : 1.2f);
   float value = ldexpf(1.0f + (float)format_bench_below(it, 1 << 20) / (1 << 20),
                        (int)format_bench_below(it, 46) - 28);
   return format_bench_below(it, 4) ? value : -value;
}

uint32_t some_value(struct subject *subject, uint32_t c)
{
   struct format_bench *it = subject->bench;
   uint32_t bits = 8, word = (uint32_t)agx_test_random(&it->rng);
   for (uint32_t i = 0; i < subject->model.count; i++)
      if (subject->model.part[i].channel == c)
         bits = subject->model.part[i].bits;
   if (subject->class == FORMAT_OF_FLOATS) {
      float value = some_float(it, subject->model.reading);
      memcpy(&word, &value, sizeof(word));
      return word;
   }
   return subject->class == FORMAT_OF_UINTS ? word >> (32 - bits)
                                            : (uint32_t)((int32_t)word >> (32 - bits));
}

double number_in(const struct subject *subject, uint32_t word)
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
   struct agx_image_region region = subject_level(subject, level);
   struct format_bench *it = subject->bench;
   struct store *stores = it->request;
   uint32_t count = 0, d = subject->shape->dimension;
   int32_t has_y = d >= FLAT, has_z = d != LINE && d != FLAT;
   for (int32_t z = -has_z; z < (int32_t)region.depth + has_z; z++)
      for (int32_t y = -has_y; y < (int32_t)region.height + has_y; y++)
         for (int32_t x = -1; x < (int32_t)region.width + 1; x++)
            if (format_bench_below(it, 8))
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

/* Compares with what the host finds, which then is what the host knows. */
static void check_stored(struct subject *subject, uint32_t level, uint32_t count)
{
   static uint8_t found[MAX_IMAGE_B];
   const struct image_shape *shape = subject->shape;
   const struct store *stores = subject->bench->request;
   uint32_t texel_B = subject->model.texel_B;
   struct agx_image_region region = subject_level(subject, level);
   assert_ok(agx_image_read(subject->image, &region, found, 0, 0));
   for (uint32_t i = 0; i < count; i++) {
      const struct store *s = &stores[i];
      if (!is_in_region(&region, s->at))
         continue;
      uint8_t *known =
         subject_texel(subject, level, (uint32_t)s->at[0], (uint32_t)s->at[1], (uint32_t)s->at[2]);
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
      region = subject_level(subject, l);
      assert_ok(agx_image_read(subject->image, &region, found, 0, 0));
      if (memcmp(found, subject->texels + subject->level_at[l],
                 (size_t)region.width * region.height * region.depth * texel_B))
         fail_msg("%s, dimension %u, flags %u: stores to level %u have changed other texels of "
                  "level %u",
                  subject->model.name, shape->dimension, shape->flags, level, l);
   }
}

static void check_loaded(struct subject *subject, uint32_t level, uint32_t count)
{
   struct store *stores = subject->bench->request;
   for (uint32_t i = 0; i < count; i++)
      stores[i].is_load = 1;
   subject_run(subject, STORE, count, level, NULL);
   for (uint32_t i = 0; i < count; i++) {
      const int32_t *at = stores[i].at;
      double want[4];
      char what[80];
      subject_decode(subject, level, at, want);
      snprintf(what, sizeof(what), "load of %d, %d, %d, level %u:", at[0], at[1], at[2], level);
      subject_compare(subject, i, want, NULL, what);
   }
}

void check_stores(struct subject *subject)
{
   if (subject->shape->dimension == CUBES)
      return;
   for (uint32_t level = 0; level < subject->shape->levels; level++) {
      uint32_t count = ask_stores(subject, level);
      subject_run(subject, STORE, count, level, NULL);
      check_stored(subject, level, count);
      check_loaded(subject, level, count);
   }
}
