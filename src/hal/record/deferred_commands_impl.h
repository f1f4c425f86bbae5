/* SPDX-License-Identifier: MIT
 *
 * The inside of scripts, for those who write and those who replay them.
 */
#pragma once

#include "hal/record/deferred_commands.h"

enum agx_script_kind {
   AGX_SCRIPT_DISPATCH,
   AGX_SCRIPT_VERTICES,
   AGX_SCRIPT_FILL,
   AGX_SCRIPT_UPDATE,
   AGX_SCRIPT_COPY,
   AGX_SCRIPT_BARRIER,
   AGX_SCRIPT_EVENT,
   AGX_SCRIPT_BEGIN_LABEL,
   AGX_SCRIPT_END_LABEL,
};

/* Pointers lead into the script. resolved has the bindings as the table at hand makes them. */
struct agx_script_entry {
   struct agx_script_entry *next;
   enum agx_script_kind kind;
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
