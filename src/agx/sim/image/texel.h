/* SPDX-License-Identifier: MIT
 *
 * One texel between memory and numbers, in every format of descriptors that is
 * not block-compressed. Channels are in memory order here; swizzles and the sRGB
 * curve belong to the descriptor. source: docs/hw/layouts.md 8
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#define AGXS_TEXEL_MAX_BYTES 16u

struct agxs_texel_format {
   uint8_t type;  /* enum agx_hw_texture_type */
   uint8_t bytes; /* of a texel: 1, 2, 4, 8 or 16; 12: emulated, hardware reads none */
   uint8_t count; /* channels in memory */
   uint8_t width[4];
   uint8_t packed; /* enum agx_isa_format of a word of small floats; 0: plain fields */
   bool is_int;    /* values are integers: not filtered */
};

/* AGX_UNIMPLEMENTED names channels or a type that is not modelled (block-compressed,
 * subsampled) or not known to exist together. */
AGX_MUST_CHECK agx_status agxs_texel_format_init(struct agxs_texel_format *format,
                                                 unsigned channels, unsigned type);

/* What texels are to arithmetic. Integer formats use bits (extended to 32), others real;
 * 32-bit floats have both, so that they can be passed on as they are. */
struct agxs_texel {
   double real[4];
   uint32_t bits[4];
};

/* Channels that memory lacks are 0, the fourth 1. */
void agxs_texel_load(const struct agxs_texel_format *format, const uint8_t *bytes,
                     struct agxs_texel *out);

/* Clamps and rounds to nearest even; toward_zero: floats are cut instead. */
void agxs_texel_store(const struct agxs_texel_format *format, const struct agxs_texel *texel,
                      bool toward_zero, uint8_t *out_bytes);

/* A border colour's word for a memory channel, which is encoded as the format stores it;
 * is_curved: a colour channel of an sRGB format, which has 12 bits. */
void agxs_texel_border(const struct agxs_texel_format *format, unsigned channel, uint32_t word,
                       bool is_curved, struct agxs_texel *out);
