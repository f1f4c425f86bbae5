/* SPDX-License-Identifier: MIT
 *
 * Creates pools of memory from what an application describes, trims them and reports their numbers;
 * also the device's own pool, for allocations that name none. pool_acquire.c gives out blocks.
 */
#include "hal/memory/pool.h"

#include <stdio.h>

#include "base/list.h"
#include "base/util.h"
#include "hal/memory/state.h"
#include "hal/core/desc.h"
#include "hal/memory/pool_slab.h"
#include "hal/memory/pool_strategy.h"

#define DEFAULT_SLAB_B ((uint64_t)32 << 20)
#define MAX_FIXED      4096u /* blocks in a slab */

/* ---- lifetime ------------------------------------------------------------------- */

static agx_status read_sizes(struct agx_pool *pool, const struct agx_pool_desc *desc)
{
   if (desc->strategy > AGX_POOL_CALLER)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "pool: strategy %u; the last is AGX_POOL_CALLER, 3",
                      desc->strategy);
   if (desc->slab_B > AGX_POOL_MAX_SLAB_B || desc->block_B > AGX_POOL_MAX_SLAB_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "pool: slabs of %llu, blocks of %llu; 2^37 at most",
                      (unsigned long long)desc->slab_B, (unsigned long long)desc->block_B);
   if ((desc->block_B != 0) != (desc->strategy == AGX_POOL_FIXED))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "pool: block size %llu with strategy %u; AGX_POOL_FIXED, 1, takes one, and "
                      "others 0",
                      (unsigned long long)desc->block_B, desc->strategy);
   if (desc->strategy == AGX_POOL_CALLER && (desc->slab_B || desc->limit_B))
      return AGX_FAIL(
         AGX_INVALID_ARGUMENT,
         "pool: slabs of %llu and a limit of %llu bytes with strategy AGX_POOL_CALLER, "
         "3, whose source keeps both; give 0",
         (unsigned long long)desc->slab_B, (unsigned long long)desc->limit_B);
   pool->strategy = desc->strategy;
   pool->block_B = agx_align_up(desc->block_B, pool->page_B);
   pool->limit_B = desc->limit_B;
   pool->slab_B = agx_align_up(desc->slab_B ? desc->slab_B : DEFAULT_SLAB_B, pool->page_B);
   if (desc->strategy != AGX_POOL_FIXED)
      return AGX_OK;
   pool->slab_B = AGX_MAX(pool->slab_B / pool->block_B, 1) * pool->block_B;
   pool->slab_B = AGX_MIN(pool->slab_B, MAX_FIXED * pool->block_B);
   return AGX_OK;
}

static agx_status read_kind(struct agx_pool *pool, const struct agx_pool_desc *desc)
{
   pool->buffers = (struct agx_buffer_desc){.size = sizeof(pool->buffers),
                                            .flags = desc->flags,
                                            .memory = desc->memory,
                                            .usage = desc->usage,
                                            .access = desc->access};
   if (desc->usage & AGX_USAGE_SHARING_EXPORT && pool->strategy != AGX_POOL_PASSTHROUGH)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "pool: buffers to be exported need memory of their own: use "
                      "AGX_POOL_PASSTHROUGH");
   AGX_TRY(agx_refuse_timestamps(desc->usage, "pool"));
   return agx_buffer_resolve(&pool->buffers, "pool");
}

/* Fills a zeroed pool and lists it with the device. */
static agx_status pool_init(struct agx_pool *pool, struct agx_device *device,
                            const struct agx_pool_desc *desc)
{
   snprintf(pool->label, sizeof(pool->label), "%s", desc->label ? desc->label : "pool");
   pool->device = device;
   pool->page_B = agxw_device_page(agx_context_of(device)->winsys);
   AGX_TRY(read_sizes(pool, desc));
   AGX_TRY(read_kind(pool, desc));
   AGX_TRY(agx_pool_caller_init(&pool->caller, desc));
   if (agx_pool_is_variable(pool))
      agx_tlsf_init(&pool->blocks.tlsf, agx_context_of(device)->alloc);
   else
      agx_fixed_init(&pool->blocks.fixed, pool->block_B, agx_context_of(device)->alloc);
   agx_list_init(&pool->slabs);
   pthread_mutex_init(&pool->lock, NULL);
   pthread_mutex_lock(&agx_memory_of(device)->pools_lock);
   agx_list_append(&agx_memory_of(device)->pools, &pool->link);
   pthread_mutex_unlock(&agx_memory_of(device)->pools_lock);
   return AGX_OK;
}

/* No buffer of the pool has memory any more. */
static void pool_fini(struct agx_pool *pool)
{
   struct agx_link idle;
   static const struct agx_frontier never = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                              UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
   pthread_mutex_lock(&agx_memory_of(pool->device)->pools_lock);
   agx_list_remove(&pool->link);
   pthread_mutex_unlock(&agx_memory_of(pool->device)->pools_lock);
   agx_pool_reclaim(pool, &never, UINT32_MAX);
   agx_pool_remove_idle_slabs(pool, 0, &idle);
   agx_pool_slabs_destroy(pool, &idle);
   agx_assert(agx_list_empty(&pool->slabs));
   if (agx_pool_is_variable(pool))
      agx_tlsf_fini(&pool->blocks.tlsf);
   else
      agx_fixed_fini(&pool->blocks.fixed);
   pthread_mutex_destroy(&pool->lock);
   agx_pool_caller_fini(pool);
}

static void pool_destroy(struct agx_object *object)
{
   struct agx_pool *pool = agx_container_of(object, struct agx_pool, object);
   struct agx_device *device = pool->device;
   pool_fini(pool);
   agx_host_free(agx_context_of(device)->alloc, pool, sizeof(*pool));
   agx_release(device);
}

static const struct agx_object_type pool_type = {"pool", pool_destroy};

void agx_pool_retain(struct agx_pool *pool)
{
   agx_retain(pool->is_devices ? (void *)pool->device : (void *)pool);
}

void agx_pool_release(struct agx_pool *pool)
{
   agx_release(pool->is_devices ? (void *)pool->device : (void *)pool);
}

agx_status agx_pool_create(struct agx_device *device, const struct agx_pool_desc *desc,
                           struct agx_pool **out_pool)
{
   struct agx_pool_desc read;
   *out_pool = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_desc_read("agx_pool_desc", desc, &read, sizeof(read)));
   struct agx_pool *pool = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*pool));
   if (!pool)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "pool: out of host memory");
   agx_status status = pool_init(pool, device, &read);
   if (status != AGX_OK) {
      agx_host_free(agx_context_of(device)->alloc, pool, sizeof(*pool));
      return status;
   }
   agx_object_init(&pool->object, &pool_type);
   agx_retain(device);
   *out_pool = pool;
   return AGX_OK;
}

void agx_pool_trim(struct agx_pool *pool)
{
   struct agx_link idle;
   if (agx_is_inherited(pool))
      return;
   const struct agx_frontier reached = agx_memory_of(pool->device)->hooks->reached(pool->device);
   pthread_mutex_lock(&pool->lock);
   agx_pool_reclaim(pool, &reached, UINT32_MAX);
   agx_pool_remove_idle_slabs(pool, 0, &idle);
   pthread_mutex_unlock(&pool->lock);
   agx_pool_slabs_destroy(pool, &idle);
}

void agx_pool_notify(struct agx_pool *pool)
{
   if (!agx_is_inherited(pool) && atomic_exchange(&pool->is_awaited, false))
      agx_memory_of(pool->device)->hooks->memory_returned(pool->device);
}

void agx_pool_get_stats(struct agx_pool *pool, struct agx_pool_stats *out_stats)
{
   struct agx_pool_stats stats = {0};
   if (agx_is_inherited(pool)) {
      agx_info_write_or_log(pool->device, "agx_pool_stats", out_stats, &stats, sizeof(stats));
      return;
   }
   pthread_mutex_lock(&pool->lock);
   stats = (struct agx_pool_stats){
      .slab_count = pool->slab_count,
      .reserved_B = pool->reserved_B,
      .used_B = pool->used_B,
      .busy_B = agx_pool_busy_bytes(pool),
      .peak_reserved_B = pool->peak_reserved_B,
      .peak_used_B = pool->peak_used_B,
      .allocations = pool->allocations,
      .reuses = pool->reuses,
   };
   pthread_mutex_unlock(&pool->lock);
   agx_info_write_or_log(pool->device, "agx_pool_stats", out_stats, &stats, sizeof(stats));
}

void agx_pool_describe(const struct agx_pool *pool, struct agx_buffer *buffer)
{
   buffer->flags = pool->buffers.flags;
   buffer->memory = pool->buffers.memory;
   buffer->usage = pool->buffers.usage;
   buffer->access = pool->buffers.access;
   snprintf(buffer->label, sizeof(buffer->label), "%s", pool->label);
}

/* ---- the device's own ---------------------------------------------------------------- */

agx_status agx_device_pool_init(struct agx_device *device)
{
   const struct agx_pool_desc desc = {.size = sizeof(desc), .label = "alloca"};
   struct agx_pool *pool = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*pool));
   if (!pool)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "device: out of host memory");
   agx_status status = pool_init(pool, device, &desc);
   if (status != AGX_OK) {
      agx_host_free(agx_context_of(device)->alloc, pool, sizeof(*pool));
      return status;
   }
   agx_object_init(&pool->object, &pool_type); /* never released: it goes with the device */
   pool->is_devices = true;
   agx_memory_of(device)->pool = pool;
   return AGX_OK;
}

void agx_device_pool_fini(struct agx_device *device)
{
   if (!agx_memory_of(device)->pool)
      return;
   pool_fini(agx_memory_of(device)->pool);
   agx_host_free(agx_context_of(device)->alloc, agx_memory_of(device)->pool,
                 sizeof(*agx_memory_of(device)->pool));
   agx_memory_of(device)->pool = NULL;
}
