/* SPDX-License-Identifier: MIT
 *
 * Launching an allocation makes requests, and lets go of the device's lock for them. Whatever
 * happens to it meanwhile happens here within such a request, on the thread that makes it.
 */
#include "failing_kmd.h"
#include "fixture.h"

#include <stdlib.h>

#include "hal/device/device.h"
#include "hal/sync/submission.h"

#define SLAB_B 65536u /* whole pages of any device */

struct world {
   struct failing_kmd kmd;
   struct fixture f;
   struct agx_semaphore *gate, *done;
   struct agx_pool *pool; /* of two slabs at most */
   struct agx_buffer *buffers[2];
   void (*_Atomic meanwhile)(struct world *w); /* once, within the next request */
   struct agx_command_buffer *commands;
};

static void before_request(void *user, uint32_t nr)
{
   struct world *w = user;
   void (*meanwhile)(struct world *) = atomic_exchange(&w->meanwhile, NULL);
   if (meanwhile)
      meanwhile(w);
}

static struct agx_pool *new_pool(struct world *w, uint64_t limit_B)
{
   const struct agx_pool_desc desc = {.size = sizeof(desc), .slab_B = SLAB_B, .limit_B = limit_B};
   struct agx_pool *pool = NULL;
   assert_ok(agx_pool_create(w->f.device, &desc, &pool));
   return pool;
}

static void open_world(struct world *w, uint32_t max_parked)
{
   const struct agx_device_desc desc = {
      .size = sizeof(desc), .max_parked = max_parked, .cache_limit_B = 1 /* keeps nothing */};
   *w = (struct world){0};
   failing_kmd_open(&w->kmd);
   fixture_open_over(&w->f, &desc, &w->kmd.base);
   w->gate = fixture_semaphore(&w->f);
   w->done = fixture_semaphore(&w->f);
   w->pool = new_pool(w, 2 * SLAB_B);
   w->kmd.hook_user = w;
   w->kmd.hook = before_request;
}

static void close_world(struct world *w)
{
   w->kmd.hook = NULL;
   for (uint32_t i = 0; i < 2; i++)
      agx_release(w->buffers[i]);
   agx_release(w->pool);
   agx_release(w->gate);
   agx_release(w->done);
   fixture_close(&w->f);
   failing_kmd_await_close(&w->kmd);
}

/* Behind the gate's 1, if need be. */
static agx_status allocate(struct world *w, struct agx_pool *pool, uint64_t size_B,
                           struct agx_semaphore *gate, struct agx_point signal,
                           struct agx_buffer **out_buffer)
{
   const struct agx_point wait = {gate, 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_ALLOCA,
                             .queues = 1,
                             .waits = &wait,
                             .wait_count = gate != NULL,
                             .signals = &signal,
                             .signal_count = signal.semaphore != NULL,
                             .u.alloca = {pool, size_B, 0, out_buffer}};
   return agx_submit(w->f.device, &op, 1, NULL);
}

/* One slab is used and the other one idle: who wants both gives the idle one to the kernel, which
 * is a request, and finds no block all the same. */
static void use_one_of_two_slabs(struct world *w)
{
   struct agx_buffer *other = NULL;
   assert_ok(agx_pool_allocate(w->pool, SLAB_B, 0, &w->buffers[0]));
   assert_ok(agx_pool_allocate(w->pool, SLAB_B, 0, &other));
   agx_release(other);
}

static void cancel(struct world *w)
{
   agx_device_cancel(w->f.device);
}

static void what_is_being_launched_is_cancelled(void **state)
{
   struct world w;
   open_world(&w, 0);
   use_one_of_two_slabs(&w);
   assert_ok(
      allocate(&w, w.pool, 2 * SLAB_B, w.gate, (struct agx_point){w.done, 1}, &w.buffers[1]));
   w.meanwhile = cancel;
   assert_ok(agx_semaphore_signal(w.gate, 1));
   assert_fails(fixture_wait(w.done, 1), AGX_CANCELLED, "cancelled");
   assert_null(w.meanwhile);
   close_world(&w);
}

/* The first one needs a slab, and gets it; the second one would wait, and its turn is next. */
static void what_comes_behind_it_is_cancelled(void **state)
{
   struct world w;
   open_world(&w, 0);
   struct agx_semaphore *first = fixture_semaphore(&w.f);
   struct agx_pool *full = new_pool(&w, SLAB_B);
   struct agx_buffer *holder = NULL;
   assert_ok(agx_pool_allocate(full, SLAB_B, 0, &holder));
   assert_ok(allocate(&w, w.pool, SLAB_B, w.gate, (struct agx_point){first, 1}, &w.buffers[0]));
   assert_ok(allocate(&w, full, SLAB_B, w.gate, (struct agx_point){w.done, 1}, &w.buffers[1]));
   w.meanwhile = cancel;
   assert_ok(agx_semaphore_signal(w.gate, 1));
   assert_ok(fixture_wait(first, 1));
   assert_fails(fixture_wait(w.done, 1), AGX_CANCELLED, "cancelled");
   assert_null(w.meanwhile);
   agx_release(holder);
   agx_release(full);
   agx_release(first);
   close_world(&w);
}

static void run_into_a_fault(struct world *w)
{
   struct agx_semaphore *failed = fixture_semaphore(&w->f);
   assert_ok(fixture_submit(&w->f, w->commands, NO_POINT, (struct agx_point){failed, 1}));
   assert_fails(fixture_wait(failed, 1), AGX_DATA_LOSS, "fault");
   agx_release(failed);
}

static void what_is_being_launched_goes_with_its_queue(void **state)
{
   struct world w;
   uint32_t *words;
   setenv("AGX_VIRTUAL_INJECT", "fault 1", 1);
   open_world(&w, 0);
   unsetenv("AGX_VIRTUAL_INJECT");
   struct agx_executable *kernel = fixture_kernel(&w.f, &agx_test_count);
   struct agx_buffer *buffer = fixture_buffer(&w.f, 256, &words);
   w.commands = fixture_begin(&w.f);
   fixture_dispatch(w.commands, kernel, 1, &buffer, 1, NULL, 0);
   assert_ok(agx_command_buffer_end(w.commands));
   use_one_of_two_slabs(&w);
   assert_ok(
      allocate(&w, w.pool, 2 * SLAB_B, w.gate, (struct agx_point){w.done, 1}, &w.buffers[1]));
   w.meanwhile = run_into_a_fault;
   assert_ok(agx_semaphore_signal(w.gate, 1));
   assert_fails(fixture_wait(w.done, 1), AGX_DATA_LOSS, "fault");
   assert_null(w.meanwhile);
   agx_release(w.commands);
   agx_release(buffer);
   agx_release(kernel);
   close_world(&w);
}

static void allocate_of_another_pool(struct world *w)
{
   struct agx_pool *other = new_pool(w, 0);
   assert_ok(allocate(w, other, SLAB_B, NULL, NO_POINT, &w->buffers[1]));
   agx_release(other);
}

/* There is no room to park anything. */
static void who_allocates_elsewhere_does_not_go_behind_it(void **state)
{
   struct world w;
   open_world(&w, 1);
   assert_ok(allocate(&w, w.pool, SLAB_B, w.gate, (struct agx_point){w.done, 1}, &w.buffers[0]));
   w.meanwhile = allocate_of_another_pool;
   assert_ok(agx_semaphore_signal(w.gate, 1));
   assert_ok(fixture_wait(w.done, 1));
   assert_null(w.meanwhile);
   close_world(&w);
}

/* What there is no block for does not keep others from the blocks that there are. */
static void who_need_not_wait_goes_first(void **state)
{
   struct world w;
   struct agx_buffer *holder = NULL;
   open_world(&w, 1);
   assert_ok(agx_pool_allocate(w.pool, SLAB_B, 0, &holder));
   assert_ok(allocate(&w, w.pool, 2 * SLAB_B, NULL, (struct agx_point){w.done, 1}, &w.buffers[0]));
   assert_ok(allocate(&w, w.pool, SLAB_B, NULL, (struct agx_point){w.gate, 1}, &w.buffers[1]));
   assert_ok(fixture_wait(w.gate, 1));
   uint64_t reached = 1;
   assert_ok(agx_semaphore_query(w.done, &reached));
   assert_int_equal(reached, 0);
   agx_release(holder);
   agx_release(w.buffers[1]);
   w.buffers[1] = NULL;
   assert_ok(fixture_wait(w.done, 1));
   close_world(&w);
}

static void submit_beside(struct world *w)
{
   const struct agx_op op = {.size = sizeof(op), .kind = AGX_OP_BARRIER, .queues = 2};
   assert_ok(agx_submit(w->f.device, &op, 1, NULL));
}

/* Giving memory back frees a slab that is idle longer, while something else is submitted. */
static void operations_are_counted_one_by_one(void **state)
{
   struct world w;
   struct agx_buffer *other = NULL;
   open_world(&w, 0);
   assert_ok(agx_pool_allocate(w.pool, SLAB_B, 0, &other));
   assert_ok(allocate(&w, w.pool, SLAB_B, NULL, NO_POINT, &w.buffers[0]));
   agx_release(other);
   const struct agx_op give = {
      .size = sizeof(give), .kind = AGX_OP_DEALLOCA, .u.dealloca.buffer = w.buffers[0]};
   w.meanwhile = submit_beside;
   assert_ok(agx_submit(w.f.device, &give, 1, NULL));
   assert_null(w.meanwhile);
   uint64_t numbers = 0;
   pthread_mutex_lock(&w.f.device->sync.lock);
   agx_list_for_each (struct agx_submission, submission,
                      &w.f.device->sync.submission_lists[AGX_LIST_SPARE], link)
      numbers |= 1ull << submission->number;
   pthread_mutex_unlock(&w.f.device->sync.lock);
   assert_int_equal(numbers & 0xc, 0xc); /* the first one was the allocation */
   close_world(&w);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_being_launched_is_cancelled),
      cmocka_unit_test(what_comes_behind_it_is_cancelled),
      cmocka_unit_test(what_is_being_launched_goes_with_its_queue),
      cmocka_unit_test(who_allocates_elsewhere_does_not_go_behind_it),
      cmocka_unit_test(who_need_not_wait_goes_first),
      cmocka_unit_test(operations_are_counted_one_by_one),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
