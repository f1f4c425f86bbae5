/* SPDX-License-Identifier: MIT
 *
 * Opening a device: what is read from the kernel, what is refused, and that failures leave nothing
 * behind.
 */
#include "fake_kmd.h"

#include <errno.h>
#include <string.h>

#include "winsys/device_impl.h"
#include "failing_alloc.h"

static void an_m1_is_described(void **state)
{
   struct fake_kmd fake;
   fake_kmd_init(&fake);
   fake.params.core_masks[0] = 0x7f;
   struct agxw_device *device = NULL;
   assert_ok(agxw_device_create(&fake.base, NULL, &device));
   const struct agxw_device_info *info = agxw_device_info(device);
   assert_string_equal(info->name, "Apple M1 (G13G B1)");
   assert_string_equal(info->node, "fake");
   assert_false(info->is_virtual);
   assert_int_equal(info->core_count, 7);
   assert_int_equal(info->max_commands, 64);
   assert_true(info->soft_faults);
   assert_int_equal(info->usc_base, 0x1100000000);
   assert_int_equal(fake.vm.kernel_start, 0x77ffff8000);
   assert_int_equal(fake.vm.kernel_end, 0x7fffff8000);
   /* The zero page. */
   assert_int_equal(fake.bind.addr, 0x100000000);
   assert_int_equal(fake.bind.range, 16384);
   assert_int_equal(fake.bind.flags, AGX_UAPI_BIND_READ);
   agxw_device_destroy(device);
   fake_kmd_assert_clean(&fake);
}

static void unknown_hardware_is_refused(void **state)
{
   struct agxw_device *device;
   struct fake_kmd fake;
   fake_kmd_init(&fake);
   fake.params.chip_id = 0x8122;
   fake.params.gpu_generation = 15;
   assert_fails(agxw_device_create(&fake.base, NULL, &device), AGX_INCOMPATIBLE,
                "chip 0x8122 of generation 15");
   fake_kmd_assert_clean(&fake);
   fake_kmd_init(&fake);
   fake.params.gpu_generation = 14;
   assert_fails(agxw_device_create(&fake.base, NULL, &device), AGX_INCOMPATIBLE, "generation 14");
   fake_kmd_init(&fake);
   fake.params.num_clusters_total = 65;
   assert_fails(agxw_device_create(&fake.base, NULL, &device), AGX_INCOMPATIBLE, "65 clusters");
   fake_kmd_init(&fake);
   fake.params.core_masks[0] = 0;
   assert_fails(agxw_device_create(&fake.base, NULL, &device), AGX_INCOMPATIBLE, "0 cores");
   fake_kmd_init(&fake);
   fake.params.max_commands_per_submission = 0;
   assert_fails(agxw_device_create(&fake.base, NULL, &device), AGX_INCOMPATIBLE, "0 commands");
   fake_kmd_init(&fake);
   fake.params.vm_end = 0x1000000000;
   assert_fails(agxw_device_create(&fake.base, NULL, &device), AGX_INCOMPATIBLE, "0x1000000000");
   fake_kmd_assert_clean(&fake);
}

/* Whatever request fails, nothing stays behind. */
static void every_failure_is_undone(void **state)
{
   static const int errors[] = {ENOMEM, ENODEV, EINTR};
   for (int nth = 0;; nth++) {
      struct agxw_device *device = NULL;
      struct fake_kmd fake;
      fake_kmd_init(&fake);
      fake_kmd_fail(&fake, nth, 0, errors[nth % 3]);
      agx_status status = agxw_device_create(&fake.base, NULL, &device);
      if (status == AGX_OK) {
         agxw_device_destroy(device);
         assert_true(nth >= 4);
         return;
      }
      assert_null(device);
      fake_kmd_assert_clean(&fake);
   }
}

static void host_memory_may_run_out(void **state)
{
   for (size_t allowed = 0;; allowed++) {
      struct failing_alloc failing;
      failing_alloc_init(&failing, allowed);
      struct agxw_device *device = NULL;
      struct fake_kmd fake;
      fake_kmd_init(&fake);
      agx_status status = agxw_device_create(&fake.base, &failing.alloc, &device);
      if (status == AGX_OK) {
         agxw_device_destroy(device);
         assert_int_equal(failing.live, 0);
         assert_true(allowed >= 4);
         return;
      }
      assert_int_equal(status, AGX_RESOURCE_EXHAUSTED);
      assert_int_equal(failing.live, 0);
      fake_kmd_assert_clean(&fake);
   }
}

static void a_fault_is_told_where_the_device_can(void **state)
{
   struct fake_kmd fake;
   fake_kmd_init(&fake);
   struct agxw_device *device;
   assert_ok(agxw_device_create(&fake.base, NULL, &device));
   char text[32] = "x";
   assert_int_equal(agxw_device_fault_text(device, text, sizeof(text)), 0);
   assert_string_equal(text, "");
   fake.last_error = "load from 0x40";
   assert_int_equal(agxw_device_fault_text(device, text, sizeof(text)), 14);
   assert_string_equal(text, "load from 0x40");
   agxw_device_destroy(device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_m1_is_described),
      cmocka_unit_test(unknown_hardware_is_refused),
      cmocka_unit_test(every_failure_is_undone),
      cmocka_unit_test(host_memory_may_run_out),
      cmocka_unit_test(a_fault_is_told_where_the_device_can),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
