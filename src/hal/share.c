/* SPDX-License-Identifier: MIT
 *
 * Semaphores beyond this device. An exported or imported semaphore has a timeline in the kernel
 * beside the host's value: submissions signal it, too, and what others signal there is asked for
 * whenever somebody waits. sync_files become points of timelines of their own; other files have a
 * thread.
 */
#include "hal/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/util.h"
#include "hal/submission.h"
#include "hal/tell.h"
#include "hal/watch.h"

/* ---- the kernel's timeline ------------------------------------------------ */

/* The kernel tells the timeline when the submission in flight is done. */
static agx_status forward(struct agx_semaphore *semaphore, struct agx_signal *signal)
{
   const struct agx_submission *submission = signal->submission;
   if (submission->state != AGX_SUBMISSION_IN_FLIGHT)
      return AGX_OK; /* the host will, when it is delivered */
   const struct agxw_point from = {submission->queue->timeline, submission->epoch};
   const struct agxw_point to = {semaphore->shared, signal->value};
   AGX_TRY(agxw_point_transfer(&from, &to));
   signal->is_shared = true;
   return AGX_OK;
}

/* With the device's lock held. */
static agx_status make_shared(struct agx_semaphore *semaphore)
{
   struct agx_device *device = semaphore->device;
   if (semaphore->shared)
      return AGX_OK;
   AGX_TRY(agxw_timeline_create(device->winsys, semaphore->value, &semaphore->shared));
   semaphore->told = semaphore->value;
   agx_list_for_each (struct agx_signal, signal, &semaphore->pending, link) {
      agx_status status = forward(semaphore, signal);
      if (status != AGX_OK) {
         agxw_timeline_destroy(semaphore->shared);
         semaphore->shared = NULL;
         return status;
      }
   }
   agx_list_append(&device->shared, &semaphore->shared_link);
   agx_device_interrupt(device); /* there is more to wait for */
   return AGX_OK;
}

/* What the kernel says of it. */
static void refresh(struct agx_semaphore *semaphore)
{
   uint64_t value = 0;
   struct agx_failure failure = {0};
   agx_failure_keep(&failure, agxw_timeline_query(semaphore->shared, &value));
   if (failure.status == AGX_OK && value == AGX_SHARED_FAILED)
      failure = (struct agx_failure){AGX_ABORTED, "a shared semaphore failed on its other side"};
   if (failure.status == AGX_OK && value > semaphore->value && semaphore->told < value) {
      const struct agxw_point point = {semaphore->shared, value};
      agx_failure_keep(&failure, agxw_point_status(&point));
   }
   semaphore->told = AGX_MAX(semaphore->told, value);
   if (failure.status != AGX_OK)
      agx_semaphore_fail_locked(semaphore, &failure);
   else
      agx_semaphore_advance(semaphore, value);
}

/* ---- imported sync_files -------------------------------------------------- */

static void import_destroy(struct agx_object *object)
{
   struct agx_import *import = agx_container_of(object, struct agx_import, object);
   struct agx_device *device = import->semaphore->device;
   agxw_timeline_destroy(import->timeline);
   agx_release(import->semaphore);
   agx_host_free(device->alloc, import, sizeof(*import));
}

static const struct agx_object_type import_type = {"import", import_destroy};

/* Ends it; the references go without the lock. */
static void end_import(struct agx_import *import, const struct agx_failure *failure)
{
   agx_list_remove(&import->link);
   if (failure && failure->status != AGX_OK)
      agx_semaphore_fail_locked(import->semaphore, failure);
   else
      agx_semaphore_advance(import->semaphore, import->value);
   agx_list_append(&import->semaphore->device->imported, &import->link);
}

static void look_at(struct agx_import *import)
{
   const struct agxw_point point = {import->timeline, 1};
   struct agx_failure failure = {0};
   uint64_t value = 0;
   agx_failure_keep(&failure, agxw_timeline_query(import->timeline, &value));
   if (failure.status == AGX_OK && value < 1)
      return;
   if (failure.status == AGX_OK)
      agx_failure_keep(&failure, agxw_point_status(&point));
   end_import(import, &failure);
}

void agx_device_poll_shared(struct agx_device *device)
{
   agx_list_for_each (struct agx_semaphore, semaphore, &device->shared, shared_link)
      refresh(semaphore);
   agx_list_for_each_safe (struct agx_import, import, &device->imports, link)
      look_at(import);
}

uint32_t agx_device_shared_points(struct agx_device *device, struct agxw_point *points,
                                  void **objects, uint32_t capacity)
{
   uint32_t count = 0;
   agx_list_for_each (struct agx_semaphore, semaphore, &device->shared, shared_link) {
      /* One whose last reference just went is about to leave the list. */
      if (count == capacity || semaphore->failure.status != AGX_OK || !agx_try_retain(semaphore))
         continue;
      objects[count] = semaphore;
      points[count++] = (struct agxw_point){semaphore->shared, semaphore->value + 1};
   }
   agx_list_for_each (struct agx_import, import, &device->imports, link) {
      if (count == capacity)
         break;
      agx_retain(import);
      objects[count] = import;
      points[count++] = (struct agxw_point){import->timeline, 1};
   }
   return count;
}

bool agx_device_free_imported(struct agx_device *device)
{
   if (agx_list_empty(&device->imported))
      return false;
   struct agx_import *import = agx_container_of(device->imported.next, struct agx_import, link);
   agx_list_remove(&import->link);
   pthread_mutex_unlock(&device->lock);
   agx_release(import);
   pthread_mutex_lock(&device->lock);
   return true;
}

void agx_device_cancel_imports(struct agx_device *device, const struct agx_failure *failure)
{
   agx_list_for_each_safe (struct agx_import, import, &device->imports, link)
      end_import(import, failure);
   if (device->poller)
      agx_poller_cancel(device->poller);
}

static agx_status import_sync_file(struct agx_semaphore *semaphore, uint64_t value, int fd)
{
   struct agx_device *device = semaphore->device;
   struct agx_import *import = agx_host_zalloc(device->alloc, sizeof(*import));
   if (!import)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "semaphore: out of host memory");
   agx_status status = agxw_timeline_create(device->winsys, 0, &import->timeline);
   const struct agxw_point point = {import->timeline, 1};
   if (status == AGX_OK)
      status = agxw_point_import_sync_file(&point, fd);
   if (status != AGX_OK) {
      agxw_timeline_destroy(import->timeline);
      agx_host_free(device->alloc, import, sizeof(*import));
      return status;
   }
   agx_object_init(&import->object, &import_type);
   agx_retain(semaphore);
   import->semaphore = semaphore;
   import->value = value;
   close(fd);
   pthread_mutex_lock(&device->lock);
   agx_list_append(&device->imports, &import->link);
   look_at(import);
   agx_device_wake(device);
   agx_device_interrupt(device);
   agx_device_settle(device);
   return AGX_OK;
}

/* ---- other files ---------------------------------------------------------- */

struct file_wait {
   struct agx_semaphore *semaphore; /* retained */
   uint64_t value;
};

static void file_is_ready(void *user, int error)
{
   struct file_wait *wait = user;
   struct agx_semaphore *semaphore = wait->semaphore;
   struct agx_device *device = semaphore->device;
   struct agx_failure failure = {.status = error == ECANCELED ? AGX_CANCELLED : AGX_UNAVAILABLE};
   snprintf(failure.text, sizeof(failure.text), "the file that value %llu waits for %s",
            (unsigned long long)wait->value,
            error == ECANCELED ? "is waited for no longer" : "will not become readable");
   pthread_mutex_lock(&device->lock);
   if (error)
      agx_semaphore_fail_locked(semaphore, &failure);
   else
      agx_semaphore_advance(semaphore, wait->value);
   agx_host_free(device->alloc, wait, sizeof(*wait));
   agx_retain(device);
   agx_device_settle(device);
   agx_release(semaphore);
   agx_release(device);
}

static agx_status prepare_poller(struct agx_device *device, struct agx_poller **out_poller)
{
   agx_status status = AGX_OK;
   pthread_mutex_lock(&device->lock);
   if (!device->poller)
      status = agx_poller_create(device->alloc, &device->poller);
   *out_poller = device->poller;
   pthread_mutex_unlock(&device->lock);
   return status;
}

static agx_status import_file(struct agx_semaphore *semaphore, uint64_t value, int fd)
{
   struct agx_device *device = semaphore->device;
   struct agx_poller *poller = NULL;
   AGX_TRY(prepare_poller(device, &poller));
   struct file_wait *wait = agx_host_zalloc(device->alloc, sizeof(*wait));
   if (!wait)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "semaphore: out of host memory");
   agx_retain(semaphore);
   *wait = (struct file_wait){semaphore, value};
   agx_status status = agx_poller_add(poller, fd, file_is_ready, wait);
   if (status == AGX_OK)
      return AGX_OK;
   agx_host_free(device->alloc, wait, sizeof(*wait));
   agx_release(semaphore);
   return status;
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
      return import_sync_file(semaphore, value, fd);
   if (kind == AGX_FD_EVENTFD)
      return import_file(semaphore, value, fd);
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "semaphore: import of a point from a file of kind %u",
                   kind);
}

agx_status agx_semaphore_import(struct agx_device *device, int fd,
                                struct agx_semaphore **out_semaphore)
{
   struct agxw_timeline *timeline = NULL;
   struct agx_semaphore *semaphore = NULL;
   *out_semaphore = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agxw_timeline_import(device->winsys, fd, &timeline));
   agx_status status = agx_semaphore_create(device, 0, &semaphore);
   if (status != AGX_OK) {
      agxw_timeline_destroy(timeline);
      return status;
   }
   pthread_mutex_lock(&device->lock);
   semaphore->shared = timeline;
   agx_list_append(&device->shared, &semaphore->shared_link);
   refresh(semaphore);
   agx_device_interrupt(device);
   agx_device_settle(device);
   *out_semaphore = semaphore;
   return AGX_OK;
}

/* ---- export --------------------------------------------------------------- */

/* All that the frontier names, as one point. */
static agx_status export_frontier(struct agx_device *device, const struct agx_frontier *frontier,
                                  int *out_fd)
{
   struct agxw_timeline *all = NULL;
   struct agxw_point last = {device->interrupt, 0}; /* which is reached */
   agx_status status = agxw_timeline_create(device->winsys, 0, &all);
   for (unsigned i = 0; i < device->queue_count && status == AGX_OK; i++) {
      if (frontier->epochs[i] <= device->queues[i].retired)
         continue;
      const struct agxw_point from = {device->queues[i].timeline, frontier->epochs[i]};
      last = (struct agxw_point){all, last.value + 1};
      status = agxw_point_transfer(&from, &last);
   }
   if (status == AGX_OK)
      status = agxw_point_export_sync_file(&last, out_fd);
   agxw_timeline_destroy(all);
   return status;
}

static agx_status export_sync_file(struct agx_semaphore *semaphore, uint64_t value, int *out_fd)
{
   const struct agx_point point = {semaphore, value};
   struct agx_frontier frontier = {0};
   if (semaphore->shared)
      refresh(semaphore);
   switch (agx_point_resolve(&point, &frontier)) {
   case AGX_READY:
      return export_frontier(semaphore->device, &frontier, out_fd);
   case AGX_WAIT_FAILED:
      return agx_failure_raise(&semaphore->failure);
   default:
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "semaphore at %llu: nobody has submitted what reaches %llu, which a "
                      "sync_file must stand for",
                      (unsigned long long)semaphore->value, (unsigned long long)value);
   }
}

/* Rings an eventfd; made by the library, and freed when it is called. */
struct bell {
   struct agx_watch watch;
   const struct agx_host_alloc *alloc;
   int fd;
};

static void ring(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct bell *bell = watch->user;
   const uint64_t one = 1;
   (void)!write(bell->fd, &one, sizeof(one));
   close(bell->fd);
   agx_host_free(bell->alloc, bell, sizeof(*bell));
}

static agx_status export_eventfd(struct agx_semaphore *semaphore, uint64_t value, int *out_fd)
{
   const struct agx_host_alloc *alloc = semaphore->device->alloc;
   struct bell *bell = agx_host_zalloc(alloc, sizeof(*bell));
   if (!bell)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "semaphore: out of host memory");
   int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
   int copy = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
   if (copy < 0) {
      agx_status status = agx_status_fail_errno(errno, "semaphore: an eventfd");
      if (fd >= 0)
         close(fd);
      agx_host_free(alloc, bell, sizeof(*bell));
      return status;
   }
   *bell = (struct bell){{.value = value, .fn = ring, .user = bell}, alloc, copy};
   *out_fd = fd;
   agx_semaphore_watch_weakly(semaphore, &bell->watch); /* the file keeps nothing alive */
   return AGX_OK;
}

agx_status agx_semaphore_export(struct agx_semaphore *semaphore, uint64_t value, uint32_t kind,
                                int *out_fd)
{
   struct agx_device *device = semaphore->device;
   agx_status status;
   *out_fd = -1;
   AGX_TRY(agx_fork_check(semaphore));
   if (kind == AGX_FD_EVENTFD)
      return export_eventfd(semaphore, value, out_fd);
   if (kind != AGX_FD_SYNCOBJ && kind != AGX_FD_SYNC_FILE)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "semaphore: export as a file of kind %u", kind);
   pthread_mutex_lock(&device->lock);
   status = agx_failure_raise(&semaphore->failure);
   if (status == AGX_OK && kind == AGX_FD_SYNC_FILE)
      status = export_sync_file(semaphore, value, out_fd);
   else if (status == AGX_OK)
      status = make_shared(semaphore);
   if (status == AGX_OK && kind == AGX_FD_SYNCOBJ)
      status = agxw_timeline_export(semaphore->shared, out_fd);
   agx_device_settle(device);
   return status;
}
