/* SPDX-License-Identifier: MIT
 *
 * Whether a dispatch stays inside its buffers, as far as grid, push constants and sizes tell:
 * the compiler says how to compute a bound of each access, this computes it. Bounds only ever
 * grow from step to step, and what might wrap is as large as 32 bits allow; so a bound that fits
 * is one that the kernel's own arithmetic, which wraps, can't exceed.
 */
#include <string.h>

#include "base/util.h"
#include "program/guard_arith.h"
#include "program/container.h"

/* ---- checks ------------------------------------------------------------- */

static bool step_fits(const struct agx_program *program, const struct agx_program_step *step)
{
   switch (step->op) {
   case AGX_STEP_PUSH:
      return step->value % 4 == 0 && agx_range_fits(step->value, 4, program->push_B);
   case AGX_STEP_SIZE:
      return step->value < program->binding_count;
   case AGX_STEP_GROUP_COUNT:
   case AGX_STEP_LAST_GROUP:
   case AGX_STEP_LAST_THREAD:
      return step->value < 3;
   default:
      return step->op < AGX_STEP_COUNT;
   }
}

static bool guard_fits(const struct agx_program *program, const struct agx_program_guard *guard)
{
   unsigned depth = 0;
   if (guard->binding >= program->binding_count ||
       !agx_binding_is_buffer(program->bindings[guard->binding].kind) ||
       guard->step_count > AGX_PROGRAM_MAX_STEPS)
      return false;
   for (uint32_t i = 0; i < guard->step_count; i++) {
      unsigned taken = agx_step_operands(guard->steps[i].op);
      if (!step_fits(program, &guard->steps[i]) || depth < taken)
         return false;
      depth = depth - taken + 1;
      if (depth > AGX_PROGRAM_STEP_DEPTH)
         return false;
   }
   return depth == 1;
}

static bool is_variant(const struct agx_program *a, const struct agx_program *b)
{
   if (a->is_vertex != b->is_vertex || a->binding_count != b->binding_count ||
       a->push_B != b->push_B || a->has_dynamic_local_size != b->has_dynamic_local_size ||
       a->has_dynamic_shared != b->has_dynamic_shared || b->unchecked)
      return false;
   for (uint32_t i = 0; i < a->binding_count; i++) {
      const struct agx_program_binding *x = &a->bindings[i], *y = &b->bindings[i];
      if (x->set != y->set || x->binding != y->binding || x->kind != y->kind ||
          x->access != y->access || x->element != y->element || x->dim != y->dim ||
          x->elements != y->elements)
         return false;
   }
   return memcmp(a->local_size, b->local_size, sizeof(a->local_size)) == 0;
}

agx_status agx_program_check_guards(const struct agx_program *program)
{
   if (!program->unchecked)
      return AGX_OK;
   if (program->is_vertex || !is_variant(program, program->unchecked))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "program %s: the unchecked variant is of another one",
                      program->name);
   if (program->guard_count > AGX_PROGRAM_MAX_GUARDS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "program %s: %u guards, at most %u", program->name,
                      program->guard_count, AGX_PROGRAM_MAX_GUARDS);
   for (uint32_t i = 0; i < program->guard_count; i++)
      if (!guard_fits(program, &program->guards[i]))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "program %s: guard %u", program->name, i);
   return AGX_OK;
}

/* ---- steps -------------------------------------------------------------- */

static uint32_t push_word(const struct agx_program_launch *launch, uint32_t at)
{
   uint32_t word = 0;
   if (at < launch->push_B)
      memcpy(&word, (const char *)launch->push + at, AGX_MIN(launch->push_B - at, 4u));
   return word;
}

static uint32_t threads_across(const struct agx_program *program,
                               const struct agx_program_launch *launch, uint32_t axis)
{
   return launch->local_size[axis] ? launch->local_size[axis] : program->local_size[axis];
}

static uint64_t leaf(const struct agx_program *program, const struct agx_program_launch *launch,
                     const struct agx_program_step *step)
{
   uint64_t groups = step->value < 3 ? launch->workgroups[step->value] : 0;
   switch (step->op) {
   case AGX_STEP_CONSTANT:
      return step->value;
   case AGX_STEP_PUSH:
      return push_word(launch, step->value);
   case AGX_STEP_SIZE:
      return agx_step_clamped(launch->sizes_B[step->value]);
   case AGX_STEP_GROUP_COUNT:
      return groups;
   case AGX_STEP_LAST_GROUP:
      return groups ? groups - 1 : 0;
   default: /* AGX_STEP_LAST_THREAD */
      return groups ? agx_step_clamped(groups * threads_across(program, launch, step->value) - 1)
                    : 0;
   }
}

bool agx_program_guard_holds(const struct agx_program *program,
                             const struct agx_program_launch *launch,
                             const struct agx_program_guard *guard)
{
   uint64_t stack[AGX_PROGRAM_STEP_DEPTH] = {0};
   unsigned top = 0;
   for (uint32_t i = 0; i < guard->step_count; i++) {
      const struct agx_program_step *step = &guard->steps[i];
      if (agx_step_operands(step->op) == 0) {
         stack[top++] = leaf(program, launch, step);
         continue;
      }
      uint64_t b = stack[--top], a = stack[top - 1];
      stack[top - 1] = agx_step_value(step->op, step->value, a, b);
   }
   uint64_t size = launch->sizes_B[guard->binding];
   return guard->bytes <= size && stack[0] <= size - guard->bytes;
}

bool agx_program_guards_hold(const struct agx_program *program,
                             const struct agx_program_launch *launch)
{
   if (!program->unchecked)
      return false;
   for (uint32_t i = 0; i < program->guard_count; i++)
      if (!agx_program_guard_holds(program, launch, &program->guards[i]))
         return false;
   return true;
}
