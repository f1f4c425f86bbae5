/* SPDX-License-Identifier: MIT
 *
 * Timestamps in command buffers: that they are of the right moments, whatever stands around them,
 * and that a recording in several commands does what one in a single command does. Each test runs
 * plain and with AGX_DEBUG=bounds.
 */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "base/util.h"

#define MANY 200

static const char *debug = "validate";

static int open_plain(void **state)
{
   static struct work w;
   setenv("AGX_DEBUG", debug, 1);
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   work_open(&w, "virtual");
   *state = &w;
   return 0;
}

static int open_bounds(void **state)
{
   debug = "validate,bounds";
   return open_plain(state);
}

static int close_work(void **state)
{
   work_close(*state);
   unsetenv("AGX_DEBUG");
   unsetenv("AGX_VIRTUAL_STRICT");
   debug = "validate";
   return 0;
}

static struct agx_buffer *make_times(struct work *w, uint64_t **out_times)
{
   const struct agx_buffer_desc desc = {
      .size = sizeof(desc),
      .size_B = (MANY + 1) * sizeof(uint64_t),
      .usage =
         AGX_USAGE_TIMESTAMPS | AGX_USAGE_TRANSFER | AGX_USAGE_MAPPING_READ | AGX_USAGE_MAPPING,
   };
   struct agx_buffer *buffer = NULL;
   assert_ok(agx_buffer_create(w->f->device, &desc, &buffer));
   assert_ok(agx_buffer_map(buffer, (void **)out_times));
   return buffer;
}

static struct agx_buffer_ref at(struct agx_buffer *times, uint32_t index)
{
   return (struct agx_buffer_ref){times, index * sizeof(uint64_t), sizeof(uint64_t)};
}

static uint64_t now(struct work *w)
{
   struct agx_device_time time = {.size = sizeof(time)};
   assert_ok(agx_device_get_time(w->f->device, &time));
   return time.gpu;
}

static void count(struct work *w, struct agx_command_buffer *commands, uint32_t buffer)
{
   fixture_dispatch(commands, w->count, 1, &w->buffers[buffer], 1, NULL, 0);
}

static void assert_counted(const struct work *w, uint32_t buffer)
{
   for (uint32_t i = 0; i < 64; i++)
      assert_int_equal(w->words[buffer][i], i + 1);
   memset(w->words[buffer], 0, 64 * sizeof(w->words[buffer][0]));
}

static void run(struct work *w, struct agx_command_buffer *commands)
{
   struct agx_semaphore *done = fixture_semaphore(w->f);
   assert_ok(fixture_submit(w->f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   agx_release(done);
}

/* ---- moments --------------------------------------------------------------- */

static void times_are_of_where_they_stand(void **state)
{
   struct work *w = *state;
   uint64_t *times;
   struct agx_buffer *buffer = make_times(w, &times);
   struct agx_command_buffer *commands = fixture_begin(w->f);
   assert_ok(agx_cmd_timestamp(commands, at(buffer, 0)));
   count(w, commands, 0);
   assert_ok(agx_cmd_timestamp(commands, at(buffer, 1)));
   assert_ok(agx_cmd_timestamp(commands, at(buffer, 2)));
   count(w, commands, 1);
   count(w, commands, 2);
   assert_ok(agx_cmd_timestamp(commands, at(buffer, 3)));
   count(w, commands, 0); /* behind the last one */
   assert_ok(agx_command_buffer_end(commands));
   for (int turn = 0; turn < 3; turn++) {
      const uint64_t before = now(w);
      run(w, commands);
      const uint64_t after = now(w);
      assert_true(before <= times[0]);
      for (uint32_t i = 0; i < 3; i++)
         assert_true(times[i] <= times[i + 1]);
      assert_true(times[3] <= after);
      assert_true(times[1] < times[3]); /* two dispatches between them */
      for (uint32_t i = 0; i < 3; i++)
         assert_counted(w, i);
   }
   assert_int_equal(times[4], 0);
   agx_release(commands);
   agx_release(buffer);
}

/* More than the kernel takes at once, through several chunks, in flight several times at once. */
static void there_may_be_any_number(void **state)
{
   struct work *w = *state;
   uint64_t *times;
   struct agx_buffer *buffer = make_times(w, &times);
   struct agx_command_buffer *commands = fixture_begin(w->f);
   for (uint32_t i = 0; i < MANY; i++) {
      for (uint32_t k = 0; k < i % 40; k++)
         count(w, commands, 0);
      assert_ok(agx_cmd_timestamp(commands, at(buffer, i)));
   }
   count(w, commands, 1);
   assert_ok(agx_command_buffer_end(commands));
   for (uint64_t i = 1; i <= 4; i++)
      assert_ok(fixture_submit(w->f, commands, NO_POINT, (struct agx_point){w->done, i}));
   assert_ok(fixture_wait(w->done, 4));
   for (uint32_t i = 1; i < MANY; i++)
      assert_true(times[i - 1] && times[i - 1] <= times[i]);
   assert_counted(w, 0);
   assert_counted(w, 1);
   assert_ok(agx_command_buffer_begin(commands)); /* and none any more */
   count(w, commands, 2);
   assert_ok(agx_command_buffer_end(commands));
   run(w, commands);
   assert_counted(w, 2);
   agx_release(commands);
   agx_release(buffer);
}

static void one_alone_is_a_command_buffer(void **state)
{
   struct work *w = *state;
   uint64_t *times;
   struct agx_buffer *buffer = make_times(w, &times);
   struct agx_command_buffer *commands = fixture_begin(w->f);
   assert_ok(agx_cmd_timestamp(commands, at(buffer, 7)));
   assert_ok(agx_command_buffer_end(commands));
   const uint64_t before = now(w);
   run(w, commands);
   assert_true(times[7] >= before && times[7] <= now(w));
   agx_release(commands);
   agx_release(buffer);
}

/* ---- commands around them ---------------------------------------------------- */

/* What stands before it is over, without a barrier; who reads it needs one. */
static void fills_reset_and_copies_read_them(void **state)
{
   struct work *w = *state;
   const struct agx_command_buffer_desc with_table = {.size = sizeof(with_table), .table_slots = 1};
   const uint32_t ones = UINT32_MAX;
   uint64_t *times, copied;
   struct agx_buffer *buffer = make_times(w, &times);
   const struct agx_buffer_ref table = {buffer, 0, AGX_WHOLE_LENGTH};
   struct agx_command_buffer *commands;
   assert_ok(agx_command_buffer_create(w->f->device, &with_table, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   assert_ok(agx_cmd_fill(commands, (struct agx_buffer_ref){.length_B = 32, .table_slot = 1}, &ones,
                          sizeof(ones)));
   assert_ok(agx_cmd_timestamp(
      commands, (struct agx_buffer_ref){.offset_B = 8, .length_B = 8, .table_slot = 1}));
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_cmd_copy(commands,
                          (struct agx_buffer_ref){.offset_B = 8, .length_B = 8, .table_slot = 1},
                          (struct agx_buffer_ref){w->buffers[0], 0, 8}));
   assert_ok(agx_command_buffer_end(commands));
   const struct agx_point signal = {w->done, 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_EXECUTE,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.execute = {commands, &table, 1}};
   const uint64_t before = now(w);
   assert_ok(agx_submit(w->f->device, &op, 1, NULL));
   assert_ok(fixture_wait(w->done, 1));
   assert_true(times[0] == UINT64_MAX && times[2] == UINT64_MAX);
   assert_true(times[1] >= before && times[1] <= now(w));
   memcpy(&copied, w->words[0], sizeof(copied));
   assert_true(copied == times[1]);
   agx_release(commands);
   agx_release(buffer);
}

static void a_profile_takes_them_as_they_are(void **state)
{
   struct work *w = *state;
   const char *path = "timestamp_test.json";
   const struct agx_profile_desc desc = {.size = sizeof(desc),
                                         .families = AGX_PROFILE_QUEUE | AGX_PROFILE_DEVICE_QUEUE |
                                                     AGX_PROFILE_DISPATCH,
                                         .path = path};
   uint64_t *times;
   struct agx_buffer *buffer = make_times(w, &times);
   struct agx_command_buffer *commands = fixture_begin(w->f);
   count(w, commands, 0);
   assert_ok(agx_cmd_timestamp(commands, at(buffer, 0)));
   count(w, commands, 1);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(agx_profile_begin(w->f->device, &desc));
   run(w, commands);
   assert_ok(agx_profile_end(w->f->device));
   assert_true(times[0]);
   assert_counted(w, 0);
   assert_counted(w, 1);
   remove(path);
   agx_release(commands);
   agx_release(buffer);
}

/* ---- failures ---------------------------------------------------------------- */

static void a_fault_names_its_dispatch(void **state)
{
   struct work *w = *state;
   uint64_t *times;
   struct agx_buffer *buffer = make_times(w, &times);
   struct agx_executable *stray = fixture_kernel(w->f, &agx_test_stray);
   struct agx_command_buffer *commands = fixture_begin(w->f);
   const uint64_t nowhere = 0x123400000000ull;
   count(w, commands, 0);
   count(w, commands, 1);
   assert_ok(agx_cmd_timestamp(commands, at(buffer, 0)));
   count(w, commands, 2);
   fixture_dispatch(commands, stray, 1, NULL, 0, &nowhere, sizeof(nowhere));
   assert_ok(agx_cmd_timestamp(commands, at(buffer, 1)));
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(w->f, commands, NO_POINT, (struct agx_point){w->done, 1}));
   assert_fails(fixture_wait(w->done, 1), AGX_DATA_LOSS, "dispatch 3 (\"stray\")");
   assert_true(times[0]);
   agx_release(stray);
   agx_release(commands);
   agx_release(buffer);
}

static void what_is_no_place_for_a_time_is_refused(void **state)
{
   struct work *w = *state;
   uint64_t *times;
   struct agx_buffer *buffer = make_times(w, &times), *other = NULL;
   struct agx_command_buffer *c = fixture_begin(w->f);
   const struct agx_pool_desc pool = {.size = sizeof(pool), .usage = AGX_USAGE_TIMESTAMPS};
   const struct agx_buffer_desc pages = {
      .size = sizeof(pages), .size_B = 16384, .usage = AGX_USAGE_TIMESTAMPS};
   struct agx_pool *made = NULL;
   struct agx_buffer_info info = {.size = sizeof(info)};
   assert_fails(agx_cmd_timestamp(c, (struct agx_buffer_ref){NULL, 0, 8}), AGX_INVALID_ARGUMENT,
                "NULL");
   assert_fails(agx_cmd_timestamp(c, (struct agx_buffer_ref){w->buffers[0], 0, 8}),
                AGX_PERMISSION_DENIED, "AGX_USAGE_TIMESTAMPS");
   assert_fails(agx_cmd_timestamp(c, (struct agx_buffer_ref){buffer, 4, 8}), AGX_INVALID_ARGUMENT,
                "multiple of 8");
   assert_fails(agx_cmd_timestamp(c, at(buffer, MANY + 1)), AGX_OUT_OF_RANGE, "8 bytes at 1608");
   assert_fails(agx_cmd_timestamp(c, (struct agx_buffer_ref){buffer, 0, 4}), AGX_OUT_OF_RANGE,
                "8 bytes");
   assert_fails(agx_pool_create(w->f->device, &pool, &made), AGX_INVALID_ARGUMENT, "TIMESTAMPS");
   assert_fails(agx_vmem_reserve(w->f->device, &pages, &other), AGX_INVALID_ARGUMENT, "TIMESTAMPS");
   agx_buffer_get_info(buffer, &info);
   assert_true(info.usage & AGX_USAGE_TIMESTAMPS && !info.is_exportable);
   agx_release(c);
   agx_release(buffer);
}

static void the_clocks_go_together(void **state)
{
   struct work *w = *state;
   struct agx_device_info info = {.size = sizeof(info)};
   struct agx_device_time a = {.size = sizeof(a)}, b = {.size = sizeof(b)};
   agx_device_get_info(w->f->device, &info);
   assert_true(info.timestamp_hz > 0);
   assert_ok(agx_device_get_time(w->f->device, &a));
   const struct timespec some_ms = {.tv_nsec = 20000000};
   nanosleep(&some_ms, NULL);
   assert_ok(agx_device_get_time(w->f->device, &b));
   const double gpu_ns = (double)(b.gpu - a.gpu) * 1e9 / (double)info.timestamp_hz;
   const double host_ns = (double)(b.monotonic_ns - a.monotonic_ns);
   const double most = (double)(a.deviation_ns + b.deviation_ns) + 0.01 * host_ns + 1000;
   assert_true(host_ns >= 20e6 && gpu_ns > host_ns - most && gpu_ns < host_ns + most);
   a.size = 2;
   assert_fails(agx_device_get_time(w->f->device, &a), AGX_INVALID_ARGUMENT, "agx_device_time");
}

AGX_TEST_FILE(void)
{
#define PLAIN(test)  cmocka_unit_test_setup_teardown(test, open_plain, close_work)
#define BOUNDS(test) cmocka_unit_test_setup_teardown(test, open_bounds, close_work)
   const struct CMUnitTest tests[] = {
      PLAIN(times_are_of_where_they_stand),
      BOUNDS(times_are_of_where_they_stand),
      PLAIN(there_may_be_any_number),
      BOUNDS(there_may_be_any_number),
      PLAIN(one_alone_is_a_command_buffer),
      BOUNDS(one_alone_is_a_command_buffer),
      PLAIN(fills_reset_and_copies_read_them),
      BOUNDS(fills_reset_and_copies_read_them),
      PLAIN(a_profile_takes_them_as_they_are),
      PLAIN(a_fault_names_its_dispatch),
      PLAIN(what_is_no_place_for_a_time_is_refused),
      PLAIN(the_clocks_go_together),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
