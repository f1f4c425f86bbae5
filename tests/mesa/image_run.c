/* SPDX-License-Identifier: MIT
 *
 * Runs image cases: writes their shader, has glslangValidator translate it (the results
 * are kept in a folder), makes image, sampler and descriptors, and reads the answers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "image_case.h"
#include "vk.h"

#define MAX_LEVELS 16u
#define FENCE_NS   120000000000ull
#define TRANSFER_FEATURES                                                                          \
   (VK_FORMAT_FEATURE_2_HOST_IMAGE_TRANSFER_BIT_EXT | VK_FORMAT_FEATURE_2_TRANSFER_DST_BIT)

struct image_runner {
   struct vk_device vk;
   const char *cache;
   struct vk_resource queries, answers;
   VkCommandPool pool;
};

/* What one case makes, and is freed after it. */
struct objects {
   VkImage image;
   VkBuffer texels;
   VkDeviceMemory memory, staging_memory;
   VkBuffer staging;
   VkImageView view[IMAGE_INDEXED];
   VkBufferView buffer_view;
   VkSampler sampler[IMAGE_INDEXED];
   VkDescriptorSetLayout set_layout;
   VkPipelineLayout layout;
   VkDescriptorPool pool;
   VkDescriptorSet set;
   VkShaderModule module[2];
   VkPipeline pipeline[2];
   VkFence fence;
};

agx_status image_runner_open(const char *device, const char *cache, struct image_runner **out)
{
   struct image_runner *runner = calloc(1, sizeof(*runner));
   if (!runner)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "out of memory");
   runner->cache = cache;
   AGX_TRY(vk_device_open(device, true, &runner->vk));
   AGX_TRY(
      vk_buffer_create(&runner->vk, IMAGE_QUERIES * sizeof(struct image_query), &runner->queries));
   AGX_TRY(vk_buffer_create(&runner->vk, IMAGE_QUERIES * 16, &runner->answers));
   const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                         .queueFamilyIndex = runner->vk.family};
   VK_TRY(vkCreateCommandPool(runner->vk.device, &info, NULL, &runner->pool));
   *out = runner;
   return AGX_OK;
}

const char *image_runner_name(const struct image_runner *runner)
{
   return runner->vk.name;
}

/* ---- Shaders ------------------------------------------------------------------- */

static void write_shader(const struct image_case *c, const char *statement, char *text, size_t size)
{
   snprintf(text, size,
            "#version 460\n"
            "#extension GL_EXT_shader_image_load_formatted : require\n"
            "#extension GL_EXT_texture_shadow_lod : require\n"
            "#extension GL_EXT_nonuniform_qualifier : require\n"
            "layout(local_size_x = 64) in;\n"
            "struct query { vec4 p, a, b; ivec4 i, j; };\n"
            "layout(binding = 0) uniform %s t%s;\n"
            "layout(std430, binding = 1) readonly buffer Queries { query q[]; };\n"
            "layout(std430, binding = 2) writeonly buffer Answers { uvec4 r[]; };\n"
            "uvec4 bits(vec4 v) { return floatBitsToUint(v); }\n"
            "uvec4 bits(float v) { return floatBitsToUint(vec4(v)); }\n"
            "uvec4 bits(uvec4 v) { return v; }\n"
            "uvec4 bits(ivec4 v) { return uvec4(v); }\n"
            "uvec4 bits(uint v) { return uvec4(v); }\n"
            "uvec4 bits(int v) { return uvec4(v); }\n"
            "vec3 along(vec3 v, float l) {\n"
            "   vec3 m = abs(v);\n"
            "   if (m.z >= m.x && m.z >= m.y) return vec3(l * m.z, 0, 0);\n"
            "   return m.y >= m.x ? vec3(0, 0, l * m.y) : vec3(0, l * m.x, 0);\n"
            "}\n"
            "void main() {\n"
            "   uint n = gl_GlobalInvocationID.x;\n"
            "   vec4 p = q[n].p, a = q[n].a, b = q[n].b; ivec4 i = q[n].i, j = q[n].j;\n"
            "   %s;\n"
            "}\n",
            c->declaration, c->is_indexed ? "[4]" : "", statement);
}

static agx_status translate(const char *source, const char *spirv)
{
   pid_t pid = fork();
   if (pid == 0) {
      if (!freopen("/dev/null", "w", stdout))
         _exit(126);
      execlp("glslangValidator", "glslangValidator", "--quiet", "-V", "--target-env", "vulkan1.3",
             "-o", spirv, source, (char *)NULL);
      _exit(127);
   }
   int status = 0;
   while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
      ;
   if (pid < 0 || status)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "glslangValidator: status %#x for %s", status, source);
   return AGX_OK;
}

static agx_status read_file(const char *path, uint32_t **out_words, size_t *out_size_B)
{
   FILE *file = fopen(path, "rb");
   if (!file)
      return AGX_FAIL(AGX_NOT_FOUND, "%s: %s", path, strerror(errno));
   size_t capacity_B = 1u << 20;
   *out_words = malloc(capacity_B);
   *out_size_B = *out_words ? fread(*out_words, 1, capacity_B, file) : 0;
   fclose(file);
   return AGX_OK;
}

static agx_status make_module(const struct image_runner *runner, const char *text,
                              VkShaderModule *out)
{
   char source[600], spirv[600];
   uint64_t hash = 0xcbf29ce484222325ull;
   uint32_t *words = NULL;
   size_t size_B = 0;
   for (const char *at = text; *at; at++)
      hash = (hash ^ (uint8_t)*at) * 0x100000001b3ull;
   snprintf(source, sizeof(source), "%s/%016llx.comp", runner->cache, (unsigned long long)hash);
   snprintf(spirv, sizeof(spirv), "%s/%016llx.spv", runner->cache, (unsigned long long)hash);
   if (access(spirv, R_OK)) {
      FILE *file = fopen(source, "w");
      if (!file)
         return AGX_FAIL(AGX_NOT_FOUND, "%s: %s", source, strerror(errno));
      fputs(text, file);
      fclose(file);
      AGX_TRY(translate(source, spirv));
   }
   AGX_TRY(read_file(spirv, &words, &size_B));
   const VkShaderModuleCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size_B, .pCode = words};
   VkResult result = vkCreateShaderModule(runner->vk.device, &info, NULL, out);
   free(words);
   VK_TRY(result);
   return AGX_OK;
}

static agx_status make_pipeline(const struct image_runner *runner, const struct image_case *c,
                                const char *statement, struct objects *o, unsigned index)
{
   char text[4096];
   write_shader(c, statement, text, sizeof(text));
   AGX_TRY(make_module(runner, text, &o->module[index]));
   const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                .module = o->module[index],
                .pName = "main"},
      .layout = o->layout};
   VK_TRY(vkCreateComputePipelines(runner->vk.device, VK_NULL_HANDLE, 1, &info, NULL,
                                   &o->pipeline[index]));
   return AGX_OK;
}

/* ---- Images ---------------------------------------------------------------------- */

static agx_status find_memory(const struct image_runner *runner, const VkMemoryRequirements *needs,
                              VkMemoryPropertyFlags wanted, VkDeviceMemory *out)
{
   for (uint32_t i = 0; i < runner->vk.memory.memoryTypeCount; i++) {
      if (!(needs->memoryTypeBits >> i & 1) ||
          (runner->vk.memory.memoryTypes[i].propertyFlags & wanted) != wanted)
         continue;
      const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needs->size,
                                         .memoryTypeIndex = i};
      VK_TRY(vkAllocateMemory(runner->vk.device, &info, NULL, out));
      return AGX_OK;
   }
   return AGX_FAIL(AGX_NOT_FOUND, "no memory type");
}

static VkImageType image_type(const struct image_case *c)
{
   unsigned axes = image_is_cube(c->view) ? 2 : image_axes(c);
   return axes == 1 ? VK_IMAGE_TYPE_1D : axes == 2 ? VK_IMAGE_TYPE_2D : VK_IMAGE_TYPE_3D;
}

static VkImageAspectFlags aspect_of(const struct image_case *c)
{
   return c->format->numbers == IMAGE_DEPTH ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
}

static agx_status check_format(const struct image_runner *runner, const struct image_case *c,
                               VkFormat format, VkFormatFeatureFlags2 needs)
{
   VkFormatProperties3 more = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_3};
   VkFormatProperties2 properties = {.sType = VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2,
                                     .pNext = &more};
   vkGetPhysicalDeviceFormatProperties2(runner->vk.physical, format, &properties);
   VkFormatFeatureFlags2 has = c->is_buffer                          ? more.bufferFeatures
                               : c->tiling == VK_IMAGE_TILING_LINEAR ? more.linearTilingFeatures
                                                                     : more.optimalTilingFeatures;
   if ((has & needs) == needs)
      return AGX_OK;
   return AGX_FAIL(AGX_UNIMPLEMENTED, "format: features %#llx are missing",
                   (unsigned long long)(needs & ~has));
}

static VkFormatFeatureFlags2 needed_features(const struct image_case *c)
{
   if (c->is_buffer)
      return c->is_storage ? VK_FORMAT_FEATURE_2_STORAGE_TEXEL_BUFFER_BIT
                           : VK_FORMAT_FEATURE_2_UNIFORM_TEXEL_BUFFER_BIT;
   VkFormatFeatureFlags2 needs = c->is_host_copy ? VK_FORMAT_FEATURE_2_HOST_IMAGE_TRANSFER_BIT_EXT
                                                 : VK_FORMAT_FEATURE_2_TRANSFER_DST_BIT;
   needs |=
      c->is_storage ? VK_FORMAT_FEATURE_2_STORAGE_IMAGE_BIT : VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_BIT;
   if (c->sampler.magFilter == VK_FILTER_LINEAR || c->sampler.minFilter == VK_FILTER_LINEAR)
      needs |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_FILTER_LINEAR_BIT;
   if (c->is_shadow)
      needs |= VK_FORMAT_FEATURE_2_SAMPLED_IMAGE_DEPTH_COMPARISON_BIT;
   return needs;
}

static unsigned view_count(const struct image_case *c)
{
   return c->is_indexed ? IMAGE_INDEXED : 1;
}

static agx_status make_image(const struct image_runner *runner, const struct image_case *c,
                             struct objects *o)
{
   VkMemoryRequirements needs;
   VkFormat view_format = c->view_format ? c->view_format->format : c->format->format;
   VkImageUsageFlags usage =
      c->is_host_copy ? VK_IMAGE_USAGE_HOST_TRANSFER_BIT_EXT : VK_IMAGE_USAGE_TRANSFER_DST_BIT;
   usage |= c->is_storage ? VK_IMAGE_USAGE_STORAGE_BIT : VK_IMAGE_USAGE_SAMPLED_BIT;
   const VkImageCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
      .flags = (image_is_cube(c->view) ? VK_IMAGE_CREATE_CUBE_COMPATIBLE_BIT : 0) |
               (c->view_format ? VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT : 0),
      .imageType = image_type(c),
      .format = c->format->format,
      .extent = {c->width, c->height, c->depth},
      .mipLevels = c->levels,
      .arrayLayers = c->layers,
      .samples = VK_SAMPLE_COUNT_1_BIT,
      .tiling = c->tiling,
      .usage = usage};
   VkImageFormatProperties limits;
   VkResult result =
      vkGetPhysicalDeviceImageFormatProperties(runner->vk.physical, info.format, info.imageType,
                                               info.tiling, info.usage, info.flags, &limits);
   if (result == VK_ERROR_FORMAT_NOT_SUPPORTED || limits.maxMipLevels < c->levels ||
       limits.maxArrayLayers < c->layers)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "such an image");
   VK_TRY(result);
   VK_TRY(vkCreateImage(runner->vk.device, &info, NULL, &o->image));
   vkGetImageMemoryRequirements(runner->vk.device, o->image, &needs);
   AGX_TRY(find_memory(runner, &needs, 0, &o->memory));
   VK_TRY(vkBindImageMemory(runner->vk.device, o->image, o->memory, 0));
   const VkImageViewCreateInfo view = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
      .image = o->image,
      .viewType = c->view,
      .format = view_format,
      .components = c->swizzle,
      .subresourceRange = {aspect_of(c), c->first_level,
                           c->is_storage    ? 1
                           : c->level_count ? c->level_count
                                            : VK_REMAINING_MIP_LEVELS,
                           c->first_layer,
                           c->layer_count ? c->layer_count : VK_REMAINING_ARRAY_LAYERS}};
   for (unsigned i = 0; i < view_count(c); i++) {
      VkImageViewCreateInfo one = view;
      one.subresourceRange.baseMipLevel += i;
      one.subresourceRange.levelCount = c->is_indexed ? 1 : view.subresourceRange.levelCount;
      VK_TRY(vkCreateImageView(runner->vk.device, &one, NULL, &o->view[i]));
   }
   return AGX_OK;
}

static agx_status make_buffer(const struct image_runner *runner, uint64_t size_B,
                              VkBufferUsageFlags usage, VkBuffer *out, VkDeviceMemory *out_memory,
                              void **out_mapped)
{
   VkMemoryRequirements needs;
   const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = size_B, .usage = usage};
   VK_TRY(vkCreateBuffer(runner->vk.device, &info, NULL, out));
   vkGetBufferMemoryRequirements(runner->vk.device, *out, &needs);
   AGX_TRY(find_memory(runner, &needs,
                       VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                       out_memory));
   VK_TRY(vkBindBufferMemory(runner->vk.device, *out, *out_memory, 0));
   VK_TRY(vkMapMemory(runner->vk.device, *out_memory, 0, VK_WHOLE_SIZE, 0, out_mapped));
   return AGX_OK;
}

/* A buffer of c->width texels, which start after some others. */
static agx_status make_texel_buffer(const struct image_runner *runner, const struct image_case *c,
                                    uint64_t seed, struct objects *o)
{
   void *mapped;
   const uint64_t start_B = 48;
   AGX_TRY(make_buffer(runner, image_bytes(c) + start_B,
                       VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                          VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT,
                       &o->texels, &o->memory, &mapped));
   image_fill(c, seed, (uint8_t *)mapped + start_B);
   const VkBufferViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
                                        .buffer = o->texels,
                                        .format = c->format->format,
                                        .offset = start_B,
                                        .range = (uint64_t)c->width * c->format->texel_B};
   VK_TRY(vkCreateBufferView(runner->vk.device, &info, NULL, &o->buffer_view));
   return AGX_OK;
}

/* Mesa's own code knows where texels lie: it and the simulator must agree. */
static agx_status copy_on_host(const struct image_runner *runner, const struct image_case *c,
                               const struct objects *o, const uint8_t *texels)
{
   PFN_vkCopyMemoryToImageEXT copy =
      (PFN_vkCopyMemoryToImageEXT)vkGetDeviceProcAddr(runner->vk.device, "vkCopyMemoryToImageEXT");
   PFN_vkTransitionImageLayoutEXT transition = (PFN_vkTransitionImageLayoutEXT)vkGetDeviceProcAddr(
      runner->vk.device, "vkTransitionImageLayoutEXT");
   const VkHostImageLayoutTransitionInfoEXT layout = {
      .sType = VK_STRUCTURE_TYPE_HOST_IMAGE_LAYOUT_TRANSITION_INFO_EXT,
      .image = o->image,
      .newLayout = VK_IMAGE_LAYOUT_GENERAL,
      .subresourceRange = {aspect_of(c), 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS}};
   if (!copy || !transition)
      return AGX_FAIL(AGX_UNIMPLEMENTED, "no host image copies");
   VK_TRY(transition(runner->vk.device, 1, &layout));
   uint64_t at = 0;
   for (uint32_t level = 0; level < c->levels; level++) {
      uint32_t width = image_level_size(c->width, level);
      uint32_t height = image_level_size(c->height, level);
      uint32_t depth = image_level_size(c->depth, level);
      const VkMemoryToImageCopyEXT region = {
         .sType = VK_STRUCTURE_TYPE_MEMORY_TO_IMAGE_COPY_EXT,
         .pHostPointer = texels + at,
         .imageSubresource = {aspect_of(c), level, 0, c->layers},
         .imageExtent = {width, height, depth}};
      const VkCopyMemoryToImageInfoEXT info = {.sType =
                                                  VK_STRUCTURE_TYPE_COPY_MEMORY_TO_IMAGE_INFO_EXT,
                                               .dstImage = o->image,
                                               .dstImageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                               .regionCount = 1,
                                               .pRegions = &region};
      VK_TRY(copy(runner->vk.device, &info));
      at += agx_align_up((uint64_t)width * height * depth * c->layers * c->format->texel_B, 16);
   }
   return AGX_OK;
}

static agx_status make_sampler(const struct image_runner *runner, const struct image_case *c,
                               struct objects *o)
{
   VkSamplerCustomBorderColorCreateInfoEXT border = {
      .sType = VK_STRUCTURE_TYPE_SAMPLER_CUSTOM_BORDER_COLOR_CREATE_INFO_EXT,
      .customBorderColor = c->border,
      .format = c->view_format ? c->view_format->format : c->format->format};
   VkSamplerCreateInfo info = c->sampler;
   info.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
   info.pNext = c->has_custom_border ? &border : NULL;
   info.flags = c->is_seamful ? VK_SAMPLER_CREATE_NON_SEAMLESS_CUBE_MAP_BIT_EXT : 0;
   for (unsigned i = 0; i < view_count(c); i++) {
      if (c->is_indexed)
         info.addressModeU = info.addressModeV = (VkSamplerAddressMode)i;
      VK_TRY(vkCreateSampler(runner->vk.device, &info, NULL, &o->sampler[i]));
   }
   return AGX_OK;
}

/* ---- Descriptors and commands ------------------------------------------------------ */

static VkDescriptorType descriptor_type(const struct image_case *c)
{
   if (c->is_buffer)
      return c->is_storage ? VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER
                           : VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
   return c->is_storage ? VK_DESCRIPTOR_TYPE_STORAGE_IMAGE
                        : VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
}

static agx_status make_layout(const struct image_runner *runner, const struct image_case *c,
                              struct objects *o)
{
   const VkDescriptorSetLayoutBinding bindings[] = {
      {0, descriptor_type(c), view_count(c), VK_SHADER_STAGE_COMPUTE_BIT, NULL},
      {1, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
      {2, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, NULL},
   };
   const VkDescriptorSetLayoutCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
      .bindingCount = AGX_COUNT(bindings),
      .pBindings = bindings};
   VK_TRY(vkCreateDescriptorSetLayout(runner->vk.device, &info, NULL, &o->set_layout));
   const VkPipelineLayoutCreateInfo layout = {.sType =
                                                 VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                              .setLayoutCount = 1,
                                              .pSetLayouts = &o->set_layout};
   VK_TRY(vkCreatePipelineLayout(runner->vk.device, &layout, NULL, &o->layout));
   return AGX_OK;
}

static agx_status make_set(const struct image_runner *runner, const struct image_case *c,
                           struct objects *o)
{
   const VkDescriptorPoolSize sizes[] = {{descriptor_type(c), view_count(c)},
                                         {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 2}};
   const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                            .maxSets = 1,
                                            .poolSizeCount = AGX_COUNT(sizes),
                                            .pPoolSizes = sizes};
   VK_TRY(vkCreateDescriptorPool(runner->vk.device, &pool, NULL, &o->pool));
   const VkDescriptorSetAllocateInfo info = {.sType =
                                                VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                             .descriptorPool = o->pool,
                                             .descriptorSetCount = 1,
                                             .pSetLayouts = &o->set_layout};
   VK_TRY(vkAllocateDescriptorSets(runner->vk.device, &info, &o->set));
   VkDescriptorImageInfo images[IMAGE_INDEXED];
   for (unsigned i = 0; i < view_count(c); i++)
      images[i] = (VkDescriptorImageInfo){o->sampler[i], o->view[i], VK_IMAGE_LAYOUT_GENERAL};
   const VkDescriptorBufferInfo buffers[] = {{runner->queries.buffer, 0, VK_WHOLE_SIZE},
                                             {runner->answers.buffer, 0, VK_WHOLE_SIZE}};
   const VkWriteDescriptorSet writes[] = {
      {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
       .dstSet = o->set,
       .dstBinding = 0,
       .descriptorCount = view_count(c),
       .descriptorType = descriptor_type(c),
       .pImageInfo = images,
       .pTexelBufferView = &o->buffer_view},
      {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
       .dstSet = o->set,
       .dstBinding = 1,
       .descriptorCount = 1,
       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
       .pBufferInfo = &buffers[0]},
      {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
       .dstSet = o->set,
       .dstBinding = 2,
       .descriptorCount = 1,
       .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
       .pBufferInfo = &buffers[1]},
   };
   vkUpdateDescriptorSets(runner->vk.device, AGX_COUNT(writes), writes, 0, NULL);
   return AGX_OK;
}

static void record_upload(VkCommandBuffer commands, const struct image_case *c,
                          const struct objects *o)
{
   VkBufferImageCopy copies[MAX_LEVELS];
   uint64_t at = 0;
   for (uint32_t level = 0; level < c->levels; level++) {
      uint32_t width = image_level_size(c->width, level);
      uint32_t height = image_level_size(c->height, level);
      uint32_t depth = image_level_size(c->depth, level);
      copies[level] = (VkBufferImageCopy){.bufferOffset = at,
                                          .imageSubresource = {aspect_of(c), level, 0, c->layers},
                                          .imageExtent = {width, height, depth}};
      at += agx_align_up((uint64_t)width * height * depth * c->layers * c->format->texel_B, 16);
   }
   const VkImageMemoryBarrier barrier = {
      .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
      .dstAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
      .newLayout = VK_IMAGE_LAYOUT_GENERAL,
      .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .image = o->image,
      .subresourceRange = {aspect_of(c), 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS}};
   vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
   vkCmdCopyBufferToImage(commands, o->staging, o->image, VK_IMAGE_LAYOUT_GENERAL, c->levels,
                          copies);
}

static void record_barrier(VkCommandBuffer commands)
{
   const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                    .dstAccessMask =
                                       VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
   vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                        VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                        &barrier, 0, NULL, 0, NULL);
}

static agx_status submit(struct image_runner *runner, const struct image_case *c, struct objects *o)
{
   VkCommandBuffer commands;
   const VkCommandBufferAllocateInfo info = {.sType =
                                                VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = runner->pool,
                                             .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                             .commandBufferCount = 1};
   const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
   const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
   VK_TRY(vkAllocateCommandBuffers(runner->vk.device, &info, &commands));
   VK_TRY(vkBeginCommandBuffer(commands, &begin));
   if (o->image && !c->is_host_copy)
      record_upload(commands, c, o);
   record_barrier(commands);
   vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, o->layout, 0, 1, &o->set, 0,
                           NULL);
   for (unsigned i = 0; i < 2; i++) {
      if (!o->pipeline[i])
         continue;
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, o->pipeline[i]);
      vkCmdDispatch(commands, IMAGE_QUERIES / 64, 1, 1);
      record_barrier(commands);
   }
   VK_TRY(vkEndCommandBuffer(commands));
   VK_TRY(vkCreateFence(runner->vk.device, &fence, NULL, &o->fence));
   const VkSubmitInfo submission = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                    .commandBufferCount = 1,
                                    .pCommandBuffers = &commands};
   VK_TRY(vkQueueSubmit(runner->vk.queue, 1, &submission, o->fence));
   VK_TRY(vkWaitForFences(runner->vk.device, 1, &o->fence, VK_TRUE, FENCE_NS));
   vkFreeCommandBuffers(runner->vk.device, runner->pool, 1, &commands);
   return AGX_OK;
}

static agx_status run(struct image_runner *runner, const struct image_case *c, uint64_t seed,
                      struct objects *o)
{
   VkFormat view_format = c->view_format ? c->view_format->format : c->format->format;
   char statement[400];
   void *mapped;
   AGX_TRY(check_format(runner, c, c->format->format,
                        c->is_buffer ? 0 : needed_features(c) & TRANSFER_FEATURES));
   AGX_TRY(check_format(runner, c, view_format, needed_features(c)));
   if (c->is_buffer) {
      AGX_TRY(make_texel_buffer(runner, c, seed, o));
   } else {
      AGX_TRY(make_image(runner, c, o));
      AGX_TRY(make_buffer(runner, image_bytes(c), VK_BUFFER_USAGE_TRANSFER_SRC_BIT, &o->staging,
                          &o->staging_memory, &mapped));
      image_fill(c, seed, mapped);
      if (c->is_host_copy)
         AGX_TRY(copy_on_host(runner, c, o, mapped));
      AGX_TRY(make_sampler(runner, c, o));
   }
   AGX_TRY(make_layout(runner, c, o));
   if (c->store)
      AGX_TRY(make_pipeline(runner, c, c->store, o, 0));
   snprintf(statement, sizeof(statement), "r[n] = bits(%s)", c->expression);
   AGX_TRY(make_pipeline(runner, c, statement, o, 1));
   AGX_TRY(make_set(runner, c, o));
   image_ask(c, seed + 1, (struct image_query *)runner->queries.mapped);
   memset(runner->answers.mapped, 0xa5, runner->answers.size_B);
   return submit(runner, c, o);
}

static void release(const struct image_runner *runner, struct objects *o)
{
   VkDevice device = runner->vk.device;
   vkDestroyFence(device, o->fence, NULL);
   for (unsigned i = 0; i < 2; i++) {
      vkDestroyPipeline(device, o->pipeline[i], NULL);
      vkDestroyShaderModule(device, o->module[i], NULL);
   }
   vkDestroyDescriptorPool(device, o->pool, NULL);
   vkDestroyPipelineLayout(device, o->layout, NULL);
   vkDestroyDescriptorSetLayout(device, o->set_layout, NULL);
   for (unsigned i = 0; i < IMAGE_INDEXED; i++) {
      vkDestroySampler(device, o->sampler[i], NULL);
      vkDestroyImageView(device, o->view[i], NULL);
   }
   vkDestroyBufferView(device, o->buffer_view, NULL);
   vkDestroyImage(device, o->image, NULL);
   vkDestroyBuffer(device, o->texels, NULL);
   vkDestroyBuffer(device, o->staging, NULL);
   vkFreeMemory(device, o->memory, NULL);
   vkFreeMemory(device, o->staging_memory, NULL);
}

agx_status image_runner_run(struct image_runner *runner, const struct image_case *c, uint64_t seed,
                            uint32_t out[IMAGE_QUERIES][4])
{
   struct objects o = {0};
   agx_status status = run(runner, c, seed, &o);
   if (status == AGX_OK)
      memcpy(out, runner->answers.mapped, IMAGE_QUERIES * 16);
   if (status == AGX_OK || status == AGX_UNIMPLEMENTED)
      release(runner, &o); /* after a lost device nothing is worth the risk */
   return status;
}
