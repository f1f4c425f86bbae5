/* SPDX-License-Identifier: MIT
 *
 * Semaphores that others see: the kernel's timeline beside the host's value, sync_files that a
 * value waits for, and other files.
 */
#pragma once

#include "hal/semaphore.h"

/* What a syncobj shows of a semaphore that failed on the host. */
#define AGX_SHARED_FAILED UINT64_MAX

/* A sync_file, as point 1 of a timeline of its own. */
struct agx_import {
   struct agx_object object;
   struct agx_link link;
   struct agx_semaphore *semaphore; /* retained */
   uint64_t value;
   struct agxw_timeline *timeline;
};

/* With the device's lock held: */

/* Asks the kernel how far shared semaphores and imports are. */
void agx_device_poll_shared(struct agx_device *device);
/* What the completion thread waits for beside the queues: fills up to capacity points, and the
 * objects that they belong to, with a reference each; returns how many there are. */
uint32_t agx_device_shared_points(struct agx_device *device, struct agxw_point *points,
                                  void **objects, uint32_t capacity);

/* Lets go of one import that has ended; false when there is none. The lock is let go of meanwhile.
 */
bool agx_device_free_imported(struct agx_device *device);
/* Ends waiting for files: their semaphores fail. */
void agx_device_cancel_imports(struct agx_device *device, const struct agx_failure *failure);

/* ---- poller.c, without the lock ------------------------------------------ */

/* error: 0, what became of the file (an errno), or ECANCELED. */
typedef void (*agx_poll_fn)(void *user, int error);
AGX_MUST_CHECK agx_status agx_poller_create(const struct agx_host_alloc *alloc,
                                            struct agx_poller **out_poller);
/* Nothing may be left to wait for. NULL is fine. */
void agx_poller_destroy(struct agx_poller *poller);
/* Calls ready once, from the poller's thread; takes fd over when it succeeds. */
AGX_MUST_CHECK agx_status agx_poller_add(struct agx_poller *poller, int fd, agx_poll_fn ready,
                                         void *user);
/* Ends all that is waited for, soon. */
void agx_poller_cancel(struct agx_poller *poller);
