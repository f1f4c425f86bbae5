/* SPDX-License-Identifier: MIT
 *
 * Instances, devices and synchronisation of the Vulkan driver: what is refused, what failing
 * allocations leave behind, and which work waits for which.
 */
#include "vulkan/harness.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* ---- devices ------------------------------------------------------------ */

static VkResult create(struct vk *vk, const char *const *extensions, uint32_t extension_count,
                       const VkPhysicalDeviceFeatures *enabled, const VkAllocationCallbacks *alloc,
                       VkDevice *device)
{
   static const float priority = 1.0f;
   const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                          .queueCount = 1,
                                          .pQueuePriorities = &priority};
   const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                    .queueCreateInfoCount = 1,
                                    .pQueueCreateInfos = &queue,
                                    .enabledExtensionCount = extension_count,
                                    .ppEnabledExtensionNames = extensions,
                                    .pEnabledFeatures = enabled};
   return vkCreateDevice(vk->physical, &info, alloc, device);
}

static void what_is_announced_can_be_enabled(void **state)
{
   struct vk vk;
   static VkExtensionProperties extensions[256];
   const char *names[256];
   uint32_t count = 256;
   VkPhysicalDeviceFeatures features;
   VkDevice device;
   vk_open_instance(&vk);
   assert_vk(vkEnumerateDeviceExtensionProperties(vk.physical, NULL, &count, extensions));
   assert_true(count > 20);
   vkGetPhysicalDeviceFeatures(vk.physical, &features);
   /* Each with those before it, among them what it depends on. */
   for (uint32_t i = 0; i < count; i++) {
      names[i] = extensions[i].extensionName;
      assert_vk(create(&vk, names, i + 1, &features, NULL, &device));
      vkDestroyDevice(device, NULL);
   }
   vk_close_instance(&vk);
}

static void graphics_are_somebody_elses(void **state)
{
   struct vk *vk = *state;
   VkQueueFamilyProperties families[4];
   VkPhysicalDeviceFeatures features;
   uint32_t count = 4;
   vkGetPhysicalDeviceQueueFamilyProperties(vk->physical, &count, families);
   assert_int_equal(count, 2);
   assert_int_equal(families[0].queueFlags, VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT);
   assert_int_equal(families[1].queueFlags, VK_QUEUE_TRANSFER_BIT);
   vkGetPhysicalDeviceFeatures(vk->physical, &features);
   assert_false(features.geometryShader | features.tessellationShader | features.logicOp);
   assert_non_null(vkGetDeviceProcAddr(vk->device, "vkCmdDraw"));
   assert_null(vkGetDeviceProcAddr(vk->device, "vkQueuePresentKHR"));
   assert_null(vkGetDeviceProcAddr(vk->device, "vkCmdDispatchTheImpossible"));
}

/* ---- allocations -------------------------------------------------------- */

struct counted {
   int64_t left; /* until one fails; below 0: none does */
   int64_t live;
};

static void *VKAPI_CALL counted_alloc(void *user, size_t size, size_t alignment,
                                      VkSystemAllocationScope scope)
{
   struct counted *counted = user;
   if (counted->left == 0)
      return NULL;
   counted->left -= counted->left > 0;
   counted->live++;
   return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void VKAPI_CALL counted_free(void *user, void *memory)
{
   struct counted *counted = user;
   counted->live -= memory != NULL;
   free(memory);
}

/* Loaders ask for some of it through their own functions only. */
static void *VKAPI_CALL counted_realloc(void *user, void *old, size_t size, size_t alignment,
                                        VkSystemAllocationScope scope)
{
   struct counted *counted = user;
   if (counted->left == 0)
      return NULL;
   counted->left -= counted->left > 0;
   counted->live += old == NULL;
   return realloc(old, size);
}

static void failing_allocations_leave_nothing(void **state)
{
   struct vk *vk = *state;
   struct counted counted = {.left = -1};
   const VkAllocationCallbacks alloc = {.pUserData = &counted,
                                        .pfnAllocation = counted_alloc,
                                        .pfnReallocation = counted_realloc,
                                        .pfnFree = counted_free};
   const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
   const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
   VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
   for (int64_t n = 0; result != VK_SUCCESS; n++) {
      VkCommandPool pool = VK_NULL_HANDLE;
      VkCommandBuffer commands[3];
      VkFence fence = VK_NULL_HANDLE;
      counted.left = n;
      result = vkCreateFence(vk->device, &fence_info, &alloc, &fence);
      if (result == VK_SUCCESS)
         result = vkCreateCommandPool(vk->device, &pool_info, &alloc, &pool);
      const VkCommandBufferAllocateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                .commandPool = pool,
                                                .commandBufferCount = 3};
      if (result == VK_SUCCESS)
         result = vkAllocateCommandBuffers(vk->device, &info, commands);
      assert_true(result == VK_SUCCESS || result == VK_ERROR_OUT_OF_HOST_MEMORY);
      assert_true(n < 100);
      counted.left = -1;
      if (pool)
         vkDestroyCommandPool(vk->device, pool, &alloc);
      if (fence)
         vkDestroyFence(vk->device, fence, &alloc);
      assert_int_equal(counted.live, 0);
   }
}

/* ---- synchronisation ---------------------------------------------------- */

static VkSemaphore semaphore(struct vk *vk, VkSemaphoreType type)
{
   VkSemaphore made;
   const VkSemaphoreTypeCreateInfo kind = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                           .semaphoreType = type};
   const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                       .pNext = &kind};
   assert_vk(vkCreateSemaphore(vk->device, &info, NULL, &made));
   return made;
}

static VkCommandBuffer fill_commands(struct vk *vk, const struct vk_buffer *buffer, uint32_t value)
{
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   vkCmdFillBuffer(commands, buffer->handle, 0, VK_WHOLE_SIZE, value);
   assert_vk(vkEndCommandBuffer(commands));
   return commands;
}

static void binary_semaphores_order_queues(void **state)
{
   struct vk *vk = *state;
   VkSemaphore there = semaphore(vk, VK_SEMAPHORE_TYPE_BINARY);
   VkSemaphore back = semaphore(vk, VK_SEMAPHORE_TYPE_BINARY);
   struct vk_buffer buffer = vk_buffer(vk, 1 << 16);
   const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .queueFamilyIndex = 1};
   VkCommandPool own = vk->pool;
   VkCommandBuffer commands[8];
   VkFence fence = vk_fence(vk);
   const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
   for (uint32_t i = 0; i < 8; i += 2)
      commands[i] = fill_commands(vk, &buffer, i + 1);
   assert_vk(vkCreateCommandPool(vk->device, &info, NULL, &vk->pool));
   for (uint32_t i = 1; i < 8; i += 2)
      commands[i] = fill_commands(vk, &buffer, i + 1);
   for (uint32_t i = 0; i < 8; i++) {
      const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                   .waitSemaphoreCount = i > 0,
                                   .pWaitSemaphores = i % 2 ? &there : &back,
                                   .pWaitDstStageMask = &stage,
                                   .commandBufferCount = 1,
                                   .pCommandBuffers = &commands[i],
                                   .signalSemaphoreCount = i < 7,
                                   .pSignalSemaphores = i % 2 ? &back : &there};
      assert_vk(
         vkQueueSubmit(i % 2 ? vk->other : vk->queue, 1, &submit, i == 7 ? fence : VK_NULL_HANDLE));
   }
   assert_vk(vkWaitForFences(vk->device, 1, &fence, VK_TRUE, UINT64_MAX));
   assert_int_equal(buffer.words[0], 8);
   assert_int_equal(buffer.words[(1 << 14) - 1], 8);
   assert_vk(vkDeviceWaitIdle(vk->device));
   vkDestroyCommandPool(vk->device, vk->pool, NULL);
   vk->pool = own;
   vkDestroyFence(vk->device, fence, NULL);
   vkDestroySemaphore(vk->device, there, NULL);
   vkDestroySemaphore(vk->device, back, NULL);
   vk_buffer_free(vk, &buffer);
}

static void work_waits_for_values_that_come_later(void **state)
{
   struct vk *vk = *state;
   VkSemaphore timeline = semaphore(vk, VK_SEMAPHORE_TYPE_TIMELINE);
   struct vk_buffer buffer = vk_buffer(vk, 4096);
   VkCommandBuffer commands = fill_commands(vk, &buffer, 5);
   const VkCommandBufferSubmitInfo executed = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = commands};
   const VkSemaphoreSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                       .semaphore = timeline,
                                       .value = 10,
                                       .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
   VkSemaphoreSubmitInfo signal = wait;
   signal.value = 11;
   const VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                 .waitSemaphoreInfoCount = 1,
                                 .pWaitSemaphoreInfos = &wait,
                                 .commandBufferInfoCount = 1,
                                 .pCommandBufferInfos = &executed,
                                 .signalSemaphoreInfoCount = 1,
                                 .pSignalSemaphoreInfos = &signal};
   assert_vk(vkQueueSubmit2(vk->queue, 1, &submit, VK_NULL_HANDLE));
   const uint64_t eleven = 11;
   uint64_t value;
   const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                     .semaphoreCount = 1,
                                     .pSemaphores = &timeline,
                                     .pValues = &eleven};
   assert_int_equal(vkWaitSemaphores(vk->device, &info, 1000000), VK_TIMEOUT);
   assert_int_equal(buffer.words[0], 0);
   const VkSemaphoreSignalInfo ten = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = timeline, .value = 10};
   assert_vk(vkSignalSemaphore(vk->device, &ten));
   assert_vk(vkWaitSemaphores(vk->device, &info, UINT64_MAX));
   assert_int_equal(buffer.words[1023], 5);
   assert_vk(vkGetSemaphoreCounterValue(vk->device, timeline, &value));
   assert_int_equal(value, 11);
   assert_vk(vkQueueWaitIdle(vk->queue));
   vkDestroySemaphore(vk->device, timeline, NULL);
   vk_buffer_free(vk, &buffer);
}

static void fences_are_used_again(void **state)
{
   struct vk *vk = *state;
   const VkFenceCreateInfo signalled = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO,
                                        .flags = VK_FENCE_CREATE_SIGNALED_BIT};
   VkFence fences[2] = {vk_fence(vk), VK_NULL_HANDLE};
   assert_vk(vkCreateFence(vk->device, &signalled, NULL, &fences[1]));
   assert_int_equal(vkGetFenceStatus(vk->device, fences[0]), VK_NOT_READY);
   assert_vk(vkGetFenceStatus(vk->device, fences[1]));
   assert_vk(vkWaitForFences(vk->device, 2, fences, VK_FALSE, 0));
   assert_int_equal(vkWaitForFences(vk->device, 2, fences, VK_TRUE, 1000000), VK_TIMEOUT);
   for (uint32_t turn = 0; turn < 5; turn++) {
      assert_vk(vkResetFences(vk->device, 2, fences));
      assert_int_equal(vkGetFenceStatus(vk->device, fences[1]), VK_NOT_READY);
      assert_vk(vkQueueSubmit(vk->queue, 0, NULL, fences[1]));
      assert_vk(vkWaitForFences(vk->device, 1, &fences[1], VK_TRUE, UINT64_MAX));
   }
   vkDestroyFence(vk->device, fences[0], NULL);
   vkDestroyFence(vk->device, fences[1], NULL);
}

static void batches_of_a_submission_come_in_order(void **state)
{
   struct vk *vk = *state;
   struct vk_buffer a = vk_buffer(vk, 4096), b = vk_buffer(vk, 40 * 4);
   VkCommandBuffer commands[80];
   VkSubmitInfo batches[40];
   VkFence fence = vk_fence(vk);
   for (uint32_t i = 0; i < 40; i++) {
      const VkBufferCopy copy = {i * 4, i * 4, 4};
      commands[2 * i] = fill_commands(vk, &a, i + 1);
      commands[2 * i + 1] = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
      vk_barrier(commands[2 * i + 1]);
      vkCmdCopyBuffer(commands[2 * i + 1], a.handle, b.handle, 1, &copy);
      vk_barrier(commands[2 * i + 1]);
      assert_vk(vkEndCommandBuffer(commands[2 * i + 1]));
      batches[i] = (VkSubmitInfo){.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                  .commandBufferCount = 2,
                                  .pCommandBuffers = &commands[2 * i]};
   }
   assert_vk(vkQueueSubmit(vk->queue, 40, batches, fence));
   assert_vk(vkWaitForFences(vk->device, 1, &fence, VK_TRUE, UINT64_MAX));
   for (uint32_t i = 0; i < 40; i++)
      assert_int_equal(b.words[i], i + 1);
   vkDestroyFence(vk->device, fence, NULL);
   vk_buffer_free(vk, &a);
   vk_buffer_free(vk, &b);
}

/* ---- what objects carry ------------------------------------------------- */

static void private_data_is_of_object_and_slot(void **state)
{
   struct vk *vk = *state;
   const VkPrivateDataSlotCreateInfo info = {.sType =
                                                VK_STRUCTURE_TYPE_PRIVATE_DATA_SLOT_CREATE_INFO};
   VkPrivateDataSlot slots[3];
   VkFence fences[2] = {vk_fence(vk), vk_fence(vk)};
   for (uint32_t i = 0; i < 3; i++)
      assert_vk(vkCreatePrivateDataSlot(vk->device, &info, NULL, &slots[i]));
   for (uint32_t i = 0; i < 6; i++)
      assert_vk(vkSetPrivateData(vk->device, VK_OBJECT_TYPE_FENCE, (uint64_t)fences[i / 3],
                                 slots[i % 3], 100 + i));
   for (uint32_t i = 0; i < 6; i++) {
      uint64_t data;
      vkGetPrivateData(vk->device, VK_OBJECT_TYPE_FENCE, (uint64_t)fences[i / 3], slots[i % 3],
                       &data);
      assert_int_equal(data, 100 + i);
   }
   for (uint32_t i = 0; i < 3; i++)
      vkDestroyPrivateDataSlot(vk->device, slots[i], NULL);
   vkDestroyFence(vk->device, fences[0], NULL);
   vkDestroyFence(vk->device, fences[1], NULL);
}

/* ---- pipelines ---------------------------------------------------------- */

#define COMMAND(vk, name) (PFN_##name) vkGetDeviceProcAddr((vk)->device, #name)

static void pipelines_tell_what_became_of_them(void **state)
{
   struct vk *vk = *state;
   PFN_vkGetPipelineExecutablePropertiesKHR get_properties =
      COMMAND(vk, vkGetPipelineExecutablePropertiesKHR);
   PFN_vkGetPipelineExecutableStatisticsKHR get_statistics =
      COMMAND(vk, vkGetPipelineExecutableStatisticsKHR);
   PFN_vkGetPipelineExecutableInternalRepresentationsKHR get_texts =
      COMMAND(vk, vkGetPipelineExecutableInternalRepresentationsKHR);
   struct vk_kernel kernel = vk_kernel(vk, "corpus/saxpy.spv", 2, 0);
   VkPipeline captured;
   const VkComputePipelineCreateInfo create_info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .flags = VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR |
               VK_PIPELINE_CREATE_CAPTURE_INTERNAL_REPRESENTATIONS_BIT_KHR,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = kernel.module,
                .pName = "main"},
      .layout = kernel.layout};
   assert_vk(
      vkCreateComputePipelines(vk->device, VK_NULL_HANDLE, 1, &create_info, NULL, &captured));
   const VkPipelineInfoKHR pipeline = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR,
                                       .pipeline = captured};
   const VkPipelineExecutableInfoKHR info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = captured};
   uint32_t count = 1;
   VkPipelineExecutablePropertiesKHR properties = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR};
   VkResult result = get_properties(vk->device, &pipeline, &count, &properties);
   assert_true(result == VK_SUCCESS || result == VK_INCOMPLETE);
   assert_int_equal(properties.subgroupSize, 32);
   static VkPipelineExecutableStatisticKHR statistics[64];
   bool has_instructions = false;
   count = 64;
   for (uint32_t i = 0; i < count; i++)
      statistics[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
   assert_vk(get_statistics(vk->device, &info, &count, statistics));
   for (uint32_t i = 0; i < count; i++)
      has_instructions |=
         !strcmp(statistics[i].name, "Instructions") && statistics[i].value.u64 > 5;
   assert_true(has_instructions);
   static char text[1 << 16];
   VkPipelineExecutableInternalRepresentationKHR all[4] = {0};
   count = 0;
   assert_vk(get_texts(vk->device, &info, &count, NULL));
   assert_int_equal(count, 4);
   for (uint32_t i = 0; i < 4; i++)
      all[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
   assert_vk(get_texts(vk->device, &info, &count, all));
   for (uint32_t i = 0; i < 4; i++)
      assert_true(all[i].isText && all[i].dataSize > 50 && all[i].dataSize < sizeof(text));
   const size_t whole = all[3].dataSize;
   memset(all, 0, 3 * sizeof(all[0]));
   for (uint32_t i = 0; i < 3; i++)
      all[i].sType = all[3].sType;
   all[3].pData = text;
   assert_vk(get_texts(vk->device, &info, &count, all));
   assert_int_equal(strlen(text) + 1, whole);
   assert_non_null(strstr(text, "stop"));
   all[3].dataSize = 20;
   assert_int_equal(get_texts(vk->device, &info, &count, all), VK_INCOMPLETE);
   vkDestroyPipeline(vk->device, captured, NULL);
   vk_kernel_free(vk, &kernel);
}

/* ---- threads ------------------------------------------------------------ */

struct compile_job {
   struct vk *vk;
   const char *name;
};

static void *compile(void *argument)
{
   struct compile_job *job = argument;
   struct vk_kernel kernel = vk_kernel(job->vk, job->name, 4, 0);
   vk_kernel_free(job->vk, &kernel);
   return NULL;
}

static void pipelines_compile_at_once(void **state)
{
   static const char *const names[] = {"corpus/softmax.spv", "corpus/rmsnorm.spv",
                                       "corpus/attn_score.spv", "corpus/fft_radix4.spv"};
   struct compile_job jobs[AGX_COUNT(names)];
   pthread_t threads[AGX_COUNT(names)];
   for (uint32_t i = 0; i < AGX_COUNT(names); i++) {
      jobs[i] = (struct compile_job){*state, names[i]};
      assert_int_equal(pthread_create(&threads[i], NULL, compile, &jobs[i]), 0);
   }
   for (uint32_t i = 0; i < AGX_COUNT(names); i++)
      assert_int_equal(pthread_join(threads[i], NULL), 0);
}

AGX_TEST_FILE(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, vk_open, vk_close)
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_announced_can_be_enabled),
      CASE(graphics_are_somebody_elses),
      CASE(failing_allocations_leave_nothing),
      CASE(binary_semaphores_order_queues),
      CASE(work_waits_for_values_that_come_later),
      CASE(fences_are_used_again),
      CASE(batches_of_a_submission_come_in_order),
      CASE(private_data_is_of_object_and_slot),
      CASE(pipelines_tell_what_became_of_them),
      CASE(pipelines_compile_at_once),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
