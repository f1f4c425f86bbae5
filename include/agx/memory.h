/* SPDX-License-Identifier: MIT
 *
 * Memory: what there is, what comes from and goes to others, and address ranges whose memory
 * changes.
 */
#pragma once

#include "agx/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- heaps -------------------------------------------------------------- */

struct agx_heap {
   uint32_t memory;      /* enum agx_memory_type */
   uint32_t usage;       /* enum agx_buffer_usage, all that it can be used for */
   uint64_t max_size_B;  /* of one buffer */
   uint64_t min_align_B; /* of addresses, and what sizes are rounded up to */
   uint64_t size_B;      /* of the heap; all of them are parts of the machine's one memory */
};

/* Fills up to *count heaps (NULL: none), best first, and sets *count to how many there are. */
AGX_API AGX_MUST_CHECK agx_status agx_device_get_heaps(struct agx_device *device, uint32_t *count,
                                                       struct agx_heap *heaps);

enum agx_compat {
   AGX_COMPAT_ALLOCATE = 1,
   AGX_COMPAT_IMPORT = 2,
   AGX_COMPAT_EXPORT = 4,
   AGX_COMPAT_TRANSFER = 8,
   AGX_COMPAT_DISPATCH = 16,
   AGX_COMPAT_SLOW = 32, /* the host would read it uncached: ask for HOST_CACHED */
   /* Which kinds of external memory work (enum agx_external_kind), as the system is now. IMPORT
    * says that there is one, EXPORT the same as EXPORT_DMA_BUF. */
   AGX_COMPAT_IMPORT_DMA_BUF = 64,
   AGX_COMPAT_IMPORT_MEMFD = 128,
   AGX_COMPAT_IMPORT_HOST_POINTER = 256,
   AGX_COMPAT_EXPORT_DMA_BUF = 512,
   AGX_COMPAT_EXPORT_HOST_POINTER = 1024,
   AGX_COMPAT_EXPORT_ADDRESS = 2048,
};

/* What can be done with buffers like desc of *size_B bytes (enum agx_compat), 0: nothing. Fills in
 * what desc leaves open and what memory and usage bring with them, and rounds *size_B up to what
 * such a buffer takes. desc's own size_B is ignored on the way in, and is *size_B afterwards. */
AGX_API uint32_t agx_buffer_compat(struct agx_device *device, struct agx_buffer_desc *desc,
                                   uint64_t *size_B);

/* ---- how much ----------------------------------------------------------- */

struct agx_heap_stats {
   uint64_t allocated_B, freed_B; /* ever; whole pages */
   uint64_t used_B, peak_B;       /* by buffers and pools; not what is imported */
};

struct agx_memory_stats {
   uint32_t size;                      /* set by the caller */
   uint32_t pool_count;                /* the device's own among them */
   struct agx_heap_stats device;       /* all memory */
   struct agx_heap_stats host_visible; /* of that, what can be mapped */
   uint64_t cached_B;                  /* given back, and kept for the next buffers */
   uint64_t cache_hits, cache_misses;  /* buffers made of such memory, and of new one */
   uint64_t pools_reserved_B;          /* part of device.used_B */
   uint64_t pools_used_B;              /* of that, in buffers */
   uint64_t mapped_B;                  /* of the library's own memory, too, in this process */
   uint64_t limit_B;                   /* of agx_device_desc; 0: none */
};
AGX_API void agx_device_get_memory_stats(struct agx_device *device,
                                         struct agx_memory_stats *out_stats);

/* Gives back to the system what the device and its pools keep for later use. Nothing that is in
 * use changes; what comes next takes longer. */
AGX_API void agx_device_trim(struct agx_device *device);

/* ---- sharing ------------------------------------------------------------ */

enum agx_external_kind {
   /* fd: a dma-buf, of any device or process. */
   AGX_EXTERNAL_DMA_BUF = 1,
   /* fd: a memory file (memfd_create(2) with MFD_ALLOW_SEALING, sealed by F_SEAL_SHRINK, not
    * against writing), offset_B and size_B whole pages of it. Import only. */
   AGX_EXTERNAL_MEMFD = 2,
   /* pointer: host memory. Import: a shared, writable mapping of such a memory file whose
    * descriptor this process still has, whole pages of it, can be used for everything. Any other
    * memory of the host, of any address and size, can be imported without the usage bits of
    * AGX_USAGE_DISPATCH and SHARING_EXPORT: the GPU doesn't reach it, so operations that fill,
    * update or copy it (AGX_OP_FILL, ...) and those of files run on a thread of the library, in
    * the order of their semaphores. Recorded commands refuse it by name; its address is that of no
    * memory. */
   AGX_EXTERNAL_HOST_POINTER = 3,
   /* address: on this device's GPU. Export only. */
   AGX_EXTERNAL_ADDRESS = 4,
};

struct agx_external {
   uint32_t size;
   uint32_t kind; /* enum agx_external_kind */
   int32_t fd;
   void *pointer;
   uint64_t address;
   uint64_t offset_B; /* of the buffer in the dma-buf or memory file, a multiple of 16 */
   uint64_t size_B;   /* of the buffer; 0 on import: desc's, else of a dma-buf all from offset_B */
};

/* Runs once when an imported buffer and all views of it are gone and the GPU can't reach the memory
 * any more; on any thread, without locks; not when the import failed. */
struct agx_release_callback {
   void (*run)(void *user); /* NULL: none */
   void *user;
};

/* A buffer over memory that other code made, which is not copied. Descriptors stay the caller's
 * and may be closed; a dma-buf lives as long as it has a user; the mapping behind a HOST_POINTER
 * must stay until the callback. desc (may be NULL) gives flags, label, usage and access; memory is
 * what it is.
 * AGX_INVALID_ARGUMENT: no such thing as external says; AGX_OUT_OF_RANGE: offset or size don't fit;
 * AGX_UNAVAILABLE: the memory can't be had, with the reason (no /dev/udmabuf, anonymous memory, not
 * whole pages, ...): this kernel interface can't give the GPU just any host memory. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_import(struct agx_device *device,
                                                    const struct agx_buffer_desc *desc,
                                                    const struct agx_external *external,
                                                    struct agx_release_callback callback,
                                                    struct agx_buffer **out_buffer);

/* Fills out_external (its size set by the caller). A dma-buf's descriptor is a new one, closed on
 * exec, that the caller closes; it is of the whole memory that the buffer is in, at offset_B:
 * a buffer out of a pool shows the pool's neighbours too. AGX_FAILED_PRECONDITION for one without
 * AGX_USAGE_SHARING_EXPORT. Pointers and addresses are good as long as the buffer. */
AGX_API AGX_MUST_CHECK agx_status agx_buffer_export(struct agx_buffer *buffer, uint32_t kind,
                                                    struct agx_external *out_external);

/* ---- virtual memory ----------------------------------------------------- */

/* Addresses and memory apart: a reserved buffer keeps its address while pages are bound to parts of
 * it and taken away. What is bound changes at once, not in the order of queues: the caller waits
 * (semaphores) until the GPU is done with what was there. A kernel that reads where nothing is
 * bound gets zeros or fails, one that writes there is ignored or fails, as the device does with
 * unmapped addresses. The host has no view of such a buffer: agx_pages_map. */

/* Physical memory without an address. */
struct agx_pages;

/* Sizes and offsets below are multiples of *out_min_B; *out_best_B is what is best. */
AGX_API void agx_vmem_granularity(struct agx_device *device, uint64_t *out_min_B,
                                  uint64_t *out_best_B);

/* A buffer of addresses, with nothing bound (desc: size_B above 0, align_B, usage, label). Its
 * memory goes back when it goes. */
AGX_API AGX_MUST_CHECK agx_status agx_vmem_reserve(struct agx_device *device,
                                                   const struct agx_buffer_desc *desc,
                                                   struct agx_buffer **out_buffer);

/* Memory, zeroed (desc: size_B above 0, rounded up; flags, memory, usage, label). It counts, and is
 * refused, as a buffer's. */
AGX_API AGX_MUST_CHECK agx_status agx_pages_create(struct agx_device *device,
                                                   const struct agx_buffer_desc *desc,
                                                   struct agx_pages **out_pages);
/* All of it in host memory, as agx_buffer_map. */
AGX_API AGX_MUST_CHECK agx_status agx_pages_map(struct agx_pages *pages, void **out_memory);

/* Binds pages, which stay alive while they are, in place of what was there; the same ones may be
 * bound in several places. protection: AGX_ACCESS_READ, AGX_ACCESS_WRITE, or 0: not to be reached
 * until agx_vmem_protect. pages may be NULL: takes away what is there, if anything. On failure
 * nothing changed. AGX_INVALID_ARGUMENT: not of agx_vmem_reserve, no whole pages, pages of another
 * device; AGX_OUT_OF_RANGE: beyond the end of either. */
AGX_API AGX_MUST_CHECK agx_status agx_vmem_bind(struct agx_buffer *buffer, uint64_t offset_B,
                                                struct agx_pages *pages, uint64_t pages_offset_B,
                                                uint64_t size_B, uint32_t protection);

/* Changes what kernels may do. AGX_FAILED_PRECONDITION where part of the range has nothing bound.
 * When the kernel fails in the middle, what was there before is put back. */
AGX_API AGX_MUST_CHECK agx_status agx_vmem_protect(struct agx_buffer *buffer, uint64_t offset_B,
                                                   uint64_t size_B, uint32_t protection);

enum agx_advice {
   AGX_ADVICE_WILL_NEED = 1,
   AGX_ADVICE_DONT_NEED = 2,
};
/* Hints, which this device has no use for; contents stay. AGX_INVALID_ARGUMENT for others, and, as
 * above, for what is not of agx_vmem_reserve or no whole pages; AGX_OUT_OF_RANGE beyond its end. */
AGX_API AGX_MUST_CHECK agx_status agx_vmem_advise(struct agx_buffer *buffer, uint64_t offset_B,
                                                  uint64_t size_B, uint32_t advice);

#ifdef __cplusplus
}
#endif
