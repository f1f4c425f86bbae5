/* SPDX-License-Identifier: MIT
 *
 * What applications ask of a physical device.
 */
#include <string.h>
#include <unistd.h>

#include "vulkan/device.h"
#include "vulkan/memory.h"

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceFeatures(VkPhysicalDevice physicalDevice,
                                                           VkPhysicalDeviceFeatures *pFeatures)
{
   agxvk_core_features_write(pFeatures);
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceFeatures2(VkPhysicalDevice physicalDevice,
                                                            VkPhysicalDeviceFeatures2 *pFeatures)
{
   agxvk_core_features_write(&pFeatures->features);
   agxvk_features_write(pFeatures->pNext);
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceProperties(
   VkPhysicalDevice physicalDevice, VkPhysicalDeviceProperties *pProperties)
{
   *pProperties = agxvk_physical_device_of(physicalDevice)->core;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceProperties2(
   VkPhysicalDevice physicalDevice, VkPhysicalDeviceProperties2 *pProperties)
{
   const struct agxvk_physical_device *device = agxvk_physical_device_of(physicalDevice);
   pProperties->properties = device->core;
   agxvk_properties_write(&device->properties, pProperties->pNext);
}

/* ---- queues ------------------------------------------------------------- */

static const VkQueueFamilyProperties families[AGXVK_FAMILY_COUNT] = {
   [AGXVK_FAMILY_COMPUTE] =
      {
         .queueFlags = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
         .queueCount = AGXVK_FAMILY_QUEUES,
         .timestampValidBits = 64,
         .minImageTransferGranularity = {1, 1, 1},
      },
   [AGXVK_FAMILY_TRANSFER] =
      {
         .queueFlags = VK_QUEUE_TRANSFER_BIT,
         .queueCount = AGXVK_FAMILY_QUEUES,
         .timestampValidBits = 64,
         .minImageTransferGranularity = {1, 1, 1},
      },
};

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceQueueFamilyProperties(
   VkPhysicalDevice physicalDevice, uint32_t *pCount, VkQueueFamilyProperties *pProperties)
{
   VkResult result;
   const uint32_t count = agxvk_outarray(AGXVK_FAMILY_COUNT, pProperties, pCount, &result);
   for (uint32_t i = 0; i < count; i++)
      pProperties[i] = families[i];
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceQueueFamilyProperties2(
   VkPhysicalDevice physicalDevice, uint32_t *pCount, VkQueueFamilyProperties2 *pProperties)
{
   VkResult result;
   const uint32_t count = agxvk_outarray(AGXVK_FAMILY_COUNT, pProperties, pCount, &result);
   for (uint32_t i = 0; i < count; i++)
      pProperties[i].queueFamilyProperties = families[i];
}

/* ---- memory ------------------------------------------------------------- */

/* One heap, the machine's memory, of which the GPU has as much as others leave. */
static uint64_t memory_size(void)
{
   return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t memory_free(void)
{
   return (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceMemoryProperties(
   VkPhysicalDevice physicalDevice, VkPhysicalDeviceMemoryProperties *pProperties)
{
   *pProperties = (VkPhysicalDeviceMemoryProperties){
      .memoryTypeCount = AGXVK_MEMORY_TYPE_COUNT,
      .memoryHeapCount = 1,
      .memoryHeaps = {{memory_size(), VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
   };
   for (uint32_t i = 0; i < AGXVK_MEMORY_TYPE_COUNT; i++)
      pProperties->memoryTypes[i].propertyFlags = agxvk_memory_types[i].properties;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceMemoryProperties2(
   VkPhysicalDevice physicalDevice, VkPhysicalDeviceMemoryProperties2 *pProperties)
{
   agxvk_GetPhysicalDeviceMemoryProperties(physicalDevice, &pProperties->memoryProperties);
   VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = (void *)agxvk_find(
      pProperties->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
   if (!budget)
      return;
   memset(budget->heapBudget, 0, sizeof(budget->heapBudget));
   memset(budget->heapUsage, 0, sizeof(budget->heapUsage));
   budget->heapUsage[0] = agxvk_memory_used();
   budget->heapBudget[0] = AGXVK_MIN(memory_free() + budget->heapUsage[0], memory_size());
}

/* ---- others ------------------------------------------------------------- */

/* Tools are layers, which tell of themselves. */
VKAPI_ATTR VkResult VKAPI_CALL
agxvk_GetPhysicalDeviceToolProperties(VkPhysicalDevice physicalDevice, uint32_t *pToolCount,
                                      VkPhysicalDeviceToolProperties *pToolProperties)
{
   *pToolCount = 0;
   return VK_SUCCESS;
}

/* ---- time --------------------------------------------------------------- */

static const VkTimeDomainEXT time_domains[] = {VK_TIME_DOMAIN_DEVICE_EXT,
                                               VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT};

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetPhysicalDeviceCalibrateableTimeDomainsEXT(
   VkPhysicalDevice physicalDevice, uint32_t *pCount, VkTimeDomainEXT *pTimeDomains)
{
   VkResult result;
   const uint32_t count = agxvk_outarray(AGXVK_COUNT(time_domains), pTimeDomains, pCount, &result);
   for (uint32_t i = 0; i < count; i++)
      pTimeDomains[i] = time_domains[i];
   return result;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetCalibratedTimestampsEXT(
   VkDevice device_handle, uint32_t timestampCount, const VkCalibratedTimestampInfoEXT *pInfos,
   uint64_t *pTimestamps, uint64_t *pMaxDeviation)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agx_device_time time = {.size = sizeof(time)};
   agx_status status = agx_device_get_time(device->core, &time);
   if (status != AGX_OK)
      return agxvk_result(device, status);
   for (uint32_t i = 0; i < timestampCount; i++)
      pTimestamps[i] =
         pInfos[i].timeDomain == VK_TIME_DOMAIN_DEVICE_EXT ? time.gpu : time.monotonic_ns;
   *pMaxDeviation = time.deviation_ns;
   return VK_SUCCESS;
}
