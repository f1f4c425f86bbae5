/* SPDX-License-Identifier: MIT
 *
 * Watches: callbacks of the application for a value. Nodes lie in the application's memory; they
 * are linked to their semaphore, then, when it is time, to the device's list of those to call.
 * Whoever settles the device calls them, one after the other.
 */
#include "hal/sync/watch.h"

#include "base/util.h"
#include "hal/sync/submission.h"

/* What the library keeps in agx_watch.reserved. */
struct node {
   struct agx_link link;
   struct agx_semaphore *semaphore; /* retained; NULL: called, or taken away */
   bool is_weak;                    /* not retained: it goes with the semaphore */
};

/* A call that goes on: on the stack of its thread. */
struct agx_watch_call {
   struct agx_link link;
   const struct agx_watch *watch;
   pthread_t thread;
};

_Static_assert(sizeof(struct node) <= sizeof(((struct agx_watch *)0)->reserved),
               "agx_watch.reserved is too small");
_Static_assert(_Alignof(struct agx_watch) >= _Alignof(struct node), "agx_watch is aligned");

static struct node *node_of(struct agx_watch *watch)
{
   return (struct node *)watch->reserved;
}

static struct agx_watch *watch_of(struct agx_link *link)
{
   struct node *node = agx_container_of(link, struct node, link);
   return agx_container_of((void **)node, struct agx_watch, reserved);
}

void agx_watches_fire(struct agx_semaphore *semaphore)
{
   while (!agx_list_empty(&semaphore->watches)) {
      struct agx_link *link = semaphore->watches.next;
      if (semaphore->failure.status == AGX_OK && watch_of(link)->value > semaphore->value)
         return;
      struct node *node = node_of(watch_of(link));
      if (node->is_weak && !agx_try_retain(semaphore))
         return; /* it is about to go, and they with it */
      node->is_weak = false;
      agx_list_remove(link);
      agx_sync_of(semaphore->device)->watching--;
      agx_list_append(&agx_sync_of(semaphore->device)->fired, link);
   }
}

/* How it looks to a watch: failed, unless its value was reached before. */
static agx_status state_for(const struct agx_semaphore *semaphore, const struct agx_watch *watch)
{
   return semaphore->value >= watch->value ? AGX_OK : agx_failure_raise(&semaphore->failure);
}

bool agx_watch_call_one_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   if (agx_list_empty(&sync->fired))
      return false;
   struct agx_watch *watch = watch_of(sync->fired.next);
   struct agx_semaphore *semaphore = node_of(watch)->semaphore;
   struct agx_watch_call call = {.watch = watch, .thread = pthread_self()};
   uint64_t value = semaphore->value;
   agx_list_remove(&node_of(watch)->link);
   node_of(watch)->semaphore = NULL;
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

static void insert(struct agx_semaphore *semaphore, struct agx_watch *watch)
{
   struct agx_link *at = &semaphore->watches;
   while (at->prev != &semaphore->watches && watch_of(at->prev)->value > watch->value)
      at = at->prev;
   agx_list_insert_before(at, &node_of(watch)->link);
   agx_sync_of(semaphore->device)->watching++;
}

static void start(struct agx_semaphore *semaphore, struct agx_watch *watch, bool is_weak)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   if (!is_weak)
      agx_retain(semaphore);
   agx_sync_lock(sync);
   node_of(watch)->semaphore = semaphore;
   node_of(watch)->is_weak = is_weak;
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

void agx_watches_end(struct agx_semaphore *semaphore)
{
   struct agx_sync_state *sync = agx_sync_of(semaphore->device);
   struct agx_link weak;
   agx_list_init(&weak);
   agx_sync_lock(sync);
   agx_list_for_each (struct node, node, &semaphore->watches, link)
      sync->watching--;
   agx_list_splice(&weak, &semaphore->watches);
   agx_sync_unlock(sync);
   while (!agx_list_empty(&weak)) {
      struct agx_watch *watch = watch_of(weak.next);
      agx_list_remove(weak.next);
      watch->fn(watch, AGX_CANCELLED, semaphore->value);
   }
}

/* Until no other thread is in the watch's function. */
static void wait_for_calls(struct agx_device *device, const struct agx_watch *watch)
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
   agx_list_for_each (struct node, node, list, link)
      if (node == node_of(watch))
         return true;
   return false;
}

bool agx_semaphore_unwatch(struct agx_semaphore *semaphore, struct agx_watch *watch)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   if (agx_is_inherited(semaphore))
      return true; /* there is nobody to call it */
   agx_sync_lock(sync);
   bool was_called = false;
   agx_list_for_each (struct agx_watch_call, call, &sync->watch_calls, link)
      was_called |= call->watch == watch;
   /* While it is being called its memory may be gone, or watch anew. */
   bool is_fired = is_in(&sync->fired, watch) && node_of(watch)->semaphore == semaphore;
   bool is_linked = is_fired || (was_called ? is_in(&semaphore->watches, watch)
                                            : node_of(watch)->semaphore == semaphore);
   if (is_linked) {
      sync->watching -= !is_fired;
      agx_list_remove(&node_of(watch)->link);
      node_of(watch)->semaphore = NULL;
   } else {
      wait_for_calls(device, watch);
   }
   agx_sync_unlock(sync);
   if (is_linked)
      agx_release(semaphore);
   return is_linked;
}
