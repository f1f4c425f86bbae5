/* SPDX-License-Identifier: MIT
 *
 * Adding to the deferred commands of a command buffer with a binding table. Each function keeps
 * alive what the command names. It checks that slots are in range; everything else is checked when
 * the command is replayed. AGX_RESOURCE_EXHAUSTED: out of host memory.
 */
#pragma once

#include "agx/command_buffer.h"
#include "base/status.h"

struct agx_image_transfer;

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
/* Adds a timestamp. */
AGX_MUST_CHECK agx_status agx_defer_timestamp(struct agx_command_buffer *commands,
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
/* Adds a clear or copy of an image. */
AGX_MUST_CHECK agx_status agx_defer_image_transfer(struct agx_command_buffer *commands,
                                                   const struct agx_image_transfer *transfer);
