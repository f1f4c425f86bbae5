/* SPDX-License-Identifier: MIT
 *
 * Command buffers and their pools: recording goes straight to the HAL's, a segment at a time.
 */
#include "vulkan/command_buffer.h"

#include <string.h>

void agxvk_record_failed(struct agxvk_command_buffer *commands, agx_status status)
{
   agxvk_tell_failure(commands->device->instance, status);
   if (commands->status == AGX_OK)
      commands->status = status;
}

/* ---- segments ----------------------------------------------------------- */

/* Room for one more pointer in an array that grows by half. */
static bool grow(struct agxvk_command_buffer *commands, struct agx_command_buffer ***array,
                 uint32_t *room, uint32_t count)
{
   const VkAllocationCallbacks *alloc = &commands->pool->alloc;
   if (count < *room)
      return true;
   const uint32_t larger = *room + *room / 2 + 4;
   void *memory =
      agxvk_alloc(alloc, NULL, larger * sizeof(**array), VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
   if (!memory)
      return false;
   if (*array)
      memcpy(memory, *array, count * sizeof(**array));
   agxvk_free(alloc, NULL, *array);
   *array = memory;
   *room = larger;
   return true;
}

static agx_status add_segment(struct agxvk_command_buffer *commands,
                              struct agx_command_buffer *segment)
{
   if (!grow(commands, &commands->segments, &commands->segment_room, commands->segment_count))
      return AGX_RESOURCE_EXHAUSTED;
   commands->segments[commands->segment_count++] = segment;
   return AGX_OK;
}

static agx_status add_own(struct agxvk_command_buffer *commands)
{
   /* Ranges may be shorter than a shader's blocks, as long as it keeps to them. */
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc),
                                                .flags = AGX_COMMAND_BUFFER_UNCHECKED};
   if (commands->own_used < commands->own_count)
      return AGX_OK;
   if (!grow(commands, &commands->own, &commands->own_room, commands->own_count))
      return AGX_RESOURCE_EXHAUSTED;
   agx_status status =
      agx_command_buffer_create(commands->device->core, &desc, &commands->own[commands->own_count]);
   commands->own_count += status == AGX_OK;
   return status;
}

/* Opens a segment, with the labels that are open. */
static agx_status open_segment(struct agxvk_command_buffer *commands)
{
   agx_status status = add_own(commands);
   if (status != AGX_OK)
      return status;
   struct agx_command_buffer *segment = commands->own[commands->own_used];
   status = agx_command_buffer_begin(segment);
   if (status == AGX_OK)
      status = add_segment(commands, segment);
   if (status != AGX_OK)
      return status;
   commands->own_used++;
   commands->current = segment;
   for (uint32_t i = 0; i < AGXVK_MIN(commands->label_depth, AGXVK_MAX_LABELS); i++)
      agxvk_record(commands, agx_cmd_begin_label(segment, commands->labels[i], 0));
   return AGX_OK;
}

static void close_segment(struct agxvk_command_buffer *commands)
{
   if (!commands->current)
      return;
   for (uint32_t i = 0; i < AGXVK_MIN(commands->label_depth, AGXVK_MAX_LABELS); i++)
      agxvk_record(commands, agx_cmd_end_label(commands->current));
   agxvk_record(commands, agx_command_buffer_end(commands->current));
   commands->current = NULL;
}

struct agx_command_buffer *agxvk_commands(struct agxvk_command_buffer *commands)
{
   if (__builtin_expect(commands->current != NULL, true))
      return commands->current;
   if (commands->status == AGX_OK)
      agxvk_record(commands, open_segment(commands));
   return commands->current;
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdExecuteCommands(VkCommandBuffer commandBuffer, uint32_t count,
                                                    const VkCommandBuffer *pCommandBuffers)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   close_segment(commands);
   for (uint32_t i = 0; i < count; i++) {
      const struct agxvk_command_buffer *executed = agxvk_command_buffer_of(pCommandBuffers[i]);
      for (uint32_t s = 0; s < executed->segment_count; s++)
         agxvk_record(commands, add_segment(commands, executed->segments[s]));
   }
   /* What was bound before is undefined now. */
   commands->pipeline = NULL;
   commands->is_bound = false;
}

/* ---- recording ---------------------------------------------------------- */

static void reset(struct agxvk_command_buffer *commands)
{
   commands->status = AGX_OK;
   commands->current = NULL;
   commands->segment_count = 0;
   commands->own_used = 0;
   commands->pipeline = NULL;
   commands->is_bound = false;
   commands->label_depth = 0;
   commands->pushed_layout = NULL;
   memset(commands->sets, 0, sizeof(commands->sets));
   memset(commands->push, 0, sizeof(commands->push));
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_BeginCommandBuffer(VkCommandBuffer commandBuffer,
                                                        const VkCommandBufferBeginInfo *pBeginInfo)
{
   reset(agxvk_command_buffer_of(commandBuffer));
   return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_EndCommandBuffer(VkCommandBuffer commandBuffer)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   close_segment(commands);
   return agxvk_memory_result(commands->device, commands->status);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_ResetCommandBuffer(VkCommandBuffer commandBuffer,
                                                        VkCommandBufferResetFlags flags)
{
   reset(agxvk_command_buffer_of(commandBuffer));
   return VK_SUCCESS;
}

/* ---- pools -------------------------------------------------------------- */

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateCommandPool(VkDevice device_handle,
                                                       const VkCommandPoolCreateInfo *pCreateInfo,
                                                       const VkAllocationCallbacks *pAllocator,
                                                       VkCommandPool *pCommandPool)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_command_pool *pool =
      agxvk_object_create(device, pAllocator, sizeof(*pool), VK_OBJECT_TYPE_COMMAND_POOL);
   if (!pool)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   pool->alloc = pAllocator ? *pAllocator : device->alloc;
   *pCommandPool = agxvk_command_pool_handle(pool);
   return VK_SUCCESS;
}

static void destroy(struct agxvk_command_buffer *commands)
{
   const VkAllocationCallbacks *alloc = &commands->pool->alloc;
   for (uint32_t i = 0; i < commands->own_count; i++)
      agx_release(commands->own[i]);
   agxvk_free(alloc, NULL, commands->own);
   agxvk_free(alloc, NULL, commands->segments);
   agxvk_free(alloc, NULL, commands->pushed);
   agxvk_free(alloc, NULL, commands->bindings);
   agxvk_object_destroy(commands->device, alloc, commands);
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyCommandPool(VkDevice device, VkCommandPool pool_handle,
                                                    const VkAllocationCallbacks *pAllocator)
{
   struct agxvk_command_pool *pool = agxvk_command_pool_of(pool_handle);
   if (!pool)
      return;
   while (pool->first) {
      struct agxvk_command_buffer *commands = pool->first;
      pool->first = commands->next;
      destroy(commands);
   }
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, pool);
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_ResetCommandPool(VkDevice device, VkCommandPool pool,
                                                      VkCommandPoolResetFlags flags)
{
   for (struct agxvk_command_buffer *c = agxvk_command_pool_of(pool)->first; c; c = c->next)
      reset(c);
   return VK_SUCCESS;
}

/* The HAL's command buffers keep their memory for the next recording. */
VKAPI_ATTR void VKAPI_CALL agxvk_TrimCommandPool(VkDevice device, VkCommandPool pool,
                                                 VkCommandPoolTrimFlags flags)
{
}

static VkResult allocate_one(struct agxvk_device *device, struct agxvk_command_pool *pool,
                             bool is_secondary, VkCommandBuffer *out)
{
   struct agxvk_command_buffer *commands =
      agxvk_object_create(device, &pool->alloc, sizeof(*commands), VK_OBJECT_TYPE_COMMAND_BUFFER);
   if (!commands)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   set_loader_magic_value(&commands->object.loader);
   commands->device = device;
   commands->pool = pool;
   commands->is_secondary = is_secondary;
   agx_status status = add_own(commands);
   if (status != AGX_OK) {
      destroy(commands);
      return agxvk_result(device, status);
   }
   commands->object.core = commands->own[0];
   commands->next = pool->first;
   pool->first = commands;
   *out = agxvk_command_buffer_handle(commands);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_FreeCommandBuffers(VkDevice device, VkCommandPool pool,
                                                    uint32_t count,
                                                    const VkCommandBuffer *pCommandBuffers)
{
   for (uint32_t i = 0; i < count; i++) {
      struct agxvk_command_buffer *commands = agxvk_command_buffer_of(pCommandBuffers[i]);
      if (!commands)
         continue;
      struct agxvk_command_buffer **link = &commands->pool->first;
      while (*link != commands)
         link = &(*link)->next;
      *link = commands->next;
      destroy(commands);
   }
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_AllocateCommandBuffers(
   VkDevice device_handle, const VkCommandBufferAllocateInfo *pAllocateInfo,
   VkCommandBuffer *pCommandBuffers)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   struct agxvk_command_pool *pool = agxvk_command_pool_of(pAllocateInfo->commandPool);
   const bool is_secondary = pAllocateInfo->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY;
   for (uint32_t i = 0; i < pAllocateInfo->commandBufferCount; i++) {
      VkResult result = allocate_one(device, pool, is_secondary, &pCommandBuffers[i]);
      if (result == VK_SUCCESS)
         continue;
      agxvk_FreeCommandBuffers(device_handle, pAllocateInfo->commandPool, i, pCommandBuffers);
      memset(pCommandBuffers, 0, pAllocateInfo->commandBufferCount * sizeof(*pCommandBuffers));
      return result;
   }
   return VK_SUCCESS;
}

/* ---- labels ------------------------------------------------------------- */

/* A label may end in another command buffer than it began in, for Vulkan but not for the HAL: what
 * is open where one ends is closed, and ends without a beginning are nothing. */
VKAPI_ATTR void VKAPI_CALL agxvk_CmdBeginDebugUtilsLabelEXT(VkCommandBuffer commandBuffer,
                                                            const VkDebugUtilsLabelEXT *pLabelInfo)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   struct agx_command_buffer *current = agxvk_commands(commands);
   const uint32_t depth = commands->label_depth++;
   if (!current || depth >= AGXVK_MAX_LABELS)
      return;
   strncpy(commands->labels[depth], pLabelInfo->pLabelName, AGX_NAME_BYTES - 1);
   agxvk_record(commands, agx_cmd_begin_label(current, commands->labels[depth], 0));
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdEndDebugUtilsLabelEXT(VkCommandBuffer commandBuffer)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   struct agx_command_buffer *current = agxvk_commands(commands);
   if (!commands->label_depth || !current || --commands->label_depth >= AGXVK_MAX_LABELS)
      return;
   agxvk_record(commands, agx_cmd_end_label(current));
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdInsertDebugUtilsLabelEXT(VkCommandBuffer commandBuffer,
                                                             const VkDebugUtilsLabelEXT *pLabelInfo)
{
   agxvk_CmdBeginDebugUtilsLabelEXT(commandBuffer, pLabelInfo);
   agxvk_CmdEndDebugUtilsLabelEXT(commandBuffer);
}

/* Captures and profiles know of a queue what its command buffers say. */
VKAPI_ATTR void VKAPI_CALL
agxvk_QueueBeginDebugUtilsLabelEXT(VkQueue queue, const VkDebugUtilsLabelEXT *pLabelInfo)
{
}

VKAPI_ATTR void VKAPI_CALL agxvk_QueueEndDebugUtilsLabelEXT(VkQueue queue) {}

VKAPI_ATTR void VKAPI_CALL
agxvk_QueueInsertDebugUtilsLabelEXT(VkQueue queue, const VkDebugUtilsLabelEXT *pLabelInfo)
{
}

/* There is one device. */
VKAPI_ATTR void VKAPI_CALL agxvk_CmdSetDeviceMask(VkCommandBuffer commandBuffer,
                                                  uint32_t deviceMask)
{
}
