/* SPDX-License-Identifier: MIT */
#include "program/guards.h"

#include <string.h>

#include "program/guard_arith.h"

/* ---- making -------------------------------------------------------------- */

static bool add(struct agx_guards *guards, struct agx_guard_step step)
{
   if (guards->step_count == AGX_GUARD_MAX_STEPS)
      return false;
   guards->steps[guards->step_count++] = step;
   return true;
}

static bool has_same_steps(const struct agx_program_guard *a, const struct agx_program_guard *b)
{
   return a->step_count == b->step_count &&
          memcmp(a->steps, b->steps, a->step_count * sizeof(a->steps[0])) == 0;
}

/* *out_step is all of a bound that is linear. */
static bool find_linear(const struct agx_program_guard *guard, struct agx_guard_step *out_step)
{
   const struct agx_program_step *step = guard->steps;
   const bool is_below =
      guard->step_count == 5 && step[1].op == AGX_STEP_PUSH && step[2].op == AGX_STEP_BELOW;
   const struct agx_program_step *times = is_below ? step + 3 : step + 1;
   if ((!is_below && guard->step_count != 3) || step[0].op != AGX_STEP_LAST_THREAD ||
       times[0].op != AGX_STEP_CONSTANT || times[1].op != AGX_STEP_WIDE_MUL)
      return false;
   *out_step = (struct agx_guard_step){.code = AGX_GUARD_LINEAR,
                                       .op = is_below ? (uint8_t)step[1].value : 0,
                                       .leaf = is_below,
                                       .index = (uint8_t)step[0].value,
                                       .value = times[0].value};
   return true;
}

/* A leaf, and whether the step behind it, or NULL, takes it at once instead of from the stack. */
static bool add_leaf(struct agx_guards *guards, const struct agx_program_step *leaf,
                     const struct agx_program_step *next, bool is_first)
{
   const bool is_constant = leaf->op == AGX_STEP_CONSTANT;
   const bool is_taken = next && !is_first;
   const uint8_t code = is_first ? AGX_GUARD_FIRST : is_taken ? AGX_GUARD_LEAF : AGX_GUARD_PUSH;
   const uint32_t op = is_taken ? next->op : 0;
   return add(guards, (struct agx_guard_step){
                         .code = code,
                         .op = (uint8_t)op,
                         .leaf = (uint8_t)leaf->op,
                         .index = is_constant ? 0 : (uint8_t)leaf->value,
                         .value = is_constant ? leaf->value
                                  : is_taken  ? next->value
                                              : 0,
                      });
}

/* Only COUNT_SIGNED has a number of its own, for which a constant leaves no room. */
static bool takes_leaf(const struct agx_program_step *step, const struct agx_program_step *leaf)
{
   return agx_step_operands(step->op) > 0 &&
          !(step->op == AGX_STEP_COUNT_SIGNED && leaf->op == AGX_STEP_CONSTANT);
}

static bool add_bound(struct agx_guards *guards, const struct agx_program_guard *guard)
{
   struct agx_guard_step linear;
   if (find_linear(guard, &linear))
      return add(guards, linear);
   for (uint32_t i = 0; i < guard->step_count; i++) {
      const struct agx_program_step *step = &guard->steps[i], *next = NULL;
      if (agx_step_operands(step->op) > 0) {
         if (!add(guards, (struct agx_guard_step){
                             .code = AGX_GUARD_POP, .op = (uint8_t)step->op, .value = step->value}))
            return false;
         continue;
      }
      if (i > 0 && i + 1 < guard->step_count && takes_leaf(step + 1, step))
         next = step + 1;
      if (!add_leaf(guards, step, next, i == 0))
         return false;
      i += next != NULL;
   }
   return true;
}

/* A bound, and all that is held against it. */
static bool add_group(struct agx_guards *guards, const struct agx_program *program, uint32_t first)
{
   if (!add_bound(guards, &program->guards[first]))
      return false;
   for (uint32_t i = first; i < program->guard_count; i++) {
      const struct agx_program_guard *guard = &program->guards[i];
      const struct agx_guard_step test = {
         .code = AGX_GUARD_TEST, .index = (uint8_t)guard->binding, .value = guard->bytes};
      if (has_same_steps(guard, &program->guards[first]) && !add(guards, test))
         return false;
   }
   return true;
}

bool agx_guards_make(const struct agx_program *program, struct agx_guards *out_guards)
{
   *out_guards = (struct agx_guards){0};
   for (uint32_t i = 0; i < program->guard_count; i++) {
      bool is_new = true;
      for (uint32_t j = 0; j < i; j++)
         is_new &= !has_same_steps(&program->guards[i], &program->guards[j]);
      if (is_new && !add_group(out_guards, program, i))
         return false;
   }
   return true;
}

/* ---- looking ------------------------------------------------------------- */

static uint64_t leaf_value(const struct agx_guard_step *step, const struct agx_guard_launch *launch)
{
   uint32_t word;
   switch (step->leaf) {
   case AGX_STEP_CONSTANT:
      return step->value;
   case AGX_STEP_PUSH:
      memcpy(&word, launch->push + step->index, sizeof(word));
      return word;
   case AGX_STEP_SIZE:
      return agx_step_clamped(launch->sizes_B[step->index]);
   case AGX_STEP_GROUP_COUNT:
      return launch->workgroups[step->index];
   case AGX_STEP_LAST_GROUP:
      return launch->workgroups[step->index] - 1;
   default: /* AGX_STEP_LAST_THREAD */
      return launch->threads[step->index] - 1;
   }
}

void agx_guard_step(const struct agx_guard_step *step, const struct agx_guard_launch *launch,
                    struct agx_guard_stack *stack)
{
   const uint32_t value =
      step->code == AGX_GUARD_LEAF && step->leaf == AGX_STEP_CONSTANT ? 0 : step->value;
   switch (step->code) {
   case AGX_GUARD_FIRST:
      stack->below = 0;
      stack->top = leaf_value(step, launch);
      break;
   case AGX_GUARD_PUSH:
      stack->numbers[stack->below++] = stack->top;
      stack->top = leaf_value(step, launch);
      break;
   case AGX_GUARD_POP:
      stack->below--;
      stack->top = agx_step_value(step->op, value, stack->numbers[stack->below], stack->top);
      break;
   default: /* AGX_GUARD_LEAF */
      stack->top = agx_step_value(step->op, value, stack->top, leaf_value(step, launch));
      break;
   }
}
