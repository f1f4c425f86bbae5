/* SPDX-License-Identifier: MIT
 *
 * A dispatch becomes a launch: the general path, which takes everything and says what is wrong.
 */
#include "hal/core/desc.h"
#include "hal/record/indirect.h"
#include "hal/record/record.h"
#include "hal/record/dynamic_size.h"
#include "hal/record/vertex.h"

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
                         "dispatch of %s: %u workgroups of %u threads in dimension %u",
                         program->name, workgroups[i], local_size[i], i);
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
   if (dispatch->push_B < executable->program->push_B || dispatch->push_B > AGX_MAX_PUSH_B ||
       (dispatch->push_B && !dispatch->push && !agx_ref_is_given(&dispatch->arguments)))
      return AGX_FAIL(
         AGX_INVALID_ARGUMENT, "dispatch of %s: %u bytes of push constants; it takes %u to %u",
         executable->program->name, dispatch->push_B, executable->program->push_B, AGX_MAX_PUSH_B);
   if (dispatch->binding_count && !dispatch->bindings)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: %u bindings at NULL",
                      executable->program->name, dispatch->binding_count);
   return AGX_OK;
}

/* ---- contents ---------------------------------------------------------- */

static void write_push(const struct agx_dispatch *dispatch, uint32_t from, uint8_t *at,
                       size_t bytes)
{
   size_t given =
      from < dispatch->push_B && !dispatch->arguments.buffer ? dispatch->push_B - from : 0;
   size_t copied = AGX_MIN(bytes, given);
   if (copied)
      memcpy(at, (const uint8_t *)dispatch->push + from, copied);
}

/* What one slot of the uniform registers holds in this dispatch, but for push constants. */
static agx_status slot_value(const struct agx_binder *binder,
                             const struct agx_program_uniform *slot, uint64_t *out_value)
{
   const struct agx_bound *bound = binder->bound;
   const uint32_t property = slot->value & ((1u << AGX_IMAGE_ELEMENT_SHIFT) - 1);
   struct agx_bound element;
   switch (slot->kind) {
   case AGX_UNIFORM_BUFFER_ADDRESS:
      *out_value = bound[slot->index].address + slot->value;
      break;
   case AGX_UNIFORM_BUFFER_SIZE:
      *out_value = AGX_MIN(bound[slot->index].length_B, (uint64_t)UINT32_MAX);
      break;
   case AGX_UNIFORM_BUFFER_COUNT:
   case AGX_UNIFORM_BUFFER_LAST:
   case AGX_UNIFORM_BUFFER_SINK:
   case AGX_UNIFORM_BUFFER_GUARD:
      return agx_bound_limit(binder->program, slot, &bound[slot->index], out_value);
   case AGX_UNIFORM_IMAGE:
      AGX_TRY(agx_binder_element(binder, slot->index,
                                 (uint32_t)(slot->value >> AGX_IMAGE_ELEMENT_SHIFT), &element));
      *out_value = agx_bound_property(&element, (enum agx_image_property)property);
      break;
   case AGX_UNIFORM_WORKGROUP_COUNT:
      *out_value = binder->dispatch->workgroups[slot->index];
      break;
   case AGX_UNIFORM_LOCAL_SIZE:
      *out_value = binder->dispatch->local_size[slot->index];
      break;
   case AGX_UNIFORM_DRAW:
      *out_value =
         agx_vertex_value(binder->program, binder->draw, (enum agx_draw_value)slot->index);
      break;
   default: /* AGX_UNIFORM_CONSTANT */
      *out_value = slot->value;
      break;
   }
   return AGX_OK;
}

/* uniforms are zeros before. */
static agx_status write_uniform(const struct agx_binder *binder,
                                const struct agx_program_uniform *slot, uint8_t *uniforms)
{
   uint8_t *at = uniforms + slot->start * 2u;
   const size_t bytes = slot->halves * 2u;
   uint64_t value = 0;
   if (slot->kind == AGX_UNIFORM_HEAP) /* agx_binder_heap */
      return AGX_OK;
   if (slot->kind == AGX_UNIFORM_PUSH) {
      write_push(binder->dispatch, slot->index, at, bytes);
      return AGX_OK;
   }
   AGX_TRY(slot_value(binder, slot, &value));
   memcpy(at, &value, AGX_MIN(bytes, sizeof(value)));
   return AGX_OK;
}

/* In the block's order: words, uniform contents, states; and the heap before the contents, which
 * say where its parts begin. */
static agx_status write_block(const struct agx_binder *binder, const struct agx_plan *plan,
                              const struct agx_block *block, const struct agx_launch *launch)
{
   const struct agx_program *program = binder->program;
   uint8_t uniforms[AGX_UNIFORM_HALVES * 2] = {0};
   for (uint32_t i = 0; i < program->uniform_count; i++)
      AGX_TRY(write_uniform(binder, &program->uniforms[i], uniforms));
   AGX_TRY(agx_binder_heap(binder, uniforms, launch->block + block->heap_at));
   agx_heap_place(program, launch->block_va + block->heap_at, uniforms);
   AGX_TRY(agx_plan_write_words(plan, block, launch->block_va, launch->block));
   memcpy(launch->block + block->uniforms_at, uniforms, plan->uniform_B);
   return agx_binder_states(binder, launch->block + block->states_at);
}

/* ---- uses -------------------------------------------------------------- */

/* An object may be NULL. */
static agx_status note_use(struct agx_command_buffer *commands, void *object, uint32_t access,
                           bool *needs_barrier)
{
   if (!object)
      return AGX_OK;
   struct agx_use *use = agx_record_use(commands, object);
   if (!use)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory", commands->label);
   if (access)
      *needs_barrier |= agx_hazard_access(&commands->hazards, use, access & AGX_BINDING_WRITES);
   return AGX_OK;
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
   *out_needs_barrier = false;
   commands->hazards.launch_index++;
   for (uint32_t i = 0; i < program->binding_count; i++) {
      for (uint32_t e = 0; e < binder->bound[i].elements; e++) {
         struct agx_bound bound;
         AGX_TRY(agx_binder_element(binder, i, e, &bound));
         AGX_TRY(
            note_use(commands, bound.objects[0], program->bindings[i].access, out_needs_barrier));
         AGX_TRY(note_use(commands, bound.objects[1], 0, out_needs_barrier));
         note_aliased(commands, &bound, program->bindings[i].access, out_needs_barrier);
      }
   }
   if (program->takes_addresses)
      *out_needs_barrier |= agx_hazard_access_anything(&commands->hazards);
   return AGX_OK;
}

/* The code that this dispatch needs: the unchecked variant where its guards hold. */
static struct agx_executable *choose_executable(const struct agx_binder *binder,
                                                const uint32_t threads[3])
{
   const struct agx_dispatch *dispatch = binder->dispatch;
   struct agx_executable *executable = dispatch->executable;
   uint64_t sizes_B[AGX_PROGRAM_MAX_BINDINGS];
   if (!executable->unchecked || agx_dispatch_is_indirect(dispatch))
      return executable;
   for (uint32_t i = 0; i < binder->program->binding_count; i++)
      sizes_B[i] = binder->bound[i].length_B;
   const struct agx_guard_launch launch = {dispatch->push, dispatch->workgroups, threads, sizes_B};
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

static agx_status launch(struct agx_command_buffer *commands, const struct agx_binder *binder,
                         struct agx_executable *executable, const uint32_t threads[3])
{
   struct agx_plan room;
   const struct agx_plan *plan;
   AGX_TRY(choose_plan(binder, executable, &room, &plan));
   const struct agx_block block = agx_plan_block(plan, binder->heap_B);
   struct agx_launch launch;
   bool needs_barrier;
   AGX_TRY(check_size(binder, &block));
   AGX_TRY(note_uses(commands, binder, &needs_barrier));
   AGX_TRY(note_parameters(commands, binder->dispatch, &needs_barrier));
   AGX_TRY(agx_record_run(commands, executable));
   AGX_TRY(agx_record_open(commands, plan, block.total_B, needs_barrier, &launch));
   AGX_TRY(write_block(binder, plan, &block, &launch));
   agx_record_close(commands, plan, &launch, threads);
   if (!commands->is_watched)
      return AGX_OK;
   AGX_TRY(agx_bounds_note(commands, binder, launch.block_va + block.heap_at));
   return note_parameter_bounds(commands, binder->dispatch);
}

/* That a launch over no threads at all would have been in order. */
static agx_status check_elements(const struct agx_binder *binder)
{
   struct agx_bound bound;
   for (uint32_t i = 0; i < binder->program->binding_count; i++)
      for (uint32_t e = 0; e < binder->bound[i].elements; e++)
         AGX_TRY(agx_binder_element(binder, i, e, &bound));
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
   uint32_t threads[3];
   if (draw)
      memcpy(threads, (uint32_t[3]){draw->vertex_count, draw->instance_count, 1}, sizeof(threads));
   else if (agx_ref_is_given(&dispatch->counts))
      memcpy(threads, dispatch->local_size, sizeof(threads)); /* of one workgroup */
   else
      AGX_TRY(check_grid(program, dispatch->workgroups, dispatch->local_size, threads));
   AGX_TRY(agx_indirect_check(commands->device, program, dispatch));
   AGX_TRY(agx_binder_init(&binder, commands->device, program, dispatch, draw));
   if (!threads[0] || !threads[1] || !threads[2])
      return check_elements(&binder);
   struct agx_executable *executable = choose_executable(&binder, threads);
   agx_binder_run(&binder, executable->program);
   return launch(commands, &binder, executable, threads);
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
