/* SPDX-License-Identifier: MIT
 *
 * Rules of the specification that a program seldom meets: required limits, and what commands do at
 * the edges of what they may be given.
 */
#include "vulkan/harness.h"

#include <stdlib.h>
#include <string.h>

/* ---- limits ------------------------------------------------------------- */

/* The table of required limits, for devices without optional stages. */
static void limits_are_what_the_table_asks(void **state)
{
   struct vk *vk = *state;
   const VkPhysicalDeviceLimits *limits = &vk->properties.limits;
   const VkSampleCountFlags counts = VK_SAMPLE_COUNT_1_BIT | VK_SAMPLE_COUNT_4_BIT;
   assert_true(limits->maxPerStageDescriptorInputAttachments >= 4);
   assert_true(limits->maxDescriptorSetInputAttachments >= 4);
   assert_true(limits->maxDescriptorSetSamplers >= 96);
   assert_true(limits->maxDescriptorSetUniformBuffers >= 72);
   assert_true(limits->maxDescriptorSetStorageBuffers >= 24);
   assert_true(limits->maxDescriptorSetSampledImages >= 96);
   assert_true(limits->maxDescriptorSetStorageImages >= 24);
   assert_true(
      limits->maxPerStageResources >=
      limits->maxPerStageDescriptorUniformBuffers + limits->maxPerStageDescriptorStorageBuffers +
         limits->maxPerStageDescriptorSampledImages + limits->maxPerStageDescriptorStorageImages +
         limits->maxPerStageDescriptorInputAttachments + limits->maxColorAttachments);
   assert_int_equal(limits->sampledImageDepthSampleCounts & counts, counts);
   assert_int_equal(limits->sampledImageStencilSampleCounts & counts, counts);
}

/* The structs of the extensions and of versions say the same. */
static void subgroups_have_two_names(void **state)
{
   struct vk *vk = *state;
   VkPhysicalDeviceSubgroupProperties first = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
   VkPhysicalDeviceVulkan11Properties second = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, .pNext = &first};
   VkPhysicalDeviceProperties2 properties = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &second};
   vkGetPhysicalDeviceProperties2(vk->physical, &properties);
   assert_int_equal(first.subgroupSize, second.subgroupSize);
   assert_true(first.supportedOperations & VK_SUBGROUP_FEATURE_BASIC_BIT);
   assert_int_equal(first.supportedOperations, second.subgroupSupportedOperations);
   assert_int_equal(first.supportedStages, second.subgroupSupportedStages);
   assert_int_equal(first.quadOperationsInAllStages, second.subgroupQuadOperationsInAllStages);
}

/* An optimal image may have all levels, whatever its format and use; its views may have a use that
 * its own format has not. */
static void images_have_levels_and_uses_of_their_views(void **state)
{
   struct vk *vk = *state;
   VkImageFormatProperties out;
   assert_vk(vkGetPhysicalDeviceImageFormatProperties(vk->physical, VK_FORMAT_R32_UINT,
                                                      VK_IMAGE_TYPE_2D, VK_IMAGE_TILING_OPTIMAL,
                                                      VK_IMAGE_USAGE_STORAGE_BIT, 0, &out));
   assert_int_equal(1u << (out.maxMipLevels - 1), out.maxExtent.width);
   const VkImageCreateFlags flags =
      VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT | VK_IMAGE_CREATE_EXTENDED_USAGE_BIT;
   assert_vk(vkGetPhysicalDeviceImageFormatProperties(vk->physical, VK_FORMAT_R8G8B8A8_SRGB,
                                                      VK_IMAGE_TYPE_2D, VK_IMAGE_TILING_OPTIMAL,
                                                      VK_IMAGE_USAGE_STORAGE_BIT, flags, &out));
   assert_int_equal(vkGetPhysicalDeviceImageFormatProperties(
                       vk->physical, VK_FORMAT_R8G8B8A8_SRGB, VK_IMAGE_TYPE_2D,
                       VK_IMAGE_TILING_OPTIMAL, VK_IMAGE_USAGE_STORAGE_BIT, 0, &out),
                    VK_ERROR_FORMAT_NOT_SUPPORTED);
}

/* ---- queries ------------------------------------------------------------ */

/* There is no feature for them, so a device without graphics makes them as well. */
static void pools_of_occlusion_queries_can_be_made(void **state)
{
   struct vk *vk = *state;
   const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                       .queryType = VK_QUERY_TYPE_OCCLUSION,
                                       .queryCount = 4};
   uint64_t results[4][2];
   VkQueryPool pool;
   assert_vk(vkCreateQueryPool(vk->device, &info, NULL, &pool));
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   vkCmdResetQueryPool(commands, pool, 0, 4);
   vk_run(vk, commands);
   const VkQueryResultFlags flags = VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT;
   assert_int_equal(vkGetQueryPoolResults(vk->device, pool, 0, 4, sizeof(results), results,
                                          sizeof(results[0]), flags),
                    VK_NOT_READY);
   for (uint32_t i = 0; i < 4; i++)
      assert_int_equal(results[i][1], 0);
   vkDestroyQueryPool(vk->device, pool, NULL);
}

/* ---- floats ------------------------------------------------------------- */

static uint32_t bits_of(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return bits;
}

/* Where a shader asks for that, denormals don't pass changes of sign either, and 0 - 0 is 0. The
 * module has ids up to the bound, and undefined images that it does not use. */
static void denormals_become_zeros_where_a_shader_asks(void **state)
{
   struct vk *vk = *state;
   struct vk_kernel kernel = vk_kernel(vk, "vulkan/kernels/rules_floats.spv", 2, 0);
   struct vk_buffer buffers[2] = {vk_buffer(vk, 64), vk_buffer(vk, 64)};
   VkDescriptorSet set = vk_set(vk, &kernel, buffers, 2);
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   buffers[0].words[0] = 0x3f0;
   buffers[0].words[1] = bits_of(0x1.f8p-15f); /* 2^-24 x 1008, a denormal half */
   vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline);
   vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout, 0, 1, &set, 0,
                           NULL);
   vkCmdDispatch(commands, 1, 1, 1);
   vk_run(vk, commands);
   const uint32_t *words = buffers[1].words;
   assert_int_equal(words[0], 0x80000000u);
   assert_int_equal(words[1], 0);
   assert_int_equal(words[2], 0);
   /* The half 0x1b0c: 1008 x 2^-24 by the half that is nearest to 180 / pi. */
   assert_int_equal(words[3], bits_of(0x1.c3p-9f));
   vk_buffer_free(vk, &buffers[0]);
   vk_buffer_free(vk, &buffers[1]);
   vk_kernel_free(vk, &kernel);
}

/* Workgroup memory begins at 0, which is no null pointer; elements without a stride are packed. */
static void pointers_are_compared_and_subtracted(void **state)
{
   struct vk *vk = *state;
   struct vk_kernel kernel = vk_kernel(vk, "vulkan/kernels/rules_pointers.spv", 1, 0);
   struct vk_buffer words = vk_buffer(vk, 64);
   VkDescriptorSet set = vk_set(vk, &kernel, &words, 1);
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline);
   vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout, 0, 1, &set, 0,
                           NULL);
   vkCmdDispatch(commands, 1, 1, 1);
   vk_run(vk, commands);
   assert_int_equal(words.words[0], 1);
   assert_int_equal(words.words[1], 1);
   assert_int_equal(words.words[2], 5);
   vk_buffer_free(vk, &words);
   vk_kernel_free(vk, &kernel);
}

/* ---- submission --------------------------------------------------------- */

/* A batch may signal a timeline more than once. */
static void a_batch_gives_a_timeline_its_largest_value(void **state)
{
   struct vk *vk = *state;
   const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                           .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
   const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                       .pNext = &type};
   VkSemaphore semaphore;
   uint64_t value = 0;
   assert_vk(vkCreateSemaphore(vk->device, &info, NULL, &semaphore));
   const VkSemaphoreSubmitInfo signals[] = {
      {VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, NULL, semaphore, 2,
       VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0},
      {VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO, NULL, semaphore, 5,
       VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0},
   };
   const VkSubmitInfo2 batch = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .signalSemaphoreInfoCount = 2,
                                .pSignalSemaphoreInfos = signals};
   assert_vk(vkQueueSubmit2(vk->queue, 1, &batch, VK_NULL_HANDLE));
   assert_vk(vkQueueWaitIdle(vk->queue));
   assert_vk(vkGetSemaphoreCounterValue(vk->device, semaphore, &value));
   assert_int_equal(value, 5);
   vkDestroySemaphore(vk->device, semaphore, NULL);
}

/* ---- memory ------------------------------------------------------------- */

static VkDeviceSize memory_used(const struct vk *vk)
{
   VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
   VkPhysicalDeviceMemoryProperties2 properties = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
   vkGetPhysicalDeviceMemoryProperties2(vk->physical, &properties);
   return budget.heapUsage[0];
}

/* Usage is the process's, whichever instance allocates. */
static void usage_counts_what_other_instances_allocate(void **state)
{
   struct vk *vk = *state, other = {0};
   vk_open_instance(&other);
   const VkDeviceSize before = memory_used(&other);
   VkDeviceMemory memory = vk_memory(vk, 1 << 20);
   assert_true(memory_used(&other) >= before + (1 << 20));
   vkFreeMemory(vk->device, memory, NULL);
   assert_true(memory_used(&other) < before + (1 << 20));
   vk_close_instance(&other);
}

/* ---- images that are not there ------------------------------------------ */

static void open_null_device(struct vk *vk)
{
   static const float priority = 1.0f;
   static const char *const extension = VK_EXT_ROBUSTNESS_2_EXTENSION_NAME;
   VkPhysicalDeviceVulkan12Features features12 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
      .bufferDeviceAddress = VK_TRUE};
   VkPhysicalDeviceVulkan13Features features13 = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
      .pNext = &features12,
      .maintenance4 = VK_TRUE};
   VkPhysicalDeviceRobustness2FeaturesEXT robustness = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT,
      .pNext = &features13,
      .nullDescriptor = VK_TRUE};
   const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
   const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                    .pNext = &robustness,
                                    .queueCreateInfoCount = 1,
                                    .pQueueCreateInfos = &queue,
                                    .enabledExtensionCount = 1,
                                    .ppEnabledExtensionNames = &extension};
   const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
   const VkDescriptorPoolSize sizes[] = {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1},
                                         {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 2}};
   const VkDescriptorPoolCreateInfo descriptors = {.sType =
                                                      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                                   .maxSets = 1,
                                                   .poolSizeCount = 2,
                                                   .pPoolSizes = sizes};
   assert_vk(vkCreateDevice(vk->physical, &info, NULL, &vk->device));
   assert_vk(vkCreateCommandPool(vk->device, &pool, NULL, &vk->pool));
   assert_vk(vkCreateDescriptorPool(vk->device, &descriptors, NULL, &vk->descriptors));
   vkGetDeviceQueue(vk->device, 0, 0, &vk->queue);
}

/* The smallest level of detail may be negative. */
static VkSampler nearest_sampler(struct vk *vk)
{
   VkSampler sampler;
   const VkSamplerCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, .minLod = -1000, .maxLod = 1000};
   assert_vk(vkCreateSampler(vk->device, &info, NULL, &sampler));
   return sampler;
}

static struct vk_kernel null_kernel(struct vk *vk)
{
   struct vk_kernel kernel;
   size_t size;
   uint32_t *words = vk_read_spirv("vulkan/kernels/rules_null.spv", &size);
   VkDescriptorSetLayoutBinding bindings[3];
   for (uint32_t i = 0; i < 3; i++)
      bindings[i] = (VkDescriptorSetLayoutBinding){.binding = i,
                                                   .descriptorType =
                                                      i ? VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER
                                                        : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                   .descriptorCount = 1,
                                                   .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
   const VkDescriptorSetLayoutCreateInfo set = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = 3,
      .pBindings = bindings};
   const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 4};
   const VkShaderModuleCreateInfo module = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
   assert_vk(vkCreateShaderModule(vk->device, &module, NULL, &kernel.module));
   assert_vk(vkCreateDescriptorSetLayout(vk->device, &set, NULL, &kernel.set_layout));
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

static void write_nothing(struct vk *vk, VkDescriptorSet set, VkSampler sampler)
{
   const VkDescriptorImageInfo nothing = {.sampler = sampler};
   for (uint32_t i = 1; i < 3; i++) {
      const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                          .dstSet = set,
                                          .dstBinding = i,
                                          .descriptorCount = 1,
                                          .descriptorType =
                                             VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                          .pImageInfo = &nothing};
      vkUpdateDescriptorSets(vk->device, 1, &write, 0, NULL);
   }
}

/* Sizes of whichever level, levels, and texels of all faces are 0. */
static void images_that_are_not_there_are_zeros(void **state)
{
   struct vk vk = {0};
   vk_open_instance(&vk);
   open_null_device(&vk);
   struct vk_kernel kernel = null_kernel(&vk);
   struct vk_buffer words = vk_buffer(&vk, 64);
   VkDescriptorSet set = vk_set(&vk, &kernel, &words, 1);
   VkSampler sampler = nearest_sampler(&vk);
   VkCommandBuffer commands = vk_begin(&vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   const int32_t level = 3;
   write_nothing(&vk, set, sampler);
   vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline);
   vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout, 0, 1, &set, 0,
                           NULL);
   vkCmdPushConstants(commands, kernel.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &level);
   vkCmdDispatch(commands, 1, 1, 1);
   vk_run(&vk, commands);
   for (uint32_t i = 0; i < 3; i++)
      assert_int_equal(words.words[i], 0);
   assert_int_equal(words.words[3], 7);
   vkDestroySampler(vk.device, sampler, NULL);
   vk_buffer_free(&vk, &words);
   vk_kernel_free(&vk, &kernel);
   vk_close_device(&vk);
   vk_close_instance(&vk);
}

AGX_TEST_FILE(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, vk_open, vk_close)
   const struct CMUnitTest tests[] = {
      CASE(limits_are_what_the_table_asks),
      CASE(subgroups_have_two_names),
      CASE(images_have_levels_and_uses_of_their_views),
      CASE(pools_of_occlusion_queries_can_be_made),
      CASE(denormals_become_zeros_where_a_shader_asks),
      CASE(pointers_are_compared_and_subtracted),
      CASE(a_batch_gives_a_timeline_its_largest_value),
      CASE(usage_counts_what_other_instances_allocate),
      cmocka_unit_test(images_that_are_not_there_are_zeros),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
