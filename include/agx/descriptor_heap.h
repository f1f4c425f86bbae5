/* SPDX-License-Identifier: MIT
 *
 * Descriptor heaps: what kernels are bound to, in memory that they read when they run.
 */
#pragma once

#include "agx/command_buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AGX_MAX_HEAP_SLOTS (1u << 20) /* of one heap */

/* How kernels see an image. */
enum agx_view_type {
   AGX_VIEW_1D = 0,
   AGX_VIEW_1D_ARRAY = 1,
   AGX_VIEW_2D = 2,
   AGX_VIEW_2D_ARRAY = 3,
   AGX_VIEW_2D_MULTISAMPLED = 4,
   AGX_VIEW_3D = 5,
   AGX_VIEW_CUBE = 6,
   AGX_VIEW_CUBE_ARRAY = 7,
   AGX_VIEW_2D_MULTISAMPLED_ARRAY = 8,
};

struct agx_descriptor_heap_desc {
   uint32_t size;
   const void *next;
   const char *label; /* for messages and captures; NULL: none */
   uint32_t slots;    /* 1 to AGX_MAX_HEAP_SLOTS */
   /* 1 << enum agx_binding_type, for all that will be written to it; up to
    * AGX_BINDING_STORAGE_TEXEL_BUFFER, but for those of vertex stages. A slot takes 16 bytes for
    * buffers, 2 for samplers, 88 for images and texel buffers, and 24 more where they are stored
    * to. */
   uint32_t types;
};

/* Slots begin without a descriptor: kernels must not read them. AGX_INVALID_ARGUMENT: no slots, too
 * many, no types or others; AGX_RESOURCE_EXHAUSTED. */
AGX_API AGX_MUST_CHECK agx_status
agx_descriptor_heap_create(struct agx_device *device, const struct agx_descriptor_heap_desc *desc,
                           struct agx_descriptor_heap **out_heap);

struct agx_descriptor {
   uint32_t type; /* enum agx_binding_type, one of the heap's */
   uint32_t view; /* enum agx_view_type; of images only */
   /* What is bound, as in a dispatch; set, binding and element don't count. Nothing (a buffer,
    * image or sampler of NULL) reads as 0 and drops what is stored, of buffers in kernels that
    * are robust; so does what is stored to an image that kernels can't write. A buffer's offset is
    * a multiple of 4. */
   struct agx_binding value;
};

/* Writes slots from `first` on, at any time, also between recording and submission, and of slots
 * that no kernel reads just then, while the GPU works: what a submission that comes later reads is
 * what was written last. Different slots may be written by different threads. The heap keeps alive
 * nothing that it names: the application does, as long as kernels may read the slot. What is wrong
 * with a descriptor is an error as in a dispatch, with its slot; those before it are written.
 * AGX_OUT_OF_RANGE: the heap is shorter. */
AGX_API AGX_MUST_CHECK agx_status
agx_descriptor_heap_write(struct agx_descriptor_heap *heap, uint32_t first, uint32_t count,
                          const struct agx_descriptor *descriptors);

/* What slots hold becomes what slots of another heap, or of the same one, hold: they may overlap.
 * Where a target has no such type, its slots keep what they hold of it. AGX_OUT_OF_RANGE. */
AGX_API AGX_MUST_CHECK agx_status agx_descriptor_heap_copy(struct agx_descriptor_heap *source,
                                                           uint32_t source_first,
                                                           struct agx_descriptor_heap *target,
                                                           uint32_t target_first, uint32_t count);

#ifdef __cplusplus
}
#endif
