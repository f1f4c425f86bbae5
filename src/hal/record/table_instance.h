/* SPDX-License-Identifier: MIT
 *
 * The instances of a command buffer with a binding table, as binding_table.c makes and finds them.
 */
#pragma once

#include "hal/record/command_buffer.h"

/* What a slot was, also when its buffer has gone. */
struct agx_table_slot {
   struct agx_buffer *buffer; /* retained while users */
   uint64_t serial, offset_B, length_B;
};

struct agx_table_instance {
   struct agx_table_instance *next;
   struct agx_command_buffer *commands; /* the instance */
   uint32_t users;                      /* submissions that are not over */
   bool is_recorded;
   bool is_emptied; /* its buffers are let go of just now, without the lock */
   uint32_t count;
   struct agx_table_slot slots[];
};

/* The size of an instance for a table of so many slots. */
static inline size_t agx_table_instance_B(uint32_t count)
{
   return sizeof(struct agx_table_instance) + count * sizeof(struct agx_table_slot);
}

/* Instances of an earlier recording count no more. */
void agx_table_instances_reset(struct agx_command_buffer *commands);
/* Lets go of all; no submission holds commands. */
void agx_table_instances_fini(struct agx_command_buffer *commands);
