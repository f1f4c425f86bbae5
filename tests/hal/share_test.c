/* SPDX-License-Identifier: MIT
 *
 * Semaphores beyond their device: errors that the kernel would forget, work of others that the GPU
 * waits for, requests that are refused. Others are another file of the same node.
 */
#include "../winsys/timeline_bed.h"
#include "failing_kmd.h"
#include "fixture.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hal/device.h"
#include "hal/semaphore.h"
#include "hal/submission.h"

#define NR_SUBMIT          0x4a
#define NR_CREATE          0xbf
#define NR_TRANSFER        0xcc
#define NR_TIMELINE_SIGNAL 0xcd

struct world {
   struct failing_kmd kmd;
   struct fixture f;
   struct bed bed; /* stream 0 holds what others do */
   struct agx_executable *kernel;
   struct agx_buffer *buffers[2];
   uint32_t *words[2];
   struct agx_command_buffer *commands[2]; /* for queue 0 and 1 */
};

static void open_world(struct world *w, const char *script)
{
   struct fixture *f = &w->f;
   if (script)
      setenv("AGX_VIRTUAL_INJECT", script, 1);
   failing_kmd_open(&w->kmd);
   unsetenv("AGX_VIRTUAL_INJECT");
   assert_ok(agx_instance_create(NULL, &f->instance));
   assert_ok(agx_device_open_kmd(f->instance, &w->kmd.base, &f->device));
   f->info.size = sizeof(f->info);
   agx_device_get_info(f->device, &f->info);
   bed_open_over(&w->bed, f->device->winsys);
   w->kernel = fixture_kernel(f, &agx_test_count);
   for (uint32_t i = 0; i < 2; i++) {
      w->buffers[i] = fixture_buffer(f, 256, &w->words[i]);
      w->commands[i] = fixture_begin(f);
      fixture_dispatch(w->commands[i], w->kernel, 1, &w->buffers[i], 1, NULL, 0);
      assert_ok(agx_command_buffer_end(w->commands[i]));
   }
}

static void close_world(struct world *w)
{
   bed_close(&w->bed);
   for (uint32_t i = 0; i < 2; i++) {
      agx_release(w->commands[i]);
      agx_release(w->buffers[i]);
   }
   agx_release(w->kernel);
   fixture_close(&w->f);
   failing_kmd_await_close(&w->kmd);
}

static void submit(struct world *w, uint32_t queue, struct agx_point wait, struct agx_point signal)
{
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_EXECUTE,
                             .queues = 1ull << queue,
                             .waits = &wait,
                             .wait_count = wait.semaphore != NULL,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.execute.commands = w->commands[queue]};
   assert_ok(agx_submit(w->f.device, &op, 1, NULL));
}

/* Until the GPU has come as far, of which the library is not told. */
static void let_run(struct world *w, uint32_t queue, uint64_t epoch)
{
   const struct agxw_point last = {w->f.device->queues[queue].timeline, epoch};
   assert_ok(agxw_wait(w->f.device->winsys, &last, 1, false, AGX_DEADLINE_NEVER));
}

static uint32_t in_flight(struct world *w, uint32_t queue)
{
   pthread_mutex_lock(&w->f.device->lock);
   uint32_t count = w->f.device->queues[queue].in_flight_count;
   pthread_mutex_unlock(&w->f.device->lock);
   return count;
}

/* As an importer of the file sees it. */
static agx_status outcome_of(struct world *w, int fd)
{
   struct agx_semaphore *other = fixture_semaphore(&w->f);
   assert_ok(agx_semaphore_import_point(other, 1, AGX_FD_SYNC_FILE, fd));
   agx_status status = fixture_wait(other, 1);
   agx_release(other);
   return status;
}

/* ---- errors ------------------------------------------------------------------ */

/* The kernel forgets the error of point 1, as point 2 is there. */
static void an_earlier_failure_is_not_hidden(void **state)
{
   for (int exports = 0; exports < 2; exports++) {
      struct world w;
      uint64_t value;
      int shared, fd = -1;
      open_world(&w, "fault 1");
      struct agx_semaphore *a = fixture_semaphore(&w.f);
      assert_ok(agx_semaphore_export(a, 0, AGX_FD_SYNCOBJ, &shared));
      submit(&w, 0, NO_POINT, (struct agx_point){a, 1});
      submit(&w, 1, NO_POINT, (struct agx_point){a, 2});
      let_run(&w, 0, 1);
      let_run(&w, 1, 1);
      if (exports)
         assert_fails(agx_semaphore_export(a, 2, AGX_FD_SYNC_FILE, &fd), AGX_DATA_LOSS, "fault");
      assert_fails(agx_semaphore_query(a, &value), AGX_DATA_LOSS, "fault");
      assert_fails(fixture_wait(a, 1), AGX_DATA_LOSS, "fault");
      assert_int_equal(fd, -1);
      close(shared);
      agx_release(a);
      close_world(&w);
   }
}

/* Whatever a value depends on is in its sync_file: work of two queues that a barrier waits for;
 * what the work itself has waited for on the other queue; what is before it on its own. */
static void a_sync_file_carries_all_failures(void **state)
{
   for (int kind = 0; kind < 3; kind++) {
      struct world w;
      int fd;
      open_world(&w, "fault 1 100000");
      struct agx_semaphore *a = fixture_semaphore(&w.f), *b = fixture_semaphore(&w.f),
                           *all = fixture_semaphore(&w.f);
      const struct agx_point first = {a, 1}, second = {b, 1};
      const struct agx_point waits[] = {first, second}, end = {all, 1};
      submit(&w, 0, NO_POINT, first);
      submit(&w, kind != 2, kind == 1 ? first : NO_POINT, second);
      const struct agx_op barrier = {.size = sizeof(barrier),
                                     .kind = AGX_OP_BARRIER,
                                     .waits = waits,
                                     .wait_count = 2,
                                     .signals = &end,
                                     .signal_count = 1};
      assert_ok(agx_submit(w.f.device, &barrier, 1, NULL));
      agx_status status = agx_semaphore_export(kind ? b : all, 1, AGX_FD_SYNC_FILE, &fd);
      if (status == AGX_OK) /* unless the machine is so slow that it has failed already */
         status = outcome_of(&w, fd);
      assert_int_equal(status, AGX_DATA_LOSS);
      assert_fails(fixture_wait(all, 1), AGX_DATA_LOSS, "fault");
      assert_fails(fixture_wait(kind ? b : all, 1), AGX_DATA_LOSS, "fault");
      agx_release(a);
      agx_release(b);
      agx_release(all);
      close_world(&w);
   }
}

/* ---- work of others ------------------------------------------------------------ */

static struct agx_semaphore *import_timeline(struct world *w, struct agxw_timeline *timeline)
{
   struct agx_semaphore *semaphore = NULL;
   int fd;
   assert_ok(agxw_timeline_export(timeline, &fd));
   assert_ok(agx_semaphore_import(w->f.device, fd, &semaphore));
   close(fd);
   return semaphore;
}

/* The kernel has it, so the GPU waits for it, and the host for nothing. */
static void the_gpu_waits_for_others(void **state)
{
   struct world w;
   int fd;
   open_world(&w, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = import_timeline(&w, theirs), *b = fixture_semaphore(&w.f),
                        *done = fixture_semaphore(&w.f);
   bed_pend(&w.bed, 0, &(struct agxw_point){theirs, 5});
   /* A point of a shared timeline. */
   submit(&w, 0, (struct agx_point){a, 4}, (struct agx_point){done, 1});
   assert_int_equal(in_flight(&w, 0), 1);
   /* A sync_file that comes later than who waits for it. */
   submit(&w, 1, (struct agx_point){b, 1}, (struct agx_point){done, 2});
   assert_int_equal(in_flight(&w, 1), 0);
   assert_ok(agxw_point_export_sync_file(&(struct agxw_point){theirs, 5}, &fd));
   assert_ok(agx_semaphore_import_point(b, 1, AGX_FD_SYNC_FILE, fd));
   assert_int_equal(in_flight(&w, 1), 1);
   assert_fails(agx_semaphore_wait(&(struct agx_point){done, 1}, 1, false, 0),
                AGX_DEADLINE_EXCEEDED, "");
   assert_int_equal(w.words[0][63] + w.words[1][63], 0);
   bed_fire(&w.bed, 0);
   assert_ok(fixture_wait(done, 2));
   assert_ok(fixture_wait(a, 4));
   assert_ok(fixture_wait(b, 1));
   let_run(&w, 0, 1); /* the other queue may have been faster */
   assert_int_equal(w.words[0][63], 64);
   assert_int_equal(w.words[1][63], 64);
   agx_release(a);
   agx_release(b);
   agx_release(done);
   agxw_timeline_destroy(theirs);
   close_world(&w);
}

/* What nobody has submitted is waited for by the host, until somebody does. */
static void what_is_submitted_later_goes_to_the_gpu(void **state)
{
   struct world w;
   open_world(&w, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = import_timeline(&w, theirs), *done = fixture_semaphore(&w.f);
   submit(&w, 0, (struct agx_point){a, 3}, (struct agx_point){done, 1});
   assert_int_equal(in_flight(&w, 0), 0);
   bed_pend(&w.bed, 0, &(struct agxw_point){theirs, 3});
   while (in_flight(&w, 0) == 0)
      sched_yield();
   assert_int_equal(w.words[0][63], 0);
   bed_fire(&w.bed, 0);
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(w.words[0][63], 64);
   agx_release(a);
   agx_release(done);
   agxw_timeline_destroy(theirs);
   close_world(&w);
}

/* Its failure is theirs who waited for it, also when the timeline has gone on and forgotten it. */
static void others_may_fail(void **state)
{
   struct world w;
   open_world(&w, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0), *held = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = import_timeline(&w, theirs), *done = fixture_semaphore(&w.f),
                        *next = fixture_semaphore(&w.f);
   bed_pend(&w.bed, 0, &(struct agxw_point){held, 1});
   assert_true(bed_fail(&w.bed, &(struct agxw_point){theirs, 1})); /* behind it */
   submit(&w, 0, (struct agx_point){a, 1}, (struct agx_point){done, 1});
   submit(&w, 1, (struct agx_point){done, 1}, (struct agx_point){next, 1});
   assert_int_equal(in_flight(&w, 0), 1);
   assert_int_equal(in_flight(&w, 1), 1);
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
   close_world(&w);
}

/* The file of what waits for others' work carries that, too. */
static void a_sync_file_carries_failures_of_others(void **state)
{
   struct world w;
   int fd;
   open_world(&w, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0), *held = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = import_timeline(&w, theirs), *done = fixture_semaphore(&w.f);
   bed_pend(&w.bed, 0, &(struct agxw_point){held, 1});
   assert_true(bed_fail(&w.bed, &(struct agxw_point){theirs, 1}));
   submit(&w, 0, (struct agx_point){a, 1}, (struct agx_point){done, 1});
   assert_ok(agx_semaphore_export(done, 1, AGX_FD_SYNC_FILE, &fd));
   bed_fire(&w.bed, 0);
   assert_int_equal(outcome_of(&w, fd), AGX_DATA_LOSS);
   agx_release(a);
   agx_release(done);
   agxw_timeline_destroy(theirs);
   agxw_timeline_destroy(held);
   close_world(&w);
}

/* A lower value that was submitted later, and comes true earlier. */
static void values_come_true_in_any_order(void **state)
{
   struct world w;
   open_world(&w, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = import_timeline(&w, theirs), *done = fixture_semaphore(&w.f);
   bed_pend(&w.bed, 0, &(struct agxw_point){theirs, 1});
   submit(&w, 0, (struct agx_point){a, 1}, (struct agx_point){done, 5});
   submit(&w, 1, NO_POINT, (struct agx_point){done, 3});
   assert_ok(fixture_wait(done, 3));
   submit(&w, 1, NO_POINT, (struct agx_point){done, 9});
   assert_ok(fixture_wait(done, 4)); /* with 9, as 5 is held */
   bed_fire(&w.bed, 0);
   assert_ok(fixture_wait(done, 9));
   agx_release(a);
   agx_release(done);
   agxw_timeline_destroy(theirs);
   close_world(&w);
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
   open_world(&w, NULL);
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = import_timeline(&w, theirs), *done = fixture_semaphore(&w.f);
   struct waiter waiter = {{done, 1}, AGX_OK};
   bed_pend(&w.bed, 0, &(struct agxw_point){theirs, 1});
   submit(&w, 0, (struct agx_point){a, 1}, (struct agx_point){done, 1});
   assert_int_equal(pthread_create(&thread, NULL, wait_for_point, &waiter), 0);
   while (!waits) {
      pthread_mutex_lock(&w.f.device->lock);
      waits = done->kernel_waiters == 1;
      pthread_mutex_unlock(&w.f.device->lock);
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
   close_world(&w);
}

static void a_refused_value_is_told_later(void **state)
{
   struct world w;
   uint64_t value = 0;
   int fd;
   open_world(&w, NULL);
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
   close_world(&w);
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
   open_world(&w, "fault 4"); /* the first one is the others' */
   struct guard guard = {.lock = &w.f.device->lock};
   w.kmd.hook_user = &guard;
   w.kmd.hook = take_lock;
   struct agxw_timeline *theirs = bed_timeline(&w.bed, 0);
   struct agx_semaphore *a = import_timeline(&w, theirs), *done = fixture_semaphore(&w.f);
   bed_pend(&w.bed, 0, &(struct agxw_point){theirs, 1});
   submit(&w, 0, (struct agx_point){a, 1}, (struct agx_point){done, 1});
   submit(&w, 1, (struct agx_point){done, 1}, (struct agx_point){done, 2});
   submit(&w, 1, (struct agx_point){a, 2}, (struct agx_point){done, 3});
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
   close_world(&w);
}

/* ---- points that grow ------------------------------------------------------------ */

static uint64_t kernel_value(const struct agx_semaphore *semaphore)
{
   uint64_t value = 0;
   assert_ok(agxw_timeline_query(semaphore->shared, &value));
   return value;
}

/* Others come to see the value. */
static void assert_told(struct world *w, struct agx_semaphore *semaphore, uint64_t value)
{
   const struct agxw_point point = {semaphore->shared, value};
   assert_ok(agxw_wait(w->f.device->winsys, &point, 1, false, bed_in_ms(20000)));
}

/* Until nobody tells any value. */
static void await_tellers(struct world *w, struct agx_semaphore *semaphore)
{
   struct agx_device *device = w->f.device;
   for (bool is_over = false; !is_over; sched_yield()) {
      pthread_mutex_lock(&device->lock);
      is_over = !device->has_news && agx_list_empty(&device->untold) && !semaphore->is_adding;
      pthread_mutex_unlock(&device->lock);
   }
}

/* A semaphore that others have, and work of others that is held. */
struct sharing {
   struct world w;
   struct agxw_timeline *theirs[BED_STREAMS];
   struct agx_semaphore *held[BED_STREAMS]; /* at 1 when that stream is fired */
   struct agx_semaphore *shared, *other;
   int fd; /* shared's */
};

static void open_sharing(struct sharing *s, bool is_exported, const char *script)
{
   open_world(&s->w, script);
   for (unsigned i = 0; i < BED_STREAMS; i++) {
      s->theirs[i] = bed_timeline(&s->w.bed, 0);
      s->held[i] = import_timeline(&s->w, s->theirs[i]);
      bed_pend(&s->w.bed, i, &(struct agxw_point){s->theirs[i], 1});
   }
   s->shared = fixture_semaphore(&s->w.f);
   s->other = fixture_semaphore(&s->w.f);
   s->fd = -1;
   if (is_exported)
      assert_ok(agx_semaphore_export(s->shared, 0, AGX_FD_SYNCOBJ, &s->fd));
}

static void close_sharing(struct sharing *s)
{
   for (unsigned i = 0; i < BED_STREAMS; i++)
      bed_fire(&s->w.bed, i);
   assert_ok(agx_flush(s->w.f.device, 0));
   for (unsigned i = 0; i < BED_STREAMS; i++) {
      agx_release(s->held[i]);
      agxw_timeline_destroy(s->theirs[i]);
   }
   close(s->fd);
   agx_release(s->shared);
   agx_release(s->other);
   close_world(&s->w);
}

static struct agx_point held(const struct sharing *s, unsigned stream)
{
   return (struct agx_point){s->held[stream], 1};
}

static struct agx_point at(struct agx_semaphore *semaphore, uint64_t value)
{
   return (struct agx_point){semaphore, value};
}

/* The barrier's value comes true when the kernel has a higher one, which is pending. */
static void a_barrier_between_does_not_pull_back(void **state)
{
   struct sharing s;
   open_sharing(&s, true, NULL);
   submit(&s.w, 0, held(&s, 0), at(s.shared, 1));
   const struct agx_point first = {s.shared, 1}, second = {s.shared, 2};
   const struct agx_op barrier = {.size = sizeof(barrier),
                                  .kind = AGX_OP_BARRIER,
                                  .waits = &first,
                                  .wait_count = 1,
                                  .signals = &second,
                                  .signal_count = 1};
   assert_ok(agx_submit(s.w.f.device, &barrier, 1, NULL));
   submit(&s.w, 1, held(&s, 1), at(s.other, 1));
   submit(&s.w, 1, second, at(s.shared, 3));
   assert_int_equal(in_flight(&s.w, 1), 2);
   bed_fire(&s.w.bed, 0);
   assert_ok(fixture_wait(s.shared, 2));
   await_tellers(&s.w, s.shared);
   assert_int_equal(kernel_value(s.shared), 1);
   bed_fire(&s.w.bed, 1);
   assert_told(&s.w, s.shared, 3);
   close_sharing(&s);
}

/* A lower value of another queue; submissions that come when the host has told more, or of a
 * failure. */
static void lower_values_do_not_pull_back(void **state)
{
   enum kind {
      OF_ANOTHER_QUEUE,
      AFTER_THE_HOST,
      AFTER_A_FAILURE,
      KINDS
   };
   const uint64_t expected[KINDS] = {1, 10, UINT64_MAX};
   for (enum kind kind = 0; kind < KINDS; kind++) {
      struct sharing s;
      open_sharing(&s, true, NULL);
      assert_ok(agx_semaphore_signal(s.shared, 1));
      submit(&s.w, 0, held(&s, 0), at(s.other, 1));
      if (kind == OF_ANOTHER_QUEUE) {
         submit(&s.w, 0, NO_POINT, at(s.shared, 5));
         submit(&s.w, 1, NO_POINT, at(s.shared, 3));
         assert_ok(fixture_wait(s.shared, 3));
      } else {
         submit(&s.w, 0, at(s.held[1], 9), at(s.shared, 5));
         if (kind == AFTER_THE_HOST)
            assert_ok(agx_semaphore_signal(s.shared, 10));
         else
            agx_semaphore_fail(s.shared, AGX_ABORTED, "over");
         assert_int_equal(in_flight(&s.w, 0), 1);
         assert_ok(agx_semaphore_signal(s.held[1], 9));
         assert_int_equal(in_flight(&s.w, 0), 2);
      }
      await_tellers(&s.w, s.shared);
      assert_int_equal(kernel_value(s.shared), expected[kind]);
      bed_fire(&s.w.bed, 0);
      if (kind == OF_ANOTHER_QUEUE)
         assert_told(&s.w, s.shared, 5);
      close_sharing(&s);
   }
}

/* What a test does before (or after) the next request of a kind that its own thread makes. */
struct meanwhile {
   struct sharing *s;
   uint32_t nr;
   pthread_t thread;
   void (*act)(struct meanwhile *meanwhile);
   bool is_done;
   uint64_t value;
};

static void meet(void *user, uint32_t nr)
{
   struct meanwhile *meanwhile = user;
   void (*act)(struct meanwhile *) = meanwhile->act;
   if (!pthread_equal(meanwhile->thread, pthread_self()) || nr != meanwhile->nr || !act)
      return;
   meanwhile->act = NULL;
   act(meanwhile);
   meanwhile->is_done = true;
}

static void meet_after(struct forward_kmd *kmd, uint32_t nr, const void *argument, int error)
{
   meet(((struct failing_kmd *)kmd)->hook_user, nr);
}

static void arm(struct meanwhile *meanwhile, struct sharing *s, uint32_t nr,
                void (*act)(struct meanwhile *))
{
   *meanwhile = (struct meanwhile){.s = s, .nr = nr, .thread = pthread_self(), .act = act};
   s->w.kmd.hook_user = meanwhile;
   s->w.kmd.hook = meet;
}

static void submit_ten(struct meanwhile *meanwhile)
{
   submit(&meanwhile->s->w, 0, NO_POINT, at(meanwhile->s->shared, 10));
}

/* A submission goes to the kernel while the host's value is on its way there. */
static void a_value_in_the_air_is_not_overtaken(void **state)
{
   struct sharing s;
   struct meanwhile meanwhile;
   open_sharing(&s, true, NULL);
   assert_ok(agx_semaphore_signal(s.shared, 1));
   submit(&s.w, 0, held(&s, 0), at(s.other, 1));
   await_tellers(&s.w, s.shared);
   arm(&meanwhile, &s, NR_TIMELINE_SIGNAL, submit_ten);
   assert_ok(agx_semaphore_signal(s.shared, 3));
   assert_true(meanwhile.is_done);
   await_tellers(&s.w, s.shared);
   assert_int_equal(kernel_value(s.shared), 3);
   bed_fire(&s.w.bed, 0);
   assert_told(&s.w, s.shared, 10);
   s.w.kmd.hook = NULL;
   close_sharing(&s);
}

static void finish_it(struct meanwhile *meanwhile)
{
   bed_fire(&meanwhile->s->w.bed, 0);
   assert_ok(fixture_wait(meanwhile->s->shared, 5));
}

/* An export that failed has told nobody of what it forwarded. */
static void a_failed_export_tells_nobody(void **state)
{
   struct sharing s;
   struct meanwhile meanwhile;
   open_sharing(&s, false, NULL);
   submit(&s.w, 0, held(&s, 0), at(s.shared, 5));
   failing_kmd_arm(&s.w.kmd, 0, NR_TRANSFER, ENOMEM);
   assert_int_equal(agx_semaphore_export(s.shared, 0, AGX_FD_SYNCOBJ, &s.fd),
                    AGX_RESOURCE_EXHAUSTED);
   failing_kmd_disarm(&s.w.kmd);
   arm(&meanwhile, &s, NR_CREATE, finish_it);
   assert_ok(agx_semaphore_export(s.shared, 0, AGX_FD_SYNCOBJ, &s.fd));
   assert_true(meanwhile.is_done);
   assert_told(&s.w, s.shared, 5);
   s.w.kmd.hook = NULL;
   close_sharing(&s);
}

static void export_first(struct meanwhile *meanwhile)
{
   struct sharing *s = meanwhile->s;
   assert_ok(agx_semaphore_export(s->shared, 0, AGX_FD_SYNCOBJ, &s->fd));
}

static void submit_while_exporting(struct meanwhile *meanwhile)
{
   meanwhile->nr = NR_SUBMIT;
   meanwhile->act = export_first;
   submit(&meanwhile->s->w, 0, held(meanwhile->s, 0), at(meanwhile->s->shared, 5));
}

/* Of two exports at once one has a timeline that nobody gets. */
static void exports_at_once_have_one_timeline(void **state)
{
   struct sharing s;
   struct meanwhile meanwhile;
   int second;
   open_sharing(&s, false, NULL);
   arm(&meanwhile, &s, NR_CREATE, submit_while_exporting);
   assert_ok(agx_semaphore_export(s.shared, 0, AGX_FD_SYNCOBJ, &second));
   assert_true(meanwhile.is_done && s.fd >= 0);
   bed_fire(&s.w.bed, 0);
   assert_told(&s.w, s.shared, 5);
   s.w.kmd.hook = NULL;
   close(second);
   close_sharing(&s);
}

static void look_at_shared(struct meanwhile *meanwhile)
{
   struct sharing *s = meanwhile->s;
   let_run(&s->w, 0, 1);
   assert_ok(agx_semaphore_query(s->shared, &meanwhile->value));
   assert_int_equal(s->w.f.device->import_count, 0);
}

/* The GPU may be done with it before its submitter is back: it is no work of others for that. */
static void own_work_in_the_request_is_not_of_others(void **state)
{
   for (int fails = 0; fails < 2; fails++) {
      struct sharing s;
      struct meanwhile meanwhile;
      open_sharing(&s, true, fails ? "fault 3" : NULL); /* the others' are two */
      for (unsigned i = 0; i < BED_STREAMS; i++)
         bed_fire(&s.w.bed, i); /* else nobody is left to run our own */
      submit(&s.w, 1, at(s.shared, 5), at(s.other, 1));
      arm(&meanwhile, &s, NR_SUBMIT, look_at_shared);
      s.w.kmd.hook = NULL;
      s.w.kmd.forward.after = meet_after;
      submit(&s.w, 0, NO_POINT, at(s.shared, 5));
      s.w.kmd.forward.after = NULL;
      assert_true(meanwhile.is_done);
      assert_int_equal(meanwhile.value, 0);
      if (fails)
         assert_fails(fixture_wait(s.other, 1), AGX_DATA_LOSS, "fault");
      else
         assert_ok(fixture_wait(s.other, 1));
      if (fails)
         assert_ok(agx_queue_recreate(s.w.f.device, 0));
      close_sharing(&s);
   }
}

int main(void)
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
      cmocka_unit_test(a_barrier_between_does_not_pull_back),
      cmocka_unit_test(lower_values_do_not_pull_back),
      cmocka_unit_test(a_value_in_the_air_is_not_overtaken),
      cmocka_unit_test(a_failed_export_tells_nobody),
      cmocka_unit_test(exports_at_once_have_one_timeline),
      cmocka_unit_test(own_work_in_the_request_is_not_of_others),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
