/* SPDX-License-Identifier: MIT
 *
 * Submission: order, parking, failure, devices side by side, threads.
 */
#include "conformance.h"

#include <pthread.h>

/* y = x + 1 a hundred times over, each submission waiting for the one before. */
static void chains_run_in_order(void **state)
{
   enum {
      LENGTH = 100
   };
   struct fixture *f = conformance_device(state);
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   uint32_t *words[2], push = 1;
   struct agx_buffer *buffers[2] = {fixture_buffer(f, 128, &words[0]),
                                    fixture_buffer(f, 128, &words[1])};
   struct agx_command_buffer *commands[2];
   struct agx_semaphore *timeline = fixture_semaphore(f);
   for (int i = 0; i < 2; i++) {
      commands[i] = fixture_begin(f);
      fixture_dispatch(commands[i], add, 1, (struct agx_buffer *[]){buffers[i], buffers[1 - i]}, 2,
                       &push, 4);
      assert_ok(agx_command_buffer_end(commands[i]));
   }
   for (uint64_t i = 0; i < LENGTH; i++)
      assert_ok(fixture_submit(f, commands[i % 2], conformance_point(timeline, i),
                               conformance_point(timeline, i + 1)));
   assert_ok(fixture_wait(timeline, LENGTH));
   assert_int_equal(words[0][31], LENGTH);
   for (int i = 0; i < 2; i++) {
      agx_release(commands[i]);
      agx_release(buffers[i]);
   }
   agx_release(timeline);
   agx_release(add);
}

/* The same chain handed in backwards: each is parked until the next comes. */
static void chains_may_come_backwards(void **state)
{
   enum {
      LENGTH = 40
   };
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *steps[LENGTH + 1];
   uint64_t value;
   for (int i = 0; i <= LENGTH; i++)
      steps[i] = fixture_semaphore(f);
   for (int i = LENGTH; i-- > 0;)
      assert_ok(fixture_submit(f, NULL, conformance_point(steps[i], 1),
                               conformance_point(steps[i + 1], 1)));
   assert_ok(agx_semaphore_query(steps[LENGTH], &value));
   assert_int_equal(value, 0);
   assert_ok(agx_semaphore_signal(steps[0], 1));
   assert_ok(fixture_wait(steps[LENGTH], 1));
   for (int i = 0; i <= LENGTH; i++)
      agx_release(steps[i]);
}

/* A failure runs through what is parked, with its text, and spares the rest. */
static void failure_runs_through_a_chain(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *count = fixture_kernel(f, &agx_test_count);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 256, &words);
   struct agx_semaphore *go = fixture_semaphore(f), *middle = fixture_semaphore(f),
                        *last = fixture_semaphore(f), *apart = fixture_semaphore(f);
   struct agx_command_buffer *commands = fixture_begin(f);
   fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(f, NULL, conformance_point(go, 5), conformance_point(middle, 1)));
   assert_ok(fixture_submit(f, commands, conformance_point(middle, 1), conformance_point(last, 1)));
   assert_ok(fixture_submit(f, NULL, NO_POINT, conformance_point(apart, 1)));
   assert_ok(agx_semaphore_signal(go, 4));
   agx_semaphore_fail(go, AGX_ABORTED, "pulled the plug");
   assert_fails(fixture_wait(last, 1), AGX_ABORTED, "pulled the plug");
   assert_ok(fixture_wait(apart, 1));
   /* What comes later finds the failure as well. */
   struct agx_semaphore *late = fixture_semaphore(f);
   agx_status status =
      fixture_submit(f, commands, conformance_point(last, 1), conformance_point(late, 1));
   if (status == AGX_OK)
      status = fixture_wait(late, 1);
   assert_int_equal(status, AGX_ABORTED);
   assert_int_equal(words[0], 0); /* neither ran */
   agx_release(late);
   agx_release(commands);
   agx_release(go);
   agx_release(middle);
   agx_release(last);
   agx_release(apart);
   agx_release(buffer);
   agx_release(count);
}

static void many_points_in_one_operation(void **state)
{
   enum {
      COUNT = 32
   };
   struct fixture *f = conformance_device(state);
   struct agx_point waits[COUNT], signals[COUNT];
   for (int i = 0; i < COUNT; i++) {
      waits[i] = conformance_point(fixture_semaphore(f), 3);
      signals[i] = conformance_point(fixture_semaphore(f), 9);
   }
   struct agx_op op = {.size = sizeof(op),
                       .waits = waits,
                       .signals = signals,
                       .wait_count = AGX_MAX_OP_POINTS + 1,
                       .signal_count = COUNT};
   assert_fails(agx_submit(f->device, &op, 1, NULL), AGX_OUT_OF_RANGE, "1025");
   op.wait_count = COUNT;
   assert_ok(agx_submit(f->device, &op, 1, NULL));
   for (int i = COUNT; i-- > 0;) {
      assert_fails(agx_semaphore_wait(signals, COUNT, true, 0), AGX_DEADLINE_EXCEEDED, "");
      assert_ok(agx_semaphore_signal(waits[i].semaphore, 3 + (uint64_t)i));
   }
   assert_ok(agx_semaphore_wait(signals, COUNT, false, AGX_DEADLINE_NEVER));
   for (int i = 0; i < COUNT; i++) {
      agx_release(waits[i].semaphore);
      agx_release(signals[i].semaphore);
   }
}

/* A batch stops at its first bad operation and says how far it came. */
static void batches_tell_how_far_they_came(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *semaphore = fixture_semaphore(f);
   struct agx_point points[3] = {conformance_point(semaphore, 1), conformance_point(semaphore, 2),
                                 conformance_point(semaphore, 2)};
   struct agx_op ops[3];
   uint32_t queued = 99;
   for (int i = 0; i < 3; i++)
      ops[i] = (struct agx_op){.size = sizeof(ops[i]), .signals = &points[i], .signal_count = 1};
   assert_fails(agx_submit(f->device, ops, 3, &queued), AGX_INVALID_ARGUMENT, "2");
   assert_int_equal(queued, 2);
   assert_ok(fixture_wait(semaphore, 2));
   ops[0].kind = 77;
   assert_fails(agx_submit(f->device, ops, 1, &queued), AGX_UNIMPLEMENTED, "77");
   assert_int_equal(queued, 0);
   assert_ok(agx_submit(f->device, NULL, 0, &queued));
   agx_release(semaphore);
}

static void devices_stand_side_by_side(void **state)
{
   struct fixture *f = conformance_device(state), other;
   conformance_open_another(&other);
   struct agx_executable *ours = fixture_kernel(f, &agx_test_count);
   struct agx_executable *theirs = fixture_kernel(&other, &agx_test_count);
   uint32_t *words, *other_words;
   struct agx_buffer *buffer = fixture_buffer(f, 256, &words);
   struct agx_buffer *other_buffer = fixture_buffer(&other, 256, &other_words);
   struct agx_command_buffer *commands = fixture_begin(&other);
   struct agx_binding binding = {.ref = {buffer, 0, AGX_WHOLE_LENGTH}};
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = theirs,
                                   .workgroups = {1, 1, 1},
                                   .binding_count = 1,
                                   .bindings = &binding};
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_INVALID_ARGUMENT, "another device");
   assert_ok(agx_command_buffer_begin(commands));
   dispatch.executable = ours;
   binding.ref.buffer = other_buffer;
   assert_fails(agx_cmd_dispatch(commands, &dispatch), AGX_INVALID_ARGUMENT, "another device");
   assert_ok(agx_command_buffer_begin(commands));
   fixture_dispatch(commands, theirs, 1, &other_buffer, 1, NULL, 0);
   conformance_run(&other, commands);
   assert_fails(fixture_submit(f, commands, NO_POINT, NO_POINT), AGX_INVALID_ARGUMENT,
                "another device");
   assert_int_equal(other_words[63], 64);
   assert_int_equal(words[63], 0);
   agx_release(commands);
   agx_release(buffer);
   agx_release(other_buffer);
   agx_release(ours);
   agx_release(theirs);
   fixture_close(&other);
}

#define THREADS 4
#define ROUNDS  40

struct relay {
   struct fixture *fixture;
   struct agx_executable *add;
   struct agx_buffer *buffers[2];
   struct agx_semaphore *baton;
   uint32_t runner;
   bool is_right;
};

/* Thread n adds n + 1 in each round when its turn comes; turns are points of one timeline. */
static void *run_relay(void *argument)
{
   struct relay *relay = argument;
   uint32_t push = relay->runner + 1;
   relay->is_right = true;
   for (uint64_t round = 0; round < ROUNDS && relay->is_right; round++) {
      uint64_t turn = round * THREADS + relay->runner;
      struct agx_command_buffer *commands = fixture_begin(relay->fixture);
      struct agx_buffer *from_to[2] = {relay->buffers[turn % 2], relay->buffers[(turn + 1) % 2]};
      fixture_dispatch(commands, relay->add, 1, from_to, 2, &push, 4);
      relay->is_right =
         agx_command_buffer_end(commands) == AGX_OK && fixture_wait(relay->baton, turn) == AGX_OK &&
         fixture_submit(relay->fixture, commands, conformance_point(relay->baton, turn),
                        conformance_point(relay->baton, turn + 1)) == AGX_OK;
      agx_release(commands);
   }
   return NULL;
}

static void threads_take_turns(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   uint32_t *words[2];
   struct agx_buffer *buffers[2] = {fixture_buffer(f, 128, &words[0]),
                                    fixture_buffer(f, 128, &words[1])};
   struct agx_semaphore *baton = fixture_semaphore(f);
   struct relay relays[THREADS];
   pthread_t threads[THREADS];
   for (uint32_t i = 0; i < THREADS; i++) {
      relays[i] = (struct relay){f, add, {buffers[0], buffers[1]}, baton, i, false};
      assert_int_equal(pthread_create(&threads[i], NULL, run_relay, &relays[i]), 0);
   }
   for (uint32_t i = 0; i < THREADS; i++) {
      pthread_join(threads[i], NULL);
      assert_true(relays[i].is_right);
   }
   assert_ok(fixture_wait(baton, THREADS * ROUNDS));
   assert_int_equal(words[0][7], ROUNDS * (1 + 2 + 3 + 4));
   agx_release(buffers[0]);
   agx_release(buffers[1]);
   agx_release(baton);
   agx_release(add);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(chains_run_in_order),
      cmocka_unit_test(chains_may_come_backwards),
      cmocka_unit_test(failure_runs_through_a_chain),
      cmocka_unit_test(many_points_in_one_operation),
      cmocka_unit_test(batches_tell_how_far_they_came),
      cmocka_unit_test(devices_stand_side_by_side),
      cmocka_unit_test(threads_take_turns),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
