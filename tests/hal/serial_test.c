/* SPDX-License-Identifier: MIT
 *
 * AGX_DEBUG=serial: agx_submit waits for the end of each operation, of the GPU's and of the host's,
 * unless that would never come.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "fixture.h"

struct serial_work {
   struct work w;
   struct agx_semaphore *gate;
   _Atomic int calls;
   struct agx_host_call *_Atomic deferred;
};

static void serial_open(struct serial_work *it)
{
   setenv("AGX_DEBUG", "serial", 1);
   work_open(&it->w, "virtual");
   unsetenv("AGX_DEBUG");
   work_record(&it->w);
   it->gate = fixture_semaphore(it->w.f);
   atomic_init(&it->calls, 0);
}

static void serial_close(struct serial_work *it)
{
   agx_release(it->gate);
   work_close(&it->w);
}

static uint64_t value_of(struct agx_semaphore *semaphore)
{
   uint64_t value = 0;
   assert_ok(agx_semaphore_query(semaphore, &value));
   return value;
}

/* So long that a submission that doesn't wait for it is seen. */
static agx_status sleep_and_count(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct serial_work *it = user;
   usleep(20000);
   it->calls++;
   return AGX_OK;
}

static agx_status submit_call(struct serial_work *it,
                              agx_status (*fn)(void *, const uint64_t[4], struct agx_host_call *),
                              struct agx_point wait, struct agx_point signal)
{
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_HOST_CALL,
                             .waits = &wait,
                             .wait_count = wait.semaphore != NULL,
                             .signals = &signal,
                             .signal_count = signal.semaphore != NULL,
                             .u.host_call = {.fn = fn, .user = it}};
   return agx_submit(it->w.f->device, &op, 1, NULL);
}

static void each_kind_is_waited_for(void **state)
{
   struct serial_work it;
   serial_open(&it);
   assert_ok(fixture_submit(it.w.f, it.w.commands, NO_POINT, (struct agx_point){it.w.done, 1}));
   assert_int_equal(value_of(it.w.done), 1);
   assert_int_equal(it.w.words[0][63], 64);
   assert_ok(submit_call(&it, sleep_and_count, NO_POINT, (struct agx_point){it.w.done, 2}));
   assert_int_equal(it.calls, 1);
   assert_int_equal(value_of(it.w.done), 2);
   /* This one signals no semaphore. */
   assert_ok(submit_call(&it, sleep_and_count, NO_POINT, NO_POINT));
   assert_int_equal(it.calls, 2);
   assert_ok(fixture_submit(it.w.f, NULL, NO_POINT, (struct agx_point){it.w.done, 3}));
   assert_int_equal(value_of(it.w.done), 3);
   serial_close(&it);
}

/* Waits for what the caller does next: it comes back, and the rest is as without. */
static void the_parked_is_not_waited_for(void **state)
{
   struct serial_work it;
   serial_open(&it);
   const struct agx_point gate = {it.gate, 1};
   assert_ok(fixture_submit(it.w.f, it.w.commands, gate, (struct agx_point){it.w.done, 1}));
   assert_ok(submit_call(&it, sleep_and_count, (struct agx_point){it.w.done, 1},
                         (struct agx_point){it.w.done, 2}));
   assert_int_equal(value_of(it.w.done), 0);
   assert_int_equal(it.calls, 0);
   assert_ok(fixture_submit(it.w.f, NULL, NO_POINT, gate)); /* in the middle of it */
   assert_ok(fixture_wait(it.w.done, 2));
   assert_int_equal(it.calls, 1);
   serial_close(&it);
}

static agx_status submit_more(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct serial_work *it = user;
   AGX_TRY(submit_call(it, sleep_and_count, NO_POINT, (struct agx_point){it->gate, 1}));
   return fixture_submit(it->w.f, it->w.commands, (struct agx_point){it->gate, 1},
                         (struct agx_point){it->gate, 2});
}

/* Were those waited for, all threads of the host could come to wait for one more. */
static void functions_of_the_host_submit(void **state)
{
   struct serial_work it;
   serial_open(&it);
   assert_ok(submit_call(&it, submit_more, NO_POINT, (struct agx_point){it.w.done, 1}));
   assert_int_equal(value_of(it.w.done), 1);
   assert_ok(fixture_wait(it.gate, 2));
   assert_int_equal(it.calls, 1);
   serial_close(&it);
}

static void submit_from_watch(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct serial_work *it = watch->user;
   assert_ok(submit_call(it, sleep_and_count, NO_POINT, (struct agx_point){it->gate, 1}));
   assert_ok(fixture_submit(it->w.f, it->w.commands, (struct agx_point){it->gate, 1},
                            (struct agx_point){it->gate, 2}));
}

static void watches_submit(void **state)
{
   struct serial_work it;
   serial_open(&it);
   struct agx_watch watch = {.value = 1, .fn = submit_from_watch, .user = &it};
   assert_ok(agx_semaphore_watch(it.w.done, &watch));
   assert_ok(fixture_submit(it.w.f, it.w.commands, NO_POINT, (struct agx_point){it.w.done, 1}));
   assert_ok(fixture_wait(it.gate, 2));
   assert_int_equal(it.calls, 1);
   serial_close(&it);
}

static agx_status refuse(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   return AGX_FAIL(AGX_OUT_OF_RANGE, "too far");
}

static void failures_end_it_too(void **state)
{
   struct serial_work it;
   serial_open(&it);
   assert_ok(submit_call(&it, refuse, NO_POINT, (struct agx_point){it.w.done, 1}));
   uint64_t value;
   assert_fails(agx_semaphore_query(it.w.done, &value), AGX_OUT_OF_RANGE, "too far");
   assert_ok(fixture_submit(it.w.f, it.w.commands, (struct agx_point){it.w.done, 1},
                            (struct agx_point){it.gate, 1}));
   assert_fails(agx_semaphore_query(it.gate, &value), AGX_OUT_OF_RANGE, "too far");
   serial_close(&it);
}

static agx_status defer(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct serial_work *it = user;
   usleep(20000);
   it->deferred = call;
   it->calls++;
   return AGX_DEFERRED;
}

/* It ends by this thread's next step; what waits for it is parked until then. */
static void deferred_calls_are_left_open(void **state)
{
   struct serial_work it;
   serial_open(&it);
   assert_ok(submit_call(&it, defer, NO_POINT, (struct agx_point){it.w.done, 1}));
   assert_int_equal(it.calls, 1);
   assert_int_equal(value_of(it.w.done), 0);
   assert_ok(fixture_submit(it.w.f, it.w.commands, (struct agx_point){it.w.done, 1},
                            (struct agx_point){it.gate, 1}));
   assert_ok(submit_call(&it, sleep_and_count, NO_POINT, NO_POINT));
   assert_int_equal(it.calls, 2); /* others are waited for meanwhile */
   agx_host_call_finish(it.deferred, AGX_OK, NULL);
   assert_int_equal(value_of(it.w.done), 1);
   serial_close(&it);
}

/* What it was given may be gone once it has finished: the test doesn't wait for its return. */
static agx_status finish_and_defer(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   agx_host_call_finish(call, AGX_OK, NULL);
   return AGX_DEFERRED;
}

/* Its submission is another operation's before the function returns. */
static void calls_that_ended_before_leave_nothing_open(void **state)
{
   struct serial_work it;
   serial_open(&it);
   for (uint64_t i = 1; i <= 200; i++) {
      assert_ok(submit_call(&it, finish_and_defer, NO_POINT, (struct agx_point){it.w.done, i}));
      assert_int_equal(value_of(it.w.done), i);
   }
   serial_close(&it);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kind_is_waited_for),
      cmocka_unit_test(the_parked_is_not_waited_for),
      cmocka_unit_test(functions_of_the_host_submit),
      cmocka_unit_test(watches_submit),
      cmocka_unit_test(failures_end_it_too),
      cmocka_unit_test(deferred_calls_are_left_open),
      cmocka_unit_test(calls_that_ended_before_leave_nothing_open),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
