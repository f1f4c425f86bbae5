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

#include "hal/op.h"
#include "hal/pool.h"

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

extern const struct agx_op_type agx_alloca_op, agx_dealloca_op;

/* Where the host finds it, once it has memory. */
AGX_MUST_CHECK agx_status agx_alloca_host_memory(struct agx_buffer *buffer, void **out_memory);

/* Whether an object is a buffer of this kind. */
bool agx_object_is_alloca(const struct agx_object *object);

/* That work may use the buffer that goes to the GPU now and is over at the epoch; with the device's
 * lock held. Of any buffer; AGX_FAILED_PRECONDITION when its memory is not there. */
AGX_MUST_CHECK agx_status agx_alloca_use(struct agx_buffer *buffer, uint32_t queue, uint64_t epoch);
