/* SPDX-License-Identifier: MIT
 *
 * Integer and float conditions of the first two sources, for selects, ballots
 * and the execution mask. Source: reference/isa semantics 8.
 */
#pragma once

#include "agx/sim/floats.h"

#define AGXS_COMPARE(type, operator)                                                               \
   AGXS_FOR_LANES (i)                                                                              \
   out->lane[i] = ((type)a.lane[i] operator(type) b.lane[i] ? ~0u : 0u) ^ flip

/* All ones in the lanes where the condition holds, active or not. Decoding has
 * refused unknown conditions and marked the sources of signed ones. */
static inline void agxs_compare_int(const struct agxs_group *group, const struct agxs_uop *uop,
                                    struct agxs_row *out)
{
   struct agxs_row a, b;
   uint32_t flip = uop->invert ? ~0u : 0;
   agxs_get_u32(group, &uop->src[0], &a);
   agxs_get_u32(group, &uop->src[1], &b);
   switch (uop->mode) {
   case AGX_ISA_ICOND_ULT:
      AGXS_COMPARE(uint32_t, <);
      break;
   case AGX_ISA_ICOND_UGT:
      AGXS_COMPARE(uint32_t, >);
      break;
   case AGX_ISA_ICOND_SLT:
      AGXS_COMPARE(int32_t, <);
      break;
   case AGX_ISA_ICOND_SGT:
      AGXS_COMPARE(int32_t, >);
      break;
   default: /* ieq, seq */
      AGXS_COMPARE(uint32_t, ==);
      break;
   }
}

#define AGXS_COMPARE_FLOAT(condition)                                                              \
   AGXS_FOR_LANES (i) {                                                                            \
      float x = agxs_float(a.lane[i]), y = agxs_float(b.lane[i]);                                  \
      out->lane[i] = ((condition) ? ~0u : 0u) ^ flip;                                              \
   }

static inline void agxs_compare_float(const struct agxs_group *group, const struct agxs_uop *uop,
                                      struct agxs_row *out)
{
   struct agxs_row a, b;
   uint32_t flip = uop->invert ? ~0u : 0;
   agxs_get_float(group, &uop->src[0], &a);
   agxs_get_float(group, &uop->src[1], &b);
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
