/* SPDX-License-Identifier: MIT
 *
 * The block-compressed formats: the hardware's code of each, its blocks and its decoder. texel.c
 * asks for them.
 */
#include "agx/sim/image/block.h"

#include "agx/hw/packet.h"

#define BC(name, bytes, count, bits, snorm, decoder)                                               \
   {                                                                                               \
      AGX_HW_CHANNELS_##name, 4, 4, bytes, count, bits, true, snorm, false, decoder                \
   }
#define ETC(name, bytes, count, bits, snorm, decoder) BC(name, bytes, count, bits, snorm, decoder)
#define HDR(name, decoder)                                                                         \
   {                                                                                               \
      AGX_HW_CHANNELS_##name, 4, 4, 16, 3, 16, false, false, true, decoder                         \
   }
#define ASTC(w, h)                                                                                 \
   {                                                                                               \
      AGX_HW_CHANNELS_ASTC_##w##X##h, w, h, 16, 4, 8, true, false, false, agxs_block_astc          \
   }

/* The bits of border colours are those that Mesa writes for the format; for ASTC it writes none. */
static const struct agxs_block_format formats[] = {
   BC(BC1, 8, 4, 8, false, agxs_block_bc1),
   BC(BC2, 16, 4, 8, false, agxs_block_bc2),
   BC(BC3, 16, 4, 8, false, agxs_block_bc3),
   BC(BC4, 8, 1, 14, true, agxs_block_bc4),
   BC(BC5, 16, 2, 14, true, agxs_block_bc5),
   HDR(BC6H, agxs_block_bc6h_signed),
   HDR(BC6H_UFLOAT, agxs_block_bc6h_unsigned),
   BC(BC7, 16, 4, 8, false, agxs_block_bc7),
   ETC(ETC2_RGB8, 8, 3, 8, false, agxs_block_etc2_rgb),
   ETC(ETC2_RGBA8, 16, 4, 8, false, agxs_block_etc2_rgba),
   ETC(ETC2_RGB8A1, 8, 4, 8, false, agxs_block_etc2_rgba1),
   ETC(EAC_R11, 8, 1, 11, true, agxs_block_eac_r11),
   ETC(EAC_RG11, 16, 2, 11, true, agxs_block_eac_rg11),
   ASTC(4, 4),
   ASTC(5, 4),
   ASTC(5, 5),
   ASTC(6, 5),
   ASTC(6, 6),
   ASTC(8, 5),
   ASTC(8, 6),
   ASTC(8, 8),
   ASTC(10, 5),
   ASTC(10, 6),
   ASTC(10, 8),
   ASTC(10, 10),
   ASTC(12, 10),
   ASTC(12, 12),
};

const struct agxs_block_format *agxs_block_format_find(unsigned code)
{
   for (size_t i = 0; i < AGX_COUNT(formats); i++) {
      if (formats[i].code == code)
         return &formats[i];
   }
   return NULL;
}
