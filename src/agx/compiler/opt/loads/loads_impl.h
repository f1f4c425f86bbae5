/* SPDX-License-Identifier: MIT
 *
 * What the passes of this room share. How much they take: loads that wait at once, iterations,
 * instructions looked at; registers are limited by analysis/limits.h, and analysis/op_cost.h knows
 * the latency. And slices: the instructions that an address or a condition is computed from, as far
 * as another place lacks them; passes that load elsewhere move or copy them there.
 */
#pragma once

#include "agx/compiler/analysis/induction.h"
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

/* A SIMD-group waits for what it reads. */
static inline bool agxc_waits_for(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_LOAD_GLOBAL || instr->op == AGXC_OP_IMAGE_LOAD ||
          instr->op == AGXC_OP_LOAD_FORMAT || instr->op == AGXC_OP_IMAGE_FETCH ||
          instr->op == AGXC_OP_IMAGE_SAMPLE;
}

/* Moves what the loop's header computes of values that never change in front of the loop. */
void agxc_lift_test(const struct agxc_loop_shape *shape);

/* How many iterations at most a loop runs that begins where a loop of opt_unroll_partial ends;
 * UINT32_MAX: it isn't one, or no proof was found. */
uint32_t agxc_rest_iterations(const struct agxc_induction *c);

/* Makes an if of a loop that is known to run at most once: header, exit, body, and arms of the exit
 * without code. After agxc_index; blocks of the loop then have no indices. */
void agxc_rest_end(const struct agxc_loop_shape *shape);

/* What agxc_put_masked notes of values: of a pass, for one loop after the other, since its size is
 * that of the shader. Zero in the beginning. */
struct agxc_masked_notes {
   struct agxc_masked_note {
      uint32_t loop; /* the one that it was noted for, from 1 */
      uint8_t stage;
      bool varies;
   } * of; /* by value id */
   uint32_t capacity, loop;
};

/* Iterations whose code is put together, without stores: each in a block of its own, in an order in
 * which it could run. */
struct agxc_masked {
   struct agxc_shader *shader;
   struct agxc_block *iteration[AGXC_LOADS_MAX_ITERATIONS];
   struct agxc_ref
      condition[AGXC_LOADS_MAX_ITERATIONS]; /* under which it is one; not of the first */
   uint32_t count;
   struct agxc_masked_notes *notes;
   struct agxc_block *to; /* the code goes to its end, and behind it */
};

/* Puts the loads first, those of the iterations that have a condition in ifs, and then the rest;
 * what needs a phi of `held`, which are some of the header's, is rest. Returns the last block. */
struct agxc_block *agxc_put_masked(struct agxc_masked *masked, const struct agxc_block *header,
                                   struct agxc_instr *const *held, uint32_t held_count);

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
