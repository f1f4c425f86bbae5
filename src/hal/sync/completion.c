/* SPDX-License-Identifier: MIT
 *
 * The ends of submissions on the GPU: how far the kernel is, how each submission came out, and
 * what is lost with one that failed. Threads that wait in the kernel retire by themselves
 * (wait.c). The completion thread, agx_device_work, does so for threads that sleep, for watches
 * and for parked submissions, and some time after the last submission when no thread asks.
 */
#include <errno.h>

#include "base/clock.h"
#include "base/debug.h"
#include "base/util.h"
#include "hal/sync/fault.h"
#include "hal/sync/notify.h"
#include "hal/sync/completion.h"
#include "hal/sync/deferred.h"
#include "hal/sync/import.h"
#include "hal/sync/points.h"
#include "hal/sync/queue.h"
#include "hal/sync/schedule.h"
#include "hal/sync/shared_poll.h"

/* ---- how it came out ------------------------------------------------------ */

/* Its breadcrumb's launch is a command by itself then: that it ran says nothing of the other
 * commands. */
static bool is_cut(const struct agx_submission *submission)
{
   uint64_t first_va, last_va;
   return submission->profile &&
          agx_profile_entry_streams(submission->profile, &first_va, &last_va) &&
          first_va != last_va;
}

/* By the submission's count of its command buffer's breadcrumb (breadcrumb.h). */
static bool breadcrumb_tells_success(const struct agx_submission *submission)
{
   const struct agx_breadcrumb *breadcrumb = agx_command_buffer_breadcrumb(submission->commands);
   if (agx_context_of(submission->device)->debug & AGX_DEBUG_TRUST)
      return true;
   return breadcrumb && !is_cut(submission) &&
          agx_breadcrumb_tells_success(breadcrumb, submission->count);
}

/* Where the breadcrumb says nothing: two requests. */
static agx_status query_fence(const struct agx_submission *submission, int *out_error)
{
   const struct agxw_point point = {submission->fence, submission->fence_value};
   return agxw_point_error(&point, out_error);
}

/* Unless it has failed before. The lock is let go of while the kernel is asked. */
AGX_SYNC_LOCKED static void query_outcome_unlocking(const struct agx_submission *submission,
                                                    struct agx_failure *failure)
{
   struct agx_sync_state *sync = agx_sync_of(submission->device);
   if (submission->state == AGX_SUBMISSION_LOST || failure->status != AGX_OK) {
      agx_fault_forget(submission);
      return;
   }
   if (breadcrumb_tells_success(submission))
      return;
   int error;
   agx_sync_unlock(sync);
   agx_status status = query_fence(submission, &error);
   agx_fault_describe(submission, status, error, failure);
   agx_sync_lock(sync);
}

/* ---- loss ----------------------------------------------------------------- */

/* The submissions of one of the device's lists are to end with the failure, unless they are to end
 * with another one. Those that a thread is starting just now end so if they would be parked. */
AGX_SYNC_LOCKED static void mark_failed(struct agx_device *device, enum agx_submission_list list,
                                        const struct agx_queue *queue,
                                        const struct agx_failure *failure)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_list_for_each_safe (struct agx_submission, submission, &sync->submission_lists[list], link) {
      if ((queue && submission->queue != queue) || submission->failure.status != AGX_OK)
         continue;
      submission->failure = *failure;
      if (list == AGX_LIST_STARTING)
         continue;
      for (uint32_t i = 0; i < submission->wait_count; i++)
         agx_list_remove(&submission->waits[i].link);
      agx_submission_move(submission, submission->state, AGX_SUBMISSION_FAILING);
   }
}

void agx_submissions_fail_parked(struct agx_device *device, const struct agx_queue *queue,
                                 const struct agx_failure *failure)
{
   mark_failed(device, AGX_LIST_STARTING, queue, failure);
   mark_failed(device, AGX_LIST_UNBLOCKED, queue, failure);
   mark_failed(device, AGX_LIST_PARKED, queue, failure);
   mark_failed(device, AGX_LIST_DEFERRED, queue, failure);
}

AGX_SYNC_LOCKED static void lose_queue(struct agx_queue *queue, const struct agx_failure *failure)
{
   if (queue->lost.status != AGX_OK)
      return;
   queue->lost = *failure;
   if (queue->retired < queue->epoch)
      agx_queue_note_failed(queue, queue->retired + 1, queue->epoch, failure);
   agx_list_for_each (struct agx_submission, submission, &queue->in_flight, link) {
      if (submission->epoch <= queue->retired)
         continue; /* retire_one() ends it, with a failure of its own */
      agx_submission_note_end(submission, &queue->lost);
      agx_submission_signal_all(submission, &queue->lost);
      agx_submission_move(submission, AGX_SUBMISSION_IN_FLIGHT, AGX_SUBMISSION_LOST);
   }
   agx_submissions_fail_parked(queue->device, queue, &queue->lost);
}

/* What takes a queue away: all but being stopped by the fault of another one, and that there was no
 * memory or descriptor to ask with. */
static bool is_fatal(agx_status status)
{
   return status != AGX_OK && status != AGX_ABORTED && status != AGX_RESOURCE_EXHAUSTED;
}

void agx_device_lose_unlocking(struct agx_device *device, agx_status status)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_failure_keep(&sync->lost, status);
   for (unsigned i = 0; i < sync->queue_count; i++)
      lose_queue(&sync->queues[i], &sync->lost);
   for (unsigned i = 0; i < sync->queue_count; i++)
      agx_queue_retire_unlocking(&sync->queues[i], sync->queues[i].epoch);
   agx_submissions_fail_parked(device, NULL, &sync->lost);
   pthread_cond_broadcast(&sync->changed);
   agx_device_interrupt(device);
}

/* ---- retiring ------------------------------------------------------------- */

AGX_SYNC_LOCKED static void retire_one(struct agx_submission *submission,
                                       const struct agx_failure *failure)
{
   struct agx_queue *queue = submission->queue;
   struct agx_sync_state *sync = agx_sync_of(queue->device);
   sync->is_retiring = true;
   queue->retired = submission->epoch;
   agx_breadcrumb_end(&submission->commands->breadcrumb, submission->count,
                      submission->state == AGX_SUBMISSION_LOST || failure->status != AGX_OK);
   const struct agx_failure *waited = agx_submission_failed_wait(submission);
   if (failure->status != AGX_OK)
      agx_queue_note_failed(queue, submission->epoch, submission->epoch, failure);
   if (is_fatal(failure->status))
      lose_queue(queue, failure);
   if (failure->status == AGX_UNAVAILABLE && sync->lost.status == AGX_OK) {
      sync->lost = *failure;
      sync->is_gone = true;
   }
   agx_submission_end(submission, failure->status != AGX_OK ? failure : waited);
   sync->is_retiring = false;
}

/* Those whose epoch has been retired. */
AGX_SYNC_LOCKED static void end_frontier_waiters(struct agx_queue *queue)
{
   struct agx_sync_state *sync = agx_sync_of(queue->device);
   sync->is_retiring = true;
   while (!agx_list_empty(&queue->frontier_waiters)) {
      struct agx_submission *submission =
         agx_container_of(queue->frontier_waiters.next, struct agx_submission, link);
      if (submission->frontier.epochs[queue->index] > queue->retired)
         break;
      agx_submission_wait_for_frontier(submission);
   }
   sync->is_retiring = false;
}

/* Until another thread has retired the epoch, or stops retiring. That thread may wait for what this
 * one has retired so far. */
AGX_SYNC_LOCKED static void await_retirer_unlocking(struct agx_queue *queue, uint64_t epoch)
{
   struct agx_sync_state *sync = agx_sync_of(queue->device);
   if (sync->sleepers)
      pthread_cond_broadcast(&sync->changed);
   while (queue->is_retiring && queue->retired < epoch) {
      sync->sleepers++;
      pthread_cond_wait(&sync->changed, &sync->lock);
      sync->sleepers--;
   }
}

AGX_SYNC_LOCKED static void retire_until_unlocking(struct agx_queue *queue, uint64_t limit);

static bool has_unretired(const struct agx_queue *queue)
{
   return !queue->is_retiring && queue->retired < queue->reached;
}

/* What the kernel waited for on other queues ends before: else a failure there would come too late
 * for the submissions that waited for it. Asks, as what was cancelled has waited for nothing; fails
 * when that can't be asked, since the answer is unknown then. Goes no further on the other queue,
 * nor sleeps for more: all that was submitted before, and waits for nothing that is retired now.
 * The lock is let go of meanwhile. */
AGX_SYNC_LOCKED static agx_status retire_waited_unlocking(struct agx_device *device,
                                                          const struct agx_frontier *waited)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_status status = AGX_OK;
   for (unsigned i = 0; i < sync->queue_count; i++) {
      struct agx_queue *other = &sync->queues[i];
      uint64_t epoch = waited->epochs[i], reached = other->reached;
      if (epoch <= other->retired)
         continue;
      if (epoch > reached) {
         agx_sync_unlock(sync);
         status = agxw_timeline_query(other->timeline, &reached);
         agx_sync_lock(sync);
      }
      if (status != AGX_OK)
         return status;
      epoch = AGX_MIN(epoch, reached);
      other->reached = AGX_MAX(other->reached, epoch);
      while (other->retired < epoch) {
         if (other->is_retiring)
            await_retirer_unlocking(other, epoch);
         else
            retire_until_unlocking(other, epoch);
      }
   }
   return AGX_OK;
}

AGX_SYNC_LOCKED static void retire_until_unlocking(struct agx_queue *queue, uint64_t limit)
{
   struct agx_device *device = queue->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   queue->is_retiring = true;
   while (queue->retired < AGX_MIN(limit, queue->reached)) {
      struct agx_submission *submission =
         agx_container_of(queue->in_flight.next, struct agx_submission, link);
      struct agx_failure failure;
      failure.status = AGX_OK; /* its text is long, and rarely needed */
      agx_failure_keep(&failure, retire_waited_unlocking(device, &submission->waited));
      if (submission->has_imports)
         agx_failure_keep(&failure, agx_imports_poll_unlocking(submission));
      query_outcome_unlocking(submission, &failure);
      retire_one(submission, &failure);
      end_frontier_waiters(queue); /* the next one may wait for them, and they may fail */
   }
   queue->is_retiring = false;
   agx_device_retry_locked(device); /* memory may be free now */
   if (sync->sleepers)
      pthread_cond_broadcast(&sync->changed);
}

void agx_queue_retire_unlocking(struct agx_queue *queue, uint64_t reached)
{
   struct agx_device *device = queue->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   /* The GPU may be done with what its submitter has not put into the list yet. */
   queue->reached = AGX_MAX(queue->reached, AGX_MIN(reached, queue->epoch));
   /* Queues that were retired because another one waited for them have come further meanwhile. */
   for (unsigned i = 0; i < sync->queue_count;) {
      if (!has_unretired(&sync->queues[i])) {
         i++;
         continue;
      }
      retire_until_unlocking(&sync->queues[i], UINT64_MAX);
      i = 0;
   }
   if (sync->is_gone) {
      sync->is_gone = false;
      agx_device_lose_unlocking(device, agx_failure_raise(&sync->lost));
   }
}

void agx_queue_finish_unlocking(struct agx_queue *queue, uint64_t reached)
{
   agx_queue_retire_unlocking(queue, reached);
   while (queue->is_retiring && queue->retired < AGX_MIN(reached, queue->epoch)) {
      await_retirer_unlocking(queue, reached);
      agx_queue_retire_unlocking(queue, reached);
   }
}

AGX_SYNC_LOCKED static agx_status poll_queues_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   for (unsigned i = 0; i < sync->queue_count; i++) {
      struct agx_queue *queue = &sync->queues[i];
      uint64_t reached = 0;
      if (queue->in_flight_count == 0)
         continue;
      agx_sync_unlock(sync);
      agx_status status = agxw_timeline_query(queue->timeline, &reached);
      agx_sync_lock(sync);
      if (status == AGX_RESOURCE_EXHAUSTED)
         return status;
      if (status != AGX_OK) {
         agx_device_lose_unlocking(device, status);
         return status;
      }
      agx_queue_finish_unlocking(queue, reached);
   }
   return AGX_OK;
}

agx_status agx_device_poll_unlocking(struct agx_device *device)
{
   agx_status status = AGX_OK;
   uint32_t polls = agx_shared_poll_count(device);
   if (polls == 0)
      return poll_queues_unlocking(device);
   for (; polls && status == AGX_OK; polls--) {
      struct agx_shared_poll poll;
      agx_shared_poll_begin_unlocking(device, &poll);
      status = poll_queues_unlocking(device);
      if (status == AGX_OK)
         agx_shared_poll_take_unlocking(device, &poll);
      agx_shared_poll_end_unlocking(device, &poll);
   }
   return status;
}

/* ---- the completion thread ------------------------------------------------ */

/* How long the thread sleeps after something happened before it asks the kernel by itself, and how
 * often it does: no thread waits for what it then finds. */
#define TICK_NS (20 * 1000000)
#define TICKS   50
/* How long it leaves what is watched to a thread that waits by itself, before it looks again. */
#define DOZE_NS (200 * 1000)
/* While it waits in the kernel, in case that the kernel refuses to interrupt it. */
#define LONG_TICK_NS (200 * 1000000)

/* Shared semaphores and imports that it waits for in the kernel, of more, the first ones. It holds
 * them meanwhile; so that it is not what keeps them, and the device with them, it looks up now and
 * then. */
#define MAX_SHARED 256

AGX_SYNC_LOCKED static void poll_or_lose_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_status status = agx_device_poll_unlocking(device);
   if (status != AGX_RESOURCE_EXHAUSTED) {
      sync->shortages = 0;
      return;
   }
   sync->lacks_memory = true;
   if (++sync->shortages == AGX_MAX_SHORTAGES)
      agx_device_lose_unlocking(device, status);
}

AGX_SYNC_LOCKED static bool has_work(const struct agx_device *device);

/* False: another thread has ended meanwhile what this one waited for. */
AGX_SYNC_LOCKED static bool wait_for_any_queue_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agxw_point points[AGX_MAX_QUEUES + 1 + MAX_SHARED];
   void *objects[MAX_SHARED];
   uint32_t shared = agx_device_shared_points(device, points, objects, MAX_SHARED), count = shared;
   for (unsigned i = 0; i < sync->queue_count; i++) {
      const struct agx_queue *queue = &sync->queues[i];
      uint64_t next = AGX_MAX(queue->retired, queue->reached) + 1;
      if (queue->timeline)
         points[count++] = (struct agxw_point){queue->timeline, next};
   }
   points[count++] = (struct agxw_point){sync->interrupt, sync->interrupt_value + 1};
   sync->in_kernel++;
   agx_sync_unlock(sync);
   agx_status status = agxw_wait(agx_context_of(device)->winsys, points, count, true,
                                 agx_now_ns() + (shared ? TICK_NS : LONG_TICK_NS));
   for (uint32_t i = 0; i < shared; i++)
      agx_release(objects[i]);
   agx_sync_lock(sync);
   sync->in_kernel--;
   bool was_needed = has_work(device);
   if (status == AGX_RESOURCE_EXHAUSTED)
      sync->lacks_memory = true; /* to wait with: it asks again after a tick */
   else if (status != AGX_OK && status != AGX_DEADLINE_EXCEEDED)
      agx_device_lose_unlocking(device, status);
   else
      poll_or_lose_unlocking(device);
   return was_needed;
}

enum sleep {
   WITHOUT_LIMIT,
   TICK,
   DOZE,
};

/* True: the time has passed, and no thread has woken this one. */
AGX_SYNC_LOCKED static bool worker_wait_unlocking(struct agx_device *device, enum sleep kind)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   const struct timespec until = agx_timespec(agx_now_ns() + (kind == DOZE ? DOZE_NS : TICK_NS));
   int error = 0;
   sync->worker_sleeps = true;
   sync->worker_has_no_tick = kind == WITHOUT_LIMIT;
   sync->worker_dozes = kind == DOZE;
   if (kind == WITHOUT_LIMIT)
      pthread_cond_wait(&sync->work, &sync->lock);
   else
      error = pthread_cond_timedwait(&sync->work, &sync->lock, &until);
   sync->worker_sleeps = sync->worker_has_no_tick = sync->worker_dozes = false;
   return error == ETIMEDOUT;
}

/* Whether there is anything in the kernel that may end. Shared semaphores are asked only while
 * something waits. */
AGX_SYNC_LOCKED static bool is_in_flight(const struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   if (!agx_list_empty(&sync->imports) ||
       (!agx_list_empty(&sync->shared) && agx_device_has_waiters(device)))
      return true;
   return agx_queues_are_busy(sync);
}

AGX_SYNC_LOCKED static bool has_work(const struct agx_device *device)
{
   return is_in_flight(device) && agx_device_has_waiters(device);
}

/* The completion thread's memory. */
struct worker {
   uint32_t idle; /* ticks in which nothing was submitted */
   uint64_t seen; /* submissions */
   bool is_spare; /* when it looked last, a thread that waits had ended what was watched */
};

/* Sleeps until something is to be done, or looks whether there is. */
AGX_SYNC_LOCKED static void rest_unlocking(struct agx_device *device, struct worker *worker)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   bool is_quiet = worker->seen == sync->submissions;
   bool has_refused = agx_device_has_refused_notifications(device);
   enum sleep kind = WITHOUT_LIMIT;
   worker->is_spare &= !is_quiet;
   worker->idle = is_quiet ? worker->idle + 1 : 0;
   worker->seen = sync->submissions;
   sync->lacks_memory = false;
   if (worker->is_spare)
      kind = DOZE;
   else if (is_in_flight(device) || has_refused || worker->idle < TICKS)
      kind = TICK;
   bool has_passed = worker_wait_unlocking(device, kind);
   if (kind == DOZE)
      return;
   worker->is_spare = !has_passed && !has_work(device);
   if (has_passed && is_in_flight(device))
      poll_or_lose_unlocking(device);
}

void *agx_device_work(void *argument)
{
   struct agx_device *device = argument;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct worker worker = {0};
   agx_on_library_thread = true;
   agx_sync_lock(sync);
   while (!sync->stop) {
      if (agx_device_has_deferred_work(device)) {
         worker.idle = 0; /* another thread has retired, and does this work */
      } else if (has_work(device) && !sync->lacks_memory) {
         worker.is_spare = !wait_for_any_queue_unlocking(device);
         worker.idle = 0;
      } else {
         rest_unlocking(device, &worker);
      }
      sync->has_pending_notifications |= agx_device_has_refused_notifications(device);
      agx_device_unlock_and_run_deferred(device);
      agx_sync_lock(sync);
   }
   agx_sync_unlock(sync);
   return NULL;
}
