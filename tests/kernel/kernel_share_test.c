/* SPDX-License-Identifier: MIT
 *
 * The HAL's semaphores over devices that have timelines and nothing else: what they share
 * with others through the kernel. Pending work of others are sync files of the bed's. Runs
 * on the virtual device in process, over the preload library, and on a real kernel, which
 * is why it is here: there it shows that our waits are what the kernel makes of them.
 */
#include "../winsys/timeline_bed.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "agx/hal.h"
#include "hal/device/device.h"

/* Two devices; in process a node is known to one only, so there they are the same. */
struct pair {
   struct agx_instance *instance;
   struct agx_device *ours, *theirs;
   struct bed bed; /* over ours */
};

static struct agx_device *open_device(struct pair *pair)
{
   struct agx_kmd *kmd;
   struct agx_device *device;
   assert_ok(bed_open_kmd(&kmd));
   assert_ok(agx_device_open_syncs(pair->instance, kmd, &device));
   return device;
}

static void open_pair(struct pair *pair)
{
   assert_ok(agx_instance_create(NULL, &pair->instance));
   pair->ours = open_device(pair);
   bed_open_over(&pair->bed, agx_context_of(pair->ours)->winsys);
   bool is_alone = strncmp(pair->bed.kmd->name, "virtual", 7) == 0;
   pair->theirs = is_alone ? pair->ours : open_device(pair);
   if (is_alone)
      agx_retain(pair->theirs);
}

static void close_pair(struct pair *pair)
{
   bed_close(&pair->bed);
   agx_release(pair->theirs);
   agx_release(pair->ours);
   agx_release(pair->instance);
}

static struct agx_semaphore *make(struct agx_device *device)
{
   struct agx_semaphore *semaphore;
   assert_ok(agx_semaphore_create(device, 0, &semaphore));
   return semaphore;
}

/* The same timeline as another semaphore of another device. */
static struct agx_semaphore *share(struct pair *pair, struct agx_semaphore *semaphore)
{
   struct agx_semaphore *other;
   int fd;
   assert_ok(agx_semaphore_export(semaphore, 0, AGX_FD_SYNCOBJ, &fd));
   assert_ok(agx_semaphore_import(pair->theirs, fd, &other));
   close(fd);
   return other;
}

static agx_status wait_for(struct agx_semaphore *semaphore, uint64_t value)
{
   const struct agx_point point = {semaphore, value};
   return agx_semaphore_wait(&point, 1, false, bed_in_ms(60000));
}

static bool is_reached(struct agx_semaphore *semaphore, uint64_t value)
{
   const struct agx_point point = {semaphore, value};
   return agx_semaphore_wait(&point, 1, false, 0) == AGX_OK;
}

static uint64_t value_of(struct agx_semaphore *semaphore)
{
   uint64_t value;
   assert_ok(agx_semaphore_query(semaphore, &value));
   return value;
}

/* A sync file of others' work that is under way until the stream fires. */
static int pending_file(struct pair *pair, unsigned stream)
{
   struct agxw_timeline *timeline = bed_timeline(&pair->bed, 0);
   const struct agxw_point point = {timeline, 1};
   int fd;
   bed_pend(&pair->bed, stream, &point);
   assert_ok(agxw_point_export_sync_file(&point, &fd));
   agxw_timeline_destroy(timeline);
   return fd;
}

static bool becomes_readable(int fd, int timeout_ms)
{
   struct pollfd poller = {.fd = fd, .events = POLLIN};
   return poll(&poller, 1, timeout_ms) == 1 && poller.revents & POLLIN;
}

/* ---- syncobjs ---------------------------------------------------------- */

static void values_go_both_ways(void **state)
{
   struct pair pair;
   open_pair(&pair);
   struct agx_semaphore *a = make(pair.ours), *b;
   assert_ok(agx_semaphore_signal(a, 3));
   b = share(&pair, a);
   assert_int_equal(value_of(b), 3);
   for (uint64_t value = 4; value < 40; value += 2) {
      assert_ok(agx_semaphore_signal(a, value));
      assert_ok(wait_for(b, value));
      assert_ok(agx_semaphore_signal(b, value + 1));
      assert_ok(wait_for(a, value + 1));
      assert_int_equal(value_of(a), value + 1);
   }
   agx_semaphore_fail(b, AGX_DATA_LOSS, "gone");
   assert_fails(wait_for(a, 100), AGX_ABORTED, "other side");
   agx_release(a);
   agx_release(b);
   close_pair(&pair);
}

struct other_side {
   struct agx_semaphore *semaphore;
   uint64_t value;
   agx_status status;
};

static void *signal_later(void *argument)
{
   struct other_side *other = argument;
   nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
   other->status = agx_semaphore_signal(other->semaphore, other->value);
   return NULL;
}

/* Both kinds in one wait: one that the kernel knows, and one that is ours alone. */
static void waits_see_the_other_side(void **state)
{
   struct pair pair;
   open_pair(&pair);
   struct agx_semaphore *a = make(pair.ours), *own = make(pair.ours), *b = share(&pair, a);
   const struct agx_point points[] = {{own, 1}, {a, 7}};
   struct other_side other = {b, 8, AGX_UNKNOWN};
   pthread_t thread;
   assert_fails(agx_semaphore_wait(points, 2, true, bed_in_ms(5)), AGX_DEADLINE_EXCEEDED, "");
   assert_int_equal(pthread_create(&thread, NULL, signal_later, &other), 0);
   assert_ok(agx_semaphore_wait(points, 2, true, bed_in_ms(60000)));
   pthread_join(thread, NULL);
   assert_ok(other.status);
   assert_fails(agx_semaphore_wait(points, 2, false, bed_in_ms(5)), AGX_DEADLINE_EXCEEDED, "");
   other = (struct other_side){own, 1, AGX_UNKNOWN};
   assert_int_equal(pthread_create(&thread, NULL, signal_later, &other), 0);
   assert_ok(agx_semaphore_wait(points, 2, false, bed_in_ms(60000)));
   pthread_join(thread, NULL);
   assert_ok(other.status);
   agx_release(a);
   agx_release(b);
   agx_release(own);
   close_pair(&pair);
}

struct watcher {
   struct agx_watch watch;
   _Atomic uint32_t *calls;
   agx_status status;
};

static void count_call(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct watcher *watcher = watch->user;
   watcher->status = value >= watch->value ? status : AGX_UNKNOWN;
   atomic_fetch_add(watcher->calls, 1);
}

/* Only the library's own thread waits, in the kernel. */
static void a_thousand_watches_hear_the_other_side(void **state)
{
   enum {
      COUNT = 1000
   };
   struct pair pair;
   open_pair(&pair);
   struct agx_semaphore *a = make(pair.ours), *b = share(&pair, a);
   struct watcher *watchers = calloc(COUNT, sizeof(*watchers));
   _Atomic uint32_t calls = 0;
   for (uint32_t i = 0; i < COUNT; i++) {
      watchers[i] = (struct watcher){.watch = {.value = 1 + i, .fn = count_call}, .calls = &calls};
      watchers[i].watch.user = &watchers[i];
      assert_ok(agx_semaphore_watch(a, &watchers[i].watch));
   }
   for (uint64_t value = 100; value <= COUNT; value += 100) {
      assert_ok(agx_semaphore_signal(b, value));
      while (atomic_load(&calls) < value)
         nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
      assert_int_equal(atomic_load(&calls), value);
   }
   for (uint32_t i = 0; i < COUNT; i++)
      assert_ok(watchers[i].status);
   free(watchers);
   agx_release(a);
   agx_release(b);
   close_pair(&pair);
}

/* ---- sync files -------------------------------------------------------- */

/* What waits is parked until the file's fence is done, and then others are told. */
static void work_waits_for_sync_files(void **state)
{
   struct pair pair;
   open_pair(&pair);
   struct agx_semaphore *a = make(pair.ours), *b = share(&pair, a), *done = make(pair.ours);
   struct agx_point waits[] = {{a, 5}}, signals[] = {{done, 1}};
   struct agx_op barrier = {.size = sizeof(barrier),
                            .kind = AGX_OP_BARRIER,
                            .waits = waits,
                            .signals = signals,
                            .wait_count = 1,
                            .signal_count = 1};
   assert_ok(agx_submit(pair.ours, &barrier, 1, NULL));
   assert_ok(agx_semaphore_import_point(a, 5, AGX_FD_SYNC_FILE, pending_file(&pair, 0)));
   assert_false(is_reached(done, 1));
   assert_false(is_reached(b, 5));
   bed_fire(&pair.bed, 0);
   assert_ok(wait_for(done, 1));
   assert_ok(wait_for(b, 5));
   assert_int_equal(value_of(a), 5);
   agx_release(a);
   agx_release(b);
   agx_release(done);
   close_pair(&pair);
}

static void several_sync_files_are_waited_for_at_once(void **state)
{
   struct pair pair;
   open_pair(&pair);
   struct agx_semaphore *a = make(pair.ours), *b = make(pair.ours);
   const struct agx_point both[] = {{a, 1}, {b, 1}};
   assert_ok(agx_semaphore_import_point(a, 1, AGX_FD_SYNC_FILE, pending_file(&pair, 0)));
   assert_ok(agx_semaphore_import_point(b, 1, AGX_FD_SYNC_FILE, pending_file(&pair, 1)));
   assert_fails(agx_semaphore_wait(both, 2, true, bed_in_ms(5)), AGX_DEADLINE_EXCEEDED, "");
   bed_fire(&pair.bed, 1);
   assert_ok(agx_semaphore_wait(both, 2, true, bed_in_ms(60000)));
   assert_true(is_reached(b, 1));
   assert_false(is_reached(a, 1));
   bed_fire(&pair.bed, 0);
   assert_ok(agx_semaphore_wait(both, 2, false, bed_in_ms(60000)));
   agx_release(a);
   agx_release(b);
   close_pair(&pair);
}

/* Their failure is ours. Only where a kernel can be had to fail. */
static void failures_come_with_sync_files(void **state)
{
   struct pair pair;
   int fd;
   open_pair(&pair);
   struct agx_semaphore *a = make(pair.ours);
   struct agxw_timeline *timeline = bed_timeline(&pair.bed, 0);
   const struct agxw_point point = {timeline, 1};
   if (bed_fail(&pair.bed, &point)) {
      assert_ok(agxw_point_export_sync_file(&point, &fd));
      assert_ok(agx_semaphore_import_point(a, 1, AGX_FD_SYNC_FILE, fd));
      assert_fails(wait_for(a, 1), AGX_DATA_LOSS, "GPU fault");
   }
   agxw_timeline_destroy(timeline);
   agx_release(a);
   close_pair(&pair);
}

static void reached_values_are_exported_as_sync_files(void **state)
{
   struct pair pair;
   int fd;
   open_pair(&pair);
   struct agx_semaphore *a = make(pair.ours), *b = make(pair.theirs);
   assert_fails(agx_semaphore_export(a, 1, AGX_FD_SYNC_FILE, &fd), AGX_FAILED_PRECONDITION, "");
   assert_ok(agx_semaphore_signal(a, 1));
   assert_ok(agx_semaphore_export(a, 1, AGX_FD_SYNC_FILE, &fd));
   assert_true(becomes_readable(fd, 0));
   assert_ok(agx_semaphore_import_point(b, 9, AGX_FD_SYNC_FILE, fd));
   assert_ok(wait_for(b, 9));
   agx_release(a);
   agx_release(b);
   close_pair(&pair);
}

/* ---- eventfds ---------------------------------------------------------- */

static void eventfds_tell_what_the_kernel_told(void **state)
{
   struct pair pair;
   int shared, fenced;
   uint64_t count;
   open_pair(&pair);
   struct agx_semaphore *a = make(pair.ours), *b = share(&pair, a), *c = make(pair.ours);
   assert_ok(agx_semaphore_export(a, 2, AGX_FD_EVENTFD, &shared));
   assert_ok(agx_semaphore_export(c, 1, AGX_FD_EVENTFD, &fenced));
   assert_ok(agx_semaphore_import_point(c, 1, AGX_FD_SYNC_FILE, pending_file(&pair, 0)));
   assert_ok(agx_semaphore_signal(b, 1));
   assert_ok(wait_for(a, 1));
   assert_false(becomes_readable(shared, 0));
   assert_false(becomes_readable(fenced, 0));
   assert_ok(agx_semaphore_signal(b, 2));
   assert_true(becomes_readable(shared, 60000));
   bed_fire(&pair.bed, 0);
   assert_true(becomes_readable(fenced, 60000));
   assert_int_equal(read(fenced, &count, sizeof(count)), sizeof(count));
   assert_int_equal(count, 1);
   close(shared);
   close(fenced);
   agx_release(a);
   agx_release(b);
   agx_release(c);
   close_pair(&pair);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_go_both_ways),
      cmocka_unit_test(waits_see_the_other_side),
      cmocka_unit_test(a_thousand_watches_hear_the_other_side),
      cmocka_unit_test(work_waits_for_sync_files),
      cmocka_unit_test(several_sync_files_are_waited_for_at_once),
      cmocka_unit_test(failures_come_with_sync_files),
      cmocka_unit_test(reached_values_are_exported_as_sync_files),
      cmocka_unit_test(eventfds_tell_what_the_kernel_told),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
