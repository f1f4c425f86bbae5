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
   struct agxw_timeline *timeline = NULL;
   if (!queue->kernel)
      AGX_TRY(agxw_queue_create(device->winsys, queue->priority, &queue->kernel));
   if (queue->timeline)
      return AGX_OK;
   AGX_TRY(agxw_timeline_create(device->winsys, 0, &timeline));
   pthread_mutex_lock(&device->lock);
   queue->timeline = timeline;
   agx_device_interrupt(device); /* the completion thread doesn't wait for it yet */
   agx_device_wake_kernel_waiters_unlocking(device);
   pthread_mutex_unlock(&device->lock);
   return AGX_OK;
}

agx_status agx_queue_recreate(struct agx_device *device, uint32_t index)
{
   AGX_TRY(agx_fork_check(device));
   if (index >= device->queue_count)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "queue %u of %u", index, device->queue_count);
   struct agx_queue *queue = &device->queues[index];
   struct agxw_queue *fresh = NULL, *old = NULL;
   pthread_mutex_lock(&queue->submit_lock);
   pthread_mutex_lock(&device->lock);
   agx_status status = agx_failure_raise(&device->lost);
   if (status == AGX_OK && queue->lost.status == AGX_OK)
      status = AGX_FAIL(AGX_FAILED_PRECONDITION, "queue %u is not lost", index);
   /* The kernel may be at work yet on what was behind the failure. */
   while (status == AGX_OK && queue->retired < queue->epoch) {
      const struct agxw_point last = {queue->timeline, queue->epoch};
      pthread_mutex_unlock(&device->lock);
      status = agxw_wait(device->winsys, &last, 1, false, AGX_DEADLINE_NEVER);
      pthread_mutex_lock(&device->lock);
      if (status == AGX_OK)
         agx_queue_finish_unlocking(queue, last.value);
   }
   pthread_mutex_unlock(&device->lock);
   if (status == AGX_OK)
      status = agxw_queue_create(device->winsys, queue->priority, &fresh);
   pthread_mutex_lock(&device->lock);
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
   struct agx_frontier reached = {0};
   for (unsigned i = 0; i < device->queue_count; i++)
      reached.epochs[i] = device->queues[i].retired;
   return reached;
}

struct agx_frontier agx_device_reached(struct agx_device *device)
{
   pthread_mutex_lock(&device->lock);
   struct agx_frontier reached = agx_device_reached_locked(device);
   pthread_mutex_unlock(&device->lock);
   return reached;
}
