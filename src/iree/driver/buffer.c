/* SPDX-License-Identifier: MIT
 *
 * Buffers, and ranges of them. All memory of the device is coherent and has one address on the host
 * for as long as it lives, so that mapping is an addition.
 */
#include <string.h>

#include "agx_iree.h"

static const iree_hal_buffer_vtable_t vtable;

static struct agx_iree_buffer *cast(iree_hal_buffer_t *base)
{
   return (struct agx_iree_buffer *)base;
}

iree_hal_memory_type_t agx_iree_memory_type(uint32_t memory)
{
   iree_hal_memory_type_t type = IREE_HAL_MEMORY_TYPE_DEVICE_LOCAL;
   if (memory & AGX_MEMORY_HOST_VISIBLE)
      type |= IREE_HAL_MEMORY_TYPE_HOST_VISIBLE | IREE_HAL_MEMORY_TYPE_HOST_COHERENT;
   if (memory & AGX_MEMORY_HOST_CACHED)
      type |= IREE_HAL_MEMORY_TYPE_HOST_CACHED;
   return type;
}

/* IREE's base layer checks usage and access of what its callers do; what it does itself, such as
 * the first contents of a constant, may need more than they asked for. So the core allows all. */
struct agx_buffer_desc agx_iree_buffer_params(const iree_hal_buffer_params_t *params,
                                              iree_device_size_t size_B)
{
   const iree_hal_buffer_usage_t mapping = IREE_HAL_BUFFER_USAGE_MAPPING_SCOPED |
                                           IREE_HAL_BUFFER_USAGE_MAPPING_PERSISTENT |
                                           IREE_HAL_BUFFER_USAGE_MAPPING_OPTIONAL;
   struct agx_buffer_desc desc = {
      .size = sizeof(desc),
      .size_B = size_B ? size_B : 1,
      .memory = AGX_MEMORY_DEVICE_LOCAL,
      .usage = AGX_USAGE_TRANSFER | AGX_USAGE_DISPATCH,
      .align_B = params->min_alignment,
   };
   if ((params->usage & mapping) || (params->type & IREE_HAL_MEMORY_TYPE_HOST_VISIBLE)) {
      desc.memory |= AGX_MEMORY_HOST_VISIBLE | AGX_MEMORY_HOST_COHERENT;
      desc.usage |= AGX_USAGE_MAPPING;
   }
   if ((desc.memory & AGX_MEMORY_HOST_VISIBLE) &&
       ((params->type & IREE_HAL_MEMORY_TYPE_HOST_CACHED) ||
        (params->usage & IREE_HAL_BUFFER_USAGE_MAPPING_ACCESS_RANDOM)))
      desc.memory |= AGX_MEMORY_HOST_CACHED;
   if (params->usage & IREE_HAL_BUFFER_USAGE_SHARING_EXPORT)
      desc.usage |= AGX_USAGE_SHARING_EXPORT;
   return desc;
}

iree_status_t agx_iree_buffer_wrap(struct agx_buffer *core, const struct agx_iree_buffer_desc *desc,
                                   iree_allocator_t host_allocator, iree_hal_buffer_t **out_buffer)
{
   struct agx_iree_buffer *buffer = NULL;
   IREE_RETURN_IF_ERROR(iree_allocator_malloc(host_allocator, sizeof(*buffer), (void **)&buffer));
   iree_hal_buffer_initialize(desc->placement, &buffer->base, desc->size_B, 0, desc->size_B,
                              desc->params.type, desc->params.access, desc->params.usage, &vtable,
                              &buffer->base);
   buffer->host_allocator = host_allocator;
   buffer->core = core;
   buffer->core_offset_B = desc->core_offset_B;
   buffer->release = desc->release;
   buffer->pooled = NULL;
   *out_buffer = &buffer->base;
   return iree_ok_status();
}

static void buffer_destroy(iree_hal_buffer_t *base)
{
   struct agx_iree_buffer *buffer = cast(base);
   agx_release(buffer->core);
   if (buffer->pooled)
      agx_iree_pooled_release(buffer->pooled);
   if (buffer->release.fn)
      buffer->release.fn(buffer->release.user_data, base);
   iree_allocator_free(buffer->host_allocator, buffer);
}

struct agx_iree_buffer *agx_iree_buffer_of(iree_hal_buffer_t *base)
{
   iree_hal_buffer_t *whole = iree_hal_buffer_allocated_buffer(base);
   return iree_hal_resource_is(whole, &vtable) ? cast(whole) : NULL;
}

/* The core knows the memory that a buffer lies in, which may be larger: so the range is checked
 * here. A length of the whole buffer becomes what is left of it. */
static iree_status_t check_range(iree_hal_buffer_ref_t *ref)
{
   const iree_device_size_t size_B = iree_hal_buffer_byte_length(ref->buffer);
   const iree_device_size_t left_B = ref->offset <= size_B ? size_B - ref->offset : 0;
   if (ref->length == IREE_HAL_WHOLE_BUFFER)
      ref->length = left_B;
   if (ref->offset <= size_B && ref->length <= left_B)
      return iree_ok_status();
   return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                           "buffer: %" PRIdsz " bytes at %" PRIdsz ", it has %" PRIdsz, ref->length,
                           ref->offset, size_B);
}

iree_status_t agx_iree_ref(iree_hal_buffer_ref_t ref, struct agx_buffer_ref *out_ref)
{
   *out_ref = (struct agx_buffer_ref){.offset_B = ref.offset, .length_B = ref.length};
   if (!ref.buffer) {
      out_ref->table_slot = ref.buffer_slot + 1;
      return iree_ok_status();
   }
   const struct agx_iree_buffer *buffer = agx_iree_buffer_of(ref.buffer);
   if (!buffer)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT,
                              "buffer: it is another driver's; import it first");
   if (!buffer->core)
      return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                              "buffer: its allocation out of a pool has not come to its turn");
   IREE_RETURN_IF_ERROR(check_range(&ref));
   out_ref->buffer = buffer->core;
   out_ref->offset_B += buffer->core_offset_B + iree_hal_buffer_byte_offset(ref.buffer);
   out_ref->length_B = ref.length;
   return iree_ok_status();
}

static iree_status_t map_range(iree_hal_buffer_t *base, iree_hal_mapping_mode_t mode,
                               iree_hal_memory_access_t access, iree_device_size_t offset_B,
                               iree_device_size_t length_B, iree_hal_buffer_mapping_t *mapping)
{
   struct agx_iree_buffer *buffer = cast(base);
   if (!buffer->core)
      return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                              "buffer: its allocation out of a pool has not come to its turn");
   void *memory = NULL;
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_buffer_map(buffer->core, &memory)));
   mapping->contents =
      iree_make_byte_span((uint8_t *)memory + buffer->core_offset_B + offset_B, length_B);
   return iree_ok_status();
}

static iree_status_t unmap_range(iree_hal_buffer_t *base, iree_device_size_t offset_B,
                                 iree_device_size_t length_B, iree_hal_buffer_mapping_t *mapping)
{
   return iree_ok_status();
}

static iree_status_t invalidate_range(iree_hal_buffer_t *base, iree_device_size_t offset_B,
                                      iree_device_size_t length_B)
{
   const struct agx_iree_buffer *buffer = cast(base);
   return agx_iree_status(
      agx_buffer_invalidate(buffer->core, buffer->core_offset_B + offset_B, length_B));
}

static iree_status_t flush_range(iree_hal_buffer_t *base, iree_device_size_t offset_B,
                                 iree_device_size_t length_B)
{
   const struct agx_iree_buffer *buffer = cast(base);
   return agx_iree_status(
      agx_buffer_flush(buffer->core, buffer->core_offset_B + offset_B, length_B));
}

static const iree_hal_buffer_vtable_t vtable = {
   .recycle = iree_hal_buffer_recycle,
   .destroy = buffer_destroy,
   .map_range = map_range,
   .unmap_range = unmap_range,
   .invalidate_range = invalidate_range,
   .flush_range = flush_range,
};
