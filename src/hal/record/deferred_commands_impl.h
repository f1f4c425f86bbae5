/* SPDX-License-Identifier: MIT
 *
 * What a deferred command looks like in memory, for deferred_commands.c, which writes them, and
 * command_replay.c, which replays them.
 */
#pragma once

#include "hal/record/deferred_commands.h"

enum agx_deferred_kind {
   AGX_DEFERRED_DISPATCH,
   AGX_DEFERRED_VERTICES,
   AGX_DEFERRED_FILL,
   AGX_DEFERRED_UPDATE,
   AGX_DEFERRED_COPY,
   AGX_DEFERRED_BARRIER,
   AGX_DEFERRED_EVENT,
   AGX_DEFERRED_BEGIN_LABEL,
   AGX_DEFERRED_END_LABEL,
};

/* Pointers lead into the list's own blocks. resolved has the bindings as the table at hand makes
 * them. */
struct agx_deferred_command {
   struct agx_deferred_command *next;
   enum agx_deferred_kind kind;
   union {
      struct {
         struct agx_dispatch command;
         struct agx_binding *resolved;
      } dispatch;
      struct {
         struct agx_vertex_dispatch command;
         struct agx_binding *resolved;
         struct agx_vertex_buffer *resolved_buffers;
         struct agx_buffer_ref *resolved_feedback;
      } vertices;
      struct {
         struct agx_buffer_ref source, target; /* source: of a copy */
         const void *bytes;                    /* a pattern, or an update's */
         uint32_t pattern_B;
      } transfer;
      struct {
         struct agx_barrier command;
         bool is_given;
         struct agx_event *event;
         uint32_t op;
      } order;
      struct {
         const char *text;
         uint32_t color;
      } label;
   } u;
};
