/* SPDX-License-Identifier: MIT
 *
 * Semaphores that others see: the kernel's timeline beside the host's value (share.c), work of
 * others that a value waits for, and fences of ours for others (sync_file.c), and other files
 * (file_wait.c, poller.c).
 */
#pragma once

#include "hal/sync/semaphore.h"

/* What a syncobj shows of a semaphore that failed on the host. */
#define AGX_SHARED_FAILED UINT64_MAX

/* Work of others, that the kernel has already, as point 1 of a timeline of its own: a sync_file, or
 * a point of a shared timeline, whose error would be forgotten there. */
struct agx_import {
   struct agx_object object;
   struct agx_link link;            /* the device's */
   struct agx_link of_semaphore;    /* while it is not over */
   struct agx_semaphore *semaphore; /* retained */
   uint64_t value;
   struct agxw_timeline *timeline;
   bool is_of_timeline, is_over;
   uint32_t shortages; /* how often there was no memory to ask how it came out */
};

/* ---- share.c: with the device's lock held, which is let go of for requests --------------- */

#define AGX_SHARED_POLL_MAX 128 /* of each kind */

/* What the kernel says of shared semaphores and imports. */
struct agx_shared_poll {
   uint32_t semaphore_count, count; /* semaphores, then imports; with references */
   void *objects[2 * AGX_SHARED_POLL_MAX];
   struct agxw_timeline *timelines[2 * AGX_SHARED_POLL_MAX];
   uint64_t values[2 * AGX_SHARED_POLL_MAX];
   struct agx_failure failure; /* to ask */
};

/* Asks, takes the answer in, and lets go of it. Before it is taken in, the device's own work must
 * be retired which the kernel knew to be over when it was asked: how that came out, its own fences
 * tell. Each look is at the next ones of so many. */
void agx_shared_poll_begin_unlocking(struct agx_device *device, struct agx_shared_poll *poll);
void agx_shared_poll_take_unlocking(struct agx_device *device, struct agx_shared_poll *poll);
void agx_shared_poll_end_unlocking(struct agx_device *device, struct agx_shared_poll *poll);
static inline uint32_t agx_shared_poll_count(const struct agx_device *device)
{
   const struct agx_sync_state *sync = agx_sync_of(device);
   uint32_t most =
      sync->shared_count > sync->import_count ? sync->shared_count : sync->import_count;
   return (most + AGX_SHARED_POLL_MAX - 1) / AGX_SHARED_POLL_MAX;
}
/* The next look is at this one, if it is shared. */
void agx_shared_poll_first(struct agx_semaphore *semaphore);

/* What is waited for, and others have submitted to the kernel, becomes an import. */
void agx_points_import_unlocking(const struct agx_point *points, uint32_t count);

/* What the completion thread waits for beside the queues: fills up to capacity points, and the
 * objects that they belong to, with a reference each; returns how many there are. */
uint32_t agx_device_shared_points(struct agx_device *device, struct agxw_point *points,
                                  void **objects, uint32_t capacity);

/* ---- sync_file.c: with the lock held, too ------------------------------------------------ */

/* Another's point of the semaphore's own timeline, which the kernel has. */
void agx_import_shared_unlocking(struct agx_semaphore *semaphore, uint64_t value);
/* It is reached: ends it as its fence says. Fails when there is no memory to ask, which may pass.
 */
agx_status agx_import_reached_unlocking(struct agx_import *import);
/* Ends those of a submission that are reached. Fails when they can't be asked. */
AGX_MUST_CHECK agx_status agx_imports_poll_unlocking(struct agx_submission *submission);
void agx_import_end(struct agx_import *import, const struct agx_failure *failure);
/* Lets go of one import that has ended; false when there is none. */
bool agx_import_release_ended_unlocking(struct agx_device *device);
/* Ends waiting for files: their semaphores fail. */
void agx_device_cancel_imports(struct agx_device *device, const struct agx_failure *failure);

/* Without the lock. fd is the library's when it succeeds. */
AGX_MUST_CHECK agx_status agx_import_sync_file(struct agx_semaphore *semaphore, uint64_t value,
                                               int fd);
AGX_MUST_CHECK agx_status agx_export_sync_file(struct agx_semaphore *semaphore, uint64_t value,
                                               int *out_fd);

/* ---- file_wait.c, without the lock -------------------------------------------------------- */

AGX_MUST_CHECK agx_status agx_import_file(struct agx_semaphore *semaphore, uint64_t value, int fd);
AGX_MUST_CHECK agx_status agx_export_eventfd(struct agx_semaphore *semaphore, uint64_t value,
                                             int *out_fd);

/* ---- poller.c, without the lock ----------------------------------------------------------- */

/* error: 0, what became of the file (an errno), or ECANCELED. */
typedef void (*agx_poll_fn)(void *user, int error);
/* log: for a poller that can't go on; it is outlived by it. */
AGX_MUST_CHECK agx_status agx_poller_create(const struct agx_host_alloc *alloc,
                                            const struct agx_log *log,
                                            struct agx_poller **out_poller);
/* Nothing may be left to wait for. NULL is fine. */
void agx_poller_destroy(struct agx_poller *poller);
/* Calls ready once, from the poller's thread; takes fd over when it succeeds. */
AGX_MUST_CHECK agx_status agx_poller_add(struct agx_poller *poller, int fd, agx_poll_fn ready,
                                         void *user);
/* Ends all that is waited for, soon. */
void agx_poller_cancel(struct agx_poller *poller);
