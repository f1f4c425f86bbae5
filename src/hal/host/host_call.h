/* SPDX-License-Identifier: MIT
 *
 * Calls of the application's functions. A call is an object of its own, because it may outlive
 * its submission: its function still runs after agx_host_call_finish, or after the signals
 * went ahead (AGX_HOST_CALL_NON_BLOCKING). Spare ones are kept for the next.
 */
#pragma once

#include <pthread.h>

#include "agx/host_call.h"
#include "base/alloc.h"
#include "base/list.h"

/* Of a device. */
struct agx_host_calls {
   pthread_mutex_t lock;
   struct agx_link spare;
};

/* Starts without spare calls. */
void agx_host_calls_init(struct agx_host_calls *calls);
/* Frees the spare calls; no other is left. */
void agx_host_calls_fini(struct agx_host_calls *calls, const struct agx_host_alloc *alloc);

struct agx_op_type;
extern const struct agx_op_type agx_host_call_op;
