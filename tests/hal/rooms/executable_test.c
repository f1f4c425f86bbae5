/* SPDX-License-Identifier: MIT
 *
 * The executable room by itself: the driver's own kernels, loaded once for a device.
 */
#include "hal/executable/executable.h"
#include "scene.h"

static void own_kernels_are_loaded_once(void **state)
{
   struct agx_context context;
   struct agx_memory_state memory;
   struct agx_executable_state executables;
   struct agx_device *device = scene_open(&context, &memory, &executables);
   for (unsigned i = 0; i < AGX_BUILTIN_COUNT; i++) {
      struct agx_executable *first, *second;
      struct agx_executable_info info = {.size = sizeof(info)};
      assert_ok(agx_device_builtin(device, (enum agx_builtin)i, &first));
      assert_ok(agx_device_builtin(device, (enum agx_builtin)i, &second));
      assert_ptr_equal(first, second);
      agx_executable_get_info(first, &info);
      assert_true(info.code_B > 0);
   }
   scene_close(&context);
}

static void what_is_no_executable_is_refused(void **state)
{
   struct agx_context context;
   struct agx_memory_state memory;
   struct agx_executable_state executables;
   struct agx_device *device = scene_open(&context, &memory, &executables);
   struct agx_executable *executable;
   const uint32_t words[8] = {1, 2, 3};
   const struct agx_executable_desc desc = {
      .size = sizeof(desc), .data = words, .data_B = sizeof(words)};
   assert_int_not_equal(agx_executable_create(device, &desc, &executable), AGX_OK);
   assert_null(executable);
   scene_close(&context);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(own_kernels_are_loaded_once),
      cmocka_unit_test(what_is_no_executable_is_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
