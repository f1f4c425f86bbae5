/* SPDX-License-Identifier: MIT
 *
 * A submission from its start to its end, but for the GPU: resolved waits, the launch of its kind,
 * parking, the wait for a frontier on the host, and the end. submit.c starts new submissions,
 * deferred.c unblocked ones; completion.c comes here when a queue has come further. What waits
 * only for the GPU goes to the kernel with its waits (send.c). Nothing here waits.
 */
#include "base/debug.h"
#include "hal/sync/notify.h"
#include "hal/sync/alloca.h"
#include "hal/sync/watch.h"
#include "hal/sync/points.h"
#include "hal/sync/schedule.h"

/* ---- the end -------------------------------------------------------------- */

void agx_submission_signal_all(struct agx_submission *submission, const struct agx_failure *failure)
{
   struct agx_device *device = submission->device;
   for (uint32_t i = 0; i < submission->signal_count; i++) {
      struct agx_signal *signal = &submission->signals[i];
      agx_list_remove(&signal->link);
      agx_observers_had(signal);
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
      agx_profile_entry_end(submission->profile, submission->number,
                            failure ? failure->status : AGX_OK);
   submission->profile = NULL;
   /* A watch may record the command buffer anew, so its flight ends before. */
   if (submission->commands)
      agx_command_buffer_end_flight(submission->commands);
   if (submission->state != AGX_SUBMISSION_LOST) {
      agx_submission_note_end(submission, failure);
      agx_submission_signal_all(submission, failure);
   }
   if (submission->state == AGX_SUBMISSION_IN_FLIGHT) /* most: the compiler knows these rows */
      agx_submission_move(submission, AGX_SUBMISSION_IN_FLIGHT, AGX_SUBMISSION_ENDED);
   else
      agx_submission_move(submission, submission->state, AGX_SUBMISSION_ENDED);
   if (agx_context_of(submission->device)->debug & AGX_DEBUG_SERIAL)
      pthread_cond_broadcast(&agx_sync_of(submission->device)->changed);
}

void agx_submission_drop(struct agx_submission *submission)
{
   if (submission->session)
      agx_profile_release_operation(submission->session, submission->profile);
   if (submission->type->drop)
      submission->type->drop(submission);
   agx_release(submission->commands);
   agx_release(submission->scratch);
   for (uint32_t i = 0; i < submission->wait_count; i++) {
      agx_release(submission->waits[i].import);
      agx_release(submission->waits[i].semaphore);
   }
   for (uint32_t i = 0; i < submission->signal_count; i++)
      agx_release(submission->signals[i].semaphore);
}

/* ---- frontiers ------------------------------------------------------------ */

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
      agx_submission_move_before(submission, submission->state, AGX_SUBMISSION_FRONTIER, at);
      return;
   }
   const struct agx_failure *failure = agx_submission_failed_wait(submission);
   if (failure || !submission->type->run) {
      agx_submission_end(submission, failure);
      return;
   }
   if (submission->profile)
      agx_profile_entry_start(submission->profile);
   agx_submission_move(submission, submission->state, AGX_SUBMISSION_RUNNABLE);
}

AGX_SYNC_LOCKED static void start_waiting_for_frontier(struct agx_submission *submission)
{
   struct agx_device *device = submission->device;
   if (!submission->type->run && behind(device, &submission->frontier))
      agx_submission_file_signals(submission);
   agx_submission_wait_for_frontier(submission);
   if (submission->state == AGX_SUBMISSION_FRONTIER && submission->type->run)
      agx_device_wake(device);
}

/* ---- launching ------------------------------------------------------------ */

/* Whether it has not been parked or deferred yet. */
static bool is_new(const struct agx_submission *submission)
{
   return submission->state == AGX_SUBMISSION_PREPARED ||
          submission->state == AGX_SUBMISSION_STARTING;
}

static bool is_for_gpu(const struct agx_submission *submission)
{
   return submission->stream.stream_va != 0;
}

AGX_SYNC_LOCKED static void fail_launch(struct agx_submission *submission,
                                        const struct agx_failure *failure)
{
   struct agx_failure copy = *failure; /* may be of a semaphore that it signals */
   agx_submission_end(submission, &copy);
}

/* A kind's launch may let go of the lock. Meanwhile agx_submissions_fail_parked() finds the
 * submission in the list of those that are starting. */
AGX_SYNC_LOCKED static agx_status launch_unlocking(struct agx_submission *submission)
{
   agx_status status = AGX_OK;
   if (submission->type->launch) {
      agx_submission_move(submission, submission->state,
                          is_new(submission) ? AGX_SUBMISSION_STARTING : AGX_SUBMISSION_RESTARTING);
      status = submission->type->launch(submission);
   }
   if (status == AGX_OK && submission->commands)
      status = agx_allocas_check(&submission->commands->resources);
   return status;
}

/* With all waits resolved. False: the launch was deferred, and nothing has changed. */
AGX_SYNC_LOCKED static bool launch_on_host_unlocking(struct agx_submission *submission)
{
   struct agx_sync_state *sync = agx_sync_of(submission->device);
   const struct agx_failure *failure = agx_submission_refused_wait(submission);
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
   if (is_new(submission)) /* so agx_submit holds the queue's lock */
      agx_submission_move(submission, submission->state, AGX_SUBMISSION_SENDING);
   else
      agx_submission_move(submission, submission->state, AGX_SUBMISSION_READY);
   return true;
}

agx_status agx_submission_start_unlocking(struct agx_submission *submission)
{
   struct agx_device *device = submission->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   bool is_resolved = agx_submission_resolve_waits(submission) != AGX_NOT_YET;
   if (is_resolved && launch_on_host_unlocking(submission))
      return AGX_OK;
   if (is_new(submission) && sync->parked_count >= sync->max_parked)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED,
                      "submit: it would have to be parked, and %u operations are (max_parked)",
                      sync->parked_count);
   if (is_resolved) {
      agx_submission_move(submission, submission->state, AGX_SUBMISSION_DEFERRED);
      return AGX_OK;
   }
   agx_submission_move(submission, submission->state, AGX_SUBMISSION_PARKED);
   agx_submission_link_waits(submission);
   agx_device_wake(device);
   return AGX_OK;
}

AGX_SYNC_LOCKED static void start_unblocked_unlocking(struct agx_device *device)
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
      agx_submission_move(submission, AGX_SUBMISSION_DEFERRED, AGX_SUBMISSION_UNBLOCKED);
}
