/* SPDX-License-Identifier: MIT
 *
 * Add, multiply and fused multiply-add of the single and half families.
 * Source: docs/hw/semantics.md 1 and 2. [U] A result that rounds up to the
 * smallest normal number is kept; whether the hardware flushes it (by the
 * exponent before rounding) is an open question.
 */
#include "agx/sim/exec/functions_impl.h"
#include "agx/sim/machine/floats.h"

/* What a single source gives and how a result is kept; see floats.h. */
AGXS_INLINE float read_single(const struct agxs_row *row, const struct agxs_source *source,
                              unsigned i, bool modifies)
{
   const uint32_t bits = agxs_flush_source(row->lane[i]);
   return agxs_float(modifies ? (bits & source->keep) ^ source->flip : bits);
}

AGXS_INLINE uint32_t keep_single(float value)
{
   const uint32_t raw = agxs_bits(value);
   const uint32_t tiny = raw & 0x7f800000u ? 0 : 0x7fffffffu;
   return value != value ? AGXS_NAN32 : raw & ~tiny;
}

/* The quick way, for single registers without saturation: one loop. */
#define SINGLE_OPERATION(name, expression)                                                         \
   AGXS_INLINE void name##_loop(struct agxs_group *group, const struct agxs_uop *uop,              \
                                bool modifies, bool is_all)                                        \
   {                                                                                               \
      const struct agxs_row *a = agxs_source_row(group, &uop->src[0]);                             \
      const struct agxs_row *b = agxs_source_row(group, &uop->src[1]);                             \
      const struct agxs_row *c = agxs_source_row(group, &uop->src[2]);                             \
      const struct agxs_source sa = uop->src[0], sb = uop->src[1], sc = uop->src[2];               \
      const struct agxs_writer d = agxs_writer(group, &uop->dst);                                  \
      AGXS_EACH_LANE (i) {                                                                         \
         const float x = read_single(a, &sa, i, modifies), y = read_single(b, &sb, i, modifies);   \
         const float z = read_single(c, &sc, i, modifies);                                         \
         (void)z;                                                                                  \
         agxs_write(&d, i, keep_single(expression), true, is_all);                                 \
      }                                                                                            \
   }                                                                                               \
   static void name##_any(struct agxs_group *group, const struct agxs_uop *uop)                    \
   {                                                                                               \
      struct agxs_row a, b, c;                                                                     \
      struct agxs_floats d;                                                                        \
      agxs_get_float(group, &uop->src[0], &a);                                                     \
      agxs_get_float(group, &uop->src[1], &b);                                                     \
      agxs_get_float(group, &uop->src[2], &c);                                                     \
      AGXS_FOR_LANES (i) {                                                                         \
         const float x = agxs_float(a.lane[i]), y = agxs_float(b.lane[i]);                         \
         const float z = agxs_float(c.lane[i]);                                                    \
         (void)z;                                                                                  \
         d.lane[i] = (expression);                                                                 \
      }                                                                                            \
      agxs_put_single(group, uop, &d);                                                             \
   }                                                                                               \
   const struct agxs_uop *AGXS_EXEC(name)(struct agxs_group * group, const struct agxs_uop *uop)   \
   {                                                                                               \
      if (!uop->is_plain)                                                                          \
         name##_any(group, uop);                                                                   \
      else if (group->active != ~0u)                                                               \
         name##_loop(group, uop, true, false);                                                     \
      else if (uop->modifies)                                                                      \
         name##_loop(group, uop, true, true);                                                      \
      else                                                                                         \
         name##_loop(group, uop, false, true);                                                     \
      return uop + 1;                                                                              \
   }

SINGLE_OPERATION(fadd, x + y)
SINGLE_OPERATION(fmul, x *y)
SINGLE_OPERATION(ffma, fmaf(x, y, z))

/* A sum of two halves that single can't hold is so far from any tie of half
 * precision that rounding twice gives what rounding once does (24 >= 2 * 11 + 2). */
const struct agxs_uop *AGXS_EXEC(hadd)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b;
   struct agxs_floats d;
   agxs_get_float(group, &uop->src[0], &a);
   agxs_get_float(group, &uop->src[1], &b);
   AGXS_FOR_LANES (i)
      d.lane[i] = agxs_float(a.lane[i]) + agxs_float(b.lane[i]);
   agxs_put_half(group, uop, &d);
   return uop + 1;
}

/* The product of two halves is exact in single. */
const struct agxs_uop *AGXS_EXEC(hmul)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b;
   struct agxs_floats d;
   agxs_get_float(group, &uop->src[0], &a);
   agxs_get_float(group, &uop->src[1], &b);
   AGXS_FOR_LANES (i)
      d.lane[i] = agxs_float(a.lane[i]) * agxs_float(b.lane[i]);
   agxs_put_half(group, uop, &d);
   return uop + 1;
}

/* x + y rounded to odd: of the two singles around the sum the one whose last bit is set, unless
 * the sum is one itself. With two digits more than half precision needs, rounding that to half
 * is as good as rounding the sum. */
AGXS_INLINE float add_to_odd(float x, float y)
{
   const float sum = x + y, back = sum - x;
   const float lost = (x - (sum - back)) + (y - back); /* exact */
   const uint32_t bits = agxs_bits(sum), even = ~bits & 1;
   const uint32_t is_lost = lost > 0.0f || lost < 0.0f ? even : 0;
   const uint32_t is_apart = (bits ^ agxs_bits(lost)) >> 31; /* lost points to zero */
   return agxs_float(bits + is_lost - 2 * (is_lost & is_apart));
}

/* The product is exact in single: 22 digits, and nothing below 2^-48. */
const struct agxs_uop *AGXS_EXEC(hfma)(struct agxs_group *group, const struct agxs_uop *uop)
{
   struct agxs_row a, b, c;
   struct agxs_floats d;
   agxs_get_float(group, &uop->src[0], &a);
   agxs_get_float(group, &uop->src[1], &b);
   agxs_get_float(group, &uop->src[2], &c);
   AGXS_FOR_LANES (i) {
      const float product = agxs_float(a.lane[i]) * agxs_float(b.lane[i]);
      d.lane[i] = add_to_odd(product, agxs_float(c.lane[i]));
   }
   agxs_put_half(group, uop, &d);
   return uop + 1;
}
