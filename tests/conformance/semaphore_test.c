/* SPDX-License-Identifier: MIT
 *
 * Semaphores: timelines that grow, fail once, and wake the threads that wait.
 */
#include "conformance.h"

#include <pthread.h>
#include <time.h>

static void values_only_grow(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *semaphore = NULL;
   uint64_t value = 0;
   assert_ok(agx_semaphore_create(f->device, 40, &semaphore));
   assert_ok(agx_semaphore_query(semaphore, &value));
   assert_int_equal(value, 40);
   assert_fails(agx_semaphore_signal(semaphore, 40), AGX_INVALID_ARGUMENT, "40");
   assert_fails(agx_semaphore_signal(semaphore, 0), AGX_INVALID_ARGUMENT, "40");
   assert_ok(agx_semaphore_signal(semaphore, 41));
   assert_ok(agx_semaphore_signal(semaphore, UINT64_MAX - 1));
   assert_ok(agx_semaphore_query(semaphore, &value));
   assert_true(value == AGX_SEMAPHORE_MAX_VALUE);
   assert_ok(fixture_wait(semaphore, 17));
   agx_release(semaphore);
}

/* It is what a failure looks like from outside. */
static void the_largest_number_is_no_value(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *semaphore = fixture_semaphore(f), *none = NULL;
   const struct agx_point last = conformance_point(semaphore, UINT64_MAX);
   uint64_t value = 1;
   assert_fails(agx_semaphore_create(f->device, UINT64_MAX, &none), AGX_OUT_OF_RANGE,
                "18446744073709551615");
   assert_null(none);
   assert_fails(agx_semaphore_signal(semaphore, UINT64_MAX), AGX_OUT_OF_RANGE,
                "stands for failure");
   assert_fails(fixture_submit(f, NULL, NO_POINT, last), AGX_OUT_OF_RANGE, "signal");
   assert_fails(agx_semaphore_import_point(semaphore, UINT64_MAX, AGX_FD_EVENTFD, 0),
                AGX_OUT_OF_RANGE, "import");
   assert_fails(agx_semaphore_wait(&last, 1, false, 0), AGX_DEADLINE_EXCEEDED, "");
   assert_ok(agx_semaphore_query(semaphore, &value));
   assert_int_equal(value, 0);
   agx_release(semaphore);
}

/* Operations may wait for several values of one semaphore, in any order, and for others besides. */
static void one_value_frees_many(void **state)
{
   enum {
      COUNT = 40
   };
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f), *second = fixture_semaphore(f),
                        *done[COUNT] = {0};
   uint64_t value;
   for (uint64_t i = 0; i < COUNT; i++) {
      const struct agx_point waits[] = {{go, 1 + i % 7}, {second, i % 2}, {go, 9}, {go, 1 + i % 5}};
      done[i] = fixture_semaphore(f);
      const struct agx_point signal = {done[i], 1};
      const struct agx_op op = {.size = sizeof(op),
                                .kind = AGX_OP_BARRIER,
                                .waits = waits,
                                .wait_count = 4,
                                .signals = &signal,
                                .signal_count = 1};
      assert_ok(agx_submit(f->device, &op, 1, NULL));
   }
   assert_ok(agx_semaphore_signal(go, 8));
   assert_ok(agx_semaphore_query(done[0], &value));
   assert_int_equal(value, 0);
   assert_ok(agx_semaphore_signal(go, 9));
   for (uint32_t i = 0; i < COUNT; i++) {
      assert_ok(agx_semaphore_query(done[i], &value));
      assert_int_equal(value, i % 2 == 0);
   }
   assert_ok(agx_semaphore_signal(second, 1));
   for (uint32_t i = 0; i < COUNT; i++) {
      assert_ok(fixture_wait(done[i], 1));
      agx_release(done[i]);
   }
   agx_release(second);
   agx_release(go);
}

static void the_first_failure_stays(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *semaphore = fixture_semaphore(f);
   uint64_t value;
   assert_ok(agx_semaphore_signal(semaphore, 2));
   agx_semaphore_fail(semaphore, AGX_ABORTED, "the belt snapped");
   agx_semaphore_fail(semaphore, AGX_INTERNAL, "later");
   assert_fails(agx_semaphore_query(semaphore, &value), AGX_ABORTED, "the belt snapped");
   assert_fails(agx_semaphore_signal(semaphore, 3), AGX_ABORTED, "the belt snapped");
   assert_fails(fixture_wait(semaphore, 3), AGX_ABORTED, "the belt snapped");
   assert_ok(fixture_wait(semaphore, 2)); /* was reached before */
   agx_release(semaphore);
}

static int64_t now_ns(void)
{
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void deadlines_pass(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *semaphore = fixture_semaphore(f);
   struct agx_point point = conformance_point(semaphore, 1);
   int64_t deadline = now_ns() + 2000000;
   assert_fails(agx_semaphore_wait(&point, 1, false, 0), AGX_DEADLINE_EXCEEDED, "1");
   assert_fails(agx_semaphore_wait(&point, 1, false, deadline), AGX_DEADLINE_EXCEEDED, "1");
   assert_true(now_ns() >= deadline);
   assert_fails(agx_semaphore_wait(&point, 1, true, 1), AGX_DEADLINE_EXCEEDED, "1");
   assert_ok(agx_semaphore_wait(NULL, 0, false, 0));
   assert_ok(agx_semaphore_signal(semaphore, 1));
   assert_ok(agx_semaphore_wait(&point, 1, false, 0));
   agx_release(semaphore);
}

/* Which failures decide a wait for any, and which a wait for all. */
static void only_codes_of_failures_fail(void **state)
{
   static const agx_status numbers[] = {AGX_OK, -3, INT32_MIN, AGX_INCOMPATIBLE + 1, 32, INT32_MAX};
   struct fixture *f = conformance_device(state);
   for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
      struct agx_semaphore *semaphore = fixture_semaphore(f);
      uint64_t value;
      agx_semaphore_fail(semaphore, numbers[i], "what it was");
      assert_fails(agx_semaphore_query(semaphore, &value), AGX_UNKNOWN, "what it was");
      agx_release(semaphore);
   }
}

static void failures_in_waits(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *good = fixture_semaphore(f), *bad = fixture_semaphore(f);
   struct agx_point points[2] = {conformance_point(good, 1), conformance_point(bad, 1)};
   agx_semaphore_fail(bad, AGX_DATA_LOSS, "bad");
   assert_fails(agx_semaphore_wait(points, 2, false, AGX_DEADLINE_NEVER), AGX_DATA_LOSS, "bad");
   assert_ok(agx_semaphore_signal(good, 1));
   assert_ok(agx_semaphore_wait(points, 2, true, AGX_DEADLINE_NEVER));
   assert_fails(agx_semaphore_wait(points, 2, false, AGX_DEADLINE_NEVER), AGX_DATA_LOSS, "bad");
   agx_release(good);
   agx_release(bad);
}

struct waiter {
   struct agx_point point;
   agx_status status;
};

static void *wait_for_point(void *argument)
{
   struct waiter *waiter = argument;
   waiter->status = agx_semaphore_wait(&waiter->point, 1, false, AGX_DEADLINE_NEVER);
   return NULL;
}

static void waiters_wake(void **state)
{
   enum {
      COUNT = 6
   };
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *semaphore = fixture_semaphore(f);
   struct waiter waiters[COUNT];
   pthread_t threads[COUNT];
   for (uint32_t i = 0; i < COUNT; i++) {
      waiters[i] = (struct waiter){conformance_point(semaphore, 1 + i), AGX_UNKNOWN};
      assert_int_equal(pthread_create(&threads[i], NULL, wait_for_point, &waiters[i]), 0);
   }
   for (uint64_t value = 1; value <= COUNT / 2; value++)
      assert_ok(agx_semaphore_signal(semaphore, value));
   agx_semaphore_fail(semaphore, AGX_ABORTED, "no more");
   for (uint32_t i = 0; i < COUNT; i++) {
      pthread_join(threads[i], NULL);
      assert_int_equal(waiters[i].status, i < COUNT / 2 ? AGX_OK : AGX_ABORTED);
   }
   agx_release(semaphore);
}

static void points_of_several_devices(void **state)
{
   struct fixture *f = conformance_device(state), other;
   conformance_open_another(&other);
   struct agx_semaphore *ours = fixture_semaphore(f), *theirs = fixture_semaphore(&other);
   struct agx_point points[2] = {conformance_point(ours, 1), conformance_point(theirs, 1)};
   assert_fails(agx_semaphore_wait(points, 2, true, 0), AGX_DEADLINE_EXCEEDED, "");
   assert_ok(agx_semaphore_signal(theirs, 1));
   assert_ok(agx_semaphore_wait(points, 2, true, AGX_DEADLINE_NEVER));
   assert_fails(agx_semaphore_wait(points, 2, false, 0), AGX_DEADLINE_EXCEEDED, "");
   assert_ok(agx_semaphore_signal(ours, 1));
   assert_ok(agx_semaphore_wait(points, 2, false, AGX_DEADLINE_NEVER));
   assert_fails(fixture_submit(f, NULL, points[1], NO_POINT), AGX_INVALID_ARGUMENT, "wait 0");
   points[1].semaphore = NULL;
   assert_fails(agx_semaphore_wait(points, 2, false, 0), AGX_INVALID_ARGUMENT, "point 1");
   agx_release(ours);
   agx_release(theirs);
   fixture_close(&other);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_only_grow),
      cmocka_unit_test(the_largest_number_is_no_value),
      cmocka_unit_test(one_value_frees_many),
      cmocka_unit_test(the_first_failure_stays),
      cmocka_unit_test(only_codes_of_failures_fail),
      cmocka_unit_test(deadlines_pass),
      cmocka_unit_test(failures_in_waits),
      cmocka_unit_test(waiters_wake),
      cmocka_unit_test(points_of_several_devices),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
