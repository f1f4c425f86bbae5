/* SPDX-License-Identifier: MIT
 *
 *    vkclears [DEVICE]
 *
 * Images that a driver may store in special ways: cleared ones and ones that nobody wrote, which
 * may be compressed, and sparse ones of which a part has memory. Each is copied to a buffer, and
 * every texel looked at. The exit code is 0 when all are right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/util.h"
#include "vk.h"

#define COLOUR   7
#define ANSWER_B (16u << 20)

struct format {
   VkFormat format;
   uint32_t texel_B;
};

static const struct format formats[] = {
   {VK_FORMAT_R8_UINT, 1},     {VK_FORMAT_R16_UINT, 2},           {VK_FORMAT_R32_UINT, 4},
   {VK_FORMAT_R32G32_UINT, 8}, {VK_FORMAT_R32G32B32A32_UINT, 16},
};

struct picture {
   struct format format;
   uint32_t width, height, levels, layers;
   VkImageUsageFlags usage;
   bool is_sparse, is_cleared;
};

struct bench {
   struct vk_device vk;
   struct vk_resource answer;
   VkCommandBuffer commands;
};

/* What one picture makes. */
struct objects {
   VkImage image;
   VkDeviceMemory memory;
   VkExtent3D bound; /* texels of level 0 of layer 0 that have memory, from 0, 0 */
   uint32_t tail;    /* levels from here on have memory in all layers */
};

static agx_status allocate(const struct bench *bench, uint64_t size_B, uint32_t types,
                           VkDeviceMemory *out)
{
   const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                      .allocationSize = size_B,
                                      .memoryTypeIndex = (uint32_t)__builtin_ctz(types)};
   VK_TRY(vkAllocateMemory(bench->vk.device, &info, NULL, out));
   return AGX_OK;
}

/* One granule of level 0, and the levels that share pages. */
static agx_status bind_sparsely(const struct bench *bench, const struct picture *picture,
                                const VkMemoryRequirements *needs, struct objects *out)
{
   VkSparseImageMemoryRequirements sparse;
   uint32_t count = 1;
   vkGetImageSparseMemoryRequirements(bench->vk.device, out->image, &count, &sparse);
   const VkExtent3D granule = sparse.formatProperties.imageGranularity;
   const uint64_t tail_at = agx_align_up(needs->alignment, 65536);
   AGX_TRY(allocate(bench, tail_at + sparse.imageMipTailSize, needs->memoryTypeBits, &out->memory));
   out->bound = (VkExtent3D){AGX_MIN(granule.width, picture->width),
                             AGX_MIN(granule.height, picture->height), 1};
   out->tail = sparse.imageMipTailFirstLod;
   const VkSparseImageMemoryBind block = {.subresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0},
                                          .extent = out->bound,
                                          .memory = out->memory};
   const VkSparseMemoryBind tail = {.resourceOffset = sparse.imageMipTailOffset,
                                    .size = sparse.imageMipTailSize,
                                    .memory = out->memory,
                                    .memoryOffset = tail_at};
   const VkSparseImageMemoryBindInfo blocks = {out->image, 1, &block};
   const VkSparseImageOpaqueMemoryBindInfo tails = {out->image, 1, &tail};
   const VkBindSparseInfo info = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                  .imageBindCount = 1,
                                  .pImageBinds = &blocks,
                                  .imageOpaqueBindCount = out->tail < picture->levels,
                                  .pImageOpaqueBinds = &tails};
   VK_TRY(vkQueueBindSparse(bench->vk.queue, 1, &info, VK_NULL_HANDLE));
   VK_TRY(vkQueueWaitIdle(bench->vk.queue));
   return AGX_OK;
}

static agx_status create(const struct bench *bench, const struct picture *picture,
                         struct objects *out)
{
   const VkImageCreateFlags sparse =
      VK_IMAGE_CREATE_SPARSE_BINDING_BIT | VK_IMAGE_CREATE_SPARSE_RESIDENCY_BIT;
   const VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                   .flags = picture->is_sparse ? sparse : 0,
                                   .imageType = VK_IMAGE_TYPE_2D,
                                   .format = picture->format.format,
                                   .extent = {picture->width, picture->height, 1},
                                   .mipLevels = picture->levels,
                                   .arrayLayers = picture->layers,
                                   .samples = VK_SAMPLE_COUNT_1_BIT,
                                   .usage = picture->usage | VK_IMAGE_USAGE_TRANSFER_SRC_BIT |
                                            VK_IMAGE_USAGE_TRANSFER_DST_BIT};
   VkMemoryRequirements needs;
   *out = (struct objects){.bound = info.extent};
   VK_TRY(vkCreateImage(bench->vk.device, &info, NULL, &out->image));
   vkGetImageMemoryRequirements(bench->vk.device, out->image, &needs);
   if (picture->is_sparse)
      return bind_sparsely(bench, picture, &needs, out);
   AGX_TRY(allocate(bench, needs.size, needs.memoryTypeBits, &out->memory));
   VK_TRY(vkBindImageMemory(bench->vk.device, out->image, out->memory, 0));
   return AGX_OK;
}

static void record_barrier(VkCommandBuffer commands, VkImage image, VkImageLayout from)
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

static uint32_t side(uint32_t full, uint32_t level)
{
   return AGX_MAX(full >> level, 1u);
}

/* The levels one after the other, in each all layers. */
static void record_copies(const struct bench *bench, const struct picture *picture, VkImage image)
{
   uint64_t at = 0;
   for (uint32_t level = 0; level < picture->levels; level++) {
      uint32_t width = side(picture->width, level), height = side(picture->height, level);
      const VkBufferImageCopy copy = {
         .bufferOffset = at,
         .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, picture->layers},
         .imageExtent = {width, height, 1}};
      vkCmdCopyImageToBuffer(bench->commands, image, VK_IMAGE_LAYOUT_GENERAL, bench->answer.buffer,
                             1, &copy);
      at += (uint64_t)width * height * picture->layers * picture->format.texel_B;
   }
}

static agx_status run(const struct bench *bench, const struct picture *picture, VkImage image)
{
   const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
   const VkImageSubresourceRange all = {VK_IMAGE_ASPECT_COLOR_BIT, 0, picture->levels, 0,
                                        picture->layers};
   const VkClearColorValue colour = {.uint32 = {COLOUR}};
   const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                .commandBufferCount = 1,
                                .pCommandBuffers = &bench->commands};
   memset(bench->answer.mapped, 0xcc, ANSWER_B);
   VK_TRY(vkBeginCommandBuffer(bench->commands, &begin));
   record_barrier(bench->commands, image, VK_IMAGE_LAYOUT_UNDEFINED);
   if (picture->is_cleared) {
      vkCmdClearColorImage(bench->commands, image, VK_IMAGE_LAYOUT_GENERAL, &colour, 1, &all);
      record_barrier(bench->commands, image, VK_IMAGE_LAYOUT_GENERAL);
   }
   record_copies(bench, picture, image);
   VK_TRY(vkEndCommandBuffer(bench->commands));
   VK_TRY(vkQueueSubmit(bench->vk.queue, 1, &submit, VK_NULL_HANDLE));
   VK_TRY(vkQueueWaitIdle(bench->vk.queue));
   return AGX_OK;
}

/* What a texel's first channel is: memory of new images is 0 here. */
static uint32_t expected(const struct picture *picture, const struct objects *objects,
                         uint32_t level, uint32_t layer, uint32_t x, uint32_t y)
{
   bool is_bound =
      !picture->is_sparse || level >= objects->tail ||
      (level == 0 && layer == 0 && x < objects->bound.width && y < objects->bound.height);
   return is_bound && picture->is_cleared ? COLOUR : 0;
}

static agx_status check_level(const struct bench *bench, const struct picture *picture,
                              const struct objects *objects, uint32_t level, uint64_t *at)
{
   uint32_t width = side(picture->width, level), height = side(picture->height, level);
   for (uint32_t i = 0; i < picture->layers * width * height; i++) {
      uint32_t layer = i / (width * height), x = i % width, y = i / width % height, value = 0;
      uint32_t want = expected(picture, objects, level, layer, x, y);
      memcpy(&value, bench->answer.mapped + *at, AGX_MIN(picture->format.texel_B, 4u));
      *at += picture->format.texel_B;
      if (value != want)
         return AGX_FAIL(AGX_DATA_LOSS, "level %u, layer %u, texel %u, %u: %u, not %u", level,
                         layer, x, y, value, want);
   }
   return AGX_OK;
}

static agx_status run_picture(const struct bench *bench, const struct picture *picture)
{
   /* Nothing is freed: memory that comes again would not be 0. */
   struct objects objects;
   uint64_t at = 0;
   AGX_TRY(create(bench, picture, &objects));
   AGX_TRY(run(bench, picture, objects.image));
   for (uint32_t level = 0; level < picture->levels; level++)
      AGX_TRY(check_level(bench, picture, &objects, level, &at));
   return AGX_OK;
}

static agx_status open_bench(const char *name, struct bench *out)
{
   const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                              .flags =
                                                 VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
   VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                       .commandBufferCount = 1};
   AGX_TRY(vk_device_open(name, false, &out->vk));
   AGX_TRY(vk_buffer_create(&out->vk, ANSWER_B, &out->answer));
   VK_TRY(vkCreateCommandPool(out->vk.device, &pool_info, NULL, &info.commandPool));
   VK_TRY(vkAllocateCommandBuffers(out->vk.device, &info, &out->commands));
   return AGX_OK;
}

int main(int argc, char **argv)
{
   static const struct picture kinds[] = {
      {.width = 100, .height = 70, .levels = 1, .layers = 1, .usage = VK_IMAGE_USAGE_SAMPLED_BIT},
      {.width = 100, .height = 70, .levels = 7, .layers = 3, .usage = VK_IMAGE_USAGE_SAMPLED_BIT},
      {.width = 600,
       .height = 300,
       .levels = 1,
       .layers = 1,
       .usage = VK_IMAGE_USAGE_SAMPLED_BIT,
       .is_sparse = true},
      {.width = 600,
       .height = 300,
       .levels = 7,
       .layers = 2,
       .usage = VK_IMAGE_USAGE_STORAGE_BIT,
       .is_sparse = true},
   };
   struct bench bench = {0};
   unsigned wrong = 0, count = 0;
   char text[200];
   agx_status status = open_bench(argc > 1 ? argv[1] : "Apple", &bench);
   for (size_t i = 0; status == AGX_OK && i < 2 * AGX_COUNT(formats) * AGX_COUNT(kinds); i++) {
      struct picture picture = kinds[i / 2 % AGX_COUNT(kinds)];
      picture.format = formats[i / 2 / AGX_COUNT(kinds)];
      picture.is_cleared = i % 2;
      count++;
      if (run_picture(&bench, &picture) == AGX_OK)
         continue;
      agx_error_text(text, sizeof(text));
      printf("format %d, %u levels, %s, %s: %s\n", (int)picture.format.format, picture.levels,
             picture.is_sparse ? "sparse" : "not sparse",
             picture.is_cleared ? "cleared" : "not written", text);
      wrong++;
   }
   if (status != AGX_OK) {
      agx_error_text(text, sizeof(text));
      fprintf(stderr, "vkclears: %s\n", text);
      return 1;
   }
   printf("cleared, unwritten and sparse images: %u of %u right\n", count - wrong, count);
   return wrong != 0;
}
