/* SPDX-License-Identifier: MIT
 *
 * Points of semaphores: what will reach them, and what waits for them. The device's sync lock is
 * held in all functions.
 */
#pragma once

#include "hal/sync/semaphore.h"

struct agx_submission;

enum agx_readiness {
   AGX_READY,       /* reached, or it will be with the frontier of a submission */
   AGX_ELSEWHERE,   /* an import reaches it: the GPU may wait for that, the host can't say when */
   AGX_NOT_YET,     /* nothing that was submitted reaches it */
   AGX_WAIT_FAILED, /* the semaphore has failed below it, or where failures win, at all */
};

/* What will reach a point. */
struct agx_cause {
   const struct agx_signal *signal; /* AGX_READY: the first one that does; NULL: reached already */
   struct agx_import *import;       /* AGX_ELSEWHERE: the first one that does; borrowed */
};

/* How far the point is, and by what. */
AGX_SYNC_LOCKED enum agx_readiness agx_point_resolve(const struct agx_point *point,
                                                     struct agx_cause *cause);

/* The failure of a wait of the submission that can't be reached any more, or NULL. Borrowed from
 * the wait's semaphore. Of a submission that was launched: its waits were reached, or promised. */
AGX_SYNC_LOCKED const struct agx_failure *
agx_submission_failed_wait(const struct agx_submission *submission);
/* The same of one that is about to be launched, which a failure after the value refuses, too, on
 * devices where failures win. */
AGX_SYNC_LOCKED const struct agx_failure *
agx_submission_refused_wait(const struct agx_submission *submission);

/* Finds out what reaches the submission's waits, and sets its frontier and `unresolved`.
 * AGX_NOT_YET: some are not resolved; AGX_WAIT_FAILED: one has failed; else AGX_READY. */
AGX_SYNC_LOCKED enum agx_readiness agx_submission_resolve_waits(struct agx_submission *submission);

/* Enters the submission's waits that are not reached with their semaphores, so that
 * agx_waits_resolve finds them: it is about to be parked. */
AGX_SYNC_LOCKED void agx_submission_link_waits(struct agx_submission *submission);

/* Unblocks parked submissions whose last unresolved wait is for at most `value`, which the
 * semaphore has reached, or which submitted work will reach; if the semaphore has failed, all of
 * them. */
AGX_SYNC_LOCKED void agx_waits_resolve(struct agx_semaphore *semaphore, uint64_t value);

/* Enters the signals of a submission with their semaphores: they will be reached with its frontier.
 * Unblocks what waits for them. */
AGX_SYNC_LOCKED void agx_submission_file_signals(struct agx_submission *submission);
