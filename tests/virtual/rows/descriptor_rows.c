/* SPDX-License-Identifier: MIT
 *
 * Rows E and V: descriptors of syncobjs and fences, and eventfds.
 */
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "rows/rows.h"

static int is_cloexec(int fd)
{
   return fcntl(fd, F_GETFD) & FD_CLOEXEC;
}

/* What the host sees of a syncobj's descriptor. */
static void looks(int fd)
{
   char name[64] = "", byte;
   struct stat info;
   assert_int_equal(fstat(fd, &info), 0);
   door_name(fd, name, sizeof(name));
   if (door_has_descriptors) {
      ROW("E2", 0, "mode=%#o link=%s", info.st_mode, name);
      ROW("E3", read(fd, &byte, 1) < 0 ? -errno : 0);
   } else {
      rows_aside("E2", "in process it is the pipe that it is; the preloaded run has the row");
      rows_aside("E3", "in process it is the pipe that it is; the preloaded run has the row");
      assert_string_equal(name, "anon_inode:syncobj_file");
   }
   struct pollfd poller = {.fd = fd, .events = POLLIN};
   int ready = poll(&poller, 1, 0);
   ROW("E4", 0, "n=%d rev=%#x", ready, poller.revents);
   uint64_t argument[8] = {0};
   ROW("E4b", door_fd_ioctl(fd, AGX_IOCTL_GET_CAP, argument));
}

static void without_syncobjs(int fd)
{
   struct door_file *mine = file;
   uint32_t none = 0;
   if (door_is_real) {
      file = door_open_buffers();
      ROW("E36", from_fd(fd, 0, 0, &none));
      door_close(file);
      file = mine;
   } else {
      rows_aside("E36", "needs a driver without syncobjs beside this one");
   }
}

static void bad_arguments(uint32_t s, int fd)
{
   uint32_t none = 0;
   int ignored, zero = open("/dev/null", O_RDWR | O_CLOEXEC);
   ROW("E9", from_fd(-1, 0, 0, &none));
   ROW("E10", from_fd(zero, 0, 0, &none));
   close(zero);
   if (door_fd(file) >= 0)
      ROW("E11", from_fd(door_fd(file), 0, 0, &none));
   else
      rows_aside("E11", "no descriptor in process; the preloaded run has the row");
   ROW("E12", to_fd(77, 0, 0, &ignored));
   ROW("E13", to_fd(s, 4, 0, &ignored));
   ROW("E14", from_fd(fd, 4, 0, &none));
   struct agx_uapi_syncobj_handle padded = {s, 0, 0, 1, 0};
   ROW("E15", REQUEST(SYNCOBJ_HANDLE_TO_FD, padded));
   ROW("E16", to_fd(s, 0, 3, &ignored));
   without_syncobjs(fd);
}

/* Others with the same object: another open file, another process. */
static void shared(uint32_t s, int fd)
{
   struct door_file *mine = file;
   uint32_t theirs = 0;
   file = door_open();
   ROW("E32", wait_one(s, 0, 0));
   ROW("E33", from_fd(fd, 0, 0, &theirs), "handle=%u query=%llu", theirs, value_of(theirs));
   signal_at(theirs, 100);
   door_close(file);
   file = mine;
   ROW("E34", 0, "query=%llu", value_of(s));
   pid_t child = fork();
   if (child == 0) {
      uint32_t again = 0;
      if (from_fd(fd, 0, 0, &again) == 0)
         signal_at(again, 200);
      _exit(0);
   }
   ROW("E35", wait_at(s, 200, WFS, FOREVER));
   assert_int_equal(waitpid(child, NULL, 0), child);
}

void rows_of_descriptors(void **state)
{
   uint32_t s = create(0), second = 0, third = 0;
   int fd;
   ROW("E1", to_fd(s, 0, 0, &fd), "cloexec=%d", is_cloexec(fd));
   looks(fd);
   ROW("E5", from_fd(fd, 0, 0, &second), "new handle differs=%d", second != s);
   ROW("E6", from_fd(fd, 0, 0, &third), "third handle distinct=%d", third != second && third != s);
   signal_at(s, 4);
   ROW("E7", 0, "query(h2)=%llu", value_of(second));
   destroy(s);
   signal_at(second, 6);
   ROW("E8", 0, "query(h3)=%llu", value_of(third));
   bad_arguments(second, fd);
   signal_at(second, 8);
   shared(second, fd);
   close(fd);
}

static void looks_of_sync_file(int fd)
{
   char name[64] = "";
   struct pollfd poller = {.fd = fd, .events = POLLIN};
   struct sync_file_info info = {0};
   assert_int_equal(poll(&poller, 1, 0), 1);
   assert_int_equal(poller.revents, POLLIN);
   assert_int_equal(door_fd_ioctl(fd, SYNC_IOC_FILE_INFO, &info), 0);
   assert_int_equal(info.status, 1);
   assert_int_equal(info.num_fences, 1);
   int stem = (int)strcspn(info.name, "0123456789"); /* before the numbers of a fence */
   if (door_is_real)
      ROW("E19", 0, "n=1 rev=%#x status=%d num_fences=%u name=%.*s", (unsigned)poller.revents,
          info.status, info.num_fences, stem, info.name);
   else
      rows_aside("E19", "names what the kernel takes for the driver; all else is asserted");
   door_name(fd, name, sizeof(name));
   ROW("E20", 0, "%s", name);
   struct sync_merge_data merge = {.name = "merged", .fd2 = fd};
   ROW("E21", door_fd_ioctl(fd, SYNC_IOC_MERGE, &merge), "fd>=0:%d", merge.fence >= 0);
   close(merge.fence);
}

void rows_of_sync_files(void **state)
{
   uint32_t s = create(0), empty = create(0), none = 0, unknown = 77;
   int fd, object_fd, ignored;
   ROW("E17", to_fd(empty, 1, 0, &ignored));
   signal_at(s, 6);
   assert_int_equal(to_fd(s, 0, 0, &object_fd), 0);
   ROW("E18", to_fd(s, 1, 0, &fd), "cloexec=%d", is_cloexec(fd));
   looks_of_sync_file(fd);
   ROW("E22", from_fd(fd, 1, 0, &empty), "bwait=%s", errno_name(wait_one(empty, 0, 0)));
   ROW("E23", from_fd(fd, 1, 0, &unknown));
   ROW("E24", from_fd(object_fd, 1, 0, &empty));
   ROW("E25", from_fd(fd, 0, 0, &none));
   ROW("E26", from_fd(-1, 1, 0, &empty));
   close(fd);
   ROW("E27", to_fd(s, 1, 0, &fd));
   close(fd);
   ROW("E28", to_fd(s, 3, 6, &fd));
   ROW("E29", to_fd(s, 3, 99, &ignored));
   ROW("E30", to_fd(s, 2, 6, &ignored));
   ROW("E31", from_fd(fd, 3, 8, &s), "query=%llu", value_of(s));
   close(fd);
   close(object_fd);
}

static int count_of(int fd)
{
   uint64_t count = 0;
   return read(fd, &count, sizeof(count)) == sizeof(count) ? (int)count : 0;
}

void rows_of_eventfds(void **state)
{
   int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), ends[2];
   uint32_t s = create(0), t = create(0), doomed = create(0), kept = create(0);
   assert_int_equal(pipe(ends), 0);
   ROW("V1", arm_eventfd(s, 0, fd, 0, 0), "count=%d", count_of(fd));
   ROW("V2", signal_one(s), "count=%d", count_of(fd));
   ROW("V3", arm_eventfd(s, 0, fd, 0, 0), "count=%d", count_of(fd));
   ROW("V4", arm_eventfd(s, 0, fd, AVAILABLE, 0), "count=%d", count_of(fd));
   ROW("V5", arm_eventfd(s, 0, fd, ALL, 0), "count=%d", count_of(fd));
   ROW("V6", arm_eventfd(s, 0, fd, 0, 1), "count=%d", count_of(fd));
   ROW("V7", arm_eventfd(77, 0, fd, 0, 0));
   ROW("V8", arm_eventfd(s, 0, -1, 0, 0));
   ROW("V9", arm_eventfd(s, 0, ends[0], 0, 0));
   close(ends[0]);
   close(ends[1]);
   arm_eventfd(t, 5, fd, 0, 0);
   ROW("V10", signal_at(t, 3), "count=%d", count_of(fd));
   ROW("V11", signal_at(t, 7), "count=%d", count_of(fd));
   for (uint64_t point = 8; point <= 10; point++)
      arm_eventfd(t, point, fd, 0, 0);
   ROW("V12", signal_at(t, 10), "count=%d", count_of(fd));
   arm_eventfd(doomed, 1, fd, 0, 0);
   ROW("V13", destroy(doomed), "count=%d", count_of(fd));
   arm_eventfd(kept, 5, fd, 0, 0);
   ROW("V14", reset(kept), "count=%d", count_of(fd));
   ROW("V15", signal_at(kept, 5), "count=%d", count_of(fd));
   arm_eventfd(kept, 9, fd, 0, 0);
   close(fd);
   ROW("V16", signal_at(kept, 9));
}
