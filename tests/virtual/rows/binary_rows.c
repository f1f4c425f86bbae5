/* SPDX-License-Identifier: MIT
 *
 * Rows B: binary syncobjs and waits for them.
 */
#include <signal.h>

#include "rows/rows.h"

static int destroy_padded(uint32_t handle)
{
   return REQUEST(SYNCOBJ_DESTROY, (struct agx_uapi_syncobj_destroy){handle, 1});
}

static void bad_pointers(uint32_t handle)
{
   ROW("B18", wait_array((const uint32_t *)BAD_POINTER, 1, 0, 0));
   ROW("B19", wait_array((const uint32_t *)BAD_POINTER, 1u << 30, 0, 0));
   ROW("B20", door_ioctl(file, AGX_IOCTL_SYNCOBJ_WAIT, (void *)BAD_POINTER));
}

static void arrays(uint32_t one, uint32_t empty)
{
   const uint32_t mixed[] = {empty, one}, twice[] = {one, one}, half_bad[] = {empty, 77};
   const unsigned long tell = AGX_IOCTL_SYNCOBJ_SIGNAL, clear = AGX_IOCTL_SYNCOBJ_RESET;
   ROW("B24", wait_array(mixed, 2, WFS, 0), "fs=%u", first_signaled);
   ROW("B25", wait_array(mixed, 2, 0, 0), "fs=%#x", first_signaled);
   ROW("B26", wait_array(mixed, 2, WFS | ALL, 0), "fs=%#x", first_signaled);
   ROW("B27", wait_array(twice, 2, ALL, 0), "fs=%u", first_signaled);
   ROW("B28", wait_array(twice, 2, 0, 0), "fs=%u", first_signaled);
   ROW("B29", reset(one));
   ROW("B30", wait_one(one, 0, 0));
   ROW("B31", signal_one(77));
   ROW("B32", reset(77));
   ROW("B33", array_call(tell, half_bad, 2, 0), "wait(good)=%s", errno_name(wait_one(empty, 0, 0)));
   ROW("B34", array_call(tell, mixed, 0, 0));
   ROW("B35", array_call(clear, mixed, 0, 0));
   ROW("B36", array_call(tell, mixed, 1, 1));
   ROW("B37", array_call(clear, mixed, 1, 1));
}

void rows_of_binaries(void **state)
{
   uint32_t a = create(0), b = create(0);
   ROW("B1", 0, "handles %u,%u", a, b);
   destroy(a);
   ROW("B2", 0, "handle %u", a = create(0));
   ROW("B3", REQUEST(SYNCOBJ_CREATE, (struct agx_uapi_syncobj_create){0, 2}));
   ROW("B4", destroy(0));
   ROW("B5", destroy(77));
   ROW("B6", destroy_padded(a));
   ROW("B7", wait_one(a, 0, 0), "fs=%#x", first_signaled);
   ROW("B8", wait_one(a, WFS, 0), "fs=%#x", first_signaled);
   ROW("B9", wait_one(a, WFS, in_ms(20)), "fs=%#x", first_signaled);
   ROW("B10", wait_one(a, WFS, -1));
   ROW("B11", wait_one(a, WFS, 1));
   ROW("B12", wait_array(NULL, 0, 0, 0));
   ROW("B13", wait_one(77, 0, 0));
   ROW("B14", wait_one(0, 0, 0));
   ROW("B15", wait_one(a, AVAILABLE, 0));
   ROW("B16", wait_one(a, 0x10, 0));
   bad_pointers(a);
   ROW("B21", signal_one(a));
   ROW("B17", wait_one(a, DEADLINE, 0));
   ROW("B22", wait_one(a, 0, 0), "fs=%u", first_signaled);
   ROW("B23", signal_one(a));
   arrays(a, b);
   uint32_t made_signalled = create(AGX_UAPI_SYNCOBJ_CREATE_SIGNALED);
   ROW("B43", wait_one(made_signalled, 0, 0), "query=%llu", value_of(made_signalled));
}

static void on_alarm(int signal) {}

static void interrupted_waits(void)
{
   struct sigaction action = {.sa_handler = on_alarm}, before;
   sigaction(SIGALRM, &action, &before);
   timer_t timer;
   struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
   assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
   struct itimerspec again = {.it_value.tv_nsec = 20000000, .it_interval.tv_nsec = 20000000};
   timer_settime(timer, 0, &again, NULL);
   ROW("B41", wait_one(create(0), WFS, FOREVER));
   action.sa_flags = SA_RESTART;
   sigaction(SIGALRM, &action, NULL);
   ROW("B42", wait_one(create(0), WFS, in_ms(60)));
   timer_delete(timer);
   sigaction(SIGALRM, &before, NULL);
}

/* Loses its handle while it waits. On a loaded machine the handle may be gone before: then again,
 * with more time to begin. */
static int wait_for_doomed(void)
{
   int result = -ENOENT;
   for (uint32_t ms = 20; result == -ENOENT && ms < 1000; ms *= 2) {
      uint32_t doomed = create(0);
      rows_later_by(LATER_DESTROY, doomed, 0, ms);
      result = wait_one(doomed, WFS, in_ms(3 * ms));
      rows_join();
   }
   return result;
}

void rows_of_waits(void **state)
{
   uint32_t s = create(0), t = create(0);
   rows_later(LATER_SIGNAL, s, 0);
   ROW("B38", wait_one(s, WFS, in_ms(20000)), "fs=%u", first_signaled);
   rows_join();
   reset(s);
   rows_later(LATER_SIGNAL, s, 0);
   ROW("B39", wait_one(s, WFS, FOREVER));
   rows_join();
   ROW("B40", wait_for_doomed());
   interrupted_waits();

   rows_later(LATER_POINT, t, 20);
   ROW("T21", wait_at(t, 15, WFS, FOREVER), "query=%llu", value_of(t));
   rows_join();
   rows_later(LATER_POINT, t, 30);
   int waited = wait_at(t, 40, WFS, in_ms(60));
   rows_join(); /* who signals may be slower than the wait */
   ROW("T22", waited, "query=%llu", value_of(t));
   rows_later(LATER_POINT, t, 50);
   ROW("T23", wait_at(t, 50, AVAILABLE, FOREVER));
   rows_join();
}
