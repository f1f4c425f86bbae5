/* SPDX-License-Identifier: MIT
 *
 * Command buffers from creation to the end of recording: agx_command_buffer_create, _begin and
 * _end, and what a command buffer owns. What sync/ calls later is in command_buffer.c.
 */
#include <stdio.h>

#include "base/debug.h"
#include "hal/core/desc.h"
#include "hal/record/bounds.h"
#include "hal/record/record.h"
#include "hal/record/table_instance.h"

/* ---- lifetime ---------------------------------------------------------- */

static void discard(struct agx_command_buffer *commands)
{
   agx_deferred_commands_reset(&commands->deferred);
   agx_table_instances_reset(commands);
   agx_resources_reset(&commands->resources);
   agx_bounds_forget(commands);
   commands->runs.count = commands->labels.count = commands->ranges.count = 0;
   commands->odd_commands.count = 0;
   commands->run = (struct agx_run){0};
   commands->aliased = (struct agx_use){0};
   commands->dispatch_count = commands->label_open = commands->scratch_B = 0;
   commands->stream_va = commands->stream_end_va = 0;
   commands->segments.count = commands->segment_firsts.count = commands->segment_first = 0;
   commands->segment_va = 0;
   agx_hazard_reset(&commands->hazards);
   agx_breadcrumb_reset(&commands->breadcrumb);
   atomic_store_explicit(&commands->submissions, 0, memory_order_relaxed);
}

static void command_buffer_destroy(struct agx_object *object)
{
   struct agx_command_buffer *commands =
      agx_container_of(object, struct agx_command_buffer, object);
   struct agx_device *device = commands->device;
   discard(commands);
   agx_table_instances_fini(commands);
   agx_deferred_commands_fini(&commands->deferred);
   pthread_mutex_destroy(&commands->instances_lock);
   agx_resources_fini(&commands->resources, agx_context_of(device)->alloc);
   agx_chunks_return(device, commands->first);
   if (commands->is_expected)
      agx_chunks_expect_no_more(device);
   agx_breadcrumb_return(device, &commands->breadcrumb);
   agx_vector_fini(&commands->runs, agx_context_of(device)->alloc, sizeof(struct agx_run));
   agx_vector_fini(&commands->odd_commands, agx_context_of(device)->alloc,
                   sizeof(struct agx_odd_command));
   agx_vector_fini(&commands->segments, agx_context_of(device)->alloc, sizeof(struct agxw_compute));
   agx_vector_fini(&commands->segment_firsts, agx_context_of(device)->alloc, sizeof(uint32_t));
   agx_vector_fini(&commands->labels, agx_context_of(device)->alloc, sizeof(struct agx_label_node));
   agx_vector_fini(&commands->ranges, agx_context_of(device)->alloc, sizeof(struct agx_kmd_range));
   bool is_own = commands->is_own;
   agx_host_free(agx_context_of(device)->alloc, commands, sizeof(*commands));
   if (!is_own)
      agx_release(device);
}

static void command_buffer_set_label(struct agx_object *object, const char *label)
{
   struct agx_command_buffer *commands =
      agx_container_of(object, struct agx_command_buffer, object);
   agx_label_write(commands->device, commands->label, sizeof(commands->label),
                   label ? label : "command buffer");
}

static const struct agx_object_type command_buffer_type = {"command buffer", command_buffer_destroy,
                                                           command_buffer_set_label};

static agx_status check_desc(const struct agx_command_buffer_desc *desc)
{
   const uint32_t known =
      AGX_COMMAND_BUFFER_ONE_SHOT | AGX_COMMAND_BUFFER_UNRETAINED | AGX_COMMAND_BUFFER_UNCHECKED;
   AGX_TRY(agx_bits_check("command buffer", "flags", desc->flags, known));
   if (desc->table_slots > AGX_MAX_TABLE_SLOTS)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "command buffer: a table of %u slots; the limit is %u",
                      desc->table_slots, AGX_MAX_TABLE_SLOTS);
   return AGX_OK;
}

static void init(struct agx_command_buffer *commands, struct agx_device *device,
                 const struct agx_command_buffer_desc *desc)
{
   agx_object_init(&commands->object, &command_buffer_type);
   agx_retain(device);
   commands->device = device;
   commands->flags = desc->flags;
   commands->table_slots = desc->table_slots;
   commands->deferred.alloc = agx_context_of(device)->alloc;
   pthread_mutex_init(&commands->instances_lock, NULL);
   commands->usc_base = agxw_device_info(agx_context_of(device)->winsys)->usc_base;
   commands->is_watched = agx_context_of(device)->debug & AGX_DEBUG_BOUNDS;
   agx_resources_init(&commands->resources);
   commands->resources.is_unretained = desc->flags & AGX_COMMAND_BUFFER_UNRETAINED;
   snprintf(commands->label, sizeof(commands->label), "%s",
            desc->label ? desc->label : "command buffer");
}

/* What recording would ask the kernel for, where that can be had now. */
static void prepare(struct agx_command_buffer *commands)
{
   if (commands->table_slots || !agxw_device_info(agx_context_of(commands->device)->winsys)->chip)
      return; /* its instances are recorded; there is no GPU */
   commands->is_expected = true;
   agx_chunks_expect(commands->device);
   (void)!agx_breadcrumb_acquire(commands->device, &commands->breadcrumb);
}

agx_status agx_command_buffer_create(struct agx_device *device,
                                     const struct agx_command_buffer_desc *desc,
                                     struct agx_command_buffer **out_commands)
{
   struct agx_command_buffer_desc read;
   *out_commands = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_desc_read("agx_command_buffer_desc", desc, &read, sizeof(read)));
   AGX_TRY(check_desc(&read));
   struct agx_command_buffer *commands =
      agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*commands));
   if (!commands)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "command buffer: out of host memory");
   init(commands, device, &read);
   prepare(commands);
   *out_commands = commands;
   return AGX_OK;
}

agx_status agx_command_buffer_begin(struct agx_command_buffer *commands)
{
   uint32_t in_flight = atomic_load(&commands->in_flight);
   AGX_TRY(agx_fork_check(commands));
   if (in_flight)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: begin while %u submissions are in flight",
                      commands->label, in_flight);
   discard(commands);
   struct agx_chunk *first = commands->first;
   if (first) { /* goes on with the one that it has */
      agx_chunks_return(commands->device, first->next);
      first->next = NULL;
      agx_record_open_chunk(commands, first);
      commands->segment_chunk = first;
   }
   commands->failed.status = AGX_OK;
   commands->state = AGX_RECORD_RECORDING;
   return AGX_OK;
}

/* ---- end --------------------------------------------------------------- */

/* Behind the last timestamp a command of its own, if there is anything. */
static agx_status close_segments(struct agx_command_buffer *commands)
{
   commands->stream_va = commands->first->va;
   return commands->dispatch_count == commands->segment_first
             ? AGX_OK
             : agx_record_end_segment(commands, NULL, 0);
}

/* The breadcrumb's words, of which the barrier is left out where nothing stands before it. */
static agx_status close_stream(struct agx_command_buffer *commands)
{
   const struct agx_breadcrumb *breadcrumb = &commands->breadcrumb;
   if (commands->segments.count)
      return close_segments(commands);
   if (!breadcrumb->page)
      AGX_TRY(agx_breadcrumb_acquire(commands->device, &commands->breadcrumb));
   AGX_TRY(agx_record_room(commands, breadcrumb->end_B, 0));
   uint32_t from = agx_hazard_has_launches(&commands->hazards) ? 0 : AGX_HW_CDM_BARRIER_BYTES;
   memcpy(commands->stream, breadcrumb->end + from, breadcrumb->end_B - from);
   commands->stream += breadcrumb->end_B - from;
   if (commands->last == commands->first)
      commands->stream_end_va = agx_record_stream_va(commands) - AGX_HW_CDM_STREAM_TERMINATE_BYTES;
   commands->stream_va = commands->first->va;
   return AGX_OK;
}

static agx_status check_labels(const struct agx_command_buffer *commands)
{
   const struct agx_label_node *nodes = commands->labels.items;
   if (!commands->label_open)
      return AGX_OK;
   if (commands->table_slots)
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "%s: %u labels are not ended; each agx_cmd_begin_label needs an "
                      "agx_cmd_end_label",
                      commands->label, commands->label_open);
   return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: the label \"%s\" is not ended", commands->label,
                   nodes[commands->label_open - 1].text);
}

agx_status agx_command_buffer_end(struct agx_command_buffer *commands)
{
   AGX_TRY(agx_record_check(commands, "end"));
   commands->state = AGX_RECORD_INITIAL;
   if (commands->failed.status != AGX_OK)
      return AGX_FAIL(commands->failed.status, "%s: an earlier recording call failed: %s",
                      commands->label, commands->failed.text);
   AGX_TRY(check_labels(commands));
   if ((commands->dispatch_count || commands->segments.count) && !commands->table_slots) {
      AGX_TRY(close_stream(commands));
      AGX_TRY(agx_bounds_declare(commands));
   }
   commands->state = AGX_RECORD_DONE;
   return AGX_OK;
}
