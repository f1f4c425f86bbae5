/* SPDX-License-Identifier: MIT
 *
 * Private data and names of objects, which each object may have.
 */
#include <string.h>

#include "vulkan/device.h"

struct agxvk_private_slot {
   struct agxvk_object object;
   uint32_t number;
};
AGXVK_OBJECT(private_slot, VkPrivateDataSlot)

VKAPI_ATTR VkResult VKAPI_CALL
agxvk_CreatePrivateDataSlot(VkDevice device_handle, const VkPrivateDataSlotCreateInfo *pCreateInfo,
                            const VkAllocationCallbacks *pAllocator, VkPrivateDataSlot *pSlot)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_private_slot *slot =
      agxvk_object_create(device, pAllocator, sizeof(*slot), VK_OBJECT_TYPE_PRIVATE_DATA_SLOT);
   if (!slot)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   pthread_mutex_lock(&device->lock);
   slot->number = device->private_slots++;
   pthread_mutex_unlock(&device->lock);
   *pSlot = agxvk_private_slot_handle(slot);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyPrivateDataSlot(VkDevice device, VkPrivateDataSlot slot,
                                                        const VkAllocationCallbacks *pAllocator)
{
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, agxvk_private_slot_of(slot));
}

/* Gives the object room for the number; its array grows by half. */
static bool reserve(struct agxvk_device *device, struct agxvk_object *object, uint32_t number)
{
   if (number < object->private_count)
      return true;
   const uint32_t count = number + 1 + object->private_count / 2;
   uint64_t *data =
      agxvk_alloc(&device->alloc, NULL, count * sizeof(*data), VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
   if (!data)
      return false;
   if (object->private_data)
      memcpy(data, object->private_data, object->private_count * sizeof(*data));
   agxvk_free(&device->alloc, NULL, object->private_data);
   object->private_data = data;
   object->private_count = count;
   return true;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_SetPrivateData(VkDevice device_handle, VkObjectType objectType,
                                                    uint64_t objectHandle, VkPrivateDataSlot slot,
                                                    uint64_t data)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_object *object = (struct agxvk_object *)(uintptr_t)objectHandle;
   const uint32_t number = agxvk_private_slot_of(slot)->number;
   pthread_mutex_lock(&device->lock);
   const bool has_room = reserve(device, object, number);
   if (has_room)
      object->private_data[number] = data;
   pthread_mutex_unlock(&device->lock);
   return has_room ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPrivateData(VkDevice device_handle, VkObjectType objectType,
                                                uint64_t objectHandle, VkPrivateDataSlot slot,
                                                uint64_t *pData)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   const struct agxvk_object *object = (const struct agxvk_object *)(uintptr_t)objectHandle;
   const uint32_t number = agxvk_private_slot_of(slot)->number;
   pthread_mutex_lock(&device->lock);
   *pData = number < object->private_count ? object->private_data[number] : 0;
   pthread_mutex_unlock(&device->lock);
}

/* ---- names -------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL
agxvk_SetDebugUtilsObjectNameEXT(VkDevice device, const VkDebugUtilsObjectNameInfoEXT *pNameInfo)
{
   const struct agxvk_object *object =
      (const struct agxvk_object *)(uintptr_t)pNameInfo->objectHandle;
   if (!object->core)
      return VK_SUCCESS;
   return agxvk_result(agxvk_device_of(device),
                       agx_set_label(object->core, pNameInfo->pObjectName));
}

/* Tags are for tools that read them from captures of Vulkan itself. */
VKAPI_ATTR VkResult VKAPI_CALL
agxvk_SetDebugUtilsObjectTagEXT(VkDevice device, const VkDebugUtilsObjectTagInfoEXT *pTagInfo)
{
   return VK_SUCCESS;
}
