/* SPDX-License-Identifier: MIT
 *
 * What all objects of the driver begin with, their memory, and what statuses of the HAL become.
 */
#pragma once

#include <vulkan/vk_icd.h>

#include "agx/hal.h"
#include "vulkan/tables.h"

#define AGXVK_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AGXVK_MIN(a, b)    ((a) < (b) ? (a) : (b))
#define AGXVK_MAX(a, b)    ((a) > (b) ? (a) : (b))

/* What the registry of the build machine has decides. */
#ifdef VK_API_VERSION_1_4
#define AGXVK_VERSION VK_MAKE_API_VERSION(0, 1, 4, VK_HEADER_VERSION)
#else
#define AGXVK_VERSION VK_MAKE_API_VERSION(0, 1, 3, VK_HEADER_VERSION)
#endif

struct agxvk_device;

/* First in each object. A handle is the object's address. */
struct agxvk_object {
   VK_LOADER_DATA loader; /* of dispatchable ones; the loader's */
   VkObjectType type;
   uint32_t private_count;
   uint64_t *private_data; /* by the number of VkPrivateDataSlot; NULL: none was set */
   void *core;             /* the HAL's object that bears its label, or NULL; borrowed */
};

/* agxvk_buffer_of(handle) and agxvk_buffer_handle(object) */
#define AGXVK_OBJECT(name, handle_type)                                                            \
   static inline struct agxvk_##name *agxvk_##name##_of(handle_type handle)                        \
   {                                                                                               \
      return (struct agxvk_##name *)(uintptr_t)handle;                                             \
   }                                                                                               \
   static inline handle_type agxvk_##name##_handle(struct agxvk_##name *object)                    \
   {                                                                                               \
      return (handle_type)(uintptr_t)object;                                                       \
   }

/* Zeroed host memory by the application's functions: those of the call, else (NULL) those that
 * parent, an instance's or a device's, was made with. */
void *agxvk_alloc(const VkAllocationCallbacks *parent, const VkAllocationCallbacks *call,
                  size_t size, VkSystemAllocationScope scope);
void agxvk_free(const VkAllocationCallbacks *parent, const VkAllocationCallbacks *call,
                void *memory);
/* The C library's. */
extern const VkAllocationCallbacks agxvk_default_alloc;

/* An object of the device, with VK_SYSTEM_ALLOCATION_SCOPE_OBJECT; NULL: out of host memory. */
void *agxvk_object_create(struct agxvk_device *device, const VkAllocationCallbacks *call,
                          size_t size, VkObjectType type);
/* Ignores NULL. */
void agxvk_object_destroy(struct agxvk_device *device, const VkAllocationCallbacks *call,
                          void *object);
/* For objects that others hold memory of. */
void agxvk_object_fini(struct agxvk_device *device, struct agxvk_object *object);

/* What a failure of the HAL is in Vulkan; what there is no word for, and the text, goes to the
 * instance's messengers, as an error of the object. */
VkResult agxvk_result(struct agxvk_device *device, agx_status status);
/* The same, where the HAL's AGX_RESOURCE_EXHAUSTED is about memory of the GPU. */
VkResult agxvk_memory_result(struct agxvk_device *device, agx_status status);

/* The struct of that type in a chain, or NULL. */
const void *agxvk_find(const void *chain, VkStructureType type);

/* Arrays that an application fetches with two calls: how many elements it gets of count, which
 * room, what *pCount says, holds; sets *pCount. */
uint32_t agxvk_outarray(uint32_t count, const void *array, uint32_t *room, VkResult *result);
