/* SPDX-License-Identifier: MIT
 *
 * Timelines that several devices signal: their points must grow in the kernel, whichever device
 * adds them in whatever order, and what this device adds itself is not taken for others' work.
 */
#include "share_world.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "hal/device/device.h"
#include "hal/sync/semaphore.h"
#include "hal/sync/submission.h"

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
   assert_ok(agxw_wait(agx_context_of(w->f.device)->winsys, &point, 1, false, bed_in_ms(20000)));
}

/* Until no thread publishes a value. */
static void await_tellers(struct world *w, struct agx_semaphore *semaphore)
{
   struct agx_device *device = w->f.device;
   for (bool is_over = false; !is_over; sched_yield()) {
      pthread_mutex_lock(&device->sync.lock);
      is_over = !device->sync.has_pending_notifications &&
                agx_list_empty(&device->sync.pending_publications) && !semaphore->is_adding;
      pthread_mutex_unlock(&device->sync.lock);
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
   world_open(&s->w, script, NULL);
   for (unsigned i = 0; i < BED_STREAMS; i++) {
      s->theirs[i] = bed_timeline(&s->w.bed, 0);
      s->held[i] = world_import(&s->w, s->theirs[i]);
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
   world_close(&s->w);
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
   world_submit(&s.w, 0, held(&s, 0), at(s.shared, 1));
   const struct agx_point first = {s.shared, 1}, second = {s.shared, 2};
   const struct agx_op barrier = {.size = sizeof(barrier),
                                  .kind = AGX_OP_BARRIER,
                                  .waits = &first,
                                  .wait_count = 1,
                                  .signals = &second,
                                  .signal_count = 1};
   assert_ok(agx_submit(s.w.f.device, &barrier, 1, NULL));
   world_submit(&s.w, 1, held(&s, 1), at(s.other, 1));
   world_submit(&s.w, 1, second, at(s.shared, 3));
   world_wait_in_flight(&s.w, 1, 2);
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
      world_submit(&s.w, 0, held(&s, 0), at(s.other, 1));
      if (kind == OF_ANOTHER_QUEUE) {
         bed_fire(&s.w.bed, 1); /* else both streams would be held, and none run */
         world_submit(&s.w, 0, NO_POINT, at(s.shared, 5));
         world_submit(&s.w, 1, NO_POINT, at(s.shared, 3));
         assert_ok(fixture_wait(s.shared, 3));
      } else {
         world_submit(&s.w, 0, at(s.held[1], 9), at(s.shared, 5));
         if (kind == AFTER_THE_HOST)
            assert_ok(agx_semaphore_signal(s.shared, 10));
         else
            agx_semaphore_fail(s.shared, AGX_ABORTED, "over");
         world_wait_in_flight(&s.w, 0, 1);
         assert_ok(agx_semaphore_signal(s.held[1], 9));
         world_wait_in_flight(&s.w, 0, 2);
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
   if (!pthread_equal(meanwhile->thread, pthread_self()) || nr != meanwhile->nr || !meanwhile->act)
      return;
   void (*act)(struct meanwhile *) = meanwhile->act;
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
   world_submit(&meanwhile->s->w, 0, NO_POINT, at(meanwhile->s->shared, 10));
}

/* A submission goes to the kernel while the host's value is on its way there. */
static void a_value_in_the_air_is_not_overtaken(void **state)
{
   struct sharing s;
   struct meanwhile meanwhile;
   open_sharing(&s, true, NULL);
   assert_ok(agx_semaphore_signal(s.shared, 1));
   world_submit(&s.w, 0, held(&s, 0), at(s.other, 1));
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

/* An export that failed has published none of the points that it forwarded. */
static void a_failed_export_tells_nobody(void **state)
{
   struct sharing s;
   struct meanwhile meanwhile;
   open_sharing(&s, false, NULL);
   world_submit(&s.w, 0, held(&s, 0), at(s.shared, 5));
   failing_kmd_arm(&s.w.kmd, 0, NR_TRANSFER, ENOMEM);
   assert_int_equal(agx_semaphore_export(s.shared, 0, AGX_FD_SYNCOBJ, &s.fd),
                    AGX_RESOURCE_EXHAUSTED);
   failing_kmd_disarm(&s.w.kmd);
   arm(&meanwhile, &s, NR_SYNCOBJ_CREATE, finish_it);
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
   world_submit(&meanwhile->s->w, 0, held(meanwhile->s, 0), at(meanwhile->s->shared, 5));
}

/* Of two exports at once one makes a timeline that it drops. */
static void exports_at_once_have_one_timeline(void **state)
{
   struct sharing s;
   struct meanwhile meanwhile;
   int second;
   open_sharing(&s, false, NULL);
   arm(&meanwhile, &s, NR_SYNCOBJ_CREATE, submit_while_exporting);
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
   world_let_run(&s->w, 0, 1);
   assert_ok(agx_semaphore_query(s->shared, &meanwhile->value));
   assert_int_equal(s->w.f.device->sync.import_count, 0);
}

/* The GPU may be done with it before its submitter is back: it is no work of others for that. */
static void own_work_in_the_request_is_not_of_others(void **state)
{
   for (int fails = 0; fails < 2; fails++) {
      struct sharing s;
      struct meanwhile meanwhile;
      open_sharing(&s, true, fails ? "fault 3" : NULL); /* the others' are two */
      for (unsigned i = 0; i < BED_STREAMS; i++)
         bed_fire(&s.w.bed, i); /* else no stream is left for our own */
      world_submit(&s.w, 1, at(s.shared, 5), at(s.other, 1));
      arm(&meanwhile, &s, NR_SUBMIT, look_at_shared);
      s.w.kmd.hook = NULL;
      s.w.kmd.forward.after = meet_after;
      world_submit(&s.w, 0, NO_POINT, at(s.shared, 5));
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

static uint64_t submitted(struct agx_semaphore *semaphore)
{
   uint64_t value;
   assert_ok(agx_semaphore_query_submitted(semaphore, &value));
   return value;
}

/* What the kernel has counts, whoever brought it; what is parked does not. */
static void what_is_submitted_is_known(void **state)
{
   struct sharing s;
   struct agx_semaphore *again;
   uint64_t value;
   open_sharing(&s, true, NULL);
   assert_int_equal(submitted(s.other), 0);
   world_submit(&s.w, 0, held(&s, 0), at(s.other, 7));
   world_wait_in_flight(&s.w, 0, 1);
   assert_int_equal(submitted(s.other), 7);
   world_submit(&s.w, 1, at(s.held[1], 20), at(s.other, 9));
   assert_int_equal(submitted(s.other), 7);
   assert_ok(agx_semaphore_import(s.w.f.device, s.fd, &again));
   assert_int_equal(submitted(again), 0);
   world_submit(&s.w, 0, NO_POINT, at(s.shared, 5));
   world_wait_in_flight(&s.w, 0, 2);
   assert_int_equal(submitted(again), 5);
   assert_int_equal(submitted(s.held[0]), 1);
   assert_ok(agx_semaphore_query(again, &value));
   assert_int_equal(value, 0);
   bed_fire(&s.w.bed, 0);
   assert_ok(fixture_wait(again, 5));
   agx_semaphore_fail(s.shared, AGX_ABORTED, "over");
   await_tellers(&s.w, s.shared);
   assert_told(&s.w, s.shared, UINT64_MAX);
   assert_fails(agx_semaphore_query_submitted(again, &value), AGX_ABORTED, "other side");
   assert_ok(agx_semaphore_signal(s.held[1], 20));
   agx_release(again);
   close_sharing(&s);
}

/* A sync_file can stand for what another process has submitted to a shared timeline. */
static void a_sync_file_stands_for_work_of_others(void **state)
{
   struct sharing s;
   struct agx_semaphore *done;
   int fd;
   open_sharing(&s, false, NULL);
   assert_fails(agx_semaphore_export(s.held[0], 2, AGX_FD_SYNC_FILE, &fd), AGX_FAILED_PRECONDITION,
                "no submitted operation reaches 2");
   assert_ok(agx_semaphore_export(s.held[0], 1, AGX_FD_SYNC_FILE, &fd));
   done = fixture_semaphore(&s.w.f);
   assert_ok(agx_semaphore_import_point(done, 1, AGX_FD_SYNC_FILE, fd));
   assert_fails(agx_semaphore_wait(&(struct agx_point){done, 1}, 1, false, 0),
                AGX_DEADLINE_EXCEEDED, "");
   bed_fire(&s.w.bed, 0);
   assert_ok(fixture_wait(done, 1));
   agx_release(done);
   close_sharing(&s);
}

/* Devices of one process are files of one virtual node where they ask for it. */
static void virtual_devices_have_a_node_in_common(void **state)
{
   struct fixture f;
   struct agx_device *devices[3];
   struct agx_semaphore *a, *b;
   int fd;
   fixture_open(&f, "virtual");
   for (unsigned i = 0; i < 3; i++) {
      const struct agx_device_desc desc = {.size = sizeof(desc),
                                           .name = i == 1 ? "virtual:g13g" : "virtual",
                                           .flags = i < 2 ? AGX_DEVICE_COMMON_NODE : 0};
      assert_ok(agx_device_open(f.instance, &desc, &devices[i]));
   }
   assert_ok(agx_semaphore_create(devices[0], 0, &a));
   assert_ok(agx_semaphore_export(a, 0, AGX_FD_SYNCOBJ, &fd));
   assert_fails(agx_semaphore_import(devices[2], fd, &b), AGX_INVALID_ARGUMENT, "");
   assert_ok(agx_semaphore_import(devices[1], fd, &b));
   agx_release(devices[2]);
   close(fd);
   assert_ok(agx_semaphore_signal(a, 3));
   assert_ok(fixture_wait(b, 3));
   agx_release(a);
   agx_release(devices[0]); /* the node stays for the other */
   assert_ok(agx_semaphore_signal(b, 4));
   agx_release(b);
   agx_release(devices[1]);
   fixture_close(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_barrier_between_does_not_pull_back),
      cmocka_unit_test(lower_values_do_not_pull_back),
      cmocka_unit_test(a_value_in_the_air_is_not_overtaken),
      cmocka_unit_test(a_failed_export_tells_nobody),
      cmocka_unit_test(exports_at_once_have_one_timeline),
      cmocka_unit_test(own_work_in_the_request_is_not_of_others),
      cmocka_unit_test(what_is_submitted_is_known),
      cmocka_unit_test(a_sync_file_stands_for_work_of_others),
      cmocka_unit_test(virtual_devices_have_a_node_in_common),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
