/* SPDX-License-Identifier: MIT
 *
 * Kinds of operations: one row each, so that ordering, failure and lifetime are the same for all
 * of them (schedule.c, completion.c).
 */
#pragma once

#include "agx/queue.h"
#include "base/status.h"
#include "base/thread.h"

struct agx_device;
struct agx_submission;

extern struct agx_lock_class agx_sync_lock_class;

struct agx_op_type {
   const char *name;
   /* Checks the operation and captures what it needs in the submission, in agx_submit, without a
    * lock. What runs on the GPU sets submission->commands (a reference, recorded to its end). On
    * failure nothing is left behind; drop is not called. NULL: there is nothing to capture. */
   agx_status (*prepare)(struct agx_device *device, const struct agx_op *op,
                         struct agx_submission *submission);
   /* When each wait is reached, or is on the GPU already; under the device's lock, so it must be
    * short, and let go of it for requests. AGX_DEFERRED: not now, it stays parked; agx_device_retry
    * has it tried again. NULL: nothing to do. */
   agx_status (*launch)(struct agx_submission *submission);
   /* When each wait is reached and none has failed; on any thread, without a lock; must not
    * block. AGX_DEFERRED: agx_submission_finish follows, from any thread. It is not known then when
    * that will be, so what waits for an operation of such a kind stays parked until it is over.
    * NULL: nothing to do. */
   agx_status (*run)(struct agx_submission *submission);
   /* Lets go of what prepare captured (but commands), whether it ran or not; on any thread,
    * without a lock. May be NULL. */
   void (*drop)(struct agx_submission *submission);
};

#define AGX_OP_KINDS 16 /* no enum agx_op_kind is as large */

/* What rooms above this one do for it. */
struct agx_sync_hooks {
   /* Kinds of operations that rooms above implement, by enum agx_op_kind; NULL: this room's. */
   const struct agx_op_type *types[AGX_OP_KINDS];
   /* Fills, updates and copies of buffers that only the host can reach. */
   const struct agx_op_type *host_transfer;
   /* Whether this thread is one that runs operations on the host. */
   bool (*is_host_thread)(void);
};

/* By enum agx_op_kind; NULL for numbers that are none. */
const struct agx_op_type *agx_op_type(const struct agx_device *device, uint32_t kind);

/* An operation whose run has returned AGX_DEFERRED ends by a step of the application's that no
 * thread may wait for (AGX_DEBUG=serial). number: its own; what has ended is left alone, though its
 * memory may be another one's. */
AGX_EXCLUDES(agx_sync_lock_class)
void agx_submission_leave_open(struct agx_submission *submission, uint64_t number);

/* The end of an operation whose run has returned AGX_DEFERRED, once: AGX_OK, or a failure with the
 * thread's error text. May end the device's life. */
AGX_EXCLUDES(agx_sync_lock_class)
void agx_submission_finish(struct agx_submission *submission, agx_status status);
