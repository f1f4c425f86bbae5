/* SPDX-License-Identifier: MIT
 *
 * Barriers and events. The HAL finds out itself which commands a barrier has to keep apart, and the
 * queue orders command buffers: so what Vulkan says of stages and accesses is not needed.
 */
#include "vulkan/command_buffer.h"
#include "vulkan/sync.h"

/* Nothing comes before the first command of a command buffer but what the queue orders. */
static void barrier(VkCommandBuffer commandBuffer)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   if (commands->current)
      agxvk_record(commands, agx_cmd_barrier(commands->current, NULL));
}

VKAPI_ATTR void VKAPI_CALL
agxvk_CmdPipelineBarrier(VkCommandBuffer commandBuffer, VkPipelineStageFlags srcStageMask,
                         VkPipelineStageFlags dstStageMask, VkDependencyFlags dependencyFlags,
                         uint32_t memoryBarrierCount, const VkMemoryBarrier *pMemoryBarriers,
                         uint32_t bufferBarrierCount, const VkBufferMemoryBarrier *pBufferBarriers,
                         uint32_t imageBarrierCount, const VkImageMemoryBarrier *pImageBarriers)
{
   barrier(commandBuffer);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdPipelineBarrier2(VkCommandBuffer commandBuffer,
                                                     const VkDependencyInfo *pDependencyInfo)
{
   barrier(commandBuffer);
}

/* ---- events ------------------------------------------------------------- */

/* The word tells the host; what comes behind a wait comes behind all that is before it. */
static void write_event(VkCommandBuffer commandBuffer, VkEvent event, uint32_t value)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   const struct agx_buffer_ref word = {agxvk_event_of(event)->core, 0, sizeof(value), 0, 0};
   barrier(commandBuffer);
   if (agxvk_commands(commands))
      agxvk_record(commands, agx_cmd_fill(commands->current, word, &value, sizeof(value)));
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdSetEvent(VkCommandBuffer commandBuffer, VkEvent event,
                                             VkPipelineStageFlags stageMask)
{
   write_event(commandBuffer, event, 1);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdSetEvent2(VkCommandBuffer commandBuffer, VkEvent event,
                                              const VkDependencyInfo *pDependencyInfo)
{
   write_event(commandBuffer, event, 1);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdResetEvent(VkCommandBuffer commandBuffer, VkEvent event,
                                               VkPipelineStageFlags stageMask)
{
   write_event(commandBuffer, event, 0);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdResetEvent2(VkCommandBuffer commandBuffer, VkEvent event,
                                                VkPipelineStageFlags2 stageMask)
{
   write_event(commandBuffer, event, 0);
}

VKAPI_ATTR void VKAPI_CALL
agxvk_CmdWaitEvents(VkCommandBuffer commandBuffer, uint32_t eventCount, const VkEvent *pEvents,
                    VkPipelineStageFlags srcStageMask, VkPipelineStageFlags dstStageMask,
                    uint32_t memoryBarrierCount, const VkMemoryBarrier *pMemoryBarriers,
                    uint32_t bufferBarrierCount, const VkBufferMemoryBarrier *pBufferBarriers,
                    uint32_t imageBarrierCount, const VkImageMemoryBarrier *pImageBarriers)
{
   barrier(commandBuffer);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdWaitEvents2(VkCommandBuffer commandBuffer, uint32_t eventCount,
                                                const VkEvent *pEvents,
                                                const VkDependencyInfo *pDependencyInfos)
{
   barrier(commandBuffer);
}
