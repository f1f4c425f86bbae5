/* SPDX-License-Identifier: MIT
 *
 * The strategies of pools behind one face: what cuts slabs into blocks. With the pool's lock held.
 */
#pragma once

#include "hal/memory/pool.h"

static inline bool agx_pool_is_variable(const struct agx_pool *pool)
{
   return pool->strategy == AGX_POOL_VARIABLE;
}

static inline AGX_MUST_CHECK agx_status agx_pool_add_slab(struct agx_pool *pool,
                                                          struct agx_pool_slab *slab)
{
   if (agx_pool_is_variable(pool))
      return agx_tlsf_add(&pool->blocks.tlsf, slab);
   return agx_fixed_add(&pool->blocks.fixed, slab);
}

static inline void agx_pool_remove_slab(struct agx_pool *pool, struct agx_pool_slab *slab)
{
   if (agx_pool_is_variable(pool))
      agx_tlsf_remove(&pool->blocks.tlsf, slab);
   else
      agx_fixed_remove(&pool->blocks.fixed, slab);
}

static inline AGX_MUST_CHECK agx_status agx_pool_take_block(struct agx_pool *pool,
                                                            const struct agx_pool_want *want,
                                                            struct agx_pool_block **out_block)
{
   if (agx_pool_is_variable(pool))
      return agx_tlsf_take(&pool->blocks.tlsf, want, out_block);
   *out_block = agx_fixed_take(&pool->blocks.fixed, want);
   return AGX_OK;
}

static inline void agx_pool_give_block(struct agx_pool *pool, struct agx_pool_block *block,
                                       const struct agx_frontier *death)
{
   if (agx_pool_is_variable(pool))
      agx_tlsf_give(&pool->blocks.tlsf, block, death);
   else
      agx_fixed_give(&pool->blocks.fixed, block, death);
}

static inline void agx_pool_reclaim(struct agx_pool *pool, const struct agx_frontier *reached,
                                    uint32_t limit)
{
   if (agx_pool_is_variable(pool))
      agx_tlsf_reclaim(&pool->blocks.tlsf, reached, limit);
   else
      agx_fixed_reclaim(&pool->blocks.fixed, reached, limit);
}

static inline uint64_t agx_pool_busy_bytes(const struct agx_pool *pool)
{
   return agx_pool_is_variable(pool) ? pool->blocks.tlsf.busy_B : pool->blocks.fixed.busy_B;
}
