/* SPDX-License-Identifier: MIT
 *
 * Chunks: pieces of GPU memory that command buffers are recorded into. They are cut from slabs of
 * the device, mapped for good, and go back to it when a command buffer is done with them: so
 * recording asks the kernel for nothing once there are enough of them. A new command buffer sees to
 * it that there are (the reserve); what a long recording takes beyond that comes in slabs of
 * doubling size.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "base/status.h"

struct agx_device;
struct agx_slab;

enum agx_chunk_size {
   AGX_CHUNK_SMALL, /* what a command buffer begins with: a page */
   AGX_CHUNK_LARGE, /* what it goes on with */
   AGX_CHUNK_SIZES,
};

#define AGX_CHUNK_LARGE_B (128u << 10)
/* Mapped bytes that must lie behind a stream and behind launch words, which are read ahead.
 * Source: docs/hw/cmdstream.md 1.3. */
#define AGX_CHUNK_PREFETCH_B 2048u

/* In the USC window; the GPU only reads it. Write-combining on hardware: write it in order, and
 * never read it. */
struct agx_chunk {
   struct agx_chunk *next;
   struct agx_slab *slab;
   uint8_t *memory;
   uint64_t va; /* a page's start */
   uint32_t usable_B;
};

/* Of one size. */
struct agx_chunk_list {
   struct agx_chunk *first; /* free ones */
   uint32_t free, total;
};

/* Embedded in the device. */
struct agx_chunks {
   pthread_mutex_t lock;
   struct agx_chunk_list lists[AGX_CHUNK_SIZES];
   struct agx_slab *slabs;
   uint32_t expected; /* command buffers that have not been recorded into yet */
};

/* Starts without slabs. */
void agx_chunks_init(struct agx_chunks *chunks);
/* All chunks must have been given back. */
void agx_chunks_fini(struct agx_device *device);

/* A command buffer will be recorded for the first time: has memory ready for some thousand
 * dispatches, for the first of those that are expected. That it can't be had is no failure. */
void agx_chunks_expect(struct agx_device *device);
/* It is, or never will be. */
void agx_chunks_expect_no_more(struct agx_device *device);

/* Takes a lock; memory, and requests, only when there is no free one. */
AGX_MUST_CHECK agx_status agx_chunk_acquire(struct agx_device *device, enum agx_chunk_size size,
                                            struct agx_chunk **out_chunk);
/* A list of them, or NULL. */
void agx_chunks_return(struct agx_device *device, struct agx_chunk *first);

/* Returns unused slabs to the system; how many bytes that were. */
uint64_t agx_chunks_trim(struct agx_device *device);
