/* SPDX-License-Identifier: MIT
 *
 * Command buffers that are bound when they are submitted: each has instances, command buffers that
 * were recorded from its deferred commands for one table. A submission takes the instance of an
 * equal table, in flight or not, or records one anew that is idle.
 */
#pragma once

#include "hal/record/command_replay.h"

/* An instance for the table, with a reference, and kept from being recorded anew until
 * agx_table_return; what the table names is kept alive until then. */
AGX_MUST_CHECK agx_status agx_table_acquire(struct agx_command_buffer *commands,
                                            const struct agx_table *table,
                                            struct agx_command_buffer **out_instance);
/* The submission is over. */
void agx_table_return(struct agx_command_buffer *commands, struct agx_command_buffer *instance);
