/* SPDX-License-Identifier: MIT
 *
 * A dispatch becomes a launch: the general path, which takes everything and says what is wrong.
 */
#include "hal/core/desc.h"
#include "hal/record/bounds.h"
#include "hal/record/command_defer.h"
#include "hal/record/command_fast.h"
#include "hal/record/dynamic_size.h"
#include "hal/record/indirect.h"
#include "hal/record/launch.h"

/* Source: docs/hw/cmdstream.md 1.1. */
static const uint32_t max_workgroups[3] = {0x7fffffff, 65535, 65535};

/* ---- checks ------------------------------------------------------------ */

static agx_status check_grid(const struct agx_program *program, const uint32_t workgroups[3],
                             const uint32_t local_size[3], uint32_t out_threads[3])
{
   for (unsigned i = 0; i < 3; i++) {
      uint64_t threads = (uint64_t)workgroups[i] * local_size[i];
      if (workgroups[i] > max_workgroups[i] || threads > UINT32_MAX)
         return AGX_FAIL(AGX_OUT_OF_RANGE,
                         "dispatch of %s: %u workgroups of %u threads in dimension %u; the limit "
                         "is %u workgroups, and 2^32-1 threads",
                         program->name, workgroups[i], local_size[i], i, max_workgroups[i]);
      out_threads[i] = (uint32_t)threads;
   }
   return AGX_OK;
}

static agx_status check_dispatch(const struct agx_command_buffer *commands,
                                 const struct agx_dispatch *dispatch)
{
   const struct agx_executable *executable = dispatch->executable;
   AGX_TRY(agx_record_check(commands, "dispatch"));
   AGX_TRY(agx_executable_check(executable, commands->device));
   if (dispatch->push_B < executable->program->push_B || dispatch->push_B > AGX_MAX_PUSH_B)
      return AGX_FAIL(
         AGX_INVALID_ARGUMENT, "dispatch of %s: %u bytes of push constants; it takes %u to %u",
         executable->program->name, dispatch->push_B, executable->program->push_B, AGX_MAX_PUSH_B);
   if (dispatch->push_B && !dispatch->push && !agx_ref_is_set(&dispatch->arguments))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: %u bytes of push constants at NULL",
                      executable->program->name, dispatch->push_B);
   if (dispatch->binding_count && !dispatch->bindings)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: %u bindings at NULL",
                      executable->program->name, dispatch->binding_count);
   return AGX_OK;
}

/* ---- uses -------------------------------------------------------------- */

/* An object may be NULL. */
static agx_status note_use(struct agx_command_buffer *commands, void *object, uint32_t access,
                           bool *needs_barrier)
{
   if (!object)
      return AGX_OK;
   if (!access)
      return agx_launch_keep(commands, object);
   return agx_launch_use(commands, object, access & AGX_BINDING_WRITES, true, needs_barrier);
}

/* Buffers that show memory which others may show too count as one, beside themselves. */
static void note_aliased(struct agx_command_buffer *commands, const struct agx_bound *bound,
                         uint32_t access, bool *needs_barrier)
{
   const struct agx_buffer *buffer = bound->image ? NULL : bound->objects[0];
   if (buffer && access && agx_buffer_may_alias(buffer))
      *needs_barrier |=
         agx_hazard_access(&commands->hazards, &commands->aliased, access & AGX_BINDING_WRITES);
}

/* All that is bound, elements of arrays too, which are checked here; whether any of it needs a
 * barrier word before the launch. */
static agx_status note_uses(struct agx_command_buffer *commands, const struct agx_binder *binder,
                            bool *out_needs_barrier)
{
   const struct agx_program *program = binder->program;
   uint32_t found = 0;
   *out_needs_barrier = false;
   commands->hazards.launch_index++;
   bool takes_anything = program->takes_addresses;
   for (uint32_t i = 0; i < program->binding_count; i++) {
      if (binder->bound[i].heap)
         AGX_TRY(agx_launch_keep(commands, binder->bound[i].heap));
      takes_anything |= binder->bound[i].heap != NULL;
      for (uint32_t e = 0; e < agx_binder_elements(binder, i); e++) {
         struct agx_bound bound;
         AGX_TRY(agx_binder_element(binder, i, e, &bound));
         AGX_TRY(
            note_use(commands, bound.objects[0], program->bindings[i].access, out_needs_barrier));
         AGX_TRY(note_use(commands, bound.objects[1], 0, out_needs_barrier));
         note_aliased(commands, &bound, program->bindings[i].access, out_needs_barrier);
         found += bound.is_given;
      }
   }
   if (takes_anything)
      *out_needs_barrier |= agx_hazard_access_anything(&commands->hazards);
   return agx_binder_check_given(binder, found);
}

/* The code that this dispatch needs: the unchecked variant where its guards hold. */
static struct agx_executable *choose_executable(const struct agx_launch_inputs *inputs)
{
   const struct agx_dispatch *dispatch = inputs->dispatch;
   struct agx_executable *executable = dispatch->executable;
   const struct agx_guard_launch launch = {dispatch->push, dispatch->workgroups, inputs->threads,
                                           inputs->lengths_B};
   if (!executable->unchecked || agx_dispatch_is_indirect(dispatch))
      return executable;
   return agx_guards_hold(&executable->guards, &launch) ? executable->unchecked : executable;
}

/* ---- the general path ------------------------------------------------------ */

static agx_status check_size(const struct agx_binder *binder, const struct agx_block *block)
{
   const uint32_t limit_B = AGX_CHUNK_LARGE_B / 2;
   if (block->total_B <= limit_B)
      return AGX_OK;
   return AGX_FAIL(AGX_OUT_OF_RANGE,
                   "dispatch of %s: %u elements of arrays take %u bytes; the limit is %u",
                   binder->program->name, binder->element_count, block->total_B, limit_B);
}

/* The plan of this dispatch: the executable's, or a changed copy in *room. */
static agx_status choose_plan(const struct agx_binder *binder,
                              const struct agx_executable *executable, struct agx_plan *room,
                              const struct agx_plan **out_plan)
{
   const struct agx_dispatch *dispatch = binder->dispatch;
   *out_plan = &executable->plan;
   if (binder->draw)
      return AGX_OK;
   AGX_TRY(agx_dynamic_size_plan(executable, dispatch, room, out_plan));
   if (!agx_dispatch_is_indirect(dispatch))
      return AGX_OK;
   if (*out_plan != room)
      *room = **out_plan;
   *out_plan = room;
   return agx_indirect_plan(agxw_device_info(agx_context_of(executable->device)->winsys)->chip,
                            executable->program, dispatch, room);
}

/* What the device reads for the launch itself. */
static agx_status note_parameters(struct agx_command_buffer *commands,
                                  const struct agx_dispatch *dispatch, bool *needs_barrier)
{
   const struct agx_buffer_ref *refs[] = {&dispatch->counts, &dispatch->arguments};
   for (size_t i = 0; i < AGX_COUNT(refs); i++) {
      struct agx_buffer *buffer = refs[i]->buffer;
      AGX_TRY(note_use(commands, buffer, AGX_BINDING_READS, needs_barrier));
      if (buffer && agx_buffer_may_alias(buffer))
         *needs_barrier |= agx_hazard_access(&commands->hazards, &commands->aliased, false);
   }
   return AGX_OK;
}

static agx_status note_parameter_bounds(struct agx_command_buffer *commands,
                                        const struct agx_dispatch *dispatch)
{
   const struct agx_buffer_ref *refs[] = {&dispatch->counts, &dispatch->arguments};
   for (size_t i = 0; i < AGX_COUNT(refs); i++) {
      const struct agx_buffer_ref *ref = refs[i];
      if (!ref->buffer)
         continue;
      const uint64_t rest_B = ref->buffer->size_B - ref->offset_B;
      AGX_TRY(agx_bounds_note_data(commands, ref->buffer->address + ref->offset_B,
                                   AGX_MIN(ref->length_B, rest_B))); /* the whole is the most */
   }
   return AGX_OK;
}

/* Push constants for all that the parts read: zeros behind those that are given, and where the
 * hardware reads them from memory. */
static void copy_push(const struct agx_dispatch *dispatch, uint8_t out[AGX_PROGRAM_MAX_PUSH_B])
{
   const uint32_t given_B = dispatch->arguments.buffer ? 0 : dispatch->push_B;
   if (given_B)
      memcpy(out, dispatch->push, given_B);
   memset(out + given_B, 0, AGX_PROGRAM_MAX_PUSH_B - given_B);
}

static void fill_bound(const struct agx_binder *binder, struct agx_launch_inputs *inputs)
{
   for (uint32_t i = 0; i < binder->program->binding_count; i++) {
      inputs->addresses[i] = binder->bound[i].address;
      inputs->lengths_B[i] = binder->bound[i].length_B;
      inputs->sinks[i] = binder->bound[i].sinks;
   }
}

static agx_status launch(struct agx_command_buffer *commands, const struct agx_binder *binder,
                         struct agx_launch_inputs *inputs)
{
   const struct agx_dispatch *dispatch = binder->dispatch;
   uint8_t push[AGX_PROGRAM_MAX_PUSH_B];
   struct agx_plan room;
   uint64_t heap_va;
   bool needs_barrier;
   AGX_TRY(choose_plan(binder, inputs->executable, &room, &inputs->plan));
   const struct agx_block block = agx_plan_block(inputs->plan, binder->heap_B);
   AGX_TRY(check_size(binder, &block));
   copy_push(dispatch, push);
   inputs->template = &inputs->executable->template;
   inputs->block = &block;
   inputs->push = push;
   AGX_TRY(note_uses(commands, binder, &needs_barrier));
   AGX_TRY(note_parameters(commands, dispatch, &needs_barrier));
   AGX_TRY(agx_launch_write(commands, inputs, AGX_LAUNCH_ANY, needs_barrier, &heap_va));
   if (!commands->is_watched)
      return AGX_OK;
   AGX_TRY(agx_bounds_note(commands, binder, inputs->executable, heap_va));
   return note_parameter_bounds(commands, dispatch);
}

/* That a launch over no threads at all would have been in order. */
static agx_status check_elements(const struct agx_binder *binder)
{
   struct agx_bound bound;
   uint32_t found = 0;
   for (uint32_t i = 0; i < binder->program->binding_count; i++) {
      for (uint32_t e = 0; e < agx_binder_elements(binder, i); e++) {
         AGX_TRY(agx_binder_element(binder, i, e, &bound));
         found += bound.is_given;
      }
   }
   return agx_binder_check_given(binder, found);
}

static agx_status find_threads(const struct agx_dispatch *dispatch,
                               const struct agx_vertex_dispatch *draw, uint32_t out_threads[3])
{
   if (draw)
      memcpy(out_threads, (uint32_t[3]){draw->vertex_count, draw->instance_count, 1},
             3 * sizeof(out_threads[0]));
   else if (agx_ref_is_set(&dispatch->counts)) /* of one workgroup */
      memcpy(out_threads, dispatch->local_size, 3 * sizeof(out_threads[0]));
   else
      return check_grid(dispatch->executable->program, dispatch->workgroups, dispatch->local_size,
                        out_threads);
   return AGX_OK;
}

/* draw NULL: a compute kernel, whose local size is settled. */
static agx_status record_dispatch(struct agx_command_buffer *commands,
                                  const struct agx_dispatch *dispatch,
                                  const struct agx_vertex_dispatch *draw)
{
   AGX_TRY(check_dispatch(commands, dispatch));
   AGX_TRY(agx_vertex_check(dispatch->executable->program, draw));
   const struct agx_program *program = dispatch->executable->program;
   struct agx_binder binder;
   struct agx_launch_inputs inputs;
   AGX_TRY(find_threads(dispatch, draw, inputs.threads));
   AGX_TRY(agx_indirect_check(commands->device, program, dispatch));
   AGX_TRY(agx_binder_init(&binder, commands->device, program, dispatch, draw,
                           commands->flags & AGX_COMMAND_BUFFER_UNCHECKED));
   if (!inputs.threads[0] || !inputs.threads[1] || !inputs.threads[2])
      return check_elements(&binder);
   inputs.dispatch = dispatch;
   inputs.draw = draw;
   inputs.binder = &binder;
   inputs.local_size = dispatch->local_size;
   fill_bound(&binder, &inputs);
   inputs.executable = choose_executable(&inputs);
   agx_binder_run(&binder, inputs.executable->program);
   return launch(commands, &binder, &inputs);
}

/* The general path of a compute kernel: an entry point as if it were an executable of its own, with
 * the workgroup size that counts. */
static agx_status record_compute(struct agx_command_buffer *commands,
                                 const struct agx_dispatch *dispatch)
{
   struct agx_dispatch settled = *dispatch;
   if (dispatch->executable) {
      AGX_TRY(agx_executable_resolve(dispatch->executable, dispatch->entry, &settled.executable));
      AGX_TRY(agx_dynamic_size_resolve(settled.executable->program, &settled));
   }
   return record_dispatch(commands, &settled, NULL);
}

agx_status agx_cmd_dispatch(struct agx_command_buffer *commands,
                            const struct agx_dispatch *dispatch)
{
   struct agx_dispatch read;
   agx_status status;
   if (!dispatch || !agx_desc_is_current(dispatch->size, dispatch->next, sizeof(*dispatch))) {
      status = agx_desc_read("agx_dispatch", dispatch, &read, sizeof(read));
      if (status != AGX_OK)
         return agx_record_fail(commands, status);
      dispatch = &read;
   }
   if (commands->table_slots)
      status = agx_defer_dispatch(commands, dispatch);
   else if (!agx_record_fast(commands, dispatch, NULL, &status))
      status = record_compute(commands, dispatch);
   return status == AGX_OK ? AGX_OK : agx_record_fail(commands, status);
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
   if (status == AGX_OK && commands->table_slots)
      status = agx_defer_vertices(commands, &read);
   else if (status == AGX_OK && !agx_record_fast(commands, &dispatch, &read, &status))
      status = record_dispatch(commands, &dispatch, &read);
   return agx_record_fail(commands, status);
}
