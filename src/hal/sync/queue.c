/* SPDX-License-Identifier: MIT
 *
 * The start and end of a queue, and which epochs of it are over or have failed.
 */
#include "hal/sync/queue.h"

#include "hal/sync/state.h"

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
   agx_release(queue->scratch);
   if (queue->timeline)
      agxw_timeline_destroy(queue->timeline);
   if (queue->kernel)
      agxw_queue_destroy(queue->kernel);
   pthread_mutex_destroy(&queue->submit_lock);
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

void agx_device_get_frontier(struct agx_device *device, struct agx_frontier *out_reached)
{
   *out_reached = (struct agx_frontier){0};
   if (!agx_is_inherited(device))
      *out_reached = agx_device_reached(device);
}

bool agx_queues_are_busy(const struct agx_sync_state *sync)
{
   for (unsigned i = 0; i < sync->queue_count; i++)
      if (sync->queues[i].in_flight_count)
         return true;
   return false;
}

void agx_queue_note_failed(struct agx_queue *queue, uint64_t first, uint64_t last,
                           const struct agx_failure *failure)
{
   if (first > queue->failed_last + 1)
      queue->failed_first = first;
   queue->failed_last = last;
   queue->failed = *failure;
}
