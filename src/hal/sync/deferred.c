/* SPDX-License-Identifier: MIT
 *
 * Work that a change under the lock has made possible: notifications, unblocked submissions,
 * requests to the kernel, host operations, observers, watches, references, ends of operations. The
 * thread that made the change does the work when it lets the lock go: each function of the room and
 * of host/ that changes something ends with agx_device_unlock_and_run_deferred.
 */
#include "hal/sync/notify.h"
#include "hal/sync/deferred.h"
#include "hal/sync/import.h"
#include "hal/sync/points.h"
#include "hal/sync/schedule.h"
#include "hal/sync/watch.h"

/* ---- one thing after the other ---------------------------------------------- */

/* One of the ready list. */
AGX_SYNC_LOCKED static void send_ready_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_queue *queue = agx_submissions_first(sync, AGX_LIST_READY)->queue;
   agx_sync_unlock(sync);
   agx_queue_lock(queue);
   agx_sync_lock(sync);
   struct agx_link *ready = &sync->submission_lists[AGX_LIST_READY];
   agx_list_for_each_safe (struct agx_submission, submission, ready, link) {
      if (submission->queue != queue)
         continue;
      agx_submission_move(submission, AGX_SUBMISSION_READY, AGX_SUBMISSION_SENDING);
      struct agx_failure failure = {0};
      const struct agx_failure *waited = agx_submission_failed_wait(submission);
      if (waited)
         failure = *waited; /* which may be of a semaphore that it signals */
      else
         agx_failure_keep(&failure, agx_submission_send_unlocking(submission));
      if (failure.status != AGX_OK)
         agx_submission_end(submission, &failure);
      break; /* the list may be another one by now */
   }
   agx_queue_unlock(queue);
}

AGX_SYNC_LOCKED static void run_runnable_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_submission *submission = agx_submissions_first(sync, AGX_LIST_RUNNABLE);
   struct agx_failure failure = {0};
   agx_submission_move(submission, AGX_SUBMISSION_RUNNABLE, AGX_SUBMISSION_RUNNING);
   agx_sync_unlock(sync);
   agx_status status = submission->type->run(submission);
   agx_sync_lock(sync);
   if (status == AGX_DEFERRED)
      return;
   agx_failure_keep(&failure, status);
   agx_submission_end(submission, status == AGX_OK ? NULL : &failure);
}

/* The application's function; what it is called with stands until the submission is SPARE. */
AGX_SYNC_UNLOCKED static void call_end(const struct agx_submission *submission)
{
   if (submission->end)
      submission->end(submission->end_user, submission->tag,
                      agx_failure_raise(&submission->failure));
}

AGX_SYNC_LOCKED static void free_ended_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_link ended;
   struct agx_submission *first;
   agx_list_init(&ended);
   while ((first = agx_submissions_first(sync, AGX_LIST_ENDED)))
      agx_submission_move_before(first, AGX_SUBMISSION_ENDED, AGX_SUBMISSION_DROPPING, &ended);
   agx_sync_unlock(sync);
   agx_list_for_each (struct agx_submission, submission, &ended, link)
      agx_submission_drop(submission);
   agx_list_for_each (struct agx_submission, submission, &ended, link)
      call_end(submission);
   agx_sync_lock(sync);
   agx_list_for_each_safe (struct agx_submission, submission, &ended, link)
      agx_submission_move(submission, AGX_SUBMISSION_DROPPING, AGX_SUBMISSION_SPARE);
}

AGX_SYNC_LOCKED static bool run_one_deferred_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   if (sync->has_pending_notifications)
      agx_device_notify_unlocking(device);
   else if (agx_submissions_any(sync, AGX_LIST_UNBLOCKED) && !sync->is_starting_unblocked)
      agx_device_start_unblocked_unlocking(device);
   else if (agx_submissions_any(sync, AGX_LIST_READY))
      send_ready_unlocking(device);
   else if (agx_submissions_any(sync, AGX_LIST_RUNNABLE))
      run_runnable_unlocking(device);
   else if (agx_submissions_any(sync, AGX_LIST_ENDED))
      free_ended_unlocking(device);
   else if (agx_import_release_ended_unlocking(device))
      return true;
   else
      return agx_observer_call_one_unlocking(device) || agx_watch_call_one_unlocking(device);
   return true;
}

/* ---- all of it --------------------------------------------------------------- */

/* The devices whose deferred work this thread does, the last one first: functions that it calls
 * meanwhile leave such work to it. */
struct deferred_runs {
   const struct agx_device *device;
   const struct deferred_runs *outer;
};
static _Thread_local const struct deferred_runs *deferred_runs;

bool agx_device_runs_deferred_here(const struct agx_device *device)
{
   const struct deferred_runs *at = deferred_runs;
   while (at && at->device != device)
      at = at->outer;
   return at;
}

void agx_deferred_work_forget(void)
{
   deferred_runs = NULL;
}

bool agx_device_has_deferred_work(const struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   return sync->has_pending_notifications ||
          (agx_submissions_any(sync, AGX_LIST_UNBLOCKED) && !sync->is_starting_unblocked) ||
          agx_submissions_any(sync, AGX_LIST_READY) ||
          agx_submissions_any(sync, AGX_LIST_RUNNABLE) ||
          agx_submissions_any(sync, AGX_LIST_ENDED) || !agx_list_empty(&sync->fired) ||
          !agx_list_empty(&sync->due_observers) || !agx_list_empty(&sync->imported);
}

void agx_device_unlock_and_run_deferred(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   const struct deferred_runs own = {device, deferred_runs};
   bool is_inner = agx_device_runs_deferred_here(device);
   if (!agx_device_has_deferred_work(device) || (is_inner && !sync->has_pending_notifications)) {
      agx_sync_unlock(sync);
      return;
   }
   char text[AGX_ERROR_TEXT_BYTES]; /* of the call that made the work, which may have failed */
   agx_error_save(text);
   deferred_runs = &own;
   /* The references that the work releases may be the last ones of the device. If the device is
    * already being destroyed, agx_sync_stop() waits for this thread; the thread may also be the one
    * that destroys it. */
   const bool is_held = agx_try_retain(device);
   if (is_inner)
      agx_device_notify_unlocking(device);
   else
      while (run_one_deferred_unlocking(device))
         ;
   agx_sync_unlock(sync);
   deferred_runs = own.outer;
   if (is_held)
      agx_release(device);
   agx_error_restore(text);
}

void agx_submission_leave_open(struct agx_submission *submission, uint64_t number)
{
   struct agx_sync_state *sync = agx_sync_of(submission->device);
   agx_sync_lock(sync);
   if (submission->number == number && submission->state == AGX_SUBMISSION_RUNNING) {
      submission->is_open = true;
      pthread_cond_broadcast(&sync->changed);
   }
   agx_sync_unlock(sync);
}

void agx_submission_finish(struct agx_submission *submission, agx_status status)
{
   struct agx_device *device = submission->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_failure failure = {0};
   agx_failure_keep(&failure, status);
   agx_sync_lock(sync);
   agx_submission_end(submission, status == AGX_OK ? NULL : &failure);
   agx_device_unlock_and_run_deferred(device);
}

void agx_device_retry(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_sync_lock(sync);
   agx_device_retry_locked(device);
   agx_device_unlock_and_run_deferred(device);
}
