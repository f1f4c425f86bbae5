/* SPDX-License-Identifier: MIT */
#include "program/inside.h"

#include <string.h>

#include "program/bound.h"

/* ---- making -------------------------------------------------------------- */

static bool add(struct agx_inside *inside, struct agx_inside_step step)
{
   if (inside->step_count == AGX_INSIDE_MAX_STEPS)
      return false;
   inside->steps[inside->step_count++] = step;
   return true;
}

static bool has_same_steps(const struct agx_program_condition *a,
                           const struct agx_program_condition *b)
{
   return a->step_count == b->step_count &&
          memcmp(a->steps, b->steps, a->step_count * sizeof(a->steps[0])) == 0;
}

/* *out_step is all of a bound that is linear. */
static bool find_linear(const struct agx_program_condition *condition,
                        struct agx_inside_step *out_step)
{
   const struct agx_program_step *step = condition->steps;
   const bool is_below =
      condition->step_count == 5 && step[1].op == AGX_STEP_PUSH && step[2].op == AGX_STEP_BELOW;
   const struct agx_program_step *times = is_below ? step + 3 : step + 1;
   if ((!is_below && condition->step_count != 3) || step[0].op != AGX_STEP_LAST_THREAD ||
       times[0].op != AGX_STEP_CONSTANT || times[1].op != AGX_STEP_WIDE_MUL)
      return false;
   *out_step = (struct agx_inside_step){.code = AGX_INSIDE_LINEAR,
                                        .op = is_below ? (uint8_t)step[1].value : 0,
                                        .leaf = is_below,
                                        .index = (uint8_t)step[0].value,
                                        .value = times[0].value};
   return true;
}

/* A leaf, and whether the step behind it, or NULL, takes it at once instead of from the stack. */
static bool add_leaf(struct agx_inside *inside, const struct agx_program_step *leaf,
                     const struct agx_program_step *next, bool is_first)
{
   const bool is_constant = leaf->op == AGX_STEP_CONSTANT;
   const bool is_taken = next && !is_first;
   const uint8_t code = is_first ? AGX_INSIDE_FIRST : is_taken ? AGX_INSIDE_LEAF : AGX_INSIDE_PUSH;
   const uint32_t op = is_taken ? next->op : 0;
   return add(inside, (struct agx_inside_step){
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

static bool add_bound(struct agx_inside *inside, const struct agx_program_condition *condition)
{
   struct agx_inside_step linear;
   if (find_linear(condition, &linear))
      return add(inside, linear);
   for (uint32_t i = 0; i < condition->step_count; i++) {
      const struct agx_program_step *step = &condition->steps[i], *next = NULL;
      if (agx_step_operands(step->op) > 0) {
         if (!add(inside, (struct agx_inside_step){.code = AGX_INSIDE_POP,
                                                   .op = (uint8_t)step->op,
                                                   .value = step->value}))
            return false;
         continue;
      }
      if (i > 0 && i + 1 < condition->step_count && takes_leaf(step + 1, step))
         next = step + 1;
      if (!add_leaf(inside, step, next, i == 0))
         return false;
      i += next != NULL;
   }
   return true;
}

/* A bound, and all that is held against it. */
static bool add_group(struct agx_inside *inside, const struct agx_program *program, uint32_t first)
{
   if (!add_bound(inside, &program->conditions[first]))
      return false;
   for (uint32_t i = first; i < program->condition_count; i++) {
      const struct agx_program_condition *condition = &program->conditions[i];
      const struct agx_inside_step test = {
         .code = AGX_INSIDE_TEST, .index = (uint8_t)condition->binding, .value = condition->bytes};
      if (has_same_steps(condition, &program->conditions[first]) && !add(inside, test))
         return false;
   }
   return true;
}

bool agx_inside_make(const struct agx_program *program, struct agx_inside *out_inside)
{
   *out_inside = (struct agx_inside){0};
   for (uint32_t i = 0; i < program->condition_count; i++) {
      bool is_new = true;
      for (uint32_t j = 0; j < i; j++)
         is_new &= !has_same_steps(&program->conditions[i], &program->conditions[j]);
      if (is_new && !add_group(out_inside, program, i))
         return false;
   }
   return true;
}

/* ---- looking ------------------------------------------------------------- */

static uint64_t leaf_value(const struct agx_inside_step *step,
                           const struct agx_inside_launch *launch)
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

void agx_inside_step(const struct agx_inside_step *step, const struct agx_inside_launch *launch,
                     struct agx_inside_stack *stack)
{
   const uint32_t value =
      step->code == AGX_INSIDE_LEAF && step->leaf == AGX_STEP_CONSTANT ? 0 : step->value;
   switch (step->code) {
   case AGX_INSIDE_FIRST:
      stack->below = 0;
      stack->top = leaf_value(step, launch);
      break;
   case AGX_INSIDE_PUSH:
      stack->numbers[stack->below++] = stack->top;
      stack->top = leaf_value(step, launch);
      break;
   case AGX_INSIDE_POP:
      stack->below--;
      stack->top = agx_step_value(step->op, value, stack->numbers[stack->below], stack->top);
      break;
   default: /* AGX_INSIDE_LEAF */
      stack->top = agx_step_value(step->op, value, stack->top, leaf_value(step, launch));
      break;
   }
}
