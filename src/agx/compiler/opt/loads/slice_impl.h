/* SPDX-License-Identifier: MIT
 *
 * Slices: the instructions that an address or a condition is computed from, as far as another place
 * lacks them. Passes that load elsewhere move or copy them there.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* A load of device memory that nothing writes during the dispatch. */
static inline bool agxc_is_constant_load(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_LOAD_GLOBAL && agxc_reads_constant(instr);
}

struct agxc_slice {
   /* Whether the place has the value already. */
   bool (*is_there)(const void *user, const struct agxc_value *value);
   /* Whether it could run the instruction, given the sources. */
   bool (*may_run)(const void *user, const struct agxc_instr *instr);
   const void *user;
};

/* Whether the place has the reference, or can compute it in at most *left instructions, counted
 * once for each use. Takes them from *left. */
bool agxc_slice_reaches(const struct agxc_slice *slice, const struct agxc_ref *ref, uint32_t *left);

/* The same for all sources of an instruction together, in at most AGXC_LOADS_MAX_SLICE. */
bool agxc_slice_reaches_sources(const struct agxc_slice *slice, const struct agxc_instr *instr);

/* Moves what agxc_slice_reaches went through in front of where the builder stands, in order. Values
 * that moved must then be there for slice->is_there. */
void agxc_slice_move(const struct agxc_slice *slice, struct agxc_builder *to,
                     const struct agxc_ref *ref);
void agxc_slice_move_sources(const struct agxc_slice *slice, struct agxc_builder *to,
                             const struct agxc_instr *instr);
