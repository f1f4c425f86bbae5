/* SPDX-License-Identifier: MIT
 *
 * Which values are the same for whom. Works on generic and on machine code in SSA form, in
 * linear time; what it says holds until values or control flow change.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* From the most to the least uniform: what holds for one holds for those behind it. A value of
 * a scope is the same for all threads of that scope that run its definition in the same iteration
 * of the loops around it. */
enum agxc_scope {
   AGXC_SCOPE_DISPATCH,
   AGXC_SCOPE_WORKGROUP,
   AGXC_SCOPE_SUBGROUP, /* a SIMD-group of 32 lanes */
   AGXC_SCOPE_THREAD,   /* divergent */
};

struct agxc_divergence_loop {
   uint32_t parent;      /* the loop around it, or UINT32_MAX */
   uint32_t first, last; /* its blocks, by index */
   uint8_t exit;         /* enum agxc_scope: threads of it leave in the same iteration */
   /* The analysis' own: of returns, of continues, of continues before what is being looked at,
    * and whether a break or continue was before that. */
   uint8_t returned, continued, skipped;
   bool has_break;
};

struct agxc_divergence {
   uint8_t *value;        /* by value id: enum agxc_scope at its definition */
   uint8_t *block;        /* by block index: threads of that scope run it all or not at all */
   agx_bitset_word *runs; /* by block index: every thread of the dispatch runs it at least once */
   uint32_t *loop_of;     /* by block index: the innermost loop, or UINT32_MAX */
   struct agxc_divergence_loop *loops;
   uint32_t loop_count;
};

/* Numbers the shader (agxc_index) and analyses it; the result is in the shader's arena. */
struct agxc_divergence *agxc_divergence(struct agxc_shader *shader);

/* The scope of a reference where it is read in `block`: a value that leaves a loop which its
 * threads leave in different iterations differs behind it. */
enum agxc_scope agxc_scope_of(const struct agxc_divergence *divergence, const struct agxc_ref *ref,
                              const struct agxc_block *block);

/* Whether all threads of the dispatch decide the same, by constants and uniforms alone: one arm is
 * skipped as a whole. */
bool agxc_is_of_dispatch(const struct agxc_ref *condition);
