/* SPDX-License-Identifier: MIT
 *
 * agx_semaphore_wait. If each point is reached or on the GPU, the thread waits in the kernel for
 * the timelines of the queues, with one request, and retires by itself what has ended. Else it
 * sleeps until something changes, and the completion thread asks the kernel meanwhile. Points of
 * several devices are waited for through watches.
 */
#include <errno.h>

#include "base/clock.h"
#include "base/util.h"
#include "hal/sync/completion.h"
#include "hal/sync/deferred.h"
#include "hal/sync/notify.h"
#include "hal/sync/points.h"
#include "hal/sync/shared_poll.h"
#include "hal/sync/watch.h"

/* True: the wait is over; a failure decides through *out_failed. */
AGX_SYNC_LOCKED static bool is_over(const struct agx_point *points, uint32_t count, bool any,
                                    const struct agx_semaphore **out_failed)
{
   uint32_t reached = 0;
   const struct agx_semaphore *failed = NULL;
   for (uint32_t i = 0; i < count; i++) {
      const struct agx_semaphore *semaphore = points[i].semaphore;
      if (agx_semaphore_has_reached(semaphore, points[i].value))
         reached++;
      else if (semaphore->failure.status != AGX_OK && !failed)
         failed = semaphore;
   }
   *out_failed = any && reached ? NULL : failed;
   return *out_failed || (any ? reached > 0 : reached == count);
}

/* ---- in the kernel ------------------------------------------------------- */

#define MAX_SHARED 32 /* points of shared semaphores that one thread waits for in the kernel */

struct plan {
   struct agxw_point points[AGX_MAX_QUEUES + MAX_SHARED + 1];
   uint32_t count;
   struct agx_queue *queue; /* whose epoch is the only one; NULL: more is waited for */
};

/* The queues that have not come far enough. Of several points on one queue the nearest one would do
 * for any: its next epoch. */
static bool plan_queues(struct agx_device *device, const struct agx_frontier *frontier, bool any,
                        struct plan *plan)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   for (unsigned i = 0; i < AGX_MAX_QUEUES; i++) {
      struct agx_queue *queue = &sync->queues[i];
      if (frontier->epochs[i] <= queue->retired)
         continue;
      if (queue->is_retiring)
         return false; /* the kernel may have nothing more to say */
      uint64_t epoch = any ? queue->retired + 1 : frontier->epochs[i];
      plan->points[plan->count++] = (struct agxw_point){queue->timeline, epoch};
      plan->queue = plan->count == 1 ? queue : NULL;
   }
   return plan->count > 0;
}

/* Where a value is signalled several times, and it is not known in which order they come true, each
 * of them would do. True: there are several. */
static bool merge_frontiers(const struct agx_semaphore *semaphore, const struct agx_signal *first,
                            struct agx_frontier *frontier)
{
   agx_frontier_merge(frontier, &first->submission->frontier);
   const struct agx_link *at = first->link.next;
   if (!semaphore->is_disordered || at == &semaphore->pending)
      return false;
   for (; at != &semaphore->pending; at = at->next)
      agx_frontier_merge(
         frontier, &agx_container_of(at, const struct agx_signal, link)->submission->frontier);
   return true;
}

/* What to wait for in the kernel (all: the first of it), and the interrupt. False: something
 * else must happen first. */
AGX_SYNC_LOCKED static bool make_plan(const struct agx_point *points, uint32_t count, bool any,
                                      struct plan *plan)
{
   struct agx_device *device = points[0].semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_frontier frontier = {0};
   bool any_does = any && count > 1;
   plan->count = 0;
   plan->queue = NULL;
   if (sync->lacks_memory)
      return false; /* the completion thread asks again soon */
   for (uint32_t i = 0; i < count; i++) {
      const struct agx_semaphore *semaphore = points[i].semaphore;
      if (semaphore->value >= points[i].value)
         continue;
      struct agx_cause cause;
      enum agx_readiness readiness = agx_point_resolve(&points[i], &cause);
      if (cause.signal)
         any_does |= merge_frontiers(semaphore, cause.signal, &frontier);
      if (readiness == AGX_READY)
         continue;
      if (readiness == AGX_WAIT_FAILED || !semaphore->shared || plan->count == MAX_SHARED)
         return false;
      plan->points[plan->count++] = (struct agxw_point){semaphore->shared, points[i].value};
   }
   if (!plan_queues(device, &frontier, any_does, plan))
      return false;
   if (!any && !any_does && plan->count > 1) {
      plan->count = 1;
      plan->queue = NULL; /* rather ask than know which one it was */
   }
   plan->points[plan->count++] = (struct agxw_point){sync->interrupt, sync->interrupt_value + 1};
   return true;
}

static void count_waiters(const struct agx_point *points, uint32_t count, int32_t change)
{
   for (uint32_t i = 0; i < count; i++)
      points[i].semaphore->kernel_waiters += (uint32_t)change;
}

/* The lock is let go of meanwhile. */
AGX_SYNC_LOCKED static agx_status wait_in_kernel_unlocking(struct agx_device *device,
                                                           const struct agx_point *points,
                                                           uint32_t count, const struct plan *plan,
                                                           int64_t deadline_ns)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   uint64_t interrupts = sync->interrupt_value;
   count_waiters(points, count, 1);
   sync->in_kernel++;
   agx_sync_unlock(sync);
   agx_status status =
      agxw_wait(agx_context_of(device)->winsys, plan->points, plan->count, true, deadline_ns);
   agx_sync_lock(sync);
   sync->in_kernel--;
   count_waiters(points, count, -1);
   if (status == AGX_RESOURCE_EXHAUSTED)
      return status;
   if (status != AGX_OK && status != AGX_DEADLINE_EXCEEDED) {
      agx_device_lose_unlocking(device, status);
      return AGX_OK; /* which the points know by now */
   }
   /* With one queue and no interrupt, that the request came back says how far the queue is. */
   if (status == AGX_DEADLINE_EXCEEDED || !plan->queue || interrupts != sync->interrupt_value)
      return agx_device_poll_unlocking(device);
   agx_queue_retire_unlocking(plan->queue, plan->points[0].value);
   return AGX_OK;
}

/* ---- asleep --------------------------------------------------------------- */

AGX_SYNC_LOCKED static void sleep_until_unlocking(struct agx_device *device, int64_t deadline_ns)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   const struct timespec deadline = agx_timespec(deadline_ns);
   sync->sleepers++;
   agx_device_wake(device);
   if (deadline_ns == AGX_DEADLINE_NEVER)
      pthread_cond_wait(&sync->changed, &sync->lock);
   else
      pthread_cond_timedwait(&sync->changed, &sync->lock, &deadline);
   sync->sleepers--;
}

static bool has_passed(int64_t deadline_ns)
{
   if (deadline_ns == AGX_DEADLINE_NEVER)
      return false;
   return deadline_ns <= 0 || agx_now_ns() >= deadline_ns;
}

static agx_status out_of_time(const struct agx_point *points, uint32_t count)
{
   for (uint32_t i = 0; i < count; i++)
      if (points[i].semaphore->value < points[i].value)
         return AGX_FAIL(AGX_DEADLINE_EXCEEDED, "%s at %llu, waited for %llu",
                         points[i].semaphore->label, (unsigned long long)points[i].semaphore->value,
                         (unsigned long long)points[i].value);
   return AGX_FAIL(AGX_DEADLINE_EXCEEDED, "semaphore: out of time");
}

/* Says of a wait that did not begin before its deadline how late it was: applications give
 * durations by mistake. A deadline of 0 asks without waiting, which is no mistake. */
static void tell_late(int64_t deadline_ns)
{
   const int64_t late_us = (agx_now_ns() - deadline_ns) / 1000;
   if (deadline_ns > 0) /* in integers: the caller may trap inexact floats */
      agx_error_prefix("wait: the deadline, a time of CLOCK_MONOTONIC, was %lld.%06lld s before "
                       "the wait",
                       (long long)(late_us / 1000000), (long long)(late_us % 1000000));
}

AGX_SYNC_LOCKED static agx_status
last_poll_unlocking(struct agx_device *device, const struct agx_point *points, uint32_t count)
{
   for (uint32_t i = 0; i < count; i++)
      agx_shared_poll_first(points[i].semaphore);
   return agx_device_poll_unlocking(device);
}

/* Points of one device. */
static agx_status wait_on(struct agx_device *device, const struct agx_point *points, uint32_t count,
                          bool any, int64_t deadline_ns)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   const struct agx_semaphore *failed = NULL;
   agx_status status = AGX_OK;
   bool is_last = false;    /* the deadline has passed, this is the last poll */
   bool has_waited = false; /* the deadline was not in the past */
   agx_sync_lock(sync);
   while (!is_over(points, count, any, &failed)) {
      struct plan plan;
      if (agx_device_has_deferred_work(device)) { /* other threads must not wait as long */
         agx_device_unlock_and_run_deferred(device);
         agx_sync_lock(sync);
         if (is_over(points, count, any, &failed))
            break;
      }
      if (is_last) {
         status = out_of_time(points, count);
         if (!has_waited)
            tell_late(deadline_ns);
         break;
      }
      is_last = has_passed(deadline_ns);
      has_waited |= !is_last;
      if (is_last)
         status = last_poll_unlocking(device, points, count);
      else if (make_plan(points, count, any, &plan))
         status = wait_in_kernel_unlocking(device, points, count, &plan, deadline_ns);
      else
         sleep_until_unlocking(device, deadline_ns);
      if (status != AGX_OK)
         break;
   }
   if (failed)
      status = agx_failure_raise(&failed->failure);
   agx_device_unlock_and_run_deferred(device);
   return status;
}

/* ---- several devices ------------------------------------------------------ */

/* Wakes one thread that waits for several devices: when so many values are reached, or one can't be
 * any more. */
struct multi_wait {
   pthread_mutex_t lock;
   pthread_cond_t all_reached;
   uint32_t left;
};

static void multi_wait_reached(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct multi_wait *multi_wait = watch->user;
   pthread_mutex_lock(&multi_wait->lock);
   multi_wait->left = status == AGX_OK && multi_wait->left ? multi_wait->left - 1 : 0;
   if (multi_wait->left == 0)
      pthread_cond_signal(&multi_wait->all_reached);
   pthread_mutex_unlock(&multi_wait->lock);
}

static void sleep_in_multi_wait(struct multi_wait *multi_wait, int64_t deadline_ns)
{
   const struct timespec deadline = agx_timespec(deadline_ns);
   int error = 0;
   pthread_mutex_lock(&multi_wait->lock);
   while (multi_wait->left && error != ETIMEDOUT)
      error = deadline_ns == AGX_DEADLINE_NEVER
                 ? pthread_cond_wait(&multi_wait->all_reached, &multi_wait->lock)
                 : pthread_cond_timedwait(&multi_wait->all_reached, &multi_wait->lock, &deadline);
   pthread_mutex_unlock(&multi_wait->lock);
}

/* How it stands now. A failure is asked for once more where other points were asked after it, so
 * that its text is the thread's last. */
static agx_status query_each(const struct agx_point *points, uint32_t count, bool any)
{
   const struct agx_point *failed = NULL;
   uint32_t reached = 0;
   agx_status status = AGX_OK;
   for (uint32_t i = 0; i < count; i++) {
      agx_status one = wait_on(points[i].semaphore->device, &points[i], 1, false, 0);
      if (one == AGX_OK && any)
         return AGX_OK;
      reached += one == AGX_OK;
      if (one != AGX_OK && one != AGX_DEADLINE_EXCEEDED && !failed)
         failed = &points[i];
      status = one != AGX_OK ? one : status;
   }
   if (failed)
      return wait_on(failed->semaphore->device, failed, 1, false, 0);
   return reached == count ? AGX_OK : status;
}

/* A watch on each, then a query of each. */
static agx_status wait_on_several(const struct agx_point *points, uint32_t count, bool any,
                                  int64_t deadline_ns)
{
   const struct agx_host_alloc *alloc = agx_context_of(points[0].semaphore->device)->alloc;
   struct multi_wait multi_wait = {.lock = PTHREAD_MUTEX_INITIALIZER, .left = any ? 1 : count};
   agx_status status = query_each(points, count, any);
   if (status != AGX_DEADLINE_EXCEEDED)
      return status;
   if (has_passed(deadline_ns)) {
      tell_late(deadline_ns);
      return status;
   }
   struct agx_watch *watches = agx_host_zalloc(alloc, count * sizeof(*watches));
   if (!watches)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "wait: out of host memory for %u points", count);
   agx_cond_init(&multi_wait.all_reached);
   for (uint32_t i = 0; i < count; i++) {
      watches[i] = (struct agx_watch){
         .value = points[i].value, .fn = multi_wait_reached, .user = &multi_wait};
      (void)!agx_semaphore_watch(points[i].semaphore, &watches[i]);
   }
   sleep_in_multi_wait(&multi_wait, deadline_ns);
   for (uint32_t i = 0; i < count; i++)
      agx_semaphore_unwatch(points[i].semaphore, &watches[i]);
   pthread_cond_destroy(&multi_wait.all_reached);
   agx_host_free(alloc, watches, count * sizeof(*watches));
   return query_each(points, count, any);
}

agx_status agx_semaphore_wait(const struct agx_point *points, uint32_t count, bool any,
                              int64_t deadline_ns)
{
   bool is_mixed = false;
   if (count && !points)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "wait: %u points at NULL", count);
   for (uint32_t i = 0; i < count; i++) {
      if (!points[i].semaphore)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "wait: semaphore of point %u is NULL", i);
      AGX_TRY(agx_fork_check(points[i].semaphore));
      is_mixed |= points[i].semaphore->device != points[0].semaphore->device;
   }
   if (count == 0)
      return AGX_OK;
   deadline_ns = AGX_MAX(deadline_ns, 0); /* a time before the clock began has passed, too */
   struct agx_device *device = points[0].semaphore->device;
   uint64_t start_ns = agx_profile_host_begin(device); /* of several: the first one's session */
   agx_status status = is_mixed ? wait_on_several(points, count, any, deadline_ns)
                                : wait_on(device, points, count, any, deadline_ns);
   agx_profile_host_end(device, "wait", NULL, start_ns);
   return status;
}
