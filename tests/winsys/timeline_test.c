/* SPDX-License-Identifier: MIT
 *
 * Timelines over syncobjs: creation, waiting, signalling, and what failures leave.
 */
#include "fake_kmd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "winsys/device_impl.h"
#include "failing_alloc.h"

static void begin(struct fake_device *it, uint64_t initial)
{
   fake_device_begin(it);
   assert_ok(agxw_timeline_create(it->device, initial, &it->timeline));
}

static void the_first_value_is_signalled(void **state)
{
   struct fake_device it;
   uint64_t value;
   begin(&it, 41);
   assert_int_equal(it.fake.signalled, 41);
   assert_ok(agxw_timeline_signal(it.timeline, 42));
   assert_ok(agxw_timeline_query(it.timeline, &value));
   assert_int_equal(value, 42);
   assert_fails(agxw_timeline_signal(it.timeline, 0), AGX_INVALID_ARGUMENT, "value 0");
   fake_kmd_fail(&it.fake, 0, 0, ENODEV);
   assert_fails(agxw_timeline_query(it.timeline, &value), AGX_UNAVAILABLE, "SYNCOBJ_QUERY");
   struct agxw_timeline *other;
   fake_kmd_fail(&it.fake, 1, 0, ENOMEM); /* the signal of the first value */
   assert_fails(agxw_timeline_create(it.device, 1, &other), AGX_RESOURCE_EXHAUSTED, "");
   assert_null(other);
   fake_device_end(&it);
}

static void waits_go_to_the_kernel_as_they_are(void **state)
{
   struct fake_device it;
   begin(&it, 0);
   const struct agx_uapi_syncobj_timeline_wait *wait = &it.fake.wait;
   const struct agxw_point points[] = {{it.timeline, 5}, {it.timeline, 0}, {it.timeline, 6}};
   assert_ok(agxw_wait(it.device, points, 3, false, INT64_MAX));
   assert_int_equal(wait->count_handles, 2);
   assert_int_equal(it.fake.wait_points[1], 6);
   assert_int_equal(wait->flags, AGX_UAPI_SYNCOBJ_WAIT_ALL | AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT);
   assert_int_equal(wait->timeout_nsec, INT64_MAX);
   assert_ok(agxw_wait(it.device, points, 1, true, -5));
   assert_int_equal(wait->flags, AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT);
   assert_int_equal(wait->timeout_nsec, 0);
   fake_kmd_fail(&it.fake, 0, 0, ETIME);
   assert_fails(agxw_wait(it.device, points, 3, false, 1), AGX_DEADLINE_EXCEEDED,
                "not all of 2 points");
   fake_kmd_fail(&it.fake, 0, 0, ENODEV);
   assert_fails(agxw_wait(it.device, points, 3, false, 1), AGX_UNAVAILABLE, "2 points");
   fake_device_end(&it);
}

/* To the kernel 0 would mean the latest fence; every timeline has reached 0. */
static void value_zero_asks_nobody(void **state)
{
   struct fake_device it;
   begin(&it, 0);
   const struct agxw_point points[] = {{it.timeline, 9}, {it.timeline, 0}};
   fake_kmd_fail(&it.fake, 0, 0, ETIME);
   assert_ok(agxw_wait(it.device, points, 2, true, 0));
   assert_ok(agxw_wait(it.device, points + 1, 1, false, 0));
   assert_ok(agxw_wait(it.device, NULL, 0, false, 0));
   assert_ok(agxw_point_status(&points[1]));
   assert_int_equal(it.fake.requests, 0);
   it.fake.fail_at = -1;
   fake_device_end(&it);
}

/* In one request; from a number on their arrays stand on the heap. */
static void many_points_are_waited_for_at_once(void **state)
{
   struct fake_kmd fake;
   struct failing_alloc alloc;
   struct agxw_device *device;
   struct agxw_timeline *timeline;
   struct agxw_point points[150];
   fake_kmd_init(&fake);
   failing_alloc_init(&alloc, SIZE_MAX);
   assert_ok(agxw_device_create(&fake.base, &alloc.alloc, &device));
   assert_ok(agxw_timeline_create(device, 0, &timeline));
   for (int i = 0; i < 150; i++)
      points[i] = (struct agxw_point){timeline, (uint64_t)i + 1};
   fake_kmd_fail(&fake, -1, AGX_UAPI_NR(AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT), 0);
   assert_ok(agxw_wait(device, points, 150, false, 0));
   assert_ok(agxw_wait(device, points, 150, true, 0));
   assert_int_equal(fake.requests, 2);
   assert_int_equal(fake.wait.count_handles, 150);
   assert_int_equal(fake.wait_points[149], 150);
   alloc.remaining = 0;
   assert_ok(agxw_wait(device, points, AGXW_MAX_SYNCS, true, 0));
   assert_fails(agxw_wait(device, points, AGXW_MAX_SYNCS + 1, true, 0), AGX_RESOURCE_EXHAUSTED,
                "65");
   agxw_timeline_destroy(timeline);
   agxw_device_destroy(device);
   assert_int_equal(alloc.live, 0);
}

static void a_fence_s_error_becomes_a_status(void **state)
{
   static const struct {
      int32_t file, fence;
      agx_status code;
      const char *text;
   } cases[] = {
      {1, 1, AGX_OK, ""},
      {0, 0, AGX_FAILED_PRECONDITION, "not reached"},
      {-EIO, -EIO, AGX_DATA_LOSS, "GPU fault: store to 0x40"},
      {1, -EIO, AGX_DATA_LOSS, "GPU fault"}, /* a chain's own fence has no error */
      {-ETIMEDOUT, 1, AGX_DATA_LOSS, "GPU hang: store to 0x40"},
      {-ENODEV, 1, AGX_UNAVAILABLE, "lost"},
      {-ECANCELED, 1, AGX_ABORTED, "another submission"},
      {-ENODATA, 1, AGX_UNKNOWN, "doesn't tell"},
      {-EXDEV, 1, AGX_UNKNOWN, "fence error 18"},
   };
   for (int old = 0; old < 2; old++) {
      struct fake_device it;
      begin(&it, 0);
      it.fake.old_kernel = old;
      it.fake.last_error = "store to 0x40";
      const struct agxw_point point = {it.timeline, 7};
      for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
         it.fake.file_status = cases[i].file;
         it.fake.fence_status = cases[i].fence;
         if (cases[i].code == AGX_OK)
            assert_ok(agxw_point_status(&point));
         else
            assert_fails(agxw_point_status(&point), cases[i].code, cases[i].text);
      }
      assert_int_equal(it.fake.transfer_count > 0, old);
      assert_int_equal(it.fake.live.syncobjs, 1);
      fake_device_end(&it);
   }
}

/* Everything that sharing asks for, once. */
static agx_status share(struct fake_device *it, int fd)
{
   const struct agxw_point point = {it->timeline, 7};
   struct agxw_timeline *other;
   int file;
   AGX_TRY(agxw_timeline_import(it->device, fd, &other));
   agxw_timeline_destroy(other);
   AGX_TRY(agxw_timeline_export(it->timeline, &file));
   close(file);
   for (uint64_t value = 0; value < 8; value += 7) {
      AGX_TRY(agxw_point_export_sync_file(&(struct agxw_point){it->timeline, value}, &file));
      close(file);
   }
   AGX_TRY(agxw_point_import_sync_file(&point, fd));
   return agxw_point_transfer(&point, &(struct agxw_point){it->timeline, 8});
}

static void sharing_leaves_nothing_when_it_fails(void **state)
{
   static const unsigned long requests[] = {AGX_IOCTL_SYNCOBJ_CREATE, AGX_IOCTL_SYNCOBJ_TRANSFER,
                                            AGX_IOCTL_SYNCOBJ_HANDLE_TO_FD,
                                            AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE};
   int fd = open("/dev/null", O_RDWR | O_CLOEXEC), free_fd = dup(fd);
   close(free_fd);
   for (int i = 0; i < 2 * 4; i++) {
      struct fake_device it;
      int nth = 0, failed = 0;
      begin(&it, 0);
      it.fake.old_kernel = i % 2;
      for (bool over = false; !over; nth++) {
         fake_kmd_fail(&it.fake, nth, AGX_UAPI_NR(requests[i / 2]), ENOMEM);
         failed += share(&it, fd) == AGX_RESOURCE_EXHAUSTED;
         over = it.fake.requests <= nth;
         assert_int_equal(it.fake.live.syncobjs, 1);
      }
      assert_int_equal(failed, nth - 1);
      assert_true(failed > 0);
      fake_device_end(&it);
   }
   assert_int_equal(dup(fd), free_fd);
   close(free_fd);
   close(fd);
}

static void refusals_say_which_file(void **state)
{
   struct fake_device it;
   struct agxw_timeline *other;
   begin(&it, 0);
   const struct agxw_point point = {it.timeline, 7};
   fake_kmd_fail(&it.fake, 0, 0, EMFILE);
   assert_fails(agxw_timeline_import(it.device, 5, &other), AGX_RESOURCE_EXHAUSTED, "file 5");
   fake_kmd_fail(&it.fake, 0, 0, ENODEV);
   assert_fails(agxw_point_import_sync_file(&point, 5), AGX_UNAVAILABLE, "sync file 5");
   fake_kmd_fail(&it.fake, 0, 0, ENODEV);
   assert_fails(agxw_point_transfer(&point, &point), AGX_UNAVAILABLE, "point 7");
   it.fake.fail_at = -1;
   fake_device_end(&it);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_value_is_signalled),
      cmocka_unit_test(waits_go_to_the_kernel_as_they_are),
      cmocka_unit_test(value_zero_asks_nobody),
      cmocka_unit_test(many_points_are_waited_for_at_once),
      cmocka_unit_test(a_fence_s_error_becomes_a_status),
      cmocka_unit_test(sharing_leaves_nothing_when_it_fails),
      cmocka_unit_test(refusals_say_which_file),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
