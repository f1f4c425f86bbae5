/* SPDX-License-Identifier: MIT
 *
 * The operations that allocate and free buffers in the order of the queues.
 */
#pragma once

#include "hal/sync/alloca_use.h"

/* Starts an empty set. */
void agx_alloca_spares_init(struct agx_alloca_spares *spares);
/* Frees them; alloc is the device's. */
void agx_alloca_spares_fini(struct agx_alloca_spares *spares, const struct agx_host_alloc *alloc);

extern const struct agx_op_type agx_alloca_op, agx_dealloca_op;
