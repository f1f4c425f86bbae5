/* SPDX-License-Identifier: MIT
 *
 * Recording: a dispatch becomes a segment that holds the executable, the buffers, and the
 * contents of its uniform registers. Blocks come from the device's pool.
 */
#include "hal/command_buffer.h"

#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "hal/bind_array.h"
#include "hal/bind_buffer.h"
#include "hal/desc.h"
#include "hal/vertex.h"

/* Source: reference/cmdstream, cdm.md 1.1. */
static const uint32_t max_workgroups[3] = {0x7fffffff, 65535, 65535};

/* ---- lifetime --------------------------------------------------------- */

static void release_segments(struct agx_command_buffer *commands)
{
   agx_record_for_each (segment, commands->first) {
      agx_release(segment->executable);
      for (uint32_t i = 0; i < segment->object_count; i++)
         agx_release(segment->objects[i]);
   }
   agx_device_return_blocks(commands->device, commands->first);
   agx_bounds_forget(commands);
   commands->first = commands->last = NULL;
   commands->stream_va = 0;
   commands->launches = 0;
   commands->is_tag_ambiguous = false;
}

static void command_buffer_destroy(struct agx_object *object)
{
   struct agx_command_buffer *commands =
      agx_container_of(object, struct agx_command_buffer, object);
   struct agx_device *device = commands->device;
   release_segments(commands);
   if (commands->words)
      agxw_bo_destroy(commands->words);
   if (commands->data)
      agxw_bo_destroy(commands->data);
   agx_tag_give(device, &commands->tag);
   bool is_own = commands->is_own;
   agx_host_free(device->alloc, commands, sizeof(*commands));
   if (!is_own)
      agx_release(device);
}

static const struct agx_object_type command_buffer_type = {"command buffer",
                                                           command_buffer_destroy};

agx_status agx_command_buffer_create(struct agx_device *device,
                                     const struct agx_command_buffer_desc *desc,
                                     struct agx_command_buffer **out_commands)
{
   struct agx_command_buffer_desc read;
   *out_commands = NULL;
   AGX_TRY(agx_desc_read("agx_command_buffer_desc", desc, &read, sizeof(read)));
   if (read.flags)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "command buffer: unknown flags 0x%x", read.flags);
   struct agx_command_buffer *commands = agx_host_zalloc(device->alloc, sizeof(*commands));
   if (!commands)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "command buffer: out of host memory");
   agx_object_init(&commands->object, &command_buffer_type);
   agx_retain(device);
   commands->device = device;
   snprintf(commands->label, sizeof(commands->label), "%s",
            read.label ? read.label : "command buffer");
   *out_commands = commands;
   return AGX_OK;
}

agx_status agx_command_buffer_begin(struct agx_command_buffer *commands)
{
   uint32_t in_flight = atomic_load(&commands->in_flight);
   if (in_flight)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: begin while %u submissions are in flight",
                      commands->label, in_flight);
   release_segments(commands);
   if (commands->tag.count)
      atomic_store_explicit(commands->tag.count, 0, memory_order_relaxed);
   commands->failed = AGX_OK;
   commands->state = AGX_RECORD_RECORDING;
   return AGX_OK;
}

agx_status agx_command_buffer_end(struct agx_command_buffer *commands)
{
   if (commands->state != AGX_RECORD_RECORDING)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: end without begin", commands->label);
   commands->state = AGX_RECORD_INITIAL;
   if (commands->failed != AGX_OK)
      return AGX_FAIL(commands->failed, "%s: an earlier recording call failed", commands->label);
   AGX_TRY(agx_command_buffer_encode(commands));
   AGX_TRY(agx_bounds_tell(commands));
   commands->state = AGX_RECORD_DONE;
   return AGX_OK;
}

_Atomic uint32_t *agx_command_buffer_tag(const struct agx_command_buffer *commands)
{
   return commands->stream_va ? commands->tag.count : NULL;
}

agx_status agx_command_buffer_check_submit(const struct agx_command_buffer *commands,
                                           const struct agx_device *device)
{
   if (!commands)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: the command buffer is NULL");
   if (commands->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "submit: %s is of another device", commands->label);
   if (commands->state != AGX_RECORD_DONE)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "submit: %s is not recorded to its end",
                      commands->label);
   return AGX_OK;
}

/* ---- recording -------------------------------------------------------- */

/* Room for a segment of total_B bytes; the caller commits it by agx_commit. */
static struct agx_segment *reserve(struct agx_command_buffer *commands, size_t total_B)
{
   struct agx_record_block *block = commands->last;
   if (!block || total_B > sizeof(block->data) - block->used) {
      if (total_B > sizeof(block->data))
         return NULL;
      block = agx_device_take_block(commands->device);
      if (!block)
         return NULL;
      if (commands->last)
         commands->last->next = block;
      else
         commands->first = block;
      commands->last = block;
   }
   struct agx_segment *segment = (struct agx_segment *)(block->data + block->used);
   segment->total_B = (uint32_t)total_B;
   return segment;
}

static void commit(struct agx_command_buffer *commands, const struct agx_segment *segment)
{
   commands->last->used += segment->total_B;
}

static agx_status check_grid(const struct agx_program *program, const uint32_t workgroups[3],
                             uint32_t out_threads[3])
{
   for (unsigned i = 0; i < 3; i++) {
      uint64_t threads = (uint64_t)workgroups[i] * program->local_size[i];
      if (workgroups[i] > max_workgroups[i] || threads > UINT32_MAX)
         return AGX_FAIL(AGX_OUT_OF_RANGE,
                         "dispatch of %s: %u workgroups of %u threads in dimension %u",
                         program->name, workgroups[i], program->local_size[i], i);
      out_threads[i] = (uint32_t)threads;
   }
   return AGX_OK;
}

static agx_status check_dispatch(const struct agx_command_buffer *commands,
                                 const struct agx_dispatch *dispatch)
{
   const struct agx_executable *executable = dispatch->executable;
   if (commands->state != AGX_RECORD_RECORDING)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "%s: dispatch outside begin and end",
                      commands->label);
   if (!executable)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch: the executable is NULL");
   if (executable->device != commands->device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: an executable of another device",
                      executable->program->name);
   if (dispatch->push_B < executable->program->push_B || dispatch->push_B > AGX_MAX_PUSH_B ||
       (dispatch->push_B && !dispatch->push))
      return AGX_FAIL(
         AGX_INVALID_ARGUMENT, "dispatch of %s: %u bytes of push constants; it takes %u to %u",
         executable->program->name, dispatch->push_B, executable->program->push_B, AGX_MAX_PUSH_B);
   if (dispatch->binding_count && !dispatch->bindings)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: %u bindings at NULL",
                      executable->program->name, dispatch->binding_count);
   return AGX_OK;
}

/* What one slot of the uniform registers holds in this dispatch. */
static agx_status write_uniform(const struct agx_binder *binder,
                                const struct agx_program_uniform *slot, uint8_t *uniforms)
{
   const struct agx_program *program = binder->program;
   const struct agx_dispatch *dispatch = binder->dispatch;
   const struct agx_vertex_dispatch *draw = binder->draw;
   const struct agx_bound *bound = binder->bound;
   struct agx_bound element;
   uint8_t *at = uniforms + slot->start * 2u;
   size_t bytes = slot->halves * 2u;
   uint64_t value = slot->value;
   switch (slot->kind) {
   case AGX_UNIFORM_PUSH: {
      size_t given = slot->index < dispatch->push_B ? dispatch->push_B - slot->index : 0;
      size_t copied = AGX_MIN(bytes, given);
      memset(at, 0, bytes);
      if (copied)
         memcpy(at, (const uint8_t *)dispatch->push + slot->index, copied);
      return AGX_OK;
   }
   case AGX_UNIFORM_BUFFER_ADDRESS:
      value += bound[slot->index].address;
      break;
   case AGX_UNIFORM_BUFFER_SIZE:
      value = AGX_MIN(bound[slot->index].length_B, (uint64_t)UINT32_MAX);
      break;
   case AGX_UNIFORM_BUFFER_COUNT:
   case AGX_UNIFORM_BUFFER_LAST:
   case AGX_UNIFORM_BUFFER_SINK:
   case AGX_UNIFORM_BUFFER_GUARD:
      AGX_TRY(agx_bound_limit(program, slot, &bound[slot->index], &value));
      break;
   case AGX_UNIFORM_IMAGE:
      AGX_TRY(agx_binder_element(binder, slot->index,
                                 (uint32_t)(slot->value >> AGX_IMAGE_ELEMENT_SHIFT), &element));
      value = agx_bound_property(
         &element, (enum agx_image_property)(slot->value & ((1u << AGX_IMAGE_ELEMENT_SHIFT) - 1)));
      break;
   case AGX_UNIFORM_HEAP: /* agx_binder_heap */
      return AGX_OK;
   case AGX_UNIFORM_WORKGROUP_COUNT:
      value = dispatch->workgroups[slot->index];
      break;
   case AGX_UNIFORM_DRAW:
      value = agx_vertex_value(program, draw, (enum agx_draw_value)slot->index);
      break;
   default: /* AGX_UNIFORM_CONSTANT */
      break;
   }
   memcpy(at, &value, AGX_MIN(bytes, sizeof(value)));
   return AGX_OK;
}

/* The code that this dispatch needs: without checks, where it can be seen to stay inside. */
static struct agx_executable *choose_executable(const struct agx_dispatch *dispatch,
                                                const struct agx_bound *bound)
{
   struct agx_executable *executable = dispatch->executable;
   const struct agx_program *program = executable->program;
   uint64_t sizes_B[AGX_PROGRAM_MAX_BINDINGS];
   if (!executable->inside)
      return executable;
   for (uint32_t i = 0; i < program->binding_count; i++)
      sizes_B[i] = agx_binding_is_buffer(program->bindings[i].kind) ? bound[i].length_B : 0;
   struct agx_program_launch launch = {
      .push = dispatch->push, .push_B = dispatch->push_B, .sizes_B = sizes_B};
   memcpy(launch.workgroups, dispatch->workgroups, sizeof(launch.workgroups));
   return agx_program_runs_inside(program, &launch) ? executable->inside : executable;
}

/* draw NULL: a compute kernel. */
static agx_status record_dispatch(struct agx_command_buffer *commands,
                                  const struct agx_dispatch *dispatch,
                                  const struct agx_vertex_dispatch *draw)
{
   AGX_TRY(check_dispatch(commands, dispatch));
   AGX_TRY(agx_vertex_check(dispatch->executable->program, draw));
   struct agx_executable *executable = dispatch->executable;
   const struct agx_program *program = executable->program;
   struct agx_binder binder;
   uint32_t threads[3];
   if (draw)
      memcpy(threads, (uint32_t[3]){draw->vertex_count, draw->instance_count, 1}, sizeof(threads));
   else
      AGX_TRY(check_grid(program, dispatch->workgroups, threads));
   AGX_TRY(agx_binder_init(&binder, commands->device, program, dispatch, draw));
   executable = choose_executable(dispatch, binder.bound);
   program = executable->program;
   agx_binder_run(&binder, program);
   uint32_t object_count = binder.object_count;
   uint32_t ranges = agx_bounds_capacity(executable, binder.element_count);
   size_t total_B = agx_align_up(sizeof(struct agx_segment) + object_count * sizeof(void *), 16) +
                    agx_align_up(executable->uniform_B, 16) +
                    agx_align_up(agx_executable_state_B(executable), 16) +
                    agx_align_up(binder.heap_B, 16) +
                    agx_align_up(ranges * sizeof(struct agx_kmd_range), 16);
   if (total_B > AGX_RECORD_MAX_B)
      return AGX_FAIL(AGX_OUT_OF_RANGE,
                      "dispatch of %s: %u elements of arrays take %zu bytes; the limit is %zu",
                      program->name, binder.element_count, total_B, AGX_RECORD_MAX_B);
   struct agx_segment *segment = reserve(commands, total_B);
   if (!segment)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory", commands->label);
   segment->kind = AGX_SEGMENT_DISPATCH;
   segment->executable = executable;
   segment->object_count = object_count;
   segment->heap_B = binder.heap_B;
   memcpy(segment->threads, threads, sizeof(threads));
   AGX_TRY(agx_binder_objects(&binder, segment->objects));
   uint8_t *uniforms = agx_segment_uniforms(segment);
   memset(uniforms, 0, executable->uniform_B);
   for (uint32_t i = 0; i < program->uniform_count; i++)
      AGX_TRY(write_uniform(&binder, &program->uniforms[i], uniforms));
   AGX_TRY(agx_binder_states(&binder, agx_segment_states(segment)));
   AGX_TRY(agx_binder_heap(&binder, uniforms, agx_segment_heap(segment)));
   segment->range_count = ranges;
   if (ranges)
      AGX_TRY(agx_bounds_collect(&binder, agx_segment_ranges(segment), &segment->range_count));
   agx_retain(executable);
   for (uint32_t i = 0; i < object_count; i++)
      agx_retain(segment->objects[i]);
   commit(commands, segment);
   return AGX_OK;
}

static agx_status note_failure(struct agx_command_buffer *commands, agx_status status)
{
   if (status != AGX_OK && commands->failed == AGX_OK)
      commands->failed = status;
   return status;
}

agx_status agx_cmd_dispatch(struct agx_command_buffer *commands,
                            const struct agx_dispatch *dispatch)
{
   struct agx_dispatch read;
   if (!agx_desc_is_current(dispatch->size, dispatch->next, sizeof(*dispatch))) {
      agx_status status = agx_desc_read("agx_dispatch", dispatch, &read, sizeof(read));
      if (status != AGX_OK)
         return note_failure(commands, status);
      dispatch = &read;
   }
   return note_failure(commands, record_dispatch(commands, dispatch, NULL));
}

agx_status agx_cmd_dispatch_vertices(struct agx_command_buffer *commands,
                                     const struct agx_vertex_dispatch *draw)
{
   struct agx_vertex_dispatch read;
   agx_status status = agx_desc_read("agx_vertex_dispatch", draw, &read, sizeof(read));
   const struct agx_dispatch dispatch = {
      .size = sizeof(dispatch),
      .executable = read.executable,
      .binding_count = read.binding_count,
      .bindings = read.bindings,
      .push = read.push,
      .push_B = read.push_B,
   };
   if (status == AGX_OK)
      status = record_dispatch(commands, &dispatch, &read);
   return note_failure(commands, status);
}

agx_status agx_cmd_barrier(struct agx_command_buffer *commands)
{
   if (commands->state != AGX_RECORD_RECORDING)
      return note_failure(commands, AGX_FAIL(AGX_FAILED_PRECONDITION,
                                             "%s: barrier outside begin and end", commands->label));
   struct agx_segment *segment = reserve(commands, agx_align_up(sizeof(*segment), 16));
   if (!segment)
      return note_failure(
         commands, AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory", commands->label));
   uint32_t total_B = segment->total_B;
   *segment = (struct agx_segment){.kind = AGX_SEGMENT_BARRIER, .total_B = total_B};
   commit(commands, segment);
   return AGX_OK;
}
