/* SPDX-License-Identifier: MIT
 *
 * Calls the strategy of a pool, which cuts slabs into blocks: pool_tlsf.h or pool_fixed.h. With the
 * pool's lock held.
 */
#pragma once

#include "hal/memory/pool.h"

/* Whether the pool's blocks have any size (pool_tlsf.h); else one size (pool_fixed.h). */
static inline bool agx_pool_is_variable(const struct agx_pool *pool)
{
   return pool->strategy == AGX_POOL_VARIABLE;
}

/* Adds a slab, idle as a whole. AGX_RESOURCE_EXHAUSTED: out of host memory. */
static inline AGX_MUST_CHECK agx_status agx_pool_add_slab(struct agx_pool *pool,
                                                          struct agx_pool_slab *slab)
{
   if (agx_pool_is_variable(pool))
      return agx_tlsf_add(&pool->blocks.tlsf, slab);
   return agx_fixed_add(&pool->blocks.fixed, slab);
}

/* Removes a slab that is idle. */
static inline void agx_pool_remove_slab(struct agx_pool *pool, struct agx_pool_slab *slab)
{
   if (agx_pool_is_variable(pool))
      agx_tlsf_remove(&pool->blocks.tlsf, slab);
   else
      agx_fixed_remove(&pool->blocks.fixed, slab);
}

/* Acquires a block from the slabs that there are. *out_block NULL: none suits.
 * AGX_RESOURCE_EXHAUSTED: out of host memory. */
static inline AGX_MUST_CHECK agx_status agx_pool_acquire_block(struct agx_pool *pool,
                                                               const struct agx_pool_want *want,
                                                               struct agx_pool_block **out_block)
{
   if (agx_pool_is_variable(pool))
      return agx_tlsf_acquire(&pool->blocks.tlsf, want, out_block);
   *out_block = agx_fixed_acquire(&pool->blocks.fixed, want);
   return AGX_OK;
}

/* Returns a used block, which is busy until death is reached; NULL: it becomes idle. */
static inline void agx_pool_return_block(struct agx_pool *pool, struct agx_pool_block *block,
                                         const struct agx_frontier *death)
{
   if (agx_pool_is_variable(pool))
      agx_tlsf_return(&pool->blocks.tlsf, block, death);
   else
      agx_fixed_return(&pool->blocks.fixed, block, death);
}

/* Looks at up to limit busy blocks and makes those idle whose death is reached. */
static inline void agx_pool_reclaim(struct agx_pool *pool, const struct agx_frontier *reached,
                                    uint32_t limit)
{
   if (agx_pool_is_variable(pool))
      agx_tlsf_reclaim(&pool->blocks.tlsf, reached, limit);
   else
      agx_fixed_reclaim(&pool->blocks.fixed, reached, limit);
}

/* Bytes of busy blocks. */
static inline uint64_t agx_pool_busy_bytes(const struct agx_pool *pool)
{
   return agx_pool_is_variable(pool) ? pool->blocks.tlsf.busy_B : pool->blocks.fixed.busy_B;
}
