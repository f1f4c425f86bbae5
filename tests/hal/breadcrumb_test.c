/* SPDX-License-Identifier: MIT
 *
 * Breadcrumbs: a command buffer counts, in memory of the host, the submissions that ran to their
 * end.
 */
#include "fixture.h"

#include <stdlib.h>

#include "hal/record/command_buffer.h"

static void run(struct fixture *f, struct agx_command_buffer *commands, struct agx_semaphore *done,
                uint64_t value)
{
   assert_ok(fixture_submit(f, commands, NO_POINT, (struct agx_point){done, value}));
   assert_ok(fixture_wait(done, value));
}

/* Submissions that found the command buffer idle, and ran to their end. */
static uint32_t ran(const struct agx_command_buffer *commands)
{
   return atomic_load(&agx_command_buffer_breadcrumb(commands)->words->counts[0]);
}

static void a_tag_counts_submissions(void **state)
{
   struct fixture f;
   uint32_t *words;
   fixture_open(&f, "virtual");
   struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(&f, 256, &words);
   struct agx_semaphore *done = fixture_semaphore(&f);
   struct agx_command_buffer *commands = fixture_begin(&f);
   assert_null(agx_command_buffer_breadcrumb(commands));
   fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   const struct agx_breadcrumb *breadcrumb = agx_command_buffer_breadcrumb(commands);
   assert_int_equal(ran(commands), 0);
   for (uint32_t i = 1; i <= 5; i++) {
      run(&f, commands, done, i);
      assert_int_equal(ran(commands), i);
   }
   assert_int_equal(words[63], 64);
   assert_ok(agx_command_buffer_begin(commands));
   assert_null(agx_command_buffer_breadcrumb(commands));
   fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ptr_equal(agx_command_buffer_breadcrumb(commands), breadcrumb);
   assert_int_equal(ran(commands), 0);
   run(&f, commands, done, 6);
   assert_int_equal(ran(commands), 1);
   agx_release(commands);
   agx_release(done);
   agx_release(buffer);
   agx_release(count);
   fixture_close(&f);
}

static void nothing_to_run_has_no_tag(void **state)
{
   struct fixture f;
   uint32_t *words;
   fixture_open(&f, "virtual");
   struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(&f, 256, &words);
   struct agx_command_buffer *commands = fixture_begin(&f);
   fixture_dispatch(commands, count, 0, &buffer, 1, NULL, 0);
   assert_ok(agx_cmd_barrier(commands, NULL));
   assert_ok(agx_command_buffer_end(commands));
   assert_null(agx_command_buffer_breadcrumb(commands));
   agx_release(commands);
   agx_release(buffer);
   agx_release(count);
   fixture_close(&f);
}

/* More than a page of breadcrumbs; each counts its own, and one that was another's starts at 0. */
static void tags_are_many(void **state)
{
   enum {
      COUNT = 300
   };
   struct fixture f;
   uint32_t *words;
   struct agx_command_buffer *commands[COUNT];
   fixture_open(&f, "virtual");
   struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(&f, 256, &words);
   struct agx_semaphore *done = fixture_semaphore(&f);
   uint64_t value = 0;
   for (uint32_t i = 0; i < COUNT; i++) {
      commands[i] = fixture_begin(&f);
      fixture_dispatch(commands[i], count, 1, &buffer, 1, NULL, 0);
      assert_ok(agx_command_buffer_end(commands[i]));
   }
   for (uint32_t i = 0; i < COUNT; i += 7) {
      run(&f, commands[i], done, ++value);
      run(&f, commands[i], done, ++value);
   }
   for (uint32_t i = 0; i < COUNT; i++)
      assert_int_equal(ran(commands[i]), i % 7 ? 0 : 2);
   agx_release(commands[0]);
   commands[0] = fixture_begin(&f);
   fixture_dispatch(commands[0], count, 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands[0]));
   assert_int_equal(ran(commands[0]), 0);
   for (uint32_t i = 0; i < COUNT; i++)
      agx_release(commands[i]);
   agx_release(done);
   agx_release(buffer);
   agx_release(count);
   fixture_close(&f);
}

static void a_fault_leaves_the_tag_behind(void **state)
{
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   struct fixture f;
   fixture_open(&f, "virtual");
   struct agx_executable *stray = fixture_kernel(&f, &agx_test_stray);
   struct agx_semaphore *done = fixture_semaphore(&f);
   struct agx_command_buffer *commands = fixture_begin(&f);
   uint64_t address = 0x2345678000;
   fixture_dispatch(commands, stray, 1, NULL, 0, &address, 8);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_fails(fixture_wait(done, 1), AGX_DATA_LOSS, "2345678000");
   assert_int_equal(ran(commands), 0);
   agx_release(commands);
   agx_release(done);
   agx_release(stray);
   fixture_close(&f);
   unsetenv("AGX_VIRTUAL_STRICT");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_tag_counts_submissions),
      cmocka_unit_test(nothing_to_run_has_no_tag),
      cmocka_unit_test(tags_are_many),
      cmocka_unit_test(a_fault_leaves_the_tag_behind),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
