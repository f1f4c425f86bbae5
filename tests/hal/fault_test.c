/* SPDX-License-Identifier: MIT
 *
 * What is said of a submission that faulted. Streams go to a queue of the test's own, so that
 * the library's threads don't take the fault reports first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "hal/record/command_buffer.h"
#include "hal/sync/fault.h"
#include "hal/sync/submission.h"

struct world {
   struct fixture f;
   struct agxw_queue *queue;
   struct agxw_timeline *timeline;
   uint64_t point;
   struct agx_executable *stray, *count;
   struct agx_buffer *buffer;
   uint64_t address;
};

static struct agx_buffer *make_buffer(struct world *w, uint64_t size_B, const char *label,
                                      uint64_t *out_address)
{
   struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = size_B, .label = label};
   struct agx_buffer_info info = {.size = sizeof(info)};
   struct agx_buffer *buffer = NULL;
   assert_ok(agx_buffer_create(w->f.device, &desc, &buffer));
   agx_buffer_get_info(buffer, &info);
   *out_address = info.address;
   return buffer;
}

static void open_world(struct world *w, const char *strict, const char *debug)
{
   *w = (struct world){0};
   setenv("AGX_VIRTUAL_STRICT", strict, 1);
   setenv("AGX_DEBUG", debug, 1);
   fixture_open(&w->f, "virtual");
   unsetenv("AGX_VIRTUAL_STRICT");
   unsetenv("AGX_DEBUG");
   assert_ok(agxw_queue_create(agx_context_of(w->f.device)->winsys, 0, &w->queue));
   assert_ok(agxw_timeline_create(agx_context_of(w->f.device)->winsys, 0, &w->timeline));
   w->stray = fixture_kernel(&w->f, &agx_test_stray);
   w->count = fixture_kernel(&w->f, &agx_test_count);
   w->buffer = make_buffer(w, 1 << 14, "weights", &w->address);
}

static void close_world(struct world *w)
{
   agxw_timeline_destroy(w->timeline);
   agxw_queue_destroy(w->queue);
   agx_release(w->buffer);
   agx_release(w->stray);
   agx_release(w->count);
   fixture_close(&w->f);
}

/* `before` dispatches that count, then one that stores to the address. */
static struct agx_command_buffer *record(struct world *w, const char *label, int before,
                                         uint64_t address)
{
   struct agx_command_buffer_desc desc = {.size = sizeof(desc), .label = label};
   struct agx_command_buffer *commands = NULL;
   assert_ok(agx_command_buffer_create(w->f.device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   for (int i = 0; i < before; i++) {
      fixture_dispatch(commands, w->count, 1, &w->buffer, 1, NULL, 0);
      assert_ok(agx_cmd_barrier(commands, NULL));
      fixture_dispatch(commands, w->count, 0, &w->buffer, 1, NULL, 0); /* runs nothing */
   }
   fixture_dispatch(commands, w->stray, 1, NULL, 0, &address, 8);
   assert_ok(agx_command_buffer_end(commands));
   return commands;
}

/* To the end: the fence's status. */
static agx_status submit(struct world *w, const struct agx_command_buffer *commands)
{
   struct agxw_compute stream;
   struct agxw_point signal = {w->timeline, ++w->point};
   assert_true(agx_command_buffer_stream(commands, &stream));
   const struct agxw_submit it = {
      .commands = &stream, .command_count = 1, .signals = &signal, .signal_count = 1};
   assert_ok(agxw_submit(w->queue, &it));
   assert_ok(agxw_wait(agx_context_of(w->f.device)->winsys, &signal, 1, false, AGX_DEADLINE_NEVER));
   return agxw_point_status(&signal);
}

/* By the error that the fence gave: either is a failure of the work itself. */
static void assert_described(struct world *w, struct agx_command_buffer *commands, int fence_error,
                             const char *expected)
{
   static struct agx_submission submission;
   struct agx_failure failure;
   submission = (struct agx_submission){.device = w->f.device, .commands = commands};
   assert_true(agx_command_buffer_stream(commands, &submission.stream));
   agx_fault_describe(&submission, AGX_DATA_LOSS, fence_error, &failure);
   assert_int_equal(failure.status, AGX_DATA_LOSS);
   if (!strstr(failure.text, expected))
      fail_msg("\"%s\" is not in \"%s\"", expected, failure.text);
}

/* One submission that stores to the address fails with that text. */
static void assert_fault(struct world *w, int before, uint64_t address, const char *expected)
{
   struct agx_command_buffer *commands = record(w, "layer 1", before, address);
   assert_int_equal(submit(w, commands), AGX_DATA_LOSS);
   assert_described(w, commands, EIO, expected);
   agx_release(commands);
}

static void faults_name_the_buffer(void **state)
{
   struct world w;
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = 100, .label = "constants", .flags = AGX_BUFFER_GPU_READ_ONLY};
   struct agx_buffer_info info = {.size = sizeof(info)};
   struct agx_buffer *constants = NULL;
   uint64_t address;
   open_world(&w, "1", "");
   assert_fault(&w, 0, w.address + (1 << 14) + 64, "GPU fault: store of 4 bytes at 0x");
   assert_fault(&w, 0, w.address + (1 << 14) + 64, ", 64 bytes behind buffer \"weights\"; ");
   assert_ok(agx_buffer_create(w.f.device, &desc, &constants));
   agx_buffer_get_info(constants, &info);
   assert_fault(&w, 0, info.address + 8, ", byte 8 of buffer \"constants\"; ");
   /* Its last page has more room than it has bytes. */
   assert_fault(&w, 0, info.address + 120, ", 20 bytes behind buffer \"constants\"; ");
   assert_fault(&w, 0, UINT64_C(0x7000000000), ", far from every buffer; ");
   agx_release(constants);
   struct agx_buffer *gone = make_buffer(&w, 4096, "scratch", &address);
   struct agx_command_buffer *late = record(&w, "late", 0, address + 12);
   agx_release(gone);
   assert_int_equal(submit(&w, late), AGX_DATA_LOSS);
   assert_described(&w, late, EIO, ", byte 12 of buffer \"scratch\", which was released; ");
   agx_release(late);
   close_world(&w);
}

/* A live buffer counts more than a dead one at the same place. */
static void places_are_the_youngest(void **state)
{
   struct world w;
   struct agxw_place place;
   uint64_t address, again;
   open_world(&w, "1", "");
   agx_release(make_buffer(&w, 4096, "first", &address));
   agx_release(make_buffer(&w, 4096, "second", &again));
   assert_int_equal(address, again);
   agxw_device_find_place(agx_context_of(w.f.device)->winsys, address + 5, &place);
   assert_int_equal(place.kind, AGXW_PLACE_FREED);
   assert_string_equal(place.label, "second");
   assert_int_equal(place.distance, 5);
   struct agx_buffer *third = make_buffer(&w, 4096, "third", &again);
   assert_int_equal(address, again);
   agxw_device_find_place(agx_context_of(w.f.device)->winsys, address + 4095, &place);
   assert_int_equal(place.kind, AGXW_PLACE_INSIDE);
   assert_string_equal(place.label, "third");
   agxw_device_find_place(agx_context_of(w.f.device)->winsys, address + 4096, &place);
   assert_int_equal(place.kind, AGXW_PLACE_BEHIND);
   assert_int_equal(place.distance, 0);
   agxw_device_find_place(agx_context_of(w.f.device)->winsys, 3, &place);
   assert_int_equal(place.kind, AGXW_PLACE_BEFORE);
   agx_release(third);
   close_world(&w);
}

static void faults_name_the_dispatch(void **state)
{
   struct world w;
   open_world(&w, "1", "");
   assert_fault(&w, 0, 0x2345678000,
                "; dispatch 0 (\"stray\") of \"layer 1\", workgroup 0,0,0, thread 0");
   assert_fault(&w, 3, 0x2345678000, "; dispatch 3 (\"stray\") of \"layer 1\"");
   close_world(&w);
}

/* Several fail before the first is asked for, some of them twice: each gets its own report, once.
 */
static void failures_near_each_other_are_told_apart(void **state)
{
   enum {
      COUNT = 4
   };
   struct world w;
   struct agx_command_buffer *commands[COUNT];
   char expected[32];
   open_world(&w, "1", "");
   for (uint64_t i = 0; i < COUNT; i++)
      commands[i] = record(&w, "commands", (int)i, 0x2345670000 + i * 0x1000);
   for (int round = 0; round < 2; round++)
      for (int i = 0; i < COUNT; i++)
         assert_int_equal(submit(&w, commands[i]), AGX_DATA_LOSS);
   for (int i = COUNT; i-- > 0;) {
      for (int round = 0; round < 2; round++) {
         snprintf(expected, sizeof(expected), "0x234567%d000", i);
         assert_described(&w, commands[i], EIO, expected);
      }
      snprintf(expected, sizeof(expected), "one of the %d dispatches", i + 1);
      assert_described(&w, commands[i], EIO,
                       i ? expected : "the only dispatch (\"stray\") of \"commands\"");
      agx_release(commands[i]);
   }
   close_world(&w);
}

/* Soft faults fail no submission, so they are no reason of a later failure. */
static void soft_faults_are_no_failures(void **state)
{
   struct world w;
   open_world(&w, "0", "");
   struct agx_command_buffer *commands = record(&w, "commands", 0, 0x2345678000);
   assert_int_equal(submit(&w, commands), AGX_OK);
   assert_described(&w, commands, EIO, "virtual:g13g tells no more than the fence's error");
   agx_release(commands);
   close_world(&w);
}

static void accesses_out_of_bounds_are_described(void **state)
{
   struct world w;
   open_world(&w, "0", "bounds");
   assert_fault(&w, 1, w.address + 4,
                ", byte 4 of buffer \"weights\", outside of what the dispatch may access; dispatch "
                "1 (\"stray\")");
   close_world(&w);
}

/* A pool's memory is one buffer to the device; what is bound are parts of it. */
static void faults_name_the_parts_of_pools(void **state)
{
   struct world w;
   struct agx_pool_desc desc = {.size = sizeof(desc), .label = "arena"};
   struct agx_buffer_info info = {.size = sizeof(info)};
   struct agx_pool *pool = NULL;
   struct agx_buffer *part = NULL, *other = NULL;
   open_world(&w, "0", "bounds");
   assert_ok(agx_pool_create(w.f.device, &desc, &pool));
   assert_ok(agx_pool_allocate(pool, 256, 0, &other));
   assert_ok(agx_pool_allocate(pool, 512, 0, &part));
   agx_buffer_get_info(part, &info);
   static const struct {
      uint64_t offset;
      const char *text;
   } rows[] = {
      {8, ", byte 8 of a buffer of 512 bytes in \"arena\""},
      {516, ", 4 bytes behind a buffer of 512 bytes in \"arena\""},
      {(uint64_t)-16, ", 16 bytes before a buffer of 512 bytes in \"arena\""},
   };
   for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
      uint64_t address = info.address + rows[i].offset;
      struct agx_command_buffer *commands = fixture_begin(&w.f);
      fixture_dispatch(commands, w.count, 1, &part, 1, NULL, 0);
      fixture_dispatch(commands, w.stray, 1, NULL, 0, &address, 8);
      assert_ok(agx_command_buffer_end(commands));
      assert_int_equal(submit(&w, commands), AGX_DATA_LOSS);
      assert_described(&w, commands, EIO, rows[i].text);
      agx_release(commands);
   }
   agx_release(part);
   agx_release(other);
   agx_release(pool);
   close_world(&w);
}

static const struct agx_test_kernel endless = {
   .name = "endless",
   .text = "jmp_any offset=0\n",
   .local_size = {1, 1, 1},
   .gpr_halves = 4,
};

static void hangs_name_the_dispatch(void **state)
{
   struct world w;
   setenv("AGX_VIRTUAL_TIMEOUT", "1000", 1);
   open_world(&w, "1", "");
   unsetenv("AGX_VIRTUAL_TIMEOUT");
   struct agx_executable *kernel = fixture_kernel(&w.f, &endless);
   struct agx_command_buffer *commands = fixture_begin(&w.f);
   fixture_dispatch(commands, w.count, 1, &w.buffer, 1, NULL, 0);
   fixture_dispatch(commands, kernel, 1, NULL, 0, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_int_equal(submit(&w, commands), AGX_DATA_LOSS);
   assert_described(&w, commands, ETIMEDOUT, "GPU hang; dispatch 1 (\"endless\")");
   agx_release(commands);
   agx_release(kernel);
   close_world(&w);
}

/* "Not yet" and "never" are different statuses, so that a loop that polls ends. */
static void polling_ends_when_the_gpu_hangs(void **state)
{
   struct world w;
   uint64_t value;
   setenv("AGX_VIRTUAL_TIMEOUT", "1000", 1);
   open_world(&w, "1", "");
   unsetenv("AGX_VIRTUAL_TIMEOUT");
   struct agx_semaphore *done = fixture_semaphore(&w.f);
   struct agx_executable *kernel = fixture_kernel(&w.f, &endless);
   struct agx_command_buffer *commands = fixture_begin(&w.f);
   fixture_dispatch(commands, kernel, 1, NULL, 0, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&w.f, commands, (struct agx_point){0}, (struct agx_point){done, 1}));
   const struct agx_point point = {done, 1};
   agx_status status;
   do
      status = agx_semaphore_wait(&point, 1, false, 0);
   while (status == AGX_DEADLINE_EXCEEDED);
   assert_fails(status, AGX_DATA_LOSS, "GPU hang");
   assert_fails(agx_semaphore_query(done, &value), AGX_DATA_LOSS, "GPU hang");
   /* To its end: which limits there are. */
   assert_fails(agx_semaphore_query(done, &value), AGX_DATA_LOSS,
                "AGX_VIRTUAL_TIMEOUT=1000 instructions of a SIMD-group, AGX_VIRTUAL_TIMEOUT_MS=0 "
                "ms, AGX_VIRTUAL_WORKGROUPS=4294967296");
   agx_release(commands);
   agx_release(kernel);
   agx_release(done);
   close_world(&w);
}

/* What is no fence's error keeps the text that came with it. */
static void other_failures_keep_their_text(void **state)
{
   struct world w;
   static struct agx_submission submission;
   struct agx_failure failure;
   open_world(&w, "1", "");
   submission = (struct agx_submission){.device = w.f.device};
   agx_status status = AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for %d cats", 9);
   agx_fault_describe(&submission, status, 0, &failure);
   assert_int_equal(failure.status, AGX_RESOURCE_EXHAUSTED);
   assert_string_equal(failure.text, "no memory for 9 cats");
   agx_fault_describe(&submission, AGX_OK, 0, &failure);
   assert_int_equal(failure.status, AGX_OK);
   agx_fault_describe(&submission, AGX_UNAVAILABLE, ENODEV, &failure);
   assert_string_equal(failure.text,
                       "device lost; virtual:g13g tells no more than the fence's error");
   agx_fault_describe(&submission, AGX_UNKNOWN, EXDEV, &failure);
   assert_string_equal(failure.text,
                       "fence error 18; virtual:g13g tells no more than the fence's error");
   /* The status alone is none of a fence's error. */
   status = AGX_FAIL(AGX_UNAVAILABLE, "timeline 3: no answer");
   agx_fault_describe(&submission, status, 0, &failure);
   assert_int_equal(failure.status, AGX_UNAVAILABLE);
   assert_string_equal(failure.text, "timeline 3: no answer");
   close_world(&w);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(faults_name_the_buffer),
      cmocka_unit_test(places_are_the_youngest),
      cmocka_unit_test(faults_name_the_dispatch),
      cmocka_unit_test(failures_near_each_other_are_told_apart),
      cmocka_unit_test(soft_faults_are_no_failures),
      cmocka_unit_test(accesses_out_of_bounds_are_described),
      cmocka_unit_test(faults_name_the_parts_of_pools),
      cmocka_unit_test(hangs_name_the_dispatch),
      cmocka_unit_test(polling_ends_when_the_gpu_hangs),
      cmocka_unit_test(other_failures_keep_their_text),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
