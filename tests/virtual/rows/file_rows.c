/* SPDX-License-Identifier: MIT
 *
 * Rows F: which flags make a point count, and what the sync files of points show while
 * their fences are pending and later.
 */
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>

#include "rows/rows.h"

#define SYNC_FILE AGX_UAPI_SYNCOBJ_SYNC_FILE
#define TIMELINE  AGX_UAPI_SYNCOBJ_TIMELINE

/* A descriptor or its error; the descriptor is closed with the next one. */
static int exported(uint32_t handle, uint32_t flags, uint64_t point)
{
   static int last = -1;
   if (last >= 0)
      close(last);
   int result = to_fd(handle, flags, point, &last);
   last = result ? -1 : last;
   return result;
}

void rows_of_file_flags(void **state)
{
   uint32_t s = create(0), none = 0, copy = create(0);
   int object, fence;
   signal_at(s, 6);
   assert_int_equal(to_fd(s, 0, 0, &object), 0);
   assert_int_equal(to_fd(s, SYNC_FILE, 0, &fence), 0);
   ROW("F1", exported(s, TIMELINE, 0));
   ROW("F2", exported(s, SYNC_FILE, 6));
   ROW("F3", exported(s, SYNC_FILE, 99));
   ROW("F4", exported(s, SYNC_FILE | TIMELINE, 0));
   ROW("F5", from_fd(object, TIMELINE, 0, &none));
   ROW("F6", from_fd(object, TIMELINE, 8, &none));
   ROW("F7", from_fd(object, 0, 8, &none));
   signal_at(copy, 3);
   ROW("F8", from_fd(fence, SYNC_FILE, 8, &copy), "query=%llu last=%llu", value_of(copy),
       last_of(copy));
   signal_at(copy, 4);
   ROW("F9", from_fd(fence, SYNC_FILE | TIMELINE, 0, &copy), "query=%llu last=%llu", value_of(copy),
       last_of(copy));
   signal_at(copy, 9);
   ROW("F10", from_fd(fence, SYNC_FILE | TIMELINE, 5, &copy), "query=%llu last=%llu",
       value_of(copy), last_of(copy));
   close(object);
   close(fence);
}

/* What a sync file tells of itself, without names. */
static const char *look(int fd, char text[64])
{
   struct sync_file_info info = {0};
   struct pollfd poller = {.fd = fd, .events = POLLIN};
   assert_int_equal(door_fd_ioctl(fd, SYNC_IOC_FILE_INFO, &info), 0);
   int ready = poll(&poller, 1, 0);
   snprintf(text, 64, "fences=%u status=%d ready=%d", info.num_fences, info.status, ready);
   return text;
}

/* By a binary syncobj, which every kernel can. */
static int point_file(uint32_t handle, uint64_t value)
{
   uint32_t binary = create(0);
   int fd;
   assert_int_equal(transfer(handle, value, binary, 0, 0), 0);
   assert_int_equal(to_fd(binary, SYNC_FILE, 0, &fd), 0);
   destroy(binary);
   return fd;
}

static void fire_and_wait(unsigned stream, uint32_t handle)
{
   door_fire(stream);
   assert_int_equal(wait_one(handle, 0, FOREVER), 0);
}

void rows_of_point_files(void **state)
{
   uint32_t first = create(0), second = create(0), t = create(0);
   char text[64];
   door_pend(file, 0, first, 0);
   door_pend(file, 1, second, 0);
   assert_int_equal(transfer(first, 0, t, 1, 0), 0);
   assert_int_equal(transfer(second, 0, t, 2, 0), 0);
   signal_at(t, 3);
   int files[] = {point_file(t, 1), point_file(t, 2), point_file(t, 3)};
   ROW("F20", 0, "%s", look(files[0], text));
   ROW("F21", 0, "%s", look(files[1], text));
   ROW("F22", 0, "%s", look(files[2], text));
   fire_and_wait(1, second);
   ROW("F23", 0, "%s", look(files[1], text));
   ROW("F24", 0, "%s", look(files[2], text));
   fire_and_wait(0, first);
   assert_int_equal(wait_at(t, 3, 0, FOREVER), 0);
   ROW("F25", 0, "%s", look(files[0], text));
   ROW("F26", 0, "%s", look(files[1], text));
   ROW("F27", 0, "%s", look(files[2], text));
   for (unsigned i = 0; i < 3; i++)
      close(files[i]);
   int again = point_file(t, 2);
   ROW("F28", 0, "%s", look(again, text));
   close(again);
   ROW("F29", transfer(t, 1, first, 5, 0), "query=%llu", value_of(first));
}

static void look_at_point(const char *id, uint32_t handle, uint64_t value)
{
   char text[64];
   int fd = point_file(handle, value);
   ROW(id, 0, "%s", look(fd, text));
   close(fd);
}

/* A point whose fence is done is left out as soon as there is a later one. */
void rows_of_forgotten_points(void **state)
{
   uint32_t first = create(0), second = create(0), t = create(0);
   door_pend(file, 0, first, 0);
   door_pend(file, 1, second, 0);
   assert_int_equal(transfer(first, 0, t, 1, 0), 0);
   assert_int_equal(transfer(second, 0, t, 2, 0), 0);
   signal_at(t, 3);
   fire_and_wait(1, second);
   look_at_point("F30", t, 1);
   look_at_point("F31", t, 2);
   look_at_point("F32", t, 3);
   fire_and_wait(0, first);
   assert_int_equal(wait_at(t, 3, 0, FOREVER), 0);
   uint32_t u = create(0), third = create(0);
   signal_at(u, 1);
   door_pend(file, 0, third, 0);
   assert_int_equal(transfer(third, 0, u, 2, 0), 0);
   look_at_point("F33", u, 1);
   look_at_point("F34", u, 2);
   fire_and_wait(0, third);
}

static int merged(int a, int b)
{
   struct sync_merge_data merge = {.name = "both", .fd2 = b};
   assert_int_equal(door_fd_ioctl(a, SYNC_IOC_MERGE, &merge), 0);
   return merge.fence;
}

static int ask_for(int fd, uint32_t capacity, uint32_t *out_fences)
{
   struct sync_fence_info fences[4] = {0};
   struct sync_file_info info = {.num_fences = capacity, .sync_fence_info = (uintptr_t)fences};
   int result = door_fd_ioctl(fd, SYNC_IOC_FILE_INFO, &info);
   *out_fences = info.num_fences;
   return result;
}

void rows_of_merged_files(void **state)
{
   uint32_t first = create(0), second = create(0), done = create(0), count;
   char text[64];
   door_pend(file, 0, first, 0);
   door_pend(file, 1, second, 0);
   signal_one(done);
   int a = point_file(first, 0), b = point_file(second, 0), c = point_file(done, 0);
   int both = merged(a, b), with_done = merged(a, c), all_done = merged(c, c);
   int nested = merged(both, with_done);
   ROW("F40", 0, "%s", look(both, text));
   ROW("F41", 0, "%s", look(with_done, text));
   ROW("F42", 0, "%s", look(all_done, text));
   ROW("F43", 0, "%s", look(nested, text));
   ROW("F44", ask_for(both, 1, &count));
   ROW("F45", ask_for(both, 4, &count), "fences=%u", count);
   fire_and_wait(0, first);
   ROW("F46", 0, "%s", look(both, text));
   ROW("F47", 0, "%s", look(with_done, text));
   fire_and_wait(1, second);
   ROW("F48", 0, "%s", look(both, text));
   const int files[] = {a, b, c, both, with_done, all_done, nested};
   for (unsigned i = 0; i < AGX_COUNT(files); i++)
      close(files[i]);
}

static unsigned long long count_of(int fd)
{
   uint64_t count = 0;
   return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

/* What eventfds hear of points whose syncobj gets another fence meanwhile. */
void rows_of_late_eventfds(void **state)
{
   int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
   uint32_t t = create(0), u = create(0), v = create(0), w = create(0);
   ROW("F60", arm_eventfd(t, 5, fd, 0, 0), "count=%llu", count_of(fd));
   ROW("F61", signal_one(t), "count=%llu", count_of(fd));
   ROW("F62", signal_at(t, 4), "count=%llu", count_of(fd));
   ROW("F63", signal_at(t, 5), "count=%llu", count_of(fd));
   ROW("F64", arm_eventfd(u, 0, fd, 0, 0), "count=%llu", count_of(fd));
   ROW("F65", signal_at(u, 1), "count=%llu", count_of(fd));
   door_pend(file, 0, v, 10);
   arm_eventfd(v, 10, fd, 0, 0);
   ROW("F66", reset(v), "count=%llu", count_of(fd));
   door_pend(file, 1, w, 10);
   ROW("F67", arm_eventfd(w, 7, fd, AVAILABLE, 0), "count=%llu", count_of(fd));
   ROW("F68", arm_eventfd(w, 11, fd, AVAILABLE, 0), "count=%llu", count_of(fd));
   ROW("F69", signal_at(w, 11), "count=%llu", count_of(fd));
   fire_and_wait(1, w);
   door_fire(0);
   close(fd);
}
