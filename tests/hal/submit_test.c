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

static void note_watch(struct agx_watch *watch, agx_status status, uint64_t value)
{
   *(agx_status *)watch->user = status;
}

/* What waits for a value that a semaphore reached before it failed: how all that comes to it
 * afterwards ends. */
static void check_reached_then_failed(uint64_t flags, agx_status expected)
{
   const struct agx_device_desc desc = {.size = sizeof(desc), .name = "virtual", .flags = flags};
   struct fixture f = {0};
   struct agx_watch watch = {.value = 1, .fn = note_watch};
   struct agx_buffer *transient;
   agx_status watched = AGX_UNKNOWN;
   uint32_t *words;
   uint64_t value;
   assert_ok(agx_instance_create(NULL, &f.instance));
   assert_ok(agx_device_open(f.instance, &desc, &f.device));
   struct agx_semaphore *failed = fixture_semaphore(&f), *gate = fixture_semaphore(&f);
   struct agx_semaphore *done[4];
   struct agx_buffer *buffer = fixture_buffer(&f, 4096, &words);
   for (int i = 0; i < 4; i++)
      done[i] = fixture_semaphore(&f);
   assert_ok(agx_semaphore_signal(failed, 1));
   const struct agx_point reached = {failed, 1};
   assert_ok(fixture_submit(&f, NULL, reached, (struct agx_point){done[0], 1})); /* before */
   const struct agx_point both[] = {reached, {gate, 1}};
   const struct agx_point last = {done[1], 1}, filled = {done[2], 1}, made = {done[3], 1};
   struct agx_op ops[] = {
      {.kind = AGX_OP_BARRIER, .waits = both, .wait_count = 2, .signals = &last},
      {.kind = AGX_OP_FILL,
       .waits = &reached,
       .wait_count = 1,
       .signals = &filled,
       .u.fill = {.target = {buffer, 0, 4096}, .pattern = {7}, .pattern_B = 1}},
      {.kind = AGX_OP_ALLOCA,
       .waits = &reached,
       .wait_count = 1,
       .signals = &made,
       .u.alloca = {.size_B = 256, .out_buffer = &transient}},
   };
   for (int i = 0; i < 3; i++) {
      ops[i].size = sizeof(ops[i]);
      ops[i].signal_count = 1;
   }
   assert_ok(agx_submit(f.device, &ops[0], 1, NULL)); /* parked for the gate */
   agx_semaphore_fail(failed, AGX_DATA_LOSS, "failed after it");
   assert_ok(agx_submit(f.device, &ops[1], 2, NULL));
   assert_ok(agx_semaphore_signal(gate, 1));
   assert_int_equal(fixture_wait(failed, 1), expected);
   assert_fails(fixture_wait(failed, 2), AGX_DATA_LOSS, "failed after it");
   assert_fails(agx_semaphore_query(failed, &value), AGX_DATA_LOSS, "failed after it");
   assert_ok(fixture_wait(done[0], 1));
   for (int i = 1; i < 4; i++)
      assert_int_equal(fixture_wait(done[i], 1), expected);
   assert_int_equal(words[0], expected == AGX_OK ? 0x07070707 : 0);
   watch.user = &watched;
   assert_ok(agx_semaphore_watch(failed, &watch));
   assert_int_equal(watched, expected);
   for (int i = 0; i < 4; i++)
      agx_release(done[i]);
   agx_release(transient);
   agx_release(buffer);
   agx_release(gate);
   agx_release(failed);
   fixture_close(&f);
}

static void reached_values_stay_reached(void **state)
{
   check_reached_then_failed(0, AGX_OK);
}

static void failures_win_where_the_device_says_so(void **state)
{
   check_reached_then_failed(AGX_DEVICE_FAILURE_WINS, AGX_DATA_LOSS);
}

#define POINTS 100

/* Semaphores, and the points of all of them at 1. */
struct crowd {
   struct agx_semaphore *semaphores[POINTS];
   struct agx_point points[POINTS];
};

static void crowd_begin(struct crowd *crowd, struct fixture *f)
{
   for (uint32_t i = 0; i < POINTS; i++) {
      crowd->semaphores[i] = fixture_semaphore(f);
      crowd->points[i] = (struct agx_point){crowd->semaphores[i], 1};
   }
}

static void crowd_end(struct crowd *crowd)
{
   for (uint32_t i = 0; i < POINTS; i++)
      agx_release(crowd->semaphores[i]);
}

static struct agx_op crowded_fill(struct agx_buffer *buffer, const struct crowd *in,
                                  const struct crowd *out)
{
   return (struct agx_op){.size = sizeof(struct agx_op),
                          .kind = AGX_OP_FILL,
                          .waits = in->points,
                          .wait_count = POINTS,
                          .signals = out->points,
                          .signal_count = POINTS,
                          .u.fill = {{buffer, 0, 256}, {5}, 1}};
}

static void operations_have_many_points(void **state)
{
   struct fixture *f = *state;
   struct crowd in, out;
   uint32_t *words;
   uint64_t value;
   struct agx_buffer *buffer = fixture_buffer(f, 256, &words);
   crowd_begin(&in, f);
   crowd_begin(&out, f);
   const struct agx_op op = crowded_fill(buffer, &in, &out);
   assert_ok(agx_submit(f->device, &op, 1, NULL));
   for (uint32_t i = POINTS; i-- > 1;)
      assert_ok(agx_semaphore_signal(in.semaphores[i], 1));
   assert_int_equal(agx_semaphore_wait(out.points, POINTS, true, 0), AGX_DEADLINE_EXCEEDED);
   assert_int_equal(words[0], 0);
   assert_ok(agx_semaphore_signal(in.semaphores[0], 1));
   assert_ok(agx_semaphore_wait(out.points, POINTS, false, AGX_DEADLINE_NEVER));
   assert_int_equal(words[63], 0x05050505);
   for (uint32_t i = 0; i < POINTS; i++) {
      assert_ok(agx_semaphore_query(out.semaphores[i], &value));
      assert_int_equal(value, 1);
   }
   crowd_end(&in);
   crowd_end(&out);
   agx_release(buffer);
}

static void one_of_many_fails_all(void **state)
{
   struct fixture *f = *state;
   struct crowd in, out;
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 256, &words);
   crowd_begin(&in, f);
   crowd_begin(&out, f);
   const struct agx_op op = crowded_fill(buffer, &in, &out);
   assert_ok(agx_submit(f->device, &op, 1, NULL));
   agx_semaphore_fail(in.semaphores[70], AGX_ABORTED, "one of many");
   for (uint32_t i = 0; i < POINTS; i++)
      (void)!agx_semaphore_signal(in.semaphores[i], 1);
   for (uint32_t i = 0; i < POINTS; i++)
      assert_fails(fixture_wait(out.semaphores[i], 1), AGX_ABORTED, "one of many");
   assert_int_equal(words[0], 0);
   crowd_end(&in);
   crowd_end(&out);
   agx_release(buffer);
}

static void bad_points_of_many_are_refused(void **state)
{
   struct fixture *f = *state;
   struct crowd in, out;
   uint32_t *words;
   uint64_t value;
   struct agx_buffer *buffer = fixture_buffer(f, 256, &words);
   crowd_begin(&in, f);
   crowd_begin(&out, f);
   struct agx_op op = crowded_fill(buffer, &in, &out);
   op.wait_count = 1025;
   assert_fails(agx_submit(f->device, &op, 1, NULL), AGX_OUT_OF_RANGE, "the limit is 1024");
   op.wait_count = POINTS;
   out.points[90] = out.points[3];
   assert_fails(agx_submit(f->device, &op, 1, NULL), AGX_INVALID_ARGUMENT,
                "signal 90 is of a semaphore named before");
   out.points[90] = (struct agx_point){out.semaphores[90], 0};
   assert_fails(agx_submit(f->device, &op, 1, NULL), AGX_INVALID_ARGUMENT, "signal 90");
   out.points[90] = (struct agx_point){0};
   assert_fails(agx_submit(f->device, &op, 1, NULL), AGX_INVALID_ARGUMENT, "signal 90 is NULL");
   out.points[90] = (struct agx_point){out.semaphores[90], 1};
   op.u.fill.pattern_B = 3; /* which is found when the waits are gathered */
   assert_fails(agx_submit(f->device, &op, 1, NULL), AGX_INVALID_ARGUMENT, "pattern");
   for (uint32_t i = 0; i < POINTS; i++) {
      assert_ok(agx_semaphore_signal(in.semaphores[i], 1));
      assert_ok(agx_semaphore_query(out.semaphores[i], &value));
      assert_int_equal(value, 0);
   }
   crowd_end(&in);
   crowd_end(&out);
   agx_release(buffer);
}

static void devices_have_no_other_flags(void **state)
{
   struct fixture *f = *state;
   struct agx_device *device;
   const struct agx_device_desc desc = {.size = sizeof(desc), .name = "virtual", .flags = 1u << 31};
   assert_fails(agx_device_open(f->instance, &desc, &device), AGX_INVALID_ARGUMENT, "flags");
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
      cmocka_unit_test(reached_values_stay_reached),
      cmocka_unit_test(failures_win_where_the_device_says_so),
      cmocka_unit_test(devices_have_no_other_flags),
      cmocka_unit_test(operations_have_many_points),
      cmocka_unit_test(one_of_many_fails_all),
      cmocka_unit_test(bad_points_of_many_are_refused),
   };
   return cmocka_run_group_tests(tests, open_device, close_device);
}
