/* SPDX-License-Identifier: MIT
 *
 * The executable cache that IREE wants an object for. It keeps nothing: the library's caches of
 * compiled kernels, in memory and on disk, do (docs/hal).
 */
#include <string.h>

#include "agx_iree.h"

struct cache {
   iree_hal_resource_t resource;
   iree_allocator_t host_allocator;
   iree_hal_device_t *device;
};

static const iree_hal_executable_cache_vtable_t vtable;

static struct cache *cast(iree_hal_executable_cache_t *base)
{
   return (struct cache *)base;
}

iree_status_t agx_iree_executable_cache_create(struct agx_iree_device *device,
                                               iree_string_view_t identifier,
                                               iree_hal_executable_cache_t **out_cache)
{
   struct cache *cache = NULL;
   IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(device->host_allocator, sizeof(*cache), (void **)&cache));
   iree_hal_resource_initialize(&vtable, &cache->resource);
   cache->host_allocator = device->host_allocator;
   cache->device = (iree_hal_device_t *)device;
   iree_hal_device_retain(cache->device);
   *out_cache = (iree_hal_executable_cache_t *)cache;
   return iree_ok_status();
}

static void cache_destroy(iree_hal_executable_cache_t *base)
{
   struct cache *cache = cast(base);
   const iree_allocator_t host_allocator = cache->host_allocator;
   iree_hal_device_release(cache->device);
   iree_allocator_free(host_allocator, cache);
}

#define FORMAT_DESCRIPTORS "vulkan-spirv-fb"
#define FORMAT_ADDRESSES   "vulkan-spirv-bda-v1"

bool agx_iree_executable_format_is_known(iree_string_view_t format)
{
   char text[32];
   if (iree_string_view_equal(format, IREE_SV(FORMAT_DESCRIPTORS)) ||
       iree_string_view_equal(format, IREE_SV(FORMAT_ADDRESSES)))
      return true;
   if (format.size >= sizeof(text))
      return false;
   memcpy(text, format.data, format.size);
   text[format.size] = 0;
   return agx_executable_format_is_known(text);
}

/* The name that IREE's compiler gives the file: by its first export. */
static iree_status_t container_format(const void *data, size_t data_B, const char **out_format)
{
   struct agx_iree_container container;
   struct agx_iree_error error;
   struct agx_iree_export first = {0};
   agx_status status = agx_iree_container_open(data, data_B, &container, &error);
   if (status == AGX_OK && container.export_count)
      status = agx_iree_container_get_export(&container, 0, &first, &error);
   if (status != AGX_OK)
      return agx_iree_status_of(status, error.text);
   *out_format = first.abi == AGX_IREE_ADDRESSES ? FORMAT_ADDRESSES : FORMAT_DESCRIPTORS;
   return iree_ok_status();
}

static iree_status_t infer_format(iree_hal_executable_cache_t *base,
                                  iree_hal_executable_caching_mode_t mode,
                                  iree_const_byte_span_t data, iree_host_size_t capacity,
                                  char *format, iree_host_size_t *out_size)
{
   const char *found = NULL;
   size_t used_B = 0;
   const size_t data_B = data.data_length ? data.data_length : SIZE_MAX;
   if (agx_iree_container_infer(data.data, data_B, &used_B)) {
      IREE_RETURN_IF_ERROR(container_format(data.data, used_B, &found));
   } else {
      IREE_RETURN_IF_ERROR(agx_iree_status(
         agx_executable_infer_format(data.data, data.data_length, &found, &used_B)));
   }
   if (strlen(found) >= capacity)
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "executable format %s: there is room for %" PRIhsz " bytes", found,
                              capacity);
   memcpy(format, found, strlen(found) + 1);
   *out_size = used_B;
   return iree_ok_status();
}

static bool can_prepare_format(iree_hal_executable_cache_t *base,
                               iree_hal_executable_caching_mode_t mode, iree_string_view_t format)
{
   return agx_iree_executable_format_is_known(format);
}

static iree_status_t prepare_executable(iree_hal_executable_cache_t *base,
                                        const iree_hal_executable_params_t *params,
                                        iree_hal_executable_t **out_executable)
{
   if (!agx_iree_executable_format_is_known(params->executable_format))
      return iree_make_status(IREE_STATUS_INCOMPATIBLE,
                              "executable format %.*s: " FORMAT_DESCRIPTORS ", " FORMAT_ADDRESSES
                              ", spirv and agx-elf are known",
                              (int)params->executable_format.size, params->executable_format.data);
   return agx_iree_executable_create((struct agx_iree_device *)cast(base)->device, params,
                                     out_executable);
}

static const iree_hal_executable_cache_vtable_t vtable = {
   .destroy = cache_destroy,
   .infer_format = infer_format,
   .can_prepare_format = can_prepare_format,
   .prepare_executable = prepare_executable,
};
