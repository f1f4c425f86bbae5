/* SPDX-License-Identifier: MIT
 *
 * Semaphores that other processes see. An exported or imported semaphore has a timeline in the
 * kernel beside the host's value: submissions signal it, and shared_poll.c asks what other
 * processes have signaled there. Here are the functions of the API, which choose by kind of file.
 */
#include "hal/sync/share.h"

#include "base/util.h"
#include "hal/sync/import.h"
#include "hal/sync/notify.h"
#include "hal/sync/watch.h"
#include "hal/sync/completion.h"
#include "hal/sync/deferred.h"
#include "hal/sync/shared_poll.h"

/* ---- a timeline for a semaphore ------------------------------------------- */

/* The next signal that the kernel has; the kernel signals the timeline when that is done. What
 * comes later is signalled there by the host, or with its submission. */
static struct agx_signal *next_in_flight(const struct agx_semaphore *semaphore, uint64_t value)
{
   agx_list_for_each (struct agx_signal, signal, &semaphore->pending, link)
      if (signal->value > value && signal->submission->state == AGX_SUBMISSION_IN_FLIGHT)
         return signal;
   return NULL;
}

/* Until another thread has shared a timeline. *value: the last one that is there. */
AGX_SYNC_LOCKED static agx_status forward_pending_unlocking(struct agx_semaphore *semaphore,
                                                            struct agxw_timeline *timeline,
                                                            uint64_t *value)
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

AGX_SYNC_LOCKED static void share_timeline(struct agx_semaphore *semaphore,
                                           struct agxw_timeline *timeline, uint64_t value)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   semaphore->shared = timeline;
   semaphore->promised = value;
   agx_list_append(&sync->shared, &semaphore->shared_link);
   sync->shared_count++;
   agx_observers_share(semaphore);
   agx_semaphore_publish(semaphore);
   agx_device_interrupt(device); /* there is more to wait for */
}

/* Gives the semaphore a timeline in the kernel; another thread may be faster. */
AGX_SYNC_LOCKED static agx_status make_shared_unlocking(struct agx_semaphore *semaphore)
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

/* ---- what is on its way ------------------------------------------------------ */

/* Of this device: both lists are sorted by value. */
AGX_SYNC_LOCKED static uint64_t last_value(const struct agx_semaphore *semaphore)
{
   uint64_t value = semaphore->value;
   if (!agx_list_empty(&semaphore->pending))
      value =
         AGX_MAX(value, agx_container_of(semaphore->pending.prev, struct agx_signal, link)->value);
   if (!agx_list_empty(&semaphore->imports))
      value = AGX_MAX(
         value, agx_container_of(semaphore->imports.prev, struct agx_import, of_semaphore)->value);
   return value;
}

agx_status agx_semaphore_query_submitted(struct agx_semaphore *semaphore, uint64_t *out_value)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   uint64_t submitted = 0;
   *out_value = 0;
   AGX_TRY(agx_fork_check(semaphore));
   agx_sync_lock(sync);
   agx_status status = AGX_OK;
   if (semaphore->failure.status == AGX_OK && semaphore->shared) {
      submitted = agx_shared_query_submitted_unlocking(semaphore);
      agx_shared_poll_first(semaphore); /* it may have failed elsewhere */
      status = agx_device_poll_unlocking(device);
   }
   *out_value = AGX_MAX(last_value(semaphore), submitted);
   if (status == AGX_OK || semaphore->failure.status != AGX_OK)
      status = agx_failure_raise(&semaphore->failure);
   agx_device_unlock_and_run_deferred(device);
   return status;
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
   (void)agx_shared_query_submitted_unlocking(
      semaphore); /* what is signalled here comes above that */
   agx_shared_poll_first(semaphore);
   (void)!agx_device_poll_unlocking(device); /* a later poll may have more luck */
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
