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
   /* The host reads it: mapped with write-back caching instead of write-combining. The same as
    * AGX_MEMORY_HOST_CACHED. */
   AGX_BUFFER_HOST_READ = 1,
   /* Kernels may only read it; a store to it is a fault. */
   AGX_BUFFER_GPU_READ_ONLY = 2,
};

/* What memory is like. All of it is the machine's one memory, which the GPU reaches at full speed
 * and coherently with the host's caches: so a buffer may have more of this than was asked for, and
 * never less. Only HOST_VISIBLE is never added without a reason: memory without it can't be mapped,
 * which keeps secrets and mistakes apart, but costs nothing. */
enum agx_memory_type {
   AGX_MEMORY_DEVICE_LOCAL = 1,
   AGX_MEMORY_HOST_VISIBLE = 2,
   AGX_MEMORY_HOST_COHERENT = 4,
   AGX_MEMORY_HOST_CACHED = 8, /* fast to read for the host; else it is written in bursts */
   AGX_MEMORY_TRANSIENT = 16,  /* short-lived: a hint */
};

/* What a buffer is for. */
enum agx_buffer_usage {
   AGX_USAGE_TRANSFER_SOURCE = 1u << 0,
   AGX_USAGE_TRANSFER_TARGET = 1u << 1,
   AGX_USAGE_INDIRECT_PARAMETERS = 1u << 8, /* workgroup counts and arguments of dispatches */
   AGX_USAGE_UNIFORM = 1u << 9,
   AGX_USAGE_STORAGE_READ = 1u << 10,
   AGX_USAGE_STORAGE_WRITE = 1u << 11,
   AGX_USAGE_SHARING_EXPORT = 1u << 16, /* agx_buffer_export as a dma-buf */
   AGX_USAGE_TIMESTAMPS = 1u << 17,     /* agx_cmd_timestamp; of agx_buffer_create only */
   AGX_USAGE_MAPPING = 1u << 24,        /* by the host; asks for HOST_VISIBLE */
   AGX_USAGE_MAPPING_READ = 1u << 27,   /* the host reads in any order; asks for HOST_CACHED */
};
#define AGX_USAGE_TRANSFER (AGX_USAGE_TRANSFER_SOURCE | AGX_USAGE_TRANSFER_TARGET)
#define AGX_USAGE_DISPATCH                                                                         \
   (AGX_USAGE_INDIRECT_PARAMETERS | AGX_USAGE_UNIFORM | AGX_USAGE_STORAGE_READ |                   \
    AGX_USAGE_STORAGE_WRITE)

/* What may be done with the contents, by host and GPU. */
enum agx_access {
   AGX_ACCESS_READ = 1,
   AGX_ACCESS_WRITE = 2,
   AGX_ACCESS_DISCARD = 4, /* with WRITE: what was there before doesn't matter */
};
#define AGX_ACCESS_ALL (AGX_ACCESS_READ | AGX_ACCESS_WRITE | AGX_ACCESS_DISCARD)

struct agx_buffer_desc {
   uint32_t size;
   const void *next;
   uint64_t size_B;   /* 0 to 2^37; one of 0 bytes has an address too */
   uint32_t flags;    /* enum agx_buffer_flags */
   const char *label; /* for messages and captures; NULL: none */
   uint32_t memory;   /* enum agx_memory_type; 0: DEVICE_LOCAL, HOST_VISIBLE, HOST_COHERENT */
   uint32_t usage;    /* enum agx_buffer_usage; 0: all but SHARING_EXPORT, TIMESTAMPS and
                       * MAPPING_READ, and where memory is given without HOST_VISIBLE, but MAPPING */
   uint32_t access;   /* enum agx_access; 0: ALL. Without WRITE as AGX_BUFFER_GPU_READ_ONLY */
   uint64_t align_B;  /* of the address, a power of two up to 2^37; 0: a page */
};

/* GPU memory, zeroed, aligned to a page or more. AGX_INVALID_ARGUMENT: bits, sizes or alignments
 * that there are none of; AGX_RESOURCE_EXHAUSTED: the device's limit, or the system has no more. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_create(struct agx_device *device,
                                                    const struct agx_buffer_desc *desc,
                                                    struct agx_buffer **out_buffer);

/* ---- host access -------------------------------------------------------- */

/* The whole buffer in host memory: the same address each time, until the buffer goes.
 * Coherent; the caller orders its accesses with the GPU's by semaphores. AGX_PERMISSION_DENIED
 * where memory, usage or access (to be both read and written) don't allow it;
 * AGX_FAILED_PRECONDITION while it has no memory (AGX_OP_ALLOCA). */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_map(struct agx_buffer *buffer, void **out_memory);

/* A part of it (length_B AGX_WHOLE_LENGTH: to the end), for what access says (enum agx_access).
 * Keeps the buffer until agx_buffer_unmap; any number of them at a time. Fails as agx_buffer_map
 * does; AGX_OUT_OF_RANGE: it has no such part. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_map_range(struct agx_buffer *buffer, uint64_t offset_B,
                                                       uint64_t length_B, uint32_t access,
                                                       void **out_memory);
/* Ends one agx_buffer_map_range. The address stays good as long as the buffer, but who counts on
 * that wants agx_buffer_map. AGX_FAILED_PRECONDITION when there is none. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_unmap(struct agx_buffer *buffer);

/* After the host wrote: the GPU sees it. Before the host reads: it sees what the GPU wrote. All
 * memory of this device is coherent: these check the range and what is allowed, and are there for
 * programs that run on other devices too. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_flush(struct agx_buffer *buffer, uint64_t offset_B,
                                                   uint64_t length_B);
AGX_API AGX_MUST_CHECK agx_status agx_buffer_invalidate(struct agx_buffer *buffer,
                                                        uint64_t offset_B, uint64_t length_B);

/* What the host does with a part of it, at once: as if between agx_buffer_map_range and
 * agx_buffer_unmap, with the same failures. The caller orders it with the GPU's work. Host memory
 * may be NULL for no bytes. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_read(struct agx_buffer *buffer, uint64_t offset_B,
                                                  uint64_t length_B, void *out_data);
AGX_API AGX_MUST_CHECK agx_status agx_buffer_write(struct agx_buffer *buffer, uint64_t offset_B,
                                                   uint64_t length_B, const void *data);
/* With a pattern of 1, 2 or 4 bytes; offset and length are multiples of that. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_fill(struct agx_buffer *buffer, uint64_t offset_B,
                                                  uint64_t length_B, const void *pattern,
                                                  uint32_t pattern_B);

/* ---- what it is --------------------------------------------------------- */

enum agx_buffer_state {
   AGX_BUFFER_LIVE = 0,
   AGX_BUFFER_RESERVED = 1, /* it has no memory yet, but an address (AGX_POOL_SOURCE_PAGES) */
   AGX_BUFFER_DEAD = 2,     /* it has none any more */
};

struct agx_buffer_info {
   uint32_t size;                         /* set by the caller */
   uint64_t size_B;                       /* as asked for */
   uint64_t address;                      /* on the GPU, for kernels that take addresses */
   uint32_t state;                        /* enum agx_buffer_state */
   uint32_t flags, memory, usage, access; /* what it has, of the enums above */
   uint32_t heap;                         /* index for agx_device_get_heaps */
   bool is_exportable;                    /* as a dma-buf */
   bool is_imported;
   uint64_t allocation_B; /* of the memory that it is in, whole pages */
   uint64_t offset_B;     /* in that memory */
   char label[32];
   uint64_t queues; /* of AGX_OP_ALLOCA: the bit of its queue; 0: any */
};
AGX_API void agx_buffer_get_info(struct agx_buffer *buffer, struct agx_buffer_info *out_info);

/* A part of a buffer. offset_B must be a multiple of 4 where it is bound to a kernel. */
struct agx_buffer_ref {
   struct agx_buffer *buffer;
   uint64_t offset_B;
   uint64_t length_B; /* AGX_WHOLE_LENGTH: to the end */
   /* In commands that are recorded: 1 + the slot of the binding table that the submission gives,
    * whose range this narrows; buffer is NULL then. 0: buffer says it all. */
   uint32_t table_slot;
   uint32_t reserved; /* 0; else AGX_INVALID_ARGUMENT */
};

#ifdef __cplusplus
}
#endif
