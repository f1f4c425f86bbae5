/* SPDX-License-Identifier: MIT
 *
 * How exec functions read sources and write destinations, 32 lanes at a time.
 * Plain loops over rows in fixed shapes, which the compiler turns into vector
 * code of whatever width the variant has. Sources are copied before anything is
 * written, so a destination may overlap them.
 */
#pragma once

#include <string.h>

#include "agx/sim/machine.h"

#define AGXS_FOR_LANES(i) for (unsigned i = 0; i < AGXS_LANES; i++)

static inline const struct agxs_row *agxs_source_row(const struct agxs_group *group,
                                                     const struct agxs_source *source)
{
   return &group->bank[source->bank][source->row];
}

static inline void agxs_get_u32(const struct agxs_group *group, const struct agxs_source *source,
                                struct agxs_row *out)
{
   const struct agxs_row *row = agxs_source_row(group, source);
   unsigned left = source->left, right = source->right;
   AGXS_FOR_LANES(i)
   out->lane[i] = row->lane[i] << left >> right;
}

/* Sign-extended from the source's own size when it is marked so. */
static inline void agxs_get_i32(const struct agxs_group *group, const struct agxs_source *source,
                                struct agxs_row *out)
{
   if (!source->is_signed || source->right == 0) {
      agxs_get_u32(group, source, out);
      return;
   }
   const struct agxs_row *row = agxs_source_row(group, source);
   unsigned left = source->left, right = source->right;
   AGXS_FOR_LANES(i)
   out->lane[i] = (uint32_t)((int32_t)(row->lane[i] << left) >> right);
}

/* Any size, extended to 64 bits by the source's own rule. */
static inline void agxs_get_i64(const struct agxs_group *group, const struct agxs_source *source,
                                uint64_t *out)
{
   const struct agxs_row *row = agxs_source_row(group, source);
   struct agxs_row low;
   if (source->bits == 64) {
      AGXS_FOR_LANES(i)
      out[i] = row[0].lane[i] | (uint64_t)row[1].lane[i] << 32;
      return;
   }
   agxs_get_i32(group, source, &low);
   if (source->is_signed) {
      AGXS_FOR_LANES(i)
      out[i] = (uint64_t)(int64_t)(int32_t)low.lane[i];
   } else {
      AGXS_FOR_LANES(i)
      out[i] = low.lane[i];
   }
}

/* Writes the lanes that are active; value's low bits where the destination is a half. */
static inline void agxs_put_u32(struct agxs_group *group, const struct agxs_dest *dest,
                                const struct agxs_row *value)
{
   struct agxs_row *row = &group->regs[dest->row];
   uint32_t mask = dest->mask;
   unsigned shift = dest->shift;
   AGXS_FOR_LANES(i)
   {
      uint32_t written = group->exec.lane[i] & mask;
      row->lane[i] = (row->lane[i] & ~written) | ((value->lane[i] << shift) & written);
   }
}

static inline void agxs_put_u64(struct agxs_group *group, const struct agxs_dest *dest,
                                const uint64_t *value)
{
   struct agxs_row *row = &group->regs[dest->row];
   AGXS_FOR_LANES(i)
   {
      uint32_t written = group->exec.lane[i];
      row[0].lane[i] = (row[0].lane[i] & ~written) | ((uint32_t)value[i] & written);
      row[1].lane[i] = (row[1].lane[i] & ~written) | ((uint32_t)(value[i] >> 32) & written);
   }
}

/* One lane's element `index` of a register vector that starts at dest. */
static inline void agxs_put_lane(struct agxs_group *group, const struct agxs_dest *dest,
                                 unsigned index, unsigned lane, uint32_t value)
{
   unsigned half = dest->row * 2u + dest->shift / 16 + index * (dest->bits / 16);
   uint32_t *at = &group->regs[half / 2].lane[lane];
   if (dest->bits == 32)
      *at = value;
   else
      *at = half & 1 ? (*at & 0xffff) | value << 16 : (*at & 0xffff0000u) | (value & 0xffff);
}

static inline uint32_t agxs_get_lane(const struct agxs_group *group,
                                     const struct agxs_source *source, unsigned index,
                                     unsigned lane)
{
   unsigned half =
      source->row * 2u + (source->bits == 16 && source->left == 0) + index * (source->bits / 16);
   uint32_t value = group->bank[source->bank][half / 2].lane[lane];
   if (source->bits == 32)
      return value;
   return half & 1 ? value >> 16 : value & 0xffff;
}
