/* SPDX-License-Identifier: MIT
 *
 * Pools of blocks of one size, and pools over a device.
 */
#include "pool_model.h"

#include "failing_kmd.h"
#include "fixture.h"
#include "hal/device/device.h"

/* ---- blocks of one size -------------------------------------------------------- */

static void fixed_never_overlaps(void **state)
{
   const uint64_t block_B = 7 * UNIT_B;
   struct pool_model *m = new_model(99, (uint64_t)UNITS / 8 * UNIT_B);
   struct agx_fixed fixed;
   agx_fixed_init(&fixed, block_B, agx_host_alloc_default());
   for (uint32_t i = 0; i < SLABS; i++) {
      assert_ok(agx_fixed_add(&fixed, &m->slabs[i]));
      assert_int_equal(m->slabs[i].size_B, 73 * block_B);
   }
   for (uint32_t step = 0; step < 60000; step++) {
      const uint32_t owner = 1 + (uint32_t)below(m, OWNERS - 1);
      struct agx_pool_block *block = m->blocks[owner];
      time_passes(m);
      struct agx_frontier frontier = some_frontier(m);
      if (block) {
         const struct agx_frontier *death = below(m, 3) ? &frontier : NULL;
         model_give(m, owner, death);
         agx_fixed_return(&fixed, block, death);
         continue;
      }
      const struct agx_pool_want want = {
         .size_B = block_B, .align_B = 1, .covered = &frontier, .may_wait = below(m, 3) == 0};
      agx_fixed_reclaim(&fixed, &m->reached, below(m, 2) ? 16 : UINT32_MAX);
      block = agx_fixed_acquire(&fixed, &want);
      if (block)
         model_take(m, owner, block, &want);
      assert_true(fixed.idle_B + fixed.busy_B + m->used_B == SLABS * 73 * block_B);
   }
   for (uint32_t owner = 1; owner < OWNERS; owner++) {
      if (m->blocks[owner])
         agx_fixed_return(&fixed, m->blocks[owner], NULL);
   }
   agx_fixed_reclaim(&fixed, &m->submitted, UINT32_MAX);
   assert_int_equal(fixed.idle_slabs.count, SLABS);
   for (uint32_t i = 0; i < SLABS; i++)
      agx_fixed_remove(&fixed, &m->slabs[i]);
   assert_true(fixed.idle_B == 0 && fixed.busy_B == 0 && fixed.idle_slabs.count == 0);
   agx_fixed_fini(&fixed);
   free(m);
}

/* ---- over a device ---------------------------------------------------------------- */

static struct agx_pool *new_pool(struct fixture *f, const struct agx_pool_desc *desc)
{
   struct agx_pool *pool = NULL;
   assert_ok(agx_pool_create(f->device, desc, &pool));
   return pool;
}

static struct agx_pool_stats stats_of(struct agx_pool *pool)
{
   struct agx_pool_stats stats = {.size = sizeof(stats)};
   agx_pool_get_stats(pool, &stats);
   return stats;
}

static uint64_t address_of(struct agx_buffer *buffer)
{
   struct agx_buffer_info info = {.size = sizeof(info)};
   agx_buffer_get_info(buffer, &info);
   return info.address;
}

/* Kernels and the host meet in a buffer of a pool as in any other. */
static void buffers_of_pools_work(void **state)
{
   static const struct agx_pool_desc descs[] = {
      {.size = sizeof(descs[0]), .flags = AGX_BUFFER_HOST_READ, .slab_B = 1 << 20},
      {.size = sizeof(descs[0]),
       .strategy = AGX_POOL_FIXED,
       .flags = AGX_BUFFER_HOST_READ,
       .block_B = 1000},
      {.size = sizeof(descs[0]), .strategy = AGX_POOL_PASSTHROUGH, .flags = AGX_BUFFER_HOST_READ},
   };
   struct fixture f;
   fixture_open(&f, "virtual");
   struct agx_executable *count = fixture_kernel(&f, &agx_test_count);
   for (size_t i = 0; i < AGX_COUNT(descs); i++) {
      struct agx_pool *pool = new_pool(&f, &descs[i]);
      struct agx_buffer *buffers[5];
      struct agx_command_buffer *commands = fixture_begin(&f);
      struct agx_semaphore *done = fixture_semaphore(&f);
      void *memory = NULL;
      for (uint32_t j = 0; j < 5; j++) {
         assert_ok(agx_pool_allocate(pool, 300, 512, &buffers[j]));
         assert_int_equal(address_of(buffers[j]) % 512, 0);
         assert_ok(agx_buffer_map(buffers[j], &memory));
         memset(memory, 0xee, 300);
      }
      assert_true(stats_of(pool).used_B >= 5 * 300);
      assert_int_equal(stats_of(pool).allocations, 5);
      assert_int_equal(stats_of(pool).slab_count, i == 2 ? 5 : 1);
      agx_release(pool); /* the buffers keep it */
      fixture_dispatch(commands, count, 1, &buffers[2], 1, NULL, 0);
      assert_ok(agx_command_buffer_end(commands));
      assert_ok(fixture_submit(&f, commands, NO_POINT, (struct agx_point){done, 1}));
      assert_ok(fixture_wait(done, 1));
      for (uint32_t j = 0; j < 5; j++) {
         assert_ok(agx_buffer_map(buffers[j], &memory));
         assert_int_equal(((uint32_t *)memory)[63], j == 2 ? 64 : 0xeeeeeeee);
         agx_release(buffers[j]);
      }
      agx_release(commands);
      agx_release(done);
   }
   agx_release(count);
   fixture_close(&f);
}

static void a_pool_keeps_its_limit(void **state)
{
   const struct agx_pool_desc desc = {.size = sizeof(desc),
                                      .strategy = AGX_POOL_FIXED,
                                      .block_B = 16384,
                                      .limit_B = 3 * 16384,
                                      .label = "frames"};
   struct fixture f;
   struct agx_buffer *buffers[3], *more = (void *)1;
   fixture_open(&f, "virtual");
   struct agx_pool *pool = new_pool(&f, &desc);
   for (uint32_t i = 0; i < 3; i++)
      assert_ok(agx_pool_allocate(pool, 16384, 0, &buffers[i]));
   assert_fails(agx_pool_allocate(pool, 1, 0, &more), AGX_RESOURCE_EXHAUSTED, "frames");
   assert_null(more);
   uint64_t address = address_of(buffers[1]);
   agx_release(buffers[1]);
   assert_ok(agx_pool_allocate(pool, 100, 0, &buffers[1]));
   assert_true(address_of(buffers[1]) == address);
   assert_fails(agx_pool_allocate(pool, 16385, 0, &more), AGX_INVALID_ARGUMENT, "16385");
   assert_fails(agx_pool_allocate(pool, 4, 3, &more), AGX_INVALID_ARGUMENT, "alignment 3");
   assert_fails(agx_pool_allocate(pool, 4, 32768, &more), AGX_INVALID_ARGUMENT, "32768");
   assert_int_equal(stats_of(pool).reserved_B, 3 * 16384);
   agx_release(buffers[0]); /* of 0 bytes, and yet something */
   assert_ok(agx_pool_allocate(pool, 0, 0, &buffers[0]));
   assert_true(address_of(buffers[0]) != 0);
   for (uint32_t i = 0; i < 3; i++)
      agx_release(buffers[i]);
   assert_int_equal(stats_of(pool).used_B, 0);
   assert_int_equal(stats_of(pool).peak_used_B, 3 * 16384);
   agx_pool_trim(pool);
   assert_int_equal(stats_of(pool).reserved_B, 0);
   assert_int_equal(stats_of(pool).peak_reserved_B, 3 * 16384);
   agx_release(pool);
   fixture_close(&f);
}

/* What is idle and too small goes, rather than keep a buffer out that the limit allows. */
static void idle_slabs_make_room_at_the_limit(void **state)
{
   const struct agx_pool_desc desc = {
      .size = sizeof(desc), .slab_B = 64 << 10, .limit_B = 128 << 10};
   struct fixture f;
   struct agx_buffer *buffer = NULL;
   fixture_open(&f, "virtual");
   struct agx_pool *pool = new_pool(&f, &desc);
   assert_ok(agx_pool_allocate(pool, 100, 0, &buffer));
   agx_release(buffer);
   assert_int_equal(stats_of(pool).reserved_B, 64 << 10);
   assert_ok(agx_pool_allocate(pool, 128 << 10, 0, &buffer));
   assert_int_equal(stats_of(pool).reserved_B, 128 << 10);
   agx_release(buffer);
   agx_release(pool);
   fixture_close(&f);
}

static void bad_pools_are_refused(void **state)
{
   static const struct {
      struct agx_pool_desc desc;
      const char *part;
   } bad[] = {
      {{.strategy = 4}, "strategy 4"},
      {{.strategy = AGX_POOL_FIXED}, "block size 0"},
      {{.block_B = 1}, "block size 1"},
      {{.slab_B = (1ull << 37) + 1}, "137438953473"},
      {{.strategy = AGX_POOL_FIXED, .block_B = UINT64_MAX}, "18446744073709551615"},
   };
   struct fixture f;
   struct agx_pool *pool = (void *)1;
   fixture_open(&f, "virtual");
   for (size_t i = 0; i < AGX_COUNT(bad); i++) {
      struct agx_pool_desc desc = bad[i].desc;
      desc.size = sizeof(desc);
      assert_fails(agx_pool_create(f.device, &desc, &pool), AGX_INVALID_ARGUMENT, bad[i].part);
      assert_null(pool);
   }
   fixture_close(&f);
}

/* A smaller slab where the device has no large one, and numbers where it has none at all. */
static void a_device_without_memory(void **state)
{
   const struct agx_pool_desc desc = {.size = sizeof(desc), .slab_B = 8 << 20};
   struct failing_kmd kmd;
   struct fixture f = {0};
   struct agx_buffer *buffer = NULL;
   failing_kmd_open(&kmd);
   fixture_open_over(&f, NULL, &kmd.base);
   struct agx_pool *pool = new_pool(&f, &desc);
   failing_kmd_arm(&kmd, 0, NR_GEM_CREATE, ENOMEM);
   assert_fails(agx_pool_allocate(pool, 100, 0, &buffer), AGX_RESOURCE_EXHAUSTED, "GEM_CREATE");
   assert_int_equal(kmd.failed, 2);
   assert_int_equal(stats_of(pool).reserved_B, 0);
   failing_kmd_disarm(&kmd);
   assert_ok(agx_pool_allocate(pool, 100, 0, &buffer));
   assert_int_equal(stats_of(pool).reserved_B, 8 << 20);
   agx_release(buffer);
   agx_release(pool);
   fixture_close(&f);
   failing_kmd_await_close(&kmd);
}

struct party {
   struct agx_pool *pool;
   uint64_t seed;
};

/* Each writes its number all over its buffers, and finds it there later. */
static void *come_and_go(void *argument)
{
   struct party *party = argument;
   struct agx_test_rng rng = {party->seed};
   struct agx_buffer *buffers[16] = {0};
   void *memories[16];
   uint64_t sizes[16];
   for (uint32_t step = 0; step < 1500; step++) {
      uint32_t i = (uint32_t)agx_test_random_below(&rng, 16);
      if (buffers[i]) {
         const uint8_t *bytes = memories[i];
         if (bytes[0] != party->seed || bytes[sizes[i] - 1] != party->seed)
            return "another one's bytes";
         agx_release(buffers[i]);
         buffers[i] = NULL;
         continue;
      }
      sizes[i] = 1 + agx_test_random_below(&rng, 5000);
      if (agx_pool_allocate(party->pool, sizes[i], 0, &buffers[i]) != AGX_OK ||
          agx_buffer_map(buffers[i], &memories[i]) != AGX_OK)
         return "no buffer";
      memset(memories[i], (int)party->seed, sizes[i]);
   }
   for (uint32_t i = 0; i < 16; i++)
      agx_release(buffers[i]);
   return NULL;
}

static void threads_share_a_pool(void **state)
{
   for (uint32_t strategy = 0; strategy < 3; strategy++) {
      const struct agx_pool_desc desc = {.size = sizeof(desc),
                                         .strategy = strategy,
                                         .slab_B = 128 << 10,
                                         .block_B = strategy == AGX_POOL_FIXED ? 16384 : 0};
      struct fixture f;
      pthread_t threads[4];
      struct party parties[4];
      fixture_open(&f, "virtual");
      struct agx_pool *pool = new_pool(&f, &desc);
      for (uint32_t i = 0; i < 4; i++) {
         parties[i] = (struct party){pool, 1 + i};
         assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &parties[i]), 0);
      }
      for (uint32_t i = 0; i < 4; i++) {
         void *wrong = NULL;
         pthread_join(threads[i], &wrong);
         if (wrong)
            fail_msg("%s", (char *)wrong);
      }
      assert_int_equal(stats_of(pool).used_B, 0);
      agx_pool_trim(pool);
      assert_int_equal(stats_of(pool).reserved_B, 0);
      agx_release(pool);
      fixture_close(&f);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(fixed_never_overlaps),   cmocka_unit_test(buffers_of_pools_work),
      cmocka_unit_test(a_pool_keeps_its_limit), cmocka_unit_test(idle_slabs_make_room_at_the_limit),
      cmocka_unit_test(bad_pools_are_refused),  cmocka_unit_test(a_device_without_memory),
      cmocka_unit_test(threads_share_a_pool),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
