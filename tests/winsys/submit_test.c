/* SPDX-License-Identifier: MIT
 *
 * Submissions through the winsys: what the kernel is given for commands, waits and signals.
 */
#include "fake_kmd.h"

#include <errno.h>
#include <string.h>

#include "winsys/device_impl.h"

static void assert_sync(const struct agx_uapi_sync *sync, const struct agxw_timeline *timeline,
                        uint64_t value)
{
   assert_int_equal(sync->sync_type, AGX_UAPI_SYNC_TIMELINE_SYNCOBJ);
   assert_int_equal(sync->handle, timeline->handle);
   assert_int_equal(sync->timeline_value, value);
}

static void a_queue_knows_its_window(void **state)
{
   struct fake_device it;
   fake_device_begin_queue(&it, 64);
   assert_int_equal(it.fake.queue.usc_exec_base, 0x1100000000);
   assert_int_equal(it.fake.queue.vm_id, it.device->vm_id);
   struct agxw_queue *queue;
   fake_kmd_fail(&it.fake, 0, 0, EINVAL);
   assert_fails(agxw_queue_create(it.device, 3, &queue), AGX_INVALID_ARGUMENT, "priority 3");
   assert_null(queue);
   fake_device_end(&it);
}

static void commands_wait_for_the_one_before(void **state)
{
   struct fake_device it;
   fake_device_begin_queue(&it, 64);
   const struct agxw_compute commands[] = {{0x1000, 0x1100}, {0x2000, 0x2100}, {0x3000, 0x3100}};
   const struct agxw_point waits[] = {{it.timeline, 5}},
                           signals[] = {{it.second, 1}, {it.timeline, 6}};
   assert_ok(agxw_submit(it.queue, &(struct agxw_submit){.commands = commands,
                                                         .command_count = 3,
                                                         .waits = waits,
                                                         .wait_count = 1,
                                                         .signals = signals,
                                                         .signal_count = 2}));
   assert_int_equal(it.fake.submit_count, 1);
   const struct fake_submit *submit = &it.fake.submits[0];
   assert_int_equal(submit->request.queue_id, it.queue->id);
   assert_int_equal(submit->request.flags | submit->request.pad, 0);
   assert_int_equal(submit->request.in_sync_count, 1);
   assert_int_equal(submit->request.out_sync_count, 2);
   assert_sync(&submit->syncs[0], it.timeline, 5);
   assert_sync(&submit->syncs[1], it.second, 1);
   assert_sync(&submit->syncs[2], it.timeline, 6);
   assert_int_equal(submit->command_count, 3);
   for (uint32_t i = 0; i < 3; i++) {
      assert_int_equal(submit->commands[i].header.cmd_type, AGX_UAPI_CMD_COMPUTE);
      assert_int_equal(submit->commands[i].header.size, 64);
      assert_int_equal(submit->commands[i].header.vdm_barrier, AGX_UAPI_BARRIER_NONE);
      assert_int_equal(submit->commands[i].header.cdm_barrier, i);
      struct agx_uapi_cmd_compute want = {.cdm_ctrl_stream_base = commands[i].stream_va,
                                          .cdm_ctrl_stream_end = commands[i].stream_end_va};
      assert_memory_equal(&submit->commands[i].compute, &want, sizeof(want));
   }
   fake_device_end(&it);
}

static void one_timeline_stands_once_in_the_waits(void **state)
{
   struct fake_device it;
   fake_device_begin_queue(&it, 64);
   const struct agxw_compute command = {0x1000, 0x1100};
   const struct agxw_point waits[] = {
      {it.timeline, 5}, {it.second, 0}, {it.timeline, 9}, {it.second, 2}, {it.timeline, 7}};
   assert_ok(agxw_submit(
      it.queue, &(struct agxw_submit){
                   .commands = &command, .command_count = 1, .waits = waits, .wait_count = 5}));
   const struct fake_submit *submit = &it.fake.submits[0];
   assert_int_equal(submit->request.in_sync_count, 2);
   assert_int_equal(submit->request.out_sync_count, 0);
   assert_sync(&submit->syncs[0], it.timeline, 9);
   assert_sync(&submit->syncs[1], it.second, 2);
   fake_device_end(&it);
}

/* Waits go with the first part, signals with the last, and the others signal what tells how they
 * came out; each part's first command waits for the parts before. */
static void too_many_commands_are_split(void **state)
{
   static const struct {
      uint32_t limit, count, parts[4];
   } cases[] = {{4, 10, {4, 4, 2}}, {64, 130, {64, 64, 2}}, {1000, 65, {64, 1}}, {4, 4, {4}}};
   for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
      struct fake_device it;
      fake_device_begin_queue(&it, cases[c].limit);
      struct agxw_compute commands[130];
      for (uint32_t i = 0; i < 130; i++)
         commands[i] = (struct agxw_compute){0x1000 * (i + 1), 0x1000 * (i + 1) + 0x80};
      const struct agxw_point wait = {it.timeline, 5}, signal = {it.second, 1};
      assert_ok(agxw_submit(it.queue, &(struct agxw_submit){.commands = commands,
                                                            .command_count = cases[c].count,
                                                            .waits = &wait,
                                                            .wait_count = 1,
                                                            .signals = &signal,
                                                            .signal_count = 1}));
      uint32_t next = 0;
      for (int part = 0; part < it.fake.submit_count; part++) {
         const struct fake_submit *submit = &it.fake.submits[part];
         bool last = part + 1 == it.fake.submit_count;
         assert_int_equal(submit->command_count, cases[c].parts[part]);
         assert_int_equal(submit->request.in_sync_count, part == 0);
         assert_int_equal(submit->request.out_sync_count, 1);
         const struct agx_uapi_sync *out = &submit->syncs[submit->request.in_sync_count];
         assert_int_equal(out->handle == it.second->handle, last);
         assert_int_equal(out->timeline_value, 1);
         for (uint32_t i = 0; i < submit->command_count; i++, next++) {
            assert_int_equal(submit->commands[i].header.cdm_barrier, i);
            assert_int_equal(submit->commands[i].compute.cdm_ctrl_stream_base, 0x1000 * (next + 1));
         }
      }
      assert_int_equal(next, cases[c].count);
      fake_device_end(&it);
   }
}

/* Whatever part the kernel refuses: the timeline knows nothing of the parts before, which say
 * nothing of what signals that point next. */
static void a_refused_part_is_forgotten(void **state)
{
   struct fake_device it;
   int error = 0;
   struct agxw_compute commands[10];
   fake_device_begin_queue(&it, 4);
   for (uint32_t i = 0; i < 10; i++)
      commands[i] = (struct agxw_compute){0x1000 * (i + 1), 0x1000 * (i + 1) + 0x80};
   const struct agxw_point signals[] = {{it.timeline, 1}, {it.second, 1}, {it.second, 1}};
   struct agxw_submit submit = {
      .commands = commands, .command_count = 10, .signals = signals, .signal_count = 3};
   for (int part = 0; part < 3; part++) {
      fake_kmd_fail(&it.fake, part, AGX_UAPI_NR(AGX_IOCTL_ASAHI_SUBMIT), ENOMEM);
      assert_fails(agxw_submit(it.queue, &submit), AGX_RESOURCE_EXHAUSTED, "SUBMIT");
      assert_int_equal(it.fake.live.syncobjs, 2);
   }
   fake_kmd_fail(&it.fake, -1, 0, 0);
   submit.command_count = 1;
   assert_ok(agxw_submit(it.queue, &submit));
   it.fake.file_status = 1;
   it.fake.fence_status = -EIO; /* of parts, were there any */
   assert_ok(agxw_split_error(&signals[0], &error));
   assert_ok(agxw_split_error(&signals[1], &error));
   fake_device_end(&it);
}

static void no_commands_means_copying_fences(void **state)
{
   struct fake_device it;
   fake_device_begin_queue(&it, 64);
   const struct agxw_point waits[] = {{it.timeline, 3}, {it.second, 4}, {it.timeline, 0}};
   const struct agxw_point signals[] = {{it.second, 8}, {it.timeline, 9}};
   struct agxw_submit submit = {
      .waits = waits, .wait_count = 1, .signals = signals, .signal_count = 2};
   assert_ok(agxw_submit(it.queue, &submit));
   assert_int_equal(it.fake.transfer_count, 2);
   const struct agx_uapi_syncobj_transfer *transfers = it.fake.transfers;
   assert_int_equal(transfers[0].src_handle, it.timeline->handle);
   assert_int_equal(transfers[0].src_point, 3);
   assert_int_equal(transfers[0].dst_handle, it.second->handle);
   assert_int_equal(transfers[0].dst_point, 8);
   assert_int_equal(transfers[1].dst_handle, it.timeline->handle);
   assert_int_equal(transfers[1].dst_point, 9);
   assert_int_equal(transfers[1].flags, 0);

   /* Two waits meet in a timeline of their own. */
   submit.wait_count = 3;
   assert_ok(agxw_submit(it.queue, &submit));
   assert_int_equal(it.fake.transfer_count, 6);
   uint32_t meeting = transfers[2].dst_handle;
   assert_int_equal(transfers[2].dst_point, 1);
   assert_int_equal(transfers[3].dst_handle, meeting);
   assert_int_equal(transfers[3].dst_point, 2);
   assert_int_equal(transfers[4].src_handle, meeting);
   assert_int_equal(transfers[4].src_point, 2);
   assert_int_equal(transfers[4].dst_point, 8);
   assert_int_equal(transfers[5].src_point, 2);

   submit.wait_count = 0;
   assert_ok(agxw_submit(it.queue, &submit));
   assert_int_equal(it.fake.transfer_count, 6);
   assert_int_equal(it.fake.signalled, 9);
   assert_int_equal(it.fake.submit_count, 0);
   fake_device_end(&it);
}

static void failures_leave_nothing_behind(void **state)
{
   struct fake_device it;
   fake_device_begin_queue(&it, 64);
   const struct agxw_point waits[] = {{it.timeline, 3}, {it.second, 4}}, signal = {it.second, 8};
   struct agxw_submit submit = {
      .waits = waits, .wait_count = 2, .signals = &signal, .signal_count = 1};
   for (int nth = 0; nth < 4; nth++) { /* create, two to collect, one to signal */
      fake_kmd_fail(&it.fake, nth, 0, ENOMEM);
      assert_fails(agxw_submit(it.queue, &submit), AGX_RESOURCE_EXHAUSTED, "submit: ");
      assert_int_equal(it.fake.live.syncobjs, 2);
   }
   const struct agxw_compute command = {0x1000, 0x1100};
   submit.commands = &command;
   submit.command_count = 1;
   fake_kmd_fail(&it.fake, 0, 0, ENODEV);
   assert_fails(agxw_submit(it.queue, &submit), AGX_UNAVAILABLE, "SUBMIT of 1 commands");
   fake_device_end(&it);
}

static void limits_are_checked(void **state)
{
   struct fake_device it;
   fake_device_begin_queue(&it, 64);
   struct agxw_point points[AGXW_MAX_SYNCS + 1];
   for (uint32_t i = 0; i <= AGXW_MAX_SYNCS; i++)
      points[i] = (struct agxw_point){it.timeline, i + 1};
   const struct agxw_compute command = {0x1000, 0x1100};
   struct agxw_submit submit = {.commands = &command,
                                .command_count = 1,
                                .waits = points,
                                .signals = points,
                                .wait_count = AGXW_MAX_SYNCS,
                                .signal_count = AGXW_MAX_SYNCS};
   assert_ok(agxw_submit(it.queue, &submit));
   submit.wait_count++;
   assert_fails(agxw_submit(it.queue, &submit), AGX_INVALID_ARGUMENT, "65 waits");
   submit.wait_count--;
   submit.signal_count++;
   assert_fails(agxw_submit(it.queue, &submit), AGX_INVALID_ARGUMENT, "65 signals");
   points[1].value = 0;
   submit.signal_count = 2;
   assert_fails(agxw_submit(it.queue, &submit), AGX_INVALID_ARGUMENT, "signal 1 has value 0");
   assert_int_equal(it.fake.submit_count, 1);
   fake_device_end(&it);
}

/* Only commands that ask for them have times, each at its own place. */
static void commands_are_timed(void **state)
{
   struct fake_device it;
   struct agxw_stamps *stamps = NULL;
   uint64_t now = 0;
   fake_device_begin_queue(&it, 64);
   assert_ok(agxw_stamps_create(it.device, 5000, &stamps));
   assert_int_equal(it.fake.gem.flags, AGX_UAPI_GEM_WRITEBACK); /* not private to the VM */
   assert_int_equal(it.fake.object.flags, AGX_UAPI_BIND_OBJECT_USAGE_TIMESTAMPS);
   assert_int_equal(it.fake.object.range % AGX_UAPI_PAGE_BYTES, 0);
   assert_true(it.fake.object.range >= 5000 * 8);
   assert_int_equal(it.fake.object.vm_id, 0);
   const struct agxw_compute commands[] = {
      {0x1000, 0x1100, stamps, 4998, 4999}, {0x2000, 0x2100}, {0x3000, 0x3100, stamps, 0, 1}};
   const struct agxw_point signal = {it.second, 1};
   assert_ok(agxw_submit(it.queue, &(struct agxw_submit){.commands = commands,
                                                         .command_count = 3,
                                                         .signals = &signal,
                                                         .signal_count = 1}));
   const struct fake_submit *submit = &it.fake.submits[0];
   static const struct {
      bool is_timed;
      uint32_t start, end;
   } rows[] = {{true, 39984, 39992}, {false, 0, 0}, {true, 0, 8}};
   for (uint32_t i = 0; i < 3; i++) {
      const struct agx_uapi_timestamps *ts = &submit->commands[i].compute.ts;
      uint32_t handle = rows[i].is_timed ? it.fake.object.object_handle : 0;
      assert_int_equal(ts->start.handle, handle);
      assert_int_equal(ts->end.handle, handle);
      assert_int_equal(ts->start.offset, rows[i].start);
      assert_int_equal(ts->end.offset, rows[i].end);
   }
   assert_ok(agxw_device_time(it.device, &now));
   assert_int_equal(now, 77);
   agxw_stamps_destroy(stamps);
   assert_int_equal(it.fake.live.objects, 0);
   for (int nth = 0; nth < 4; nth++) {
      fake_kmd_fail(&it.fake, nth, 0, ENOMEM);
      assert_fails(agxw_stamps_create(it.device, 8, &stamps), AGX_RESOURCE_EXHAUSTED, "timestamps");
      assert_null(stamps);
   }
   fake_kmd_fail(&it.fake, 0, 0, EINVAL);
   assert_fails(agxw_device_time(it.device, &now), AGX_INVALID_ARGUMENT, "GET_TIME");
   fake_device_end(&it);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_queue_knows_its_window),
      cmocka_unit_test(commands_wait_for_the_one_before),
      cmocka_unit_test(one_timeline_stands_once_in_the_waits),
      cmocka_unit_test(too_many_commands_are_split),
      cmocka_unit_test(a_refused_part_is_forgotten),
      cmocka_unit_test(no_commands_means_copying_fences),
      cmocka_unit_test(failures_leave_nothing_behind),
      cmocka_unit_test(limits_are_checked),
      cmocka_unit_test(commands_are_timed),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
