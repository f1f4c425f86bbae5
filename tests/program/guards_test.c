/* SPDX-License-Identifier: MIT
 *
 * Guards made ready say what the guards themselves say: of all kinds of steps, at random, against
 * an interpreter that takes the steps one by one.
 */
#include "program/guards.h"

#include "base/util.h"
#include "program/guard_arith_impl.h"
#include "support.h"
#include "failing_alloc.h"

#define BINDINGS 3
#define PUSH_B   32

static uint32_t pick(uint64_t *seed, uint32_t below)
{
   *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
   return (uint32_t)(*seed >> 33) % below;
}

/* Small ones mostly; what wraps and what is negative otherwise. */
static uint32_t pick_number(uint64_t *seed)
{
   static const uint32_t odd[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe};
   return pick(seed, 4) ? pick(seed, 100) : odd[pick(seed, AGX_COUNT(odd))];
}

static struct agx_program_step pick_leaf(uint64_t *seed)
{
   const uint32_t op = pick(seed, AGX_STEP_LAST_THREAD + 1);
   const uint32_t value = op == AGX_STEP_CONSTANT ? pick_number(seed)
                          : op == AGX_STEP_PUSH   ? 4 * pick(seed, PUSH_B / 4)
                                                  : pick(seed, 3);
   return (struct agx_program_step){op, value};
}

/* One number is left in the end. */
static void pick_steps(uint64_t *seed, struct agx_program_guard *guard)
{
   const uint32_t first = AGX_STEP_LAST_THREAD + 1, most = 1 + pick(seed, 20);
   uint32_t depth = 0, count = 0;
   while (count < most || depth != 1) {
      const bool ends = count >= most;
      if (depth < 2 || (!ends && depth < AGX_PROGRAM_STEP_DEPTH && pick(seed, 2))) {
         guard->steps[count++] = pick_leaf(seed);
         depth++;
         continue;
      }
      const uint32_t op = first + pick(seed, AGX_STEP_COUNT - first);
      guard->steps[count++] =
         (struct agx_program_step){op, op == AGX_STEP_COUNT_SIGNED ? 1 + pick(seed, 64) : 0};
      depth--;
   }
   guard->step_count = count;
}

/* The last thread, below a number or not, by a number. */
static void pick_linear(uint64_t *seed, struct agx_program_guard *guard)
{
   uint32_t count = 0;
   guard->steps[count++] = (struct agx_program_step){AGX_STEP_LAST_THREAD, pick(seed, 3)};
   if (pick(seed, 2)) {
      guard->steps[count++] = (struct agx_program_step){AGX_STEP_PUSH, 4 * pick(seed, 8)};
      guard->steps[count++] =
         (struct agx_program_step){pick(seed, 4) ? AGX_STEP_BELOW : AGX_STEP_BELOW_SIGNED, 0};
   }
   guard->steps[count++] = (struct agx_program_step){AGX_STEP_CONSTANT, pick_number(seed)};
   guard->steps[count++] =
      (struct agx_program_step){pick(seed, 4) ? AGX_STEP_WIDE_MUL : AGX_STEP_WIDE_ADD, 0};
   guard->step_count = count;
}

static void pick_guards(uint64_t *seed, struct agx_program_guard *guards, uint32_t count)
{
   for (uint32_t i = 0; i < count; i++) {
      if (i > 0 && pick(seed, 2))
         guards[i] = guards[i - 1]; /* the same bound */
      else if (pick(seed, 2))
         pick_linear(seed, &guards[i]);
      else
         pick_steps(seed, &guards[i]);
      guards[i].binding = pick(seed, BINDINGS);
      guards[i].bytes = 1 + pick(seed, 16);
   }
}

/* ---- the interpreter -------------------------------------------------------- */

static uint64_t leaf(const struct agx_program_step *step, const struct agx_guard_launch *launch)
{
   uint32_t word;
   switch (step->op) {
   case AGX_STEP_CONSTANT:
      return step->value;
   case AGX_STEP_PUSH:
      memcpy(&word, launch->push + step->value, sizeof(word));
      return word;
   case AGX_STEP_SIZE:
      return agx_step_clamped(launch->sizes_B[step->value]);
   case AGX_STEP_GROUP_COUNT:
      return launch->workgroups[step->value];
   case AGX_STEP_LAST_GROUP:
      return launch->workgroups[step->value] - 1;
   default: /* AGX_STEP_LAST_THREAD */
      return launch->threads[step->value] - 1;
   }
}

static bool model_holds(const struct agx_program_guard *guard,
                        const struct agx_guard_launch *launch)
{
   uint64_t stack[AGX_PROGRAM_STEP_DEPTH] = {0};
   unsigned top = 0;
   for (uint32_t i = 0; i < guard->step_count; i++) {
      const struct agx_program_step *step = &guard->steps[i];
      if (agx_step_operands(step->op) == 0) {
         stack[top++] = leaf(step, launch);
         continue;
      }
      uint64_t b = stack[--top], a = stack[top - 1];
      stack[top - 1] = agx_step_value(step->op, step->value, a, b);
   }
   const uint64_t size_B = launch->sizes_B[guard->binding];
   return guard->bytes <= size_B && stack[0] <= size_B - guard->bytes;
}

static bool model_all_hold(const struct agx_program *program, const struct agx_guard_launch *launch)
{
   bool all = true;
   for (uint32_t i = 0; i < program->guard_count; i++) {
      const bool one = model_holds(&program->guards[i], launch);
      assert_int_equal(agx_guard_holds(&program->guards[i], launch), one);
      all &= one;
   }
   return all;
}

/* ---- tests ------------------------------------------------------------------ */

static bool holds(const struct agx_program *program, const struct agx_guards *guards,
                  uint64_t *seed, uint32_t *refused)
{
   uint32_t push[PUSH_B / 4], groups[3], threads[3];
   uint64_t sizes_B[BINDINGS];
   for (uint32_t i = 0; i < AGX_COUNT(push); i++)
      push[i] = pick_number(seed);
   for (uint32_t i = 0; i < BINDINGS; i++)
      sizes_B[i] = pick(seed, 3) ? pick(seed, 10000) : (uint64_t)pick_number(seed) << pick(seed, 8);
   for (uint32_t i = 0; i < 3; i++) {
      groups[i] = 1 + pick(seed, 50);
      threads[i] = groups[i] * program->local_size[i];
   }
   const struct agx_guard_launch launch = {(const uint8_t *)push, groups, threads, sizes_B};
   const bool expected = model_all_hold(program, &launch);
   assert_int_equal(agx_guards_hold(guards, &launch), expected);
   *refused += !expected;
   return expected;
}

static void guards_made_ready_say_the_same(void **state)
{
   static struct agx_program_guard guards[4];
   struct agx_program program = {.unchecked = &program,
                                 .guards = guards,
                                 .local_size = {32, 4, 1},
                                 .push_B = PUSH_B,
                                 .binding_count = BINDINGS};
   uint32_t held = 0, refused = 0;
   uint64_t seed = 1;
   for (uint32_t round = 0; round < 20000; round++) {
      struct agx_guards ready;
      program.guard_count = pick(&seed, AGX_COUNT(guards) + 1);
      pick_guards(&seed, guards, program.guard_count);
      assert_ok(agx_guards_init(&program, NULL, &ready));
      for (uint32_t i = 0; i < 20; i++)
         held += holds(&program, &ready, &seed, &refused);
      agx_guards_fini(&ready, NULL);
   }
   assert_true(held > 20000);
   assert_true(refused > 20000);
}

/* As many guards as a program may have, each as long as it may be. */
static void as_many_as_there_may_be(void **state)
{
   static struct agx_program_guard guards[AGX_PROGRAM_MAX_GUARDS];
   const struct agx_program program = {.guards = guards, .guard_count = AGX_COUNT(guards)};
   const uint32_t groups[3] = {1, 1, 1};
   const uint64_t sizes_B[1] = {2000};
   const struct agx_guard_launch launch = {NULL, groups, groups, sizes_B};
   struct agx_guards ready;
   for (uint32_t i = 0; i < AGX_COUNT(guards); i++) {
      guards[i].bytes = 1;
      while (guards[i].step_count + 2 <= AGX_PROGRAM_MAX_STEPS) {
         struct agx_program_step *step = &guards[i].steps[guards[i].step_count++];
         *step = (struct agx_program_step){AGX_STEP_CONSTANT, i};
         if (guards[i].step_count > 1)
            guards[i].steps[guards[i].step_count++] = (struct agx_program_step){AGX_STEP_ADD, 0};
      }
   }
   assert_ok(agx_guards_init(&program, NULL, &ready));
   assert_true(model_all_hold(&program, &launch));
   assert_true(agx_guards_hold(&ready, &launch));
   guards[AGX_COUNT(guards) - 1].bytes = 2000;
   agx_guards_fini(&ready, NULL);
   assert_ok(agx_guards_init(&program, NULL, &ready));
   assert_false(agx_guards_hold(&ready, &launch));
   agx_guards_fini(&ready, NULL);
}

static void lack_of_memory_is_said(void **state)
{
   static struct agx_program_guard guard = {.step_count = 1};
   const struct agx_program program = {.name = "kernel", .guards = &guard, .guard_count = 1};
   struct failing_alloc failing;
   struct agx_guards ready;
   failing_alloc_init(&failing, 0);
   assert_fails(agx_guards_init(&program, &failing.alloc, &ready), AGX_RESOURCE_EXHAUSTED,
                "no memory for 1 guards");
   assert_null(ready.steps);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(guards_made_ready_say_the_same),
      cmocka_unit_test(as_many_as_there_may_be),
      cmocka_unit_test(lack_of_memory_is_said),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
