/* SPDX-License-Identifier: MIT
 *
 * Timestamp queries: 16 bytes of a buffer each, which commands reset, write and copy.
 */
#include "vulkan/query.h"

#include <string.h>

#include "vulkan/command_buffer.h"
#include "vulkan/memory.h"

VKAPI_ATTR VkResult VKAPI_CALL agxvk_CreateQueryPool(VkDevice device_handle,
                                                     const VkQueryPoolCreateInfo *pCreateInfo,
                                                     const VkAllocationCallbacks *pAllocator,
                                                     VkQueryPool *pQueryPool)
{
   struct agxvk_device *device = agxvk_device_of(device_handle);
   const struct agx_buffer_desc desc = {
      .size = sizeof(desc),
      .size_B = pCreateInfo->queryCount * sizeof(struct agxvk_query),
      .flags = AGX_BUFFER_HOST_READ,
      .usage = AGX_USAGE_TRANSFER | AGX_USAGE_DISPATCH | AGX_USAGE_MAPPING | AGX_USAGE_TIMESTAMPS,
      .label = "queries",
   };
   /* Pools of occlusion queries need no feature: only graphics begin those, so they stay
    * unavailable. */
   if (pCreateInfo->queryType != VK_QUERY_TYPE_TIMESTAMP &&
       pCreateInfo->queryType != VK_QUERY_TYPE_OCCLUSION)
      return VK_ERROR_FEATURE_NOT_PRESENT;
   struct agxvk_query_pool *pool =
      agxvk_object_create(device, pAllocator, sizeof(*pool), VK_OBJECT_TYPE_QUERY_POOL);
   void *memory = NULL;
   if (!pool)
      return VK_ERROR_OUT_OF_HOST_MEMORY;
   agx_status status = agx_buffer_create(device->core, &desc, &pool->core);
   if (status == AGX_OK)
      status = agx_buffer_map(pool->core, &memory);
   if (status != AGX_OK) {
      agx_release(pool->core);
      agxvk_object_destroy(device, pAllocator, pool);
      return agxvk_memory_result(device, status);
   }
   pool->object.core = pool->core;
   pool->queries = memory;
   pool->count = pCreateInfo->queryCount;
   *pQueryPool = agxvk_query_pool_handle(pool);
   return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL agxvk_DestroyQueryPool(VkDevice device, VkQueryPool pool_handle,
                                                  const VkAllocationCallbacks *pAllocator)
{
   struct agxvk_query_pool *pool = agxvk_query_pool_of(pool_handle);
   if (!pool)
      return;
   agx_release(pool->core);
   agxvk_object_destroy(agxvk_device_of(device), pAllocator, pool);
}

/* ---- by the host -------------------------------------------------------- */

VKAPI_ATTR void VKAPI_CALL agxvk_ResetQueryPool(VkDevice device, VkQueryPool pool,
                                                uint32_t firstQuery, uint32_t queryCount)
{
   memset(agxvk_query_pool_of(pool)->queries + firstQuery, 0,
          queryCount * sizeof(struct agxvk_query));
}

static void write_number(uint8_t *to, uint32_t index, uint64_t value, bool has_64_bits)
{
   const uint32_t low = (uint32_t)value;
   if (has_64_bits)
      memcpy(to + index * sizeof(value), &value, sizeof(value));
   else
      memcpy(to + index * sizeof(low), &low, sizeof(low));
}

/* A wait for what is submitted ends with it: 20 us at a time, or with the device. */
static VkResult wait_available(struct agxvk_device *device, const struct agxvk_query *query)
{
   while (!__atomic_load_n(&query->is_available, __ATOMIC_ACQUIRE)) {
      const struct timespec pause = {0, 20000};
      agx_status status = agx_device_status(device->core);
      if (status != AGX_OK)
         return agxvk_result(device, status);
      nanosleep(&pause, NULL);
   }
   return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL agxvk_GetQueryPoolResults(VkDevice device, VkQueryPool pool_handle,
                                                         uint32_t firstQuery, uint32_t queryCount,
                                                         size_t dataSize, void *pData,
                                                         VkDeviceSize stride,
                                                         VkQueryResultFlags flags)
{
   const struct agxvk_query_pool *pool = agxvk_query_pool_of(pool_handle);
   const bool has_64_bits = flags & VK_QUERY_RESULT_64_BIT;
   VkResult result = VK_SUCCESS;
   for (uint32_t i = 0; i < queryCount; i++) {
      const struct agxvk_query *query = &pool->queries[firstQuery + i];
      uint8_t *to = (uint8_t *)pData + i * stride;
      if (flags & VK_QUERY_RESULT_WAIT_BIT) {
         VkResult waited = wait_available(agxvk_device_of(device), query);
         if (waited != VK_SUCCESS)
            return waited;
      }
      const uint64_t is_available = __atomic_load_n(&query->is_available, __ATOMIC_ACQUIRE);
      if (is_available || flags & VK_QUERY_RESULT_PARTIAL_BIT)
         write_number(to, 0, is_available ? query->time : 0, has_64_bits);
      if (!is_available && !(flags & VK_QUERY_RESULT_PARTIAL_BIT))
         result = VK_NOT_READY;
      if (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT)
         write_number(to, 1, is_available, has_64_bits);
   }
   return result;
}

/* ---- by the GPU --------------------------------------------------------- */

static struct agx_buffer_ref part(const struct agxvk_query_pool *pool, uint32_t query,
                                  uint64_t offset_B, uint64_t length_B)
{
   return (struct agx_buffer_ref){pool->core, query * sizeof(struct agxvk_query) + offset_B,
                                  length_B, 0, 0};
}

/* Queries are ordered by themselves with what stands around them in a command buffer. */
static void order(struct agxvk_command_buffer *commands)
{
   agxvk_record(commands, agx_cmd_barrier(agxvk_commands(commands), NULL));
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdResetQueryPool(VkCommandBuffer commandBuffer, VkQueryPool pool,
                                                   uint32_t firstQuery, uint32_t queryCount)
{
   static const uint32_t zero;
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   if (!agxvk_commands(commands))
      return;
   order(commands);
   agxvk_record(commands, agx_cmd_fill(commands->current,
                                       part(agxvk_query_pool_of(pool), firstQuery, 0,
                                            queryCount * sizeof(struct agxvk_query)),
                                       &zero, sizeof(zero)));
   order(commands);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdWriteTimestamp2(VkCommandBuffer commandBuffer,
                                                    VkPipelineStageFlags2 stage,
                                                    VkQueryPool pool_handle, uint32_t query)
{
   static const uint32_t one = 1;
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   const struct agxvk_query_pool *pool = agxvk_query_pool_of(pool_handle);
   if (!agxvk_commands(commands))
      return;
   agxvk_record(commands, agx_cmd_timestamp(commands->current, part(pool, query, 0, 8)));
   agxvk_record(commands, agx_cmd_fill(commands->current, part(pool, query, 8, sizeof(one)), &one,
                                       sizeof(one)));
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdWriteTimestamp(VkCommandBuffer commandBuffer,
                                                   VkPipelineStageFlagBits stage, VkQueryPool pool,
                                                   uint32_t query)
{
   agxvk_CmdWriteTimestamp2(commandBuffer, stage, pool, query);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdCopyQueryPoolResults(
   VkCommandBuffer commandBuffer, VkQueryPool pool_handle, uint32_t firstQuery, uint32_t queryCount,
   VkBuffer dstBuffer, VkDeviceSize dstOffset, VkDeviceSize stride, VkQueryResultFlags flags)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   const struct agxvk_query_pool *pool = agxvk_query_pool_of(pool_handle);
   const struct agxvk_buffer *target = agxvk_buffer_of(dstBuffer);
   const uint32_t number_B = flags & VK_QUERY_RESULT_64_BIT ? 8 : 4;
   if (!agxvk_commands(commands))
      return;
   order(commands);
   for (uint32_t i = 0; i < queryCount; i++) {
      const uint64_t at = dstOffset + i * stride;
      agxvk_record(commands,
                   agx_cmd_copy(commands->current, part(pool, firstQuery + i, 0, number_B),
                                agxvk_buffer_ref(target, at, number_B)));
      if (flags & VK_QUERY_RESULT_WITH_AVAILABILITY_BIT)
         agxvk_record(commands,
                      agx_cmd_copy(commands->current, part(pool, firstQuery + i, 8, number_B),
                                   agxvk_buffer_ref(target, at + number_B, number_B)));
   }
}

/* Queries that begin and end are of graphics, or of kinds that no pool can have. */
VKAPI_ATTR void VKAPI_CALL agxvk_CmdBeginQuery(VkCommandBuffer commandBuffer, VkQueryPool pool,
                                               uint32_t query, VkQueryControlFlags flags)
{
   agxvk_record(agxvk_command_buffer_of(commandBuffer), AGX_UNIMPLEMENTED);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdEndQuery(VkCommandBuffer commandBuffer, VkQueryPool pool,
                                             uint32_t query)
{
   agxvk_record(agxvk_command_buffer_of(commandBuffer), AGX_UNIMPLEMENTED);
}
