/* SPDX-License-Identifier: MIT
 *
 * Watches: each is called once, without a lock, in any number, or never once it is taken back.
 */
#include "conformance.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct seen {
   struct agx_watch watch;
   _Atomic uint32_t calls;
   agx_status status;
   uint64_t value;
   char text[64];
};

static void note(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct seen *seen = watch->user;
   seen->status = status;
   seen->value = value;
   agx_error_text(seen->text, sizeof(seen->text));
   atomic_fetch_add(&seen->calls, 1);
}

static void watch_for(struct seen *seen, struct agx_semaphore *semaphore, uint64_t value)
{
   *seen = (struct seen){.watch = {.value = value, .fn = note, .user = seen}};
   assert_ok(agx_semaphore_watch(semaphore, &seen->watch));
}

static void await(struct seen *seen)
{
   while (atomic_load(&seen->calls) == 0)
      sched_yield();
}

static void a_watch_is_called_once(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *s = fixture_semaphore(f);
   struct seen reached, later, failed, never;
   assert_ok(agx_semaphore_signal(s, 2));
   watch_for(&reached, s, 2);
   assert_int_equal(reached.calls, 1);
   assert_int_equal(reached.status, AGX_OK);
   assert_int_equal(reached.value, 2);
   assert_false(agx_semaphore_unwatch(s, &reached.watch));
   watch_for(&later, s, 5);
   watch_for(&never, s, 4);
   watch_for(&failed, s, 9);
   assert_true(agx_semaphore_unwatch(s, &never.watch));
   assert_int_equal(later.calls, 0);
   assert_ok(agx_semaphore_signal(s, 7));
   assert_int_equal(later.calls, 1);
   assert_int_equal(later.value, 7);
   agx_semaphore_fail(s, AGX_DATA_LOSS, "the wire is cut");
   assert_int_equal(failed.calls, 1);
   assert_int_equal(failed.status, AGX_DATA_LOSS);
   assert_string_equal(failed.text, "the wire is cut");
   assert_int_equal(later.calls, 1);
   assert_int_equal(never.calls, 0);
   assert_fails(agx_semaphore_watch(s, NULL), AGX_INVALID_ARGUMENT, "NULL");
   agx_release(s);
}

/* A signal of the GPU calls them, though no thread of the test waits. */
static void the_gpu_calls_a_thousand(void **state)
{
   enum {
      COUNT = 1000
   };
   struct fixture *f = conformance_gpu(state);
   struct agx_semaphore *s = fixture_semaphore(f);
   struct agx_executable *count = fixture_kernel(f, &agx_test_count);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 256, &words);
   struct agx_command_buffer *commands = fixture_begin(f);
   struct seen *seen = calloc(COUNT, sizeof(*seen));
   fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   for (uint32_t i = 0; i < COUNT; i++)
      watch_for(&seen[i], s, 1 + i % 10);
   for (uint64_t value = 1; value <= 10; value++)
      assert_ok(fixture_submit(f, commands, NO_POINT, conformance_point(s, value)));
   for (uint32_t i = 0; i < COUNT; i++) {
      await(&seen[i]);
      assert_int_equal(seen[i].status, AGX_OK);
      assert_true(seen[i].value >= 1 + i % 10);
   }
   assert_ok(fixture_wait(s, 10));
   for (uint32_t i = 0; i < COUNT; i++)
      assert_int_equal(seen[i].calls, 1);
   free(seen);
   agx_release(commands);
   agx_release(buffer);
   agx_release(count);
   agx_release(s);
}

struct chain {
   struct agx_watch watch;
   struct agx_semaphore *from, *to;
   _Atomic uint32_t left;
};

/* Signals the other one, and watches again: a ring of two. */
static void pass_on(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct chain *chain = watch->user;
   assert_int_equal(status, AGX_OK);
   if (atomic_fetch_sub(&chain->left, 1) > 1) {
      watch->value = value + 1;
      assert_ok(agx_semaphore_watch(chain->from, watch));
   }
   assert_ok(agx_semaphore_signal(chain->to, value));
}

static void watches_may_signal_and_watch(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *a = fixture_semaphore(f), *b = fixture_semaphore(f);
   struct chain chain = {.from = a, .to = b, .left = 2000};
   chain.watch = (struct agx_watch){.value = 1, .fn = pass_on, .user = &chain};
   assert_ok(agx_semaphore_watch(a, &chain.watch));
   for (uint64_t value = 1; value <= 2000; value++) {
      assert_ok(agx_semaphore_signal(a, value));
      assert_ok(fixture_wait(b, value));
   }
   assert_int_equal(chain.left, 0);
   agx_release(a);
   agx_release(b);
}

struct ball {
   struct agx_watch watch;
   struct agx_semaphore *semaphores[2]; /* of two devices */
   _Atomic uint32_t deepest;
   uint64_t left;
};

static _Thread_local uint32_t depth; /* of calls of hit */

/* Watches the other side's next value, and signals it. */
static void hit(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct ball *ball = watch->user;
   assert_int_equal(status, AGX_OK);
   if (ball->left-- == 0)
      return;
   if (++depth > ball->deepest)
      ball->deepest = depth;
   struct agx_semaphore *to = ball->semaphores[ball->left % 2];
   watch->value = 1 + (1000 - ball->left) / 2;
   assert_ok(agx_semaphore_watch(to, watch));
   assert_ok(agx_semaphore_signal(to, watch->value));
   depth--;
}

/* Back and forth between devices, however often, without going deeper. */
static void watches_of_two_devices_call_each_other(void **state)
{
   struct fixture *f = conformance_device(state), other;
   conformance_open_another(&other);
   struct ball ball = {.semaphores = {fixture_semaphore(f), fixture_semaphore(&other)},
                       .left = 1000};
   ball.watch = (struct agx_watch){.value = 1, .fn = hit, .user = &ball};
   assert_ok(agx_semaphore_watch(ball.semaphores[0], &ball.watch));
   assert_ok(agx_semaphore_signal(ball.semaphores[0], 1));
   const struct agx_point last[] = {{ball.semaphores[0], 501}, {ball.semaphores[1], 500}};
   assert_ok(agx_semaphore_wait(last, 2, false, AGX_DEADLINE_NEVER));
   /* The values say nothing of the last call, which must not outlive the ball. */
   agx_semaphore_unwatch(ball.semaphores[0], &ball.watch);
   assert_in_range(ball.deepest, 1, 3);
   for (uint32_t i = 0; i < 2; i++)
      agx_release(ball.semaphores[i]);
   fixture_close(&other);
}

struct racer {
   struct agx_semaphore *semaphore;
   uint32_t rounds;
};

static void *signal_all(void *argument)
{
   struct racer *racer = argument;
   for (uint64_t value = 1; value <= racer->rounds; value++)
      assert_ok(agx_semaphore_signal(racer->semaphore, value));
   return NULL;
}

/* Taken back while another thread signals: called, or never; and over when unwatch returns. */
static void unwatch_races_with_signals(void **state)
{
   struct fixture *f = conformance_device(state);
   struct racer racer = {fixture_semaphore(f), 3000};
   uint32_t called = 0;
   pthread_t thread;
   assert_int_equal(pthread_create(&thread, NULL, signal_all, &racer), 0);
   for (uint32_t i = 1; i <= racer.rounds; i++) {
      struct seen *seen = calloc(1, sizeof(*seen));
      watch_for(seen, racer.semaphore, i);
      bool taken = agx_semaphore_unwatch(racer.semaphore, &seen->watch);
      assert_int_equal(seen->calls, taken ? 0 : 1);
      called += !taken;
      free(seen);
   }
   pthread_join(thread, NULL);
   assert_in_range(called, 0, racer.rounds);
   agx_release(racer.semaphore);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_watch_is_called_once),
      cmocka_unit_test(the_gpu_calls_a_thousand),
      cmocka_unit_test(watches_may_signal_and_watch),
      cmocka_unit_test(watches_of_two_devices_call_each_other),
      cmocka_unit_test(unwatch_races_with_signals),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
