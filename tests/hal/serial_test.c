/* SPDX-License-Identifier: MIT
 *
 * AGX_DEBUG=serial: agx_submit waits for the end of each operation, of the GPU's and of the host's,
 * unless that would never come.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "fixture.h"

struct scene {
   struct fixture f;
   struct agx_executable *kernel;
   struct agx_buffer *buffer;
   uint32_t *words;
   struct agx_command_buffer *commands;
   struct agx_semaphore *done, *gate;
   _Atomic int calls;
};

static void open_scene(struct scene *it)
{
   memset(it, 0, sizeof(*it));
   setenv("AGX_DEBUG", "serial", 1);
   fixture_open(&it->f, "virtual");
   unsetenv("AGX_DEBUG");
   it->kernel = fixture_kernel(&it->f, &agx_test_count);
   it->buffer = fixture_buffer(&it->f, 256, &it->words);
   it->done = fixture_semaphore(&it->f);
   it->gate = fixture_semaphore(&it->f);
   it->commands = fixture_begin(&it->f);
   fixture_dispatch(it->commands, it->kernel, 1, &it->buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(it->commands));
}

static void close_scene(struct scene *it)
{
   agx_release(it->commands);
   agx_release(it->gate);
   agx_release(it->done);
   agx_release(it->buffer);
   agx_release(it->kernel);
   fixture_close(&it->f);
}

static uint64_t value_of(struct agx_semaphore *semaphore)
{
   uint64_t value = 0;
   assert_ok(agx_semaphore_query(semaphore, &value));
   return value;
}

/* Long enough for whoever does not wait to be caught. */
static agx_status sleep_and_count(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct scene *it = user;
   usleep(20000);
   it->calls++;
   return AGX_OK;
}

static agx_status submit_call(struct scene *it,
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
   return agx_submit(it->f.device, &op, 1, NULL);
}

static void each_kind_is_waited_for(void **state)
{
   struct scene it;
   open_scene(&it);
   assert_ok(fixture_submit(&it.f, it.commands, NO_POINT, (struct agx_point){it.done, 1}));
   assert_int_equal(value_of(it.done), 1);
   assert_int_equal(it.words[63], 64);
   assert_ok(submit_call(&it, sleep_and_count, NO_POINT, (struct agx_point){it.done, 2}));
   assert_int_equal(it.calls, 1);
   assert_int_equal(value_of(it.done), 2);
   /* Nobody is told of this one. */
   assert_ok(submit_call(&it, sleep_and_count, NO_POINT, NO_POINT));
   assert_int_equal(it.calls, 2);
   assert_ok(fixture_submit(&it.f, NULL, NO_POINT, (struct agx_point){it.done, 3}));
   assert_int_equal(value_of(it.done), 3);
   close_scene(&it);
}

/* Waits for what the caller does next: it comes back, and the rest is as without. */
static void the_parked_is_not_waited_for(void **state)
{
   struct scene it;
   open_scene(&it);
   const struct agx_point gate = {it.gate, 1};
   assert_ok(fixture_submit(&it.f, it.commands, gate, (struct agx_point){it.done, 1}));
   assert_ok(submit_call(&it, sleep_and_count, (struct agx_point){it.done, 1},
                         (struct agx_point){it.done, 2}));
   assert_int_equal(value_of(it.done), 0);
   assert_int_equal(it.calls, 0);
   assert_ok(fixture_submit(&it.f, NULL, NO_POINT, gate)); /* in the middle of it */
   assert_ok(fixture_wait(it.done, 2));
   assert_int_equal(it.calls, 1);
   close_scene(&it);
}

static agx_status submit_more(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct scene *it = user;
   AGX_TRY(submit_call(it, sleep_and_count, NO_POINT, (struct agx_point){it->gate, 1}));
   return fixture_submit(&it->f, it->commands, (struct agx_point){it->gate, 1},
                         (struct agx_point){it->gate, 2});
}

/* Were those waited for, all threads of the host could come to wait for one more. */
static void functions_of_the_host_submit(void **state)
{
   struct scene it;
   open_scene(&it);
   assert_ok(submit_call(&it, submit_more, NO_POINT, (struct agx_point){it.done, 1}));
   assert_int_equal(value_of(it.done), 1);
   assert_ok(fixture_wait(it.gate, 2));
   assert_int_equal(it.calls, 1);
   close_scene(&it);
}

static void submit_from_watch(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct scene *it = watch->user;
   assert_ok(submit_call(it, sleep_and_count, NO_POINT, (struct agx_point){it->gate, 1}));
   assert_ok(fixture_submit(&it->f, it->commands, (struct agx_point){it->gate, 1},
                            (struct agx_point){it->gate, 2}));
}

static void watches_submit(void **state)
{
   struct scene it;
   open_scene(&it);
   struct agx_watch watch = {.value = 1, .fn = submit_from_watch, .user = &it};
   assert_ok(agx_semaphore_watch(it.done, &watch));
   assert_ok(fixture_submit(&it.f, it.commands, NO_POINT, (struct agx_point){it.done, 1}));
   assert_ok(fixture_wait(it.gate, 2));
   assert_int_equal(it.calls, 1);
   close_scene(&it);
}

static agx_status refuse(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   return AGX_FAIL(AGX_OUT_OF_RANGE, "too far");
}

static void failures_end_it_too(void **state)
{
   struct scene it;
   open_scene(&it);
   assert_ok(submit_call(&it, refuse, NO_POINT, (struct agx_point){it.done, 1}));
   uint64_t value;
   assert_fails(agx_semaphore_query(it.done, &value), AGX_OUT_OF_RANGE, "too far");
   assert_ok(fixture_submit(&it.f, it.commands, (struct agx_point){it.done, 1},
                            (struct agx_point){it.gate, 1}));
   assert_fails(agx_semaphore_query(it.gate, &value), AGX_OUT_OF_RANGE, "too far");
   close_scene(&it);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_kind_is_waited_for),
      cmocka_unit_test(the_parked_is_not_waited_for),
      cmocka_unit_test(functions_of_the_host_submit),
      cmocka_unit_test(watches_submit),
      cmocka_unit_test(failures_end_it_too),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
