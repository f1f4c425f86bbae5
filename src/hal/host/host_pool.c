/* SPDX-License-Identifier: MIT
 *
 * A job's end may drop the last reference of its device, whose destruction then runs on the
 * pool's own thread: the pool outlives the device until that thread has left (references).
 */
#include "hal/host/host_pool.h"

#include "base/thread.h"
#include "base/util.h"
#include "hal/host/state.h"

/* The pool's lock, as attributes name it. */
extern struct agx_lock_class agx_host_pool_lock_class;
#define LOCKED AGX_REQUIRES(agx_host_pool_lock_class)

AGX_ACQUIRES(agx_host_pool_lock_class) AGX_TRUSTED static void lock(struct agx_host_pool *pool)
{
   pthread_mutex_lock(&pool->lock);
}

AGX_RELEASES(agx_host_pool_lock_class) AGX_TRUSTED static void unlock(struct agx_host_pool *pool)
{
   pthread_mutex_unlock(&pool->lock);
}

static void drop_reference(struct agx_host_pool *pool)
{
   if (atomic_fetch_sub_explicit(&pool->references, 1, memory_order_acq_rel) != 1)
      return;
   void *owner = pool->owner;
   pthread_cond_destroy(&pool->work);
   pthread_mutex_destroy(&pool->lock);
   agx_host_free(pool->alloc, pool, sizeof(*pool));
   agx_release(owner);
}

/* ---- jobs ------------------------------------------------------------- */

static enum agx_host_lane lane_of(const struct agx_host_job *job)
{
   return job->type->is_transfer ? AGX_HOST_TRANSFERS : AGX_HOST_CALLS;
}

LOCKED static void append(struct agx_host_pool *pool, struct agx_host_job *job)
{
   job->ticket = ++pool->ticket;
   agx_list_append(&pool->lanes[lane_of(job)], &job->link);
   pool->waiting++;
}

LOCKED static struct agx_host_job *first(struct agx_host_pool *pool, enum agx_host_lane lane)
{
   struct agx_link *head = &pool->lanes[lane];
   return agx_list_empty(head) ? NULL : agx_container_of(head->next, struct agx_host_job, link);
}

/* The job that waited longest among those that may run; NULL: none. */
LOCKED static struct agx_host_job *remove_next(struct agx_host_pool *pool)
{
   bool may_transfer = pool->running[AGX_HOST_TRANSFERS] < AGX_MAX(1, pool->thread_limit - 1);
   struct agx_host_job *call = first(pool, AGX_HOST_CALLS);
   struct agx_host_job *job = may_transfer ? first(pool, AGX_HOST_TRANSFERS) : NULL;
   if (!job || (call && call->ticket < job->ticket))
      job = call;
   if (!job)
      return NULL;
   agx_list_remove(&job->link);
   pool->waiting--;
   return job;
}

/* With the lock held, which is let go of meanwhile. */
LOCKED static void run_unlocking(struct agx_host_pool *pool, struct agx_host_job *job)
{
   enum agx_host_lane lane = lane_of(job);
   job->has_run = true;
   pool->running[lane]++;
   unlock(pool);
   bool again = job->type->run(job);
   lock(pool);
   pool->running[lane]--;
   if (again)
      append(pool, job);
}

static _Thread_local bool is_here;

bool agx_host_pool_is_here(void)
{
   return is_here;
}

void agx_host_pool_leave(void)
{
   is_here = false;
}

static void *work(void *user)
{
   struct agx_host_pool *pool = user;
   is_here = true;
   lock(pool);
   for (;;) {
      struct agx_host_job *job = remove_next(pool);
      if (job) {
         run_unlocking(pool, job);
         continue;
      }
      if (pool->stop)
         break;
      pool->idle++;
      pthread_cond_wait(&pool->work, &pool->lock);
      pool->idle--;
   }
   unlock(pool);
   drop_reference(pool);
   return NULL;
}

/* One thread more when the idle ones have enough to do. Returns 0 or an error number. */
LOCKED static int grow(struct agx_host_pool *pool)
{
   if (pool->waiting <= pool->idle || pool->thread_count == pool->thread_limit)
      return 0;
   atomic_fetch_add_explicit(&pool->references, 1, memory_order_relaxed);
   int error = agx_thread_start(&pool->threads[pool->thread_count], NULL, work, pool);
   if (error)
      atomic_fetch_sub_explicit(&pool->references, 1, memory_order_relaxed);
   else
      pool->thread_count++;
   return error;
}

agx_status agx_host_pool_post(struct agx_host_pool *pool, struct agx_host_job *job)
{
   job->has_run = false;
   lock(pool);
   append(pool, job);
   int error = grow(pool);
   bool has_no_thread = error && pool->thread_count == 0;
   if (has_no_thread) {
      agx_list_remove(&job->link);
      pool->waiting--;
   }
   pthread_cond_signal(&pool->work);
   unlock(pool);
   if (!has_no_thread)
      return AGX_OK;
   (void)!agx_status_fail_errno(error, "device: a thread for work on the host");
   return AGX_RESOURCE_EXHAUSTED;
}

void agx_host_pool_cancel(struct agx_host_pool *pool)
{
   struct agx_link cancelled;
   agx_list_init(&cancelled);
   lock(pool);
   for (unsigned lane = 0; lane < AGX_HOST_LANES; lane++) {
      agx_list_for_each_safe (struct agx_host_job, job, &pool->lanes[lane], link) {
         if (job->has_run)
            continue;
         agx_list_remove(&job->link);
         agx_list_append(&cancelled, &job->link);
         pool->waiting--;
      }
   }
   unlock(pool);
   while (!agx_list_empty(&cancelled)) {
      struct agx_host_job *job = agx_container_of(cancelled.next, struct agx_host_job, link);
      agx_list_remove(&job->link);
      job->type->cancel(job);
   }
}

/* ---- lifetime --------------------------------------------------------- */

agx_status agx_host_pool_create(void *owner, const struct agx_host_alloc *alloc,
                                uint32_t thread_limit, struct agx_host_pool **out_pool)
{
   struct agx_host_pool *pool = agx_host_zalloc(alloc, sizeof(*pool));
   *out_pool = pool;
   if (!pool)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "device: out of host memory");
   agx_retain(owner);
   pool->owner = owner;
   pool->alloc = alloc;
   pool->thread_limit = AGX_MIN(AGX_MAX(thread_limit, 1), AGX_HOST_THREADS);
   atomic_init(&pool->references, 1);
   pthread_mutex_init(&pool->lock, NULL);
   pthread_cond_init(&pool->work, NULL);
   for (unsigned lane = 0; lane < AGX_HOST_LANES; lane++)
      agx_list_init(&pool->lanes[lane]);
   return AGX_OK;
}

void agx_host_pool_destroy(struct agx_host_pool *pool)
{
   if (!pool)
      return;
   lock(pool);
   agx_assert(pool->waiting == 0);
   pool->stop = true;
   pthread_cond_broadcast(&pool->work);
   unlock(pool);
   for (uint32_t i = 0; i < pool->thread_count; i++) {
      if (pthread_equal(pool->threads[i], pthread_self()))
         pthread_detach(pool->threads[i]);
      else
         pthread_join(pool->threads[i], NULL);
   }
   drop_reference(pool);
}

/* ---- the room's state -------------------------------------------------- */

agx_status agx_host_state_init(struct agx_device *device, void *owner)
{
   struct agx_host_state *host = agx_host_of(device);
   AGX_TRY(
      agx_host_pool_create(owner, agx_context_of(device)->alloc, AGX_HOST_THREADS, &host->pool));
   agx_host_calls_init(&host->calls);
   return AGX_OK;
}

void agx_host_state_fini(struct agx_device *device)
{
   struct agx_host_state *host = agx_host_of(device);
   if (!host->pool)
      return;
   agx_host_pool_destroy(host->pool);
   agx_host_calls_fini(&host->calls, agx_context_of(device)->alloc);
}
