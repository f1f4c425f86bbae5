/* SPDX-License-Identifier: MIT
 *
 * Timelines that others have, too. An exported or imported semaphore has a timeline in the kernel
 * beside the host's value: submissions signal it, and what others signal there is asked for
 * whenever somebody waits. All is asked with one request, without the device's lock.
 */
#include "hal/sync/share.h"

#include "base/util.h"
#include "hal/sync/submission.h"
#include "hal/sync/notify.h"

/* Looks in a row that lacked the memory to ask, after which that counts as a failure. */
#define MAX_SHORTAGES 64

/* ---- a timeline for a semaphore ------------------------------------------- */

/* The next signal that the kernel has; it tells the timeline when that is done. What comes later
 * is signalled there by the host, or with its submission. */
static struct agx_signal *next_in_flight(const struct agx_semaphore *semaphore, uint64_t value)
{
   agx_list_for_each (struct agx_signal, signal, &semaphore->pending, link)
      if (signal->value > value && signal->submission->state == AGX_SUBMISSION_IN_FLIGHT)
         return signal;
   return NULL;
}

/* Until somebody else has published a timeline. *value: the last one that is there. */
static agx_status forward_pending_unlocking(struct agx_semaphore *semaphore,
                                            struct agxw_timeline *timeline, uint64_t *value)
{
   struct agx_sync_state *sync = agx_sync_of(semaphore->device);
   struct agx_signal *signal;
   agx_status status = AGX_OK;
   while (status == AGX_OK && !semaphore->shared && (signal = next_in_flight(semaphore, *value))) {
      const struct agx_submission *submission = signal->submission;
      const struct agxw_point from = {submission->queue->timeline, submission->epoch};
      const struct agxw_point to = {timeline, signal->value};
      *value = signal->value;
      signal->is_shared = true;
      agx_sync_unlock(sync);
      status = agxw_point_transfer(&from, &to);
      agx_sync_lock(sync);
   }
   return status;
}

static void share_timeline(struct agx_semaphore *semaphore, struct agxw_timeline *timeline,
                           uint64_t value)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   semaphore->shared = timeline;
   semaphore->promised = value;
   agx_list_append(&sync->shared, &semaphore->shared_link);
   sync->shared_count++;
   agx_semaphore_publish(semaphore);
   agx_device_interrupt(device); /* there is more to wait for */
}

/* With the lock held, which is let go of meanwhile; somebody else may be faster. */
static agx_status make_shared_unlocking(struct agx_semaphore *semaphore)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   uint64_t value = semaphore->value;
   struct agxw_timeline *timeline = NULL;
   if (semaphore->shared)
      return AGX_OK;
   agx_sync_unlock(sync);
   agx_status status = agxw_timeline_create(agx_context_of(device)->winsys, value, &timeline);
   agx_sync_lock(sync);
   if (status == AGX_OK)
      status = forward_pending_unlocking(semaphore, timeline, &value);
   if (status == AGX_OK && !semaphore->shared) {
      share_timeline(semaphore, timeline, value);
      return AGX_OK;
   }
   agx_sync_unlock(sync);
   agxw_timeline_destroy(timeline);
   agx_sync_lock(sync);
   return status;
}

/* ---- looking --------------------------------------------------------------- */

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

/* Whether the value may be of own work, which tells more of itself when it is retired: what was
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

/* The kernel's value. What this device has submitted is retired, and told by then: what is new is
 * another's, whose last fence is asked. */
static void take_in_unlocking(struct agx_semaphore *semaphore, uint64_t value)
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
   if (failure.status == AGX_RESOURCE_EXHAUSTED && ++semaphore->shortages < MAX_SHORTAGES) {
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

/* The lowest value that is waited for, that others have submitted. False: there is none. */
static bool find_submitted(struct agx_semaphore *semaphore, uint64_t submitted, uint64_t *out_value)
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

/* By others. 0: it is not known. */
static uint64_t query_submitted_unlocking(struct agx_semaphore *semaphore)
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

#define IMPORTS_A_POLL 8 /* of one semaphore */

/* What is parked for a value that others have submitted by now need not be. */
static void import_waited_unlocking(struct agx_semaphore *semaphore)
{
   uint64_t value, submitted;
   if (agx_list_empty(&semaphore->waiting) || semaphore->failure.status != AGX_OK)
      return;
   submitted = query_submitted_unlocking(semaphore);
   for (uint32_t i = 0; i < IMPORTS_A_POLL && find_submitted(semaphore, submitted, &value); i++)
      agx_import_shared_unlocking(semaphore, value);
}

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
          query_submitted_unlocking(semaphore) >= points[i].value)
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

/* ---- out and in ------------------------------------------------------------ */

static agx_status export_syncobj(struct agx_semaphore *semaphore, int *out_fd)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_sync_lock(sync);
   agx_status status = agx_failure_raise(&semaphore->failure);
   if (status == AGX_OK)
      status = make_shared_unlocking(semaphore);
   agx_device_unlock_and_run_deferred(device);
   return status == AGX_OK ? agxw_timeline_export(semaphore->shared, out_fd) : status;
}

agx_status agx_semaphore_export(struct agx_semaphore *semaphore, uint64_t value, uint32_t kind,
                                int *out_fd)
{
   *out_fd = -1;
   AGX_TRY(agx_fork_check(semaphore));
   switch (kind) {
   case AGX_FD_EVENTFD:
      return agx_export_eventfd(semaphore, value, out_fd);
   case AGX_FD_SYNC_FILE:
      return agx_export_sync_file(semaphore, value, out_fd);
   case AGX_FD_SYNCOBJ:
      return export_syncobj(semaphore, out_fd);
   default:
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "semaphore: export as a file of kind %u", kind);
   }
}

agx_status agx_semaphore_import(struct agx_device *device, int fd,
                                struct agx_semaphore **out_semaphore)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agxw_timeline *timeline = NULL;
   struct agx_semaphore *semaphore = NULL;
   *out_semaphore = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agxw_timeline_import(agx_context_of(device)->winsys, fd, &timeline));
   agx_status status = agx_semaphore_create(device, 0, &semaphore);
   if (status != AGX_OK) {
      agxw_timeline_destroy(timeline);
      return status;
   }
   agx_sync_lock(sync);
   share_timeline(semaphore, timeline, 0);
   (void)query_submitted_unlocking(semaphore); /* what is signalled here comes above that */
   agx_shared_poll_first(semaphore);
   (void)!agx_device_poll_unlocking(device); /* another look may have more luck */
   agx_device_unlock_and_run_deferred(device);
   *out_semaphore = semaphore;
   return AGX_OK;
}

agx_status agx_semaphore_import_point(struct agx_semaphore *semaphore, uint64_t value,
                                      uint32_t kind, int fd)
{
   uint64_t now = 0;
   AGX_TRY(agx_semaphore_check_value("semaphore: import of a point", value));
   AGX_TRY(agx_semaphore_query(semaphore, &now));
   if (value <= now)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "semaphore: import of %llu; it is at %llu already",
                      (unsigned long long)value, (unsigned long long)now);
   if (kind == AGX_FD_SYNC_FILE)
      return agx_import_sync_file(semaphore, value, fd);
   if (kind == AGX_FD_EVENTFD)
      return agx_import_file(semaphore, value, fd);
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "semaphore: import of a point from a file of kind %u",
                   kind);
}
