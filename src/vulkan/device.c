/* SPDX-License-Identifier: MIT
 *
 * Devices: the HAL's device is opened with a queue for each of the application's.
 */
#include "vulkan/device.h"

#include <stdlib.h>
#include <string.h>

#define NOTHING_B 4096u

/* ---- queues ------------------------------------------------------------- */

static uint32_t priority_of(const VkDeviceQueueCreateInfo *info, uint32_t index)
{
   const VkDeviceQueueGlobalPriorityCreateInfoKHR *global =
      agxvk_find(info->pNext, VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR);
   if (global)
      return global->globalPriority <= VK_QUEUE_GLOBAL_PRIORITY_LOW_KHR ? AGX_QUEUE_LOW
                                                                        : AGX_QUEUE_MEDIUM;
   return info->pQueuePriorities[index] < 0.5f ? AGX_QUEUE_LOW : AGX_QUEUE_MEDIUM;
}

/* The kernel gives higher ones to nobody who isn't privileged. */
static bool is_permitted(const VkDeviceQueueCreateInfo *info)
{
   const VkDeviceQueueGlobalPriorityCreateInfoKHR *global =
      agxvk_find(info->pNext, VK_STRUCTURE_TYPE_DEVICE_QUEUE_GLOBAL_PRIORITY_CREATE_INFO_KHR);
   return !global || global->globalPriority <= VK_QUEUE_GLOBAL_PRIORITY_MEDIUM_KHR;
}

static void add_queue(struct agxvk_device *device, const VkDeviceQueueCreateInfo *info,
                      uint32_t index)
{
   struct agxvk_queue *queue = &device->queues[device->queue_count];
   set_loader_magic_value(&queue->object.loader);
   queue->object.type = VK_OBJECT_TYPE_QUEUE;
   queue->device = device;
   queue->family = info->queueFamilyIndex;
   queue->index = index;
   queue->flags = info->flags;
   queue->mask = 1ull << device->queue_count++;
}

static VkResult plan_queues(struct agxvk_device *device, const VkDeviceCreateInfo *info,
                            uint32_t *priorities)
{
   for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
      const VkDeviceQueueCreateInfo *queues = &info->pQueueCreateInfos[i];
      if (!is_permitted(queues))
         return VK_ERROR_NOT_PERMITTED_KHR;
      if (queues->queueCount > AGXVK_COUNT(device->queues) - device->queue_count)
         return VK_ERROR_INITIALIZATION_FAILED;
      for (uint32_t q = 0; q < queues->queueCount; q++) {
         priorities[device->queue_count] = priority_of(queues, q);
         add_queue(device, queues, q);
      }
   }
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetDeviceQueue2(VkDevice device_handle,
                                                 const VkDeviceQueueInfo2 *pInfo, VkQueue *pQueue)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   *pQueue = VK_NULL_HANDLE;
   for (uint32_t i = 0; i < device->queue_count; i++) {
      struct agxvk_queue *queue = &device->queues[i];
      if (queue->family == pInfo->queueFamilyIndex && queue->index == pInfo->queueIndex &&
          queue->flags == pInfo->flags)
         *pQueue = agxvk_queue_handle(queue);
   }
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetDeviceQueue(VkDevice device, uint32_t queueFamilyIndex,
                                                uint32_t queueIndex, VkQueue *pQueue)
{
   const VkDeviceQueueInfo2 info = {
      .queueFamilyIndex = queueFamilyIndex,
      .queueIndex = queueIndex,
   };
   agxvk_GetDeviceQueue2(device, &info, pQueue);
}

/* ---- creation ----------------------------------------------------------- */

static void destroy(struct agxvk_device *device, const VkAllocationCallbacks *call)
{
   for (uint32_t i = 0; i < device->queue_count; i++) {
      agx_release(device->queues[i].order);
      agxvk_object_fini(device, &device->queues[i].object);
   }
   agx_release(device->nothing);
   agx_release(device->core);
   pthread_mutex_destroy(&device->lock);
   agxvk_object_destroy(device, call, device);
}

static VkResult enable_features(struct agxvk_device *device, const VkDeviceCreateInfo *info)
{
   const char *missing = NULL;
   if (info->pEnabledFeatures)
      missing = agxvk_core_features_enable(info->pEnabledFeatures, &device->features);
   const VkPhysicalDeviceFeatures2 *features =
      agxvk_find(info->pNext, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
   if (!missing && features)
      missing = agxvk_core_features_enable(&features->features, &device->features);
   if (!missing)
      missing = agxvk_features_enable(info->pNext, &device->features);
   if (!missing)
      return VK_SUCCESS;
   char text[128] = "vkCreateDevice: this device does not have the feature ";
   strncat(text, missing, sizeof(text) - strlen(text) - 1);
   agxvk_tell(device->instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT, text);
   return VK_ERROR_FEATURE_NOT_PRESENT;
}

static VkResult open_core(struct agxvk_device *device, const uint32_t *priorities)
{
   const struct agx_device_desc desc = {
      .size = sizeof(desc),
      .name = device->physical->node.path,
      .queue_count = device->queue_count,
      .queue_priorities = priorities,
      .flags = AGX_DEVICE_COMMON_NODE,
   };
   const struct agx_buffer_desc nothing = {
      .size = sizeof(nothing), .size_B = NOTHING_B, .label = "nothing"};
   agx_status status = agx_device_open(device->instance->core, &desc, &device->core);
   if (status == AGX_OK)
      status = agx_buffer_create(device->core, &nothing, &device->nothing);
   for (uint32_t i = 0; i < device->queue_count && status == AGX_OK; i++)
      status = agx_semaphore_create(device->core, 0, &device->queues[i].order);
   if (status == AGX_OK)
      return VK_SUCCESS;
   agxvk_tell_failure(device->instance, status);
   return status == AGX_RESOURCE_EXHAUSTED ? VK_ERROR_OUT_OF_DEVICE_MEMORY
                                           : VK_ERROR_INITIALIZATION_FAILED;
}

static VkResult init(struct agxvk_device *device, const VkDeviceCreateInfo *info)
{
   uint32_t priorities[AGXVK_COUNT(device->queues)];
   VkResult result = agxvk_extensions_enable(
      info->ppEnabledExtensionNames, info->enabledExtensionCount, false, &device->extensions);
   if (result == VK_SUCCESS)
      result = enable_features(device, info);
   if (result == VK_SUCCESS)
      result = plan_queues(device, info, priorities);
   return result == VK_SUCCESS ? open_core(device, priorities) : result;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateDevice(VkPhysicalDevice physicalDevice,
                                                  const VkDeviceCreateInfo *pCreateInfo,
                                                  const VkAllocationCallbacks *pAllocator,
                                                  VkDevice *pDevice)
{
   struct agxvk_physical_device *physical = agxvk_physical_device_of(physicalDevice);
   struct agxvk_device *device = agxvk_alloc(&physical->instance->alloc, pAllocator,
                                             sizeof(*device), VK_SYSTEM_ALLOCATION_SCOPE_DEVICE);
   if (!device)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   set_loader_magic_value(&device->object.loader);
   device->object.type = VK_OBJECT_TYPE_DEVICE;
   device->instance = physical->instance;
   device->physical = physical;
   device->alloc = pAllocator ? *pAllocator : physical->instance->alloc;
   pthread_mutex_init(&device->lock, NULL);
   VkResult result = init(device, pCreateInfo);
   if (result != VK_SUCCESS) {
      destroy(device, pAllocator);
      return result;
   }
   *pDevice = agxvk_device_handle(device);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyDevice(VkDevice device,
                                               const VkAllocationCallbacks *pAllocator)
{
   if (device)
      destroy(agxvk_device_of(device), pAllocator);
}

/* ---- groups of one device ----------------------------------------------- */

VKAPI_ATTR void VKAPI_CALL agxvk_GetDeviceGroupPeerMemoryFeatures(
   VkDevice device, uint32_t heapIndex, uint32_t localDeviceIndex, uint32_t remoteDeviceIndex,
   VkPeerMemoryFeatureFlags *pFeatures)
{
   *pFeatures = VK_PEER_MEMORY_FEATURE_COPY_SRC_BIT | VK_PEER_MEMORY_FEATURE_COPY_DST_BIT |
                VK_PEER_MEMORY_FEATURE_GENERIC_SRC_BIT | VK_PEER_MEMORY_FEATURE_GENERIC_DST_BIT;
}
