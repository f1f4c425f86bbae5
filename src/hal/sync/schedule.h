/* SPDX-License-Identifier: MIT
 *
 * Taking a submission from agx_submit to its end. The device's sync lock is held in all functions.
 */
#pragma once

#include "hal/sync/submission.h"

/* Starts a submission that is PREPARED or UNBLOCKED, as far as it goes without the kernel: it comes
 * out FRONTIER, RUNNABLE, ENDED, DEFERRED or PARKED or, for the GPU, SENDING where it is new and
 * else READY. The queue's lock is held over a new one. AGX_RESOURCE_EXHAUSTED: a new one would have
 * to be parked, and max_parked are; it stays PREPARED or STARTING. A kind's launch may let the lock
 * go. */
AGX_MUST_CHECK AGX_SYNC_LOCKED agx_status
agx_submission_start_unlocking(struct agx_submission *submission);

/* Starts all that is unblocked, on one thread at a time, and ends what is failing. */
AGX_SYNC_LOCKED void agx_device_start_unblocked_unlocking(struct agx_device *device);

/* Unblocks the submissions whose launch was deferred; agx_device_unlock_and_run_deferred starts
 * them. */
AGX_SYNC_LOCKED void agx_device_retry_locked(struct agx_device *device);

/* Takes a launched submission on when a queue of its frontier has come further: to the next queue
 * that has not, else to its run, or its end. */
AGX_SYNC_LOCKED void agx_submission_wait_for_frontier(struct agx_submission *submission);

/* Signals all of its semaphores, or fails them with a failure that is not NULL. */
AGX_SYNC_LOCKED void agx_submission_signal_all(struct agx_submission *submission,
                                               const struct agx_failure *failure);

/* The end: signals its semaphores unless it is LOST, and leaves nothing but its references.
 * failure NULL: it succeeded. */
AGX_SYNC_LOCKED void agx_submission_end(struct agx_submission *submission,
                                        const struct agx_failure *failure);

/* send.c: gives a SENDING submission to the kernel: one request, over which the lock is let go of
 * and submit_lock is held. It comes out IN_FLIGHT or LOST. On failure it still is SENDING, and
 * nothing has changed. */
AGX_MUST_CHECK AGX_SYNC_LOCKED AGX_REQUIRES(agx_queue_lock_class)
agx_status agx_submission_send_unlocking(struct agx_submission *submission);
