/* SPDX-License-Identifier: MIT
 *
 * A pool: slabs, a strategy that cuts them into blocks, and a limit. Its lock is taken after the
 * device's, and held over no request to the kernel.
 */
#pragma once

#include <pthread.h>

#include "hal/memory/buffer.h"
#include "hal/memory/pool_caller.h"
#include "hal/memory/pool_fixed.h"
#include "hal/memory/pool_tlsf.h"

struct agx_pool {
   struct agx_object object;
   struct agx_link link;      /* in the device's pools */
   struct agx_device *device; /* retained, but by the device's own pool */
   char label[AGX_BUFFER_LABEL_BYTES];
   uint32_t strategy;
   struct agx_buffer_desc buffers; /* what all of them are like: flags, memory, usage, access */
   uint64_t slab_B, block_B, limit_B;
   uint32_t page_B;
   bool is_devices; /* the device's own: it and its slabs hold no reference to the device */
   /* An operation waits for memory: a thread that returns a block then has deferred operations
    * tried again. Set before the operation asks the pool. */
   _Atomic bool is_awaited;

   pthread_mutex_t lock;
   union {
      struct agx_tlsf tlsf;
      struct agx_fixed fixed;
   } blocks;
   struct agx_pool_caller caller; /* of AGX_POOL_CALLER */
   struct agx_link slabs;
   uint32_t slab_count;
   uint64_t reserved_B; /* slabs, and those being made */
   uint64_t used_B, peak_reserved_B, peak_used_B, allocations, reuses;
};

/* Checks that the pool could ever have a block of so many bytes; else says why not. 0 is none of
 * its sizes, but that of a buffer, which takes a block of 1. */
AGX_MUST_CHECK agx_status agx_pool_check(const struct agx_pool *pool, uint64_t size_B,
                                         uint64_t align_B);

/* Whether its blocks are a source's. */
static inline bool agx_pool_is_callers(const struct agx_pool *pool)
{
   return pool->strategy == AGX_POOL_CALLER;
}

/* Acquires a block, whose death then says what its user has to wait for beyond want->covered.
 * *out_block NULL: the pool is at its limit, or its source has none. reached: the epochs that are
 * over. Takes the pool's lock, and lets it go while it asks the kernel for a slab; calls a source
 * without it. */
AGX_MUST_CHECK agx_status agx_pool_acquire(struct agx_pool *pool, const struct agx_pool_want *want,
                                           const struct agx_frontier *reached,
                                           struct agx_pool_block **out_block);
/* Returns a block, which is busy until death is reached; NULL: it is idle now. queue: of the
 * operation that returns it, or AGX_NO_QUEUE. True: an operation waits for memory; the caller then
 * calls memory_returned of struct agx_memory_hooks. Takes the pool's lock; calls a source. */
bool agx_pool_return(struct agx_pool *pool, struct agx_pool_block *block, uint32_t queue,
                     const struct agx_frontier *death);
/* Fails with AGX_RESOURCE_EXHAUSTED and the pool's numbers: it is at its limit, or its source has
 * no block. */
AGX_MUST_CHECK agx_status agx_pool_full(struct agx_pool *pool, uint64_t size_B);

/* Retains and releases the pool, or the device whose own pool it is. */
void agx_pool_retain(struct agx_pool *pool);
void agx_pool_release(struct agx_pool *pool);

/* Sets what a buffer without memory has in common with all buffers of the pool. */
void agx_pool_describe(const struct agx_pool *pool, struct agx_buffer *buffer);

/* Creates the device's own pool, and destroys it if there is one. */
AGX_MUST_CHECK agx_status agx_device_pool_init(struct agx_device *device);
void agx_device_pool_fini(struct agx_device *device);
