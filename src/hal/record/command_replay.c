/* SPDX-License-Identifier: MIT
 *
 * Replays deferred commands into another command buffer, with the slots of a table in place of what
 * they left open.
 */
#include "hal/record/command_replay.h"

#include "base/util.h"
#include "hal/record/deferred_commands_impl.h"
#include "hal/record/record.h"
#include "hal/record/transfer.h"

/* The entry's range, narrowed by what was recorded. */
static agx_status resolve(const struct agx_table *table, const struct agx_buffer_ref *given,
                          struct agx_buffer_ref *out)
{
   const struct agx_buffer_ref recorded = *given; /* *out may be the same */
   *out = recorded;
   AGX_TRY(agx_ref_check_placed(given, "buffer"));
   if (!recorded.table_slot)
      return AGX_OK;
   const uint32_t slot = recorded.table_slot - 1;
   if (slot >= table->count)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "slot %u of a table of %u", slot, table->count);
   const struct agx_buffer_ref *entry = &table->entries[slot];
   *out = (struct agx_buffer_ref){0};
   if (!entry->buffer)
      return AGX_OK; /* nothing is bound, where that is allowed */
   const uint64_t size_B = entry->buffer->size_B;
   uint64_t length_B = entry->length_B;
   if (length_B == AGX_WHOLE_LENGTH && entry->offset_B <= size_B)
      length_B = size_B - entry->offset_B;
   if (!agx_range_fits(entry->offset_B, length_B, size_B))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "slot %u: offset %llu, length %llu in %s of %llu bytes",
                      slot, (unsigned long long)entry->offset_B, (unsigned long long)length_B,
                      entry->buffer->label, (unsigned long long)size_B);
   uint64_t wanted_B = recorded.length_B;
   if (wanted_B == AGX_WHOLE_LENGTH && recorded.offset_B <= length_B)
      wanted_B = length_B - recorded.offset_B;
   if (!agx_range_fits(recorded.offset_B, wanted_B, length_B))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "slot %u: offset %llu, length %llu of its %llu bytes", slot,
                      (unsigned long long)recorded.offset_B, (unsigned long long)wanted_B,
                      (unsigned long long)length_B);
   *out = (struct agx_buffer_ref){.buffer = entry->buffer,
                                  .offset_B = entry->offset_B + recorded.offset_B,
                                  .length_B = wanted_B};
   return AGX_OK;
}

static agx_status resolve_bindings(const struct agx_table *table,
                                   const struct agx_binding *bindings, uint32_t count,
                                   struct agx_binding *resolved)
{
   for (uint32_t i = 0; i < count; i++)
      if (bindings[i].ref.table_slot)
         AGX_TRY(resolve(table, &bindings[i].ref, &resolved[i].ref));
   return AGX_OK;
}

/* Without a buffer the dispatch would be a direct one. */
static agx_status resolve_parameter(const struct agx_table *table, const char *what,
                                    struct agx_buffer_ref *ref)
{
   const uint32_t slot = ref->table_slot;
   AGX_TRY(resolve(table, ref, ref));
   if (slot && !ref->buffer)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "slot %u: no buffer for indirect %s", slot - 1, what);
   return AGX_OK;
}

static agx_status replay_dispatch(struct agx_deferred_command *entry, const struct agx_table *table,
                                  struct agx_command_buffer *target)
{
   struct agx_dispatch command = entry->u.dispatch.command;
   AGX_TRY(
      resolve_bindings(table, command.bindings, command.binding_count, entry->u.dispatch.resolved));
   AGX_TRY(resolve_parameter(table, "counts", &command.counts));
   AGX_TRY(resolve_parameter(table, "arguments", &command.arguments));
   command.bindings = entry->u.dispatch.resolved;
   return agx_cmd_dispatch(target, &command);
}

static agx_status replay_vertices(struct agx_deferred_command *entry, const struct agx_table *table,
                                  struct agx_command_buffer *target)
{
   struct agx_vertex_dispatch command = entry->u.vertices.command;
   AGX_TRY(
      resolve_bindings(table, command.bindings, command.binding_count, entry->u.vertices.resolved));
   AGX_TRY(resolve(table, &command.indices, &command.indices));
   for (uint32_t i = 0; i < command.vertex_buffer_count; i++)
      AGX_TRY(resolve(table, &command.vertex_buffers[i].ref,
                      &entry->u.vertices.resolved_buffers[i].ref));
   for (uint32_t i = 0; i < command.feedback_count; i++)
      AGX_TRY(resolve(table, &command.feedback[i], &entry->u.vertices.resolved_feedback[i]));
   command.bindings = entry->u.vertices.resolved;
   command.vertex_buffers = entry->u.vertices.resolved_buffers;
   command.feedback = entry->u.vertices.resolved_feedback;
   return agx_cmd_dispatch_vertices(target, &command);
}

static agx_status replay_transfer(const struct agx_deferred_command *entry,
                                  const struct agx_table *table, struct agx_command_buffer *target)
{
   struct agx_buffer_ref from, to;
   AGX_TRY(resolve(table, &entry->u.transfer.target, &to));
   AGX_TRY(resolve(table, &entry->u.transfer.source, &from));
   if (entry->kind == AGX_DEFERRED_TIMESTAMP)
      return agx_cmd_timestamp(target, to);
   if (entry->kind == AGX_DEFERRED_FILL)
      return agx_cmd_fill(target, to, entry->u.transfer.bytes, entry->u.transfer.pattern_B);
   if (entry->kind == AGX_DEFERRED_UPDATE)
      return agx_cmd_update(target, entry->u.transfer.bytes, to);
   return agx_cmd_copy(target, from, to);
}

static agx_status replay_image(const struct agx_deferred_command *entry,
                               const struct agx_table *table, struct agx_command_buffer *target)
{
   struct agx_image_transfer transfer = entry->u.image;
   AGX_TRY(resolve(table, &transfer.texels.ref, &transfer.texels.ref));
   return agx_record_image_transfer(target, &transfer);
}

static const struct agx_barrier *barrier_of(const struct agx_deferred_command *entry)
{
   return entry->u.order.is_given ? &entry->u.order.command : NULL;
}

static agx_status replay_one(struct agx_deferred_command *entry, const struct agx_table *table,
                             struct agx_command_buffer *target)
{
   switch (entry->kind) {
   case AGX_DEFERRED_DISPATCH:
      return replay_dispatch(entry, table, target);
   case AGX_DEFERRED_VERTICES:
      return replay_vertices(entry, table, target);
   case AGX_DEFERRED_IMAGE:
      return replay_image(entry, table, target);
   case AGX_DEFERRED_BARRIER:
      return agx_cmd_barrier(target, barrier_of(entry));
   case AGX_DEFERRED_EVENT:
      return agx_cmd_event(target, entry->u.order.event, entry->u.order.op, barrier_of(entry));
   case AGX_DEFERRED_BEGIN_LABEL:
      return agx_cmd_begin_label(target, entry->u.label.text, entry->u.label.color);
   case AGX_DEFERRED_END_LABEL:
      return agx_cmd_end_label(target);
   default:
      return replay_transfer(entry, table, target);
   }
}

agx_status agx_deferred_commands_replay(const struct agx_deferred_commands *deferred,
                                        const struct agx_table *table,
                                        struct agx_command_buffer *target)
{
   uint32_t number = 0;
   for (struct agx_deferred_command *entry = deferred->first; entry;
        entry = entry->next, number++) {
      agx_status status = replay_one(entry, table, target);
      if (status != AGX_OK) {
         agx_error_prefix("%s: command %u", target->label, number);
         return status;
      }
   }
   return AGX_OK;
}
