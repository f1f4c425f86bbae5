/* SPDX-License-Identifier: MIT
 *
 * Images of a manifest on the Vulkan side: two-dimensional ones, as the corpus has them.
 */
#include <string.h>

#include "agx/format.h"
#include "base/util.h"
#include "vulkan_impl.h"

#define MAX_LEVELS 16

bool vkbench_is_image(const struct agx_manifest_resource *desc)
{
   return desc->type == AGX_MANIFEST_STORAGE_IMAGE || desc->type == AGX_MANIFEST_SAMPLED_IMAGE;
}

/* Vulkan's numbers of the formats that the corpus uses. */
static const struct {
   const char *name;
   VkFormat number;
} vk_formats[] = {
   {"R8_UINT", VK_FORMAT_R8_UINT},
   {"R32_UINT", VK_FORMAT_R32_UINT},
   {"R32_SFLOAT", VK_FORMAT_R32_SFLOAT},
   {"R8G8B8A8_UNORM", VK_FORMAT_R8G8B8A8_UNORM},
   {"R16G16B16A16_SFLOAT", VK_FORMAT_R16G16B16A16_SFLOAT},
   {"R32G32B32A32_SFLOAT", VK_FORMAT_R32G32B32A32_SFLOAT},
};

static agx_status find_format(const char *name, VkFormat *out_number, uint32_t *out_texel_B)
{
   const struct agx_format *format = agx_format_find(name);
   for (size_t i = 0; format && i < AGX_COUNT(vk_formats); i++) {
      if (strcmp(vk_formats[i].name, format->vk_name) != 0)
         continue;
      *out_number = vk_formats[i].number;
      *out_texel_B = format->texel_B;
      return AGX_OK;
   }
   return AGX_FAIL(AGX_UNIMPLEMENTED, "image format %s is not compared", name);
}

static agx_status create_memory(struct vkbench_device *device, struct vkbench_resource *out)
{
   VkMemoryRequirements needs;
   vkGetImageMemoryRequirements(device->device, out->image, &needs);
   if (!(needs.memoryTypeBits >> device->memory_type & 1))
      return AGX_FAIL(AGX_UNIMPLEMENTED, "vulkan: images don't fit into memory type %u",
                      device->memory_type);
   const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                        .allocationSize = needs.size,
                                        .memoryTypeIndex = device->memory_type};
   VK_TRY(vkAllocateMemory(device->device, &memory, NULL, &out->image_memory));
   VK_TRY(vkBindImageMemory(device->device, out->image, out->image_memory, 0));
   return AGX_OK;
}

static agx_status create_view(struct vkbench_device *device, VkFormat format, uint32_t levels,
                              struct vkbench_resource *out)
{
   const VkImageViewCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
      .image = out->image,
      .viewType = VK_IMAGE_VIEW_TYPE_2D,
      .format = format,
      .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, levels, 0, 1}};
   VK_TRY(vkCreateImageView(device->device, &info, NULL, &out->view));
   return AGX_OK;
}

/* As `agx run` samples them. */
static agx_status create_sampler(struct vkbench_device *device,
                                 const struct agx_manifest_resource *desc,
                                 struct vkbench_resource *out)
{
   const VkSamplerAddressMode edge = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE;
   const VkFilter filter = desc->linear_filter ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
   const VkSamplerCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                     .magFilter = filter,
                                     .minFilter = filter,
                                     .mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST,
                                     .addressModeU = edge,
                                     .addressModeV = edge,
                                     .addressModeW = edge,
                                     .maxLod = (float)desc->levels};
   VK_TRY(vkCreateSampler(device->device, &info, NULL, &out->sampler));
   return AGX_OK;
}

agx_status vkbench_image_create(struct vkbench_device *device,
                                const struct agx_manifest_resource *desc,
                                struct vkbench_resource *out)
{
   bool is_storage = desc->type == AGX_MANIFEST_STORAGE_IMAGE;
   VkFormat format = VK_FORMAT_UNDEFINED;
   if (!desc->levels || desc->levels > MAX_LEVELS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "image %u: %u levels", desc->id, desc->levels);
   if (desc->depth)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "image %u: images of 3 dimensions are not compared",
                      desc->id);
   AGX_TRY(find_format(desc->format, &format, &out->texel_B));
   const VkImageCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
      .imageType = VK_IMAGE_TYPE_2D,
      .format = format,
      .extent = {desc->width, desc->height, 1},
      .mipLevels = desc->levels,
      .arrayLayers = 1,
      .samples = VK_SAMPLE_COUNT_1_BIT,
      .tiling = VK_IMAGE_TILING_OPTIMAL,
      .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
               (is_storage ? VK_IMAGE_USAGE_STORAGE_BIT : VK_IMAGE_USAGE_SAMPLED_BIT)};
   VK_TRY(vkCreateImage(device->device, &info, NULL, &out->image));
   AGX_TRY(create_memory(device, out));
   AGX_TRY(create_view(device, format, is_storage ? 1 : desc->levels, out));
   AGX_TRY(create_sampler(device, desc, out));
   for (uint32_t level = 0; level < desc->levels; level++)
      out->size_B += (uint64_t)AGX_MAX(desc->width >> level, 1u) *
                     AGX_MAX(desc->height >> level, 1u) * out->texel_B;
   return AGX_OK;
}

void vkbench_image_destroy(struct vkbench_device *device, struct vkbench_resource *image)
{
   vkDestroySampler(device->device, image->sampler, NULL);
   vkDestroyImageView(device->device, image->view, NULL);
   vkDestroyImage(device->device, image->image, NULL);
   vkFreeMemory(device->device, image->image_memory, NULL);
}

static void record_layout(VkCommandBuffer commands, VkImage image)
{
   const VkImageMemoryBarrier barrier = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
      .dstAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
      .newLayout = VK_IMAGE_LAYOUT_GENERAL,
      .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .image = image,
      .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, 1}};
   vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

void vkbench_image_record_copy(VkCommandBuffer commands, const struct agx_manifest_resource *desc,
                               const struct vkbench_resource *image, bool to_image)
{
   VkBufferImageCopy copies[MAX_LEVELS];
   uint64_t offset = 0;
   for (uint32_t level = 0; level < desc->levels; level++) {
      uint32_t width = AGX_MAX(desc->width >> level, 1u);
      uint32_t height = AGX_MAX(desc->height >> level, 1u);
      copies[level] =
         (VkBufferImageCopy){.bufferOffset = offset,
                             .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
                             .imageExtent = {width, height, 1}};
      offset += (uint64_t)width * height * image->texel_B;
   }
   if (to_image) {
      record_layout(commands, image->image);
      vkCmdCopyBufferToImage(commands, image->buffer, image->image, VK_IMAGE_LAYOUT_GENERAL,
                             desc->levels, copies);
   } else {
      vkCmdCopyImageToBuffer(commands, image->image, VK_IMAGE_LAYOUT_GENERAL, image->buffer,
                             desc->levels, copies);
   }
}
