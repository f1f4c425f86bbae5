/* SPDX-License-Identifier: MIT
 *
 * What is exchanged with others: here two devices of one process, which know nothing of each other
 * but descriptors.
 */
#include "vulkan/harness.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define SIZE_B 65536u

struct pair {
   struct vk *a, b;
};

static struct pair open_pair(void **state)
{
   struct pair pair = {.a = *state, .b = *(struct vk *)*state};
   vk_open_device(&pair.b);
   return pair;
}

/* ---- memory ------------------------------------------------------------- */

static const VkExternalMemoryHandleTypeFlagBits memory_types[] = {
   VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT, VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT};

static int export_memory(struct vk *vk, VkDeviceMemory memory,
                         VkExternalMemoryHandleTypeFlagBits type)
{
   const VkMemoryGetFdInfoKHR info = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, .memory = memory, .handleType = type};
   int fd = -1;
   assert_vk((VK_COMMAND(vk, vkGetMemoryFdKHR))(vk->device, &info, &fd));
   assert_true(fd >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC);
   return fd;
}

/* A buffer in memory that is exported, or with fd imported, as type. */
static VkResult make_shared(struct vk *vk, VkExternalMemoryHandleTypeFlagBits type, int fd,
                            struct vk_buffer *out)
{
   const VkExternalMemoryBufferCreateInfo external = {
      .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, .handleTypes = type};
   const VkBufferCreateInfo buffer = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                      .pNext = &external,
                                      .size = SIZE_B,
                                      .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                               VK_BUFFER_USAGE_TRANSFER_DST_BIT};
   const VkExportMemoryAllocateInfo export = {
      .sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, .handleTypes = type};
   const VkImportMemoryFdInfoKHR import = {.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
                                           .pNext = &export,
                                           .handleType = type,
                                           .fd = fd};
   VkMemoryRequirements needs;
   void *memory;
   *out = (struct vk_buffer){.size = SIZE_B};
   assert_vk(vkCreateBuffer(vk->device, &buffer, NULL, &out->handle));
   vkGetBufferMemoryRequirements(vk->device, out->handle, &needs);
   const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                      .pNext = fd < 0 ? (const void *)&export : &import,
                                      .allocationSize = needs.size,
                                      .memoryTypeIndex = 1};
   VkResult result = vkAllocateMemory(vk->device, &info, NULL, &out->memory);
   if (result != VK_SUCCESS) {
      vkDestroyBuffer(vk->device, out->handle, NULL);
      return result;
   }
   assert_vk(vkBindBufferMemory(vk->device, out->handle, out->memory, 0));
   assert_vk(vkMapMemory(vk->device, out->memory, 0, VK_WHOLE_SIZE, 0, &memory));
   out->words = memory;
   return VK_SUCCESS;
}

static void fill(struct vk *vk, const struct vk_buffer *buffer, uint32_t value)
{
   VkCommandBuffer commands = vk_begin(vk, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
   vkCmdFillBuffer(commands, buffer->handle, 0, VK_WHOLE_SIZE, value);
   vk_run(vk, commands);
}

static void memory_goes_there_and_back(void **state)
{
   struct pair pair = open_pair(state);
   for (uint32_t i = 0; i < AGX_COUNT(memory_types); i++) {
      const VkExternalMemoryHandleTypeFlagBits type = memory_types[i];
      struct vk_buffer there, here, again;
      assert_vk(make_shared(pair.a, type, -1, &there));
      fill(pair.a, &there, 11);
      assert_vk(make_shared(&pair.b, type, export_memory(pair.a, there.memory, type), &here));
      assert_int_equal(here.words[SIZE_B / 4 - 1], 11);
      fill(&pair.b, &here, 12);
      assert_int_equal(there.words[0], 12);
      assert_int_equal(there.words[SIZE_B / 4 - 1], 12);
      /* What was imported goes on, also to where it came from, and outlives who made it. */
      assert_vk(make_shared(pair.a, type, export_memory(&pair.b, here.memory, type), &again));
      vk_buffer_free(pair.a, &there);
      vk_buffer_free(&pair.b, &here);
      fill(pair.a, &again, 13);
      assert_int_equal(again.words[7], 13);
      vk_buffer_free(pair.a, &again);
   }
   vk_close_device(&pair.b);
}

static void descriptors_of_no_memory_are_refused(void **state)
{
   struct vk *vk = *state;
   PFN_vkGetMemoryFdPropertiesKHR get = VK_COMMAND(vk, vkGetMemoryFdPropertiesKHR);
   VkMemoryFdPropertiesKHR properties = {.sType = VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
   const VkExternalMemoryHandleTypeFlagBits type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
   struct vk_buffer buffer, none;
   int ends[2];
   assert_int_equal(pipe(ends), 0);
   assert_int_equal(get(vk->device, type, ends[0], &properties), VK_ERROR_INVALID_EXTERNAL_HANDLE);
   assert_int_equal(make_shared(vk, type, ends[0], &none), VK_ERROR_INVALID_EXTERNAL_HANDLE);
   assert_int_equal(close(ends[0]), 0); /* it stayed ours */
   close(ends[1]);
   assert_vk(make_shared(vk, type, -1, &buffer));
   int fd = export_memory(vk, buffer.memory, type);
   assert_vk(get(vk->device, type, fd, &properties));
   assert_int_equal(properties.memoryTypeBits, 3);
   assert_int_equal(close(fd), 0);
   vk_buffer_free(vk, &buffer);
}

static VkResult ask_image(struct vk *vk, VkImageTiling tiling,
                          VkExternalMemoryHandleTypeFlagBits type, VkExternalMemoryProperties *out)
{
   const VkPhysicalDeviceExternalImageFormatInfo external = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO, .handleType = type};
   const VkPhysicalDeviceImageFormatInfo2 info = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2,
      .pNext = &external,
      .format = VK_FORMAT_R8G8B8A8_UNORM,
      .type = VK_IMAGE_TYPE_2D,
      .tiling = tiling,
      .usage = VK_IMAGE_USAGE_SAMPLED_BIT};
   VkExternalImageFormatProperties properties = {
      .sType = VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
   VkImageFormatProperties2 all = {.sType = VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2,
                                   .pNext = &properties};
   VkResult result = vkGetPhysicalDeviceImageFormatProperties2(vk->physical, &info, &all);
   *out = properties.externalMemoryProperties;
   return result;
}

static void what_memory_can_be_exchanged_as(void **state)
{
   struct vk *vk = *state;
   const VkExternalMemoryFeatureFlags both =
      VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
   VkPhysicalDeviceExternalBufferInfo info = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
   VkExternalBufferProperties out = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
   VkExternalMemoryProperties image;
   for (uint32_t i = 0; i < AGX_COUNT(memory_types); i++) {
      info.handleType = memory_types[i];
      vkGetPhysicalDeviceExternalBufferProperties(vk->physical, &info, &out);
      assert_int_equal(out.externalMemoryProperties.externalMemoryFeatures, both);
      assert_int_equal(out.externalMemoryProperties.compatibleHandleTypes,
                       memory_types[0] | memory_types[1]);
      assert_vk(ask_image(vk, VK_IMAGE_TILING_LINEAR, memory_types[i], &image));
      assert_int_equal(image.externalMemoryFeatures, both);
   }
   info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
   vkGetPhysicalDeviceExternalBufferProperties(vk->physical, &info, &out);
   assert_int_equal(out.externalMemoryProperties.externalMemoryFeatures, 0);
   assert_vk(ask_image(vk, VK_IMAGE_TILING_OPTIMAL, memory_types[0], &image));
   assert_int_equal(image.compatibleHandleTypes, memory_types[0]);
   assert_int_equal(ask_image(vk, VK_IMAGE_TILING_OPTIMAL, memory_types[1], &image),
                    VK_ERROR_FORMAT_NOT_SUPPORTED);
}

AGX_TEST_FILE(void)
{
#define CASE(test) cmocka_unit_test_setup_teardown(test, vk_open, vk_close)
   const struct CMUnitTest tests[] = {
      CASE(memory_goes_there_and_back),
      CASE(descriptors_of_no_memory_are_refused),
      CASE(what_memory_can_be_exchanged_as),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
