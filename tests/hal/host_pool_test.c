/* SPDX-License-Identifier: MIT
 *
 * The host's threads: how many there are, in which order they take jobs, how they end.
 */
#include "base/sanitizers.h"
#include "support.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "failing_alloc.h"
#include "hal/core/object.h"
#include "hal/host/host_pool.h"

/* A gate that jobs wait at, and a count of how many did. */
struct gate {
   sem_t arrived, open;
};

static void gate_init(struct gate *gate)
{
   sem_init(&gate->arrived, 0, 0);
   sem_init(&gate->open, 0, 0);
}

static void take(sem_t *semaphore)
{
   while (sem_wait(semaphore))
      ;
}

struct work {
   struct agx_host_job job;
   struct gate *gate; /* NULL: runs through */
   sem_t *over;
   struct agx_host_pool *destroys;
   _Atomic uint32_t *clock;
   uint32_t ran_at, turns;
   bool was_cancelled;
   sigset_t mask;
};

static bool run(struct agx_host_job *job)
{
   struct work *work = agx_container_of(job, struct work, job);
   if (work->gate) {
      sem_post(&work->gate->arrived);
      take(&work->gate->open);
   }
   pthread_sigmask(SIG_SETMASK, NULL, &work->mask);
   if (work->clock)
      work->ran_at = atomic_fetch_add(work->clock, 1) + 1;
   if (work->turns && --work->turns)
      return true;
   if (work->destroys)
      agx_host_pool_destroy(work->destroys);
   sem_post(work->over);
   return false;
}

static void cancel(struct agx_host_job *job)
{
   agx_container_of(job, struct work, job)->was_cancelled = true;
}

static const struct agx_host_job_type call = {run, cancel, false}, transfer = {run, cancel, true};

/* Stands for the instance that an allocator comes from. */
struct owner {
   struct agx_object object;
   const struct agx_host_alloc *alloc;
};

static void owner_destroy(struct agx_object *object)
{
   struct owner *owner = agx_container_of(object, struct owner, object);
   agx_host_free(owner->alloc, owner, sizeof(*owner));
}

static const struct agx_object_type owner_type = {.name = "owner", .destroy = owner_destroy};

struct host_pool {
   struct owner *owner;
   struct agx_host_pool *pool;
   struct failing_alloc alloc;
   struct gate gate;
   sem_t over;
   _Atomic uint32_t clock;
};

static void open_pool(struct host_pool *it, uint32_t threads)
{
   failing_alloc_init(&it->alloc, SIZE_MAX);
   it->owner = agx_host_zalloc(&it->alloc.alloc, sizeof(*it->owner));
   agx_object_init(&it->owner->object, &owner_type);
   it->owner->alloc = &it->alloc.alloc;
   assert_ok(agx_host_pool_create(it->owner, &it->alloc.alloc, threads, &it->pool));
   gate_init(&it->gate);
   sem_init(&it->over, 0, 0);
   atomic_init(&it->clock, 0);
}

static void close_pool(struct host_pool *it)
{
   agx_host_pool_destroy(it->pool);
   agx_release(it->owner);
   assert_int_equal(atomic_load(&it->alloc.live), 0);
}

static void post(struct host_pool *it, struct work *work, const struct agx_host_job_type *type,
                 bool waits)
{
   *work = (struct work){.job.type = type,
                         .gate = waits ? &it->gate : NULL,
                         .over = &it->over,
                         .clock = &it->clock,
                         .turns = work->turns,
                         .destroys = work->destroys};
   assert_ok(agx_host_pool_post(it->pool, &work->job));
}

static void times(sem_t *semaphore, unsigned count, bool is_take)
{
   for (unsigned i = 0; i < count; i++) {
      if (is_take)
         take(semaphore);
      else
         sem_post(semaphore);
   }
}

static void threads_come_with_the_work(void **state)
{
   struct host_pool it;
   struct work works[9] = {0};
   open_pool(&it, 3);
   assert_int_equal(it.pool->thread_count, 0);
   for (unsigned i = 0; i < 9; i++) {
      post(&it, &works[i], &call, true);
      assert_int_equal(it.pool->thread_count, i < 3 ? i + 1 : 3);
   }
   times(&it.gate.arrived, 3, true);
   int more = 0;
   sem_getvalue(&it.gate.arrived, &more);
   assert_int_equal(more, 0);
   times(&it.gate.open, 9, false);
   times(&it.over, 9, true);
   close_pool(&it);
   for (unsigned i = 0; i < 9; i++) {
      assert_int_equal(sigismember(&works[i].mask, SIGINT), 1);
      assert_int_equal(sigismember(&works[i].mask, SIGXFSZ), 1);
      assert_int_equal(sigismember(&works[i].mask, SIGSEGV), 0);
   }
}

/* No memory for a stack. Comes first: stacks of threads that ended would be used again. */
static void threads_may_be_refused(void **state)
{
   struct host_pool it;
   struct work work = {.job.type = &call, .over = &it.over};
   struct rlimit before;
   if (AGX_SANITIZED) /* takes address space by itself */
      skip();
   open_pool(&it, 2);
   getrlimit(RLIMIT_AS, &before);
   const struct rlimit none = {1, before.rlim_max};
   assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
   agx_status status = agx_host_pool_post(it.pool, &work.job);
   setrlimit(RLIMIT_AS, &before);
   assert_fails(status, AGX_RESOURCE_EXHAUSTED, "a thread for work on the host");
   assert_int_equal(it.pool->thread_count, 0);
   post(&it, &work, &call, false);
   take(&it.over);
   close_pool(&it);
}

static void one_thread_takes_jobs_as_they_came(void **state)
{
   struct host_pool it;
   struct work works[20] = {0};
   open_pool(&it, 1);
   post(&it, &works[0], &call, true);
   take(&it.gate.arrived);
   for (unsigned i = 1; i < 20; i++)
      post(&it, &works[i], i % 3 ? &transfer : &call, false);
   sem_post(&it.gate.open);
   times(&it.over, 20, true);
   for (unsigned i = 0; i < 20; i++)
      assert_int_equal(works[i].ran_at, i + 1);
   close_pool(&it);
}

/* However many transfers wait for a disk. */
static void a_thread_is_left_to_calls(void **state)
{
   struct host_pool it;
   struct work works[10] = {0}, between = {0};
   open_pool(&it, 4);
   for (unsigned i = 0; i < 10; i++)
      post(&it, &works[i], &transfer, true);
   times(&it.gate.arrived, 3, true);
   post(&it, &between, &call, false);
   take(&it.over);
   assert_int_equal(between.ran_at, 1);
   int more = 0;
   sem_getvalue(&it.gate.arrived, &more);
   assert_int_equal(more, 0);
   times(&it.gate.open, 10, false);
   times(&it.over, 10, true);
   close_pool(&it);
}

/* Long transfers in pieces let others pass. */
static void turns_are_taken_in_turn(void **state)
{
   struct host_pool it;
   struct work first = {0}, lengthy = {.turns = 3}, brief = {0};
   open_pool(&it, 1);
   post(&it, &first, &call, true);
   take(&it.gate.arrived);
   post(&it, &lengthy, &transfer, false);
   post(&it, &brief, &transfer, false);
   sem_post(&it.gate.open);
   times(&it.over, 3, true);
   assert_int_equal(brief.ran_at, 3);
   assert_int_equal(lengthy.ran_at, 5);
   close_pool(&it);
}

static void cancelling_spares_what_has_run(void **state)
{
   struct host_pool it;
   struct work begun = {.turns = 2}, waiting[3] = {0};
   open_pool(&it, 1);
   post(&it, &begun, &transfer, true);
   take(&it.gate.arrived);
   for (unsigned i = 0; i < 3; i++)
      post(&it, &waiting[i], i ? &call : &transfer, false);
   agx_host_pool_cancel(it.pool);
   times(&it.gate.open, 2, false);
   take(&it.over);
   assert_int_equal(begun.ran_at, 2);
   for (unsigned i = 0; i < 3; i++) {
      assert_true(waiting[i].was_cancelled);
      assert_int_equal(waiting[i].ran_at, 0);
   }
   agx_host_pool_cancel(it.pool);
   close_pool(&it);
}

/* The last reference of a device may go in a job. */
static void a_job_may_destroy_the_pool(void **state)
{
   for (unsigned round = 0; round < 20; round++) {
      struct host_pool it;
      struct work works[4] = {0};
      open_pool(&it, 4);
      for (unsigned i = 0; i < 3; i++)
         post(&it, &works[i], &call, true);
      times(&it.gate.open, 3, false);
      times(&it.over, 3, true);
      works[3].destroys = it.pool;
      post(&it, &works[3], &call, false);
      take(&it.over);
      agx_release(it.owner);
      failing_alloc_await_end(&it.alloc); /* the thread is on its way out */
   }
}

static void memory_may_be_short(void **state)
{
   struct host_pool it;
   struct agx_host_pool *pool;
   open_pool(&it, 4);
   atomic_store(&it.alloc.remaining, 0);
   assert_fails(agx_host_pool_create(it.owner, &it.alloc.alloc, 2, &pool), AGX_RESOURCE_EXHAUSTED,
                "memory");
   assert_null(pool);
   close_pool(&it);
   agx_host_pool_destroy(NULL);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_may_be_refused),
      cmocka_unit_test(threads_come_with_the_work),
      cmocka_unit_test(one_thread_takes_jobs_as_they_came),
      cmocka_unit_test(a_thread_is_left_to_calls),
      cmocka_unit_test(turns_are_taken_in_turn),
      cmocka_unit_test(cancelling_spares_what_has_run),
      cmocka_unit_test(a_job_may_destroy_the_pool),
      cmocka_unit_test(memory_may_be_short),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
