/* SPDX-License-Identifier: MIT
 *
 * agx_semaphore_observe and agx_semaphore_unobserve, which applications call. watch.c has the calls
 * of observers.
 */
#include "hal/core/fork.h"
#include "hal/sync/deferred.h"
#include "hal/sync/notify.h"
#include "hal/sync/watch.h"

agx_status agx_semaphore_observe(struct agx_semaphore *semaphore, struct agx_observer *observer)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   if (!observer || !observer->fn)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "observe: %s is NULL",
                      observer ? "the observer's function" : "the observer");
   AGX_TRY(agx_fork_check(semaphore));
   struct agx_observer_node *node = agx_observer_node_of(observer);
   *node = (struct agx_observer_node){.semaphore = semaphore};
   agx_list_init(&node->due);
   agx_retain(semaphore);
   agx_sync_lock(sync);
   agx_list_append(&semaphore->observers, &node->link);
   sync->watching += semaphore->shared != NULL;
   agx_list_for_each (struct agx_signal, signal, &semaphore->pending, link)
      agx_observers_await(signal);
   agx_observer_note_due(node);
   agx_device_wake(device);
   agx_device_unlock_and_run_deferred(device);
   return AGX_OK;
}

/* Notes that the observer's memory may go, and waits until no other thread is in its function. */
AGX_SYNC_LOCKED static void end_calls_unlocking(struct agx_sync_state *sync,
                                                const struct agx_observer *observer)
{
   bool again;
   do {
      again = false;
      agx_list_for_each (struct agx_observer_call, call, &sync->observer_calls, link) {
         if (call->observer != observer)
            continue;
         call->is_removed = true;
         again |= !pthread_equal(call->thread, pthread_self());
      }
      if (again)
         pthread_cond_wait(&sync->changed, &sync->lock);
   } while (again);
}

void agx_semaphore_unobserve(struct agx_semaphore *semaphore, struct agx_observer *observer)
{
   struct agx_sync_state *sync = agx_sync_of(semaphore->device);
   struct agx_observer_node *node = agx_observer_node_of(observer);
   if (agx_is_inherited(semaphore))
      return;
   agx_sync_lock(sync);
   bool is_observer = node->semaphore == semaphore;
   if (is_observer) {
      agx_list_remove(&node->link);
      agx_list_remove(&node->due);
      node->semaphore = NULL;
      sync->watching -= semaphore->shared != NULL;
   }
   end_calls_unlocking(sync, observer);
   agx_sync_unlock(sync);
   if (is_observer)
      agx_release(semaphore);
}
