/* SPDX-License-Identifier: MIT
 *
 * Semaphores beyond their device: syncobjs, sync_files and other files, out and in. Over a node of
 * the system between two devices; a virtual device in this process is a world of its own, so there
 * both sides are one device, and know of each other by nothing but the files.
 */
#include "conformance.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* A command buffer that runs, and a way to hold it back. */
/* The other side. */
static struct fixture *open_theirs(struct fixture *ours, struct fixture *second)
{
   const char *name = getenv("AGX_CONFORMANCE_DEVICE");
   if (!name || strncmp(name, "virtual", 7) == 0)
      return ours;
   conformance_open_another(second);
   return second;
}

static void close_theirs(struct fixture *ours, struct fixture *theirs)
{
   if (theirs != ours)
      fixture_close(theirs);
}

static bool is_readable(int fd, int timeout_ms)
{
   struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
   int ready = poll(&poll_fd, 1, timeout_ms);
   assert_true(ready >= 0);
   return ready == 1 && poll_fd.revents & POLLIN;
}

static void a_timeline_of_two_devices(void **state)
{
   struct fixture *ours = conformance_device(state), second, *theirs = open_theirs(ours, &second);
   struct agx_semaphore *a = fixture_semaphore(ours), *b;
   struct work w, v;
   uint64_t value;
   int fd;
   work_begin(&w, ours);
   work_record(&w);
   work_begin(&v, theirs);
   work_record(&v);
   assert_ok(agx_semaphore_signal(a, 3));
   assert_ok(agx_semaphore_export(a, 0, AGX_FD_SYNCOBJ, &fd));
   assert_ok(agx_semaphore_import(theirs->device, fd, &b));
   close(fd);
   assert_ok(agx_semaphore_query(b, &value));
   assert_int_equal(value, 3);
   /* The host, both ways. */
   assert_ok(agx_semaphore_signal(a, 4));
   assert_ok(fixture_wait(b, 4));
   assert_ok(agx_semaphore_signal(b, 5));
   assert_ok(fixture_wait(a, 5));
   /* The GPU of one, the host of the other. */
   assert_ok(fixture_submit(ours, w.commands, NO_POINT, conformance_point(a, 6)));
   assert_ok(fixture_wait(b, 6));
   assert_int_equal(w.words[0][63], 64);
   /* Work that waits for what the other has not submitted yet, twice around. */
   assert_ok(fixture_submit(ours, NULL, conformance_point(a, 8), conformance_point(a, 9)));
   assert_ok(fixture_submit(theirs, v.commands, conformance_point(b, 7), conformance_point(b, 8)));
   assert_fails(agx_semaphore_wait(&(struct agx_point){a, 9}, 1, false, 0), AGX_DEADLINE_EXCEEDED,
                "");
   assert_int_equal(v.words[0][63], 0);
   assert_ok(agx_semaphore_signal(a, 7));
   assert_ok(fixture_wait(b, 9));
   assert_ok(fixture_wait(a, 9));
   assert_int_equal(v.words[0][63], 64);
   /* A failure on the host, which a syncobj can't carry, is told all the same. */
   agx_semaphore_fail(a, AGX_DATA_LOSS, "gone");
   assert_fails(fixture_wait(b, 10), AGX_ABORTED, "other side");
   agx_release(a);
   agx_release(b);
   work_end(&v);
   work_end(&w);
   close_theirs(ours, theirs);
}

/* What is in flight when a semaphore is exported reaches the other side, too. */
static void work_in_flight_is_exported(void **state)
{
   struct fixture *ours = conformance_device(state), second, *theirs = open_theirs(ours, &second);
   struct agx_semaphore *a = fixture_semaphore(ours), *b;
   struct work w;
   int fd;
   work_begin(&w, ours);
   work_record(&w);
   for (uint64_t i = 1; i <= 20; i++)
      assert_ok(fixture_submit(ours, w.commands, NO_POINT, conformance_point(a, i)));
   assert_ok(agx_semaphore_export(a, 0, AGX_FD_SYNCOBJ, &fd));
   assert_ok(agx_semaphore_import(theirs->device, fd, &b));
   assert_ok(fixture_wait(b, 20));
   assert_int_equal(w.words[0][63], 64);
   close(fd);
   agx_release(a);
   agx_release(b);
   work_end(&w);
   close_theirs(ours, theirs);
}

static void a_sync_file_goes_from_device_to_device(void **state)
{
   struct fixture *ours = conformance_device(state), second, *theirs = open_theirs(ours, &second);
   struct agx_semaphore *a = fixture_semaphore(ours), *go = fixture_semaphore(ours), *b;
   struct work w, v;
   int fd;
   work_begin(&w, ours);
   work_record(&w);
   work_begin(&v, theirs);
   work_record(&v);
   b = fixture_semaphore(theirs);
   assert_fails(agx_semaphore_export(a, 1, AGX_FD_SYNC_FILE, &fd), AGX_FAILED_PRECONDITION,
                "no submitted operation");
   assert_int_equal(fd, -1);
   assert_ok(fixture_submit(ours, w.commands, NO_POINT, conformance_point(a, 1)));
   assert_ok(agx_semaphore_export(a, 1, AGX_FD_SYNC_FILE, &fd));
   assert_ok(fixture_submit(theirs, v.commands, conformance_point(b, 6), conformance_point(b, 7)));
   assert_ok(agx_semaphore_import_point(b, 6, AGX_FD_SYNC_FILE, fd));
   assert_ok(fixture_wait(b, 7));
   assert_int_equal(w.words[0][63], 64);
   assert_int_equal(v.words[0][63], 64);
   /* One that is reached. */
   assert_ok(agx_semaphore_export(a, 1, AGX_FD_SYNC_FILE, &fd));
   assert_true(is_readable(fd, 0));
   assert_ok(agx_semaphore_import_point(b, 9, AGX_FD_SYNC_FILE, fd));
   assert_ok(fixture_wait(b, 9));
   assert_fails(agx_semaphore_import_point(b, 9, AGX_FD_SYNC_FILE, 0), AGX_INVALID_ARGUMENT,
                "at 9 already");
   assert_fails(agx_semaphore_import_point(b, 10, AGX_FD_SYNCOBJ, 0), AGX_INVALID_ARGUMENT,
                "kind 1");
   int not_a_sync_file = eventfd(0, 0);
   assert_int_not_equal(agx_semaphore_import_point(b, 10, AGX_FD_SYNC_FILE, not_a_sync_file),
                        AGX_OK);
   close(not_a_sync_file);
   agx_release(a);
   agx_release(b);
   agx_release(go);
   work_end(&v);
   work_end(&w);
   close_theirs(ours, theirs);
}

static void an_eventfd_tells_of_a_value(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *a = fixture_semaphore(f), *bad = fixture_semaphore(f);
   struct work w;
   int early, late, failing;
   uint64_t rung;
   work_begin(&w, f);
   work_record(&w);
   assert_ok(agx_semaphore_export(a, 0, AGX_FD_EVENTFD, &early));
   assert_ok(agx_semaphore_export(a, 5, AGX_FD_EVENTFD, &late));
   assert_ok(agx_semaphore_export(bad, 1, AGX_FD_EVENTFD, &failing));
   assert_true(is_readable(early, 0));
   assert_false(is_readable(late, 0));
   assert_ok(fixture_submit(f, w.commands, NO_POINT, conformance_point(a, 5)));
   assert_true(is_readable(late, 60000));
   assert_int_equal(w.words[0][63], 64);
   assert_int_equal(read(late, &rung, sizeof(rung)), sizeof(rung));
   assert_int_equal(rung, 1);
   agx_semaphore_fail(bad, AGX_ABORTED, "no");
   assert_true(is_readable(failing, 60000));
   close(early);
   close(late);
   close(failing);
   agx_release(a);
   agx_release(bad);
   work_end(&w);
}

static void a_value_waits_for_files(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *a = fixture_semaphore(f), *never = fixture_semaphore(f);
   const uint64_t one = 1;
   struct work w;
   int ends[2], bell = eventfd(0, EFD_CLOEXEC), forever = eventfd(0, EFD_CLOEXEC);
   int kept = dup(bell);
   work_begin(&w, f);
   work_record(&w);
   assert_ok(agx_semaphore_import_point(a, 1, AGX_FD_EVENTFD, bell));
   assert_ok(fixture_submit(f, w.commands, conformance_point(a, 1), conformance_point(a, 2)));
   assert_int_equal(write(kept, &one, sizeof(one)), sizeof(one));
   assert_ok(fixture_wait(a, 2));
   assert_int_equal(w.words[0][63], 64);
   close(kept);
   assert_int_equal(pipe(ends), 0);
   assert_ok(agx_semaphore_import_point(a, 3, AGX_FD_EVENTFD, ends[0]));
   close(ends[1]); /* nothing will ever come */
   assert_fails(fixture_wait(a, 3), AGX_UNAVAILABLE, "value 3");
   assert_ok(agx_semaphore_import_point(never, 1, AGX_FD_EVENTFD, forever));
   agx_device_cancel(f->device);
   assert_fails(fixture_wait(never, 1), AGX_CANCELLED, "value 1");
   assert_fails(agx_semaphore_import_point(never, 1, AGX_FD_EVENTFD, -1), AGX_CANCELLED, "");
   agx_release(a);
   agx_release(never);
   work_end(&w);
}

/* The semaphore goes before its value is reached: the file keeps neither it nor the device. */
static void an_eventfd_outlives_its_semaphore(void **state)
{
   struct fixture own;
   struct agx_semaphore *never;
   int fd, shared;
   conformance_open_another(&own);
   never = fixture_semaphore(&own);
   assert_ok(agx_semaphore_export(never, 7, AGX_FD_EVENTFD, &fd));
   assert_ok(agx_semaphore_export(never, 0, AGX_FD_SYNCOBJ, &shared));
   assert_false(is_readable(fd, 0));
   agx_release(never);
   assert_true(
      is_readable(fd, 60000)); /* the library's thread may look at the semaphore just now */
   fixture_close(&own);
   close(fd);
   close(shared);
}

/* The library's thread waits in the kernel for so many; the others are not forgotten. */
static void many_semaphores_are_shared(void **state)
{
   enum {
      COUNT = 300
   };
   struct fixture *ours = conformance_device(state), second, *theirs = open_theirs(ours, &second);
   struct agx_semaphore *all[COUNT], *other;
   int fd = -1, ready;
   for (uint32_t i = 0; i < COUNT; i++) {
      all[i] = fixture_semaphore(ours);
      if (fd >= 0)
         close(fd);
      assert_ok(agx_semaphore_export(all[i], 0, AGX_FD_SYNCOBJ, &fd));
   }
   assert_ok(agx_semaphore_import(theirs->device, fd, &other));
   close(fd);
   assert_ok(agx_semaphore_export(all[COUNT - 1], 1, AGX_FD_EVENTFD, &ready));
   assert_false(is_readable(ready, 0));
   assert_ok(agx_semaphore_signal(other, 1));
   assert_true(is_readable(ready, 60000));
   close(ready);
   agx_release(other);
   for (uint32_t i = 0; i < COUNT; i++)
      agx_release(all[i]);
   close_theirs(ours, theirs);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_timeline_of_two_devices),
      cmocka_unit_test(work_in_flight_is_exported),
      cmocka_unit_test(a_sync_file_goes_from_device_to_device),
      cmocka_unit_test(an_eventfd_tells_of_a_value),
      cmocka_unit_test(an_eventfd_outlives_its_semaphore),
      cmocka_unit_test(a_value_waits_for_files),
      cmocka_unit_test(many_semaphores_are_shared),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
