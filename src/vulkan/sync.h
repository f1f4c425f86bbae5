/* SPDX-License-Identifier: MIT
 *
 * Semaphores, fences and events.
 */
#pragma once

#include "vulkan/device.h"

/* A timeline of the HAL's as what a binary semaphore or a fence is in: at odd values it is
 * signalled, at even ones it is not. A signal brings it to the next odd value, a wait or a reset to
 * the even one behind. While nobody else has the timeline, that is counted here and even values are
 * left out; else all that is done to it is done there, too. */
struct agxvk_payload {
   struct agx_semaphore *core;
   uint64_t value; /* the highest that this object has come to; a timeline's: 0 */
   bool is_shared;
};

struct agxvk_semaphore {
   struct agxvk_object object;
   bool is_binary;
   struct agxvk_payload payload;
   struct agxvk_payload permanent; /* core: what comes back when the payload was waited for */
   /* Within a submission, of binary ones: what is put back when it fails. */
   struct agxvk_semaphore *next_touched;
   bool is_touched;
   struct agxvk_payload old_payload, old_permanent;
};

/* The next signal's value, odd and above payload.value, is when the fence is signalled. */
struct agxvk_fence {
   struct agxvk_object object;
   struct agxvk_payload payload;
   struct agxvk_payload permanent; /* core: what comes back when the fence is reset */
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

/* The highest value that is known of it, from others, too. */
uint64_t agxvk_payload_last(const struct agxvk_payload *payload);
/* What signals it, or has signalled it, if it was not waited for or reset since. */
static inline uint64_t agxvk_payload_signal(const struct agxvk_payload *payload)
{
   return agxvk_payload_last(payload) | 1;
}
/* The payload that an object has from now on, in place of one that it must have released. */
void agxvk_payload_put(struct agxvk_object *object, struct agxvk_payload *to,
                       struct agxvk_payload payload);
/* The temporary payload, if it has one, goes for the one before. */
void agxvk_payload_restore(struct agxvk_object *object, struct agxvk_payload *payload,
                           struct agxvk_payload *permanent);
/* The fence is as new, also while work is to signal it. */
void agxvk_fence_reset(struct agxvk_fence *fence);

/* A fill that changes nothing: an operation that has its place among the GPU's work. */
static inline struct agx_op_fill agxvk_mark(const struct agxvk_device *device)
{
   return (struct agx_op_fill){.target = {device->nothing, 0, sizeof(uint32_t), 0, 0},
                               .pattern_B = sizeof(uint32_t)};
}

/* When a wait of so many ns is over: the HAL's deadlines. */
int64_t agxvk_deadline(uint64_t timeout_ns);
