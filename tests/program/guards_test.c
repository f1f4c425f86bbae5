/* SPDX-License-Identifier: MIT
 *
 * Guards made ready say what the guards themselves say: of all kinds of steps, at random.
 */
#include "program/guards.h"

#include "base/util.h"
#include "support.h"

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
   const struct agx_program_launch launch = {.push = push,
                                             .push_B = PUSH_B,
                                             .workgroups = {groups[0], groups[1], groups[2]},
                                             .sizes_B = sizes_B};
   const struct agx_guard_launch ready = {(const uint8_t *)push, groups, threads, sizes_B};
   const bool expected = agx_program_guards_hold(program, &launch);
   assert_int_equal(agx_guards_hold(guards, &ready), expected);
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
      if (!agx_guards_make(&program, &ready))
         continue;
      for (uint32_t i = 0; i < 20; i++)
         held += holds(&program, &ready, &seed, &refused);
   }
   assert_true(held > 20000);
   assert_true(refused > 20000);
}

static void too_many_are_refused(void **state)
{
   static struct agx_program_guard guards[AGX_GUARD_MAX_STEPS / 2 + 1];
   struct agx_program program = {.guards = guards, .guard_count = AGX_GUARD_MAX_STEPS / 2};
   struct agx_guards ready;
   for (uint32_t i = 0; i < AGX_COUNT(guards); i++)
      guards[i] = (struct agx_program_guard){
         .step_count = 3,
         .steps = {{AGX_STEP_LAST_THREAD, 0}, {AGX_STEP_CONSTANT, i}, {AGX_STEP_WIDE_MUL, 0}}};
   assert_true(agx_guards_make(&program, &ready));
   assert_int_equal(ready.step_count, AGX_GUARD_MAX_STEPS);
   program.guard_count++;
   assert_false(agx_guards_make(&program, &ready));
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(guards_made_ready_say_the_same),
      cmocka_unit_test(too_many_are_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
