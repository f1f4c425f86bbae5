/* SPDX-License-Identifier: MIT
 *
 * Operations between agx_submit and their end.
 *
 *    parked     a wait names a value that nobody has submitted, or its launch was deferred
 *    launched   in flight on a queue, or following what is in flight there (its frontier)
 *    runnable   on the host: all waits are reached, run comes next, or has deferred
 *    delivered  its semaphores know; its references go next
 *
 * Guarded by the device's lock but for what only the thread uses that moves it on.
 */
#pragma once

#include "hal/record/command_buffer.h"
#include "hal/sync/op.h"
#include "hal/sync/queue.h"
#include "hal/sync/semaphore.h"
#include "hal/sync/submission_profile.h"
#include "hal/sync/submission_state.h"

#define AGX_MAX_POINTS 32
#define AGX_OP_STATE_B 192

struct agx_submission {
   struct agx_link link;
   enum agx_submission_state state;
   const struct agx_op_type *type;
   struct agx_device *device;
   struct agx_queue *queue;
   uint64_t number;                       /* its own on the device, from 1; 0: refused */
   struct agx_command_buffer *commands;   /* retained; NULL: nothing for the GPU */
   struct agxw_compute stream;            /* of commands; stream_va 0: nothing to run */
   uint32_t count;                        /* in flight: of its breadcrumb, that it adds to */
   struct agx_wait waits[AGX_MAX_POINTS]; /* semaphores retained */
   struct agx_signal signals[AGX_MAX_POINTS];
   uint32_t wait_count, signal_count;
   uint32_t unresolved;          /* parked: waits that nobody has submitted yet */
   struct agx_frontier frontier; /* once launched: it is over when this is reached */
   struct agx_frontier waited;   /* all that it depends on, directly or not, without itself */
   bool has_imports;             /* among its waits */
   uint64_t epoch;               /* in flight: its own on its queue */
   /* Signalled to fence_value by the kernel with the epoch. A timeline of its own, because a
    * kernel forgets the errors of points below the latest one that is reached. Kept from use to
    * use. */
   struct agxw_timeline *fence;
   uint64_t fence_value;
   struct agx_failure failure;        /* parked or launching: it shall fail with this */
   struct agx_profile *session;       /* that records it, retained; NULL: none */
   struct agx_profile_entry *profile; /* in it, until it ends */
   /* What the kind's prepare captures. Aligned as pointers are and no more: loops over a list form
    * the address of a submission around its head, which must be one. */
   _Alignas(void *) uint8_t state_B[AGX_OP_STATE_B];
};

/* The first submission in one of the device's lists, or NULL. With the device's lock held. */
static inline struct agx_submission *agx_submissions_first(const struct agx_sync_state *sync,
                                                           enum agx_submission_list list)
{
   const struct agx_link *head = &sync->submission_lists[list];
   return agx_list_empty(head) ? NULL : agx_container_of(head->next, struct agx_submission, link);
}

/* What a kind captured. */
#define AGX_OP_STATE(submission, type)                                                             \
   ((type *)((submission)->state_B + 0 * sizeof(char[sizeof(type) <= AGX_OP_STATE_B ? 1 : -1])))

/* ---- schedule.c: with the device's lock held ----------------------------
 *
 * The lock is let go of meanwhile by agx_submission_start_unlocking and
 * agx_device_start_unblocked_unlocking (where a kind's launch does). */

enum agx_readiness {
   AGX_READY,
   AGX_ELSEWHERE,
   AGX_NOT_YET,
   AGX_WAIT_FAILED,
};

/* What will reach a point. */
struct agx_cause {
   const struct agx_signal *signal; /* ours, the first one; or NULL */
   struct agx_import *import;       /* another's; or NULL */
};

/* Whether the GPU may be told of what waits for the point. AGX_READY: it is reached, or will be
 * with the frontier of cause->signal's submission. AGX_ELSEWHERE: with cause->import, which the GPU
 * may wait for, but nobody on the host knows when. */
enum agx_readiness agx_point_resolve(const struct agx_point *point, struct agx_cause *cause);

/* The failure of a wait that came to nothing, or NULL. */
const struct agx_failure *agx_submission_failed_wait(const struct agx_submission *submission);

/* Frees submissions that wait for what the semaphore has reached, or is about to. */
void agx_waits_resolve(struct agx_semaphore *semaphore, uint64_t value);

/* Sets a submission going, new or freed: it ends in one of the lists. AGX_RESOURCE_EXHAUSTED, and
 * it is in none: it would be parked, and there is no room. */
AGX_MUST_CHECK agx_status agx_submission_start_unlocking(struct agx_submission *submission);
/* Ends it when its frontier is reached; again after each epoch that it waited for. */
void agx_submission_wait_for_frontier(struct agx_submission *submission);
/* The end: nothing but its references is left. */
void agx_submission_end(struct agx_submission *submission, const struct agx_failure *failure);

/* Takes parked submissions that were freed as far as they go without the kernel; nobody else does
 * so now. */
void agx_device_start_unblocked_unlocking(struct agx_device *device);
/* Has parked submissions tried again whose launch was deferred. */
void agx_device_retry_locked(struct agx_device *device);
/* The same, and takes the lock itself. */
void agx_device_retry(struct agx_device *device);

/* Enters its signals with their semaphores: they will be reached with its frontier. */
void agx_submission_file_signals(struct agx_submission *submission);
/* Tells its semaphores that it is done, or how it failed. */
void agx_submission_signal_all(struct agx_submission *submission,
                               const struct agx_failure *failure);

/* ---- send.c: with the device's lock held ---------------------------------------------------- */

/* Gives a GPU submission to the kernel, whose waits are at frontier. The queue's submit_lock is
 * held, the device's is let go of meanwhile. On failure nothing has changed. */
AGX_MUST_CHECK agx_status agx_submission_send_unlocking(struct agx_submission *submission);

/* ---- deferred.c --------------------------------------------------------- */

/* Lets go of a lock that may have made work: sends what is ready, runs what is runnable, calls
 * watches, drops references. With the lock held; returns without it. */
void agx_device_unlock_and_run_deferred(struct agx_device *device);
/* With the lock held: whether there is any work that agx_device_unlock_and_run_deferred() does. */
bool agx_device_has_deferred_work(const struct agx_device *device);
/* That this thread does so now, further out. */
bool agx_device_runs_deferred_here(const struct agx_device *device);
/* It does so for none, whatever its stack says: in a child of fork(2). */
void agx_deferred_work_forget(void);

/* The end of an operation whose run has deferred: AGX_OK, or a failure with the thread's error
 * text. Once only. May end the device's life. */
void agx_submission_finish(struct agx_submission *submission, agx_status status);

/* ---- completion.c -------------------------------------------------------- */

/* Ends what the queue has in flight up to an epoch that it has reached, or leaves that to the
 * thread that does so just now. The lock is let go of where the kernel must be asked. */
void agx_queue_retire_unlocking(struct agx_queue *queue, uint64_t reached);
/* The same, and waits for that thread. */
void agx_queue_finish_unlocking(struct agx_queue *queue, uint64_t reached);
/* Remembers that the work of some epochs came to nothing. */
void agx_queue_note_failed(struct agx_queue *queue, uint64_t first, uint64_t last,
                           const struct agx_failure *failure);
/* Asks the kernel how far all queues are, and retires. The lock is let go of meanwhile. */
AGX_MUST_CHECK agx_status agx_device_poll_unlocking(struct agx_device *device);
/* Somebody who does not wait in the kernel wants to know when things end. */
void agx_device_wake(struct agx_device *device);
/* The completion thread. */
void *agx_device_work(void *device);

/* A thread may sleep until something changes, or in the kernel: tells it of the semaphore. */
void agx_semaphore_wake_waiters(struct agx_semaphore *semaphore);
/* The first submission in flight after a rest. */
void agx_device_note_flight(struct agx_device *device);
/* Fails what is parked for the queue, and what is being launched unless it is launched at once;
 * NULL: for any. */
void agx_submissions_fail_parked(struct agx_device *device, const struct agx_queue *queue,
                                 const struct agx_failure *failure);
/* Takes the device away, with the thread's error text: everything outstanding fails. */
void agx_device_lose_unlocking(struct agx_device *device, agx_status status);

/* ---- submission.c -------------------------------------------------------- */

/* Lets go of what a submission holds, without the lock. */
void agx_submission_drop(struct agx_submission *submission);
/* Ends, as cancelled, what is parked and what waits for files of others. Takes the lock. */
void agx_sync_cancel(struct agx_device *device);
/* Frees spare submissions; nothing is parked or in flight. */
void agx_submissions_fini(struct agx_device *device);
