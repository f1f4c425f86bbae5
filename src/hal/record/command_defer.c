/* SPDX-License-Identifier: MIT
 *
 * Adds to the deferred commands of a command buffer that has a binding table, with copies of all
 * that a command points to. The agx_cmd_* functions call this; command_replay.c reads what it adds.
 */
#include "hal/record/command_defer.h"

#include <string.h>

#include "hal/core/desc.h"
#include "hal/record/deferred_commands_impl.h"
#include "hal/record/indirect.h"
#include "hal/record/record.h"

static agx_status commit(struct agx_command_buffer *commands, struct agx_deferred_command *entry)
{
   agx_deferred_append(&commands->deferred, entry);
   commands->dispatch_count += entry->kind <= AGX_DEFERRED_IMAGE;
   return AGX_OK;
}

/* ---- what is kept --------------------------------------------------------- */

static agx_status keep_object(struct agx_command_buffer *commands, void *object)
{
   return !object || agx_record_use(commands, object) ? AGX_OK : agx_record_no_memory(commands);
}

static agx_status keep_ref(struct agx_command_buffer *commands, const struct agx_buffer_ref *ref)
{
   if (ref->table_slot > commands->table_slots)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: slot %u of a table of %u", commands->label,
                      ref->table_slot - 1, commands->table_slots);
   if (ref->table_slot && ref->buffer)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: slot %u, and a buffer", commands->label,
                      ref->table_slot - 1);
   return keep_object(commands, ref->buffer);
}

static bool keep_text(struct agx_deferred_commands *deferred, const char **text)
{
   return !*text || agx_deferred_keep(deferred, *text, strlen(*text) + 1, (const void **)text);
}

/* *bindings becomes a copy, and *out_resolved room for as many. */
static agx_status keep_bindings(struct agx_command_buffer *commands,
                                const struct agx_binding **bindings, uint32_t count,
                                struct agx_binding **out_resolved)
{
   struct agx_deferred_commands *deferred = &commands->deferred;
   if (count > AGX_MAX_TABLE_BINDINGS || (count && !*bindings))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %u bindings at %p; at most %u", commands->label,
                      count, (const void *)*bindings, AGX_MAX_TABLE_BINDINGS);
   struct agx_binding *copies = agx_deferred_take(deferred, count * sizeof(*copies));
   *out_resolved = agx_deferred_take(deferred, count * sizeof(*copies));
   if (!copies || !*out_resolved)
      return agx_record_no_memory(commands);
   for (uint32_t i = 0; i < count; i++) {
      struct agx_binding *copy = &copies[i];
      *copy = (*bindings)[i];
      if (!keep_text(deferred, &copy->format) || !keep_text(deferred, &copy->swizzle))
         return agx_record_no_memory(commands);
      AGX_TRY(keep_ref(commands, &copy->ref));
      AGX_TRY(keep_object(commands, copy->image));
      AGX_TRY(keep_object(commands, copy->sampler));
      (*out_resolved)[i] = *copy;
   }
   *bindings = copies;
   return AGX_OK;
}

/* ---- commands ------------------------------------------------------------- */

agx_status agx_defer_dispatch(struct agx_command_buffer *commands,
                              const struct agx_dispatch *dispatch)
{
   AGX_TRY(agx_record_check(commands, "dispatch"));
   AGX_TRY(agx_executable_check(dispatch->executable, commands->device));
   if (dispatch->heap_count)
      return AGX_FAIL(
         AGX_UNIMPLEMENTED,
         "%s: dispatch of %s takes descriptors from a heap, in a command buffer that was "
         "made with table_slots: make it without",
         commands->label, dispatch->executable->program->name);
   struct agx_deferred_command *entry =
      agx_deferred_add(&commands->deferred, AGX_DEFERRED_DISPATCH);
   if (!entry)
      return agx_record_no_memory(commands);
   struct agx_dispatch *copy = &entry->u.dispatch.command;
   *copy = *dispatch;
   copy->size = sizeof(*copy); /* the caller's may be larger */
   if (dispatch->push_B > AGX_MAX_PUSH_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "dispatch of %s: %u bytes of push constants; the limit is %u",
                      dispatch->executable->program->name, dispatch->push_B, AGX_MAX_PUSH_B);
   if (agx_ref_is_set(&dispatch->arguments))
      copy->push = NULL; /* not read */
   if (!agx_deferred_keep(&commands->deferred, copy->push, dispatch->push_B, &copy->push))
      return agx_record_no_memory(commands);
   AGX_TRY(keep_object(commands, dispatch->executable));
   AGX_TRY(keep_ref(commands, &dispatch->counts));
   AGX_TRY(keep_ref(commands, &dispatch->arguments));
   AGX_TRY(
      keep_bindings(commands, &copy->bindings, copy->binding_count, &entry->u.dispatch.resolved));
   return commit(commands, entry);
}

static agx_status keep_refs(struct agx_command_buffer *commands, const struct agx_buffer_ref **refs,
                            uint32_t count, struct agx_buffer_ref **out_resolved)
{
   const void *copy = NULL, *resolved = NULL;
   if (count > AGX_MAX_TABLE_BINDINGS || (count && !*refs))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %u feedback buffers at %p", commands->label, count,
                      (const void *)*refs);
   if (!agx_deferred_keep(&commands->deferred, *refs, count * sizeof(**refs), &copy) ||
       !agx_deferred_keep(&commands->deferred, *refs, count * sizeof(**refs), &resolved))
      return agx_record_no_memory(commands);
   *refs = copy;
   *out_resolved = (struct agx_buffer_ref *)(uintptr_t)resolved;
   for (uint32_t i = 0; i < count; i++)
      AGX_TRY(keep_ref(commands, &(*refs)[i]));
   return AGX_OK;
}

static agx_status keep_vertex_buffers(struct agx_command_buffer *commands,
                                      struct agx_deferred_command *entry)
{
   struct agx_vertex_dispatch *copy = &entry->u.vertices.command;
   const size_t bytes = copy->vertex_buffer_count * sizeof(*copy->vertex_buffers);
   const void *buffers = NULL, *resolved = NULL;
   if (copy->vertex_buffer_count > AGX_MAX_TABLE_BINDINGS ||
       (copy->vertex_buffer_count && !copy->vertex_buffers))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: %u vertex buffers at %p", commands->label,
                      copy->vertex_buffer_count, (const void *)copy->vertex_buffers);
   if (!agx_deferred_keep(&commands->deferred, copy->vertex_buffers, bytes, &buffers) ||
       !agx_deferred_keep(&commands->deferred, copy->vertex_buffers, bytes, &resolved))
      return agx_record_no_memory(commands);
   copy->vertex_buffers = buffers;
   entry->u.vertices.resolved_buffers = (struct agx_vertex_buffer *)(uintptr_t)resolved;
   for (uint32_t i = 0; i < copy->vertex_buffer_count; i++)
      AGX_TRY(keep_ref(commands, &copy->vertex_buffers[i].ref));
   return AGX_OK;
}

agx_status agx_defer_vertices(struct agx_command_buffer *commands,
                              const struct agx_vertex_dispatch *draw)
{
   AGX_TRY(agx_record_check(commands, "dispatch"));
   AGX_TRY(agx_executable_check(draw->executable, commands->device));
   struct agx_deferred_command *entry =
      agx_deferred_add(&commands->deferred, AGX_DEFERRED_VERTICES);
   if (!entry)
      return agx_record_no_memory(commands);
   struct agx_vertex_dispatch *copy = &entry->u.vertices.command;
   *copy = *draw;
   copy->size = sizeof(*copy);
   if (draw->push_B > AGX_MAX_PUSH_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "dispatch of %s: %u bytes of push constants; the limit is %u",
                      draw->executable->program->name, draw->push_B, AGX_MAX_PUSH_B);
   if (!agx_deferred_keep(&commands->deferred, draw->push, draw->push_B, &copy->push))
      return agx_record_no_memory(commands);
   AGX_TRY(keep_object(commands, draw->executable));
   AGX_TRY(keep_ref(commands, &draw->indices));
   AGX_TRY(
      keep_bindings(commands, &copy->bindings, copy->binding_count, &entry->u.vertices.resolved));
   AGX_TRY(keep_vertex_buffers(commands, entry));
   AGX_TRY(keep_refs(commands, &copy->feedback, copy->feedback_count,
                     &entry->u.vertices.resolved_feedback));
   return commit(commands, entry);
}

static agx_status log_transfer(struct agx_command_buffer *commands, enum agx_deferred_kind kind,
                               const struct agx_buffer_ref *source,
                               const struct agx_buffer_ref *target, const void *bytes,
                               uint64_t bytes_B)
{
   struct agx_deferred_command *entry = agx_deferred_add(&commands->deferred, kind);
   if (!entry || !agx_deferred_keep(&commands->deferred, bytes, bytes_B, &entry->u.transfer.bytes))
      return agx_record_no_memory(commands);
   AGX_TRY(keep_ref(commands, target));
   entry->u.transfer.target = *target;
   entry->u.transfer.pattern_B = kind == AGX_DEFERRED_FILL ? (uint32_t)bytes_B : 0;
   if (source) {
      AGX_TRY(keep_ref(commands, source));
      entry->u.transfer.source = *source;
   }
   return commit(commands, entry);
}

agx_status agx_defer_fill(struct agx_command_buffer *commands, const struct agx_buffer_ref *target,
                          const void *pattern, uint32_t pattern_B)
{
   AGX_TRY(agx_record_check(commands, "fill"));
   if (!pattern || (pattern_B != 1 && pattern_B != 2 && pattern_B != 4))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "fill: a pattern of %u bytes at %p; it takes 1, 2 or 4",
                      pattern_B, pattern);
   return log_transfer(commands, AGX_DEFERRED_FILL, NULL, target, pattern, pattern_B);
}

/* How much of an update is there must be known now. */
agx_status agx_defer_update(struct agx_command_buffer *commands, const void *data,
                            const struct agx_buffer_ref *target)
{
   AGX_TRY(agx_record_check(commands, "update"));
   if (target->length_B > AGX_MAX_UPDATE_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "update: %llu bytes; the limit is %u in a command buffer",
                      (unsigned long long)target->length_B, AGX_MAX_UPDATE_B);
   if (target->length_B && !data)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "update: %llu bytes at NULL",
                      (unsigned long long)target->length_B);
   return log_transfer(commands, AGX_DEFERRED_UPDATE, NULL, target, data, target->length_B);
}

agx_status agx_defer_copy(struct agx_command_buffer *commands, const struct agx_buffer_ref *source,
                          const struct agx_buffer_ref *target)
{
   AGX_TRY(agx_record_check(commands, "copy"));
   return log_transfer(commands, AGX_DEFERRED_COPY, source, target, NULL, 0);
}

agx_status agx_defer_timestamp(struct agx_command_buffer *commands,
                               const struct agx_buffer_ref *target)
{
   AGX_TRY(agx_record_check(commands, "timestamp"));
   return log_transfer(commands, AGX_DEFERRED_TIMESTAMP, NULL, target, NULL, 0);
}

agx_status agx_defer_image_transfer(struct agx_command_buffer *commands,
                                    const struct agx_image_transfer *transfer)
{
   AGX_TRY(agx_record_check(commands, "image transfer"));
   struct agx_deferred_command *entry = agx_deferred_add(&commands->deferred, AGX_DEFERRED_IMAGE);
   if (!entry)
      return agx_record_no_memory(commands);
   AGX_TRY(keep_object(commands, transfer->source));
   AGX_TRY(keep_object(commands, transfer->target));
   AGX_TRY(keep_ref(commands, &transfer->texels.ref));
   entry->u.image = *transfer;
   return commit(commands, entry);
}

static agx_status log_order(struct agx_command_buffer *commands, struct agx_deferred_command *entry,
                            const struct agx_barrier *barrier)
{
   if (!entry)
      return agx_record_no_memory(commands);
   entry->u.order.is_given = barrier;
   if (!barrier)
      return commit(commands, entry);
   struct agx_barrier *copy = &entry->u.order.command;
   AGX_TRY(agx_desc_read("agx_barrier", barrier, copy, sizeof(*copy)));
   copy->size = sizeof(*copy);
   const void *buffers = NULL;
   if (copy->buffer_count > AGX_MAX_TABLE_BINDINGS || (copy->buffer_count && !copy->buffers))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: barrier: %u buffers at %p; at most %u",
                      commands->label, copy->buffer_count, (const void *)copy->buffers,
                      AGX_MAX_TABLE_BINDINGS);
   if (!agx_deferred_keep(&commands->deferred, copy->buffers,
                          copy->buffer_count * sizeof(*copy->buffers), &buffers))
      return agx_record_no_memory(commands);
   copy->buffers = buffers;
   for (uint32_t i = 0; i < copy->buffer_count; i++)
      AGX_TRY(keep_object(commands, copy->buffers[i]));
   return commit(commands, entry);
}

agx_status agx_defer_barrier(struct agx_command_buffer *commands, const struct agx_barrier *barrier)
{
   AGX_TRY(agx_record_check(commands, "barrier"));
   return log_order(commands, agx_deferred_add(&commands->deferred, AGX_DEFERRED_BARRIER), barrier);
}

agx_status agx_defer_event(struct agx_command_buffer *commands, struct agx_event *event,
                           uint32_t op, const struct agx_barrier *barrier)
{
   AGX_TRY(agx_record_check(commands, "event"));
   struct agx_deferred_command *entry = agx_deferred_add(&commands->deferred, AGX_DEFERRED_EVENT);
   AGX_TRY(keep_object(commands, event));
   if (entry) {
      entry->u.order.event = event;
      entry->u.order.op = op;
   }
   return log_order(commands, entry, barrier);
}

agx_status agx_defer_begin_label(struct agx_command_buffer *commands, const char *text,
                                 uint32_t color)
{
   AGX_TRY(agx_record_check(commands, "label"));
   struct agx_deferred_command *entry =
      agx_deferred_add(&commands->deferred, AGX_DEFERRED_BEGIN_LABEL);
   if (!entry)
      return agx_record_no_memory(commands);
   entry->u.label.text = text;
   entry->u.label.color = color;
   if (!keep_text(&commands->deferred, &entry->u.label.text))
      return agx_record_no_memory(commands);
   commands->label_open++;
   return commit(commands, entry);
}

agx_status agx_defer_end_label(struct agx_command_buffer *commands)
{
   AGX_TRY(agx_record_check(commands, "label"));
   if (!commands->label_open)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: the end of a label that was not begun",
                      commands->label);
   struct agx_deferred_command *entry =
      agx_deferred_add(&commands->deferred, AGX_DEFERRED_END_LABEL);
   if (!entry)
      return agx_record_no_memory(commands);
   commands->label_open--;
   return commit(commands, entry);
}
