/* SPDX-License-Identifier: MIT
 *
 * Instances: extensions, messengers, and the devices of the system's nodes.
 */
#include "vulkan/instance.h"

#include <stdio.h>
#include <string.h>

/* ---- extensions --------------------------------------------------------- */

static uint32_t find_extension(const char *name)
{
   for (uint32_t i = 1; i < AGXVK_EXTENSION_COUNT; i++)
      if (!strcmp(agxvk_extensions[i].name, name))
         return i;
   return AGXVK_NO_EXTENSION;
}

VkResult agxvk_extensions_enable(const char *const *names, uint32_t count, bool is_instance,
                                 struct agxvk_extension_set *set)
{
   for (uint32_t i = 0; i < count; i++) {
      uint32_t extension = find_extension(names[i]);
      if (!extension || agxvk_extensions[extension].is_instance != is_instance)
         return VK_ERROR_EXTENSION_NOT_PRESENT;
      set->bits[extension / 64] |= 1ull << extension % 64;
   }
   return VK_SUCCESS;
}

static VkResult list_extensions(const char *layer, bool is_instance, uint32_t *room,
                                VkExtensionProperties *out)
{
   VkResult result;
   if (layer)
      return VK_ERROR_LAYER_NOT_PRESENT;
   uint32_t listed[AGXVK_EXTENSION_COUNT];
   uint32_t count = 0;
   for (uint32_t i = 1; i < AGXVK_EXTENSION_COUNT; i++)
      if (agxvk_extensions[i].is_instance == is_instance)
         listed[count++] = i;
   count = agxvk_outarray(count, out, room, &result);
   for (uint32_t i = 0; i < count; i++) {
      const struct agxvk_extension_info *info = &agxvk_extensions[listed[i]];
      out[i] = (VkExtensionProperties){.specVersion = info->version};
      strncpy(out[i].extensionName, info->name, sizeof(out[i].extensionName) - 1);
   }
   return result;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_EnumerateInstanceExtensionProperties(
   const char *pLayerName, uint32_t *pPropertyCount, VkExtensionProperties *pProperties)
{
   return list_extensions(pLayerName, true, pPropertyCount, pProperties);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_EnumerateDeviceExtensionProperties(
   VkPhysicalDevice physicalDevice, const char *pLayerName, uint32_t *pPropertyCount,
   VkExtensionProperties *pProperties)
{
   return list_extensions(pLayerName, false, pPropertyCount, pProperties);
}

/* Layers are the loader's. */
VKAPI_ATTR VkResult VKAPI_CALL
agxvk_EnumerateInstanceLayerProperties(uint32_t *pPropertyCount, VkLayerProperties *pProperties)
{
   *pPropertyCount = 0;
   return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_EnumerateDeviceLayerProperties(VkPhysicalDevice physicalDevice,
                                                                    uint32_t *pPropertyCount,
                                                                    VkLayerProperties *pProperties)
{
   *pPropertyCount = 0;
   return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_EnumerateInstanceVersion(uint32_t *pApiVersion)
{
   *pApiVersion = AGXVK_VERSION;
   return VK_SUCCESS;
}

/* ---- messengers --------------------------------------------------------- */

static void call_messenger(const VkDebugUtilsMessengerCreateInfoEXT *info,
                           VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                           VkDebugUtilsMessageTypeFlagsEXT types,
                           const VkDebugUtilsMessengerCallbackDataEXT *data)
{
   if (info->messageSeverity & severity && info->messageType & types)
      info->pfnUserCallback(severity, types, data, info->pUserData);
}

static void submit_message(struct agxvk_instance *instance,
                           VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                           VkDebugUtilsMessageTypeFlagsEXT types,
                           const VkDebugUtilsMessengerCallbackDataEXT *data)
{
   pthread_mutex_lock(&instance->lock);
   for (struct agxvk_messenger *m = instance->messengers; m; m = m->next)
      call_messenger(&m->info, severity, types, data);
   pthread_mutex_unlock(&instance->lock);
}

void agxvk_tell(struct agxvk_instance *instance, VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                const char *text)
{
   if (!instance->messengers)
      fprintf(stderr, "agxhal: %s\n", text);
   const VkDebugUtilsMessengerCallbackDataEXT data = {
      .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT,
      .pMessageIdName = "agxhal",
      .pMessage = text,
   };
   submit_message(instance, severity, VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT, &data);
}

void agxvk_tell_failure(struct agxvk_instance *instance, agx_status status)
{
   char text[512];
   (void)status;
   agx_error_text(text, sizeof(text));
   agxvk_tell(instance, VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT, text);
}

/* The HAL calls it with its locks held. */
static void log_line(void *user, enum agx_log_level level, const char *line)
{
   struct agxvk_instance *instance = user;
   agxvk_tell(instance,
              level == AGX_LOG_WARNING ? VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT
                                       : VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT,
              line);
}

static struct agxvk_messenger *add_messenger(struct agxvk_instance *instance,
                                             const VkDebugUtilsMessengerCreateInfoEXT *info,
                                             const VkAllocationCallbacks *alloc)
{
   struct agxvk_messenger *messenger =
      agxvk_alloc(&instance->alloc, alloc, sizeof(*messenger), VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
   if (!messenger)
      return NULL;
   messenger->object.type = VK_OBJECT_TYPE_DEBUG_UTILS_MESSENGER_EXT;
   messenger->info = *info;
   pthread_mutex_lock(&instance->lock);
   messenger->next = instance->messengers;
   instance->messengers = messenger;
   pthread_mutex_unlock(&instance->lock);
   return messenger;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateDebugUtilsMessengerEXT(
   VkInstance instance, const VkDebugUtilsMessengerCreateInfoEXT *pCreateInfo,
   const VkAllocationCallbacks *pAllocator, VkDebugUtilsMessengerEXT *pMessenger)
{
   struct agxvk_messenger *messenger =
      add_messenger(agxvk_instance_of(instance), pCreateInfo, pAllocator);
   *pMessenger = agxvk_messenger_handle(messenger);
   return messenger ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyDebugUtilsMessengerEXT(
   VkInstance instance_handle, VkDebugUtilsMessengerEXT messenger_handle,
   const VkAllocationCallbacks *pAllocator)
{
   struct agxvk_instance *instance = agxvk_instance_of(instance_handle);
   struct agxvk_messenger *messenger = agxvk_messenger_of(messenger_handle);
   if (!messenger)
      return;
   pthread_mutex_lock(&instance->lock);
   struct agxvk_messenger **link = &instance->messengers;
   while (*link != messenger)
      link = &(*link)->next;
   *link = messenger->next;
   pthread_mutex_unlock(&instance->lock);
   agxvk_free(&instance->alloc, pAllocator, messenger);
}

VKAPI_ATTR void VKAPI_CALL agxvk_SubmitDebugUtilsMessageEXT(
   VkInstance instance, VkDebugUtilsMessageSeverityFlagBitsEXT severity,
   VkDebugUtilsMessageTypeFlagsEXT messageTypes,
   const VkDebugUtilsMessengerCallbackDataEXT *pCallbackData)
{
   submit_message(agxvk_instance_of(instance), severity, messageTypes, pCallbackData);
}

/* ---- creation ----------------------------------------------------------- */

static void destroy(struct agxvk_instance *instance, const VkAllocationCallbacks *alloc)
{
   while (instance->devices) {
      struct agxvk_physical_device *device = instance->devices;
      instance->devices = device->next;
      agxvk_free(&instance->alloc, NULL, device);
   }
   agx_release(instance->core);
   while (instance->messengers) {
      struct agxvk_messenger *messenger = instance->messengers;
      instance->messengers = messenger->next;
      agxvk_free(&instance->alloc, NULL, messenger);
   }
   pthread_mutex_destroy(&instance->lock);
   agxvk_free(&instance->alloc, alloc, instance);
}

/* Messengers in the chain of the creation see what it and the destruction have to tell; they stay
 * for good, since no application is told the difference. */
static VkResult init(struct agxvk_instance *instance, const VkInstanceCreateInfo *info)
{
   VkResult result = agxvk_extensions_enable(
      info->ppEnabledExtensionNames, info->enabledExtensionCount, true, &instance->extensions);
   if (result != VK_SUCCESS)
      return result;
   instance->version = info->pApplicationInfo && info->pApplicationInfo->apiVersion
                          ? info->pApplicationInfo->apiVersion
                          : VK_API_VERSION_1_0;
   const struct agx_instance_desc desc = {
      .size = sizeof(desc), .log = log_line, .log_user = instance};
   agx_status status = agx_instance_create(&desc, &instance->core);
   return status == AGX_OK ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateInstance(const VkInstanceCreateInfo *pCreateInfo,
                                                    const VkAllocationCallbacks *pAllocator,
                                                    VkInstance *pInstance)
{
   struct agxvk_instance *instance = agxvk_alloc(
      &agxvk_default_alloc, pAllocator, sizeof(*instance), VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE);
   if (!instance)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   set_loader_magic_value(&instance->object.loader);
   instance->object.type = VK_OBJECT_TYPE_INSTANCE;
   instance->alloc = pAllocator ? *pAllocator : agxvk_default_alloc;
   pthread_mutex_init(&instance->lock, NULL);
   VkResult result = init(instance, pCreateInfo);
   if (result != VK_SUCCESS) {
      destroy(instance, pAllocator);
      return result;
   }
   *pInstance = agxvk_instance_handle(instance);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyInstance(VkInstance instance,
                                                 const VkAllocationCallbacks *pAllocator)
{
   if (instance)
      destroy(agxvk_instance_of(instance), pAllocator);
}

/* ---- nodes -------------------------------------------------------------- */

static VkResult add_device(struct agxvk_instance *instance, const struct agx_node *node,
                           struct agxvk_physical_device ***link)
{
   struct agx_device_info info = {.size = sizeof(info)};
   if (node->status != AGX_OK ||
       agx_instance_get_device_info(instance->core, node->path, &info) != AGX_OK)
      return VK_SUCCESS; /* such a node is no device; `agx info` tells why */
   struct agxvk_physical_device *device =
      agxvk_alloc(&instance->alloc, NULL, sizeof(*device), VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE);
   if (!device)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   set_loader_magic_value(&device->object.loader);
   device->object.type = VK_OBJECT_TYPE_PHYSICAL_DEVICE;
   device->instance = instance;
   device->node = *node;
   device->info = info;
   agxvk_properties_init(device);
   **link = device;
   *link = &device->next;
   return VK_SUCCESS;
}

/* The devices of nodes that work, once. */
static VkResult find_devices(struct agxvk_instance *instance)
{
   struct agx_node nodes[16];
   uint32_t count = AGXVK_COUNT(nodes);
   struct agxvk_physical_device **link = &instance->devices;
   if (instance->is_enumerated)
      return VK_SUCCESS;
   if (agx_instance_enumerate(instance->core, &count, nodes) != AGX_OK)
      return VK_ERROR_INITIALIZATION_FAILED;
   for (uint32_t i = 0; i < AGXVK_MIN(count, AGXVK_COUNT(nodes)); i++) {
      VkResult result = add_device(instance, &nodes[i], &link);
      if (result != VK_SUCCESS)
         return result;
   }
   instance->is_enumerated = true;
   return VK_SUCCESS;
}

static VkResult count_devices(struct agxvk_instance *instance, uint32_t *out_count)
{
   *out_count = 0;
   VkResult result = find_devices(instance);
   for (struct agxvk_physical_device *d = instance->devices; d; d = d->next)
      ++*out_count;
   return result;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_EnumeratePhysicalDevices(VkInstance instance_handle,
                                                              uint32_t *pPhysicalDeviceCount,
                                                              VkPhysicalDevice *pPhysicalDevices)
{
   struct agxvk_instance *instance = agxvk_instance_of(instance_handle);
   uint32_t count;
   VkResult result = count_devices(instance, &count);
   if (result != VK_SUCCESS)
      return result;
   count = agxvk_outarray(count, pPhysicalDevices, pPhysicalDeviceCount, &result);
   struct agxvk_physical_device *device = instance->devices;
   for (uint32_t i = 0; i < count; i++, device = device->next)
      pPhysicalDevices[i] = agxvk_physical_device_handle(device);
   return result;
}

/* Each device is a group of its own. */
VKAPI_ATTR VkResult VKAPI_CALL agxvk_EnumeratePhysicalDeviceGroups(
   VkInstance instance_handle, uint32_t *pCount, VkPhysicalDeviceGroupProperties *pGroups)
{
   struct agxvk_instance *instance = agxvk_instance_of(instance_handle);
   uint32_t count;
   VkResult result = count_devices(instance, &count);
   if (result != VK_SUCCESS)
      return result;
   count = agxvk_outarray(count, pGroups, pCount, &result);
   struct agxvk_physical_device *device = instance->devices;
   for (uint32_t i = 0; i < count; i++, device = device->next) {
      pGroups[i].physicalDeviceCount = 1;
      pGroups[i].physicalDevices[0] = agxvk_physical_device_handle(device);
      pGroups[i].subsetAllocation = VK_FALSE;
   }
   return result;
}
