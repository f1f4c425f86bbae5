/* SPDX-License-Identifier: MIT
 *
 * Rows T and X: timelines, and transfers between syncobjs.
 */
#include "rows/rows.h"

static void out_of_order(uint32_t t)
{
   ROW("T1", 0, "%llu", value_of(t));
   ROW("T2", signal_at(t, 5), "query=%llu last=%llu", value_of(t), last_of(t));
   ROW("T3", signal_at(t, 3), "query=%llu last=%llu", value_of(t), last_of(t));
   ROW("T3a", wait_at(t, 5, 0, 0), "fs=%u", first_signaled);
   ROW("T3b", wait_at(t, 3, 0, 0));
   ROW("T3c", wait_at(t, 6, 0, 0));
   ROW("T4", signal_at(t, 5), "query=%llu last=%llu", value_of(t), last_of(t));
   ROW("T5", signal_at(t, 9), "query=%llu wait9=%s wait7=%s", value_of(t),
       errno_name(wait_at(t, 9, 0, 0)), errno_name(wait_at(t, 7, 0, 0)));
   ROW("T6", signal_at(t, 0), "query=%llu", value_of(t));
   ROW("T6b", signal_at(t, 12), "query=%llu", value_of(t));
}

void rows_of_timelines(void **state)
{
   uint32_t t = create(0);
   out_of_order(t);
   const uint32_t pair[] = {t, t};
   const uint64_t done_then_not[] = {12, 13}, not_then_done[] = {99, 12}, both_done[] = {12, 3};
   ROW("T7", wait_at(t, 12, 0, 0), "fs=%u", first_signaled);
   ROW("T8", wait_at(t, 4, 0, 0));
   ROW("T9", wait_at(t, 0, 0, 0));
   ROW("T10", wait_at(t, 13, 0, 0), "fs=%#x", first_signaled);
   ROW("T11", wait_at(t, 13, WFS, 0));
   ROW("T12", wait_at(t, 13, WFS, in_ms(20)));
   ROW("T13", wait_at(t, 12, AVAILABLE, 0));
   ROW("T14", wait_at(t, 13, AVAILABLE, 0));
   ROW("T15", wait_at(t, 13, AVAILABLE, in_ms(20)));
   ROW("T16", wait_at(t, 12, 0x10, 0));
   ROW("T16b", wait_at(t, 12, DEADLINE, 0));
   ROW("T17", wait_points(&t, NULL, 1, 0, 0));
   ROW("T18", wait_points(&t, (const uint64_t *)BAD_POINTER, 1, 0, 0));
   ROW("T19", wait_points(NULL, NULL, 0, 0, 0));
   ROW("T20", wait_at(77, 1, 0, 0));
   ROW("T24", wait_points(pair, done_then_not, 2, 0, 0), "fs=%#x", first_signaled);
   ROW("T25", wait_points(pair, done_then_not, 2, WFS, 0), "fs=%u", first_signaled);
   ROW("T26", wait_points(pair, done_then_not, 2, WFS | ALL, 0), "fs=%#x", first_signaled);
   ROW("T27", wait_points(pair, both_done, 2, ALL, 0), "fs=%u", first_signaled);
   ROW("T28", wait_points(pair, not_then_done, 2, WFS, 0), "fs=%u", first_signaled);
}

static void sizes(uint32_t t)
{
   uint64_t point = 1;
   struct {
      struct agx_uapi_syncobj_timeline_wait args;
      uint64_t extra;
   } wide = {{.handles = (uintptr_t)&t, .points = (uintptr_t)&point, .count_handles = 1}, 77};
   ROW("T49", door_ioctl(file, 0xc02864ca, &wide));
   ROW("T50", door_ioctl(file, 0xc03864ca, &wide), "extra=%llu", (unsigned long long)wide.extra);
   ROW("T51", door_ioctl(file, 0x000064ca, &wide));
   wide.args.pad = 5;
   ROW("T52", door_ioctl(file, AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wide));
}

static void turned_binary(uint32_t b)
{
   signal_one(b);
   ROW("T37", 0, "%llu", value_of(b));
   ROW("T38", wait_at(b, 1, 0, 0));
   ROW("T39", wait_at(b, 7, 0, 0));
   ROW("T40", signal_at(b, 4), "query=%llu bwait=%s", value_of(b), errno_name(wait_one(b, 0, 0)));
   ROW("T41", wait_one(b, 0, 0));
   ROW("T42", signal_one(b), "query=%llu last=%llu wait4=%s wait9=%s", value_of(b), last_of(b),
       errno_name(wait_at(b, 4, 0, 0)), errno_name(wait_at(b, 9, 0, 0)));
   signal_at(b, 6);
   ROW("T43", reset(b), "query=%llu wait1=%s wait0=%s", value_of(b),
       errno_name(wait_at(b, 1, 0, 0)), errno_name(wait_at(b, 0, 0, 0)));
   ROW("T44", signal_at(b, 2), "query=%llu", value_of(b));
   ROW("T45", signal_at(b, UINT64_MAX), "query=%#llx", value_of(b));
   ROW("T46", signal_at(b, 1), "query=%#llx", value_of(b));
}

void rows_of_timeline_arguments(void **state)
{
   const unsigned long ask = AGX_IOCTL_SYNCOBJ_QUERY, tell = AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL;
   uint32_t t = create(0), empty = create(0), bad = 77;
   const uint32_t both[] = {empty, 77}, thrice[] = {empty, empty, empty};
   uint64_t point = 1, value = 0, points[] = {3, 2, 1};
   signal_at(t, 50);
   ROW("T29", timeline_call(ask, &bad, &value, 1, 0));
   ROW("T30", timeline_call(ask, &t, &value, 1, 2));
   ROW("T31", timeline_call(ask, &t, &value, 0, 0));
   ROW("T32", timeline_call(ask, &t, NULL, 1, 0));
   ROW("T33", timeline_call(tell, &t, &point, 1, 1));
   ROW("T34", timeline_call(tell, &t, &point, 0, 0));
   ROW("T35", timeline_call(tell, &t, NULL, 1, 0), "query=%llu", value_of(t));
   ROW("T36", timeline_call(tell, &bad, &point, 1, 0));
   ROW("T48", timeline_call(tell, both, points, 2, 0), "query=%llu", value_of(empty));
   ROW("T47", timeline_call(tell, thrice, points, 3, 0), "query=%llu", value_of(empty));
   turned_binary(create(0));
   sizes(t);
}

/* Waits until another thread has signalled the point. The request gives up after five seconds,
 * which counts only if the signal was there when it began. */
static int transfer_awaited(uint32_t src, uint64_t src_point, uint32_t dst)
{
   int result;
   bool was_over;
   do {
      was_over = rows_is_over();
      result = transfer(src, src_point, dst, 0, WFS);
   } while (result == -ETIME && !was_over);
   return result;
}

void rows_of_transfers(void **state)
{
   uint32_t b = create(0), t = create(0), other = create(0), empty = create(0);
   ROW("X1", transfer(b, 0, t, 3, 0));
   signal_one(b);
   ROW("X2", transfer(b, 0, t, 3, 0), "dst query=%llu", value_of(t));
   reset(b);
   ROW("X3", transfer(t, 3, b, 0, 0), "bwait=%s", errno_name(wait_one(b, 0, 0)));
   ROW("X4", transfer(t, 9, b, 0, 0));
   ROW("X5", transfer(t, 9, b, 0, WFS)); /* which takes five seconds */
   rows_later(LATER_POINT, t, 9);
   ROW("X6", transfer_awaited(t, 9, b), "bwait=%s", errno_name(wait_one(b, 0, 0)));
   rows_join();
   ROW("X7", transfer(t, 9, other, 2, 0), "dst query=%llu", value_of(other));
   ROW("X8", transfer(t, 9, other, 1, 0), "dst query=%llu", value_of(other));
   ROW("X9", transfer(t, 9, other, 3, 0x10));
   struct agx_uapi_syncobj_transfer padded = {t, other, 9, 3, 0, 1};
   ROW("X10", REQUEST(SYNCOBJ_TRANSFER, padded));
   ROW("X11", transfer(77, 0, other, 3, 0));
   ROW("X12", transfer(t, 9, 77, 3, 0));
   ROW("X13", transfer(t, 9, t, 12, 0), "query=%llu", value_of(t));
   ROW("X14", transfer(t, 0, empty, 0, 0), "bwait=%s", errno_name(wait_one(empty, 0, 0)));
}
