/* SPDX-License-Identifier: MIT
 *
 * Memory in the order of the queues out of blocks that the application gives (AGX_POOL_CALLER).
 */
#include "../hal/block_source.h"
#include "alloca_scene.h"

struct scene {
   struct fixture *f;
   struct block_source source;
   struct agx_pool *pool;
   struct agx_semaphore *timeline;
};

static void begin(struct scene *s, void **state, uint32_t count, uint32_t flags)
{
   s->f = conformance_device(state);
   block_source_init(&s->source, s->f->device, BLOCK_B, count);
   assert_ok(block_pool_create(&s->source, s->f->device, flags, &s->pool));
   s->timeline = fixture_semaphore(s->f);
}

static void end(struct scene *s)
{
   agx_release(s->timeline);
   agx_release(s->pool);
   block_source_fini(&s->source);
}

static struct agx_point at(const struct scene *s, uint64_t value)
{
   return conformance_point(s->timeline, value);
}

/* ---- blocks ------------------------------------------------------------------- */

static void blocks_are_the_memory(void **state)
{
   struct scene s;
   struct agx_buffer *buffer = NULL;
   begin(&s, state, 2, 0);
   assert_ok(allocate(
      s.f, (struct request){.pool = s.pool, .size_B = 1024, .queues = 2, .signal = at(&s, 1)},
      &buffer));
   assert_true(info_of(buffer).address == info_of(s.source.memory).address);
   assert_int_equal(s.source.last.queue, 1);
   assert_int_equal(s.source.last.size_B, 1024);
   assert_int_equal(stats_of(s.pool).used_B, 1024);
   assert_ok(use(s.f, buffer, at(&s, 1), at(&s, 2)));
   assert_ok(fixture_wait(s.timeline, 2));
   assert_counted(buffer);
   assert_counted(s.source.memory);
   assert_ok(give_back(s.f, buffer, (struct request){.wait = at(&s, 2), .signal = at(&s, 3)}));
   assert_ok(fixture_wait(s.timeline, 3));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_DEAD);
   assert_int_equal(s.source.released, 1);
   assert_int_equal(s.source.last_queue, 0);
   assert_int_equal(stats_of(s.pool).used_B, 0);
   agx_release(buffer);
   end(&s);
}

/* Views of larger memory, themselves at an offset. */
static void blocks_may_lie_in_a_pool(void **state)
{
   struct scene s;
   struct agx_buffer *buffer = NULL, *late = NULL, *before = NULL, *view = NULL;
   begin(&s, state, 2, AGX_POOL_SOURCE_PAGES);
   struct agx_pool *outer = new_pool(s.f, AGX_POOL_VARIABLE, 0);
   assert_ok(agx_pool_allocate(outer, BLOCK_B, s.f->info.page_B, &before));
   assert_ok(agx_pool_allocate(outer, 2 * BLOCK_B, s.f->info.page_B, &view));
   agx_release(s.source.memory);
   s.source.memory = view;
   assert_ok(allocate(s.f, (struct request){.pool = s.pool, .size_B = 1024}, &buffer));
   assert_ok(allocate(
      s.f, (struct request){.pool = s.pool, .size_B = 1024, .wait = at(&s, 1), .signal = at(&s, 2)},
      &late));
   assert_ok(use(s.f, buffer, NO_POINT, NO_POINT));
   assert_ok(use(s.f, late, at(&s, 2), at(&s, 3)));
   assert_ok(agx_semaphore_signal(s.timeline, 1));
   assert_ok(fixture_wait(s.timeline, 3));
   assert_counted(late);
   void *memory = NULL, *whole = NULL;
   assert_ok(agx_buffer_map(late, &memory));
   assert_ok(agx_buffer_map(view, &whole));
   assert_ptr_equal(memory, (uint8_t *)whole + BLOCK_B);
   agx_release(buffer);
   agx_release(late);
   agx_release(before);
   agx_release(outer);
   end(&s);
}

static void a_last_reference_gives_a_block_back(void **state)
{
   struct scene s;
   struct agx_buffer *buffer = NULL;
   begin(&s, state, 1, 0);
   assert_ok(allocate(s.f,
                      (struct request){.pool = s.pool,
                                       .size_B = 1024,
                                       .flags = AGX_ALLOCA_INDETERMINATE_LIFETIME,
                                       .signal = at(&s, 1)},
                      &buffer));
   assert_ok(give_back(s.f, buffer, (struct request){.wait = at(&s, 1), .signal = at(&s, 2)}));
   assert_ok(fixture_wait(s.timeline, 2));
   assert_int_equal(s.source.released, 0);
   agx_release(buffer);
   block_await(&s.source, &s.source.released, 1);
   assert_int_equal(s.source.last_queue, AGX_NO_QUEUE);
   end(&s);
}

static void buffers_of_the_host(void **state)
{
   struct scene s;
   struct agx_buffer *buffer = NULL, *more = (void *)1;
   begin(&s, state, 1, 0);
   assert_ok(agx_pool_allocate(s.pool, 1024, 0, &buffer));
   assert_int_equal(s.source.last.queue, AGX_NO_QUEUE);
   assert_false(s.source.last.may_wait);
   assert_ok(use(s.f, buffer, NO_POINT, at(&s, 1)));
   assert_ok(fixture_wait(s.timeline, 1));
   assert_counted(buffer);
   assert_fails(agx_pool_allocate(s.pool, 1024, 0, &more), AGX_RESOURCE_EXHAUSTED, "blocks");
   assert_null(more);
   assert_int_equal(stats_of(s.pool).allocations, 1);
   agx_release(buffer);
   end(&s);
}

/* ---- order --------------------------------------------------------------------- */

/* A gate on queue 0, and a block whose last use is behind it. */
static void give_back_behind_a_gate(struct scene *s, struct gate *gate, struct agx_point signal)
{
   struct agx_buffer *first = NULL;
   assert_ok(allocate(s->f, (struct request){.pool = s->pool, .size_B = 1024}, &first));
   close_gate(s->f, gate);
   assert_ok(give_back(
      s->f, first, (struct request){.wait = conformance_point(gate->over, 1), .signal = signal}));
   assert_int_equal(s->source.released, 1);
   assert_true(s->source.last_death.epochs[0] > 0);
   agx_release(first);
}

/* The next user has the block, and is sent, while the GPU is at the last use. */
static void reuse_is_ordered_on_the_gpu(void **state)
{
   struct scene s;
   struct agx_buffer *second = NULL;
   struct gate gate;
   begin(&s, state, 1, 0);
   give_back_behind_a_gate(&s, &gate, NO_POINT);
   assert_ok(allocate(s.f,
                      (struct request){.pool = s.pool,
                                       .size_B = 1024,
                                       .flags = AGX_ALLOCA_ALLOW_WAIT,
                                       .queues = 2,
                                       .signal = at(&s, 1)},
                      &second));
   assert_true(info_of(second).address == info_of(s.source.memory).address);
   assert_int_equal(info_of(second).state, AGX_BUFFER_LIVE);
   assert_int_equal(stats_of(s.pool).reuses, 1);
   assert_ok(use(s.f, second, at(&s, 1), at(&s, 2)));
   assert_int_equal(value_of(s.timeline), 0);
   open_gate(&gate);
   assert_ok(fixture_wait(s.timeline, 2));
   assert_counted(second);
   agx_release(second);
   end(&s);
}

/* What the allocation waits for covers the block's last use: no permission is needed. */
static void waits_cover_the_last_use(void **state)
{
   struct scene s;
   struct agx_buffer *second = NULL;
   struct gate gate;
   begin(&s, state, 1, 0);
   give_back_behind_a_gate(&s, &gate, at(&s, 1));
   assert_ok(allocate(
      s.f,
      (struct request){
         .pool = s.pool, .size_B = 1024, .queues = 2, .wait = at(&s, 1), .signal = at(&s, 2)},
      &second));
   assert_true(info_of(second).address == info_of(s.source.memory).address);
   assert_int_equal(value_of(s.timeline), 0);
   open_gate(&gate);
   assert_ok(fixture_wait(s.timeline, 2));
   agx_release(second);
   end(&s);
}

/* Else the source is asked again when the GPU has come further, without anybody's telling. */
static void without_permission_it_waits_on_the_host(void **state)
{
   struct scene s;
   struct agx_buffer *second = NULL;
   struct gate gate;
   begin(&s, state, 1, AGX_POOL_SOURCE_PAGES);
   give_back_behind_a_gate(&s, &gate, NO_POINT);
   assert_ok(allocate(
      s.f, (struct request){.pool = s.pool, .size_B = 1024, .queues = 2, .signal = at(&s, 1)},
      &second));
   assert_int_equal(info_of(second).state, AGX_BUFFER_RESERVED);
   assert_true(info_of(second).address != 0);
   assert_ok(use(s.f, second, at(&s, 1), at(&s, 2)));
   open_gate(&gate);
   assert_ok(fixture_wait(s.timeline, 2));
   assert_counted(second);
   agx_release(second);
   end(&s);
}

/* ---- turns ----------------------------------------------------------------------- */

/* A source that has no block is asked again when it says so. */
static void exhausted_until_notified(void **state, uint32_t flags)
{
   struct scene s;
   struct agx_buffer *buffer = NULL;
   begin(&s, state, 1, flags);
   block_hold(&s.source, 0, true);
   agx_pool_notify(s.pool); /* nobody waits */
   assert_ok(allocate(s.f, (struct request){.pool = s.pool, .size_B = 1024, .signal = at(&s, 1)},
                      &buffer));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_RESERVED);
   agx_pool_notify(s.pool); /* there is none yet */
   assert_int_equal(value_of(s.timeline), 0);
   block_hold(&s.source, 0, false);
   agx_pool_notify(s.pool);
   assert_ok(fixture_wait(s.timeline, 1));
   assert_int_equal(info_of(buffer).state, AGX_BUFFER_LIVE);
   assert_ok(use(s.f, buffer, NO_POINT, at(&s, 2)));
   assert_ok(fixture_wait(s.timeline, 2));
   assert_counted(s.source.memory);
   agx_release(buffer);
   end(&s);
}

static void pages_that_are_exhausted(void **state)
{
   exhausted_until_notified(state, AGX_POOL_SOURCE_PAGES);
}

static void small_blocks_that_are_exhausted(void **state)
{
   exhausted_until_notified(state, 0);
}

/* Pages have an address whatever the allocation waits for: work is recorded and queued before. */
static void pages_have_an_address_at_once(void **state)
{
   struct scene s;
   struct agx_buffer *buffer = NULL;
   begin(&s, state, 1, AGX_POOL_SOURCE_PAGES);
   assert_ok(allocate(
      s.f, (struct request){.pool = s.pool, .size_B = 1024, .wait = at(&s, 1), .signal = at(&s, 2)},
      &buffer));
   const uint64_t address = info_of(buffer).address;
   assert_true(address != 0);
   assert_int_equal(s.source.acquired, 0); /* others could use it meanwhile */
   assert_ok(use(s.f, buffer, at(&s, 2), at(&s, 3)));
   assert_ok(give_back(s.f, buffer, (struct request){.wait = at(&s, 3), .signal = at(&s, 4)}));
   assert_ok(agx_semaphore_signal(s.timeline, 1));
   assert_ok(fixture_wait(s.timeline, 4));
   assert_true(info_of(buffer).address == address);
   assert_int_equal(s.source.last.size_B % s.f->info.page_B, 0);
   assert_counted(s.source.memory);
   agx_release(buffer);
   end(&s);
}

static agx_status record(struct scene *s, struct agx_buffer *buffer)
{
   struct agx_executable *count = fixture_kernel(s->f, &agx_test_count);
   struct agx_command_buffer *commands = fixture_begin(s->f);
   const struct agx_binding binding = {.ref = {buffer, 0, AGX_WHOLE_LENGTH}};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = count,
                                         .workgroups = {1, 1, 1},
                                         .binding_count = 1,
                                         .bindings = &binding};
   agx_status status = agx_cmd_dispatch(commands, &dispatch);
   agx_release(commands);
   agx_release(count);
   return status;
}

static agx_status fill(struct scene *s, struct agx_buffer *buffer, struct agx_point wait)
{
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_FILL,
                             .waits = &wait,
                             .wait_count = 1,
                             .u.fill = {{buffer, 0, 16}, {1}, 1}};
   return agx_submit(s->f->device, &op, 1, NULL);
}

/* Blocks that can't be shown elsewhere bring the address with them: until then, what needs one is
 * refused, and what only waits is not. */
static void small_blocks_bring_the_address(void **state)
{
   struct scene s;
   struct agx_buffer *buffer = NULL;
   void *memory = NULL;
   begin(&s, state, 1, 0);
   assert_ok(allocate(
      s.f, (struct request){.pool = s.pool, .size_B = 1024, .wait = at(&s, 1), .signal = at(&s, 2)},
      &buffer));
   const struct agx_buffer_info info = info_of(buffer);
   assert_int_equal(info.state, AGX_BUFFER_RESERVED);
   assert_true(info.address == 0 && info.allocation_B == 0 && !info.is_exportable);
   assert_int_equal(info.size_B, 1024);
   assert_fails(record(&s, buffer), AGX_FAILED_PRECONDITION, "no address yet");
   assert_fails(fill(&s, buffer, at(&s, 2)), AGX_FAILED_PRECONDITION, "no address yet");
   assert_fails(agx_buffer_map(buffer, &memory), AGX_FAILED_PRECONDITION, "memory");
   assert_ok(agx_set_label(buffer, "late"));
   struct agx_external external = {.size = sizeof(external)};
   assert_fails(agx_buffer_export(buffer, AGX_EXTERNAL_DMA_BUF, &external), AGX_FAILED_PRECONDITION,
                "late");
   assert_ok(agx_semaphore_signal(s.timeline, 1));
   assert_ok(fixture_wait(s.timeline, 2));
   assert_true(info_of(buffer).address == info_of(s.source.memory).address);
   assert_ok(record(&s, buffer));
   assert_ok(use(s.f, buffer, NO_POINT, at(&s, 3)));
   assert_ok(fixture_wait(s.timeline, 3));
   assert_counted(buffer);
   agx_release(buffer);
   end(&s);
}

/* One that never has its turn has no memory to give back. */
static void a_turn_that_never_comes(void **state)
{
   for (uint32_t flags = 0; flags < 2; flags++) {
      struct scene s;
      struct agx_buffer *buffer = NULL;
      begin(&s, state, 1, flags);
      assert_ok(allocate(
         s.f,
         (struct request){.pool = s.pool, .size_B = 1024, .wait = at(&s, 1), .signal = at(&s, 2)},
         &buffer));
      agx_semaphore_fail(s.timeline, AGX_DATA_LOSS, "lost on the way");
      assert_int_equal(info_of(buffer).state, AGX_BUFFER_RESERVED);
      agx_release(buffer);
      assert_int_equal(s.source.acquired, 0);
      end(&s);
   }
}

/* All submitted ahead, each behind the one before: they take one block after the other. */
static void a_chain_takes_one_block(void **state)
{
   struct scene s;
   begin(&s, state, 1, AGX_POOL_SOURCE_PAGES);
   for (uint64_t i = 0; i < 8; i++) {
      struct agx_buffer *buffer = NULL;
      assert_ok(allocate(s.f,
                         (struct request){.pool = s.pool,
                                          .size_B = BLOCK_B,
                                          .queues = 1 + i % 2,
                                          .wait = at(&s, 3 * i + 1),
                                          .signal = at(&s, 3 * i + 2)},
                         &buffer));
      assert_ok(use(s.f, buffer, at(&s, 3 * i + 2), at(&s, 3 * i + 3)));
      assert_ok(give_back(
         s.f, buffer, (struct request){.wait = at(&s, 3 * i + 3), .signal = at(&s, 3 * i + 4)}));
      agx_release(buffer);
   }
   assert_int_equal(s.source.acquired, 0);
   assert_ok(agx_semaphore_signal(s.timeline, 1));
   assert_ok(fixture_wait(s.timeline, 25));
   assert_int_equal(s.source.acquired, 8);
   assert_int_equal(stats_of(s.pool).peak_used_B, BLOCK_B);
   end(&s);
}

/* ---- threads ----------------------------------------------------------------------- */

struct party {
   struct scene *s;
   uint64_t queues;
};

/* Allocations that wait for others' blocks, used by the GPU. */
static void *come_and_go(void *argument)
{
   const struct party *party = argument;
   struct fixture *f = party->s->f;
   struct agx_semaphore *timeline = fixture_semaphore(f);
   for (uint64_t i = 0; i < 40; i++) {
      struct agx_buffer *buffer = NULL;
      struct request it = {.pool = party->s->pool,
                           .size_B = 1024,
                           .flags = i % 2 ? AGX_ALLOCA_ALLOW_WAIT : 0,
                           .queues = party->queues,
                           .signal = conformance_point(timeline, 3 * i + 1)};
      assert_ok(allocate(f, it, &buffer));
      assert_ok(fixture_wait(timeline, 3 * i + 1));
      assert_ok(use(f, buffer, conformance_point(timeline, 3 * i + 1),
                    conformance_point(timeline, 3 * i + 2)));
      it = (struct request){.wait = conformance_point(timeline, 3 * i + 2),
                            .signal = conformance_point(timeline, 3 * i + 3)};
      assert_ok(give_back(f, buffer, it));
      agx_release(buffer);
   }
   assert_ok(fixture_wait(timeline, 120));
   agx_release(timeline);
   return NULL;
}

static void threads_share_a_source(void **state)
{
   for (uint32_t flags = 0; flags < 2; flags++) {
      struct scene s;
      pthread_t threads[4];
      struct party parties[4];
      begin(&s, state, 2, flags);
      for (uint32_t i = 0; i < 4; i++) {
         parties[i] = (struct party){&s, 1 + i % 2};
         assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &parties[i]), 0);
      }
      for (uint32_t i = 0; i < 20; i++) {
         agx_pool_notify(s.pool);
         struct agx_frontier reached;
         agx_device_get_frontier(s.f->device, &reached);
      }
      for (uint32_t i = 0; i < 4; i++)
         pthread_join(threads[i], NULL);
      assert_int_equal(s.source.acquired, 160);
      end(&s);
   }
}

static void frontiers_follow_the_queues(void **state)
{
   struct scene s;
   struct agx_frontier before, after;
   struct agx_buffer *buffer = NULL;
   begin(&s, state, 1, 0);
   agx_device_get_frontier(s.f->device, &before);
   assert_ok(agx_pool_allocate(s.pool, 1024, 0, &buffer));
   assert_ok(use(s.f, buffer, NO_POINT, at(&s, 1)));
   assert_ok(fixture_wait(s.timeline, 1));
   agx_device_get_frontier(s.f->device, &after);
   assert_true(after.epochs[0] > before.epochs[0]);
   assert_int_equal(after.epochs[AGX_MAX_QUEUES - 1], 0);
   agx_release(buffer);
   end(&s);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_are_the_memory),
      cmocka_unit_test(blocks_may_lie_in_a_pool),
      cmocka_unit_test(a_last_reference_gives_a_block_back),
      cmocka_unit_test(buffers_of_the_host),
      cmocka_unit_test(reuse_is_ordered_on_the_gpu),
      cmocka_unit_test(waits_cover_the_last_use),
      cmocka_unit_test(without_permission_it_waits_on_the_host),
      cmocka_unit_test(pages_that_are_exhausted),
      cmocka_unit_test(small_blocks_that_are_exhausted),
      cmocka_unit_test(pages_have_an_address_at_once),
      cmocka_unit_test(small_blocks_bring_the_address),
      cmocka_unit_test(a_turn_that_never_comes),
      cmocka_unit_test(a_chain_takes_one_block),
      cmocka_unit_test(threads_share_a_source),
      cmocka_unit_test(frontiers_follow_the_queues),
   };
   return cmocka_run_group_tests(tests, conformance_open, conformance_close);
}
