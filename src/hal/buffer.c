/* SPDX-License-Identifier: MIT
 *
 * Buffers: one GPU allocation each, and views of them.
 */
#include "hal/buffer.h"

#include <stdio.h>

#include "base/util.h"
#include "hal/desc.h"

/* Source: reference/cmdstream, robustness.md 2. */
#define MAX_BUFFER_B (1ull << 37)

static void buffer_destroy(struct agx_object *object)
{
   struct agx_buffer *buffer = agx_container_of(object, struct agx_buffer, object);
   struct agx_device *device = buffer->device;
   agxw_bo_destroy(buffer->bo);
   agx_host_free(device->alloc, buffer, sizeof(*buffer));
   agx_release(device);
}

static const struct agx_object_type buffer_type = {"buffer", buffer_destroy};

static void set_label(struct agx_buffer *buffer, const char *label)
{
   snprintf(buffer->label, sizeof(buffer->label), "%s", label);
}

agx_status agx_buffer_create(struct agx_device *device, const struct agx_buffer_desc *desc,
                             struct agx_buffer **out_buffer)
{
   struct agx_buffer_desc read;
   *out_buffer = NULL;
   AGX_TRY(agx_desc_read("agx_buffer_desc", desc, &read, sizeof(read)));
   if (read.size_B == 0 || read.size_B > MAX_BUFFER_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "buffer: size %llu is not in 1 to 2^37",
                      (unsigned long long)read.size_B);
   if (read.flags & ~(uint32_t)(AGX_BUFFER_HOST_READ | AGX_BUFFER_GPU_READ_ONLY))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "buffer: unknown flags 0x%x", read.flags);
   uint32_t flags = (read.flags & AGX_BUFFER_HOST_READ ? AGXW_BO_CACHED : 0) |
                    (read.flags & AGX_BUFFER_GPU_READ_ONLY ? AGXW_BO_READ_ONLY : 0);
   struct agx_buffer *buffer = agx_host_zalloc(device->alloc, sizeof(*buffer));
   if (!buffer)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "buffer: out of host memory");
   agx_status status = agxw_bo_create(device->winsys, read.size_B, 0, flags,
                                      read.label ? read.label : "buffer", &buffer->bo);
   if (status != AGX_OK) {
      agx_host_free(device->alloc, buffer, sizeof(*buffer));
      return status;
   }
   agx_object_init(&buffer->object, &buffer_type);
   agx_retain(device);
   buffer->device = device;
   buffer->size_B = read.size_B;
   buffer->flags = read.flags;
   buffer->address = agxw_bo_va(buffer->bo);
   set_label(buffer, read.label ? read.label : "buffer");
   *out_buffer = buffer;
   return AGX_OK;
}

agx_status agx_buffer_map(struct agx_buffer *buffer, void **out_memory)
{
   void *memory = NULL;
   *out_memory = NULL;
   AGX_TRY(agxw_bo_map(buffer->bo, &memory));
   *out_memory = (char *)memory + buffer->offset_B;
   return AGX_OK;
}

void agx_buffer_get_info(struct agx_buffer *buffer, struct agx_buffer_info *out_info)
{
   const struct agx_buffer_info info = {.size_B = buffer->size_B, .address = buffer->address};
   agx_info_write(out_info, &info, sizeof(info));
}

/* ---- views -------------------------------------------------------------- */

agx_status agx_buffer_init_view(struct agx_buffer *view, const struct agx_object_type *type,
                                struct agx_buffer *parent, uint64_t offset_B, uint64_t size_B,
                                uint32_t flags, const char *label)
{
   if (offset_B > parent->size_B || size_B > parent->size_B - offset_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: a view of %llu bytes at %llu of %llu", parent->label,
                      (unsigned long long)size_B, (unsigned long long)offset_B,
                      (unsigned long long)parent->size_B);
   agx_object_init(&view->object, type);
   agx_retain(parent);
   view->device = parent->device;
   view->bo = parent->bo;
   view->parent = parent;
   view->offset_B = parent->offset_B + offset_B;
   view->size_B = size_B;
   view->address = parent->address + offset_B;
   view->flags = parent->flags | flags;
   set_label(view, label ? label : parent->label);
   return AGX_OK;
}

void agx_buffer_fini_view(struct agx_buffer *view)
{
   agx_release(view->parent);
}
