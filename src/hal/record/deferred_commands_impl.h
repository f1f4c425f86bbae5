/* SPDX-License-Identifier: MIT
 *
 * What a deferred command looks like in memory, for command_defer.c, which writes them, and
 * command_replay.c, which replays them.
 */
#pragma once

#include "agx/command_buffer.h"
#include "agx/queue.h"
#include "hal/record/deferred_commands.h"
#include "hal/record/image_transfer_desc.h"

enum agx_deferred_kind {
   AGX_DEFERRED_DISPATCH,
   AGX_DEFERRED_VERTICES,
   AGX_DEFERRED_FILL,
   AGX_DEFERRED_UPDATE,
   AGX_DEFERRED_COPY,
   AGX_DEFERRED_IMAGE,     /* a transfer of one; the last of those that launch */
   AGX_DEFERRED_TIMESTAMP, /* of `transfer`: its target */
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
      struct agx_image_transfer image;
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

/* Room for that many bytes, 16-byte aligned. NULL: out of host memory. */
void *agx_deferred_take(struct agx_deferred_commands *deferred, size_t size_B);
/* Sets *out to a copy of so many bytes, or to NULL where there are none. False: out of host memory.
 */
bool agx_deferred_keep(struct agx_deferred_commands *deferred, const void *from, size_t size_B,
                       const void **out);
/* A command of zeros, which is not in the list yet. NULL: out of host memory. */
struct agx_deferred_command *agx_deferred_add(struct agx_deferred_commands *deferred,
                                              enum agx_deferred_kind kind);
/* Puts a command at the end of the list. */
void agx_deferred_append(struct agx_deferred_commands *deferred,
                         struct agx_deferred_command *entry);
