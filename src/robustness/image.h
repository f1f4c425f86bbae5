/* SPDX-License-Identifier: MIT
 *
 * Where accesses to images go that the hardware does not check itself: pure and total. Hardware
 * gives zero, and drops stores, where a coordinate is outside of a level; it clamps levels and
 * loses high bits of layers and samples. So one coordinate is moved to where no image reaches.
 * Compiled code does the same: the comparisons with numbers that the driver writes.
 * Source: docs/hw/access.md 5.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Outside of any image of up to 16384 texels, even after an offset of -8 to 15 texels, and
 * positive in 16 bits as well as in 32. */
#define AGXR_FAR_OUTSIDE 0xfff0u

/* Buffers of texels are images of so many columns, and rows as needed. */
#define AGXR_TEXEL_COLUMNS      16384u
#define AGXR_TEXEL_COLUMNS_LOG2 14u
#define AGXR_TEXEL_ROWS         16384u
#define AGXR_MAX_TEXELS         (AGXR_TEXEL_COLUMNS * AGXR_TEXEL_ROWS)
#define AGXR_TEXEL_ALIGN_B      16u /* of a texture's address: VA >> 4 in its descriptor */

/* Whether a view of levels 0 .. last_level has the level; negative ones are huge. */
static inline bool agxr_level_is_there(uint32_t level, uint32_t last_level)
{
   return level <= last_level;
}

/* The x to use for a texel of that level and layer: x itself where both are there. An image
 * without layers has one, layer 0. */
static inline uint32_t agxr_image_x(uint32_t x, uint32_t level, uint32_t last_level, uint32_t layer,
                                    uint32_t layers)
{
   return agxr_level_is_there(level, last_level) && layer < layers ? x : AGXR_FAR_OUTSIDE;
}

/* The layer that a sample takes its texels from, after rounding: the nearest there is. Layers
 * are at least 1. */
static inline uint32_t agxr_sampled_layer(uint32_t layer, uint32_t layers)
{
   return layer < layers ? layer : layers - 1;
}

/* The element of an array of descriptors: the last one for all behind it. */
static inline uint32_t agxr_descriptor_index(uint32_t index, uint32_t count)
{
   return index < count ? index : count - 1;
}

/* Whole texels of a buffer of texels, at most what an image can hold. */
static inline uint32_t agxr_texel_count(uint64_t size_B, uint32_t texel_B)
{
   uint64_t count = texel_B ? size_B / texel_B : 0;
   return count < AGXR_MAX_TEXELS ? (uint32_t)count : AGXR_MAX_TEXELS;
}

/* Rows of the image over so many texels; 1 at least, as images have no fewer. */
static inline uint32_t agxr_texel_rows(uint32_t count)
{
   uint32_t rows = count / AGXR_TEXEL_COLUMNS + (count % AGXR_TEXEL_COLUMNS != 0);
   return rows ? rows : 1;
}

struct agxr_texel {
   uint32_t x, y;
};

/* The texel of an index; far outside from count on. */
static inline struct agxr_texel agxr_texel_at(uint32_t index, uint32_t count)
{
   uint32_t row = index >> AGXR_TEXEL_COLUMNS_LOG2;
   return (struct agxr_texel){index % AGXR_TEXEL_COLUMNS, index < count ? row : AGXR_FAR_OUTSIDE};
}

/* The last word of a texel's coordinates in a multisampled image: the sample in its low half,
 * the layer in its high half. Neither may lose bits, so this comes after the check. */
static inline uint32_t agxr_sample_word(uint32_t sample, uint32_t layer)
{
   return (sample & 0xffff) | layer << 16;
}

/* The same rule as agxr_image_x, for samples. */
static inline uint32_t agxr_sample_x(uint32_t x, uint32_t sample, uint32_t samples, uint32_t layer,
                                     uint32_t layers)
{
   return sample < samples && layer < layers ? x : AGXR_FAR_OUTSIDE;
}
