/* SPDX-License-Identifier: MIT
 *
 * The states of a submission. agx_submission_move() is the one function that takes it from one to
 * the next (submission.c).
 *
 *        agx_submit                                       +-----------------------------+
 *            |                                            v                             |
 *   SPARE -> PREPARED -> STARTING ---+-> PARKED ----> UNBLOCKED -> RESTARTING --+       |
 *     ^         |           |        |      |            ^  |          |        |       |
 *     |         v           v        +-> DEFERRED -------+  |      (as STARTING)+-------+
 *     |      REFUSED <------+        |      |               v
 *     |         | ^                  |      +----------> FAILING ------------------> ENDED
 *     |<--------+ |                  |
 *     |           |                  +-> READY -> SENDING -+-> IN_FLIGHT -+--------> ENDED
 *     |           |                  |               |     |      v       |
 *     |           +------------------|---------------+     +--> LOST -----+
 *     |                              |
 *     |                              +-> FRONTIER -+-----------------------------+-> ENDED
 *     |                              |             v                             |
 *     |                              +-> RUNNABLE ----> RUNNING -----------------+
 *     |                              |
 *     |                              +---------------------------------------------> ENDED
 *     |
 *     +-- DROPPING <------------------------------------------------------------------+
 *
 * Not drawn: a send that fails goes from SENDING to ENDED, and a FRONTIER that grows to FRONTIER
 * again. A submission for the GPU goes through READY, one for the host through FRONTIER and, if its
 * kind has something to do there, RUNNABLE. A wait-before-signal is PARKED.
 */
#pragma once

#include "base/list.h"

/* In the order of a submission's life: from STARTING to RUNNING it is under way (submit.c). */
enum agx_submission_state {
   AGX_SUBMISSION_SPARE,      /* kept to be used again */
   AGX_SUBMISSION_PREPARED,   /* agx_submit captures the operation */
   AGX_SUBMISSION_STARTING,   /* its kind's launch runs, for the first time */
   AGX_SUBMISSION_PARKED,     /* a wait names a value that no submission will reach yet */
   AGX_SUBMISSION_DEFERRED,   /* its kind's launch returned AGX_DEFERRED */
   AGX_SUBMISSION_UNBLOCKED,  /* was parked or deferred, and is to be started again */
   AGX_SUBMISSION_FAILING,    /* was parked or deferred, and is to end with its `failure` */
   AGX_SUBMISSION_RESTARTING, /* its kind's launch runs, after it was parked or deferred */
   AGX_SUBMISSION_READY,      /* for the kernel */
   AGX_SUBMISSION_SENDING,    /* a thread hands it to the kernel */
   AGX_SUBMISSION_IN_FLIGHT,  /* the kernel has it */
   AGX_SUBMISSION_LOST,       /* the kernel may still use what it holds, but its queue was lost, and
                               * its semaphores have failed */
   AGX_SUBMISSION_FRONTIER,   /* the host does it when its frontier is reached */
   AGX_SUBMISSION_RUNNABLE,   /* its frontier is reached, its kind's run comes next */
   AGX_SUBMISSION_RUNNING,    /* its kind's run was called, and may have been deferred */
   AGX_SUBMISSION_ENDED,      /* its semaphores are signalled; its references go next */
   AGX_SUBMISSION_DROPPING,   /* a thread drops its references */
   AGX_SUBMISSION_REFUSED,    /* agx_submit fails: it never was submitted */
   AGX_SUBMISSION_STATES,
};

/* Lists of submissions. The device has one of each, but IN_FLIGHT and FRONTIER, of which each queue
 * has one: by epoch, and by the epoch of the queue that its submissions wait for. */
enum agx_submission_list {
   AGX_LIST_NONE,
   AGX_LIST_SPARE,
   AGX_LIST_STARTING, /* what is starting and restarting, oldest first */
   AGX_LIST_PARKED,
   AGX_LIST_DEFERRED,
   AGX_LIST_UNBLOCKED, /* and what is failing, in one order */
   AGX_LIST_READY,
   AGX_LIST_RUNNABLE,
   AGX_LIST_ENDED,
   AGX_DEVICE_LISTS,
   AGX_LIST_IN_FLIGHT = AGX_DEVICE_LISTS,
   AGX_LIST_FRONTIER,
};

/* Whether the table of states allows the transition. */
bool agx_submission_may_move(enum agx_submission_state from, enum agx_submission_state to);

/* Whether a submission in the state counts against max_parked: from the time it is parked or
 * deferred until it has been launched. */
bool agx_submission_state_is_parked(enum agx_submission_state state);
