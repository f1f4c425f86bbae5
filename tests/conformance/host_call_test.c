/* SPDX-License-Identifier: MIT
 *
 * Functions of the application as operations: when they are called, what their end does, what
 * they may do themselves.
 */
#include "host_call_scene.h"

/* ---- the six cases -------------------------------------------------------- */

static void enqueue_before_signal(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f), *after = fixture_semaphore(f);
   struct record record;
   record_init(&record, f, AGX_OK);
   struct agx_op op = call_op(note, &record, 0);
   assert_ok(submit(f, op, conformance_point(go, 3), conformance_point(record.semaphore, 1)));
   memset(&op, 0xff, sizeof(op)); /* everything was taken in the call */
   assert_ok(
      fixture_submit(f, NULL, conformance_point(record.semaphore, 1), conformance_point(after, 1)));
   assert_ok(agx_semaphore_signal(go, 2));
   assert_int_equal(record.calls, 0);
   assert_int_equal(value_of(record.semaphore), 0);
   assert_ok(agx_semaphore_signal(go, 3));
   assert_ok(fixture_wait(after, 1));
   assert_int_equal(record.calls, 1);
   assert_true(record.is_right);
   agx_release(go);
   agx_release(after);
   record_fini(&record);
}

static void no_wait_semaphores(void **state)
{
   struct fixture *f = conformance_device(state);
   struct record record;
   record_init(&record, f, AGX_OK);
   assert_ok(submit(f, call_op(note, &record, AGX_HOST_CALL_WAIT_ACTIVE | AGX_HOST_CALL_RELAXED),
                    NO_POINT, conformance_point(record.semaphore, 1)));
   assert_ok(fixture_wait(record.semaphore, 1));
   assert_int_equal(record.calls, 1);
   /* Without signals the test sees the call's beginning, not its end. */
   assert_ok(submit(f, call_op(note, &record, 0), NO_POINT, NO_POINT));
   take(&record.begun);
   take(&record.begun);
   assert_int_equal(record.calls, 2);
   record_fini(&record);
}

/* The signal comes while the function still runs; its result is dropped. */
static void non_blocking_flag(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f);
   static struct record record; /* it may still be looked at in the end */
   record_init(&record, f, AGX_ABORTED);
   record.waits = true;
   assert_ok(submit(f, call_op(note, &record, AGX_HOST_CALL_NON_BLOCKING), conformance_point(go, 1),
                    conformance_point(record.semaphore, 1)));
   assert_int_equal(value_of(record.semaphore), 0);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(record.semaphore, 1));
   take(&record.begun);
   assert_int_equal(agx_host_call_get_signals(record.call, 0, NULL), 0);
   sem_post(&record.go);
   assert_ok(submit(f, call_op(note, &record, 0), NO_POINT, NO_POINT));
   take(&record.begun);
   sem_post(&record.go);
   assert_int_equal(value_of(record.semaphore), 1);
   record_fini(&record);
   agx_release(go);
}

static void async_callback(void **state)
{
   struct fixture *f = conformance_device(state);
   struct record record;
   struct agx_point points[2];
   record_init(&record, f, AGX_DEFERRED);
   assert_ok(
      submit(f, call_op(note, &record, 0), NO_POINT, conformance_point(record.semaphore, 7)));
   take(&record.begun);
   assert_int_equal(agx_host_call_get_signals(record.call, 2, points), 1);
   assert_ptr_equal(points[0].semaphore, record.semaphore);
   assert_int_equal(points[0].value, 7);
   assert_fails(agx_semaphore_wait(points, 1, false, 0), AGX_DEADLINE_EXCEEDED, "");
   agx_host_call_finish(record.call, AGX_OK, "not looked at");
   assert_ok(fixture_wait(record.semaphore, 7));
   record_fini(&record);
}

static void callback_returns_error(void **state)
{
   static const struct {
      agx_status returned, failure;
      const char *text;
   } rows[] = {{AGX_ABORTED, AGX_ABORTED, "ABORTED"},
               {AGX_DATA_LOSS, AGX_DATA_LOSS, "DATA_LOSS"},
               {AGX_INCOMPATIBLE, AGX_INCOMPATIBLE, "INCOMPATIBLE"},
               {99, AGX_UNKNOWN, "status 99"},
               {-1, AGX_UNKNOWN, "status -1"}};
   struct fixture *f = conformance_device(state);
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      struct record record;
      record_init(&record, f, rows[i].returned);
      assert_ok(
         submit(f, call_op(note, &record, 0), NO_POINT, conformance_point(record.semaphore, 1)));
      assert_fails(fixture_wait(record.semaphore, 1), rows[i].failure, rows[i].text);
      record_fini(&record);
   }
}

/* Its failure goes on to what waits for it, which isn't called. */
static void callback_returns_error_after_wait(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f);
   struct record first, second;
   record_init(&first, f, AGX_DEFERRED);
   record_init(&second, f, AGX_OK);
   assert_ok(submit(f, call_op(note, &second, 0), conformance_point(first.semaphore, 1),
                    conformance_point(second.semaphore, 1)));
   assert_ok(submit(f, call_op(note, &first, 0), conformance_point(go, 1),
                    conformance_point(first.semaphore, 1)));
   assert_ok(agx_semaphore_signal(go, 1));
   take(&first.begun);
   agx_host_call_finish(first.call, AGX_NOT_FOUND, "no sugar left");
   assert_fails(fixture_wait(first.semaphore, 1), AGX_NOT_FOUND, "no sugar left");
   assert_fails(fixture_wait(second.semaphore, 1), AGX_NOT_FOUND, "no sugar left");
   assert_int_equal(second.calls, 0);
   agx_release(go);
   record_fini(&first);
   record_fini(&second);
}

/* ---- what a function may do ----------------------------------------------- */

/* The text of the library's call that failed in it travels. */
static agx_status query_failed(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   uint64_t value;
   return agx_semaphore_query(user, &value);
}

static void failures_of_the_library_keep_their_text(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *failed = fixture_semaphore(f), *done = fixture_semaphore(f);
   struct record plain;
   record_init(&plain, f, AGX_INTERNAL);
   agx_semaphore_fail(failed, AGX_UNAUTHENTICATED, "who goes there");
   assert_ok(submit(f, call_op(query_failed, failed, 0), NO_POINT, conformance_point(done, 1)));
   assert_fails(fixture_wait(done, 1), AGX_UNAUTHENTICATED, "who goes there");
   /* But not to the next call on that thread. */
   for (int i = 0; i < 8; i++)
      assert_ok(submit(f, call_op(note, &plain, AGX_HOST_CALL_NON_BLOCKING), NO_POINT, NO_POINT));
   assert_ok(submit(f, call_op(note, &plain, 0), NO_POINT, conformance_point(plain.semaphore, 1)));
   assert_fails(fixture_wait(plain.semaphore, 1), AGX_INTERNAL, "host call: INTERNAL");
   for (int i = 0; i < 9; i++)
      take(&plain.begun);
   agx_release(failed);
   agx_release(done);
   record_fini(&plain);
}

/* Each call submits the next one, and a barrier; the last signals the end. */
static agx_status go_on(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct record *record = user;
   uint64_t at = (uint64_t)++record->calls;
   struct agx_op next = call_op(go_on, record, 0);
   agx_status status;
   if (at == 50)
      return agx_semaphore_signal(record->semaphore, 1000);
   status = fixture_submit(record->f, NULL, NO_POINT, conformance_point(record->semaphore, at));
   return status ? status
                 : submit(record->f, next, conformance_point(record->semaphore, at), NO_POINT);
}

static void functions_may_submit_and_signal(void **state)
{
   struct fixture *f = conformance_device(state);
   struct record record;
   record_init(&record, f, AGX_OK);
   assert_ok(submit(f, call_op(go_on, &record, 0), NO_POINT, NO_POINT));
   assert_ok(fixture_wait(record.semaphore, 1000));
   assert_int_equal(record.calls, 50);
   record_fini(&record);
}

/* As an adapter does whose functions publish by themselves. */
static agx_status signal_by_itself(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct agx_point points[2];
   if (agx_host_call_get_signals(call, 2, points) != 2)
      return AGX_INTERNAL;
   agx_status status = agx_semaphore_signal(points[0].semaphore, points[0].value);
   agx_semaphore_fail(points[1].semaphore, AGX_ABORTED, "by hand");
   return status;
}

static void functions_may_settle_their_own_signals(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_point points[2] = {conformance_point(fixture_semaphore(f), 4),
                                 conformance_point(fixture_semaphore(f), 5)};
   struct agx_op op = call_op(signal_by_itself, NULL, 0);
   op.signals = points;
   op.signal_count = 2;
   assert_ok(agx_submit(f->device, &op, 1, NULL));
   assert_ok(fixture_wait(points[0].semaphore, 4));
   assert_fails(fixture_wait(points[1].semaphore, 5), AGX_ABORTED, "by hand");
   agx_release(points[0].semaphore);
   agx_release(points[1].semaphore);
}

/* A kernel's result is there for the function, and the function's for the next kernel. */
static agx_status add_on_the_host(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   uint32_t *words = user;
   for (unsigned i = 0; i < 32; i++)
      words[i] += 1000;
   return AGX_OK;
}

static void kernels_and_functions_take_turns(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_executable *add = fixture_kernel(f, &agx_test_add);
   uint32_t *words[2], push = 1;
   struct agx_buffer *buffers[2] = {fixture_buffer(f, 128, &words[0]),
                                    fixture_buffer(f, 128, &words[1])};
   struct agx_command_buffer *commands[2];
   struct agx_semaphore *line = fixture_semaphore(f);
   for (int i = 0; i < 2; i++) {
      commands[i] = fixture_begin(f);
      fixture_dispatch(commands[i], add, 1, (struct agx_buffer *[]){buffers[i], buffers[1 - i]}, 2,
                       &push, 4);
      assert_ok(agx_command_buffer_end(commands[i]));
   }
   for (uint64_t i = 0; i < 20; i++) {
      assert_ok(fixture_submit(f, commands[i % 2], conformance_point(line, 2 * i),
                               conformance_point(line, 2 * i + 1)));
      assert_ok(submit(f, call_op(add_on_the_host, words[1 - i % 2], 0),
                       conformance_point(line, 2 * i + 1), conformance_point(line, 2 * i + 2)));
   }
   assert_ok(fixture_wait(line, 40));
   for (unsigned i = 0; i < 32; i++)
      assert_int_equal(words[0][i], 20 * 1001);
   for (int i = 0; i < 2; i++) {
      agx_release(commands[i]);
      agx_release(buffers[i]);
   }
   agx_release(add);
   agx_release(line);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(enqueue_before_signal),
      cmocka_unit_test(no_wait_semaphores),
      cmocka_unit_test(non_blocking_flag),
      cmocka_unit_test(async_callback),
      cmocka_unit_test(callback_returns_error),
      cmocka_unit_test(callback_returns_error_after_wait),
      cmocka_unit_test(failures_of_the_library_keep_their_text),
      cmocka_unit_test(functions_may_submit_and_signal),
      cmocka_unit_test(functions_may_settle_their_own_signals),
      cmocka_unit_test(kernels_and_functions_take_turns),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
