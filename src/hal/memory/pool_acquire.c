/* SPDX-License-Identifier: MIT
 *
 * Acquires blocks of a pool and returns them: pool_buffer.c does so for buffers that live on the
 * host's timeline, sync/alloca.c for those of a queue. A block comes from a slab that the pool has,
 * else from a new one.
 */
#include "agx/chip.h"
#include "base/util.h"
#include "hal/memory/pool_slab.h"
#include "hal/memory/pool_strategy.h"
#include "hal/memory/state.h"

#define RECLAIM_AT_ONCE 16u /* busy blocks that each acquire looks at */
#define KEPT_IDLE_SLABS 1u  /* so that a pool does not create and destroy one slab in turn */

/* ---- growing ----------------------------------------------------------------- */

/* What a block for size_B takes of a slab of its own. */
static uint64_t least_slab(const struct agx_pool *pool, uint64_t size_B)
{
   return AGX_MAX(pool->block_B, agx_align_up(size_B, pool->page_B));
}

/* How much to take from the device for a block of size_B; 0: the limit is in the way. */
static uint64_t growth_for(const struct agx_pool *pool, uint64_t size_B)
{
   const uint64_t least_B = least_slab(pool, size_B);
   const uint64_t left_B = pool->limit_B ? (pool->limit_B - pool->reserved_B) : AGX_POOL_MAX_SLAB_B;
   uint64_t slab_B = pool->strategy == AGX_POOL_PASSTHROUGH ? 0 : pool->slab_B;
   slab_B = AGX_MIN(AGX_MAX(slab_B, least_B), left_B & ~(uint64_t)(pool->page_B - 1));
   return slab_B < least_B ? 0 : slab_B;
}

/* Takes memory from the device for a block of size_B. *out_slab NULL: the limit is in the way.
 * With the lock held, which is let go of meanwhile. */
static agx_status grow(struct agx_pool *pool, uint64_t size_B, struct agx_pool_slab **out_slab)
{
   uint64_t slab_B = growth_for(pool, size_B);
   *out_slab = NULL;
   if (slab_B == 0)
      return AGX_OK;
   struct agx_pool_slab *slab = NULL;
   pool->reserved_B += slab_B;
   pthread_mutex_unlock(&pool->lock);
   agx_status status = agx_pool_slab_create(pool, slab_B, &slab);
   if (status == AGX_RESOURCE_EXHAUSTED && slab_B > least_slab(pool, size_B))
      status =
         agx_pool_slab_create(pool, least_slab(pool, size_B), &slab); /* which may be to be had */
   pthread_mutex_lock(&pool->lock);
   pool->reserved_B -= slab_B;
   if (status == AGX_OK)
      status = agx_pool_add_slab(pool, slab);
   if (status != AGX_OK) {
      if (slab)
         agx_pool_slab_destroy(pool, slab);
      return status;
   }
   pool->reserved_B += agxw_bo_size(slab->memory->bo);
   agx_list_append(&pool->slabs, &slab->link);
   pool->slab_count++;
   pool->peak_reserved_B = AGX_MAX(pool->peak_reserved_B, pool->reserved_B);
   *out_slab = slab;
   return AGX_OK;
}

/* ---- blocks ------------------------------------------------------------------ */

agx_status agx_pool_check(const struct agx_pool *pool, uint64_t size_B, uint64_t align_B)
{
   const uint64_t most_B = pool->strategy == AGX_POOL_FIXED ? pool->block_B : AGX_POOL_MAX_SLAB_B;
   if (size_B > most_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %llu bytes; it has blocks of up to %llu",
                      pool->label, (unsigned long long)size_B, (unsigned long long)most_B);
   if (align_B & (align_B - 1) || align_B > AGX_PAGE_BYTES)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: alignment %llu is no power of two up to %u",
                      pool->label, (unsigned long long)align_B, AGX_PAGE_BYTES);
   if (pool->limit_B && least_slab(pool, AGX_MAX(size_B, 1u)) > pool->limit_B)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: %llu bytes; its limit is %llu", pool->label,
                      (unsigned long long)size_B, (unsigned long long)pool->limit_B);
   return AGX_OK;
}

/* At the limit: idle slabs that are too small make room for one that is not. With the lock held,
 * which is let go of meanwhile. False: there are none. */
static bool free_idle_slabs(struct agx_pool *pool)
{
   struct agx_link idle;
   agx_pool_remove_idle_slabs(pool, 0, &idle);
   if (agx_list_empty(&idle))
      return false;
   pthread_mutex_unlock(&pool->lock);
   agx_pool_slabs_destroy(pool, &idle);
   pthread_mutex_lock(&pool->lock);
   return true;
}

/* Of what there is, after a closer look if need be. *out_block NULL: nothing. */
static agx_status acquire_existing(struct agx_pool *pool, const struct agx_pool_want *want,
                                   const struct agx_frontier *reached,
                                   struct agx_pool_block **out_block)
{
   struct agx_pool_want sure = *want;
   sure.may_wait = false;
   *out_block = NULL;
   agx_pool_reclaim(pool, reached, RECLAIM_AT_ONCE);
   if (pool->strategy == AGX_POOL_PASSTHROUGH)
      return AGX_OK;
   AGX_TRY(agx_pool_acquire_block(pool, &sure, out_block));
   if (*out_block || agx_pool_busy_bytes(pool) == 0)
      return AGX_OK;
   agx_pool_reclaim(pool, reached, UINT32_MAX);
   return agx_pool_acquire_block(pool, want, out_block);
}

static agx_status acquire_locked(struct agx_pool *pool, const struct agx_pool_want *want,
                                 const struct agx_frontier *reached,
                                 struct agx_pool_block **out_block)
{
   struct agx_pool_slab *slab = NULL;
   do { /* another thread may be quicker to acquire from the new slab */
      AGX_TRY(acquire_existing(pool, want, reached, out_block));
      if (*out_block)
         return AGX_OK;
      AGX_TRY(grow(pool, want->size_B, &slab));
      if (slab && pool->strategy == AGX_POOL_PASSTHROUGH) {
         agx_fixed_claim(&pool->blocks.fixed, slab->first);
         *out_block = slab->first;
         return AGX_OK;
      }
   } while (slab || free_idle_slabs(pool));
   return AGX_OK;
}

agx_status agx_pool_acquire(struct agx_pool *pool, const struct agx_pool_want *want,
                            const struct agx_frontier *reached, struct agx_pool_block **out_block)
{
   struct agx_link idle;
   *out_block = NULL;
   if (agx_pool_is_callers(pool))
      AGX_TRY(agx_pool_caller_acquire(pool, want, out_block));
   pthread_mutex_lock(&pool->lock);
   agx_status status =
      agx_pool_is_callers(pool) ? AGX_OK : acquire_locked(pool, want, reached, out_block);
   struct agx_pool_block *block = *out_block;
   if (block) {
      pool->used_B += block->size_B;
      pool->peak_used_B = AGX_MAX(pool->peak_used_B, pool->used_B);
      pool->allocations++;
      if (agx_frontier_covers(reached, &block->death))
         block->death = (struct agx_frontier){0};
      else
         pool->reuses++;
   }
   agx_pool_remove_idle_slabs(pool, KEPT_IDLE_SLABS, &idle);
   pthread_mutex_unlock(&pool->lock);
   agx_pool_slabs_destroy(pool, &idle);
   return status;
}

bool agx_pool_return(struct agx_pool *pool, struct agx_pool_block *block, uint32_t queue,
                     const struct agx_frontier *death)
{
   struct agx_link idle;
   pthread_mutex_lock(&pool->lock);
   pool->used_B -= block->size_B;
   if (!agx_pool_is_callers(pool))
      agx_pool_return_block(pool, block, death);
   agx_pool_remove_idle_slabs(pool, KEPT_IDLE_SLABS, &idle);
   pthread_mutex_unlock(&pool->lock);
   agx_pool_slabs_destroy(pool, &idle);
   if (agx_pool_is_callers(pool))
      agx_pool_caller_return(pool, block, queue, death);
   return atomic_exchange(&pool->is_awaited, false);
}

agx_status agx_pool_full(struct agx_pool *pool, uint64_t size_B)
{
   if (agx_pool_is_callers(pool))
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: its source has no block for %llu bytes now",
                      pool->label, (unsigned long long)size_B);
   pthread_mutex_lock(&pool->lock);
   agx_status status = AGX_FAIL(
      AGX_RESOURCE_EXHAUSTED,
      "%s: no block for %llu bytes: %llu bytes of its limit of %llu are reserved, %llu used, %llu "
      "not over",
      pool->label, (unsigned long long)size_B, (unsigned long long)pool->reserved_B,
      (unsigned long long)pool->limit_B, (unsigned long long)pool->used_B,
      (unsigned long long)agx_pool_busy_bytes(pool));
   pthread_mutex_unlock(&pool->lock);
   return status;
}
