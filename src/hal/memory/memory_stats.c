/* SPDX-License-Identifier: MIT
 *
 * A device's memory as a whole: its limit, what is kept for later, and how much there is of what.
 */
#include "hal/memory/memory_stats.h"

#include "base/debug.h"
#include "hal/memory/chunk.h"
#include "hal/core/desc.h"
#include "hal/memory/pool.h"

#define DEFAULT_CACHE_B ((uint64_t)256 << 20)

agx_status agx_device_memory_init(struct agx_device *device, const struct agx_device_desc *desc)
{
   uint64_t cache_B = desc->cache_limit_B ? desc->cache_limit_B : DEFAULT_CACHE_B;
   agx_buffer_cache_init(&device->cache, device->debug & AGX_DEBUG_FRESH ? 0 : cache_B);
   pthread_mutex_init(&device->pools_lock, NULL);
   agx_list_init(&device->pools);
   device->memory_limit_B = desc->memory_limit_B;
   return agx_device_pool_init(device);
}

void agx_device_memory_fini(struct agx_device *device)
{
   if (!device->pools.next)
      return;
   agx_device_pool_fini(device);
   agx_buffer_cache_fini(&device->cache);
   pthread_mutex_destroy(&device->pools_lock);
}

/* Whoever keeps memory for later adds a line. Pools first: theirs goes to the cache. */
bool agx_device_trim_any(struct agx_device *device)
{
   const uint64_t used_B = atomic_load(&device->memory.device.used_B);
   agx_one_shots_trim(&device->one_shots); /* their chunks go next */
   uint64_t freed_B = agx_chunks_trim(device);
   pthread_mutex_lock(&device->pools_lock);
   agx_list_for_each (struct agx_pool, pool, &device->pools, link)
      agx_pool_trim(pool);
   pthread_mutex_unlock(&device->pools_lock);
   freed_B += agx_buffer_cache_trim(&device->cache);
   return freed_B > 0 || atomic_load(&device->memory.device.used_B) < used_B;
}

void agx_device_trim(struct agx_device *device)
{
   if (!agx_is_inherited(device))
      (void)agx_device_trim_any(device);
}

static struct agx_heap_stats read_counter(const struct agx_memory_counter *counter)
{
   return (struct agx_heap_stats){
      .allocated_B = atomic_load_explicit(&counter->allocated_B, memory_order_relaxed),
      .freed_B = atomic_load_explicit(&counter->freed_B, memory_order_relaxed),
      .used_B = atomic_load_explicit(&counter->used_B, memory_order_relaxed),
      .peak_B = atomic_load_explicit(&counter->peak_B, memory_order_relaxed),
   };
}

static void add_pools(struct agx_device *device, struct agx_memory_stats *stats)
{
   pthread_mutex_lock(&device->pools_lock);
   agx_list_for_each (struct agx_pool, pool, &device->pools, link) {
      struct agx_pool_stats one = {.size = sizeof(one)};
      agx_pool_get_stats(pool, &one);
      stats->pool_count++;
      stats->pools_reserved_B += one.reserved_B;
      stats->pools_used_B += one.used_B;
   }
   pthread_mutex_unlock(&device->pools_lock);
}

void agx_device_get_memory_stats(struct agx_device *device, struct agx_memory_stats *out_stats)
{
   struct agx_memory_stats stats = {0};
   if (agx_is_inherited(device)) {
      agx_info_give(device, "agx_memory_stats", out_stats, &stats, sizeof(stats));
      return;
   }
   stats = (struct agx_memory_stats){
      .device = read_counter(&device->memory.device),
      .host_visible = read_counter(&device->memory.host_visible),
      .mapped_B = agxw_device_mapped(device->winsys),
      .limit_B = device->memory_limit_B,
   };
   add_pools(device, &stats);
   pthread_mutex_lock(&device->cache.lock);
   stats.cached_B = device->cache.kept_B;
   stats.cache_hits = device->cache.hits;
   stats.cache_misses = device->cache.misses;
   pthread_mutex_unlock(&device->cache.lock);
   agx_info_give(device, "agx_memory_stats", out_stats, &stats, sizeof(stats));
}
