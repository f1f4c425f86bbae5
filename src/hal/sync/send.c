/* SPDX-License-Identifier: MIT
 *
 * A submission for the GPU goes to the kernel, with what the kernel has to wait for and what it
 * has to signal, in one request. submit.c sends what is ready within agx_submit, deferred.c what
 * becomes ready later.
 */
#include "base/debug.h"
#include "hal/memory/sampler_heap.h"
#include "hal/record/scratch.h"
#include "hal/sync/notify.h"
#include "hal/sync/alloca.h"
#include "hal/sync/import.h"
#include "hal/sync/points.h"
#include "hal/sync/queue.h"
#include "hal/sync/schedule.h"

/* What a kernel submission waits for and signals. */
struct syncs {
   struct agxw_point waits[AGX_MAX_QUEUES + AGX_MAX_POINTS], signals[AGX_MAX_POINTS + 2];
   uint32_t wait_count, signal_count;
};

AGX_SYNC_LOCKED static void collect_syncs(struct agx_submission *submission, struct syncs *syncs)
{
   struct agx_sync_state *sync = agx_sync_of(submission->device);
   syncs->wait_count = 0;
   syncs->signal_count = 2; /* the queue's and its own */
   for (unsigned i = 0; i < sync->queue_count; i++) {
      const struct agx_queue *other = &sync->queues[i];
      uint64_t epoch = submission->frontier.epochs[i];
      if (other != submission->queue && epoch > other->retired)
         syncs->waits[syncs->wait_count++] = (struct agxw_point){other->timeline, epoch};
   }
   for (uint32_t i = 0; submission->has_imports && i < submission->wait_count; i++) {
      const struct agx_wait *wait = &submission->waits[i];
      if (wait->import && wait->semaphore->value < wait->value)
         syncs->waits[syncs->wait_count++] = (struct agxw_point){wait->import->timeline, 1};
   }
   for (uint32_t i = 0; i < submission->signal_count; i++) {
      struct agx_signal *signal = &submission->signals[i];
      if (!signal->semaphore->shared)
         continue;
      signal->is_shared = agx_semaphore_begin_point(signal->semaphore, signal->value);
      if (signal->is_shared) /* else the host publishes the value when it is reached */
         syncs->signals[syncs->signal_count++] =
            (struct agxw_point){signal->semaphore->shared, signal->value};
   }
}

AGX_SYNC_LOCKED static void end_points(struct agx_submission *submission, bool are_there)
{
   for (uint32_t i = 0; i < submission->signal_count; i++) {
      struct agx_signal *signal = &submission->signals[i];
      if (signal->is_shared)
         agx_semaphore_end_point(signal->semaphore, are_there ? signal->value : 0);
   }
}

AGX_REQUIRES(agx_queue_lock_class)
AGX_SYNC_UNLOCKED static agx_status prepare_queue(struct agx_queue *queue)
{
   struct agx_device *device = queue->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agxw_timeline *timeline = NULL;
   if (!queue->kernel)
      AGX_TRY(agxw_queue_create(agx_context_of(device)->winsys, queue->priority, &queue->kernel));
   if (queue->timeline)
      return AGX_OK;
   AGX_TRY(agxw_timeline_create(agx_context_of(device)->winsys, 0, &timeline));
   agx_sync_lock(sync);
   queue->timeline = timeline;
   agx_device_interrupt(device); /* the completion thread doesn't wait for it yet */
   agx_device_wake_kernel_waiters_unlocking(device);
   agx_sync_unlock(sync);
   return AGX_OK;
}

/* Puts commands with timestamps into *submit for the profiling session. */
static agx_status prepare_profile(struct agx_submission *submission, struct agxw_submit *submit)
{
   struct agx_profile_entry *entry = submission->profile;
   agx_profile_entry_start(entry);
   if (submit->commands != &submission->stream)
      return AGX_OK; /* timestamps of its own */
   if (agx_profile_entry_wants_dispatches(entry))
      AGX_TRY(agx_command_buffer_profile(submission->commands, entry));
   return agx_profile_entry_send(entry, &submission->stream, submit);
}

/* The queue's scratch memory, large enough for the submission's kernels, which keeps it. */
AGX_REQUIRES(agx_queue_lock_class)
AGX_SYNC_UNLOCKED static agx_status prepare_scratch(struct agx_submission *submission)
{
   struct agx_queue *queue = submission->queue;
   AGX_TRY(agx_scratch_provide(queue->device, submission->commands->scratch_B, &queue->scratch));
   if (submission->scratch == queue->scratch) /* of a request that failed */
      return AGX_OK;
   agx_release(submission->scratch);
   agx_retain(queue->scratch);
   submission->scratch = queue->scratch;
   return AGX_OK;
}

/* Unlocked but for the queue's submit_lock. */
AGX_REQUIRES(agx_queue_lock_class)
AGX_SYNC_UNLOCKED static agx_status submit_stream(struct agx_submission *submission,
                                                  struct syncs *syncs)
{
   struct agx_queue *queue = submission->queue;
   AGX_TRY(prepare_queue(queue));
   if (!submission->fence)
      AGX_TRY(
         agxw_timeline_create(agx_context_of(submission->device)->winsys, 0, &submission->fence));
   syncs->signals[0] = (struct agxw_point){queue->timeline, queue->epoch + 1};
   syncs->signals[1] = (struct agxw_point){submission->fence, submission->fence_value + 1};
   struct agxw_submit submit = {
      .commands = &submission->stream,
      .command_count = 1,
      .waits = syncs->waits,
      .wait_count = syncs->wait_count,
      .signals = syncs->signals,
      .signal_count = syncs->signal_count,
      .samplers = agx_sampler_heap_of(queue->device),
   };
   const struct agxw_compute *segments;
   const uint32_t count = agx_command_buffer_segments(submission->commands, &segments);
   if (count) {
      submit.commands = segments;
      submit.command_count = count;
   }
   if (submission->commands->scratch_B) {
      AGX_TRY(prepare_scratch(submission));
      submit.helper = agx_scratch_helper(submission->scratch);
   }
   if (submission->profile)
      AGX_TRY(prepare_profile(submission, &submit));
   return agxw_submit(queue->kernel, &submit);
}

/* The kernel has it. */
AGX_SYNC_LOCKED static void note_sent(struct agx_submission *submission)
{
   struct agx_device *device = submission->device;
   struct agx_queue *queue = submission->queue;
   submission->epoch = ++queue->epoch;
   submission->fence_value++;
   submission->frontier = (struct agx_frontier){0};
   submission->frontier.epochs[queue->index] = submission->epoch;
   if (agx_context_of(device)->debug & AGX_DEBUG_SYNC)
      agx_device_log(device, AGX_LOG_DEBUG, "%s %llu: queue %u, epoch %llu", submission->type->name,
                     (unsigned long long)submission->number, queue->index,
                     (unsigned long long)submission->epoch);
   if (queue->lost.status == AGX_OK) {
      agx_submission_move(submission, AGX_SUBMISSION_SENDING, AGX_SUBMISSION_IN_FLIGHT);
      agx_submission_file_signals(submission);
   } else { /* meanwhile */
      agx_queue_note_failed(queue, submission->epoch, submission->epoch, &queue->lost);
      agx_submission_note_end(submission, &queue->lost);
      agx_submission_signal_all(submission, &queue->lost);
      agx_submission_move(submission, AGX_SUBMISSION_SENDING, AGX_SUBMISSION_LOST);
   }
   agx_device_note_flight(device);
}

agx_status agx_submission_send_unlocking(struct agx_submission *submission)
{
   struct agx_sync_state *sync = agx_sync_of(submission->device);
   struct agx_queue *queue = submission->queue;
   struct syncs syncs;
   AGX_TRY(agx_failure_raise(&sync->lost));
   AGX_TRY(agx_failure_raise(&queue->lost));
   AGX_TRY(agx_allocas_use(&submission->commands->resources, queue->index, queue->epoch + 1));
   collect_syncs(submission, &syncs);
   const struct agxw_compute recorded = submission->stream, *segments;
   const bool takes_prologues =
      !submission->profile && !agx_command_buffer_segments(submission->commands, &segments);
   submission->count = agx_breadcrumb_begin(&submission->commands->breadcrumb, queue->index,
                                            takes_prologues, &submission->stream);
   agx_sync_unlock(sync);
   agx_status status = submit_stream(submission, &syncs);
   agx_sync_lock(sync);
   if (syncs.signal_count > 2)
      end_points(submission, status == AGX_OK);
   if (status != AGX_OK) {
      agx_breadcrumb_cancel(&submission->commands->breadcrumb, submission->count);
      submission->stream = recorded;
      agx_allocas_unuse(&submission->commands->resources, queue->index, queue->epoch);
      return status;
   }
   note_sent(submission);
   return AGX_OK;
}
