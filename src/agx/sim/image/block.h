/* SPDX-License-Identifier: MIT
 *
 * Texels of block-compressed formats: a decoder for each family, which reads one texel of a block
 * of 8 or 16 bytes. Every block decodes to something, however it came about.
 * source: Khronos Data Format Specification 1.3, chapters on compressed textures
 */
#pragma once

#include "agx/sim/image/image.h"
#include "base/util.h"

/* A block-compressed format of descriptors. */
struct agxs_block_format {
   uint8_t code; /* enum agx_hw_channels */
   uint8_t width, height, bytes, count;
   uint8_t border_bits; /* of a channel */
   bool has_unorm, has_snorm, has_float;
   agxs_block_decoder *decode;
};

/* NULL when the code stands for none. */
const struct agxs_block_format *agxs_block_format_find(unsigned code);

/* A block's bits, counted from the lowest one of its first byte. */
struct agxs_block_bits {
   uint64_t word[2];
};

/* Of 16 bytes. */
static inline struct agxs_block_bits agxs_block_bits_load(const uint8_t *bytes)
{
   struct agxs_block_bits bits = {{0}};
   for (unsigned i = 0; i < 16; i++)
      bits.word[i / 8] |= (uint64_t)bytes[i] << i % 8 * 8;
   return bits;
}

/* count: 0 to 32; bits behind the block are 0. */
static inline uint32_t agxs_block_bits_get(const struct agxs_block_bits *bits, unsigned start,
                                           unsigned count)
{
   uint64_t value = 0;
   if (start < 64)
      value = bits->word[0] >> start | (start ? bits->word[1] << (64 - start) : 0);
   else if (start < 128)
      value = bits->word[1] >> (start - 64);
   return (uint32_t)(value & agx_bits(count));
}

agxs_block_decoder agxs_block_bc1, agxs_block_bc2, agxs_block_bc3, agxs_block_bc4, agxs_block_bc5;
agxs_block_decoder agxs_block_bc6h_signed, agxs_block_bc6h_unsigned, agxs_block_bc7;
agxs_block_decoder agxs_block_etc2_rgb, agxs_block_etc2_rgba, agxs_block_etc2_rgba1;
agxs_block_decoder agxs_block_eac_r11, agxs_block_eac_rg11;
agxs_block_decoder agxs_block_astc;
