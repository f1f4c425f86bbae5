/* SPDX-License-Identifier: MIT
 *
 * Creation of images: with memory of their own, or in a buffer's.
 */
#include <stdio.h>

#include "base/util.h"
#include "hal/memory/buffer.h"
#include "hal/memory/image.h"

static agx_status allocate(struct agx_image *image, const char *label)
{
   uint32_t flags = (image->flags & AGX_IMAGE_HOST_READ ? AGXW_BO_CACHED : 0) |
                    (image->flags & AGX_IMAGE_GPU_READ_ONLY ? AGXW_BO_READ_ONLY : 0);
   AGX_TRY(agxw_bo_create(agx_context_of(image->device)->winsys, image->layout.size_B, 0, flags,
                          label ? label : "image", &image->bo));
   image->address = agxw_bo_va(image->bo);
   return AGX_OK;
}

/* Takes a part of a buffer for the image's memory. */
static agx_status place(struct agx_image *image, struct agx_buffer *memory, uint64_t offset_B)
{
   if (memory->device != image->device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "image: memory %s is of another device", memory->label);
   if (memory->is_reservation || memory->is_host_only || memory->storage)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "image: memory %s, whose own memory comes and goes, or is out of the GPU's "
                      "reach; take a buffer of agx_buffer_create",
                      memory->label);
   if ((memory->address + offset_B) % agx_image_alignment(image))
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "image: offset_B %llu in %s; it must be a multiple of %u",
                      (unsigned long long)offset_B, memory->label, agx_image_alignment(image));
   if (memory->flags & AGX_BUFFER_GPU_READ_ONLY && !(image->flags & AGX_IMAGE_GPU_READ_ONLY))
      return AGX_FAIL(AGX_PERMISSION_DENIED,
                      "image: memory %s is AGX_BUFFER_GPU_READ_ONLY; the image must be "
                      "AGX_IMAGE_GPU_READ_ONLY, too",
                      memory->label);
   if (!agx_range_fits(offset_B, image->layout.size_B, memory->size_B))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "image: %llu bytes at offset_B %llu of %s, which has %llu",
                      (unsigned long long)image->layout.size_B, (unsigned long long)offset_B,
                      memory->label, (unsigned long long)memory->size_B);
   agx_retain(memory);
   image->memory = memory;
   image->bo = memory->bo;
   image->bo_offset_B = memory->offset_B + offset_B;
   image->address = memory->address + offset_B;
   return AGX_OK;
}

agx_status agx_image_create(struct agx_device *device, const struct agx_image_desc *desc,
                            struct agx_image **out_image)
{
   struct agx_image_desc read;
   struct agx_image draft = {0};
   *out_image = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_image_resolve(&draft, desc, &read));
   struct agx_image *image = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*image));
   if (!image)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "image: out of host memory");
   *image = draft;
   agx_object_init(&image->object, &agx_image_type);
   agx_retain(device);
   image->device = device;
   snprintf(image->label, sizeof(image->label), "%s", read.label ? read.label : "image");
   agx_status status =
      read.memory ? place(image, read.memory, read.offset_B) : allocate(image, read.label);
   if (status != AGX_OK) {
      agx_release(image);
      return status;
   }
   agx_image_describe(image);
   *out_image = image;
   return AGX_OK;
}
