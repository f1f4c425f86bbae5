/* SPDX-License-Identifier: MIT
 *
 * Several processes with one segment: each attaches a node of its own to the same
 * memory file. They share syncobjs and buffers through descriptors; and when one
 * dies, at any point, the others go on and what it held comes free.
 */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "channel.h"
#include "device.h"
#include "winsys/virtual/store/user.h"
#include "user_checked.h"

#define COUNTER_VA 0x2000000000ull
#define HANGS      0x3000000000ull
#define GATED      0x4000000000ull

static int gate[2]; /* a pipe; GATED ends when a byte comes through */

static agx_status add_one(const struct agx_chip *chip, const struct agxs_memory *memory,
                          const struct agxs_options *options, uint64_t usc_base, uint64_t stream_va,
                          struct agxs_stats *out_stats)
{
   while (stream_va == HANGS)
      pause();
   if (stream_va == GATED) {
      channel_hear(gate[0]);
      return AGX_OK;
   }
   uint32_t *counter = memory->translate(memory->user, stream_va, AGXS_READ | AGXS_WRITE);
   if (!counter)
      return AGX_FAIL(AGX_DATA_LOSS, "nothing is mapped");
   ++*counter;
   return AGX_OK;
}

static int make_segment(void)
{
   int fd = memfd_create("segment", MFD_CLOEXEC);
   assert_true(fd >= 0);
   return fd;
}

static struct device attach(int segment)
{
   struct device device = {0};
   assert_ok(agx_virtual_node_create(agx_chip_find("g13g"), dup(segment), &device.node));
   agx_virtual_set_run_compute(device.node, add_one);
   assert_ok(agx_virtual_open(device.node, &device.file));
   device.vm = make_vm(&device);
   device.queue = make_queue(&device, device.vm);
   return device;
}

static int export_syncobj(struct device *device, uint32_t handle, uint32_t flags)
{
   struct agx_uapi_syncobj_handle args = {.handle = handle, .flags = flags};
   assert_int_equal(CALL(device, SYNCOBJ_HANDLE_TO_FD, args), 0);
   return args.fd;
}

static uint32_t import_syncobj(struct device *device, int fd)
{
   struct agx_uapi_syncobj_handle args = {.fd = fd};
   assert_int_equal(CALL(device, SYNCOBJ_FD_TO_HANDLE, args), 0);
   close(fd);
   return args.handle;
}

static void submit_counter(struct device *device, uint64_t stream, uint32_t timeline,
                           uint64_t wait_for, uint64_t then)
{
   struct agx_uapi_sync syncs[] = {{AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, timeline, wait_for},
                                   {AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, timeline, then}};
   struct compute_record command = compute_command(stream);
   uint32_t ins = wait_for ? 1 : 0;
   assert_int_equal(submit(device, &command, ins ? syncs : syncs + 1, ins, 1), 0);
}

#define TURNS 200

/* Takes a buffer and a timeline, and adds in turns with the parent: what waits for the
 * other's submission is the queue, not the host. */
static void play(int segment, int socket)
{
   struct device device = attach(segment);
   uint32_t timeline = import_syncobj(&device, channel_receive(socket));
   struct agx_uapi_prime_handle buffer = {.fd = channel_receive(socket)};
   assert_int_equal(CALL(&device, PRIME_FD_TO_HANDLE, buffer), 0);
   assert_int_equal(bind_gem(&device, buffer.handle, COUNTER_VA, PAGE, 6), 0);
   for (uint64_t value = 1; value < TURNS; value += 2) {
      assert_int_equal(
         wait_point(&device, timeline, value, INT64_MAX, AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE), 0);
      submit_counter(&device, COUNTER_VA, timeline, value, value + 1);
   }
   assert_int_equal(wait_point(&device, timeline, TURNS, INT64_MAX, 0), 0);
   device_close(&device);
}

static void two_processes_take_turns(void **state)
{
   int segment = make_segment(), sockets[2];
   assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
   pid_t child = fork();
   if (child == 0) {
      play(segment, sockets[1]);
      _exit(0);
   }
   struct device device = attach(segment);
   uint32_t timeline = make_syncobj(&device), gem = make_gem(&device, PAGE, 0);
   uint32_t *counter = map_gem(&device, gem, PAGE);
   assert_int_equal(bind_gem(&device, gem, COUNTER_VA, PAGE, 6), 0);
   struct agx_uapi_prime_handle buffer = {.handle = gem, .flags = AGX_UAPI_PRIME_CLOEXEC};
   assert_int_equal(CALL(&device, PRIME_HANDLE_TO_FD, buffer), 0);
   int shared = export_syncobj(&device, timeline, 0);
   channel_send(sockets[0], shared);
   channel_send(sockets[0], buffer.fd);
   for (uint64_t value = 0; value < TURNS; value += 2) {
      if (value)
         assert_int_equal(
            wait_point(&device, timeline, value, INT64_MAX, AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE), 0);
      submit_counter(&device, COUNTER_VA, timeline, value, value + 1);
   }
   assert_int_equal(
      wait_point(&device, timeline, TURNS, INT64_MAX, AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT), 0);
   assert_int_equal(*counter, TURNS);
   int status = -1;
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
   close(shared);
   close(buffer.fd);
   close(sockets[0]);
   close(sockets[1]);
   unmap_gem(&device, counter, PAGE);
   device_close(&device);
   close(segment);
}

/* A sync file that the parent holds becomes readable when the child's work is done. */
static void a_descriptor_sees_another_process(void **state)
{
   int segment = make_segment(), sockets[2];
   assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
   assert_int_equal(pipe(gate), 0);
   pid_t child = fork();
   if (child == 0) {
      struct device device = attach(segment);
      uint32_t timeline = import_syncobj(&device, channel_receive(sockets[1]));
      submit_counter(&device, GATED, timeline, 0, 2);
      channel_tell(sockets[1]);
      assert_int_equal(wait_point(&device, timeline, 2, INT64_MAX, 0), 0);
      device_close(&device);
      _exit(0);
   }
   struct device device = attach(segment);
   uint32_t timeline = make_syncobj(&device);
   int shared = export_syncobj(&device, timeline, 0);
   channel_send(sockets[0], shared);
   channel_hear(sockets[0]);
   int sync_file = export_syncobj(&device, timeline, AGX_UAPI_SYNCOBJ_SYNC_FILE);
   struct pollfd poller = {.fd = sync_file, .events = POLLIN};
   assert_int_equal(poll(&poller, 1, 0), 0);
   channel_tell(gate[1]);
   assert_int_equal(poll(&poller, 1, 20000), 1);
   assert_int_equal(poller.revents, POLLIN);
   assert_int_equal(query(&device, timeline, 0), 2);
   assert_int_equal(waitpid(child, NULL, 0), child);
   const int used[] = {sync_file, shared, sockets[0], sockets[1], gate[0], gate[1], segment};
   device_close(&device);
   for (unsigned i = 0; i < AGX_COUNT(used); i++)
      close(used[i]);
}

/* Exports what the parent shared, passes it on, and ends. */
static void pass_on(int segment, int socket)
{
   struct device device = attach(segment);
   uint32_t timeline = import_syncobj(&device, channel_receive(socket));
   channel_send(socket, export_syncobj(&device, timeline, 0));
   channel_send(socket, export_syncobj(&device, timeline, AGX_UAPI_SYNCOBJ_SYNC_FILE));
   channel_hear(socket);
   _exit(0); /* without a word */
}

static void descriptors_outlive_who_made_them(void **state)
{
   int segment = make_segment(), sockets[2], status = -1;
   channel_open(sockets);
   assert_int_equal(pipe(gate), 0);
   pid_t child = fork();
   if (child == 0)
      pass_on(segment, sockets[1]);
   struct device device = attach(segment);
   uint32_t timeline = make_syncobj(&device);
   submit_counter(&device, GATED, timeline, 0, 7);
   int shared = export_syncobj(&device, timeline, 0);
   channel_send(sockets[0], shared);
   int object = channel_receive(sockets[0]), sync_file = channel_receive(sockets[0]);
   struct sync_file_info info = {0};
   assert_int_equal(agx_virtual_fd_ioctl(device.node, sync_file, SYNC_IOC_FILE_INFO, &info), 0);
   channel_tell(sockets[0]);
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
   struct pollfd poller = {.fd = sync_file, .events = POLLIN};
   assert_int_equal(poll(&poller, 1, 0), 0);
   channel_tell(gate[1]);
   assert_int_equal(poll(&poller, 1, 20000), 1);
   assert_int_equal(poller.revents, POLLIN);
   struct agx_uapi_syncobj_handle args = {.fd = object};
   assert_int_equal(CALL(&device, SYNCOBJ_FD_TO_HANDLE, args), 0);
   assert_int_equal(query(&device, args.handle, 0), 7);
   const int used[] = {sync_file, object, shared, sockets[0], sockets[1], gate[0], gate[1]};
   for (unsigned i = 0; i < AGX_COUNT(used); i++)
      close(used[i]);
   device_close(&device);
   close(segment);
}

/* Uses a descriptor, and ends without closing anything. */
static void use_and_die(int segment, int socket)
{
   struct device device = attach(segment);
   int sync_file = channel_receive(socket);
   struct agx_uapi_syncobj_handle args = {
      .handle = make_syncobj(&device), .flags = AGX_UAPI_SYNCOBJ_SYNC_FILE, .fd = sync_file};
   assert_int_equal(CALL(&device, SYNCOBJ_FD_TO_HANDLE, args), 0);
   channel_tell(socket);
   pause();
}

static uint64_t blocks_of(struct device *device)
{
   struct agx_virtual_statistics statistics;
   agx_virtual_read_statistics(device->node, &statistics);
   return statistics.blocks;
}

static void what_a_dead_process_used_comes_back(void **state)
{
   int segment = make_segment(), sockets[2];
   channel_open(sockets);
   assert_int_equal(pipe(gate), 0);
   pid_t child = fork();
   if (child == 0) {
      use_and_die(segment, sockets[1]);
      _exit(0);
   }
   struct device device = attach(segment);
   uint32_t timeline = make_syncobj(&device);
   uint64_t blocks = blocks_of(&device);
   submit_counter(&device, GATED, timeline, 0, 7);
   int sync_file = export_syncobj(&device, timeline, AGX_UAPI_SYNCOBJ_SYNC_FILE);
   channel_send(sockets[0], sync_file);
   channel_hear(sockets[0]);
   kill(child, SIGKILL);
   assert_int_equal(waitpid(child, NULL, 0), child);
   channel_tell(gate[1]);
   assert_int_equal(wait_point(&device, timeline, 7, INT64_MAX, 0), 0);
   struct agx_uapi_syncobj_array args = {(uintptr_t)&timeline, 1, 0};
   assert_int_equal(CALL(&device, SYNCOBJ_RESET, args), 0);
   const int used[] = {sync_file, sockets[0], sockets[1], gate[0], gate[1]};
   for (unsigned i = 0; i < AGX_COUNT(used); i++)
      close(used[i]);
   while (blocks_of(&device) > blocks) /* the worker lets go of the job a little later */
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
   device_close(&device);
   close(segment);
}

static void die_with_work_in_flight(int segment, int socket)
{
   struct device device = attach(segment);
   uint32_t timeline = import_syncobj(&device, channel_receive(socket));
   submit_counter(&device, HANGS, timeline, 0, 1);
   submit_counter(&device, COUNTER_VA, timeline, 0, 2);
   channel_tell(socket);
   pause();
}

static void work_of_a_dead_process_is_cancelled(void **state)
{
   int segment = make_segment(), sockets[2];
   assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
   pid_t child = fork();
   if (child == 0) {
      die_with_work_in_flight(segment, sockets[1]);
      _exit(0);
   }
   struct device device = attach(segment);
   uint32_t timeline = make_syncobj(&device);
   int shared = export_syncobj(&device, timeline, 0);
   channel_send(sockets[0], shared);
   channel_hear(sockets[0]);
   assert_int_equal(wait_point(&device, timeline, 2, 0, 0), -ETIME);
   kill(child, SIGKILL);
   assert_int_equal(waitpid(child, NULL, 0), child);
   assert_int_equal(wait_point(&device, timeline, 2, INT64_MAX, 0), 0);
   close(shared);
   close(sockets[0]);
   close(sockets[1]);
   device_close(&device);
   close(segment);
}

/* Requests without end, until killed. */
static void churn(int segment)
{
   struct device device = attach(segment);
   for (;;) {
      uint32_t gem = make_gem(&device, 8 * PAGE, 0), handle = make_syncobj(&device);
      bind_gem(&device, gem, COUNTER_VA, 8 * PAGE, 6);
      signal_point(&device, handle, 3);
      run(&device, COUNTER_VA);
      CALL(&device, SYNCOBJ_DESTROY, (struct agx_uapi_syncobj_destroy){handle, 0});
      if (gem % 3)
         CALL(&device, GEM_CLOSE, (struct agx_uapi_gem_close){gem, 0});
   }
}

static void a_process_may_die_at_any_point(void **state)
{
   if (!user_is_checked()) /* an emulator: it has no robust locks either */
      skip();
   int segment = make_segment();
   struct agx_test_rng rng = {0xd1e};
   for (int round = 0; round < 12; round++) {
      pid_t child = fork();
      if (child == 0)
         churn(segment);
      nanosleep(
         &(struct timespec){.tv_nsec = (long)(3000000 + agx_test_random_below(&rng, 5000000))},
         NULL);
      kill(child, SIGKILL);
      assert_int_equal(waitpid(child, NULL, 0), child);
      struct device device = attach(segment);
      uint32_t gem = make_gem(&device, PAGE, 0);
      uint32_t *counter = map_gem(&device, gem, PAGE);
      assert_int_equal(*counter, 0);
      assert_int_equal(bind_gem(&device, gem, COUNTER_VA, PAGE, 6), 0);
      run(&device, COUNTER_VA);
      assert_int_equal(*counter, 1);
      unmap_gem(&device, counter, PAGE);
      device_close(&device);
   }
   close(segment);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_processes_take_turns),
      cmocka_unit_test(a_descriptor_sees_another_process),
      cmocka_unit_test(descriptors_outlive_who_made_them),
      cmocka_unit_test(what_a_dead_process_used_comes_back),
      cmocka_unit_test(work_of_a_dead_process_is_cancelled),
      cmocka_unit_test(a_process_may_die_at_any_point),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
