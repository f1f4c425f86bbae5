/* SPDX-License-Identifier: MIT
 *
 * Semaphores beyond their device: errors that the kernel would forget, work of others that the GPU
 * waits for, requests that are refused. Others are another file of the same node.
 */
#include "share_world.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hal/device/device.h"
#include "hal/sync/semaphore.h"
#include "hal/sync/submission.h"

/* ---- errors ------------------------------------------------------------------ */

/* The kernel forgets the error of point 1, as point 2 is there. */
static void an_earlier_failure_is_not_hidden(void **state)
{
   for (int exports = 0; exports < 2; exports++) {
      struct world w;
      uint64_t value;
      int shared, fd = -1;
      world_open(&w, "fault 1", NULL);
      struct agx_semaphore *a = fixture_semaphore(&w.f);
      assert_ok(agx_semaphore_export(a, 0, AGX_FD_SYNCOBJ, &shared));
      world_submit(&w, 0, NO_POINT, (struct agx_point){a, 1});
      world_submit(&w, 1, NO_POINT, (struct agx_point){a, 2});
      world_let_run(&w, 0, 1);
      world_let_run(&w, 1, 1);
      if (exports)
         assert_fails(agx_semaphore_export(a, 2, AGX_FD_SYNC_FILE, &fd), AGX_DATA_LOSS, "fault");
      assert_fails(agx_semaphore_query(a, &value), AGX_DATA_LOSS, "fault");
      assert_fails(fixture_wait(a, 1), AGX_DATA_LOSS, "fault");
      assert_int_equal(fd, -1);
      close(shared);
      agx_release(a);
      world_close(&w);
   }
}

/* Whatever a value depends on is in its sync_file: work of two queues that a barrier waits for;
 * what the work itself has waited for on the other queue; what is before it on its own. */
static void a_sync_file_carries_all_failures(void **state)
{
   for (int kind = 0; kind < 3; kind++) {
      struct world w;
      int fd;
      world_open(&w, "fault 1 100000", NULL);
      struct agx_semaphore *a = fixture_semaphore(&w.f), *b = fixture_semaphore(&w.f),
                           *all = fixture_semaphore(&w.f);
      const struct agx_point first = {a, 1}, second = {b, 1};
      const struct agx_point waits[] = {first, second}, end = {all, 1};
      world_submit(&w, 0, NO_POINT, first);
      world_submit(&w, kind != 2, kind == 1 ? first : NO_POINT, second);
      const struct agx_op barrier = {.size = sizeof(barrier),
                                     .kind = AGX_OP_BARRIER,
                                     .waits = waits,
                                     .wait_count = 2,
                                     .signals = &end,
                                     .signal_count = 1};
      assert_ok(agx_submit(w.f.device, &barrier, 1, NULL));
      agx_status status = agx_semaphore_export(kind ? b : all, 1, AGX_FD_SYNC_FILE, &fd);
      if (status == AGX_OK) /* unless the machine is so slow that it has failed already */
         status = world_outcome(&w, fd);
      assert_int_equal(status, AGX_DATA_LOSS);
      assert_fails(fixture_wait(all, 1), AGX_DATA_LOSS, "fault");
      assert_fails(fixture_wait(kind ? b : all, 1), AGX_DATA_LOSS, "fault");
      agx_release(a);
      agx_release(b);
      agx_release(all);
      world_close(&w);
   }
}

/* ---- work of others ------------------------------------------------------------ */

/* The kernel has it, so the GPU waits for it, and the host for nothing. */
static void the_gpu_waits_for_others(void **state)
{
   struct world w;
   int fd;
   world_open(&w, NULL, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = world_import(&w, theirs), *b = fixture_semaphore(&w.f),
                        *done = fixture_semaphore(&w.f);
   bed_pend(&w.bed, 0, &(struct agxw_point){theirs, 5});
   /* A point of a shared timeline. */
   world_submit(&w, 0, (struct agx_point){a, 4}, (struct agx_point){done, 1});
   world_wait_in_flight(&w, 0, 1);
   /* A sync_file that comes later than who waits for it. */
   world_submit(&w, 1, (struct agx_point){b, 1}, (struct agx_point){done, 2});
   assert_int_equal(world_in_flight(&w, 1), 0);
   assert_ok(agxw_point_export_sync_file(&(struct agxw_point){theirs, 5}, &fd));
   assert_ok(agx_semaphore_import_point(b, 1, AGX_FD_SYNC_FILE, fd));
   world_wait_in_flight(&w, 1, 1);
   assert_fails(agx_semaphore_wait(&(struct agx_point){done, 1}, 1, false, 0),
                AGX_DEADLINE_EXCEEDED, "");
   assert_int_equal(w.words[0][63] + w.words[1][63], 0);
   bed_fire(&w.bed, 0);
   assert_ok(fixture_wait(done, 2));
   assert_ok(fixture_wait(a, 4));
   assert_ok(fixture_wait(b, 1));
   world_let_run(&w, 0, 1); /* the other queue may have been faster */
   assert_int_equal(w.words[0][63], 64);
   assert_int_equal(w.words[1][63], 64);
   agx_release(a);
   agx_release(b);
   agx_release(done);
   agxw_timeline_destroy(theirs);
   world_close(&w);
}

/* The completion thread waits for a point that no process has submitted yet; once one has, the GPU
 * waits for the fence. */
static void what_is_submitted_later_goes_to_the_gpu(void **state)
{
   struct world w;
   world_open(&w, NULL, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = world_import(&w, theirs), *done = fixture_semaphore(&w.f);
   world_submit(&w, 0, (struct agx_point){a, 3}, (struct agx_point){done, 1});
   assert_int_equal(world_in_flight(&w, 0), 0);
   bed_pend(&w.bed, 0, &(struct agxw_point){theirs, 3});
   world_wait_in_flight(&w, 0, 1);
   assert_int_equal(w.words[0][63], 0);
   bed_fire(&w.bed, 0);
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(w.words[0][63], 64);
   agx_release(a);
   agx_release(done);
   agxw_timeline_destroy(theirs);
   world_close(&w);
}

/* Its failure is theirs who waited for it, also when the timeline has gone on and forgotten it. */
static void others_may_fail(void **state)
{
   struct world w;
   world_open(&w, NULL, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0), *held = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = world_import(&w, theirs), *done = fixture_semaphore(&w.f),
                        *next = fixture_semaphore(&w.f);
   bed_pend(&w.bed, 0, &(struct agxw_point){held, 1});
   assert_true(bed_fail(&w.bed, &(struct agxw_point){theirs, 1})); /* behind it */
   world_submit(&w, 0, (struct agx_point){a, 1}, (struct agx_point){done, 1});
   world_submit(&w, 1, (struct agx_point){done, 1}, (struct agx_point){next, 1});
   world_wait_in_flight(&w, 0, 1);
   world_wait_in_flight(&w, 1, 1);
   assert_ok(agxw_timeline_signal(theirs, 2));
   bed_fire(&w.bed, 0);
   assert_fails(fixture_wait(next, 1), AGX_DATA_LOSS, "");
   assert_fails(fixture_wait(done, 1), AGX_DATA_LOSS, "");
   assert_fails(fixture_wait(a, 1), AGX_DATA_LOSS, "");
   assert_ok(agx_device_status(w.f.device));
   assert_ok(agx_flush(w.f.device, 0)); /* no queue is lost by it */
   agx_release(a);
   agx_release(done);
   agx_release(next);
   agxw_timeline_destroy(theirs);
   agxw_timeline_destroy(held);
   world_close(&w);
}

/* The file of what waits for others' work carries that, too. */
static void a_sync_file_carries_failures_of_others(void **state)
{
   struct world w;
   int fd;
   world_open(&w, NULL, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0), *held = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = world_import(&w, theirs), *done = fixture_semaphore(&w.f);
   bed_pend(&w.bed, 0, &(struct agxw_point){held, 1});
   assert_true(bed_fail(&w.bed, &(struct agxw_point){theirs, 1}));
   world_submit(&w, 0, (struct agx_point){a, 1}, (struct agx_point){done, 1});
   assert_ok(agx_semaphore_export(done, 1, AGX_FD_SYNC_FILE, &fd));
   bed_fire(&w.bed, 0);
   assert_int_equal(world_outcome(&w, fd), AGX_DATA_LOSS);
   agx_release(a);
   agx_release(done);
   agxw_timeline_destroy(theirs);
   agxw_timeline_destroy(held);
   world_close(&w);
}

/* A lower value that was submitted later, and comes true earlier. */
static void values_come_true_in_any_order(void **state)
{
   struct world w;
   world_open(&w, NULL, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = world_import(&w, theirs), *done = fixture_semaphore(&w.f);
   bed_pend(&w.bed, 0, &(struct agxw_point){theirs, 1});
   world_submit(&w, 0, (struct agx_point){a, 1}, (struct agx_point){done, 5});
   world_submit(&w, 1, NO_POINT, (struct agx_point){done, 3});
   assert_ok(fixture_wait(done, 3));
   world_submit(&w, 1, NO_POINT, (struct agx_point){done, 9});
   assert_ok(fixture_wait(done, 4)); /* with 9, as 5 is held */
   bed_fire(&w.bed, 0);
   assert_ok(fixture_wait(done, 9));
   agx_release(a);
   agx_release(done);
   agxw_timeline_destroy(theirs);
   world_close(&w);
}

/* ---- refusals ------------------------------------------------------------------- */

struct waiter {
   struct agx_point point;
   agx_status status;
};

static void *wait_for_point(void *argument)
{
   struct waiter *waiter = argument;
   waiter->status = fixture_wait(waiter->point.semaphore, waiter->point.value);
   return NULL;
}

/* A thread that waits in the kernel is woken, although the kernel refuses to at first. */
static void a_refused_interrupt_is_repeated(void **state)
{
   struct world w;
   pthread_t thread;
   bool waits = false;
   world_open(&w, NULL, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = world_import(&w, theirs), *done = fixture_semaphore(&w.f);
   struct waiter waiter = {{done, 1}, AGX_OK};
   bed_pend(&w.bed, 0, &(struct agxw_point){theirs, 1});
   world_submit(&w, 0, (struct agx_point){a, 1}, (struct agx_point){done, 1});
   assert_int_equal(pthread_create(&thread, NULL, wait_for_point, &waiter), 0);
   while (!waits) {
      pthread_mutex_lock(&w.f.device->sync.lock);
      waits = done->kernel_waiters == 1;
      pthread_mutex_unlock(&w.f.device->sync.lock);
   }
   failing_kmd_arm(&w.kmd, 0, NR_TIMELINE_SIGNAL, ENOMEM);
   w.kmd.once = true;
   agx_semaphore_fail(done, AGX_ABORTED, "never mind");
   pthread_join(thread, NULL);
   assert_int_equal(waiter.status, AGX_ABORTED);
   assert_int_equal(w.kmd.failed, 1);
   bed_fire(&w.bed, 0);
   agx_release(a);
   agx_release(done);
   agxw_timeline_destroy(theirs);
   world_close(&w);
}

static void a_refused_value_is_told_later(void **state)
{
   struct world w;
   uint64_t value = 0;
   int fd;
   world_open(&w, NULL, NULL);
   struct agx_semaphore *a = fixture_semaphore(&w.f);
   assert_ok(agx_semaphore_export(a, 0, AGX_FD_SYNCOBJ, &fd));
   failing_kmd_arm(&w.kmd, 0, NR_TIMELINE_SIGNAL, ENOMEM);
   w.kmd.once = true;
   assert_ok(agx_semaphore_signal(a, 7));
   while (value == 0)
      assert_ok(agxw_timeline_query(a->shared, &value));
   assert_int_equal(value, 7);
   assert_int_equal(w.kmd.failed, 1);
   close(fd);
   agx_release(a);
   world_close(&w);
}

/* ---- the lock -------------------------------------------------------------------- */

/* Whether a request is made by a thread that holds the device's lock: others let go of it soon. */
struct guard {
   pthread_mutex_t *lock;
   _Atomic uint32_t requests, held; /* held: the low byte of the first such request */
};

static void take_lock(void *user, uint32_t nr)
{
   struct guard *guard = user;
   struct timespec until;
   clock_gettime(CLOCK_REALTIME, &until);
   until.tv_sec += 20;
   atomic_fetch_add(&guard->requests, 1);
   if (guard->held == 0 && pthread_mutex_timedlock(guard->lock, &until) != 0)
      guard->held = nr;
   else if (guard->held == 0)
      pthread_mutex_unlock(guard->lock);
}

/* A buffer that waits for its memory until another one has given it back. */
static void allocate_late(struct world *w, struct agx_semaphore *done)
{
   struct agx_pool_desc desc = {
      .size = sizeof(desc), .strategy = AGX_POOL_FIXED, .block_B = 65536, .limit_B = 65536};
   struct agx_buffer *first = NULL, *second = NULL;
   struct agx_pool *pool = NULL;
   const struct agx_point given = {done, 100}, taken = {done, 101};
   assert_ok(agx_pool_create(w->f.device, &desc, &pool));
   struct agx_op op = {
      .size = sizeof(op), .kind = AGX_OP_ALLOCA, .u.alloca = {.size_B = 256, .pool = pool}};
   op.u.alloca.out_buffer = &first;
   assert_ok(agx_submit(w->f.device, &op, 1, NULL));
   op.flags = AGX_ALLOCA_ALLOW_WAIT;
   op.signals = &taken;
   op.signal_count = 1;
   op.u.alloca.out_buffer = &second;
   op.waits = &given;
   op.wait_count = 1;
   assert_ok(agx_submit(w->f.device, &op, 1, NULL));
   const struct agx_op give = {.size = sizeof(give),
                               .kind = AGX_OP_DEALLOCA,
                               .signals = &given,
                               .signal_count = 1,
                               .u.dealloca.buffer = first};
   assert_ok(agx_submit(w->f.device, &give, 1, NULL));
   assert_ok(fixture_wait(done, 101));
   agx_release(first);
   agx_release(second);
   agx_release(pool);
}

static void no_request_is_made_under_the_lock(void **state)
{
   struct world w;
   uint64_t value;
   int fd;
   world_open(&w, "fault 4", NULL); /* the first one is the others' */
   struct guard guard = {.lock = &w.f.device->sync.lock};
   w.kmd.hook_user = &guard;
   w.kmd.hook = take_lock;
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = world_import(&w, theirs), *done = fixture_semaphore(&w.f);
   bed_pend(&w.bed, 0, &(struct agxw_point){theirs, 1});
   world_submit(&w, 0, (struct agx_point){a, 1}, (struct agx_point){done, 1});
   world_submit(&w, 1, (struct agx_point){done, 1}, (struct agx_point){done, 2});
   world_submit(&w, 1, (struct agx_point){a, 2}, (struct agx_point){done, 3});
   assert_ok(agx_semaphore_export(done, 0, AGX_FD_SYNCOBJ, &fd));
   close(fd);
   assert_ok(agx_semaphore_export(done, 2, AGX_FD_SYNC_FILE, &fd));
   close(fd);
   bed_fire(&w.bed, 0);
   assert_ok(fixture_wait(done, 2));
   assert_ok(agxw_point_export_sync_file(&(struct agxw_point){theirs, 1}, &fd));
   assert_ok(agx_semaphore_import_point(a, 2, AGX_FD_SYNC_FILE, fd));
   assert_fails(fixture_wait(done, 3), AGX_DATA_LOSS, "fault");
   assert_ok(agx_queue_recreate(w.f.device, 1));
   agx_release(done);
   done = fixture_semaphore(&w.f);
   assert_ok(agx_semaphore_signal(done, 1));
   allocate_late(&w, done);
   agx_semaphore_fail(a, AGX_ABORTED, "over");
   assert_fails(agx_semaphore_query(a, &value), AGX_ABORTED, "over");
   agx_release(a);
   agx_release(done);
   agxw_timeline_destroy(theirs);
   w.kmd.hook = NULL;
   assert_int_equal(guard.held, 0);
   assert_true(guard.requests > 30);
   world_close(&w);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_earlier_failure_is_not_hidden),
      cmocka_unit_test(a_sync_file_carries_all_failures),
      cmocka_unit_test(the_gpu_waits_for_others),
      cmocka_unit_test(what_is_submitted_later_goes_to_the_gpu),
      cmocka_unit_test(others_may_fail),
      cmocka_unit_test(a_sync_file_carries_failures_of_others),
      cmocka_unit_test(values_come_true_in_any_order),
      cmocka_unit_test(a_refused_interrupt_is_repeated),
      cmocka_unit_test(a_refused_value_is_told_later),
      cmocka_unit_test(no_request_is_made_under_the_lock),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
