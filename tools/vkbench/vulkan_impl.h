/* SPDX-License-Identifier: MIT
 *
 * What the files of the Vulkan side share.
 */
#pragma once

#include <stdbool.h>
#include <vulkan/vulkan.h>

#include "vkbench.h"

#define VK_TRY(call)                                                                               \
   do {                                                                                            \
      VkResult result_ = (call);                                                                   \
      if (result_ != VK_SUCCESS)                                                                   \
         return AGX_FAIL(AGX_INTERNAL, "vulkan: %s: error %d", #call, (int)result_);               \
   } while (0)

struct vkbench_device {
   VkInstance instance;
   VkPhysicalDevice physical;
   VkPhysicalDeviceProperties properties;
   VkDevice device;
   VkQueue queue;
   VkCommandPool pool;
   VkFence fence;
   uint32_t memory_type; /* mapped, coherent */
   bool has_addresses;
};

/* A buffer, or an image with the buffer that its texels go through. */
struct vkbench_resource {
   uint64_t size_B; /* of the buffer */
   VkBuffer buffer;
   VkDeviceMemory memory;
   void *map;
   uint64_t address;
   VkImage image;
   VkDeviceMemory image_memory;
   VkImageView view;
   VkSampler sampler;
   uint32_t texel_B;
};

/* Whether the manifest's resource is an image. */
bool vkbench_is_image(const struct agx_manifest_resource *desc);

/* Image, view and sampler; sets size_B to what its levels take one behind the other. What has
 * been made when it fails is the destroy function's. */
AGX_MUST_CHECK agx_status vkbench_image_create(struct vkbench_device *device,
                                               const struct agx_manifest_resource *desc,
                                               struct vkbench_resource *out);
/* Destroys what vkbench_image_create made, whole or not. */
void vkbench_image_destroy(struct vkbench_device *device, struct vkbench_resource *image);

/* All levels between image and buffer. The first copy to an image also gives it its layout. */
void vkbench_image_record_copy(VkCommandBuffer commands, const struct agx_manifest_resource *desc,
                               const struct vkbench_resource *image, bool to_image);
