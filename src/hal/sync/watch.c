/* SPDX-License-Identifier: MIT
 *
 * Watches: callbacks of the application for a value, agx_semaphore_watch and
 * agx_semaphore_unwatch. Nodes lie in the application's memory; a node is linked to its semaphore,
 * then, when the watch is due, to the device's list of those to call (watch_call.c).
 */
#include "hal/sync/watch.h"

#include "base/util.h"
#include "hal/sync/deferred.h"
#include "hal/sync/notify.h"
#include "hal/sync/watch_call.h"

static void insert(struct agx_semaphore *semaphore, struct agx_watch *watch)
{
   struct agx_link *at = &semaphore->watches;
   while (at->prev != &semaphore->watches && agx_watch_of(at->prev)->value > watch->value)
      at = at->prev;
   agx_list_insert_before(at, &agx_watch_node_of(watch)->link);
   agx_sync_of(semaphore->device)->watching++;
}

static void start(struct agx_semaphore *semaphore, struct agx_watch *watch, bool is_weak)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   if (!is_weak)
      agx_retain(semaphore);
   agx_sync_lock(sync);
   agx_watch_node_of(watch)->semaphore = semaphore;
   agx_watch_node_of(watch)->is_weak = is_weak;
   insert(semaphore, watch);
   agx_watches_fire(semaphore);
   if (sync->watching)
      agx_device_wake(device);
   agx_device_unlock_and_run_deferred(device);
}

agx_status agx_semaphore_watch(struct agx_semaphore *semaphore, struct agx_watch *watch)
{
   if (!watch || !watch->fn)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "watch: %s is NULL", watch ? "its function" : "it");
   AGX_TRY(agx_fork_check(semaphore));
   start(semaphore, watch, false);
   return AGX_OK;
}

void agx_semaphore_watch_weakly(struct agx_semaphore *semaphore, struct agx_watch *watch)
{
   start(semaphore, watch, true);
}

/* Until no other thread is in the watch's function. */
AGX_SYNC_LOCKED static void wait_for_calls_unlocking(struct agx_device *device,
                                                     const struct agx_watch *watch)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   bool again;
   do {
      again = false;
      agx_list_for_each (struct agx_watch_call, call, &sync->watch_calls, link)
         again |= call->watch == watch && !pthread_equal(call->thread, pthread_self());
      if (again)
         pthread_cond_wait(&sync->changed, &sync->lock);
   } while (again);
}

static bool is_in(const struct agx_link *list, struct agx_watch *watch)
{
   agx_list_for_each (struct agx_watch_node, node, list, link)
      if (node == agx_watch_node_of(watch))
         return true;
   return false;
}

bool agx_semaphore_unwatch(struct agx_semaphore *semaphore, struct agx_watch *watch)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   if (agx_is_inherited(semaphore))
      return true; /* there is no thread to call it */
   agx_sync_lock(sync);
   bool was_called = false;
   agx_list_for_each (struct agx_watch_call, call, &sync->watch_calls, link)
      was_called |= call->watch == watch;
   /* While it is being called its memory may be gone, or watch anew. */
   bool is_fired = is_in(&sync->fired, watch) && agx_watch_node_of(watch)->semaphore == semaphore;
   bool is_linked = is_fired || (was_called ? is_in(&semaphore->watches, watch)
                                            : agx_watch_node_of(watch)->semaphore == semaphore);
   if (is_linked) {
      sync->watching -= !is_fired;
      agx_list_remove(&agx_watch_node_of(watch)->link);
      agx_watch_node_of(watch)->semaphore = NULL;
   } else {
      wait_for_calls_unlocking(device, watch);
   }
   agx_sync_unlock(sync);
   if (is_linked)
      agx_release(semaphore);
   return is_linked;
}
