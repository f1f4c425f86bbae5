/* SPDX-License-Identifier: MIT
 *
 * Syncobjs beyond the recorded rows (rows/): what a client may overdo.
 */
#include <signal.h>
#include <sys/syscall.h>

#include "device.h"
#include "rows/machine.h"

static int transfer(struct device *device, uint32_t handle, uint64_t from, uint64_t to)
{
   struct agx_uapi_syncobj_transfer args = {handle, handle, from, to, 0, 0};
   return CALL(device, SYNCOBJ_TRANSFER, args);
}

/* A long chain of points that all wait for the first must not cost the host's stack. */
static void a_long_chain_completes_and_goes(void **state)
{
   struct device device = device_open(machine_run);
   uint32_t t = make_syncobj(&device);
   struct agx_uapi_sync out = {AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, t, 1};
   struct compute_record command = compute_command(0);
   machine_close(0);
   assert_int_equal(submit(&device, &command, &out, 0, 1), 0);
   for (uint64_t value = 2; value < 50000; value++)
      assert_int_equal(transfer(&device, t, value - 1, value), 0);
   assert_int_equal(query(&device, t, 0), 0);
   machine_fire(0);
   assert_int_equal(wait_point(&device, t, 49999, INT64_MAX, 0), 0);
   assert_int_equal(query(&device, t, 0), 49999);
   device_close(&device);
}

static void on_signal(int number) {}

static timer_t ring(int number, long after_ns)
{
   timer_t timer;
   struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = number};
   struct itimerspec once = {.it_value.tv_nsec = after_ns};
   assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
   timer_settime(timer, 0, &once, NULL);
   return timer;
}

/* The handler of the signal that came decides, whatever others there are. */
static void each_signal_restarts_for_itself(void **state)
{
   if (syscall(449 /* futex_waitv */, NULL, 0, 0, NULL, 0) < 0 && errno != EINVAL)
      skip(); /* this host can't tell signals apart */
   struct device device = device_open(machine_run);
   uint32_t empty = make_syncobj(&device);
   struct sigaction restarts = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before[2];
   struct sigaction interrupts = {.sa_handler = on_signal};
   sigaction(SIGUSR1, &restarts, &before[0]);
   sigaction(SIGUSR2, &interrupts, &before[1]);
   timer_t timer = ring(SIGUSR1, 10000000);
   const uint32_t wfs = AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT;
   assert_int_equal(wait_syncobj(&device, empty, now_ns() + 50000000, wfs), -ETIME);
   timer_delete(timer);
   timer = ring(SIGUSR2, 10000000);
   assert_int_equal(wait_syncobj(&device, empty, INT64_MAX, wfs), -EINTR);
   timer_delete(timer);
   sigaction(SIGUSR1, &before[0], NULL);
   sigaction(SIGUSR2, &before[1], NULL);
   device_close(&device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_long_chain_completes_and_goes),
      cmocka_unit_test(each_signal_restarts_for_itself),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
