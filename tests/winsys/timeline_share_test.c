/* SPDX-License-Identifier: MIT
 *
 * Timelines over a kernel: values, waits, what a point's fence says, and timelines, points
 * and fences that go to other files and come back. On the virtual device in process, over
 * the preload library, and on a real kernel (`make test-kernel`).
 */
#include "timeline_bed.h"

#include <errno.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define POINT(timeline, value) (&(const struct agxw_point){(timeline), (value)})

static bool is_reached(struct bed *bed, struct agxw_timeline *timeline, uint64_t value)
{
   agx_status status = agxw_wait(bed->device, POINT(timeline, value), 1, false, 0);
   assert_true(status == AGX_OK || status == AGX_DEADLINE_EXCEEDED);
   return status == AGX_OK;
}

static void wait_for(struct bed *bed, struct agxw_timeline *timeline, uint64_t value)
{
   assert_ok(agxw_wait(bed->device, POINT(timeline, value), 1, false, bed_in_ms(20000)));
}

static bool is_readable(int fd)
{
   struct pollfd poller = {.fd = fd, .events = POLLIN};
   return poll(&poller, 1, 0) == 1 && poller.revents & POLLIN;
}

static uint64_t value_of(struct agxw_timeline *timeline)
{
   uint64_t value;
   assert_ok(agxw_timeline_query(timeline, &value));
   return value;
}

/* ---- one timeline ------------------------------------------------------ */

static void values_are_signalled_and_queried(void **state)
{
   struct bed bed;
   bed_open(&bed);
   struct agxw_timeline *timeline = bed_timeline(&bed, 41);
   assert_int_equal(value_of(timeline), 41);
   assert_ok(agxw_timeline_signal(timeline, 42));
   assert_int_equal(value_of(timeline), 42);
   assert_true(is_reached(&bed, timeline, 41));
   assert_true(is_reached(&bed, timeline, 42));
   assert_false(is_reached(&bed, timeline, 43));
   assert_ok(agxw_timeline_signal(timeline, UINT64_MAX));
   assert_true(value_of(timeline) == UINT64_MAX);
   assert_ok(agxw_point_status(POINT(timeline, 42)));
   agxw_timeline_destroy(timeline);
   bed_close(&bed);
}

static void waits_have_deadlines(void **state)
{
   struct bed bed;
   bed_open(&bed);
   struct agxw_timeline *one = bed_timeline(&bed, 5), *two = bed_timeline(&bed, 0);
   const struct agxw_point points[] = {{one, 5}, {two, 1}}, none[] = {{one, 6}, {two, 1}};
   const int64_t deadline = bed_in_ms(5);
   assert_fails(agxw_wait(bed.device, points, 2, false, deadline), AGX_DEADLINE_EXCEEDED,
                "not all of 2");
   assert_true(bed_in_ms(0) >= deadline);
   assert_fails(agxw_wait(bed.device, none, 2, true, 0), AGX_DEADLINE_EXCEEDED, "none of 2");
   assert_fails(agxw_wait(bed.device, none, 2, true, -7), AGX_DEADLINE_EXCEEDED, "none of 2");
   assert_ok(agxw_wait(bed.device, points, 2, true, 0));
   assert_ok(agxw_timeline_signal(two, 1));
   assert_ok(agxw_wait(bed.device, points, 2, false, INT64_MAX));
   agxw_timeline_destroy(one);
   agxw_timeline_destroy(two);
   bed_close(&bed);
}

/* More than fit on the stack, in one request each. */
static void many_timelines_are_asked_at_once(void **state)
{
   enum {
      COUNT = 3 * AGXW_MAX_SYNCS + 1
   };
   struct bed bed;
   bed_open(&bed);
   struct agxw_timeline *timelines[COUNT];
   struct agxw_point points[COUNT];
   uint64_t values[COUNT];
   for (uint32_t i = 0; i < COUNT; i++) {
      timelines[i] = bed_timeline(&bed, i);
      points[i] = (struct agxw_point){timelines[i], i + 1};
   }
   for (uint32_t count = 1; count <= COUNT; count += 32) {
      assert_ok(agxw_timelines_query(bed.device, timelines, count, count % 3 == 0, values));
      for (uint32_t i = 0; i < count; i++)
         assert_int_equal(values[i], i);
   }
   assert_ok(agxw_timelines_query(bed.device, NULL, 0, false, NULL));
   assert_fails(agxw_wait(bed.device, points, COUNT, true, 0), AGX_DEADLINE_EXCEEDED, "193");
   assert_ok(agxw_timeline_signal(timelines[COUNT - 1], COUNT));
   assert_ok(agxw_wait(bed.device, points, COUNT, true, 0));
   assert_fails(agxw_wait(bed.device, points, COUNT, false, 0), AGX_DEADLINE_EXCEEDED, "193");
   for (uint32_t i = 0; i + 1 < COUNT; i++)
      assert_ok(agxw_timeline_signal(timelines[i], i + 1));
   assert_ok(agxw_wait(bed.device, points, COUNT, false, 0));
   for (uint32_t i = 0; i < COUNT; i++)
      agxw_timeline_destroy(timelines[i]);
   bed_close(&bed);
}

struct signaller {
   struct agxw_timeline *timeline;
   uint64_t value;
   agx_status status;
};

static void *signal_it(void *argument)
{
   struct signaller *it = argument;
   it->status = agxw_timeline_signal(it->timeline, it->value);
   return NULL;
}

static void waits_may_come_first(void **state)
{
   struct bed bed;
   bed_open(&bed);
   struct agxw_timeline *one = bed_timeline(&bed, 0), *two = bed_timeline(&bed, 0);
   const struct agxw_point any[] = {{one, 7}, {two, 3}};
   struct signaller signaller = {two, 3, AGX_UNKNOWN};
   pthread_t thread;
   assert_int_equal(pthread_create(&thread, NULL, signal_it, &signaller), 0);
   assert_ok(agxw_wait(bed.device, any, 2, true, bed_in_ms(20000)));
   pthread_join(thread, NULL);
   assert_ok(signaller.status);
   signaller = (struct signaller){one, 9, AGX_UNKNOWN};
   assert_int_equal(pthread_create(&thread, NULL, signal_it, &signaller), 0);
   assert_ok(agxw_wait(bed.device, any, 2, false, bed_in_ms(20000)));
   pthread_join(thread, NULL);
   assert_ok(signaller.status);
   agxw_timeline_destroy(one);
   agxw_timeline_destroy(two);
   bed_close(&bed);
}

/* ---- fences ------------------------------------------------------------ */

static void pending_points_are_submitted_but_not_reached(void **state)
{
   struct bed bed;
   uint64_t submitted;
   bed_open(&bed);
   struct agxw_timeline *timeline = bed_timeline(&bed, 1);
   bed_pend(&bed, 0, POINT(timeline, 4));
   assert_int_equal(value_of(timeline), 1);
   assert_ok(agxw_timelines_query(bed.device, &timeline, 1, true, &submitted));
   assert_int_equal(submitted, 4);
   assert_false(is_reached(&bed, timeline, 4));
   assert_fails(agxw_point_status(POINT(timeline, 4)), AGX_FAILED_PRECONDITION, "not reached");
   assert_ok(agxw_point_status(POINT(timeline, 1)));
   bed_fire(&bed, 0);
   wait_for(&bed, timeline, 4);
   assert_int_equal(value_of(timeline), 4);
   assert_ok(agxw_point_status(POINT(timeline, 4)));
   agxw_timeline_destroy(timeline);
   bed_close(&bed);
}

/* A later point waits for the earlier ones, whichever fence is done first. */
static void points_are_reached_in_order(void **state)
{
   struct bed bed;
   bed_open(&bed);
   struct agxw_timeline *timeline = bed_timeline(&bed, 0);
   bed_pend(&bed, 0, POINT(timeline, 1));
   bed_pend(&bed, 1, POINT(timeline, 2));
   assert_ok(agxw_timeline_signal(timeline, 3));
   bed_fire(&bed, 1);
   assert_fails(agxw_wait(bed.device, POINT(timeline, 2), 1, false, bed_in_ms(20)),
                AGX_DEADLINE_EXCEEDED, "");
   assert_int_equal(value_of(timeline), 0);
   assert_fails(agxw_point_status(POINT(timeline, 3)), AGX_FAILED_PRECONDITION, "");
   bed_fire(&bed, 0);
   wait_for(&bed, timeline, 3);
   assert_int_equal(value_of(timeline), 3);
   agxw_timeline_destroy(timeline);
   bed_close(&bed);
}

static void failures_stand_in_the_fence_and_travel(void **state)
{
   struct bed bed;
   int fd;
   bed_open(&bed);
   struct agxw_timeline *timeline = bed_timeline(&bed, 0), *other = bed_timeline(&bed, 0);
   if (bed_fail(&bed, POINT(timeline, 1))) {
      assert_ok(agxw_point_transfer(POINT(timeline, 1), POINT(other, 1)));
      assert_ok(agxw_point_export_sync_file(POINT(timeline, 1), &fd));
      wait_for(&bed, other, 1);
      assert_fails(agxw_point_status(POINT(other, 1)), AGX_DATA_LOSS, "GPU fault");
      assert_ok(agxw_point_import_sync_file(POINT(other, 2), fd));
      wait_for(&bed, other, 2);
      assert_fails(agxw_point_status(POINT(other, 2)), AGX_DATA_LOSS, "GPU fault");
      close(fd);
   }
   agxw_timeline_destroy(timeline);
   agxw_timeline_destroy(other);
   bed_close(&bed);
}

/* Submissions without commands pass fences on; both waits hold both signals back. */
static void signals_follow_several_waits(void **state)
{
   struct bed bed;
   bed_open(&bed);
   struct agxw_timeline *in[] = {bed_timeline(&bed, 0), bed_timeline(&bed, 0)};
   struct agxw_timeline *out[] = {bed_timeline(&bed, 0), bed_timeline(&bed, 2)};
   const struct agxw_point waits[] = {{in[0], 1}, {in[1], 0}, {in[1], 5}};
   const struct agxw_point signals[] = {{out[0], 1}, {out[1], 3}};
   const struct agxw_submit submit = {
      .waits = waits, .wait_count = 3, .signals = signals, .signal_count = 2};
   bed_pend(&bed, 0, POINT(in[0], 1));
   assert_fails(agxw_submit_syncs(bed.device, &submit), AGX_INVALID_ARGUMENT, "wait 2");
   bed_pend(&bed, 1, POINT(in[1], 5));
   assert_ok(agxw_submit_syncs(bed.device, &submit));
   bed_fire(&bed, 0);
   wait_for(&bed, in[0], 1);
   assert_false(is_reached(&bed, out[0], 1));
   assert_false(is_reached(&bed, out[1], 3));
   bed_fire(&bed, 1);
   assert_ok(agxw_wait(bed.device, signals, 2, false, bed_in_ms(20000)));
   for (int i = 0; i < 2; i++) {
      assert_ok(agxw_point_status(&signals[i]));
      agxw_timeline_destroy(in[i]);
      agxw_timeline_destroy(out[i]);
   }
   bed_close(&bed);
}

static void a_point_follows_another(void **state)
{
   struct bed bed;
   bed_open(&bed);
   struct agxw_timeline *from = bed_timeline(&bed, 0), *to = bed_timeline(&bed, 0);
   assert_fails(agxw_point_transfer(POINT(from, 1), POINT(to, 1)), AGX_FAILED_PRECONDITION,
                "point 1 can't be followed");
   bed_pend(&bed, 0, POINT(from, 1));
   assert_ok(agxw_point_transfer(POINT(from, 1), POINT(to, 8)));
   assert_fails(agxw_point_transfer(POINT(from, 1), POINT(to, 0)), AGX_INVALID_ARGUMENT, "value 0");
   assert_false(is_reached(&bed, to, 8));
   bed_fire(&bed, 0);
   wait_for(&bed, to, 8);
   assert_ok(agxw_point_transfer(POINT(from, 0), POINT(to, 9)));
   assert_int_equal(value_of(to), 9);
   agxw_timeline_destroy(from);
   agxw_timeline_destroy(to);
   bed_close(&bed);
}

/* ---- files ------------------------------------------------------------- */

/* What was imported outlives what was exported. */
static void timelines_become_files_and_back(void **state)
{
   struct bed bed;
   struct agxw_timeline *theirs = NULL;
   int fd, wrong = eventfd(0, EFD_CLOEXEC);
   bed_open(&bed);
   struct agxw_timeline *mine = bed_timeline(&bed, 3);
   assert_ok(agxw_timeline_export(mine, &fd));
   assert_ok(agxw_timeline_import(bed.device, fd, &theirs));
   assert_int_equal(value_of(theirs), 3);
   assert_ok(agxw_timeline_signal(theirs, 4));
   assert_int_equal(value_of(mine), 4);
   bed_pend(&bed, 0, POINT(mine, 5));
   agxw_timeline_destroy(mine);
   close(fd);
   assert_false(is_reached(&bed, theirs, 5));
   bed_fire(&bed, 0);
   wait_for(&bed, theirs, 5);
   agxw_timeline_destroy(theirs);
   assert_fails(agxw_timeline_import(bed.device, wrong, &theirs), AGX_INVALID_ARGUMENT,
                "not a syncobj");
   assert_null(theirs);
   assert_fails(agxw_timeline_import(bed.device, -1, &theirs), AGX_INVALID_ARGUMENT, "-1");
   close(wrong);
   bed_close(&bed);
}

static void points_become_sync_files(void **state)
{
   struct bed bed;
   int pending, done, start;
   bed_open(&bed);
   struct agxw_timeline *timeline = bed_timeline(&bed, 2);
   assert_fails(agxw_point_export_sync_file(POINT(timeline, 3), &pending), AGX_FAILED_PRECONDITION,
                "point 3 can't be exported");
   assert_int_equal(pending, -1);
   bed_pend(&bed, 0, POINT(timeline, 3));
   assert_ok(agxw_point_export_sync_file(POINT(timeline, 3), &pending));
   assert_ok(agxw_point_export_sync_file(POINT(timeline, 1), &done));
   assert_ok(agxw_point_export_sync_file(POINT(timeline, 0), &start));
   assert_true(is_readable(done));
   assert_true(is_readable(start));
   assert_false(is_readable(pending));
   bed_fire(&bed, 0);
   struct pollfd poller = {.fd = pending, .events = POLLIN};
   assert_int_equal(poll(&poller, 1, 20000), 1);
   wait_for(&bed, timeline, 3);
   close(pending);
   close(done);
   close(start);
   agxw_timeline_destroy(timeline);
   bed_close(&bed);
}

static void sync_files_become_points(void **state)
{
   struct bed bed;
   int fd, wrong = eventfd(0, EFD_CLOEXEC);
   bed_open(&bed);
   struct agxw_timeline *from = bed_timeline(&bed, 0), *to = bed_timeline(&bed, 10);
   bed_pend(&bed, 0, POINT(from, 1));
   assert_ok(agxw_point_export_sync_file(POINT(from, 1), &fd));
   agxw_timeline_destroy(from);
   assert_ok(agxw_point_import_sync_file(POINT(to, 11), fd));
   assert_fails(agxw_point_import_sync_file(POINT(to, 0), fd), AGX_INVALID_ARGUMENT, "value 0");
   close(fd);
   assert_fails(agxw_point_import_sync_file(POINT(to, 12), wrong), AGX_INVALID_ARGUMENT,
                "not a sync file");
   assert_false(is_reached(&bed, to, 11));
   assert_int_equal(value_of(to), 10);
   bed_fire(&bed, 0);
   wait_for(&bed, to, 11);
   assert_ok(agxw_point_status(POINT(to, 11)));
   close(wrong);
   agxw_timeline_destroy(to);
   bed_close(&bed);
}

static uint32_t count_fences(const struct bed *bed, int fd)
{
   struct sync_file_info info = {0};
   assert_int_equal(bed->kmd->ops->fd_ioctl(bed->kmd, fd, SYNC_IOC_FILE_INFO, &info), 0);
   return info.num_fences;
}

/* Of two points of a timeline, which as a chain would forget the earlier one. */
static void a_merge_is_a_set_of_fences(void **state)
{
   struct bed bed;
   int chain, set, none;
   bed_open(&bed);
   struct agxw_timeline *timeline = bed_timeline(&bed, 0);
   const struct agxw_point first = {timeline, 1}, second = {timeline, 2};
   bed_pend(&bed, 0, &first);
   bed_pend(&bed, 1, &second);
   assert_ok(agxw_point_export_sync_file(&second, &chain));
   assert_ok(agxw_sync_file_merge(bed.device, chain, chain, &set));
   assert_int_equal(count_fences(&bed, chain), 2);
   assert_int_equal(count_fences(&bed, set), 2);
   bed_fire(&bed, 0);
   assert_ok(agxw_wait(bed.device, &first, 1, false, bed_in_ms(60000)));
   assert_int_equal(count_fences(&bed, chain), 1);
   assert_int_equal(count_fences(&bed, set), 2);
   assert_false(is_readable(set));
   bed_fire(&bed, 1);
   struct pollfd poller = {.fd = set, .events = POLLIN};
   assert_int_equal(poll(&poller, 1, 60000), 1);
   assert_int_not_equal(agxw_sync_file_merge(bed.device, set, -1, &none), AGX_OK);
   assert_int_equal(none, -1);
   close(chain);
   close(set);
   agxw_timeline_destroy(timeline);
   bed_close(&bed);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_signalled_and_queried),
      cmocka_unit_test(waits_have_deadlines),
      cmocka_unit_test(many_timelines_are_asked_at_once),
      cmocka_unit_test(waits_may_come_first),
      cmocka_unit_test(pending_points_are_submitted_but_not_reached),
      cmocka_unit_test(points_are_reached_in_order),
      cmocka_unit_test(failures_stand_in_the_fence_and_travel),
      cmocka_unit_test(signals_follow_several_waits),
      cmocka_unit_test(a_point_follows_another),
      cmocka_unit_test(timelines_become_files_and_back),
      cmocka_unit_test(points_become_sync_files),
      cmocka_unit_test(sync_files_become_points),
      cmocka_unit_test(a_merge_is_a_set_of_fences),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
