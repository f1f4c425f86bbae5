/* SPDX-License-Identifier: MIT
 *
 * Semaphores and fences that two devices share, as whole timelines and as copies of what they are
 * at the time.
 */
#include "vulkan/harness.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#define OPAQUE       VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
#define COPY         VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT
#define OPAQUE_FENCE VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT
#define COPY_FENCE   VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT

struct pair {
   struct vk *a, b;
};

static struct pair open_pair(void **state)
{
   struct pair pair = {.a = *state, .b = *(struct vk *)*state};
   vk_open_device(&pair.b);
   return pair;
}

/* ---- semaphores --------------------------------------------------------- */

static VkSemaphore make_semaphore(struct vk *vk, VkSemaphoreType type,
                                  VkExternalSemaphoreHandleTypeFlags exported)
{
   VkSemaphore made;
   const VkExportSemaphoreCreateInfo external = {
      .sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO, .handleTypes = exported};
   const VkSemaphoreTypeCreateInfo kind = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                           .pNext = &external,
                                           .semaphoreType = type};
   const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                       .pNext = &kind};
   assert_vk(vkCreateSemaphore(vk->device, &info, NULL, &made));
   return made;
}

static int export_semaphore(struct vk *vk, VkSemaphore semaphore,
                            VkExternalSemaphoreHandleTypeFlagBits type)
{
   const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                         .semaphore = semaphore,
                                         .handleType = type};
   int fd = -1;
   assert_vk((VK_COMMAND(vk, vkGetSemaphoreFdKHR))(vk->device, &info, &fd));
   return fd;
}

static VkResult import_semaphore(struct vk *vk, VkSemaphore semaphore,
                                 VkExternalSemaphoreHandleTypeFlagBits type,
                                 VkSemaphoreImportFlags flags, int fd)
{
   const VkImportSemaphoreFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_IMPORT_SEMAPHORE_FD_INFO_KHR,
                                            .semaphore = semaphore,
                                            .flags = flags,
                                            .handleType = type,
                                            .fd = fd};
   return (VK_COMMAND(vk, vkImportSemaphoreFdKHR))(vk->device, &info);
}

struct step {
   VkSemaphore wait, signal;
   uint64_t wait_value, signal_value;
   VkCommandBuffer commands;
   VkFence fence;
};

static void submit(struct vk *vk, struct step step)
{
   const VkSemaphoreSubmitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                       .semaphore = step.wait,
                                       .value = step.wait_value,
                                       .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
   const VkSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                         .semaphore = step.signal,
                                         .value = step.signal_value,
                                         .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
   const VkCommandBufferSubmitInfo executed = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = step.commands};
   const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                               .waitSemaphoreInfoCount = step.wait != VK_NULL_HANDLE,
                               .pWaitSemaphoreInfos = &wait,
                               .commandBufferInfoCount = step.commands != NULL,
                               .pCommandBufferInfos = &executed,
                               .signalSemaphoreInfoCount = step.signal != VK_NULL_HANDLE,
                               .pSignalSemaphoreInfos = &signal};
   assert_vk(vkQueueSubmit2(vk->queue, 1, &info, step.fence));
}

static VkCommandBuffer fill_commands(struct vk *vk, const struct vk_buffer *buffer, uint32_t value)
{
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   vkCmdFillBuffer(commands, buffer->handle, 0, VK_WHOLE_SIZE, value);
   assert_vk(vkEndCommandBuffer(commands));
   return commands;
}

/* The memory of a's buffer as one of b's. */
static struct vk_buffer share_buffer(struct pair *pair, struct vk_buffer *out_a)
{
   struct vk *devices[2] = {pair->a, &pair->b};
   struct vk_buffer buffers[2] = {{.size = 65536}, {.size = 65536}};
   const VkExternalMemoryHandleTypeFlagBits type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
   int fd = -1;
   for (uint32_t i = 0; i < 2; i++) {
      const VkExternalMemoryBufferCreateInfo external = {
         .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = type};
      const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                       .pNext = &external,
                                       .size = buffers[i].size,
                                       .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
      const VkExportMemoryAllocateInfo export = {
         .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, .handleTypes = type};
      const VkImportMemoryFdInfoKHR import = {
         .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR, .handleType = type, .fd = fd};
      const VkMemoryAllocateInfo allocation = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                               .pNext = i ? (const void *)&import : &export,
                                               .allocationSize = buffers[i].size,
                                               .memoryTypeIndex = 1};
      void *memory;
      VkDevice device = devices[i]->device;
      VkMemoryRequirements needs;
      assert_vk(vkCreateBuffer(device, &info, NULL, &buffers[i].handle));
      vkGetBufferMemoryRequirements(device, buffers[i].handle, &needs);
      assert_int_equal(needs.size, buffers[i].size);
      assert_vk(vkAllocateMemory(device, &allocation, NULL, &buffers[i].memory));
      assert_vk(vkBindBufferMemory(device, buffers[i].handle, buffers[i].memory, 0));
      assert_vk(vkMapMemory(device, buffers[i].memory, 0, VK_WHOLE_SIZE, 0, &memory));
      buffers[i].words = memory;
      const VkMemoryGetFdInfoKHR get = {.sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
                                        .memory = buffers[0].memory,
                                        .handleType = type};
      if (i == 0)
         assert_vk((VK_COMMAND(devices[0], vkGetMemoryFdKHR))(device, &get, &fd));
   }
   *out_a = buffers[0];
   return buffers[1];
}

/* Signalled and waited for in turns by both, and by one alone; with and without work. */
static void a_binary_semaphore_is_passed_on(void **state)
{
   struct pair pair = open_pair(state);
   struct vk_buffer here, there = share_buffer(&pair, &here);
   VkSemaphore a = make_semaphore(pair.a, VK_SEMAPHORE_TYPE_BINARY, OPAQUE);
   VkSemaphore b = make_semaphore(&pair.b, VK_SEMAPHORE_TYPE_BINARY, 0);
   VkFence fence = vk_fence(pair.a);
   submit(pair.a, (struct step){.signal = a});
   submit(pair.a, (struct step){.wait = a});
   assert_vk(import_semaphore(&pair.b, b, OPAQUE, 0, export_semaphore(pair.a, a, OPAQUE)));
   for (uint32_t i = 0; i < 4; i++) {
      submit(pair.a, (struct step){.signal = a, .commands = fill_commands(pair.a, &here, 2 * i)});
      submit(&pair.b,
             (struct step){.wait = b, .commands = fill_commands(&pair.b, &there, 2 * i + 1)});
      submit(&pair.b, (struct step){.signal = b});
      assert_vk(vkResetFences(pair.a->device, 1, &fence));
      submit(pair.a, (struct step){.wait = a, .fence = fence});
      assert_vk(vkWaitForFences(pair.a->device, 1, &fence, VK_TRUE, UINT64_MAX));
      assert_int_equal(here.words[0], 2 * i + 1);
      assert_int_equal(here.words[here.size / 4 - 1], 2 * i + 1);
      submit(&pair.b, (struct step){.signal = b});
      submit(&pair.b, (struct step){.wait = b});
   }
   assert_vk(vkDeviceWaitIdle(pair.a->device));
   assert_vk(vkDeviceWaitIdle(pair.b.device));
   vkDestroyFence(pair.a->device, fence, NULL);
   vkDestroySemaphore(pair.a->device, a, NULL);
   vkDestroySemaphore(pair.b.device, b, NULL);
   vk_buffer_free(pair.a, &here);
   vk_buffer_free(&pair.b, &there);
   vk_close_device(&pair.b);
}

static void a_temporary_payload_is_for_one_wait(void **state)
{
   struct pair pair = open_pair(state);
   VkSemaphore a = make_semaphore(pair.a, VK_SEMAPHORE_TYPE_BINARY, OPAQUE | COPY);
   VkSemaphore b = make_semaphore(&pair.b, VK_SEMAPHORE_TYPE_BINARY, 0);
   for (uint32_t i = 0; i < 6; i++) {
      submit(pair.a, (struct step){.signal = a});
      const bool is_copy = i % 2;
      int fd = export_semaphore(pair.a, a, is_copy ? COPY : OPAQUE);
      assert_vk(import_semaphore(&pair.b, b, is_copy ? COPY : OPAQUE,
                                 VK_SEMAPHORE_IMPORT_TEMPORARY_BIT, fd));
      submit(&pair.b, (struct step){.wait = b});
      submit(&pair.b, (struct step){.signal = b}); /* which is its own again */
      submit(&pair.b, (struct step){.wait = b});
      assert_vk(vkQueueWaitIdle(pair.b.queue));
   }
   /* What has signalled already. */
   assert_vk(import_semaphore(&pair.b, b, COPY, VK_SEMAPHORE_IMPORT_TEMPORARY_BIT, -1));
   submit(&pair.b, (struct step){.wait = b});
   assert_vk(vkQueueWaitIdle(pair.b.queue));
   assert_vk(vkQueueWaitIdle(pair.a->queue));
   vkDestroySemaphore(pair.a->device, a, NULL);
   vkDestroySemaphore(pair.b.device, b, NULL);
   vk_close_device(&pair.b);
}

static void a_timeline_is_one_on_both_sides(void **state)
{
   struct pair pair = open_pair(state);
   VkSemaphore a = make_semaphore(pair.a, VK_SEMAPHORE_TYPE_TIMELINE, OPAQUE);
   VkSemaphore b = make_semaphore(&pair.b, VK_SEMAPHORE_TYPE_TIMELINE, 0);
   uint64_t value = 7;
   assert_vk(import_semaphore(&pair.b, b, OPAQUE, 0, export_semaphore(pair.a, a, OPAQUE)));
   submit(pair.a, (struct step){.wait = a, .wait_value = 5, .signal = a, .signal_value = 7});
   const VkSemaphoreSignalInfo five = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = b, .value = 5};
   assert_vk(vkSignalSemaphore(pair.b.device, &five));
   const VkSemaphoreWaitInfo seven = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &b,
                                      .pValues = &value};
   assert_vk(vkWaitSemaphores(pair.b.device, &seven, UINT64_MAX));
   assert_vk(vkGetSemaphoreCounterValue(pair.b.device, b, &value));
   assert_int_equal(value, 7);
   assert_vk(vkQueueWaitIdle(pair.a->queue));
   vkDestroySemaphore(pair.a->device, a, NULL);
   vkDestroySemaphore(pair.b.device, b, NULL);
   vk_close_device(&pair.b);
}

/* ---- fences ------------------------------------------------------------- */

static VkFence make_fence(struct vk *vk, VkFenceCreateFlags flags)
{
   VkFence made;
   const VkExportFenceCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXPORT_FENCE_CREATE_INFO,
                                             .handleTypes = OPAQUE_FENCE | COPY_FENCE};
   const VkFenceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO, .pNext = &external, .flags = flags};
   assert_vk(vkCreateFence(vk->device, &info, NULL, &made));
   return made;
}

static int export_fence(struct vk *vk, VkFence fence, VkExternalFenceHandleTypeFlagBits type)
{
   const VkFenceGetFdInfoKHR info = {
      .sType = VK_STRUCTURE_TYPE_FENCE_GET_FD_INFO_KHR, .fence = fence, .handleType = type};
   int fd = -1;
   assert_vk((VK_COMMAND(vk, vkGetFenceFdKHR))(vk->device, &info, &fd));
   return fd;
}

static VkResult import_fence(struct vk *vk, VkFence fence, VkExternalFenceHandleTypeFlagBits type,
                             VkFenceImportFlags flags, int fd)
{
   const VkImportFenceFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_IMPORT_FENCE_FD_INFO_KHR,
                                        .fence = fence,
                                        .flags = flags,
                                        .handleType = type,
                                        .fd = fd};
   return (VK_COMMAND(vk, vkImportFenceFdKHR))(vk->device, &info);
}

static void await(struct vk *vk, VkFence fence)
{
   assert_vk(vkWaitForFences(vk->device, 1, &fence, VK_TRUE, UINT64_MAX));
   assert_vk(vkGetFenceStatus(vk->device, fence));
}

static void a_fence_is_one_on_both_sides(void **state)
{
   struct pair pair = open_pair(state);
   for (uint32_t i = 0; i < 3; i++) {
      VkFence a = make_fence(pair.a, i == 1 ? VK_FENCE_CREATE_SIGNALED_BIT : 0);
      VkFence b = make_fence(&pair.b, VK_FENCE_CREATE_SIGNALED_BIT);
      if (i == 2) { /* used, and reset, before it is shared */
         submit(pair.a, (struct step){.fence = a});
         await(pair.a, a);
         assert_vk(vkResetFences(pair.a->device, 1, &a));
      }
      assert_vk(import_fence(&pair.b, b, OPAQUE_FENCE, 0, export_fence(pair.a, a, OPAQUE_FENCE)));
      if (i == 1)
         assert_vk(vkGetFenceStatus(pair.b.device, b));
      else
         assert_int_equal(vkGetFenceStatus(pair.b.device, b), VK_NOT_READY);
      for (uint32_t turn = 0; turn < 3; turn++) {
         assert_vk(vkResetFences(pair.b.device, 1, &b));
         assert_int_equal(vkGetFenceStatus(pair.a->device, a), VK_NOT_READY);
         submit(pair.a, (struct step){.fence = a});
         await(&pair.b, b);
         await(pair.a, a);
         assert_vk(vkResetFences(pair.a->device, 1, &a));
         assert_int_equal(vkGetFenceStatus(pair.b.device, b), VK_NOT_READY);
         submit(&pair.b, (struct step){.fence = b});
         await(pair.a, a);
         await(&pair.b, b);
      }
      vkDestroyFence(pair.a->device, a, NULL);
      vkDestroyFence(pair.b.device, b, NULL);
   }
   vk_close_device(&pair.b);
}

/* A fence for each turn: the layer that validates does not know that one whose copy left may be
 * used again at once. */
static void a_copy_of_a_fence_lasts_until_it_is_reset(void **state)
{
   struct pair pair = open_pair(state);
   VkFence b = make_fence(&pair.b, 0);
   for (uint32_t i = 0; i < 4; i++) {
      VkFence a = make_fence(pair.a, 0);
      submit(pair.a, (struct step){.fence = a});
      if (i % 2)
         await(pair.a, a);
      int fd = export_fence(pair.a, a, COPY_FENCE);
      assert_int_equal(vkGetFenceStatus(pair.a->device, a), VK_NOT_READY);
      assert_vk(import_fence(&pair.b, b, COPY_FENCE, VK_FENCE_IMPORT_TEMPORARY_BIT, fd));
      await(&pair.b, b);
      assert_vk(vkResetFences(pair.b.device, 1, &b));
      assert_int_equal(vkGetFenceStatus(pair.b.device, b), VK_NOT_READY);
      assert_vk(vkQueueWaitIdle(pair.a->queue));
      vkDestroyFence(pair.a->device, a, NULL);
   }
   assert_vk(import_fence(&pair.b, b, COPY_FENCE, VK_FENCE_IMPORT_TEMPORARY_BIT, -1));
   assert_vk(vkGetFenceStatus(pair.b.device, b));
   vkDestroyFence(pair.b.device, b, NULL);
   vk_close_device(&pair.b);
}

struct export_job {
   struct vk *vk;
   VkFence fence;
   int fd;
};

static void *export_in_thread(void *argument)
{
   struct export_job *job = argument;
   job->fd = export_fence(job->vk, job->fence, COPY_FENCE);
   return NULL;
}

/* The kernel has no work yet that a sync_file could stand for. */
static void a_copy_waits_for_work_to_be_submitted(void **state)
{
   struct vk *vk = *state;
   VkSemaphore timeline = make_semaphore(vk, VK_SEMAPHORE_TYPE_TIMELINE, 0);
   struct export_job job = {.vk = vk, .fence = make_fence(vk, 0)};
   pthread_t thread;
   submit(vk, (struct step){.wait = timeline, .wait_value = 1, .fence = job.fence});
   assert_int_equal(pthread_create(&thread, NULL, export_in_thread, &job), 0);
   const VkSemaphoreSignalInfo one = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = timeline, .value = 1};
   assert_vk(vkSignalSemaphore(vk->device, &one));
   assert_int_equal(pthread_join(thread, NULL), 0);
   struct pollfd file = {.fd = job.fd, .events = POLLIN};
   assert_int_equal(poll(&file, 1, -1), 1);
   close(job.fd);
   assert_vk(vkQueueWaitIdle(vk->queue));
   vkDestroyFence(vk->device, job.fence, NULL);
   vkDestroySemaphore(vk->device, timeline, NULL);
}

/* ---- what there is ------------------------------------------------------ */

static void what_is_no_semaphore_is_refused(void **state)
{
   struct vk *vk = *state;
   VkSemaphore semaphore = make_semaphore(vk, VK_SEMAPHORE_TYPE_BINARY, 0);
   VkFence fence = vk_fence(vk);
   int ends[2];
   assert_int_equal(pipe(ends), 0);
   assert_int_equal(import_semaphore(vk, semaphore, OPAQUE, 0, ends[0]),
                    VK_ERROR_INVALID_EXTERNAL_HANDLE);
   assert_int_equal(
      import_semaphore(vk, semaphore, COPY, VK_SEMAPHORE_IMPORT_TEMPORARY_BIT, ends[0]),
      VK_ERROR_INVALID_EXTERNAL_HANDLE);
   assert_int_equal(import_fence(vk, fence, OPAQUE_FENCE, 0, ends[0]),
                    VK_ERROR_INVALID_EXTERNAL_HANDLE);
   assert_int_equal(import_fence(vk, fence, COPY_FENCE, VK_FENCE_IMPORT_TEMPORARY_BIT, ends[0]),
                    VK_ERROR_INVALID_EXTERNAL_HANDLE);
   close(ends[0]);
   close(ends[1]);
   submit(vk, (struct step){.signal = semaphore}); /* as before */
   submit(vk, (struct step){.wait = semaphore, .fence = fence});
   await(vk, fence);
   vkDestroyFence(vk->device, fence, NULL);
   vkDestroySemaphore(vk->device, semaphore, NULL);
}

static void timelines_have_no_copies(void **state)
{
   struct vk *vk = *state;
   VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                     .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
   VkPhysicalDeviceExternalSemaphoreInfo info = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
      .pNext = &type,
      .handleType = OPAQUE};
   VkExternalSemaphoreProperties out = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES};
   vkGetPhysicalDeviceExternalSemaphoreProperties(vk->physical, &info, &out);
   assert_int_equal(out.compatibleHandleTypes, OPAQUE);
   assert_int_equal(out.externalSemaphoreFeatures, 3);
   info.handleType = COPY;
   vkGetPhysicalDeviceExternalSemaphoreProperties(vk->physical, &info, &out);
   assert_int_equal(out.externalSemaphoreFeatures, 0);
   type.semaphoreType = VK_SEMAPHORE_TYPE_BINARY;
   vkGetPhysicalDeviceExternalSemaphoreProperties(vk->physical, &info, &out);
   assert_int_equal(out.compatibleHandleTypes, OPAQUE | COPY);
   const VkPhysicalDeviceExternalFenceInfo fence = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_FENCE_INFO, .handleType = COPY_FENCE};
   VkExternalFenceProperties fences = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_FENCE_PROPERTIES};
   vkGetPhysicalDeviceExternalFenceProperties(vk->physical, &fence, &fences);
   assert_int_equal(fences.externalFenceFeatures, 3);
   assert_int_equal(fences.compatibleHandleTypes, OPAQUE_FENCE | COPY_FENCE);
}

AGX_TEST_FILE(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, vk_open, vk_close)
   const struct CMUnitTest tests[] = {
      CASE(a_binary_semaphore_is_passed_on),           CASE(a_temporary_payload_is_for_one_wait),
      CASE(a_timeline_is_one_on_both_sides),           CASE(a_fence_is_one_on_both_sides),
      CASE(a_copy_of_a_fence_lasts_until_it_is_reset), CASE(a_copy_waits_for_work_to_be_submitted),
      CASE(what_is_no_semaphore_is_refused),           CASE(timelines_have_no_copies),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
