/* SPDX-License-Identifier: MIT
 *
 * Files of any kind that a value waits for, and eventfds that become readable with a value.
 * share.c calls it for AGX_FD_EVENTFD; the thread of poller.c calls back.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "hal/sync/share.h"
#include "hal/sync/watch.h"
#include "hal/sync/deferred.h"
#include "hal/sync/poller.h"

/* ---- in ---------------------------------------------------------------------- */

struct file_wait {
   struct agx_semaphore *semaphore; /* retained */
   uint64_t value;
};

static void describe(const struct file_wait *wait, int error, struct agx_failure *failure)
{
   *failure = (struct agx_failure){.status = error == ECANCELED ? AGX_CANCELLED : AGX_UNAVAILABLE};
   const char *what = error == ECANCELED ? "is waited for no longer"
                      : error == EPIPE   ? "will not become readable"
                                         : "can't be waited for any more";
   snprintf(failure->text, sizeof(failure->text), "the file that value %llu waits for %s",
            (unsigned long long)wait->value, what);
}

static void file_is_ready(void *user, int error)
{
   struct file_wait *wait = user;
   struct agx_semaphore *semaphore = wait->semaphore;
   struct agx_device *device = semaphore->device;
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_failure failure;
   describe(wait, error, &failure);
   agx_sync_lock(sync);
   if (error)
      agx_semaphore_fail_locked(semaphore, &failure);
   else
      agx_semaphore_advance(semaphore, wait->value);
   agx_retain(device);
   agx_device_unlock_and_run_deferred(device);
   agx_host_free(agx_context_of(device)->alloc, wait, sizeof(*wait));
   agx_release(semaphore);
   agx_release(device);
}

/* The device's, which is made with the first file. */
static agx_status prepare_poller(struct agx_device *device, struct agx_poller **out_poller)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   struct agx_poller *fresh = NULL;
   agx_sync_lock(sync);
   *out_poller = sync->poller;
   agx_sync_unlock(sync);
   if (*out_poller)
      return AGX_OK;
   AGX_TRY(agx_poller_create(agx_context_of(device)->alloc, agx_context_of(device)->log, &fresh));
   agx_sync_lock(sync);
   if (!sync->poller) {
      sync->poller = fresh;
      fresh = NULL;
   }
   *out_poller = sync->poller;
   agx_sync_unlock(sync);
   agx_poller_destroy(fresh); /* another thread was faster */
   return AGX_OK;
}

agx_status agx_import_file(struct agx_semaphore *semaphore, uint64_t value, int fd)
{
   struct agx_device *device = semaphore->device;
   struct agx_poller *poller = NULL;
   AGX_TRY(prepare_poller(device, &poller));
   struct file_wait *wait = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*wait));
   if (!wait)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "semaphore: out of host memory");
   agx_retain(semaphore);
   *wait = (struct file_wait){semaphore, value};
   agx_status status = agx_poller_add(poller, fd, file_is_ready, wait);
   if (status == AGX_OK)
      return AGX_OK;
   agx_host_free(agx_context_of(device)->alloc, wait, sizeof(*wait));
   agx_release(semaphore);
   return status;
}

/* ---- out --------------------------------------------------------------------- */

/* Rings an eventfd; made by the library, and freed when it is called. */
struct eventfd_watch {
   struct agx_watch watch;
   const struct agx_host_alloc *alloc;
   int fd;
};

static void signal_eventfd(struct agx_watch *watch, agx_status status, uint64_t value)
{
   struct eventfd_watch *eventfd_watch = watch->user;
   const uint64_t one = 1;
   (void)!write(eventfd_watch->fd, &one, sizeof(one));
   close(eventfd_watch->fd);
   agx_host_free(eventfd_watch->alloc, eventfd_watch, sizeof(*eventfd_watch));
}

agx_status agx_export_eventfd(struct agx_semaphore *semaphore, uint64_t value, int *out_fd)
{
   const struct agx_host_alloc *alloc = agx_context_of(semaphore->device)->alloc;
   struct eventfd_watch *eventfd_watch = agx_host_zalloc(alloc, sizeof(*eventfd_watch));
   if (!eventfd_watch)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "semaphore: out of host memory");
   int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
   int copy = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
   if (copy < 0) {
      agx_status status = agx_status_fail_errno(errno, "semaphore: an eventfd");
      if (fd >= 0)
         close(fd);
      agx_host_free(alloc, eventfd_watch, sizeof(*eventfd_watch));
      return status;
   }
   *eventfd_watch = (struct eventfd_watch){
      {.value = value, .fn = signal_eventfd, .user = eventfd_watch}, alloc, copy};
   *out_fd = fd;
   agx_semaphore_watch_weakly(semaphore, &eventfd_watch->watch); /* the file keeps nothing alive */
   return AGX_OK;
}
