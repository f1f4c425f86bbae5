/* SPDX-License-Identifier: MIT
 *
 * What buffers leave behind, and what a device's memory adds up to: reuse, limits, statistics.
 */
#include "memory_scene.h"
#include "failing_alloc.h"

/* ---- reuse ------------------------------------------------------------------ */

static void what_comes_again_is_zero(void **state)
{
   struct fixture f;
   fixture_open(&f, "virtual");
   struct agx_buffer *buffer = must_create(&f, 100000, AGX_BUFFER_HOST_READ);
   const uint64_t address = address_of(buffer);
   memset(bytes_of(buffer), 0xee, 100000);
   agx_release(buffer);
   assert_int_equal(stats_of(&f).cached_B, 7 * 16384);
   buffer = must_create(&f, 7 * 16384, AGX_BUFFER_HOST_READ);
   assert_true(address_of(buffer) == address);
   assert_int_equal(stats_of(&f).cached_B, 0);
   assert_int_equal(stats_of(&f).cache_hits, 1);
   const uint8_t *bytes = bytes_of(buffer);
   for (uint32_t i = 0; i < 7 * 16384; i++)
      assert_int_equal(bytes[i], 0);
   agx_release(buffer);
   fixture_close(&f);
}

/* Other sizes, other kinds, what others may see, and what the host would have to map first. */
static void only_what_fits_comes_again(void **state)
{
   struct fixture f;
   fixture_open(&f, "virtual");
   struct agx_buffer *buffer = must_create(&f, 65536, 0);
   memset(bytes_of(buffer), 0xee, 65536);
   const uint64_t address = address_of(buffer);
   agx_release(buffer);
   struct agx_buffer *others[] = {
      must_create(&f, 65536, AGX_BUFFER_HOST_READ),
      must_create(&f, 65536, AGX_BUFFER_GPU_READ_ONLY),
      must_create(&f, 65537, 0),
      must_create(&f, 49152, 0),
   };
   assert_int_equal(stats_of(&f).cached_B, 65536);
   for (size_t i = 0; i < AGX_COUNT(others); i++) {
      assert_true(address_of(others[i]) != address);
      agx_release(others[i]); /* never mapped */
   }
   assert_int_equal(stats_of(&f).cached_B, 65536);
   const struct agx_buffer_desc shared = {.size = sizeof(shared),
                                          .size_B = 65536,
                                          .usage = AGX_USAGE_SHARING_EXPORT | AGX_USAGE_MAPPING};
   assert_ok(agx_buffer_create(f.device, &shared, &buffer));
   assert_true(address_of(buffer) != address);
   memset(bytes_of(buffer), 1, 65536);
   agx_release(buffer);
   assert_int_equal(stats_of(&f).cached_B, 65536);
   agx_device_trim(f.device);
   assert_int_equal(stats_of(&f).cached_B, 0);
   fixture_close(&f);
}

static void the_longest_kept_goes_first(void **state)
{
   struct fixture f;
   struct agx_buffer *buffers[6];
   uint64_t addresses[6];
   open_limited(&f, 0, 4 * MIB);
   for (uint32_t i = 0; i < 6; i++) {
      buffers[i] = must_create(&f, MIB, 0);
      bytes_of(buffers[i])[0] = 1;
      addresses[i] = address_of(buffers[i]);
   }
   for (uint32_t i = 0; i < 6; i++)
      agx_release(buffers[i]);
   assert_int_equal(stats_of(&f).cached_B, 4 * MIB);
   for (uint32_t i = 0; i < 4; i++) { /* the last one is the warmest */
      buffers[i] = must_create(&f, MIB, 0);
      assert_true(address_of(buffers[i]) == addresses[5 - i]);
   }
   for (uint32_t i = 0; i < 4; i++)
      agx_release(buffers[i]);
   struct agx_buffer *large = must_create(&f, 2 * MIB, 0); /* more than a quarter of the limit */
   bytes_of(large)[0] = 1;
   agx_release(large);
   assert_int_equal(stats_of(&f).cached_B, 4 * MIB);
   fixture_close(&f);
}

/* So that a kernel which uses a buffer that is gone is caught. */
static void fresh_turns_it_off(void **state)
{
   struct fixture f;
   setenv("AGX_DEBUG", "fresh", 1);
   fixture_open(&f, "virtual");
   unsetenv("AGX_DEBUG");
   struct agx_buffer *buffer = must_create(&f, 65536, 0);
   bytes_of(buffer)[0] = 1;
   agx_release(buffer);
   assert_int_equal(stats_of(&f).cached_B, 0);
   fixture_close(&f);
}

/* ---- statistics --------------------------------------------------------------- */

static void statistics_add_up(void **state)
{
   struct fixture f;
   fixture_open(&f, "virtual");
   const struct agx_memory_stats before = stats_of(&f);
   const struct agx_pool_desc pool_desc = {.size = sizeof(pool_desc), .slab_B = MIB};
   const struct agx_buffer_desc hidden_desc = {
      .size = sizeof(hidden_desc), .size_B = 65536, .memory = AGX_MEMORY_DEVICE_LOCAL};
   struct agx_buffer *seen = must_create(&f, 100, 0), *hidden = NULL, *pooled = NULL;
   struct agx_pool *pool = NULL;
   assert_int_equal(before.pool_count, 1); /* the device's own */
   assert_int_equal(before.device.used_B, 0);
   assert_ok(agx_buffer_create(f.device, &hidden_desc, &hidden));
   assert_ok(agx_pool_create(f.device, &pool_desc, &pool));
   assert_ok(agx_pool_allocate(pool, 1000, 0, &pooled));
   bytes_of(seen)[0] = 1;
   struct agx_memory_stats now = stats_of(&f);
   assert_int_equal(now.device.used_B, 16384 + 65536 + MIB);
   assert_int_equal(now.host_visible.used_B, 16384 + MIB);
   assert_int_equal(now.device.allocated_B, now.device.used_B);
   assert_int_equal(now.device.freed_B, 0);
   assert_int_equal(now.pool_count, 2);
   assert_int_equal(now.pools_reserved_B, MIB);
   assert_int_equal(now.pools_used_B, 1024);
   assert_int_equal(now.mapped_B, before.mapped_B + 16384);
   agx_release(seen);
   agx_release(hidden);
   agx_release(pooled);
   agx_release(pool);
   now = stats_of(&f);
   assert_int_equal(now.device.used_B, 0);
   assert_int_equal(now.device.peak_B, 16384 + 65536 + MIB);
   assert_int_equal(now.device.freed_B, now.device.allocated_B);
   assert_int_equal(now.cached_B, 16384 + MIB);
   assert_int_equal(now.pool_count, 1);
   agx_device_trim(f.device);
   assert_int_equal(stats_of(&f).mapped_B, before.mapped_B);
   fixture_close(&f);
}

/* ---- costs ------------------------------------------------------------------------ */

struct counter {
   _Atomic uint32_t calls;
};

static void *counted_alloc(void *user, size_t size)
{
   struct counter *counter = user;
   atomic_fetch_add(&counter->calls, 1);
   return malloc(size);
}

static void counted_free(void *user, void *memory, size_t size)
{
   free(memory);
}

static void give_back(struct fixture *f, struct agx_buffer *buffer, struct agx_point wait,
                      struct agx_point signal)
{
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_DEALLOCA,
                             .waits = &wait,
                             .signals = &signal,
                             .wait_count = 1,
                             .signal_count = 1,
                             .u.dealloca.buffer = buffer};
   assert_ok(agx_submit(f->device, &op, 1, NULL));
}

/* Once there is a slab, what comes and goes with the queue costs neither heap nor requests. */
static void allocating_in_order_costs_nothing(void **state)
{
   static struct counter counter; /* the device may end after this function */
   const struct agx_alloc_callbacks alloc = {&counter, counted_alloc, counted_free};
   const struct agx_instance_desc desc = {.size = sizeof(desc), .alloc = &alloc};
   struct failing_kmd kmd;
   struct fixture f = {0};
   uint32_t calls = 0;
   failing_kmd_open(&kmd);
   assert_ok(agx_instance_create(&desc, &f.instance));
   assert_ok(agx_device_open_kmd(f.instance, &kmd.base, &f.device));
   struct agx_semaphore *timeline = fixture_semaphore(&f);
   for (uint64_t i = 0; i < 200; i++) {
      struct agx_buffer *buffer = NULL;
      const struct agx_point points[] = {
         {timeline, 2 * i}, {timeline, 2 * i + 1}, {timeline, 2 * i + 2}};
      const struct agx_op op = {.size = sizeof(op),
                                .kind = AGX_OP_ALLOCA,
                                .waits = &points[0],
                                .signals = &points[1],
                                .wait_count = 1,
                                .signal_count = 1,
                                .u.alloca = {.size_B = 3000, .out_buffer = &buffer}};
      assert_ok(agx_submit(f.device, &op, 1, NULL));
      give_back(&f, buffer, points[1], points[2]);
      agx_release(buffer);
      if (i == 10) {
         calls = counter.calls;
         failing_kmd_arm(&kmd, 0, 0, ENOMEM);
         kmd.failed = 0;
      }
   }
   assert_ok(fixture_wait(timeline, 400));
   assert_int_equal(counter.calls, calls);
   assert_int_equal(kmd.failed, 0);
   failing_kmd_disarm(&kmd);
   agx_release(timeline);
   fixture_close(&f);
   failing_kmd_await_close(&kmd);
}

/* A pool, buffers of it, and allocations at once and late. What failed, or AGX_OK. */
static agx_status whole_life(struct fixture *f)
{
   const struct agx_pool_desc pool_desc = {.size = sizeof(pool_desc), .slab_B = 256 * KIB};
   struct agx_semaphore *go = NULL, *over = NULL;
   struct agx_pool *pool = NULL;
   struct agx_buffer *buffers[100] = {NULL}, *queued[2] = {NULL};
   agx_status status = agx_pool_create(f->device, &pool_desc, &pool);
   for (uint32_t i = 0; i < 100 && status == AGX_OK; i++)
      status = agx_pool_allocate(pool, 1000, 0, &buffers[i]);
   if (status == AGX_OK)
      status = agx_semaphore_create(f->device, 0, &go);
   if (status == AGX_OK)
      status = agx_semaphore_create(f->device, 0, &over);
   for (uint32_t i = 0; i < 2 && status == AGX_OK; i++) {
      const struct agx_point wait = {go, 1}, signal = {over, 1 + i};
      const struct agx_op op = {
         .size = sizeof(op),
         .kind = AGX_OP_ALLOCA,
         .waits = &wait,
         .signals = &signal,
         .wait_count = i,
         .signal_count = 1,
         .u.alloca = {.pool = pool, .size_B = 65536, .out_buffer = &queued[i]}};
      status = agx_submit(f->device, &op, 1, NULL);
      assert_true((status == AGX_OK) == (queued[i] != NULL));
   }
   if (status == AGX_OK)
      status = agx_semaphore_signal(go, 1);
   if (status == AGX_OK)
      status = fixture_wait(over, 2);
   for (uint32_t i = 0; i < 100; i++)
      agx_release(buffers[i]);
   agx_release(queued[0]);
   agx_release(queued[1]);
   agx_release(go);
   agx_release(over);
   agx_release(pool);
   return status;
}

static void every_host_allocation_may_fail(void **state)
{
   struct failing_alloc failing;
   struct fixture f = {0};
   struct failing_kmd kmd;
   failing_alloc_init(&failing, SIZE_MAX);
   const struct agx_alloc_callbacks alloc = {failing.alloc.user, failing.alloc.alloc,
                                             failing.alloc.free};
   const struct agx_instance_desc desc = {.size = sizeof(desc), .alloc = &alloc};
   failing_kmd_open(&kmd);
   assert_ok(agx_instance_create(&desc, &f.instance));
   assert_ok(agx_device_open_kmd(f.instance, &kmd.base, &f.device));
   assert_ok(whole_life(&f));
   agx_device_trim(f.device);
   bool finished = false;
   uint32_t failures = 0;
   for (size_t nth = 0; nth < 300 && !finished; nth++) {
      const size_t live = failing.live;
      failing.remaining = nth;
      agx_status status = whole_life(&f);
      failing.remaining = SIZE_MAX;
      finished = status == AGX_OK;
      failures += !finished;
      if (!finished)
         assert_int_equal(status, AGX_RESOURCE_EXHAUSTED);
      assert_int_equal(stats_of(&f).device.used_B, 0);
      agx_device_trim(f.device);
      assert_true(failing.live <= live + 8); /* what the library keeps of its own to use again */
   }
   assert_true(finished && failures > 50);
   fixture_close(&f);
   failing_kmd_await_close(&kmd);
   failing_alloc_await_end(&failing);
}

/* ---- threads ---------------------------------------------------------------------- */

static void *come_and_go(void *argument)
{
   struct fixture *f = argument;
   for (uint32_t i = 0; i < 400; i++) {
      const uint64_t size_B = 16384u << i % 3;
      struct agx_buffer *buffer;
      void *memory;
      if (create(f, size_B, 0, &buffer) != AGX_OK || agx_buffer_map(buffer, &memory) != AGX_OK)
         return "no buffer";
      for (uint64_t at = 0; at < size_B; at += 997)
         if (((uint8_t *)memory)[at])
            return "another one's bytes";
      memset(memory, 0xee, size_B);
      agx_release(buffer);
      if (i % 100 == 50)
         agx_device_trim(f->device);
   }
   return NULL;
}

static void threads_share_the_cache(void **state)
{
   struct fixture f;
   pthread_t threads[4];
   open_limited(&f, 4 * MIB, 256 * KIB);
   for (uint32_t i = 0; i < 4; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &f), 0);
   for (uint32_t i = 0; i < 4; i++) {
      void *wrong = NULL;
      pthread_join(threads[i], &wrong);
      if (wrong)
         fail_msg("%s", (char *)wrong);
   }
   assert_int_equal(stats_of(&f).device.used_B, 0);
   assert_true(stats_of(&f).cache_hits > 0);
   fixture_close(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_comes_again_is_zero),
      cmocka_unit_test(only_what_fits_comes_again),
      cmocka_unit_test(the_longest_kept_goes_first),
      cmocka_unit_test(fresh_turns_it_off),
      cmocka_unit_test(statistics_add_up),
      cmocka_unit_test(allocating_in_order_costs_nothing),
      cmocka_unit_test(every_host_allocation_may_fail),
      cmocka_unit_test(threads_share_the_cache),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
