/* SPDX-License-Identifier: MIT
 *
 * Float arithmetic as the hardware does it, on rows of bits: half and single
 * sources with their modifiers, flushing of single denormals, the canonical NaN,
 * saturation and rounding to half. Source: docs/hw/semantics.md 1 to 3.
 */
#pragma once

#include <math.h>
#include <stdbool.h>

#include "agx/sim/machine/lanes.h"

/* The processor's own flushing of denormal sources, which x86 can do as the GPU does: a
 * single denormal that is read counts as zero of the same sign. It is on while a
 * SIMD-group runs, so that the quick loops of float arithmetic need not look
 * at their sources. Other machines flush by hand: their modes flush results too, and by
 * another rule than the simulator's. */

#if defined(__SSE2__)
#include <xmmintrin.h>

#define AGXS_HOST_FLUSHES_SOURCES true
#define AGXS_DENORMALS_ARE_ZERO   0x40u

/* Returns what it was, for switching back. */
static inline bool agxs_host_flush(bool on)
{
   unsigned mode = _mm_getcsr();
   _mm_setcsr(on ? mode | AGXS_DENORMALS_ARE_ZERO : mode & ~AGXS_DENORMALS_ARE_ZERO);
   return mode & AGXS_DENORMALS_ARE_ZERO;
}
#else
#define AGXS_HOST_FLUSHES_SOURCES false

/* Such a host does it in software. */
static inline bool agxs_host_flush(bool on)
{
   return on;
}
#endif

#define AGXS_NAN32 0x7fc00000u
#define AGXS_NAN16 0x7e00u

struct agxs_floats {
   float lane[AGXS_LANES];
} __attribute__((aligned(64)));

/* The float with these bits. */
static inline float agxs_float(uint32_t bits)
{
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

/* The bits of a float. */
static inline uint32_t agxs_bits(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return bits;
}

/* Single denormals become zero of the same sign. */
static inline uint32_t agxs_flush(uint32_t bits)
{
   return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

/* The same of what arithmetic or a comparison reads next, where the processor does it. */
static inline uint32_t agxs_flush_source(uint32_t bits)
{
   return AGXS_HOST_FLUSHES_SOURCES ? bits : agxs_flush(bits);
}

/* Exact, without branches; a NaN keeps its sign and payload. The subtraction makes
 * normal numbers of half denormals. */
static inline uint32_t agxs_half_to_single(uint32_t half)
{
   uint32_t sign = (half & 0x8000) << 16;
   uint32_t shifted = (half & 0x7fff) << 13;
   uint32_t normal = shifted + (112u << 23);
   uint32_t special = shifted + (224u << 23);
   uint32_t small = agxs_bits(agxs_float((half & 0x7fff) | 0x4b000000u) - 8388608.0f);
   uint32_t scaled = small ? small - (24u << 23) : 0;
   uint32_t bits = (half & 0x7c00) == 0x7c00 ? special : (half & 0x7c00) == 0 ? scaled : normal;
   return sign | bits;
}

/* Rounds to nearest even, once; denormals kept, a NaN becomes the canonical one. */
static inline uint32_t agxs_single_to_half(uint32_t bits)
{
   uint32_t sign = bits >> 16 & 0x8000;
   uint32_t size = bits & 0x7fffffff;
   /* Adding 0.5 leaves a half denormal in the low bits, rounded by the addition. */
   uint32_t small = agxs_bits(agxs_float(size) + 0.5f) - 0x3f000000u;
   uint32_t normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
   uint32_t half = size < 0x38800000u ? small : normal;
   half = size >= 0x47800000u ? 0x7c00 : half;
   return size > 0x7f800000u ? AGXS_NAN16 : sign | half;
}

/* agxs_half_to_single of row << left >> 16, but a NaN may become another one: nothing that
 * takes floats from here lets them through. */
static inline void agxs_halves_to_singles(const struct agxs_row *row, unsigned left,
                                          struct agxs_row *out)
{
#if defined(__F16C__)
   const __m128i shift = _mm_cvtsi32_si128((int)left);
   for (unsigned i = 0; i < AGXS_LANES; i += 8) {
      __m256i half = _mm256_load_si256((const __m256i *)&row->lane[i]);
      half = _mm256_srli_epi32(_mm256_sll_epi32(half, shift), 16);
      const __m128i packed =
         _mm_packus_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
      _mm256_store_ps((float *)&out->lane[i], _mm256_cvtph_ps(packed));
   }
#else
   AGXS_FOR_LANES (i)
      out->lane[i] = agxs_half_to_single(row->lane[i] << left >> 16);
#endif
}

/* agxs_single_to_half of each lane. */
static inline void agxs_singles_to_halves(const struct agxs_row *row, struct agxs_row *out)
{
#if defined(__F16C__)
   for (unsigned i = 0; i < AGXS_LANES; i += 8) {
      const __m256 single = _mm256_load_ps((const float *)&row->lane[i]);
      const __m256 is_nan = _mm256_cmp_ps(single, single, _CMP_UNORD_Q);
      const __m128i packed = _mm256_cvtps_ph(single, _MM_FROUND_TO_NEAREST_INT);
      const __m256i half = _mm256_blendv_epi8(
         _mm256_cvtepu16_epi32(packed), _mm256_set1_epi32(AGXS_NAN16), _mm256_castps_si256(is_nan));
      _mm256_store_si256((__m256i *)&out->lane[i], half);
   }
#else
   AGXS_FOR_LANES (i)
      out->lane[i] = agxs_single_to_half(row->lane[i]);
#endif
}

/* A float source of either size as single bits. */
static inline void agxs_get_float(const struct agxs_group *group, const struct agxs_source *source,
                                  struct agxs_row *out)
{
   const struct agxs_row *row = agxs_source_row(group, source);
   uint32_t keep = source->keep, flip = source->flip;
   if (source->bits == 16) {
      agxs_halves_to_singles(row, source->left, out);
      AGXS_FOR_LANES (i)
         out->lane[i] = (out->lane[i] & keep) ^ flip;
   } else {
      AGXS_FOR_LANES (i)
         out->lane[i] = (agxs_flush(row->lane[i]) & keep) ^ flip;
   }
}

/* The same for arithmetic and comparisons (agxs_flush_source): the register's own row where
 * it will do, else room, filled. */
static inline const struct agxs_row *agxs_float_source(const struct agxs_group *group,
                                                       const struct agxs_uop *uop, unsigned index,
                                                       struct agxs_row *room)
{
   if (AGXS_HOST_FLUSHES_SOURCES && uop->reads_plain && !uop->modifies)
      return agxs_source_row(group, &uop->src[index]);
   agxs_get_float(group, &uop->src[index], room);
   return room;
}

/* NaN and everything up to zero give +0. */
static inline float agxs_saturate(float value)
{
   value = value > 0.0f ? value : 0.0f;
   return value < 1.0f ? value : 1.0f;
}

/* Step 1 and 2 of the single family, and the write: value is rounded to single. */
static inline void agxs_put_single(struct agxs_group *group, const struct agxs_uop *uop,
                                   const struct agxs_floats *value)
{
   struct agxs_row bits;
   if (uop->saturate) {
      AGXS_FOR_LANES (i)
         bits.lane[i] = agxs_flush(agxs_bits(agxs_saturate(value->lane[i])));
   } else {
      AGXS_FOR_LANES (i) {
         uint32_t raw = agxs_bits(value->lane[i]);
         bits.lane[i] = (raw & 0x7fffffff) > 0x7f800000u ? AGXS_NAN32 : agxs_flush(raw);
      }
   }
   if (uop->dst.bits == 16)
      agxs_singles_to_halves(&bits, &bits);
   agxs_put_u32(group, &uop->dst, &bits);
}

/* The half family: value is exact, or rounded so that rounding again is innocent. */
static inline void agxs_put_half(struct agxs_group *group, const struct agxs_uop *uop,
                                 const struct agxs_floats *value)
{
   struct agxs_row bits;
   AGXS_FOR_LANES (i)
      bits.lane[i] = agxs_bits(uop->saturate ? agxs_saturate(value->lane[i]) : value->lane[i]);
   agxs_singles_to_halves(&bits, &bits);
   agxs_put_u32(group, &uop->dst, &bits);
}
