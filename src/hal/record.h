/* SPDX-License-Identifier: MIT
 *
 * What a command buffer records: segments, packed one behind the other in blocks of fixed
 * size. A dispatch holds its uniform registers' contents, ready to be copied.
 */
#pragma once

#include <stdint.h>

#include "hal/executable.h"

#define AGX_RECORD_BLOCK_B ((size_t)32 << 10)
#define AGX_RECORD_MAX_B   (AGX_RECORD_BLOCK_B - 32) /* of one segment */

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
   uint32_t object_count;
   uint32_t range_count; /* with AGX_DEBUG=bounds */
   uint32_t heap_B;
   /* Buffers, images and samplers, retained; then the uniform contents, the descriptors, those of
    * arrays, and
    * what is needed to watch it, each 16-byte aligned. */
   void *objects[];
};

/* Whether there is something for hardware to do: not for a barrier, nor where a dimension is 0. */
static inline bool agx_segment_runs(const struct agx_segment *segment)
{
   return segment->kind == AGX_SEGMENT_DISPATCH && segment->threads[0] && segment->threads[1] &&
          segment->threads[2];
}

/* The contents of the uniform registers, from half 0 on. */
static inline uint8_t *agx_segment_uniforms(struct agx_segment *segment)
{
   size_t offset = sizeof(*segment) + segment->object_count * sizeof(void *);
   return (uint8_t *)segment + ((offset + 15) & ~(size_t)15);
}

/* The descriptors that state registers hold. */
static inline uint8_t *agx_segment_states(struct agx_segment *segment)
{
   return agx_segment_uniforms(segment) + ((segment->executable->uniform_B + 15u) & ~15u);
}

/* What the kernel indexes, heap_B bytes. */
static inline uint8_t *agx_segment_heap(struct agx_segment *segment)
{
   uint32_t state_B = agx_executable_state_B(segment->executable);
   return agx_segment_states(segment) + ((state_B + 15u) & ~15u);
}

/* What it may access, 16-byte aligned; `dispatch` is still open. */
static inline struct agx_kmd_range *agx_segment_ranges(struct agx_segment *segment)
{
   return (struct agx_kmd_range *)(agx_segment_heap(segment) + ((segment->heap_B + 15u) & ~15u));
}

#define agx_record_for_each(segment, first)                                                        \
   for (struct agx_record_block *segment##_block = (first); segment##_block;                       \
        segment##_block = segment##_block->next)                                                   \
      for (struct agx_segment *segment = (struct agx_segment *)segment##_block->data;              \
           (uint8_t *)segment < segment##_block->data + segment##_block->used;                     \
           segment = (struct agx_segment *)((uint8_t *)segment + segment->total_B))
