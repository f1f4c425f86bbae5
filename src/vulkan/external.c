/* SPDX-License-Identifier: MIT
 *
 * Memory that is shared with other processes, devices and APIs: as dma-bufs, which an opaque
 * descriptor is one of, too.
 */
#include <unistd.h>

#include "vulkan/device.h"
#include "vulkan/memory.h"

#define FD_TYPES                                                                                   \
   (VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT | VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT)

VkExternalMemoryProperties agxvk_external_memory(VkExternalMemoryHandleTypeFlagBits type)
{
   if (!(type & FD_TYPES))
      return (VkExternalMemoryProperties){.compatibleHandleTypes = type};
   return (VkExternalMemoryProperties){
      .externalMemoryFeatures =
         VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT,
      .exportFromImportedHandleTypes = FD_TYPES,
      .compatibleHandleTypes = FD_TYPES,
   };
}

/* Sparse buffers have no memory that could be shared. */
VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceExternalBufferProperties(
   VkPhysicalDevice physicalDevice, const VkPhysicalDeviceExternalBufferInfo *pInfo,
   VkExternalBufferProperties *pOut)
{
   pOut->externalMemoryProperties =
      pInfo->flags & VK_BUFFER_CREATE_SPARSE_BINDING_BIT
         ? (VkExternalMemoryProperties){.compatibleHandleTypes = pInfo->handleType}
         : agxvk_external_memory(pInfo->handleType);
}

/* ---- in ----------------------------------------------------------------- */

static VkResult import(struct agxvk_device *device, int fd, uint64_t size_B,
                       struct agx_buffer **out_buffer)
{
   const struct agx_external external = {
      .size = sizeof(external), .kind = AGX_EXTERNAL_DMA_BUF, .fd = fd, .size_B = size_B};
   const struct agx_release_callback none = {0};
   agx_status status = agx_buffer_import(device->core, NULL, &external, none, out_buffer);
   if (status != AGX_INVALID_ARGUMENT && status != AGX_OUT_OF_RANGE)
      return agxvk_memory_result(device, status);
   agxvk_tell_failure(device->instance, status);
   return VK_ERROR_INVALID_EXTERNAL_HANDLE;
}

VkResult agxvk_memory_import(struct agxvk_device *device, int fd, uint64_t size_B,
                             struct agx_buffer **out_buffer)
{
   VkResult result = import(device, fd, size_B, out_buffer);
   if (result == VK_SUCCESS)
      close(fd);
   return result;
}

/* Whether it can be had is found out by having it. */
VKAPI_ATTR VkResult VKAPI_CALL
agxvk_GetMemoryFdPropertiesKHR(VkDevice device, VkExternalMemoryHandleTypeFlagBits handleType,
                               int fd, VkMemoryFdPropertiesKHR *pMemoryFdProperties)
{
   struct agx_buffer *buffer;
   VkResult result = import(agxvk_device_of(device), fd, 0, &buffer);
   pMemoryFdProperties->memoryTypeBits = result == VK_SUCCESS ? AGXVK_MEMORY_TYPE_BITS : 0;
   if (result == VK_SUCCESS)
      agx_release(buffer);
   return result;
}

/* ---- out ---------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetMemoryFdKHR(VkDevice device,
                                                    const VkMemoryGetFdInfoKHR *pGetFdInfo,
                                                    int *pFd)
{
   struct agx_external external = {.size = sizeof(external)};
   agx_status status =
      agx_buffer_export(agxvk_memory_of(pGetFdInfo->memory)->core, AGX_EXTERNAL_DMA_BUF, &external);
   *pFd = external.fd;
   if (status == AGX_OK)
      return VK_SUCCESS;
   VkResult result = agxvk_memory_result(agxvk_device_of(device), status);
   return result == VK_ERROR_OUT_OF_DEVICE_MEMORY ? VK_ERROR_TOO_MANY_OBJECTS : result;
}
