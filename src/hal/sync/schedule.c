/* SPDX-License-Identifier: MIT
 *
 * Ordering. An operation knows how many of its waits nobody has submitted yet; each stands in its
 * semaphore's list, so that a signal finds whom it frees without a search. What waits only for the
 * GPU goes there with in-syncs (send.c), or follows it. Nothing here waits.
 */
#include "base/debug.h"
#include "base/util.h"
#include "hal/sync/alloca.h"
#include "hal/sync/share.h"
#include "hal/sync/submission.h"
#include "hal/sync/notify.h"
#include "hal/sync/watch.h"

/* ---- points --------------------------------------------------------------- */

enum agx_readiness agx_point_resolve(const struct agx_point *point, struct agx_cause *cause)
{
   const struct agx_semaphore *semaphore = point->semaphore;
   *cause = (struct agx_cause){0};
   if (semaphore->value >= point->value)
      return AGX_READY;
   if (semaphore->failure.status != AGX_OK)
      return AGX_WAIT_FAILED;
   agx_list_for_each (struct agx_signal, signal, &semaphore->pending, link) {
      if (signal->value < point->value)
         continue;
      cause->signal = signal;
      return AGX_READY;
   }
   agx_list_for_each (struct agx_import, import, &semaphore->imports, of_semaphore) {
      if (import->value < point->value)
         continue;
      cause->import = import;
      return AGX_ELSEWHERE;
   }
   return AGX_NOT_YET;
}

const struct agx_failure *agx_submission_failed_wait(const struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->wait_count; i++) {
      const struct agx_semaphore *semaphore = submission->waits[i].semaphore;
      if (semaphore->value < submission->waits[i].value && semaphore->failure.status != AGX_OK)
         return &semaphore->failure;
   }
   return NULL;
}

static void unlink_waits(struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->wait_count; i++)
      agx_list_remove(&submission->waits[i].link);
   submission->unresolved = 0;
}

/* By value, the lowest first; mostly the new one is the highest. */
static void link_wait(struct agx_wait *wait)
{
   struct agx_link *head = &wait->semaphore->waiting, *at = head;
   while (at->prev != head &&
          agx_container_of(at->prev, struct agx_wait, link)->value > wait->value)
      at = at->prev;
   agx_list_insert_before(at, &wait->link);
}

/* While a wait is for what nobody has submitted, all that are not reached stand in their
 * semaphores' lists. */
static void link_waits(struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->wait_count; i++)
      if (submission->waits[i].semaphore->value < submission->waits[i].value)
         link_wait(&submission->waits[i]);
}

/* Only the GPU can wait for another's work. */
static void take_import(struct agx_wait *wait, struct agx_import *import)
{
   wait->is_resolved = wait->submission->stream.stream_va != 0;
   if (!wait->is_resolved || wait->import)
      return;
   agx_retain(import);
   wait->import = import;
   wait->submission->has_imports = true;
}

static enum agx_readiness resolve_waits(struct agx_submission *submission)
{
   struct agx_frontier frontier = {0}, waited = {0};
   submission->unresolved = 0;
   for (uint32_t i = 0; i < submission->wait_count; i++) {
      struct agx_wait *wait = &submission->waits[i];
      const struct agx_point point = {wait->semaphore, wait->value};
      struct agx_cause cause;
      enum agx_readiness readiness = agx_point_resolve(&point, &cause);
      if (readiness == AGX_WAIT_FAILED)
         return AGX_WAIT_FAILED;
      wait->is_resolved = readiness == AGX_READY;
      if (cause.signal) {
         agx_frontier_merge(&frontier, &cause.signal->submission->frontier);
         agx_frontier_merge(&waited, &cause.signal->submission->waited);
      }
      if (cause.import)
         take_import(wait, cause.import);
      submission->unresolved += !wait->is_resolved;
   }
   if (submission->wait_count)
      agx_frontier_merge(&waited, &frontier);
   submission->frontier = frontier;
   submission->waited = waited;
   return submission->unresolved ? AGX_NOT_YET : AGX_READY;
}

void agx_waits_resolve(struct agx_semaphore *semaphore, uint64_t value)
{
   bool has_failed = semaphore->failure.status != AGX_OK;
   struct agx_link *head = &semaphore->waiting, *at = head->next;
   while (at != head) {
      struct agx_wait *wait = agx_container_of(at, struct agx_wait, link);
      struct agx_submission *submission = wait->submission;
      if (wait->value > value)
         return;
      at = at->next;
      if (wait->value <= semaphore->value)
         agx_list_remove(&wait->link);
      submission->unresolved -= !wait->is_resolved;
      wait->is_resolved = true;
      if (submission->unresolved && !has_failed)
         continue;
      while (at != head && agx_container_of(at, struct agx_wait, link)->submission == submission)
         at = at->next; /* that goes with it */
      unlink_waits(submission);
      agx_submission_move(submission, AGX_SUBMISSION_UNBLOCKED);
   }
}

static bool comes_after(const struct agx_submission *later, const struct agx_submission *earlier)
{
   if (later->queue == earlier->queue && later->state == AGX_SUBMISSION_IN_FLIGHT &&
       earlier->state == AGX_SUBMISSION_IN_FLIGHT)
      return true; /* the later is its last one yet */
   struct agx_frontier all = later->waited;
   agx_frontier_merge(&all, &later->frontier);
   return agx_frontier_covers(&all, &earlier->frontier);
}

/* By value, the lowest first; mostly the new one is the highest, and comes true last. */
static void file_signal(struct agx_signal *signal)
{
   struct agx_semaphore *semaphore = signal->semaphore;
   struct agx_link *head = &semaphore->pending, *at = head;
   while (at->prev != head &&
          agx_container_of(at->prev, struct agx_signal, link)->value > signal->value)
      at = at->prev;
   bool is_first = agx_list_empty(head);
   bool is_late =
      !is_first &&
      (at != head || !comes_after(signal->submission,
                                  agx_container_of(at->prev, struct agx_signal, link)->submission));
   semaphore->is_disordered = is_late || (semaphore->is_disordered && !is_first);
   agx_list_insert_before(at, &signal->link);
   if (is_late && semaphore->kernel_waiters)
      agx_device_interrupt(semaphore->device); /* there is more that they may wait for */
}

void agx_submission_file_signals(struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->signal_count; i++) {
      struct agx_signal *signal = &submission->signals[i];
      file_signal(signal);
      agx_waits_resolve(signal->semaphore, signal->value);
   }
}

/* ---- the end -------------------------------------------------------------- */

void agx_submission_signal_all(struct agx_submission *submission, const struct agx_failure *failure)
{
   struct agx_device *device = submission->device;
   for (uint32_t i = 0; i < submission->signal_count; i++) {
      struct agx_signal *signal = &submission->signals[i];
      agx_list_remove(&signal->link);
      if (failure)
         agx_semaphore_fail_locked(signal->semaphore, failure);
      else
         agx_semaphore_advance(signal->semaphore, signal->value);
   }
   if (agx_context_of(device)->debug & AGX_DEBUG_SYNC)
      agx_device_log(device, AGX_LOG_DEBUG, "%s %llu %s%s", submission->type->name,
                     (unsigned long long)submission->number, failure ? "failed: " : "done",
                     failure ? failure->text : "");
}

void agx_submission_end(struct agx_submission *submission, const struct agx_failure *failure)
{
   if (submission->profile)
      agx_profile_ended(submission, failure);
   /* Whoever is told may record the command buffer anew, so it leaves flight before. */
   if (submission->commands)
      agx_command_buffer_end_flight(submission->commands);
   if (submission->state != AGX_SUBMISSION_LOST)
      agx_submission_signal_all(submission, failure);
   agx_submission_move(submission, AGX_SUBMISSION_ENDED);
   if (agx_context_of(submission->device)->debug & AGX_DEBUG_SERIAL)
      pthread_cond_broadcast(&agx_sync_of(submission->device)->changed);
}

/* ---- following ------------------------------------------------------------ */

/* A queue that has not come far enough for it, or NULL. */
static struct agx_queue *behind(struct agx_device *device, const struct agx_frontier *frontier)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   for (unsigned i = 0; i < sync->queue_count; i++)
      if (frontier->epochs[i] > sync->queues[i].retired)
         return &sync->queues[i];
   return NULL;
}

void agx_submission_wait_for_frontier(struct agx_submission *submission)
{
   struct agx_device *device = submission->device;
   struct agx_queue *queue = behind(device, &submission->frontier);
   if (queue) {
      struct agx_link *head = &queue->frontier_waiters, *at = head;
      uint64_t epoch = submission->frontier.epochs[queue->index];
      while (
         at->prev != head &&
         agx_container_of(at->prev, struct agx_submission, link)->frontier.epochs[queue->index] >
            epoch)
         at = at->prev;
      agx_submission_move_before(submission, AGX_SUBMISSION_FRONTIER, at);
      return;
   }
   const struct agx_failure *failure = agx_submission_failed_wait(submission);
   if (failure || !submission->type->run) {
      agx_submission_end(submission, failure);
      return;
   }
   if (submission->profile)
      agx_profile_started(submission);
   agx_submission_move(submission, AGX_SUBMISSION_RUNNABLE);
}

static void start_waiting_for_frontier(struct agx_submission *submission)
{
   struct agx_device *device = submission->device;
   if (!submission->type->run && behind(device, &submission->frontier))
      agx_submission_file_signals(submission);
   agx_submission_wait_for_frontier(submission);
   if (submission->state == AGX_SUBMISSION_FRONTIER && submission->type->run)
      agx_device_wake(device);
}

/* ---- launching ------------------------------------------------------------ */

static bool is_for_gpu(const struct agx_submission *submission)
{
   return submission->stream.stream_va != 0;
}

static void fail_launch(struct agx_submission *submission, const struct agx_failure *failure)
{
   struct agx_failure copy = *failure; /* may be of a semaphore that it signals */
   agx_submission_end(submission, &copy);
}

/* A kind's launch may let go of the lock. Meanwhile agx_submissions_fail_parked() finds the
 * submission in the list of those that are starting. */
static agx_status launch_unlocking(struct agx_submission *submission)
{
   agx_status status = AGX_OK;
   if (submission->type->launch)
      status = submission->type->launch(submission);
   if (status == AGX_OK && submission->commands)
      status = agx_allocas_check(&submission->commands->resources);
   return status;
}

/* With all waits resolved. False: the launch was deferred, and nothing has changed. */
static bool launch_on_host_unlocking(struct agx_submission *submission)
{
   struct agx_sync_state *sync = agx_sync_of(submission->device);
   const struct agx_failure *failure = agx_submission_failed_wait(submission);
   if (!failure && sync->lost.status != AGX_OK)
      failure = &sync->lost;
   if (!failure && submission->queue->lost.status != AGX_OK)
      failure = &submission->queue->lost;
   if (failure) {
      fail_launch(submission, failure);
      return true;
   }
   agx_status status = launch_unlocking(submission);
   if (status == AGX_DEFERRED && submission->failure.status == AGX_OK)
      return false;
   if (status == AGX_DEFERRED) { /* meanwhile all that is parked was made to fail */
      agx_submission_end(submission, &submission->failure);
      return true;
   }
   if (status != AGX_OK) {
      struct agx_failure own = {0};
      agx_failure_keep(&own, status);
      agx_submission_end(submission, &own);
      return true;
   }
   if (!is_for_gpu(submission)) {
      start_waiting_for_frontier(submission);
      return true;
   }
   agx_submission_move(submission, AGX_SUBMISSION_READY);
   return true;
}

agx_status agx_submission_start_unlocking(struct agx_submission *submission)
{
   struct agx_device *device = submission->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   const bool is_new = submission->state == AGX_SUBMISSION_PREPARED;
   agx_submission_move(submission, is_new ? AGX_SUBMISSION_STARTING : AGX_SUBMISSION_RESTARTING);
   bool is_resolved = resolve_waits(submission) != AGX_NOT_YET;
   if (is_resolved && launch_on_host_unlocking(submission))
      return AGX_OK;
   if (is_new && sync->parked_count >= sync->max_parked)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                      "submit: it would have to be parked, and %u operations are (max_parked)",
                      sync->parked_count);
   agx_submission_move(submission, is_resolved ? AGX_SUBMISSION_DEFERRED : AGX_SUBMISSION_PARKED);
   if (is_resolved)
      return AGX_OK;
   link_waits(submission);
   agx_device_wake(device);
   return AGX_OK;
}

static void start_unblocked_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_submission *submission;
   while ((submission = agx_submissions_first(sync, AGX_LIST_UNBLOCKED))) {
      if (submission->state == AGX_SUBMISSION_FAILING)
         agx_submission_end(submission, &submission->failure);
      else
         (void)!agx_submission_start_unlocking(submission); /* has room */
   }
}

/* One thread at a time, so that they keep their order while launching lets go of the lock. */
void agx_device_start_unblocked_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   sync->is_starting_unblocked = true;
   do {
      if (sync->must_start_again)
         agx_device_retry_locked(device);
      sync->must_start_again = false;
      start_unblocked_unlocking(device);
   } while (sync->must_start_again);
   sync->is_starting_unblocked = false;
}

void agx_device_retry_locked(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_submission *submission;
   sync->retries++;
   while ((submission = agx_submissions_first(sync, AGX_LIST_DEFERRED)))
      agx_submission_move(submission, AGX_SUBMISSION_UNBLOCKED);
}

void agx_device_retry(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_sync_lock(sync);
   agx_device_retry_locked(device);
   agx_device_unlock_and_run_deferred(device);
}
