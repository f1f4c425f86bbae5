/* SPDX-License-Identifier: MIT
 *
 * Device, buffers and images.
 */
#include "vk.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"

#define MAX_DEVICES    16
#define MAX_EXTENSIONS 512

static agx_status find_device(const char *name, struct vk_device *out)
{
   VkPhysicalDevice devices[MAX_DEVICES];
   VkPhysicalDeviceProperties properties = {.deviceName = "none"};
   uint32_t count = MAX_DEVICES;
   VK_TRY(vkEnumeratePhysicalDevices(out->instance, &count, devices));
   for (uint32_t i = 0; i < count; i++) {
      vkGetPhysicalDeviceProperties(devices[i], &properties);
      if (!strstr(properties.deviceName, name))
         continue;
      out->physical = devices[i];
      snprintf(out->name, sizeof(out->name), "%s", properties.deviceName);
      return AGX_OK;
   }
   return AGX_FAIL(AGX_NOT_FOUND, "no device is named like \"%s\" (there are %u, the last is %s)",
                   name, count, properties.deviceName);
}

static agx_status find_family(struct vk_device *device)
{
   VkQueueFamilyProperties families[8];
   uint32_t count = AGX_COUNT(families);
   vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, families);
   for (uint32_t i = 0; i < count; i++) {
      if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT))
         continue;
      device->family = i;
      return AGX_OK;
   }
   return AGX_FAIL(AGX_NOT_FOUND, "%s: no queue family computes", device->name);
}

static bool has_extension(const struct vk_device *device, const char *name)
{
   static VkExtensionProperties all[MAX_EXTENSIONS];
   uint32_t count = MAX_EXTENSIONS;
   if (vkEnumerateDeviceExtensionProperties(device->physical, NULL, &count, all) < 0)
      return false;
   for (uint32_t i = 0; i < count; i++)
      if (strcmp(all[i].extensionName, name) == 0)
         return true;
   return false;
}

/* VK_KHR_shader_maximal_reconvergence, which headers of Debian 12 lack. Kernels of tests/random
 * with operations between lanes ask for it: without it a device chooses which lanes meet. */
#define RECONVERGENCE      "VK_KHR_shader_maximal_reconvergence"
#define RECONVERGENCE_TYPE ((VkStructureType)1000434000)

struct reconvergence_features {
   VkStructureType sType;
   void *pNext;
   VkBool32 shaderMaximalReconvergence;
};

/* With every feature that the device has, but out-of-bounds checks only when asked for;
 * with them come the extensions of samplers and images. */
static agx_status make_device(struct vk_device *device, bool robust)
{
   static const char *const wished[] = {VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME,
                                        RECONVERGENCE};
   static const char *const extensions[] = {
      VK_EXT_ROBUSTNESS_2_EXTENSION_NAME,
      VK_EXT_CUSTOM_BORDER_COLOR_EXTENSION_NAME,
      VK_EXT_NON_SEAMLESS_CUBE_MAP_EXTENSION_NAME,
#ifdef VK_EXT_host_image_copy /* headers of Debian 12 lack it; only vkimages needs it */
      VK_EXT_HOST_IMAGE_COPY_EXTENSION_NAME,
#endif
   };
#ifdef VK_EXT_host_image_copy
   VkPhysicalDeviceHostImageCopyFeaturesEXT copies = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_IMAGE_COPY_FEATURES_EXT};
#endif
   VkPhysicalDeviceNonSeamlessCubeMapFeaturesEXT cubes = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_NON_SEAMLESS_CUBE_MAP_FEATURES_EXT,
#ifdef VK_EXT_host_image_copy
      .pNext = &copies,
#endif
   };
   VkPhysicalDeviceCustomBorderColorFeaturesEXT borders = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT, .pNext = &cubes};
   VkPhysicalDeviceRobustness2FeaturesEXT robustness = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT, .pNext = &borders};
   VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
   struct reconvergence_features lanes = {.sType = RECONVERGENCE_TYPE};
   VkPhysicalDeviceVulkan13Features v13 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
   VkPhysicalDeviceVulkan12Features v12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &v13};
   VkPhysicalDeviceVulkan11Features v11 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &v12};
   VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                         .pNext = &v11};
   for (size_t i = 0; robust && i < AGX_COUNT(extensions); i++)
      if (!has_extension(device, extensions[i]))
         return AGX_FAIL(AGX_NOT_FOUND, "%s: no %s", device->name, extensions[i]);
   const char *names[AGX_COUNT(extensions)];
   uint32_t count = 0;
   device->has_statistics = !robust && has_extension(device, wished[0]);
   if (robust) {
      memcpy(names, extensions, sizeof(extensions));
      count = AGX_COUNT(extensions);
      v13.pNext = &robustness;
   }
   if (device->has_statistics) {
      names[count++] = wished[0];
      v13.pNext = &executables;
   }
   if (!robust && has_extension(device, wished[1])) {
      names[count++] = wished[1];
      lanes.pNext = v13.pNext;
      v13.pNext = &lanes;
   }
   vkGetPhysicalDeviceFeatures2(device->physical, &features);
   if (!robust)
      features.features.robustBufferAccess = v13.robustImageAccess = VK_FALSE;
   const float priority = 1;
   const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueFamilyIndex = device->family,
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
   const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                    .pNext = &features,
                                    .queueCreateInfoCount = 1,
                                    .pQueueCreateInfos = &queue,
                                    .enabledExtensionCount = count,
                                    .ppEnabledExtensionNames = names};
   VK_TRY(vkCreateDevice(device->physical, &info, NULL, &device->device));
   vkGetDeviceQueue(device->device, device->family, 0, &device->queue);
   vkGetPhysicalDeviceMemoryProperties(device->physical, &device->memory);
   return AGX_OK;
}

agx_status vk_device_open(const char *name, bool robust, struct vk_device *out)
{
   const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                          .pApplicationName = "vkcorpus",
                                          .apiVersion = VK_API_VERSION_1_3};
   const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                      .pApplicationInfo = &application};
   *out = (struct vk_device){0};
   VK_TRY(vkCreateInstance(&info, NULL, &out->instance));
   AGX_TRY(find_device(name, out));
   AGX_TRY(find_family(out));
   return make_device(out, robust);
}

static agx_status allocate(const struct vk_device *device, const VkMemoryRequirements *needs,
                           VkMemoryPropertyFlags wanted, const void *next, VkDeviceMemory *out)
{
   for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
      if (!(needs->memoryTypeBits >> i & 1) ||
          (device->memory.memoryTypes[i].propertyFlags & wanted) != wanted)
         continue;
      const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .pNext = next,
                                         .allocationSize = needs->size,
                                         .memoryTypeIndex = i};
      VK_TRY(vkAllocateMemory(device->device, &info, NULL, out));
      return AGX_OK;
   }
   return AGX_FAIL(AGX_NOT_FOUND, "%s: no memory type has flags %#x", device->name, wanted);
}

agx_status vk_buffer_create(const struct vk_device *device, uint64_t size_B,
                            struct vk_resource *out)
{
   const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = size_B,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT};
   const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                            .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
   VkMemoryRequirements needs;
   VkDeviceMemory memory;
   void *mapped;
   out->size_B = size_B;
   VK_TRY(vkCreateBuffer(device->device, &info, NULL, &out->buffer));
   vkGetBufferMemoryRequirements(device->device, out->buffer, &needs);
   AGX_TRY(allocate(device, &needs,
                    VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                    &flags, &memory));
   VK_TRY(vkBindBufferMemory(device->device, out->buffer, memory, 0));
   VK_TRY(vkMapMemory(device->device, memory, 0, VK_WHOLE_SIZE, 0, &mapped));
   out->mapped = mapped;
   const VkBufferDeviceAddressInfo which = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                            .buffer = out->buffer};
   out->address = vkGetBufferDeviceAddress(device->device, &which);
   return AGX_OK;
}

static agx_status find_format(const char *name, VkFormat *out_format, uint32_t *out_texel_B)
{
   static const struct {
      const char *name;
      VkFormat format;
      uint32_t texel_B;
   } formats[] = {
      {"r8", VK_FORMAT_R8_UNORM, 1},
      {"r8ui", VK_FORMAT_R8_UINT, 1},
      {"r16ui", VK_FORMAT_R16_UINT, 2},
      {"r32f", VK_FORMAT_R32_SFLOAT, 4},
      {"r32ui", VK_FORMAT_R32_UINT, 4},
      {"rg16f", VK_FORMAT_R16G16_SFLOAT, 4},
      {"rgba8", VK_FORMAT_R8G8B8A8_UNORM, 4},
      {"rgba8ui", VK_FORMAT_R8G8B8A8_UINT, 4},
      {"rgba8i", VK_FORMAT_R8G8B8A8_SINT, 4},
      {"rgb10_a2", VK_FORMAT_A2B10G10R10_UNORM_PACK32, 4},
      {"rgba16f", VK_FORMAT_R16G16B16A16_SFLOAT, 8},
      {"rgba32i", VK_FORMAT_R32G32B32A32_SINT, 16},
      {"rgba32ui", VK_FORMAT_R32G32B32A32_UINT, 16},
      {"rgba32f", VK_FORMAT_R32G32B32A32_SFLOAT, 16},
   };
   for (size_t i = 0; i < AGX_COUNT(formats); i++) {
      if (strcmp(formats[i].name, name) != 0)
         continue;
      *out_format = formats[i].format;
      *out_texel_B = formats[i].texel_B;
      return AGX_OK;
   }
   return AGX_FAIL(AGX_NOT_FOUND, "image format %s: not one that vkcorpus knows", name);
}

static agx_status create_view(const struct vk_device *device,
                              const struct agx_manifest_resource *desc, VkFormat format,
                              uint32_t levels, struct vk_resource *out)
{
   const VkImageViewCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
      .image = out->image,
      .viewType = desc->depth ? VK_IMAGE_VIEW_TYPE_3D : VK_IMAGE_VIEW_TYPE_2D,
      .format = format,
      .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, levels, 0, 1}};
   VK_TRY(vkCreateImageView(device->device, &info, NULL, &out->view));
   return AGX_OK;
}

static agx_status create_sampler(const struct vk_device *device,
                                 const struct agx_manifest_resource *desc, struct vk_resource *out)
{
   VkFilter filter = desc->linear_filter ? VK_FILTER_LINEAR : VK_FILTER_NEAREST;
   const VkSamplerCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                     .magFilter = filter,
                                     .minFilter = filter,
                                     .mipmapMode = VK_SAMPLER_MIPMAP_MODE_NEAREST,
                                     .addressModeU = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                     .addressModeV = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                     .addressModeW = VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE,
                                     .maxLod = (float)desc->levels};
   VK_TRY(vkCreateSampler(device->device, &info, NULL, &out->sampler));
   return AGX_OK;
}

agx_status vk_image_create(const struct vk_device *device, const struct agx_manifest_resource *desc,
                           struct vk_resource *out)
{
   bool is_storage = desc->type == AGX_MANIFEST_STORAGE_IMAGE;
   VkFormat format = VK_FORMAT_UNDEFINED;
   VkMemoryRequirements needs;
   VkDeviceMemory memory;
   AGX_TRY(find_format(desc->format, &format, &out->texel_B));
   const VkImageCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
      .imageType = desc->depth ? VK_IMAGE_TYPE_3D : VK_IMAGE_TYPE_2D,
      .format = format,
      .extent = {desc->width, desc->height, AGX_MAX(desc->depth, 1u)},
      .mipLevels = desc->levels,
      .arrayLayers = 1,
      .samples = VK_SAMPLE_COUNT_1_BIT,
      .tiling = VK_IMAGE_TILING_OPTIMAL,
      .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT |
               (is_storage ? VK_IMAGE_USAGE_STORAGE_BIT : VK_IMAGE_USAGE_SAMPLED_BIT)};
   VK_TRY(vkCreateImage(device->device, &info, NULL, &out->image));
   vkGetImageMemoryRequirements(device->device, out->image, &needs);
   AGX_TRY(allocate(device, &needs, 0, NULL, &memory));
   VK_TRY(vkBindImageMemory(device->device, out->image, memory, 0));
   AGX_TRY(create_view(device, desc, format, is_storage ? 1 : desc->levels, out));
   AGX_TRY(create_sampler(device, desc, out));
   return vk_buffer_create(device, agx_manifest_image_bytes(desc, out->texel_B), out);
}
