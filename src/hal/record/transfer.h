/* SPDX-License-Identifier: MIT
 *
 * Fill, update and copy. Operations of queues that are one command are recorded into a command
 * buffer of the device's own each, which goes back when the operation has ended.
 */
#pragma once

#include <pthread.h>

#include "hal/sync/op.h"

/* Command buffers that wait to be used again; embedded in the device. */
struct agx_one_shots {
   pthread_mutex_t lock;
   struct agx_command_buffer *spare; /* begun; by next_spare */
   uint32_t count;
};

/* agx_cmd_update without its limit. */
AGX_MUST_CHECK agx_status agx_record_update(struct agx_command_buffer *commands, const void *data,
                                            struct agx_buffer_ref target);

void agx_one_shots_init(struct agx_one_shots *one_shots);
void agx_one_shots_fini(struct agx_one_shots *one_shots);
/* Lets go of those that wait, for agx_device_trim. */
void agx_one_shots_trim(struct agx_one_shots *one_shots);

extern const struct agx_op_type agx_dispatch_op, agx_fill_op, agx_copy_op, agx_update_op;
