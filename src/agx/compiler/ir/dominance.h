/* SPDX-License-Identifier: MIT
 *
 * The dominator tree of a shader's blocks.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

#define AGXC_NO_BLOCK UINT32_MAX

/* By block index; children are index + 1, and 0 ends their list. */
struct agxc_dominance {
   uint32_t *idom;  /* AGXC_NO_BLOCK: nothing reaches the block. The entry's is itself. */
   uint32_t *level; /* of the tree; the entry's is 0 */
   uint32_t *first_child, *next_child;
   uint32_t *enter, *leave; /* first and last preorder number of the subtree */
};

/* Requires agxc_index; allocates from the shader's arena. */
struct agxc_dominance *agxc_dominance_compute(struct agxc_shader *shader);

/* Whether a dominates b, or is b. Nothing reaches neither: false. */
static inline bool agxc_dominates(const struct agxc_dominance *dominance, uint32_t a, uint32_t b)
{
   return dominance->idom[a] != AGXC_NO_BLOCK && dominance->idom[b] != AGXC_NO_BLOCK &&
          dominance->enter[a] <= dominance->enter[b] && dominance->enter[b] <= dominance->leave[a];
}
