/* SPDX-License-Identifier: MIT
 *
 * Semaphores and fences that are shared: whole timelines as opaque descriptors, which are DRM
 * syncobjs, and what a payload is at the time as a sync_file, which leaves and comes as a copy.
 */
#include <unistd.h>

#include "vulkan/sync.h"

/* ---- what can be exchanged ---------------------------------------------- */

/* A sync_file is a copy of what will signal once: no timeline. */
VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceExternalSemaphoreProperties(
   VkPhysicalDevice physicalDevice, const VkPhysicalDeviceExternalSemaphoreInfo *pInfo,
   VkExternalSemaphoreProperties *pOut)
{
   const VkSemaphoreTypeCreateInfo *type =
      agxvk_find(pInfo->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
   VkExternalSemaphoreHandleTypeFlags all = VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT;
   if (!type || type->semaphoreType == VK_SEMAPHORE_TYPE_BINARY)
      all |= VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT;
   const bool is_known = pInfo->handleType & all;
   pOut->exportFromImportedHandleTypes = is_known ? all : 0;
   pOut->compatibleHandleTypes = is_known ? all : 0;
   pOut->externalSemaphoreFeatures = is_known ? VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT |
                                                   VK_EXTERNAL_SEMAPHORE_FEATURE_IMPORTABLE_BIT
                                              : 0;
}

VKAPI_ATTR void VKAPI_CALL agxvk_GetPhysicalDeviceExternalFenceProperties(
   VkPhysicalDevice physicalDevice, const VkPhysicalDeviceExternalFenceInfo *pInfo,
   VkExternalFenceProperties *pOut)
{
   const VkExternalFenceHandleTypeFlags all =
      VK_EXTERNAL_FENCE_HANDLE_TYPE_OPAQUE_FD_BIT | VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT;
   const bool is_known = pInfo->handleType & all;
   pOut->exportFromImportedHandleTypes = is_known ? all : 0;
   pOut->compatibleHandleTypes = is_known ? all : 0;
   pOut->externalFenceFeatures =
      is_known ? VK_EXTERNAL_FENCE_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_FENCE_FEATURE_IMPORTABLE_BIT
               : 0;
}

/* ---- in ----------------------------------------------------------------- */

/* A timeline of which value 1 is the sync_file; without one that has signalled long ago. */
static agx_status import_copy(struct agxvk_device *device, int fd, struct agx_semaphore **out)
{
   agx_status status = agx_semaphore_create(device->core, fd < 0 ? 1 : 0, out);
   if (status != AGX_OK || fd < 0)
      return status;
   status = agx_semaphore_import_point(*out, 1, AGX_FD_SYNC_FILE, fd);
   if (status != AGX_OK)
      agx_release(*out);
   return status;
}

static VkResult import(struct agxvk_device *device, int fd, bool is_copy, struct agxvk_payload *out)
{
   *out = (struct agxvk_payload){.is_shared = !is_copy};
   agx_status status = is_copy ? import_copy(device, fd, &out->core)
                               : agx_semaphore_import(device->core, fd, &out->core);
   if (status == AGX_INVALID_ARGUMENT) {
      agxvk_tell_failure(device->instance, status);
      return VK_ERROR_INVALID_EXTERNAL_HANDLE;
   }
   if (status == AGX_OK && !is_copy)
      close(fd);
   return agxvk_result(device, status);
}

static void replace(struct agxvk_object *object, struct agxvk_payload *payload,
                    struct agxvk_payload *permanent, struct agxvk_payload by, bool is_temporary)
{
   agxvk_payload_restore(object, payload, permanent);
   if (is_temporary)
      *permanent = *payload;
   else
      agx_release(payload->core);
   agxvk_payload_put(object, payload, by);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_ImportSemaphoreFdKHR(VkDevice device,
                                                          const VkImportSemaphoreFdInfoKHR *pInfo)
{
   struct agxvk_semaphore *semaphore = agxvk_semaphore_of(pInfo->semaphore);
   const bool is_copy = pInfo->handleType == VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT;
   struct agxvk_payload payload;
   VkResult result = import(agxvk_device_of(device), pInfo->fd, is_copy, &payload);
   if (result == VK_SUCCESS)
      replace(&semaphore->object, &semaphore->payload, &semaphore->permanent, payload,
              is_copy || pInfo->flags & VK_SEMAPHORE_IMPORT_TEMPORARY_BIT);
   return result;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_ImportFenceFdKHR(VkDevice device,
                                                      const VkImportFenceFdInfoKHR *pInfo)
{
   struct agxvk_fence *fence = agxvk_fence_of(pInfo->fence);
   const bool is_copy = pInfo->handleType == VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT;
   struct agxvk_payload payload;
   VkResult result = import(agxvk_device_of(device), pInfo->fd, is_copy, &payload);
   if (result == VK_SUCCESS)
      replace(&fence->object, &fence->payload, &fence->permanent, payload,
              is_copy || pInfo->flags & VK_FENCE_IMPORT_TEMPORARY_BIT);
   return result;
}

/* ---- out ---------------------------------------------------------------- */

/* Brings a payload from where it is signalled to where it is not, once it is, by work that the
 * kernel has, so that others know at once. */
static agx_status pass(struct agxvk_device *device, const struct agxvk_payload *payload,
                       uint64_t signal)
{
   const struct agx_point from = {payload->core, signal}, to = {payload->core, signal + 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_FILL,
                             .u.fill = agxvk_mark(device),
                             .waits = &from,
                             .signals = &to,
                             .wait_count = 1,
                             .signal_count = 1};
   return agx_submit(device->core, &op, 1, NULL);
}

/* From now on all that is done to it is done where others see it. */
static agx_status export_whole(struct agxvk_device *device, struct agxvk_payload *payload,
                               bool is_timeline, int *out_fd)
{
   agx_status status = AGX_OK;
   if (!is_timeline && !payload->is_shared && payload->value && !(payload->value & 1))
      status = pass(device, payload, payload->value - 1);
   if (status == AGX_OK)
      status = agx_semaphore_export(payload->core, 0, AGX_FD_SYNCOBJ, out_fd);
   payload->is_shared |= status == AGX_OK;
   return status;
}

#define LOOK_AGAIN_NS 1000000u

/* A sync_file is for work that the kernel has: what is still waiting here is waited for. */
static agx_status export_copy(const struct agxvk_payload *payload, uint64_t signal, int *out_fd)
{
   const struct agx_point point = {payload->core, signal};
   for (;;) {
      agx_status status = agx_semaphore_export(payload->core, signal, AGX_FD_SYNC_FILE, out_fd);
      if (status != AGX_FAILED_PRECONDITION)
         return status;
      status = agx_semaphore_wait(&point, 1, false, agxvk_deadline(LOOK_AGAIN_NS));
      if (status != AGX_OK && status != AGX_DEADLINE_EXCEEDED)
         return status;
   }
}

/* A copy that leaves takes the signal with it, as a wait or a reset does. */
static agx_status take_signal(struct agxvk_device *device, struct agxvk_payload *payload,
                              int *out_fd)
{
   const uint64_t signal = agxvk_payload_signal(payload);
   agx_status status = export_copy(payload, signal, out_fd);
   if (status == AGX_OK && payload->is_shared)
      status = pass(device, payload, signal);
   if (status == AGX_OK) {
      payload->value = signal + 1;
   } else if (*out_fd >= 0) {
      close(*out_fd);
      *out_fd = -1;
   }
   return status;
}

static VkResult export_result(struct agxvk_device *device, agx_status status)
{
   VkResult result = agxvk_result(device, status);
   return status == AGX_RESOURCE_EXHAUSTED ? VK_ERROR_TOO_MANY_OBJECTS : result;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetSemaphoreFdKHR(VkDevice device_handle,
                                                       const VkSemaphoreGetFdInfoKHR *pInfo,
                                                       int *pFd)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_semaphore *semaphore = agxvk_semaphore_of(pInfo->semaphore);
   if (pInfo->handleType != VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_SYNC_FD_BIT)
      return export_result(device,
                           export_whole(device, &semaphore->payload, !semaphore->is_binary, pFd));
   agx_status status = take_signal(device, &semaphore->payload, pFd);
   if (status == AGX_OK)
      agxvk_payload_restore(&semaphore->object, &semaphore->payload, &semaphore->permanent);
   return export_result(device, status);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetFenceFdKHR(VkDevice device_handle,
                                                   const VkFenceGetFdInfoKHR *pInfo, int *pFd)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_fence *fence = agxvk_fence_of(pInfo->fence);
   if (pInfo->handleType != VK_EXTERNAL_FENCE_HANDLE_TYPE_SYNC_FD_BIT)
      return export_result(device, export_whole(device, &fence->payload, false, pFd));
   const bool is_temporary = fence->permanent.core != NULL;
   agx_status status = take_signal(device, &fence->payload, pFd);
   if (status == AGX_OK && is_temporary)
      agxvk_fence_reset(fence);
   return export_result(device, status);
}
