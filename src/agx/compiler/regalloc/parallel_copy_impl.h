/* SPDX-License-Identifier: MIT
 *
 * Copies that happen at once: all sources are read before any destination is written.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* One register written: 16 bits at half, or 32 at an even half. src is a register, a
 * uniform or a constant of the same size. */
struct agxc_copy {
   uint32_t half, bits;
   struct agxc_ref src;
};

/* Inserts instructions at b that together do all copies; destinations must not overlap.
 * Uses copies as scratch. Returns how many instructions it took. */
uint32_t agxc_parallel_copy(struct agxc_builder *b, struct agxc_copy *copies, uint32_t count);
