/* SPDX-License-Identifier: MIT
 *
 * Gives buffers their memory and takes it back: up to a limit it keeps what was released for the
 * next buffer. Buffers, slabs of pools and reservations of addresses call it.
 */
#include "hal/memory/buffer_cache.h"

#include <string.h>

#include "base/util.h"
#include "hal/memory/state.h"
#include "winsys/winsys.h"

/* ---- the cache -------------------------------------------------------------- */

void agx_buffer_cache_init(struct agx_buffer_cache *cache, uint64_t limit_B)
{
   pthread_mutex_init(&cache->lock, NULL);
   cache->limit_B = limit_B;
   agx_list_init(&cache->spare);
   agx_list_init(&cache->age);
   for (uint32_t i = 0; i < AGX_CACHE_BINS; i++)
      agx_list_init(&cache->bins[i]);
   for (uint32_t i = 0; i < AGX_CACHED_BUFFERS; i++)
      agx_list_append(&cache->spare, &cache->entries[i].age);
}

static struct agx_link *bin_of(struct agx_buffer_cache *cache, uint64_t size_B, uint32_t flags)
{
   const uint64_t key = (size_B >> 14) * 8 + flags;
   return &cache->bins[key * 0x9e3779b97f4a7c15ull >> 58];
}

/* Takes an entry out; what was in it. With the lock held. */
static struct agxw_bo *remove_entry(struct agx_buffer_cache *cache, struct agx_cached_buffer *entry)
{
   agx_list_remove(&entry->bin);
   agx_list_remove(&entry->age);
   agx_list_append(&cache->spare, &entry->age);
   cache->kept_B -= entry->size_B;
   return entry->bo;
}

/* The longest kept, or NULL. With the lock held. */
static struct agxw_bo *remove_oldest(struct agx_buffer_cache *cache)
{
   if (agx_list_empty(&cache->age))
      return NULL;
   return remove_entry(cache, agx_container_of(cache->age.next, struct agx_cached_buffer, age));
}

static struct agxw_bo *remove_oldest_unlocked(struct agx_buffer_cache *cache)
{
   pthread_mutex_lock(&cache->lock);
   struct agxw_bo *bo = remove_oldest(cache);
   pthread_mutex_unlock(&cache->lock);
   return bo;
}

uint64_t agx_buffer_cache_trim(struct agx_buffer_cache *cache)
{
   uint64_t freed_B = 0;
   struct agxw_bo *bo;
   while ((bo = remove_oldest_unlocked(cache))) {
      freed_B += agxw_bo_size(bo);
      agxw_bo_destroy(bo);
   }
   return freed_B;
}

void agx_buffer_cache_fini(struct agx_buffer_cache *cache)
{
   (void)agx_buffer_cache_trim(cache);
   pthread_mutex_destroy(&cache->lock);
}

/* The one given back last: most of it is in the host's caches yet. */
static struct agxw_bo *find(struct agx_buffer_cache *cache, uint64_t size_B, uint64_t align_B,
                            uint32_t flags)
{
   struct agxw_bo *bo = NULL;
   if (cache->limit_B == 0)
      return NULL;
   pthread_mutex_lock(&cache->lock);
   agx_list_for_each (struct agx_cached_buffer, entry, bin_of(cache, size_B, flags), bin) {
      if (entry->size_B != size_B || entry->flags != flags ||
          (align_B && agxw_bo_va(entry->bo) & (align_B - 1)))
         continue;
      bo = remove_entry(cache, entry);
      break;
   }
   cache->hits += bo != NULL;
   cache->misses += bo == NULL;
   pthread_mutex_unlock(&cache->lock);
   return bo;
}

/* False: it is not kept. */
static bool keep(struct agx_buffer_cache *cache, struct agxw_bo *bo)
{
   const uint64_t size_B = agxw_bo_size(bo);
   if (size_B > cache->limit_B / 4)
      return false;
   struct agxw_bo *oldest = NULL;
   do {
      if (oldest)
         agxw_bo_destroy(oldest);
      pthread_mutex_lock(&cache->lock);
      oldest = NULL;
      if (cache->kept_B + size_B > cache->limit_B || agx_list_empty(&cache->spare))
         oldest = remove_oldest(cache);
      if (!oldest) {
         struct agx_cached_buffer *entry =
            agx_container_of(cache->spare.next, struct agx_cached_buffer, age);
         agx_list_remove(&entry->age);
         entry->bo = bo;
         entry->size_B = size_B;
         entry->flags = agxw_bo_flags(bo);
         cache->kept_B += size_B;
         agx_list_append(&cache->age, &entry->age);
         agx_list_insert_after(bin_of(cache, size_B, entry->flags), &entry->bin);
      }
      pthread_mutex_unlock(&cache->lock);
   } while (oldest);
   return true;
}

/* ---- memory -------------------------------------------------------------------- */

static agx_status make_zero(struct agxw_bo *bo)
{
   void *memory;
   AGX_TRY(agxw_bo_map(bo, &memory));
   memset(memory, 0, agxw_bo_size(bo));
   return AGX_OK;
}

static agx_status refuse(struct agx_device *device, uint64_t size_B, const char *label)
{
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                   "%.32s: %llu bytes; the device may take %llu, and has taken %llu", label,
                   (unsigned long long)size_B, (unsigned long long)agx_memory_of(device)->limit_B,
                   (unsigned long long)atomic_load(&agx_memory_of(device)->counters.device.used_B));
}

/* Sets so much aside below the device's limit, in exchange for what is kept if need be. */
static bool set_aside(struct agx_device *device, uint64_t size_B)
{
   struct agx_buffer_cache *cache = &agx_memory_of(device)->cache;
   const uint64_t limit_B =
      agx_memory_of(device)->limit_B ? agx_memory_of(device)->limit_B : UINT64_MAX;
   struct agxw_bo *oldest;
   bool fits;
   do {
      pthread_mutex_lock(&cache->lock);
      uint64_t taken_B = atomic_load(&agx_memory_of(device)->counters.device.used_B) +
                         cache->kept_B + cache->coming_B;
      fits = size_B <= limit_B && taken_B <= limit_B - size_B;
      cache->coming_B += fits ? size_B : 0;
      oldest = fits ? NULL : remove_oldest(cache);
      pthread_mutex_unlock(&cache->lock);
      if (oldest)
         agxw_bo_destroy(oldest);
   } while (oldest);
   return fits;
}

/* It is used, or was not to be had (NULL). */
static void count(struct agx_device *device, uint64_t size_B, const struct agxw_bo *bo,
                  uint32_t storage_flags)
{
   if (bo)
      agx_memory_acquired(&agx_memory_of(device)->counters, agxw_bo_size(bo),
                          storage_flags & AGX_STORAGE_HOST_VISIBLE);
   pthread_mutex_lock(&agx_memory_of(device)->cache.lock);
   agx_memory_of(device)->cache.coming_B -= size_B;
   pthread_mutex_unlock(&agx_memory_of(device)->cache.lock);
}

static agx_status make_new(struct agx_device *device, uint64_t size_B, uint64_t align_B,
                           uint32_t bo_flags, const char *label, struct agxw_bo **out_bo)
{
   agx_status status =
      agxw_bo_create(agx_context_of(device)->winsys, size_B, align_B, bo_flags, label, out_bo);
   if (status == AGX_RESOURCE_EXHAUSTED && agx_buffer_cache_trim(&agx_memory_of(device)->cache) > 0)
      status =
         agxw_bo_create(agx_context_of(device)->winsys, size_B, align_B, bo_flags, label, out_bo);
   return status;
}

/* One that was kept, as good as new. */
static struct agxw_bo *use_again(struct agx_device *device, uint64_t size_B, uint64_t align_B,
                                 uint32_t bo_flags, uint32_t storage_flags, const char *label)
{
   struct agxw_bo *bo = find(&agx_memory_of(device)->cache, size_B, align_B, bo_flags);
   if (!bo)
      return NULL;
   if (!(storage_flags & AGX_STORAGE_UNDEFINED) && make_zero(bo) != AGX_OK) {
      agxw_bo_destroy(bo);
      return NULL;
   }
   agxw_bo_set_label(bo, label);
   return bo;
}

agx_status agx_storage_acquire(struct agx_device *device, uint64_t size_B, uint64_t align_B,
                               uint32_t bo_flags, uint32_t storage_flags, const char *label,
                               struct agxw_bo **out_bo)
{
   const uint64_t whole_B = agx_align_up(size_B, agxw_device_page(agx_context_of(device)->winsys));
   agx_status status = AGX_OK;
   *out_bo = use_again(device, whole_B, align_B, bo_flags, storage_flags, label);
   if (*out_bo) {
      agx_memory_acquired(&agx_memory_of(device)->counters, whole_B,
                          storage_flags & AGX_STORAGE_HOST_VISIBLE);
      return AGX_OK;
   }
   if (!set_aside(device, whole_B))
      return refuse(device, whole_B, label);
   status = make_new(device, size_B, align_B, bo_flags, label, out_bo);
   count(device, whole_B, *out_bo, storage_flags);
   return status;
}

agx_status agx_storage_acquire_unbound(struct agx_device *device, uint64_t size_B,
                                       uint32_t bo_flags, uint32_t storage_flags, const char *label,
                                       struct agxw_bo **out_bo)
{
   *out_bo = NULL;
   const uint64_t whole_B = agx_align_up(size_B, agxw_device_page(agx_context_of(device)->winsys));
   if (!set_aside(device, whole_B))
      return refuse(device, whole_B, label);
   agx_status status =
      agxw_bo_create_unbound(agx_context_of(device)->winsys, size_B, bo_flags, label, out_bo);
   if (status == AGX_RESOURCE_EXHAUSTED && agx_buffer_cache_trim(&agx_memory_of(device)->cache) > 0)
      status =
         agxw_bo_create_unbound(agx_context_of(device)->winsys, size_B, bo_flags, label, out_bo);
   count(device, whole_B, *out_bo, storage_flags);
   return status;
}

void agx_storage_return(struct agx_device *device, struct agxw_bo *bo, uint32_t storage_flags)
{
   const bool is_cheap = agxw_bo_is_mapped(bo) || storage_flags & AGX_STORAGE_UNDEFINED;
   agx_memory_returned(&agx_memory_of(device)->counters, agxw_bo_size(bo),
                       storage_flags & AGX_STORAGE_HOST_VISIBLE);
   if (agxw_bo_flags(bo) & AGXW_BO_SHAREABLE || !is_cheap ||
       !keep(&agx_memory_of(device)->cache, bo))
      agxw_bo_destroy(bo);
}
