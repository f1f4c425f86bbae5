/* SPDX-License-Identifier: MIT
 *
 * A pool: slabs, a strategy that cuts them into blocks, and a limit. Its lock is taken after the
 * device's, and held over no request to the kernel.
 */
#pragma once

#include <pthread.h>

#include "hal/memory/buffer.h"
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
   /* An operation waits for memory: a release of some tries deferred operations again. Set
    * before the pool is asked. */
   _Atomic bool is_awaited;

   pthread_mutex_t lock;
   union {
      struct agx_tlsf tlsf;
      struct agx_fixed fixed;
   } blocks;
   struct agx_link slabs;
   uint32_t slab_count;
   uint64_t reserved_B; /* slabs, and those being made */
   uint64_t used_B, peak_reserved_B, peak_used_B, allocations, reuses;
};

/* Fills a pool whose memory is the caller's. */
AGX_MUST_CHECK agx_status agx_pool_init(struct agx_pool *pool, struct agx_device *device,
                                        const struct agx_pool_desc *desc);
void agx_pool_fini(struct agx_pool *pool);

/* Whether the pool could ever have a block for so much: else why not. */
AGX_MUST_CHECK agx_status agx_pool_check(const struct agx_pool *pool, uint64_t size_B,
                                         uint64_t align_B);

/* A block, whose death then says what its user has to wait for beyond want->covered. *out_block
 * NULL: the pool is at its limit. reached: the epochs that are over. */
AGX_MUST_CHECK agx_status agx_pool_take(struct agx_pool *pool, const struct agx_pool_want *want,
                                        const struct agx_frontier *reached,
                                        struct agx_pool_block **out_block);
/* death NULL: it has no user any more. True: an operation waits for it (agx_memory_hooks). */
bool agx_pool_give(struct agx_pool *pool, struct agx_pool_block *block,
                   const struct agx_frontier *death);
/* That the pool is at its limit. */
AGX_MUST_CHECK agx_status agx_pool_full(struct agx_pool *pool, uint64_t size_B);

/* A reference to the pool, or to the device whose own it is. */
void agx_pool_retain(struct agx_pool *pool);
void agx_pool_release(struct agx_pool *pool);

/* Gives a buffer without memory what it has in common with all of the pool. */
void agx_pool_describe(const struct agx_pool *pool, struct agx_buffer *buffer);

/* The device's own pool. */
AGX_MUST_CHECK agx_status agx_device_pool_init(struct agx_device *device);
void agx_device_pool_fini(struct agx_device *device);
