/* SPDX-License-Identifier: MIT
 *
 * IREE's cases for semaphores, by name: SemaphoreTest, and SemaphoreThreadTest with threads that
 * wait or signal meanwhile.
 */
#include "conformance.h"

#include <pthread.h>
#include <time.h>

static int64_t in_ms(int64_t ms)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + ms * 1000000;
}

static agx_status wait_all(struct agx_point *points, uint32_t count, int64_t deadline_ns)
{
   return agx_semaphore_wait(points, count, false, deadline_ns);
}

static agx_status wait_any(struct agx_point *points, uint32_t count, int64_t deadline_ns)
{
   return agx_semaphore_wait(points, count, true, deadline_ns);
}

static uint64_t value_of(struct agx_semaphore *semaphore)
{
   uint64_t value = 0;
   assert_ok(agx_semaphore_query(semaphore, &value));
   return value;
}

/* ---- SemaphoreTest ------------------------------------------------------ */

static void no_op(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *semaphore = NULL;
   assert_ok(agx_semaphore_create(f->device, 123, &semaphore));
   assert_int_equal(value_of(semaphore), 123);
   agx_release(semaphore);
}

static void normal_signaling(void **state)
{
   struct agx_semaphore *semaphore = NULL;
   assert_ok(agx_semaphore_create(conformance_device(state)->device, 2, &semaphore));
   assert_int_equal(value_of(semaphore), 2);
   assert_ok(agx_semaphore_signal(semaphore, 3));
   assert_int_equal(value_of(semaphore), 3);
   assert_ok(agx_semaphore_signal(semaphore, 40));
   assert_int_equal(value_of(semaphore), 40);
   agx_release(semaphore);
}

static void failure(void **state)
{
   struct agx_semaphore *semaphore = fixture_semaphore(conformance_device(state));
   uint64_t value;
   agx_semaphore_fail(semaphore, AGX_UNKNOWN, "on purpose");
   assert_fails(agx_semaphore_query(semaphore, &value), AGX_UNKNOWN, "on purpose");
   assert_fails(agx_semaphore_signal(semaphore, 9), AGX_UNKNOWN, "on purpose");
   agx_release(semaphore);
}

static void empty_wait(void **state)
{
   (void)conformance_device(state);
   assert_ok(wait_all(NULL, 0, AGX_DEADLINE_NEVER));
   assert_ok(wait_any(NULL, 0, AGX_DEADLINE_NEVER));
   assert_fails(wait_all(NULL, 1, 0), AGX_INVALID_ARGUMENT, "NULL");
}

static void wait_already_signaled(void **state)
{
   struct agx_semaphore *semaphore = fixture_semaphore(conformance_device(state));
   assert_ok(agx_semaphore_signal(semaphore, 2));
   assert_ok(fixture_wait(semaphore, 1));
   assert_ok(fixture_wait(semaphore, 2));
   assert_int_equal(value_of(semaphore), 2);
   agx_release(semaphore);
}

static void wait_unsignaled(void **state)
{
   struct agx_semaphore *semaphore = fixture_semaphore(conformance_device(state));
   struct agx_point point = conformance_point(semaphore, 3);
   assert_fails(wait_all(&point, 1, 0), AGX_DEADLINE_EXCEEDED, "waited for 3");
   assert_fails(wait_all(&point, 1, in_ms(3)), AGX_DEADLINE_EXCEEDED, "waited for 3");
   agx_release(semaphore);
}

struct two {
   struct agx_semaphore *a, *b;
   struct agx_point points[2];
};

static struct two make_two(void **state, uint64_t a, uint64_t b)
{
   struct fixture *f = conformance_device(state);
   struct two two = {fixture_semaphore(f), fixture_semaphore(f), {{0}}};
   if (a)
      assert_ok(agx_semaphore_signal(two.a, a));
   if (b)
      assert_ok(agx_semaphore_signal(two.b, b));
   two.points[0] = conformance_point(two.a, 1);
   two.points[1] = conformance_point(two.b, 1);
   return two;
}

static void drop_two(struct two *two)
{
   agx_release(two->a);
   agx_release(two->b);
}

static void wait_all_but_not_all_signaled(void **state)
{
   struct two two = make_two(state, 0, 1);
   assert_fails(wait_all(two.points, 2, 0), AGX_DEADLINE_EXCEEDED, "");
   assert_fails(wait_all(two.points, 2, in_ms(3)), AGX_DEADLINE_EXCEEDED, "");
   drop_two(&two);
}

static void wait_all_and_all_signaled(void **state)
{
   struct two two = make_two(state, 1, 5);
   assert_ok(wait_all(two.points, 2, 0));
   assert_ok(wait_all(two.points, 2, AGX_DEADLINE_NEVER));
   assert_int_equal(value_of(two.a), 1);
   assert_int_equal(value_of(two.b), 5);
   drop_two(&two);
}

static void wait_any_already_signaled(void **state)
{
   struct two two = make_two(state, 0, 1);
   assert_ok(wait_any(two.points, 2, 0));
   assert_ok(wait_any(two.points, 2, AGX_DEADLINE_NEVER));
   assert_int_equal(value_of(two.a), 0);
   assert_int_equal(value_of(two.b), 1);
   drop_two(&two);
}

static void fail_then_wait(void **state)
{
   struct agx_semaphore *semaphore = fixture_semaphore(conformance_device(state));
   agx_semaphore_fail(semaphore, AGX_CANCELLED, NULL);
   assert_fails(fixture_wait(semaphore, 1), AGX_CANCELLED, "");
   agx_release(semaphore);
}

static void failure_preserves_status_code(void **state)
{
   for (agx_status code = AGX_CANCELLED; code <= AGX_INCOMPATIBLE; code++) {
      struct agx_semaphore *semaphore = fixture_semaphore(conformance_device(state));
      uint64_t value;
      agx_semaphore_fail(semaphore, code, "just so");
      assert_fails(agx_semaphore_query(semaphore, &value), code, "just so");
      assert_fails(fixture_wait(semaphore, 1), code, "just so");
      agx_release(semaphore);
   }
}

static void double_failure_preserves_first(void **state)
{
   struct agx_semaphore *semaphore = fixture_semaphore(conformance_device(state));
   agx_semaphore_fail(semaphore, AGX_DATA_LOSS, "first");
   agx_semaphore_fail(semaphore, AGX_INTERNAL, "second");
   assert_fails(fixture_wait(semaphore, 1), AGX_DATA_LOSS, "first");
   agx_release(semaphore);
}

/* ---- SemaphoreThreadTest ------------------------------------------------ */

struct waiter {
   struct agx_point points[2];
   uint32_t count;
   bool any;
   int64_t deadline_ns;
   agx_status status;
   pthread_t thread;
};

static void *wait_for(void *argument)
{
   struct waiter *waiter = argument;
   waiter->status =
      agx_semaphore_wait(waiter->points, waiter->count, waiter->any, waiter->deadline_ns);
   return NULL;
}

static void start(struct waiter *waiter)
{
   if (!waiter->deadline_ns)
      waiter->deadline_ns = AGX_DEADLINE_NEVER;
   assert_int_equal(pthread_create(&waiter->thread, NULL, wait_for, waiter), 0);
}

static agx_status end(struct waiter *waiter)
{
   pthread_join(waiter->thread, NULL);
   return waiter->status;
}

/* So that the other thread may well be asleep; nothing depends on it. */
static void pause_a_little(void)
{
   nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static void wait_later_signaled_beyond(void **state)
{
   struct agx_semaphore *semaphore = fixture_semaphore(conformance_device(state));
   struct waiter waiter = {.points = {{semaphore, 5}}, .count = 1};
   start(&waiter);
   pause_a_little();
   assert_ok(agx_semaphore_signal(semaphore, 9));
   assert_ok(end(&waiter));
   agx_release(semaphore);
}

static void wait_any_later_signaled(void **state)
{
   struct two two = make_two(state, 0, 0);
   struct waiter waiter = {.points = {two.points[0], two.points[1]}, .count = 2, .any = true};
   start(&waiter);
   pause_a_little();
   assert_ok(agx_semaphore_signal(two.b, 1));
   assert_ok(end(&waiter));
   drop_two(&two);
}

static void *play(void *argument)
{
   struct two *two = argument;
   for (uint64_t value = 1; value <= 500; value++) {
      assert_ok(fixture_wait(two->a, value));
      assert_ok(agx_semaphore_signal(two->b, value));
   }
   return NULL;
}

static void ping_pong(void **state)
{
   struct two two = make_two(state, 0, 0);
   pthread_t thread;
   assert_int_equal(pthread_create(&thread, NULL, play, &two), 0);
   for (uint64_t value = 1; value <= 500; value++) {
      assert_ok(agx_semaphore_signal(two.a, value));
      assert_ok(fixture_wait(two.b, value));
   }
   pthread_join(thread, NULL);
   drop_two(&two);
}

static void wait_on_the_same_value_multiple_times(void **state)
{
   struct agx_semaphore *semaphore = fixture_semaphore(conformance_device(state));
   struct waiter waiters[8];
   for (int i = 0; i < 8; i++) {
      waiters[i] = (struct waiter){.points = {{semaphore, 1}}, .count = 1};
      start(&waiters[i]);
   }
   pause_a_little();
   assert_ok(agx_semaphore_signal(semaphore, 1));
   for (int i = 0; i < 8; i++)
      assert_ok(end(&waiters[i]));
   agx_release(semaphore);
}

static void wait_for_finite_time(void **state)
{
   struct agx_semaphore *semaphore = fixture_semaphore(conformance_device(state));
   struct waiter late = {.points = {{semaphore, 2}}, .count = 1, .deadline_ns = in_ms(20)};
   struct waiter early = {.points = {{semaphore, 1}}, .count = 1, .deadline_ns = in_ms(60000)};
   start(&late);
   start(&early);
   assert_ok(agx_semaphore_signal(semaphore, 1));
   assert_ok(end(&early));
   assert_int_equal(end(&late), AGX_DEADLINE_EXCEEDED);
   assert_int_equal(value_of(semaphore), 1);
   agx_release(semaphore);
}

static void simultaneous_multi_wait_all(void **state)
{
   struct two two = make_two(state, 0, 0);
   struct waiter waiters[6];
   for (int i = 0; i < 6; i++) {
      waiters[i] =
         (struct waiter){.points = {two.points[i % 2], two.points[1 - i % 2]}, .count = 2};
      start(&waiters[i]);
   }
   assert_ok(agx_semaphore_signal(two.a, 1));
   pause_a_little();
   assert_ok(agx_semaphore_signal(two.b, 1));
   for (int i = 0; i < 6; i++)
      assert_ok(end(&waiters[i]));
   drop_two(&two);
}

static void wait_then_fail(void **state)
{
   struct agx_semaphore *semaphore = fixture_semaphore(conformance_device(state));
   struct waiter waiter = {.points = {{semaphore, 1}}, .count = 1};
   start(&waiter);
   pause_a_little();
   agx_semaphore_fail(semaphore, AGX_ABORTED, "meanwhile");
   assert_int_equal(end(&waiter), AGX_ABORTED);
   agx_release(semaphore);
}

static void multi_wait_then_fail(void **state)
{
   for (int any = 0; any < 2; any++) {
      struct two two = make_two(state, 0, 0);
      struct waiter waiter = {.points = {two.points[0], two.points[1]}, .count = 2, .any = any};
      start(&waiter);
      pause_a_little();
      agx_semaphore_fail(two.b, AGX_ABORTED, "one of them");
      assert_int_equal(end(&waiter), AGX_ABORTED);
      assert_int_equal(value_of(two.a), 0);
      drop_two(&two);
   }
}

/* One of them is for a device to signal, behind a wait of its own. */
static void device_multi_wait_then_fail(void **state)
{
   struct fixture *f = conformance_device(state);
   struct two two = make_two(state, 0, 0);
   struct agx_semaphore *go = fixture_semaphore(f);
   struct waiter waiter = {.points = {two.points[0], two.points[1]}, .count = 2};
   assert_ok(fixture_submit(f, NULL, conformance_point(go, 1), two.points[0]));
   start(&waiter);
   pause_a_little();
   agx_semaphore_fail(go, AGX_DATA_LOSS, "far upstream");
   assert_int_equal(end(&waiter), AGX_DATA_LOSS);
   agx_release(go);
   drop_two(&two);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_op),
      cmocka_unit_test(normal_signaling),
      cmocka_unit_test(failure),
      cmocka_unit_test(empty_wait),
      cmocka_unit_test(wait_already_signaled),
      cmocka_unit_test(wait_unsignaled),
      cmocka_unit_test(wait_all_but_not_all_signaled),
      cmocka_unit_test(wait_all_and_all_signaled),
      cmocka_unit_test(wait_any_already_signaled),
      cmocka_unit_test(fail_then_wait),
      cmocka_unit_test(failure_preserves_status_code),
      cmocka_unit_test(double_failure_preserves_first),
      cmocka_unit_test(wait_later_signaled_beyond),
      cmocka_unit_test(wait_any_later_signaled),
      cmocka_unit_test(ping_pong),
      cmocka_unit_test(wait_on_the_same_value_multiple_times),
      cmocka_unit_test(wait_for_finite_time),
      cmocka_unit_test(simultaneous_multi_wait_all),
      cmocka_unit_test(wait_then_fail),
      cmocka_unit_test(multi_wait_then_fail),
      cmocka_unit_test(device_multi_wait_then_fail),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
