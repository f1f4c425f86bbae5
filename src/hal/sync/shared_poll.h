/* SPDX-License-Identifier: MIT
 *
 * Asking the kernel for the values of shared semaphores and imports.
 */
#pragma once

#include "hal/sync/semaphore.h"

#define AGX_SHARED_POLL_MAX 128 /* of each kind */

/* One request for the values of some shared semaphores and imports, and its answer. */
struct agx_shared_poll {
   uint32_t semaphore_count, count; /* semaphores, then imports; with references */
   void *objects[2 * AGX_SHARED_POLL_MAX];
   struct agxw_timeline *timelines[2 * AGX_SHARED_POLL_MAX];
   uint64_t values[2 * AGX_SHARED_POLL_MAX];
   struct agx_failure failure; /* of the request */
};

/* begin asks, take takes the answer in, end releases what begin has retained. Between begin and
 * take the caller retires the device's own work that the kernel knew to be over when it was asked:
 * how that came out, its own fences tell. Each poll is about the next ones of so many. */
AGX_SYNC_LOCKED void agx_shared_poll_begin_unlocking(struct agx_device *device,
                                                     struct agx_shared_poll *poll);
AGX_SYNC_LOCKED void agx_shared_poll_take_unlocking(struct agx_device *device,
                                                    struct agx_shared_poll *poll);
AGX_SYNC_LOCKED void agx_shared_poll_end_unlocking(struct agx_device *device,
                                                   struct agx_shared_poll *poll);

/* How many polls it takes to ask for all. */
AGX_SYNC_LOCKED static inline uint32_t agx_shared_poll_count(const struct agx_device *device)
{
   const struct agx_sync_state *sync = agx_sync_of(device);
   uint32_t most =
      sync->shared_count > sync->import_count ? sync->shared_count : sync->import_count;
   return (most + AGX_SHARED_POLL_MAX - 1) / AGX_SHARED_POLL_MAX;
}

/* The next poll asks for this semaphore, if it is shared. */
AGX_SYNC_LOCKED void agx_shared_poll_first(struct agx_semaphore *semaphore);

/* The highest point of a shared semaphore's timeline that another process has submitted; 0:
 * unknown. */
AGX_SYNC_LOCKED uint64_t agx_shared_query_submitted_unlocking(struct agx_semaphore *semaphore);

/* Makes imports of points that other processes have submitted, so that the GPU can wait. */
AGX_SYNC_LOCKED void agx_points_import_unlocking(const struct agx_point *points, uint32_t count);

/* What the completion thread waits for beside the queues: fills up to capacity points, and the
 * objects that they belong to, with a reference each; returns how many there are. */
AGX_SYNC_LOCKED uint32_t agx_device_shared_points(struct agx_device *device,
                                                  struct agxw_point *points, void **objects,
                                                  uint32_t capacity);
