/* SPDX-License-Identifier: MIT
 *
 * Sync_files, in and out; share.c calls it for AGX_FD_SYNC_FILE. What comes in becomes an import
 * (import.c). What goes out carries the fences of all that a value depends on.
 */
#include <errno.h>
#include <unistd.h>

#include "hal/sync/share.h"
#include "hal/sync/completion.h"
#include "hal/sync/deferred.h"
#include "hal/sync/import.h"
#include "hal/sync/points.h"
#include "hal/sync/shared_poll.h"

/* ---- in ---------------------------------------------------------------------- */

agx_status agx_import_sync_file(struct agx_semaphore *semaphore, uint64_t value, int fd)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_import *import;
   AGX_TRY(agx_import_create(semaphore, value, &import));
   const struct agxw_point point = {import->timeline, 1};
   agx_status status = agxw_point_import_sync_file(&point, fd);
   if (status != AGX_OK) {
      agx_release(import);
      return status;
   }
   close(fd);
   agx_retain(import);
   agx_sync_lock(sync);
   agx_import_enter(import);
   (void)agx_import_poll_unlocking(import); /* a later poll will */
   agx_device_unlock_and_run_deferred(device);
   agx_release(import);
   return AGX_OK;
}

/* ---- out --------------------------------------------------------------------- */

/* What a sync_file is to stand for. */
struct cause {
   struct agx_frontier frontier;               /* of our queues; what is retired is left out */
   struct agx_import *imports[AGX_MAX_POINTS]; /* retained */
   uint32_t import_count;
};

static void drop_cause(struct cause *cause)
{
   for (uint32_t i = 0; i < cause->import_count; i++)
      agx_release(cause->imports[i]);
   cause->import_count = 0;
}

static void add_import(struct cause *cause, struct agx_import *import)
{
   if (!import || import->is_over)
      return;
   agx_retain(import);
   cause->imports[cause->import_count++] = import;
}

/* All that the signal's submission depends on. Failures that are known, and that it will share. */
AGX_SYNC_LOCKED static agx_status read_signal(const struct agx_signal *signal, struct cause *cause)
{
   const struct agx_submission *submission = signal->submission;
   const struct agx_failure *failure = agx_submission_failed_wait(submission);
   if (failure)
      return agx_failure_raise(failure);
   cause->frontier = submission->waited;
   agx_frontier_merge(&cause->frontier, &submission->frontier);
   for (unsigned i = 0; i < agx_sync_of(submission->device)->queue_count; i++) {
      const struct agx_queue *queue = &agx_sync_of(submission->device)->queues[i];
      uint64_t epoch = cause->frontier.epochs[i];
      if (epoch && epoch >= queue->failed_first && epoch <= queue->failed_last)
         return agx_failure_raise(&queue->failed);
      if (epoch <= queue->retired)
         cause->frontier.epochs[i] = 0;
   }
   for (uint32_t i = 0; i < submission->wait_count; i++)
      add_import(cause, submission->waits[i].import);
   return AGX_OK;
}

/* With the lock held. */
AGX_SYNC_LOCKED static agx_status find_cause(struct agx_semaphore *semaphore, uint64_t value,
                                             struct cause *cause)
{
   const struct agx_point point = {semaphore, value};
   struct agx_cause found;
   *cause = (struct cause){0};
   switch (agx_point_resolve(&point, &found)) {
   case AGX_READY:
      return found.signal ? read_signal(found.signal, cause) : AGX_OK;
   case AGX_ELSEWHERE:
      add_import(cause, found.import);
      return AGX_OK;
   case AGX_WAIT_FAILED:
      return agx_failure_raise(&semaphore->failure);
   default:
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "semaphore at %llu: no submitted operation reaches %llu, which a "
                      "sync_file must stand for",
                      (unsigned long long)semaphore->value, (unsigned long long)value);
   }
}

/* A timeline forgets the errors of earlier points, and so does a file of its last one: merged with
 * itself, that becomes a set of all fences that are pending in it, each with its error. Of several
 * fences of one queue of the GPU Linux keeps the last, which to it stands for all. */
static agx_status export_all(struct agx_device *device, const struct agxw_point *last, int *out_fd)
{
   int chain = -1;
   if (last->value == 0)
      return agxw_point_export_sync_file(last, out_fd);
   AGX_TRY(agxw_point_export_sync_file(last, &chain));
   agx_status status = agxw_sync_file_merge(agx_context_of(device)->winsys, chain, chain, out_fd);
   close(chain);
   return status;
}

/* Without the lock. What fails before it gets into the file is lost there. */
static agx_status export_cause(struct agx_device *device, const struct cause *cause, int *out_fd)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agxw_timeline *all = NULL;
   struct agxw_point last;
   agx_status status = agxw_timeline_create(agx_context_of(device)->winsys, 0, &all);
   last = (struct agxw_point){all, 0}; /* which is reached */
   for (unsigned i = 0; i < sync->queue_count && status == AGX_OK; i++) {
      const struct agxw_point from = {sync->queues[i].timeline, cause->frontier.epochs[i]};
      if (from.value == 0)
         continue;
      last.value++;
      status = agxw_point_transfer(&from, &last);
   }
   for (uint32_t i = 0; i < cause->import_count && status == AGX_OK; i++) {
      const struct agxw_point from = {cause->imports[i]->timeline, 1};
      last.value++;
      status = agxw_point_transfer(&from, &last);
   }
   if (status == AGX_OK)
      status = export_all(device, &last, out_fd);
   agxw_timeline_destroy(all);
   return status;
}

/* What was over before it came into the file is known to have failed after a poll. */
static agx_status check_cause(struct agx_semaphore *semaphore, uint64_t value)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct cause cause = {0};
   agx_sync_lock(sync);
   agx_status status = agx_device_poll_unlocking(device);
   if (status == AGX_OK)
      status = find_cause(semaphore, value, &cause);
   agx_device_unlock_and_run_deferred(device);
   drop_cause(&cause);
   return status;
}

agx_status agx_export_sync_file(struct agx_semaphore *semaphore, uint64_t value, int *out_fd)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   const struct agx_point point = {semaphore, value};
   struct cause cause = {0};
   agx_sync_lock(sync);
   agx_shared_poll_first(semaphore);
   agx_status status = agx_device_poll_unlocking(device);
   if (status == AGX_OK)
      agx_points_import_unlocking(&point, 1); /* what another process has submitted */
   if (status == AGX_OK)
      status = agx_failure_raise(&semaphore->failure);
   if (status == AGX_OK)
      status = find_cause(semaphore, value, &cause);
   agx_device_unlock_and_run_deferred(device);
   if (status == AGX_OK)
      status = export_cause(device, &cause, out_fd);
   drop_cause(&cause);
   if (status == AGX_OK)
      status = check_cause(semaphore, value);
   if (status != AGX_OK && *out_fd >= 0) {
      close(*out_fd);
      *out_fd = -1;
   }
   return status;
}
