/* SPDX-License-Identifier: MIT
 *
 * What a command buffer records: segments, packed one behind the other in blocks of fixed
 * size. A dispatch holds its uniform registers' contents, ready to be copied.
 */
#pragma once

#include <stdint.h>

#include "hal/executable.h"

#define AGX_RECORD_BLOCK_B ((size_t)32 << 10)

struct agx_record_block {
   struct agx_record_block *next;
   uint32_t used; /* bytes of data */
   _Alignas(16) uint8_t data[AGX_RECORD_BLOCK_B - 32];
};

enum agx_segment_kind {
   AGX_SEGMENT_DISPATCH,
   AGX_SEGMENT_BARRIER,
};

struct agx_segment {
   uint32_t kind;    /* enum agx_segment_kind */
   uint32_t total_B; /* to the next segment, a multiple of 16 */
   /* Of a dispatch: */
   struct agx_executable *executable; /* retained */
   uint32_t threads[3];               /* of the whole grid */
   uint32_t buffer_count;
   struct agx_buffer *buffers[]; /* retained; then the uniform contents, 16-byte aligned */
};

/* The contents of the uniform registers, from half 0 on. */
static inline uint8_t *agx_segment_uniforms(struct agx_segment *segment)
{
   size_t offset = sizeof(*segment) + segment->buffer_count * sizeof(struct agx_buffer *);
   return (uint8_t *)segment + ((offset + 15) & ~(size_t)15);
}

#define agx_record_for_each(segment, first)                                                        \
   for (struct agx_record_block *segment##_block = (first); segment##_block;                       \
        segment##_block = segment##_block->next)                                                   \
      for (struct agx_segment *segment = (struct agx_segment *)segment##_block->data;              \
           (uint8_t *)segment < segment##_block->data + segment##_block->used;                     \
           segment = (struct agx_segment *)((uint8_t *)segment + segment->total_B))
