/* SPDX-License-Identifier: MIT
 *
 * What recording and creation refuse, with which words; what happens without host memory;
 * faults.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failing_alloc.h"

static void dispatches_are_checked(void **state)
{
   struct fixture f;
   uint32_t *words, push[64] = {0};
   fixture_open(&f, "virtual");
   struct agx_executable *add = fixture_kernel(&f, &agx_test_add);
   struct agx_buffer *buffer = fixture_buffer(&f, 256, &words);
   struct agx_buffer_desc read_only_desc = {
      .size = sizeof(read_only_desc), .size_B = 64, .flags = AGX_BUFFER_GPU_READ_ONLY};
   struct agx_buffer *read_only;
   assert_ok(agx_buffer_create(f.device, &read_only_desc, &read_only));
   const struct agx_binding good[2] = {{.binding = 0, .ref = {buffer, 0, 4}},
                                       {.binding = 1, .ref = {buffer, 4, 4}}};
   const struct {
      struct agx_dispatch dispatch;
      struct agx_binding second;
      agx_status status;
      const char *text;
   } cases[] = {
      {{.executable = NULL}, good[1], AGX_INVALID_ARGUMENT, "executable is NULL"},
      {{.executable = add, .workgroups = {1, 1, 1}, .binding_count = 2, .push = push, .push_B = 0},
       good[1],
       AGX_INVALID_ARGUMENT,
       "0 bytes of push"},
      {{.executable = add, .workgroups = {1, 1, 1}, .binding_count = 2, .push = NULL, .push_B = 4},
       good[1],
       AGX_INVALID_ARGUMENT,
       "push"},
      {{.executable = add, .workgroups = {1, 1, 1}, .binding_count = 1, .push = push, .push_B = 4},
       good[1],
       AGX_INVALID_ARGUMENT,
       "binding 1: no buffer"},
      {{.executable = add,
        .workgroups = {1, 65536, 1},
        .binding_count = 2,
        .push = push,
        .push_B = 4},
       good[1],
       AGX_OUT_OF_RANGE,
       "65536 workgroups"},
      {{.executable = add,
        .workgroups = {0x7fffffff, 1, 1},
        .binding_count = 2,
        .push = push,
        .push_B = 4},
       good[1],
       AGX_OUT_OF_RANGE,
       "2147483647"},
      {{.executable = add, .workgroups = {1, 1, 1}, .binding_count = 2, .push = push, .push_B = 4},
       {0, 1, {buffer, 254, 4}},
       AGX_OUT_OF_RANGE,
       "offset 254"},
      {{.executable = add, .workgroups = {1, 1, 1}, .binding_count = 2, .push = push, .push_B = 4},
       {0, 1, {buffer, 260, 0}},
       AGX_OUT_OF_RANGE,
       "offset 260"},
      {{.executable = add, .workgroups = {1, 1, 1}, .binding_count = 2, .push = push, .push_B = 4},
       {0, 1, {buffer, 252, 8}},
       AGX_OUT_OF_RANGE,
       "length 8"},
      {{.executable = add, .workgroups = {1, 1, 1}, .binding_count = 2, .push = push, .push_B = 4},
       {0, 1, {read_only, 0, 4}},
       AGX_INVALID_ARGUMENT,
       "read-only"},
   };
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      struct agx_command_buffer *commands = fixture_begin(&f);
      struct agx_binding bindings[2] = {good[0], cases[i].second};
      struct agx_dispatch dispatch = cases[i].dispatch;
      dispatch.size = sizeof(dispatch);
      dispatch.bindings = bindings;
      assert_fails(agx_cmd_dispatch(commands, &dispatch), cases[i].status, cases[i].text);
      assert_fails(agx_command_buffer_end(commands), cases[i].status, "earlier recording call");
      agx_release(commands);
   }
   agx_release(read_only);
   agx_release(buffer);
   agx_release(add);
   fixture_close(&f);
}

static void a_recording_may_span_many_blocks(void **state)
{
   struct fixture f;
   uint32_t *x_words, *y_words;
   fixture_open(&f, "virtual");
   struct agx_executable *add = fixture_kernel(&f, &agx_test_add);
   struct agx_buffer *buffers[2] = {fixture_buffer(&f, 128, &x_words),
                                    fixture_buffer(&f, 128, &y_words)};
   struct agx_semaphore *done = fixture_semaphore(&f);
   struct agx_command_buffer *commands = fixture_begin(&f);
   for (uint32_t i = 0; i < 1000; i++) {
      fixture_dispatch(commands, add, 1, buffers, 2, &i, 4);
      assert_ok(agx_cmd_barrier(commands, NULL));
   }
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_wait(done, 1));
   assert_int_equal(y_words[31], 999);
   agx_release(commands);
   agx_release(done);
   agx_release(buffers[0]);
   agx_release(buffers[1]);
   agx_release(add);
   fixture_close(&f);
}

static void creation_is_checked(void **state)
{
   struct fixture f;
   fixture_open(&f, "virtual:g14g");
   assert_string_equal(f.info.chip, "g14g");
   assert_true(f.info.is_virtual);
   struct agx_buffer_desc buffer_desc = {.size = sizeof(buffer_desc), .size_B = UINT64_MAX};
   struct agx_buffer *buffer;
   assert_fails(agx_buffer_create(f.device, &buffer_desc, &buffer), AGX_INVALID_ARGUMENT, "2^37");
   buffer_desc.size_B = 1;
   buffer_desc.flags = 64;
   assert_fails(agx_buffer_create(f.device, &buffer_desc, &buffer), AGX_INVALID_ARGUMENT, "0x40");
   buffer_desc.size = 5;
   assert_fails(agx_buffer_create(f.device, &buffer_desc, &buffer), AGX_INVALID_ARGUMENT,
                "sizeof(struct agx_buffer_desc)");
   struct agx_executable_desc desc = {.size = sizeof(desc), .data = "hello", .data_B = 5};
   struct agx_executable *executable;
   assert_fails(agx_executable_create(f.device, &desc, &executable), AGX_INVALID_ARGUMENT,
                "neither SPIR-V nor an ELF");
   void *image = agx_test_kernel_elf(&agx_test_add, "g13g", &desc.data_B);
   desc.data = image;
   assert_fails(agx_executable_create(f.device, &desc, &executable), AGX_INCOMPATIBLE,
                "compiled for g13g; this device is g14g");
   free(image);
   struct agx_device_desc device_desc = {.size = sizeof(device_desc), .name = "virtual:g99"};
   struct agx_device *device;
   assert_int_not_equal(agx_device_open(f.instance, &device_desc, &device), AGX_OK);
   fixture_close(&f);
}

/* Every allocation of opening, creating, recording and submitting fails in turn. */
static void host_memory_may_run_out_anywhere(void **state)
{
   void *image;
   size_t image_B;
   image = agx_test_kernel_elf(&agx_test_count, "g13g", &image_B);
   bool finished = false;
   for (size_t budget = 0; budget < 200 && !finished; budget++) {
      struct failing_alloc failing;
      failing_alloc_init(&failing, budget);
      struct agx_alloc_callbacks callbacks = {failing.alloc.user, failing.alloc.alloc,
                                              failing.alloc.free};
      struct agx_instance_desc instance_desc = {.size = sizeof(instance_desc), .alloc = &callbacks};
      struct agx_device_desc device_desc = {.size = sizeof(device_desc), .name = "virtual"};
      struct agx_executable_desc desc = {.size = sizeof(desc), .data = image, .data_B = image_B};
      struct agx_buffer_desc buffer_desc = {.size = sizeof(buffer_desc), .size_B = 256};
      struct agx_instance *instance = NULL;
      struct agx_device *device = NULL;
      struct agx_executable *executable = NULL;
      struct agx_buffer *buffer = NULL;
      struct agx_command_buffer *commands = NULL;
      struct agx_semaphore *done = NULL;
      struct agx_binding binding = {.ref = {.length_B = AGX_WHOLE_LENGTH}};
      struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                      .workgroups = {1, 1, 1},
                                      .binding_count = 1,
                                      .bindings = &binding};
      agx_status status = agx_instance_create(&instance_desc, &instance);
      if (status == AGX_OK)
         status = agx_device_open(instance, &device_desc, &device);
      if (status == AGX_OK)
         status = agx_executable_create(device, &desc, &executable);
      if (status == AGX_OK)
         status = agx_buffer_create(device, &buffer_desc, &buffer);
      if (status == AGX_OK)
         status = agx_semaphore_create(device, 0, &done);
      if (status == AGX_OK)
         status = agx_command_buffer_create(device, NULL, &commands);
      if (status == AGX_OK)
         status = agx_command_buffer_begin(commands);
      binding.ref.buffer = buffer;
      dispatch.executable = executable;
      if (status == AGX_OK)
         status = agx_cmd_dispatch(commands, &dispatch);
      if (status == AGX_OK)
         status = agx_command_buffer_end(commands);
      struct agx_point point = {done, 1};
      struct agx_op op = {.size = sizeof(op),
                          .kind = AGX_OP_EXECUTE,
                          .signals = &point,
                          .signal_count = 1,
                          .u.execute.commands = commands};
      if (status == AGX_OK)
         status = agx_submit(device, &op, 1, NULL);
      if (status == AGX_OK)
         assert_ok(fixture_wait(done, 1));
      assert_true(status == AGX_OK || status == AGX_RESOURCE_EXHAUSTED);
      finished = status == AGX_OK;
      agx_release(done);
      agx_release(commands);
      agx_release(buffer);
      agx_release(executable);
      agx_release(device);
      agx_release(instance);
      failing_alloc_await_end(&failing);
   }
   assert_true(finished);
   free(image);
}

static void a_fault_fails_the_semaphore_with_its_address(void **state)
{
   setenv("AGX_VIRTUAL_STRICT", "1", 1);
   struct fixture f;
   fixture_open(&f, "virtual");
   struct agx_executable *stray = fixture_kernel(&f, &agx_test_stray);
   struct agx_semaphore *done = fixture_semaphore(&f), *after = fixture_semaphore(&f);
   struct agx_command_buffer *commands = fixture_begin(&f);
   uint64_t address = 0x2345678000;
   fixture_dispatch(commands, stray, 1, NULL, 0, &address, 8);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}));
   assert_ok(fixture_submit(&f, NULL, (struct agx_point){done, 1}, (struct agx_point){after, 1}));
   assert_fails(fixture_wait(done, 1), AGX_DATA_LOSS, "store of 4 bytes at 0x2345678000, ");
   assert_fails(fixture_wait(done, 1), AGX_DATA_LOSS,
                "; dispatch 0 (\"stray\") of \"command buffer\"");
   assert_fails(fixture_wait(after, 1), AGX_DATA_LOSS, "2345678000");
   agx_release(commands);
   agx_release(done);
   agx_release(after);
   agx_release(stray);
   fixture_close(&f);
   unsetenv("AGX_VIRTUAL_STRICT");
}

/* ---- captures ---- */

static void captures_are_switched_on_and_off(void **state)
{
   struct fixture f;
   char path[] = "/tmp/agx-ranges-XXXXXX";
   struct agx_device *device;
   close(mkstemp(path));
   fixture_open(&f, "virtual");
   assert_fails(agx_device_begin_capture(f.device, NULL), AGX_FAILED_PRECONDITION,
                "without one (capture_path");
   for (uint64_t flags = 0; flags <= AGX_DEVICE_CAPTURE_RANGES;
        flags += AGX_DEVICE_CAPTURE_RANGES) {
      const struct agx_device_desc desc = {
         .size = sizeof(desc), .name = "virtual", .capture_path = path, .flags = flags};
      assert_ok(agx_device_open(f.instance, &desc, &device));
      if (!flags)
         assert_ok(agx_device_end_capture(device));
      assert_fails(agx_device_end_capture(device), AGX_FAILED_PRECONDITION, "was not begun");
      assert_ok(agx_device_begin_capture(device, "a label"));
      assert_fails(agx_device_begin_capture(device, NULL), AGX_FAILED_PRECONDITION,
                   "was begun already");
      agx_release(device);
   }
   unlink(path);
   fixture_close(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(dispatches_are_checked),
      cmocka_unit_test(a_recording_may_span_many_blocks),
      cmocka_unit_test(creation_is_checked),
      cmocka_unit_test(host_memory_may_run_out_anywhere),
      cmocka_unit_test(a_fault_fails_the_semaphore_with_its_address),
      cmocka_unit_test(captures_are_switched_on_and_off),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
