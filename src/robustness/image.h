/* SPDX-License-Identifier: MIT
 *
 * Where accesses to images go that the hardware does not check itself: pure and total. Hardware
 * gives zero, and drops stores, where a coordinate is outside of a level; it clamps levels and
 * loses high bits of layers and samples. So one coordinate is moved to where no image reaches.
 * The compiler emits the comparisons (lower/image*.c) with numbers that the driver writes; a model
 * of all of it is tests/robustness/image_model.h. hal/memory/descriptor.c sizes texel buffers by
 * this. Source: docs/hw/access.md 5.
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
