/* SPDX-License-Identifier: MIT
 *
 * Profiling as the virtual device shows it: counters, faults in streams that were cut, memory that
 * runs out.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "failing_kmd.h"
#include "fixture.h"
#include "hal/device/device.h"
#include "failing_alloc.h"

#define MAX_RECORDS  64
#define MAX_COUNTERS 16

struct told {
   struct agx_profile_record records[MAX_RECORDS];
   struct agx_profile_counter counters[MAX_RECORDS][MAX_COUNTERS];
   uint32_t count;
};

static void note(void *user, const struct agx_profile_record *record)
{
   struct told *told = user;
   assert_true(told->count < MAX_RECORDS && record->counter_count <= MAX_COUNTERS);
   if (record->counter_count)
      memcpy(told->counters[told->count], record->counters,
             record->counter_count * sizeof(record->counters[0]));
   told->records[told->count++] = *record;
}

static void begin(struct fixture *f, struct told *told, uint64_t families)
{
   *told = (struct told){0};
   struct agx_profile_desc desc = {
      .size = sizeof(desc), .families = families, .fn = note, .user = told};
   assert_ok(agx_profile_begin(f->device, &desc));
}

static uint64_t counter(const struct told *told, uint32_t record, const char *name)
{
   for (uint32_t i = 0; i < told->records[record].counter_count; i++)
      if (strcmp(told->counters[record][i].name, name) == 0)
         return told->counters[record][i].value;
   fail_msg("record %u has no counter %s", record, name);
   return 0;
}

static agx_status run(struct fixture *f, struct agx_command_buffer *commands)
{
   struct agx_semaphore *done = fixture_semaphore(f);
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, 1}));
   agx_status status = fixture_wait(done, 1);
   agx_release(done);
   return status;
}

/* The kernels are known to the instruction. */
static void counters_count(void **state)
{
   struct fixture f;
   struct told told;
   uint32_t *words;
   fixture_open(&f, "virtual");
   struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(&f, 1024, &words);
   struct agx_command_buffer *commands = fixture_begin(&f);
   fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
   fixture_dispatch(commands, count, 4, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   begin(&f, &told, AGX_PROFILE_COUNTERS);
   for (int round = 0; round < 2; round++)
      assert_ok(run(&f, commands));
   assert_ok(agx_profile_flush(f.device));
   assert_int_equal(told.count, 4);
   for (uint32_t i = 0; i < 4; i++) {
      uint64_t groups = i % 2 ? 4 : 1;
      assert_int_equal(told.records[i].kind, AGX_PROFILE_RECORD_COUNTERS);
      assert_int_equal(told.records[i].command_index, i % 2);
      assert_int_equal(told.records[i].workgroups[0], groups);
      assert_int_equal(counter(&told, i, "workgroups"), groups);
      assert_int_equal(counter(&told, i, "threads"), groups * 64);
      assert_int_equal(counter(&told, i, "bytes"), groups * 256);
      assert_true(counter(&told, i, "instructions") >= groups * 2 * 3);
      assert_true(counter(&told, i, "cycles") > 0);
   }
   assert_int_equal(counter(&told, 1, "instructions"), 4 * counter(&told, 0, "instructions"));
   assert_ok(agx_profile_end(f.device));
   assert_ok(run(&f, commands)); /* the session has ended: no record */
   agx_release(commands);
   agx_release(buffer);
   agx_release(count);
   fixture_close(&f);
}

/* With its dispatches as commands of their own, the fault is still that of the right dispatch. */
static void a_fault_is_named_in_a_stream_that_was_cut(void **state)
{
   struct fixture f;
   struct told told;
   uint32_t *words;
   uint64_t address = 0x2345678000;
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   fixture_open(&f, "virtual");
   unsetenv("AGX_VIRTUAL_STRICT");
   struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
   struct agx_executable *stray = fixture_kernel(&f, &agx_test_stray);
   struct agx_buffer *buffer = fixture_buffer(&f, 256, &words);
   struct agx_command_buffer *commands = fixture_begin(&f);
   for (int i = 0; i < 3; i++) {
      fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   fixture_dispatch(commands, stray, 1, NULL, 0, &address, 8);
   fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   begin(&f, &told, AGX_PROFILE_DISPATCH | AGX_PROFILE_QUEUE);
   assert_fails(run(&f, commands), AGX_DATA_LOSS, "dispatch 3 (\"stray\")");
   assert_ok(agx_profile_flush(f.device));
   assert_int_equal(told.count, 6);
   assert_int_equal(told.records[0].kind, AGX_PROFILE_RECORD_QUEUE);
   assert_int_equal(told.records[0].status, AGX_DATA_LOSS);
   for (uint32_t i = 1; i < 6; i++) {
      assert_int_equal(told.records[i].kind, AGX_PROFILE_RECORD_DISPATCH);
      assert_int_equal(told.records[i].command_index, i - 1);
      assert_int_equal(told.records[i].status, AGX_DATA_LOSS);
   }
   assert_int_equal(told.records[3].granularity, AGX_PROFILE_ONE_DISPATCH);
   /* Behind the fault nothing ran, and so has no time. */
   assert_int_equal(told.records[5].granularity, AGX_PROFILE_NO_TIME);
   assert_int_equal(told.records[5].start_ns, 0);
   assert_ok(agx_profile_end(f.device));
   agx_release(commands);
   agx_release(buffer);
   agx_release(count);
   agx_release(stray);
   fixture_close(&f);
}

struct within {
   struct agx_device *device;
   agx_status flushed;
   uint32_t calls;
};

static void flush_from_within(void *user, const struct agx_profile_record *record)
{
   struct within *within = user;
   within->calls++;
   within->flushed = agx_profile_flush(within->device);
}

static void a_flush_from_within_is_refused(void **state)
{
   struct fixture f;
   fixture_open(&f, "virtual");
   struct within within = {f.device, AGX_OK, 0};
   struct agx_profile_desc desc = {.size = sizeof(desc),
                                   .families = AGX_PROFILE_QUEUE,
                                   .fn = flush_from_within,
                                   .user = &within};
   assert_ok(agx_profile_begin(f.device, &desc));
   assert_ok(run(&f, NULL));
   assert_ok(agx_profile_end(f.device));
   assert_int_equal(within.calls, 1);
   assert_int_equal(within.flushed, AGX_FAILED_PRECONDITION);
   fixture_close(&f);
}

static void bounds_and_dispatches_exclude_each_other(void **state)
{
   struct fixture f;
   struct told told;
   setenv("AGX_DEBUG", "bounds", 1);
   fixture_open(&f, "virtual");
   unsetenv("AGX_DEBUG");
   struct agx_profile_desc desc = {
      .size = sizeof(desc), .families = AGX_PROFILE_DISPATCH, .fn = note, .user = &told};
   assert_fails(agx_profile_begin(f.device, &desc), AGX_UNAVAILABLE, "AGX_DEBUG=bounds");
   begin(&f, &told, AGX_PROFILE_DEVICE_QUEUE);
   assert_ok(agx_profile_end(f.device));
   fixture_close(&f);
}

/* A kernel without what timing takes says so when the session begins. */
static void timing_is_checked(void **state)
{
   static const uint32_t requests[] = {0x41 /* GET_TIME */, 0x47 /* GEM_BIND_OBJECT */};
   struct fixture f = {0};
   struct told told = {0};
   struct failing_kmd kmd;
   failing_kmd_open(&kmd);
   fixture_open_over(&f, NULL, &kmd.base);
   struct agx_profile_desc desc = {.size = sizeof(desc), .fn = note, .user = &told};
   for (uint32_t i = 0; i < 2; i++) {
      failing_kmd_arm(&kmd, 0, requests[i], ENOTTY);
      desc.families = AGX_PROFILE_DEVICE_QUEUE;
      assert_true(agx_profile_begin(f.device, &desc) != AGX_OK);
      desc.families = AGX_PROFILE_QUEUE | AGX_PROFILE_HOST;
      assert_ok(agx_profile_begin(f.device, &desc));
      assert_ok(run(&f, NULL));
      assert_ok(agx_profile_end(f.device));
   }
   failing_kmd_disarm(&kmd);
   fixture_close(&f);
   failing_kmd_await_close(&kmd);
}

/* ---- memory that runs out ------------------------------------------------- */

/* Whatever allocation fails: the call that needed it says so, or a record is counted as dropped;
 * nothing leaks, and the work is right. */
static void host_memory_may_run_out(void **state)
{
   static const uint64_t families = AGX_PROFILE_QUEUE | AGX_PROFILE_DISPATCH | AGX_PROFILE_HOST |
                                    AGX_PROFILE_MEMORY | AGX_PROFILE_COUNTERS;
   bool finished = false;
   for (int nth = 0; nth < 100 && !finished; nth++) {
      struct failing_alloc failing;
      struct told told = {0};
      struct fixture f = {0};
      failing_alloc_init(&failing, SIZE_MAX);
      const struct agx_alloc_callbacks callbacks = {failing.alloc.user, failing.alloc.alloc,
                                                    failing.alloc.free};
      struct agx_instance_desc instance = {.size = sizeof(instance), .alloc = &callbacks};
      struct agx_device_desc device = {.size = sizeof(device), .name = "virtual"};
      uint32_t *words;
      assert_ok(agx_instance_create(&instance, &f.instance));
      assert_ok(agx_device_open(f.instance, &device, &f.device));
      f.info.size = sizeof(f.info);
      agx_device_get_info(f.device, &f.info);
      struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
      struct agx_buffer *buffer = fixture_buffer(&f, 256, &words);
      struct agx_command_buffer *commands = fixture_begin(&f);
      fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
      assert_ok(agx_command_buffer_end(commands));
      struct agx_profile_desc desc = {
         .size = sizeof(desc), .families = families, .fn = note, .user = &told};
      struct agx_semaphore *done = fixture_semaphore(&f);
      size_t budget = (size_t)nth;
      atomic_store(&failing.remaining, budget);
      agx_status status = agx_profile_begin(f.device, &desc);
      bool begun = status == AGX_OK;
      if (begun)
         status = fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1});
      if (begun && status == AGX_OK)
         status = fixture_wait(done, 1);
      if (begun)
         assert_ok(agx_profile_end(f.device));
      finished = atomic_load(&failing.remaining) > 0;
      atomic_store(&failing.remaining, SIZE_MAX);
      assert_true(status == AGX_OK || status == AGX_RESOURCE_EXHAUSTED);
      assert_int_equal(words[63], status == AGX_OK && begun ? 64 : 0);
      agx_release(done);
      agx_release(commands);
      agx_release(buffer);
      agx_release(count);
      fixture_close(&f);
      failing_alloc_await_end(&failing);
   }
   assert_true(finished);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(counters_count),
      cmocka_unit_test(a_fault_is_named_in_a_stream_that_was_cut),
      cmocka_unit_test(a_flush_from_within_is_refused),
      cmocka_unit_test(timing_is_checked),
      cmocka_unit_test(bounds_and_dispatches_exclude_each_other),
      cmocka_unit_test(host_memory_may_run_out),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
