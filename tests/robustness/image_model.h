/* SPDX-License-Identifier: MIT
 *
 * The rules of safe image accesses as plain arithmetic, a model of what lower/image*.c makes of
 * them in code: one coordinate is moved to where no image reaches.
 */
#pragma once

#include "robustness/image.h"

struct model_texel {
   uint32_t x, y;
};

/* Whether a view of levels 0 .. last_level has the level; negative ones are huge. */
static inline bool model_level_is_there(uint32_t level, uint32_t last_level)
{
   return level <= last_level;
}

/* The x to use for a texel of that level and layer: x itself where both are there. An image
 * without layers has one, layer 0. */
static inline uint32_t model_image_x(uint32_t x, uint32_t level, uint32_t last_level,
                                     uint32_t layer, uint32_t layers)
{
   return model_level_is_there(level, last_level) && layer < layers ? x : AGXR_FAR_OUTSIDE;
}

/* The layer that a sample takes its texels from, after rounding: the nearest there is. Layers
 * are at least 1. */
static inline uint32_t model_sampled_layer(uint32_t layer, uint32_t layers)
{
   return layer < layers ? layer : layers - 1;
}

/* The element of an array of descriptors: the last one for all behind it. */
static inline uint32_t model_descriptor_index(uint32_t index, uint32_t count)
{
   return index < count ? index : count - 1;
}

/* The texel of an index; far outside from count on. */
static inline struct model_texel model_texel_at(uint32_t index, uint32_t count)
{
   uint32_t row = index >> AGXR_TEXEL_COLUMNS_LOG2;
   return (struct model_texel){index % AGXR_TEXEL_COLUMNS, index < count ? row : AGXR_FAR_OUTSIDE};
}

/* The last word of a texel's coordinates in a multisampled image: the sample in its low half,
 * the layer in its high half. Neither may lose bits, so this comes after the check. */
static inline uint32_t model_sample_word(uint32_t sample, uint32_t layer)
{
   return (sample & 0xffff) | layer << 16;
}

/* The same rule as model_image_x, for samples. */
static inline uint32_t model_sample_x(uint32_t x, uint32_t sample, uint32_t samples, uint32_t layer,
                                      uint32_t layers)
{
   return sample < samples && layer < layers ? x : AGXR_FAR_OUTSIDE;
}
