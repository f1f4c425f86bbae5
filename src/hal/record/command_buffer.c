/* SPDX-License-Identifier: MIT
 *
 * Command buffers from creation to end: their states, their chunks, and what closes a stream.
 */
#include "hal/record/command_buffer.h"

#include <stdio.h>

#include "base/debug.h"
#include "hal/record/binding_table.h"
#include "hal/core/desc.h"
#include "hal/record/record.h"

/* ---- chunks ------------------------------------------------------------ */

static void open_chunk(struct agx_command_buffer *commands, struct agx_chunk *chunk)
{
   commands->stream = chunk->memory;
   commands->blocks = chunk->memory + chunk->usable_B;
   commands->va_bias = chunk->va - (uintptr_t)chunk->memory;
   commands->last = chunk;
}

/* The GPU address of the next word. */
static uint64_t stream_va(const struct agx_command_buffer *commands)
{
   return (uintptr_t)commands->stream + commands->va_bias;
}

/* Words go behind the stream; there is room for them. */
static struct agx_hw_buffer open_words(const struct agx_command_buffer *commands)
{
   return (struct agx_hw_buffer){commands->stream, (size_t)(commands->blocks - commands->stream),
                                 0};
}

static agx_status link_to(struct agx_command_buffer *commands, const struct agx_chunk *chunk)
{
   struct agx_hw_buffer words = open_words(commands);
   if (commands->last == commands->first)
      commands->stream_end_va = stream_va(commands);
   return agx_hw_cdm_link(&words, chunk->va, false);
}

agx_status agx_record_next_chunk(struct agx_command_buffer *commands, uint64_t stream_B,
                                 uint64_t block_B)
{
   const uint64_t need_B = stream_B + block_B + AGX_RECORD_RESERVE_B;
   bool is_small = !commands->first && need_B <= AGX_PAGE_BYTES - AGX_CHUNK_PREFETCH_B;
   struct agx_chunk *chunk;
   if (need_B > AGX_CHUNK_LARGE_B - AGX_CHUNK_PREFETCH_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: a command of %llu bytes", commands->label,
                      (unsigned long long)need_B);
   AGX_TRY(agx_chunk_take(commands->device, is_small ? AGX_CHUNK_SMALL : AGX_CHUNK_LARGE, &chunk));
   if (commands->last) {
      commands->last->next = chunk;
      AGX_TRY(link_to(commands, chunk));
   } else {
      if (commands->is_expected)
         agx_chunks_expect_no_more(commands->device);
      commands->is_expected = false;
      commands->first = chunk;
   }
   open_chunk(commands, chunk);
   return AGX_OK;
}

/* ---- lifetime ---------------------------------------------------------- */

static void discard(struct agx_command_buffer *commands)
{
   agx_deferred_commands_reset(&commands->deferred);
   agx_table_reset(commands);
   agx_resources_reset(&commands->resources);
   agx_bounds_forget(commands);
   commands->runs.count = commands->labels.count = commands->ranges.count = 0;
   commands->run = (struct agx_run){0};
   commands->aliased = (struct agx_use){0};
   commands->dispatch_count = commands->label_open = 0;
   commands->stream_va = commands->stream_end_va = 0;
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
   agx_table_fini(commands);
   agx_deferred_commands_fini(&commands->deferred);
   pthread_mutex_destroy(&commands->instances_lock);
   agx_resources_fini(&commands->resources, agx_context_of(device)->alloc);
   agx_chunks_give(device, commands->first);
   if (commands->is_expected)
      agx_chunks_expect_no_more(device);
   agx_breadcrumb_return(device, &commands->breadcrumb);
   agx_vector_fini(&commands->runs, agx_context_of(device)->alloc, sizeof(struct agx_run));
   agx_vector_fini(&commands->labels, agx_context_of(device)->alloc, sizeof(struct agx_label_node));
   agx_vector_fini(&commands->ranges, agx_context_of(device)->alloc, sizeof(struct agx_kmd_range));
   bool is_own = commands->is_own;
   agx_host_free(agx_context_of(device)->alloc, commands, sizeof(*commands));
   if (!is_own)
      agx_release(device);
}

static const struct agx_object_type command_buffer_type = {"command buffer",
                                                           command_buffer_destroy};

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
      agx_chunks_give(commands->device, first->next);
      first->next = NULL;
      open_chunk(commands, first);
   }
   commands->failed = AGX_OK;
   commands->state = AGX_RECORD_RECORDING;
   return AGX_OK;
}

agx_status agx_record_refuse(const struct agx_command_buffer *commands, const char *what)
{
   AGX_TRY(agx_fork_check(commands));
   return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: %s outside begin and end", commands->label, what);
}

agx_status agx_record_fail(struct agx_command_buffer *commands, agx_status status)
{
   if (status != AGX_OK && commands->failed == AGX_OK)
      commands->failed = status;
   return status;
}

/* ---- end --------------------------------------------------------------- */

/* The breadcrumb's words, of which the barrier is left out where nothing stands before it. */
static agx_status close_stream(struct agx_command_buffer *commands)
{
   const struct agx_breadcrumb *breadcrumb = &commands->breadcrumb;
   if (!breadcrumb->page)
      AGX_TRY(agx_breadcrumb_acquire(commands->device, &commands->breadcrumb));
   AGX_TRY(agx_record_room(commands, breadcrumb->end_B, 0));
   uint32_t from = agx_hazard_has_launches(&commands->hazards) ? 0 : AGX_HW_CDM_BARRIER_BYTES;
   memcpy(commands->stream, breadcrumb->end + from, breadcrumb->end_B - from);
   commands->stream += breadcrumb->end_B - from;
   if (commands->last == commands->first)
      commands->stream_end_va = stream_va(commands) - AGX_HW_CDM_STREAM_TERMINATE_BYTES;
   commands->stream_va = commands->first->va;
   return AGX_OK;
}

static agx_status check_labels(const struct agx_command_buffer *commands)
{
   const struct agx_label_node *nodes = commands->labels.items;
   if (!commands->label_open)
      return AGX_OK;
   if (commands->table_slots)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: %u labels are not ended", commands->label,
                      commands->label_open);
   return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: the label \"%s\" is not ended", commands->label,
                   nodes[commands->label_open - 1].text);
}

agx_status agx_command_buffer_end(struct agx_command_buffer *commands)
{
   AGX_TRY(agx_record_check(commands, "end"));
   commands->state = AGX_RECORD_INITIAL;
   if (commands->failed != AGX_OK)
      return AGX_FAIL(commands->failed, "%s: an earlier recording call failed", commands->label);
   AGX_TRY(check_labels(commands));
   if (commands->dispatch_count && !commands->table_slots) {
      AGX_TRY(close_stream(commands));
      AGX_TRY(agx_bounds_declare(commands));
   }
   commands->state = AGX_RECORD_DONE;
   return AGX_OK;
}

/* ---- submission -------------------------------------------------------- */

const struct agx_breadcrumb *
agx_command_buffer_breadcrumb(const struct agx_command_buffer *commands)
{
   return commands->stream_va && !commands->is_watched ? &commands->breadcrumb : NULL;
}

agx_status agx_command_buffer_check_submit(const struct agx_command_buffer *commands,
                                           const struct agx_device *device)
{
   if (!commands)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: the command buffer is NULL");
   if (commands->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: %s is %s", commands->label,
                      agx_foreign(commands->device, device).text);
   if (commands->state != AGX_RECORD_DONE)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "submit: %s is not recorded to its end",
                      commands->label);
   return AGX_OK;
}

/* An instance is one of its base: that is what may be recorded anew, or is one-shot. */
agx_status agx_command_buffer_begin_flight(struct agx_command_buffer *commands)
{
   struct agx_command_buffer *counted = commands->base ? commands->base : commands;
   uint32_t others = atomic_fetch_add(&commands->in_flight, 1);
   if (others && agx_command_buffer_breadcrumb(commands))
      agx_breadcrumb_make_prologues(commands->device, &commands->breadcrumb, commands->stream_va);
   if (commands->base)
      atomic_fetch_add(&counted->in_flight, 1);
   uint32_t before = atomic_fetch_add(&counted->submissions, 1);
   if (!before || !(counted->flags & AGX_COMMAND_BUFFER_ONE_SHOT))
      return AGX_OK;
   agx_command_buffer_cancel_flight(commands);
   return AGX_FAIL(AGX_FAILED_PRECONDITION, "submit: %s is one-shot and was submitted already",
                   commands->label);
}

void agx_command_buffer_cancel_flight(struct agx_command_buffer *commands)
{
   atomic_fetch_sub(&(commands->base ? commands->base : commands)->submissions, 1);
   agx_command_buffer_end_flight(commands);
}

void agx_command_buffer_end_flight(struct agx_command_buffer *commands)
{
   if (commands->base)
      atomic_fetch_sub(&commands->base->in_flight, 1);
   atomic_fetch_sub(&commands->in_flight, 1);
}
