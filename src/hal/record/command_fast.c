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
#include "hal/record/launch_template_check.h"

/* ---- uses ---------------------------------------------------------------- */

/* Of a binding that is no ordinary buffer: what is read or written; NULL: nothing. */
static inline void *other_object(const struct agx_fast_call *call,
                                 const struct agx_template_binding *wanted, uint32_t index)
{
   if (wanted->kind == AGX_TEMPLATE_VERTEX)
      return call->drawn[index];
   return wanted->kind & AGX_TEMPLATE_IMAGE ? call->in.dispatch->bindings[index].image : NULL;
}

/* Whether any needs a barrier word. */
AGX_LAUNCH_INLINE agx_status note_uses(struct agx_command_buffer *commands,
                                       const struct agx_fast_call *call, enum agx_launch_way way,
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
static inline void find_sinks(struct agx_fast_call *call, uint32_t which)
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
                                    const struct agx_fast_call *call, enum agx_launch_way way)
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
   return executable && executable->template.is_fast && !agx_dispatch_has_dynamic_size(dispatch) &&
          !agx_dispatch_is_indirect(dispatch) && executable->device == commands->device &&
          agx_record_is_open(commands);
}

/* Each way has a struct agx_fast_call of its own, whose arrays are not cleared, so that the
 * compiler keeps that of plain ones in registers. */
static inline void begin(struct agx_fast_call *call, struct agx_executable *executable,
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
note_bounds(struct agx_command_buffer *commands, const struct agx_fast_call *call, uint32_t robust)
{
   const struct agx_program *program = call->in.executable->program;
   AGX_TRY(agx_bounds_note_program(commands, program));
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

static inline bool check_other(const struct agx_command_buffer *commands,
                               struct agx_fast_call *call)
{
   return !call->in.draw == !call->in.template->is_vertex && agx_fast_check_push(call) &&
          (call->in.draw ? agx_fast_check_draw(call) : agx_fast_check_grid(call)) &&
          (call->in.template->has_others ? agx_fast_check_bindings(commands, call, true)
                                         : agx_fast_check_bindings(commands, call, false)) &&
          agx_fast_choose_variant(call);
}

static __attribute__((noinline)) bool record_other(struct agx_command_buffer *commands,
                                                   struct agx_executable *executable,
                                                   const struct agx_dispatch *dispatch,
                                                   const struct agx_vertex_dispatch *draw,
                                                   agx_status *out_status)
{
   struct agx_fast_call call;
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
   struct agx_fast_call call;
   if (executable && dispatch->entry)
      executable = agx_executable_entry(executable, dispatch->entry);
   if (!is_ordinary(commands, executable, dispatch))
      return false;
   if (!executable->template.is_plain || commands->is_watched)
      return record_other(commands, executable, dispatch, draw, out_status);
   begin(&call, executable, dispatch, NULL);
   if (draw || !agx_fast_check_push(&call) || !agx_fast_check_grid(&call) ||
       !agx_fast_check_bindings(commands, &call, false))
      return false;
   *out_status = record(commands, &call, AGX_LAUNCH_PLAIN);
   return true;
}
