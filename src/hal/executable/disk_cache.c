/* SPDX-License-Identifier: MIT
 *
 * The disk cache: where it lies, when it is used, and what is said about it. disk_file.c does
 * the work on files.
 */
#include "hal/executable/disk_cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"
#include "hal/executable/disk_file.h"

/* ---- where ------------------------------------------------------------ */

static char *copy_path(const struct agx_host_alloc *alloc, const char *folder, const char *below)
{
   size_t size = strlen(folder) + strlen(below) + 1;
   char *path = agx_host_zalloc(alloc, size);
   if (path)
      snprintf(path, size, "%s%s", folder, below);
   return path;
}

/* What the environment of a program with another user's rights says does not count. */
static const char *find_folder(const char **out_below)
{
   const char *given = secure_getenv("AGX_CACHE_DIR");
   const char *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
   *out_below = "";
   if (given)
      return *given ? given : NULL;
   *out_below = "/agxhal";
   if (xdg && *xdg == '/')
      return xdg;
   *out_below = "/.cache/agxhal";
   return home && *home == '/' ? home : NULL;
}

/* Bytes, or with K, M or G behind. */
static agx_status read_limit(uint64_t *out_max_B)
{
   static const char units[] = "KMG";
   const char *text = secure_getenv("AGX_CACHE_MAX_B");
   *out_max_B = AGX_DISK_CACHE_MAX_B;
   if (!text || !*text)
      return AGX_OK;
   char *end;
   errno = 0;
   unsigned long long value = strtoull(text, &end, 10);
   const char *unit = *end ? strchr(units, *end) : NULL;
   unsigned shift = unit ? 10u * (unsigned)(unit - units + 1) : 0;
   if (*text < '0' || *text > '9' || errno || end[unit ? 1 : 0] || value > UINT64_MAX >> shift)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "AGX_CACHE_MAX_B: \"%s\" is no number of bytes such as 500000 or 200M", text);
   *out_max_B = (uint64_t)value << shift;
   return AGX_OK;
}

agx_status agx_disk_cache_init_at(struct agx_disk_cache *cache, const struct agx_host_alloc *alloc,
                                  const char *path, uint64_t max_B, bool is_verbose)
{
   *cache = (struct agx_disk_cache){
      .alloc = alloc, .max_B = max_B, .is_verbose = is_verbose, .folder = -1};
   if (path && !(cache->path = copy_path(alloc, path, "")))
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "disk cache: out of host memory");
   pthread_mutex_init(&cache->lock, NULL);
   return AGX_OK;
}

agx_status agx_disk_cache_init(struct agx_disk_cache *cache, const struct agx_host_alloc *alloc,
                               bool is_verbose)
{
   uint64_t max_B;
   const char *below, *folder = find_folder(&below);
   AGX_TRY(read_limit(&max_B));
   char *path = folder && max_B ? copy_path(alloc, folder, below) : NULL;
   if (folder && max_B && !path)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "disk cache: out of host memory");
   agx_status status = agx_disk_cache_init_at(cache, alloc, path, max_B, is_verbose);
   if (path)
      agx_host_free(alloc, path, strlen(path) + 1);
   return status;
}

void agx_disk_cache_fini(struct agx_disk_cache *cache)
{
   if (cache->folder >= 0)
      close(cache->folder);
   if (cache->path)
      agx_host_free(cache->alloc, cache->path, strlen(cache->path) + 1);
   pthread_mutex_destroy(&cache->lock);
}

/* ---- what is said ------------------------------------------------------ */

/* Once; error is an errno value. */
static void complain(struct agx_disk_cache *cache, const char *what, int error)
{
   pthread_mutex_lock(&cache->lock);
   bool speaks = cache->is_verbose && !cache->has_spoken;
   cache->has_spoken = true;
   pthread_mutex_unlock(&cache->lock);
   if (speaks)
      agx_log(cache->log, AGX_LOG_WARNING, "disk cache %s: %s: %s", cache->path, what,
              strerror(error));
}

static void count(struct agx_disk_cache *cache, uint64_t *counter, uint64_t by)
{
   pthread_mutex_lock(&cache->lock);
   *counter += by;
   pthread_mutex_unlock(&cache->lock);
}

void agx_disk_cache_get_stats(struct agx_disk_cache *cache, struct agx_disk_cache_stats *out_stats)
{
   pthread_mutex_lock(&cache->lock);
   *out_stats = cache->stats;
   pthread_mutex_unlock(&cache->lock);
}

/* ---- use ---------------------------------------------------------------- */

/* The folder, -1: there is none to use. */
static int open_folder(struct agx_disk_cache *cache, bool to_write)
{
   int error = 0;
   pthread_mutex_lock(&cache->lock);
   if (cache->path && cache->folder < 0 && !cache->is_off) {
      cache->folder = agx_disk_open_folder(cache->path);
      error = cache->folder < 0 ? errno : 0;
      cache->is_off = cache->folder < 0;
   }
   int folder = to_write && cache->is_read_only ? -1 : cache->folder;
   pthread_mutex_unlock(&cache->lock);
   if (error)
      complain(cache, error == EPERM ? "not used, because others can write there" : "not used",
               error);
   return folder;
}

static void drop(struct agx_disk_cache *cache, int folder, const struct agx_cache_key *key)
{
   char name[AGX_DISK_NAME_B];
   agx_disk_name(key, name);
   unlinkat(folder, name, 0);
   count(cache, &cache->stats.dropped, 1);
   if (cache->is_verbose)
      agx_log(cache->log, AGX_LOG_DEBUG, "disk cache %s: dropped %s", cache->path, name);
}

bool agx_disk_cache_find(struct agx_disk_cache *cache, const struct agx_cache_key *key,
                         void **out_bytes, size_t *out_size)
{
   int folder = open_folder(cache, false);
   *out_bytes = NULL;
   *out_size = 0;
   if (folder < 0)
      return false;
   enum agx_disk_result result = agx_disk_read(folder, key, cache->alloc, out_bytes, out_size);
   if (result == AGX_DISK_DAMAGED)
      drop(cache, folder, key);
   count(cache, result == AGX_DISK_DONE ? &cache->stats.hits : &cache->stats.misses, 1);
   if (result == AGX_DISK_FAILED)
      complain(cache, "reading", errno);
   return result == AGX_DISK_DONE;
}

void agx_disk_cache_drop(struct agx_disk_cache *cache, const struct agx_cache_key *key)
{
   int folder = open_folder(cache, false);
   if (folder < 0)
      return;
   drop(cache, folder, key);
   count(cache, &cache->stats.misses, 1);
   count(cache, &cache->stats.hits, UINT64_MAX); /* it was none */
}

/* Of this process, cache and moment; files that a dead process left disturb no other. */
static void temporary_name(struct agx_disk_cache *cache, char *out, size_t capacity)
{
   struct timespec now;
   pthread_mutex_lock(&cache->lock);
   uint32_t serial = cache->serial++;
   pthread_mutex_unlock(&cache->lock);
   clock_gettime(CLOCK_REALTIME, &now);
   snprintf(out, capacity, "tmp.%ld.%lld.%09ld.%" PRIxPTR ".%" PRIu32, (long)getpid(),
            (long long)now.tv_sec, now.tv_nsec, (uintptr_t)cache, serial);
}

void agx_disk_cache_put(struct agx_disk_cache *cache, const struct agx_cache_key *key,
                        const void *bytes, size_t size)
{
   char temporary[128], name[AGX_DISK_NAME_B];
   uint64_t file_B = (uint64_t)size + AGX_DISK_HEAD_B, evicted = 0;
   int folder = open_folder(cache, true);
   if (folder < 0 || file_B > AGX_MIN(cache->max_B, AGX_DISK_MAX_FILE_B))
      return;
   temporary_name(cache, temporary, sizeof(temporary));
   agx_disk_name(key, name);
   enum agx_disk_result result = agx_disk_write(folder, temporary, key, bytes, size);
   if (result == AGX_DISK_DONE)
      result = agx_disk_place(folder, temporary, name, file_B, cache->max_B, &evicted);
   int error = errno;
   count(cache, &cache->stats.evicted, evicted);
   count(cache, result == AGX_DISK_DONE ? &cache->stats.stored : &cache->stats.store_failures, 1);
   if (result == AGX_DISK_DONE)
      return;
   pthread_mutex_lock(&cache->lock);
   cache->is_read_only |= error == EROFS || error == EACCES || error == EPERM;
   pthread_mutex_unlock(&cache->lock);
   complain(cache, "a kernel was not kept", error);
}
