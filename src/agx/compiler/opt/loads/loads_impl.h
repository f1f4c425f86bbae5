/* SPDX-License-Identifier: MIT
 *
 * What the passes of this room share. How much they take: loads that wait at once, iterations,
 * instructions looked at; registers are limited by analysis/limits.h, and analysis/op_cost.h knows
 * the latency. And slices: the instructions that an address or a condition is computed from, as far
 * as another place lacks them; passes that load elsewhere move or copy them there.
 */
#pragma once

#include "agx/compiler/analysis/loop_shape.h"
#include "agx/compiler/ir/ir.h"

/* Loads of one scoreboard group: more of them do not wait together. */
#define AGXC_LOADS_OF_GROUP 8u
/* Loads that a pass moves to where their values live long: over a loop, or to another iteration. */
#define AGXC_LOADS_FAR 4u
/* Iterations that an unrolled or batched loop takes at a time. */
#define AGXC_LOADS_MAX_ITERATIONS 4u
/* An induction variable's step, so that four of them are far from wrapping. */
#define AGXC_LOADS_MAX_STEP 0x10000u
/* Instructions that an address or a condition is computed from, where it is needed elsewhere. */
#define AGXC_LOADS_MAX_SLICE 24u

/* A load of device memory that nothing writes during the dispatch. */
static inline bool agxc_is_constant_load(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_LOAD_GLOBAL && agxc_reads_constant(instr);
}

/* Moves what the loop's header computes of values that never change in front of the loop. */
void agxc_lift_test(const struct agxc_loop_shape *shape);

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
