/* SPDX-License-Identifier: MIT
 *
 * Transfers: fills, updates, copies and clears, each region a command of the HAL's.
 */
#include "vulkan/command_buffer.h"
#include "vulkan/format.h"
#include "vulkan/image.h"
#include "vulkan/memory.h"

/* ---- buffers ------------------------------------------------------------ */

VKAPI_ATTR void VKAPI_CALL agxvk_CmdFillBuffer(VkCommandBuffer commandBuffer, VkBuffer buffer,
                                               VkDeviceSize offset, VkDeviceSize size,
                                               uint32_t data)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   struct agx_command_buffer *current = agxvk_commands(commands);
   struct agx_buffer_ref target = agxvk_buffer_ref(agxvk_buffer_of(buffer), offset, size);
   target.length_B &= ~3ull;
   if (current)
      agxvk_record(commands, agx_cmd_fill(current, target, &data, sizeof(data)));
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdUpdateBuffer(VkCommandBuffer commandBuffer, VkBuffer buffer,
                                                 VkDeviceSize offset, VkDeviceSize size,
                                                 const void *pData)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   struct agx_command_buffer *current = agxvk_commands(commands);
   if (current)
      agxvk_record(
         commands,
         agx_cmd_update(current, pData, agxvk_buffer_ref(agxvk_buffer_of(buffer), offset, size)));
}

static void copy_buffer(VkCommandBuffer commandBuffer, VkBuffer source, VkBuffer target,
                        VkDeviceSize source_offset, VkDeviceSize target_offset, VkDeviceSize size)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   struct agx_command_buffer *current = agxvk_commands(commands);
   if (current)
      agxvk_record(commands,
                   agx_cmd_copy(current,
                                agxvk_buffer_ref(agxvk_buffer_of(source), source_offset, size),
                                agxvk_buffer_ref(agxvk_buffer_of(target), target_offset, size)));
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdCopyBuffer(VkCommandBuffer commandBuffer, VkBuffer srcBuffer,
                                               VkBuffer dstBuffer, uint32_t regionCount,
                                               const VkBufferCopy *pRegions)
{
   for (uint32_t i = 0; i < regionCount; i++)
      copy_buffer(commandBuffer, srcBuffer, dstBuffer, pRegions[i].srcOffset, pRegions[i].dstOffset,
                  pRegions[i].size);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdCopyBuffer2(VkCommandBuffer commandBuffer,
                                                const VkCopyBufferInfo2 *pInfo)
{
   for (uint32_t i = 0; i < pInfo->regionCount; i++)
      copy_buffer(commandBuffer, pInfo->srcBuffer, pInfo->dstBuffer, pInfo->pRegions[i].srcOffset,
                  pInfo->pRegions[i].dstOffset, pInfo->pRegions[i].size);
}

/* ---- images ------------------------------------------------------------- */

/* The HAL counts slices of 3D images and layers of others the same. */
static struct agx_image_region region_of(const struct agxvk_image *image,
                                         const VkImageSubresourceLayers *layers, VkOffset3D offset,
                                         VkExtent3D extent)
{
   const bool is_3d = image->desc.type == AGX_IMAGE_3D;
   const uint32_t count = layers->layerCount == VK_REMAINING_ARRAY_LAYERS
                             ? image->layers - layers->baseArrayLayer
                             : layers->layerCount;
   return (struct agx_image_region){
      .level = layers->mipLevel,
      .x = (uint32_t)offset.x,
      .y = (uint32_t)offset.y,
      .z = is_3d ? (uint32_t)offset.z : layers->baseArrayLayer,
      .width = extent.width,
      .height = extent.height,
      .depth = is_3d ? extent.depth : count,
   };
}

static void copy_image(struct agxvk_command_buffer *commands, const struct agxvk_image *source,
                       const struct agxvk_image *target, const VkImageCopy *copy)
{
   struct agx_command_buffer *current = agxvk_commands(commands);
   struct agx_image_region from =
      region_of(source, &copy->srcSubresource, copy->srcOffset, copy->extent);
   const struct agx_image_region to =
      region_of(target, &copy->dstSubresource, copy->dstOffset, copy->extent);
   /* Slices of a 3D image may become layers of another, and the other way round. */
   from.depth = AGXVK_MAX(from.depth, to.depth);
   if (current)
      agxvk_record(commands, agx_cmd_copy_image(current, source->core, &from, target->core, &to));
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdCopyImage(VkCommandBuffer commandBuffer, VkImage srcImage,
                                              VkImageLayout srcLayout, VkImage dstImage,
                                              VkImageLayout dstLayout, uint32_t regionCount,
                                              const VkImageCopy *pRegions)
{
   for (uint32_t i = 0; i < regionCount; i++)
      copy_image(agxvk_command_buffer_of(commandBuffer), agxvk_image_of(srcImage),
                 agxvk_image_of(dstImage), &pRegions[i]);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdCopyImage2(VkCommandBuffer commandBuffer,
                                               const VkCopyImageInfo2 *pInfo)
{
   for (uint32_t i = 0; i < pInfo->regionCount; i++) {
      const VkImageCopy2 *region = &pInfo->pRegions[i];
      const VkImageCopy copy = {region->srcSubresource, region->srcOffset, region->dstSubresource,
                                region->dstOffset, region->extent};
      copy_image(agxvk_command_buffer_of(commandBuffer), agxvk_image_of(pInfo->srcImage),
                 agxvk_image_of(pInfo->dstImage), &copy);
   }
}

static void copy_texels(VkCommandBuffer commandBuffer, VkBuffer buffer, VkImage image_handle,
                        const VkBufferImageCopy *copy, bool to_image)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   struct agx_command_buffer *current = agxvk_commands(commands);
   const struct agxvk_image *image = agxvk_image_of(image_handle);
   const struct agx_image_region region =
      region_of(image, &copy->imageSubresource, copy->imageOffset, copy->imageExtent);
   const struct agx_texels texels = {
      .ref = agxvk_buffer_ref(agxvk_buffer_of(buffer), copy->bufferOffset, VK_WHOLE_SIZE),
      .row_texels = copy->bufferRowLength,
      .slice_rows = copy->bufferImageHeight,
   };
   if (!current)
      return;
   agxvk_record(commands, to_image
                             ? agx_cmd_copy_to_image(current, &texels, image->core, &region)
                             : agx_cmd_copy_from_image(current, image->core, &region, &texels));
}

static VkBufferImageCopy first_form(const VkBufferImageCopy2 *copy)
{
   return (VkBufferImageCopy){copy->bufferOffset,      copy->bufferRowLength,
                              copy->bufferImageHeight, copy->imageSubresource,
                              copy->imageOffset,       copy->imageExtent};
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdCopyBufferToImage(VkCommandBuffer commandBuffer,
                                                      VkBuffer srcBuffer, VkImage dstImage,
                                                      VkImageLayout layout, uint32_t regionCount,
                                                      const VkBufferImageCopy *pRegions)
{
   for (uint32_t i = 0; i < regionCount; i++)
      copy_texels(commandBuffer, srcBuffer, dstImage, &pRegions[i], true);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdCopyBufferToImage2(VkCommandBuffer commandBuffer,
                                                       const VkCopyBufferToImageInfo2 *pInfo)
{
   for (uint32_t i = 0; i < pInfo->regionCount; i++) {
      const VkBufferImageCopy copy = first_form(&pInfo->pRegions[i]);
      copy_texels(commandBuffer, pInfo->srcBuffer, pInfo->dstImage, &copy, true);
   }
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdCopyImageToBuffer(VkCommandBuffer commandBuffer,
                                                      VkImage srcImage, VkImageLayout layout,
                                                      VkBuffer dstBuffer, uint32_t regionCount,
                                                      const VkBufferImageCopy *pRegions)
{
   for (uint32_t i = 0; i < regionCount; i++)
      copy_texels(commandBuffer, dstBuffer, srcImage, &pRegions[i], false);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdCopyImageToBuffer2(VkCommandBuffer commandBuffer,
                                                       const VkCopyImageToBufferInfo2 *pInfo)
{
   for (uint32_t i = 0; i < pInfo->regionCount; i++) {
      const VkBufferImageCopy copy = first_form(&pInfo->pRegions[i]);
      copy_texels(commandBuffer, pInfo->dstBuffer, pInfo->srcImage, &copy, false);
   }
}

/* ---- clears ------------------------------------------------------------- */

static uint32_t level_side(uint32_t side, uint32_t level)
{
   return AGXVK_MAX(side >> level, 1u);
}

static void clear_range(struct agxvk_command_buffer *commands, const struct agxvk_image *image,
                        const VkImageSubresourceRange *range, const union agx_color *color)
{
   const bool is_3d = image->desc.type == AGX_IMAGE_3D;
   const uint32_t levels = range->levelCount == VK_REMAINING_MIP_LEVELS
                              ? image->desc.levels - range->baseMipLevel
                              : range->levelCount;
   const uint32_t layers = range->layerCount == VK_REMAINING_ARRAY_LAYERS
                              ? image->layers - range->baseArrayLayer
                              : range->layerCount;
   for (uint32_t i = 0; i < levels; i++) {
      struct agx_command_buffer *current = agxvk_commands(commands);
      const uint32_t level = range->baseMipLevel + i;
      const struct agx_image_region region = {
         .level = level,
         .z = is_3d ? 0 : range->baseArrayLayer,
         .width = level_side(image->desc.width, level),
         .height = level_side(image->desc.height, level),
         .depth = is_3d ? level_side(image->desc.depth, level) : layers,
      };
      if (current)
         agxvk_record(commands, agx_cmd_clear_image(current, image->core, &region, color));
   }
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdClearColorImage(VkCommandBuffer commandBuffer, VkImage image,
                                                    VkImageLayout imageLayout,
                                                    const VkClearColorValue *pColor,
                                                    uint32_t rangeCount,
                                                    const VkImageSubresourceRange *pRanges)
{
   union agx_color color;
   for (uint32_t i = 0; i < 4; i++)
      color.uint32[i] = pColor->uint32[i];
   for (uint32_t i = 0; i < rangeCount; i++)
      clear_range(agxvk_command_buffer_of(commandBuffer), agxvk_image_of(image), &pRanges[i],
                  &color);
}
