/* SPDX-License-Identifier: MIT
 *
 * Noticing what the kernel has done, and what is lost with a submission that failed.
 */
#pragma once

#include "hal/sync/submission.h"

/* Ends what the queue has in flight up to the epoch `reached`. If another thread retires the queue
 * just now, that thread does it, and this returns before. Lets the lock go where the kernel must be
 * asked how a submission came out. */
AGX_SYNC_LOCKED void agx_queue_retire_unlocking(struct agx_queue *queue, uint64_t reached);

/* The same, but waits for that thread. */
AGX_SYNC_LOCKED void agx_queue_finish_unlocking(struct agx_queue *queue, uint64_t reached);

/* Asks the kernel how far all queues, shared semaphores and imports are, and retires.
 * AGX_RESOURCE_EXHAUSTED: there was no memory to ask, which may pass; other failures have lost the
 * device. */
AGX_MUST_CHECK AGX_SYNC_LOCKED agx_status agx_device_poll_unlocking(struct agx_device *device);

/* Loses the device, with the thread's error text: everything outstanding fails. */
AGX_SYNC_LOCKED void agx_device_lose_unlocking(struct agx_device *device, agx_status status);

/* Makes parked submissions of the queue fail, and those that are being started unless their launch
 * succeeds. queue NULL: of all queues. */
AGX_SYNC_LOCKED void agx_submissions_fail_parked(struct agx_device *device,
                                                 const struct agx_queue *queue,
                                                 const struct agx_failure *failure);

/* The completion thread's function; device is a struct agx_device. */
AGX_SYNC_UNLOCKED void *agx_device_work(void *device);
