/* SPDX-License-Identifier: MIT
 *
 * The cache of compiled kernels in memory. Modules are plain host memory and know no device, so
 * nothing in here keeps one alive; executables share them.
 */
#include "hal/executable/executable_cache.h"

#include <inttypes.h>
#include <string.h>

#include "base/debug.h"
#include "base/util.h"
#include "hal/core/failure.h"

struct entry {
   struct agx_link bucket;
   struct agx_link age; /* in by_age when there is a module */
   struct agx_cache_key key;
   struct agx_module *module;  /* NULL: being made, or failed */
   struct agx_failure failure; /* why there will be none */
   uint32_t users;             /* the thread that makes it, and those that wait for it */
   bool is_done;
};

static agx_status init(struct agx_executable_cache *cache, const struct agx_host_alloc *alloc,
                       uint32_t debug)
{
   bool is_verbose = debug & AGX_DEBUG_CACHE;
   cache->alloc = alloc;
   cache->is_verbose = is_verbose;
   cache->max_B = AGX_EXECUTABLE_CACHE_MAX_B;
   /* Who wants to see the compiler at work has it work. */
   cache->is_off = debug & (AGX_DEBUG_NO_CACHE | AGX_DEBUG_IR | AGX_DEBUG_ASM | AGX_DEBUG_VALIDATE);
   if (cache->is_off)
      return agx_disk_cache_init_at(&cache->disk, alloc, NULL, 0, is_verbose);
   return agx_disk_cache_init(&cache->disk, alloc, is_verbose);
}

agx_status agx_executable_cache_create(const struct agx_host_alloc *alloc, uint32_t debug,
                                       struct agx_executable_cache **out_cache)
{
   *out_cache = NULL;
   struct agx_executable_cache *cache = agx_host_zalloc(alloc, sizeof(*cache));
   if (!cache)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "executable cache: out of host memory");
   agx_status status = init(cache, alloc, debug);
   if (status != AGX_OK) {
      agx_host_free(alloc, cache, sizeof(*cache));
      return status;
   }
   pthread_mutex_init(&cache->lock, NULL);
   pthread_cond_init(&cache->changed, NULL);
   for (unsigned i = 0; i < AGX_EXECUTABLE_CACHE_BUCKETS; i++)
      agx_list_init(&cache->buckets[i]);
   agx_list_init(&cache->by_age);
   *out_cache = cache;
   return AGX_OK;
}

void agx_executable_cache_query_stats(struct agx_executable_cache *cache,
                                      struct agx_executable_cache_stats *out_stats)
{
   pthread_mutex_lock(&cache->lock);
   *out_stats = cache->stats;
   pthread_mutex_unlock(&cache->lock);
}

/* ---- entries; under the lock ------------------------------------------------ */

static struct entry *find(struct agx_executable_cache *cache, const struct agx_cache_key *key)
{
   struct agx_link *bucket = &cache->buckets[key->digest[0] % AGX_EXECUTABLE_CACHE_BUCKETS];
   agx_list_for_each (struct entry, entry, bucket, bucket)
      if (memcmp(entry->key.digest, key->digest, sizeof(key->digest)) == 0 &&
          entry->key.material_B == key->material_B)
         return entry;
   return NULL;
}

static struct entry *add(struct agx_executable_cache *cache, const struct agx_cache_key *key)
{
   struct entry *entry = agx_host_zalloc(cache->alloc, sizeof(*entry));
   if (!entry)
      return NULL;
   entry->key = *key;
   entry->users = 1;
   agx_list_init(&entry->age);
   agx_list_append(&cache->buckets[key->digest[0] % AGX_EXECUTABLE_CACHE_BUCKETS], &entry->bucket);
   return entry;
}

/* No lookup finds it any more; it goes with its last user. */
static void unlist(struct agx_executable_cache *cache, struct entry *entry)
{
   agx_list_remove(&entry->bucket);
   if (agx_list_empty(&entry->age))
      return;
   agx_list_remove(&entry->age);
   cache->stats.entries--;
   cache->stats.bytes -= entry->module->bytes;
}

static void release(struct agx_executable_cache *cache, struct entry *entry)
{
   if (--entry->users || !agx_list_empty(&entry->bucket))
      return;
   agx_module_release(entry->module);
   agx_host_free(cache->alloc, entry, sizeof(*entry));
}

static void evict(struct agx_executable_cache *cache, struct entry *entry)
{
   unlist(cache, entry);
   entry->users++;
   release(cache, entry);
}

static void keep(struct agx_executable_cache *cache, struct entry *entry, struct agx_module *module)
{
   entry->module = agx_module_retain(module);
   agx_list_append(&cache->by_age, &entry->age);
   cache->stats.entries++;
   cache->stats.bytes += module->bytes;
   while (cache->stats.bytes > cache->max_B && cache->by_age.next != &entry->age)
      evict(cache, agx_container_of(cache->by_age.next, struct entry, age));
}

void agx_executable_cache_destroy(struct agx_executable_cache *cache)
{
   if (!cache)
      return;
   while (!agx_list_empty(&cache->by_age))
      evict(cache, agx_container_of(cache->by_age.next, struct entry, age));
   pthread_cond_destroy(&cache->changed);
   pthread_mutex_destroy(&cache->lock);
   agx_disk_cache_fini(&cache->disk);
   agx_host_free(cache->alloc, cache, sizeof(*cache));
}

/* ---- making ------------------------------------------------------------------ */

static void say(const struct agx_executable_cache *cache, const struct agx_cache_key *key,
                const char *what)
{
   if (cache->is_verbose)
      agx_log(cache->disk.log, AGX_LOG_DEBUG, "kernel %02x%02x%02x%02x: %s", key->digest[0],
              key->digest[1], key->digest[2], key->digest[3], what);
}

/* From the disk; a file that is whole and yet no program of ours goes. */
static struct agx_module *load(struct agx_executable_cache *cache, const struct agx_cache_key *key)
{
   void *image;
   size_t size;
   struct agx_module *module = NULL;
   if (!agx_disk_cache_find(&cache->disk, key, &image, &size))
      return NULL;
   if (agx_module_read_elf(image, size, cache->alloc, &module) != AGX_OK)
      agx_disk_cache_drop(&cache->disk, key);
   else
      say(cache, key, "read from the disk");
   agx_host_free(cache->alloc, image, size);
   return module;
}

static void store(struct agx_executable_cache *cache, const struct agx_cache_key *key,
                  const struct agx_module *module)
{
   void *image;
   size_t size;
   if (!cache->disk.path || agx_module_write_elf(module, cache->alloc, &image, &size) != AGX_OK)
      return;
   agx_disk_cache_put(&cache->disk, key, image, size);
   agx_host_free(cache->alloc, image, size);
}

static agx_status compile(struct agx_executable_cache *cache, const struct agx_cache_key *key,
                          struct agx_module_maker maker, struct agx_module **out_module)
{
   say(cache, key, "compiled");
   pthread_mutex_lock(&cache->lock);
   cache->stats.compiles++;
   pthread_mutex_unlock(&cache->lock);
   return maker.make(maker.user, out_module);
}

/* Makes the module of an entry that this thread has added; all that wait for it get the same. */
static agx_status fill(struct agx_executable_cache *cache, struct entry *entry,
                       struct agx_module_maker maker, struct agx_module **out_module)
{
   agx_status status = AGX_OK;
   const struct agx_cache_key key = entry->key;
   struct agx_module *module = load(cache, &key);
   bool is_new = !module;
   if (is_new)
      status = compile(cache, &key, maker, &module);
   pthread_mutex_lock(&cache->lock);
   entry->is_done = true;
   if (status == AGX_OK) {
      keep(cache, entry, module);
   } else {
      agx_failure_keep(&entry->failure, status);
      unlist(cache, entry);
   }
   release(cache, entry);
   pthread_cond_broadcast(&cache->changed);
   pthread_mutex_unlock(&cache->lock);
   if (status == AGX_OK && is_new)
      store(cache, &key, module);
   *out_module = module;
   return status;
}

/* Gives and takes the lock. */
static agx_status share(struct agx_executable_cache *cache, struct entry *entry,
                        struct agx_module **out_module)
{
   entry->users++;
   while (!entry->is_done)
      pthread_cond_wait(&cache->changed, &cache->lock);
   agx_status status = agx_failure_raise(&entry->failure);
   if (entry->module) {
      *out_module = agx_module_retain(entry->module);
      if (!agx_list_empty(&entry->age)) {
         agx_list_remove(&entry->age);
         agx_list_append(&cache->by_age, &entry->age);
      }
   }
   release(cache, entry);
   return status;
}

agx_status agx_executable_cache_find_or_make(struct agx_executable_cache *cache,
                                             const struct agx_cache_key *key,
                                             struct agx_module_maker maker,
                                             struct agx_module **out_module)
{
   *out_module = NULL;
   if (cache->is_off)
      return compile(cache, key, maker, out_module);
   pthread_mutex_lock(&cache->lock);
   struct entry *entry = find(cache, key);
   if (entry) {
      cache->stats.hits++;
      agx_status status = share(cache, entry, out_module);
      pthread_mutex_unlock(&cache->lock);
      if (status == AGX_OK)
         say(cache, key, "found in memory");
      return status;
   }
   cache->stats.misses++;
   entry = add(cache, key);
   pthread_mutex_unlock(&cache->lock);
   return entry ? fill(cache, entry, maker, out_module) : compile(cache, key, maker, out_module);
}
