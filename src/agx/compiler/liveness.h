/* SPDX-License-Identifier: MIT
 *
 * Which SSA values are live at the borders of each block, along the control flow that
 * one lane takes: registers belong to lanes, so what other lanes do between two points
 * never matters to them.
 */
#pragma once

#include "agx/compiler/ir.h"

struct agxc_liveness {
   uint32_t words;       /* of each set */
   agx_bitset_word **in; /* by block: at its start, without its phis' results */
   uint32_t *halves;     /* by block: register halves that are live at once, at the most */
   uint32_t max_halves;  /* of all blocks */
};

/* Requires agxc_index; allocates from the shader's arena. */
struct agxc_liveness *agxc_liveness_compute(struct agxc_shader *shader);

/* Writes what is live at the block's end, with what phis behind it take, to out_live. It
 * follows from the sets of the successors; keeping both would double the memory. */
void agxc_liveness_at_end(const struct agxc_liveness *liveness, const struct agxc_block *block,
                          agx_bitset_word *out_live);

/* 16-bit halves that a value takes: booleans and bytes take one for each element. */
static inline unsigned agxc_halves(const struct agxc_value *value)
{
   return AGX_MAX(value->bits, 16) / 16u * value->count;
}

/* The half that a value may start at is a multiple of this. */
static inline unsigned agxc_alignment(const struct agxc_value *value)
{
   return value->bits > 16 ? 2 : 1;
}
