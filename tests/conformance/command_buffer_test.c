/* SPDX-License-Identifier: MIT
 *
 * Recording: states, grids, bindings, reuse.
 */
#include "conformance.h"

#include <string.h>

static void states_are_kept(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_command_buffer *commands = NULL;
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc), .label = "states"};
   assert_ok(agx_command_buffer_create(f->device, &desc, &commands));
   assert_fails(agx_command_buffer_end(commands), AGX_FAILED_PRECONDITION, "states");
   assert_fails(agx_cmd_barrier(commands, NULL), AGX_FAILED_PRECONDITION, "states");
   assert_fails(fixture_submit(f, commands, NO_POINT, NO_POINT), AGX_FAILED_PRECONDITION, "states");
   assert_ok(agx_command_buffer_begin(commands));
   assert_fails(fixture_submit(f, commands, NO_POINT, NO_POINT), AGX_FAILED_PRECONDITION, "states");
   assert_ok(agx_cmd_barrier(commands, NULL));
   conformance_run(f, commands);
   assert_fails(agx_cmd_barrier(commands, NULL), AGX_FAILED_PRECONDITION, "states");
   agx_release(commands);
}

static void grids_have_three_dimensions(void **state)
{
   static const uint32_t grids[][3] = {{1, 1, 1}, {3, 2, 1}, {1, 1, 5}, {2, 3, 2}, {7, 1, 3}};
   struct fixture *f = conformance_device(state);
   struct agx_executable *grid = fixture_kernel(f, &conformance_grid);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 32768, &words);
   for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
      uint32_t w = grids[i][0] * 4, h = grids[i][1] * 2, d = grids[i][2] * 2;
      uint32_t push[2] = {w, w * h};
      struct agx_binding binding = {.ref = {buffer, 0, AGX_WHOLE_LENGTH}};
      struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                      .executable = grid,
                                      .workgroups = {grids[i][0], grids[i][1], grids[i][2]},
                                      .binding_count = 1,
                                      .bindings = &binding,
                                      .push = push,
                                      .push_B = sizeof(push)};
      struct agx_command_buffer *commands = fixture_begin(f);
      memset(words, 0xff, 32768);
      assert_ok(agx_cmd_dispatch(commands, &dispatch));
      conformance_run(f, commands);
      for (uint32_t at = 0; at < w * h * d; at++)
         assert_int_equal(words[at], at % w + at / w % h * 100 + at / (w * h) * 10000);
      assert_int_equal(words[w * h * d], UINT32_MAX);
      agx_release(commands);
   }
   agx_release(buffer);
   agx_release(grid);
}

static void an_empty_grid_runs_nothing(void **state)
{
   static const uint32_t grids[][3] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {0, 0, 0}};
   struct fixture *f = conformance_device(state);
   struct agx_executable *count = fixture_kernel(f, &agx_test_count);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 256, &words);
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_binding binding = {.ref = {buffer, 0, AGX_WHOLE_LENGTH}};
   for (size_t i = 0; i < sizeof(grids) / sizeof(grids[0]); i++) {
      struct agx_dispatch dispatch = {
         .size = sizeof(dispatch), .executable = count, .binding_count = 1, .bindings = &binding};
      memcpy(dispatch.workgroups, grids[i], sizeof(grids[i]));
      assert_ok(agx_cmd_dispatch(commands, &dispatch));
   }
   conformance_run(f, commands);
   assert_int_equal(words[0], 0);
   agx_release(commands);
   agx_release(buffer);
   agx_release(count);
}

/* One buffer in both bindings, ranges that touch, the last words of a buffer. */
static void ranges_are_exact(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   uint32_t *words, push = 5;
   struct agx_buffer *buffer = fixture_buffer(f, 16384, &words);
   struct agx_binding bindings[2] = {{.binding = 0, .ref = {buffer, 16384 - 256, 128}},
                                     {.binding = 1, .ref = {buffer, 16384 - 128, 128}}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = add,
                                   .workgroups = {1, 1, 1},
                                   .binding_count = 2,
                                   .bindings = bindings,
                                   .push = &push,
                                   .push_B = 4};
   struct agx_command_buffer *commands = fixture_begin(f);
   for (uint32_t i = 0; i < 32; i++)
      words[4096 - 64 + i] = i + 1;
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   conformance_run(f, commands);
   for (uint32_t i = 0; i < 32; i++) {
      assert_int_equal(words[4096 - 64 + i], i + 1);
      assert_int_equal(words[4096 - 32 + i], i + 6);
   }
   assert_int_equal(words[4096 - 65], 0);
   agx_release(commands);
   agx_release(buffer);
   agx_release(add);
}

/* begin discards; the recording before leaves nothing. */
static void a_command_buffer_is_recorded_anew(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *count = fixture_kernel(f, &agx_test_count);
   uint32_t *first_words, *second_words;
   struct agx_buffer *first = fixture_buffer(f, 256, &first_words);
   struct agx_buffer *second = fixture_buffer(f, 40000, &second_words);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, count, 1, &first, 1, NULL, 0);
   conformance_run(f, commands);
   assert_int_equal(first_words[63], 64);
   memset(first_words, 0, 256);
   assert_ok(agx_command_buffer_begin(commands));
   for (int i = 0; i < 300; i++) /* needs more room than before */
      fixture_dispatch(commands, count, 10, &second, 1, NULL, 0);
   conformance_run(f, commands);
   assert_int_equal(first_words[63], 0);
   assert_int_equal(second_words[639], 640);
   assert_ok(agx_command_buffer_begin(commands));
   fixture_dispatch(commands, count, 1, &first, 1, NULL, 0);
   assert_ok(agx_command_buffer_begin(commands)); /* again, without an end */
   conformance_run(f, commands);
   assert_int_equal(first_words[63], 0);
   agx_release(commands);
   agx_release(first);
   agx_release(second);
   agx_release(count);
}

static void begin_waits_for_no_submission(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f), *done = fixture_semaphore(f);
   struct agx_command_buffer *commands = fixture_begin(f);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, conformance_point(go, 1), conformance_point(done, 1)));
   assert_fails(agx_command_buffer_begin(commands), AGX_FAILED_PRECONDITION, "in flight");
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(done, 1));
   agx_release(commands);
   agx_release(go);
   agx_release(done);
}

/* What a recording uses lives as long as the recording. */
static void a_recording_keeps_what_it_uses(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *count = fixture_kernel(f, &agx_test_count);
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   uint32_t *scratch_words, *words, push = 7;
   struct agx_buffer *scratch = fixture_buffer(f, 256, &scratch_words);
   struct agx_buffer *out = fixture_buffer(f, 256, &words);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, count, 1, &scratch, 1, NULL, 0);
   assert_ok(agx_cmd_barrier(commands, NULL));
   fixture_dispatch(commands, add, 2, (struct agx_buffer *[]){scratch, out}, 2, &push, 4);
   agx_release(scratch);
   agx_release(count);
   agx_release(add);
   conformance_run(f, commands);
   for (uint32_t i = 0; i < 64; i++)
      assert_int_equal(words[i], i + 8);
   agx_release(commands);
   agx_release(out);
}

/* What is in flight may be submitted again, but not what was promised to be submitted once. */
static void one_shots_are_submitted_once(void **state)
{
   struct fixture *f = conformance_device(state);
   const struct agx_command_buffer_desc desc = {
      .size = sizeof(desc), .label = "single", .flags = AGX_COMMAND_BUFFER_ONE_SHOT};
   struct agx_executable *count = fixture_kernel(f, &agx_test_count);
   struct agx_command_buffer *commands = NULL;
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 256, &words);
   assert_ok(agx_command_buffer_create(f->device, &desc, &commands));
   for (int round = 0; round < 2; round++) { /* recorded anew it may be submitted again */
      assert_ok(agx_command_buffer_begin(commands));
      fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
      conformance_run(f, commands);
      assert_int_equal(words[63], 64);
      assert_fails(fixture_submit(f, commands, NO_POINT, NO_POINT), AGX_FAILED_PRECONDITION,
                   "single is one-shot");
   }
   agx_release(commands);
   agx_release(buffer);
   agx_release(count);
}

static void unknown_flags_are_refused(void **state)
{
   struct fixture *f = conformance_device(state);
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc), .flags = 64};
   struct agx_command_buffer *commands = NULL;
   assert_fails(agx_command_buffer_create(f->device, &desc, &commands), AGX_INVALID_ARGUMENT,
                "0x40");
   assert_null(commands);
}

static void create(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(f->device, NULL, &commands));
   agx_release(commands);
}

static void begin_end(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_command_buffer *commands = fixture_begin(f);
   assert_ok(agx_command_buffer_end(commands));
   agx_release(commands);
}

static void submit_empty(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_semaphore *done = fixture_semaphore(f);
   uint64_t value;
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 5}));
   assert_ok(fixture_wait(done, 5));
   assert_ok(agx_semaphore_query(done, &value));
   assert_int_equal(value, 5);
   agx_release(done);
   agx_release(commands);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(create),
      cmocka_unit_test(begin_end),
      cmocka_unit_test(submit_empty),
      cmocka_unit_test(states_are_kept),
      cmocka_unit_test(grids_have_three_dimensions),
      cmocka_unit_test(an_empty_grid_runs_nothing),
      cmocka_unit_test(ranges_are_exact),
      cmocka_unit_test(a_command_buffer_is_recorded_anew),
      cmocka_unit_test(begin_waits_for_no_submission),
      cmocka_unit_test(a_recording_keeps_what_it_uses),
      cmocka_unit_test(one_shots_are_submitted_once),
      cmocka_unit_test(unknown_flags_are_refused),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
