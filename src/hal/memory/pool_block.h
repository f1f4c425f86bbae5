/* SPDX-License-Identifier: MIT
 *
 * Blocks of pools: ranges of slabs. Pure bookkeeping, for a caller who locks.
 *
 * A freed block remembers its death: the epochs at which its last users are over. Until these are
 * reached the block is *busy*: only a user that waits for them anyhow may have it. Then it is
 * *idle*: every user may.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/status.h"
#include "hal/core/frontier.h"

enum agx_pool_block_state {
   AGX_BLOCK_SPARE, /* a node without a range */
   AGX_BLOCK_IDLE,
   AGX_BLOCK_BUSY,
   AGX_BLOCK_USED,
};

struct agx_pool_block;

/* The memory that blocks are cut from. */
struct agx_pool_slab {
   struct agx_link link, idle_link;
   struct agx_buffer *memory;
   uint64_t size_B;
   uint64_t idle_B;              /* the slab is idle when it is all */
   struct agx_pool_block *first; /* at offset 0: always the same node */
};

struct agx_pool_block {
   struct agx_link bin;       /* free: with others of its size. spare: with other nodes */
   struct agx_link busy_link; /* busy: in the order of freeing */
   struct agx_pool_block *below, *above; /* its neighbours in the slab, NULL at the ends */
   struct agx_pool_slab *slab;
   uint64_t offset_B, size_B;
   /* Busy: when it may be had. Used: what its new user must wait for, zeros if it is nothing. */
   struct agx_frontier death;
   enum agx_pool_block_state state;
};

/* The slabs that are idle as a whole. */
struct agx_pool_idle {
   struct agx_link slabs;
   uint32_t count;
};

static inline void agx_pool_add_idle(struct agx_pool_idle *idle, struct agx_pool_slab *slab,
                                     uint64_t bytes)
{
   slab->idle_B += bytes;
   if (slab->idle_B < slab->size_B)
      return;
   agx_list_append(&idle->slabs, &slab->idle_link);
   idle->count++;
}

static inline void agx_pool_remove_idle(struct agx_pool_idle *idle, struct agx_pool_slab *slab,
                                        uint64_t bytes)
{
   if (slab->idle_B == slab->size_B) {
      agx_list_remove(&slab->idle_link);
      idle->count--;
   }
   slab->idle_B -= bytes;
}

/* What a block is wanted for. */
struct agx_pool_want {
   uint64_t size_B, align_B; /* align: a power of two; both > 0 */
   /* What its user waits for anyhow, reached epochs among it. */
   const struct agx_frontier *covered;
   bool may_wait; /* for a block's death, too */
};

static inline bool agx_pool_may_have(const struct agx_pool_block *block,
                                     const struct agx_pool_want *want)
{
   return block->state == AGX_BLOCK_IDLE || want->may_wait ||
          agx_frontier_covers(want->covered, &block->death);
}

/* Nodes, which never go back to the heap before the end. */
struct agx_pool_nodes {
   const struct agx_host_alloc *alloc;
   struct agx_link spare;
   uint32_t spare_count;
   struct agx_pool_chunk *chunks;
};

void agx_pool_nodes_init(struct agx_pool_nodes *nodes, const struct agx_host_alloc *alloc);
void agx_pool_nodes_fini(struct agx_pool_nodes *nodes);
/* Makes sure that count nodes (a few) can be taken. */
AGX_MUST_CHECK agx_status agx_pool_nodes_reserve(struct agx_pool_nodes *nodes, uint32_t count);
struct agx_pool_block *agx_pool_nodes_take(struct agx_pool_nodes *nodes);
void agx_pool_nodes_give(struct agx_pool_nodes *nodes, struct agx_pool_block *block);
