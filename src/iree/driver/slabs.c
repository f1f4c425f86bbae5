/* SPDX-License-Identifier: MIT
 *
 * What IREE's own pools (iree/hal/memory) want from a device: slabs of memory, buffers in them, a
 * notification, and whether an epoch has passed. A slab is a buffer of the core's.
 */
#include <stdlib.h>
#include <string.h>

#include "iree/async/notification.h"
#include "iree/hal/memory/slab_provider.h"

#include "agx_iree.h"

struct agx_iree_slabs {
   iree_hal_slab_provider_t base;
   iree_allocator_t host_allocator;
   struct agx_iree_device *device; /* for placements only; core keeps the memory's device */
   struct agx_device *core;
   iree_atomic_int64_t acquired, released;
};

static const iree_hal_slab_provider_vtable_t vtable;

static struct agx_iree_slabs *cast(const iree_hal_slab_provider_t *base)
{
   return (struct agx_iree_slabs *)base;
}

static void slabs_destroy(iree_hal_slab_provider_t *base)
{
   struct agx_iree_slabs *slabs = cast(base);
   const iree_allocator_t host_allocator = slabs->host_allocator;
   agx_release(slabs->core);
   iree_allocator_free(host_allocator, slabs);
}

static const iree_hal_buffer_params_t slab_params = {
   .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE |
            IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS |
            IREE_HAL_BUFFER_USAGE_DISPATCH_UNIFORM_READ | IREE_HAL_BUFFER_USAGE_MAPPING |
            IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT | IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL,
   .access = IREE_HAL_MEMORY_ACCESS_ALL,
   .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL | IREE_HAL_MEMORY_TYPE_HOST_VISIBLE |
           IREE_HAL_MEMORY_TYPE_HOST_COHERENT,
   .queue_affinity = IREE_HAL_QUEUE_AFFINITY_ANY,
};

static iree_status_t acquire_slab(iree_hal_slab_provider_t *base, iree_device_size_t min_B,
                                  iree_hal_slab_t *out_slab)
{
   struct agx_iree_slabs *slabs = cast(base);
   const struct agx_buffer_desc desc = agx_iree_buffer_params(&slab_params, min_B);
   struct agx_buffer *core = NULL;
   void *memory = NULL;
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_buffer_create(slabs->core, &desc, &core)));
   const agx_status status = agx_buffer_map(core, &memory);
   if (status != AGX_OK) {
      iree_status_t result = agx_iree_status(status);
      agx_release(core);
      return result;
   }
   *out_slab = (iree_hal_slab_t){
      .base_ptr = memory,
      .length = min_B,
      .provider_handle = (uint64_t)(uintptr_t)core,
   };
   iree_atomic_fetch_add(&slabs->acquired, 1, iree_memory_order_relaxed);
   return iree_ok_status();
}

static void release_slab(iree_hal_slab_provider_t *base, const iree_hal_slab_t *slab)
{
   agx_release((struct agx_buffer *)(uintptr_t)slab->provider_handle);
   iree_atomic_fetch_add(&cast(base)->released, 1, iree_memory_order_relaxed);
}

static iree_status_t wrap_buffer(iree_hal_slab_provider_t *base, const iree_hal_slab_t *slab,
                                 iree_device_size_t offset_B, iree_device_size_t size_B,
                                 iree_hal_buffer_params_t params,
                                 iree_hal_buffer_release_callback_t release,
                                 iree_hal_buffer_t **out_buffer)
{
   struct agx_iree_slabs *slabs = cast(base);
   struct agx_buffer *core = (struct agx_buffer *)(uintptr_t)slab->provider_handle;
   struct agx_iree_buffer_desc desc = {
      .placement = {.device = (iree_hal_device_t *)slabs->device,
                    .queue_affinity = params.queue_affinity},
      .params = params,
      .size_B = size_B,
      .core_offset_B = offset_B,
      .release = release,
   };
   desc.params.type &= ~IREE_HAL_MEMORY_TYPE_OPTIMAL;
   desc.params.type |= slab_params.type;
   agx_retain(core);
   iree_status_t status = agx_iree_buffer_wrap(core, &desc, slabs->host_allocator, out_buffer);
   if (!iree_status_is_ok(status))
      agx_release(core);
   return status;
}

static void prefault(iree_hal_slab_provider_t *base, iree_hal_slab_t *slab) {}

static void slabs_trim(iree_hal_slab_provider_t *base, iree_hal_slab_provider_trim_flags_t flags)
{
   agx_device_trim(cast(base)->core);
}

static void query_stats(const iree_hal_slab_provider_t *base,
                        iree_hal_slab_provider_visited_set_t *visited,
                        iree_hal_slab_provider_stats_t *out_stats)
{
   if (iree_hal_slab_provider_visited(visited, base))
      return;
   out_stats->total_acquired +=
      (uint64_t)iree_atomic_load(&cast(base)->acquired, iree_memory_order_relaxed);
   out_stats->total_released +=
      (uint64_t)iree_atomic_load(&cast(base)->released, iree_memory_order_relaxed);
}

static void query_properties(const iree_hal_slab_provider_t *base,
                             iree_hal_memory_type_t *out_memory_type,
                             iree_hal_buffer_usage_t *out_supported_usage)
{
   *out_memory_type = slab_params.type;
   *out_supported_usage = slab_params.usage;
}

static const iree_hal_slab_provider_vtable_t vtable = {
   .destroy = slabs_destroy,
   .acquire_slab = acquire_slab,
   .release_slab = release_slab,
   .wrap_buffer = wrap_buffer,
   .prefault = prefault,
   .trim = slabs_trim,
   .query_stats = query_stats,
   .query_properties = query_properties,
};

static iree_status_t slabs_create(struct agx_iree_device *device)
{
   struct agx_iree_slabs *slabs = NULL;
   IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(device->host_allocator, sizeof(*slabs), (void **)&slabs));
   memset(slabs, 0, sizeof(*slabs));
   iree_hal_slab_provider_initialize(&vtable, &slabs->base);
   slabs->host_allocator = device->host_allocator;
   slabs->device = device;
   slabs->core = device->core;
   agx_retain(device->core);
   device->slabs = slabs;
   return iree_ok_status();
}

/* A block's epoch is the number of the deallocation that gave it back, counted when that has ended:
 * so each that was ever given out has passed. */
static bool epoch_has_passed(void *user, iree_async_axis_t axis, uint64_t epoch)
{
   struct agx_iree_device *device = user;
   const uint32_t queue = iree_async_axis_queue_index(axis);
   return queue < AGX_IREE_MAX_QUEUES &&
          epoch <= (uint64_t)iree_atomic_load(&device->epochs[queue], iree_memory_order_acquire);
}

iree_status_t agx_iree_query_queue_pool_backend(iree_hal_device_t *base,
                                                iree_hal_queue_affinity_t affinity,
                                                iree_hal_queue_pool_backend_t *out_backend)
{
   struct agx_iree_device *device = (struct agx_iree_device *)base;
   if (!agx_iree_device_queues(device, affinity))
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "queue affinity 0x%" PRIx64 ": the device has %u queues", affinity,
                              device->info.queue_count);
   iree_slim_mutex_lock(&device->pools_mutex);
   iree_status_t status = iree_ok_status();
   if (!device->slabs)
      status = slabs_create(device);
   if (iree_status_is_ok(status) && !device->notification)
      status = iree_async_notification_create(device->proactor, IREE_ASYNC_NOTIFICATION_FLAG_NONE,
                                              &device->notification);
   iree_slim_mutex_unlock(&device->pools_mutex);
   IREE_RETURN_IF_ERROR(status);
   *out_backend = (iree_hal_queue_pool_backend_t){
      .slab_provider = &device->slabs->base,
      .notification = device->notification,
      .epoch_query = {.fn = epoch_has_passed, .user_data = device},
   };
   return iree_ok_status();
}

void agx_iree_pools_destroy(struct agx_iree_device *device)
{
   if (device->slabs)
      iree_hal_slab_provider_release(&device->slabs->base);
   if (device->notification)
      iree_async_notification_release(device->notification);
}
