/* SPDX-License-Identifier: MIT
 *
 * Keeps blocks of one size, for pools of the strategies AGX_POOL_FIXED and AGX_POOL_PASSTHROUGH
 * (pool_strategy.h).
 */
#include "hal/memory/pool_fixed.h"

#include "base/util.h"

#define MAX_TRIES 8 /* at busy blocks, which may not suit */

void agx_fixed_init(struct agx_fixed *fixed, uint64_t block_B, const struct agx_host_alloc *alloc)
{
   agx_pool_nodes_init(&fixed->nodes, alloc);
   agx_list_init(&fixed->idle_slabs.list);
   fixed->idle_slabs.count = 0;
   agx_list_init(&fixed->idle);
   agx_list_init(&fixed->busy_order);
   fixed->block_B = block_B;
   fixed->idle_B = fixed->busy_B = 0;
}

void agx_fixed_fini(struct agx_fixed *fixed)
{
   agx_pool_nodes_fini(&fixed->nodes);
}

static void make_idle(struct agx_fixed *fixed, struct agx_pool_block *block)
{
   block->state = AGX_BLOCK_IDLE;
   block->death = (struct agx_frontier){0};
   agx_pool_more_idle(&fixed->idle_slabs, block->slab, block->size_B);
   fixed->idle_B += block->size_B;
   agx_list_insert_after(&fixed->idle, &block->bin);
}

/* Returns the nodes of a slab whose blocks are all idle. */
static void unchain(struct agx_fixed *fixed, struct agx_pool_slab *slab)
{
   while (slab->first) {
      struct agx_pool_block *block = slab->first;
      slab->first = block->above;
      agx_list_remove(&block->bin);
      fixed->idle_B -= block->size_B;
      agx_pool_less_idle(&fixed->idle_slabs, slab, block->size_B);
      agx_pool_nodes_return(&fixed->nodes, block);
   }
}

agx_status agx_fixed_add(struct agx_fixed *fixed, struct agx_pool_slab *slab)
{
   const uint64_t block_B = fixed->block_B ? fixed->block_B : slab->size_B;
   struct agx_pool_block *above = NULL;
   uint64_t count = slab->size_B / block_B;
   for (slab->size_B = count * block_B; count > 0; count--) {
      agx_status status = agx_pool_nodes_reserve(&fixed->nodes, 1);
      if (status != AGX_OK) {
         unchain(fixed, slab);
         return status;
      }
      struct agx_pool_block *block = agx_pool_nodes_acquire(&fixed->nodes);
      block->slab = slab;
      block->offset_B = (count - 1) * block_B;
      block->size_B = block_B;
      block->above = above;
      if (above)
         above->below = block;
      slab->first = above = block;
      make_idle(fixed, block);
   }
   return AGX_OK;
}

void agx_fixed_remove(struct agx_fixed *fixed, struct agx_pool_slab *slab)
{
   agx_assert(slab->idle_B == slab->size_B);
   unchain(fixed, slab);
}

/* Looks at those first that were returned first: they suit most likely. */
static struct agx_pool_block *find_busy(struct agx_fixed *fixed, const struct agx_pool_want *want)
{
   uint32_t tries = MAX_TRIES;
   agx_list_for_each (struct agx_pool_block, block, &fixed->busy_order, busy) {
      if (tries-- == 0)
         break;
      if (agx_pool_block_suits(block, want))
         return block;
   }
   return NULL;
}

static struct agx_pool_block *choose(struct agx_fixed *fixed, const struct agx_pool_want *want)
{
   struct agx_pool_want sure = *want;
   sure.may_wait = false;
   struct agx_pool_block *block = find_busy(fixed, &sure);
   if (!block && !agx_list_empty(&fixed->idle))
      block = agx_container_of(fixed->idle.next, struct agx_pool_block, bin);
   if (!block && want->may_wait)
      block = find_busy(fixed, want);
   return block;
}

void agx_fixed_claim(struct agx_fixed *fixed, struct agx_pool_block *block)
{
   if (block->state == AGX_BLOCK_BUSY) {
      fixed->busy_B -= block->size_B;
      agx_list_remove(&block->busy);
   } else {
      fixed->idle_B -= block->size_B;
      agx_pool_less_idle(&fixed->idle_slabs, block->slab, block->size_B);
      agx_list_remove(&block->bin);
   }
   block->state = AGX_BLOCK_USED;
}

struct agx_pool_block *agx_fixed_acquire(struct agx_fixed *fixed, const struct agx_pool_want *want)
{
   struct agx_pool_block *block = want->size_B <= fixed->block_B ? choose(fixed, want) : NULL;
   if (block)
      agx_fixed_claim(fixed, block);
   return block;
}

void agx_fixed_return(struct agx_fixed *fixed, struct agx_pool_block *block,
                      const struct agx_frontier *death)
{
   agx_assert(block->state == AGX_BLOCK_USED);
   if (!death) {
      make_idle(fixed, block);
      return;
   }
   block->state = AGX_BLOCK_BUSY;
   block->death = *death;
   fixed->busy_B += block->size_B;
   agx_list_append(&fixed->busy_order, &block->busy);
}

void agx_fixed_reclaim(struct agx_fixed *fixed, const struct agx_frontier *reached, uint32_t limit)
{
   agx_list_for_each_safe (struct agx_pool_block, block, &fixed->busy_order, busy) {
      if (limit-- == 0)
         return;
      if (!agx_frontier_covers(reached, &block->death))
         continue;
      agx_list_remove(&block->busy);
      fixed->busy_B -= block->size_B;
      make_idle(fixed, block);
   }
}
