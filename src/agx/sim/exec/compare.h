/* SPDX-License-Identifier: MIT
 *
 * What the shadow shares with execution: shuffles, and integer and float conditions of the first
 * two sources, for selects, ballots and the execution mask. Source: docs/hw/semantics.md 8.
 */
#pragma once

#include "agx/sim/machine/floats.h"
#include "agx/sim/machine/machine.h"

/* How an integer condition is tested: for less or equal, "greater" with its sources swapped,
 * unsigned numbers with their top bits flipped. */
struct agxs_int_condition {
   struct agxs_reader a, b;
   uint32_t bias, flip;
   bool is_equal;
};

/* Reads what an integer comparison needs of its instruction. */
static inline struct agxs_int_condition agxs_int_condition(const struct agxs_group *group,
                                                           const struct agxs_uop *uop)
{
   const bool is_swapped = uop->mode == AGX_ISA_ICOND_UGT || uop->mode == AGX_ISA_ICOND_SGT;
   const bool is_unsigned = uop->mode == AGX_ISA_ICOND_ULT || uop->mode == AGX_ISA_ICOND_UGT;
   return (struct agxs_int_condition){
      .a = agxs_reader(group, &uop->src[is_swapped]),
      .b = agxs_reader(group, &uop->src[!is_swapped]),
      .bias = is_unsigned ? 0x80000000u : 0,
      .flip = uop->invert ? ~0u : 0,
      .is_equal = !is_swapped && !is_unsigned && uop->mode != AGX_ISA_ICOND_SLT,
   };
}

/* All ones where it holds. */
AGXS_INLINE uint32_t agxs_int_truth(const struct agxs_int_condition *condition, unsigned i,
                                    bool is_plain, bool is_equal)
{
   const uint32_t x = agxs_read(&condition->a, i, is_plain);
   const uint32_t y = agxs_read(&condition->b, i, is_plain);
   const bool less = (int32_t)(x ^ condition->bias) < (int32_t)(y ^ condition->bias);
   return ((is_equal ? x == y : less) ? ~0u : 0u) ^ condition->flip;
}

/* The loop of agxs_compare_int; the last parameters are constants. */
AGXS_INLINE void agxs_compare_int_loop(const struct agxs_int_condition condition,
                                       struct agxs_row *out, bool is_plain, bool is_equal)
{
   AGXS_FOR_LANES (i)
      out->lane[i] = agxs_int_truth(&condition, i, is_plain, is_equal);
}

/* All ones in the lanes where the condition holds, active or not. Decoding has
 * refused unknown conditions and marked the sources of signed ones. */
static inline void agxs_compare_int(const struct agxs_group *group, const struct agxs_uop *uop,
                                    struct agxs_row *out)
{
   const struct agxs_int_condition condition = agxs_int_condition(group, uop);
   if (!uop->reads_plain && condition.is_equal)
      agxs_compare_int_loop(condition, out, false, true);
   else if (!uop->reads_plain)
      agxs_compare_int_loop(condition, out, false, false);
   else if (condition.is_equal)
      agxs_compare_int_loop(condition, out, true, true);
   else
      agxs_compare_int_loop(condition, out, true, false);
}

#define AGXS_COMPARE_FLOAT(condition)                                                              \
   AGXS_FOR_LANES (i) {                                                                            \
      const float x = agxs_float(a->lane[i]), y = agxs_float(b->lane[i]);                          \
      out->lane[i] = ((condition) ? ~0u : 0u) ^ flip;                                              \
   }

/* All ones in the lanes where the float comparison holds. */
static inline void agxs_compare_float(const struct agxs_group *group, const struct agxs_uop *uop,
                                      struct agxs_row *out)
{
   struct agxs_row room[2];
   uint32_t flip = uop->invert ? ~0u : 0;
   const struct agxs_row *a = agxs_float_source(group, uop, 0, &room[0]);
   const struct agxs_row *b = agxs_float_source(group, uop, 1, &room[1]);
   switch (uop->mode) {
   case AGX_ISA_FCOND_FLT:
      AGXS_COMPARE_FLOAT(x < y);
      break;
   case AGX_ISA_FCOND_FGT:
      AGXS_COMPARE_FLOAT(x > y);
      break;
   case AGX_ISA_FCOND_FGTE:
      AGXS_COMPARE_FLOAT(x >= y);
      break;
   case AGX_ISA_FCOND_FLTE:
      AGXS_COMPARE_FLOAT(x <= y);
      break;
   case AGX_ISA_FCOND_FLTN: /* or b is NaN */
      AGXS_COMPARE_FLOAT((x < y) | (y != y));
      break;
   case AGX_ISA_FCOND_FGTN:
      AGXS_COMPARE_FLOAT((x > y) | (y != y));
      break;
   default:
      AGXS_COMPARE_FLOAT(x == y);
      break;
   }
}

/* Which lane a shuffle takes its value from: what the lane asks for, and what its quad
 * makes of that. Source: docs/hw/semantics.md 11. */

/* The lane that a quad gives at position j once its own offset k is applied. */
static inline unsigned agxs_shuffle_source(const struct agxs_uop *uop, unsigned quad, unsigned j,
                                           unsigned k)
{
   switch (uop->mode) {
   case AGX_ISA_SHUFFLE_OP_INDEX:
      return quad + k;
   case AGX_ISA_SHUFFLE_OP_XOR:
      return quad + ((j ^ k) & 3);
   case AGX_ISA_SHUFFLE_OP_DOWN:
      return quad + ((j + k) & 3);
   default:
      return quad + ((j - k) & 3);
   }
}

/* The lane that lane l asks for, before quads combine; 32 and above: none. */
static inline uint32_t agxs_shuffle_wanted(const struct agxs_uop *uop, unsigned l, uint32_t b)
{
   uint32_t wanted;
   if (!uop->window) { /* [U] the same inside one quad */
      uint32_t inside = uop->mode == AGX_ISA_SHUFFLE_OP_INDEX  ? b
                        : uop->mode == AGX_ISA_SHUFFLE_OP_XOR  ? l ^ b
                        : uop->mode == AGX_ISA_SHUFFLE_OP_DOWN ? l + b
                                                               : l - b;
      return (l & ~3u) | (inside & 3);
   }
   switch (uop->mode) {
   case AGX_ISA_SHUFFLE_OP_INDEX:
      wanted = b;
      break;
   case AGX_ISA_SHUFFLE_OP_XOR:
      wanted = l ^ b;
      break;
   case AGX_ISA_SHUFFLE_OP_DOWN:
      wanted = b < AGXS_LANES ? l + b : AGXS_LANES;
      break;
   default:
      if (uop->prefix) /* rotate */
         return (l - b) & 31;
      wanted = b <= l ? l - b : AGXS_LANES;
      break;
   }
   return wanted;
}
