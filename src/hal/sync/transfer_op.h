/* SPDX-License-Identifier: MIT
 *
 * Operations of queues that are one command each: a dispatch, a fill, an update, a copy. Each is
 * recorded into a command buffer of the device's own, which is kept when the operation has ended.
 */
#pragma once

#include "hal/sync/one_shots.h"
#include "hal/sync/op.h"

/* Starts an empty set. */
void agx_one_shots_init(struct agx_one_shots *one_shots);
/* Releases the command buffers and ends the lock. */
void agx_one_shots_fini(struct agx_one_shots *one_shots);
/* Releases the command buffers that wait, for agx_device_trim. Takes the lock. */
void agx_one_shots_trim(struct agx_one_shots *one_shots);

extern const struct agx_op_type agx_dispatch_op, agx_fill_op, agx_copy_op, agx_update_op;
