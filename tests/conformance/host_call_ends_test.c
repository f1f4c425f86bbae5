/* SPDX-License-Identifier: MIT
 *
 * How host calls end: deferred, failed, cancelled, and with their device.
 */
#include "host_call_scene.h"

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

/* The call may be finished before its function has returned, here by the function itself. */
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
   static struct record records[4]; /* which functions still look at when their calls are over */
   for (int i = 0; i < 4; i++) {
      struct record *record = &records[i];
      record_init(record, f, i & 1 ? AGX_CANCELLED : AGX_OK);
      record->text = "had enough";
      record->waits = i & 2;
      assert_ok(submit(f, call_op(finish_early, record, 0), NO_POINT,
                       conformance_point(record->semaphore, 1)));
      if (i & 1)
         assert_fails(fixture_wait(record->semaphore, 1), AGX_CANCELLED, "had enough");
      else
         assert_ok(fixture_wait(record->semaphore, 1));
      take(&record->begun);
      sem_post(&record->go);
      record_fini(record);
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

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
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
