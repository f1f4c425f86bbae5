/* SPDX-License-Identifier: MIT
 *
 *    vkhost SPIRV [DEVICE]
 *
 * What recording and submitting cost a Vulkan driver on the host, in nanoseconds and requests to
 * the kernel, as one JSON object: the other side of `agx bench --only host`. Meant for the virtual
 * AGX with execution switched off. The kernel has two storage buffers and eight bytes of push
 * constants, as saxpy of the corpus.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "base/util.h"
#include "vk.h"

#define DISPATCHES  1000 /* in one command buffer */
#define SUBMISSIONS 2000
#define ROUNDS      31

/* ---- counting ------------------------------------------------------------- */

static uint64_t requests;

/* The executable comes first in the search for symbols: libdrm's calls end here. */
__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...);
int ioctl(int fd, unsigned long request, ...)
{
   static int (*next)(int, unsigned long, ...);
   va_list arguments;
   va_start(arguments, request);
   void *argument = va_arg(arguments, void *);
   va_end(arguments);
   if (!next)
      *(void **)&next = dlsym(RTLD_NEXT, "ioctl");
   __atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED);
   return next(fd, request, argument);
}

static uint64_t now_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
   double x = *(const double *)a, y = *(const double *)b;
   return (x > y) - (x < y);
}

static double median(double *values, unsigned count)
{
   qsort(values, count, sizeof(*values), compare);
   return values[count / 2];
}

/* ---- what is recorded ----------------------------------------------------- */

struct vkhost {
   struct vk_device vk;
   struct vk_resource buffers[2];
   VkDescriptorSetLayout set_layout;
   VkDescriptorSet set;
   VkPipelineLayout layout;
   VkPipeline pipeline;
   VkSemaphore timeline;
   uint64_t value;
};

static agx_status make_set(struct vkhost *it)
{
   VkDevice device = it->vk.device;
   VkDescriptorSetLayoutBinding bindings[2];
   VkDescriptorBufferInfo ranges[2];
   VkWriteDescriptorSet writes[2];
   VkDescriptorPool pool;
   for (uint32_t i = 0; i < 2; i++)
      bindings[i] =
         (VkDescriptorSetLayoutBinding){.binding = i,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .descriptorCount = 1,
                                        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
   const VkDescriptorSetLayoutCreateInfo layout = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = 2,
      .pBindings = bindings};
   const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2};
   const VkDescriptorPoolCreateInfo pool_info = {.sType =
                                                    VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                                 .maxSets = 1,
                                                 .poolSizeCount = 1,
                                                 .pPoolSizes = &size};
   VK_TRY(vkCreateDescriptorSetLayout(device, &layout, NULL, &it->set_layout));
   VK_TRY(vkCreateDescriptorPool(device, &pool_info, NULL, &pool));
   const VkDescriptorSetAllocateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                            .descriptorPool = pool,
                                            .descriptorSetCount = 1,
                                            .pSetLayouts = &it->set_layout};
   VK_TRY(vkAllocateDescriptorSets(device, &set, &it->set));
   for (uint32_t i = 0; i < 2; i++) {
      AGX_TRY(vk_buffer_create(&it->vk, 4096, &it->buffers[i]));
      ranges[i] = (VkDescriptorBufferInfo){it->buffers[i].buffer, 0, VK_WHOLE_SIZE};
      writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                         .dstSet = it->set,
                                         .dstBinding = i,
                                         .descriptorCount = 1,
                                         .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                         .pBufferInfo = &ranges[i]};
   }
   vkUpdateDescriptorSets(device, 2, writes, 0, NULL);
   return AGX_OK;
}

static agx_status make_pipeline(struct vkhost *it, const void *spirv, size_t spirv_B)
{
   VkDevice device = it->vk.device;
   const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
   const VkPipelineLayoutCreateInfo layout = {.sType =
                                                 VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                              .setLayoutCount = 1,
                                              .pSetLayouts = &it->set_layout,
                                              .pushConstantRangeCount = 1,
                                              .pPushConstantRanges = &push};
   const VkShaderModuleCreateInfo module_info = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = spirv_B, .pCode = spirv};
   VkShaderModule module;
   VK_TRY(vkCreatePipelineLayout(device, &layout, NULL, &it->layout));
   VK_TRY(vkCreateShaderModule(device, &module_info, NULL, &module));
   const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = "main"},
      .layout = it->layout};
   VK_TRY(vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &it->pipeline));
   return AGX_OK;
}

static agx_status make_commands(struct vkhost *it, VkCommandPool *out_pool,
                                VkCommandBuffer *out_commands)
{
   const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                         .queueFamilyIndex = it->vk.family};
   VK_TRY(vkCreateCommandPool(it->vk.device, &pool, NULL, out_pool));
   const VkCommandBufferAllocateInfo info = {.sType =
                                                VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = *out_pool,
                                             .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                             .commandBufferCount = 1};
   VK_TRY(vkAllocateCommandBuffers(it->vk.device, &info, out_commands));
   return AGX_OK;
}

/* ---- measuring ------------------------------------------------------------ */

static agx_status record(struct vkhost *it, VkCommandBuffer commands, uint32_t count, bool barriers)
{
   static const uint32_t push[2] = {0x40200000, 1};
   const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
   const VkMemoryBarrier memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                                   .dstAccessMask =
                                      VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT};
   VK_TRY(vkBeginCommandBuffer(commands, &begin));
   vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, it->pipeline);
   for (uint32_t i = 0; i < count; i++) {
      vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, it->layout, 0, 1, &it->set,
                              0, NULL);
      vkCmdPushConstants(commands, it->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(push), push);
      vkCmdDispatch(commands, 1, 1, 1);
      if (barriers)
         vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                              VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &memory, 0, NULL, 0,
                              NULL);
   }
   VK_TRY(vkEndCommandBuffer(commands));
   return AGX_OK;
}

struct figure {
   double ns, requests; /* for each */
};

/* First: of a new pool and command buffer, the pool's driver memory included. */
static agx_status time_recording(struct vkhost *it, bool barriers, struct figure *first,
                                 struct figure *again)
{
   VkCommandPool pool;
   VkCommandBuffer commands;
   double rounds[ROUNDS];
   AGX_TRY(make_commands(it, &pool, &commands));
   for (int round = -1; round < ROUNDS; round++) {
      struct figure *figure = round < 0 ? first : again;
      uint64_t before = requests, start = now_ns();
      AGX_TRY(record(it, commands, DISPATCHES, barriers));
      figure->ns = (double)(now_ns() - start) / DISPATCHES;
      figure->requests = (double)(requests - before) / DISPATCHES;
      if (round >= 0)
         rounds[round] = figure->ns;
   }
   again->ns = median(rounds, ROUNDS);
   vkDestroyCommandPool(it->vk.device, pool, NULL);
   return AGX_OK;
}

static agx_status wait_for(struct vkhost *it, uint64_t value)
{
   const VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                     .semaphoreCount = 1,
                                     .pSemaphores = &it->timeline,
                                     .pValues = &value};
   VK_TRY(vkWaitSemaphores(it->vk.device, &info, UINT64_MAX));
   return AGX_OK;
}

static agx_status submit(struct vkhost *it, VkCommandBuffer commands)
{
   const uint64_t value = ++it->value;
   const VkTimelineSemaphoreSubmitInfo timeline = {
      .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
      .signalSemaphoreValueCount = 1,
      .pSignalSemaphoreValues = &value};
   const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                              .pNext = &timeline,
                              .commandBufferCount = 1,
                              .pCommandBuffers = &commands,
                              .signalSemaphoreCount = 1,
                              .pSignalSemaphores = &it->timeline};
   VK_TRY(vkQueueSubmit(it->vk.queue, 1, &info, VK_NULL_HANDLE));
   return AGX_OK;
}

static agx_status time_submissions(struct vkhost *it, VkCommandBuffer commands, bool waits,
                                   struct figure *out)
{
   double rounds[ROUNDS];
   for (unsigned round = 0; round < ROUNDS; round++) {
      uint64_t before = requests, start = now_ns();
      for (unsigned i = 0; i < SUBMISSIONS; i++) {
         AGX_TRY(submit(it, commands));
         if (waits)
            AGX_TRY(wait_for(it, it->value));
      }
      rounds[round] = (double)(now_ns() - start) / SUBMISSIONS;
      out->requests = (double)(requests - before) / SUBMISSIONS;
      AGX_TRY(wait_for(it, it->value));
   }
   out->ns = median(rounds, ROUNDS);
   return AGX_OK;
}

static void print(const char *name, const struct figure *figure, const char *separator)
{
   printf("\"%s\": {\"ns\": %.1f, \"requests\": %.4f}%s", name, figure->ns, figure->requests,
          separator);
}

static agx_status measure(struct vkhost *it)
{
   struct figure first, again, first_barrier, barrier, plain, round_trip, many;
   VkCommandPool pool;
   VkCommandBuffer one, large;
   AGX_TRY(time_recording(it, false, &first, &again));
   AGX_TRY(time_recording(it, true, &first_barrier, &barrier));
   AGX_TRY(make_commands(it, &pool, &one));
   AGX_TRY(record(it, one, 1, false));
   AGX_TRY(time_submissions(it, one, false, &plain));
   AGX_TRY(time_submissions(it, one, true, &round_trip));
   AGX_TRY(make_commands(it, &pool, &large));
   AGX_TRY(record(it, large, 5000, false));
   AGX_TRY(time_submissions(it, large, false, &many));
   printf("{");
   print("record", &again, ", ");
   print("record_first", &first, ", ");
   print("record_barrier", &barrier, ", ");
   print("record_barrier_first", &first_barrier, ", ");
   print("submit", &plain, ", ");
   print("submit_wait", &round_trip, ", ");
   print("submit_5000", &many, "}\n");
   return AGX_OK;
}

static agx_status run(const char *path, const char *name)
{
   static struct vkhost it;
   static uint32_t words[65536];
   FILE *file = fopen(path, "rb");
   if (!file)
      return AGX_FAIL(AGX_NOT_FOUND, "%s can't be opened", path);
   size_t spirv_B = fread(words, 1, sizeof(words), file);
   fclose(file);
   AGX_TRY(vk_device_open(name, false, &it.vk));
   const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                           .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
   const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                       .pNext = &type};
   VK_TRY(vkCreateSemaphore(it.vk.device, &info, NULL, &it.timeline));
   AGX_TRY(make_set(&it));
   AGX_TRY(make_pipeline(&it, words, spirv_B));
   return measure(&it);
}

int main(int argc, char **argv)
{
   char text[512];
   if (argc < 2) {
      fprintf(stderr, "usage: vkhost SPIRV [DEVICE]\n");
      return 2;
   }
   if (run(argv[1], argc > 2 ? argv[2] : "Apple") == AGX_OK)
      return 0;
   agx_error_text(text, sizeof(text));
   fprintf(stderr, "vkhost: %s\n", text);
   return 1;
}
