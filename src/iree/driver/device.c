/* SPDX-License-Identifier: MIT
 *
 * Devices: what IREE asks of one besides queueing work.
 */
#include <string.h>

#include "collective.h"

static const iree_hal_device_vtable_t vtable;

static struct agx_iree_device *cast(iree_hal_device_t *base)
{
   return (struct agx_iree_device *)base;
}

uint64_t agx_iree_device_queues(const struct agx_iree_device *device,
                                iree_hal_queue_affinity_t affinity)
{
   return affinity & ((UINT64_C(1) << device->info.queue_count) - 1);
}

static iree_status_t open_core(struct agx_iree_device *device, struct agx_instance *instance,
                               const struct agx_device_desc *desc, const char *profile_path)
{
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_device_open(instance, desc, &device->core)));
   device->info.size = sizeof(device->info);
   agx_device_get_info(device->core, &device->info);
   const struct agx_pool_desc tables = {
      .size = sizeof(tables),
      .slab_B = 1 << 20,
      .label = "iree tables",
   };
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_pool_create(device->core, &tables, &device->tables)));
   if (!profile_path)
      return iree_ok_status();
   const struct agx_profile_desc profile = {
      .size = sizeof(profile),
      .families = AGX_PROFILE_QUEUE | AGX_PROFILE_DEVICE_QUEUE | AGX_PROFILE_DISPATCH |
                  AGX_PROFILE_HOST | AGX_PROFILE_MEMORY,
      .path = profile_path,
   };
   return agx_iree_status(agx_profile_begin(device->core, &profile));
}

iree_status_t agx_iree_device_create(iree_string_view_t identifier, struct agx_instance *instance,
                                     const struct agx_device_desc *desc, uint32_t robustness,
                                     const char *profile_path,
                                     const iree_hal_device_create_params_t *create_params,
                                     iree_allocator_t host_allocator,
                                     iree_hal_device_t **out_device)
{
   *out_device = NULL;
   struct agx_iree_device *device = NULL;
   IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(host_allocator, sizeof(*device) + identifier.size, (void **)&device));
   memset(device, 0, sizeof(*device));
   iree_hal_resource_initialize(&vtable, &device->resource);
   iree_string_view_append_to_buffer(identifier, &device->identifier, (char *)(device + 1));
   device->host_allocator = host_allocator;
   device->robustness = robustness;
   iree_slim_mutex_initialize(&device->pools_mutex);
   device->proactor_pool = create_params->proactor_pool;
   iree_async_proactor_pool_retain(device->proactor_pool);
   iree_status_t status = iree_async_proactor_pool_get(device->proactor_pool, 0, &device->proactor);
   if (iree_status_is_ok(status))
      status = open_core(device, instance, desc, profile_path);
   if (iree_status_is_ok(status))
      status = agx_iree_allocator_create(device, host_allocator, &device->allocator);
   if (iree_status_is_ok(status))
      *out_device = (iree_hal_device_t *)device;
   else
      iree_hal_device_release((iree_hal_device_t *)device);
   return status;
}

/* What still waits for a value has no one left to signal it for, and would keep the core's device.
 * A session of profiling that nobody has ended ends. */
static void device_destroy(iree_hal_device_t *base)
{
   struct agx_iree_device *device = cast(base);
   if (device->core)
      agx_device_cancel(device->core);
   iree_status_ignore(agx_iree_profiling_end(base));
   agx_iree_pools_destroy(device);
   iree_hal_allocator_release(device->allocator);
   iree_hal_channel_provider_release(device->channel_provider);
   agx_release(device->tables);
   agx_release(device->core);
   iree_async_proactor_pool_release(device->proactor_pool);
   iree_slim_mutex_deinitialize(&device->pools_mutex);
   iree_allocator_free(device->host_allocator, device);
}

static iree_string_view_t device_id(iree_hal_device_t *base)
{
   return cast(base)->identifier;
}

static iree_allocator_t device_host_allocator(iree_hal_device_t *base)
{
   return cast(base)->host_allocator;
}

static iree_hal_allocator_t *device_allocator(iree_hal_device_t *base)
{
   return cast(base)->allocator;
}

static void replace_device_allocator(iree_hal_device_t *base, iree_hal_allocator_t *allocator)
{
   struct agx_iree_device *device = cast(base);
   iree_hal_allocator_retain(allocator);
   iree_hal_allocator_release(device->allocator);
   device->allocator = allocator;
}

static void replace_channel_provider(iree_hal_device_t *base, iree_hal_channel_provider_t *provider)
{
   struct agx_iree_device *device = cast(base);
   iree_hal_channel_provider_retain(provider);
   iree_hal_channel_provider_release(device->channel_provider);
   device->channel_provider = provider;
}

static iree_status_t device_trim(iree_hal_device_t *base)
{
   struct agx_iree_device *device = cast(base);
   agx_pool_trim(device->tables);
   return iree_hal_allocator_trim(device->allocator);
}

/* ---- what it is ------------------------------------------------------------ */

/* Programs that were compiled for the Vulkan target ask for a device named so. */
static bool answers_to(const struct agx_iree_device *device, iree_string_view_t pattern)
{
   return iree_string_view_match_pattern(device->identifier, pattern) ||
          iree_string_view_match_pattern(IREE_SV("vulkan"), pattern);
}

static iree_status_t query_i64(iree_hal_device_t *base, iree_string_view_t category,
                               iree_string_view_t key, int64_t *out_value)
{
   const struct agx_iree_device *device = cast(base);
   const struct agx_device_info *info = &device->info;
   *out_value = 0;
   if (iree_string_view_equal(category, IREE_SV("hal.device.id"))) {
      *out_value = answers_to(device, key);
      return iree_ok_status();
   }
   if (iree_string_view_equal(category, IREE_SV("hal.executable.format"))) {
      *out_value = agx_iree_executable_format_is_known(key);
      return iree_ok_status();
   }
   const struct {
      iree_string_view_t category, key;
      int64_t value;
   } properties[] = {
      {IREE_SV("hal.device"), IREE_SV("concurrency"), info->queue_count},
      {IREE_SV("hal.dispatch"), IREE_SV("concurrency"), info->core_count},
      {IREE_SV("agx.device"), IREE_SV("cores"), info->core_count},
      {IREE_SV("agx.device"), IREE_SV("lanes"), info->simd_lanes},
      {IREE_SV("agx.device"), IREE_SV("max_workgroup_threads"), info->max_workgroup_threads},
      {IREE_SV("agx.device"), IREE_SV("max_shared_bytes"), info->max_shared_B},
      {IREE_SV("agx.device"), IREE_SV("max_khz"), info->max_khz},
   };
   for (size_t i = 0; i < IREE_ARRAYSIZE(properties); i++) {
      if (iree_string_view_equal(category, properties[i].category) &&
          iree_string_view_equal(key, properties[i].key)) {
         *out_value = properties[i].value;
         return iree_ok_status();
      }
   }
   return iree_make_status(IREE_STATUS_NOT_FOUND, "device: no property %.*s :: %.*s",
                           (int)category.size, category.data, (int)key.size, key.data);
}

static iree_status_t query_capabilities(iree_hal_device_t *base,
                                        iree_hal_device_capabilities_t *out_capabilities)
{
   memset(out_capabilities, 0, sizeof(*out_capabilities));
   out_capabilities->flags =
      IREE_HAL_DEVICE_CAPABILITY_TIMELINE_SEMAPHORES | IREE_HAL_DEVICE_CAPABILITY_HOST_COHERENT |
      IREE_HAL_DEVICE_CAPABILITY_CONCURRENT_SAFE | IREE_HAL_DEVICE_CAPABILITY_ATOMIC_SCOPE_DEVICE;
   out_capabilities->buffer_export_types = IREE_HAL_TOPOLOGY_HANDLE_TYPE_DMA_BUF;
   out_capabilities->buffer_import_types = IREE_HAL_TOPOLOGY_HANDLE_TYPE_DMA_BUF;
   memcpy(out_capabilities->physical_device_uuid, cast(base)->info.uuid,
          sizeof(out_capabilities->physical_device_uuid));
   /* Virtual devices of a chip have the same one, and no memory in common. */
   out_capabilities->has_physical_device_uuid = !cast(base)->info.is_virtual;
   out_capabilities->driver_device_handle = (uintptr_t)cast(base)->core;
   return iree_ok_status();
}

static const iree_hal_device_topology_info_t *topology_info(iree_hal_device_t *base)
{
   return &cast(base)->topology;
}

static iree_status_t refine_topology_edge(iree_hal_device_t *source, iree_hal_device_t *target,
                                          iree_hal_topology_edge_t *edge)
{
   return iree_ok_status();
}

static iree_status_t assign_topology_info(iree_hal_device_t *base,
                                          const iree_hal_device_topology_info_t *info)
{
   struct agx_iree_device *device = cast(base);
   if (info)
      device->topology = *info;
   else
      memset(&device->topology, 0, sizeof(device->topology));
   return iree_ok_status();
}

/* ---- objects --------------------------------------------------------------- */

static iree_status_t create_channel(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                    iree_hal_channel_params_t params,
                                    iree_hal_channel_t **out_channel)
{
   return agx_iree_channel_create(cast(base), params, out_channel);
}

static iree_status_t create_command_buffer(iree_hal_device_t *base,
                                           iree_hal_command_buffer_mode_t mode,
                                           iree_hal_command_category_t categories,
                                           iree_hal_queue_affinity_t affinity,
                                           iree_host_size_t binding_capacity,
                                           iree_hal_command_buffer_t **out_command_buffer)
{
   return agx_iree_command_buffer_create(cast(base), mode, categories, affinity, binding_capacity,
                                         out_command_buffer);
}

static iree_status_t create_event(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                  iree_hal_event_flags_t flags, iree_hal_event_t **out_event)
{
   return agx_iree_event_create(cast(base), out_event);
}

static iree_status_t create_executable_cache(iree_hal_device_t *base, iree_string_view_t identifier,
                                             iree_hal_executable_cache_t **out_cache)
{
   return agx_iree_executable_cache_create(cast(base), identifier, out_cache);
}

static iree_status_t create_semaphore(iree_hal_device_t *base, iree_hal_queue_affinity_t affinity,
                                      uint64_t initial, iree_hal_semaphore_flags_t flags,
                                      iree_hal_semaphore_t **out_semaphore)
{
   return agx_iree_semaphore_create(cast(base), initial, out_semaphore);
}

static iree_hal_semaphore_compatibility_t
query_semaphore_compatibility(iree_hal_device_t *base, iree_hal_semaphore_t *semaphore)
{
   return agx_iree_semaphore_core(cast(base), semaphore)
             ? IREE_HAL_SEMAPHORE_COMPATIBILITY_ALL
             : IREE_HAL_SEMAPHORE_COMPATIBILITY_HOST_ONLY;
}

/* ---- profiling and capture ------------------------------------------------- */

/* The file is made when the device is opened, since a replay needs the requests from there on. */
static iree_status_t
external_capture_begin(iree_hal_device_t *base,
                       const iree_hal_device_external_capture_options_t *options)
{
   char label[AGX_NAME_BYTES];
   if (!iree_string_view_is_empty(options->provider) &&
       !iree_string_view_equal(options->provider, IREE_SV("agx")))
      return iree_make_status(IREE_STATUS_UNIMPLEMENTED, "capture: no tool '%.*s', only 'agx'",
                              (int)options->provider.size, options->provider.data);
   if (!iree_string_view_is_empty(options->file_path))
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "capture: its file is named with the device, "
                              "agx://...?capture_ranges=%.*s",
                              (int)options->file_path.size, options->file_path.data);
   iree_string_view_to_cstring(iree_string_view_substr(options->label, 0, sizeof(label) - 1), label,
                               sizeof(label));
   return agx_iree_status(agx_device_begin_capture(cast(base)->core, label[0] ? label : NULL));
}

static iree_status_t external_capture_end(iree_hal_device_t *base)
{
   return agx_iree_status(agx_device_end_capture(cast(base)->core));
}

static const iree_hal_device_vtable_t vtable = {
   .destroy = device_destroy,
   .id = device_id,
   .host_allocator = device_host_allocator,
   .device_allocator = device_allocator,
   .replace_device_allocator = replace_device_allocator,
   .replace_channel_provider = replace_channel_provider,
   .trim = device_trim,
   .query_i64 = query_i64,
   .query_capabilities = query_capabilities,
   .topology_info = topology_info,
   .refine_topology_edge = refine_topology_edge,
   .assign_topology_info = assign_topology_info,
   .create_channel = create_channel,
   .create_command_buffer = create_command_buffer,
   .create_event = create_event,
   .create_executable_cache = create_executable_cache,
   .import_file = agx_iree_file_import,
   .create_semaphore = create_semaphore,
   .query_semaphore_compatibility = query_semaphore_compatibility,
   .query_queue_pool_backend = agx_iree_query_queue_pool_backend,
   .queue_alloca = agx_iree_queue_alloca,
   .queue_dealloca = agx_iree_queue_dealloca,
   .queue_fill = agx_iree_queue_fill,
   .queue_update = agx_iree_queue_update,
   .queue_copy = agx_iree_queue_copy,
   .queue_read = agx_iree_queue_read,
   .queue_write = agx_iree_queue_write,
   .queue_host_call = agx_iree_queue_host_call,
   .queue_dispatch = agx_iree_queue_dispatch,
   .queue_execute = agx_iree_queue_execute,
   .queue_flush = agx_iree_queue_flush,
   .profiling_begin = agx_iree_profiling_begin,
   .profiling_flush = agx_iree_profiling_flush,
   .profiling_end = agx_iree_profiling_end,
   .external_capture_begin = external_capture_begin,
   .external_capture_end = external_capture_end,
};
