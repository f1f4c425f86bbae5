/* SPDX-License-Identifier: MIT
 *
 * Vectors of raw elements between registers and memory that is known to be there:
 * a page of device memory or threadgroup memory. One offset per lane; those of
 * inactive lanes are 0 on loads and unused on stores.
 */
#pragma once

#include "agx/sim/floats.h"
#include "agx/sim/format.h"
#include "agx/sim/lanes.h"
#include "agx/sim/memory.h"

AGXS_INLINE uint32_t agxs_load_raw(const uint8_t *at, unsigned bytes)
{
   return bytes == 4 ? agxs_get_le32(at) : bytes == 2 ? agxs_get_le16(at) : *at;
}

AGXS_INLINE void agxs_store_raw(uint8_t *at, uint32_t value, unsigned bytes)
{
   if (bytes == 4)
      agxs_put_le32(at, value);
   else if (bytes == 2)
      agxs_put_le16(at, (uint16_t)value);
   else
      *at = (uint8_t)value;
}

/* The vector's element number slot as a destination of its own. */
static inline struct agxs_dest agxs_element_dest(const struct agxs_dest *dst, unsigned slot)
{
   unsigned half = dst->row * 2u + dst->shift / 16 + slot * (dst->bits / 16);
   struct agxs_dest element = {.row = (uint16_t)(half / 2), .bits = dst->bits};
   element.shift = (half & 1) * 16;
   element.mask = dst->bits == 32 ? ~0u : 0xffffu << element.shift;
   return element;
}

AGXS_INLINE void agxs_load_elements_of(struct agxs_group *group, const struct agxs_uop *uop,
                                       const uint8_t *base, const struct agxs_row *offset,
                                       const unsigned bytes)
{
   unsigned slot = 0;
   for (unsigned e = 0; e < 4; e++) {
      if (!(uop->mask >> e & 1))
         continue;
      struct agxs_dest dst = agxs_element_dest(&uop->dst, slot++);
      struct agxs_row value;
      AGXS_FOR_LANES (i)
         value.lane[i] =
            agxs_load_raw(base + ((offset->lane[i] + e * bytes) & ~(bytes - 1)), bytes);
      agxs_put_u32(group, &dst, &value);
   }
}

static inline void agxs_load_elements(struct agxs_group *group, const struct agxs_uop *uop,
                                      const uint8_t *base, const struct agxs_row *offset)
{
   unsigned bytes = agxs_formats[uop->format].bytes;
   if (bytes == 4)
      agxs_load_elements_of(group, uop, base, offset, 4);
   else if (bytes == 2)
      agxs_load_elements_of(group, uop, base, offset, 2);
   else
      agxs_load_elements_of(group, uop, base, offset, 1);
}

/* Lane by lane, so that the last lane wins where two write the same place. */
AGXS_INLINE void agxs_store_elements_of(const struct agxs_group *group, const struct agxs_uop *uop,
                                        uint8_t *base, const struct agxs_row *offset,
                                        const unsigned bytes)
{
   const struct agxs_source *data = &uop->src[0];
   unsigned first = data->row * 2u + (data->bits == 16 && data->left == 0);
   unsigned step = data->bits / 16;
   AGXS_FOR_LANES (i) {
      unsigned half = first;
      for (unsigned e = 0; e < 4 && group->exec.lane[i]; e++) {
         if (!(uop->mask >> e & 1))
            continue;
         uint32_t value = group->regs[half / 2].lane[i] >> (half & 1) * 16;
         agxs_store_raw(base + ((offset->lane[i] + e * bytes) & ~(bytes - 1)), value, bytes);
         half += step;
      }
   }
}

static inline void agxs_store_elements(const struct agxs_group *group, const struct agxs_uop *uop,
                                       uint8_t *base, const struct agxs_row *offset)
{
   unsigned bytes = agxs_formats[uop->format].bytes;
   if (bytes == 4)
      agxs_store_elements_of(group, uop, base, offset, 4);
   else if (bytes == 2)
      agxs_store_elements_of(group, uop, base, offset, 2);
   else
      agxs_store_elements_of(group, uop, base, offset, 1);
}

/* One lane's channels as a packed word. */
static inline void agxs_store_packed(const struct agxs_group *group, const struct agxs_uop *uop,
                                     uint8_t *at, unsigned lane)
{
   uint32_t channel[4] = {0};
   for (unsigned e = 0; e < agxs_formats[uop->format].channels; e++) {
      uint32_t value = agxs_get_lane(group, &uop->src[0], e, lane);
      channel[e] = uop->src[0].bits == 16 ? agxs_half_to_single(value) : agxs_flush(value);
   }
   agxs_format_store_packed(uop->format, at, channel);
}
