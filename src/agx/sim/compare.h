/* SPDX-License-Identifier: MIT
 *
 * Integer and float conditions of the first two sources, for selects, ballots
 * and the execution mask. Source: reference/isa semantics 8.
 */
#pragma once

#include "agx/sim/floats.h"

AGXS_INLINE void agxs_compare_int_loop(const struct agxs_reader *a, const struct agxs_reader *b,
                                       uint32_t bias, uint32_t flip, struct agxs_row *out,
                                       bool is_plain, bool is_equal)
{
   AGXS_FOR_LANES (i) {
      const uint32_t x = agxs_read(a, i, is_plain), y = agxs_read(b, i, is_plain);
      const bool holds = is_equal ? x == y : (int32_t)(x ^ bias) < (int32_t)(y ^ bias);
      out->lane[i] = (holds ? ~0u : 0u) ^ flip;
   }
}

/* All ones in the lanes where the condition holds, active or not. Decoding has
 * refused unknown conditions and marked the sources of signed ones. */
static inline void agxs_compare_int(const struct agxs_group *group, const struct agxs_uop *uop,
                                    struct agxs_row *out)
{
   const bool is_swapped = uop->mode == AGX_ISA_ICOND_UGT || uop->mode == AGX_ISA_ICOND_SGT;
   const bool is_unsigned = uop->mode == AGX_ISA_ICOND_ULT || uop->mode == AGX_ISA_ICOND_UGT;
   const bool is_equal = !is_swapped && !is_unsigned && uop->mode != AGX_ISA_ICOND_SLT;
   const struct agxs_reader a = agxs_reader(group, &uop->src[is_swapped]);
   const struct agxs_reader b = agxs_reader(group, &uop->src[!is_swapped]);
   const uint32_t bias = is_unsigned ? 0x80000000u : 0, flip = uop->invert ? ~0u : 0;
   if (!uop->reads_plain && is_equal)
      agxs_compare_int_loop(&a, &b, 0, flip, out, false, true);
   else if (!uop->reads_plain)
      agxs_compare_int_loop(&a, &b, bias, flip, out, false, false);
   else if (is_equal)
      agxs_compare_int_loop(&a, &b, 0, flip, out, true, true);
   else
      agxs_compare_int_loop(&a, &b, bias, flip, out, true, false);
}

#define AGXS_COMPARE_FLOAT(condition)                                                              \
   AGXS_FOR_LANES (i) {                                                                            \
      const float x = agxs_float(a->lane[i]), y = agxs_float(b->lane[i]);                          \
      out->lane[i] = ((condition) ? ~0u : 0u) ^ flip;                                              \
   }

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
