/* SPDX-License-Identifier: MIT
 *
 * Timeline semaphores: host objects. What the GPU will signal stands in `pending`, with the
 * submission that does it; what waits stands in `waiting`, `watches` and
 * `observers`.
 */
#pragma once

#include "hal/sync/state.h"

struct agx_import;
struct agx_submission;

/* Guarded by the device's lock. */
struct agx_semaphore {
   struct agx_object object;
   struct agx_device *device;
   char label[AGX_NAME_BYTES];
   uint64_t value; /* reached */
   struct agx_failure failure;
   struct agx_link pending;          /* agx_signal whose frontier is known, by value */
   bool is_disordered;               /* they may come true in another order than by value */
   struct agx_link imports;          /* agx_import: what will reach a value, by value */
   struct agx_link waiting;          /* agx_wait of parked submissions, by value */
   struct agx_link watches;          /* agx_watch_node, by value */
   struct agx_link observers;        /* agx_observer_node */
   struct agxw_timeline *shared;     /* with other processes, which signal it or wait; or NULL */
   struct agx_link shared_link;      /* among the device's */
   struct agx_link publication_link; /* in the list of pending publications */
   uint64_t promised;       /* shared: the highest point that the kernel is known to have */
   bool is_adding;          /* shared: a request that adds a point has not come back */
   uint32_t shortages;      /* polls in a row that could not ask how its last point came out */
   uint32_t kernel_waiters; /* threads that wait for it in the kernel */
};

/* A signal of a submission that was launched. */
struct agx_signal {
   struct agx_link link;
   struct agx_submission *submission;
   struct agx_semaphore *semaphore;
   uint64_t value;
   bool is_shared;   /* the kernel signals the semaphore's timeline */
   bool is_observed; /* pending, and counted in `watching` (watch.h) */
};

/* A wait of a submission; linked while that is parked and the value is not reached. */
struct agx_wait {
   struct agx_link link;
   struct agx_submission *submission;
   struct agx_semaphore *semaphore;
   uint64_t value;
   bool is_resolved; /* what reaches it was submitted */
   /* What the kernel waits for, when that is another's work; retained. Of the GPU's only. */
   struct agx_import *import;
};

/* Whether what waits for the value may go on: failures count over values on some devices. */
AGX_SYNC_LOCKED static inline bool agx_semaphore_has_reached(const struct agx_semaphore *semaphore,
                                                             uint64_t value)
{
   return semaphore->value >= value &&
          (semaphore->failure.status == AGX_OK || !agx_sync_of(semaphore->device)->failure_wins);
}

/* That a semaphore may come to have the value; else AGX_OUT_OF_RANGE. `what` begins the error text,
 * as in "submit: signal". */
AGX_MUST_CHECK agx_status agx_semaphore_check_value(const char *what, uint64_t value);

/* The semaphore reaches the value, or fails, unless it has failed or is that far already: unblocks
 * submissions, fires watches, wakes threads. The caller then runs deferred work. */
AGX_SYNC_LOCKED void agx_semaphore_advance(struct agx_semaphore *semaphore, uint64_t value);
AGX_SYNC_LOCKED void agx_semaphore_fail_locked(struct agx_semaphore *semaphore,
                                               const struct agx_failure *failure);
