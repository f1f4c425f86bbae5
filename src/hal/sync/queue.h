/* SPDX-License-Identifier: MIT
 *
 * Queues. What a queue is given runs in order; its timeline counts: point n, its epoch n, is
 * reached when the n-th kernel submission of the queue is done.
 */
#pragma once

#include <pthread.h>

#include "base/list.h"
#include "base/thread.h"
#include "hal/core/failure.h"
#include "hal/core/frontier.h"
#include "winsys/winsys.h"

struct agx_device;
struct agx_sync_state;

struct agx_queue {
   struct agx_device *device;
   uint32_t index, priority;
   pthread_mutex_t submit_lock; /* held over the ioctl; taken before the device's lock */
   struct agxw_queue *kernel;   /* made with the first work */
   struct agx_scratch *scratch; /* made with the first work that needs it; under submit_lock */
   struct agxw_timeline *timeline;
   /* The rest is guarded by the device's lock. */
   uint64_t epoch, retired;   /* of the last submission, and of the last that is over */
   uint64_t reached;          /* by the GPU, as far as is known: is to be retired */
   bool is_retiring;          /* a thread does, and lets go of the lock meanwhile */
   struct agx_link in_flight; /* agx_submission, by epoch */
   uint32_t in_flight_count;
   struct agx_link frontier_waiters; /* agx_submission, by what they wait for of this queue */
   /* Epochs whose work failed last, or was lost, and why. */
   uint64_t failed_first, failed_last;
   struct agx_failure failed;
   struct agx_failure lost; /* sticky, until the queue is made anew */
};

extern struct agx_lock_class agx_sync_lock_class;

/* The epochs of all queues that are over. The second function takes the device's sync lock. */
AGX_REQUIRES(agx_sync_lock_class)
struct agx_frontier agx_device_reached_locked(const struct agx_device *device);
AGX_EXCLUDES(agx_sync_lock_class) struct agx_frontier agx_device_reached(struct agx_device *device);

/* Whether the kernel has a submission of any queue. */
AGX_REQUIRES(agx_sync_lock_class)
bool agx_queues_are_busy(const struct agx_sync_state *sync);

/* Starts a queue without one of the kernel, which its first submission makes. */
void agx_queue_init(struct agx_queue *queue, struct agx_device *device, uint32_t index,
                    uint32_t priority);
/* Ends a queue that has nothing in flight. */
void agx_queue_fini(struct agx_queue *queue);

/* Remembers that the work of some epochs came to nothing, and why. */
AGX_REQUIRES(agx_sync_lock_class)
void agx_queue_note_failed(struct agx_queue *queue, uint64_t first, uint64_t last,
                           const struct agx_failure *failure);

/* submit_lock as attributes name it; the two functions take it and let it go. */
extern struct agx_lock_class agx_queue_lock_class;

AGX_ACQUIRES(agx_queue_lock_class)
AGX_TRUSTED static inline void agx_queue_lock(struct agx_queue *queue)
{
   pthread_mutex_lock(&queue->submit_lock);
}

AGX_RELEASES(agx_queue_lock_class)
AGX_TRUSTED static inline void agx_queue_unlock(struct agx_queue *queue)
{
   pthread_mutex_unlock(&queue->submit_lock);
}
