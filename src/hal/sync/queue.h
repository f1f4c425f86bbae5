/* SPDX-License-Identifier: MIT
 *
 * Queues. What a queue is given runs in order; its timeline counts: point n, its epoch n, is
 * reached when the n-th kernel submission of the queue is done.
 */
#pragma once

#include <pthread.h>

#include "base/list.h"
#include "hal/core/failure.h"
#include "hal/core/frontier.h"
#include "winsys/winsys.h"

struct agx_device;

struct agx_queue {
   struct agx_device *device;
   uint32_t index, priority;
   pthread_mutex_t submit_lock; /* held over the ioctl; taken before the device's lock */
   struct agxw_queue *kernel;   /* made with the first work */
   struct agxw_timeline *timeline;
   /* The rest is guarded by the device's lock. */
   uint64_t epoch, retired;   /* of the last submission, and of the last that is over */
   uint64_t reached;          /* by the GPU, as far as anybody knows: is to be retired */
   bool is_retiring;          /* a thread does, and lets go of the lock meanwhile */
   struct agx_link in_flight; /* agx_submission, by epoch */
   uint32_t in_flight_count;
   struct agx_link frontier_waiters; /* agx_submission, by what they wait for of this queue */
   /* Epochs whose work failed last, or was lost, and why. */
   uint64_t failed_first, failed_last;
   struct agx_failure failed;
   struct agx_failure lost; /* sticky, until the queue is made anew */
};

/* The epochs of all queues that are over; the first with the device's lock held, the second takes
 * it. */
struct agx_frontier agx_device_reached_locked(const struct agx_device *device);
struct agx_frontier agx_device_reached(struct agx_device *device);

void agx_queue_init(struct agx_queue *queue, struct agx_device *device, uint32_t index,
                    uint32_t priority);
void agx_queue_fini(struct agx_queue *queue);

/* Makes the kernel's queue if there is none. With submit_lock held. */
AGX_MUST_CHECK agx_status agx_queue_prepare(struct agx_queue *queue);
