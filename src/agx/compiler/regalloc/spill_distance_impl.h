/* SPDX-License-Identifier: MIT
 *
 * How far away the next use of each value is; only for spill*.c.
 */
#pragma once

#include "agx/compiler/analysis/liveness.h"

/* Distances count instructions. Leaving a loop counts as very far: what is used inside
 * shall stay. */
#define AGXC_LOOP_EXIT 100000u
#define AGXC_NEVER     UINT32_MAX

struct agxc_distance {
   uint32_t id; /* of the value */
   uint32_t distance;
};

struct agxc_next_uses {
   struct agxc_shader *shader;
   struct agxc_distance **in; /* by block: what is live at its start, by id; without phis */
   uint32_t *in_count;
   uint32_t *next;    /* by value: scratch, all NEVER between uses */
   uint32_t *touched; /* values with an entry in next */
   uint32_t touched_count;
};

/* Computes the distances at the start of each block. The result lies in the shader's arena. */
struct agxc_next_uses *agxc_next_uses_compute(struct agxc_shader *shader,
                                              const struct agxc_liveness *liveness);

/* Of a value that is live at the block's start. */
uint32_t agxc_next_use_at_start(const struct agxc_next_uses *uses, const struct agxc_block *block,
                                const struct agxc_value *value);

/* For each destination and source of the block's instructions, in order: position (counted
 * from the block's start) of the next use behind that instruction, or NEVER. */
uint32_t *agxc_next_uses_in(struct agxc_next_uses *uses, const struct agxc_block *block);
