/* SPDX-License-Identifier: MIT
 *
 * Devices and queues.
 */
#pragma once

#include "vulkan/instance.h"

/* Queue families, of one kind of hardware queue: what the second may be used for is a part of what
 * the first may. */
enum {
   AGXVK_FAMILY_COMPUTE = 0,
   AGXVK_FAMILY_TRANSFER = 1,
   AGXVK_FAMILY_COUNT = 2,
   AGXVK_FAMILY_QUEUES = 4, /* of each */
};

/* The HAL orders operations by semaphores alone: what is submitted to a queue waits for the value
 * before, and signals the next. */
struct agxvk_queue {
   struct agxvk_object object;
   struct agxvk_device *device;
   uint32_t family, index;
   VkDeviceQueueCreateFlags flags;
   uint64_t mask; /* of the HAL's queues: agx_op.queues */
   struct agx_semaphore *order;
   uint64_t value; /* the last one that is submitted */
};

struct agxvk_device {
   struct agxvk_object object;
   struct agxvk_instance *instance;
   struct agxvk_physical_device *physical;
   VkAllocationCallbacks alloc;
   struct agxvk_extension_set extensions;
   struct agxvk_features features; /* enabled */
   struct agx_device *core;
   pthread_mutex_t lock;       /* of private data's numbers and memory */
   uint32_t private_slots;     /* numbers given so far */
   struct agx_buffer *nothing; /* what kernels that aren't robust find where nothing is bound */
   uint32_t queue_count;
   struct agxvk_queue queues[AGXVK_FAMILY_COUNT * AGXVK_FAMILY_QUEUES];
};

AGXVK_OBJECT(device, VkDevice)
AGXVK_OBJECT(queue, VkQueue)
