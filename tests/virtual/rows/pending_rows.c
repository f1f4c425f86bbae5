/* SPDX-License-Identifier: MIT
 *
 * Rows P: fences that stay pending, which here are submissions that the machine holds.
 */
#include <linux/sync_file.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "rows/rows.h"

static unsigned long long count_of(int fd)
{
   uint64_t count = 0;
   return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static void fire_and_see(unsigned stream, uint32_t handle)
{
   door_fire(stream);
   assert_int_equal(wait_one(handle, 0, FOREVER), 0);
}

static int look(int fd, struct pollfd *poller, struct sync_file_info *info)
{
   *poller = (struct pollfd){.fd = fd, .events = POLLIN};
   *info = (struct sync_file_info){0};
   assert_int_equal(door_fd_ioctl(fd, SYNC_IOC_FILE_INFO, info), 0);
   return poll(poller, 1, 0);
}

void rows_of_pending_fences(void **state)
{
   int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), sync_fd, ready;
   uint32_t source = create(0), p = create(0);
   struct pollfd poller;
   struct sync_file_info info;
   door_pend(file, 0, source, 0);
   ROW("P0", to_fd(source, 1, 0, &sync_fd));
   ROW("P1", from_fd(sync_fd, 1, 0, &p));
   close(sync_fd);
   ROW("P2", wait_one(p, 0, 0));
   ROW("P3", wait_one(p, 0, in_ms(20)));
   ROW("P4", wait_at(p, 0, AVAILABLE, 0));
   ROW("P4b", 0, "%llu last=%llu", value_of(p), last_of(p));
   int exported = to_fd(p, 1, 0, &sync_fd);
   ready = look(sync_fd, &poller, &info);
   ROW("P5", exported, "n=%d status=%d", ready, info.status);
   ROW("P6", arm_eventfd(p, 0, fd, AVAILABLE, 0), "count=%llu", count_of(fd));
   ROW("P7", arm_eventfd(p, 0, fd, 0, 0), "count=%llu", count_of(fd));
   rows_later(LATER_FIRE, 0, 0);
   ROW("P8", wait_one(p, 0, FOREVER));
   rows_join();
   ROW("P9", 0, "count=%llu", count_of(fd));
   ready = look(sync_fd, &poller, &info);
   ROW("P10", 0, "n=%d rev=%#x status=%d", ready, poller.revents, info.status);
   close(sync_fd);
   close(fd);
}

static void two_pending_points(void)
{
   uint32_t first = create(0), second = create(0), t = create(0), b = create(0);
   door_pend(file, 0, first, 0);
   door_pend(file, 1, second, 0);
   ROW("P11", transfer(first, 0, t, 10, 0), "query=%llu last=%llu", value_of(t), last_of(t));
   ROW("P12", wait_at(t, 10, 0, 0));
   ROW("P13", wait_at(t, 7, 0, 0));
   ROW("P14", wait_at(t, 10, AVAILABLE, 0));
   ROW("P15", wait_at(t, 11, 0, 0));
   ROW("P16", signal_at(t, 20), "query=%llu last=%llu", value_of(t), last_of(t));
   ROW("P17", wait_at(t, 20, 0, 0));
   ROW("P18", wait_at(t, 15, 0, 0));
   ROW("P18b", wait_one(t, 0, 0));
   ROW("P19", transfer(second, 0, t, 30, 0), "query=%llu last=%llu", value_of(t), last_of(t));
   fire_and_see(1, second);
   ROW("P20", 0, "query=%llu wait30=%s", value_of(t), errno_name(wait_at(t, 30, 0, 0)));
   ROW("P20b", transfer(t, 30, b, 0, 0), "bwait=%s", errno_name(wait_one(b, 0, 0)));
   fire_and_see(0, first);
   ROW("P21", 0, "query=%llu wait30=%s wait20=%s", value_of(t), errno_name(wait_at(t, 30, 0, 0)),
       errno_name(wait_at(t, 20, 0, 0)));
   assert_int_equal(wait_one(b, 0, 0), 0);
}

static void disorder(uint32_t t)
{
   door_pend(file, 0, t, 10);
   ROW("P22", signal_at(t, 5), "query=%llu last=%llu wait5=%s wait10=%s", value_of(t), last_of(t),
       errno_name(wait_at(t, 5, 0, 0)), errno_name(wait_at(t, 10, 0, 0)));
   fire_and_see(0, t);
   ROW("P23", 0, "query=%llu wait5=%s wait10=%s wait11=%s", value_of(t),
       errno_name(wait_at(t, 5, 0, 0)), errno_name(wait_at(t, 10, 0, 0)),
       errno_name(wait_at(t, 11, 0, 0)));
}

/* Is reset while something waits for its point. On a loaded machine the point may be gone before:
 * then again, with more time to begin. */
static int wait_for_reset(uint32_t u)
{
   int result = -EINVAL;
   for (uint32_t ms = 20; result == -EINVAL && ms < 1000; ms *= 2) {
      door_pend(file, 0, u, 10);
      rows_later_by(LATER_RESET, u, 0, ms);
      result = wait_at(u, 10, 0, in_ms(3 * ms));
      rows_join();
   }
   return result;
}

void rows_of_pending_points(void **state)
{
   uint32_t s = create(0), u = create(0), v = create(0);
   two_pending_points();
   disorder(create(0));
   door_pend(file, 0, s, 10);
   rows_later(LATER_FIRE, 0, 0);
   ROW("P24", wait_at(s, 7, 0, FOREVER), "query=%llu", value_of(s));
   rows_join();
   ROW("P25", wait_for_reset(u), "query=%llu", value_of(u));
   door_pend(file, 1, v, 10);
   signal_one(v);
   ROW("P26", 0, "query=%llu bwait=%s wait10=%s", value_of(v), errno_name(wait_one(v, 0, 0)),
       errno_name(wait_at(v, 10, 0, 0)));
   door_fire(0);
   door_fire(1);
   uint32_t pending = create(0), done = create(0), three[] = {pending, done, pending};
   const uint64_t ones[] = {1, 1, 1};
   door_pend(file, 0, pending, 1);
   signal_at(done, 1);
   ROW("P27", wait_points(three, ones, 3, 0, 0), "fs=%u", first_signaled);
   ROW("P28", wait_points(three, ones, 3, ALL, 0), "fs=%#x", first_signaled);
   door_fire(0);
   assert_int_equal(wait_points(three, ones, 3, ALL, FOREVER), 0);
   if (!door_is_real) {
      rows_aside("P29", "vgem's own: it signals its fences by itself after ten seconds");
      return;
   }
   uint32_t forgotten = create(0);
   struct timespec start, end;
   door_pend(file, 0, forgotten, 0);
   clock_gettime(CLOCK_MONOTONIC, &start);
   long long result = wait_one(forgotten, 0, FOREVER);
   clock_gettime(CLOCK_MONOTONIC, &end);
   assert_true(end.tv_sec - start.tv_sec >= 7);
   ROW("P29", result, "fire->%s", errno_name(door_fire(0)));
}
