/* SPDX-License-Identifier: MIT
 *
 * The conditions of a program's twin, made ready to be looked at for every dispatch: bounds that
 * several of them share are computed once, and most steps take a number straight from the dispatch
 * instead of from the stack. It says the same as agx_program_runs_inside.
 */
#pragma once

#include <string.h>

#include "base/util.h"
#include "program/program.h"

#define AGX_INSIDE_MAX_STEPS 96

enum agx_inside_code {
   AGX_INSIDE_TEST, /* that the bound and `value` bytes fit into sizes_B[index] */
   /* What most bounds are, as a whole: the last thread along `index`, below the push constant at
    * byte `op` where `leaf` says so, by `value`. */
   AGX_INSIDE_LINEAR,
   /* The others, step by step: op of the topmost number and of a leaf, or of the two topmost ones.
    */
   AGX_INSIDE_LEAF,
   AGX_INSIDE_POP,
   AGX_INSIDE_PUSH,  /* no op: the leaf goes on top */
   AGX_INSIDE_FIRST, /* it is the only number */
};

struct agx_inside_step {
   uint8_t code;     /* enum agx_inside_code */
   uint8_t op, leaf; /* enum agx_step_op; a constant is `value`, else `index` says which one */
   uint8_t index;
   uint32_t value;
};

struct agx_inside {
   uint32_t step_count;
   struct agx_inside_step steps[AGX_INSIDE_MAX_STEPS];
};

/* A dispatch that was checked: there are push constants for all that the program reads. */
struct agx_inside_launch {
   const uint8_t *push;
   const uint32_t *workgroups, *threads; /* of three axes; at least 1 */
   const uint64_t *sizes_B;              /* of bindings */
};

/* False: they are too many. The program was checked. */
bool agx_inside_make(const struct agx_program *program, struct agx_inside *out_inside);

/* Numbers of a bound being computed; below: under the topmost one. */
struct agx_inside_stack {
   uint64_t top, numbers[AGX_PROGRAM_STEP_DEPTH];
   uint32_t below;
};

/* A step of the others. */
void agx_inside_step(const struct agx_inside_step *step, const struct agx_inside_launch *launch,
                     struct agx_inside_stack *stack);

static inline uint64_t agx_inside_linear(const struct agx_inside_step *step,
                                         const struct agx_inside_launch *launch)
{
   uint64_t last = launch->threads[step->index] - 1;
   uint32_t count;
   if (step->leaf) {
      memcpy(&count, launch->push + step->op, sizeof(count));
      last = AGX_MIN(last, count ? count - 1 : 0u);
   }
   return last * step->value; /* of 32 bits each */
}

static inline bool agx_inside_fits(const struct agx_inside_step *step, uint64_t bound,
                                   const struct agx_inside_launch *launch)
{
   const uint64_t size_B = launch->sizes_B[step->index];
   return step->value <= size_B && bound <= size_B - step->value;
}

static inline bool agx_inside_holds(const struct agx_inside *inside,
                                    const struct agx_inside_launch *launch)
{
   const struct agx_inside_step *step = inside->steps, *end = step + inside->step_count;
   struct agx_inside_stack stack; /* a bound's first step writes to it */
   while (step < end) {
      if (step->code == AGX_INSIDE_LINEAR)
         stack.top = agx_inside_linear(step++, launch);
      else
         for (; step->code != AGX_INSIDE_TEST; step++)
            agx_inside_step(step, launch, &stack);
      for (; step < end && step->code == AGX_INSIDE_TEST; step++)
         if (!agx_inside_fits(step, stack.top, launch))
            return false;
   }
   return true;
}
