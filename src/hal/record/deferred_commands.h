/* SPDX-License-Identifier: MIT
 *
 * What a command buffer with a binding table records: its commands as they were given, since only a
 * submission says what they are bound to. Replaying them records another command buffer; that
 * takes no longer than to copy and patch one would (docs/decisions/0018-binding-tables.md).
 */
#pragma once

#include "agx/command_buffer.h"
#include "agx/queue.h"
#include "base/alloc.h"

struct agx_deferred_block;
struct agx_deferred_command;

struct agx_deferred_commands {
   const struct agx_host_alloc *alloc;
   struct agx_deferred_block *blocks, *spare; /* spare: empty, for the next recording */
   struct agx_deferred_command *first, *last;
};

/* A table as a submission gives it. */
struct agx_table {
   const struct agx_buffer_ref *entries;
   uint32_t count;
};

/* Drops all commands; their memory stays for the next recording. */
void agx_deferred_commands_reset(struct agx_deferred_commands *deferred);
/* Drops all commands and frees their memory. */
void agx_deferred_commands_fini(struct agx_deferred_commands *deferred);

/* ---- Each agx_defer_* adds a command to the deferred ones of commands, and keeps what it names
 * alive. It checks that slots are in range; everything else is checked when the command is
 * replayed. AGX_RESOURCE_EXHAUSTED: out of host memory. ---- */

/* Adds a dispatch. */
AGX_MUST_CHECK agx_status agx_defer_dispatch(struct agx_command_buffer *commands,
                                             const struct agx_dispatch *dispatch);
/* Adds a draw. */
AGX_MUST_CHECK agx_status agx_defer_vertices(struct agx_command_buffer *commands,
                                             const struct agx_vertex_dispatch *draw);
/* Adds a fill. */
AGX_MUST_CHECK agx_status agx_defer_fill(struct agx_command_buffer *commands,
                                         const struct agx_buffer_ref *target, const void *pattern,
                                         uint32_t pattern_B);
/* Adds an update; its data is copied. */
AGX_MUST_CHECK agx_status agx_defer_update(struct agx_command_buffer *commands, const void *data,
                                           const struct agx_buffer_ref *target);
/* Adds a copy. */
AGX_MUST_CHECK agx_status agx_defer_copy(struct agx_command_buffer *commands,
                                         const struct agx_buffer_ref *source,
                                         const struct agx_buffer_ref *target);
/* Adds a barrier; NULL: of everything. */
AGX_MUST_CHECK agx_status agx_defer_barrier(struct agx_command_buffer *commands,
                                            const struct agx_barrier *barrier);
/* Adds an operation on an event. */
AGX_MUST_CHECK agx_status agx_defer_event(struct agx_command_buffer *commands,
                                          struct agx_event *event, uint32_t op,
                                          const struct agx_barrier *barrier);
/* Adds the beginning of a label; text is copied. */
AGX_MUST_CHECK agx_status agx_defer_begin_label(struct agx_command_buffer *commands,
                                                const char *text, uint32_t color);
/* Adds the end of a label. */
AGX_MUST_CHECK agx_status agx_defer_end_label(struct agx_command_buffer *commands);

/* Records all of it to target, between its begin and end, with what the table says. One thread at a
 * time. */
AGX_MUST_CHECK agx_status agx_deferred_commands_replay(struct agx_deferred_commands *deferred,
                                                       const struct agx_table *table,
                                                       struct agx_command_buffer *target);
