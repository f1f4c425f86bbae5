/* SPDX-License-Identifier: MIT
 *
 * Every pass of the pipeline (pipeline.c), in its order. A pass is
 * `bool agxc_<kind>_<name>(struct agxc_shader *)`, true when it changed something; it
 * takes its options from shader->options and fails through agxc_fail.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Front end: fills a fresh shader from a module; every word is checked. */
void agxc_spirv_to_ir(struct agxc_shader *shader, const uint32_t *words, size_t word_count);

/* Generic to generic: one file each, opt_*.c and lower_*.c. */
bool agxc_opt_algebraic(struct agxc_shader *shader); /* constant folding and identities */
bool agxc_opt_copy_prop(struct agxc_shader *shader); /* moves, trivial phis, split of collect */
bool agxc_opt_fuse(struct agxc_shader *shader);      /* products and sums to FFMA */
bool agxc_opt_branch(struct agxc_shader *shader);    /* ifs on constants */
bool agxc_opt_unroll(struct agxc_shader *shader);    /* loops with a known number of iterations */
bool agxc_opt_unroll_by(struct agxc_shader *shader); /* several iterations at a time */
bool agxc_opt_unroll_masked(struct agxc_shader *shader);
bool agxc_opt_rotate(struct agxc_shader *shader);      /* loops that test behind their body */
bool agxc_opt_hoist(struct agxc_shader *shader);       /* loads over ifs */
bool agxc_opt_both_arms(struct agxc_shader *shader);   /* what both arms of an if begin with */
bool agxc_opt_cse(struct agxc_shader *shader);         /* equal expressions in dominating blocks */
bool agxc_opt_dce(struct agxc_shader *shader);         /* values that nothing uses */
bool agxc_opt_address(struct agxc_shader *shader);     /* offsets as accesses want them */
bool agxc_opt_memory(struct agxc_shader *shader);      /* loads of what is known, dead stores */
bool agxc_opt_vectorize(struct agxc_shader *shader);   /* neighbouring accesses to vectors */
bool agxc_opt_licm(struct agxc_shader *shader);        /* invariant code in front of its loop */
bool agxc_opt_predicate(struct agxc_shader *shader);   /* short ifs to selects */
bool agxc_opt_byte_dot(struct agxc_shader *shader);    /* products of signed bytes, in pairs */
bool agxc_opt_early_loads(struct agxc_shader *shader); /* of ifs behind loops, in front of them */
bool agxc_opt_split_arms(struct agxc_shader *shader);  /* loads of several ifs wait together */
bool agxc_opt_load_ahead(struct agxc_shader *shader); /* of several iterations that barriers part */
bool agxc_opt_preamble(struct agxc_shader *shader);   /* what a dispatch needs but once */

bool agxc_prove_inside(struct agxc_shader *shader); /* accesses that the driver can see to stay */
bool agxc_opt_prefetch(struct agxc_shader *shader); /* loads of a loop's next iteration */

/* Generic to machine. */
bool agxc_select(struct agxc_shader *shader);

/* Machine to machine: fewer values alive at once, where they cost threads. */
bool agxc_schedule_pressure(struct agxc_shader *shader);
/* Machine to machine: brings loads together. */
bool agxc_schedule(struct agxc_shader *shader);

/* Machine to machine: sends values to scratch memory until the others fit in registers. */
bool agxc_spill(struct agxc_shader *shader);

/* Registers: replaces values by registers, inserts copies, removes PHI, COLLECT, SPLIT and MOV. */
bool agxc_ra(struct agxc_shader *shader);
/* The instruction that takes the thread's scratch memory, when there is any. */
bool agxc_insert_stack(struct agxc_shader *shader);
/* Registers: dependent instructions apart, where that makes a block stall less. */
bool agxc_schedule_post(struct agxc_shader *shader);
/* Barriers that order nothing; behind everything that moves instructions. */
bool agxc_drop_barriers(struct agxc_shader *shader);
/* Structured control flow to mask instructions and jumps at block ends. */
bool agxc_lower_control(struct agxc_shader *shader);
/* Scoreboard groups and `wait` before results of asynchronous operations are used. */
bool agxc_insert_waits(struct agxc_shader *shader);
/* Discard and cache hints on last uses. */
bool agxc_hints(struct agxc_shader *shader);

/* Machine code with stop and trap padding, jumps resolved; in the shader's arena. */
void agxc_emit(struct agxc_shader *shader, uint8_t **out_code, uint32_t *out_text_B,
               uint32_t *out_code_B);
