/* SPDX-License-Identifier: MIT
 *
 * Many threads on one file: each does its own work, all share a timeline. Meant for
 * the thread checker as much as for its own assertions.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include "base/sanitizers.h"
#include "device.h"

#define THREADS 4
#define ROUNDS  50

static agx_status add_one(const struct agx_chip *chip, const struct agxs_memory *memory,
                          const struct agxs_options *options, uint64_t usc_base, uint64_t stream_va,
                          struct agxs_stats *out_stats)
{
   uint32_t *counter = memory->translate(memory->user, stream_va, AGXS_READ | AGXS_WRITE);
   if (!counter)
      return AGX_FAIL(AGX_DATA_LOSS, "nothing is mapped at 0x%llx", (unsigned long long)stream_va);
   ++*counter;
   return AGX_OK;
}

struct worker {
   struct device device;
   pthread_t thread;
   unsigned index;
   uint32_t count;
};

/* Binds a page of its own, has the machine count in it, and unbinds. */
static void *work(void *argument)
{
   struct worker *worker = argument;
   struct device *device = &worker->device;
   uint64_t va = 0x2000000000ull + worker->index * 16 * PAGE;
   uint32_t timeline = make_syncobj(device);
   for (uint32_t round = 1; round <= ROUNDS; round++) {
      uint32_t gem = make_gem(device, PAGE, AGX_UAPI_GEM_VM_PRIVATE);
      uint32_t *memory = map_gem(device, gem, PAGE);
      assert_int_equal(bind_gem(device, gem, va, PAGE, 6), 0);
      struct agx_uapi_sync out = {AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, timeline, round};
      struct compute_record command = compute_command(va);
      assert_int_equal(submit(device, &command, &out, 0, 1), 0);
      assert_int_equal(wait_point(device, timeline, round, INT64_MAX, 0), 0);
      worker->count += *memory;
      unmap_gem(device, memory, PAGE);
      struct agx_uapi_gem_close close_args = {gem, 0};
      assert_int_equal(CALL(device, GEM_CLOSE, close_args), 0);
   }
   return NULL;
}

static void threads_share_a_file(void **state)
{
   struct device device = device_open(add_one);
   struct worker workers[THREADS] = {0};
   for (unsigned i = 0; i < THREADS; i++) {
      workers[i].device = device;
      workers[i].device.queue = i % 2 ? make_queue(&device, device.vm) : device.queue;
      workers[i].index = i;
      pthread_create(&workers[i].thread, NULL, work, &workers[i]);
   }
   for (unsigned i = 0; i < THREADS; i++) {
      pthread_join(workers[i].thread, NULL);
      assert_int_equal(workers[i].count, ROUNDS);
   }
   device_close(&device);
}

/* Two threads pass a timeline back and forth. */
struct player {
   struct device *device;
   uint32_t timeline;
};

static void *answer(void *argument)
{
   struct player *player = argument;
   for (uint64_t value = 1; value < 2000; value += 2) {
      assert_int_equal(wait_point(player->device, player->timeline, value, INT64_MAX,
                                  AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT),
                       0);
      assert_int_equal(signal_point(player->device, player->timeline, value + 1), 0);
   }
   return NULL;
}

static void a_timeline_goes_back_and_forth(void **state)
{
   struct device device = device_open(add_one);
   struct player player = {&device, make_syncobj(&device)};
   pthread_t thread;
   pthread_create(&thread, NULL, answer, &player);
   for (uint64_t value = 1; value < 2000; value += 2) {
      assert_int_equal(signal_point(&device, player.timeline, value), 0);
      assert_int_equal(wait_point(&device, player.timeline, value + 1, INT64_MAX,
                                  AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT),
                       0);
   }
   pthread_join(thread, NULL);
   device_close(&device);
}

/* A forked child shares files, buffers and fences, submits work of its own, and its end
 * closes nothing of the parent's. */
static void a_forked_child_shares_the_file(void **state)
{
   if (AGX_THREAD_SANITIZED) /* the checker ends a child that starts threads */
      skip();
   struct device device = device_open(add_one);
   uint32_t gem = make_gem(&device, PAGE, 0), timeline = make_syncobj(&device);
   uint32_t *memory = map_gem(&device, gem, PAGE);
   assert_int_equal(bind_gem(&device, gem, 0x2000000000ull, PAGE, 6), 0);
   run(&device, 0x2000000000ull);
   pid_t child = fork();
   if (child == 0) {
      struct compute_record command = compute_command(0x2000000000ull);
      struct agx_uapi_sync out = {AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, timeline, 1};
      int error = submit(&device, &command, &out, 0, 1);
      if (!error)
         error = wait_point(&device, timeline, 1, INT64_MAX, 0);
      agx_virtual_close(device.file);
      _exit(error ? 1 : 0);
   }
   int status = -1;
   assert_int_equal(wait_point(&device, timeline, 1, INT64_MAX, AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT),
                    0);
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
   assert_int_equal(*memory, 2);
   run(&device, 0x2000000000ull);
   assert_int_equal(*memory, 3);
   unmap_gem(&device, memory, PAGE);
   device_close(&device);
}

/* Another process that has the file may destroy what an eventfd of this one waits for. */
static void a_syncobj_goes_in_another_process(void **state)
{
   struct device device = device_open(add_one);
   uint32_t doomed = make_syncobj(&device);
   int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), status = -1;
   struct agx_uapi_syncobj_eventfd args = {.handle = doomed, .fd = fd};
   assert_int_equal(CALL(&device, SYNCOBJ_EVENTFD, args), 0);
   pid_t child = fork();
   if (child == 0)
      _exit(-CALL(&device, SYNCOBJ_DESTROY, (struct agx_uapi_syncobj_destroy){doomed, 0}));
   assert_int_equal(waitpid(child, &status, 0), child);
   assert_int_equal(status, 0);
   uint32_t next = make_syncobj(&device); /* in its place */
   assert_int_equal(signal_syncobj(&device, next), 0);
   uint64_t count;
   assert_int_equal(read(fd, &count, sizeof(count)), -1);
   close(fd);
   device_close(&device);
}

static atomic_uint met;

/* Ends when the command of the other queue executes too; orders nothing behind it. */
static agx_status meet(const struct agx_chip *chip, const struct agxs_memory *memory,
                       const struct agxs_options *options, uint64_t usc_base, uint64_t stream_va,
                       struct agxs_stats *out_stats)
{
   atomic_fetch_add_explicit(&met, 1, memory_order_relaxed);
   while (atomic_load_explicit(&met, memory_order_relaxed) < 2)
      sched_yield();
   return AGX_OK;
}

/* As a program may ask for: one of the times stands there, whole. */
static void two_queues_stamp_one_place(void **state)
{
   struct device device = device_open(meet), other = device;
   other.queue = make_queue(&device, device.vm);
   uint32_t gem = make_gem(&device, PAGE, 0), timelines[2];
   uint64_t *memory = map_gem(&device, gem, PAGE);
   struct agx_uapi_gem_bind_object object = {.flags = 1, .handle = gem, .range = PAGE};
   assert_int_equal(CALL(&device, ASAHI_GEM_BIND_OBJECT, object), 0);
   struct compute_record command = compute_command(0);
   command.compute.ts.end.handle = object.object_handle;
   for (unsigned i = 0; i < 2; i++) {
      timelines[i] = make_syncobj(&device);
      struct agx_uapi_sync out = {AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, timelines[i], 1};
      assert_int_equal(submit(i ? &other : &device, &command, &out, 0, 1), 0);
   }
   for (unsigned i = 0; i < 2; i++)
      assert_int_equal(wait_point(&device, timelines[i], 1, INT64_MAX, 0), 0);
   struct agx_uapi_get_time now = {0};
   assert_int_equal(CALL(&device, ASAHI_GET_TIME, now), 0);
   assert_true(memory[0] > 0 && memory[0] <= now.gpu_timestamp);
   unmap_gem(&device, memory, PAGE);
   device_close(&device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_share_a_file),
      cmocka_unit_test(a_timeline_goes_back_and_forth),
      cmocka_unit_test(a_forked_child_shares_the_file),
      cmocka_unit_test(a_syncobj_goes_in_another_process),
      cmocka_unit_test(two_queues_stamp_one_place),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
