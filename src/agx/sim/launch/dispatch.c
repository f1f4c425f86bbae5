/* SPDX-License-Identifier: MIT
 *
 * A pool of threads, each with a worker, which take the workgroups of a launch one after
 * the other. launch.c runs each launch through it.
 */
#include "agx/sim/launch/launch_impl.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agx/sim/check/profile.h"
#include "base/thread.h"
#include "base/util.h"

#define MAX_THREADS 64u
/* SIMD-groups from which on waking other threads pays. */
#define PARALLEL_GROUPS 32u
#define MAX_TEXT        512

struct helper {
   struct agxs_pool *pool;
   struct agxs_worker worker;
   pthread_t thread;
   bool is_started;
};

struct agxs_pool {
   const struct agxs_memory *memory;
   uint32_t thread_count, helper_count; /* helper_count: started, besides the caller */
   struct agxs_worker own;
   struct helper *helpers;
   pthread_mutex_t mutex;
   pthread_cond_t wake, idle;
   /* Under mutex. */
   uint64_t job; /* number of the launch that helpers are to work on */
   uint32_t busy;
   bool quit;
   const struct agxs_dispatch *dispatch;
   uint64_t failed_at; /* workgroup; UINT64_MAX: none */
   agx_status status;
   char text[MAX_TEXT];
   /* Shared without it. */
   _Atomic uint64_t next;
   atomic_bool stop;
   uint64_t total;
   uint32_t counts[3];
};

/* Those that this process may use; sysconf would read a file each time, and POSIX has no other way.
 */
static uint32_t count_processors(void)
{
#ifdef CPU_COUNT
   cpu_set_t set;
   CPU_ZERO(&set);
   return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
#else
   long count = sysconf(_SC_NPROCESSORS_ONLN);
   return count > 0 ? (uint32_t)count : 1;
#endif
}

agx_status agxs_pool_create(const struct agxs_memory *memory, uint32_t thread_count,
                            struct agxs_pool **out_pool)
{
   *out_pool = NULL;
   struct agxs_pool *pool = calloc(1, sizeof(*pool));
   if (!pool)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "simulator: out of memory");
   pool->memory = memory;
   pool->thread_count = thread_count ? thread_count : count_processors();
   pool->thread_count = AGX_MIN(pool->thread_count, MAX_THREADS);
   pthread_mutex_init(&pool->mutex, NULL);
   pthread_cond_init(&pool->wake, NULL);
   pthread_cond_init(&pool->idle, NULL);
   agx_status status = agxs_worker_init(&pool->own, memory);
   if (status == AGX_OK)
      *out_pool = pool;
   else
      agxs_pool_destroy(pool);
   return status;
}

void agxs_pool_destroy(struct agxs_pool *pool)
{
   if (!pool)
      return;
   pthread_mutex_lock(&pool->mutex);
   pool->quit = true;
   pthread_cond_broadcast(&pool->wake);
   pthread_mutex_unlock(&pool->mutex);
   for (uint32_t i = 0; i < pool->helper_count; i++) {
      pthread_join(pool->helpers[i].thread, NULL);
      agxs_worker_fini(&pool->helpers[i].worker);
   }
   agxs_worker_fini(&pool->own);
   free(pool->helpers);
   pthread_cond_destroy(&pool->idle);
   pthread_cond_destroy(&pool->wake);
   pthread_mutex_destroy(&pool->mutex);
   free(pool);
}

struct agxs_worker *agxs_pool_worker(struct agxs_pool *pool)
{
   return &pool->own;
}

static void note_failure(struct agxs_pool *pool, uint64_t workgroup, agx_status status)
{
   pthread_mutex_lock(&pool->mutex);
   if (workgroup < pool->failed_at) {
      pool->failed_at = workgroup;
      pool->status = status;
      agx_error_text(pool->text, sizeof(pool->text));
   }
   pthread_mutex_unlock(&pool->mutex);
   atomic_store_explicit(&pool->stop, true, memory_order_relaxed);
}

/* Takes workgroups until none is left. One that was taken is finished even after
 * another failed, so that the lowest failure is always found. */
static void work(struct agxs_pool *pool, struct agxs_worker *worker,
                 const struct agxs_dispatch *dispatch)
{
   agx_status status = agxs_worker_begin(worker, dispatch);
   if (status != AGX_OK)
      note_failure(pool, 0, status);
   while (!atomic_load_explicit(&pool->stop, memory_order_relaxed)) {
      uint64_t index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
      if (index >= pool->total)
         break;
      uint64_t above = index / pool->counts[0];
      uint32_t workgroup[3] = {
         (uint32_t)(index % pool->counts[0]),
         (uint32_t)(above % pool->counts[1]),
         (uint32_t)(above / pool->counts[1]),
      };
      status = agxs_worker_run(worker, workgroup);
      if (status != AGX_OK)
         note_failure(pool, index, status);
   }
}

static void *helper_main(void *user)
{
   struct helper *helper = user;
   struct agxs_pool *pool = helper->pool;
   uint64_t done = 0;
   pthread_mutex_lock(&pool->mutex);
   for (;;) {
      while (!pool->quit && pool->job == done)
         pthread_cond_wait(&pool->wake, &pool->mutex);
      if (pool->quit)
         break;
      done = pool->job;
      const struct agxs_dispatch *dispatch = pool->dispatch;
      pthread_mutex_unlock(&pool->mutex);
      work(pool, &helper->worker, dispatch);
      pthread_mutex_lock(&pool->mutex);
      if (--pool->busy == 0)
         pthread_cond_signal(&pool->idle);
   }
   pthread_mutex_unlock(&pool->mutex);
   return NULL;
}

/* Fewer threads than wanted are no failure: the caller works anyway. */
static void start_helpers(struct agxs_pool *pool)
{
   if (pool->helpers || pool->thread_count < 2)
      return;
   pool->helpers = calloc(pool->thread_count - 1, sizeof(*pool->helpers));
   if (!pool->helpers)
      return;
   for (uint32_t i = 0; i + 1 < pool->thread_count; i++) {
      struct helper *helper = &pool->helpers[i];
      helper->pool = pool;
      if (agxs_worker_init(&helper->worker, pool->memory) != AGX_OK)
         return;
      if (agx_thread_start(&helper->thread, NULL, helper_main, helper) != 0) {
         agxs_worker_fini(&helper->worker);
         return;
      }
      pool->helper_count++;
   }
}

agx_status agxs_pool_run(struct agxs_pool *pool, const struct agxs_dispatch *dispatch)
{
   pool->total = 1;
   for (unsigned axis = 0; axis < 3; axis++) {
      pool->counts[axis] = (uint32_t)agx_div_up(dispatch->grid[axis], dispatch->local[axis]);
      if (__builtin_mul_overflow(pool->total, pool->counts[axis], &pool->total))
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch %u: more than 2^64 workgroups",
                         dispatch->index);
   }
   uint64_t threads = (uint64_t)dispatch->local[0] * dispatch->local[1] * dispatch->local[2];
   bool is_parallel = pool->total > 1 &&
                      agx_div_up(threads, AGXS_LANES) >= agx_div_up(PARALLEL_GROUPS, pool->total);
   if (is_parallel)
      start_helpers(pool);
   atomic_store(&pool->next, 0);
   atomic_store(&pool->stop, false);
   pthread_mutex_lock(&pool->mutex);
   pool->failed_at = UINT64_MAX;
   pool->dispatch = dispatch;
   if (is_parallel && pool->helper_count) {
      pool->job++;
      pool->busy = pool->helper_count;
      pthread_cond_broadcast(&pool->wake);
   }
   pthread_mutex_unlock(&pool->mutex);
   work(pool, &pool->own, dispatch);
   pthread_mutex_lock(&pool->mutex);
   while (pool->busy)
      pthread_cond_wait(&pool->idle, &pool->mutex);
   pthread_mutex_unlock(&pool->mutex);
   for (uint32_t i = 0; i < pool->helper_count; i++)
      agxs_profile_merge(&pool->own, &pool->helpers[i].worker);
   if (pool->failed_at != UINT64_MAX)
      return AGX_FAIL(pool->status, "%s", pool->text);
   return AGX_OK;
}

void agxs_stats_add(struct agxs_stats *sum, const struct agxs_stats *more)
{
   sum->workgroups += more->workgroups;
   sum->simd_groups += more->simd_groups;
   sum->threads += more->threads;
   sum->instructions += more->instructions;
   sum->soft_faults += more->soft_faults;
   sum->outside += more->outside;
   for (unsigned i = 0; i < AGXS_UNITS; i++)
      sum->unit_instructions[i] += more->unit_instructions[i];
}

void agxs_pool_stats(const struct agxs_pool *pool, struct agxs_stats *stats)
{
   agxs_stats_add(stats, &pool->own.stats);
   for (uint32_t i = 0; i < pool->helper_count; i++)
      agxs_stats_add(stats, &pool->helpers[i].worker.stats);
}
