/* SPDX-License-Identifier: MIT
 *
 * agx_queue_recreate: a queue that was lost gets a new queue of the kernel, when the kernel is
 * done with what the old one had.
 */
#include "hal/sync/completion.h"

#include "hal/sync/deferred.h"
#include "hal/core/desc.h"
#include "hal/sync/queue.h"

agx_status agx_queue_recreate(struct agx_device *device, uint32_t index)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   AGX_TRY(agx_fork_check(device));
   if (index >= sync->queue_count)
      return AGX_FAIL(AGX_OUT_OF_RANGE, "queue %u of %u", index, sync->queue_count);
   struct agx_queue *queue = &sync->queues[index];
   struct agxw_queue *fresh = NULL, *old = NULL;
   agx_queue_lock(queue);
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
   agx_queue_unlock(queue);
   agx_device_unlock_and_run_deferred(device);
   if (old)
      agxw_queue_destroy(old);
   return status;
}
