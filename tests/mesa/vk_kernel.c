/* SPDX-License-Identifier: MIT
 *
 * One kernel: pipeline, descriptors, commands. Layouts come from the manifest, which
 * names every binding that the kernel has.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "base/util.h"
#include "vk.h"

#define MAX_SETS       8
#define MAX_LEVELS     16
#define UNSIZED_SLOTS  16 /* of an array without a length */
#define MAX_SPIRV_B    (1u << 20)
#define FENCE_LIMIT_NS 600000000000ull

struct kernel {
   const struct vk_device *device;
   const struct agx_manifest *manifest;
   struct vk_resource *resources;
   VkDescriptorSetLayout layouts[MAX_SETS];
   VkDescriptorSet sets[MAX_SETS];
   uint32_t set_count;
   VkPipelineLayout layout;
   VkPipeline pipeline;
   VkCommandBuffer commands;
};

static bool is_image(const struct agx_manifest_resource *desc)
{
   return desc->type == AGX_MANIFEST_STORAGE_IMAGE || desc->type == AGX_MANIFEST_SAMPLED_IMAGE;
}

static VkDescriptorType descriptor_type(const struct agx_manifest_resource *desc)
{
   static const VkDescriptorType types[] = {
      [AGX_MANIFEST_SSBO] = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
      [AGX_MANIFEST_UBO] = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
      [AGX_MANIFEST_STORAGE_IMAGE] = VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
      [AGX_MANIFEST_SAMPLED_IMAGE] = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
   };
   return types[desc->type];
}

static VkDescriptorType slot_type(const char *kind)
{
   static const struct {
      const char *kind;
      VkDescriptorType type;
   } types[] = {
      {"ssbo", VK_DESCRIPTOR_TYPE_STORAGE_BUFFER},
      {"ubo", VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER},
      {"storage", VK_DESCRIPTOR_TYPE_STORAGE_IMAGE},
      {"sampled", VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER},
      {"texture", VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE},
      {"sampler", VK_DESCRIPTOR_TYPE_SAMPLER},
      {"uniform_texels", VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER},
   };
   for (size_t i = 0; i < AGX_COUNT(types); i++)
      if (strcmp(types[i].kind, kind) == 0)
         return types[i].type;
   return VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
}

static agx_status create_set_layout(struct kernel *kernel, uint32_t set)
{
   VkDescriptorSetLayoutBinding bindings[AGX_MANIFEST_MAX_RESOURCES + AGX_MANIFEST_MAX_SLOTS];
   uint32_t count = 0;
   for (uint32_t i = 0; i < kernel->manifest->slot_count; i++) {
      const struct agx_manifest_slot *slot = &kernel->manifest->slots[i];
      if (slot->set == set)
         bindings[count++] = (VkDescriptorSetLayoutBinding){
            .binding = slot->binding,
            .descriptorType = slot_type(slot->kind),
            .descriptorCount = slot->count ? slot->count : UNSIZED_SLOTS,
            .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
   }
   for (uint32_t i = 0; i < kernel->manifest->resource_count; i++) {
      const struct agx_manifest_resource *desc = &kernel->manifest->resources[i];
      if (desc->type == AGX_MANIFEST_ADDRESS || desc->set != set)
         continue;
      bindings[count++] = (VkDescriptorSetLayoutBinding){.binding = desc->binding,
                                                         .descriptorType = descriptor_type(desc),
                                                         .descriptorCount = 1,
                                                         .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
   }
   const VkDescriptorSetLayoutCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = count,
      .pBindings = bindings};
   VK_TRY(vkCreateDescriptorSetLayout(kernel->device->device, &info, NULL, &kernel->layouts[set]));
   return AGX_OK;
}

static agx_status create_layouts(struct kernel *kernel)
{
   const struct agx_manifest *manifest = kernel->manifest;
   for (uint32_t i = 0; i < manifest->resource_count; i++)
      if (manifest->resources[i].type != AGX_MANIFEST_ADDRESS)
         kernel->set_count = AGX_MAX(kernel->set_count, manifest->resources[i].set + 1);
   for (uint32_t i = 0; i < manifest->slot_count; i++)
      kernel->set_count = AGX_MAX(kernel->set_count, manifest->slots[i].set + 1);
   if (kernel->set_count > MAX_SETS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%u descriptor sets are too many", kernel->set_count);
   for (uint32_t set = 0; set < kernel->set_count; set++)
      AGX_TRY(create_set_layout(kernel, set));
   const VkPushConstantRange push = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                     (uint32_t)agx_align_up(manifest->push_B, 4)};
   const VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                            .setLayoutCount = kernel->set_count,
                                            .pSetLayouts = kernel->layouts,
                                            .pushConstantRangeCount = push.size > 0,
                                            .pPushConstantRanges = &push};
   VK_TRY(vkCreatePipelineLayout(kernel->device->device, &info, NULL, &kernel->layout));
   return AGX_OK;
}

static agx_status read_spirv(const char *path, uint32_t **out_words, size_t *out_B)
{
   FILE *file = fopen(path, "rb");
   if (!file)
      return AGX_FAIL(AGX_NOT_FOUND, "%s: can't be opened", path);
   *out_words = malloc(MAX_SPIRV_B);
   *out_B = *out_words ? fread(*out_words, 1, MAX_SPIRV_B, file) : 0;
   fclose(file);
   if (*out_B < 20 || *out_B % 4 || *out_B == MAX_SPIRV_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %zu bytes are no kernel", path, *out_B);
   return AGX_OK;
}

/* Time of the processor: others may use the machine, too. */
static double used_ms(void)
{
   struct timespec now;
   clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
   return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* The first compute entry point's name; "main" where there is none. */
static const char *entry_point(const uint32_t *words, size_t count)
{
   const uint32_t opcode_of_entry_points = 15, compute = 5;
   for (size_t at = 5; at + 3 < count && words[at] >> 16; at += words[at] >> 16)
      if ((words[at] & 0xffff) == opcode_of_entry_points && words[at + 1] == compute)
         return (const char *)&words[at + 3];
   return "main";
}

/* A pipeline of its own, made to tell its statistics. */
static agx_status read_statistics(const struct vk_device *device,
                                  const VkComputePipelineCreateInfo *info, char *text)
{
   VkComputePipelineCreateInfo telling = *info;
   VkPipelineExecutableStatisticKHR all[32];
   VkPipeline pipeline;
   uint32_t count = AGX_COUNT(all);
   PFN_vkGetPipelineExecutableStatisticsKHR get =
      (PFN_vkGetPipelineExecutableStatisticsKHR)vkGetDeviceProcAddr(
         device->device, "vkGetPipelineExecutableStatisticsKHR");
   telling.flags |= VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR;
   VK_TRY(vkCreateComputePipelines(device->device, VK_NULL_HANDLE, 1, &telling, NULL, &pipeline));
   const VkPipelineExecutableInfoKHR which = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR, .pipeline = pipeline};
   for (uint32_t i = 0; i < count; i++)
      all[i] = (VkPipelineExecutableStatisticKHR){
         .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR};
   VK_TRY(get(device->device, &which, &count, all));
   size_t length = 0;
   for (uint32_t i = 0; i < count && length < VK_STATISTICS_CAPACITY; i++)
      length += (size_t)snprintf(text + length, VK_STATISTICS_CAPACITY - length, "%s=%" PRIu64 ";",
                                 all[i].name, all[i].value.u64);
   return AGX_OK;
}

/* rounds times; the last one stays. *out_best_ms is the quickest. */
static agx_status create_pipeline(struct kernel *kernel, const char *path, unsigned rounds,
                                  double *out_best_ms, char *statistics)
{
   const struct agx_manifest *manifest = kernel->manifest;
   VkSpecializationMapEntry entries[AGX_MANIFEST_MAX_SPECS];
   for (uint32_t i = 0; i < manifest->spec_count; i++)
      entries[i] = (VkSpecializationMapEntry){
         manifest->specs[i].id,
         (uint32_t)(i * sizeof(manifest->specs[0]) + offsetof(struct agx_manifest_spec, value)), 4};
   const VkSpecializationInfo specialization = {manifest->spec_count, entries,
                                                sizeof(manifest->specs), manifest->specs};
   VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
   uint32_t *words = NULL;
   AGX_TRY(read_spirv(path, &words, &code.codeSize));
   code.pCode = words;
   VkShaderModule module;
   VK_TRY(vkCreateShaderModule(kernel->device->device, &code, NULL, &module));
   const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = module,
                .pName = entry_point(words, code.codeSize / 4),
                .pSpecializationInfo = &specialization},
      .layout = kernel->layout};
   *out_best_ms = 1e9;
   for (unsigned round = 0; round < rounds; round++) {
      if (round > 0)
         vkDestroyPipeline(kernel->device->device, kernel->pipeline, NULL);
      double start = used_ms();
      VK_TRY(vkCreateComputePipelines(kernel->device->device, VK_NULL_HANDLE, 1, &info, NULL,
                                      &kernel->pipeline));
      *out_best_ms = AGX_MIN(*out_best_ms, used_ms() - start);
   }
   return statistics && kernel->device->has_statistics
             ? read_statistics(kernel->device, &info, statistics)
             : AGX_OK;
}

static uint64_t address_of(void *user, uint32_t id)
{
   const struct kernel *kernel = user;
   const struct agx_manifest_resource *desc = agx_manifest_find(kernel->manifest, id);
   return desc ? kernel->resources[desc - kernel->manifest->resources].address : 0;
}

/* All of them first, because some hold the addresses of others. */
static agx_status create_resources(struct kernel *kernel)
{
   const struct agx_manifest *manifest = kernel->manifest;
   for (uint32_t i = 0; i < manifest->resource_count; i++) {
      const struct agx_manifest_resource *desc = &manifest->resources[i];
      struct vk_resource *it = &kernel->resources[i];
      *it = (struct vk_resource){0};
      AGX_TRY(is_image(desc) ? vk_image_create(kernel->device, desc, it)
                             : vk_buffer_create(kernel->device, desc->size_B, it));
   }
   for (uint32_t i = 0; i < manifest->resource_count; i++)
      agx_manifest_fill(&manifest->resources[i].init, kernel->resources[i].mapped,
                        kernel->resources[i].size_B, address_of, kernel);
   return AGX_OK;
}

static agx_status allocate_sets(struct kernel *kernel)
{
   static const VkDescriptorPoolSize sizes[] = {
      {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, AGX_MANIFEST_MAX_RESOURCES},
      {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, AGX_MANIFEST_MAX_RESOURCES},
      {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, AGX_MANIFEST_MAX_RESOURCES},
      {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, AGX_MANIFEST_MAX_RESOURCES},
   };
   const VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = MAX_SETS,
                                            .poolSizeCount = AGX_COUNT(sizes),
                                            .pPoolSizes = sizes};
   VkDescriptorPool pool;
   if (!kernel->set_count)
      return AGX_OK;
   VK_TRY(vkCreateDescriptorPool(kernel->device->device, &info, NULL, &pool));
   const VkDescriptorSetAllocateInfo sets = {.sType =
                                                VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = pool,
                                             .descriptorSetCount = kernel->set_count,
                                             .pSetLayouts = kernel->layouts};
   VK_TRY(vkAllocateDescriptorSets(kernel->device->device, &sets, kernel->sets));
   return AGX_OK;
}

static void write_descriptors(struct kernel *kernel)
{
   for (uint32_t i = 0; i < kernel->manifest->resource_count; i++) {
      const struct agx_manifest_resource *desc = &kernel->manifest->resources[i];
      const struct vk_resource *it = &kernel->resources[i];
      if (desc->type == AGX_MANIFEST_ADDRESS)
         continue;
      const VkDescriptorBufferInfo buffer = {it->buffer, 0, it->size_B};
      const VkDescriptorImageInfo image = {it->sampler, it->view, VK_IMAGE_LAYOUT_GENERAL};
      const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                          .dstSet = kernel->sets[desc->set],
                                          .dstBinding = desc->binding,
                                          .descriptorCount = 1,
                                          .descriptorType = descriptor_type(desc),
                                          .pImageInfo = &image,
                                          .pBufferInfo = &buffer};
      vkUpdateDescriptorSets(kernel->device->device, 1, &write, 0, NULL);
   }
}

static void record_barrier(VkCommandBuffer commands)
{
   const VkMemoryBarrier all = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
      .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_WRITE_BIT,
      .dstAccessMask =
         VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT | VK_ACCESS_HOST_READ_BIT};
   const VkPipelineStageFlags stages =
      VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT;
   vkCmdPipelineBarrier(commands, stages, stages, 0, 1, &all, 0, NULL, 0, NULL);
}

static void record_layout(VkCommandBuffer commands, VkImage image)
{
   const VkImageMemoryBarrier barrier = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
      .dstAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
      .newLayout = VK_IMAGE_LAYOUT_GENERAL,
      .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .image = image,
      .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, VK_REMAINING_MIP_LEVELS, 0, 1}};
   vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

/* Levels lie one after the other in the buffer, without padding. */
static void record_copy(VkCommandBuffer commands, const struct agx_manifest_resource *desc,
                        const struct vk_resource *it, bool to_image)
{
   VkBufferImageCopy copies[MAX_LEVELS];
   uint32_t count = AGX_MIN(desc->levels, (uint32_t)MAX_LEVELS);
   uint64_t offset = 0;
   for (uint32_t level = 0; level < count; level++) {
      uint32_t extent[3];
      agx_manifest_extent(desc, level, extent);
      copies[level] =
         (VkBufferImageCopy){.bufferOffset = offset,
                             .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
                             .imageExtent = {extent[0], extent[1], extent[2]}};
      offset += (uint64_t)extent[0] * extent[1] * extent[2] * it->texel_B;
   }
   if (to_image)
      vkCmdCopyBufferToImage(commands, it->buffer, it->image, VK_IMAGE_LAYOUT_GENERAL, count,
                             copies);
   else
      vkCmdCopyImageToBuffer(commands, it->image, VK_IMAGE_LAYOUT_GENERAL, it->buffer, count,
                             copies);
}

static void record_images(struct kernel *kernel, bool to_image)
{
   for (uint32_t i = 0; i < kernel->manifest->resource_count; i++) {
      const struct agx_manifest_resource *desc = &kernel->manifest->resources[i];
      if (!is_image(desc) || !(to_image || desc->is_output))
         continue;
      if (to_image)
         record_layout(kernel->commands, kernel->resources[i].image);
      record_copy(kernel->commands, desc, &kernel->resources[i], to_image);
   }
   record_barrier(kernel->commands);
}

static void record_dispatch(struct kernel *kernel)
{
   const struct agx_manifest *manifest = kernel->manifest;
   uint8_t push[AGX_MANIFEST_MAX_PUSH_B];
   memcpy(push, manifest->push, sizeof(push));
   for (uint32_t i = 0; i < manifest->fixup_count; i++) {
      uint64_t address = address_of(kernel, manifest->fixups[i].id);
      memcpy(push + manifest->fixups[i].offset_B, &address, sizeof(address));
   }
   vkCmdBindPipeline(kernel->commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->pipeline);
   if (kernel->set_count)
      vkCmdBindDescriptorSets(kernel->commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel->layout, 0,
                              kernel->set_count, kernel->sets, 0, NULL);
   if (manifest->push_B)
      vkCmdPushConstants(kernel->commands, kernel->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                         (uint32_t)agx_align_up(manifest->push_B, 4), push);
   vkCmdDispatch(kernel->commands, manifest->workgroups[0], manifest->workgroups[1],
                 manifest->workgroups[2]);
   record_barrier(kernel->commands);
}

static agx_status record(struct kernel *kernel)
{
   const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                              .queueFamilyIndex = kernel->device->family};
   VkCommandPool pool;
   VK_TRY(vkCreateCommandPool(kernel->device->device, &pool_info, NULL, &pool));
   const VkCommandBufferAllocateInfo info = {.sType =
                                                VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = pool,
                                             .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                             .commandBufferCount = 1};
   VK_TRY(vkAllocateCommandBuffers(kernel->device->device, &info, &kernel->commands));
   const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
   VK_TRY(vkBeginCommandBuffer(kernel->commands, &begin));
   record_images(kernel, true);
   record_dispatch(kernel);
   record_images(kernel, false);
   VK_TRY(vkEndCommandBuffer(kernel->commands));
   return AGX_OK;
}

static agx_status execute(struct kernel *kernel)
{
   const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
   const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                .commandBufferCount = 1,
                                .pCommandBuffers = &kernel->commands};
   VkDevice device = kernel->device->device;
   VkFence fence;
   VK_TRY(vkCreateFence(device, &fence_info, NULL, &fence));
   VK_TRY(vkQueueSubmit(kernel->device->queue, 1, &submit, fence));
   VK_TRY(vkWaitForFences(device, 1, &fence, VK_TRUE, FENCE_LIMIT_NS));
   return AGX_OK;
}

agx_status vk_kernel_run(const struct vk_device *device, const char *path,
                         const struct agx_manifest *manifest, struct vk_resource *resources,
                         unsigned rounds, double *out_best_ms, char *statistics)
{
   struct kernel kernel = {.device = device, .manifest = manifest, .resources = resources};
   AGX_TRY(create_layouts(&kernel));
   AGX_TRY(create_pipeline(&kernel, path, rounds, out_best_ms, statistics));
   if (manifest->slot_count)
      return AGX_OK;
   AGX_TRY(create_resources(&kernel));
   AGX_TRY(allocate_sets(&kernel));
   write_descriptors(&kernel);
   AGX_TRY(record(&kernel));
   return execute(&kernel);
}
