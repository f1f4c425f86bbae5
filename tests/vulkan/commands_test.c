/* SPDX-License-Identifier: MIT
 *
 * Recorded commands of the Vulkan driver: dispatches with all ways to bind, transfers, secondary
 * command buffers, queries, events and images.
 */
#include "vulkan/harness.h"

#include <string.h>

#define COUNT 1000u

/* ---- help --------------------------------------------------------------- */

struct fill_push {
   uint32_t value, count;
};

struct saxpy_push {
   float a;
   uint32_t count;
};

static void bind(VkCommandBuffer commands, const struct vk_kernel *kernel, VkDescriptorSet set)
{
   vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
   vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, 0, 1, &set, 0,
                           NULL);
}

static void push(VkCommandBuffer commands, const struct vk_kernel *kernel, const void *data,
                 uint32_t size)
{
   vkCmdPushConstants(commands, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, size, data);
}

static void fill(VkCommandBuffer commands, const struct vk_kernel *kernel, VkDescriptorSet set,
                 uint32_t value)
{
   const struct fill_push constants = {value, COUNT};
   bind(commands, kernel, set);
   push(commands, kernel, &constants, sizeof(constants));
   vkCmdDispatch(commands, (COUNT + 255) / 256, 1, 1);
}

static void assert_words(const struct vk_buffer *buffer, uint32_t first, uint32_t count,
                         uint32_t value)
{
   for (uint32_t i = 0; i < count; i++)
      assert_int_equal(buffer->words[first + i], value);
}

/* ---- dispatches --------------------------------------------------------- */

static void barriers_order_dispatches(void **state)
{
   struct vk *vk = *state;
   struct vk_kernel saxpy = vk_kernel(vk, "corpus/saxpy.spv", 2, 0);
   struct vk_buffer buffers[2] = {vk_buffer(vk, COUNT * 4), vk_buffer(vk, COUNT * 4)};
   float *x = (float *)buffers[0].words, *y = (float *)buffers[1].words;
   VkDescriptorSet set = vk_set(vk, &saxpy, buffers, 2);
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   const struct saxpy_push constants = {2.0f, COUNT};
   for (uint32_t i = 0; i < COUNT; i++)
      x[i] = (float)i;
   bind(commands, &saxpy, set);
   push(commands, &saxpy, &constants, sizeof(constants));
   for (uint32_t turn = 0; turn < 10; turn++) {
      vkCmdDispatch(commands, (COUNT + 63) / 64, 1, 1);
      vk_barrier(commands);
   }
   vk_run(vk, commands);
   for (uint32_t i = 0; i < COUNT; i++)
      assert_true(y[i] == 20.0f * (float)i);
   vk_kernel_free(vk, &saxpy);
   vk_buffer_free(vk, &buffers[0]);
   vk_buffer_free(vk, &buffers[1]);
}

static void counts_come_from_memory(void **state)
{
   struct vk *vk = *state;
   struct vk_kernel kernel = vk_kernel(vk, "corpus/fill_u32.spv", 1, 0);
   struct vk_buffer target = vk_buffer(vk, COUNT * 4), counts = vk_buffer(vk, 64);
   VkDescriptorSet set = vk_set(vk, &kernel, &target, 1);
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   const struct fill_push constants = {7, COUNT};
   bind(commands, &kernel, set);
   push(commands, &kernel, &constants, sizeof(constants));
   const uint32_t groups[3] = {2, 1, 1};
   vkCmdUpdateBuffer(commands, counts.handle, 4, sizeof(groups), groups);
   vk_barrier(commands);
   vkCmdDispatchIndirect(commands, counts.handle, 4);
   vk_run(vk, commands);
   assert_words(&target, 0, 512, 7);
   assert_words(&target, 512, COUNT - 512, 0);
   vk_kernel_free(vk, &kernel);
   vk_buffer_free(vk, &target);
   vk_buffer_free(vk, &counts);
}

/* ---- binding ------------------------------------------------------------ */

static void pushed_descriptors_are_those_of_the_moment(void **state)
{
   struct vk *vk = *state;
   PFN_vkCmdPushDescriptorSetKHR push_set =
      (PFN_vkCmdPushDescriptorSetKHR)vkGetDeviceProcAddr(vk->device, "vkCmdPushDescriptorSetKHR");
   struct vk_kernel kernel = vk_kernel(vk, "corpus/fill_u32.spv", 1,
                                       VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR);
   struct vk_buffer buffers[3];
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline);
   for (uint32_t i = 0; i < 3; i++) {
      buffers[i] = vk_buffer(vk, COUNT * 4);
      const VkDescriptorBufferInfo info = {buffers[i].handle, 0, VK_WHOLE_SIZE};
      const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                          .descriptorCount = 1,
                                          .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                          .pBufferInfo = &info};
      const struct fill_push constants = {10 + i, COUNT};
      push_set(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout, 0, 1, &write);
      push(commands, &kernel, &constants, sizeof(constants));
      vkCmdDispatch(commands, 4, 1, 1);
   }
   vk_run(vk, commands);
   for (uint32_t i = 0; i < 3; i++) {
      assert_words(&buffers[i], 0, COUNT, 10 + i);
      vk_buffer_free(vk, &buffers[i]);
   }
   vk_kernel_free(vk, &kernel);
}

static void dynamic_offsets_move_a_binding(void **state)
{
   struct vk *vk = *state;
   struct vk_kernel kernel = vk_kernel(vk, "corpus/fill_u32.spv", 1, 0);
   struct vk_buffer target = vk_buffer(vk, 4096);
   const VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                    VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC,
                                                 .descriptorCount = 1,
                                                 .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
   vkDestroyPipeline(vk->device, kernel.pipeline, NULL);
   vkDestroyPipelineLayout(vk->device, kernel.layout, NULL);
   vkDestroyDescriptorSetLayout(vk->device, kernel.set_layout, NULL);
   const VkDescriptorSetLayoutCreateInfo set_info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = 1,
      .pBindings = &binding};
   const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, 8};
   const VkPipelineLayoutCreateInfo layout = {.sType =
                                                 VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                              .setLayoutCount = 1,
                                              .pSetLayouts = &kernel.set_layout,
                                              .pushConstantRangeCount = 1,
                                              .pPushConstantRanges = &range};
   assert_vk(vkCreateDescriptorSetLayout(vk->device, &set_info, NULL, &kernel.set_layout));
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
   const VkDescriptorSetAllocateInfo allocate = {.sType =
                                                    VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                 .descriptorPool = vk->descriptors,
                                                 .descriptorSetCount = 1,
                                                 .pSetLayouts = &kernel.set_layout};
   VkDescriptorSet set;
   assert_vk(vkAllocateDescriptorSets(vk->device, &allocate, &set));
   const VkDescriptorBufferInfo part = {target.handle, 256, 256};
   const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                       .dstSet = set,
                                       .descriptorCount = 1,
                                       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC,
                                       .pBufferInfo = &part};
   vkUpdateDescriptorSets(vk->device, 1, &write, 0, NULL);
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline);
   for (uint32_t i = 0; i < 3; i++) {
      const uint32_t offset = i * 512;
      const struct fill_push constants = {20 + i, 64};
      vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout, 0, 1, &set,
                              1, &offset);
      push(commands, &kernel, &constants, sizeof(constants));
      vkCmdDispatch(commands, 1, 1, 1);
   }
   vk_run(vk, commands);
   assert_words(&target, 0, 64, 0);
   for (uint32_t i = 0; i < 3; i++) {
      assert_words(&target, 64 + i * 128, 64, 20 + i);
      assert_words(&target, 128 + i * 128, 64, 0);
   }
   vk_kernel_free(vk, &kernel);
   vk_buffer_free(vk, &target);
}

/* A shader that keeps to a range may have one that is shorter than its block. */
static void short_ranges_are_legal(void **state)
{
   struct vk *vk = *state;
   struct vk_kernel kernel = vk_kernel(vk, "corpus/nbody.spv", 3, 0);
   struct vk_buffer buffers[3] = {vk_buffer(vk, 4), vk_buffer(vk, 4), vk_buffer(vk, 4)};
   struct vk_buffer counts = vk_buffer(vk, 12);
   VkDescriptorSet set = vk_set(vk, &kernel, buffers, 3);
   for (uint32_t is_indirect = 0; is_indirect < 2; is_indirect++) {
      VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
      const uint32_t none[4] = {0};
      bind(commands, &kernel, set);
      push(commands, &kernel, none, sizeof(none));
      if (is_indirect)
         vkCmdDispatchIndirect(commands, counts.handle, 0);
      else
         vkCmdDispatch(commands, 0, 1, 1);
      vk_run(vk, commands);
   }
   vk_kernel_free(vk, &kernel);
   for (uint32_t i = 0; i < 3; i++)
      vk_buffer_free(vk, &buffers[i]);
   vk_buffer_free(vk, &counts);
}

static void templates_write_what_an_array_holds(void **state)
{
   struct vk *vk = *state;
   struct vk_kernel saxpy = vk_kernel(vk, "corpus/saxpy.spv", 2, 0);
   struct vk_buffer buffers[2] = {vk_buffer(vk, 256), vk_buffer(vk, 256)};
   VkDescriptorSet set = vk_set(vk, &saxpy, buffers, 2);
   struct {
      uint32_t other;
      VkDescriptorBufferInfo infos[2];
   } data = {0, {{buffers[1].handle, 128, 128}, {buffers[0].handle, 0, 128}}};
   const VkDescriptorUpdateTemplateEntry entry = {.descriptorCount = 2,
                                                  .descriptorType =
                                                     VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                  .offset = offsetof(__typeof__(data), infos),
                                                  .stride = sizeof(VkDescriptorBufferInfo)};
   const VkDescriptorUpdateTemplateCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_UPDATE_TEMPLATE_CREATE_INFO,
      .descriptorUpdateEntryCount = 1,
      .pDescriptorUpdateEntries = &entry,
      .templateType = VK_DESCRIPTOR_UPDATE_TEMPLATE_TYPE_DESCRIPTOR_SET,
      .descriptorSetLayout = saxpy.set_layout};
   VkDescriptorUpdateTemplate template;
   assert_vk(vkCreateDescriptorUpdateTemplate(vk->device, &info, NULL, &template));
   vkUpdateDescriptorSetWithTemplate(vk->device, set, template, &data);
   for (uint32_t i = 0; i < 32; i++)
      ((float *)buffers[1].words)[32 + i] = (float)i;
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   const struct saxpy_push constants = {3.0f, 32};
   bind(commands, &saxpy, set);
   push(commands, &saxpy, &constants, sizeof(constants));
   vkCmdDispatch(commands, 1, 1, 1);
   vk_run(vk, commands);
   for (uint32_t i = 0; i < 32; i++)
      assert_true(((float *)buffers[0].words)[i] == 3.0f * (float)i);
   vkDestroyDescriptorUpdateTemplate(vk->device, template, NULL);
   vk_kernel_free(vk, &saxpy);
   vk_buffer_free(vk, &buffers[0]);
   vk_buffer_free(vk, &buffers[1]);
}

/* ---- secondary command buffers ------------------------------------------ */

static void secondary_commands_run_in_their_place(void **state)
{
   struct vk *vk = *state;
   struct vk_kernel kernel = vk_kernel(vk, "corpus/fill_u32.spv", 1, 0);
   struct vk_buffer a = vk_buffer(vk, COUNT * 4), b = vk_buffer(vk, COUNT * 4);
   VkDescriptorSet set = vk_set(vk, &kernel, &a, 1);
   const VkBufferCopy first_half = {0, 0, COUNT * 2}, second_half = {0, COUNT * 2, COUNT * 2};
   VkCommandBuffer twos = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
   VkCommandBuffer empty = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   fill(twos, &kernel, set, 2);
   assert_vk(vkEndCommandBuffer(twos));
   assert_vk(vkEndCommandBuffer(empty));
   const VkCommandBuffer executed[] = {empty, twos};
   fill(commands, &kernel, set, 1);
   vk_barrier(commands);
   vkCmdCopyBuffer(commands, a.handle, b.handle, 1, &first_half);
   vk_barrier(commands);
   vkCmdExecuteCommands(commands, 2, executed);
   vk_barrier(commands);
   vkCmdCopyBuffer(commands, a.handle, b.handle, 1, &second_half);
   vk_run(vk, commands);
   assert_words(&b, 0, COUNT / 2, 1);
   assert_words(&b, COUNT / 2, COUNT / 2, 2);
   assert_words(&a, 0, COUNT, 2);
   vk_kernel_free(vk, &kernel);
   vk_buffer_free(vk, &a);
   vk_buffer_free(vk, &b);
}

static void command_buffers_are_recorded_anew(void **state)
{
   struct vk *vk = *state;
   struct vk_kernel kernel = vk_kernel(vk, "corpus/fill_u32.spv", 1, 0);
   struct vk_buffer target = vk_buffer(vk, COUNT * 4);
   VkDescriptorSet set = vk_set(vk, &kernel, &target, 1);
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
   for (uint32_t i = 1; i < 5; i++) {
      fill(commands, &kernel, set, i);
      vk_run(vk, commands);
      assert_words(&target, 0, COUNT, i);
      if (i == 2)
         assert_vk(vkResetCommandPool(vk->device, vk->pool, 0));
      assert_vk(vkBeginCommandBuffer(commands, &begin));
   }
   vk_run(vk, commands); /* empty */
   assert_words(&target, 0, COUNT, 4);
   vk_kernel_free(vk, &kernel);
   vk_buffer_free(vk, &target);
}

/* ---- transfers ---------------------------------------------------------- */

static void buffers_are_filled_updated_and_copied(void **state)
{
   struct vk *vk = *state;
   struct vk_buffer a = vk_buffer(vk, 1024), b = vk_buffer(vk, 1024);
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
   const VkBufferCopy odd[] = {{1, 3, 5}, {0, 101, 8}};
   vkCmdFillBuffer(commands, a.handle, 0, VK_WHOLE_SIZE, 0xa5a5a5a5);
   vk_barrier(commands);
   vkCmdUpdateBuffer(commands, a.handle, 0, sizeof(bytes), bytes);
   vk_barrier(commands);
   vkCmdCopyBuffer(commands, a.handle, b.handle, 2, odd);
   vkCmdFillBuffer(commands, b.handle, 512, 8, 9);
   vk_run(vk, commands);
   const uint8_t *got = (const uint8_t *)b.words;
   assert_memory_equal(got + 3, bytes + 1, 5);
   assert_memory_equal(got + 101, bytes, 8);
   assert_int_equal(got[2] | got[8] | got[100] | got[109], 0);
   assert_words(&a, 2, 254, 0xa5a5a5a5);
   assert_words(&b, 128, 2, 9);
   assert_int_equal(b.words[127] | b.words[130], 0);
   vk_buffer_free(vk, &a);
   vk_buffer_free(vk, &b);
}

static void layout_barrier(VkCommandBuffer commands, VkImage image, VkImageLayout from)
{
   const VkImageMemoryBarrier barrier = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
      .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
      .oldLayout = from,
      .newLayout = VK_IMAGE_LAYOUT_GENERAL,
      .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .image = image,
      .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0,
                           VK_REMAINING_ARRAY_LAYERS}};
   vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static void images_are_cleared_and_copied(void **state)
{
   struct vk *vk = *state;
   struct vk_buffer source = vk_buffer(vk, 64 * 4), target = vk_buffer(vk, 64 * 4);
   VkImage images[2];
   VkDeviceMemory memory = NULL;
   VkDeviceSize offset = 0;
   for (uint32_t i = 0; i < 2; i++) {
      VkMemoryRequirements needs;
      const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                      .imageType = VK_IMAGE_TYPE_2D,
                                      .format = VK_FORMAT_R32_UINT,
                                      .extent = {8, 8, 1},
                                      .mipLevels = 2,
                                      .arrayLayers = 3,
                                      .samples = VK_SAMPLE_COUNT_1_BIT,
                                      .usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                               VK_IMAGE_USAGE_TRANSFER_DST_BIT};
      assert_vk(vkCreateImage(vk->device, &info, NULL, &images[i]));
      vkGetImageMemoryRequirements(vk->device, images[i], &needs);
      const VkDeviceSize stride =
         (needs.size + needs.alignment - 1) / needs.alignment * needs.alignment;
      memory = memory ? memory : vk_memory(vk, 2 * stride);
      assert_vk(vkBindImageMemory(vk->device, images[i], memory, offset));
      offset += stride;
   }
   const VkClearColorValue color = {.uint32 = {77}};
   const VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0,
                                        VK_REMAINING_ARRAY_LAYERS};
   const VkImageSubresourceLayers layer = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 2, 1};
   const VkBufferImageCopy into = {0, 0, 0, layer, {2, 3, 0}, {4, 4, 1}};
   const VkBufferImageCopy out = {0, 0, 0, layer, {0, 0, 0}, {8, 8, 1}};
   const VkImageCopy between = {layer, {0, 0, 0}, layer, {0, 0, 0}, {8, 8, 1}};
   for (uint32_t i = 0; i < 16; i++)
      source.words[i] = 100 + i;
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   layout_barrier(commands, images[0], VK_IMAGE_LAYOUT_UNDEFINED);
   layout_barrier(commands, images[1], VK_IMAGE_LAYOUT_UNDEFINED);
   vkCmdClearColorImage(commands, images[0], VK_IMAGE_LAYOUT_GENERAL, &color, 1, &all);
   layout_barrier(commands, images[0], VK_IMAGE_LAYOUT_GENERAL);
   vkCmdCopyBufferToImage(commands, source.handle, images[0], VK_IMAGE_LAYOUT_GENERAL, 1, &into);
   layout_barrier(commands, images[0], VK_IMAGE_LAYOUT_GENERAL);
   vkCmdCopyImage(commands, images[0], VK_IMAGE_LAYOUT_GENERAL, images[1], VK_IMAGE_LAYOUT_GENERAL,
                  1, &between);
   layout_barrier(commands, images[1], VK_IMAGE_LAYOUT_GENERAL);
   vkCmdCopyImageToBuffer(commands, images[1], VK_IMAGE_LAYOUT_GENERAL, target.handle, 1, &out);
   vk_run(vk, commands);
   for (uint32_t y = 0; y < 8; y++)
      for (uint32_t x = 0; x < 8; x++) {
         const bool is_inside = x >= 2 && x < 6 && y >= 3 && y < 7;
         assert_int_equal(target.words[y * 8 + x], is_inside ? 100 + (y - 3) * 4 + x - 2 : 77);
      }
   vkDestroyImage(vk->device, images[0], NULL);
   vkDestroyImage(vk->device, images[1], NULL);
   vkFreeMemory(vk->device, memory, NULL);
   vk_buffer_free(vk, &source);
   vk_buffer_free(vk, &target);
}

/* ---- queries and events ------------------------------------------------- */

static uint64_t device_time(struct vk *vk)
{
   PFN_vkGetCalibratedTimestampsEXT get = (PFN_vkGetCalibratedTimestampsEXT)vkGetDeviceProcAddr(
      vk->device, "vkGetCalibratedTimestampsEXT");
   const VkCalibratedTimestampInfoEXT info = {.sType =
                                                 VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
                                              .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT};
   uint64_t time, deviation;
   assert_vk(get(vk->device, 1, &info, &time, &deviation));
   return time;
}

static void timestamps_are_of_the_devices_clock(void **state)
{
   struct vk *vk = *state;
   struct vk_kernel kernel = vk_kernel(vk, "corpus/fill_u32.spv", 1, 0);
   struct vk_buffer target = vk_buffer(vk, COUNT * 4), copied = vk_buffer(vk, 64);
   VkDescriptorSet set = vk_set(vk, &kernel, &target, 1);
   const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                       .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                       .queryCount = 3};
   VkQueryPool pool;
   assert_vk(vkCreateQueryPool(vk->device, &info, NULL, &pool));
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   vkCmdResetQueryPool(commands, pool, 0, 3);
   vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, pool, 0);
   fill(commands, &kernel, set, 3);
   vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, pool, 1);
   vkCmdCopyQueryPoolResults(commands, pool, 0, 2, copied.handle, 0, 16,
                             VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT |
                                VK_QUERY_RESULT_WAIT_BIT);
   const uint64_t before = device_time(vk);
   vk_run(vk, commands);
   const uint64_t after = device_time(vk);
   uint64_t results[3][2] = {0};
   assert_vk(vkGetQueryPoolResults(vk->device, pool, 0, 2, sizeof(results), results, 16,
                                   VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT |
                                      VK_QUERY_RESULT_WAIT_BIT));
   assert_true(before <= results[0][0] && results[0][0] <= results[1][0] && results[1][0] <= after);
   assert_int_equal(results[0][1], 1);
   assert_memory_equal(copied.words, results, 32);
   assert_int_equal(vkGetQueryPoolResults(vk->device, pool, 2, 1, sizeof(results), results, 16,
                                          VK_QUERY_RESULT_64_BIT),
                    VK_NOT_READY);
   vkDestroyQueryPool(vk->device, pool, NULL);
   vk_kernel_free(vk, &kernel);
   vk_buffer_free(vk, &target);
   vk_buffer_free(vk, &copied);
}

static void events_are_set_by_either_side(void **state)
{
   struct vk *vk = *state;
   const VkEventCreateInfo info = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
   VkEvent event;
   assert_vk(vkCreateEvent(vk->device, &info, NULL, &event));
   assert_int_equal(vkGetEventStatus(vk->device, event), VK_EVENT_RESET);
   assert_vk(vkSetEvent(vk->device, event));
   assert_int_equal(vkGetEventStatus(vk->device, event), VK_EVENT_SET);
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   vkCmdResetEvent(commands, event, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
   vk_run(vk, commands);
   assert_int_equal(vkGetEventStatus(vk->device, event), VK_EVENT_RESET);
   commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   vkCmdSetEvent(commands, event, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
   vkCmdWaitEvents(commands, 1, &event, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                   VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, NULL, 0, NULL, 0, NULL);
   vk_run(vk, commands);
   assert_int_equal(vkGetEventStatus(vk->device, event), VK_EVENT_SET);
   vkDestroyEvent(vk->device, event, NULL);
}

AGX_TEST_FILE(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, vk_open, vk_close)
   const struct CMUnitTest tests[] = {
      CASE(barriers_order_dispatches),
      CASE(counts_come_from_memory),
      CASE(pushed_descriptors_are_those_of_the_moment),
      CASE(dynamic_offsets_move_a_binding),
      CASE(short_ranges_are_legal),
      CASE(templates_write_what_an_array_holds),
      CASE(secondary_commands_run_in_their_place),
      CASE(command_buffers_are_recorded_anew),
      CASE(buffers_are_filled_updated_and_copied),
      CASE(images_are_cleared_and_copied),
      CASE(timestamps_are_of_the_devices_clock),
      CASE(events_are_set_by_either_side),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
