/* SPDX-License-Identifier: MIT
 *
 * Reserved ranges: what is asked of the kernel, and what it is asked for wrongly.
 */
#include <stdlib.h>
#include <errno.h>

#include "fake_kmd.h"

#include "winsys/device_impl.h"

#define PAGE 16384u

static void begin(struct fake_device *it)
{
   fake_device_begin(it);
   assert_ok(agxw_bo_reserve(it->device, 40 * PAGE, 0, "range", &it->range));
   assert_ok(agxw_bo_create_unbound(it->device, 4 * PAGE, AGXW_BO_CACHED, "memory", &it->memory));
   assert_int_equal(it->fake.gem.flags, AGX_UAPI_GEM_VM_PRIVATE | AGX_UAPI_GEM_WRITEBACK);
}

static void binds_reach_the_kernel(void **state)
{
   struct fake_device it;
   begin(&it);
   const struct agxw_bind bind = {3 * PAGE, 2 * PAGE, it.memory, PAGE, true, false};
   assert_ok(agxw_bo_bind(it.range, &bind, 1));
   assert_int_equal(it.fake.bind.flags, AGX_UAPI_BIND_READ);
   assert_int_equal(it.fake.bind.handle, it.memory->handle);
   assert_int_equal(it.fake.bind.offset, PAGE);
   assert_int_equal(it.fake.bind.range, 2 * PAGE);
   assert_int_equal(it.fake.bind.addr, agxw_bo_va(it.range) + 3 * PAGE);
   const struct agxw_bind both = {0, PAGE, it.memory, 0, true, true};
   assert_ok(agxw_bo_bind(it.range, &both, 1));
   assert_int_equal(it.fake.bind.flags, AGX_UAPI_BIND_READ | AGX_UAPI_BIND_WRITE);
   const struct agxw_bind none = {0, 40 * PAGE, NULL, 0, false, false};
   assert_ok(agxw_bo_bind(it.range, &none, 1));
   assert_int_equal(it.fake.bind.flags, AGX_UAPI_BIND_UNBIND);
   assert_int_equal(it.fake.bind.handle, 0);
   assert_int_equal(it.fake.bind.offset, 0);
   fake_device_end(&it);
}

static void many_binds_take_one_request_for_each_32(void **state)
{
   struct fake_device it;
   struct agxw_bind binds[40];
   begin(&it);
   for (uint32_t i = 0; i < 40; i++)
      binds[i] = (struct agxw_bind){i * PAGE, PAGE, it.memory, i % 4 * PAGE, true, true};
   int before = it.fake.requests;
   assert_ok(agxw_bo_bind(it.range, binds, 40));
   assert_int_equal(it.fake.requests, before + 2);
   assert_int_equal(it.fake.bind_count, 8);
   assert_ok(agxw_bo_bind(it.range, binds, 0));
   assert_int_equal(it.fake.requests, before + 2);
   fake_device_end(&it);
}

static void bad_binds_never_reach_the_kernel(void **state)
{
   struct fake_device it;
   begin(&it);
   struct agxw_bo *m = it.memory, *ordinary;
   const struct {
      struct agxw_bind bind;
      agx_status status;
   } cases[] = {
      {{100, PAGE, m, 0, true, true}, AGX_OUT_OF_RANGE},
      {{0, 100, m, 0, true, true}, AGX_OUT_OF_RANGE},
      {{0, 0, m, 0, true, true}, AGX_OUT_OF_RANGE},
      {{40 * PAGE, PAGE, m, 0, true, true}, AGX_OUT_OF_RANGE},
      {{39 * PAGE, 2 * PAGE, NULL, 0, false, false}, AGX_OUT_OF_RANGE},
      {{UINT64_MAX - PAGE + 1, PAGE, NULL, 0, false, false}, AGX_OUT_OF_RANGE},
      {{0, PAGE, m, 4 * PAGE, true, true}, AGX_OUT_OF_RANGE},
      {{0, 5 * PAGE, m, 0, true, true}, AGX_OUT_OF_RANGE},
      {{0, PAGE, m, 8, true, true}, AGX_OUT_OF_RANGE},
      {{0, PAGE, m, 0, false, false}, AGX_INVALID_ARGUMENT},
      {{0, PAGE, it.range, 0, true, true}, AGX_INVALID_ARGUMENT},
   };
   int before = it.fake.requests;
   for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
      assert_fails(agxw_bo_bind(it.range, &cases[i].bind, 1), cases[i].status, "range: ");
   assert_int_equal(it.fake.requests, before);
   assert_ok(agxw_bo_create(it.device, PAGE, 0, 0, "ordinary", &ordinary));
   const struct agxw_bind bind = {0, PAGE, m, 0, true, true};
   assert_fails(agxw_bo_bind(ordinary, &bind, 1), AGX_FAILED_PRECONDITION, "ordinary: not a");
   agxw_bo_destroy(ordinary);
   fake_device_end(&it);
}

static void ranges_have_no_memory_but_sinks(void **state)
{
   struct fake_device it;
   struct agxw_sinks sinks;
   void *memory = &memory;
   begin(&it);
   assert_fails(agxw_bo_map(it.range, &memory), AGX_FAILED_PRECONDITION, "range: reserved");
   assert_null(memory);
   assert_true(agxw_bo_sinks(it.range, 0, &sinks));
   assert_int_equal(it.fake.sinks[0].addr, sinks.zero_va);
   struct agxw_place place; /* messages know it */
   agxw_device_find_place(it.device, agxw_bo_va(it.range) + 5 * PAGE, &place);
   assert_int_equal(place.kind, AGXW_PLACE_INSIDE);
   assert_int_equal(place.distance, 5 * PAGE);
   assert_string_equal(place.label, "range");
   fake_device_end(&it);
}

static void count(void *user, const struct agxw_place *place, bool is_new)
{
   *(int *)user += is_new ? 1 : 100;
}

static void ranges_are_not_observed(void **state)
{
   struct fake_device it;
   struct agxw_bo *range, *bo;
   int seen = 0;
   begin(&it);
   agxw_device_observe(it.device, count, &seen);
   int before = seen; /* the sinks */
   assert_ok(agxw_bo_reserve(it.device, PAGE, 0, "more", &range));
   agxw_bo_destroy(range);
   assert_int_equal(seen, before);
   assert_ok(agxw_bo_create(it.device, PAGE, 0, 0, "memory", &bo));
   agxw_bo_destroy(bo);
   assert_int_equal(seen, before + 101);
   agxw_device_observe(it.device, NULL, NULL);
   fake_device_end(&it);
}

/* The windows inside have lost their sinks, and a later buffer there gets none. */
static void long_ranges_are_empty(void **state)
{
   struct fake_device it;
   struct agxw_bo *range, *next;
   struct agxw_sinks sinks;
   begin(&it);
   assert_ok(agxw_bo_reserve(it.device, UINT64_C(10) << 30, 0, "long", &range));
   assert_int_equal(it.fake.bind.flags, AGX_UAPI_BIND_UNBIND);
   assert_int_equal(it.fake.bind.addr, agxw_bo_va(range));
   assert_int_equal(it.fake.bind.range, UINT64_C(10) << 30);
   assert_false(agxw_bo_sinks(range, 0, &sinks));
   agxw_bo_destroy(range);
   int sink_binds = it.fake.sink_binds;
   assert_ok(agxw_bo_create(it.device, UINT64_C(3) << 30, 0, 0, "in the first", &next));
   assert_int_equal(it.fake.sink_binds, sink_binds);
   agxw_bo_destroy(next);
   fake_device_end(&it);
}

static void failures_leave_nothing(void **state)
{
   for (int nth = 0; nth < 2; nth++) {
      struct fake_device it;
      struct agxw_bo *range;
      begin(&it);
      const struct agxw_bind bind = {0, PAGE, it.memory, 0, true, true};
      fake_kmd_fail(&it.fake, 0, AGX_UAPI_NR(AGX_IOCTL_ASAHI_VM_BIND), ENOMEM);
      if (nth == 0)
         assert_fails(agxw_bo_bind(it.range, &bind, 1), AGX_RESOURCE_EXHAUSTED, "VM_BIND");
      else
         assert_fails(agxw_bo_reserve(it.device, UINT64_C(5) << 30, 0, "long", &range),
                      AGX_RESOURCE_EXHAUSTED, "VM_BIND");
      fake_device_end(&it);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(binds_reach_the_kernel),
      cmocka_unit_test(many_binds_take_one_request_for_each_32),
      cmocka_unit_test(bad_binds_never_reach_the_kernel),
      cmocka_unit_test(ranges_have_no_memory_but_sinks),
      cmocka_unit_test(ranges_are_not_observed),
      cmocka_unit_test(long_ranges_are_empty),
      cmocka_unit_test(failures_leave_nothing),
   };
   setenv("AGX_HOST_PAGE", "16384", true);
   return cmocka_run_group_tests(tests, NULL, NULL);
}
