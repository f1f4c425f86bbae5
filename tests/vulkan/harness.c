/* SPDX-License-Identifier: MIT */
#include "vulkan/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYER "VK_LAYER_KHRONOS_validation"

/* ---- instances ---------------------------------------------------------- */

static VkBool32 VKAPI_CALL tell(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                VkDebugUtilsMessageTypeFlagsEXT types,
                                const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
   if (types & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT) {
      fprintf(stderr, "%s\n", data->pMessage);
      ++*(uint32_t *)user; /* not from here: the layer holds its locks */
   }
   return VK_FALSE;
}

/* Sanitizers judge ours, and find what the layer does not give back: it is for builds without. */
static bool has_layer(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
   return false;
#endif
   static VkLayerProperties layers[64];
   uint32_t count = 64;
   vkEnumerateInstanceLayerProperties(&count, layers);
   for (uint32_t i = 0; i < count; i++)
      if (!strcmp(layers[i].layerName, LAYER))
         return true;
   return false;
}

void vk_open_instance(struct vk *vk)
{
   static const char *const layers[] = {LAYER};
   static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
   static const VkValidationFeatureEnableEXT more[] = {
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
   const VkDebugUtilsMessengerCreateInfoEXT messenger = {
      .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
      .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
      .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT,
      .pfnUserCallback = tell,
      .pUserData = &vk->objections,
   };
   const VkValidationFeaturesEXT validation = {
      .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
      .pNext = &messenger,
      .enabledValidationFeatureCount = 1,
      .pEnabledValidationFeatures = more,
   };
   const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                          .apiVersion = VK_API_VERSION_1_3};
   const VkInstanceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
      .pNext = has_layer() ? &validation : NULL,
      .pApplicationInfo = &application,
      .enabledLayerCount = has_layer(),
      .ppEnabledLayerNames = layers,
      .enabledExtensionCount = 1,
      .ppEnabledExtensionNames = extensions,
   };
   uint32_t count = 1, families;
   *vk = (struct vk){0};
   assert_vk(vkCreateInstance(&info, NULL, &vk->instance));
   PFN_vkCreateDebugUtilsMessengerEXT create =
      (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(vk->instance,
                                                                "vkCreateDebugUtilsMessengerEXT");
   assert_vk(create(vk->instance, &messenger, NULL, &vk->messenger));
   assert_vk(vkEnumeratePhysicalDevices(vk->instance, &count, &vk->physical));
   assert_int_equal(count, 1);
   vkGetPhysicalDeviceQueueFamilyProperties(vk->physical, &families, NULL);
   vkGetPhysicalDeviceProperties(vk->physical, &vk->properties);
}

void vk_close_instance(struct vk *vk)
{
   PFN_vkDestroyDebugUtilsMessengerEXT destroy =
      (PFN_vkDestroyDebugUtilsMessengerEXT)vkGetInstanceProcAddr(vk->instance,
                                                                 "vkDestroyDebugUtilsMessengerEXT");
   destroy(vk->instance, vk->messenger, NULL);
   vkDestroyInstance(vk->instance, NULL);
   assert_int_equal(vk->objections, 0);
}

/* ---- devices ------------------------------------------------------------ */

/* With all extensions that it has. */
static void create_device(struct vk *vk)
{
   static const float priority = 1.0f;
   static VkExtensionProperties extensions[128];
   const char *names[128];
   uint32_t extension_count = 128;
   VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR};
   VkPhysicalDeviceVulkan13Features features13 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, .pNext = &executables};
   VkPhysicalDeviceVulkan12Features features12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &features13};
   VkPhysicalDeviceVulkan11Features features11 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &features12};
   VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                         .pNext = &features11};
   VkDeviceQueueCreateInfo queues[2];
   for (uint32_t i = 0; i < 2; i++)
      queues[i] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                            .queueFamilyIndex = i,
                                            .queueCount = 1,
                                            .pQueuePriorities = &priority};
   vkGetPhysicalDeviceFeatures2(vk->physical, &features);
   assert_vk(
      vkEnumerateDeviceExtensionProperties(vk->physical, NULL, &extension_count, extensions));
   for (uint32_t i = 0; i < extension_count; i++)
      names[i] = extensions[i].extensionName;
   const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                    .pNext = &features,
                                    .queueCreateInfoCount = 2,
                                    .pQueueCreateInfos = queues,
                                    .enabledExtensionCount = extension_count,
                                    .ppEnabledExtensionNames = names};
   assert_vk(vkCreateDevice(vk->physical, &info, NULL, &vk->device));
   vkGetDeviceQueue(vk->device, 0, 0, &vk->queue);
   vkGetDeviceQueue(vk->device, 1, 0, &vk->other);
}

void vk_open_device(struct vk *vk)
{
   create_device(vk);
   const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
   const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 64},
                                         {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC, 8}};
   const VkDescriptorPoolCreateInfo descriptors = {.sType =
                                                      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                                   .maxSets = 16,
                                                   .poolSizeCount = 2,
                                                   .pPoolSizes = sizes};
   assert_vk(vkCreateCommandPool(vk->device, &pool, NULL, &vk->pool));
   assert_vk(vkCreateDescriptorPool(vk->device, &descriptors, NULL, &vk->descriptors));
}

void vk_close_device(struct vk *vk)
{
   vkDestroyDescriptorPool(vk->device, vk->descriptors, NULL);
   vkDestroyCommandPool(vk->device, vk->pool, NULL);
   vkDestroyDevice(vk->device, NULL);
}

int vk_open(void **state)
{
   struct vk *vk = calloc(1, sizeof(*vk));
   vk_open_instance(vk);
   vk_open_device(vk);
   *state = vk;
   return 0;
}

int vk_close(void **state)
{
   struct vk *vk = *state;
   vk_close_device(vk);
   vk_close_instance(vk);
   free(vk);
   return 0;
}

/* ---- memory ------------------------------------------------------------- */

VkDeviceMemory vk_memory(struct vk *vk, VkDeviceSize size)
{
   VkDeviceMemory memory;
   const VkMemoryAllocateFlagsInfo flags = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                            .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT};
   const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                      .pNext = &flags,
                                      .allocationSize = size,
                                      .memoryTypeIndex = 1};
   assert_vk(vkAllocateMemory(vk->device, &info, NULL, &memory));
   return memory;
}

struct vk_buffer vk_buffer(struct vk *vk, VkDeviceSize size)
{
   struct vk_buffer buffer = {.size = size};
   VkMemoryRequirements needs;
   void *memory;
   const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = size,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
               VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT};
   assert_vk(vkCreateBuffer(vk->device, &info, NULL, &buffer.handle));
   vkGetBufferMemoryRequirements(vk->device, buffer.handle, &needs);
   buffer.memory = vk_memory(vk, needs.size);
   assert_vk(vkBindBufferMemory(vk->device, buffer.handle, buffer.memory, 0));
   assert_vk(vkMapMemory(vk->device, buffer.memory, 0, VK_WHOLE_SIZE, 0, &memory));
   memset(memory, 0, size);
   buffer.words = memory;
   return buffer;
}

void vk_buffer_free(struct vk *vk, struct vk_buffer *buffer)
{
   vkDestroyBuffer(vk->device, buffer->handle, NULL);
   vkFreeMemory(vk->device, buffer->memory, NULL);
}

/* ---- kernels ------------------------------------------------------------ */

uint32_t *vk_read_spirv(const char *name, size_t *size)
{
   char *path = agx_test_path(name);
   uint32_t *words = (uint32_t *)agx_test_read_file(path, size);
   free(path);
   return words;
}

struct vk_kernel vk_kernel(struct vk *vk, const char *name, uint32_t buffer_count,
                           VkDescriptorSetLayoutCreateFlags flags)
{
   struct vk_kernel kernel;
   VkDescriptorSetLayoutBinding bindings[8];
   size_t size;
   uint32_t *words = vk_read_spirv(name, &size);
   for (uint32_t i = 0; i < buffer_count; i++)
      bindings[i] =
         (VkDescriptorSetLayoutBinding){.binding = i,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .descriptorCount = 1,
                                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
   const VkShaderModuleCreateInfo module = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
   const VkDescriptorSetLayoutCreateInfo set = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .flags = flags,
      .bindingCount = buffer_count,
      .pBindings = bindings};
   assert_vk(vkCreateShaderModule(vk->device, &module, NULL, &kernel.module));
   assert_vk(vkCreateDescriptorSetLayout(vk->device, &set, NULL, &kernel.set_layout));
   const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 128};
   const VkPipelineLayoutCreateInfo layout = {.sType =
                                                 VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                              .setLayoutCount = 1,
                                              .pSetLayouts = &kernel.set_layout,
                                              .pushConstantRangeCount = 1,
                                              .pPushConstantRanges = &push};
   assert_vk(vkCreatePipelineLayout(vk->device, &layout, NULL, &kernel.layout));
   const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = kernel.module,
                .pName = "main"},
      .layout = kernel.layout};
   assert_vk(
      vkCreateComputePipelines(vk->device, VK_NULL_HANDLE, 1, &info, NULL, &kernel.pipeline));
   free(words);
   return kernel;
}

void vk_kernel_free(struct vk *vk, struct vk_kernel *kernel)
{
   vkDestroyPipeline(vk->device, kernel->pipeline, NULL);
   vkDestroyPipelineLayout(vk->device, kernel->layout, NULL);
   vkDestroyDescriptorSetLayout(vk->device, kernel->set_layout, NULL);
   vkDestroyShaderModule(vk->device, kernel->module, NULL);
}

VkDescriptorSet vk_set(struct vk *vk, const struct vk_kernel *kernel,
                       const struct vk_buffer *buffers, uint32_t count)
{
   VkDescriptorSet set;
   VkDescriptorBufferInfo infos[8];
   const VkDescriptorSetAllocateInfo info = {.sType =
                                                VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = vk->descriptors,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &kernel->set_layout};
   assert_vk(vkAllocateDescriptorSets(vk->device, &info, &set));
   for (uint32_t i = 0; i < count; i++)
      infos[i] = (VkDescriptorBufferInfo){buffers[i].handle, 0, VK_WHOLE_SIZE};
   /* One write that goes on from binding to binding. */
   const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                       .dstSet = set,
                                       .descriptorCount = count,
                                       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                       .pBufferInfo = infos};
   vkUpdateDescriptorSets(vk->device, 1, &write, 0, NULL);
   return set;
}

/* ---- commands ----------------------------------------------------------- */

VkCommandBuffer vk_begin(struct vk *vk, VkCommandBufferLevel level)
{
   VkCommandBuffer commands;
   const VkCommandBufferAllocateInfo info = {.sType =
                                                VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = vk->pool,
                                             .level = level,
                                             .commandBufferCount = 1};
   const VkCommandBufferInheritanceInfo inheritance = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
   const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT,
                                           .pInheritanceInfo = &inheritance};
   assert_vk(vkAllocateCommandBuffers(vk->device, &info, &commands));
   assert_vk(vkBeginCommandBuffer(commands, &begin));
   return commands;
}

void vk_barrier(VkCommandBuffer commands)
{
   const VkMemoryBarrier2 all = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
      .srcStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
      .srcAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT,
      .dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
      .dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT};
   const VkDependencyInfo info = {
      .sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO, .memoryBarrierCount = 1, .pMemoryBarriers = &all};
   vkCmdPipelineBarrier2(commands, &info);
}

void vk_submit(VkQueue queue, VkCommandBuffer commands, VkFence fence)
{
   const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                              .commandBufferCount = 1,
                              .pCommandBuffers = &commands};
   assert_vk(vkQueueSubmit(queue, 1, &info, fence));
}

VkFence vk_fence(struct vk *vk)
{
   VkFence fence;
   const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
   assert_vk(vkCreateFence(vk->device, &info, NULL, &fence));
   return fence;
}

void vk_run(struct vk *vk, VkCommandBuffer commands)
{
   VkFence fence = vk_fence(vk);
   assert_vk(vkEndCommandBuffer(commands));
   vk_submit(vk->queue, commands, fence);
   assert_vk(vkWaitForFences(vk->device, 1, &fence, VK_TRUE, UINT64_MAX));
   vkDestroyFence(vk->device, fence, NULL);
}
