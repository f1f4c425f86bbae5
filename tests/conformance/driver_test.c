/* SPDX-License-Identifier: MIT
 *
 * IREE's DriverTest: every node that is reported as usable opens by what reports it.
 */
#include "conformance.h"

#include <string.h>

static uint32_t enumerate(struct agx_instance *instance, struct agx_node nodes[16])
{
   uint32_t count = 16;
   assert_ok(agx_instance_enumerate(instance, &count, nodes));
   return count < 16 ? count : 16;
}

static void open_and_close(struct agx_instance *instance, const char *name)
{
   const struct agx_device_desc desc = {.size = sizeof(desc), .name = name};
   struct agx_device *device = NULL;
   struct agx_device_info info = {.size = sizeof(info)};
   assert_ok(agx_device_open(instance, &desc, &device));
   agx_device_get_info(device, &info);
   assert_true(info.name[0] && info.node[0] && info.chip[0]);
   agx_release(device);
}

static void query_and_create_available_devices_by_path(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_node nodes[16];
   uint32_t count = enumerate(f->instance, nodes);
   for (uint32_t i = 0; i < count; i++)
      if (nodes[i].status == AGX_OK)
         open_and_close(f->instance, nodes[i].path);
      else
         assert_true(nodes[i].reason[0]);
}

/* Here a number is a place in the list, and a virtual device is behind a name. */
static void query_and_create_available_devices_by_ordinal(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_node first[16], second[16];
   uint32_t count = enumerate(f->instance, first);
   assert_int_equal(enumerate(f->instance, second), count);
   for (uint32_t i = 0; i < count; i++)
      assert_string_equal(first[i].path, second[i].path);
   open_and_close(f->instance, "virtual");
}

static void query_and_create_available_devices_by_id(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_device *device = NULL;
   const struct agx_device_desc desc = {.size = sizeof(desc), .name = "/dev/dri/nothing"};
   open_and_close(f->instance, NULL);
   open_and_close(f->instance, "virtual:g14s");
   assert_int_not_equal(agx_device_open(f->instance, &desc, &device), AGX_OK);
   assert_null(device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(query_and_create_available_devices_by_path),
      cmocka_unit_test(query_and_create_available_devices_by_ordinal),
      cmocka_unit_test(query_and_create_available_devices_by_id),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
