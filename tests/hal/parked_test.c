/* SPDX-License-Identifier: MIT
 *
 * The limit of parked operations: what would be parked is refused and leaves no trace; what need
 * not be goes through.
 */
#include "fixture.h"

#define LIMIT  2u
#define POOL_B 65536u /* one page of any device */

struct world {
   struct fixture f;
   struct agx_semaphore *gate, *done;
   uint64_t last; /* the highest that a submission signals on done */
};

static void open_world(struct world *w)
{
   const struct agx_device_desc desc = {
      .size = sizeof(desc), .name = "virtual", .max_parked = LIMIT};
   *w = (struct world){0};
   assert_ok(agx_instance_create(NULL, &w->f.instance));
   assert_ok(agx_device_open(w->f.instance, &desc, &w->f.device));
   w->f.info.size = sizeof(w->f.info);
   agx_device_get_info(w->f.device, &w->f.info);
   w->gate = fixture_semaphore(&w->f);
   w->done = fixture_semaphore(&w->f);
}

static void close_world(struct world *w)
{
   agx_device_cancel(w->f.device);
   agx_release(w->gate);
   agx_release(w->done);
   fixture_close(&w->f);
}

/* Behind the gate's value, on a semaphore of their own. */
static void park(struct world *w, uint64_t value)
{
   for (uint32_t i = 0; i < LIMIT; i++)
      assert_ok(fixture_submit(&w->f, NULL, (struct agx_point){w->gate, value}, NO_POINT));
}

static agx_status barrier(struct world *w, struct agx_point wait)
{
   agx_status status = fixture_submit(&w->f, NULL, wait, (struct agx_point){w->done, w->last + 1});
   w->last += status == AGX_OK;
   return status;
}

static void what_would_be_parked_is_refused(void **state)
{
   struct world w;
   open_world(&w);
   park(&w, 1);
   assert_fails(barrier(&w, (struct agx_point){w.gate, 1}), AGX_RESOURCE_EXHAUSTED,
                "2 operations are (max_parked)");
   assert_fails(barrier(&w, (struct agx_point){w.gate, 9}), AGX_RESOURCE_EXHAUSTED, "parked");
   assert_ok(agx_semaphore_signal(w.gate, 1));
   assert_ok(barrier(&w, (struct agx_point){w.gate, 2})); /* there is room again */
   assert_ok(agx_semaphore_signal(w.gate, 2));
   assert_ok(fixture_wait(w.done, w.last));
   assert_int_equal(w.last, 1);
   close_world(&w);
}

static void what_need_not_be_parked_goes_through(void **state)
{
   struct world w;
   uint32_t *words;
   open_world(&w);
   struct agx_buffer *buffer = fixture_buffer(&w.f, 256, &words);
   struct agx_executable *count = fixture_kernel(&w.f, &agx_test_count);
   struct agx_command_buffer *commands = fixture_begin(&w.f);
   struct agx_semaphore *gpu = fixture_semaphore(&w.f);
   fixture_dispatch(commands, count, 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(commands));
   assert_ok(agx_semaphore_signal(w.gate, 1));
   park(&w, 2);
   assert_ok(barrier(&w, NO_POINT));
   assert_ok(barrier(&w, (struct agx_point){w.gate, 1}));
   assert_ok(
      fixture_submit(&w.f, commands, (struct agx_point){w.gate, 1}, (struct agx_point){gpu, 1}));
   assert_ok(barrier(&w, (struct agx_point){gpu, 1})); /* in flight, or over */
   assert_ok(fixture_wait(w.done, w.last));
   assert_int_equal(words[1], 2);
   agx_semaphore_fail(gpu, AGX_ABORTED, "it broke");
   assert_ok(barrier(&w, (struct agx_point){gpu, 2})); /* fails at once, but in order */
   assert_fails(fixture_wait(w.done, w.last), AGX_ABORTED, "it broke");
   agx_release(gpu);
   agx_release(commands);
   agx_release(count);
   agx_release(buffer);
   close_world(&w);
}

static agx_status allocate(struct world *w, struct agx_pool *pool, struct agx_buffer **out_buffer)
{
   const struct agx_point signal = {w->done, w->last + 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_ALLOCA,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.alloca = {pool, POOL_B, 0, out_buffer}};
   agx_status status = agx_submit(w->f.device, &op, 1, NULL);
   w->last += status == AGX_OK;
   return status;
}

/* Its turn has come, but it would have to wait for memory. */
static void what_would_be_put_off_is_refused_too(void **state)
{
   const struct agx_pool_desc desc = {
      .size = sizeof(desc), .strategy = AGX_POOL_PASSTHROUGH, .limit_B = POOL_B};
   struct world w;
   struct agx_pool *pool;
   struct agx_buffer *holder, *buffer = (struct agx_buffer *)&w;
   open_world(&w);
   assert_ok(agx_pool_create(w.f.device, &desc, &pool));
   assert_ok(agx_pool_allocate(pool, POOL_B, 0, &holder));
   park(&w, 1);
   assert_fails(allocate(&w, pool, &buffer), AGX_RESOURCE_EXHAUSTED, "max_parked");
   assert_null(buffer);
   assert_ok(agx_semaphore_signal(w.gate, 1));
   assert_ok(allocate(&w, pool, &buffer)); /* put off */
   assert_non_null(buffer);
   agx_release(holder);
   assert_ok(fixture_wait(w.done, w.last));
   agx_release(buffer);
   agx_release(pool);
   close_world(&w);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_would_be_parked_is_refused),
      cmocka_unit_test(what_need_not_be_parked_goes_through),
      cmocka_unit_test(what_would_be_put_off_is_refused_too),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
