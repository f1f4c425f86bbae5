/* SPDX-License-Identifier: MIT
 *
 * Command buffers. The HAL's don't execute each other: one that executes secondary ones is several
 * of the HAL's, which a queue takes in order.
 */
#pragma once

#include "vulkan/descriptor.h"
#include "vulkan/device.h"
#include "vulkan/pipeline.h"

#define AGXVK_MAX_LABELS 8 /* open ones that a secondary command buffer may interrupt by name */

struct agxvk_command_pool {
   struct agxvk_object object;
   struct agxvk_command_buffer *first;
   VkAllocationCallbacks alloc;
};

/* What agxvk_CmdBindDescriptorSets, or a push, leaves for a set. */
struct agxvk_bound_set {
   const struct agxvk_descriptor *descriptors;
   uint32_t dynamic_offsets[AGXVK_MAX_DYNAMIC];
};

struct agxvk_command_buffer {
   struct agxvk_object object;
   struct agxvk_device *device;
   struct agxvk_command_pool *pool;
   struct agxvk_command_buffer *next; /* in the pool */
   bool is_secondary, is_one_shot;
   agx_status status; /* the first failure that the HAL does not remember itself */

   struct agx_command_buffer *current;   /* what commands are recorded in; NULL: none yet */
   struct agx_command_buffer **segments; /* all of them, in order; others' are borrowed */
   uint32_t segment_count, segment_room;
   struct agx_command_buffer **own; /* made for this one; the first own_used are in segments */
   uint32_t own_count, own_used, own_room;

   struct agxvk_pipeline *pipeline;
   struct agxvk_bound_set sets[AGXVK_MAX_SETS];
   struct agxvk_descriptor *pushed; /* room for a set that is pushed */
   uint32_t pushed_room;
   const struct agxvk_set_layout *pushed_layout; /* of it; NULL: none yet */
   bool is_bound;                                /* bindings are those of pipeline and sets */
   struct agx_binding *bindings;                 /* room for the largest pipeline so far */
   uint32_t binding_count, binding_room;
   uint8_t push[AGX_MAX_PUSH_B];

   uint32_t label_depth;
   char labels[AGXVK_MAX_LABELS][AGX_NAME_BYTES];
};

AGXVK_OBJECT(command_pool, VkCommandPool)
AGXVK_OBJECT(command_buffer, VkCommandBuffer)

/* What to record in, or NULL after a failure, which agxvk_EndCommandBuffer returns. */
struct agx_command_buffer *agxvk_commands(struct agxvk_command_buffer *commands);

/* What agxvk_record does when there is a failure: messengers hear of each. */
void agxvk_record_failed(struct agxvk_command_buffer *commands, agx_status status);

/* Keeps the first failure. Those that the HAL returns for recorded commands it keeps, too. */
static inline void agxvk_record(struct agxvk_command_buffer *commands, agx_status status)
{
   if (__builtin_expect(status != AGX_OK, false))
      agxvk_record_failed(commands, status);
}
