/* SPDX-License-Identifier: MIT
 *
 * Semaphores, fences and events.
 */
#pragma once

#include "vulkan/device.h"

/* Either kind is a timeline of the HAL's. A binary one is signalled by a submission to the next
 * value, and waited for at the last that a submission signals. */
struct agxvk_semaphore {
   struct agxvk_object object;
   struct agx_semaphore *core;
   bool is_binary;
   uint64_t value; /* of a binary one: what was submitted last */
};

/* A timeline that each submission with the fence brings to the next value. */
struct agxvk_fence {
   struct agxvk_object object;
   struct agx_semaphore *core;
   uint64_t value; /* the fence is signalled when this is reached */
};

/* Order between submissions of a queue is the queue's. What an event is said to be is a word that
 * the GPU and the host write. */
struct agxvk_event {
   struct agxvk_object object;
   struct agx_buffer *core;
   uint32_t *word;
};

AGXVK_OBJECT(semaphore, VkSemaphore)
AGXVK_OBJECT(fence, VkFence)
AGXVK_OBJECT(event, VkEvent)

/* When a wait of so many ns is over: the HAL's deadlines. */
int64_t agxvk_deadline(uint64_t timeout_ns);
