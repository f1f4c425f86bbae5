/* SPDX-License-Identifier: MIT
 *
 * What objects share: host memory, results, chains of structs.
 */
#include "vulkan/object.h"

#include <stdlib.h>
#include <string.h>

#include "vulkan/device.h"

/* ---- memory ------------------------------------------------------------- */

static void *VKAPI_CALL default_allocate(void *user, size_t size, size_t alignment,
                                         VkSystemAllocationScope scope)
{
   return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void VKAPI_CALL default_free(void *user, void *memory)
{
   free(memory);
}

const VkAllocationCallbacks agxvk_default_alloc = {
   .pfnAllocation = default_allocate,
   .pfnFree = default_free,
};

void *agxvk_alloc(const VkAllocationCallbacks *parent, const VkAllocationCallbacks *call,
                  size_t size, VkSystemAllocationScope scope)
{
   const VkAllocationCallbacks *alloc = call ? call : parent;
   void *memory = alloc->pfnAllocation(alloc->pUserData, size, _Alignof(max_align_t), scope);
   return memory ? memset(memory, 0, size) : NULL;
}

void agxvk_free(const VkAllocationCallbacks *parent, const VkAllocationCallbacks *call,
                void *memory)
{
   const VkAllocationCallbacks *alloc = call ? call : parent;
   if (memory)
      alloc->pfnFree(alloc->pUserData, memory);
}

/* ---- objects ------------------------------------------------------------ */

void *agxvk_object_create(struct agxvk_device *device, const VkAllocationCallbacks *call,
                          size_t size, VkObjectType type)
{
   struct agxvk_object *object =
      agxvk_alloc(&device->alloc, call, size, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
   if (object)
      object->type = type;
   return object;
}

void agxvk_object_fini(struct agxvk_device *device, struct agxvk_object *object)
{
   agxvk_free(&device->alloc, NULL, object->private_data);
}

void agxvk_object_destroy(struct agxvk_device *device, const VkAllocationCallbacks *call,
                          void *object)
{
   if (!object)
      return;
   agxvk_object_fini(device, object);
   agxvk_free(&device->alloc, call, object);
}

/* ---- results ------------------------------------------------------------ */

static VkResult result_of(agx_status status, VkResult exhausted)
{
   switch (status) {
   case AGX_OK:
      return VK_SUCCESS;
   case AGX_DEADLINE_EXCEEDED:
      return VK_TIMEOUT;
   case AGX_RESOURCE_EXHAUSTED:
      return exhausted;
   case AGX_DATA_LOSS:
   case AGX_ABORTED:
   case AGX_UNAVAILABLE:
   case AGX_CANCELLED:
      return VK_ERROR_DEVICE_LOST;
   case AGX_UNIMPLEMENTED:
      return VK_ERROR_FEATURE_NOT_PRESENT;
   default:
      return VK_ERROR_UNKNOWN;
   }
}

static VkResult tell(struct agxvk_device *device, agx_status status, VkResult result)
{
   if (result < 0)
      agxvk_tell_failure(device->instance, status);
   return result;
}

VkResult agxvk_result(struct agxvk_device *device, agx_status status)
{
   return tell(device, status, result_of(status, VK_ERROR_OUT_OF_HOST_MEMORY));
}

VkResult agxvk_memory_result(struct agxvk_device *device, agx_status status)
{
   return tell(device, status, result_of(status, VK_ERROR_OUT_OF_DEVICE_MEMORY));
}

/* ---- structs ------------------------------------------------------------ */

const void *agxvk_find(const void *chain, VkStructureType type)
{
   for (const VkBaseInStructure *s = chain; s; s = s->pNext)
      if (s->sType == type)
         return s;
   return NULL;
}

uint32_t agxvk_outarray(uint32_t count, const void *array, uint32_t *room, VkResult *result)
{
   *result = VK_SUCCESS;
   if (!array) {
      *room = count;
      return 0;
   }
   if (*room < count)
      *result = VK_INCOMPLETE;
   *room = AGXVK_MIN(*room, count);
   return *room;
}
