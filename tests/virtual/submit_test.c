/* SPDX-License-Identifier: MIT
 *
 * Submissions: order, in- and out-syncs, what a failed command leaves behind,
 * timestamps, and files that close with work in flight.
 */
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "device.h"

/* A machine that notes which streams it ran, holds those at HELD until released, and
 * fails those at FAIL + status. */
#define HELD     0x100000ull
#define HELD_TOO 0x100001ull /* until the test ends */
#define FAIL     0x200000ull

static struct {
   pthread_mutex_t lock;
   pthread_cond_t changed;
   bool open, open_too;
   uint64_t ran[64];
   unsigned count, started;
   uint64_t usc_base;
} machine = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static agx_status run_noted(const struct agx_chip *chip, const struct agxs_memory *memory,
                            const struct agxs_options *options, uint64_t usc_base,
                            uint64_t stream_va, struct agxs_stats *out_stats)
{
   pthread_mutex_lock(&machine.lock);
   machine.started++;
   pthread_cond_broadcast(&machine.changed);
   while ((stream_va == HELD && !machine.open) || (stream_va == HELD_TOO && !machine.open_too))
      pthread_cond_wait(&machine.changed, &machine.lock);
   if (machine.count < AGX_COUNT(machine.ran))
      machine.ran[machine.count++] = stream_va;
   machine.usc_base = usc_base;
   pthread_mutex_unlock(&machine.lock);
   if (stream_va >= FAIL)
      return AGX_FAIL((agx_status)(stream_va - FAIL), "the machine fails on request");
   return AGX_OK;
}

static struct device open_machine(void)
{
   machine.open = machine.open_too = false;
   machine.count = machine.started = 0;
   return device_open(run_noted);
}

static void release(void)
{
   pthread_mutex_lock(&machine.lock);
   machine.open = true;
   pthread_cond_broadcast(&machine.changed);
   pthread_mutex_unlock(&machine.lock);
}

static void await_start(unsigned count)
{
   pthread_mutex_lock(&machine.lock);
   while (machine.started < count)
      pthread_cond_wait(&machine.changed, &machine.lock);
   pthread_mutex_unlock(&machine.lock);
}

static int submit_at(struct device *device, uint64_t va, const struct agx_uapi_sync *syncs,
                     uint32_t ins, uint32_t outs)
{
   struct compute_record command = compute_command(va);
   return submit(device, &command, syncs, ins, outs);
}

static struct agx_uapi_sync binary(uint32_t handle)
{
   return (struct agx_uapi_sync){AGX_UAPI_SYNC_SYNCOBJ, handle, 0};
}

static struct agx_uapi_sync point(uint32_t handle, uint64_t value)
{
   return (struct agx_uapi_sync){AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, handle, value};
}

static void a_queue_runs_in_order(void **state)
{
   struct device device = open_machine();
   uint32_t timeline = make_syncobj(&device);
   for (uint64_t i = 1; i <= 20; i++) {
      struct agx_uapi_sync out = point(timeline, i);
      assert_int_equal(submit_at(&device, i, &out, 0, 1), 0);
   }
   assert_int_equal(wait_point(&device, timeline, 20, INT64_MAX, 0), 0);
   assert_int_equal(machine.count, 20);
   for (unsigned i = 0; i < 20; i++)
      assert_int_equal(machine.ran[i], i + 1);
   assert_int_equal(machine.usc_base, USC_BASE);
   assert_int_equal(query(&device, timeline, 0), 20);
   device_close(&device);
}

static void work_waits_for_its_in_syncs(void **state)
{
   struct device device = open_machine();
   uint32_t first = make_syncobj(&device), second = make_syncobj(&device);
   uint32_t queues[2] = {device.queue, make_queue(&device, device.vm)};
   struct agx_uapi_sync out = binary(first);
   assert_int_equal(submit_at(&device, HELD, &out, 0, 1), 0);
   await_start(1);
   assert_int_equal(wait_syncobj(&device, first, 0, 0), -ETIME);

   struct agx_uapi_sync both[] = {binary(first), point(second, 7)};
   device.queue = queues[1];
   assert_int_equal(submit_at(&device, 42, both, 1, 1), 0);
   assert_int_equal(wait_point(&device, second, 7, 0, 0), -ETIME);
   assert_int_equal(query(&device, second, 0), 0);
   assert_int_equal(query(&device, second, AGX_UAPI_SYNCOBJ_QUERY_LAST_SUBMITTED), 7);
   assert_int_equal(machine.count, 0);
   release();
   assert_int_equal(wait_point(&device, second, 7, INT64_MAX, 0), 0);
   assert_int_equal(machine.ran[0], HELD);
   assert_int_equal(machine.ran[1], 42);
   device_close(&device);
}

static void failures_show_in_the_fence_only(void **state)
{
   static const struct {
      agx_status status;
      int error;
   } rows[] = {
      {AGX_OK, 1},
      {AGX_DATA_LOSS, -EIO},
      {AGX_INVALID_ARGUMENT, -EIO},
      {AGX_DEADLINE_EXCEEDED, -ETIMEDOUT},
      {AGX_UNIMPLEMENTED, -ENODATA},
   };
   struct device device = open_machine();
   uint32_t handle = make_syncobj(&device);
   struct agx_uapi_sync out = binary(handle);
   char text[256];
   assert_int_equal(agx_virtual_last_error(device.node, text, sizeof(text)), 0);
   for (unsigned i = 0; i < AGX_COUNT(rows); i++) {
      uint64_t va = rows[i].status == AGX_OK ? 1 : FAIL + (uint64_t)rows[i].status;
      assert_int_equal(submit_at(&device, va, &out, 0, 1), 0);
      assert_int_equal(wait_syncobj(&device, handle, INT64_MAX, 0), 0);
      assert_int_equal(fence_status(&device, handle), rows[i].error);
   }
   assert_true(agx_virtual_last_error(device.node, text, sizeof(text)) > 0);
   assert_non_null(strstr(text, "the machine fails on request"));
   device_close(&device);
}

static void a_sync_file_polls_ready_when_done(void **state)
{
   struct device device = open_machine();
   uint32_t handle = make_syncobj(&device);
   struct agx_uapi_sync out = binary(handle);
   assert_int_equal(submit_at(&device, HELD, &out, 0, 1), 0);
   struct agx_uapi_syncobj_handle args = {.handle = handle, .flags = AGX_UAPI_SYNCOBJ_SYNC_FILE};
   assert_int_equal(CALL(&device, SYNCOBJ_HANDLE_TO_FD, args), 0);
   struct pollfd poller = {.fd = args.fd, .events = POLLIN};
   assert_int_equal(poll(&poller, 1, 0), 0);
   release();
   assert_int_equal(poll(&poller, 1, 10000), 1);
   assert_int_equal(poller.revents, POLLIN);
   close(args.fd);
   device_close(&device);
}

/* The file has no reader any more when this thread's close cancels the work: no SIGPIPE. */
static void a_sync_file_may_be_closed_before_its_end(void **state)
{
   struct device device = open_machine();
   uint32_t handle = make_syncobj(&device);
   struct agx_uapi_sync out = binary(handle);
   assert_int_equal(submit_at(&device, HELD, NULL, 0, 0), 0);
   await_start(1);
   assert_int_equal(submit_at(&device, 9, &out, 0, 1), 0);
   struct agx_uapi_syncobj_handle args = {.handle = handle, .flags = AGX_UAPI_SYNCOBJ_SYNC_FILE};
   assert_int_equal(CALL(&device, SYNCOBJ_HANDLE_TO_FD, args), 0);
   close(args.fd);
   agx_virtual_close(device.file);
   release();
   agx_virtual_node_destroy(device.node);
   assert_int_equal(machine.count, 1);
}

static void commands_run_serially_and_stop_at_a_failure(void **state)
{
   struct device device = open_machine();
   uint32_t handle = make_syncobj(&device);
   struct agx_uapi_sync out = binary(handle);
   struct compute_record commands[] = {compute_command(5), compute_command(FAIL + AGX_DATA_LOSS),
                                       compute_command(6)};
   commands[1].header.cdm_barrier = 1;
   commands[2].header.cdm_barrier = 2;
   struct agx_uapi_submit args = {
      .syncs = (uintptr_t)&out,
      .cmdbuf = (uintptr_t)commands,
      .queue_id = device.queue,
      .out_sync_count = 1,
      .cmdbuf_size = sizeof(commands),
   };
   assert_int_equal(CALL(&device, ASAHI_SUBMIT, args), 0);
   assert_int_equal(wait_syncobj(&device, handle, INT64_MAX, 0), 0);
   assert_int_equal(fence_status(&device, handle), -EIO);
   assert_int_equal(machine.count, 2);
   assert_int_equal(machine.ran[0], 5);
   device_close(&device);
}

static void timestamps_lie_in_order(void **state)
{
   struct device device = open_machine();
   uint32_t gem = make_gem(&device, 2 * PAGE, 0);
   uint64_t *memory = map_gem(&device, gem, 2 * PAGE);
   struct agx_uapi_gem_bind_object object = {
      .flags = AGX_UAPI_BIND_OBJECT_USAGE_TIMESTAMPS, .handle = gem, .offset = PAGE, .range = PAGE};
   assert_int_equal(CALL(&device, ASAHI_GEM_BIND_OBJECT, object), 0);
   assert_int_equal(object.object_handle, 1);
   uint32_t handle = make_syncobj(&device);
   struct agx_uapi_sync out = binary(handle);
   struct agx_uapi_get_time before = {0}, after = {0};
   assert_int_equal(CALL(&device, ASAHI_GET_TIME, before), 0);
   struct compute_record command = compute_command(1);
   command.compute.ts = (struct agx_uapi_timestamps){{1, 8}, {1, PAGE - 8}};
   assert_int_equal(submit(&device, &command, &out, 0, 1), 0);
   assert_int_equal(wait_syncobj(&device, handle, INT64_MAX, 0), 0);
   assert_int_equal(CALL(&device, ASAHI_GET_TIME, after), 0);
   uint64_t start = memory[(PAGE + 8) / 8], end = memory[(2 * PAGE - 8) / 8];
   assert_true(before.gpu_timestamp <= start && start <= end && end <= after.gpu_timestamp);
   assert_int_equal(memory[0], 0);
   unmap_gem(&device, memory, 2 * PAGE);
   device_close(&device);
}

static struct {
   uint64_t sampler_heap;
   uint32_t sampler_count;
} seen;

static agx_status note_samplers(const struct agx_chip *chip, const struct agxs_memory *memory,
                                const struct agxs_options *options, uint64_t usc_base,
                                uint64_t stream_va, struct agxs_stats *stats)
{
   seen.sampler_heap = options->sampler_heap;
   seen.sampler_count = options->sampler_count;
   return AGX_OK;
}

static void the_sampler_heap_reaches_the_machine(void **state)
{
   struct device device = device_open(note_samplers);
   uint32_t handle = make_syncobj(&device);
   struct agx_uapi_sync out = binary(handle);
   struct compute_record command = compute_command(1);
   command.compute.sampler_heap = 0x123450;
   command.compute.sampler_count = 17;
   assert_int_equal(submit(&device, &command, &out, 0, 1), 0);
   assert_int_equal(wait_syncobj(&device, handle, INT64_MAX, 0), 0);
   assert_int_equal(seen.sampler_heap, 0x123450);
   assert_int_equal(seen.sampler_count, 17);
   device_close(&device);
}

#define MOST 64 /* commands of a submission */

struct packed {
   uint8_t bytes[MOST * 256];
   uint32_t size;
};

static void put(struct packed *packed, const struct agx_uapi_cmd_header *header,
                const void *payload)
{
   memcpy(packed->bytes + packed->size, header, sizeof(*header));
   memcpy(packed->bytes + packed->size + sizeof(*header), payload, header->size);
   packed->size += sizeof(*header) + header->size;
}

static void put_attachments(struct packed *packed, uint16_t type, uint16_t count)
{
   const struct agx_uapi_attachment list[16] = {{.pointer = 0x4000, .size = PAGE}};
   const struct agx_uapi_cmd_header header = {type, (uint16_t)(count * sizeof(list[0])),
                                              AGX_UAPI_BARRIER_NONE, AGX_UAPI_BARRIER_NONE};
   put(packed, &header, list);
}

/* Each command waits for the one before, by its number; the render subqueue has none, so its
 * barrier says so in both ways. Attachments of each kind lie between and don't count. */
static void put_all(struct packed *packed, uint32_t stamps)
{
   for (uint16_t i = 0; i < MOST; i++) {
      const struct agx_uapi_cmd_compute compute = {
         .cdm_ctrl_stream_base = i + 1u, .ts = {{stamps, i * 16u}, {stamps, i * 16u + 8}}};
      const uint16_t short_bytes = 16; /* what is missing of it is 0: no stamps */
      const struct agx_uapi_cmd_header header = {AGX_UAPI_CMD_COMPUTE,
                                                 i == 7 ? short_bytes : (uint16_t)sizeof(compute),
                                                 i % 2 ? 0 : AGX_UAPI_BARRIER_NONE, i};
      if (i % 8 == 0)
         put_attachments(packed, (uint16_t)(AGX_UAPI_CMD_SET_VERTEX_ATTACHMENTS + i / 8 % 3),
                         i % 17);
      put(packed, &header, &compute);
   }
}

static void one_submission_holds_64_commands(void **state)
{
   struct device device = open_machine();
   uint32_t gem = make_gem(&device, PAGE, 0), done = make_syncobj(&device);
   uint32_t last = make_syncobj(&device);
   uint64_t *times = map_gem(&device, gem, PAGE), before = 1;
   struct agx_uapi_gem_bind_object object = {
      .flags = AGX_UAPI_BIND_OBJECT_USAGE_TIMESTAMPS, .handle = gem, .range = PAGE};
   assert_int_equal(CALL(&device, ASAHI_GEM_BIND_OBJECT, object), 0);
   struct agx_uapi_sync outs[] = {binary(done), point(last, 5)};
   struct packed packed = {.size = 0};
   put_all(&packed, object.object_handle);
   struct agx_uapi_submit args = {.syncs = (uintptr_t)outs,
                                  .cmdbuf = (uintptr_t)packed.bytes,
                                  .queue_id = device.queue,
                                  .out_sync_count = 2,
                                  .cmdbuf_size = packed.size};
   assert_int_equal(CALL(&device, ASAHI_SUBMIT, args), 0);
   assert_int_equal(wait_syncobj(&device, done, INT64_MAX, 0), 0);
   assert_int_equal(wait_point(&device, last, 5, 0, 0), 0); /* one fence for both */
   assert_int_equal(machine.count, MOST);
   for (unsigned i = 0; i < MOST; i++) {
      assert_int_equal(machine.ran[i], i + 1);
      if (i == 7) {
         assert_int_equal(times[2 * i] | times[2 * i + 1], 0);
         continue;
      }
      assert_true(before <= times[2 * i] && times[2 * i] <= times[2 * i + 1]);
      before = times[2 * i + 1];
   }
   unmap_gem(&device, times, PAGE);
   device_close(&device);
}

static const struct agx_uapi_cmd_render sound_render = {
   .vdm_ctrl_stream_base = 0x4000,
   .width_px = 640,
   .height_px = 480,
   .layers = 1,
   .samples = 1,
   .utile_width_px = 32,
   .utile_height_px = 32,
};

/* A compute command, two render commands, and another compute command. */
static int submit_mixed(struct device *device, uint32_t handle)
{
   const struct agx_uapi_cmd_header render = {AGX_UAPI_CMD_RENDER, sizeof(sound_render), 0, 1};
   struct compute_record first = compute_command(5), last = compute_command(6);
   struct agx_uapi_sync out = binary(handle);
   struct packed packed = {.size = 0};
   last.header.vdm_barrier = 2; /* waits for both render commands */
   last.header.cdm_barrier = 1;
   put(&packed, &first.header, &first.compute);
   put(&packed, &render, &sound_render);
   put(&packed, &render, &sound_render);
   put(&packed, &last.header, &last.compute);
   struct agx_uapi_submit args = {.syncs = (uintptr_t)&out,
                                  .cmdbuf = (uintptr_t)packed.bytes,
                                  .queue_id = device->queue,
                                  .out_sync_count = 1,
                                  .cmdbuf_size = packed.size};
   return CALL(device, ASAHI_SUBMIT, args);
}

/* Accepted, so that its fence completes: with an error, where the render command stands. */
static void render_commands_fail_their_fence(void **state)
{
   struct device device = open_machine();
   struct agx_virtual_statistics counts;
   struct agx_virtual_failure failure;
   uint32_t done = make_syncobj(&device);
   assert_int_equal(submit_mixed(&device, done), 0);
   assert_int_equal(wait_syncobj(&device, done, INT64_MAX, 0), 0);
   assert_int_equal(fence_status(&device, done), -ENODATA);
   assert_int_equal(machine.count, 1);
   assert_int_equal(machine.ran[0], 5);
   agx_virtual_read_statistics(device.node, &counts);
   assert_int_equal(counts.renders, 2);
   assert_int_equal(counts.failures, 1);
   assert_true(agx_virtual_take_failure(device.file, 0x4000, 0x4000, &failure));
   assert_int_equal(failure.command, 1);
   assert_int_equal(failure.error, -ENODATA);
   assert_non_null(strstr(failure.text, "render"));
   run(&device, 7); /* the queue goes on */
   assert_int_equal(machine.ran[1], 7);
   agx_virtual_set_option(device.node, AGX_VIRTUAL_EXECUTE, 0);
   assert_int_equal(submit_mixed(&device, done), 0);
   assert_int_equal(wait_syncobj(&device, done, INT64_MAX, 0), 0);
   assert_int_equal(fence_status(&device, done), 1);
   device_close(&device);
}

/* A job of the queue with the higher priority goes first, whichever was submitted first. */
static void priorities_decide(void **state)
{
   struct device device = open_machine();
   uint32_t queues[4], timeline = make_syncobj(&device);
   for (unsigned i = 0; i < AGX_COUNT(queues); i++) {
      struct agx_uapi_queue_create args = {
         .vm_id = device.vm, .priority = i == 3 ? AGX_UAPI_PRIORITY_MEDIUM : AGX_UAPI_PRIORITY_LOW};
      assert_int_equal(CALL(&device, ASAHI_QUEUE_CREATE, args), 0);
      queues[i] = args.queue_id;
   }
   static const uint64_t streams[] = {HELD, HELD_TOO, 8, 9};
   for (unsigned i = 0; i < AGX_COUNT(queues); i++) {
      struct agx_uapi_sync out = point(make_syncobj(&device), 1);
      device.queue = queues[i];
      out.handle = i == 2 ? timeline : out.handle;
      assert_int_equal(submit_at(&device, streams[i], &out, 0, 1), 0);
      if (i < 2)
         await_start(i + 1); /* both workers have something to do now */
   }
   release();
   assert_int_equal(wait_point(&device, timeline, 1, INT64_MAX, 0), 0);
   assert_int_equal(machine.ran[0], HELD);
   assert_int_equal(machine.ran[1], 9);
   assert_int_equal(machine.ran[2], 8);
   pthread_mutex_lock(&machine.lock);
   machine.open_too = true;
   pthread_cond_broadcast(&machine.changed);
   pthread_mutex_unlock(&machine.lock);
   device_close(&device);
}

static void closing_in_flight_cancels_what_did_not_start(void **state)
{
   struct device device = open_machine(), other = {.node = device.node};
   assert_ok(agx_virtual_open(device.node, &other.file));
   uint32_t handle = make_syncobj(&device);
   struct agx_uapi_sync out = binary(handle);
   assert_int_equal(submit_at(&device, HELD, NULL, 0, 0), 0);
   await_start(1);
   assert_int_equal(submit_at(&device, 9, &out, 0, 1), 0);
   struct agx_uapi_syncobj_handle args = {.handle = handle};
   assert_int_equal(CALL(&device, SYNCOBJ_HANDLE_TO_FD, args), 0);
   assert_int_equal(CALL(&other, SYNCOBJ_FD_TO_HANDLE, args), 0);
   close(args.fd);
   make_gem(&device, 4 * PAGE, AGX_UAPI_GEM_VM_PRIVATE);
   agx_virtual_close(device.file);
   assert_int_equal(wait_syncobj(&other, args.handle, INT64_MAX, 0), 0);
   assert_int_equal(fence_status(&other, args.handle), -ECANCELED);
   release();
   agx_virtual_close(other.file);
   agx_virtual_node_destroy(device.node);
   assert_int_equal(machine.count, 1);
}

static void without_execution_a_submission_is_done_at_once(void **state)
{
   struct device device = open_machine();
   agx_virtual_set_option(device.node, AGX_VIRTUAL_EXECUTE, 0);
   uint32_t handle = make_syncobj(&device);
   struct agx_uapi_sync out = point(handle, 3);
   assert_int_equal(submit_at(&device, HELD, &out, 0, 1), 0);
   assert_int_equal(wait_point(&device, handle, 3, 0, 0), 0);
   assert_int_equal(machine.count, 0);
   device_close(&device);
}

static int64_t deadline_ns;

static agx_status run_out_of_time(const struct agx_chip *chip, const struct agxs_memory *memory,
                                  const struct agxs_options *options, uint64_t usc_base,
                                  uint64_t stream_va, struct agxs_stats *out_stats)
{
   deadline_ns = options->deadline_ns;
   return AGX_FAIL(AGX_DEADLINE_EXCEEDED, "dispatch 0: over the time limit");
}

/* A limit in milliseconds counts from a command's begin; the failure names it. */
static void a_command_has_a_time_limit(void **state)
{
   struct device device = device_open(run_out_of_time);
   struct agx_virtual_failure failure;
   uint32_t handle = make_syncobj(&device);
   struct agx_uapi_sync out = binary(handle);
   run(&device, 5);
   assert_int_equal(deadline_ns, 0);
   agx_virtual_set_option(device.node, AGX_VIRTUAL_TIMEOUT_MS, 250);
   int64_t before_ns = now_ns();
   assert_int_equal(submit_at(&device, 6, &out, 0, 1), 0);
   assert_int_equal(wait_syncobj(&device, handle, INT64_MAX, 0), 0);
   assert_true(deadline_ns >= before_ns + 250000000 && deadline_ns <= now_ns() + 250000000);
   assert_int_equal(fence_status(&device, handle), -ETIMEDOUT);
   assert_true(agx_virtual_take_failure(device.file, 6, 6, &failure));
   assert_non_null(strstr(failure.text, "AGX_VIRTUAL_TIMEOUT_MS=250"));
   device_close(&device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_queue_runs_in_order),
      cmocka_unit_test(work_waits_for_its_in_syncs),
      cmocka_unit_test(failures_show_in_the_fence_only),
      cmocka_unit_test(a_sync_file_polls_ready_when_done),
      cmocka_unit_test(a_sync_file_may_be_closed_before_its_end),
      cmocka_unit_test(commands_run_serially_and_stop_at_a_failure),
      cmocka_unit_test(timestamps_lie_in_order),
      cmocka_unit_test(the_sampler_heap_reaches_the_machine),
      cmocka_unit_test(one_submission_holds_64_commands),
      cmocka_unit_test(render_commands_fail_their_fence),
      cmocka_unit_test(a_command_has_a_time_limit),
      cmocka_unit_test(priorities_decide),
      cmocka_unit_test(closing_in_flight_cancels_what_did_not_start),
      cmocka_unit_test(without_execution_a_submission_is_done_at_once),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
