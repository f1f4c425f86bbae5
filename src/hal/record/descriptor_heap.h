/* SPDX-License-Identifier: MIT
 *
 * Descriptor heaps: the same parts that a dispatch's own heap has (enum agx_heap_part), each an
 * array over all slots, in a buffer that the host has mapped.
 */
#pragma once

#include "agx/descriptor_heap.h"
#include "hal/core/context.h"
#include "hal/memory/descriptor.h"
#include "program/program.h"

struct agx_descriptor_heap {
   struct agx_object object;
   struct agx_device *device;
   struct agx_buffer *memory;
   uint8_t *bytes; /* of it: written only, but by copies */
   uint32_t slots, types;
   uint32_t parts; /* a bit for each enum agx_heap_part that it has */
   uint64_t part_offset_B[AGX_HEAP_PART_COUNT];
};

/* Bytes from one element to the next in a part of a heap. */
uint32_t agx_heap_stride(uint64_t part);

/* Writes a part of what is bound, agx_heap_stride of its bytes. AGX_RESOURCE_EXHAUSTED: the device
 * has no room for another sampler. */
AGX_MUST_CHECK agx_status agx_heap_write_part(struct agx_device *device,
                                              const struct agx_bound *bound, uint64_t part,
                                              uint8_t *out);

/* The range that the dispatch gives for a binding, or NULL. */
const struct agx_heap_range *agx_heap_find(const struct agx_dispatch *dispatch, uint32_t set,
                                           uint32_t binding);

/* Checks a range against the binding that the kernel finds there; name is the executable's. With
 * is_unchecked, the range may be shorter than the kernel's array. */
AGX_MUST_CHECK agx_status agx_heap_bind(const char *name, const struct agx_program_binding *wanted,
                                        const struct agx_heap_range *range,
                                        const struct agx_device *device, bool is_unchecked,
                                        struct agx_bound *out_bound);

/* Where the elements of a range of it begin that has such a part. */
uint64_t agx_heap_address(const struct agx_bound *bound, uint64_t part);
