/* SPDX-License-Identifier: MIT
 *
 * Operations of queues that are one command: each is recorded into a command buffer of the
 * device's own, which goes back when the operation has ended.
 */
#pragma once

#include <pthread.h>

#include "hal/op.h"

/* Command buffers that wait to be used again; embedded in the device. */
struct agx_one_shots {
   pthread_mutex_t lock;
   struct agx_command_buffer *spare; /* begun; by next_spare */
   uint32_t count;
};

void agx_one_shots_init(struct agx_one_shots *one_shots);
void agx_one_shots_fini(struct agx_one_shots *one_shots);

extern const struct agx_op_type agx_dispatch_op, agx_fill_op, agx_copy_op;
