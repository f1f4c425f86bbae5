/* SPDX-License-Identifier: MIT
 *
 * Which addresses a memory instruction names, for all lanes at once: for what
 * executes it and for what counts the lines that it touches.
 */
#pragma once

#include "agx/sim/machine/format.h"
#include "agx/sim/machine/lanes.h"

/* src[1] is the base, src[2] the index (imm when there is none); scale_log2 turns
 * an index into bytes. */
static inline void agxs_get_addresses(const struct agxs_group *group, const struct agxs_uop *uop,
                                      unsigned scale_log2, uint64_t *va)
{
   agxs_get_i64(group, &uop->src[1], va);
   if (!uop->has_index) {
      uint64_t offset = (uint64_t)uop->imm << scale_log2;
      AGXS_FOR_LANES (i)
         va[i] += offset;
      return;
   }
   uint64_t index[AGXS_LANES];
   agxs_get_i64(group, &uop->src[2], index);
   AGXS_FOR_LANES (i)
      va[i] += index[i] << scale_log2;
}

/* Log2 of what an index counts in bytes, for elements of so many bytes. */
static inline unsigned agxs_scale_log2(const struct agxs_uop *uop, unsigned bytes)
{
   unsigned size_log2 = (unsigned)__builtin_ctz(bytes);
   return agxs_formats[uop->format].channels ? 2 : size_log2 + uop->shift;
}

/* Byte address in threadgroup memory of element 0; 16 bits wide. */
static inline void agxs_get_local_addresses(const struct agxs_group *group,
                                            const struct agxs_uop *uop, unsigned bytes,
                                            struct agxs_row *out)
{
   struct agxs_row index;
   agxs_get_u32(group, &uop->src[1], out);
   if (uop->has_index) {
      agxs_get_u32(group, &uop->src[2], &index);
   } else {
      AGXS_FOR_LANES (i)
         index.lane[i] = (uint32_t)uop->imm;
   }
   AGXS_FOR_LANES (i)
      out->lane[i] = out->lane[i] + index.lane[i] * bytes;
}

/* The offset that the instruction names, before its elements; read before any write. */
static inline void agxs_get_stack_offsets(const struct agxs_group *group,
                                          const struct agxs_uop *uop, int64_t *out)
{
   uint64_t index[AGXS_LANES];
   if (uop->has_index)
      agxs_get_i64(group, &uop->src[2], index);
   AGXS_FOR_LANES (i)
      out[i] = (int64_t)((uop->has_index ? index[i] : (uint64_t)uop->imm) << uop->shift);
}
