/* SPDX-License-Identifier: MIT
 *
 * Creates the slabs of pools when a pool grows (pool_acquire.c), and destroys those that are idle
 * when a pool is trimmed, is at its limit, or ends.
 */
#include "hal/memory/pool_slab.h"

#include "base/list.h"
#include "base/util.h"
#include "hal/memory/buffer_cache.h"
#include "hal/memory/pool_strategy.h"

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
   agx_storage_return(device, slab->buffer.bo, storage_flags(&desc));
   agx_host_free(agx_context_of(device)->alloc, slab, sizeof(*slab));
   if (!is_devices)
      agx_release(device);
}

static const struct agx_object_type slab_type = {"buffer", slab_buffer_destroy,
                                                 agx_buffer_set_label};

static agx_status make_slab_buffer(struct agx_pool *pool, uint64_t size_B,
                                   struct agx_buffer **out_buffer)
{
   struct agx_device *device = pool->device;
   struct agx_buffer_desc desc = pool->buffers;
   struct agxw_bo *bo = NULL;
   struct slab_buffer *slab = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*slab));
   if (!slab)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory for a slab", pool->label);
   desc.size_B = size_B;
   agx_status status =
      agx_storage_acquire(device, size_B, 0, agx_buffer_bo_flags(desc.flags, desc.usage),
                          storage_flags(&desc), pool->label, &bo);
   if (status != AGX_OK) {
      agx_host_free(agx_context_of(device)->alloc, slab, sizeof(*slab));
      return status;
   }
   agx_buffer_init(&slab->buffer, &slab_type, device, bo, &desc, pool->label);
   slab->is_devices = pool->is_devices;
   if (pool->is_devices)
      agx_release(device); /* which the caller holds */
   *out_buffer = &slab->buffer;
   return AGX_OK;
}

void agx_pool_slab_destroy(struct agx_pool *pool, struct agx_pool_slab *slab)
{
   agx_release(slab->memory);
   agx_host_free(agx_context_of(pool->device)->alloc, slab, sizeof(*slab));
}

agx_status agx_pool_slab_create(struct agx_pool *pool, uint64_t size_B,
                                struct agx_pool_slab **out_slab)
{
   struct agx_pool_slab *slab = agx_host_zalloc(agx_context_of(pool->device)->alloc, sizeof(*slab));
   *out_slab = NULL;
   if (!slab)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory for a slab", pool->label);
   agx_status status = make_slab_buffer(pool, size_B, &slab->memory);
   if (status != AGX_OK) {
      agx_host_free(agx_context_of(pool->device)->alloc, slab, sizeof(*slab));
      return status;
   }
   slab->size_B = size_B;
   *out_slab = slab;
   return AGX_OK;
}

void agx_pool_remove_idle_slabs(struct agx_pool *pool, uint32_t kept, struct agx_link *out_slabs)
{
   struct agx_pool_idle_slabs *idle =
      agx_pool_is_variable(pool) ? &pool->blocks.tlsf.idle_slabs : &pool->blocks.fixed.idle_slabs;
   if (pool->strategy == AGX_POOL_PASSTHROUGH)
      kept = 0;
   agx_list_init(out_slabs);
   while (idle->count > kept) {
      struct agx_pool_slab *slab = agx_container_of(idle->list.next, struct agx_pool_slab, idle);
      agx_pool_remove_slab(pool, slab);
      pool->reserved_B -= agxw_bo_size(slab->memory->bo);
      pool->slab_count--;
      agx_list_remove(&slab->link);
      agx_list_append(out_slabs, &slab->link);
   }
}

void agx_pool_slabs_destroy(struct agx_pool *pool, struct agx_link *slabs)
{
   agx_list_for_each_safe (struct agx_pool_slab, slab, slabs, link)
      agx_pool_slab_destroy(pool, slab);
}
