/* SPDX-License-Identifier: MIT
 *
 * A folder of small files that processes share: one for each compiled kernel. Nothing here can
 * fail a compile: what cannot be read is not there, and what cannot be written is not kept.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "base/status.h"
#include "hal/executable/cache_key.h"
#include "hal/core/log.h"

#define AGX_DISK_CACHE_MAX_B ((uint64_t)1 << 30)

struct agx_disk_cache_stats {
   uint64_t hits, misses;
   uint64_t stored, store_failures;
   uint64_t dropped; /* files that were damaged, or not ours */
   uint64_t evicted; /* files that made room for others */
};

struct agx_disk_cache {
   const struct agx_host_alloc *alloc;
   char *path; /* of the folder; NULL: there is no cache */
   uint64_t max_B;
   bool is_verbose;
   const struct agx_log *log; /* NULL: standard error */

   pthread_mutex_t lock; /* guards what follows */
   int folder;           /* -1: not opened yet */
   bool is_off;          /* it cannot be opened, or is not safe to use */
   bool is_read_only;
   bool has_spoken; /* of what went wrong */
   uint32_t serial; /* of temporary files */
   struct agx_disk_cache_stats stats;
};

/* From the environment: AGX_CACHE_DIR ("": no cache), or else agxhal in XDG_CACHE_HOME or in
 * HOME/.cache; AGX_CACHE_MAX_B, of which AGX_INVALID_ARGUMENT says that it is no number of bytes.
 * Does not touch the disk yet. */
AGX_MUST_CHECK agx_status agx_disk_cache_init(struct agx_disk_cache *cache,
                                              const struct agx_host_alloc *alloc, bool is_verbose);

/* As agx_disk_cache_init, for that folder and limit; path NULL: no cache. */
AGX_MUST_CHECK agx_status agx_disk_cache_init_at(struct agx_disk_cache *cache,
                                                 const struct agx_host_alloc *alloc,
                                                 const char *path, uint64_t max_B, bool is_verbose);
void agx_disk_cache_fini(struct agx_disk_cache *cache);

/* What was put under the key, byte for byte, from alloc; false: nothing is there. */
bool agx_disk_cache_find(struct agx_disk_cache *cache, const struct agx_cache_key *key,
                         void **out_bytes, size_t *out_size);

/* Keeps bytes under the key, if it can. Does not overwrite what a process reads meanwhile. */
void agx_disk_cache_put(struct agx_disk_cache *cache, const struct agx_cache_key *key,
                        const void *bytes, size_t size);

/* Removes what was put under the key, because its reader found that it makes no sense. */
void agx_disk_cache_drop(struct agx_disk_cache *cache, const struct agx_cache_key *key);

/* Copies the counts since the cache was started. Takes its lock. */
void agx_disk_cache_get_stats(struct agx_disk_cache *cache, struct agx_disk_cache_stats *out_stats);
