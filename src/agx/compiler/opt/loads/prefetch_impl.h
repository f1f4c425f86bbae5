/* SPDX-License-Identifier: MIT
 *
 * What the files of opt/loads/prefetch.c share: the loop that is looked at, and the loads that
 * move.
 */
#pragma once

#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/analysis/loop_shape.h"
#include "agx/compiler/opt/loads/limits_impl.h"

#define AGXC_PREFETCH_MAX_SOURCES 4u

/* As what a copy of the loop's values is made. */
enum agxc_way {
   AGXC_WAY_FIRST, /* in front of the loop: those of the first iteration */
   AGXC_WAY_THIS,  /* in the loop, where they may not be computed yet */
   AGXC_WAY_NEXT,  /* of the next iteration */
   AGXC_WAY_COUNT,
};

struct agxc_choice {
   struct agxc_instr *load;
   struct agxc_block *block; /* where it goes: to the end, or in front of `before` */
   struct agxc_instr *before;
   bool leads; /* another load's address depends on it */
};

/* What stands for a value in one way of copying it. */
struct agxc_copied {
   struct agxc_ref ref;
   uint32_t stamp; /* of the place that it was made for */
};

struct agxc_prefetch {
   struct agxc_shader *shader;
   struct agxc_loop_shape shape;
   uint32_t first, last;                    /* blocks of the loop */
   uint32_t value_count;                    /* values that are older than the copies */
   struct agxc_copied *map[AGXC_WAY_COUNT]; /* by value id */
   uint32_t stamp;
   struct agxc_builder b; /* where copies go */
   struct agxc_choice choices[AGXC_LOADS_FAR];
   uint32_t choice_count;
   const struct agxc_liveness *liveness;
   int32_t room; /* halves that the loop may take without a step of occupancy */
};

/* A block of the loop. */
static inline bool agxc_prefetch_is_in_loop(const struct agxc_prefetch *p,
                                            const struct agxc_block *block)
{
   return block->index >= p->first && block->index <= p->last;
}

/* A phi of the loop's header. */
static inline bool agxc_prefetch_is_phi(const struct agxc_prefetch *p,
                                        const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_PHI && instr->block == p->shape.header;
}

/* Another iteration may have another value there. */
static inline bool agxc_prefetch_varies(const struct agxc_prefetch *p, const struct agxc_ref *ref)
{
   return ref->kind == AGXC_VALUE && agxc_prefetch_is_in_loop(p, ref->value->def->block);
}

/* The loads of the loop that is p->shape; requires agxc_index and p->liveness. */
void agxc_prefetch_choose(struct agxc_prefetch *p);
