/* SPDX-License-Identifier: MIT
 *
 * Buffers whose memory comes and goes with the queue.
 *
 * Their address is known before they have memory. Who allocates behind work that was submitted
 * gets a block of the pool in agx_submit, and the block's address: nothing is left to do but to
 * say so when it launches. Who waits for what nobody has submitted, or finds the pool at its limit,
 * must not hold memory that others could use meanwhile: such a buffer gets addresses of its own,
 * where a block is bound when it launches.
 */
#pragma once

#include "hal/sync/op.h"
#include "hal/memory/pool.h"
#include "hal/record/resources.h"

struct agx_alloca {
   struct agx_buffer buffer; /* at offset 0; its state changes under the device's lock */
   struct agx_pool *pool;    /* retained */
   struct agx_queue *origin; /* where it was allocated */
   uint64_t align_B;
   /* Guarded by the device's lock, but for who allocates. */
   struct agx_pool_block *block; /* while it has memory */
   struct agx_buffer *slab;      /* what block is of: retained from then on */
   uint64_t slab_offset_B;
   bool is_indeterminate;        /* goes only with its last reference */
   struct agx_frontier last_use; /* by what was sent to the GPU */
   struct agx_alloca *next;      /* spare */
};

/* Objects without memory, kept to be used again. */
struct agx_alloca_spares {
   pthread_mutex_t lock;
   struct agx_alloca *first;
   uint32_t count;
};
void agx_alloca_spares_init(struct agx_alloca_spares *spares);
/* Frees them; alloc is the device's. */
void agx_alloca_spares_fini(struct agx_alloca_spares *spares, const struct agx_host_alloc *alloc);

extern const struct agx_op_type agx_alloca_op, agx_dealloca_op;

/* Both with the device's lock held, of what a command buffer uses: that all of it has memory, else
 * AGX_FAILED_PRECONDITION; and then that it is used on the queue up to the epoch. */
AGX_MUST_CHECK agx_status agx_allocas_check(const struct agx_resources *resources);
AGX_MUST_CHECK agx_status agx_allocas_use(const struct agx_resources *resources, uint32_t queue,
                                          uint64_t epoch);
/* What it was to be used by was refused; the queue has come to be given no more than epoch. */
void agx_allocas_unuse(const struct agx_resources *resources, uint32_t queue, uint64_t epoch);
