/* SPDX-License-Identifier: MIT
 *
 * Processes that die with the node's lock held, in the middle of the slow parts of a change,
 * or with a command under way: GPU memory comes back all the same, and who waits is told.
 * The places are system calls, which this program takes over to die in them.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "channel.h"
#include "device.h"

enum place {
   NOWHERE,
   CLEANING, /* released memory is made to zeros */
   TELLING,  /* descriptors that wait for a fence are written to */
};

static _Atomic enum place dies_at;

static void die_at(enum place place)
{
   if (dies_at == place)
      kill(getpid(), SIGKILL);
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
   die_at(CLEANING);
   return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
   die_at(TELLING);
   struct timespec timeout = {timeout_ms / 1000, timeout_ms % 1000 * 1000000l};
   return (int)syscall(SYS_ppoll, fds, count, timeout_ms < 0 ? NULL : &timeout, NULL, 0);
}

/* A child that has a node on the same segment, and the ends of two channels. */
struct child {
   pid_t pid;
   int segment;
   int to_child[2], to_parent[2];
};

static struct child *current;

/* Tells that it began, and ends when it is told. */
static agx_status machine(const struct agx_chip *chip, const struct agxs_memory *memory,
                          const struct agxs_options *options, uint64_t usc_base, uint64_t stream_va,
                          struct agxs_stats *out_stats)
{
   channel_tell(current->to_parent[1]);
   channel_hear(current->to_child[0]);
   return AGX_OK;
}

static void begin(struct child *child, void (*play)(struct child *child))
{
   *child = (struct child){.segment = memfd_create("segment", MFD_CLOEXEC)};
   assert_true(child->segment >= 0);
   channel_open(child->to_child);
   channel_open(child->to_parent);
   current = child;
   child->pid = fork();
   if (child->pid)
      return;
   play(child);
   for (;;)
      pause();
}

/* The child must have died, by itself or here, of a signal. */
static void bury(struct child *child)
{
   int status = 0;
   assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
   assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void end(struct child *child)
{
   for (unsigned i = 0; i < 2; i++) {
      close(child->to_child[i]);
      close(child->to_parent[i]);
   }
   close(child->segment);
}

static uint64_t memory_bytes(struct device *device)
{
   struct agx_virtual_statistics now;
   agx_virtual_read_statistics(device->node, &now);
   return now.memory_bytes;
}

static void close_gem(struct device *device, uint32_t handle)
{
   struct agx_uapi_gem_close args = {handle, 0};
   assert_int_equal(CALL(device, GEM_CLOSE, args), 0);
}

static void submit_with_out(struct device *device, uint32_t syncobj, uint32_t bound)
{
   struct agx_uapi_sync out = {AGX_UAPI_SYNC_SYNCOBJ, syncobj, 0};
   struct compute_record command = compute_command(0);
   command.compute.ts.end.handle = bound;
   assert_int_equal(submit(device, &command, &out, 0, 1), 0);
}

static void execute(struct child *child)
{
   struct device device = device_open_on(dup(child->segment), machine);
   submit_with_out(&device, make_syncobj(&device), 0);
   for (;;)
      pause();
}

/* It has died, and its parent has not asked how. */
static void await_death(struct child *child)
{
   siginfo_t info;
   assert_int_equal(waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT), 0);
}

/* What was released while a command executed waits for its end, which never comes. */
static void release_what_the_dead_use(bool is_buried)
{
   struct child child;
   begin(&child, execute);
   struct device device = device_open_on(dup(child.segment), NULL);
   channel_hear(child.to_parent[0]);
   for (unsigned i = 0; i < 2; i++) /* with a file of its own, and without */
      close_gem(&device, make_gem(&device, 3 * PAGE, i ? AGX_UAPI_GEM_VM_PRIVATE : 0));
   assert_int_equal(memory_bytes(&device), 6 * PAGE);
   kill(child.pid, SIGKILL);
   if (is_buried)
      bury(&child);
   else
      await_death(&child);
   assert_int_equal(memory_bytes(&device), 0);
   if (!is_buried)
      bury(&child);
   device_close(&device);
   end(&child);
}

static void memory_outlives_no_dead_command(void **state)
{
   release_what_the_dead_use(true);
}

static void the_dead_need_not_be_buried(void **state)
{
   release_what_the_dead_use(false);
}

static void release(struct child *child)
{
   struct device device = device_open_on(dup(child->segment), machine);
   uint32_t gem = make_gem(&device, 5 * PAGE, 0);
   dies_at = CLEANING;
   close_gem(&device, gem);
}

static void memory_may_be_cleaned_twice(void **state)
{
   struct child child;
   begin(&child, release);
   struct device device = device_open_on(dup(child.segment), NULL);
   bury(&child);
   assert_int_equal(memory_bytes(&device), 0);
   uint32_t gem = make_gem(&device, 5 * PAGE, 0), other = make_gem(&device, PAGE, 0);
   assert_int_equal(memory_bytes(&device), 6 * PAGE);
   close_gem(&device, gem);
   close_gem(&device, other);
   assert_int_equal(memory_bytes(&device), 0);
   device_close(&device);
   end(&child);
}

static void tell(struct child *child)
{
   struct device device = device_open_on(dup(child->segment), machine);
   struct agx_uapi_gem_bind_object object = {
      .flags = 1, .handle = make_gem(&device, PAGE, 0), .range = PAGE};
   assert_int_equal(CALL(&device, ASAHI_GEM_BIND_OBJECT, object), 0);
   struct agx_uapi_syncobj_handle file = {.handle = make_syncobj(&device)};
   assert_int_equal(CALL(&device, SYNCOBJ_HANDLE_TO_FD, file), 0);
   channel_send(child->to_parent[1], file.fd);
   submit_with_out(&device, file.handle, object.object_handle);
   file.flags = AGX_UAPI_SYNCOBJ_SYNC_FILE;
   assert_int_equal(CALL(&device, SYNCOBJ_HANDLE_TO_FD, file), 0);
   dies_at = TELLING;
   channel_tell(child->to_child[1]); /* to its own command */
}

/* The end was there before it was told, so it stands; the job's memory goes with the job. */
static void ends_may_be_told_by_the_dying(void **state)
{
   struct child child;
   begin(&child, tell);
   struct device device = device_open_on(dup(child.segment), NULL);
   struct agx_uapi_syncobj_handle args = {.fd = channel_receive(child.to_parent[0])};
   assert_int_equal(CALL(&device, SYNCOBJ_FD_TO_HANDLE, args), 0);
   bury(&child);
   assert_int_equal(wait_syncobj(&device, args.handle, INT64_MAX, 0), 0);
   assert_int_equal(fence_status(&device, args.handle), 1);
   assert_int_equal(memory_bytes(&device), 0);
   close(args.fd);
   device_close(&device);
   end(&child);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_outlives_no_dead_command),
      cmocka_unit_test(the_dead_need_not_be_buried),
      cmocka_unit_test(memory_may_be_cleaned_twice),
      cmocka_unit_test(ends_may_be_told_by_the_dying),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
