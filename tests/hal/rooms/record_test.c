/* SPDX-License-Identifier: MIT
 *
 * The record room by itself: a command buffer is recorded to its end where there is no queue.
 */
#include "hal/record/command_buffer.h"
#include "hal/record/state.h"
#include "scene.h"

static void a_fill_is_recorded_without_queues(void **state)
{
   struct agx_context context;
   struct agx_memory_state memory;
   struct agx_executable_state executables;
   struct agx_recorder_state recorder;
   struct agx_device *device = scene_open(&context, &memory, &executables);
   context.recorder = &recorder;
   agx_recorder_state_init(device);
   const struct agx_buffer_desc buffer_desc = {.size = sizeof(buffer_desc), .size_B = 4096};
   const struct agx_command_buffer_desc desc = {.size = sizeof(desc), .label = "alone"};
   const uint8_t pattern = 7;
   struct agx_buffer *buffer;
   struct agx_command_buffer *commands;
   assert_ok(agx_buffer_create(device, &buffer_desc, &buffer));
   assert_ok(agx_command_buffer_create(device, &desc, &commands));
   assert_ok(agx_command_buffer_begin(commands));
   assert_fails(agx_cmd_fill(commands, (struct agx_buffer_ref){buffer, 4000, 100}, &pattern, 1),
                AGX_OUT_OF_RANGE, "4000");
   assert_ok(agx_command_buffer_begin(commands));
   assert_ok(agx_cmd_fill(commands, (struct agx_buffer_ref){buffer, 0, 4096}, &pattern, 1));
   assert_ok(agx_command_buffer_end(commands));
   assert_int_equal(commands->dispatch_count, 1);
   agx_release(commands);
   agx_release(buffer);
   agx_recorder_state_fini(device);
   scene_close(&context);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_fill_is_recorded_without_queues),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
