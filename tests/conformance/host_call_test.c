/* SPDX-License-Identifier: MIT
 *
 * Functions of the application as operations: when they are called, what their end does, what
 * they may do themselves.
 */
#include "conformance.h"

#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agx/host_call.h"

typedef agx_status function(void *user, const uint64_t args[4], struct agx_host_call *call);

static struct agx_op call_op(function *fn, void *user, uint64_t flags)
{
   return (struct agx_op){
      .size = sizeof(struct agx_op),
      .kind = AGX_OP_HOST_CALL,
      .u.host_call = {.fn = fn, .user = user, .args = {11, 22, 33, UINT64_MAX}, .flags = flags}};
}

static agx_status submit(struct fixture *f, struct agx_op op, struct agx_point wait,
                         struct agx_point signal)
{
   op.waits = &wait;
   op.wait_count = wait.semaphore != NULL;
   op.signals = &signal;
   op.signal_count = signal.semaphore != NULL;
   return agx_submit(f->device, &op, 1, NULL);
}

static void take(sem_t *semaphore)
{
   while (sem_wait(semaphore))
      ;
}

static uint64_t value_of(struct agx_semaphore *semaphore)
{
   uint64_t value = 0;
   assert_ok(agx_semaphore_query(semaphore, &value));
   return value;
}

/* What most functions here need. Posted to when it has begun; it may wait to be let on. */
struct record {
   sem_t begun, go;
   struct fixture *f;
   struct agx_semaphore *semaphore;
   struct agx_host_call *_Atomic call;
   agx_status result;
   const char *text;
   _Atomic int calls;
   _Atomic bool is_right; /* several may run at a time */
   bool waits;
};

static void record_init(struct record *record, struct fixture *f, agx_status result)
{
   *record = (struct record){.f = f, .semaphore = fixture_semaphore(f), .result = result};
   sem_init(&record->begun, 0, 0);
   sem_init(&record->go, 0, 0);
}

static void record_fini(struct record *record)
{
   agx_release(record->semaphore);
}

/* Touches nothing of the record once the test may have gone on. */
static agx_status note(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct record *record = user;
   agx_status result = record->result;
   bool waits = record->waits;
   sigset_t mask;
   pthread_sigmask(SIG_SETMASK, NULL, &mask);
   record->is_right = args[0] == 11 && args[1] == 22 && args[2] == 33 && args[3] == UINT64_MAX &&
                      sigismember(&mask, SIGINT) == 1;
   record->call = call;
   record->calls++;
   sem_post(&record->begun);
   if (waits)
      take(&record->go);
   return result;
}

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
   /* Without signals nobody hears of its end, but of its beginning. */
   assert_ok(submit(f, call_op(note, &record, 0), NO_POINT, NO_POINT));
   take(&record.begun);
   take(&record.begun);
   assert_int_equal(record.calls, 2);
   record_fini(&record);
}

/* The signal comes while the function is still kept; what it returns is nobody's. */
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

/* ---- ends ----------------------------------------------------------------- */

static unsigned thread_count(void)
{
   unsigned count = 0;
   DIR *tasks = opendir("/proc/self/task");
   assert_non_null(tasks);
   for (struct dirent *entry; (entry = readdir(tasks));)
      count += entry->d_name[0] != '.';
   closedir(tasks);
   return count;
}

/* A thousand of them, all out at once. */
static agx_status keep(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct agx_host_call **place = user;
   __atomic_store_n(place, call, __ATOMIC_RELEASE);
   return AGX_DEFERRED;
}

struct finisher {
   struct agx_host_call **calls;
   int count;
};

static void *finish_all(void *user)
{
   struct finisher *finisher = user;
   for (int i = 0; i < finisher->count; i++)
      agx_host_call_finish(finisher->calls[i], AGX_OK, NULL);
   return NULL;
}

static void deferred_calls_keep_no_thread(void **state)
{
   enum {
      COUNT = 1000
   };
   static struct agx_host_call *calls[COUNT];
   static struct agx_semaphore *ends[COUNT];
   struct fixture *f = conformance_device(state);
   struct record last;
   struct agx_semaphore *go = fixture_semaphore(f);
   unsigned before = thread_count();
   record_init(&last, f, AGX_OK);
   for (int i = 0; i < COUNT; i++) {
      ends[i] = fixture_semaphore(f);
      assert_ok(submit(f, call_op(keep, &calls[i], 0), conformance_point(go, 1),
                       conformance_point(ends[i], 1)));
   }
   assert_int_equal(thread_count(), before);
   assert_ok(agx_semaphore_signal(go, 1));
   for (int i = 0; i < COUNT; i++)
      while (!__atomic_load_n(&calls[i], __ATOMIC_ACQUIRE))
         usleep(100);
   assert_true(thread_count() <= before + AGX_HOST_CALL_THREADS + 1);
   assert_fails(agx_semaphore_wait((struct agx_point[]){{ends[0], 1}, {ends[999], 1}}, 2, true, 0),
                AGX_DEADLINE_EXCEEDED, "");
   struct finisher halves[2] = {{calls, COUNT / 2}, {calls + COUNT / 2, COUNT / 2}};
   pthread_t thread;
   assert_int_equal(pthread_create(&thread, NULL, finish_all, &halves[0]), 0);
   finish_all(&halves[1]);
   pthread_join(thread, NULL);
   for (int i = 0; i < COUNT; i++) {
      assert_ok(fixture_wait(ends[i], 1));
      agx_release(ends[i]);
   }
   agx_release(go);
   record_fini(&last);
}

/* Somebody may finish the call before its function has returned. */
static agx_status finish_early(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct record *record = user;
   bool waits = record->waits;
   agx_host_call_finish(call, record->result, record->text);
   sem_post(&record->begun);
   take(&record->go);
   return waits ? AGX_OK : AGX_DEFERRED; /* AGX_OK: too late, and forgiven */
}

static void calls_may_be_finished_early(void **state)
{
   struct fixture *f = conformance_device(state);
   for (int i = 0; i < 4; i++) {
      struct record record;
      record_init(&record, f, i & 1 ? AGX_CANCELLED : AGX_OK);
      record.text = "had enough";
      record.waits = i & 2;
      assert_ok(submit(f, call_op(finish_early, &record, 0), NO_POINT,
                       conformance_point(record.semaphore, 1)));
      if (i & 1)
         assert_fails(fixture_wait(record.semaphore, 1), AGX_CANCELLED, "had enough");
      else
         assert_ok(fixture_wait(record.semaphore, 1));
      take(&record.begun);
      sem_post(&record.go);
      record_fini(&record);
   }
}

/* ---- the end of the device ------------------------------------------------ */

/* An allocator that counts, shared by whatever threads there are. */
static _Atomic long live, allocations;

static void *counted_alloc(void *user, size_t size)
{
   void *memory = malloc(size);
   live += memory != NULL;
   allocations++;
   return memory;
}

static void counted_free(void *user, void *memory, size_t size)
{
   live -= memory != NULL;
   free(memory);
}

static void open_counted(struct fixture *f)
{
   static const struct agx_alloc_callbacks callbacks = {.alloc = counted_alloc,
                                                        .free = counted_free};
   const struct agx_instance_desc instance = {.size = sizeof(instance), .alloc = &callbacks};
   const char *name = getenv("AGX_CONFORMANCE_DEVICE");
   const struct agx_device_desc desc = {.size = sizeof(desc),
                                        .name = name && *name ? name : "virtual"};
   live = allocations = 0;
   assert_ok(agx_instance_create(&instance, &f->instance));
   assert_ok(agx_device_open(f->instance, &desc, &f->device));
}

static void wait_until_all_is_gone(void)
{
   while (live)
      usleep(100);
}

/* The call is all that keeps the device, and its end ends it. */
static void deferred_calls_outlive_their_device(void **state)
{
   conformance_device(state);
   for (int way = 0; way < 4; way++) {
      struct fixture f;
      struct record record;
      open_counted(&f);
      record_init(&record, &f, AGX_DEFERRED);
      bool has_signal = way & 1;
      struct agx_point end = conformance_point(has_signal ? record.semaphore : NULL, 1);
      assert_ok(submit(&f, call_op(note, &record, way & 2 ? AGX_HOST_CALL_NON_BLOCKING : 0),
                       NO_POINT, end));
      take(&record.begun);
      record_fini(&record);
      fixture_close(&f);
      usleep(1000);
      assert_true(live > 0);
      agx_host_call_finish(record.call, way == 1 ? AGX_ABORTED : AGX_OK, NULL);
      wait_until_all_is_gone();
   }
}

static agx_status release_device(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct record *record = user;
   take(&record->go); /* who submits holds a reference meanwhile */
   fixture_close(record->f);
   sem_post(&record->begun);
   return AGX_OK;
}

static void a_function_may_let_go_of_the_device(void **state)
{
   conformance_device(state);
   for (int way = 0; way < 10; way++) {
      struct fixture f;
      struct record record = {.f = &f};
      sem_init(&record.begun, 0, 0);
      sem_init(&record.go, 0, 0);
      open_counted(&f);
      assert_ok(submit(&f,
                       call_op(release_device, &record, way % 2 ? AGX_HOST_CALL_NON_BLOCKING : 0),
                       NO_POINT, NO_POINT));
      sem_post(&record.go);
      take(&record.begun);
      wait_until_all_is_gone();
   }
}

/* Waiting for a value, or for a thread: neither is called. */
static void waiting_calls_are_cancelled(void **state)
{
   enum {
      BUSY = AGX_HOST_CALL_THREADS
   };
   struct fixture f;
   struct record busy[BUSY], parked, queued, apart;
   conformance_device(state);
   conformance_open_another(&f);
   record_init(&parked, &f, AGX_OK);
   record_init(&queued, &f, AGX_OK);
   record_init(&apart, &f, AGX_OK);
   for (int i = 0; i < BUSY; i++) {
      record_init(&busy[i], &f, AGX_OK);
      busy[i].waits = true;
      assert_ok(
         submit(&f, call_op(note, &busy[i], 0), NO_POINT, conformance_point(busy[i].semaphore, 1)));
   }
   for (int i = 0; i < BUSY; i++)
      take(&busy[i].begun);
   struct agx_semaphore *never = fixture_semaphore(&f);
   assert_ok(submit(&f, call_op(note, &parked, 0), conformance_point(never, 1),
                    conformance_point(parked.semaphore, 1)));
   assert_ok(
      submit(&f, call_op(note, &queued, 0), NO_POINT, conformance_point(queued.semaphore, 1)));
   assert_ok(submit(&f, call_op(note, &apart, AGX_HOST_CALL_NON_BLOCKING), NO_POINT,
                    conformance_point(apart.semaphore, 1)));
   assert_ok(fixture_wait(apart.semaphore, 1));
   agx_device_cancel(f.device);
   assert_fails(fixture_wait(parked.semaphore, 1), AGX_CANCELLED, "");
   assert_fails(fixture_wait(queued.semaphore, 1), AGX_CANCELLED, "");
   for (int i = 0; i < BUSY; i++) {
      sem_post(&busy[i].go);
      assert_ok(fixture_wait(busy[i].semaphore, 1));
      record_fini(&busy[i]);
   }
   assert_int_equal(parked.calls + queued.calls + apart.calls, 0);
   agx_release(never);
   record_fini(&parked);
   record_fini(&queued);
   record_fini(&apart);
   fixture_close(&f);
}

static void calls_take_no_heap_in_the_long_run(void **state)
{
   struct fixture f;
   struct record record;
   conformance_device(state);
   open_counted(&f);
   record_init(&record, &f, AGX_OK);
   for (uint64_t i = 0; i < 220; i++) {
      uint64_t flags = i % 3 == 0 ? AGX_HOST_CALL_NON_BLOCKING : 0;
      if (i == 20)
         allocations = 0;
      assert_ok(submit(&f, call_op(note, &record, flags), conformance_point(record.semaphore, i),
                       conformance_point(record.semaphore, i + 1)));
      assert_ok(fixture_wait(record.semaphore, i + 1));
      take(&record.begun);
   }
   assert_in_range(allocations, 0, 20); /* one lives on for a moment: a few are about at a time */
   record_fini(&record);
   fixture_close(&f);
   wait_until_all_is_gone();
}

static void wrong_calls_are_refused(void **state)
{
   struct fixture *f = conformance_device(state);
   assert_fails(submit(f, call_op(NULL, NULL, 0), NO_POINT, NO_POINT), AGX_INVALID_ARGUMENT,
                "NULL");
   assert_fails(submit(f, call_op(note, NULL, 8), NO_POINT, NO_POINT), AGX_INVALID_ARGUMENT, "0x8");
   struct agx_op op = call_op(note, NULL, 0);
   op.flags = 1;
   assert_fails(submit(f, op, NO_POINT, NO_POINT), AGX_INVALID_ARGUMENT, "flags 0x1");
}

int main(void)
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
      cmocka_unit_test(deferred_calls_keep_no_thread),
      cmocka_unit_test(calls_may_be_finished_early),
      cmocka_unit_test(deferred_calls_outlive_their_device),
      cmocka_unit_test(a_function_may_let_go_of_the_device),
      cmocka_unit_test(waiting_calls_are_cancelled),
      cmocka_unit_test(calls_take_no_heap_in_the_long_run),
      cmocka_unit_test(wrong_calls_are_refused),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
