/* SPDX-License-Identifier: MIT
 *
 * Syncobjs against what kernel 7.2 was recorded to do. Row names are those of the
 * recording (B binary, T timeline, X transfer, E descriptors, V eventfd, P with fences
 * that stay pending, which here are submissions that the machine holds).
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "device.h"
#include "winsys/virtual/user.h"

#define BAD_POINTER 8
#define NO_INDEX    0xdeadu

#define WFS       AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT
#define ALL       AGX_UAPI_SYNCOBJ_WAIT_ALL
#define AVAILABLE AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE
#define DEADLINE  AGX_UAPI_SYNCOBJ_WAIT_DEADLINE
#define FOREVER   INT64_MAX

#define ROW(name, expected, call)                                                                  \
   do {                                                                                            \
      long long result_ = (long long)(call), expected_ = (long long)(expected);                    \
      if (result_ != expected_)                                                                    \
         fail_msg("row %s: %s: %lld, recorded %lld", name, #call, result_, expected_);             \
   } while (0)

/* A row with a bad pointer, where the host can tell one (emulators can't). */
#define POINTER_ROW(name, call)                                                                    \
   do {                                                                                            \
      if (agxv_user_is_checked())                                                                  \
         ROW(name, -EFAULT, call);                                                                 \
   } while (0)

static struct device device;

/* ---- requests in short ---- */

static uint32_t create(uint32_t flags)
{
   struct agx_uapi_syncobj_create args = {0, flags};
   assert_int_equal(CALL(&device, SYNCOBJ_CREATE, args), 0);
   return args.handle;
}

static int destroy(uint32_t handle)
{
   return CALL(&device, SYNCOBJ_DESTROY, (struct agx_uapi_syncobj_destroy){handle, 0});
}

static uint32_t first_signaled;

static int wait_array(const uint32_t *handles, uint32_t count, uint32_t flags, int64_t until)
{
   struct agx_uapi_syncobj_wait args = {.handles = (uintptr_t)handles,
                                        .count_handles = count,
                                        .flags = flags,
                                        .timeout_nsec = until,
                                        .first_signaled = NO_INDEX};
   int result = CALL(&device, SYNCOBJ_WAIT, args);
   first_signaled = args.first_signaled;
   return result;
}

static int wait_points(const uint32_t *handles, const uint64_t *points, uint32_t count,
                       uint32_t flags, int64_t until)
{
   struct agx_uapi_syncobj_timeline_wait args = {.handles = (uintptr_t)handles,
                                                 .points = (uintptr_t)points,
                                                 .count_handles = count,
                                                 .flags = flags,
                                                 .timeout_nsec = until,
                                                 .first_signaled = NO_INDEX};
   int result = CALL(&device, SYNCOBJ_TIMELINE_WAIT, args);
   first_signaled = args.first_signaled;
   return result;
}

static int wait_one(uint32_t handle, uint32_t flags, int64_t until)
{
   return wait_array(&handle, 1, flags, until);
}

static int wait_at(uint32_t handle, uint64_t value, uint32_t flags, int64_t until)
{
   return wait_points(&handle, &value, 1, flags, until);
}

static int reset(uint32_t handle)
{
   return CALL(&device, SYNCOBJ_RESET, (struct agx_uapi_syncobj_array){(uintptr_t)&handle, 1, 0});
}

static int array_call(unsigned long request, const uint32_t *handles, uint32_t count, uint32_t pad)
{
   struct agx_uapi_syncobj_array args = {(uintptr_t)handles, count, pad};
   return agx_virtual_ioctl(device.file, request, &args);
}

static int timeline_call(unsigned long request, const uint32_t *handles, const uint64_t *points,
                         uint32_t count, uint32_t flags)
{
   struct agx_uapi_syncobj_timeline_array args = {(uintptr_t)handles, (uintptr_t)points, count,
                                                  flags};
   return agx_virtual_ioctl(device.file, request, &args);
}

static uint64_t value_of(uint32_t handle)
{
   return query(&device, handle, 0);
}

static uint64_t last_of(uint32_t handle)
{
   return query(&device, handle, AGX_UAPI_SYNCOBJ_QUERY_LAST_SUBMITTED);
}

static int transfer(uint32_t src, uint64_t src_point, uint32_t dst, uint64_t dst_point,
                    uint32_t flags)
{
   return CALL(&device, SYNCOBJ_TRANSFER,
               (struct agx_uapi_syncobj_transfer){src, dst, src_point, dst_point, flags, 0});
}

static int to_fd(uint32_t handle, uint32_t flags, uint64_t point, int *out_fd)
{
   struct agx_uapi_syncobj_handle args = {handle, flags, -1, 0, point};
   int result = CALL(&device, SYNCOBJ_HANDLE_TO_FD, args);
   *out_fd = args.fd;
   return result;
}

static int from_fd(int fd, uint32_t flags, uint64_t point, uint32_t *handle)
{
   struct agx_uapi_syncobj_handle args = {*handle, flags, fd, 0, point};
   int result = CALL(&device, SYNCOBJ_FD_TO_HANDLE, args);
   *handle = args.handle;
   return result;
}

static int64_t soon(void)
{
   return now_ns() + 20000000;
}

/* ---- another thread that does one thing a little later ---- */

struct later {
   pthread_t thread;
   void (*act)(uint32_t handle, uint64_t value);
   uint32_t handle;
   uint64_t value;
};

static void *act_later(void *argument)
{
   struct later *later = argument;
   nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
   later->act(later->handle, later->value);
   return NULL;
}

static void start_later(struct later *later)
{
   assert_int_equal(pthread_create(&later->thread, NULL, act_later, later), 0);
}

static void later_signal(uint32_t handle, uint64_t value)
{
   signal_syncobj(&device, handle);
}

static void later_point(uint32_t handle, uint64_t value)
{
   signal_point(&device, handle, value);
}

static void later_destroy(uint32_t handle, uint64_t value)
{
   destroy(handle);
}

static void later_reset(uint32_t handle, uint64_t value)
{
   reset(handle);
}

/* ---- fences that stay pending: the machine holds stream n until fire(n) ---- */

static pthread_mutex_t machine_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fired = PTHREAD_COND_INITIALIZER;
static uint64_t open_streams;
static uint32_t spare_queues[2];

static agx_status hold(const struct agx_chip *chip, const struct agxs_memory *memory,
                       const struct agxs_options *options, uint64_t usc_base, uint64_t stream_va,
                       struct agxs_stats *out_stats)
{
   pthread_mutex_lock(&machine_lock);
   while (!(open_streams >> stream_va & 1))
      pthread_cond_wait(&fired, &machine_lock);
   pthread_mutex_unlock(&machine_lock);
   return AGX_OK;
}

static void fire(uint64_t stream)
{
   pthread_mutex_lock(&machine_lock);
   open_streams |= 1ull << stream;
   pthread_cond_broadcast(&fired);
   pthread_mutex_unlock(&machine_lock);
}

/* Makes handle hold a fence (value 0) or gives it a point that is done when stream (0 or
 * 1) fires. */
static void pend(uint64_t stream, uint32_t handle, uint64_t value)
{
   pthread_mutex_lock(&machine_lock);
   open_streams &= ~(1ull << stream);
   pthread_mutex_unlock(&machine_lock);
   struct agx_uapi_sync out = {value ? AGX_UAPI_SYNC_TIMELINE_SYNCOBJ : AGX_UAPI_SYNC_SYNCOBJ,
                               handle, value};
   struct compute_record command = compute_command(stream);
   device.queue = spare_queues[stream];
   assert_int_equal(submit(&device, &command, &out, 0, 1), 0);
}

/* Fires, and waits until the fence is seen to be done through handle's current fence. */
static void fire_and_see(uint64_t stream, uint32_t handle)
{
   fire(stream);
   assert_int_equal(wait_one(handle, 0, FOREVER), 0);
}

static int set_up(void **state)
{
   device = device_open(hold);
   spare_queues[0] = device.queue;
   spare_queues[1] = make_queue(&device, device.vm);
   return 0;
}

static int tear_down(void **state)
{
   fire(0);
   fire(1);
   device_close(&device);
   return 0;
}

static void binary_objects(void **state)
{
   ROW("B1", 1, create(0));
   ROW("B1", 2, create(0));
   ROW("B2", 0, destroy(1));
   ROW("B2", 1, create(0));
   ROW("B3", -EINVAL, CALL(&device, SYNCOBJ_CREATE, (struct agx_uapi_syncobj_create){0, 2}));
   ROW("B4", -EINVAL, destroy(0));
   ROW("B5", -EINVAL, destroy(77));
   ROW("B6", -EINVAL, CALL(&device, SYNCOBJ_DESTROY, (struct agx_uapi_syncobj_destroy){1, 1}));
   ROW("B7", -EINVAL, wait_one(1, 0, 0));
   ROW("B7", NO_INDEX, first_signaled);
   ROW("B8", -ETIME, wait_one(1, WFS, 0));
   ROW("B9", -ETIME, wait_one(1, WFS, soon()));
   ROW("B9", NO_INDEX, first_signaled);
   ROW("B10", -ETIME, wait_one(1, WFS, -1));
   ROW("B11", -ETIME, wait_one(1, WFS, 1));
   ROW("B12", 0, wait_array(NULL, 0, 0, 0));
   ROW("B13", -ENOENT, wait_one(77, 0, 0));
   ROW("B14", -ENOENT, wait_one(0, 0, 0));
   ROW("B15", -EINVAL, wait_one(1, AVAILABLE, 0));
   ROW("B16", -EINVAL, wait_one(1, 0x10, 0));
   POINTER_ROW("B18", wait_array((const uint32_t *)BAD_POINTER, 1, 0, 0));
   ROW("B19", -ENOMEM, wait_array((const uint32_t *)BAD_POINTER, 1u << 30, 0, 0));
   POINTER_ROW("B20", agx_virtual_ioctl(device.file, AGX_IOCTL_SYNCOBJ_WAIT, (void *)BAD_POINTER));
   ROW("B21", 0, signal_syncobj(&device, 1));
   ROW("B17", 0, wait_one(1, DEADLINE, 0));
   ROW("B22", 0, wait_one(1, 0, 0));
   ROW("B22", 0, first_signaled);
   ROW("B23", 0, signal_syncobj(&device, 1));
   const uint32_t mixed[] = {2, 1}, twice[] = {1, 1}, half_bad[] = {2, 77};
   ROW("B24", 0, wait_array(mixed, 2, WFS, 0));
   ROW("B24", 1, first_signaled);
   ROW("B25", -EINVAL, wait_array(mixed, 2, 0, 0));
   ROW("B25", NO_INDEX, first_signaled);
   ROW("B26", -ETIME, wait_array(mixed, 2, WFS | ALL, 0));
   ROW("B26", NO_INDEX, first_signaled);
   ROW("B27", 0, wait_array(twice, 2, ALL, 0));
   ROW("B27", 0, first_signaled);
   ROW("B28", 0, wait_array(twice, 2, 0, 0));
   ROW("B28", 0, first_signaled);
   ROW("B29", 0, reset(1));
   ROW("B30", -EINVAL, wait_one(1, 0, 0));
   ROW("B31", -ENOENT, signal_syncobj(&device, 77));
   ROW("B32", -ENOENT, reset(77));
   ROW("B33", -ENOENT, array_call(AGX_IOCTL_SYNCOBJ_SIGNAL, half_bad, 2, 0));
   ROW("B33", -EINVAL, wait_one(2, 0, 0));
   ROW("B34", -EINVAL, array_call(AGX_IOCTL_SYNCOBJ_SIGNAL, mixed, 0, 0));
   ROW("B35", -EINVAL, array_call(AGX_IOCTL_SYNCOBJ_RESET, mixed, 0, 0));
   ROW("B36", -EINVAL, array_call(AGX_IOCTL_SYNCOBJ_SIGNAL, mixed, 1, 1));
   ROW("B37", -EINVAL, array_call(AGX_IOCTL_SYNCOBJ_RESET, mixed, 1, 1));
   ROW("B43", 0, wait_one(create(1), 0, 0));
   ROW("B43", 0, value_of(3));
}

static void blocked_waits(void **state)
{
   struct later waker = {.act = later_signal, .handle = create(0)};
   start_later(&waker);
   ROW("B38", 0, wait_one(waker.handle, WFS, now_ns() + 20000000000ll));
   ROW("B38", 0, first_signaled);
   pthread_join(waker.thread, NULL);
   reset(waker.handle);
   start_later(&waker);
   ROW("B39", 0, wait_one(waker.handle, WFS, FOREVER));
   pthread_join(waker.thread, NULL);

   struct later destroyer = {.act = later_destroy, .handle = create(0)};
   start_later(&destroyer);
   ROW("B40", -ETIME, wait_one(destroyer.handle, WFS, now_ns() + 60000000));
   pthread_join(destroyer.thread, NULL);

   struct later pointer = {.act = later_point, .handle = create(0), .value = 20};
   start_later(&pointer);
   ROW("T21", 0, wait_at(pointer.handle, 15, WFS, FOREVER));
   pthread_join(pointer.thread, NULL);
   ROW("T21", 20, value_of(pointer.handle));
   pointer.value = 30;
   start_later(&pointer);
   ROW("T22", -ETIME, wait_at(pointer.handle, 40, WFS, now_ns() + 60000000));
   pthread_join(pointer.thread, NULL);
   ROW("T22", 30, value_of(pointer.handle));
   pointer.value = 50;
   start_later(&pointer);
   ROW("T23", 0, wait_at(pointer.handle, 50, AVAILABLE, FOREVER));
   pthread_join(pointer.thread, NULL);
   pointer.value = 90;
   start_later(&pointer);
   uint32_t target = create(0);
   ROW("X6", 0, transfer(pointer.handle, 90, target, 0, WFS));
   ROW("X6", 0, wait_one(target, 0, 0));
   pthread_join(pointer.thread, NULL);
}

static void on_alarm(int signal) {}

static void a_signal_interrupts(void **state)
{
   struct sigaction action = {.sa_handler = on_alarm}, before;
   sigaction(SIGALRM, &action, &before);
   timer_t timer;
   struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
   assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
   struct itimerspec soon_once = {.it_value.tv_nsec = 20000000, .it_interval.tv_nsec = 20000000};
   timer_settime(timer, 0, &soon_once, NULL);
   ROW("B41", -EINTR, wait_one(create(0), WFS, FOREVER));
   action.sa_flags = SA_RESTART;
   sigaction(SIGALRM, &action, NULL);
   ROW("B42", -ETIME, wait_one(create(0), WFS, now_ns() + 60000000));
   timer_delete(timer);
   sigaction(SIGALRM, &before, NULL);
}

static void timelines(void **state)
{
   uint32_t t = create(0);
   ROW("T1", 0, value_of(t));
   ROW("T2", 0, signal_point(&device, t, 5));
   ROW("T2", 5, value_of(t));
   ROW("T2", 5, last_of(t));
   ROW("T3", 0, signal_point(&device, t, 3));
   ROW("T3", 5, value_of(t));
   ROW("T3", 5, last_of(t));
   ROW("T3a", 0, wait_at(t, 5, 0, 0));
   ROW("T3b", 0, wait_at(t, 3, 0, 0));
   ROW("T3c", -EINVAL, wait_at(t, 6, 0, 0));
   ROW("T4", 0, signal_point(&device, t, 5));
   ROW("T4", 5, value_of(t));
   ROW("T5", 0, signal_point(&device, t, 9));
   ROW("T5", 9, value_of(t));
   ROW("T5", 0, wait_at(t, 9, 0, 0));
   ROW("T5", 0, wait_at(t, 7, 0, 0));
   ROW("T6", 0, signal_point(&device, t, 0));
   ROW("T6", 9, value_of(t));
   ROW("T6b", 0, signal_point(&device, t, 12));
   ROW("T6b", 12, value_of(t));
   ROW("T7", 0, wait_at(t, 12, 0, 0));
   ROW("T7", 0, first_signaled);
   ROW("T8", 0, wait_at(t, 4, 0, 0));
   ROW("T9", 0, wait_at(t, 0, 0, 0));
   ROW("T10", -EINVAL, wait_at(t, 13, 0, 0));
   ROW("T10", NO_INDEX, first_signaled);
   ROW("T11", -ETIME, wait_at(t, 13, WFS, 0));
   ROW("T12", -ETIME, wait_at(t, 13, WFS, soon()));
   ROW("T13", 0, wait_at(t, 12, AVAILABLE, 0));
   ROW("T14", -ETIME, wait_at(t, 13, AVAILABLE, 0));
   ROW("T15", -ETIME, wait_at(t, 13, AVAILABLE, soon()));
   ROW("T16", -EINVAL, wait_at(t, 12, 0x10, 0));
   ROW("T16b", 0, wait_at(t, 12, DEADLINE, 0));
   ROW("T17", 0, wait_points(&t, NULL, 1, 0, 0));
   POINTER_ROW("T18", wait_points(&t, (const uint64_t *)BAD_POINTER, 1, 0, 0));
   ROW("T19", 0, wait_points(NULL, NULL, 0, 0, 0));
   ROW("T20", -ENOENT, wait_at(77, 1, 0, 0));
   const uint32_t pair[] = {t, t};
   const uint64_t done_then_not[] = {12, 13}, not_then_done[] = {99, 12}, both_done[] = {12, 3};
   ROW("T24", -EINVAL, wait_points(pair, done_then_not, 2, 0, 0));
   ROW("T25", 0, wait_points(pair, done_then_not, 2, WFS, 0));
   ROW("T25", 0, first_signaled);
   ROW("T26", -ETIME, wait_points(pair, done_then_not, 2, WFS | ALL, 0));
   ROW("T26", NO_INDEX, first_signaled);
   ROW("T27", 0, wait_points(pair, both_done, 2, ALL, 0));
   ROW("T27", 0, first_signaled);
   ROW("T28", 0, wait_points(pair, not_then_done, 2, WFS, 0));
   ROW("T28", 1, first_signaled);
}

static void timeline_arguments(void **state)
{
   uint32_t t = create(0), bad = 77, both[] = {t, 77}, thrice[] = {t, t, t};
   uint64_t point = 1, value, points[] = {3, 2, 1};
   const unsigned long ask = AGX_IOCTL_SYNCOBJ_QUERY, tell = AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL;
   ROW("T29", -ENOENT, timeline_call(ask, &bad, &value, 1, 0));
   ROW("T30", -EINVAL, timeline_call(ask, &t, &value, 1, 2));
   ROW("T31", -EINVAL, timeline_call(ask, &t, &value, 0, 0));
   ROW("T32", -EFAULT, timeline_call(ask, &t, NULL, 1, 0));
   ROW("T33", -EINVAL, timeline_call(tell, &t, &point, 1, 1));
   ROW("T34", -EINVAL, timeline_call(tell, &t, &point, 0, 0));
   ROW("T36", -ENOENT, timeline_call(tell, &bad, &point, 1, 0));
   ROW("T48", -ENOENT, timeline_call(tell, both, points, 2, 0));
   ROW("T48", 0, value_of(t));
   ROW("T47", 0, timeline_call(tell, thrice, points, 3, 0));
   ROW("T47", 3, value_of(t));
   ROW("T35", 0, timeline_call(tell, &t, NULL, 1, 0));
   ROW("T35", 3, value_of(t));
   ROW("T45", 0, signal_point(&device, t, UINT64_MAX));
   ROW("T45", -1, value_of(t));
   ROW("T46", 0, signal_point(&device, t, 1));
   ROW("T46", -1, value_of(t));

   struct {
      struct agx_uapi_syncobj_timeline_wait args;
      uint64_t extra;
   } wide = {{.handles = (uintptr_t)&t, .points = (uintptr_t)&point, .count_handles = 1, .pad = 5},
             77};
   ROW("T49", 0, agx_virtual_ioctl(device.file, 0xc02864ca, &wide));
   ROW("T50", 0, agx_virtual_ioctl(device.file, 0xc03864ca, &wide));
   ROW("T50", 77, wide.extra);
   ROW("T51", 0, agx_virtual_ioctl(device.file, 0x000064ca, &wide));
   ROW("T52", 0, agx_virtual_ioctl(device.file, AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wide));
}

static void binary_and_timeline_mixed(void **state)
{
   uint32_t b = create(0);
   signal_syncobj(&device, b);
   ROW("T37", 0, value_of(b));
   ROW("T38", -EINVAL, wait_at(b, 1, 0, 0));
   ROW("T39", -EINVAL, wait_at(b, 7, 0, 0));
   ROW("T40", 0, signal_point(&device, b, 4));
   ROW("T40", 4, value_of(b));
   ROW("T40", 0, wait_one(b, 0, 0));
   ROW("T41", 0, wait_one(b, 0, 0));
   ROW("T42", 0, signal_syncobj(&device, b));
   ROW("T42", 0, value_of(b));
   ROW("T42", 0, last_of(b));
   ROW("T42", -EINVAL, wait_at(b, 4, 0, 0));
   ROW("T42", -EINVAL, wait_at(b, 9, 0, 0));
   signal_point(&device, b, 6);
   ROW("T43", 0, reset(b));
   ROW("T43", 0, value_of(b));
   ROW("T43", -EINVAL, wait_at(b, 1, 0, 0));
   ROW("T43", -EINVAL, wait_at(b, 0, 0, 0));
   ROW("T44", 0, signal_point(&device, b, 2));
   ROW("T44", 2, value_of(b));
}

static void transfers(void **state)
{
   uint32_t b = create(0), t = create(0), other = create(0), empty = create(0);
   ROW("X1", -EINVAL, transfer(b, 0, t, 3, 0));
   signal_syncobj(&device, b);
   ROW("X2", 0, transfer(b, 0, t, 3, 0));
   ROW("X2", 3, value_of(t));
   reset(b);
   ROW("X3", 0, transfer(t, 3, b, 0, 0));
   ROW("X3", 0, wait_one(b, 0, 0));
   ROW("X4", -EINVAL, transfer(t, 9, b, 0, 0));
   signal_point(&device, t, 9);
   ROW("X7", 0, transfer(t, 9, other, 2, 0));
   ROW("X7", 2, value_of(other));
   ROW("X8", 0, transfer(t, 9, other, 1, 0));
   ROW("X8", 2, value_of(other));
   ROW("X9", -EINVAL, transfer(t, 9, other, 3, 0x10));
   struct agx_uapi_syncobj_transfer padded = {t, other, 9, 3, 0, 1};
   ROW("X10", -EINVAL, CALL(&device, SYNCOBJ_TRANSFER, padded));
   ROW("X11", -ENOENT, transfer(77, 0, other, 3, 0));
   ROW("X12", -ENOENT, transfer(t, 9, 77, 3, 0));
   ROW("X13", 0, transfer(t, 9, t, 12, 0));
   ROW("X13", 12, value_of(t));
   ROW("X14", 0, transfer(t, 0, empty, 0, 0));
   ROW("X14", 0, wait_one(empty, 0, 0));
}

static void descriptors(void **state)
{
   uint32_t s = create(0), second = 0, third = 0, none = 0;
   int fd, sync_fd, ignored;
   ROW("E1", 0, to_fd(s, 0, 0, &fd));
   ROW("E1", FD_CLOEXEC, fcntl(fd, F_GETFD));
   struct pollfd poller = {.fd = fd, .events = POLLIN};
   ROW("E4", 1, poll(&poller, 1, 0));
   ROW("E4b", -ENOTTY, agx_virtual_fd_ioctl(device.node, fd, 0xc0383e04, &poller));
   ROW("E5", 0, from_fd(fd, 0, 0, &second));
   ROW("E6", 0, from_fd(fd, 0, 0, &third));
   ROW("E6", 1, s != second && second != third && s != third);
   signal_point(&device, s, 4);
   ROW("E7", 4, value_of(second));
   destroy(s);
   signal_point(&device, second, 6);
   ROW("E8", 6, value_of(third));
   ROW("E9", -EINVAL, from_fd(-1, 0, 0, &none));
   ROW("E10", -EINVAL, from_fd(0, 0, 0, &none));
   ROW("E12", -EINVAL, to_fd(77, 0, 0, &ignored));
   ROW("E13", -EINVAL, to_fd(second, 4, 0, &ignored));
   ROW("E14", -EINVAL, from_fd(fd, 4, 0, &none));
   struct agx_uapi_syncobj_handle padded = {second, 0, 0, 1, 0};
   ROW("E15", -EINVAL, CALL(&device, SYNCOBJ_HANDLE_TO_FD, padded));
   ROW("E16", -EINVAL, to_fd(second, 0, 3, &ignored));
   uint32_t empty = create(0);
   ROW("E17", -EINVAL, to_fd(empty, 1, 0, &ignored));
   ROW("E18", 0, to_fd(second, 1, 0, &sync_fd));
   ROW("E18", FD_CLOEXEC, fcntl(sync_fd, F_GETFD));
   poller.fd = sync_fd;
   ROW("E19", 1, poll(&poller, 1, 0));
   ROW("E19", POLLIN, poller.revents);
   ROW("E22", 0, from_fd(sync_fd, 1, 0, &empty));
   ROW("E22", 0, wait_one(empty, 0, 0));
   uint32_t unknown = 77;
   ROW("E23", -ENOENT, from_fd(sync_fd, 1, 0, &unknown));
   ROW("E24", -EINVAL, from_fd(fd, 1, 0, &empty));
   ROW("E25", -EINVAL, from_fd(sync_fd, 0, 0, &none));
   ROW("E26", -EINVAL, from_fd(-1, 1, 0, &empty));
   close(sync_fd);
   ROW("E27", 0, to_fd(second, 1, 0, &sync_fd));
   close(sync_fd);
   ROW("E28", 0, to_fd(second, 3, 6, &sync_fd));
   ROW("E29", -EINVAL, to_fd(second, 3, 99, &ignored));
   ROW("E30", -EINVAL, to_fd(second, 2, 0, &ignored));
   ROW("E31", 0, from_fd(sync_fd, 3, 8, &second));
   ROW("E31", 8, value_of(second));
   close(sync_fd);

   struct device mine = device;
   assert_ok(agx_virtual_open(device.node, &device.file));
   ROW("E32", -ENOENT, wait_one(second, 0, 0));
   ROW("E33", 0, from_fd(fd, 0, 0, &none));
   ROW("E33", 1, none);
   ROW("E33", 8, value_of(none));
   signal_point(&device, none, 100);
   agx_virtual_close(device.file);
   device = mine;
   ROW("E34", 100, value_of(second));
   close(fd);
}

static uint64_t count_of(int fd)
{
   uint64_t count = 0;
   return read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

static int arm(uint32_t handle, uint64_t point, int fd, uint32_t flags, uint32_t pad)
{
   return CALL(&device, SYNCOBJ_EVENTFD,
               (struct agx_uapi_syncobj_eventfd){handle, flags, point, fd, pad});
}

static void eventfds(void **state)
{
   int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), pipe_ends[2];
   uint32_t s = create(0), t = create(0);
   ROW("V1", 0, arm(s, 0, fd, 0, 0));
   ROW("V1", 0, count_of(fd));
   signal_syncobj(&device, s);
   ROW("V2", 1, count_of(fd));
   ROW("V3", 0, arm(s, 0, fd, 0, 0));
   ROW("V3", 1, count_of(fd));
   ROW("V4", 0, arm(s, 0, fd, AVAILABLE, 0));
   ROW("V4", 1, count_of(fd));
   ROW("V5", -EINVAL, arm(s, 0, fd, ALL, 0));
   ROW("V6", -EINVAL, arm(s, 0, fd, 0, 1));
   ROW("V7", -ENOENT, arm(77, 0, fd, 0, 0));
   ROW("V8", -EBADF, arm(s, 0, -1, 0, 0));
   assert_int_equal(pipe(pipe_ends), 0);
   ROW("V9", -EINVAL, arm(s, 0, pipe_ends[0], 0, 0));
   close(pipe_ends[0]);
   close(pipe_ends[1]);
   ROW("V10", 0, arm(t, 5, fd, 0, 0));
   signal_point(&device, t, 3);
   ROW("V10", 0, count_of(fd));
   signal_point(&device, t, 7);
   ROW("V11", 1, count_of(fd));
   for (uint64_t point = 8; point <= 10; point++)
      arm(t, point, fd, 0, 0);
   signal_point(&device, t, 10);
   ROW("V12", 3, count_of(fd));
   uint32_t doomed = create(0), kept = create(0);
   arm(doomed, 1, fd, 0, 0);
   destroy(doomed);
   ROW("V13", 0, count_of(fd));
   arm(kept, 5, fd, 0, 0);
   reset(kept);
   ROW("V14", 0, count_of(fd));
   signal_point(&device, kept, 5);
   ROW("V15", 1, count_of(fd));
   arm(kept, 9, fd, 0, 0);
   close(fd);
   ROW("V16", 0, signal_point(&device, kept, 9));
}

static void pending_fences(void **state)
{
   int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), sync_fd;
   uint32_t p = create(0);
   pend(0, p, 0);
   ROW("P2", -ETIME, wait_one(p, 0, 0));
   ROW("P3", -ETIME, wait_one(p, 0, soon()));
   ROW("P4", 0, wait_at(p, 0, AVAILABLE, 0));
   ROW("P4b", 0, value_of(p));
   ROW("P4b", 0, last_of(p));
   ROW("P5", 0, to_fd(p, 1, 0, &sync_fd));
   struct pollfd poller = {.fd = sync_fd, .events = POLLIN};
   ROW("P5", 0, poll(&poller, 1, 0));
   ROW("P6", 0, arm(p, 0, fd, AVAILABLE, 0));
   ROW("P6", 1, count_of(fd));
   ROW("P7", 0, arm(p, 0, fd, 0, 0));
   ROW("P7", 0, count_of(fd));
   fire(0);
   ROW("P8", 0, wait_one(p, 0, FOREVER));
   ROW("P9", 1, count_of(fd));
   ROW("P10", 1, poll(&poller, 1, 0));
   ROW("P10", POLLIN, poller.revents);
   close(sync_fd);
   close(fd);
}

static void pending_points(void **state)
{
   uint32_t first = create(0), second = create(0), t = create(0), b = create(0);
   pend(0, first, 0);
   pend(1, second, 0);
   ROW("P11", 0, transfer(first, 0, t, 10, 0));
   ROW("P11", 0, value_of(t));
   ROW("P11", 10, last_of(t));
   ROW("P12", -ETIME, wait_at(t, 10, 0, 0));
   ROW("P13", -ETIME, wait_at(t, 7, 0, 0));
   ROW("P14", 0, wait_at(t, 10, AVAILABLE, 0));
   ROW("P15", -EINVAL, wait_at(t, 11, 0, 0));
   ROW("P16", 0, signal_point(&device, t, 20));
   ROW("P16", 0, value_of(t));
   ROW("P16", 20, last_of(t));
   ROW("P17", -ETIME, wait_at(t, 20, 0, 0));
   ROW("P18", -ETIME, wait_at(t, 15, 0, 0));
   ROW("P18b", -ETIME, wait_one(t, 0, 0));
   ROW("P19", 0, transfer(second, 0, t, 30, 0));
   ROW("P19", 0, value_of(t));
   ROW("P19", 30, last_of(t));
   fire_and_see(1, second);
   ROW("P20", 0, value_of(t));
   ROW("P20", -ETIME, wait_at(t, 30, 0, 0));
   ROW("P20b", 0, transfer(t, 30, b, 0, 0));
   ROW("P20b", -ETIME, wait_one(b, 0, 0));
   fire_and_see(0, first);
   ROW("P21", 30, value_of(t));
   ROW("P21", 0, wait_at(t, 30, 0, 0));
   ROW("P21", 0, wait_at(t, 20, 0, 0));
   ROW("P20b", 0, wait_one(b, 0, 0));
}

static void pending_and_disorder(void **state)
{
   uint32_t t = create(0), done = create(1), u = create(0), v = create(0);
   pend(0, t, 10);
   ROW("P22", 0, signal_point(&device, t, 5));
   ROW("P22", 0, value_of(t));
   ROW("P22", 10, last_of(t));
   ROW("P22", -ETIME, wait_at(t, 5, 0, 0));
   ROW("P22", -ETIME, wait_at(t, 10, 0, 0));
   fire_and_see(0, t);
   ROW("P23", 10, value_of(t));
   ROW("P23", 0, wait_at(t, 5, 0, 0));
   ROW("P23", 0, wait_at(t, 10, 0, 0));
   ROW("P23", -EINVAL, wait_at(t, 11, 0, 0));

   pend(0, u, 10);
   struct later resetter = {.act = later_reset, .handle = u};
   start_later(&resetter);
   ROW("P25", -ETIME, wait_at(u, 10, 0, now_ns() + 60000000));
   pthread_join(resetter.thread, NULL);
   ROW("P25", 0, value_of(u));
   pend(1, v, 10);
   ROW("P26", 0, signal_syncobj(&device, v));
   ROW("P26", 0, value_of(v));
   ROW("P26", 0, wait_one(v, 0, 0));
   ROW("P26", -EINVAL, wait_at(v, 10, 0, 0));
   fire(0);
   fire(1);

   uint32_t x = create(0), y = create(0), three[] = {x, done, y};
   pend(0, x, 0);
   pend(1, y, 0);
   ROW("P27", 0, wait_array(three, 3, 0, 0));
   ROW("P27", 1, first_signaled);
   ROW("P28", -ETIME, wait_array(three, 3, ALL, 0));
   ROW("P28", NO_INDEX, first_signaled);
   fire(1);
   struct later late = {.act = later_point, .handle = t, .value = 11};
   start_later(&late);
   fire(0);
   ROW("P24", 0, wait_at(t, 11, WFS, FOREVER));
   pthread_join(late.thread, NULL);
   ROW("all", 0, wait_array(three, 3, ALL, FOREVER));
}

static void many_objects(void **state)
{
   uint32_t last = 0;
   for (int i = 0; i < 20000; i++)
      last = create(0);
   ROW("M2", 20000, last);
   int fd;
   assert_int_equal(to_fd(1, 0, 0, &fd), 0);
   signal_point(&device, 1, 1);
   struct device gone = device;
   assert_ok(agx_virtual_open(device.node, &device.file));
   agx_virtual_close(gone.file);
   uint32_t handle = 0;
   ROW("M1", 0, from_fd(fd, 0, 0, &handle));
   ROW("M1", 1, handle);
   ROW("M1", 1, value_of(handle));
   close(fd);
}

/* A long chain of points that all wait for the first must not cost the host's stack. */
static void a_long_chain_completes_and_goes(void **state)
{
   uint32_t t = create(0);
   pend(0, t, 1);
   for (uint64_t value = 2; value < 50000; value++)
      assert_int_equal(transfer(t, value - 1, t, value, 0), 0);
   ROW("chain", 0, value_of(t));
   fire(0);
   ROW("chain", 0, wait_at(t, 49999, 0, FOREVER));
   ROW("chain", 49999, value_of(t));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
   const struct CMUnitTest tests[] = {
      TEST(binary_objects),
      TEST(blocked_waits),
      TEST(a_signal_interrupts),
      TEST(timelines),
      TEST(timeline_arguments),
      TEST(binary_and_timeline_mixed),
      TEST(transfers),
      TEST(descriptors),
      TEST(eventfds),
      TEST(pending_fences),
      TEST(pending_points),
      TEST(pending_and_disorder),
      TEST(many_objects),
      TEST(a_long_chain_completes_and_goes),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
