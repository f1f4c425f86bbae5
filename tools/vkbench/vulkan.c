/* SPDX-License-Identifier: MIT
 *
 * Runs a kernel through the Vulkan loader: device, pipeline, buffers and submission, for main.c of
 * the comparison. image.c makes the images.
 */
#include "vkbench.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "vulkan_impl.h"

#define MAX_DEVICES 8
#define MAX_SETS    4

struct vkbench_kernel {
   struct vkbench_device *device;
   const struct agx_manifest *manifest;
   struct vkbench_resource resources[AGX_MANIFEST_MAX_RESOURCES];
   VkDescriptorSetLayout set_layouts[MAX_SETS];
   uint32_t set_count;
   VkDescriptorPool descriptor_pool;
   VkDescriptorSet sets[MAX_SETS];
   VkPipelineLayout layout;
   VkShaderModule module;
   VkPipeline pipeline;
   VkCommandBuffer commands, copies; /* copies: of images from and to their buffers */
   uint8_t push[AGX_MANIFEST_MAX_PUSH_B];
};

/* ---- device ------------------------------------------------------------ */

static bool is_wanted(const VkPhysicalDeviceProperties *properties, const char *name)
{
   return name ? strstr(properties->deviceName, name) != NULL
               : properties->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
}

static agx_status choose(struct vkbench_device *device, const char *name)
{
   VkPhysicalDevice all[MAX_DEVICES];
   uint32_t count = MAX_DEVICES;
   VkResult result = vkEnumeratePhysicalDevices(device->instance, &count, all);
   if (result != VK_SUCCESS && result != VK_INCOMPLETE)
      count = 0;
   for (uint32_t i = 0; i < count; i++) {
      vkGetPhysicalDeviceProperties(all[i], &device->properties);
      if (is_wanted(&device->properties, name)) {
         device->physical = all[i];
         return AGX_OK;
      }
   }
   if (name)
      return AGX_FAIL(AGX_NOT_FOUND, "vulkan: none of %u devices has \"%.64s\" in its name", count,
                      name);
   return AGX_FAIL(AGX_NOT_FOUND,
                   "vulkan: none of %u devices is a CPU; install lavapipe "
                   "(Debian: mesa-vulkan-drivers)",
                   count);
}

static agx_status choose_memory(struct vkbench_device *device)
{
   const VkMemoryPropertyFlags wanted =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
   VkPhysicalDeviceMemoryProperties memory;
   vkGetPhysicalDeviceMemoryProperties(device->physical, &memory);
   for (uint32_t i = 0; i < memory.memoryTypeCount; i++) {
      if ((memory.memoryTypes[i].propertyFlags & wanted) == wanted) {
         device->memory_type = i;
         return AGX_OK;
      }
   }
   return AGX_FAIL(AGX_NOT_FOUND, "vulkan: no memory that is mapped and coherent");
}

/* With every feature that the device has but those that make accesses dearer. */
static agx_status create_device(struct vkbench_device *device)
{
   VkPhysicalDeviceVulkan12Features features12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
   VkPhysicalDeviceVulkan11Features features11 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &features12};
   VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                         .pNext = &features11};
   vkGetPhysicalDeviceFeatures2(device->physical, &features);
   features.features.robustBufferAccess = VK_FALSE;
   device->has_addresses = features12.bufferDeviceAddress;
   const float priority = 1.0f;
   const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
   const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                    .pNext = &features,
                                    .queueCreateInfoCount = 1,
                                    .pQueueCreateInfos = &queue};
   VK_TRY(vkCreateDevice(device->physical, &info, NULL, &device->device));
   vkGetDeviceQueue(device->device, 0, 0, &device->queue);
   return AGX_OK;
}

static agx_status open_device(struct vkbench_device *device, const char *name)
{
   const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                          .apiVersion = VK_API_VERSION_1_2};
   const VkInstanceCreateInfo instance = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                          .pApplicationInfo = &application};
   const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
   const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
   VK_TRY(vkCreateInstance(&instance, NULL, &device->instance));
   AGX_TRY(choose(device, name));
   AGX_TRY(choose_memory(device));
   AGX_TRY(create_device(device)); /* the first queue family computes */
   VK_TRY(vkCreateCommandPool(device->device, &pool, NULL, &device->pool));
   VK_TRY(vkCreateFence(device->device, &fence, NULL, &device->fence));
   return AGX_OK;
}

agx_status vkbench_device_open(const char *name, struct vkbench_device **out_device)
{
   *out_device = calloc(1, sizeof(**out_device));
   if (!*out_device)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "vulkan: out of memory");
   agx_status status = open_device(*out_device, name);
   if (status != AGX_OK) {
      vkbench_device_close(*out_device);
      *out_device = NULL;
   }
   return status;
}

void vkbench_device_close(struct vkbench_device *device)
{
   if (!device)
      return;
   if (device->device) {
      vkDestroyFence(device->device, device->fence, NULL);
      vkDestroyCommandPool(device->device, device->pool, NULL);
      vkDestroyDevice(device->device, NULL);
   }
   if (device->instance)
      vkDestroyInstance(device->instance, NULL);
   free(device);
}

const char *vkbench_device_name(const struct vkbench_device *device)
{
   return device->properties.deviceName;
}

/* ---- buffers ----------------------------------------------------------- */

static agx_status create_buffer(struct vkbench_device *device, uint64_t size,
                                struct vkbench_resource *buffer)
{
   const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = size,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
               (device->has_addresses ? VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT : 0)};
   VkMemoryRequirements needs;
   VK_TRY(vkCreateBuffer(device->device, &info, NULL, &buffer->buffer));
   vkGetBufferMemoryRequirements(device->device, buffer->buffer, &needs);
   const VkMemoryAllocateFlagsInfo flags = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
      .flags = device->has_addresses ? VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT : 0};
   const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                        .pNext = &flags,
                                        .allocationSize = needs.size,
                                        .memoryTypeIndex = device->memory_type};
   VK_TRY(vkAllocateMemory(device->device, &memory, NULL, &buffer->memory));
   VK_TRY(vkBindBufferMemory(device->device, buffer->buffer, buffer->memory, 0));
   VK_TRY(vkMapMemory(device->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &buffer->map));
   const VkBufferDeviceAddressInfo address = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
                                              .buffer = buffer->buffer};
   if (device->has_addresses)
      buffer->address = vkGetBufferDeviceAddress(device->device, &address);
   return AGX_OK;
}

static uint64_t address_of(void *user, uint32_t id)
{
   const struct vkbench_kernel *kernel = user;
   const struct agx_manifest_resource *resource = agx_manifest_find(kernel->manifest, id);
   return resource ? kernel->resources[resource - kernel->manifest->resources].address : 0;
}

static agx_status make_resources(struct vkbench_kernel *kernel)
{
   const struct agx_manifest *manifest = kernel->manifest;
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      const struct agx_manifest_resource *desc = &manifest->resources[i];
      struct vkbench_resource *it = &kernel->resources[i];
      it->size_B = desc->size_B;
      if (vkbench_is_image(desc))
         AGX_TRY(vkbench_image_create(kernel->device, desc, it));
      AGX_TRY(create_buffer(kernel->device, it->size_B, it));
   }
   for (uint32_t i = 0; i < manifest->resource_count; i++)
      AGX_TRY(agx_manifest_fill_resource(manifest, &manifest->resources[i],
                                         kernel->resources[i].map, kernel->resources[i].size_B,
                                         address_of, kernel));
   memcpy(kernel->push, manifest->push, sizeof(kernel->push));
   for (uint32_t i = 0; i < manifest->fixup_count; i++) {
      uint64_t address = address_of(kernel, manifest->fixups[i].id);
      memcpy(kernel->push + manifest->fixups[i].offset_B, &address, sizeof(address));
   }
   return AGX_OK;
}

/* ---- descriptors ------------------------------------------------------- */

static VkDescriptorType descriptor_type(const struct agx_manifest_resource *resource)
{
   switch (resource->type) {
   case AGX_MANIFEST_UBO:
      return VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
   case AGX_MANIFEST_STORAGE_IMAGE:
      return VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
   case AGX_MANIFEST_SAMPLED_IMAGE:
      return VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
   default:
      return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
   }
}

static agx_status make_set_layout(struct vkbench_kernel *kernel, uint32_t set)
{
   const struct agx_manifest *manifest = kernel->manifest;
   VkDescriptorSetLayoutBinding bindings[AGX_MANIFEST_MAX_RESOURCES];
   uint32_t count = 0;
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      const struct agx_manifest_resource *resource = &manifest->resources[i];
      if (resource->set != set || resource->type == AGX_MANIFEST_ADDRESS)
         continue;
      bindings[count++] =
         (VkDescriptorSetLayoutBinding){.binding = resource->binding,
                                        .descriptorType = descriptor_type(resource),
                                        .descriptorCount = 1,
                                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
   }
   const VkDescriptorSetLayoutCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = count,
      .pBindings = bindings};
   VK_TRY(
      vkCreateDescriptorSetLayout(kernel->device->device, &info, NULL, &kernel->set_layouts[set]));
   return AGX_OK;
}

static agx_status make_sets(struct vkbench_kernel *kernel)
{
   const struct agx_manifest *manifest = kernel->manifest;
   const VkDescriptorPoolSize sizes[] = {
      {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, AGX_MANIFEST_MAX_RESOURCES},
      {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, AGX_MANIFEST_MAX_RESOURCES},
      {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, AGX_MANIFEST_MAX_RESOURCES},
      {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, AGX_MANIFEST_MAX_RESOURCES}};
   const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = MAX_SETS,
                                            .poolSizeCount = AGX_COUNT(sizes),
                                            .pPoolSizes = sizes};
   kernel->set_count = 1;
   for (uint32_t i = 0; i < manifest->resource_count; i++)
      kernel->set_count = AGX_MAX(kernel->set_count, manifest->resources[i].set + 1);
   if (kernel->set_count > MAX_SETS)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "%u descriptor sets", kernel->set_count);
   for (uint32_t set = 0; set < kernel->set_count; set++)
      AGX_TRY(make_set_layout(kernel, set));
   VK_TRY(vkCreateDescriptorPool(kernel->device->device, &pool, NULL, &kernel->descriptor_pool));
   const VkDescriptorSetAllocateInfo info = {.sType =
                                                VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = kernel->descriptor_pool,
                                             .descriptorSetCount = kernel->set_count,
                                             .pSetLayouts = kernel->set_layouts};
   VK_TRY(vkAllocateDescriptorSets(kernel->device->device, &info, kernel->sets));
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      const struct agx_manifest_resource *resource = &manifest->resources[i];
      const VkDescriptorBufferInfo range = {kernel->resources[i].buffer, 0, resource->size_B};
      const VkDescriptorImageInfo image = {kernel->resources[i].sampler, kernel->resources[i].view,
                                           VK_IMAGE_LAYOUT_GENERAL};
      const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                          .dstSet = kernel->sets[resource->set],
                                          .dstBinding = resource->binding,
                                          .descriptorCount = 1,
                                          .descriptorType = descriptor_type(resource),
                                          .pImageInfo = &image,
                                          .pBufferInfo = &range};
      if (resource->type != AGX_MANIFEST_ADDRESS)
         vkUpdateDescriptorSets(kernel->device->device, 1, &write, 0, NULL);
   }
   return AGX_OK;
}

/* ---- kernel ------------------------------------------------------------ */

static agx_status submit(struct vkbench_device *device, VkCommandBuffer commands)
{
   const VkSubmitInfo submission = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                    .commandBufferCount = 1,
                                    .pCommandBuffers = &commands};
   VK_TRY(vkQueueSubmit(device->queue, 1, &submission, device->fence));
   VK_TRY(vkWaitForFences(device->device, 1, &device->fence, VK_TRUE, UINT64_MAX));
   VK_TRY(vkResetFences(device->device, 1, &device->fence));
   return AGX_OK;
}

static agx_status make_pipeline(struct vkbench_kernel *kernel, const void *spirv, size_t spirv_B)
{
   const struct agx_manifest *manifest = kernel->manifest;
   VkDevice device = kernel->device->device;
   VkSpecializationMapEntry entries[AGX_MANIFEST_MAX_SPECS];
   uint32_t values[AGX_MANIFEST_MAX_SPECS];
   for (uint32_t i = 0; i < manifest->spec_count; i++) {
      entries[i] = (VkSpecializationMapEntry){manifest->specs[i].id, 4 * i, 4};
      values[i] = manifest->specs[i].value;
   }
   const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     (uint32_t)agx_align_up(manifest->push_B, 4)};
   const VkPipelineLayoutCreateInfo layout = {.sType =
                                                 VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                              .setLayoutCount = kernel->set_count,
                                              .pSetLayouts = kernel->set_layouts,
                                              .pushConstantRangeCount = push.size != 0,
                                              .pPushConstantRanges = &push};
   const VkShaderModuleCreateInfo module = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = spirv_B, .pCode = spirv};
   VK_TRY(vkCreatePipelineLayout(device, &layout, NULL, &kernel->layout));
   VK_TRY(vkCreateShaderModule(device, &module, NULL, &kernel->module));
   const VkSpecializationInfo specialization = {manifest->spec_count, entries,
                                                4 * manifest->spec_count, values};
   const VkComputePipelineCreateInfo pipeline = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = kernel->module,
                .pName = "main",
                .pSpecializationInfo = &specialization},
      .layout = kernel->layout};
   VK_TRY(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &pipeline, NULL, &kernel->pipeline));
   return AGX_OK;
}

/* Between all images, or those that are outputs, and their buffers. */
static agx_status copy_images(struct vkbench_kernel *kernel, bool to_images)
{
   const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
   const struct agx_manifest *manifest = kernel->manifest;
   uint32_t count = 0;
   VK_TRY(vkBeginCommandBuffer(kernel->copies, &begin));
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      const struct agx_manifest_resource *desc = &manifest->resources[i];
      if (!vkbench_is_image(desc) || !(to_images || desc->is_output))
         continue;
      vkbench_image_record_copy(kernel->copies, desc, &kernel->resources[i], to_images);
      count++;
   }
   VK_TRY(vkEndCommandBuffer(kernel->copies));
   return count ? submit(kernel->device, kernel->copies) : AGX_OK;
}

static agx_status create_kernel(struct vkbench_kernel *kernel, const void *spirv, size_t spirv_B)
{
   const VkCommandBufferAllocateInfo commands = {.sType =
                                                    VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                 .commandPool = kernel->device->pool,
                                                 .commandBufferCount = 1};
   AGX_TRY(make_resources(kernel));
   AGX_TRY(make_sets(kernel));
   AGX_TRY(make_pipeline(kernel, spirv, spirv_B));
   VK_TRY(vkAllocateCommandBuffers(kernel->device->device, &commands, &kernel->commands));
   VK_TRY(vkAllocateCommandBuffers(kernel->device->device, &commands, &kernel->copies));
   return copy_images(kernel, true);
}

agx_status vkbench_kernel_create(struct vkbench_device *device, const void *spirv, size_t spirv_B,
                                 const struct agx_manifest *manifest,
                                 struct vkbench_kernel **out_kernel)
{
   struct vkbench_kernel *kernel = calloc(1, sizeof(*kernel));
   *out_kernel = NULL;
   if (!kernel)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "vulkan: out of memory");
   kernel->device = device;
   kernel->manifest = manifest;
   agx_status status = create_kernel(kernel, spirv, spirv_B);
   if (status == AGX_OK)
      *out_kernel = kernel;
   else
      vkbench_kernel_destroy(kernel);
   return status;
}

void vkbench_kernel_destroy(struct vkbench_kernel *kernel)
{
   if (!kernel)
      return;
   VkDevice device = kernel->device->device;
   if (kernel->commands)
      vkFreeCommandBuffers(device, kernel->device->pool, 1, &kernel->commands);
   if (kernel->copies)
      vkFreeCommandBuffers(device, kernel->device->pool, 1, &kernel->copies);
   vkDestroyPipeline(device, kernel->pipeline, NULL);
   vkDestroyShaderModule(device, kernel->module, NULL);
   vkDestroyPipelineLayout(device, kernel->layout, NULL);
   vkDestroyDescriptorPool(device, kernel->descriptor_pool, NULL);
   for (uint32_t i = 0; i < MAX_SETS; i++)
      vkDestroyDescriptorSetLayout(device, kernel->set_layouts[i], NULL);
   for (uint32_t i = 0; i < AGX_MANIFEST_MAX_RESOURCES; i++) {
      vkbench_image_destroy(kernel->device, &kernel->resources[i]);
      vkDestroyBuffer(device, kernel->resources[i].buffer, NULL);
      vkFreeMemory(device, kernel->resources[i].memory, NULL);
   }
   free(kernel);
}

const void *vkbench_kernel_memory(const struct vkbench_kernel *kernel, uint32_t index)
{
   return kernel->resources[index].map;
}

agx_status vkbench_kernel_read_images(struct vkbench_kernel *kernel)
{
   return copy_images(kernel, false);
}

agx_status vkbench_kernel_record(struct vkbench_kernel *kernel, const uint32_t workgroups[3],
                                 uint32_t dispatches)
{
   const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
   uint32_t push_B = (uint32_t)agx_align_up(kernel->manifest->push_B, 4);
   VK_TRY(vkBeginCommandBuffer(kernel->commands, &begin));
   vkCmdBindPipeline(kernel->commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
   vkCmdBindDescriptorSets(kernel->commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, 0,
                           kernel->set_count, kernel->sets, 0, NULL);
   if (push_B)
      vkCmdPushConstants(kernel->commands, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, push_B,
                         kernel->push);
   for (uint32_t i = 0; i < dispatches; i++)
      vkCmdDispatch(kernel->commands, workgroups[0], workgroups[1], workgroups[2]);
   VK_TRY(vkEndCommandBuffer(kernel->commands));
   return AGX_OK;
}

agx_status vkbench_kernel_execute(struct vkbench_kernel *kernel, uint64_t *out_ns)
{
   uint64_t start = (uint64_t)agx_now_ns();
   AGX_TRY(submit(kernel->device, kernel->commands));
   *out_ns = (uint64_t)agx_now_ns() - start;
   return AGX_OK;
}
