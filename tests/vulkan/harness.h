/* SPDX-License-Identifier: MIT
 *
 * A device of the Vulkan driver behind the system's loader, with the Khronos validation layer where
 * it is installed: whatever it says fails the test.
 */
#pragma once

#include <vulkan/vulkan.h>

#include "support/support.h"

#define VK_COMMAND(vk, name) (PFN_##name) vkGetDeviceProcAddr((vk)->device, #name)

#define assert_vk(call) assert_int_equal(call, VK_SUCCESS)

struct vk {
   VkInstance instance;
   VkDebugUtilsMessengerEXT messenger;
   uint32_t objections; /* of the validation layer */
   VkPhysicalDevice physical;
   VkPhysicalDeviceProperties properties;
   VkDevice device;
   VkQueue queue, other; /* of the compute family, and of the transfer family */
   VkCommandPool pool;
   VkDescriptorPool descriptors;
};

struct vk_buffer {
   VkBuffer handle;
   VkDeviceMemory memory;
   uint32_t *words;
   VkDeviceSize size;
};

/* A pipeline whose set 0 has so many storage buffers, numbered from 0 on. */
struct vk_kernel {
   VkShaderModule module;
   VkDescriptorSetLayout set_layout;
   VkPipelineLayout layout;
   VkPipeline pipeline;
};

/* cmocka's set-up and tear-down, with a struct vk as the state. */
int vk_open(void **state);
int vk_close(void **state);
/* An instance with nothing but its messenger, for tests that make devices. */
void vk_open_instance(struct vk *vk);
void vk_close_instance(struct vk *vk);
/* A device with its pools on the instance: another one, where vk is a copy. */
void vk_open_device(struct vk *vk);
void vk_close_device(struct vk *vk);

/* Mapped for good, zeroed. */
struct vk_buffer vk_buffer(struct vk *vk, VkDeviceSize size);
void vk_buffer_free(struct vk *vk, struct vk_buffer *buffer);
VkDeviceMemory vk_memory(struct vk *vk, VkDeviceSize size);

/* The words of a SPIR-V file below tests/; free it. */
uint32_t *vk_read_spirv(const char *name, size_t *size);
struct vk_kernel vk_kernel(struct vk *vk, const char *name, uint32_t buffer_count,
                           VkDescriptorSetLayoutCreateFlags flags);
void vk_kernel_free(struct vk *vk, struct vk_kernel *kernel);
/* A set with the buffers, whole, in order. */
VkDescriptorSet vk_set(struct vk *vk, const struct vk_kernel *kernel,
                       const struct vk_buffer *buffers, uint32_t count);

VkCommandBuffer vk_begin(struct vk *vk, VkCommandBufferLevel level);
/* A barrier of all with all. */
void vk_barrier(VkCommandBuffer commands);
/* Ends, submits and awaits it; it stays the pool's. */
void vk_run(struct vk *vk, VkCommandBuffer commands);
void vk_submit(VkQueue queue, VkCommandBuffer commands, VkFence fence);
VkFence vk_fence(struct vk *vk);
