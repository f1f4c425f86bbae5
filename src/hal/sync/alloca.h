/* SPDX-License-Identifier: MIT
 *
 * Buffers whose memory comes and goes with the queue.
 *
 * Their address is known before they have memory. An allocation behind work that was submitted
 * takes a block of the pool in agx_submit, and the block's address: its launch has nothing left to
 * do but to say so. An allocation that waits for what was not submitted yet, or finds the pool at
 * its limit, must not hold memory that other allocations could use meanwhile: its buffer gets
 * addresses of its own, where a block is bound when it launches.
 */
#pragma once

#include "hal/memory/pool.h"
#include "hal/record/resources.h"
#include "hal/sync/state.h"

struct agx_alloca {
   struct agx_buffer buffer; /* at offset 0; its state changes under the device's lock */
   struct agx_pool *pool;    /* retained */
   struct agx_queue *origin; /* where it was allocated */
   uint64_t align_B;
   /* Guarded by the device's lock, but before the allocation is submitted. */
   struct agx_pool_block *block; /* while it has memory */
   struct agx_buffer *slab;      /* what block is of: retained from then on */
   uint64_t slab_offset_B;
   bool is_indeterminate;        /* goes only with its last reference */
   struct agx_frontier last_use; /* by what was sent to the GPU */
   struct agx_alloca *next;      /* spare */
};

/* Whether the buffer has memory; an enum agx_buffer_state. */
static inline uint32_t agx_alloca_state(const struct agx_alloca *it)
{
   return atomic_load_explicit(&it->buffer.state, memory_order_acquire);
}

/* That all buffers of this kind in the set have memory; else AGX_FAILED_PRECONDITION. */
AGX_MUST_CHECK AGX_SYNC_LOCKED agx_status agx_allocas_check(const struct agx_resources *resources);

/* The same, and then they are in use on the queue up to the epoch. */
AGX_MUST_CHECK AGX_SYNC_LOCKED agx_status agx_allocas_use(const struct agx_resources *resources,
                                                          uint32_t queue, uint64_t epoch);

/* The kernel has refused what was to use them; the queue's last epoch is `epoch`. */
AGX_SYNC_LOCKED void agx_allocas_unuse(const struct agx_resources *resources, uint32_t queue,
                                       uint64_t epoch);

/* Starts an empty set. */
void agx_alloca_spares_init(struct agx_alloca_spares *spares);
/* Frees them; alloc is the device's. */
void agx_alloca_spares_fini(struct agx_alloca_spares *spares, const struct agx_host_alloc *alloc);

extern const struct agx_op_type agx_alloca_op, agx_dealloca_op;
