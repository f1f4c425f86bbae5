/* SPDX-License-Identifier: MIT
 *
 * Instances, their messengers, and the nodes that they found.
 */
#pragma once

#include <pthread.h>

#include "vulkan/object.h"

/* A bit for each enum agxvk_extension. */
struct agxvk_extension_set {
   uint64_t bits[2];
};
_Static_assert(AGXVK_EXTENSION_COUNT <= 128, "a bit for each extension");

/* Whether an enum agxvk_extension is in it. */
static inline bool agxvk_has(const struct agxvk_extension_set *set, uint32_t extension)
{
   return set->bits[extension / 64] >> extension % 64 & 1;
}

/* Adds those that an application names: VK_ERROR_EXTENSION_NOT_PRESENT for what is not announced
 * for instances (or devices). */
VkResult agxvk_extensions_enable(const char *const *names, uint32_t count, bool is_instance,
                                 struct agxvk_extension_set *set);

struct agxvk_messenger {
   struct agxvk_object object;
   struct agxvk_messenger *next;
   VkDebugUtilsMessengerCreateInfoEXT info;
};

struct agxvk_physical_device {
   struct agxvk_object object;
   struct agxvk_instance *instance;
   struct agxvk_physical_device *next;
   struct agx_node node;
   struct agx_device_info info;
   VkPhysicalDeviceProperties core;
   struct agxvk_properties properties;
};

struct agxvk_instance {
   struct agxvk_object object;
   VkAllocationCallbacks alloc;
   uint32_t version; /* that the application was written for */
   struct agxvk_extension_set extensions;
   struct agx_instance *core;
   struct agxvk_physical_device *devices; /* NULL until they are asked for */
   bool is_enumerated;
   pthread_mutex_t lock; /* of devices and messengers */
   struct agxvk_messenger *messengers;
};

AGXVK_OBJECT(instance, VkInstance)
AGXVK_OBJECT(physical_device, VkPhysicalDevice)
AGXVK_OBJECT(messenger, VkDebugUtilsMessengerEXT)

/* Tells messengers that a call failed, with the thread's text (agx_error_text). */
void agxvk_tell_failure(struct agxvk_instance *instance, agx_status status);
/* Tells messengers a text of our own; where nobody listens, standard error. */
void agxvk_tell(struct agxvk_instance *instance, VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                const char *text);

/* Fills core and properties. */
void agxvk_properties_init(struct agxvk_physical_device *device);

/* The command of that name as vkGetInstanceProcAddr gives it; NULL: none. instance may be NULL. */
PFN_vkVoidFunction agxvk_instance_command(const struct agxvk_instance *instance, const char *name);
