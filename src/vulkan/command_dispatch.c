/* SPDX-License-Identifier: MIT
 *
 * Binding and dispatching: at each dispatch the HAL gets what the kernel uses, gathered from the
 * sets that are bound, unless nothing changed since the last one.
 */
#include <string.h>

#include "vulkan/command_buffer.h"
#include "vulkan/memory.h"

/* ---- state -------------------------------------------------------------- */

/* Room for the bindings of a pipeline. */
static bool reserve_bindings(struct agxvk_command_buffer *commands, uint32_t count)
{
   const VkAllocationCallbacks *alloc = &commands->pool->alloc;
   if (count <= commands->binding_room)
      return true;
   struct agx_binding *bindings =
      agxvk_alloc(alloc, NULL, count * sizeof(*bindings), VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
   if (!bindings) {
      agxvk_record(commands, AGX_RESOURCE_EXHAUSTED);
      return false;
   }
   agxvk_free(alloc, NULL, commands->bindings);
   commands->bindings = bindings;
   commands->binding_room = count;
   return true;
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdBindPipeline(VkCommandBuffer commandBuffer,
                                                 VkPipelineBindPoint pipelineBindPoint,
                                                 VkPipeline handle)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   struct agxvk_pipeline *pipeline = agxvk_pipeline_of(handle);
   if (commands->pipeline == pipeline)
      return;
   commands->is_bound = false;
   commands->pipeline = reserve_bindings(commands, pipeline->need_count) ? pipeline : NULL;
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdBindDescriptorSets(
   VkCommandBuffer commandBuffer, VkPipelineBindPoint pipelineBindPoint, VkPipelineLayout layout,
   uint32_t firstSet, uint32_t count, const VkDescriptorSet *pDescriptorSets,
   uint32_t dynamicOffsetCount, const uint32_t *pDynamicOffsets)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   for (uint32_t i = 0; i < count && firstSet + i < AGXVK_MAX_SETS; i++) {
      const struct agxvk_descriptor_set *set = agxvk_descriptor_set_of(pDescriptorSets[i]);
      struct agxvk_bound_set *bound = &commands->sets[firstSet + i];
      if (!set)
         continue;
      bound->descriptors = set->descriptors;
      const uint32_t offsets = AGXVK_MIN(set->layout->dynamic_count, AGXVK_MAX_DYNAMIC);
      if (offsets)
         memcpy(bound->dynamic_offsets, pDynamicOffsets, offsets * sizeof(*pDynamicOffsets));
      pDynamicOffsets += set->layout->dynamic_count;
   }
   commands->is_bound = false;
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdPushConstants(VkCommandBuffer commandBuffer,
                                                  VkPipelineLayout layout,
                                                  VkShaderStageFlags stageFlags, uint32_t offset,
                                                  uint32_t size, const void *pValues)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   if (offset <= sizeof(commands->push) && size <= sizeof(commands->push) - offset)
      memcpy(commands->push + offset, pValues, size);
}

/* ---- pushed descriptors ------------------------------------------------- */

/* The set that is pushed, with what was pushed before if the layout is the same; NULL: no memory.
 * Inline uniform blocks can't be pushed. */
static struct agxvk_descriptor *begin_push(struct agxvk_command_buffer *commands,
                                           const struct agxvk_set_layout *layout, uint32_t number)
{
   const VkAllocationCallbacks *alloc = &commands->pool->alloc;
   if (layout->descriptor_count > commands->pushed_room) {
      struct agxvk_descriptor *pushed =
         agxvk_alloc(alloc, NULL, layout->descriptor_count * sizeof(*pushed),
                     VK_SYSTEM_ALLOCATION_SCOPE_OBJECT);
      if (!pushed) {
         agxvk_record(commands, AGX_RESOURCE_EXHAUSTED);
         return NULL;
      }
      agxvk_free(alloc, NULL, commands->pushed);
      commands->pushed = pushed;
      commands->pushed_room = layout->descriptor_count;
      commands->pushed_layout = NULL;
   }
   if (commands->pushed_layout != layout)
      agxvk_descriptors_init(layout, commands->pushed);
   commands->pushed_layout = layout;
   commands->sets[number].descriptors = commands->pushed;
   commands->is_bound = false;
   return commands->pushed;
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdPushDescriptorSetKHR(VkCommandBuffer commandBuffer,
                                                         VkPipelineBindPoint pipelineBindPoint,
                                                         VkPipelineLayout layout, uint32_t set,
                                                         uint32_t count,
                                                         const VkWriteDescriptorSet *pWrites)
{
   const struct agxvk_set_layout *pushed = agxvk_pipeline_layout_of(layout)->sets[set];
   struct agxvk_descriptor *descriptors =
      begin_push(agxvk_command_buffer_of(commandBuffer), pushed, set);
   for (uint32_t i = 0; descriptors && i < count; i++)
      agxvk_descriptors_write(pushed, descriptors, NULL, &pWrites[i]);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdPushDescriptorSetWithTemplateKHR(
   VkCommandBuffer commandBuffer, VkDescriptorUpdateTemplate template, VkPipelineLayout layout,
   uint32_t set, const void *pData)
{
   const struct agxvk_set_layout *pushed = agxvk_pipeline_layout_of(layout)->sets[set];
   struct agxvk_descriptor *descriptors =
      begin_push(agxvk_command_buffer_of(commandBuffer), pushed, set);
   if (descriptors)
      agxvk_template_write(template, pushed, descriptors, NULL, pData);
}

/* ---- dispatches --------------------------------------------------------- */

/* Nothing is bound there: as if it were an empty set. */
static const struct agx_binding no_descriptor;

static void gather(struct agxvk_command_buffer *commands)
{
   const struct agxvk_pipeline *pipeline = commands->pipeline;
   uint32_t count = 0;
   for (uint32_t i = 0; i < pipeline->need_count; i++) {
      const struct agxvk_need *need = &pipeline->needs[i];
      const struct agxvk_bound_set *set = &commands->sets[need->set];
      struct agx_binding *to = &commands->bindings[count];
      *to = set->descriptors ? set->descriptors[need->index].value : no_descriptor;
      to->set = need->set;
      to->binding = need->binding;
      to->element = need->element;
      if (need->dynamic < AGXVK_MAX_DYNAMIC && to->ref.buffer)
         to->ref.offset_B += set->dynamic_offsets[need->dynamic];
      if (need->needs_bytes && !to->ref.buffer)
         to->ref = (struct agx_buffer_ref){commands->device->nothing, 0, AGX_WHOLE_LENGTH, 0, 0};
      if (need->is_array && !to->image && !to->ref.buffer && !to->sampler)
         continue;
      count++;
   }
   commands->binding_count = count;
   commands->is_bound = true;
}

static void dispatch(struct agxvk_command_buffer *commands, struct agx_dispatch *dispatch)
{
   struct agx_command_buffer *current = agxvk_commands(commands);
   const struct agxvk_pipeline *pipeline = commands->pipeline;
   if (!current || !pipeline)
      return;
   if (!commands->is_bound)
      gather(commands);
   dispatch->size = sizeof(*dispatch);
   dispatch->executable = pipeline->executable;
   dispatch->binding_count = commands->binding_count;
   dispatch->bindings = commands->bindings;
   dispatch->push = commands->push;
   dispatch->push_B = pipeline->push_B;
   agxvk_record(commands, agx_cmd_dispatch(current, dispatch));
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdDispatch(VkCommandBuffer commandBuffer, uint32_t x, uint32_t y,
                                             uint32_t z)
{
   struct agx_dispatch direct = {.workgroups = {x, y, z}};
   dispatch(agxvk_command_buffer_of(commandBuffer), &direct);
}

VKAPI_ATTR void VKAPI_CALL agxvk_CmdDispatchIndirect(VkCommandBuffer commandBuffer, VkBuffer buffer,
                                                     VkDeviceSize offset)
{
   struct agx_dispatch indirect = {
      .counts = agxvk_buffer_ref(agxvk_buffer_of(buffer), offset, 3 * sizeof(uint32_t)),
   };
   dispatch(agxvk_command_buffer_of(commandBuffer), &indirect);
}

/* Kernels count workgroups from 0 on. */
VKAPI_ATTR void VKAPI_CALL agxvk_CmdDispatchBase(VkCommandBuffer commandBuffer, uint32_t baseX,
                                                 uint32_t baseY, uint32_t baseZ, uint32_t x,
                                                 uint32_t y, uint32_t z)
{
   struct agxvk_command_buffer *commands = agxvk_command_buffer_of(commandBuffer);
   if (baseX | baseY | baseZ)
      agxvk_record(commands, AGX_UNIMPLEMENTED);
   else
      agxvk_CmdDispatch(commandBuffer, x, y, z);
}
