/* SPDX-License-Identifier: MIT
 *
 * Float unaries and conversions between floats and integers. The functions that
 * the hardware approximates are computed in double and rounded once. Source:
 * docs/hw/semantics.md 3 and 4; [U] special values of rsqrts and the sine
 * pair, floats that no integer can hold (clamped; NaN gives 0).
 */
#include "agx/sim/exec/functions_impl.h"
#include "agx/sim/machine/floats.h"
#include "agx/sim/exec/transcendental_impl.h"

#define FLOAT_UNARY(name, expression)                                                              \
   const struct agxs_uop *AGXS_EXEC(name)(struct agxs_group * group, const struct agxs_uop *uop)   \
   {                                                                                               \
      struct agxs_row a;                                                                           \
      struct agxs_floats d;                                                                        \
      agxs_get_float(group, &uop->src[0], &a);                                                     \
      AGXS_FOR_LANES (i) {                                                                         \
         float x = agxs_float(a.lane[i]);                                                          \
         d.lane[i] = (expression);                                                                 \
      }                                                                                            \
      agxs_put_single(group, uop, &d);                                                             \
      return uop + 1;                                                                              \
   }

static inline double reciprocal_root(double x)
{
   return 1.0 / sqrt(x);
}

/* x * rsqrts(x) must be sqrt(x) at 0 and infinity, so neither may give the other. */
static inline double reciprocal_root_for_sqrt(double x)
{
   return x == 0.0 ? 0.0 : x == INFINITY ? (double)INFINITY : 1.0 / sqrt(x);
}

/* The angle in quarter turns, 0..4, folded to -1..1 with the same sine. */
static inline float fold_quarter_turns(float q)
{
   return q < 1.0f ? q : q < 3.0f ? 2.0f - q : q - 4.0f;
}

static inline double sine_over_turn(double r)
{
   return r == 0.0 ? AGXS_HALF_PI : sin(r * AGXS_HALF_PI) / r;
}

/* Nearest even without the rounding mode: adding 2^23 leaves no room for fractions. */
static inline float round_to_even(float x)
{
   float size = fabsf(x);
   float whole = size < 8388608.0f ? (size + 8388608.0f) - 8388608.0f : size;
   return copysignf(whole, x);
}

FLOAT_UNARY(floor, floorf(x))
FLOAT_UNARY(ceil, ceilf(x))
FLOAT_UNARY(trunc, truncf(x))
FLOAT_UNARY(rint, round_to_even(x))
FLOAT_UNARY(rcp, 1.0f / x)
FLOAT_UNARY(rsqrt, (float)reciprocal_root((double)x))
FLOAT_UNARY(rsqrts, (float)reciprocal_root_for_sqrt((double)x))
FLOAT_UNARY(log2, agxs_log2(x))
FLOAT_UNARY(exp2, agxs_exp2(x))
FLOAT_UNARY(sinr, fold_quarter_turns(x))

/* Quarter turns that sinr left within -1 to 1, which is all it gives for 0 to 4. */
const struct agxs_uop *AGXS_EXEC(sinc)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a;
   struct agxs_floats d;
   uint32_t far = 0;
   agxs_get_float(group, &uop->src[0], &a);
   AGXS_FOR_LANES (i)
      far |= (a.lane[i] & 0x7fffffff) > 0x3f800000u ? ~0u : 0u;
   AGXS_FOR_LANES (i)
      d.lane[i] = agxs_sine_over_turn(agxs_float(a.lane[i]));
   for (unsigned i = 0; i < AGXS_LANES && far; i++) {
      float x = agxs_float(a.lane[i]);
      d.lane[i] = fabsf(x) <= 1.0f ? d.lane[i] : (float)sine_over_turn((double)x);
   }
   agxs_put_single(group, uop, &d);
   return uop + 1;
}

/* The neighbour with this lane bit set minus the one without it. */
static void derive(struct agxs_group *group, const struct agxs_uop *uop, unsigned bit)
{
   struct agxs_row a;
   struct agxs_floats d;
   agxs_get_float(group, &uop->src[0], &a);
   AGXS_FOR_LANES (i)
      d.lane[i] = agxs_float(a.lane[i | bit]) - agxs_float(a.lane[i & ~bit]);
   agxs_put_single(group, uop, &d);
}

const struct agxs_uop *AGXS_EXEC(dfdx)(struct agxs_group *group, const struct agxs_uop *uop)
{
   derive(group, uop, 1);
   return uop + 1;
}

const struct agxs_uop *AGXS_EXEC(dfdy)(struct agxs_group *group, const struct agxs_uop *uop)
{
   derive(group, uop, 2);
   return uop + 1;
}

/* Rounds an integer's magnitude to `digits` significant bits, to nearest even or
 * toward zero; exact integers of at most 33 bits come out. */
static inline uint64_t round_magnitude(uint64_t magnitude, unsigned digits, bool nearest)
{
   unsigned width = magnitude ? 64 - (unsigned)__builtin_clzll(magnitude) : 0;
   if (width <= digits)
      return magnitude;
   unsigned drop = width - digits;
   uint64_t kept = magnitude >> drop, lost = magnitude & ((1ull << drop) - 1);
   uint64_t tie = 1ull << (drop - 1);
   if (nearest && (lost > tie || (lost == tie && (kept & 1))))
      kept++;
   return kept << drop;
}

/* The float bits of an integer, rounded once to the destination's size. */
static inline uint32_t int_to_float(bool negative, uint64_t magnitude, unsigned bits, bool nearest)
{
   uint64_t rounded = round_magnitude(magnitude, bits == 16 ? 11 : 24, nearest);
   if (bits == 32)
      return agxs_bits((float)rounded) | (negative ? 0x80000000u : 0);
   uint32_t half = rounded < 65536 ? agxs_single_to_half(agxs_bits((float)rounded))
                   : nearest       ? 0x7c00
                                   : 0x7bff;
   return half | (negative ? 0x8000u : 0);
}

/* To single, to nearest: what C's conversions do. */
static void convert_nearest(struct agxs_group *group, const struct agxs_uop *uop,
                            struct agxs_row *value)
{
   if (uop->is_signed) {
      AGXS_FOR_LANES (i)
         value->lane[i] = agxs_bits((float)(int32_t)value->lane[i]);
   } else {
      AGXS_FOR_LANES (i)
         value->lane[i] = agxs_bits((float)value->lane[i]);
   }
   agxs_put_u32(group, &uop->dst, value);
}

/* uop->count: the integer's size. */
const struct agxs_uop *AGXS_EXEC(int_to_f)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a;
   unsigned unused = 32 - uop->count;
   bool nearest = uop->mode == AGX_ISA_ROUND_RTE;
   agxs_get_u32(group, &uop->src[0], &a);
   AGXS_FOR_LANES (i) {
      uint32_t raised = a.lane[i] << unused;
      a.lane[i] = uop->is_signed ? (uint32_t)((int32_t)raised >> unused) : raised >> unused;
   }
   if (nearest && uop->dst.bits == 32) {
      convert_nearest(group, uop, &a);
      return uop + 1;
   }
   AGXS_FOR_LANES (i) {
      bool negative = uop->is_signed && a.lane[i] >> 31;
      uint32_t magnitude = negative ? 0u - a.lane[i] : a.lane[i];
      a.lane[i] = int_to_float(negative, magnitude, uop->dst.bits, nearest);
   }
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}

/* Clamped to the integer's range; NaN gives 0. Conversions cut fractions off. Only what fits
 * is converted, so that all machines agree. */
#define BELOW_2_31 2147483520.0f /* the largest float that is */

AGXS_INLINE float bound(float x, float low, float high)
{
   const float least = x > low ? x : low; /* NaN: low */
   return least < high ? least : high;
}

AGXS_INLINE uint32_t to_u32(float x)
{
   const uint32_t large = x >= 2147483648.0f ? 0x80000000u : 0;
   const float rest = x - (large ? 2147483648.0f : 0.0f);
   const uint32_t value = (uint32_t)(int32_t)bound(rest, 0.0f, BELOW_2_31) | large;
   return x >= 4294967296.0f ? ~0u : value;
}

AGXS_INLINE uint32_t to_s32(float x)
{
   const uint32_t ordered = x == x ? ~0u : 0;
   const uint32_t value = (uint32_t)(int32_t)bound(x, -2147483648.0f, BELOW_2_31) & ordered;
   return x >= 2147483648.0f ? 0x7fffffffu : value;
}

AGXS_INLINE uint32_t to_small(float x, float low, float high)
{
   const uint32_t ordered = x == x ? ~0u : 0;
   return (uint32_t)(int32_t)bound(x, low, high) & ordered;
}

const struct agxs_uop *AGXS_EXEC(f_to_int)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a;
   agxs_get_float(group, &uop->src[0], &a);
   if (uop->mode == AGX_ISA_ROUND_RTE) {
      AGXS_FOR_LANES (i)
         a.lane[i] = agxs_bits(round_to_even(agxs_float(a.lane[i])));
   }
   if (uop->count != 32) {
      const float span = (float)(1u << (uop->is_signed ? uop->count - 1 : uop->count));
      const float low = uop->is_signed ? -span : 0.0f, high = span - 1.0f;
      AGXS_FOR_LANES (i)
         a.lane[i] = to_small(agxs_float(a.lane[i]), low, high);
   } else if (uop->is_signed) {
      AGXS_FOR_LANES (i)
         a.lane[i] = to_s32(agxs_float(a.lane[i]));
   } else {
      AGXS_FOR_LANES (i)
         a.lane[i] = to_u32(agxs_float(a.lane[i]));
   }
   agxs_put_u32(group, &uop->dst, &a);
   return uop + 1;
}
