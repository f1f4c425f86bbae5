/* SPDX-License-Identifier: MIT
 *
 * Polling timelines that other processes signal, too. One request asks for the values of many
 * shared semaphores and imports at once, without the lock; then the answer is taken in.
 * completion.c does so whenever a thread asks how far the device is.
 */
#include "hal/sync/shared_poll.h"

#include "base/util.h"
#include "hal/sync/import.h"
#include "hal/sync/notify.h"
#include "hal/sync/points.h"
#include "hal/sync/submission.h"

static void add_to_poll(struct agx_shared_poll *poll, void *object, struct agxw_timeline *timeline)
{
   poll->objects[poll->count] = object;
   poll->timelines[poll->count] = timeline;
   poll->values[poll->count++] = 0;
}

/* The first ones of each list, which go to its end. */
static void gather(struct agx_device *device, struct agx_shared_poll *poll)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   poll->count = 0;
   for (uint32_t i = AGX_MIN(sync->shared_count, AGX_SHARED_POLL_MAX); i > 0; i--) {
      struct agx_semaphore *semaphore =
         agx_container_of(sync->shared.next, struct agx_semaphore, shared_link);
      agx_list_remove(&semaphore->shared_link);
      agx_list_append(&sync->shared, &semaphore->shared_link);
      /* One whose last reference just went is about to leave the list. */
      if (semaphore->failure.status == AGX_OK && agx_try_retain(semaphore))
         add_to_poll(poll, semaphore, semaphore->shared);
   }
   poll->semaphore_count = poll->count;
   for (uint32_t i = AGX_MIN(sync->import_count, AGX_SHARED_POLL_MAX); i > 0; i--) {
      struct agx_import *import = agx_container_of(sync->imports.next, struct agx_import, link);
      agx_list_remove(&import->link);
      agx_list_append(&sync->imports, &import->link);
      agx_retain(import);
      add_to_poll(poll, import, import->timeline);
   }
}

void agx_shared_poll_begin_unlocking(struct agx_device *device, struct agx_shared_poll *poll)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   gather(device, poll);
   poll->failure.status = AGX_OK;
   agx_sync_unlock(sync);
   agx_status status = agxw_timelines_query(agx_context_of(device)->winsys, poll->timelines,
                                            poll->count, false, poll->values);
   agx_sync_lock(sync);
   if (status != AGX_RESOURCE_EXHAUSTED) /* which passes */
      agx_failure_keep(&poll->failure, status);
}

/* Whether a part of its timeline that was imported by itself is not known to be over: how that came
 * out must be known before. */
static bool is_ahead_of_imports(const struct agx_semaphore *semaphore, uint64_t value)
{
   agx_list_for_each (struct agx_import, import, &semaphore->imports, of_semaphore)
      if (import->is_of_timeline && import->value <= value)
         return true;
   return false;
}

/* Whether the value may be of own work, whose outcome is known when it is retired: what was
 * submitted since the kernel was asked, or is in the request still. */
static bool is_of_own(const struct agx_semaphore *semaphore, uint64_t value)
{
   if (semaphore->is_adding)
      return true;
   agx_list_for_each (struct agx_signal, signal, &semaphore->pending, link)
      if (signal->is_shared && signal->value <= value)
         return true;
   return false;
}

/* The kernel's value. What this device has submitted is retired and signalled by then: what is new
 * is another's, whose last fence is asked. */
AGX_SYNC_LOCKED static void take_in_unlocking(struct agx_semaphore *semaphore, uint64_t value)
{
   struct agx_sync_state *sync = agx_sync_of(semaphore->device);
   struct agx_failure failure = {0};
   if (value == AGX_SHARED_FAILED) {
      failure = (struct agx_failure){AGX_ABORTED, "a shared semaphore failed on its other side"};
   } else if (value > semaphore->value) {
      if (is_of_own(semaphore, value) || is_ahead_of_imports(semaphore, value))
         return;
      const struct agxw_point point = {semaphore->shared, value};
      agx_sync_unlock(sync);
      agx_failure_keep(&failure, agxw_point_status(&point));
      agx_sync_lock(sync);
   }
   if (failure.status == AGX_RESOURCE_EXHAUSTED && ++semaphore->shortages < AGX_MAX_SHORTAGES) {
      sync->lacks_memory = true;
      return;
   }
   semaphore->shortages = 0;
   semaphore->promised = AGX_MAX(semaphore->promised, value);
   if (failure.status != AGX_OK)
      agx_semaphore_fail_locked(semaphore, &failure);
   else
      agx_semaphore_advance(semaphore, value);
}

/* The lowest value that is waited for, and that another process has submitted. False: there is
 * none. */
AGX_SYNC_LOCKED static bool find_submitted(struct agx_semaphore *semaphore, uint64_t submitted,
                                           uint64_t *out_value)
{
   agx_list_for_each (struct agx_wait, wait, &semaphore->waiting, link) {
      const struct agx_point point = {semaphore, wait->value};
      struct agx_cause cause;
      if (wait->value > submitted)
         return false;
      *out_value = wait->value;
      if (agx_point_resolve(&point, &cause) == AGX_NOT_YET)
         return true;
   }
   return false;
}

uint64_t agx_shared_query_submitted_unlocking(struct agx_semaphore *semaphore)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   uint64_t submitted = 0;
   agx_sync_unlock(sync);
   (void)!agxw_timelines_query(agx_context_of(device)->winsys, &semaphore->shared, 1, true,
                               &submitted);
   agx_sync_lock(sync);
   semaphore->promised = AGX_MAX(semaphore->promised, submitted);
   return submitted == AGX_SHARED_FAILED || semaphore->is_adding ? 0 : submitted;
}

#define IMPORTS_A_POLL 8

/* What is parked for a value that another process has submitted by now need not be. */
AGX_SYNC_LOCKED static void import_waited_unlocking(struct agx_semaphore *semaphore)
{
   uint64_t value, submitted;
   if (agx_list_empty(&semaphore->waiting) || semaphore->failure.status != AGX_OK)
      return;
   submitted = agx_shared_query_submitted_unlocking(semaphore);
   for (uint32_t i = 0; i < IMPORTS_A_POLL && find_submitted(semaphore, submitted, &value); i++)
      agx_import_shared_unlocking(semaphore, value);
}

/* of one semaphore */

void agx_shared_poll_take_unlocking(struct agx_device *device, struct agx_shared_poll *poll)
{
   bool has_failed = poll->failure.status != AGX_OK;
   for (uint32_t i = poll->semaphore_count; i < poll->count; i++) {
      if (has_failed)
         agx_import_end(poll->objects[i], &poll->failure);
      else if (poll->values[i])
         (void)agx_import_reached_unlocking(poll->objects[i]);
   }
   for (uint32_t i = 0; i < poll->semaphore_count; i++) {
      if (has_failed)
         agx_semaphore_fail_locked(poll->objects[i], &poll->failure);
      else
         take_in_unlocking(poll->objects[i], poll->values[i]);
      import_waited_unlocking(poll->objects[i]);
   }
}

void agx_shared_poll_end_unlocking(struct agx_device *device, struct agx_shared_poll *poll)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_sync_unlock(sync);
   for (uint32_t i = 0; i < poll->count; i++)
      agx_release(poll->objects[i]);
   agx_sync_lock(sync);
}

void agx_shared_poll_first(struct agx_semaphore *semaphore)
{
   if (!semaphore->shared)
      return;
   agx_list_remove(&semaphore->shared_link);
   agx_list_insert_after(&agx_sync_of(semaphore->device)->shared, &semaphore->shared_link);
}

void agx_points_import_unlocking(const struct agx_point *points, uint32_t count)
{
   for (uint32_t i = 0; i < count; i++) {
      struct agx_semaphore *semaphore = points[i].semaphore;
      struct agx_cause cause;
      if (semaphore->shared && agx_point_resolve(&points[i], &cause) == AGX_NOT_YET &&
          agx_shared_query_submitted_unlocking(semaphore) >= points[i].value)
         agx_import_shared_unlocking(semaphore, points[i].value);
   }
}

uint32_t agx_device_shared_points(struct agx_device *device, struct agxw_point *points,
                                  void **objects, uint32_t capacity)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   uint32_t count = 0;
   agx_list_for_each (struct agx_semaphore, semaphore, &sync->shared, shared_link) {
      if (count == capacity || semaphore->failure.status != AGX_OK || !agx_try_retain(semaphore))
         continue;
      objects[count] = semaphore;
      points[count++] = (struct agxw_point){semaphore->shared, semaphore->value + 1};
   }
   agx_list_for_each (struct agx_import, import, &sync->imports, link) {
      if (count == capacity)
         break;
      agx_retain(import);
      objects[count] = import;
      points[count++] = (struct agxw_point){import->timeline, 1};
   }
   return count;
}
