/* SPDX-License-Identifier: MIT
 *
 * Calling watches and observers. A value that is reached, or a failure, moves watches from their
 * semaphore to the list of those to be called (semaphore.c); deferred.c has them called one by one,
 * without the lock. The same of observers, which are in one call at a time: what changes meanwhile
 * is told by the next call of the same thread. Nodes lie in the application's memory.
 */
#include "hal/sync/watch.h"

#include "base/util.h"
#include "hal/sync/notify.h"
#include "hal/sync/semaphore.h"

void agx_watches_fire(struct agx_semaphore *semaphore)
{
   while (!agx_list_empty(&semaphore->watches)) {
      struct agx_link *link = semaphore->watches.next;
      if (semaphore->failure.status == AGX_OK && agx_watch_of(link)->value > semaphore->value)
         return;
      struct agx_watch_node *node = agx_watch_node_of(agx_watch_of(link));
      if (node->is_weak && !agx_try_retain(semaphore))
         return; /* it is about to go, and they with it */
      node->is_weak = false;
      agx_list_remove(link);
      agx_sync_of(semaphore->device)->watching--;
      agx_list_append(&agx_sync_of(semaphore->device)->fired, link);
   }
}

/* The status for a watch: failed, unless its value was reached before. */
AGX_SYNC_LOCKED static agx_status state_for(const struct agx_semaphore *semaphore,
                                            const struct agx_watch *watch)
{
   return agx_semaphore_has_reached(semaphore, watch->value)
             ? AGX_OK
             : agx_failure_raise(&semaphore->failure);
}

bool agx_watch_call_one_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   if (agx_list_empty(&sync->fired))
      return false;
   struct agx_watch *watch = agx_watch_of(sync->fired.next);
   struct agx_semaphore *semaphore = agx_watch_node_of(watch)->semaphore;
   struct agx_watch_call call = {.watch = watch, .thread = pthread_self()};
   uint64_t value = semaphore->value;
   agx_list_remove(&agx_watch_node_of(watch)->link);
   agx_watch_node_of(watch)->semaphore = NULL;
   agx_list_append(&sync->watch_calls, &call.link);
   agx_status status = state_for(semaphore, watch);
   agx_sync_unlock(sync);
   watch->fn(watch, status, value);
   /* It may be gone by now. */
   agx_release(semaphore);
   agx_sync_lock(sync);
   agx_list_remove(&call.link);
   pthread_cond_broadcast(&sync->changed);
   return true;
}

void agx_watches_end(struct agx_semaphore *semaphore)
{
   struct agx_sync_state *sync = agx_sync_of(semaphore->device);
   struct agx_link weak;
   agx_list_init(&weak);
   agx_sync_lock(sync);
   agx_list_for_each (struct agx_watch_node, node, &semaphore->watches, link)
      sync->watching--;
   agx_list_splice(&weak, &semaphore->watches);
   agx_sync_unlock(sync);
   while (!agx_list_empty(&weak)) {
      struct agx_watch *watch = agx_watch_of(weak.next);
      agx_list_remove(weak.next);
      watch->fn(watch, AGX_CANCELLED, semaphore->value);
   }
}

/* ---- observers that are due ---------------------------------------------------- */

void agx_observer_note_due(struct agx_observer_node *node)
{
   const struct agx_semaphore *semaphore = node->semaphore;
   bool has_news = semaphore->value > agx_observer_of(node)->value ||
                   (semaphore->failure.status != AGX_OK && !node->knows_failure);
   if (has_news && !node->knows_failure && !node->is_called && agx_list_empty(&node->due))
      agx_list_append(&agx_sync_of(semaphore->device)->due_observers, &node->due);
}

void agx_observers_fire(struct agx_semaphore *semaphore)
{
   agx_list_for_each (struct agx_observer_node, node, &semaphore->observers, link)
      agx_observer_note_due(node);
}

bool agx_observer_call_one_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   if (agx_list_empty(&sync->due_observers))
      return false;
   struct agx_observer_node *node =
      agx_container_of(sync->due_observers.next, struct agx_observer_node, due);
   struct agx_observer *observer = agx_observer_of(node);
   const struct agx_semaphore *semaphore = node->semaphore;
   struct agx_observer_call call = {.observer = observer, .thread = pthread_self()};
   const uint64_t value = observer->value = semaphore->value;
   agx_status status = agx_failure_raise(&semaphore->failure);
   agx_list_remove(&node->due);
   node->is_called = true;
   node->knows_failure = status != AGX_OK;
   agx_list_append(&sync->observer_calls, &call.link);
   agx_sync_unlock(sync);
   observer->fn(observer, status, value);
   agx_sync_lock(sync);
   agx_list_remove(&call.link);
   if (!call.is_removed) {
      node->is_called = false;
      agx_observer_note_due(node);
   } else {
      pthread_cond_broadcast(&sync->changed);
   }
   return true;
}

/* ---- what observers wait for ---------------------------------------------------- */

void agx_observers_await(struct agx_signal *signal)
{
   struct agx_semaphore *semaphore = signal->semaphore;
   if (signal->is_observed || agx_list_empty(&semaphore->observers))
      return;
   signal->is_observed = true;
   agx_sync_of(semaphore->device)->watching++;
   agx_device_note_flight(semaphore->device);
}

void agx_observers_had(struct agx_signal *signal)
{
   agx_sync_of(signal->semaphore->device)->watching -= signal->is_observed;
   signal->is_observed = false;
}

void agx_observers_share(struct agx_semaphore *semaphore)
{
   agx_list_for_each (struct agx_observer_node, node, &semaphore->observers, link)
      agx_sync_of(semaphore->device)->watching++;
}
