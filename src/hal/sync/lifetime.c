/* SPDX-License-Identifier: MIT
 *
 * Starting and ending this room for a device. hal/device calls it: init, open_queues and
 * start_worker when it opens a device; stop and state_fini when the last reference has gone.
 */
#include "base/clock.h"
#include "base/thread.h"
#include "base/util.h"
#include "hal/core/desc.h"
#include "hal/sync/alloca.h"
#include "hal/sync/completion.h"
#include "hal/sync/notify.h"
#include "hal/sync/poller.h"
#include "hal/sync/submission.h"

#define DEFAULT_QUEUES 2u
#define DEFAULT_PARKED 16384u

void agx_sync_state_init(struct agx_device *device, const struct agx_sync_hooks *hooks)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_link *lists[] = {&sync->fired,    &sync->watch_calls,          &sync->shared,
                               &sync->lines,    &sync->pending_publications, &sync->imports,
                               &sync->imported, &sync->due_observers,        &sync->observer_calls};
   agx_cond_init(&sync->changed);
   agx_cond_init(&sync->work);
   pthread_mutex_init(&sync->lock, NULL);
   for (size_t i = 0; i < AGX_COUNT(lists); i++)
      agx_list_init(lists[i]);
   for (size_t i = 0; i < AGX_DEVICE_LISTS; i++)
      agx_list_init(&sync->submission_lists[i]);
   agx_one_shots_init(&sync->one_shots);
   agx_alloca_spares_init(&sync->allocas);
   sync->hooks = *hooks;
   sync->device = device;
}

agx_status agx_sync_open_queues(struct agx_device *device, const struct agx_device_desc *desc)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   uint32_t count = desc->queue_count ? desc->queue_count : DEFAULT_QUEUES;
   AGX_TRY(agxw_timeline_create(agx_context_of(device)->winsys, 0, &sync->interrupt));
   if (count > AGX_MAX_QUEUES)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "device: %u queues; the limit is %u", count,
                      AGX_MAX_QUEUES);
   for (uint32_t i = 0; i < count; i++) {
      uint32_t priority =
         desc->queue_priorities && desc->queue_count ? desc->queue_priorities[i] : AGX_QUEUE_MEDIUM;
      if (priority > AGX_QUEUE_MEDIUM)
         return AGX_FAIL(AGX_INVALID_ARGUMENT,
                         "device: queue %u: priority %u; the last is AGX_QUEUE_MEDIUM, %u", i,
                         priority, AGX_QUEUE_MEDIUM);
      agx_queue_init(&sync->queues[i], device, i, priority);
      sync->queue_count++;
   }
   AGX_TRY(
      agx_bits_check("device", "flags", desc->flags,
                     AGX_DEVICE_FAILURE_WINS | AGX_DEVICE_CAPTURE_RANGES | AGX_DEVICE_COMMON_NODE));
   sync->failure_wins = desc->flags & AGX_DEVICE_FAILURE_WINS;
   sync->max_parked = desc->max_parked ? desc->max_parked : DEFAULT_PARKED;
   return AGX_OK;
}

agx_status agx_sync_start_worker(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   int error = agx_thread_start(&sync->worker, NULL, agx_device_work, device);
   if (error)
      return agx_status_fail_errno(error, "device: completion thread");
   sync->has_worker = true;
   return AGX_OK;
}

void agx_sync_stop(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_poller_destroy(sync->poller);
   agx_sync_lock(sync);
   sync->stop = true;
   pthread_cond_signal(&sync->work);
   agx_device_interrupt(device);
   agx_device_notify_unlocking(device);
   agx_sync_unlock(sync);
   if (sync->has_worker)
      pthread_join(sync->worker, NULL);
   agx_sync_lock(sync);
   agx_device_notify_unlocking(device);
   agx_sync_unlock(sync);
}

/* Frees spare submissions; all are. */
static void free_submissions(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_list_for_each_safe (struct agx_submission, submission,
                           &sync->submission_lists[AGX_LIST_SPARE], link) {
      if (submission->fence)
         agxw_timeline_destroy(submission->fence);
      agx_host_free(agx_context_of(device)->alloc, submission, sizeof(*submission));
   }
}

void agx_sync_state_fini(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   if (!sync->device)
      return;
   free_submissions(device);
   agx_one_shots_fini(&sync->one_shots);
   agx_alloca_spares_fini(&sync->allocas, agx_context_of(device)->alloc);
   for (unsigned i = 0; i < sync->queue_count; i++)
      agx_queue_fini(&sync->queues[i]);
   if (sync->interrupt)
      agxw_timeline_destroy(sync->interrupt);
   pthread_cond_destroy(&sync->work);
   pthread_cond_destroy(&sync->changed);
   pthread_mutex_destroy(&sync->lock);
}
