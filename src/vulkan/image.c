/* SPDX-License-Identifier: MIT
 *
 * Images: Vulkan's have their memory from an allocation of the application's, so the HAL's image is
 * made when that is bound; views are what a binding says of it.
 */
#include "vulkan/image.h"

#include <string.h>

#include "vulkan/format.h"
#include "vulkan/memory.h"

/* ---- images ------------------------------------------------------------- */

/* Images of these formats may be used for atomics wherever they are storage images. */
static bool has_atomics(const VkImageCreateInfo *info)
{
   return info->usage & VK_IMAGE_USAGE_STORAGE_BIT && info->mipLevels == 1 &&
          (info->format == VK_FORMAT_R32_UINT || info->format == VK_FORMAT_R32_SINT);
}

struct agx_image_desc agxvk_image_desc(const VkImageCreateInfo *info)
{
   static const uint32_t types[] = {AGX_IMAGE_1D, AGX_IMAGE_2D, AGX_IMAGE_3D};
   const struct agxvk_format *format = agxvk_format_find(info->format);
   const bool is_3d = info->imageType == VK_IMAGE_TYPE_3D;
   return (struct agx_image_desc){
      .size = sizeof(struct agx_image_desc),
      .type = types[info->imageType],
      .format = format ? format->name : NULL,
      .width = info->extent.width,
      .height = info->extent.height,
      .depth = is_3d ? info->extent.depth : info->arrayLayers,
      .levels = info->mipLevels,
      .samples = info->samples,
      .flags = (info->tiling == VK_IMAGE_TILING_LINEAR ? AGX_IMAGE_LINEAR : 0u) |
               (has_atomics(info) ? AGX_IMAGE_ATOMICS : 0u),
   };
}

/* Fills in what an image needs of memory. */
static agx_status describe(struct agxvk_device *device, const VkImageCreateInfo *info,
                           struct agxvk_image *image)
{
   struct agx_image_info needs = {.size = sizeof(needs)};
   image->desc = agxvk_image_desc(info);
   image->format = agxvk_format_find(info->format);
   image->layers = info->arrayLayers;
   agx_status status = agx_image_get_requirements(device->core, &image->desc, &needs);
   image->size_B = needs.size_B;
   image->align_B = needs.align_B;
   image->row_B = needs.row_B;
   image->layer_B = needs.layer_B;
   return status;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateImage(VkDevice device_handle,
                                                 const VkImageCreateInfo *pCreateInfo,
                                                 const VkAllocationCallbacks *pAllocator,
                                                 VkImage *pImage)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_image *image =
      agxvk_object_create(device, pAllocator, sizeof(*image), VK_OBJECT_TYPE_IMAGE);
   if (!image)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   agx_status status = describe(device, pCreateInfo, image);
   if (status != AGX_OK) {
      agxvk_object_destroy(device, pAllocator, image);
      return agxvk_memory_result(device, status);
   }
   *pImage = agxvk_image_handle(image);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyImage(VkDevice device, VkImage image_handle,
                                              const VkAllocationCallbacks *pAllocator)
{
   struct agxvk_image *image = agxvk_image_of(image_handle);
   if (!image)
      return;
   agx_release(image->core);
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, image);
}

/* ---- memory ------------------------------------------------------------- */

static void write_requirements(const struct agxvk_image *image, VkMemoryRequirements2 *out)
{
   out->memoryRequirements = (VkMemoryRequirements){
      .size = image->size_B,
      .alignment = image->align_B,
      .memoryTypeBits = AGXVK_MEMORY_TYPE_BITS,
   };
   VkMemoryDedicatedRequirements *dedicated =
      (void *)agxvk_find(out->pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS);
   if (dedicated)
      dedicated->prefersDedicatedAllocation = dedicated->requiresDedicatedAllocation = VK_FALSE;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetImageMemoryRequirements(VkDevice device, VkImage image,
                                                            VkMemoryRequirements *pOut)
{
   VkMemoryRequirements2 out = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
   write_requirements(agxvk_image_of(image), &out);
   *pOut = out.memoryRequirements;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetImageMemoryRequirements2(
   VkDevice device, const VkImageMemoryRequirementsInfo2 *pInfo, VkMemoryRequirements2 *pOut)
{
   write_requirements(agxvk_image_of(pInfo->image), pOut);
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetDeviceImageMemoryRequirements(
   VkDevice device, const VkDeviceImageMemoryRequirements *pInfo, VkMemoryRequirements2 *pOut)
{
   struct agxvk_image image = {0};
   if (describe(agxvk_device_of(device), pInfo->pCreateInfo, &image) == AGX_OK)
      write_requirements(&image, pOut);
}

static VkResult bind(struct agxvk_device *device, struct agxvk_image *image,
                     const struct agxvk_memory *memory, uint64_t offset_B)
{
   image->desc.memory = memory->core;
   image->desc.offset_B = offset_B;
   agx_status status = agx_image_create(device->core, &image->desc, &image->core);
   image->object.core = image->core;
   return agxvk_memory_result(device, status);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_BindImageMemory(VkDevice device, VkImage image,
                                                     VkDeviceMemory memory, VkDeviceSize offset)
{
   return bind(agxvk_device_of(device), agxvk_image_of(image), agxvk_memory_of(memory), offset);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_BindImageMemory2(VkDevice device, uint32_t count,
                                                      const VkBindImageMemoryInfo *pInfos)
{
   VkResult result = VK_SUCCESS;
   for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++)
      result =
         agxvk_BindImageMemory(device, pInfos[i].image, pInfos[i].memory, pInfos[i].memoryOffset);
   return result;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetImageSubresourceLayout(VkDevice device, VkImage image_handle,
                                                           const VkImageSubresource *pSubresource,
                                                           VkSubresourceLayout *pLayout)
{
   const struct agxvk_image *image = agxvk_image_of(image_handle);
   *pLayout = (VkSubresourceLayout){
      .offset = pSubresource->arrayLayer * image->layer_B,
      .size = image->desc.type == AGX_IMAGE_3D ? image->layer_B * image->desc.depth
                                               : image->row_B * image->desc.height,
      .rowPitch = image->row_B,
      .arrayPitch = image->layer_B,
      .depthPitch = image->layer_B,
   };
}

/* ---- sparse images, of which there are none ----------------------------- */

VKAPI_ATTR void VKAPI_CALL agxvk_GetImageSparseMemoryRequirements(
   VkDevice device, VkImage image, uint32_t *pCount, VkSparseImageMemoryRequirements *pOut)
{
   *pCount = 0;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetImageSparseMemoryRequirements2(
   VkDevice device, const VkImageSparseMemoryRequirementsInfo2 *pInfo, uint32_t *pCount,
   VkSparseImageMemoryRequirements2 *pOut)
{
   *pCount = 0;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetDeviceImageSparseMemoryRequirements(
   VkDevice device, const VkDeviceImageMemoryRequirements *pInfo, uint32_t *pCount,
   VkSparseImageMemoryRequirements2 *pOut)
{
   *pCount = 0;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceSparseImageFormatProperties(
   VkPhysicalDevice physicalDevice, VkFormat format, VkImageType type,
   VkSampleCountFlagBits samples, VkImageUsageFlags usage, VkImageTiling tiling, uint32_t *pCount,
   VkSparseImageFormatProperties *pOut)
{
   *pCount = 0;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceSparseImageFormatProperties2(
   VkPhysicalDevice physicalDevice, const VkPhysicalDeviceSparseImageFormatInfo2 *pInfo,
   uint32_t *pCount, VkSparseImageFormatProperties2 *pOut)
{
   *pCount = 0;
}

/* ---- views -------------------------------------------------------------- */

static char swizzle_of(VkComponentSwizzle swizzle, char identity)
{
   static const char names[] = {0, '0', '1', 'r', 'g', 'b', 'a'};
   return swizzle == VK_COMPONENT_SWIZZLE_IDENTITY ? identity : names[swizzle];
}

static void write_swizzle(const VkComponentMapping *from, char *to)
{
   const char swizzle[5] = {swizzle_of(from->r, 'r'), swizzle_of(from->g, 'g'),
                            swizzle_of(from->b, 'b'), swizzle_of(from->a, 'a'), 0};
   if (strcmp(swizzle, "rgba") != 0)
      memcpy(to, swizzle, sizeof(swizzle));
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateImageView(VkDevice device_handle,
                                                     const VkImageViewCreateInfo *pCreateInfo,
                                                     const VkAllocationCallbacks *pAllocator,
                                                     VkImageView *pView)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   const struct agxvk_image *image = agxvk_image_of(pCreateInfo->image);
   const VkImageSubresourceRange *range = &pCreateInfo->subresourceRange;
   const struct agxvk_format *format = agxvk_format_find(pCreateInfo->format);
   struct agxvk_image_view *view =
      agxvk_object_create(device, pAllocator, sizeof(*view), VK_OBJECT_TYPE_IMAGE_VIEW);
   if (!view)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   view->image = image->core;
   view->first_level = range->baseMipLevel;
   view->level_count = range->levelCount == VK_REMAINING_MIP_LEVELS
                          ? image->desc.levels - range->baseMipLevel
                          : range->levelCount;
   if (image->desc.type != AGX_IMAGE_3D) {
      view->first_layer = range->baseArrayLayer;
      view->layer_count = range->layerCount == VK_REMAINING_ARRAY_LAYERS
                             ? image->layers - range->baseArrayLayer
                             : range->layerCount;
   }
   view->format = format == image->format ? NULL : format->name;
   write_swizzle(&pCreateInfo->components, view->swizzle);
   *pView = agxvk_image_view_handle(view);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyImageView(VkDevice device, VkImageView view,
                                                  const VkAllocationCallbacks *pAllocator)
{
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, agxvk_image_view_of(view));
}

/* ---- samplers ----------------------------------------------------------- */

static uint32_t wrap_of(VkSamplerAddressMode mode)
{
   static const uint32_t wraps[] = {
      [VK_SAMPLER_ADDRESS_MODE_REPEAT] = AGX_WRAP_REPEAT,
      [VK_SAMPLER_ADDRESS_MODE_MIRRORED_REPEAT] = AGX_WRAP_MIRROR,
      [VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE] = AGX_WRAP_EDGE,
      [VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER] = AGX_WRAP_BORDER,
      [VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE] = AGX_WRAP_MIRROR_ONCE,
   };
   return wraps[mode];
}

static uint32_t border_of(VkBorderColor color)
{
   switch (color) {
   case VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE:
   case VK_BORDER_COLOR_INT_OPAQUE_WHITE:
      return AGX_BORDER_OPAQUE_WHITE;
   case VK_BORDER_COLOR_FLOAT_OPAQUE_BLACK:
   case VK_BORDER_COLOR_INT_OPAQUE_BLACK:
      return AGX_BORDER_OPAQUE_BLACK;
   default:
      return AGX_BORDER_TRANSPARENT_BLACK;
   }
}

/* The HAL's enumeration counts in the same order, from 1 on. */
static uint32_t compare_of(const VkSamplerCreateInfo *info)
{
   return info->compareEnable ? AGX_COMPARE_NEVER + (uint32_t)info->compareOp : AGX_COMPARE_OFF;
}

static uint32_t anisotropy_of(const VkSamplerCreateInfo *info)
{
   uint32_t samples = 1;
   while (info->anisotropyEnable && samples < 16 && (float)(2 * samples) <= info->maxAnisotropy)
      samples *= 2;
   return samples;
}

/* The HAL takes a largest level of 0 for none. */
#define ALMOST_LEVEL_0 0.001f

static struct agx_sampler_desc sampler_desc(const VkSamplerCreateInfo *info)
{
   return (struct agx_sampler_desc){
      .size = sizeof(struct agx_sampler_desc),
      .magnify = info->magFilter == VK_FILTER_LINEAR ? AGX_FILTER_LINEAR : AGX_FILTER_NEAREST,
      .minify = info->minFilter == VK_FILTER_LINEAR ? AGX_FILTER_LINEAR : AGX_FILTER_NEAREST,
      .between_levels =
         info->mipmapMode == VK_SAMPLER_MIPMAP_MODE_LINEAR ? AGX_FILTER_LINEAR : AGX_FILTER_NEAREST,
      .wrap = {wrap_of(info->addressModeU), wrap_of(info->addressModeV),
               wrap_of(info->addressModeW)},
      .border = border_of(info->borderColor),
      .max_anisotropy = anisotropy_of(info),
      .min_lod = AGXVK_MAX(info->minLod, 0.0f), /* there are no levels below */
      .max_lod = info->maxLod > 0 ? info->maxLod : ALMOST_LEVEL_0,
      .texel_coordinates = info->unnormalizedCoordinates,
      .compare = compare_of(info),
   };
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateSampler(VkDevice device_handle,
                                                   const VkSamplerCreateInfo *pCreateInfo,
                                                   const VkAllocationCallbacks *pAllocator,
                                                   VkSampler *pSampler)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   const struct agx_sampler_desc desc = sampler_desc(pCreateInfo);
   struct agxvk_sampler *sampler =
      agxvk_object_create(device, pAllocator, sizeof(*sampler), VK_OBJECT_TYPE_SAMPLER);
   if (!sampler)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   agx_status status = agx_sampler_create(device->core, &desc, &sampler->core);
   if (status != AGX_OK) {
      agxvk_object_destroy(device, pAllocator, sampler);
      return agxvk_memory_result(device, status);
   }
   *pSampler = agxvk_sampler_handle(sampler);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroySampler(VkDevice device, VkSampler sampler_handle,
                                                const VkAllocationCallbacks *pAllocator)
{
   struct agxvk_sampler *sampler = agxvk_sampler_of(sampler_handle);
   if (!sampler)
      return;
   agx_release(sampler->core);
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, sampler);
}

/* Conversions of YCbCr are a feature that is not announced. */
VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateSamplerYcbcrConversion(
   VkDevice device, const VkSamplerYcbcrConversionCreateInfo *pCreateInfo,
   const VkAllocationCallbacks *pAllocator, VkSamplerYcbcrConversion *pYcbcrConversion)
{
   return VK_ERROR_FEATURE_NOT_PRESENT;
}

VKAPI_ATTR void VKAPI_CALL
agxvk_DestroySamplerYcbcrConversion(VkDevice device, VkSamplerYcbcrConversion ycbcrConversion,
                                    const VkAllocationCallbacks *pAllocator)
{
}
