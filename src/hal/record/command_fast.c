/* SPDX-License-Identifier: MIT
 *
 * The fast path of a dispatch, for what most are: bindings in the executable's order, buffers by
 * address, images as a whole, and push constants. Everything is checked before anything changes, so
 * that the general path can start over where something is out of the ordinary, and say what. What
 * is plain is compiled by itself, since it needs a part of this only.
 */
#include "hal/record/command_fast.h"

#include "hal/record/bounds.h"
#include "hal/record/dynamic_size.h"
#include "hal/record/indirect.h"
#include "hal/record/launch.h"

/* ---- checks -------------------------------------------------------------------- */

/* They leave behind what the recording writes with, and change nothing else; false says only that
 * the general path is to look at it. Compiled into where they are used, once for what is plain and
 * once for the rest. */

/* Of y and z. Source: docs/hw/cmdstream.md 1.1. */
#define MAX_GROUPS 65535u

/* What the fast path fills, and a draw's buffers, which may be NULL. */
struct fast_call {
   struct agx_launch_inputs in;
   struct agx_buffer *drawn[AGX_TEMPLATE_MAX_BINDINGS];
};

/* That the range is one of the buffer's that the kernel may be bound to. */
AGX_LAUNCH_INLINE bool is_sound(const struct agx_command_buffer *commands,
                                const struct agx_template_binding *wanted,
                                const struct agx_buffer_ref *ref, uint64_t length_B)
{
   const struct agx_buffer *buffer = ref->buffer;
   return buffer->device == commands->device && !(ref->offset_B & wanted->align_mask) &&
          agx_range_fits(ref->offset_B, length_B, buffer->size_B) &&
          length_B >= wanted->min_size_B && length_B <= AGX_MAX_BINDING_B &&
          agx_binding_usage_fits(&wanted->usage, buffer->usage) &&
          !(wanted->access & AGX_BINDING_WRITES && buffer->flags & AGX_BUFFER_GPU_READ_ONLY);
}

/* Limits of robust kernels are checked in any case: they keep others' memory from them. */
AGX_LAUNCH_INLINE bool check_buffer(const struct agx_command_buffer *commands,
                                    struct fast_call *call,
                                    const struct agx_template_binding *wanted, uint32_t index)
{
   const struct agx_buffer_ref *ref = &call->in.dispatch->bindings[index].ref;
   if (!ref->buffer || ref->table_slot | ref->reserved || agx_buffer_may_alias(ref->buffer) ||
       ref->buffer->has_late_address)
      return false;
   uint64_t length_B = ref->length_B;
   if (length_B == AGX_WHOLE_LENGTH)
      length_B = ref->buffer->size_B - ref->offset_B;
   if ((wanted->kind == AGX_TEMPLATE_ROBUST || !(commands->flags & AGX_COMMAND_BUFFER_UNCHECKED)) &&
       !is_sound(commands, wanted, ref, length_B))
      return false;
   call->in.addresses[index] = ref->buffer->address + ref->offset_B;
   call->in.lengths_B[index] = length_B;
   return true;
}

/* Whether the binding is of all levels and layers of an image, in its own format. */
static inline bool is_whole(const struct agx_command_buffer *commands,
                            const struct agx_template_binding *wanted,
                            const struct agx_binding *binding)
{
   const struct agx_image *image = binding->image;
   return image && image->device == commands->device && image->whole.dim == wanted->dim &&
          !(wanted->access & ~image->whole.access & (AGX_BINDING_WRITES | AGX_BINDING_ATOMICS)) &&
          !(binding->first_level | binding->first_layer) &&
          (!binding->level_count || binding->level_count == image->levels) &&
          (!binding->layer_count ||
           (binding->layer_count == image->depth && image->type != AGX_IMAGE_3D)) &&
          !binding->format && !binding->swizzle;
}

/* An image, a sampler, or both. */
static inline bool check_states(const struct agx_command_buffer *commands,
                                const struct agx_template_binding *wanted,
                                const struct agx_binding *binding)
{
   if (wanted->kind & AGX_TEMPLATE_IMAGE && !is_whole(commands, wanted, binding))
      return false;
   return !(wanted->kind & AGX_TEMPLATE_SAMPLER) ||
          (binding->sampler && binding->sampler->device == commands->device);
}

/* A buffer that the draw names. */
static inline bool check_drawn(const struct agx_command_buffer *commands, struct fast_call *call,
                               uint32_t index)
{
   const struct agx_program *program = call->in.executable->program;
   struct agx_bound bound = {0};
   if (agx_bind_vertex(program->name, &program->bindings[index], call->in.draw, commands->device,
                       &bound) != AGX_OK)
      return false;
   call->drawn[index] = bound.objects[0];
   call->in.addresses[index] = bound.address;
   call->in.lengths_B[index] = bound.length_B;
   call->in.sinks[index] = bound.sinks;
   return !bound.objects[0] || !agx_buffer_may_alias(bound.objects[0]);
}

/* Checks all bindings and notes where they lie; has_others: not all are buffers. */
AGX_LAUNCH_INLINE bool check_bindings(const struct agx_command_buffer *commands,
                                      struct fast_call *call, bool has_others)
{
   const struct agx_launch_template *template = call->in.template;
   const uint32_t count = has_others ? template->given_count : template->binding_count;
   if (call->in.dispatch->binding_count != count || (count && !call->in.dispatch->bindings))
      return false;
   for (uint32_t i = 0; i < count; i++) {
      const struct agx_template_binding *wanted = &template->bindings[i];
      const struct agx_binding *binding = &call->in.dispatch->bindings[i];
      if (binding->set != wanted->set || binding->binding != wanted->binding ||
          binding->element != wanted->element)
         return false;
      const bool is_buffer = !has_others || agx_template_is_buffer(wanted);
      if (is_buffer ? !check_buffer(commands, call, wanted, i)
                    : !check_states(commands, wanted, binding))
         return false;
   }
   for (uint32_t i = count; has_others && i < template->binding_count; i++)
      if (!check_drawn(commands, call, i))
         return false;
   return true;
}

/* False also for a grid of no threads. Threads along y and z fit in 32 bits: a workgroup has at
 * most 1024. */
static inline bool check_grid(struct fast_call *call)
{
   const struct agx_launch_template *template = call->in.template;
   const uint32_t *groups = call->in.dispatch->workgroups;
   for (unsigned i = 0; i < 3; i++)
      call->in.threads[i] = groups[i] * template->local[i];
   return groups[0] - 1 < template->max_groups && groups[1] - 1 < MAX_GROUPS &&
          groups[2] - 1 < MAX_GROUPS;
}

/* The grid of a draw; false also for one of nothing. */
static inline bool check_draw(struct fast_call *call)
{
   call->in.threads[0] = call->in.draw->vertex_count;
   call->in.threads[1] = call->in.draw->instance_count;
   call->in.threads[2] = 1;
   return call->in.threads[0] && call->in.threads[1] &&
          agx_vertex_check(call->in.executable->program, call->in.draw) == AGX_OK;
}

/* Whether the dispatch gives push constants for all that the parts read. */
static inline bool check_push(const struct fast_call *call)
{
   const struct agx_dispatch *dispatch = call->in.dispatch;
   return dispatch->push_B >= call->in.template->push_B && dispatch->push_B <= AGX_MAX_PUSH_B &&
          (dispatch->push || !dispatch->push_B);
}

/* Runs the unchecked variant where its guards hold. False: not here. */
static inline bool choose_variant(struct fast_call *call)
{
   struct agx_executable *unchecked = call->in.executable->unchecked;
   const struct agx_guard_launch launch = {call->in.dispatch->push, call->in.dispatch->workgroups,
                                           call->in.threads, call->in.lengths_B};
   if (!unchecked)
      return true;
   if (agx_guards_hold(&call->in.executable->guards, &launch)) {
      call->in.executable = unchecked;
      call->in.plan = &unchecked->plan;
      call->in.template = &unchecked->template;
      call->in.block = &unchecked->template.block;
   }
   return call->in.template->is_fast;
}

/* ---- uses ---------------------------------------------------------------- */

/* Of a binding that is no ordinary buffer: what is read or written; NULL: nothing. */
static inline void *other_object(const struct fast_call *call,
                                 const struct agx_template_binding *wanted, uint32_t index)
{
   if (wanted->kind == AGX_TEMPLATE_VERTEX)
      return call->drawn[index];
   return wanted->kind & AGX_TEMPLATE_IMAGE ? call->in.dispatch->bindings[index].image : NULL;
}

/* Whether any needs a barrier word. */
AGX_LAUNCH_INLINE agx_status note_uses(struct agx_command_buffer *commands,
                                       const struct fast_call *call, enum agx_launch_way way,
                                       bool *out_needs_barrier)
{
   const struct agx_launch_template *template = call->in.template;
   const bool may_conflict = agx_hazard_is_possible(&commands->hazards);
   bool needs = false;
   commands->hazards.launch_index++;
   for (uint32_t i = 0; i < template->binding_count; i++) {
      const struct agx_template_binding *wanted = &template->bindings[i];
      const bool is_buffer = way == AGX_LAUNCH_PLAIN || agx_template_is_buffer(wanted);
      void *object =
         is_buffer ? call->in.dispatch->bindings[i].ref.buffer : other_object(call, wanted, i);
      if (object && way != AGX_LAUNCH_PLAIN && !wanted->access)
         AGX_TRY(agx_launch_keep(commands, object));
      else if (object)
         AGX_TRY(agx_launch_use(commands, object, wanted->access & AGX_BINDING_WRITES, may_conflict,
                                &needs));
      if (!is_buffer && wanted->kind & AGX_TEMPLATE_SAMPLER)
         AGX_TRY(agx_launch_keep(commands, call->in.dispatch->bindings[i].sampler));
   }
   if (way != AGX_LAUNCH_PLAIN && template->takes_addresses)
      needs |= agx_hazard_access_anything(&commands->hazards);
   *out_needs_barrier = needs;
   return AGX_OK;
}

/* Where stray accesses go from some bindings; a draw's are known. */
static inline void find_sinks(struct fast_call *call, uint32_t which)
{
   for (uint32_t left = which; left; left &= left - 1) {
      const uint32_t index = (uint32_t)__builtin_ctz(left);
      const struct agx_buffer_ref *ref = &call->in.dispatch->bindings[index].ref;
      /* Out of reach is no error until a part wants one. */
      (void)agxw_bo_sinks(ref->buffer->bo, ref->buffer->offset_B + ref->offset_B,
                          &call->in.sinks[index]);
   }
}

/* ---- all ----------------------------------------------------------------- */

AGX_LAUNCH_INLINE agx_status record(struct agx_command_buffer *commands,
                                    const struct fast_call *call, enum agx_launch_way way)
{
   bool needs_barrier;
   uint64_t heap_va;
   AGX_TRY(note_uses(commands, call, way, &needs_barrier));
   return agx_launch_write(commands, &call->in, way, needs_barrier, &heap_va);
}

static inline bool is_ordinary(const struct agx_command_buffer *commands,
                               const struct agx_executable *executable,
                               const struct agx_dispatch *dispatch)
{
   return executable && executable->template.is_fast && !dispatch->heap_count &&
          !agx_dispatch_has_dynamic_size(dispatch) && !agx_dispatch_is_indirect(dispatch) &&
          executable->device == commands->device && agx_record_is_open(commands);
}

/* Each way has a struct fast_call of its own, whose arrays are not cleared, so that the
 * compiler keeps that of plain ones in registers. */
static inline void begin(struct fast_call *call, struct agx_executable *executable,
                         const struct agx_dispatch *dispatch,
                         const struct agx_vertex_dispatch *draw)
{
   call->in.executable = executable;
   call->in.plan = &executable->plan;
   call->in.template = &executable->template;
   call->in.dispatch = dispatch;
   call->in.draw = draw;
   call->in.block = &executable->template.block;
   call->in.push = dispatch->push;
   call->in.local_size = executable->template.local;
}

/* As agx_bounds_note; robust: a bit for each binding that had limits, whichever code runs. */
static __attribute__((noinline, cold)) agx_status
note_bounds(struct agx_command_buffer *commands, const struct fast_call *call, uint32_t robust)
{
   const struct agx_program *program = call->in.executable->program;
   AGX_TRY(agx_bounds_note_program(commands, call->in.executable));
   for (uint32_t i = 0; i < call->in.template->binding_count; i++) {
      const uint32_t kind = call->in.template->bindings[i].kind;
      struct agx_bound bound = {0};
      if (kind == AGX_TEMPLATE_SAMPLER)
         continue;
      if (kind & AGX_TEMPLATE_IMAGE)
         bound.image = call->in.dispatch->bindings[i].image;
      else
         bound =
            (struct agx_bound){.address = call->in.addresses[i], .length_B = call->in.lengths_B[i]};
      if (kind == AGX_TEMPLATE_VERTEX || robust >> i & 1)
         bound.sinks = call->in.sinks[i];
      AGX_TRY(agx_bounds_note_bound(commands, &program->bindings[i], &bound));
   }
   return AGX_OK;
}

static inline bool check_other(const struct agx_command_buffer *commands, struct fast_call *call)
{
   return !call->in.draw == !call->in.template->is_vertex && check_push(call) &&
          (call->in.draw ? check_draw(call) : check_grid(call)) &&
          (call->in.template->has_others ? check_bindings(commands, call, true)
                                         : check_bindings(commands, call, false)) &&
          choose_variant(call);
}

static __attribute__((noinline)) bool record_other(struct agx_command_buffer *commands,
                                                   struct agx_executable *executable,
                                                   const struct agx_dispatch *dispatch,
                                                   const struct agx_vertex_dispatch *draw,
                                                   agx_status *out_status)
{
   struct fast_call call;
   begin(&call, executable, dispatch, draw);
   if (!check_other(commands, &call))
      return false;
   if (call.in.template->is_plain && !commands->is_watched) {
      *out_status = record(commands, &call, AGX_LAUNCH_PLAIN);
      return true;
   }
   /* An unchecked variant from elsewhere may have limits where the program itself has none. */
   const uint32_t robust = executable->template.robust | call.in.template->robust;
   find_sinks(&call, commands->is_watched ? robust : robust & call.in.template->sinks);
   *out_status = record(commands, &call, AGX_LAUNCH_WHOLE);
   if (*out_status == AGX_OK && commands->is_watched)
      *out_status = note_bounds(commands, &call, robust);
   return true;
}

bool agx_record_fast(struct agx_command_buffer *commands, const struct agx_dispatch *dispatch,
                     const struct agx_vertex_dispatch *draw, agx_status *out_status)
{
   struct agx_executable *executable = dispatch->executable;
   struct fast_call call;
   if (executable && dispatch->entry)
      executable = agx_executable_entry(executable, dispatch->entry);
   if (!is_ordinary(commands, executable, dispatch))
      return false;
   if (!executable->template.is_plain || commands->is_watched)
      return record_other(commands, executable, dispatch, draw, out_status);
   begin(&call, executable, dispatch, NULL);
   if (draw || !check_push(&call) || !check_grid(&call) || !check_bindings(commands, &call, false))
      return false;
   *out_status = record(commands, &call, AGX_LAUNCH_PLAIN);
   return true;
}
