/* SPDX-License-Identifier: MIT
 *
 * What can be shared with others: nothing yet of memory, semaphores and fences.
 */
#include "vulkan/device.h"

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceExternalBufferProperties(
   VkPhysicalDevice physicalDevice, const VkPhysicalDeviceExternalBufferInfo *pInfo,
   VkExternalBufferProperties *pOut)
{
   pOut->externalMemoryProperties = (VkExternalMemoryProperties){0};
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceExternalSemaphoreProperties(
   VkPhysicalDevice physicalDevice, const VkPhysicalDeviceExternalSemaphoreInfo *pInfo,
   VkExternalSemaphoreProperties *pOut)
{
   pOut->exportFromImportedHandleTypes = 0;
   pOut->compatibleHandleTypes = 0;
   pOut->externalSemaphoreFeatures = 0;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceExternalFenceProperties(
   VkPhysicalDevice physicalDevice, const VkPhysicalDeviceExternalFenceInfo *pInfo,
   VkExternalFenceProperties *pOut)
{
   pOut->exportFromImportedHandleTypes = 0;
   pOut->compatibleHandleTypes = 0;
   pOut->externalFenceFeatures = 0;
}
