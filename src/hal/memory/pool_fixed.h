/* SPDX-License-Identifier: MIT
 *
 * Blocks of one size: a list of idle ones, and one of busy ones in the order of returning. O(1).
 */
#pragma once

#include "hal/memory/pool_block.h"

/* Embedded. */
struct agx_fixed {
   struct agx_pool_nodes nodes;
   struct agx_pool_idle_slabs idle_slabs;
   struct agx_link idle, busy_order;
   uint64_t block_B; /* 0: a slab is one block */
   uint64_t idle_B, busy_B;
};

/* Starts without slabs. block_B: as in the struct; alloc stays valid until agx_fixed_fini. */
void agx_fixed_init(struct agx_fixed *fixed, uint64_t block_B, const struct agx_host_alloc *alloc);
/* Frees the nodes; all slabs were removed. */
void agx_fixed_fini(struct agx_fixed *fixed);

/* As their namesakes of pool_tlsf.h; agx_fixed_acquire returns NULL where no block suits. Bytes at
 * a slab's end that don't fill a block stay unused. */
AGX_MUST_CHECK agx_status agx_fixed_add(struct agx_fixed *fixed, struct agx_pool_slab *slab);
void agx_fixed_remove(struct agx_fixed *fixed, struct agx_pool_slab *slab);
struct agx_pool_block *agx_fixed_acquire(struct agx_fixed *fixed, const struct agx_pool_want *want);
/* Makes that block, idle or busy, used. */
void agx_fixed_claim(struct agx_fixed *fixed, struct agx_pool_block *block);
/* As their namesakes of pool_tlsf.h. */
void agx_fixed_return(struct agx_fixed *fixed, struct agx_pool_block *block,
                      const struct agx_frontier *death);
void agx_fixed_reclaim(struct agx_fixed *fixed, const struct agx_frontier *reached, uint32_t limit);
