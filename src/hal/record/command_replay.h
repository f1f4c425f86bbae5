/* SPDX-License-Identifier: MIT
 *
 * Replaying deferred commands for the table of a submission.
 */
#pragma once

#include "agx/queue.h"
#include "base/status.h"

struct agx_deferred_commands;

/* A table as a submission gives it. */
struct agx_table {
   const struct agx_buffer_ref *entries;
   uint32_t count;
};

/* Records all deferred commands to target, between its begin and end, with what the table says. One
 * thread at a time. */
AGX_MUST_CHECK agx_status agx_deferred_commands_replay(const struct agx_deferred_commands *deferred,
                                                       const struct agx_table *table,
                                                       struct agx_command_buffer *target);
