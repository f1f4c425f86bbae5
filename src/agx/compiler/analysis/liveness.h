/* SPDX-License-Identifier: MIT
 *
 * Which SSA values are live at the borders of each block, along the control flow that
 * one lane takes: registers belong to lanes, so what other lanes do between two points
 * never matters to them.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Lists, not sets: what lives at once is bounded by the register file, however many blocks and
 * values a kernel has. */
struct agxc_liveness {
   uint32_t *first;     /* by block, and one more: where its values begin in ids */
   uint32_t *ids;       /* live at the block's start, without its phis' results; ascending */
   uint32_t *halves;    /* by block: register halves that are live at once, at the most */
   uint32_t max_halves; /* of all blocks */
};

/* Values as a set that is emptied as fast as it was filled. */
struct agxc_live_set {
   agx_bitset_word *bits;
   uint32_t *ids, count;
};

/* Computes what is live at the start of each block, and the pressure. Requires agxc_index; the
 * result is in the shader's arena. */
struct agxc_liveness *agxc_liveness_compute(struct agxc_shader *shader);

/* An empty set of the shader's values. */
struct agxc_live_set agxc_live_set_new(struct agxc_shader *shader);

/* Makes set what is live at the block's end, with what phis behind it take. The caller must not
 * change the set until the next call. */
void agxc_liveness_at_end(const struct agxc_liveness *liveness, const struct agxc_block *block,
                          struct agxc_live_set *set);

/* Whether the value is live at the block's start, without its phis' results. */
bool agxc_is_live_in(const struct agxc_liveness *liveness, const struct agxc_block *block,
                     const struct agxc_value *value);

/* Whether a source takes room beside the instruction's results, even if it ends there. */
bool agxc_reads_late(const struct agxc_instr *instr, const struct agxc_ref *src);

#define agxc_foreach_live_in(it, liveness, block)                                                  \
   for (const uint32_t *it = (liveness)->ids + (liveness)->first[(block)->index],                  \
                       *it##_end = (liveness)->ids + (liveness)->first[(block)->index + 1];        \
        it < it##_end; it++)

/* 16-bit halves that a value takes: booleans and bytes take one for each element. */
static inline unsigned agxc_halves(const struct agxc_value *value)
{
   return AGX_MAX(value->bits, 16) / 16u * value->count;
}

/* Halves that are live at the block's start, without its phis' results. */
static inline uint32_t agxc_live_in_halves(const struct agxc_shader *shader,
                                           const struct agxc_liveness *liveness,
                                           const struct agxc_block *block)
{
   uint32_t halves = 0;
   agxc_foreach_live_in (id, liveness, block)
      halves += agxc_halves(shader->values[*id]);
   return halves;
}

/* The half that a value may start at is a multiple of this. */
static inline unsigned agxc_alignment(const struct agxc_value *value)
{
   return value->bits > 16 ? 2 : 1;
}
