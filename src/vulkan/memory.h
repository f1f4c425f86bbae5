/* SPDX-License-Identifier: MIT
 *
 * Memory, and buffers in it.
 */
#pragma once

#include "vulkan/device.h"

/* All memory is the same one, coherent and in reach of both sides; what differs is how the host
 * maps it. */
enum {
   AGXVK_MEMORY_COMBINED = 0, /* for what the host writes only */
   AGXVK_MEMORY_CACHED = 1,
   AGXVK_MEMORY_TYPE_COUNT = 2,
   AGXVK_MEMORY_TYPE_BITS = (1 << AGXVK_MEMORY_TYPE_COUNT) - 1,
};

struct agxvk_memory_type {
   VkMemoryPropertyFlags properties;
   uint32_t flags; /* enum agx_buffer_flags */
};
extern const struct agxvk_memory_type agxvk_memory_types[AGXVK_MEMORY_TYPE_COUNT];

struct agxvk_memory {
   struct agxvk_object object;
   struct agx_buffer *core;
   uint64_t size_B, address;
};

struct agxvk_buffer {
   struct agxvk_object object;
   uint64_t size_B;
   VkBufferCreateFlags flags;
   VkBufferUsageFlags usage;
   uint64_t address;
   struct agx_buffer_ref ref; /* of the memory; its buffer is NULL until it is bound */
};

struct agxvk_buffer_view {
   struct agxvk_object object;
   struct agx_buffer_ref ref;
   const char *format; /* as the HAL names it */
};

/* What the process has allocated. */
uint64_t agxvk_memory_used(void);

/* Memory that others made: takes fd, a dma-buf, over when it succeeds. size_B 0: all of it. */
VkResult agxvk_memory_import(struct agxvk_device *device, int fd, uint64_t size_B,
                             struct agx_buffer **out_buffer);
/* What memory of images and buffers can be exchanged as, by handle type. */
VkExternalMemoryProperties agxvk_external_memory(VkExternalMemoryHandleTypeFlagBits type);

AGXVK_OBJECT(memory, VkDeviceMemory)
AGXVK_OBJECT(buffer, VkBuffer)
AGXVK_OBJECT(buffer_view, VkBufferView)

/* A part of a buffer, of the HAL's; VK_WHOLE_SIZE: to the buffer's end. */
static inline struct agx_buffer_ref agxvk_buffer_ref(const struct agxvk_buffer *buffer,
                                                     VkDeviceSize offset, VkDeviceSize size)
{
   return (struct agx_buffer_ref){
      .buffer = buffer->ref.buffer,
      .offset_B = buffer->ref.offset_B + offset,
      .length_B = size == VK_WHOLE_SIZE ? buffer->size_B - offset : size,
   };
}
