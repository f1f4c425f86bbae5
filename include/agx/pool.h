/* SPDX-License-Identifier: MIT
 *
 * Pools: buffers out of larger pieces of memory.
 */
#pragma once

#include "agx/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

enum agx_pool_strategy {
   AGX_POOL_VARIABLE = 0,    /* any size, in units of 256 bytes; little is lost between buffers */
   AGX_POOL_FIXED = 1,       /* blocks of one size */
   AGX_POOL_PASSTHROUGH = 2, /* each buffer is memory of its own */
   AGX_POOL_CALLER = 3,      /* blocks that a source of the application's gives */
};

#define AGX_MAX_QUEUES 8 /* of a device */

/* An epoch for each queue of a device: n stands for the end of the queue's n-th work on the GPU.
 * Zeros: nothing is left to wait for. */
struct agx_frontier {
   uint64_t epochs[AGX_MAX_QUEUES];
};

/* How far the queues have come, as far as the library has noticed. */
AGX_API void agx_device_get_frontier(struct agx_device *device, struct agx_frontier *out_reached);

/* ---- blocks of the application's ------------------------------------------- */

#define AGX_NO_QUEUE UINT32_MAX /* the host's order, not a queue's */

/* What a source is asked for. Its memory is the source's to read during the call. */
struct agx_pool_request {
   uint32_t size;                      /* of this structure, as the library knows it */
   uint32_t queue;                     /* whose operation asks; AGX_NO_QUEUE: agx_pool_allocate */
   uint64_t size_B, align_B;           /* at least; both > 0, align_B of the address on the GPU */
   const struct agx_frontier *covered; /* what is waited for before the block is used, anyhow */
   bool may_wait;                      /* for more than that */
   char *reason;                       /* "": takes a sentence of reason_B bytes on a failure */
   size_t reason_B;
};

/* A block. */
struct agx_pool_grant {
   struct agx_buffer *buffer; /* that it lies in, which the library retains */
   uint64_t offset_B;
   struct agx_frontier death; /* its last use, to be waited for on the GPU; of no later work than
                               * the library has named */
   uint64_t own[4];           /* the source's */
};

enum agx_pool_source_flags {
   /* Blocks may be whole pages, at multiples of pages. So an operation that finds no block, or has
    * to wait for what is not submitted yet, gives its buffer an address of its own at once; it asks
    * for pages when its turn has come, and shows them there. Without it such a buffer has no
    * address until then. */
   AGX_POOL_SOURCE_PAGES = 1,
};

/* Where the blocks of AGX_POOL_CALLER come from. The functions are called from any thread, several
 * at once, without any lock of the library. They may use the library, but must not wait for work,
 * nor call agx_pool_notify with a lock held that they take themselves. */
struct agx_pool_source {
   uint32_t size;
   uint32_t flags; /* enum agx_pool_source_flags */
   void *user;
   /* Fills *grant, which is zeros. Its buffer is one of agx_buffer_create or of a pool, with the
    * memory, usage and access that the pool's description says, and may be larger; may_wait false:
    * death is covered. AGX_DEFERRED: it has no block now; agx_pool_notify will tell, and it is
    * asked again then, and whenever work has ended on the GPU. Any other status fails the
    * operation. What the library can't use is released at once, and the operation fails. */
   agx_status (*acquire)(void *user, const struct agx_pool_request *request,
                         struct agx_pool_grant *grant);
   /* Once for each block: it may be used again after death (which is zeros, or what is not over
    * yet). queue: of the operation that gave it back; AGX_NO_QUEUE: it went with its last
    * reference, or was not used. */
   void (*release)(void *user, const struct agx_pool_grant *grant, uint32_t queue,
                   const struct agx_frontier *death);
   /* The pool has gone, and all its blocks before; may be NULL. */
   void (*destroy)(void *user);
};

/* ---- pools ----------------------------------------------------------------- */

struct agx_pool_desc {
   uint32_t size;
   const void *next;
   uint32_t strategy; /* enum agx_pool_strategy */
   uint32_t flags;    /* enum agx_buffer_flags, of all its memory */
   uint64_t slab_B;   /* what it takes from the device at a time, up to 2^37; 0: 32 MiB */
   uint64_t block_B;  /* of AGX_POOL_FIXED, rounded up to pages; else 0 */
   uint64_t limit_B;  /* most that it takes from the device; 0: what the device has */
   const char *label; /* for messages and captures; NULL: "pool" */
   /* As in struct agx_buffer_desc; AGX_USAGE_SHARING_EXPORT with AGX_POOL_PASSTHROUGH only. */
   uint32_t memory, usage, access;
   const struct agx_pool_source *source; /* of AGX_POOL_CALLER, copied; else NULL */
};

/* A pool; its first memory is taken with its first buffer. Buffers keep their pool alive. Any
 * thread. When it fails, the source's destroy is not called. */
AGX_API AGX_MUST_CHECK agx_status agx_pool_create(struct agx_device *device,
                                                  const struct agx_pool_desc *desc,
                                                  struct agx_pool **out_pool);

/* A buffer of size_B bytes whose address is a multiple of align_B, a power of two up to the
 * device's page (0: 256). One of 0 bytes has an address too. Its contents are undefined. Its memory
 * goes back with its last reference. AGX_INVALID_ARGUMENT: more than a block or 2^37, no such
 * alignment;
 * AGX_RESOURCE_EXHAUSTED when the pool is at its limit or the device has no more; of
 * AGX_POOL_CALLER what the source says. */
AGX_API AGX_MUST_CHECK agx_status agx_pool_allocate(struct agx_pool *pool, uint64_t size_B,
                                                    uint64_t align_B,
                                                    struct agx_buffer **out_buffer);

/* Gives memory that no buffer is in back to the device. What a source has is its own. */
AGX_API void agx_pool_trim(struct agx_pool *pool);

/* A source may have blocks again: operations that wait for one ask it, in this call too. Any
 * thread, the source's functions included. */
AGX_API void agx_pool_notify(struct agx_pool *pool);

struct agx_pool_stats {
   uint32_t size; /* set by the caller */
   uint32_t slab_count;
   uint64_t reserved_B; /* taken from the device; not by sources */
   uint64_t used_B;     /* in buffers, rounded up as the strategy does */
   uint64_t busy_B;     /* given back, but its last user may not be over yet */
   uint64_t peak_reserved_B, peak_used_B;
   uint64_t allocations; /* so far */
   uint64_t reuses;      /* of these, of memory counted in busy_B */
};
AGX_API void agx_pool_get_stats(struct agx_pool *pool, struct agx_pool_stats *out_stats);

#ifdef __cplusplus
}
#endif
