/* SPDX-License-Identifier: MIT
 *
 * IREE's DriverTest: every node that is reported as usable opens by what reports it.
 */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
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

static void get_info(struct agx_instance *instance, const char *name, struct agx_device_info *info)
{
   *info = (struct agx_device_info){.size = sizeof(*info)};
   assert_ok(agx_instance_get_device_info(instance, name, info));
}

/* What a device is can be asked without keeping it open, and is what the open one says. */
static void a_node_says_what_it_is(void **state)
{
   struct fixture *f = conformance_device(state);
   static const uint8_t zeros[16];
   struct agx_device_info before, after = {.size = sizeof(after)}, others[2];
   struct agx_device *device = NULL;
   const struct agx_device_desc desc = {.size = sizeof(desc), .name = "virtual:g14s"};
   get_info(f->instance, "virtual:g14s", &before);
   assert_ok(agx_device_open(f->instance, &desc, &device));
   agx_device_get_info(device, &after);
   agx_release(device);
   assert_string_equal(before.chip, "g14s");
   assert_int_equal(before.queue_count, 0);
   before.queue_count = after.queue_count;
   assert_memory_equal(&before, &after, sizeof(before));
   assert_memory_not_equal(before.uuid, zeros, 16);
   assert_int_equal(before.uuid[6] >> 4, 8);
   assert_int_equal(before.uuid[8] >> 6, 2);
   get_info(f->instance, "virtual:g14s", &others[0]);
   get_info(f->instance, "virtual:g13g", &others[1]);
   assert_memory_equal(before.uuid, others[0].uuid, 16);
   assert_memory_not_equal(before.uuid, others[1].uuid, 16);
   assert_int_not_equal(agx_instance_get_device_info(f->instance, "virtual:g99", &others[0]),
                        AGX_OK);
   assert_int_not_equal(agx_instance_get_device_info(f->instance, "/dev/dri/nothing", &others[0]),
                        AGX_OK);
}

/* The virtual device is listed where the environment chooses it. */
static void the_chosen_virtual_device_is_listed(void **state)
{
   struct fixture *f = conformance_device(state);
   const char *was = getenv("AGX_DEVICE");
   char kept[64];
   struct agx_node nodes[16];
   struct agx_device_info info;
   uint32_t count = 0;
   snprintf(kept, sizeof(kept), "%s", was ? was : "");
   unsetenv("AGX_DEVICE");
   const uint32_t plain = enumerate(f->instance, nodes);
   setenv("AGX_DEVICE", "virtual:g14s", 1);
   assert_int_equal(enumerate(f->instance, nodes), plain + 1);
   assert_string_equal(nodes[0].path, "virtual:g14s");
   assert_ok(nodes[0].status);
   open_and_close(f->instance, nodes[0].path);
   get_info(f->instance, nodes[0].path, &info);
   assert_string_equal(info.chip, "g14s");
   assert_ok(agx_instance_enumerate(f->instance, &count, NULL));
   assert_int_equal(count, plain + 1);
   setenv("AGX_DEVICE", "virtual:g99", 1);
   assert_int_equal(enumerate(f->instance, nodes), plain + 1);
   assert_int_not_equal(nodes[0].status, AGX_OK);
   assert_non_null(strstr(nodes[0].reason, "g99"));
   if (was)
      setenv("AGX_DEVICE", kept, 1);
   else
      unsetenv("AGX_DEVICE");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(query_and_create_available_devices_by_path),
      cmocka_unit_test(query_and_create_available_devices_by_ordinal),
      cmocka_unit_test(query_and_create_available_devices_by_id),
      cmocka_unit_test(a_node_says_what_it_is),
      cmocka_unit_test(the_chosen_virtual_device_is_listed),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
