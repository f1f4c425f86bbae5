/* SPDX-License-Identifier: MIT
 *
 * Deterministic inputs and the comparison of outputs. The generators' arithmetic is
 * fixed by the corpus: a value depends on seed and index only.
 */
#include "manifest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/half.h"
#include "base/util.h"

/* 64 well-mixed bits of seed and index (the splitmix64 finaliser). */
static uint64_t mix(uint64_t seed, uint64_t index)
{
   uint64_t x = seed * 0x100000001b3ull + index + 0x9e3779b97f4a7c15ull;
   x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
   x = (x ^ x >> 27) * 0x94d049bb133111ebull;
   return x ^ x >> 31;
}

/* A float in [0, 1) with 24 random bits. */
static float unit(uint64_t seed, uint64_t index)
{
   return (float)(mix(seed, index) >> 40) * 0x1p-24f;
}

static uint32_t word_at(const struct agx_manifest_init *init, uint64_t i)
{
   uint32_t random = (uint32_t)(mix(init->seed, i) >> 32);
   float value = init->value;
   uint32_t bits = 0;
   switch (init->kind) {
   case AGX_INIT_FILL_U32:
      return (uint32_t)init->seed;
   case AGX_INIT_IOTA:
      return (uint32_t)i;
   case AGX_INIT_RAMP_U32:
      return (uint32_t)(init->seed + i * init->step);
   case AGX_INIT_RAND_U32:
      return init->step ? random % (uint32_t)init->step : random;
   case AGX_INIT_BITS:
      return random % 100 < init->step;
   case AGX_INIT_RAND_F32:
      value = init->low + (init->high - init->low) * unit(init->seed, i);
      break;
   default: /* AGX_INIT_FILL_F32 */
      break;
   }
   memcpy(&bits, &value, sizeof(bits));
   return bits;
}

/* Blocks of quantised weights: a half-precision scale, then random bytes. */
static void fill_quantised(uint64_t seed, uint8_t *data, uint64_t size, unsigned block_B,
                           float scale)
{
   for (uint64_t i = 0; i + block_B <= size; i += block_B) {
      uint16_t half = agx_half_from_float(scale + 2 * scale * unit(seed, i));
      memcpy(data + i, &half, sizeof(half));
      for (unsigned j = 2; j < block_B; j++)
         data[i + j] = (uint8_t)(mix(seed, i + j) >> 40);
   }
}

static void fill_halves(const struct agx_manifest_init *init, uint8_t *data, uint64_t size)
{
   for (uint64_t i = 0; i < size / 2; i++) {
      float value = init->low + (init->high - init->low) * unit(init->seed, i);
      uint16_t half = agx_half_from_float(value);
      memcpy(data + i * 2, &half, sizeof(half));
   }
}

uint32_t agx_manifest_field_bytes(enum agx_manifest_field_type type)
{
   static const uint8_t bytes[] = {
      [AGX_FIELD_U8] = 1,  [AGX_FIELD_U16] = 2, [AGX_FIELD_U32] = 4, [AGX_FIELD_U64] = 8,
      [AGX_FIELD_F16] = 2, [AGX_FIELD_F32] = 4, [AGX_FIELD_F64] = 8,
   };
   return bytes[type];
}

/* Bits of a field's value; index counts the values of the whole buffer. */
static uint64_t field_bits(const struct agx_manifest_field *field, uint64_t seed, uint64_t index)
{
   uint64_t random = mix(seed, index) >> 40;
   double real = field->has_value ? field->value : 0.25 + unit(seed, index);
   float single = (float)real;
   uint32_t word;
   uint64_t wide = 0;
   switch (field->type) {
   case AGX_FIELD_F16:
      return agx_half_from_float(single);
   case AGX_FIELD_F32:
      memcpy(&word, &single, sizeof(word));
      return word;
   case AGX_FIELD_F64:
      memcpy(&wide, &real, sizeof(wide));
      return wide;
   default:
      break;
   }
   if (field->has_value)
      return field->value < 0 ? (uint64_t)(int64_t)field->value : (uint64_t)field->value;
   return field->type == AGX_FIELD_U8 || field->type == AGX_FIELD_U16 ? random & 255 : random & 15;
}

/* Little-endian, as the GPU reads it. What goes beyond the buffer is left out. */
static void fill_field(const struct agx_manifest_init *init, const struct agx_manifest_field *field,
                       uint64_t base, uint8_t *data, uint64_t size)
{
   uint32_t bytes = agx_manifest_field_bytes(field->type);
   for (uint32_t i = 0; i < field->count; i++) {
      uint64_t at = base + field->offset_B + (uint64_t)i * bytes;
      if (at + bytes > size)
         return;
      uint64_t bits = field_bits(field, init->seed, at);
      for (uint32_t byte = 0; byte < bytes; byte++)
         data[at + byte] = (uint8_t)(bits >> 8 * byte);
   }
}

static void fill_records(const struct agx_manifest_init *init, uint8_t *data, uint64_t size)
{
   for (uint32_t i = 0; i < init->field_count; i++) {
      const struct agx_manifest_field *field = &init->fields[i];
      bool is_once = field->offset_B < init->head_B;
      for (uint64_t base = 0; base + init->head_B < size || base == 0; base += init->stride_B) {
         fill_field(init, field, base, data, size);
         if (is_once)
            break;
      }
   }
}

void agx_manifest_fill(const struct agx_manifest_init *init, void *data, uint64_t size,
                       uint64_t (*address_of)(void *user, uint32_t id), void *user)
{
   uint8_t *bytes = data;
   memset(data, 0, size);
   switch (init->kind) {
   case AGX_INIT_ZERO:
   case AGX_INIT_FILE: /* agx_manifest_fill_resource */
      return;
   case AGX_INIT_RAND_U8:
      for (uint64_t i = 0; i < size; i++)
         bytes[i] = (uint8_t)(mix(init->seed, i) >> 40);
      return;
   case AGX_INIT_RAND_F16:
      fill_halves(init, bytes, size);
      return;
   case AGX_INIT_Q4_0:
      fill_quantised(init->seed, bytes, size, 18, 0.01f);
      return;
   case AGX_INIT_Q8_0:
      fill_quantised(init->seed, bytes, size, 34, 0.001f);
      return;
   case AGX_INIT_RECORDS:
      fill_records(init, bytes, size);
      return;
   case AGX_INIT_ADDRS:
      for (uint32_t i = 0; i < init->id_count && (i + 1) * 8ull <= size; i++) {
         uint64_t address = address_of ? address_of(user, init->ids[i]) : 0;
         memcpy(bytes + i * 8, &address, sizeof(address));
      }
      return;
   default:
      for (uint64_t i = 0; i < size / 4; i++) {
         uint32_t word = word_at(init, i);
         memcpy(bytes + i * 4, &word, sizeof(word));
      }
   }
}

/* At most the buffer's size; the rest is zero. */
static agx_status read_file(const char *path, void *data, uint64_t size)
{
   FILE *file = fopen(path, "rb");
   if (!file)
      return agx_status_fail_errno(errno, "%s", path);
   size_t got = fread(data, 1, size, file);
   bool is_longer = got == size && fgetc(file) != EOF, is_bad = ferror(file);
   fclose(file);
   if (is_bad)
      return AGX_FAIL(AGX_DATA_LOSS, "%s: read error", path);
   if (is_longer)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: larger than its buffer of %llu bytes", path,
                      (unsigned long long)size);
   memset((uint8_t *)data + got, 0, size - got);
   return AGX_OK;
}

agx_status agx_manifest_fill_resource(const struct agx_manifest *manifest,
                                      const struct agx_manifest_resource *resource, void *data,
                                      uint64_t size,
                                      uint64_t (*address_of)(void *user, uint32_t id), void *user)
{
   if (resource->init.kind == AGX_INIT_FILE)
      AGX_TRY(read_file(resource->file, data, size));
   else
      agx_manifest_fill(&resource->init, data, size, address_of, user);
   for (uint32_t i = 0; i < manifest->point_count; i++) {
      const struct agx_manifest_pointer *point = &manifest->points[i];
      if (point->id != resource->id || !agx_range_fits(point->offset_B, 8, size))
         continue;
      uint64_t address = (address_of ? address_of(user, point->target) : 0) + point->place_B;
      memcpy((uint8_t *)data + point->offset_B, &address, sizeof(address));
   }
   return AGX_OK;
}

uint64_t agx_fnv1a(uint64_t hash, const void *data, size_t size)
{
   const uint8_t *bytes = data;
   for (size_t i = 0; i < size; i++)
      hash = (hash ^ bytes[i]) * 0x100000001b3ull;
   return hash;
}

static double float_at(const void *data, uint64_t i, bool half)
{
   uint16_t h;
   float f;
   if (half) {
      memcpy(&h, (const char *)data + i * 2, sizeof(h));
      return agx_half_to_float(h);
   }
   memcpy(&f, (const char *)data + i * 4, sizeof(f));
   return f;
}

static bool compare_floats(const struct agx_manifest *m, const void *got, const void *reference,
                           uint64_t size, char *text, size_t capacity)
{
   bool half = m->compare == AGX_COMPARE_F16;
   uint64_t wrong = 0, first = 0;
   double worst = 0;
   for (uint64_t i = 0; i < size / (half ? 2 : 4); i++) {
      double a = float_at(got, i, half), b = float_at(reference, i, half);
      if ((isnan(a) && isnan(b)) || a == b)
         continue;
      double difference = fabs(a - b);
      worst = difference > worst ? difference : worst;
      bool within = isfinite(b) && difference <= m->atol + m->rtol * fabs(b);
      if (!within && wrong++ == 0)
         first = i;
   }
   if (wrong)
      snprintf(text, capacity, "%llu elements beyond the tolerance, first [%llu]: %.9g, want %.9g",
               (unsigned long long)wrong, (unsigned long long)first, float_at(got, first, half),
               float_at(reference, first, half));
   else
      snprintf(text, capacity, "close, worst difference %.3g", worst);
   return wrong == 0;
}

static bool compare_words(const struct agx_manifest *m, const void *got, const void *reference,
                          uint64_t size, char *text, size_t capacity)
{
   uint64_t wrong = 0, first = 0, words = size / 4;
   for (uint64_t i = 0; i < words; i++)
      if (memcmp((const char *)got + i * 4, (const char *)reference + i * 4, 4) != 0 &&
          wrong++ == 0)
         first = i;
   double percent = words ? 100.0 * (double)wrong / (double)words : 0;
   snprintf(text, capacity, "%.2f %% of words differ, first [%llu]", percent,
            (unsigned long long)first);
   return percent <= m->rtol;
}

static bool compare_bytes(const void *got, const void *reference, uint64_t size, char *text,
                          size_t capacity)
{
   const uint8_t *a = got, *b = reference;
   uint64_t wrong = 0, first = 0;
   for (uint64_t i = 0; i < size; i++)
      if (a[i] != b[i] && wrong++ == 0)
         first = i;
   uint64_t word = first & ~3ull;
   uint32_t got_word = 0, want_word = 0;
   memcpy(&got_word, a + word, AGX_MIN(4, size - word));
   memcpy(&want_word, b + word, AGX_MIN(4, size - word));
   snprintf(text, capacity, "%llu bytes differ, first at byte %llu: word 0x%08x, want 0x%08x",
            (unsigned long long)wrong, (unsigned long long)first, got_word, want_word);
   return false;
}

bool agx_manifest_compare(const struct agx_manifest *manifest, const void *got,
                          const void *reference, uint64_t size, char *text, size_t capacity)
{
   if (manifest->compare == AGX_COMPARE_NONE) {
      snprintf(text, capacity, "not compared");
      return true;
   }
   if (memcmp(got, reference, size) == 0) {
      snprintf(text, capacity, "same");
      return true;
   }
   switch (manifest->compare) {
   case AGX_COMPARE_F32:
   case AGX_COMPARE_F16:
      return compare_floats(manifest, got, reference, size, text, capacity);
   case AGX_COMPARE_MOSTLY:
      return compare_words(manifest, got, reference, size, text, capacity);
   default:
      return compare_bytes(got, reference, size, text, capacity);
   }
}
