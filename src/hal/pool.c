/* SPDX-License-Identifier: MIT
 *
 * Pools of memory: slabs from the device, cut into blocks by a strategy.
 */
#include "hal/pool.h"

#include <stdio.h>

#include "agx/chip.h"
#include "base/util.h"
#include "hal/alloca.h"
#include "hal/buffer_cache.h"
#include "hal/desc.h"

#define DEFAULT_SLAB_B  ((uint64_t)32 << 20)
#define MAX_SLAB_B      ((uint64_t)1 << 37)
#define MAX_FIXED       4096u /* blocks in a slab */
#define COOL_AT_ONCE    16u   /* hot blocks that are looked at on the way */
#define KEPT_IDLE_SLABS 1u    /* against taking and giving back the same slab in turn */

/* ---- strategies ------------------------------------------------------------- */

static bool is_variable(const struct agx_pool *pool)
{
   return pool->strategy == AGX_POOL_VARIABLE;
}

static agx_status add_slab(struct agx_pool *pool, struct agx_pool_slab *slab)
{
   if (is_variable(pool))
      return agx_tlsf_add(&pool->blocks.tlsf, slab);
   return agx_fixed_add(&pool->blocks.fixed, slab);
}

static void remove_slab(struct agx_pool *pool, struct agx_pool_slab *slab)
{
   if (is_variable(pool))
      agx_tlsf_remove(&pool->blocks.tlsf, slab);
   else
      agx_fixed_remove(&pool->blocks.fixed, slab);
}

static agx_status take_block(struct agx_pool *pool, const struct agx_pool_want *want,
                             struct agx_pool_block **out_block)
{
   if (is_variable(pool))
      return agx_tlsf_take(&pool->blocks.tlsf, want, out_block);
   *out_block = agx_fixed_take(&pool->blocks.fixed, want);
   return AGX_OK;
}

static void give_block(struct agx_pool *pool, struct agx_pool_block *block,
                       const struct agx_frontier *death)
{
   if (is_variable(pool))
      agx_tlsf_give(&pool->blocks.tlsf, block, death);
   else
      agx_fixed_give(&pool->blocks.fixed, block, death);
}

static void cool(struct agx_pool *pool, const struct agx_frontier *reached, uint32_t limit)
{
   if (is_variable(pool))
      agx_tlsf_cool(&pool->blocks.tlsf, reached, limit);
   else
      agx_fixed_cool(&pool->blocks.fixed, reached, limit);
}

static uint64_t hot_bytes(const struct agx_pool *pool)
{
   return is_variable(pool) ? pool->blocks.tlsf.hot_B : pool->blocks.fixed.hot_B;
}

/* ---- slabs -------------------------------------------------------------------- */

/* The memory of a slab. Buffers that have none any more may outlive the slab, and hold it. */
struct slab_buffer {
   struct agx_buffer buffer; /* at offset 0 */
   bool is_devices;
};

static uint32_t storage_flags(const struct agx_buffer_desc *desc)
{
   return AGX_STORAGE_UNDEFINED |
          (desc->memory & AGX_MEMORY_HOST_VISIBLE ? AGX_STORAGE_HOST_VISIBLE : 0u);
}

static void slab_buffer_destroy(struct agx_object *object)
{
   struct slab_buffer *slab = agx_container_of(object, struct slab_buffer, buffer.object);
   struct agx_device *device = slab->buffer.device;
   const bool is_devices = slab->is_devices;
   const struct agx_buffer_desc desc = {.memory = slab->buffer.memory};
   agx_storage_give(device, slab->buffer.bo, storage_flags(&desc));
   agx_host_free(device->alloc, slab, sizeof(*slab));
   if (!is_devices)
      agx_release(device);
}

static const struct agx_object_type slab_type = {"buffer", slab_buffer_destroy};

static agx_status make_slab_buffer(struct agx_pool *pool, uint64_t size_B,
                                   struct agx_buffer **out_buffer)
{
   struct agx_device *device = pool->device;
   struct agx_buffer_desc desc = pool->buffers;
   struct agxw_bo *bo = NULL;
   struct slab_buffer *slab = agx_host_zalloc(device->alloc, sizeof(*slab));
   if (!slab)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory for a slab", pool->label);
   desc.size_B = size_B;
   agx_status status =
      agx_storage_take(device, size_B, 0, agx_buffer_bo_flags(desc.flags, desc.usage),
                       storage_flags(&desc), pool->label, &bo);
   if (status != AGX_OK) {
      agx_host_free(device->alloc, slab, sizeof(*slab));
      return status;
   }
   agx_buffer_init(&slab->buffer, &slab_type, device, bo, &desc, pool->label);
   slab->is_devices = pool->is_devices;
   if (pool->is_devices)
      agx_release(device); /* which the caller holds */
   *out_buffer = &slab->buffer;
   return AGX_OK;
}

static void free_slab(struct agx_pool *pool, struct agx_pool_slab *slab)
{
   agx_release(slab->memory);
   agx_host_free(pool->device->alloc, slab, sizeof(*slab));
}

static agx_status make_slab(struct agx_pool *pool, uint64_t size_B, struct agx_pool_slab **out_slab)
{
   struct agx_pool_slab *slab = agx_host_zalloc(pool->device->alloc, sizeof(*slab));
   *out_slab = NULL;
   if (!slab)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory for a slab", pool->label);
   agx_status status = make_slab_buffer(pool, size_B, &slab->memory);
   if (status != AGX_OK) {
      agx_host_free(pool->device->alloc, slab, sizeof(*slab));
      return status;
   }
   slab->size_B = size_B;
   *out_slab = slab;
   return AGX_OK;
}

/* Moves idle slabs, but for some, to *out_slabs. With the lock held. */
static void take_idle(struct agx_pool *pool, uint32_t kept, struct agx_link *out_slabs)
{
   struct agx_pool_idle *idle =
      is_variable(pool) ? &pool->blocks.tlsf.idle : &pool->blocks.fixed.idle;
   if (pool->strategy == AGX_POOL_PASSTHROUGH)
      kept = 0;
   agx_list_init(out_slabs);
   while (idle->count > kept) {
      struct agx_pool_slab *slab = agx_container_of(idle->slabs.next, struct agx_pool_slab, idle);
      remove_slab(pool, slab);
      pool->reserved_B -= agxw_bo_size(slab->memory->bo);
      pool->slab_count--;
      agx_list_remove(&slab->link);
      agx_list_append(out_slabs, &slab->link);
   }
}

static void free_slabs(struct agx_pool *pool, struct agx_link *slabs)
{
   agx_list_for_each_safe (struct agx_pool_slab, slab, slabs, link)
      free_slab(pool, slab);
}

/* What a block for size_B takes of a slab of its own. */
static uint64_t least_slab(const struct agx_pool *pool, uint64_t size_B)
{
   return AGX_MAX(pool->block_B, agx_align_up(size_B, pool->page_B));
}

/* How much to take from the device for a block of size_B; 0: the limit is in the way. */
static uint64_t growth_for(const struct agx_pool *pool, uint64_t size_B)
{
   const uint64_t least_B = least_slab(pool, size_B);
   const uint64_t left_B = pool->limit_B ? (pool->limit_B - pool->reserved_B) : MAX_SLAB_B;
   uint64_t slab_B = pool->strategy == AGX_POOL_PASSTHROUGH ? 0 : pool->slab_B;
   slab_B = AGX_MIN(AGX_MAX(slab_B, least_B), left_B & ~(uint64_t)(pool->page_B - 1));
   return slab_B < least_B ? 0 : slab_B;
}

/* Takes memory from the device for a block of size_B. *out_slab NULL: the limit is in the way.
 * With the lock held, which is let go of meanwhile. */
static agx_status grow(struct agx_pool *pool, uint64_t size_B, struct agx_pool_slab **out_slab)
{
   uint64_t slab_B = growth_for(pool, size_B);
   *out_slab = NULL;
   if (slab_B == 0)
      return AGX_OK;
   struct agx_pool_slab *slab = NULL;
   pool->reserved_B += slab_B;
   pthread_mutex_unlock(&pool->lock);
   agx_status status = make_slab(pool, slab_B, &slab);
   if (status == AGX_RESOURCE_EXHAUSTED && slab_B > least_slab(pool, size_B))
      status = make_slab(pool, least_slab(pool, size_B), &slab); /* which may be to be had */
   pthread_mutex_lock(&pool->lock);
   pool->reserved_B -= slab_B;
   if (status == AGX_OK)
      status = add_slab(pool, slab);
   if (status != AGX_OK) {
      if (slab)
         free_slab(pool, slab);
      return status;
   }
   pool->reserved_B += agxw_bo_size(slab->memory->bo);
   agx_list_append(&pool->slabs, &slab->link);
   pool->slab_count++;
   pool->peak_reserved_B = AGX_MAX(pool->peak_reserved_B, pool->reserved_B);
   *out_slab = slab;
   return AGX_OK;
}

/* ---- blocks -------------------------------------------------------------------- */

agx_status agx_pool_check(const struct agx_pool *pool, uint64_t size_B, uint64_t align_B)
{
   const uint64_t most_B = pool->strategy == AGX_POOL_FIXED ? pool->block_B : MAX_SLAB_B;
   if (size_B == 0 || size_B > most_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %llu bytes; it has blocks of 1 to %llu",
                      pool->label, (unsigned long long)size_B, (unsigned long long)most_B);
   if (align_B & (align_B - 1) || align_B > AGX_PAGE_BYTES)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: alignment %llu is no power of two up to %u",
                      pool->label, (unsigned long long)align_B, AGX_PAGE_BYTES);
   if (pool->limit_B && least_slab(pool, size_B) > pool->limit_B)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: %llu bytes; its limit is %llu", pool->label,
                      (unsigned long long)size_B, (unsigned long long)pool->limit_B);
   return AGX_OK;
}

/* At the limit: idle slabs that are too small make room for one that is not. With the lock held,
 * which is let go of meanwhile. False: there are none. */
static bool give_up_idle(struct agx_pool *pool)
{
   struct agx_link idle;
   take_idle(pool, 0, &idle);
   if (agx_list_empty(&idle))
      return false;
   pthread_mutex_unlock(&pool->lock);
   free_slabs(pool, &idle);
   pthread_mutex_lock(&pool->lock);
   return true;
}

/* Of what there is, after a closer look if need be. *out_block NULL: nothing. */
static agx_status take_existing(struct agx_pool *pool, const struct agx_pool_want *want,
                                const struct agx_frontier *reached,
                                struct agx_pool_block **out_block)
{
   struct agx_pool_want sure = *want;
   sure.may_wait = false;
   *out_block = NULL;
   cool(pool, reached, COOL_AT_ONCE);
   if (pool->strategy == AGX_POOL_PASSTHROUGH)
      return AGX_OK;
   AGX_TRY(take_block(pool, &sure, out_block));
   if (*out_block || hot_bytes(pool) == 0)
      return AGX_OK;
   cool(pool, reached, UINT32_MAX);
   return take_block(pool, want, out_block);
}

static agx_status take_locked(struct agx_pool *pool, const struct agx_pool_want *want,
                              const struct agx_frontier *reached, struct agx_pool_block **out_block)
{
   struct agx_pool_slab *slab = NULL;
   do { /* somebody else may be quicker to take from the new slab */
      AGX_TRY(take_existing(pool, want, reached, out_block));
      if (*out_block)
         return AGX_OK;
      AGX_TRY(grow(pool, want->size_B, &slab));
      if (slab && pool->strategy == AGX_POOL_PASSTHROUGH) {
         agx_fixed_claim(&pool->blocks.fixed, slab->first);
         *out_block = slab->first;
         return AGX_OK;
      }
   } while (slab || give_up_idle(pool));
   return AGX_OK;
}

agx_status agx_pool_take(struct agx_pool *pool, const struct agx_pool_want *want,
                         const struct agx_frontier *reached, struct agx_pool_block **out_block)
{
   struct agx_link idle;
   *out_block = NULL;
   pthread_mutex_lock(&pool->lock);
   agx_status status = take_locked(pool, want, reached, out_block);
   struct agx_pool_block *block = *out_block;
   if (block) {
      pool->used_B += block->size_B;
      pool->peak_used_B = AGX_MAX(pool->peak_used_B, pool->used_B);
      pool->allocations++;
      if (agx_frontier_covers(reached, &block->death))
         block->death = (struct agx_frontier){0};
      else
         pool->reuses++;
   }
   take_idle(pool, KEPT_IDLE_SLABS, &idle);
   pthread_mutex_unlock(&pool->lock);
   free_slabs(pool, &idle);
   return status;
}

bool agx_pool_give(struct agx_pool *pool, struct agx_pool_block *block,
                   const struct agx_frontier *death)
{
   struct agx_link idle;
   pthread_mutex_lock(&pool->lock);
   pool->used_B -= block->size_B;
   give_block(pool, block, death);
   take_idle(pool, KEPT_IDLE_SLABS, &idle);
   pthread_mutex_unlock(&pool->lock);
   free_slabs(pool, &idle);
   return atomic_exchange(&pool->is_awaited, false);
}

agx_status agx_pool_full(struct agx_pool *pool, uint64_t size_B)
{
   pthread_mutex_lock(&pool->lock);
   agx_status status = AGX_FAIL(
      AGX_RESOURCE_EXHAUSTED,
      "%s: no block for %llu bytes: %llu bytes of its limit of %llu are reserved, %llu used, %llu "
      "not over",
      pool->label, (unsigned long long)size_B, (unsigned long long)pool->reserved_B,
      (unsigned long long)pool->limit_B, (unsigned long long)pool->used_B,
      (unsigned long long)hot_bytes(pool));
   pthread_mutex_unlock(&pool->lock);
   return status;
}

/* ---- reached epochs ---------------------------------------------------------------- */

struct agx_frontier agx_device_reached_locked(const struct agx_device *device)
{
   struct agx_frontier reached = {0};
   for (unsigned i = 0; i < device->queue_count; i++)
      reached.epochs[i] = device->queues[i].retired;
   return reached;
}

struct agx_frontier agx_device_reached(struct agx_device *device)
{
   pthread_mutex_lock(&device->lock);
   struct agx_frontier reached = agx_device_reached_locked(device);
   pthread_mutex_unlock(&device->lock);
   return reached;
}

/* ---- lifetime ------------------------------------------------------------------- */

static agx_status read_sizes(struct agx_pool *pool, const struct agx_pool_desc *desc)
{
   if (desc->strategy > AGX_POOL_PASSTHROUGH)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "pool: strategy %u", desc->strategy);
   if (desc->slab_B > MAX_SLAB_B || desc->block_B > MAX_SLAB_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "pool: slabs of %llu, blocks of %llu; 2^37 at most",
                      (unsigned long long)desc->slab_B, (unsigned long long)desc->block_B);
   if ((desc->block_B != 0) != (desc->strategy == AGX_POOL_FIXED))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "pool: block size %llu with strategy %u",
                      (unsigned long long)desc->block_B, desc->strategy);
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
   return agx_buffer_resolve(&pool->buffers, "pool");
}

agx_status agx_pool_init(struct agx_pool *pool, struct agx_device *device,
                         const struct agx_pool_desc *desc)
{
   snprintf(pool->label, sizeof(pool->label), "%s", desc->label ? desc->label : "pool");
   pool->device = device;
   pool->page_B = agxw_device_page(device->winsys);
   AGX_TRY(read_sizes(pool, desc));
   AGX_TRY(read_kind(pool, desc));
   if (is_variable(pool))
      agx_tlsf_init(&pool->blocks.tlsf, device->alloc);
   else
      agx_fixed_init(&pool->blocks.fixed, pool->block_B, device->alloc);
   agx_list_init(&pool->slabs);
   pthread_mutex_init(&pool->lock, NULL);
   pthread_mutex_lock(&device->pools_lock);
   agx_list_append(&device->pools, &pool->link);
   pthread_mutex_unlock(&device->pools_lock);
   return AGX_OK;
}

void agx_pool_fini(struct agx_pool *pool)
{
   struct agx_link idle;
   static const struct agx_frontier never = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                              UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
   pthread_mutex_lock(&pool->device->pools_lock);
   agx_list_remove(&pool->link);
   pthread_mutex_unlock(&pool->device->pools_lock);
   cool(pool, &never, UINT32_MAX);
   take_idle(pool, 0, &idle);
   free_slabs(pool, &idle);
   agx_assert(agx_list_empty(&pool->slabs));
   agx_allocas_fini(pool);
   if (is_variable(pool))
      agx_tlsf_fini(&pool->blocks.tlsf);
   else
      agx_fixed_fini(&pool->blocks.fixed);
   pthread_mutex_destroy(&pool->lock);
}

static void pool_destroy(struct agx_object *object)
{
   struct agx_pool *pool = agx_container_of(object, struct agx_pool, object);
   struct agx_device *device = pool->device;
   agx_pool_fini(pool);
   agx_host_free(device->alloc, pool, sizeof(*pool));
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
   AGX_TRY(agx_desc_read("agx_pool_desc", desc, &read, sizeof(read)));
   struct agx_pool *pool = agx_host_zalloc(device->alloc, sizeof(*pool));
   if (!pool)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "pool: out of host memory");
   agx_status status = agx_pool_init(pool, device, &read);
   if (status != AGX_OK) {
      agx_host_free(device->alloc, pool, sizeof(*pool));
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
   const struct agx_frontier reached = agx_device_reached(pool->device);
   pthread_mutex_lock(&pool->lock);
   cool(pool, &reached, UINT32_MAX);
   take_idle(pool, 0, &idle);
   pthread_mutex_unlock(&pool->lock);
   free_slabs(pool, &idle);
}

void agx_pool_get_stats(struct agx_pool *pool, struct agx_pool_stats *out_stats)
{
   pthread_mutex_lock(&pool->lock);
   const struct agx_pool_stats stats = {
      .slab_count = pool->slab_count,
      .reserved_B = pool->reserved_B,
      .used_B = pool->used_B,
      .hot_B = hot_bytes(pool),
      .peak_reserved_B = pool->peak_reserved_B,
      .peak_used_B = pool->peak_used_B,
      .allocations = pool->allocations,
      .reuses = pool->reuses,
   };
   pthread_mutex_unlock(&pool->lock);
   agx_info_write(out_stats, &stats, sizeof(stats));
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
   struct agx_pool *pool = agx_host_zalloc(device->alloc, sizeof(*pool));
   if (!pool)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "device: out of host memory");
   agx_status status = agx_pool_init(pool, device, &desc);
   if (status != AGX_OK) {
      agx_host_free(device->alloc, pool, sizeof(*pool));
      return status;
   }
   agx_object_init(&pool->object, &pool_type); /* never released: it goes with the device */
   pool->is_devices = true;
   device->pool = pool;
   return AGX_OK;
}

void agx_device_pool_fini(struct agx_device *device)
{
   if (!device->pool)
      return;
   agx_pool_fini(device->pool);
   agx_host_free(device->alloc, device->pool, sizeof(*device->pool));
   device->pool = NULL;
}
