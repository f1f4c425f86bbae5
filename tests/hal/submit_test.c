/* SPDX-License-Identifier: MIT
 *
 * Dispatches end to end over the virtual device, and the rules of submission.
 */
#include "fixture.h"

#include <pthread.h>
#include <string.h>

static int open_device(void **state)
{
   static struct fixture fixture;
   fixture_open(&fixture, "virtual");
   *state = &fixture;
   return 0;
}

static int close_device(void **state)
{
   fixture_close(*state);
   return 0;
}

static void a_dispatch_writes_its_buffer(void **state)
{
   struct fixture *f = *state;
   uint32_t *words;
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(f, 1000 * 4, &words);
   struct agx_semaphore *done = fixture_semaphore(f);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, kernel, 10, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   for (uint32_t i = 0; i < 1000; i++)
      assert_int_equal(words[i], i < 640 ? i + 1 : 0);
   agx_release(commands);
   agx_release(done);
   agx_release(buffer);
   agx_release(kernel);
}

static void offsets_push_constants_and_order(void **state)
{
   struct fixture *f = *state;
   uint32_t *x_words, *y_words;
   struct agx_executable *count = fixture_kernel(f, &agx_test_count);
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   struct agx_buffer *x = fixture_buffer(f, 4096, &x_words), *y = fixture_buffer(f, 4096, &y_words);
   struct agx_semaphore *done = fixture_semaphore(f);
   struct agx_command_buffer *commands = fixture_begin(f);
   uint32_t push = 100;
   struct agx_binding bindings[] = {
      {.binding = 1, .ref = {y, 12, 256}},
      {.binding = 0, .ref = {x, 8, AGX_WHOLE_LENGTH}},
   };
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = add,
                                   .workgroups = {2, 1, 1},
                                   .binding_count = 2,
                                   .bindings = bindings,
                                   .push = &push,
                                   .push_B = 4};
   fixture_dispatch(commands, count, 4, &x, 1, NULL, 0);
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   /* Twice: a command buffer can be submitted again. */
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 2}));
   assert_ok(fixture_wait(done, 2));
   for (uint32_t i = 0; i < 64; i++)
      assert_int_equal(y_words[3 + i], i + 3 + 100);
   assert_int_equal(y_words[2], 0);
   assert_int_equal(y_words[67], 0);
   agx_release(commands);
   agx_release(done);
   agx_release(x);
   agx_release(y);
   agx_release(count);
   agx_release(add);
}

static void nothing_to_run_still_signals(void **state)
{
   struct fixture *f = *state;
   uint32_t *words;
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(f, 4, &words);
   struct agx_semaphore *done = fixture_semaphore(f);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, kernel, 0, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 5}));
   assert_ok(fixture_wait(done, 5));
   assert_ok(fixture_submit(f, NULL, NO_POINT, (struct agx_point){done, 6}));
   uint64_t value = 0;
   assert_ok(agx_semaphore_query(done, &value));
   assert_int_equal(value, 6);
   assert_int_equal(words[0], 0);
   agx_release(commands);
   agx_release(done);
   agx_release(buffer);
   agx_release(kernel);
}

static void wait_before_signal_is_parked(void **state)
{
   struct fixture *f = *state;
   uint32_t *words;
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(f, 64 * 4, &words);
   struct agx_semaphore *go = fixture_semaphore(f), *done = fixture_semaphore(f);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, kernel, 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, (struct agx_point){go, 3}, (struct agx_point){done, 1}));
   /* Behind it, in the wrong order: waits for what the parked one will signal. */
   assert_ok(fixture_submit(f, NULL, (struct agx_point){done, 1}, (struct agx_point){done, 2}));
   struct agx_point point = {done, 1};
   assert_fails(agx_semaphore_wait(&point, 1, false, 0), AGX_DEADLINE_EXCEEDED, "waited for 1");
   assert_fails(agx_command_buffer_begin(commands), AGX_FAILED_PRECONDITION, "in flight");
   assert_ok(agx_semaphore_signal(go, 2));
   assert_int_equal(words[0], 0);
   assert_ok(agx_semaphore_signal(go, 4));
   assert_ok(fixture_wait(done, 2));
   assert_int_equal(words[63], 64);
   agx_release(commands);
   agx_release(go);
   agx_release(done);
   agx_release(buffer);
   agx_release(kernel);
}

static void a_failed_wait_fails_what_follows(void **state)
{
   struct fixture *f = *state;
   uint32_t *words;
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(f, 64 * 4, &words);
   struct agx_semaphore *a = fixture_semaphore(f), *b = fixture_semaphore(f),
                        *c = fixture_semaphore(f);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, kernel, 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, commands, (struct agx_point){a, 1}, (struct agx_point){b, 1}));
   assert_ok(fixture_submit(f, NULL, (struct agx_point){b, 1}, (struct agx_point){c, 1}));
   agx_semaphore_fail(a, AGX_ABORTED, "the upstream is gone");
   assert_fails(fixture_wait(c, 1), AGX_ABORTED, "the upstream is gone");
   assert_int_equal(words[0], 0);
   assert_fails(agx_semaphore_signal(c, 7), AGX_ABORTED, "upstream");
   assert_ok(fixture_submit(f, commands, (struct agx_point){a, 1}, (struct agx_point){b, 2}));
   assert_fails(fixture_wait(b, 2), AGX_ABORTED, "upstream");
   agx_release(commands);
   agx_release(a);
   agx_release(b);
   agx_release(c);
   agx_release(buffer);
   agx_release(kernel);
}

static void cancel_ends_what_is_parked(void **state)
{
   struct fixture *f = *state;
   struct agx_semaphore *go = fixture_semaphore(f), *done = fixture_semaphore(f);
   assert_ok(fixture_submit(f, NULL, (struct agx_point){go, 1}, (struct agx_point){done, 1}));
   agx_device_cancel(f->device);
   assert_fails(fixture_wait(done, 1), AGX_CANCELLED, "cancelled");
   agx_release(go);
   agx_release(done);
}

static void bad_submissions_leave_no_trace(void **state)
{
   struct fixture *f = *state;
   struct agx_semaphore *s = fixture_semaphore(f);
   struct agx_command_buffer *commands = fixture_begin(f);
   struct agx_op ops[2] = {
      {.size = sizeof(ops[0]), .kind = AGX_OP_BARRIER},
      {.size = sizeof(ops[0]), .kind = 99},
   };
   uint32_t queued = 77;
   assert_fails(agx_submit(f->device, ops, 2, &queued), AGX_UNIMPLEMENTED, "kind 99");
   assert_int_equal(queued, 1);
   assert_fails(fixture_submit(f, commands, NO_POINT, NO_POINT), AGX_FAILED_PRECONDITION,
                "not recorded to its end");
   struct agx_op execute = {.size = sizeof(execute), .kind = AGX_OP_EXECUTE};
   assert_fails(agx_submit(f->device, &execute, 1, NULL), AGX_INVALID_ARGUMENT, "NULL");
   execute.size = 3;
   assert_fails(agx_submit(f->device, &execute, 1, NULL), AGX_INVALID_ARGUMENT, "size is 3");
   assert_ok(fixture_submit(f, NULL, NO_POINT, (struct agx_point){s, 4}));
   assert_fails(fixture_submit(f, NULL, NO_POINT, (struct agx_point){s, 4}), AGX_INVALID_ARGUMENT,
                "at 4 already");
   agx_release(commands);
   agx_release(s);
}

static void waits_for_all_and_for_any(void **state)
{
   struct fixture *f = *state;
   struct agx_semaphore *a = fixture_semaphore(f), *b = fixture_semaphore(f);
   struct agx_point points[] = {{a, 1}, {b, 1}};
   assert_ok(agx_semaphore_signal(a, 1));
   assert_ok(agx_semaphore_wait(points, 2, true, 0));
   assert_fails(agx_semaphore_wait(points, 2, false, 0), AGX_DEADLINE_EXCEEDED, "");
   agx_semaphore_fail(b, AGX_DATA_LOSS, "gone");
   assert_ok(agx_semaphore_wait(points, 2, true, 0));
   assert_fails(agx_semaphore_wait(points, 2, false, 0), AGX_DATA_LOSS, "gone");
   assert_fails(agx_semaphore_signal(a, 1), AGX_INVALID_ARGUMENT, "it is at 1 already");
   agx_release(a);
   agx_release(b);
}

/* ---- threads ---------------------------------------------------------- */

#define THREADS 4
#define ROUNDS  20

struct worker {
   struct fixture *fixture;
   struct agx_executable *kernel;
   bool is_right;
};

static void *submit_and_check(void *argument)
{
   struct worker *worker = argument;
   struct fixture *f = worker->fixture;
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 64 * 4, &words);
   struct agx_semaphore *done = fixture_semaphore(f);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, worker->kernel, 1, &buffer, 1, NULL, 0);
   bool right = agx_command_buffer_end(commands) == AGX_OK;
   for (uint64_t round = 1; round <= ROUNDS && right; round++) {
      memset(words, 0, 64 * 4);
      right = fixture_submit(f, commands, (struct agx_point){done, round - 1},
                             (struct agx_point){done, round}) == AGX_OK &&
              fixture_wait(done, round) == AGX_OK && words[63] == 64;
   }
   worker->is_right = right;
   agx_release(commands);
   agx_release(done);
   agx_release(buffer);
   return NULL;
}

static void threads_submit_and_wait_at_once(void **state)
{
   struct fixture *f = *state;
   struct agx_executable *kernel = fixture_kernel(f, &agx_test_count);
   struct worker workers[THREADS];
   pthread_t threads[THREADS];
   for (int i = 0; i < THREADS; i++) {
      workers[i] = (struct worker){.fixture = f, .kernel = kernel};
      assert_int_equal(pthread_create(&threads[i], NULL, submit_and_check, &workers[i]), 0);
   }
   for (int i = 0; i < THREADS; i++) {
      pthread_join(threads[i], NULL);
      assert_true(workers[i].is_right);
   }
   agx_release(kernel);
}

/* The last references go while work is in flight: the device goes in its own worker. */
static void everything_may_be_released_in_flight(void **state)
{
   for (int round = 0; round < 10; round++) {
      struct fixture f;
      uint32_t *words;
      fixture_open(&f, "virtual");
      struct agx_executable *kernel = fixture_kernel(&f, &agx_test_count);
      struct agx_buffer *buffer = fixture_buffer(&f, 640 * 4, &words);
      struct agx_command_buffer *commands = fixture_begin(&f);
      fixture_dispatch(commands, kernel, 10, &buffer, 1, NULL, 0);
      assert_ok(agx_command_buffer_end(commands));
      assert_ok(fixture_submit(&f, commands, NO_POINT, NO_POINT));
      agx_release(kernel);
      agx_release(buffer);
      agx_release(commands);
      fixture_close(&f);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_dispatch_writes_its_buffer),
      cmocka_unit_test(offsets_push_constants_and_order),
      cmocka_unit_test(nothing_to_run_still_signals),
      cmocka_unit_test(wait_before_signal_is_parked),
      cmocka_unit_test(a_failed_wait_fails_what_follows),
      cmocka_unit_test(cancel_ends_what_is_parked),
      cmocka_unit_test(bad_submissions_leave_no_trace),
      cmocka_unit_test(waits_for_all_and_for_any),
      cmocka_unit_test(threads_submit_and_wait_at_once),
      cmocka_unit_test(everything_may_be_released_in_flight),
   };
   return cmocka_run_group_tests(tests, open_device, close_device);
}
