/* SPDX-License-Identifier: MIT
 *
 * The guards of a program's unchecked variant, made ready to be evaluated for every dispatch:
 * bounds that several of them share are computed once, and most steps take a number straight from
 * the dispatch instead of from the stack. This is the only evaluator of struct agx_program_guard;
 * both ways to record a dispatch ask it which code runs.
 */
#pragma once

#include <string.h>

#include "base/alloc.h"
#include "base/util.h"
#include "program/program.h"

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
   struct agx_guard_step *steps; /* owned */
   uint32_t step_count, capacity;
};

/* What a dispatch gives, once it was checked: there are push constants for all that the program
 * reads, and no axis is without threads. */
struct agx_guard_launch {
   const uint8_t *push;
   const uint32_t *workgroups, *threads; /* of three axes; at least 1 */
   const uint64_t *sizes_B;              /* of bindings; only those of buffers are read */
};

/* Makes the guards of a program that agx_program_check has seen ready, in memory from alloc, which
 * agx_guards_fini frees. AGX_RESOURCE_EXHAUSTED: out of host memory. A program without an unchecked
 * variant takes no memory. */
AGX_MUST_CHECK agx_status agx_guards_init(const struct agx_program *program,
                                          const struct agx_host_alloc *alloc,
                                          struct agx_guards *out_guards);
/* Gives the memory of agx_guards_init back; alloc is the same. All zeros: nothing. */
void agx_guards_fini(struct agx_guards *guards, const struct agx_host_alloc *alloc);

/* Returns whether one guard holds, without memory. For the compiler, which asks once. */
bool agx_guard_holds(const struct agx_program_guard *guard, const struct agx_guard_launch *launch);

/* Numbers of a bound being computed; below: under the topmost one. */
struct agx_guard_stack {
   uint64_t top, numbers[AGX_PROGRAM_STEP_DEPTH];
   uint32_t below;
};

/* Does one step that is neither a test nor linear; agx_guards_hold calls it. */
void agx_guard_step(const struct agx_guard_step *step, const struct agx_guard_launch *launch,
                    struct agx_guard_stack *stack);

/* The bound of an AGX_GUARD_LINEAR step. */
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

/* Whether an AGX_GUARD_TEST step accepts the bound. */
static inline bool agx_guard_fits(const struct agx_guard_step *step, uint64_t bound,
                                  const struct agx_guard_launch *launch)
{
   const uint64_t size_B = launch->sizes_B[step->index];
   return step->value <= size_B && bound <= size_B - step->value;
}

/* Returns whether all guards hold, so that the unchecked variant may run. */
static inline bool agx_guards_hold(const struct agx_guards *guards,
                                   const struct agx_guard_launch *launch)
{
   const struct agx_guard_step *step = guards->steps;
   const struct agx_guard_step *end = guards->step_count ? step + guards->step_count : step;
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
