/* SPDX-License-Identifier: MIT
 *
 * Operations between agx_submit and their end. One is parked while a wait names a value that
 * nobody has submitted; in flight once the kernel has it (or once it only follows what the
 * kernel has); then it retires: its semaphores advance or fail, its resources go.
 */
#pragma once

#include "hal/command_buffer.h"
#include "hal/semaphore.h"

#define AGX_MAX_POINTS 32

struct agx_submission {
   struct agx_link link;
   struct agx_command_buffer *commands;    /* retained; NULL: nothing to execute */
   struct agx_point waits[AGX_MAX_POINTS]; /* semaphores retained */
   struct agx_signal signals[AGX_MAX_POINTS];
   uint32_t wait_count, signal_count;
   uint64_t epoch; /* done when the queue's timeline reaches it; 0: at once */
   bool has_fence; /* the epoch is its own, and fence tells how it came out */
   /* Signalled to fence_value by the kernel with the epoch. A point of its own, because a
    * kernel forgets the errors of points below the latest one that is reached. Kept from use
    * to use. */
   struct agxw_timeline *fence;
   uint64_t fence_value;
   bool is_delivered; /* its semaphores know; only its references are left */
};

/* Takes parked submissions as far as they go. With the device's lock held. */
void agx_device_pump(struct agx_device *device);

/* The worker's loop. */
void *agx_device_work(void *device);

/* Frees spare submissions; nothing is parked or in flight. */
void agx_submissions_fini(struct agx_device *device);
