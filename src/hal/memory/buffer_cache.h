/* SPDX-License-Identifier: MIT
 *
 * Memory that buffers have given back, kept for the next ones of the same size and kind: as long
 * as no other process may have it (shared memory is never kept), and only where making it zero
 * costs less than new memory: where the host has it mapped already
 * (docs/decisions/0019-buffer-cache.md).
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/status.h"

struct agx_device;
struct agxw_bo;

#define AGX_CACHED_BUFFERS 256
#define AGX_CACHE_BINS     64

struct agx_cached_buffer {
   struct agx_link bin, age; /* age: the longest kept first. free: in spare by age */
   struct agxw_bo *bo;
   uint64_t size_B;
   uint32_t flags;
};

/* Embedded in the device. */
struct agx_buffer_cache {
   pthread_mutex_t lock;
   uint64_t limit_B; /* of what is kept; 0: nothing is */
   uint64_t kept_B;
   uint64_t coming_B; /* being made: neither kept nor used */
   uint64_t hits, misses;
   struct agx_link spare, age, bins[AGX_CACHE_BINS];
   struct agx_cached_buffer entries[AGX_CACHED_BUFFERS];
};

/* Starts empty. limit_B: the most bytes that it keeps; 0: none. */
void agx_buffer_cache_init(struct agx_buffer_cache *cache, uint64_t limit_B);
/* Gives all that is kept back to the kernel, and ends. */
void agx_buffer_cache_fini(struct agx_buffer_cache *cache);
/* Gives all that is kept back to the kernel. How much that was. */
uint64_t agx_buffer_cache_trim(struct agx_buffer_cache *cache);

enum agx_storage_flags {
   AGX_STORAGE_HOST_VISIBLE = 1, /* counts as such */
   AGX_STORAGE_UNDEFINED = 2,    /* it need not be zero */
};

/* Memory as agxw_bo_create makes it, out of the cache or of the kernel, counted; refused with
 * numbers beyond the device's limit. */
AGX_MUST_CHECK agx_status agx_storage_acquire(struct agx_device *device, uint64_t size_B,
                                              uint64_t align_B, uint32_t bo_flags,
                                              uint32_t storage_flags, const char *label,
                                              struct agxw_bo **out_bo);
/* The same without an address, as agxw_bo_create_unbound makes it; never out of the cache. Who
 * destroys it says so: agx_memory_returned. */
AGX_MUST_CHECK agx_status agx_storage_acquire_unbound(struct agx_device *device, uint64_t size_B,
                                                      uint32_t bo_flags, uint32_t storage_flags,
                                                      const char *label, struct agxw_bo **out_bo);
/* It has no user any more, on the GPU neither. flags as it was acquired. */
void agx_storage_return(struct agx_device *device, struct agxw_bo *bo, uint32_t storage_flags);
