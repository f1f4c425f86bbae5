/* SPDX-License-Identifier: MIT
 *
 * Work of other processes or devices that values of semaphores wait for.
 */
#pragma once

#include "hal/sync/semaphore.h"

struct agx_submission;

/* Work that the kernel has already, as point 1 of a timeline of its own: a sync_file, or a point of
 * a shared timeline, whose error would be forgotten there. */
struct agx_import {
   struct agx_object object;
   struct agx_link link;            /* the device's imports, or imported */
   struct agx_link of_semaphore;    /* while it is not over */
   struct agx_semaphore *semaphore; /* retained */
   uint64_t value;
   struct agxw_timeline *timeline;
   bool is_of_timeline, is_over;
   uint32_t shortages; /* how often there was no memory to ask how it came out */
};

/* An import with an empty timeline, of which the caller has the reference.
 * AGX_RESOURCE_EXHAUSTED, or what the kernel says. */
AGX_MUST_CHECK AGX_SYNC_UNLOCKED agx_status agx_import_create(struct agx_semaphore *semaphore,
                                                              uint64_t value,
                                                              struct agx_import **out_import);

/* Enters it with its semaphore and the device, which take the reference over; unblocks submissions
 * for the GPU that wait for its value. */
AGX_SYNC_LOCKED void agx_import_enter(struct agx_import *import);

/* Ends it: its semaphore advances, or fails unless failure->status is AGX_OK. Again: nothing. */
AGX_SYNC_LOCKED void agx_import_end(struct agx_import *import, const struct agx_failure *failure);

/* Makes an import of a point of the semaphore's own timeline that another process or device has
 * submitted. If that fails, what waits for the point stays parked. */
AGX_SYNC_LOCKED void agx_import_shared_unlocking(struct agx_semaphore *semaphore, uint64_t value);

/* Its timeline is reached: ends it as its fence says. AGX_RESOURCE_EXHAUSTED: there was no memory
 * to ask, which may pass. */
AGX_SYNC_LOCKED agx_status agx_import_reached_unlocking(struct agx_import *import);

/* Asks whether it is reached, and ends it if so. Fails when the kernel can't be asked. */
AGX_SYNC_LOCKED agx_status agx_import_poll_unlocking(struct agx_import *import);

/* The same for all that the submission waits for. */
AGX_MUST_CHECK AGX_SYNC_LOCKED agx_status
agx_imports_poll_unlocking(struct agx_submission *submission);

/* Releases one import that has ended; false: there is none. */
AGX_SYNC_LOCKED bool agx_import_release_ended_unlocking(struct agx_device *device);

/* Ends waiting for files: their semaphores fail. */
AGX_SYNC_LOCKED void agx_device_cancel_imports(struct agx_device *device,
                                               const struct agx_failure *failure);
