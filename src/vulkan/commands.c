/* SPDX-License-Identifier: MIT
 *
 * Commands by their names, for the loader and for applications.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vulkan/device.h"

static int compare_names(const void *name, const void *entry)
{
   return strcmp(name, ((const struct agxvk_entry_point *)entry)->name);
}

static const struct agxvk_entry_point *find(const char *name)
{
   return bsearch(name, agxvk_entry_points, agxvk_entry_point_count, sizeof(agxvk_entry_points[0]),
                  compare_names);
}

/* Whether one of the enabled extensions, or the version, has it; without a set, any. */
static bool is_there(const struct agxvk_entry_point *entry, uint32_t version,
                     const struct agxvk_extension_set *instance,
                     const struct agxvk_extension_set *device)
{
   if (entry->version && entry->version <= version)
      return true;
   for (uint32_t i = 0; i < AGXVK_COUNT(entry->extensions) && entry->extensions[i]; i++) {
      const uint32_t extension = entry->extensions[i];
      const struct agxvk_extension_set *set =
         agxvk_extensions[extension].is_instance ? instance : device;
      if (!set || agxvk_has(set, extension))
         return true;
   }
   return false;
}

/* The instance may later have any device: commands of these are there if the driver has them. */
PFN_vkVoidFunction agxvk_instance_command(const struct agxvk_instance *instance, const char *name)
{
   const struct agxvk_entry_point *entry = find(name);
   if (!entry || (!instance && entry->level != AGXVK_GLOBAL))
      return NULL;
   if (entry->level == AGXVK_GLOBAL)
      return entry->function;
   const uint32_t version = entry->level == AGXVK_DEVICE ? AGXVK_VERSION : instance->version;
   return is_there(entry, version, &instance->extensions, NULL) ? entry->function : NULL;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL agxvk_GetInstanceProcAddr(VkInstance instance,
                                                                   const char *pName)
{
   return agxvk_instance_command(agxvk_instance_of(instance), pName);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL agxvk_GetDeviceProcAddr(VkDevice device_handle,
                                                                 const char *pName)
{
   const struct agxvk_device *device = agxvk_device_of(device_handle);
   const struct agxvk_entry_point *entry = find(pName);
   if (!entry || entry->level != AGXVK_DEVICE)
      return NULL;
   const uint32_t version = AGXVK_MAX(device->instance->version, VK_API_VERSION_1_0);
   return is_there(entry, version, &device->instance->extensions, &device->extensions)
             ? entry->function
             : NULL;
}

void agxvk_no_graphics(const char *command)
{
   static bool is_told;
   if (!__atomic_exchange_n(&is_told, true, __ATOMIC_RELAXED))
      fprintf(stderr,
              "agxhal: %s: this Vulkan driver has queues for compute and transfer only; graphics "
              "need another driver\n",
              command);
}

/* ---- the loader's side -------------------------------------------------- */

#define EXPORT __attribute__((visibility("default")))

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                          const char *pName);
EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(VkInstance instance,
                                                                                const char *pName);
EXPORT VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *pVersion);

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                   const char *pName)
{
   if (!strcmp(pName, "vk_icdNegotiateLoaderICDInterfaceVersion"))
      return (PFN_vkVoidFunction)vk_icdNegotiateLoaderICDInterfaceVersion;
   if (!strcmp(pName, "vk_icdGetPhysicalDeviceProcAddr"))
      return (PFN_vkVoidFunction)vk_icdGetPhysicalDeviceProcAddr;
   return agxvk_instance_command(agxvk_instance_of(instance), pName);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(VkInstance instance,
                                                                         const char *pName)
{
   const struct agxvk_entry_point *entry = find(pName);
   return entry && entry->level == AGXVK_PHYSICAL_DEVICE
             ? agxvk_instance_command(agxvk_instance_of(instance), pName)
             : NULL;
}

/* Version 5: the driver judges the application's version itself. Surfaces are what the later ones
 * that the loader knows are about. */
#define INTERFACE_VERSION 5u

VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *pVersion)
{
   if (*pVersion < 2)
      return VK_ERROR_INCOMPATIBLE_DRIVER;
   *pVersion = AGXVK_MIN(*pVersion, INTERFACE_VERSION);
   return VK_SUCCESS;
}
