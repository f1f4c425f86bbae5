/* SPDX-License-Identifier: MIT
 *
 * What happens at the limit of a device's memory.
 */
#include "memory_scene.h"

/* ---- limits --------------------------------------------------------------------- */

static void a_limit_is_kept(void **state)
{
   struct fixture f;
   struct agx_buffer *half, *more = NULL;
   open_limited(&f, MIB, 0);
   assert_int_equal(stats_of(&f).limit_B, MIB);
   half = must_create(&f, MIB / 2, 0);
   assert_fails(create(&f, MIB, 0, &more), AGX_RESOURCE_EXHAUSTED,
                "thing: 1048576 bytes; the device may take 1048576, and has taken 524288");
   bytes_of(half)[0] = 1;
   agx_release(half); /* kept, but not against the limit */
   assert_int_equal(stats_of(&f).cached_B, MIB / 2);
   more = must_create(&f, MIB, 0);
   assert_int_equal(stats_of(&f).cached_B, 0);
   agx_release(more);
   fixture_close(&f);
}

/* Pages without an address are memory, too. */
static void pages_count(void **state)
{
   struct fixture f;
   struct agx_pages *pages[5];
   struct agx_buffer *buffer;
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = MIB, .label = "sheets"};
   open_limited(&f, 4 * MIB, 0);
   agx_release(must_create(&f, 3 * MIB, 0)); /* kept, but given up for them */
   for (uint32_t i = 0; i < 4; i++)
      assert_ok(agx_pages_create(f.device, &desc, &pages[i]));
   assert_int_equal(stats_of(&f).device.used_B, 4 * MIB);
   assert_fails(agx_pages_create(f.device, &desc, &pages[4]), AGX_RESOURCE_EXHAUSTED,
                "sheets: 1048576 bytes; the device may take 4194304, and has taken 4194304");
   assert_null(pages[4]);
   assert_fails(create(&f, MIB, 0, &buffer), AGX_RESOURCE_EXHAUSTED, "has taken 4194304");
   agx_release(pages[0]);
   assert_ok(create(&f, MIB, 0, &buffer));
   agx_release(buffer);
   for (uint32_t i = 1; i < 4; i++)
      agx_release(pages[i]);
   assert_int_equal(stats_of(&f).device.used_B, 0);
   fixture_close(&f);
}

/* Neither do pools keep memory that others need. */
static void idle_slabs_go_before_a_buffer_is_refused(void **state)
{
   const struct agx_pool_desc desc = {.size = sizeof(desc), .slab_B = MIB / 2};
   struct fixture f;
   struct agx_pool *pool = NULL;
   struct agx_buffer *buffer = NULL;
   open_limited(&f, MIB, 0);
   assert_ok(agx_pool_create(f.device, &desc, &pool));
   assert_ok(agx_pool_allocate(pool, 100, 0, &buffer));
   assert_fails(create(&f, MIB, 0, &(struct agx_buffer *){NULL}), AGX_RESOURCE_EXHAUSTED, "");
   agx_release(buffer);
   assert_int_equal(stats_of(&f).pools_reserved_B, MIB / 2);
   agx_release(must_create(&f, MIB, 0));
   assert_int_equal(stats_of(&f).pools_reserved_B, 0);
   agx_release(pool);
   fixture_close(&f);
}

struct request {
   uint64_t size_B;
   struct agx_semaphore *go, *over;
};

static struct agx_buffer *allocate(struct fixture *f, struct request it)
{
   struct agx_buffer *buffer = NULL;
   const struct agx_point wait = {it.go, 1}, signal = {it.over, 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_ALLOCA,
                             .waits = &wait,
                             .signals = &signal,
                             .wait_count = it.go != NULL,
                             .signal_count = 1,
                             .u.alloca = {.size_B = it.size_B, .out_buffer = &buffer}};
   assert_ok(agx_submit(f->device, &op, 1, NULL));
   assert_non_null(buffer);
   return buffer;
}

/* Whether it waits or not, an allocation that finds no memory fails its signals. */
static void allocations_beyond_the_limit_fail(void **state)
{
   struct fixture f;
   open_limited(&f, MIB, 0);
   for (int waits = 0; waits < 2; waits++) {
      struct agx_semaphore *go = fixture_semaphore(&f), *over = fixture_semaphore(&f);
      struct agx_buffer *buffer = allocate(&f, (struct request){2 * MIB, waits ? go : NULL, over});
      struct agx_buffer_info info = {.size = sizeof(info)};
      assert_ok(agx_semaphore_signal(go, 1));
      assert_fails(fixture_wait(over, 1), AGX_RESOURCE_EXHAUSTED, "2097152 bytes");
      agx_buffer_get_info(buffer, &info);
      assert_int_equal(info.state, AGX_BUFFER_RESERVED);
      agx_release(buffer);
      agx_release(go);
      agx_release(over);
   }
   assert_int_equal(stats_of(&f).device.used_B, 0);
   fixture_close(&f);
}

/* The system itself has no more. */
static void memory_runs_out(void **state)
{
   struct fixture f;
   struct agx_buffer *buffers[16] = {NULL};
   uint32_t count = 0;
   setenv("AGX_VIRTUAL_MEMORY", "16777216", 1);
   fixture_open(&f, "virtual");
   unsetenv("AGX_VIRTUAL_MEMORY");
   agx_status status = AGX_OK;
   while (status == AGX_OK && count < AGX_COUNT(buffers)) {
      status = create(&f, 2 * MIB, 0, &buffers[count]);
      count += status == AGX_OK;
   }
   assert_int_equal(status, AGX_RESOURCE_EXHAUSTED);
   assert_in_range(count, 4, 8);
   struct agx_semaphore *over = fixture_semaphore(&f), *again = fixture_semaphore(&f);
   struct agx_buffer *none = allocate(&f, (struct request){4 * MIB, NULL, over});
   assert_fails(fixture_wait(over, 1), AGX_RESOURCE_EXHAUSTED, "");
   for (uint32_t i = 0; i < count; i++) {
      bytes_of(buffers[i])[0] = 1;
      agx_release(buffers[i]);
   }
   struct agx_buffer *some = allocate(&f, (struct request){8 * MIB, NULL, again});
   assert_ok(fixture_wait(again, 1)); /* what was kept makes room */
   agx_release(none);
   agx_release(some);
   agx_release(over);
   agx_release(again);
   fixture_close(&f);
}

/* Each request of an allocation that comes to its turn late fails once: growing, binding. */
static void late_allocations_survive_refusals(void **state)
{
   static const uint32_t requests[] = {NR_GEM_CREATE, NR_VM_BIND};
   for (size_t i = 0; i < AGX_COUNT(requests); i++) {
      struct failing_kmd kmd;
      struct fixture f = {0};
      failing_kmd_open(&kmd);
      fixture_open_over(&f, NULL, &kmd.base);
      struct agx_semaphore *go = fixture_semaphore(&f), *over = fixture_semaphore(&f),
                           *again = fixture_semaphore(&f);
      struct agx_buffer *first = allocate(&f, (struct request){65536, go, over});
      kmd.failed = 0;
      failing_kmd_arm(&kmd, 0, requests[i], ENOMEM);
      assert_ok(agx_semaphore_signal(go, 1));
      assert_fails(fixture_wait(over, 1), AGX_RESOURCE_EXHAUSTED, "");
      assert_true(kmd.failed > 0);
      failing_kmd_disarm(&kmd);
      struct agx_buffer *second = allocate(&f, (struct request){65536, go, again});
      assert_ok(fixture_wait(again, 1));
      agx_release(first);
      agx_release(second);
      agx_release(go);
      agx_release(over);
      agx_release(again);
      fixture_close(&f);
      failing_kmd_await_close(&kmd);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_limit_is_kept),
      cmocka_unit_test(pages_count),
      cmocka_unit_test(idle_slabs_go_before_a_buffer_is_refused),
      cmocka_unit_test(allocations_beyond_the_limit_fail),
      cmocka_unit_test(memory_runs_out),
      cmocka_unit_test(late_allocations_survive_refusals),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
