/* SPDX-License-Identifier: MIT
 *
 * Blocks of pools: ranges of slabs. Pure bookkeeping: the caller holds the pool's lock.
 *
 * A returned block remembers its death: the epochs at which its last user is over. Until these are
 * reached the block is *busy*: only a user that waits for them anyhow may have it. Then it is
 * *idle*: any user may.
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
   struct agx_link link, idle;
   struct agx_buffer *memory;
   uint64_t size_B;
   uint64_t idle_B;              /* the slab is idle when all its bytes are */
   struct agx_pool_block *first; /* at offset 0: always the same node */
};

struct agx_pool_block {
   struct agx_link bin;  /* idle or busy: with others of its size. spare: with nodes */
   struct agx_link busy; /* busy: in the order of returning */
   struct agx_pool_block *below, *above; /* its neighbours in the slab, NULL at the ends */
   struct agx_pool_slab *slab;
   uint64_t offset_B, size_B;
   /* Busy: when it becomes idle. Used: what its new user must wait for, zeros if it is nothing. */
   struct agx_frontier death;
   enum agx_pool_block_state state;
};

/* Slabs all of whose bytes are idle. */
struct agx_pool_idle_slabs {
   struct agx_link list;
   uint32_t count;
};

/* Counts bytes of the slab that became idle; the slab joins the idle ones when all of it is. */
static inline void agx_pool_more_idle(struct agx_pool_idle_slabs *idle, struct agx_pool_slab *slab,
                                      uint64_t bytes)
{
   slab->idle_B += bytes;
   if (slab->idle_B < slab->size_B)
      return;
   agx_list_append(&idle->list, &slab->idle);
   idle->count++;
}

/* Counts idle bytes of the slab that became used; the slab then leaves the idle ones. */
static inline void agx_pool_less_idle(struct agx_pool_idle_slabs *idle, struct agx_pool_slab *slab,
                                      uint64_t bytes)
{
   if (slab->idle_B == slab->size_B) {
      agx_list_remove(&slab->idle);
      idle->count--;
   }
   slab->idle_B -= bytes;
}

/* What a block is wanted for. */
struct agx_pool_want {
   uint64_t size_B, align_B; /* align: a power of two; both > 0 */
   /* What its user waits for anyhow, reached epochs among it. */
   const struct agx_frontier *covered;
   bool may_wait;  /* for a block's death, too */
   uint32_t queue; /* whose operation wants it; or AGX_NO_QUEUE */
};

/* Whether a user that wants *want may have the block, which is idle or busy; sizes don't count. */
static inline bool agx_pool_block_suits(const struct agx_pool_block *block,
                                        const struct agx_pool_want *want)
{
   return block->state == AGX_BLOCK_IDLE || want->may_wait ||
          agx_frontier_covers(want->covered, &block->death);
}

/* Nodes, which agx_pool_nodes_fini frees together. */
struct agx_pool_nodes {
   const struct agx_host_alloc *alloc;
   struct agx_link spare;
   uint32_t spare_count;
   struct agx_pool_chunk *chunks;
};

/* Starts without nodes; alloc stays valid until agx_pool_nodes_fini. */
void agx_pool_nodes_init(struct agx_pool_nodes *nodes, const struct agx_host_alloc *alloc);
/* Frees all nodes, those of blocks too. */
void agx_pool_nodes_fini(struct agx_pool_nodes *nodes);
/* Makes sure that count nodes, at most 64, can be acquired. AGX_RESOURCE_EXHAUSTED: out of host
 * memory. */
AGX_MUST_CHECK agx_status agx_pool_nodes_reserve(struct agx_pool_nodes *nodes, uint32_t count);
/* A node without a range; there is one, by agx_pool_nodes_reserve. */
struct agx_pool_block *agx_pool_nodes_acquire(struct agx_pool_nodes *nodes);
/* Takes back a node that stands in no bin. */
void agx_pool_nodes_return(struct agx_pool_nodes *nodes, struct agx_pool_block *block);
