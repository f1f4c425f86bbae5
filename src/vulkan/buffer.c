/* SPDX-License-Identifier: MIT
 *
 * Buffers and their views: ranges of memory, which the HAL gets as such.
 */
#include "vulkan/format.h"
#include "vulkan/memory.h"

/* Descriptors want 16 bytes; so a buffer's beginning may be bound as anything. */
#define ALIGN_B 16u

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateBuffer(VkDevice device_handle,
                                                  const VkBufferCreateInfo *pCreateInfo,
                                                  const VkAllocationCallbacks *pAllocator,
                                                  VkBuffer *pBuffer)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_buffer *buffer =
      agxvk_object_create(device, pAllocator, sizeof(*buffer), VK_OBJECT_TYPE_BUFFER);
   if (!buffer)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   buffer->size_B = pCreateInfo->size;
   buffer->flags = pCreateInfo->flags;
   buffer->usage = pCreateInfo->usage;
   *pBuffer = agxvk_buffer_handle(buffer);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyBuffer(VkDevice device, VkBuffer buffer,
                                               const VkAllocationCallbacks *pAllocator)
{
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, agxvk_buffer_of(buffer));
}

/* ---- memory ------------------------------------------------------------- */

static void write_requirements(uint64_t size_B, VkMemoryRequirements2 *out)
{
   out->memoryRequirements = (VkMemoryRequirements){
      .size = (size_B + ALIGN_B - 1) / ALIGN_B * ALIGN_B,
      .alignment = ALIGN_B,
      .memoryTypeBits = AGXVK_MEMORY_TYPE_BITS,
   };
   VkMemoryDedicatedRequirements *dedicated =
      (void *)agxvk_find(out->pNext, VK_STRUCTURE_TYPE_MEMORY_DEDICATED_REQUIREMENTS);
   if (dedicated)
      dedicated->prefersDedicatedAllocation = dedicated->requiresDedicatedAllocation = VK_FALSE;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetBufferMemoryRequirements(VkDevice device, VkBuffer buffer,
                                                             VkMemoryRequirements *pOut)
{
   VkMemoryRequirements2 out = {.sType = VK_STRUCTURE_TYPE_MEMORY_REQUIREMENTS_2};
   write_requirements(agxvk_buffer_of(buffer)->size_B, &out);
   *pOut = out.memoryRequirements;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetBufferMemoryRequirements2(
   VkDevice device, const VkBufferMemoryRequirementsInfo2 *pInfo, VkMemoryRequirements2 *pOut)
{
   write_requirements(agxvk_buffer_of(pInfo->buffer)->size_B, pOut);
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetDeviceBufferMemoryRequirements(
   VkDevice device, const VkDeviceBufferMemoryRequirements *pInfo, VkMemoryRequirements2 *pOut)
{
   write_requirements(pInfo->pCreateInfo->size, pOut);
}

static void bind(struct agxvk_buffer *buffer, const struct agxvk_memory *memory, uint64_t offset_B)
{
   buffer->address = memory->address + offset_B;
   buffer->ref = (struct agx_buffer_ref){memory->core, offset_B, buffer->size_B, 0, 0};
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_BindBufferMemory(VkDevice device, VkBuffer buffer,
                                                      VkDeviceMemory memory, VkDeviceSize offset)
{
   bind(agxvk_buffer_of(buffer), agxvk_memory_of(memory), offset);
   return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_BindBufferMemory2(VkDevice device, uint32_t count,
                                                       const VkBindBufferMemoryInfo *pInfos)
{
   for (uint32_t i = 0; i < count; i++)
      bind(agxvk_buffer_of(pInfos[i].buffer), agxvk_memory_of(pInfos[i].memory),
           pInfos[i].memoryOffset);
   return VK_SUCCESS;
}

VKAPI_ATTR VkDeviceAddress VKAPI_CALL
agxvk_GetBufferDeviceAddress(VkDevice device, const VkBufferDeviceAddressInfo *pInfo)
{
   return agxvk_buffer_of(pInfo->buffer)->address;
}

VKAPI_ATTR uint64_t VKAPI_CALL
agxvk_GetBufferOpaqueCaptureAddress(VkDevice device, const VkBufferDeviceAddressInfo *pInfo)
{
   return 0;
}

/* ---- views -------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateBufferView(VkDevice device_handle,
                                                      const VkBufferViewCreateInfo *pCreateInfo,
                                                      const VkAllocationCallbacks *pAllocator,
                                                      VkBufferView *pView)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   const struct agxvk_format *format = agxvk_format_find(pCreateInfo->format);
   struct agxvk_buffer_view *view =
      agxvk_object_create(device, pAllocator, sizeof(*view), VK_OBJECT_TYPE_BUFFER_VIEW);
   if (!view)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   view->ref = agxvk_buffer_ref(agxvk_buffer_of(pCreateInfo->buffer), pCreateInfo->offset,
                                pCreateInfo->range);
   view->ref.length_B -= view->ref.length_B % format->block_B;
   view->format = format->name;
   *pView = agxvk_buffer_view_handle(view);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyBufferView(VkDevice device, VkBufferView view,
                                                   const VkAllocationCallbacks *pAllocator)
{
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, agxvk_buffer_view_of(view));
}
