/* SPDX-License-Identifier: MIT
 *
 * The pages that accesses outside of buffers reach: how they are bound, and that they go.
 */
#include "fake_kmd.h"

#include <errno.h>
#include <string.h>

#include "winsys/device_impl.h"

#define GIB UINT64_C(0x40000000)

static struct agxw_bo *create(struct fake_device *it, uint64_t size)
{
   struct agxw_bo *bo;
   assert_ok(agxw_bo_create(it->device, size, 0, 0, "b", &bo));
   return bo;
}

/* Zeros can be read, waste written too, from any buffer above them in the window. */
static void assert_sinks(const struct fake_device *it, const struct agxw_bo *bo, uint64_t offset,
                         uint64_t zero_va)
{
   struct agxw_sinks sinks;
   assert_true(agxw_bo_sinks(bo, offset, &sinks));
   assert_int_equal(sinks.zero_va, zero_va);
   assert_int_equal(sinks.waste_va, zero_va + 16384);
   assert_true(zero_va >= agxw_bo_va(bo) + offset);
   assert_true(zero_va + 32768 - agxw_bo_va(bo) - offset <= 4 * GIB);
}

static void the_null_window_has_sinks_from_the_start(void **state)
{
   struct fake_device it;
   fake_device_begin(&it);
   struct agxw_sinks sinks;
   assert_int_equal(agxw_device_null(it.device, &sinks), 0x1000000000);
   assert_int_equal(sinks.zero_va, 0x10ffff8000);
   assert_int_equal(sinks.waste_va, 0x10ffffc000);
   assert_int_equal(it.fake.sink_binds, 1);
   assert_int_equal(it.fake.sinks[0].addr, sinks.zero_va);
   assert_int_equal(it.fake.sinks[0].flags, AGX_UAPI_BIND_READ);
   assert_int_equal(it.fake.sinks[0].handle, it.device->zero_page->handle);
   assert_int_equal(it.fake.sinks[1].addr, sinks.waste_va);
   assert_int_equal(it.fake.sinks[1].flags, AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE);
   assert_int_equal(it.fake.sinks[1].handle, it.device->waste_page->handle);
   for (int i = 0; i < 2; i++) {
      assert_int_equal(it.fake.sinks[i].range, 16384);
      assert_int_equal(it.fake.sinks[i].offset, 0);
   }
   const uint8_t *waste = it.fake.memory[it.device->waste_page->handle];
   for (int i = 0; i < 16384; i++)
      assert_int_equal(waste[i], 0xca);
   fake_device_end(&it);
}

static void a_window_gets_sinks_with_its_first_buffer(void **state)
{
   struct fake_device it;
   fake_device_begin(&it);
   struct agxw_bo *a = create(&it, 1), *b = create(&it, 100000);
   assert_int_equal(it.fake.sink_binds, 2);
   assert_int_equal(it.fake.sinks[0].addr, 0x20ffff8000);
   assert_sinks(&it, a, 0, 0x20ffff8000);
   assert_sinks(&it, b, 100000, 0x20ffff8000);
   struct agxw_bo *c = create(&it, 4 * GIB - 4 * 16384); /* no room beside the others */
   assert_int_equal(agxw_bo_va(c), 0x2100000000);
   assert_int_equal(it.fake.sink_binds, 3);
   assert_sinks(&it, c, 0, 0x21ffff8000);
   agxw_bo_destroy(a);
   agxw_bo_destroy(b);
   agxw_bo_destroy(c);
   a = create(&it, 1);
   assert_int_equal(it.fake.sink_binds, 3); /* they stay */
   agxw_bo_destroy(a);
   fake_device_end(&it);
}

static void long_buffers_cover_the_sinks_of_windows(void **state)
{
   struct agxw_sinks sinks;
   struct fake_device it;
   fake_device_begin(&it);
   struct agxw_bo *small = create(&it, 1);
   agxw_bo_destroy(small);
   struct agxw_bo *large = create(&it, 9 * GIB); /* two windows, and a quarter */
   assert_int_equal(agxw_bo_va(large), 0x2000000000);
   assert_int_equal(it.fake.sinks[0].addr, 0x22ffff8000);
   assert_false(agxw_bo_sinks(large, 0, &sinks));
   assert_int_equal(sinks.zero_va, 0);
   assert_false(agxw_bo_sinks(large, 8 * GIB - 1, &sinks));
   assert_sinks(&it, large, 8 * GIB, 0x22ffff8000);
   assert_sinks(&it, large, 9 * GIB, 0x22ffff8000);
   assert_false(agxw_bo_sinks(large, 9 * GIB + 1, &sinks));
   small = create(&it, 1);
   assert_int_equal(agxw_bo_va(small) >> 32, 0x22);
   int binds = it.fake.sink_binds;
   agxw_bo_destroy(small);
   agxw_bo_destroy(large);
   small = create(&it, 1); /* where the large one had covered them */
   assert_int_equal(it.fake.sink_binds, binds + 1);
   assert_int_equal(it.fake.sinks[0].addr, 0x20ffff8000);
   agxw_bo_destroy(small);
   fake_device_end(&it);
}

/* One that ends among its last window's sinks has none. */
static void a_buffer_that_ends_in_the_kept_pages_has_none(void **state)
{
   struct agxw_sinks sinks;
   struct fake_device it;
   fake_device_begin(&it);
   struct agxw_bo *bo = create(&it, 4 * GIB - 16384);
   assert_int_equal(it.fake.sink_binds, 1);
   assert_false(agxw_bo_sinks(bo, 0, &sinks));
   assert_false(agxw_bo_sinks(bo, 4 * GIB - 16384, &sinks));
   agxw_bo_destroy(bo);
   bo = create(&it, 4 * GIB - 3 * 16384); /* with its guard, all that a window has */
   assert_int_equal(agxw_bo_va(bo), 0x2000000000);
   assert_sinks(&it, bo, 0, 0x20ffff8000);
   agxw_bo_destroy(bo);
   fake_device_end(&it);
}

/* The heap's end isn't a window's. */
static void the_last_window_ends_with_the_heap(void **state)
{
   struct agxw_bo *bos[128];
   int count = 0;
   struct fake_device it;
   fake_device_begin(&it);
   while (agxw_bo_create(it.device, 4 * GIB - 4 * 16384, 0, 0, "b", &bos[count]) == AGX_OK) {
      assert_sinks(&it, bos[count], 0,
                   agxw_bo_va(bos[count]) / (4 * GIB) * (4 * GIB) + 4 * GIB - 32768);
      count++;
   }
   assert_int_equal(count, 0x78 - 0x20 - 1);
   bos[count] = create(&it, 4 * GIB - 6 * 16384);
   assert_int_equal(agxw_bo_va(bos[count]), 0x7700000000);
   assert_sinks(&it, bos[count], 0, 0x77ffff0000);
   for (int i = 0; i <= count; i++)
      agxw_bo_destroy(bos[i]);
   fake_device_end(&it);
}

static void code_has_none(void **state)
{
   struct agxw_sinks sinks;
   struct agxw_bo *bo;
   struct fake_device it;
   fake_device_begin(&it);
   assert_ok(agxw_bo_create(it.device, 1, 0, AGXW_BO_USC, "code", &bo));
   assert_false(agxw_bo_sinks(bo, 0, &sinks));
   assert_int_equal(it.fake.sink_binds, 1);
   agxw_bo_destroy(bo);
   fake_device_end(&it);
}

/* A window whose sinks could not be bound is tried again. */
static void a_failure_is_told_and_forgotten(void **state)
{
   struct agxw_bo *bo;
   struct fake_device it;
   fake_device_begin(&it);
   fake_kmd_fail(&it.fake, 0, AGX_UAPI_NR(AGX_IOCTL_ASAHI_VM_BIND), ENOMEM);
   assert_fails(agxw_bo_create(it.device, 1, 0, 0, "points", &bo), AGX_RESOURCE_EXHAUSTED,
                "points: fake: VM_BIND of zeros and waste at 0x20ffff8000");
   assert_null(bo);
   assert_int_equal(it.device->user.live, 0);
   bo = create(&it, 1);
   assert_int_equal(it.fake.sink_binds, 2);
   agxw_bo_destroy(bo);
   fake_device_end(&it);
}

/* No bound buffer ever lies in or across kept pages, and every one in reach of sinks is told
 * of bound ones. */
static void random_buffers_keep_the_rules(void **state)
{
   struct agxw_bo *bos[24] = {0};
   struct agx_test_rng rng = {11};
   struct fake_device it;
   fake_device_begin(&it);
   for (int i = 0; i < 3000; i++) {
      struct agxw_bo **slot = &bos[agx_test_random_below(&rng, 24)];
      if (*slot) {
         agxw_bo_destroy(*slot);
         *slot = NULL;
         continue;
      }
      uint64_t size = 1 + (agx_test_random(&rng) >> (29 + agx_test_random_below(&rng, 24)));
      if (agxw_bo_create(it.device, size, 0, 0, "b", slot) != AGX_OK)
         continue;
      for (int j = 0; j < 24; j++) {
         struct agxw_sinks sinks;
         if (!bos[j] || !agxw_bo_sinks(bos[j], 0, &sinks))
            continue;
         uint64_t window = sinks.zero_va >> 32;
         assert_true(it.device->sinks_bound[window / 64] >> window % 64 & 1);
         for (int k = 0; k < 24; k++)
            if (bos[k])
               assert_true(agxw_bo_va(bos[k]) >= sinks.zero_va + 32768 ||
                           agxw_bo_va(bos[k]) + agxw_bo_size(bos[k]) <= sinks.zero_va);
      }
   }
   for (int j = 0; j < 24; j++)
      agxw_bo_destroy(bos[j]);
   fake_device_end(&it);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_null_window_has_sinks_from_the_start),
      cmocka_unit_test(a_window_gets_sinks_with_its_first_buffer),
      cmocka_unit_test(long_buffers_cover_the_sinks_of_windows),
      cmocka_unit_test(a_buffer_that_ends_in_the_kept_pages_has_none),
      cmocka_unit_test(the_last_window_ends_with_the_heap),
      cmocka_unit_test(code_has_none),
      cmocka_unit_test(a_failure_is_told_and_forgotten),
      cmocka_unit_test(random_buffers_keep_the_rules),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
