/* SPDX-License-Identifier: MIT
 *
 * Buffers as descriptors: between two virtual devices that share nothing else, between
 * processes, by fork and by SCM_RIGHTS; what a plain mmap of one gives; and the requests
 * that dma-bufs know.
 */
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "channel.h"
#include "device.h"

#define WINDOW_VA 0x2000000000ull

/* Adds the stream's address to the first word at WINDOW_VA; waits for the gate where asked. */
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_opened = PTHREAD_COND_INITIALIZER;
static bool gate_is_open = true;

static void set_gate(bool open)
{
   pthread_mutex_lock(&gate_lock);
   gate_is_open = open;
   pthread_cond_broadcast(&gate_opened);
   pthread_mutex_unlock(&gate_lock);
}

static agx_status add(const struct agx_chip *chip, const struct agxs_memory *memory,
                      const struct agxs_options *options, uint64_t usc_base, uint64_t stream_va,
                      struct agxs_stats *out_stats)
{
   pthread_mutex_lock(&gate_lock);
   while (!gate_is_open)
      pthread_cond_wait(&gate_opened, &gate_lock);
   pthread_mutex_unlock(&gate_lock);
   uint32_t *word = memory->translate(memory->user, WINDOW_VA, AGXS_READ | AGXS_WRITE);
   if (!word)
      return AGX_FAIL(AGX_DATA_LOSS, "nothing is mapped");
   *word += (uint32_t)stream_va;
   return AGX_OK;
}

static int export(struct device *device, uint32_t handle)
{
   struct agx_uapi_prime_handle args = {handle, AGX_UAPI_PRIME_CLOEXEC | AGX_UAPI_PRIME_RDWR, -1};
   assert_int_equal(CALL(device, PRIME_HANDLE_TO_FD, args), 0);
   return args.fd;
}

static uint32_t import(struct device *device, int fd)
{
   struct agx_uapi_prime_handle args = {0, 0, fd};
   assert_int_equal(CALL(device, PRIME_FD_TO_HANDLE, args), 0);
   return args.handle;
}

static void close_gem(struct device *device, uint32_t handle)
{
   assert_int_equal(CALL(device, GEM_CLOSE, (struct agx_uapi_gem_close){handle, 0}), 0);
}

/* The GPU of the device adds to the first word of the buffer. */
static void add_on_gpu(struct device *device, uint32_t handle, uint32_t amount)
{
   assert_int_equal(bind_gem(device, handle, WINDOW_VA, PAGE, 6), 0);
   run(device, amount);
}

static void two_devices_share_a_buffer(void **state)
{
   struct device first = device_open(add), second = device_open(add);
   uint32_t gem = make_gem(&first, 4 * PAGE, 0);
   uint32_t *here = map_gem(&first, gem, 4 * PAGE);
   int fd = export(&first, gem);
   assert_int_equal(lseek(fd, 0, SEEK_END), 4 * PAGE);
   uint32_t theirs = import(&second, fd);
   assert_int_equal(theirs, 1);
   assert_int_equal(import(&second, fd), theirs); /* one handle per buffer and file */
   uint32_t *there = map_gem(&second, theirs, 4 * PAGE);
   uint32_t *plain = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
   assert_true(plain != MAP_FAILED);
   here[0] = 1;
   there[PAGE / 2] = 7;
   assert_int_equal(plain[0], 1);
   assert_int_equal(here[PAGE / 2], 7);
   add_on_gpu(&first, gem, 10);
   add_on_gpu(&second, theirs, 100);
   assert_int_equal(plain[0], 111);
   int back = export(&second, theirs); /* the same file again */
   struct stat one, other;
   assert_int_equal(fstat(fd, &one) | fstat(back, &other), 0);
   assert_int_equal(one.st_ino, other.st_ino);
   assert_int_equal(import(&first, back), gem);
   /* It outlives the device that made it. */
   munmap(here, 4 * PAGE);
   device_close(&first);
   add_on_gpu(&second, theirs, 1000);
   assert_int_equal(there[0], 1111);
   close(fd);
   close(back);
   munmap(plain, 4 * PAGE);
   unmap_gem(&second, there, 4 * PAGE);
   device_close(&second);
}

/* The GPU's clock writes into what another device made. */
static void timestamps_reach_a_shared_buffer(void **state)
{
   struct device maker = device_open(add), user = device_open(add);
   int fd = export(&maker, make_gem(&maker, 2 * PAGE, 0));
   uint64_t *plain = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
   struct agx_uapi_gem_bind_object object = {.flags = AGX_UAPI_BIND_OBJECT_USAGE_TIMESTAMPS,
                                             .handle = import(&user, fd),
                                             .offset = PAGE,
                                             .range = PAGE};
   assert_int_equal(CALL(&user, ASAHI_GEM_BIND_OBJECT, object), 0);
   uint32_t done = make_syncobj(&user), gem = make_gem(&user, PAGE, 0);
   assert_int_equal(bind_gem(&user, gem, WINDOW_VA, PAGE, 6), 0);
   struct agx_uapi_sync out = {AGX_UAPI_SYNC_SYNCOBJ, done, 0};
   struct compute_record command = compute_command(1);
   command.compute.ts.start = (struct agx_uapi_timestamp){object.object_handle, 0};
   command.compute.ts.end = (struct agx_uapi_timestamp){object.object_handle, 8};
   assert_int_equal(submit(&user, &command, &out, 0, 1), 0);
   assert_int_equal(wait_syncobj(&user, done, INT64_MAX, 0), 0);
   assert_true(plain[PAGE / 8] && plain[PAGE / 8] <= plain[PAGE / 8 + 1]);
   munmap(plain, 2 * PAGE);
   close(fd);
   device_close(&user);
   device_close(&maker);
}

/* Memory that comes free is the segment's own again, and zero. */
static void ranges_are_used_again(void **state)
{
   struct device device = device_open(add);
   for (uint32_t round = 0; round < 100; round++) {
      uint32_t flags = round % 2 ? AGX_UAPI_GEM_VM_PRIVATE : 0;
      uint32_t gem = make_gem(&device, PAGE, flags);
      uint32_t *memory = map_gem(&device, gem, PAGE);
      assert_int_equal(memory[0], 0);
      add_on_gpu(&device, gem, round + 1);
      assert_int_equal(memory[0], round + 1);
      unmap_gem(&device, memory, PAGE);
      close_gem(&device, gem);
   }
   device_close(&device);
}

static void a_descriptor_outlives_handles(void **state)
{
   struct device device = device_open(add);
   uint32_t gem = make_gem(&device, PAGE, 0);
   add_on_gpu(&device, gem, 5);
   int fd = export(&device, gem);
   close_gem(&device, gem);
   gem = import(&device, fd);
   add_on_gpu(&device, gem, 5);
   uint32_t *memory = map_gem(&device, gem, PAGE);
   assert_int_equal(memory[0], 10);
   close_gem(&device, gem);
   close(fd);
   memory[1] = 3; /* and so does a mapping */
   unmap_gem(&device, memory, PAGE);
   device_close(&device);
}

static void only_buffers_are_taken(void **state)
{
   struct device device = device_open(add);
   int impostors[] = {memfd_create("agx-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING),
                      memfd_create("something", MFD_CLOEXEC | MFD_ALLOW_SEALING), 0};
   assert_int_equal(ftruncate(impostors[0], PAGE), 0); /* it could shrink later */
   assert_int_equal(ftruncate(impostors[1], PAGE), 0);
   fcntl(impostors[1], F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
   for (unsigned i = 0; i < AGX_COUNT(impostors); i++) {
      struct agx_uapi_prime_handle args = {0, 0, impostors[i]};
      assert_int_equal(CALL(&device, PRIME_FD_TO_HANDLE, args), -EINVAL);
   }
   close(impostors[0]);
   close(impostors[1]);
   int fd = export(&device, make_gem(&device, PAGE, 0));
   assert_int_equal(ftruncate(fd, 0), -1);
   assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
   close(fd);
   device_close(&device);
}

/* The other process has a device of its own. */
static void add_in_child(int socket)
{
   struct device device = device_open(add);
   int fd = channel_receive(socket);
   uint32_t gem = import(&device, fd);
   add_on_gpu(&device, gem, 20);
   uint32_t *plain = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
   plain[1] = 21;
   channel_send(socket, export(&device, make_gem(&device, 2 * PAGE, 0)));
   device_close(&device);
}

static void processes_pass_buffers(void **state)
{
   int sockets[2], status = -1;
   channel_open(sockets);
   pid_t child = fork();
   if (child == 0) {
      add_in_child(sockets[1]);
      _exit(0);
   }
   struct device device = device_open(add);
   uint32_t gem = make_gem(&device, PAGE, 0);
   uint32_t *memory = map_gem(&device, gem, PAGE);
   memory[0] = 1;
   int fd = export(&device, gem);
   channel_send(sockets[0], fd);
   int theirs = channel_receive(sockets[0]);
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
   assert_int_equal(memory[0], 21);
   assert_int_equal(memory[1], 21);
   uint32_t other = import(&device, theirs); /* its maker is dead by now */
   add_on_gpu(&device, other, 3);
   assert_int_equal(lseek(theirs, 0, SEEK_END), 2 * PAGE);
   close(theirs);
   close(fd);
   close(sockets[0]);
   close(sockets[1]);
   unmap_gem(&device, memory, PAGE);
   device_close(&device);
}

/* After a fork both have the same file open: a buffer of one is a buffer of the other. */
static void forked_processes_see_each_others_buffers(void **state)
{
   int sockets[2], status = -1;
   channel_open(sockets);
   struct device device = device_open(add);
   uint32_t before = make_gem(&device, PAGE, 0);
   pid_t child = fork();
   if (child == 0) {
      uint32_t after = make_gem(&device, PAGE, 0);
      add_on_gpu(&device, before, 1);
      add_on_gpu(&device, after, 2);
      channel_tell(sockets[1]);
      channel_hear(sockets[1]); /* its descriptor is what the parent opens it by */
      _exit(after == before + 1 ? 0 : 1);
   }
   channel_hear(sockets[0]);
   add_on_gpu(&device, before, 10);
   add_on_gpu(&device, before + 1, 20);
   uint32_t *first = map_gem(&device, before, PAGE), *second = map_gem(&device, before + 1, PAGE);
   assert_int_equal(first[0], 11);
   assert_int_equal(second[0], 22);
   channel_tell(sockets[0]);
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
   close(sockets[0]);
   close(sockets[1]);
   unmap_gem(&device, first, PAGE);
   unmap_gem(&device, second, PAGE);
   device_close(&device);
}

static int fd_call(struct device *device, int fd, unsigned long request, void *argument)
{
   return agx_virtual_fd_ioctl(device->node, fd, request, argument);
}

static void dma_bufs_know_their_requests(void **state)
{
   struct device device = device_open(add);
   int fd = export(&device, make_gem(&device, PAGE, 0));
   struct stat info;
   const struct {
      uint64_t flags;
      int expected;
   } syncs[] = {{DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW, 0},
                {DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ, 0},
                {DMA_BUF_SYNC_WRITE, 0},
                {0, -EINVAL},
                {DMA_BUF_SYNC_END, -EINVAL},
                {0x100, -EINVAL},
                {1ull << 40 | DMA_BUF_SYNC_RW, -EINVAL}};
   for (unsigned i = 0; i < AGX_COUNT(syncs); i++) {
      struct dma_buf_sync sync = {syncs[i].flags};
      assert_int_equal(fd_call(&device, fd, DMA_BUF_IOCTL_SYNC, &sync), syncs[i].expected);
   }
   char name[64], long_name[33] = "0123456789abcdef0123456789abcdef";
   assert_int_equal(fd_call(&device, fd, DMA_BUF_SET_NAME_B, long_name), -EINVAL);
   long_name[31] = 0;
   assert_int_equal(fd_call(&device, fd, DMA_BUF_SET_NAME_A, long_name), 0);
   assert_int_equal(fstat(fd, &info), 0);
   agx_virtual_buffer_name(device.node, info.st_dev, info.st_ino, name, sizeof(name));
   assert_string_equal(name, "/dmabuf:0123456789abcdef0123456789abcde");
   assert_int_equal(fd_call(&device, fd, 0x6263, NULL), -ENOTTY);
   close(fd);
   device_close(&device);
}

static int export_fences(struct device *device, int fd, uint32_t flags)
{
   struct dma_buf_export_sync_file args = {flags, -1};
   assert_int_equal(fd_call(device, fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &args), 0);
   return args.fd;
}

static int is_readable(int fd)
{
   struct pollfd poller = {.fd = fd, .events = POLLIN};
   return poll(&poller, 1, 0);
}

/* What submissions wait for is only what their in-syncs name; a buffer carries fences for
 * programs that put and ask for them. */
static void dma_bufs_carry_fences(void **state)
{
   struct device device = device_open(add);
   uint32_t gem = make_gem(&device, PAGE, 0), timeline = make_syncobj(&device);
   int fd = export(&device, gem);
   assert_int_equal(bind_gem(&device, gem, WINDOW_VA, PAGE, 6), 0);
   struct dma_buf_export_sync_file bad = {0, -1};
   assert_int_equal(fd_call(&device, fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &bad), -EINVAL);
   int idle = export_fences(&device, fd, DMA_BUF_SYNC_RW);
   assert_int_equal(is_readable(idle), 1);
   close(idle);
   set_gate(false);
   struct compute_record command = compute_command(1);
   for (uint64_t value = 1; value <= 2; value++) {
      struct agx_uapi_sync out = {AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, timeline, value};
      assert_int_equal(submit(&device, &command, &out, 0, 1), 0);
   }
   struct agx_uapi_syncobj_handle both = {.handle = timeline, .flags = 3, .point = 2};
   assert_int_equal(CALL(&device, SYNCOBJ_HANDLE_TO_FD, both), 0);
   struct dma_buf_import_sync_file import_args = {DMA_BUF_SYNC_READ, both.fd};
   assert_int_equal(fd_call(&device, fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &import_args), 0);
   int for_readers = export_fences(&device, fd, DMA_BUF_SYNC_READ);
   int for_writers = export_fences(&device, fd, DMA_BUF_SYNC_WRITE);
   assert_int_equal(is_readable(for_readers), 1);
   assert_int_equal(is_readable(for_writers), 0);
   /* A point with another pending before it is two fences. */
   struct sync_fence_info fences[2];
   struct sync_file_info info = {.num_fences = 1, .sync_fence_info = (uintptr_t)fences};
   assert_int_equal(fd_call(&device, for_writers, SYNC_IOC_FILE_INFO, &info), -EINVAL);
   info.num_fences = 2;
   assert_int_equal(fd_call(&device, for_writers, SYNC_IOC_FILE_INFO, &info), 0);
   assert_int_equal(info.num_fences, 2);
   assert_int_equal(info.status | fences[0].status | fences[1].status, 0);
   set_gate(true);
   assert_int_equal(wait_point(&device, timeline, 2, INT64_MAX, 0), 0);
   assert_int_equal(is_readable(for_writers), 1);
   assert_int_equal(fd_call(&device, for_writers, SYNC_IOC_FILE_INFO, &info), 0);
   assert_int_equal(info.num_fences, 1);
   assert_int_equal(info.status, 1);
   import_args = (struct dma_buf_import_sync_file){DMA_BUF_SYNC_READ, fd};
   assert_int_equal(fd_call(&device, fd, DMA_BUF_IOCTL_IMPORT_SYNC_FILE, &import_args), -EINVAL);
   const int used[] = {for_readers, for_writers, both.fd, fd};
   for (unsigned i = 0; i < AGX_COUNT(used); i++)
      close(used[i]);
   device_close(&device);
}

/* A merge of fences fails as its parts do, also when they end later. */
static void merged_fences_keep_errors(void **state)
{
   struct device device = device_open(add);
   uint32_t bad = make_syncobj(&device), good = make_syncobj(&device);
   uint32_t queue = device.queue, *slots[] = {&bad, &good};
   int fds[2];
   set_gate(false);
   for (unsigned i = 0; i < 2; i++) { /* nothing is bound: both fail */
      struct agx_uapi_sync out = {AGX_UAPI_SYNC_SYNCOBJ, *slots[i], 0};
      struct compute_record command = compute_command(1);
      device.queue = i ? make_queue(&device, device.vm) : queue;
      assert_int_equal(submit(&device, &command, &out, 0, 1), 0);
      struct agx_uapi_syncobj_handle args = {.handle = *slots[i], .flags = 1};
      assert_int_equal(CALL(&device, SYNCOBJ_HANDLE_TO_FD, args), 0);
      fds[i] = args.fd;
   }
   struct sync_merge_data merge = {.name = "both", .fd2 = fds[1]};
   assert_int_equal(fd_call(&device, fds[0], SYNC_IOC_MERGE, &merge), 0);
   set_gate(true);
   struct pollfd poller = {.fd = merge.fence, .events = POLLIN};
   assert_int_equal(poll(&poller, 1, 20000), 1);
   struct sync_file_info info = {0};
   assert_int_equal(fd_call(&device, merge.fence, SYNC_IOC_FILE_INFO, &info), 0);
   assert_int_equal(info.status, -EIO);
   close(merge.fence);
   close(fds[0]);
   close(fds[1]);
   device_close(&device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_devices_share_a_buffer),
      cmocka_unit_test(timestamps_reach_a_shared_buffer),
      cmocka_unit_test(ranges_are_used_again),
      cmocka_unit_test(a_descriptor_outlives_handles),
      cmocka_unit_test(only_buffers_are_taken),
      cmocka_unit_test(processes_pass_buffers),
      cmocka_unit_test(forked_processes_see_each_others_buffers),
      cmocka_unit_test(dma_bufs_know_their_requests),
      cmocka_unit_test(dma_bufs_carry_fences),
      cmocka_unit_test(merged_fences_keep_errors),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
