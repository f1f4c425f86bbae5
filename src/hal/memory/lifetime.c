/* SPDX-License-Identifier: MIT
 *
 * A device's memory as a whole: starting and ending it, giving back what is kept for later, and how
 * much there is of what. hal/device calls the first two, applications the others.
 */
#include "hal/memory/state.h"

#include "base/debug.h"
#include "hal/core/desc.h"
#include "hal/memory/pool.h"

#define DEFAULT_CACHE_B ((uint64_t)256 << 20)

agx_status agx_memory_state_init(struct agx_device *device, const struct agx_device_desc *desc,
                                 const struct agx_memory_hooks *hooks)
{
   struct agx_memory_state *memory = agx_memory_of(device);
   uint64_t cache_B = desc->cache_limit_B ? desc->cache_limit_B : DEFAULT_CACHE_B;
   memory->hooks = hooks;
   agx_chunks_init(&memory->chunks);
   agx_sampler_heap_init(&memory->samplers);
   agx_buffer_cache_init(&memory->cache,
                         agx_context_of(device)->debug & AGX_DEBUG_FRESH ? 0 : cache_B);
   pthread_mutex_init(&memory->pools_lock, NULL);
   agx_list_init(&memory->pools);
   memory->limit_B = desc->memory_limit_B;
   return agx_device_pool_init(device);
}

void agx_memory_state_fini(struct agx_device *device)
{
   struct agx_memory_state *memory = agx_memory_of(device);
   if (!memory->hooks)
      return;
   agx_chunks_fini(device);
   agx_sampler_heap_fini(device);
   agx_device_pool_fini(device);
   agx_buffer_cache_fini(&memory->cache);
   pthread_mutex_destroy(&memory->pools_lock);
}

/* Pools before the cache: what they let go of is kept there. */
bool agx_memory_trim(struct agx_device *device)
{
   struct agx_memory_state *memory = agx_memory_of(device);
   const uint64_t used_B = atomic_load(&memory->counters.device.used_B);
   memory->hooks->trim(device);
   uint64_t freed_B = agx_chunks_trim(device);
   pthread_mutex_lock(&memory->pools_lock);
   agx_list_for_each (struct agx_pool, pool, &memory->pools, link)
      agx_pool_trim(pool);
   pthread_mutex_unlock(&memory->pools_lock);
   freed_B += agx_buffer_cache_trim(&memory->cache);
   return freed_B > 0 || atomic_load(&memory->counters.device.used_B) < used_B;
}

void agx_device_trim(struct agx_device *device)
{
   if (!agx_is_inherited(device))
      (void)agx_memory_trim(device);
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

static void add_pools(struct agx_memory_state *memory, struct agx_memory_stats *stats)
{
   pthread_mutex_lock(&memory->pools_lock);
   agx_list_for_each (struct agx_pool, pool, &memory->pools, link) {
      struct agx_pool_stats one = {.size = sizeof(one)};
      agx_pool_get_stats(pool, &one);
      stats->pool_count++;
      stats->pools_reserved_B += one.reserved_B;
      stats->pools_used_B += one.used_B;
   }
   pthread_mutex_unlock(&memory->pools_lock);
}

void agx_device_get_memory_stats(struct agx_device *device, struct agx_memory_stats *out_stats)
{
   struct agx_memory_state *memory = agx_memory_of(device);
   struct agx_memory_stats stats = {0};
   if (agx_is_inherited(device)) {
      agx_info_write_or_log(device, "agx_memory_stats", out_stats, &stats, sizeof(stats));
      return;
   }
   stats = (struct agx_memory_stats){
      .device = read_counter(&memory->counters.device),
      .host_visible = read_counter(&memory->counters.host_visible),
      .mapped_B = agxw_device_mapped(agx_context_of(device)->winsys),
      .limit_B = memory->limit_B,
   };
   add_pools(memory, &stats);
   pthread_mutex_lock(&memory->cache.lock);
   stats.cached_B = memory->cache.kept_B;
   stats.cache_hits = memory->cache.hits;
   stats.cache_misses = memory->cache.misses;
   pthread_mutex_unlock(&memory->cache.lock);
   agx_info_write_or_log(device, "agx_memory_stats", out_stats, &stats, sizeof(stats));
}
