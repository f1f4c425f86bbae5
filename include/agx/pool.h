/* SPDX-License-Identifier: MIT
 *
 * Pools: buffers out of larger pieces of memory.
 */
#pragma once

#include "agx/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum agx_pool_strategy {
   AGX_POOL_VARIABLE = 0,    /* any size, in units of 256 bytes; little is lost between buffers */
   AGX_POOL_FIXED = 1,       /* blocks of one size */
   AGX_POOL_PASSTHROUGH = 2, /* each buffer is memory of its own */
};

struct agx_pool_desc {
   uint32_t size;
   const void *next;
   uint32_t strategy; /* enum agx_pool_strategy */
   uint32_t flags;    /* enum agx_buffer_flags, of all its memory */
   uint64_t slab_B;   /* what it takes from the device at a time, up to 2^37; 0: 32 MiB */
   uint64_t block_B;  /* of AGX_POOL_FIXED, rounded up to pages; else 0 */
   uint64_t limit_B;  /* most that it takes from the device; 0: what the device has */
   const char *label; /* for messages and captures; NULL: "pool" */
   /* As in struct agx_buffer_desc; AGX_USAGE_SHARING_EXPORT with AGX_POOL_PASSTHROUGH only. */
   uint32_t memory, usage, access;
};

/* A pool; its first memory is taken with its first buffer. Buffers keep their pool alive. Any
 * thread. */
AGX_API AGX_MUST_CHECK agx_status agx_pool_create(struct agx_device *device,
                                                  const struct agx_pool_desc *desc,
                                                  struct agx_pool **out_pool);

/* A buffer of size_B bytes whose address is a multiple of align_B, a power of two up to the
 * device's page (0: 256). One of 0 bytes has an address too. Its contents are undefined. Its memory
 * goes back with its last reference. AGX_INVALID_ARGUMENT: more than a block or 2^37, no such
 * alignment;
 * AGX_RESOURCE_EXHAUSTED when the pool is at its limit or the device has no more. */
AGX_API AGX_MUST_CHECK agx_status agx_pool_allocate(struct agx_pool *pool, uint64_t size_B,
                                                    uint64_t align_B,
                                                    struct agx_buffer **out_buffer);

/* Gives memory that no buffer is in back to the device. */
AGX_API void agx_pool_trim(struct agx_pool *pool);

struct agx_pool_stats {
   uint32_t size; /* set by the caller */
   uint32_t slab_count;
   uint64_t reserved_B; /* taken from the device */
   uint64_t used_B;     /* in buffers, rounded up as the strategy does */
   uint64_t busy_B;     /* given back, but its last user may not be over yet */
   uint64_t peak_reserved_B, peak_used_B;
   uint64_t allocations; /* so far */
   uint64_t reuses;      /* of these, of memory counted in busy_B */
};
AGX_API void agx_pool_get_stats(struct agx_pool *pool, struct agx_pool_stats *out_stats);

#ifdef __cplusplus
}
#endif
