/* SPDX-License-Identifier: MIT
 *
 * Command buffers of single commands that are kept to be used again (transfer_op.c).
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

struct agx_command_buffer;

/* Command buffers that wait to be used again. */
struct agx_one_shots {
   pthread_mutex_t lock;
   struct agx_command_buffer *spare; /* begun; by next_spare */
   uint32_t count;
};
