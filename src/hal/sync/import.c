/* SPDX-License-Identifier: MIT
 *
 * Imports: work of other processes or devices that a value of a semaphore waits for, as point 1 of
 * a timeline of its own in the kernel. Submissions wait for it on the GPU's side, and it keeps its
 * error. shared_poll.c and sync_file.c make imports, completion.c and shared_poll.c end them,
 * deferred.c releases them.
 */
#include "hal/sync/import.h"

#include "base/util.h"
#include "hal/sync/notify.h"
#include "hal/sync/points.h"
#include "hal/sync/submission.h"

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
agx_status agx_import_create(struct agx_semaphore *semaphore, uint64_t value,
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

void agx_import_enter(struct agx_import *import)
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
   if (failure.status == AGX_RESOURCE_EXHAUSTED && ++import->shortages < AGX_MAX_SHORTAGES) {
      sync->lacks_memory = true;
      return AGX_RESOURCE_EXHAUSTED;
   }
   agx_import_end(import, &failure);
   return AGX_OK;
}

agx_status agx_import_poll_unlocking(struct agx_import *import)
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
         AGX_TRY(agx_import_poll_unlocking(import));
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

void agx_import_shared_unlocking(struct agx_semaphore *semaphore, uint64_t value)
{
   struct agx_sync_state *sync = agx_sync_of(semaphore->device);
   struct agx_import *import = NULL;
   const struct agxw_point from = {semaphore->shared, value};
   agx_sync_unlock(sync);
   agx_status status = agx_import_create(semaphore, value, &import);
   if (status == AGX_OK) {
      const struct agxw_point to = {import->timeline, 1};
      import->is_of_timeline = true;
      status = agxw_point_transfer(&from, &to);
   }
   if (status != AGX_OK)
      agx_release(import); /* what waits for it stays with the host */
   agx_sync_lock(sync);
   if (status == AGX_OK)
      agx_import_enter(import);
}
