/* SPDX-License-Identifier: MIT
 *
 * The guards of a program's unchecked variant, made ready to be looked at for every dispatch:
 * bounds that several of them share are computed once, and most steps take a number straight from
 * the dispatch instead of from the stack. It says the same as agx_program_guards_hold.
 */
#pragma once

#include <string.h>

#include "base/util.h"
#include "program/program.h"

#define AGX_GUARD_MAX_STEPS 96

enum agx_guard_code {
   AGX_GUARD_TEST, /* that the bound and `value` bytes fit into sizes_B[index] */
   /* What most bounds are, as a whole: the last thread along `index`, below the push constant at
    * byte `op` where `leaf` says so, by `value`. */
   AGX_GUARD_LINEAR,
   /* The others, step by step: op of the topmost number and of a leaf, or of the two topmost ones.
    */
   AGX_GUARD_LEAF,
   AGX_GUARD_POP,
   AGX_GUARD_PUSH,  /* no op: the leaf goes on top */
   AGX_GUARD_FIRST, /* it is the only number */
};

struct agx_guard_step {
   uint8_t code;     /* enum agx_guard_code */
   uint8_t op, leaf; /* enum agx_step_op; a constant is `value`, else `index` says which one */
   uint8_t index;
   uint32_t value;
};

struct agx_guards {
   uint32_t step_count;
   struct agx_guard_step steps[AGX_GUARD_MAX_STEPS];
};

/* A dispatch that was checked: there are push constants for all that the program reads. */
struct agx_guard_launch {
   const uint8_t *push;
   const uint32_t *workgroups, *threads; /* of three axes; at least 1 */
   const uint64_t *sizes_B;              /* of bindings */
};

/* False: they are too many. The program was checked. */
bool agx_guards_make(const struct agx_program *program, struct agx_guards *out_guards);

/* Numbers of a bound being computed; below: under the topmost one. */
struct agx_guard_stack {
   uint64_t top, numbers[AGX_PROGRAM_STEP_DEPTH];
   uint32_t below;
};

/* A step of the others. */
void agx_guard_step(const struct agx_guard_step *step, const struct agx_guard_launch *launch,
                    struct agx_guard_stack *stack);

static inline uint64_t agx_guard_linear(const struct agx_guard_step *step,
                                        const struct agx_guard_launch *launch)
{
   uint64_t last = launch->threads[step->index] - 1;
   uint32_t count;
   if (step->leaf) {
      memcpy(&count, launch->push + step->op, sizeof(count));
      last = AGX_MIN(last, count ? count - 1 : 0u);
   }
   return last * step->value; /* of 32 bits each */
}

static inline bool agx_guard_fits(const struct agx_guard_step *step, uint64_t bound,
                                  const struct agx_guard_launch *launch)
{
   const uint64_t size_B = launch->sizes_B[step->index];
   return step->value <= size_B && bound <= size_B - step->value;
}

static inline bool agx_guards_hold(const struct agx_guards *guards,
                                   const struct agx_guard_launch *launch)
{
   const struct agx_guard_step *step = guards->steps, *end = step + guards->step_count;
   struct agx_guard_stack stack; /* a bound's first step writes to it */
   while (step < end) {
      if (step->code == AGX_GUARD_LINEAR)
         stack.top = agx_guard_linear(step++, launch);
      else
         for (; step->code != AGX_GUARD_TEST; step++)
            agx_guard_step(step, launch, &stack);
      for (; step < end && step->code == AGX_GUARD_TEST; step++)
         if (!agx_guard_fits(step, stack.top, launch))
            return false;
   }
   return true;
}
