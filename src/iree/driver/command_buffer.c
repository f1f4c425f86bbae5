/* SPDX-License-Identifier: MIT
 *
 * Command buffers: recording, one command of the core for each of IREE's. A dispatch that takes
 * addresses has them in a table. Where all its buffers are known the table is written once; where
 * some are slots of the binding table, each submission brings a block with tables and push
 * constants (submission.c), which the dispatch finds in one slot more than IREE asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "command_buffer.h"

static const iree_hal_command_buffer_vtable_t vtable;

static struct agx_iree_command_buffer *cast(iree_hal_command_buffer_t *base)
{
   return (struct agx_iree_command_buffer *)base;
}

struct agx_iree_command_buffer *agx_iree_command_buffer_of(iree_hal_command_buffer_t *base)
{
   return iree_hal_resource_is(base, &vtable) ? cast(base) : NULL;
}

iree_status_t agx_iree_command_buffer_create(struct agx_iree_device *device,
                                             iree_hal_command_buffer_mode_t mode,
                                             iree_hal_command_category_t categories,
                                             iree_hal_queue_affinity_t affinity,
                                             iree_host_size_t binding_capacity,
                                             iree_hal_command_buffer_t **out_command_buffer)
{
   if (binding_capacity >= AGX_MAX_TABLE_SLOTS)
      return iree_make_status(IREE_STATUS_OUT_OF_RANGE,
                              "command buffer: %" PRIhsz " slots, at most %d", binding_capacity,
                              AGX_MAX_TABLE_SLOTS - 1);
   struct agx_iree_command_buffer *commands = NULL;
   const iree_host_size_t size =
      sizeof(*commands) + iree_hal_command_buffer_validation_state_size(mode, binding_capacity);
   IREE_RETURN_IF_ERROR(iree_allocator_malloc(device->host_allocator, size, (void **)&commands));
   memset(commands, 0, size);
   struct agx_command_buffer_desc desc = {
      .size = sizeof(desc),
      .table_slots = binding_capacity ? (uint32_t)binding_capacity + 1 : 0,
   };
   if (mode & IREE_HAL_COMMAND_BUFFER_MODE_ONE_SHOT)
      desc.flags |= AGX_COMMAND_BUFFER_ONE_SHOT;
   if (mode & IREE_HAL_COMMAND_BUFFER_MODE_UNVALIDATED)
      desc.flags |= AGX_COMMAND_BUFFER_UNCHECKED;
   if (mode & IREE_HAL_COMMAND_BUFFER_MODE_UNRETAINED)
      desc.flags |= AGX_COMMAND_BUFFER_UNRETAINED;
   const agx_status status = agx_command_buffer_create(device->core, &desc, &commands->core);
   if (status != AGX_OK) {
      iree_allocator_free(device->host_allocator, commands);
      return agx_iree_status(status);
   }
   iree_hal_command_buffer_initialize(device->allocator, mode, categories, affinity,
                                      binding_capacity, commands + 1, &vtable, &commands->base);
   commands->host_allocator = device->host_allocator;
   commands->device = device;
   iree_hal_device_retain((iree_hal_device_t *)device);
   commands->table_slots = desc.table_slots;
   commands->core_desc = desc;
   *out_command_buffer = &commands->base;
   return iree_ok_status();
}

static void command_buffer_destroy(iree_hal_command_buffer_t *base)
{
   struct agx_iree_command_buffer *commands = cast(base);
   const iree_allocator_t host_allocator = commands->host_allocator;
   agx_release(commands->core);
   agx_iree_kept_free(&commands->kept);
   agx_iree_notes_free(&commands->notes);
   agx_iree_collectives_free(&commands->collectives);
   for (uint32_t i = 0; i < commands->late_count; i++)
      iree_hal_executable_release(commands->late[i].executable);
   free(commands->late);
   free(commands->late_refs);
   free(commands->late_push);
   iree_hal_device_release((iree_hal_device_t *)commands->device);
   iree_allocator_free(host_allocator, commands);
}

static iree_status_t begin(iree_hal_command_buffer_t *base)
{
   struct agx_iree_command_buffer *commands = cast(base);
   if (commands->has_begun)
      return iree_make_status(IREE_STATUS_FAILED_PRECONDITION,
                              "command buffer: IREE's begin once; create another one");
   commands->has_begun = true;
   return agx_iree_status(agx_command_buffer_begin(commands->core));
}

static iree_status_t end(iree_hal_command_buffer_t *base)
{
   return agx_iree_status(agx_command_buffer_end(cast(base)->core));
}

static iree_status_t begin_debug_group(iree_hal_command_buffer_t *base, iree_string_view_t label,
                                       iree_hal_label_color_t color,
                                       const iree_hal_label_location_t *location)
{
   char text[AGX_NAME_BYTES];
   const size_t length = label.size < sizeof(text) ? label.size : sizeof(text) - 1;
   memcpy(text, label.data, length);
   text[length] = 0;
   const uint32_t rgba = (uint32_t)color.r << 24 | (uint32_t)color.g << 16 |
                         (uint32_t)color.b << 8 | (uint32_t)color.a;
   IREE_RETURN_IF_ERROR(agx_iree_status(agx_cmd_begin_label(cast(base)->core, text, rgba)));
   return agx_iree_collectives_push_label(&cast(base)->collectives, text, rgba);
}

static iree_status_t end_debug_group(iree_hal_command_buffer_t *base)
{
   agx_iree_collectives_pop_label(&cast(base)->collectives);
   return agx_iree_status(agx_cmd_end_label(cast(base)->core));
}

/* Profiles may begin after recording, so each command is noted. */
static iree_status_t note(iree_hal_command_buffer_t *base, uint32_t type, uint64_t length_B)
{
   const struct agx_iree_note noted = {.type = type, .length_B = length_B};
   return agx_iree_notes_add(&cast(base)->notes, &noted);
}

/* ---- order ----------------------------------------------------------------- */

/* The points at which a queue takes and ends commands lie before and behind all stages. */
static uint32_t stages_of(iree_hal_execution_stage_t stages)
{
   uint32_t result = 0;
   if (stages & (IREE_HAL_EXECUTION_STAGE_COMMAND_ISSUE | IREE_HAL_EXECUTION_STAGE_COMMAND_RETIRE))
      return 0;
   if (stages & IREE_HAL_EXECUTION_STAGE_COMMAND_PROCESS)
      result |= AGX_STAGE_ISSUE;
   if (stages & IREE_HAL_EXECUTION_STAGE_DISPATCH)
      result |= AGX_STAGE_DISPATCH;
   if (stages & IREE_HAL_EXECUTION_STAGE_TRANSFER)
      result |= AGX_STAGE_TRANSFER;
   if (stages & IREE_HAL_EXECUTION_STAGE_HOST)
      result |= AGX_STAGE_HOST;
   return result;
}

#define MAX_BARRIER_BUFFERS 32

struct barrier {
   struct agx_barrier core;
   struct agx_buffer *buffers[MAX_BARRIER_BUFFERS];
};

/* Several barriers at one place become one that orders what any of them does. Scopes have the same
 * bits on both sides. One with nothing in it orders all. */
static iree_status_t fill_barrier(iree_hal_execution_stage_t source,
                                  iree_hal_execution_stage_t target, iree_host_size_t memory_count,
                                  const iree_hal_memory_barrier_t *memory,
                                  iree_host_size_t buffer_count,
                                  const iree_hal_buffer_barrier_t *buffers, struct barrier *out)
{
   uint32_t source_scopes = 0, target_scopes = 0;
   out->core = (struct agx_barrier){
      .size = sizeof(out->core),
      .source_stages = stages_of(source),
      .target_stages = stages_of(target),
   };
   for (iree_host_size_t i = 0; i < memory_count; i++) {
      source_scopes |= memory[i].source_scope;
      target_scopes |= memory[i].target_scope;
   }
   bool is_whole = memory_count > 0 || buffer_count > MAX_BARRIER_BUFFERS;
   for (iree_host_size_t i = 0; i < buffer_count; i++) {
      source_scopes |= buffers[i].source_scope;
      target_scopes |= buffers[i].target_scope;
      if (is_whole || !buffers[i].buffer_ref.buffer) {
         is_whole = true;
         continue;
      }
      struct agx_buffer_ref ref;
      IREE_RETURN_IF_ERROR(agx_iree_ref(buffers[i].buffer_ref, &ref));
      out->buffers[i] = ref.buffer;
   }
   out->core.source_scopes = source_scopes;
   out->core.target_scopes = target_scopes;
   if (!is_whole) {
      out->core.buffer_count = (uint32_t)buffer_count;
      out->core.buffers = out->buffers;
   }
   return iree_ok_status();
}

static iree_status_t
execution_barrier(iree_hal_command_buffer_t *base, iree_hal_execution_stage_t source,
                  iree_hal_execution_stage_t target, iree_hal_execution_barrier_flags_t flags,
                  iree_host_size_t memory_count, const iree_hal_memory_barrier_t *memory,
                  iree_host_size_t buffer_count, const iree_hal_buffer_barrier_t *buffers)
{
   struct barrier barrier;
   IREE_RETURN_IF_ERROR(
      fill_barrier(source, target, memory_count, memory, buffer_count, buffers, &barrier));
   IREE_RETURN_IF_ERROR(note(base, IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_BARRIER, 0));
   cast(base)->collectives.is_open = false;
   return agx_iree_status(agx_cmd_barrier(cast(base)->core, &barrier.core));
}

static iree_status_t event(iree_hal_command_buffer_t *base, const iree_hal_event_t *iree_event,
                           uint32_t op, const struct agx_barrier *barrier)
{
   struct agx_event *core = agx_iree_event_core(iree_event);
   if (!core)
      return iree_make_status(IREE_STATUS_INVALID_ARGUMENT, "event: another driver's");
   IREE_RETURN_IF_ERROR(note(base, IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_BARRIER, 0));
   cast(base)->collectives.is_open = false;
   return agx_iree_status(agx_cmd_event(cast(base)->core, core, op, barrier));
}

static iree_status_t signal_event(iree_hal_command_buffer_t *base, iree_hal_event_t *iree_event,
                                  iree_hal_execution_stage_t source)
{
   return event(base, iree_event, AGX_EVENT_SIGNAL, NULL);
}

static iree_status_t reset_event(iree_hal_command_buffer_t *base, iree_hal_event_t *iree_event,
                                 iree_hal_execution_stage_t source)
{
   return event(base, iree_event, AGX_EVENT_RESET, NULL);
}

static iree_status_t wait_events(iree_hal_command_buffer_t *base, iree_host_size_t event_count,
                                 const iree_hal_event_t **events, iree_hal_execution_stage_t source,
                                 iree_hal_execution_stage_t target, iree_host_size_t memory_count,
                                 const iree_hal_memory_barrier_t *memory,
                                 iree_host_size_t buffer_count,
                                 const iree_hal_buffer_barrier_t *buffers)
{
   struct barrier barrier;
   IREE_RETURN_IF_ERROR(
      fill_barrier(source, target, memory_count, memory, buffer_count, buffers, &barrier));
   for (iree_host_size_t i = 0; i < event_count; i++) {
      IREE_RETURN_IF_ERROR(event(base, events[i], AGX_EVENT_WAIT, &barrier.core));
   }
   return iree_ok_status();
}

/* The core keeps what it is told of, but not the IREE object. */
static iree_status_t ref_of(iree_hal_command_buffer_t *base, iree_hal_buffer_ref_t ref,
                            struct agx_buffer_ref *out_ref)
{
   IREE_RETURN_IF_ERROR(agx_iree_kept_add_buffer(&cast(base)->kept, ref.buffer));
   return agx_iree_ref(ref, out_ref);
}

/* ---- transfers ------------------------------------------------------------- */

/* A hint that this device has no use for. */
static iree_status_t advise_buffer(iree_hal_command_buffer_t *base, iree_hal_buffer_ref_t ref,
                                   iree_hal_memory_advise_flags_t flags, uint64_t arg0,
                                   uint64_t arg1)
{
   return iree_ok_status();
}

static iree_status_t fill_buffer(iree_hal_command_buffer_t *base, iree_hal_buffer_ref_t target,
                                 const void *pattern, iree_host_size_t pattern_B,
                                 iree_hal_fill_flags_t flags)
{
   struct agx_buffer_ref ref;
   IREE_RETURN_IF_ERROR(ref_of(base, target, &ref));
   IREE_RETURN_IF_ERROR(note(base, IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_FILL, ref.length_B));
   return agx_iree_status(agx_cmd_fill(cast(base)->core, ref, pattern, (uint32_t)pattern_B));
}

static iree_status_t update_buffer(iree_hal_command_buffer_t *base, const void *source,
                                   iree_host_size_t source_offset_B, iree_hal_buffer_ref_t target,
                                   iree_hal_update_flags_t flags)
{
   struct agx_buffer_ref ref;
   IREE_RETURN_IF_ERROR(ref_of(base, target, &ref));
   IREE_RETURN_IF_ERROR(note(base, IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_UPDATE, ref.length_B));
   return agx_iree_status(
      agx_cmd_update(cast(base)->core, (const uint8_t *)source + source_offset_B, ref));
}

static iree_status_t copy_buffer(iree_hal_command_buffer_t *base, iree_hal_buffer_ref_t source,
                                 iree_hal_buffer_ref_t target, iree_hal_copy_flags_t flags)
{
   struct agx_buffer_ref from, to;
   IREE_RETURN_IF_ERROR(ref_of(base, source, &from));
   IREE_RETURN_IF_ERROR(ref_of(base, target, &to));
   IREE_RETURN_IF_ERROR(note(base, IREE_HAL_PROFILE_COMMAND_OPERATION_TYPE_COPY, to.length_B));
   return agx_iree_status(agx_cmd_copy(cast(base)->core, from, to));
}

static iree_status_t collective(iree_hal_command_buffer_t *base, iree_hal_channel_t *channel,
                                iree_hal_collective_op_t op, uint32_t param,
                                iree_hal_buffer_ref_t send, iree_hal_buffer_ref_t recv,
                                iree_device_size_t element_count)
{
   return agx_iree_collective_record(cast(base), channel, op, param, send, recv, element_count);
}

/* ---- dispatches ------------------------------------------------------------ */

static iree_status_t dispatch(iree_hal_command_buffer_t *base, iree_hal_executable_t *executable,
                              iree_hal_executable_function_t function,
                              const iree_hal_dispatch_config_t config,
                              iree_const_byte_span_t constants, iree_hal_buffer_ref_list_t bindings,
                              iree_hal_dispatch_flags_t flags)
{
   struct agx_iree_command_buffer *commands = cast(base);
   const struct agx_iree_entry *entry = NULL;
   IREE_RETURN_IF_ERROR(agx_iree_executable_entry(executable, function, &entry));
   struct agx_iree_dispatch dispatch;
   IREE_RETURN_IF_ERROR(
      agx_iree_dispatch_fill(entry, &config, constants, bindings, flags, &dispatch));
   for (iree_host_size_t i = 0; i < bindings.count; i++) {
      IREE_RETURN_IF_ERROR(agx_iree_kept_add_buffer(&commands->kept, bindings.values[i].buffer));
   }
   IREE_RETURN_IF_ERROR(
      agx_iree_kept_add_buffer(&commands->kept, config.workgroup_count_ref.buffer));
   if (agx_iree_dispatch_wants_table(entry, flags)) {
      IREE_RETURN_IF_ERROR(
         agx_iree_command_buffer_table(commands, executable, entry, bindings, &dispatch));
   }
   const struct agx_iree_note noted =
      agx_iree_note_of_dispatch(entry, &config, flags, (uint32_t)bindings.count);
   IREE_RETURN_IF_ERROR(agx_iree_notes_add(&commands->notes, &noted));
   return agx_iree_status(agx_cmd_dispatch(commands->core, &dispatch.core));
}

static const iree_hal_command_buffer_vtable_t vtable = {
   .destroy = command_buffer_destroy,
   .begin = begin,
   .end = end,
   .begin_debug_group = begin_debug_group,
   .end_debug_group = end_debug_group,
   .execution_barrier = execution_barrier,
   .signal_event = signal_event,
   .reset_event = reset_event,
   .wait_events = wait_events,
   .advise_buffer = advise_buffer,
   .fill_buffer = fill_buffer,
   .update_buffer = update_buffer,
   .copy_buffer = copy_buffer,
   .collective = collective,
   .dispatch = dispatch,
};
