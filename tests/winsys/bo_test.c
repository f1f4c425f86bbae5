/* SPDX-License-Identifier: MIT
 *
 * Buffer objects: creation, binding, mapping, and that failures leave nothing behind.
 */
#include "fake_kmd.h"

#include <stdlib.h>
#include <errno.h>
#include <string.h>

#include "winsys/device_impl.h"

static void flags_reach_the_kernel(void **state)
{
   static const struct {
      uint32_t flags, gem, bind;
      bool in_window;
   } cases[] = {
      {0, AGX_UAPI_GEM_VM_PRIVATE, 6, false},
      {AGXW_BO_USC | AGXW_BO_READ_ONLY, AGX_UAPI_GEM_VM_PRIVATE, 2, true},
      {AGXW_BO_CACHED, AGX_UAPI_GEM_VM_PRIVATE | AGX_UAPI_GEM_WRITEBACK, 6, false},
      {AGXW_BO_SHAREABLE | AGXW_BO_CACHED, AGX_UAPI_GEM_WRITEBACK, 6, false},
   };
   struct fake_device it;
   fake_device_begin(&it);
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
      struct agxw_bo *bo;
      assert_ok(agxw_bo_create(it.device, 20000, 0, cases[i].flags, "points", &bo));
      assert_int_equal(it.fake.gem.flags, cases[i].gem);
      assert_int_equal(it.fake.gem.size, 32768);
      assert_int_equal(it.fake.gem.vm_id != 0, (cases[i].flags & AGXW_BO_SHAREABLE) == 0);
      assert_int_equal(it.fake.bind.flags, cases[i].bind);
      assert_int_equal(it.fake.bind.range, 32768);
      assert_int_equal(it.fake.bind.addr, agxw_bo_va(bo));
      assert_int_equal(agxw_bo_size(bo), 32768);
      assert_int_equal(agxw_bo_va(bo) >> 32 == 0x11, cases[i].in_window);
      assert_true((agxw_bo_va(bo) & 0xffffffff) != 0 || !cases[i].in_window);
      assert_string_equal(it.fake.label, "points");
      agxw_bo_destroy(bo);
   }
   fake_device_end(&it);
}

/* A shareable object may outlive the handle, so its range is unbound by hand. */
static void shareable_buffers_are_unbound(void **state)
{
   struct fake_device it;
   fake_device_begin(&it);
   struct agxw_bo *bo;
   assert_ok(agxw_bo_create(it.device, 1, 0, AGXW_BO_SHAREABLE, NULL, &bo));
   int binds = it.fake.live.binds;
   uint64_t va = agxw_bo_va(bo);
   agxw_bo_destroy(bo);
   assert_int_equal(it.fake.live.binds, binds - 1);
   assert_int_equal(it.fake.bind.flags, AGX_UAPI_BIND_UNBIND);
   assert_int_equal(it.fake.bind.handle, 0);
   assert_int_equal(it.fake.bind.addr, va);
   fake_device_end(&it);
}

static void bad_requests_are_named(void **state)
{
   struct fake_device it;
   fake_device_begin(&it);
   struct agxw_bo *bo;
   assert_fails(agxw_bo_create(it.device, 0, 0, 0, "empty", &bo), AGX_INVALID_ARGUMENT,
                "empty: size 0");
   assert_fails(agxw_bo_create(it.device, (UINT64_C(1) << 37) + 1, 0, 0, "huge", &bo),
                AGX_INVALID_ARGUMENT, "huge: size 137438953473");
   assert_fails(agxw_bo_create(it.device, 1, 0, 0x10, "b", &bo), AGX_INVALID_ARGUMENT, "0x10");
   assert_fails(agxw_bo_create(it.device, 1, 24, 0, "b", &bo), AGX_INVALID_ARGUMENT, "b: ");
   assert_fails(agxw_bo_create(it.device, UINT64_C(5) << 30, 0, AGXW_BO_USC, "code", &bo),
                AGX_RESOURCE_EXHAUSTED, "code: USC window");
   assert_null(bo);
   fake_device_end(&it);
}

static void every_failure_is_undone(void **state)
{
   for (int nth = 0;; nth++) {
      struct fake_device it;
      fake_device_begin(&it);
      fake_kmd_fail(&it.fake, nth, 0, ENOMEM);
      struct agxw_bo *bo;
      agx_status status = agxw_bo_create(it.device, 1, 0, 0, "b", &bo);
      it.fake.fail_at = -1;
      if (status == AGX_OK)
         agxw_bo_destroy(bo);
      else
         assert_int_equal(status, AGX_RESOURCE_EXHAUSTED);
      fake_device_end(&it);
      if (status == AGX_OK) {
         assert_int_equal(nth, 3); /* sinks, object, binding */
         return;
      }
   }
}

/* When the kernel keeps an object, its addresses are not given to another one. */
static void a_range_that_may_be_bound_is_not_used_again(void **state)
{
   struct fake_device it;
   fake_device_begin(&it);
   struct agxw_bo *first, *second;
   assert_ok(agxw_bo_create(it.device, 1, 0, 0, "first", &first));
   uint64_t va = agxw_bo_va(first);
   fake_kmd_fail(&it.fake, 0, AGX_UAPI_NR(AGX_IOCTL_GEM_CLOSE), ENODEV);
   agxw_bo_destroy(first);
   assert_ok(agxw_bo_create(it.device, 1, 0, 0, "second", &second));
   assert_int_not_equal(agxw_bo_va(second), va);
   agxw_bo_destroy(second);
   assert_int_equal(it.device->user.live, 1);
   agxw_device_destroy(it.device);
}

static void mappings_are_made_once(void **state)
{
   struct fake_device it;
   fake_device_begin(&it);
   struct agxw_bo *bo;
   void *first, *second;
   int mappings = it.fake.live.mappings;
   assert_ok(agxw_bo_create(it.device, 100, 0, 0, "b", &bo));
   fake_kmd_fail(&it.fake, 0, AGX_UAPI_NR(AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET), ENOMEM);
   assert_fails(agxw_bo_map(bo, &first), AGX_RESOURCE_EXHAUSTED, "b: GEM_MMAP_OFFSET");
   assert_null(first);
   assert_ok(agxw_bo_map(bo, &first));
   assert_ok(agxw_bo_map(bo, &second));
   assert_ptr_equal(first, second);
   memset(first, 0xa5, agxw_bo_size(bo));
   assert_int_equal(it.fake.live.mappings, mappings + 1);
   agxw_bo_destroy(bo);
   fake_device_end(&it);
}

/* CPU mappings are whole pages of the host, GPU ranges whole pages of the GPU. */
static void host_pages_may_be_of_any_size(void **state)
{
   static const char *const pages[] = {"4096", "16384", "65536"};
   for (int i = 0; i < 3; i++) {
      setenv("AGX_HOST_PAGE", pages[i], true);
      struct fake_device it;
      fake_device_begin(&it);
      struct agxw_bo *bo;
      assert_ok(agxw_bo_create(it.device, 20000, 0, 0, "b", &bo));
      assert_int_equal(agxw_bo_size(bo), i == 2 ? 65536 : 32768);
      assert_int_equal(it.fake.gem.size, agxw_bo_size(bo));
      agxw_bo_destroy(bo);
      fake_device_end(&it);
   }
   unsetenv("AGX_HOST_PAGE");
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(flags_reach_the_kernel),
      cmocka_unit_test(shareable_buffers_are_unbound),
      cmocka_unit_test(bad_requests_are_named),
      cmocka_unit_test(every_failure_is_undone),
      cmocka_unit_test(a_range_that_may_be_bound_is_not_used_again),
      cmocka_unit_test(mappings_are_made_once),
      cmocka_unit_test(host_pages_may_be_of_any_size),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
