/* SPDX-License-Identifier: MIT
 *
 * Memory that comes and goes in the order of the queues. The first tests are named after the cases
 * of QueueAllocaTest.
 */
#include "alloca_scene.h"

/* ---- QueueAllocaTest ---------------------------------------------------------- */

static void alloca_and_dealloca_of(struct fixture *f, struct agx_pool *pool)
{
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(
      f, (struct request){.pool = pool, .size_B = 1024, .signal = conformance_point(timeline, 1)},
      &buffer));
   assert_non_null(buffer);
   assert_ok(use(f, buffer, conformance_point(timeline, 1), conformance_point(timeline, 2)));
   assert_ok(fixture_wait(timeline, 2));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_LIVE);
   if (pool)
      assert_counted(buffer);
   assert_ok(give_back(f, buffer,
                       (struct request){.wait = conformance_point(timeline, 2),
                                        .signal = conformance_point(timeline, 3)}));
   assert_ok(fixture_wait(timeline, 3));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_DEAD);
   agx_release(buffer);
   agx_release(timeline);
}

static void basic_alloca(void **state)
{
   alloca_and_dealloca_of(conformance_device(state), NULL);
}

static void explicit_passthrough_pool_alloca_dealloca(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_PASSTHROUGH, 0);
   alloca_and_dealloca_of(f, pool);
   agx_pool_trim(pool);
   assert_int_equal(stats_of(pool).reserved_B, 0);
   agx_release(pool);
}

static void explicit_tlsf_pool_transfer_alloca_dealloca(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_VARIABLE, 0);
   alloca_and_dealloca_of(f, pool);
   assert_int_equal(stats_of(pool).used_B, 0);
   agx_release(pool);
}

/* The block's last use is on the GPU still: with the flag the next buffer has it all the same, and
 * comes after. */
static void explicit_fixed_block_pool_cross_queue_wait_frontier(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *given = fixture_semaphore(f), *taken = fixture_semaphore(f);
   struct agx_buffer *first = NULL, *second = NULL;
   struct gate gate;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 1024}, &first));
   close_gate(f, &gate);
   assert_ok(give_back(f, first,
                       (struct request){.wait = conformance_point(gate.over, 1),
                                        .signal = conformance_point(given, 1)}));
   assert_ok(allocate(f,
                      (struct request){.pool = pool,
                                       .size_B = 1024,
                                       .flags = AGX_ALLOCA_ALLOW_WAIT,
                                       .queues = 2,
                                       .signal = conformance_point(taken, 1)},
                      &second));
   assert_true(info_of(second).address == info_of(first).address);
   assert_int_equal(stats_of(pool).reuses, 1);
   assert_int_equal(value_of(taken), 0);
   assert_ok(use(f, second, conformance_point(taken, 1), conformance_point(taken, 2)));
   open_gate(&gate);
   assert_ok(fixture_wait(taken, 2));
   assert_ok(fixture_wait(given, 1));
   assert_counted(second);
   agx_release(first);
   agx_release(second);
   agx_release(given);
   agx_release(taken);
   agx_release(pool);
}

/* The block comes back only with a dealloca that waits itself. */
static void explicit_fixed_block_pool_pending_dealloca_wait_frontier(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *go = fixture_semaphore(f), *taken = fixture_semaphore(f);
   struct agx_buffer *first = NULL, *second = NULL;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 1024}, &first));
   assert_ok(give_back(f, first, (struct request){.wait = conformance_point(go, 1)}));
   assert_ok(allocate(f,
                      (struct request){.pool = pool,
                                       .size_B = 1024,
                                       .flags = AGX_ALLOCA_ALLOW_WAIT,
                                       .signal = conformance_point(taken, 1)},
                      &second));
   uint64_t address = info_of(second).address;
   assert_true(address != 0 && address != info_of(first).address);
   assert_int_equal(info_of(second).state, AGX_BUFFER_RESERVED);
   assert_ok(use(f, second, conformance_point(taken, 1), conformance_point(taken, 2)));
   assert_int_equal(value_of(taken), 0);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(taken, 2));
   assert_true(info_of(second).address == address);
   assert_counted(second);
   agx_release(first);
   agx_release(second);
   agx_release(go);
   agx_release(taken);
   agx_release(pool);
}

/* Without the flag no request gets a block whose last use is still on the GPU. */
static void explicit_fixed_block_pool_requires_wait_frontier_flag(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *taken = fixture_semaphore(f);
   struct agx_buffer *first = NULL, *second = NULL;
   struct gate gate;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 1024}, &first));
   close_gate(f, &gate);
   assert_ok(give_back(f, first, (struct request){.wait = conformance_point(gate.over, 1)}));
   assert_ok(
      allocate(f,
               (struct request){
                  .pool = pool, .size_B = 1024, .queues = 2, .signal = conformance_point(taken, 1)},
               &second));
   assert_int_equal(info_of(second).state, AGX_BUFFER_RESERVED);
   assert_int_equal(stats_of(pool).busy_B, BLOCK_B);
   open_gate(&gate);
   assert_ok(fixture_wait(taken, 1));
   assert_int_equal(info_of(second).state, AGX_BUFFER_LIVE);
   agx_release(first);
   agx_release(second);
   agx_release(taken);
   agx_release(pool);
}

/* Where the pool may grow, it does rather than wait. */
static void explicit_tlsf_pool_cross_queue_stale_block_grows(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_VARIABLE, 0);
   struct agx_semaphore *taken = fixture_semaphore(f);
   struct agx_buffer *first = NULL, *second = NULL;
   struct gate gate;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 4 * BLOCK_B}, &first));
   close_gate(f, &gate);
   assert_ok(give_back(f, first, (struct request){.wait = conformance_point(gate.over, 1)}));
   assert_ok(allocate(
      f,
      (struct request){
         .pool = pool, .size_B = 4 * BLOCK_B, .queues = 2, .signal = conformance_point(taken, 1)},
      &second));
   assert_ok(fixture_wait(taken, 1)); /* while the gate is closed */
   assert_true(info_of(second).address != info_of(first).address);
   assert_int_equal(stats_of(pool).slab_count, 2);
   open_gate(&gate);
   agx_release(first);
   agx_release(second);
   agx_release(taken);
   agx_release(pool);
}

/* Requests that find the pool full wait, in order, until a block is given back. */
static void explicit_fixed_block_pool_notification_retry(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *taken[2] = {fixture_semaphore(f), fixture_semaphore(f)};
   struct agx_buffer *buffers[3] = {NULL};
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = BLOCK_B}, &buffers[0]));
   for (int i = 0; i < 2; i++)
      assert_ok(allocate(
         f,
         (struct request){.pool = pool, .size_B = 1024, .signal = conformance_point(taken[i], 1)},
         &buffers[1 + i]));
   assert_ok(give_back(f, buffers[0], (struct request){0}));
   assert_ok(fixture_wait(taken[0], 1));
   assert_int_equal(value_of(taken[1]), 0);
   assert_ok(use(f, buffers[1], NO_POINT, conformance_point(taken[0], 2)));
   assert_ok(fixture_wait(taken[0], 2));
   assert_counted(buffers[1]);
   agx_release(buffers[1]); /* its memory goes with it */
   assert_ok(fixture_wait(taken[1], 1));
   for (int i = 0; i < 2; i++) {
      agx_release(buffers[2 * i]);
      agx_release(taken[i]);
   }
   assert_int_equal(stats_of(pool).used_B, 0);
   agx_release(pool);
}

static void alloca_with_wait_semaphores(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f), *taken = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   void *memory = (void *)1;
   assert_ok(allocate(f,
                      (struct request){.size_B = 1024,
                                       .wait = conformance_point(go, 1),
                                       .signal = conformance_point(taken, 1)},
                      &buffer));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_RESERVED);
   assert_true(info_of(buffer).address != 0);
   assert_fails(agx_buffer_map(buffer, &memory), AGX_FAILED_PRECONDITION, "memory");
   assert_null(memory);
   assert_int_equal(value_of(taken), 0);
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(taken, 1));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_LIVE);
   assert_ok(agx_buffer_map(buffer, &memory));
   memset(memory, 7, 1024);
   agx_release(buffer);
   agx_release(go);
   agx_release(taken);
}

static void alloca_dealloca_cycle(void **state)
{
   struct fixture *f = conformance_device(state);
   for (int i = 0; i < 10; i++)
      alloca_and_dealloca_of(f, NULL);
}

static void buffer_metadata(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_VARIABLE, 0);
   struct agx_semaphore *go = fixture_semaphore(f);
   struct agx_buffer *early = NULL, *late = NULL;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 1000}, &early));
   assert_ok(allocate(
      f, (struct request){.pool = pool, .size_B = 1000, .wait = conformance_point(go, 1)}, &late));
   assert_int_equal(info_of(early).size_B, 1000);
   assert_int_equal(info_of(late).size_B, 1000);
   assert_int_equal(info_of(early).address % 256, 0);
   assert_int_equal(info_of(early).queues, 1);
   assert_int_equal(info_of(early).usage, info_of(late).usage);
   assert_true(info_of(late).usage & AGX_USAGE_STORAGE_WRITE);
   assert_true(info_of(late).memory & AGX_MEMORY_HOST_CACHED);
   assert_int_equal(info_of(late).address % f->info.page_B, 0);
   assert_ok(agx_semaphore_signal(go, 1));
   agx_release(early);
   agx_release(late);
   agx_release(go);
   agx_release(pool);
}

static void dealloca_releases_memory(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_PASSTHROUGH, 0);
   struct agx_semaphore *over = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = BLOCK_B}, &buffer));
   assert_int_equal(stats_of(pool).used_B, BLOCK_B);
   assert_ok(give_back(f, buffer, (struct request){.signal = conformance_point(over, 1)}));
   assert_ok(fixture_wait(over, 1));
   assert_int_equal(stats_of(pool).used_B, 0);
   assert_int_equal(stats_of(pool).reserved_B, 0);
   agx_release(buffer);
   agx_release(over);
   agx_release(pool);
}

static void failed_dealloca_wait_does_not_dealloca(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *bad = fixture_semaphore(f), *over = fixture_semaphore(f),
                        *timeline = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(
      f, (struct request){.pool = pool, .size_B = 1024, .signal = conformance_point(timeline, 1)},
      &buffer));
   assert_ok(give_back(
      f, buffer,
      (struct request){.wait = conformance_point(bad, 1), .signal = conformance_point(over, 1)}));
   agx_semaphore_fail(bad, AGX_DATA_LOSS, "lost on the way");
   assert_fails(fixture_wait(over, 1), AGX_DATA_LOSS, "lost on the way");
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_LIVE);
   assert_ok(use(f, buffer, conformance_point(timeline, 1), conformance_point(timeline, 2)));
   assert_ok(give_back(f, buffer,
                       (struct request){.wait = conformance_point(timeline, 2),
                                        .signal = conformance_point(timeline, 3)}));
   assert_ok(fixture_wait(timeline, 3));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_DEAD);
   agx_release(buffer);
   agx_release(bad);
   agx_release(over);
   agx_release(timeline);
   agx_release(pool);
}

/* Each allocation behind the dealloca before, all submitted before the first may go: they need the
 * memory of one. */
static void chain(struct fixture *f, struct agx_pool *pool, uint64_t length)
{
   struct agx_semaphore *timeline = fixture_semaphore(f);
   for (uint64_t i = 0; i < length; i++) {
      struct agx_buffer *buffer = NULL;
      assert_ok(allocate(f,
                         (struct request){.pool = pool,
                                          .size_B = BLOCK_B,
                                          .queues = 1 + i % 2,
                                          .wait = conformance_point(timeline, 3 * i + 1),
                                          .signal = conformance_point(timeline, 3 * i + 2)},
                         &buffer));
      assert_ok(use(f, buffer, conformance_point(timeline, 3 * i + 2),
                    conformance_point(timeline, 3 * i + 3)));
      assert_ok(give_back(f, buffer,
                          (struct request){.wait = conformance_point(timeline, 3 * i + 3),
                                           .signal = conformance_point(timeline, 3 * i + 4)}));
      agx_release(buffer);
   }
   assert_int_equal(value_of(timeline), 0);
   assert_ok(agx_semaphore_signal(timeline, 1));
   assert_ok(fixture_wait(timeline, 3 * length + 1));
   agx_release(timeline);
}

static void chained_alloca_dealloca(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   chain(f, pool, 8);
   assert_int_equal(stats_of(pool).peak_used_B, BLOCK_B);
   assert_int_equal(stats_of(pool).used_B, 0);
   agx_release(pool);
}

static void default_pool_repeated_chained_alloca_dealloca(void **state)
{
   struct fixture *f = conformance_device(state);
   for (int i = 0; i < 10; i++)
      chain(f, NULL, 4);
}

static void zero_access_flags_canonicalized(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f);
   struct agx_buffer *early = NULL, *late = NULL;
   assert_ok(allocate(f, (struct request){.size_B = 1000}, &early));
   assert_ok(
      allocate(f, (struct request){.size_B = 1000, .wait = conformance_point(go, 1)}, &late));
   assert_int_equal(info_of(early).access, AGX_ACCESS_ALL);
   assert_int_equal(info_of(late).access, AGX_ACCESS_ALL);
   assert_ok(agx_semaphore_signal(go, 1));
   agx_release(early);
   agx_release(late);
   agx_release(go);
}

static void dealloca_prefers_origin_placement(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(
      f, (struct request){.size_B = 1024, .queues = 2, .signal = conformance_point(timeline, 1)},
      &buffer));
   assert_int_equal(info_of(buffer).queues, 2);
   assert_ok(give_back(f, buffer,
                       (struct request){.flags = AGX_DEALLOCA_PREFER_ORIGIN,
                                        .queues = 1,
                                        .wait = conformance_point(timeline, 1),
                                        .signal = conformance_point(timeline, 2)}));
   assert_ok(fixture_wait(timeline, 2));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_DEAD);
   agx_release(buffer);
   agx_release(timeline);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(basic_alloca),
      cmocka_unit_test(explicit_passthrough_pool_alloca_dealloca),
      cmocka_unit_test(explicit_tlsf_pool_transfer_alloca_dealloca),
      cmocka_unit_test(explicit_fixed_block_pool_cross_queue_wait_frontier),
      cmocka_unit_test(explicit_fixed_block_pool_pending_dealloca_wait_frontier),
      cmocka_unit_test(explicit_fixed_block_pool_requires_wait_frontier_flag),
      cmocka_unit_test(explicit_tlsf_pool_cross_queue_stale_block_grows),
      cmocka_unit_test(explicit_fixed_block_pool_notification_retry),
      cmocka_unit_test(alloca_with_wait_semaphores),
      cmocka_unit_test(alloca_dealloca_cycle),
      cmocka_unit_test(buffer_metadata),
      cmocka_unit_test(dealloca_releases_memory),
      cmocka_unit_test(failed_dealloca_wait_does_not_dealloca),
      cmocka_unit_test(chained_alloca_dealloca),
      cmocka_unit_test(default_pool_repeated_chained_alloca_dealloca),
      cmocka_unit_test(dealloca_prefers_origin_placement),
      cmocka_unit_test(zero_access_flags_canonicalized),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
