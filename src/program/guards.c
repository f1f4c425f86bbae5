/* SPDX-License-Identifier: MIT
 *
 * Guards of an unchecked variant: the checks of what a container says about them, the steps that
 * are made of them when an executable is loaded, and what each step computes. Bounds only ever grow
 * from step to step, and what might wrap is as large as 32 bits allow; so a bound that fits is one
 * that the kernel's own arithmetic, which wraps, can't exceed.
 */
#include "program/guards.h"

#include <string.h>

#include "program/container.h"
#include "program/guard_arith_impl.h"

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
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "the unchecked variant is of another one");
   if (program->guard_count > AGX_PROGRAM_MAX_GUARDS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%u guards, at most %u", program->guard_count,
                      AGX_PROGRAM_MAX_GUARDS);
   for (uint32_t i = 0; i < program->guard_count; i++)
      if (!guard_fits(program, &program->guards[i]))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "guard %u", i);
   return AGX_OK;
}

/* ---- making -------------------------------------------------------------- */

static void add(struct agx_guards *guards, struct agx_guard_step step)
{
   agx_assert(guards->step_count < guards->capacity);
   guards->steps[guards->step_count++] = step;
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
static void add_leaf(struct agx_guards *guards, const struct agx_program_step *leaf,
                     const struct agx_program_step *next, bool is_first)
{
   const bool is_constant = leaf->op == AGX_STEP_CONSTANT;
   const bool is_taken = next && !is_first;
   const uint8_t code = is_first ? AGX_GUARD_FIRST : is_taken ? AGX_GUARD_LEAF : AGX_GUARD_PUSH;
   const uint32_t op = is_taken ? next->op : 0;
   add(guards, (struct agx_guard_step){
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

static void add_bound(struct agx_guards *guards, const struct agx_program_guard *guard)
{
   struct agx_guard_step linear;
   if (find_linear(guard, &linear)) {
      add(guards, linear);
      return;
   }
   for (uint32_t i = 0; i < guard->step_count; i++) {
      const struct agx_program_step *step = &guard->steps[i], *next = NULL;
      if (agx_step_operands(step->op) > 0) {
         add(guards, (struct agx_guard_step){
                        .code = AGX_GUARD_POP, .op = (uint8_t)step->op, .value = step->value});
         continue;
      }
      if (i > 0 && i + 1 < guard->step_count && takes_leaf(step + 1, step))
         next = step + 1;
      add_leaf(guards, step, next, i == 0);
      i += next != NULL;
   }
}

static void add_test(struct agx_guards *guards, const struct agx_program_guard *guard)
{
   add(guards, (struct agx_guard_step){
                  .code = AGX_GUARD_TEST, .index = (uint8_t)guard->binding, .value = guard->bytes});
}

/* A bound, and all that is held against it. */
static void add_group(struct agx_guards *guards, const struct agx_program *program, uint32_t first)
{
   add_bound(guards, &program->guards[first]);
   for (uint32_t i = first; i < program->guard_count; i++)
      if (has_same_steps(&program->guards[i], &program->guards[first]))
         add_test(guards, &program->guards[i]);
}

agx_status agx_guards_init(const struct agx_program *program, const struct agx_host_alloc *alloc,
                           struct agx_guards *out_guards)
{
   uint32_t capacity = program->guard_count; /* a test for each, and at most its own steps */
   *out_guards = (struct agx_guards){0};
   for (uint32_t i = 0; i < program->guard_count; i++)
      capacity += program->guards[i].step_count;
   if (!capacity)
      return AGX_OK;
   out_guards->steps = agx_host_zalloc(alloc, capacity * sizeof(out_guards->steps[0]));
   if (!out_guards->steps)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "program %s: no memory for %u guards", program->name,
                      program->guard_count);
   out_guards->capacity = capacity;
   for (uint32_t i = 0; i < program->guard_count; i++) {
      bool is_new = true;
      for (uint32_t j = 0; j < i; j++)
         is_new &= !has_same_steps(&program->guards[i], &program->guards[j]);
      if (is_new)
         add_group(out_guards, program, i);
   }
   return AGX_OK;
}

void agx_guards_fini(struct agx_guards *guards, const struct agx_host_alloc *alloc)
{
   if (guards->steps)
      agx_host_free(alloc, guards->steps, guards->capacity * sizeof(guards->steps[0]));
   *guards = (struct agx_guards){0};
}

bool agx_guard_holds(const struct agx_program_guard *guard, const struct agx_guard_launch *launch)
{
   struct agx_guard_step steps[AGX_PROGRAM_MAX_STEPS + 1];
   struct agx_guards guards = {.steps = steps, .capacity = AGX_COUNT(steps)};
   add_bound(&guards, guard);
   add_test(&guards, guard);
   return agx_guards_hold(&guards, launch);
}

/* ---- evaluation ---------------------------------------------------------- */

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
