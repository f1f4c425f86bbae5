/* SPDX-License-Identifier: MIT
 *
 * A color as the bytes of a texel.
 */
#pragma once

#include <stdint.h>

#include "agx/format.h"

/* Writes format->texel_B bytes, at most 16. color: the bits of red, green, blue and alpha; single
 * floats, but for integer formats 32-bit integers, whose low bits count. Floats are clamped and
 * rounded as a store to an image does it. The format must have texels, not blocks of them. */
void agx_texel_pack(const struct agx_format *format, const uint32_t color[4], uint8_t out[16]);
