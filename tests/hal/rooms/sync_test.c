/* SPDX-License-Identifier: MIT
 *
 * The sync room by itself: semaphores of a device without threads of the host and its operations.
 */
#include "agx/semaphore.h"
#include "hal/sync/state.h"
#include "hal/sync/op.h"
#include "scene.h"

static bool is_no_host_thread(void)
{
   return false;
}

static void semaphores_rise_and_fail(void **state)
{
   struct agx_context context;
   struct agx_memory_state memory;
   struct agx_executable_state executables;
   static struct agx_sync_state sync;
   struct agx_device *device = scene_open(&context, &memory, &executables);
   const struct agx_sync_hooks hooks = {.is_host_thread = is_no_host_thread};
   const struct agx_device_desc desc = {.size = sizeof(desc)};
   context.sync = &sync;
   agx_sync_state_init(device, &hooks);
   assert_ok(agx_sync_open_queues(device, &desc));
   struct agx_semaphore *semaphore;
   uint64_t value = 0;
   assert_ok(agx_semaphore_create(device, 2, &semaphore));
   assert_ok(agx_semaphore_signal(semaphore, 5));
   assert_fails(agx_semaphore_signal(semaphore, 5), AGX_INVALID_ARGUMENT, "5");
   assert_ok(agx_semaphore_query(semaphore, &value));
   assert_int_equal(value, 5);
   agx_semaphore_fail(semaphore, AGX_DATA_LOSS, "by the test");
   assert_fails(agx_semaphore_query(semaphore, &value), AGX_DATA_LOSS, "by the test");
   agx_release(semaphore);
   assert_null(agx_op_type(device, AGX_OP_HOST_CALL));
   agx_sync_stop(device);
   agx_sync_state_fini(device);
   scene_close(&context);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(semaphores_rise_and_fail),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
