/* SPDX-License-Identifier: MIT
 *
 * The Vulkan side of vkcorpus: a device with every feature it has, and a kernel of the
 * corpus run on it with the inputs of its manifest.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#include "manifest.h"

struct vk_device {
   VkInstance instance;
   VkPhysicalDevice physical;
   VkDevice device;
   VkQueue queue;
   uint32_t family;
   VkPhysicalDeviceMemoryProperties memory;
   char name[VK_MAX_PHYSICAL_DEVICE_NAME_SIZE];
   bool has_statistics; /* pipelines tell them */
};

/* A buffer, or an image with the buffer that its texels go through. */
struct vk_resource {
   uint64_t size_B; /* of the buffer */
   uint8_t *mapped;
   VkBuffer buffer;
   VkDeviceAddress address;
   VkImage image;
   VkImageView view;
   VkSampler sampler;
   uint32_t texel_B;
};

/* Evaluates to AGX_OK, or fails with the call and its result. */
#define VK_TRY(call)                                                                               \
   do {                                                                                            \
      VkResult vk_result_ = (call);                                                                \
      if (vk_result_ != VK_SUCCESS)                                                                \
         return AGX_FAIL(AGX_INTERNAL, "%.*s: VkResult %d", (int)strcspn(#call, "("), #call,       \
                         (int)vk_result_);                                                         \
   } while (0)

/* Opens the first device whose name contains the text. robust: with robustBufferAccess2. Statistics
 * of pipelines can be had of a device that isn't robust. */
AGX_MUST_CHECK agx_status vk_device_open(const char *name, bool robust, struct vk_device *out);

AGX_MUST_CHECK agx_status vk_buffer_create(const struct vk_device *device, uint64_t size_B,
                                           struct vk_resource *out);
AGX_MUST_CHECK agx_status vk_image_create(const struct vk_device *device,
                                          const struct agx_manifest_resource *desc,
                                          struct vk_resource *out);

/* What the driver says of a pipeline, as "NAME=VALUE;NAME=VALUE;...". */
#define VK_STATISTICS_CAPACITY 1024

/* Runs the first compute entry point of the SPIR-V kernel at path, or, where the manifest has
 * slots, only makes its pipeline; resources[i] is then the manifest's resource i, and its mapped
 * memory what the kernel left. The pipeline is made `rounds` times (at least one); *out_best_ms is
 * what the quickest took. statistics: VK_STATISTICS_CAPACITY bytes for the driver's statistics, or
 * NULL. Nothing is freed: the process ends. */
AGX_MUST_CHECK agx_status vk_kernel_run(const struct vk_device *device, const char *path,
                                        const struct agx_manifest *manifest,
                                        struct vk_resource *resources, unsigned rounds,
                                        double *out_best_ms, char *statistics);
