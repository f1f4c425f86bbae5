/* SPDX-License-Identifier: MIT
 *
 * Semaphores as applications make, query, signal, fail and watch them. Waiting is in wait.c, files
 * in share.c.
 */
#include <stdio.h>

#include "base/util.h"
#include "hal/sync/completion.h"
#include "hal/sync/deferred.h"
#include "hal/sync/notify.h"
#include "hal/sync/shared_poll.h"
#include "hal/sync/watch.h"

static void semaphore_destroy(struct agx_object *object)
{
   struct agx_semaphore *semaphore = agx_container_of(object, struct agx_semaphore, object);
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   if (!agx_list_empty(&semaphore->watches))
      agx_watches_end(semaphore);
   if (semaphore->shared) {
      agx_sync_lock(sync);
      agx_list_remove(&semaphore->shared_link);
      sync->shared_count--;
      agx_device_interrupt(device); /* no thread may wait for it in the kernel any more */
      agx_device_unlock_and_run_deferred(device);
      agxw_timeline_destroy(semaphore->shared);
   }
   agx_host_free(agx_context_of(device)->alloc, semaphore, sizeof(*semaphore));
   agx_release(device);
}

static void semaphore_set_label(struct agx_object *object, const char *label)
{
   struct agx_semaphore *semaphore = agx_container_of(object, struct agx_semaphore, object);
   agx_label_write(semaphore->device, semaphore->label, sizeof(semaphore->label),
                   label ? label : "semaphore");
}

static const struct agx_object_type semaphore_type = {"semaphore", semaphore_destroy,
                                                      semaphore_set_label};

agx_status agx_semaphore_create(struct agx_device *device, uint64_t initial,
                                struct agx_semaphore **out_semaphore)
{
   *out_semaphore = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_semaphore_check_value("semaphore: initial", initial));
   struct agx_semaphore *semaphore =
      agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*semaphore));
   if (!semaphore)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "semaphore: out of host memory");
   agx_object_init(&semaphore->object, &semaphore_type);
   agx_retain(device);
   semaphore->device = device;
   snprintf(semaphore->label, sizeof(semaphore->label), "semaphore");
   semaphore->value = initial;
   agx_list_init(&semaphore->pending);
   agx_list_init(&semaphore->imports);
   agx_list_init(&semaphore->waiting);
   agx_list_init(&semaphore->watches);
   agx_list_init(&semaphore->observers);
   agx_list_init(&semaphore->publication_link);
   *out_semaphore = semaphore;
   return AGX_OK;
}

agx_status agx_semaphore_query(struct agx_semaphore *semaphore, uint64_t *out_value)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   *out_value = 0;
   AGX_TRY(agx_fork_check(semaphore));
   agx_sync_lock(sync);
   /* The completion thread may not ask the kernel while nothing waits. */
   agx_status status = AGX_OK;
   if (semaphore->failure.status == AGX_OK &&
       (semaphore->shared || !agx_list_empty(&semaphore->pending))) {
      agx_shared_poll_first(semaphore);
      status = agx_device_poll_unlocking(device);
   }
   *out_value = semaphore->value;
   if (status == AGX_OK || semaphore->failure.status != AGX_OK)
      status = agx_failure_raise(&semaphore->failure);
   agx_device_unlock_and_run_deferred(device);
   return status;
}

agx_status agx_semaphore_signal(struct agx_semaphore *semaphore, uint64_t value)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   AGX_TRY(agx_fork_check(semaphore));
   AGX_TRY(agx_semaphore_check_value("semaphore: signal", value));
   agx_sync_lock(sync);
   agx_status status = agx_failure_raise(&semaphore->failure);
   if (status == AGX_OK && value <= semaphore->value)
      status = AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: signal of %llu; it is at %llu already",
                        semaphore->label, (unsigned long long)value,
                        (unsigned long long)semaphore->value);
   if (status == AGX_OK)
      agx_semaphore_advance(semaphore, value);
   agx_device_unlock_and_run_deferred(device);
   return status;
}

void agx_semaphore_fail(struct agx_semaphore *semaphore, agx_status status, const char *text)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   if (agx_is_inherited(semaphore))
      return;
   /* Other numbers would be success, or nothing, to adapters that convert by identity. */
   bool is_failure = status > AGX_OK && status <= AGX_INCOMPATIBLE;
   struct agx_failure failure = {.status = is_failure ? status : AGX_UNKNOWN};
   snprintf(failure.text, sizeof(failure.text), "%s", text ? text : "failed by the application");
   agx_sync_lock(sync);
   agx_semaphore_fail_locked(semaphore, &failure);
   agx_device_unlock_and_run_deferred(device);
}

/* ---- watches --------------------------------------------------------------- */

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
