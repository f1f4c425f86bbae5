/* SPDX-License-Identifier: MIT
 *
 * The making and unmaking of queues.
 */
#include "hal/sync/queue.h"

#include "hal/sync/submission.h"
#include "hal/sync/notify.h"

void agx_queue_init(struct agx_queue *queue, struct agx_device *device, uint32_t index,
                    uint32_t priority)
{
   queue->device = device;
   queue->index = index;
   queue->priority = priority;
   pthread_mutex_init(&queue->submit_lock, NULL);
   agx_list_init(&queue->in_flight);
   agx_list_init(&queue->frontier_waiters);
}

void agx_queue_fini(struct agx_queue *queue)
{
   if (queue->timeline)
      agxw_timeline_destroy(queue->timeline);
   if (queue->kernel)
      agxw_queue_destroy(queue->kernel);
   pthread_mutex_destroy(&queue->submit_lock);
}

agx_status agx_queue_prepare(struct agx_queue *queue)
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

agx_status agx_queue_recreate(struct agx_device *device, uint32_t index)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   AGX_TRY(agx_fork_check(device));
   if (index >= sync->queue_count)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "queue %u of %u", index, sync->queue_count);
   struct agx_queue *queue = &sync->queues[index];
   struct agxw_queue *fresh = NULL, *old = NULL;
   pthread_mutex_lock(&queue->submit_lock);
   agx_sync_lock(sync);
   agx_status status = agx_failure_raise(&sync->lost);
   if (status == AGX_OK && queue->lost.status == AGX_OK)
      status = AGX_FAIL(AGX_FAILED_PRECONDITION, "queue %u is not lost", index);
   /* The kernel may be at work yet on what was behind the failure. */
   while (status == AGX_OK && queue->retired < queue->epoch) {
      const struct agxw_point last = {queue->timeline, queue->epoch};
      agx_sync_unlock(sync);
      status = agxw_wait(agx_context_of(device)->winsys, &last, 1, false, AGX_DEADLINE_NEVER);
      agx_sync_lock(sync);
      if (status == AGX_OK)
         agx_queue_finish_unlocking(queue, last.value);
   }
   agx_sync_unlock(sync);
   if (status == AGX_OK)
      status = agxw_queue_create(agx_context_of(device)->winsys, queue->priority, &fresh);
   agx_sync_lock(sync);
   if (status == AGX_OK) {
      old = queue->kernel;
      queue->kernel = fresh;
      queue->lost = (struct agx_failure){0};
   }
   pthread_mutex_unlock(&queue->submit_lock);
   agx_device_unlock_and_run_deferred(device);
   if (old)
      agxw_queue_destroy(old);
   return status;
}

struct agx_frontier agx_device_reached_locked(const struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_frontier reached = {0};
   for (unsigned i = 0; i < sync->queue_count; i++)
      reached.epochs[i] = sync->queues[i].retired;
   return reached;
}

struct agx_frontier agx_device_reached(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_sync_lock(sync);
   struct agx_frontier reached = agx_device_reached_locked(device);
   agx_sync_unlock(sync);
   return reached;
}
