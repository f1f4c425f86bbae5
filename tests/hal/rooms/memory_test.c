/* SPDX-License-Identifier: MIT
 *
 * The memory room by itself, with hooks of the test's in place of queues.
 */
#include "bare.h"
#include "hal/memory/state.h"
#include "hal/memory/pool.h"
#include "hal/memory/state.h"

struct memory_owner {
   struct agx_context context; /* at offset 0: the device */
   struct agx_memory_state memory;
   struct agx_frontier reached;
   unsigned freed, trims;
};

static struct agx_frontier reached(struct agx_device *device)
{
   return ((struct memory_owner *)device)->reached;
}

static void freed(struct agx_device *device)
{
   ((struct memory_owner *)device)->freed++;
}

static void trim(struct agx_device *device)
{
   ((struct memory_owner *)device)->trims++;
}

static struct agx_device *open(struct memory_owner *it)
{
   static const struct agx_memory_hooks hooks = {reached, freed, trim};
   static const struct agx_device_desc desc = {.size = sizeof(desc)};
   *it = (struct memory_owner){0};
   struct agx_device *device = bare_open(&it->context);
   it->context.memory = &it->memory;
   assert_ok(agx_memory_state_init(device, &desc, &hooks));
   return device;
}

static void close(struct memory_owner *it)
{
   agx_memory_state_fini((struct agx_device *)it);
   bare_close(&it->context);
}

static void buffers_are_counted_and_numbered(void **state)
{
   struct memory_owner it;
   struct agx_device *device = open(&it);
   const struct agx_buffer_desc desc = {.size = sizeof(desc), .size_B = 100000};
   struct agx_buffer *first, *second;
   assert_ok(agx_buffer_create(device, &desc, &first));
   assert_ok(agx_buffer_create(device, &desc, &second));
   assert_true(second->serial == first->serial + 1);
   assert_true(atomic_load(&it.memory.counters.device.used_B) >= 200000);
   const uint32_t pattern = 0x01020304;
   uint32_t word = 0;
   assert_ok(agx_buffer_fill(first, 8, 64, &pattern, sizeof(pattern)));
   assert_ok(agx_buffer_read(first, 68, 4, &word));
   assert_int_equal(word, pattern);
   assert_fails(agx_buffer_fill(first, 2, 64, &pattern, 4), AGX_INVALID_ARGUMENT, "multiples");
   agx_release(first);
   agx_release(second);
   assert_true(atomic_load(&it.memory.counters.device.used_B) == 0);
   close(&it);
}

static void pools_say_when_awaited_memory_is_back(void **state)
{
   struct memory_owner it;
   struct agx_device *device = open(&it);
   const struct agx_pool_desc desc = {
      .size = sizeof(desc), .slab_B = 1 << 20, .limit_B = 1 << 20, .label = "small"};
   struct agx_pool *pool;
   struct agx_buffer *buffer, *other;
   assert_ok(agx_pool_create(device, &desc, &pool));
   assert_ok(agx_pool_allocate(pool, 1 << 20, 0, &buffer));
   assert_fails(agx_pool_allocate(pool, 1, 0, &other), AGX_RESOURCE_EXHAUSTED, "small");
   agx_release(buffer);
   assert_int_equal(it.freed, 0);
   assert_ok(agx_pool_allocate(pool, 1 << 20, 0, &buffer));
   atomic_store(&pool->is_awaited, true);
   agx_release(buffer);
   assert_int_equal(it.freed, 1);
   agx_release(pool);
   close(&it);
}

static void blocks_in_use_come_back_when_their_epoch_is_over(void **state)
{
   struct memory_owner it;
   struct agx_device *device = open(&it);
   const struct agx_pool_desc desc = {.size = sizeof(desc), .slab_B = 1 << 20, .limit_B = 1 << 20};
   const struct agx_frontier death = {{0, 4}};
   const struct agx_pool_want want = {.size_B = 1 << 20, .align_B = 1, .covered = &it.reached};
   struct agx_pool *pool;
   struct agx_pool_block *block, *none;
   assert_ok(agx_pool_create(device, &desc, &pool));
   assert_ok(agx_pool_acquire(pool, &want, &it.reached, &block));
   assert_non_null(block);
   assert_false(agx_pool_return(pool, block, AGX_NO_QUEUE, &death));
   assert_ok(agx_pool_acquire(pool, &want, &it.reached, &none));
   assert_null(none);
   it.reached.epochs[1] = 4;
   assert_ok(agx_pool_acquire(pool, &want, &it.reached, &block));
   assert_non_null(block);
   assert_false(agx_pool_return(pool, block, AGX_NO_QUEUE, NULL));
   agx_release(pool);
   close(&it);
}

static void trimming_asks_the_rooms_above_first(void **state)
{
   struct memory_owner it;
   struct agx_device *device = open(&it);
   struct agx_chunk *chunk;
   assert_ok(agx_chunk_acquire(device, AGX_CHUNK_SMALL, &chunk));
   agx_chunks_return(device, chunk);
   assert_true(agx_memory_trim(device));
   assert_false(agx_memory_trim(device));
   assert_int_equal(it.trims, 2);
   close(&it);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(buffers_are_counted_and_numbered),
      cmocka_unit_test(pools_say_when_awaited_memory_is_back),
      cmocka_unit_test(blocks_in_use_come_back_when_their_epoch_is_over),
      cmocka_unit_test(trimming_asks_the_rooms_above_first),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
