/* SPDX-License-Identifier: MIT
 *
 * Memory of a device: allocation, import and export, and address ranges whose memory changes. The
 * device owns its allocator, which therefore holds no reference to it.
 */
#include <string.h>

#include "agx_iree.h"

struct allocator {
   iree_hal_resource_t resource;
   iree_allocator_t host_allocator;
   struct agx_iree_device *device;
   struct agx_device *core;
};

static const iree_hal_allocator_vtable_t vtable;

static struct allocator *cast(const iree_hal_allocator_t *base)
{
   return (struct allocator *)base;
}

iree_status_t agx_iree_allocator_create(struct agx_iree_device *device,
                                        iree_allocator_t host_allocator,
                                        iree_hal_allocator_t **out_allocator)
{
   struct allocator *allocator = NULL;
   IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(host_allocator, sizeof(*allocator), (void **)&allocator));
   iree_hal_resource_initialize(&vtable, &allocator->resource);
   allocator->host_allocator = host_allocator;
   allocator->device = device;
   allocator->core = device->core;
   agx_retain(device->core);
   *out_allocator = (iree_hal_allocator_t *)allocator;
   return iree_ok_status();
}

static void allocator_destroy(iree_hal_allocator_t *IREE_RESTRICT base)
{
   struct allocator *allocator = cast(base);
   agx_release(allocator->core);
   iree_allocator_free(allocator->host_allocator, allocator);
}

static iree_allocator_t allocator_host_allocator(const iree_hal_allocator_t *IREE_RESTRICT base)
{
   return cast(base)->host_allocator;
}

static iree_status_t allocator_trim(iree_hal_allocator_t *IREE_RESTRICT base)
{
   agx_device_trim(cast(base)->core);
   return iree_ok_status();
}

static void query_statistics(iree_hal_allocator_t *IREE_RESTRICT base,
                             iree_hal_allocator_statistics_t *IREE_RESTRICT out_statistics)
{
   memset(out_statistics, 0, sizeof(*out_statistics));
   struct agx_memory_stats stats = {.size = sizeof(stats)};
   agx_device_get_memory_stats(cast(base)->core, &stats);
   out_statistics->device_bytes_peak = stats.device.peak_B;
   out_statistics->device_bytes_allocated = stats.device.allocated_B;
   out_statistics->device_bytes_freed = stats.device.freed_B;
}

#define MAX_HEAPS 8

static iree_status_t query_memory_heaps(iree_hal_allocator_t *IREE_RESTRICT base,
                                        iree_host_size_t capacity,
                                        iree_hal_allocator_memory_heap_t *IREE_RESTRICT heaps,
                                        iree_host_size_t *IREE_RESTRICT out_count)
{
   struct agx_heap core[MAX_HEAPS];
   uint32_t count = MAX_HEAPS;
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_device_get_heaps(cast(base)->core, &count, core)));
   if (count > MAX_HEAPS)
      count = MAX_HEAPS;
   if (out_count)
      *out_count = count;
   if (capacity < count)
      return iree_status_from_code(IREE_STATUS_OUT_OF_RANGE);
   for (uint32_t i = 0; i < count; i++) {
      iree_hal_buffer_usage_t usage =
         IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS |
         IREE_HAL_BUFFER_USAGE_DISPATCH_UNIFORM_READ | IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE |
         IREE_HAL_BUFFER_USAGE_SHARING_EXPORT;
      if (core[i].memory & AGX_MEMORY_HOST_VISIBLE)
         usage |= IREE_HAL_BUFFER_USAGE_MAPPING | IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT |
                  IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL;
      heaps[i] = (iree_hal_allocator_memory_heap_t){
         .type = agx_iree_memory_type(core[i].memory),
         .allowed_usage = usage,
         .max_allocation_size = core[i].max_size_B,
         .min_alignment = core[i].min_align_B,
      };
   }
   return iree_ok_status();
}

/* What comes from outside is for no more than the application asks: host memory of any kind can be
 * had for transfers alone. */
static struct agx_buffer_desc external_params(const iree_hal_buffer_params_t *params,
                                              iree_device_size_t size_B)
{
   struct agx_buffer_desc desc = agx_iree_buffer_params(params, size_B);
   if (!(params->usage & IREE_HAL_BUFFER_USAGE_DISPATCH))
      desc.usage &= ~(uint32_t)AGX_USAGE_DISPATCH;
   return desc;
}

/* IMPORTABLE means host memory of any kind to IREE's callers, which the GPU can't reach;
 * import_buffer takes more for dispatches, too: dma-bufs, and mappings of sealed memory files. */
static iree_hal_buffer_compatibility_t
query_compatibility(iree_hal_allocator_t *IREE_RESTRICT base,
                    iree_hal_buffer_params_t *IREE_RESTRICT params,
                    iree_device_size_t *IREE_RESTRICT size)
{
   static const struct {
      uint32_t core;
      iree_hal_buffer_compatibility_t iree;
   } bits[] = {
      {AGX_COMPAT_ALLOCATE, IREE_HAL_BUFFER_COMPATIBILITY_ALLOCATABLE},
      {AGX_COMPAT_EXPORT, IREE_HAL_BUFFER_COMPATIBILITY_EXPORTABLE},
      {AGX_COMPAT_TRANSFER, IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER},
      {AGX_COMPAT_DISPATCH, IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_DISPATCH},
      {AGX_COMPAT_SLOW, IREE_HAL_BUFFER_COMPATIBILITY_LOW_PERFORMANCE},
   };
   struct agx_buffer_desc desc = external_params(params, *size);
   uint64_t size_B = *size;
   const uint32_t compat = agx_buffer_compat(cast(base)->core, &desc, &size_B);
   iree_hal_buffer_compatibility_t result = 0;
   for (size_t i = 0; i < IREE_ARRAYSIZE(bits); i++) {
      if (compat & bits[i].core)
         result |= bits[i].iree;
   }
   /* What the application asked for counts, though the core would allow more. */
   if (!(params->usage & IREE_HAL_BUFFER_USAGE_TRANSFER))
      result &= ~IREE_HAL_BUFFER_COMPATIBILITY_QUEUE_TRANSFER;
   if (compat & AGX_COMPAT_IMPORT_HOST_POINTER &&
       !(desc.usage & (AGX_USAGE_DISPATCH | AGX_USAGE_SHARING_EXPORT)))
      result |= IREE_HAL_BUFFER_COMPATIBILITY_IMPORTABLE;
   if (!result)
      return 0;
   params->type &= ~IREE_HAL_MEMORY_TYPE_OPTIMAL;
   params->type |= agx_iree_memory_type(desc.memory);
   return result;
}

/* Wraps a buffer of the core's, whose reference it takes, also when it fails. */
static iree_status_t wrap(struct allocator *allocator, struct agx_buffer *core,
                          const iree_hal_buffer_params_t *params, iree_device_size_t size_B,
                          iree_hal_buffer_release_callback_t release,
                          iree_hal_buffer_t **out_buffer)
{
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(core, &info);
   struct agx_iree_buffer_desc desc = {
      .placement = {.device = (iree_hal_device_t *)allocator->device,
                    .queue_affinity = params->queue_affinity},
      .params = *params,
      .size_B = size_B,
      .release = release,
   };
   desc.params.type &= ~IREE_HAL_MEMORY_TYPE_OPTIMAL;
   desc.params.type |= agx_iree_memory_type(info.memory);
   iree_status_t status = agx_iree_buffer_wrap(core, &desc, allocator->host_allocator, out_buffer);
   if (!iree_status_is_ok(status))
      agx_release(core);
   return status;
}

static iree_status_t allocate_buffer(iree_hal_allocator_t *IREE_RESTRICT base,
                                     const iree_hal_buffer_params_t *IREE_RESTRICT params,
                                     iree_device_size_t size_B,
                                     iree_hal_buffer_t **IREE_RESTRICT out_buffer)
{
   struct allocator *allocator = cast(base);
   const struct agx_buffer_desc desc = agx_iree_buffer_params(params, size_B);
   struct agx_buffer *core = NULL;
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_buffer_create(allocator->core, &desc, &core)));
   return wrap(allocator, core, params, size_B, iree_hal_buffer_release_callback_null(),
               out_buffer);
}

static void deallocate_buffer(iree_hal_allocator_t *IREE_RESTRICT base,
                              iree_hal_buffer_t *IREE_RESTRICT buffer)
{
   iree_hal_buffer_destroy(buffer);
}

static iree_status_t import_buffer(iree_hal_allocator_t *IREE_RESTRICT base,
                                   const iree_hal_buffer_params_t *IREE_RESTRICT params,
                                   iree_hal_external_buffer_t *IREE_RESTRICT external,
                                   iree_hal_buffer_release_callback_t release,
                                   iree_hal_buffer_t **IREE_RESTRICT out_buffer)
{
   struct allocator *allocator = cast(base);
   struct agx_external core_external = {.size = sizeof(core_external), .size_B = external->size};
   switch (external->type) {
   case IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION:
      core_external.kind = AGX_EXTERNAL_HOST_POINTER;
      core_external.pointer = external->handle.host_allocation.ptr;
      break;
   case IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_FD:
      core_external.kind = AGX_EXTERNAL_DMA_BUF;
      core_external.fd = external->handle.opaque_fd.fd;
      break;
   default:
      return iree_make_status(IREE_STATUS_UNAVAILABLE,
                              "import: external memory of kind %d; host memory and dma-bufs can be",
                              (int)external->type);
   }
   const struct agx_buffer_desc desc = external_params(params, external->size);
   struct agx_buffer *core = NULL;
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_buffer_import(
      allocator->core, &desc, &core_external, (struct agx_release_callback){.run = NULL}, &core)));
   return wrap(allocator, core, params, external->size, release, out_buffer);
}

static iree_status_t export_buffer(iree_hal_allocator_t *IREE_RESTRICT base,
                                   iree_hal_buffer_t *IREE_RESTRICT iree_buffer,
                                   iree_hal_external_buffer_type_t type,
                                   iree_hal_external_buffer_flags_t flags,
                                   iree_hal_external_buffer_t *IREE_RESTRICT out_external)
{
   const struct agx_iree_buffer *buffer = agx_iree_buffer_of(iree_buffer);
   if (!buffer || !buffer->core)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "export: not a buffer of this device");
   struct agx_external external = {.size = sizeof(external)};
   uint32_t kind = AGX_EXTERNAL_ADDRESS;
   if (type == IREE_HAL_EXTERNAL_BUFFER_TYPE_HOST_ALLOCATION)
      kind = AGX_EXTERNAL_HOST_POINTER;
   else if (type == IREE_HAL_EXTERNAL_BUFFER_TYPE_OPAQUE_FD)
      kind = AGX_EXTERNAL_DMA_BUF;
   else if (type != IREE_HAL_EXTERNAL_BUFFER_TYPE_DEVICE_ALLOCATION)
      return iree_make_status(IREE_STATUS_UNAVAILABLE,
                              "export: kind %d; addresses, host memory and dma-bufs can be",
                              (int)type);
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_buffer_export(buffer->core, kind, &external)));
   *out_external = (iree_hal_external_buffer_t){
      .type = type,
      .flags = flags,
      .size = iree_hal_buffer_allocation_size(iree_buffer),
   };
   if (kind == AGX_EXTERNAL_HOST_POINTER)
      out_external->handle.host_allocation.ptr = external.pointer;
   else if (kind == AGX_EXTERNAL_DMA_BUF)
      out_external->handle.opaque_fd.fd = external.fd;
   else
      out_external->handle.device_allocation.ptr = external.address;
   return iree_ok_status();
}

/* ---- virtual memory -------------------------------------------------------- */

static bool supports_vmem(iree_hal_allocator_t *IREE_RESTRICT base)
{
   return true;
}

static iree_status_t vmem_granularity(iree_hal_allocator_t *IREE_RESTRICT base,
                                      iree_hal_buffer_params_t params,
                                      iree_device_size_t *IREE_RESTRICT out_min,
                                      iree_device_size_t *IREE_RESTRICT out_best)
{
   uint64_t min_B = 0, best_B = 0;
   agx_vmem_granularity(cast(base)->core, &min_B, &best_B);
   *out_min = min_B;
   *out_best = best_B;
   return iree_ok_status();
}

static iree_status_t vmem_reserve(iree_hal_allocator_t *IREE_RESTRICT base,
                                  iree_hal_queue_affinity_t affinity, iree_device_size_t size_B,
                                  iree_hal_buffer_t **IREE_RESTRICT out_buffer)
{
   struct allocator *allocator = cast(base);
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = size_B};
   struct agx_buffer *core = NULL;
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_vmem_reserve(allocator->core, &desc, &core)));
   const iree_hal_buffer_params_t params = {
      .usage = IREE_HAL_BUFFER_USAGE_TRANSFER | IREE_HAL_BUFFER_USAGE_DISPATCH_STORAGE |
               IREE_HAL_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS,
      .access = IREE_HAL_MEMORY_ACCESS_ALL,
      .type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL,
      .queue_affinity = affinity,
   };
   return wrap(allocator, core, &params, size_B, iree_hal_buffer_release_callback_null(),
               out_buffer);
}

static iree_status_t vmem_release(iree_hal_allocator_t *IREE_RESTRICT base,
                                  iree_hal_buffer_t *IREE_RESTRICT buffer)
{
   iree_hal_buffer_release(buffer);
   return iree_ok_status();
}

static iree_status_t pages_allocate(iree_hal_allocator_t *IREE_RESTRICT base,
                                    iree_hal_buffer_params_t params, iree_device_size_t size_B,
                                    iree_allocator_t host_allocator,
                                    iree_hal_physical_memory_t **IREE_RESTRICT out_memory)
{
   const struct agx_buffer_desc desc = agx_iree_buffer_params(&params, size_B);
   struct agx_pages *pages = NULL;
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_pages_create(cast(base)->core, &desc, &pages)));
   *out_memory = (iree_hal_physical_memory_t *)pages;
   return iree_ok_status();
}

static iree_status_t pages_free(iree_hal_allocator_t *IREE_RESTRICT base,
                                iree_hal_physical_memory_t *IREE_RESTRICT memory)
{
   agx_release(memory);
   return iree_ok_status();
}

/* The core's buffer of a reservation. */
static iree_status_t reservation(iree_hal_buffer_t *buffer, struct agx_buffer **out_core)
{
   const struct agx_iree_buffer *ours = agx_iree_buffer_of(buffer);
   if (!ours || !ours->core)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "virtual memory: not a buffer of this device");
   *out_core = ours->core;
   return iree_ok_status();
}

static iree_status_t vmem_map(iree_hal_allocator_t *IREE_RESTRICT base,
                              iree_hal_buffer_t *IREE_RESTRICT buffer, iree_device_size_t offset_B,
                              iree_hal_physical_memory_t *IREE_RESTRICT memory,
                              iree_device_size_t memory_offset_B, iree_device_size_t size_B)
{
   struct agx_buffer *core = NULL;
   IREE_RETURN_IF_ERROR(reservation(buffer, &core));
   return agx_iree_status(agx_vmem_bind(core, offset_B, (struct agx_pages *)memory, memory_offset_B,
                                        size_B, AGX_ACCESS_READ | AGX_ACCESS_WRITE));
}

static iree_status_t vmem_unmap(iree_hal_allocator_t *IREE_RESTRICT base,
                                iree_hal_buffer_t *IREE_RESTRICT buffer,
                                iree_device_size_t offset_B, iree_device_size_t size_B)
{
   struct agx_buffer *core = NULL;
   IREE_RETURN_IF_ERROR(reservation(buffer, &core));
   return agx_iree_status(agx_vmem_bind(core, offset_B, NULL, 0, size_B, 0));
}

static iree_status_t vmem_protect(iree_hal_allocator_t *IREE_RESTRICT base,
                                  iree_hal_buffer_t *IREE_RESTRICT buffer,
                                  iree_device_size_t offset_B, iree_device_size_t size_B,
                                  iree_hal_queue_affinity_t affinity,
                                  iree_hal_memory_protection_t protection)
{
   struct agx_buffer *core = NULL;
   IREE_RETURN_IF_ERROR(reservation(buffer, &core));
   uint32_t access = 0;
   if (protection & IREE_HAL_MEMORY_PROTECTION_READ)
      access |= AGX_ACCESS_READ;
   if (protection & IREE_HAL_MEMORY_PROTECTION_WRITE)
      access |= AGX_ACCESS_WRITE;
   return agx_iree_status(agx_vmem_protect(core, offset_B, size_B, access));
}

static iree_status_t vmem_advise(iree_hal_allocator_t *IREE_RESTRICT base,
                                 iree_hal_buffer_t *IREE_RESTRICT buffer,
                                 iree_device_size_t offset_B, iree_device_size_t size_B,
                                 iree_hal_queue_affinity_t affinity,
                                 iree_hal_memory_advice_t advice)
{
   struct agx_buffer *core = NULL;
   IREE_RETURN_IF_ERROR(reservation(buffer, &core));
   uint32_t core_advice = 0;
   if (advice & IREE_HAL_MEMORY_ADVICE_WILL_NEED)
      core_advice = AGX_ADVICE_WILL_NEED;
   else if (advice & IREE_HAL_MEMORY_ADVICE_DONT_NEED)
      core_advice = AGX_ADVICE_DONT_NEED;
   else
      return iree_ok_status();
   return agx_iree_status(agx_vmem_advise(core, offset_B, size_B, core_advice));
}

static const iree_hal_allocator_vtable_t vtable = {
   .destroy = allocator_destroy,
   .host_allocator = allocator_host_allocator,
   .trim = allocator_trim,
   .query_statistics = query_statistics,
   .query_memory_heaps = query_memory_heaps,
   .query_buffer_compatibility = query_compatibility,
   .allocate_buffer = allocate_buffer,
   .deallocate_buffer = deallocate_buffer,
   .import_buffer = import_buffer,
   .export_buffer = export_buffer,
   .supports_virtual_memory = supports_vmem,
   .virtual_memory_query_granularity = vmem_granularity,
   .virtual_memory_reserve = vmem_reserve,
   .virtual_memory_release = vmem_release,
   .physical_memory_allocate = pages_allocate,
   .physical_memory_free = pages_free,
   .virtual_memory_map = vmem_map,
   .virtual_memory_unmap = vmem_unmap,
   .virtual_memory_protect = vmem_protect,
   .virtual_memory_advise = vmem_advise,
};
