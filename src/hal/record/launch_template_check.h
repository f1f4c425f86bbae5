/* SPDX-License-Identifier: MIT
 *
 * The checks of the fast path of a dispatch (command_fast.c), which leave behind what it writes
 * with. They change nothing, and false says only that the general path is to look at it. Compiled
 * into where they are used, once for what is plain and once for the rest.
 */
#pragma once

#include "hal/record/launch.h"

/* Of y and z. Source: docs/hw/cmdstream.md 1.1. */
#define AGX_FAST_MAX_GROUPS 65535u

/* What the fast path fills, and a draw's buffers, which may be NULL. */
struct agx_fast_call {
   struct agx_launch_inputs in;
   struct agx_buffer *drawn[AGX_TEMPLATE_MAX_BINDINGS];
};

/* That the range is one of the buffer's that the kernel may be bound to. */
static inline bool agx_fast_is_sound(const struct agx_command_buffer *commands,
                                     const struct agx_template_binding *wanted,
                                     const struct agx_buffer_ref *ref, uint64_t length_B)
{
   const struct agx_buffer *buffer = ref->buffer;
   return buffer->device == commands->device && !(ref->offset_B & wanted->align_mask) &&
          agx_range_fits(ref->offset_B, length_B, buffer->size_B) &&
          length_B >= wanted->min_size_B && agx_binding_usage_fits(&wanted->usage, buffer->usage) &&
          !(wanted->access & AGX_BINDING_WRITES && buffer->flags & AGX_BUFFER_GPU_READ_ONLY);
}

/* Limits of robust kernels are checked in any case: they keep others' memory from them. */
static inline bool agx_fast_check_buffer(const struct agx_command_buffer *commands,
                                         struct agx_fast_call *call,
                                         const struct agx_template_binding *wanted, uint32_t index)
{
   const struct agx_buffer_ref *ref = &call->in.dispatch->bindings[index].ref;
   if (!ref->buffer || ref->table_slot | ref->reserved || agx_buffer_may_alias(ref->buffer))
      return false;
   uint64_t length_B = ref->length_B;
   if (length_B == AGX_WHOLE_LENGTH)
      length_B = ref->buffer->size_B - ref->offset_B;
   if ((wanted->kind == AGX_TEMPLATE_ROBUST || !(commands->flags & AGX_COMMAND_BUFFER_UNCHECKED)) &&
       !agx_fast_is_sound(commands, wanted, ref, length_B))
      return false;
   call->in.addresses[index] = ref->buffer->address + ref->offset_B;
   call->in.lengths_B[index] = length_B;
   return true;
}

/* Whether the binding is of all levels and layers of an image, in its own format. */
static inline bool agx_fast_is_whole(const struct agx_command_buffer *commands,
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
static inline bool agx_fast_check_states(const struct agx_command_buffer *commands,
                                         const struct agx_template_binding *wanted,
                                         const struct agx_binding *binding)
{
   if (wanted->kind & AGX_TEMPLATE_IMAGE && !agx_fast_is_whole(commands, wanted, binding))
      return false;
   return !(wanted->kind & AGX_TEMPLATE_SAMPLER) ||
          (binding->sampler && binding->sampler->device == commands->device);
}

/* A buffer that the draw names. */
static inline bool agx_fast_check_drawn(const struct agx_command_buffer *commands,
                                        struct agx_fast_call *call, uint32_t index)
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
AGX_LAUNCH_INLINE bool agx_fast_check_bindings(const struct agx_command_buffer *commands,
                                               struct agx_fast_call *call, bool has_others)
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
      if (is_buffer ? !agx_fast_check_buffer(commands, call, wanted, i)
                    : !agx_fast_check_states(commands, wanted, binding))
         return false;
   }
   for (uint32_t i = count; has_others && i < template->binding_count; i++)
      if (!agx_fast_check_drawn(commands, call, i))
         return false;
   return true;
}

/* False also for a grid of no threads. Threads along y and z fit in 32 bits: a workgroup has at
 * most 1024. */
static inline bool agx_fast_check_grid(struct agx_fast_call *call)
{
   const struct agx_launch_template *template = call->in.template;
   const uint32_t *groups = call->in.dispatch->workgroups;
   for (unsigned i = 0; i < 3; i++)
      call->in.threads[i] = groups[i] * template->local[i];
   return groups[0] - 1 < template->max_groups && groups[1] - 1 < AGX_FAST_MAX_GROUPS &&
          groups[2] - 1 < AGX_FAST_MAX_GROUPS;
}

/* The grid of a draw; false also for one of nothing. */
static inline bool agx_fast_check_draw(struct agx_fast_call *call)
{
   call->in.threads[0] = call->in.draw->vertex_count;
   call->in.threads[1] = call->in.draw->instance_count;
   call->in.threads[2] = 1;
   return call->in.threads[0] && call->in.threads[1] &&
          agx_vertex_check(call->in.executable->program, call->in.draw) == AGX_OK;
}

/* Whether the dispatch gives push constants for all that the parts read. */
static inline bool agx_fast_check_push(const struct agx_fast_call *call)
{
   const struct agx_dispatch *dispatch = call->in.dispatch;
   return dispatch->push_B >= call->in.template->push_B && dispatch->push_B <= AGX_MAX_PUSH_B &&
          (dispatch->push || !dispatch->push_B);
}

/* Runs the unchecked variant where its guards hold. False: not here. */
static inline bool agx_fast_choose_variant(struct agx_fast_call *call)
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
