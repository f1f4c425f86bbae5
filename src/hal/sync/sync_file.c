/* SPDX-License-Identifier: MIT
 *
 * Work of others, and for others. What the kernel has of it already becomes a point of a timeline
 * of its own, for which submissions wait on the GPU's side, and which keeps its error. The other
 * way round a sync_file carries the fences of all that a value depends on.
 */
#include <errno.h>
#include <unistd.h>

#include "base/util.h"
#include "hal/sync/share.h"
#include "hal/sync/submission.h"
#include "hal/sync/notify.h"

/* Requests in a row that lacked the memory to ask how it came out. */
#define MAX_SHORTAGES 64

/* ---- life ------------------------------------------------------------------ */

static void import_destroy(struct agx_object *object)
{
   struct agx_import *import = agx_container_of(object, struct agx_import, object);
   struct agx_device *device = import->semaphore->device;
   agx_retain(device);
   agxw_timeline_destroy(import->timeline);
   agx_release(import->semaphore);
   agx_host_free(agx_context_of(device)->alloc, import, sizeof(*import));
   agx_release(device);
}

static const struct agx_object_type import_type = {"import", import_destroy};

/* Without the lock. */
static agx_status new_import(struct agx_semaphore *semaphore, uint64_t value,
                             struct agx_import **out_import)
{
   struct agx_device *device = semaphore->device;
   struct agx_import *import = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*import));
   *out_import = NULL;
   if (!import)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "semaphore: out of host memory");
   agx_status status = agxw_timeline_create(agx_context_of(device)->winsys, 0, &import->timeline);
   if (status != AGX_OK) {
      agx_host_free(agx_context_of(device)->alloc, import, sizeof(*import));
      return status;
   }
   agx_object_init(&import->object, &import_type);
   agx_list_init(&import->link);
   agx_list_init(&import->of_semaphore);
   agx_retain(semaphore);
   import->semaphore = semaphore;
   import->value = value;
   *out_import = import;
   return AGX_OK;
}

/* Its reference is the list's. With the lock held, as in what follows. */
static void enter(struct agx_import *import)
{
   struct agx_semaphore *semaphore = import->semaphore;
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_link *head = &semaphore->imports, *at = head;
   while (at->prev != head &&
          agx_container_of(at->prev, struct agx_import, of_semaphore)->value > import->value)
      at = at->prev;
   agx_list_insert_before(at, &import->of_semaphore);
   agx_list_append(&sync->imports, &import->link);
   sync->import_count++;
   agx_waits_resolve(semaphore, import->value); /* the GPU's may go there */
   agx_device_wake(device);
   agx_device_interrupt(device);
}

void agx_import_end(struct agx_import *import, const struct agx_failure *failure)
{
   struct agx_sync_state *sync = agx_sync_of(import->semaphore->device);
   if (import->is_over)
      return;
   import->is_over = true;
   agx_list_remove(&import->of_semaphore);
   agx_list_remove(&import->link);
   sync->import_count--;
   if (failure->status != AGX_OK)
      agx_semaphore_fail_locked(import->semaphore, failure);
   else
      agx_semaphore_advance(import->semaphore, import->value);
   agx_list_append(&sync->imported, &import->link);
}

agx_status agx_import_reached_unlocking(struct agx_import *import)
{
   struct agx_sync_state *sync = agx_sync_of(import->semaphore->device);
   const struct agxw_point point = {import->timeline, 1};
   struct agx_failure failure = {0};
   if (import->is_over)
      return AGX_OK;
   agx_sync_unlock(sync);
   agx_failure_keep(&failure, agxw_point_status(&point));
   agx_sync_lock(sync);
   if (failure.status == AGX_RESOURCE_EXHAUSTED && ++import->shortages < MAX_SHORTAGES) {
      sync->lacks_memory = true;
      return AGX_RESOURCE_EXHAUSTED;
   }
   agx_import_end(import, &failure);
   return AGX_OK;
}

static agx_status poll_import_unlocking(struct agx_import *import)
{
   struct agx_sync_state *sync = agx_sync_of(import->semaphore->device);
   uint64_t value = 0;
   agx_sync_unlock(sync);
   agx_status status = agxw_timeline_query(import->timeline, &value);
   agx_sync_lock(sync);
   return value ? agx_import_reached_unlocking(import) : status;
}

agx_status agx_imports_poll_unlocking(struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->wait_count; i++) {
      struct agx_import *import = submission->waits[i].import;
      if (import && !import->is_over)
         AGX_TRY(poll_import_unlocking(import));
   }
   return AGX_OK;
}

bool agx_import_release_ended_unlocking(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   if (agx_list_empty(&sync->imported))
      return false;
   struct agx_import *import = agx_container_of(sync->imported.next, struct agx_import, link);
   agx_list_remove(&import->link);
   agx_sync_unlock(sync);
   agx_release(import);
   agx_sync_lock(sync);
   return true;
}

void agx_device_cancel_imports(struct agx_device *device, const struct agx_failure *failure)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_list_for_each_safe (struct agx_import, import, &sync->imports, link)
      if (!import->is_of_timeline)
         agx_import_end(import, failure);
}

/* ---- in ---------------------------------------------------------------------- */

void agx_import_shared_unlocking(struct agx_semaphore *semaphore, uint64_t value)
{
   struct agx_sync_state *sync = agx_sync_of(semaphore->device);
   struct agx_import *import = NULL;
   const struct agxw_point from = {semaphore->shared, value};
   agx_sync_unlock(sync);
   agx_status status = new_import(semaphore, value, &import);
   if (status == AGX_OK) {
      const struct agxw_point to = {import->timeline, 1};
      import->is_of_timeline = true;
      status = agxw_point_transfer(&from, &to);
   }
   if (status != AGX_OK)
      agx_release(import); /* what waits for it stays with the host */
   agx_sync_lock(sync);
   if (status == AGX_OK)
      enter(import);
}

agx_status agx_import_sync_file(struct agx_semaphore *semaphore, uint64_t value, int fd)
{
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_import *import;
   AGX_TRY(new_import(semaphore, value, &import));
   const struct agxw_point point = {import->timeline, 1};
   agx_status status = agxw_point_import_sync_file(&point, fd);
   if (status != AGX_OK) {
      agx_release(import);
      return status;
   }
   close(fd);
   agx_retain(import);
   agx_sync_lock(sync);
   enter(import);
   (void)poll_import_unlocking(import); /* others will */
   agx_device_unlock_and_run_deferred(device);
   agx_release(import);
   return AGX_OK;
}

/* ---- out --------------------------------------------------------------------- */

/* What a sync_file is to stand for. */
struct cause {
   struct agx_frontier frontier;               /* of our queues; what is retired is left out */
   struct agx_import *imports[AGX_MAX_POINTS]; /* of others, retained */
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
static agx_status read_signal(const struct agx_signal *signal, struct cause *cause)
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
static agx_status find_cause(struct agx_semaphore *semaphore, uint64_t value, struct cause *cause)
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
                      "semaphore at %llu: nobody has submitted what reaches %llu, which a "
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

/* What was over before it came into the file is known to have failed after a look at all. */
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
   struct cause cause = {0};
   agx_sync_lock(sync);
   agx_shared_poll_first(semaphore);
   agx_status status = agx_device_poll_unlocking(device);
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
