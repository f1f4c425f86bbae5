/* SPDX-License-Identifier: MIT
 *
 * Syncobjs beyond the recorded rows (rows/): what a client may overdo.
 */
#include "device.h"
#include "rows/machine.h"

static int transfer(struct device *device, uint32_t handle, uint64_t from, uint64_t to)
{
   struct agx_uapi_syncobj_transfer args = {handle, handle, from, to, 0, 0};
   return CALL(device, SYNCOBJ_TRANSFER, args);
}

/* A long chain of points that all wait for the first must not cost the host's stack. */
static void a_long_chain_completes_and_goes(void **state)
{
   struct device device = device_open(machine_run);
   uint32_t t = make_syncobj(&device);
   struct agx_uapi_sync out = {AGX_UAPI_SYNC_TIMELINE_SYNCOBJ, t, 1};
   struct compute_record command = compute_command(0);
   machine_close(0);
   assert_int_equal(submit(&device, &command, &out, 0, 1), 0);
   for (uint64_t value = 2; value < 50000; value++)
      assert_int_equal(transfer(&device, t, value - 1, value), 0);
   assert_int_equal(query(&device, t, 0), 0);
   machine_fire(0);
   assert_int_equal(wait_point(&device, t, 49999, INT64_MAX, 0), 0);
   assert_int_equal(query(&device, t, 0), 49999);
   device_close(&device);
}

int main(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(a_long_chain_completes_and_goes)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
