/* SPDX-License-Identifier: MIT
 *
 * Calling watches. A value that is reached, or a failure, moves watches from their semaphore to
 * the list of those to be called (semaphore.c); deferred.c has them called one by one, without the
 * lock. Nodes lie in the application's memory.
 */
#include "hal/sync/watch.h"

#include "base/util.h"
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
static agx_status state_for(const struct agx_semaphore *semaphore, const struct agx_watch *watch)
{
   return semaphore->value >= watch->value ? AGX_OK : agx_failure_raise(&semaphore->failure);
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
