/* SPDX-License-Identifier: MIT
 *
 * Buffers.
 */
#pragma once

#include "agx/object.h"

#ifdef __cplusplus
extern "C" {
#endif

enum agx_buffer_flags {
   /* The host reads it: mapped with write-back caching instead of write-combining. */
   AGX_BUFFER_HOST_READ = 1,
   /* Kernels may only read it; a store to it is a fault. */
   AGX_BUFFER_GPU_READ_ONLY = 2,
};

struct agx_buffer_desc {
   uint32_t size;
   const void *next;
   uint64_t size_B;   /* 1 to 2^37 */
   uint32_t flags;    /* enum agx_buffer_flags */
   const char *label; /* for messages and captures; NULL: none */
};

/* GPU memory, zeroed, aligned to a page. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_create(struct agx_device *device,
                                                    const struct agx_buffer_desc *desc,
                                                    struct agx_buffer **out_buffer);

/* The whole buffer in host memory: the same address each time, until the buffer goes.
 * Coherent; the caller orders its accesses with the GPU's by semaphores. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_map(struct agx_buffer *buffer, void **out_memory);

struct agx_buffer_info {
   uint32_t size;    /* set by the caller */
   uint64_t size_B;  /* as asked for */
   uint64_t address; /* on the GPU, for kernels that take addresses */
};
AGX_API void agx_buffer_get_info(struct agx_buffer *buffer, struct agx_buffer_info *out_info);

/* A part of a buffer. offset_B must be a multiple of 4 where it is bound to a kernel. */
struct agx_buffer_ref {
   struct agx_buffer *buffer;
   uint64_t offset_B;
   uint64_t length_B; /* AGX_WHOLE_LENGTH: to the end */
};

#ifdef __cplusplus
}
#endif
