/* SPDX-License-Identifier: MIT
 *
 * How queue-ordered memory ends: twice, too early, late, cancelled, and from many threads.
 */
#include "alloca_scene.h"

/* ---- beyond ---------------------------------------------------------------------- */

static void a_second_dealloca_fails(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *first = fixture_semaphore(f), *second = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(f, (struct request){.size_B = 1024}, &buffer));
   assert_ok(give_back(f, buffer, (struct request){.signal = conformance_point(first, 1)}));
   assert_ok(fixture_wait(first, 1));
   assert_ok(give_back(f, buffer, (struct request){.signal = conformance_point(second, 1)}));
   assert_fails(fixture_wait(second, 1), AGX_FAILED_PRECONDITION, "given back before");
   agx_release(buffer);
   agx_release(first);
   agx_release(second);
}

static void dealloca_before_the_memory_fails(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *go = fixture_semaphore(f), *over = fixture_semaphore(f),
                        *taken = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(f,
                      (struct request){.size_B = 1024,
                                       .wait = conformance_point(go, 1),
                                       .signal = conformance_point(taken, 1)},
                      &buffer));
   assert_ok(give_back(f, buffer, (struct request){.signal = conformance_point(over, 1)}));
   assert_fails(fixture_wait(over, 1), AGX_FAILED_PRECONDITION, "no memory yet");
   assert_ok(agx_semaphore_signal(go, 1));
   assert_ok(fixture_wait(taken, 1));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_LIVE);
   agx_release(buffer);
   agx_release(go);
   agx_release(over);
   agx_release(taken);
}

/* A dealloca that forgot to wait for the last use takes nothing away from it. */
static void memory_stays_until_its_last_use_is_over(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *used = fixture_semaphore(f), *taken = fixture_semaphore(f);
   struct agx_buffer *first = NULL, *second = NULL;
   struct gate gate;
   assert_ok(allocate(f, (struct request){.pool = pool, .size_B = 1024}, &first));
   close_gate(f, &gate);
   assert_ok(use(f, first, conformance_point(gate.over, 1), conformance_point(used, 1)));
   assert_ok(give_back(f, first, (struct request){0}));
   assert_int_equal(info_of(first).state, AGX_BUFFER_DEAD);
   assert_int_equal(stats_of(pool).busy_B, BLOCK_B);
   assert_ok(allocate(
      f, (struct request){.pool = pool, .size_B = 1024, .signal = conformance_point(taken, 1)},
      &second));
   assert_int_equal(info_of(second).state, AGX_BUFFER_RESERVED);
   open_gate(&gate);
   assert_ok(fixture_wait(used, 1));
   assert_ok(fixture_wait(taken, 1));
   agx_release(first);
   agx_release(second);
   agx_release(used);
   agx_release(taken);
   agx_release(pool);
}

static void dealloca_of_other_buffers_is_a_barrier(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   uint32_t *words;
   struct agx_buffer *buffer = fixture_buffer(f, 1024, &words);
   for (uint64_t i = 0; i < 2; i++)
      assert_ok(give_back(f, buffer,
                          (struct request){.wait = conformance_point(timeline, i + 1),
                                           .signal = conformance_point(timeline, i + 2)}));
   assert_int_equal(value_of(timeline), 0);
   assert_ok(agx_semaphore_signal(timeline, 1));
   assert_ok(fixture_wait(timeline, 3));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_LIVE);
   words[255] = 1;
   agx_release(buffer);
   agx_release(timeline);
}

static void indeterminate_lifetimes_end_with_the_object(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *timeline = fixture_semaphore(f);
   struct agx_buffer *buffer = NULL;
   assert_ok(allocate(f,
                      (struct request){.pool = pool,
                                       .size_B = 1024,
                                       .flags = AGX_ALLOCA_INDETERMINATE_LIFETIME,
                                       .signal = conformance_point(timeline, 1)},
                      &buffer));
   for (uint64_t i = 1; i < 3; i++)
      assert_ok(give_back(f, buffer,
                          (struct request){.wait = conformance_point(timeline, i),
                                           .signal = conformance_point(timeline, i + 1)}));
   assert_ok(use(f, buffer, conformance_point(timeline, 3), conformance_point(timeline, 4)));
   assert_ok(fixture_wait(timeline, 4));
   assert_counted(buffer);
   assert_int_equal(stats_of(pool).used_B, BLOCK_B);
   agx_release(buffer);
   agx_release(timeline);
   agx_pool_trim(pool); /* whatever held it to the last is gone, too */
   assert_int_equal(stats_of(pool).used_B, 0);
   agx_release(pool);
}

static void bad_requests_leave_no_trace(void **state)
{
   struct fixture *f = conformance_device(state), other;
   struct agx_pool *pool = new_pool(f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *reached = fixture_semaphore(f);
   struct agx_buffer *buffer = (void *)1;
   const struct {
      struct request it;
      agx_status status;
      const char *part;
   } bad[] = {
      {{.size_B = (1ull << 37) + 1}, AGX_INVALID_ARGUMENT, "137438953473"},
      {{.pool = pool, .size_B = BLOCK_B + 1}, AGX_INVALID_ARGUMENT, "65537"},
      {{.size_B = 4, .flags = 8}, AGX_INVALID_ARGUMENT, "flags 0x8"},
      {{.size_B = 4, .signal = {reached, 1}}, AGX_INVALID_ARGUMENT, "at 1 already"},
   };
   assert_ok(agx_semaphore_signal(reached, 1));
   for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
      assert_fails(allocate(f, bad[i].it, &buffer), bad[i].status, bad[i].part);
      if (i != 2) /* which is refused before anything else */
         assert_null(buffer);
   }
   assert_fails(allocate(f, (struct request){.size_B = 4}, NULL), AGX_INVALID_ARGUMENT,
                "out_buffer");
   assert_fails(give_back(f, NULL, (struct request){0}), AGX_INVALID_ARGUMENT, "NULL");
   assert_int_equal(stats_of(pool).used_B, 0);
   conformance_open_another(&other);
   assert_fails(allocate(&other, (struct request){.pool = pool, .size_B = 4}, &buffer),
                AGX_INVALID_ARGUMENT, "another device");
   fixture_close(&other);
   agx_release(reached);
   agx_release(pool);
}

/* At once, and behind a value that is not signalled yet, where it gets addresses of its own. */
static void nothing_can_be_allocated(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_semaphore *gate = fixture_semaphore(f), *timeline = fixture_semaphore(f);
   struct agx_buffer *buffers[2];
   struct agx_buffer_info info = {.size = sizeof(info)};
   assert_ok(allocate(f, (struct request){.signal = conformance_point(timeline, 1)}, &buffers[0]));
   assert_ok(allocate(f,
                      (struct request){.wait = conformance_point(gate, 1),
                                       .signal = conformance_point(timeline, 2)},
                      &buffers[1]));
   assert_ok(agx_semaphore_signal(gate, 1));
   assert_ok(fixture_wait(timeline, 2));
   for (int i = 0; i < 2; i++) {
      agx_buffer_get_info(buffers[i], &info);
      assert_true(info.address != 0);
      assert_int_equal(info.size_B, 0);
      assert_int_equal(info.state, AGX_BUFFER_LIVE);
      assert_ok(give_back(f, buffers[i], (struct request){0}));
      agx_release(buffers[i]);
   }
   agx_release(gate);
   agx_release(timeline);
}

/* Requests that wait are cancelled like other operations; a cancelled one takes no memory. */
static void waiting_allocations_can_be_cancelled(void **state)
{
   struct fixture f;
   (void)conformance_device(state);
   conformance_open_another(&f);
   struct agx_pool *pool = new_pool(&f, AGX_POOL_FIXED, BLOCK_B);
   struct agx_semaphore *go = fixture_semaphore(&f), *taken[2];
   struct agx_buffer *buffers[3] = {NULL};
   assert_ok(allocate(&f, (struct request){.pool = pool, .size_B = 4}, &buffers[0]));
   for (int i = 0; i < 2; i++) {
      taken[i] = fixture_semaphore(&f);
      assert_ok(allocate(&f,
                         (struct request){.pool = pool,
                                          .size_B = 4,
                                          .wait = conformance_point(i ? go : NULL, 1),
                                          .signal = conformance_point(taken[i], 1)},
                         &buffers[1 + i]));
   }
   agx_device_cancel(f.device);
   for (int i = 0; i < 2; i++) {
      assert_fails(fixture_wait(taken[i], 1), AGX_CANCELLED, "");
      assert_int_equal(info_of(buffers[1 + i]).state, AGX_BUFFER_RESERVED);
      agx_release(taken[i]);
      agx_release(buffers[1 + i]);
   }
   agx_release(buffers[0]);
   assert_int_equal(stats_of(pool).used_B, 0);
   agx_release(go);
   agx_release(pool);
   fixture_close(&f);
}

/* References that go when points are reached; memory of pools shows when they have gone. */
static void release_after_waits_for_its_points(void **state)
{
   struct fixture *f = conformance_device(state);
   struct agx_pool *pool = new_pool(f, AGX_POOL_PASSTHROUGH, 0);
   struct agx_semaphore *go[2] = {fixture_semaphore(f), fixture_semaphore(f)};
   struct agx_buffer *buffers[2] = {NULL};
   for (int i = 0; i < 2; i++)
      assert_ok(agx_pool_allocate(pool, BLOCK_B, 0, &buffers[i]));
   const struct agx_point both[] = {{go[0], 1}, {go[1], 1}};
   assert_ok(agx_buffer_release_after(buffers[0], both, 2));
   assert_ok(agx_buffer_release_after(buffers[1], &both[1], 1));
   assert_ok(agx_semaphore_signal(go[0], 1));
   assert_int_equal(stats_of(pool).used_B, 2 * BLOCK_B);
   agx_semaphore_fail(go[1], AGX_ABORTED, "never mind");
   assert_int_equal(stats_of(pool).used_B, 0);
   assert_ok(agx_pool_allocate(pool, BLOCK_B, 0, &buffers[0]));
   assert_ok(agx_buffer_release_after(buffers[0], NULL, 0));
   assert_int_equal(stats_of(pool).used_B, 0);
   assert_ok(agx_pool_allocate(pool, BLOCK_B, 0, &buffers[0]));
   assert_fails(agx_buffer_release_after(buffers[0], &(struct agx_point){0}, 1),
                AGX_INVALID_ARGUMENT, "NULL");
   agx_release(buffers[0]); /* it is ours still */
   agx_release(go[0]);
   agx_release(go[1]);
   agx_release(pool);
}

/* ---- threads ----------------------------------------------------------------------- */

struct party {
   struct fixture *f;
   struct agx_pool *pool;
   uint32_t queue;
};

/* Allocates, fills, checks and gives back, again and again; what it finds is its own. */
static void *come_and_go(void *argument)
{
   struct party *party = argument;
   struct fixture *f = party->f;
   struct agx_semaphore *timeline = NULL;
   if (agx_semaphore_create(f->device, 0, &timeline) != AGX_OK)
      return "no semaphore";
   for (uint64_t at = 0; at < 3 * 60; at += 3) {
      struct agx_buffer *buffer = NULL;
      void *memory;
      if (allocate(f,
                   (struct request){.pool = party->pool,
                                    .size_B = 1024 + 997 * (at % 7),
                                    .flags = at % 2,
                                    .queues = 1u << party->queue,
                                    .wait = {timeline, at},
                                    .signal = {timeline, at + 1}},
                   &buffer) != AGX_OK ||
          fixture_wait(timeline, at + 1) != AGX_OK)
         return "no buffer";
      if (agx_buffer_map(buffer, &memory) != AGX_OK)
         return "no memory";
      memset(memory, (int)at, 1024);
      if (fixture_submit(f, NULL, (struct agx_point){timeline, at + 1},
                         (struct agx_point){timeline, at + 2}) != AGX_OK)
         return "no barrier";
      for (uint32_t i = 0; i < 1024; i++)
         if (((uint8_t *)memory)[i] != (uint8_t)at)
            return "another one's bytes";
      if (give_back(f, buffer,
                    (struct request){.wait = {timeline, at + 2}, .signal = {timeline, at + 3}}) !=
          AGX_OK)
         return "not given back";
      agx_release(buffer);
   }
   if (fixture_wait(timeline, 3 * 60) != AGX_OK)
      return "the end failed";
   agx_release(timeline);
   return NULL;
}

static void threads_share_a_full_pool(void **state)
{
   struct fixture *f = conformance_device(state);
   for (uint32_t strategy = 0; strategy < 3; strategy++) {
      struct agx_pool *pool = new_pool(f, strategy, 2 * BLOCK_B);
      struct party parties[4];
      pthread_t threads[4];
      for (uint32_t i = 0; i < 4; i++) {
         parties[i] = (struct party){f, pool, i % 2};
         assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &parties[i]), 0);
      }
      for (uint32_t i = 0; i < 4; i++) {
         void *wrong = NULL;
         pthread_join(threads[i], &wrong);
         if (wrong)
            fail_msg("%s", (char *)wrong);
      }
      assert_int_equal(stats_of(pool).used_B, 0);
      agx_release(pool);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_second_dealloca_fails),
      cmocka_unit_test(dealloca_before_the_memory_fails),
      cmocka_unit_test(memory_stays_until_its_last_use_is_over),
      cmocka_unit_test(dealloca_of_other_buffers_is_a_barrier),
      cmocka_unit_test(indeterminate_lifetimes_end_with_the_object),
      cmocka_unit_test(bad_requests_leave_no_trace),
      cmocka_unit_test(nothing_can_be_allocated),
      cmocka_unit_test(waiting_allocations_can_be_cancelled),
      cmocka_unit_test(release_after_waits_for_its_points),
      cmocka_unit_test(threads_share_a_full_pool),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
