/* SPDX-License-Identifier: MIT
 *
 * The host room's part of a device: its threads, and calls that are kept to be used again.
 */
#pragma once

#include "agx/host_call.h"
#include "hal/core/context.h"
#include "hal/host/host_pool.h"

/* Calls of the application's functions that are kept to be used again. */
struct agx_host_calls {
   pthread_mutex_t lock;
   struct agx_link spare;
};

struct agx_host_state {
   struct agx_host_pool *pool;
   struct agx_host_calls calls;
};

/* owner, an object that holds the device's allocator, is retained until the last thread has gone;
 * that may be after the device. AGX_RESOURCE_EXHAUSTED: no memory. */
AGX_MUST_CHECK agx_status agx_host_state_init(struct agx_device *device, void *owner);
/* Ends the threads; no job is left. */
void agx_host_state_fini(struct agx_device *device);

/* The host room's state of a device. */
static inline struct agx_host_state *agx_host_of(const struct agx_device *device)
{
   return agx_context_of(device)->host;
}

/* Starts without spare calls. */
void agx_host_calls_init(struct agx_host_calls *calls);
/* Frees the spare calls; no other is left. */
void agx_host_calls_fini(struct agx_host_calls *calls, const struct agx_host_alloc *alloc);

/* The kinds of operations that this room implements (host_call.c, file_op.c), for struct
 * agx_sync_hooks. */
struct agx_op_type;
extern const struct agx_op_type agx_host_call_op, agx_file_read_op, agx_file_write_op,
   agx_host_transfer_op;
