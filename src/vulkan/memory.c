/* SPDX-License-Identifier: MIT
 *
 * Memory: each allocation is a buffer of the HAL's, which the host has mapped.
 */
#include "vulkan/memory.h"

#define ALL_PROPERTIES                                                                             \
   (VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |                    \
    VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

const struct agxvk_memory_type agxvk_memory_types[AGXVK_MEMORY_TYPE_COUNT] = {
   [AGXVK_MEMORY_COMBINED] = {ALL_PROPERTIES, 0},
   [AGXVK_MEMORY_CACHED] = {ALL_PROPERTIES | VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
                            AGX_BUFFER_HOST_READ},
};

/* By all devices of the process, which share the machine's memory. */
static uint64_t used_B;

uint64_t agxvk_memory_used(void)
{
   return __atomic_load_n(&used_B, __ATOMIC_RELAXED);
}

static void count(uint64_t grown_B)
{
   __atomic_fetch_add(&used_B, grown_B, __ATOMIC_RELAXED);
}

/* New memory: the application's own, or for others to have, too. */
static VkResult allocate(struct agxvk_device *device, const VkMemoryAllocateInfo *info,
                         struct agx_buffer **out)
{
   const VkExportMemoryAllocateInfo *export =
      agxvk_find(info->pNext, VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO);
   const bool is_shared = export && export->handleTypes;
   const struct agx_buffer_desc desc = {
      .size = sizeof(desc),
      .size_B = info->allocationSize,
      .flags = agxvk_memory_types[info->memoryTypeIndex].flags,
      .usage = is_shared ? AGX_USAGE_TRANSFER | AGX_USAGE_DISPATCH | AGX_USAGE_MAPPING |
                              AGX_USAGE_SHARING_EXPORT
                         : 0u,
   };
   agx_status status = agx_buffer_create(device->core, &desc, out);
   /* Sizes beyond what the GPU can address are refused as such. */
   return status == AGX_INVALID_ARGUMENT ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                                         : agxvk_memory_result(device, status);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_AllocateMemory(VkDevice device_handle,
                                                    const VkMemoryAllocateInfo *pAllocateInfo,
                                                    const VkAllocationCallbacks *pAllocator,
                                                    VkDeviceMemory *pMemory)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   const VkImportMemoryFdInfoKHR *import =
      agxvk_find(pAllocateInfo->pNext, VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR);
   struct agxvk_memory *memory =
      agxvk_object_create(device, pAllocator, sizeof(*memory), VK_OBJECT_TYPE_DEVICE_MEMORY);
   if (!memory)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   VkResult result =
      import && import->handleType
         ? agxvk_memory_import(device, import->fd, pAllocateInfo->allocationSize, &memory->core)
         : allocate(device, pAllocateInfo, &memory->core);
   if (result != VK_SUCCESS) {
      agxvk_object_destroy(device, pAllocator, memory);
      return result;
   }
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(memory->core, &info);
   memory->object.core = memory->core;
   memory->address = info.address;
   memory->size_B = pAllocateInfo->allocationSize;
   count(memory->size_B);
   *pMemory = agxvk_memory_handle(memory);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_FreeMemory(VkDevice device_handle, VkDeviceMemory memory_handle,
                                            const VkAllocationCallbacks *pAllocator)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_memory *memory = agxvk_memory_of(memory_handle);
   if (!memory)
      return;
   count(-memory->size_B);
   agx_release(memory->core);
   agxvk_object_destroy(device, pAllocator, memory);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_MapMemory(VkDevice device, VkDeviceMemory memory,
                                               VkDeviceSize offset, VkDeviceSize size,
                                               VkMemoryMapFlags flags, void **ppData)
{
   void *base;
   agx_status status = agx_buffer_map(agxvk_memory_of(memory)->core, &base);
   if (status != AGX_OK) {
      agxvk_result(agxvk_device_of(device), status);
      return VK_ERROR_MEMORY_MAP_FAILED;
   }
   *ppData = (uint8_t *)base + offset;
   return VK_SUCCESS;
}

/* The mapping lives as long as the memory. */
VKAPI_ATTR void VKAPI_CALL agxvk_UnmapMemory(VkDevice device, VkDeviceMemory memory) {}

/* All memory is coherent. */
VKAPI_ATTR VkResult VKAPI_CALL agxvk_FlushMappedMemoryRanges(VkDevice device, uint32_t count_,
                                                             const VkMappedMemoryRange *pRanges)
{
   return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_InvalidateMappedMemoryRanges(
   VkDevice device, uint32_t count_, const VkMappedMemoryRange *pRanges)
{
   return VK_SUCCESS;
}

/* No memory is allocated lazily. */
VKAPI_ATTR void VKAPI_CALL agxvk_GetDeviceMemoryCommitment(VkDevice device, VkDeviceMemory memory,
                                                           VkDeviceSize *pCommitted)
{
   *pCommitted = 0;
}

VKAPI_ATTR uint64_t VKAPI_CALL agxvk_GetDeviceMemoryOpaqueCaptureAddress(
   VkDevice device, const VkDeviceMemoryOpaqueCaptureAddressInfo *pInfo)
{
   return 0;
}
