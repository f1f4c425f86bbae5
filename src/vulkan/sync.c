/* SPDX-License-Identifier: MIT
 *
 * Semaphores and fences over timelines of the HAL's, and events.
 */
#include "vulkan/sync.h"

#include <time.h>

int64_t agxvk_deadline(uint64_t timeout_ns)
{
   struct timespec now;
   if (!timeout_ns)
      return 0;
   clock_gettime(CLOCK_MONOTONIC, &now);
   const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
   return timeout_ns >= (uint64_t)INT64_MAX - now_ns ? AGX_DEADLINE_NEVER
                                                     : (int64_t)(now_ns + timeout_ns);
}

/* Waits for points that may be many: a call of the application's has its memory. */
static VkResult wait(struct agxvk_device *device, const struct agx_point *points, uint32_t count,
                     bool any, uint64_t timeout_ns)
{
   agx_status status = agx_semaphore_wait(points, count, any, agxvk_deadline(timeout_ns));
   return status == AGX_DEADLINE_EXCEEDED ? VK_TIMEOUT : agxvk_result(device, status);
}

/* Room for the points of a wait: in local where they fit. */
static struct agx_point *points_alloc(struct agxvk_device *device, struct agx_point *local,
                                      uint32_t room, uint32_t count)
{
   return count <= room ? local
                        : agxvk_alloc(&device->alloc, NULL, count * sizeof(*local),
                                      VK_SYSTEM_ALLOCATION_SCOPE_COMMAND);
}

static void points_free(struct agxvk_device *device, struct agx_point *local,
                        struct agx_point *points)
{
   if (points != local)
      agxvk_free(&device->alloc, NULL, points);
}

/* ---- payloads ----------------------------------------------------------- */

/* What can't be asked has failed, which the next one to wait for it is told. */
uint64_t agxvk_payload_last(const struct agxvk_payload *payload)
{
   uint64_t submitted;
   if (!payload->is_shared || agx_semaphore_query_submitted(payload->core, &submitted) != AGX_OK)
      return payload->value;
   return AGXVK_MAX(payload->value, submitted);
}

void agxvk_payload_put(struct agxvk_object *object, struct agxvk_payload *to,
                       struct agxvk_payload payload)
{
   *to = payload;
   object->core = payload.core;
}

void agxvk_payload_restore(struct agxvk_object *object, struct agxvk_payload *payload,
                           struct agxvk_payload *permanent)
{
   if (!permanent->core)
      return;
   agx_release(payload->core);
   agxvk_payload_put(object, payload, *permanent);
   permanent->core = NULL;
}

/* ---- semaphores --------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateSemaphore(VkDevice device_handle,
                                                     const VkSemaphoreCreateInfo *pCreateInfo,
                                                     const VkAllocationCallbacks *pAllocator,
                                                     VkSemaphore *pSemaphore)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   const VkSemaphoreTypeCreateInfo *type =
      agxvk_find(pCreateInfo->pNext, VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
   struct agxvk_semaphore *semaphore =
      agxvk_object_create(device, pAllocator, sizeof(*semaphore), VK_OBJECT_TYPE_SEMAPHORE);
   if (!semaphore)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   semaphore->is_binary = !type || type->semaphoreType == VK_SEMAPHORE_TYPE_BINARY;
   const uint64_t initial = semaphore->is_binary ? 0 : type->initialValue;
   agx_status status = agx_semaphore_create(device->core, initial, &semaphore->payload.core);
   if (status != AGX_OK) {
      agxvk_object_destroy(device, pAllocator, semaphore);
      return agxvk_result(device, status);
   }
   semaphore->object.core = semaphore->payload.core;
   *pSemaphore = agxvk_semaphore_handle(semaphore);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroySemaphore(VkDevice device, VkSemaphore semaphore_handle,
                                                  const VkAllocationCallbacks *pAllocator)
{
   struct agxvk_semaphore *semaphore = agxvk_semaphore_of(semaphore_handle);
   if (!semaphore)
      return;
   agx_release(semaphore->payload.core);
   agx_release(semaphore->permanent.core);
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, semaphore);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetSemaphoreCounterValue(VkDevice device,
                                                              VkSemaphore semaphore,
                                                              uint64_t *pValue)
{
   return agxvk_result(agxvk_device_of(device),
                       agx_semaphore_query(agxvk_semaphore_of(semaphore)->payload.core, pValue));
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_SignalSemaphore(VkDevice device,
                                                     const VkSemaphoreSignalInfo *pSignalInfo)
{
   const struct agxvk_semaphore *semaphore = agxvk_semaphore_of(pSignalInfo->semaphore);
   return agxvk_result(agxvk_device_of(device),
                       agx_semaphore_signal(semaphore->payload.core, pSignalInfo->value));
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_WaitSemaphores(VkDevice device_handle,
                                                    const VkSemaphoreWaitInfo *pWaitInfo,
                                                    uint64_t timeout)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agx_point local[16];
   const uint32_t count = pWaitInfo->semaphoreCount;
   struct agx_point *points = points_alloc(device, local, AGXVK_COUNT(local), count);
   if (!points)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   for (uint32_t i = 0; i < count; i++)
      points[i] = (struct agx_point){agxvk_semaphore_of(pWaitInfo->pSemaphores[i])->payload.core,
                                     pWaitInfo->pValues[i]};
   VkResult result =
      wait(device, points, count, pWaitInfo->flags & VK_SEMAPHORE_WAIT_ANY_BIT, timeout);
   points_free(device, local, points);
   return result;
}

/* ---- fences ------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateFence(VkDevice device_handle,
                                                 const VkFenceCreateInfo *pCreateInfo,
                                                 const VkAllocationCallbacks *pAllocator,
                                                 VkFence *pFence)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_fence *fence =
      agxvk_object_create(device, pAllocator, sizeof(*fence), VK_OBJECT_TYPE_FENCE);
   if (!fence)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   fence->payload.value = pCreateInfo->flags & VK_FENCE_CREATE_SIGNALED_BIT ? 1 : 0;
   agx_status status =
      agx_semaphore_create(device->core, fence->payload.value, &fence->payload.core);
   if (status != AGX_OK) {
      agxvk_object_destroy(device, pAllocator, fence);
      return agxvk_result(device, status);
   }
   fence->object.core = fence->payload.core;
   *pFence = agxvk_fence_handle(fence);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyFence(VkDevice device, VkFence fence_handle,
                                              const VkAllocationCallbacks *pAllocator)
{
   struct agxvk_fence *fence = agxvk_fence_of(fence_handle);
   if (!fence)
      return;
   agx_release(fence->payload.core);
   agx_release(fence->permanent.core);
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, fence);
}

/* A fence that failed with its device is reset all the same; what comes next tells. */
void agxvk_fence_reset(struct agxvk_fence *fence)
{
   struct agxvk_payload *payload = &fence->payload;
   uint64_t reached = 0;
   agxvk_payload_restore(&fence->object, payload, &fence->permanent);
   if (agx_semaphore_query(payload->core, &reached) != AGX_OK)
      return;
   const uint64_t signal = agxvk_payload_signal(payload);
   if (reached < signal)
      return;
   payload->value = signal + 1;
   if (payload->is_shared)
      (void)!agx_semaphore_signal(payload->core, signal + 1); /* unless another did */
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_ResetFences(VkDevice device, uint32_t fenceCount,
                                                 const VkFence *pFences)
{
   for (uint32_t i = 0; i < fenceCount; i++)
      agxvk_fence_reset(agxvk_fence_of(pFences[i]));
   return VK_SUCCESS;
}

/* Asked in this order: what is reached later was submitted before. */
VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetFenceStatus(VkDevice device, VkFence fence)
{
   const struct agxvk_payload *payload = &agxvk_fence_of(fence)->payload;
   const uint64_t signal = agxvk_payload_signal(payload);
   uint64_t reached;
   agx_status status = agx_semaphore_query(payload->core, &reached);
   if (status != AGX_OK)
      return agxvk_result(agxvk_device_of(device), status);
   return reached >= signal ? VK_SUCCESS : VK_NOT_READY;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_WaitForFences(VkDevice device_handle, uint32_t fenceCount,
                                                   const VkFence *pFences, VkBool32 waitAll,
                                                   uint64_t timeout)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agx_point local[16];
   struct agx_point *points = points_alloc(device, local, AGXVK_COUNT(local), fenceCount);
   if (!points)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   for (uint32_t i = 0; i < fenceCount; i++) {
      const struct agxvk_payload *payload = &agxvk_fence_of(pFences[i])->payload;
      points[i] = (struct agx_point){payload->core, agxvk_payload_signal(payload)};
   }
   VkResult result = wait(device, points, fenceCount, !waitAll, timeout);
   points_free(device, local, points);
   return result;
}

/* ---- events ------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateEvent(VkDevice device_handle,
                                                 const VkEventCreateInfo *pCreateInfo,
                                                 const VkAllocationCallbacks *pAllocator,
                                                 VkEvent *pEvent)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   const struct agx_buffer_desc desc = {.size = sizeof(desc),
                                        .size_B = sizeof(uint32_t),
                                        .flags = AGX_BUFFER_HOST_READ,
                                        .label = "event"};
   struct agxvk_event *event =
      agxvk_object_create(device, pAllocator, sizeof(*event), VK_OBJECT_TYPE_EVENT);
   void *memory = NULL;
   if (!event)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   agx_status status = agx_buffer_create(device->core, &desc, &event->core);
   if (status == AGX_OK)
      status = agx_buffer_map(event->core, &memory);
   if (status != AGX_OK) {
      agx_release(event->core);
      agxvk_object_destroy(device, pAllocator, event);
      return agxvk_memory_result(device, status);
   }
   event->object.core = event->core;
   event->word = memory;
   *pEvent = agxvk_event_handle(event);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyEvent(VkDevice device, VkEvent event_handle,
                                              const VkAllocationCallbacks *pAllocator)
{
   struct agxvk_event *event = agxvk_event_of(event_handle);
   if (!event)
      return;
   agx_release(event->core);
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, event);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetEventStatus(VkDevice device, VkEvent event)
{
   return __atomic_load_n(agxvk_event_of(event)->word, __ATOMIC_ACQUIRE) ? VK_EVENT_SET
                                                                         : VK_EVENT_RESET;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_SetEvent(VkDevice device, VkEvent event)
{
   __atomic_store_n(agxvk_event_of(event)->word, 1, __ATOMIC_RELEASE);
   return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_ResetEvent(VkDevice device, VkEvent event)
{
   __atomic_store_n(agxvk_event_of(event)->word, 0, __ATOMIC_RELEASE);
   return VK_SUCCESS;
}
