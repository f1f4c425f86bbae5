/* SPDX-License-Identifier: MIT
 *
 * Which lane a shuffle takes its value from: what the lane asks for, and what its quad
 * makes of that. Source: docs/hw/semantics.md 11.
 */
#pragma once

#include "agx/sim/machine/machine.h"

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
