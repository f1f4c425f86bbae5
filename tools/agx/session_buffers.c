/* SPDX-License-Identifier: MIT
 *
 * Buffers and images of a manifest: made for the kernel that will use them, and filled. Images are
 * copied from and to host memory that holds their levels one behind the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"
#include "session.h"

/* Atomics need a layout of their own, which the executable tells. */
static bool has_atomics(struct agx_executable *executable,
                        const struct agx_manifest_resource *resource)
{
   struct agx_executable_info info = {.size = sizeof(info)};
   agx_executable_get_info(executable, &info);
   for (uint32_t i = 0; i < info.binding_count; i++) {
      struct agx_binding_info binding = {.size = sizeof(binding)};
      if (agx_executable_get_binding(executable, i, &binding) == AGX_OK &&
          binding.set == resource->set && binding.binding == resource->binding)
         return binding.has_atomics;
   }
   return false;
}

static struct agx_image_region level_region(const struct agx_manifest_resource *resource,
                                            uint32_t level)
{
   uint32_t extent[3];
   agx_manifest_extent(resource, level, extent);
   return (struct agx_image_region){
      .level = level, .width = extent[0], .height = extent[1], .depth = extent[2]};
}

static uint64_t level_bytes(const struct agx_image_region *region, uint32_t texel_B)
{
   return (uint64_t)region->width * region->height * region->depth * texel_B;
}

static agx_status make_sampler(struct agx_session *session,
                               const struct agx_manifest_resource *resource,
                               struct agx_sampler **out_sampler)
{
   uint32_t filter = resource->linear_filter ? AGX_FILTER_LINEAR : AGX_FILTER_NEAREST;
   const struct agx_sampler_desc desc = {
      .size = sizeof(desc),
      .magnify = filter,
      .minify = filter,
      .between_levels = AGX_FILTER_NEAREST,
      .wrap = {AGX_WRAP_EDGE, AGX_WRAP_EDGE, AGX_WRAP_EDGE},
   };
   return agx_sampler_create(session->device, &desc, out_sampler);
}

/* An image as the executable needs it, with its memory allocated. */
static agx_status make_image(struct agx_session *session, struct agx_executable *executable,
                             const struct agx_manifest_resource *resource,
                             struct agx_session_buffer *out_buffer)
{
   const struct agx_image_desc desc = {
      .size = sizeof(desc),
      .type = resource->depth ? AGX_IMAGE_3D : AGX_IMAGE_2D,
      .format = resource->format,
      .width = resource->width,
      .height = resource->height,
      .depth = resource->depth,
      .levels = resource->levels,
      .flags = AGX_IMAGE_HOST_READ | (has_atomics(executable, resource) ? AGX_IMAGE_ATOMICS : 0u),
   };
   struct agx_image_info info = {.size = sizeof(info)};
   *out_buffer = (struct agx_session_buffer){0};
   AGX_TRY(agx_image_create(session->device, &desc, &out_buffer->image));
   AGX_TRY(make_sampler(session, resource, &out_buffer->sampler));
   agx_image_get_info(out_buffer->image, &info);
   out_buffer->size = agx_manifest_image_bytes(resource, info.texel_B);
   out_buffer->memory = calloc(1, out_buffer->size);
   return out_buffer->memory ? AGX_OK : AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for an image");
}

/* A buffer that stays mapped. */
static agx_status make_buffer(struct agx_session *session, uint64_t size, const char *label,
                              struct agx_session_buffer *out_buffer)
{
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = size, .flags = AGX_BUFFER_HOST_READ, .label = label};
   struct agx_buffer_info info = {.size = sizeof(info)};
   *out_buffer = (struct agx_session_buffer){.size = size};
   AGX_TRY(agx_buffer_create(session->device, &desc, &out_buffer->buffer));
   agx_buffer_get_info(out_buffer->buffer, &info);
   out_buffer->address = info.address;
   return agx_buffer_map(out_buffer->buffer, (void **)&out_buffer->memory);
}

agx_status agx_session_copy_image(const struct agx_manifest_resource *resource,
                                  const struct agx_session_buffer *buffer, bool to_image)
{
   struct agx_image_info info = {.size = sizeof(info)};
   uint8_t *at = buffer->memory;
   agx_image_get_info(buffer->image, &info);
   for (uint32_t level = 0; level < resource->levels; level++) {
      struct agx_image_region region = level_region(resource, level);
      if (to_image)
         AGX_TRY(agx_image_write(buffer->image, &region, at, 0, 0));
      else
         AGX_TRY(agx_image_read(buffer->image, &region, at, 0, 0));
      at += level_bytes(&region, info.texel_B);
   }
   return AGX_OK;
}

agx_status agx_session_make_buffers(struct agx_session *session, struct agx_executable *executable,
                                    const struct agx_manifest *manifest,
                                    struct agx_session_buffer *out_buffers)
{
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      const struct agx_manifest_resource *resource = &manifest->resources[i];
      const bool is_image = resource->type == AGX_MANIFEST_STORAGE_IMAGE ||
                            resource->type == AGX_MANIFEST_SAMPLED_IMAGE;
      char label[32];
      snprintf(label, sizeof(label), "buffer %u", resource->id);
      AGX_TRY(is_image ? make_image(session, executable, resource, &out_buffers[i])
                       : make_buffer(session, resource->size_B, label, &out_buffers[i]));
   }
   return AGX_OK;
}

struct addresses {
   const struct agx_manifest *manifest;
   const struct agx_session_buffer *buffers;
};

static uint64_t address_of(void *user, uint32_t id)
{
   const struct addresses *of = user;
   const struct agx_manifest_resource *resource = agx_manifest_find(of->manifest, id);
   return resource ? of->buffers[resource - of->manifest->resources].address : 0;
}

agx_status agx_session_fill_buffers(const struct agx_manifest *manifest,
                                    const struct agx_session_buffer *buffers,
                                    uint8_t push[AGX_MANIFEST_MAX_PUSH_B])
{
   struct addresses of = {manifest, buffers};
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      AGX_TRY(agx_manifest_fill_resource(manifest, &manifest->resources[i], buffers[i].memory,
                                         buffers[i].size, address_of, &of));
      if (buffers[i].image)
         AGX_TRY(agx_session_copy_image(&manifest->resources[i], &buffers[i], true));
   }
   memcpy(push, manifest->push, AGX_MANIFEST_MAX_PUSH_B);
   for (uint32_t i = 0; i < manifest->fixup_count; i++) {
      uint64_t address = address_of(&of, manifest->fixups[i].id);
      memcpy(push + manifest->fixups[i].offset_B, &address, sizeof(address));
   }
   return AGX_OK;
}

void agx_session_release_buffer(struct agx_session_buffer *buffer)
{
   agx_release(buffer->buffer);
   agx_release(buffer->sampler);
   if (buffer->image)
      free(buffer->memory);
   agx_release(buffer->image);
}
