/* SPDX-License-Identifier: MIT
 *
 * Formats, as applications ask about them: what the HAL says in Vulkan's words.
 */
#include "vulkan/format.h"

#include "vulkan/image.h"
#include "vulkan/memory.h"

const struct agxvk_format *agxvk_format_find(VkFormat format)
{
   for (uint32_t i = 0; i < agxvk_format_count; i++)
      if (agxvk_formats[i].format == format)
         return &agxvk_formats[i];
   return NULL;
}

/* ---- features ----------------------------------------------------------- */

static VkFormatFeatureFlags2 image_features(VkFormat format, const struct agx_format_info *info)
{
   VkFormatFeatureFlags2 features = VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT |
                                    VK_FORMAT_FEATURE_2_TRANSFER_SRC_BIT |
                                    VK_FORMAT_FEATURE_2_TRANSFER_DST_BIT;
   if (info->is_filterable)
      features |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
   if (info->is_storable && !info->is_srgb)
      features |= VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT |
                  VK_FORMAT_FEATURE_2_STORAGE_READ_WITHOUT_FORMAT_BIT |
                  VK_FORMAT_FEATURE_2_STORAGE_WRITE_WITHOUT_FORMAT_BIT;
   if (format == VK_FORMAT_R32_UINT || format == VK_FORMAT_R32_SINT)
      features |= VK_FORMAT_FEATURE_2_STORAGE_IMAGE_ATOMIC_BIT;
   return features;
}

static VkFormatFeatureFlags2 buffer_features(const struct agx_format_info *info)
{
   if (info->is_srgb)
      return 0;
   return VK_FORMAT_FEATURE_2_UNIFORM_TEXEL_BUFFER_BIT |
          (info->is_storable ? VK_FORMAT_FEATURE_2_STORAGE_TEXEL_BUFFER_BIT : 0);
}

static bool get_info(VkFormat format, struct agx_format_info *out)
{
   const struct agxvk_format *known = agxvk_format_find(format);
   *out = (struct agx_format_info){.size = sizeof(*out)};
   return known && agx_format_get_info(known->name, out) == AGX_OK;
}

static VkFormatProperties3 properties_of(VkFormat format)
{
   struct agx_format_info info;
   VkFormatProperties3 properties = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3};
   if (!get_info(format, &info))
      return properties;
   properties.optimalTilingFeatures = image_features(format, &info);
   properties.linearTilingFeatures = properties.optimalTilingFeatures;
   properties.bufferFeatures = buffer_features(&info);
   return properties;
}

/* The older flags are the lower bits. */
static VkFormatProperties first_form(const VkFormatProperties3 *properties)
{
   return (VkFormatProperties){
      .linearTilingFeatures = (VkFormatFeatureFlags)properties->linearTilingFeatures,
      .optimalTilingFeatures = (VkFormatFeatureFlags)properties->optimalTilingFeatures,
      .bufferFeatures = (VkFormatFeatureFlags)properties->bufferFeatures,
   };
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceFormatProperties(
   VkPhysicalDevice physicalDevice, VkFormat format, VkFormatProperties *pFormatProperties)
{
   const VkFormatProperties3 properties = properties_of(format);
   *pFormatProperties = first_form(&properties);
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceFormatProperties2(
   VkPhysicalDevice physicalDevice, VkFormat format, VkFormatProperties2 *pFormatProperties)
{
   VkFormatProperties3 properties = properties_of(format);
   pFormatProperties->formatProperties = first_form(&properties);
   VkFormatProperties3 *out =
      (void *)agxvk_find(pFormatProperties->pNext, VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3);
   if (!out)
      return;
   properties.pNext = out->pNext;
   *out = properties;
}

/* ---- images ------------------------------------------------------------- */

/* What an image of such a use must have of its format. */
static VkFormatFeatureFlags2 wanted(VkImageUsageFlags usage)
{
   VkFormatFeatureFlags2 features = 0;
   if (usage & VK_IMAGE_USAGE_SAMPLED_BIT)
      features |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT;
   if (usage & VK_IMAGE_USAGE_STORAGE_BIT)
      features |= VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT;
   if (usage & VK_IMAGE_USAGE_TRANSFER_SRC_BIT)
      features |= VK_FORMAT_FEATURE_2_TRANSFER_SRC_BIT;
   if (usage & VK_IMAGE_USAGE_TRANSFER_DST_BIT)
      features |= VK_FORMAT_FEATURE_2_TRANSFER_DST_BIT;
   return features;
}

#define ATTACHMENTS                                                                                \
   (VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT |            \
    VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT | VK_IMAGE_USAGE_INPUT_ATTACHMENT_BIT)
#define NOT_YET                                                                                    \
   (VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT |                    \
    VK_IMAGE_CREATE_SPARSE_ALIASED_BIT | VK_IMAGE_CREATE_PROTECTED_BIT |                           \
    VK_IMAGE_CREATE_DISJOINT_BIT)

static VkFormatFeatureFlags2 features_of(VkFormat format, VkImageTiling tiling)
{
   const VkFormatProperties3 properties = properties_of(format);
   return tiling == VK_IMAGE_TILING_LINEAR ? properties.linearTilingFeatures
                                           : properties.optimalTilingFeatures;
}

/* With extended usage, views of other formats may have what the image's has not: those whose texels
 * are as large. */
static VkFormatFeatureFlags2 features_of_views(const VkPhysicalDeviceImageFormatInfo2 *info)
{
   const struct agxvk_format *own = agxvk_format_find(info->format);
   VkFormatFeatureFlags2 features = 0;
   for (uint32_t i = 0; i < agxvk_format_count; i++)
      if (agxvk_formats[i].block_B == own->block_B)
         features |= features_of(agxvk_formats[i].format, info->tiling);
   return features;
}

static bool is_supported(const VkPhysicalDeviceImageFormatInfo2 *info)
{
   VkFormatFeatureFlags2 has = features_of(info->format, info->tiling);
   const VkFormatFeatureFlags2 wants = wanted(info->usage);
   if (has && info->flags & VK_IMAGE_CREATE_EXTENDED_USAGE_BIT)
      has |= features_of_views(info);
   return has && (has & wants) == wants && !(info->usage & ATTACHMENTS) &&
          !(info->flags & NOT_YET) && info->tiling <= VK_IMAGE_TILING_LINEAR;
}

/* Multisampled images are tiled 2D images of one level that kernels read. */
static VkSampleCountFlags sample_counts(const VkPhysicalDeviceImageFormatInfo2 *info)
{
   struct agx_format_info format;
   if (info->type != VK_IMAGE_TYPE_2D || info->tiling == VK_IMAGE_TILING_LINEAR ||
       info->usage & VK_IMAGE_USAGE_STORAGE_BIT ||
       info->flags & VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT || !get_info(info->format, &format) ||
       format.is_integer)
      return VK_SAMPLE_COUNT_1_BIT;
   return VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT;
}

static uint32_t level_count(uint32_t side)
{
   return 32 - (uint32_t)__builtin_clz(side);
}

/* Tiles are known to this driver alone: without modifiers, of which there are none here, others
 * understand rows. */
static bool write_external(const VkPhysicalDeviceImageFormatInfo2 *info,
                           VkImageFormatProperties2 *out)
{
   const VkPhysicalDeviceExternalImageFormatInfo *asked =
      agxvk_find(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO);
   VkExternalImageFormatProperties *external =
      (void *)agxvk_find(out->pNext, VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES);
   VkExternalMemoryProperties properties = {0};
   if (asked && asked->handleType) {
      properties = agxvk_external_memory(asked->handleType);
      if (!properties.externalMemoryFeatures)
         return false;
      if (info->tiling != VK_IMAGE_TILING_LINEAR) {
         if (asked->handleType != VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT)
            return false;
         properties.exportFromImportedHandleTypes = properties.compatibleHandleTypes =
            VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
      }
   }
   if (external)
      external->externalMemoryProperties = properties;
   return true;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetPhysicalDeviceImageFormatProperties2(
   VkPhysicalDevice physicalDevice, const VkPhysicalDeviceImageFormatInfo2 *pInfo,
   VkImageFormatProperties2 *pOut)
{
   const VkPhysicalDeviceLimits *limits = &agxvk_physical_device_of(physicalDevice)->core.limits;
   const bool is_3d = pInfo->type == VK_IMAGE_TYPE_3D, is_1d = pInfo->type == VK_IMAGE_TYPE_1D;
   const uint32_t side = is_3d ? limits->maxImageDimension3D : limits->maxImageDimension2D;
   pOut->imageFormatProperties = (VkImageFormatProperties){0};
   if (!is_supported(pInfo) || !write_external(pInfo, pOut))
      return VK_ERROR_FORMAT_NOT_SUPPORTED;
   const bool one_level = pInfo->tiling == VK_IMAGE_TILING_LINEAR;
   pOut->imageFormatProperties = (VkImageFormatProperties){
      .maxExtent = {side, is_1d ? 1 : side, is_3d ? side : 1},
      .maxMipLevels = one_level ? 1 : level_count(side),
      .maxArrayLayers = is_3d ? 1 : limits->maxImageArrayLayers,
      .sampleCounts = sample_counts(pInfo),
      .maxResourceSize = 1ull << 37,
   };
   return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetPhysicalDeviceImageFormatProperties(
   VkPhysicalDevice physicalDevice, VkFormat format, VkImageType type, VkImageTiling tiling,
   VkImageUsageFlags usage, VkImageCreateFlags flags, VkImageFormatProperties *pOut)
{
   const VkPhysicalDeviceImageFormatInfo2 info = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
      .format = format,
      .type = type,
      .tiling = tiling,
      .usage = usage,
      .flags = flags,
   };
   VkImageFormatProperties2 out = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
   VkResult result = agxvk_GetPhysicalDeviceImageFormatProperties2(physicalDevice, &info, &out);
   *pOut = out.imageFormatProperties;
   return result;
}
