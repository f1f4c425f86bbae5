/* SPDX-License-Identifier: MIT
 *
 * What a device has compiled: modules in memory by key, the disk cache behind them.
 */
#pragma once

#include "base/list.h"
#include "hal/executable/disk_cache.h"
#include "program/program.h"

struct agx_failure;

#define AGX_EXECUTABLE_CACHE_BUCKETS 64
#define AGX_EXECUTABLE_CACHE_MAX_B   ((uint64_t)64 << 20)

struct agx_executable_cache_stats {
   uint64_t hits, misses; /* in memory; who waits for another thread's compile hits */
   uint64_t compiles;
   uint64_t entries, bytes; /* now */
};

struct agx_executable_cache {
   const struct agx_host_alloc *alloc;
   bool is_off, is_verbose;
   uint64_t max_B;
   struct agx_disk_cache disk;

   pthread_mutex_t lock;
   pthread_cond_t changed; /* a compile has ended */
   struct agx_link buckets[AGX_EXECUTABLE_CACHE_BUCKETS];
   struct agx_link by_age; /* entries with a module, the one used last at the end */
   struct agx_executable_cache_stats stats;
};

/* debug: enum agx_debug. Fails for what the environment says wrongly. */
AGX_MUST_CHECK agx_status agx_executable_cache_create(const struct agx_host_alloc *alloc,
                                                      uint32_t debug,
                                                      struct agx_executable_cache **out_cache);
void agx_executable_cache_destroy(struct agx_executable_cache *cache); /* NULL: nothing */
void agx_executable_cache_query_stats(struct agx_executable_cache *cache,
                                      struct agx_executable_cache_stats *out_stats);

/* Makes what is not there yet; the module is the caller's. */
struct agx_module_maker {
   agx_status (*make)(void *user, struct agx_module **out_module);
   void *user;
};

/* The module of that key, a reference of it. Threads that ask for the same one at a time compile it
 * once; what fails for one of them fails for all of these, and is not kept. */
AGX_MUST_CHECK agx_status agx_executable_cache_find_or_make(struct agx_executable_cache *cache,
                                                            const struct agx_cache_key *key,
                                                            struct agx_module_maker maker,
                                                            struct agx_module **out_module);
