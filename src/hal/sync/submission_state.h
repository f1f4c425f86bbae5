/* SPDX-License-Identifier: MIT
 *
 * The states of a submission, and the table of allowed transitions. agx_submission_move()
 * (submission.h) is the one function that takes a submission from one state to the next.
 *
 *        agx_submit
 *            |
 *   SPARE -> PREPARED -+-------------+-> PARKED --+-> UNBLOCKED -+-------------> as from PREPARED,
 *     ^         |      |             |      |     |      |       |                but for REFUSED
 *     |         |      +-> STARTING -+      |     |      |       +-> RESTARTING -> as from STARTING
 *     |         v             |      |      |     |      |
 *     |      REFUSED <--------+      +-> DEFERRED +      |
 *     |         | ^                  |      |            v
 *     |<--------+ |                  |      +---------> FAILING -------------------> ENDED
 *     |           |                  |
 *     |           |                  +-> READY --+
 *     |           |                  |           v
 *     |           |                  +------> SENDING -+-> IN_FLIGHT -+------------> ENDED
 *     |           |                  |           |     |      v       |
 *     |           +------------------|-----------+     +--> LOST -----+
 *     |                              |
 *     |                              +-> FRONTIER -+-------------------------------> ENDED
 *     |                              |             v
 *     |                              +-> RUNNABLE ----> RUNNING -------------------> ENDED
 *     |                              |
 *     |                              +---------------------------------------------> ENDED
 *     |
 *     +-- DROPPING <---------------------------------------------------------------- ENDED
 *
 * Only a kind of operation that has a launch is STARTING or RESTARTING, and only a launch defers.
 * agx_submit takes what is ready for the GPU to SENDING at once, since it holds the queue's lock;
 * what was unblocked is READY until a thread has that lock. A wait-before-signal is PARKED. An
 * operation of the host goes through FRONTIER and, if its kind has a run, RUNNABLE. Not drawn: an
 * operation whose prepare fails goes from PREPARED to SPARE, a send that fails from SENDING to
 * ENDED, and a FRONTIER that grows to FRONTIER again.
 */
#pragma once

#include <stdint.h>

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

/* Lists of submissions: a state without one has AGX_LIST_NONE. The device has one of each, but
 * IN_FLIGHT and FRONTIER, of which each queue has one: by epoch, and by the epoch of the queue that
 * its submissions wait for. */
enum agx_submission_list {
   AGX_LIST_NONE,
   AGX_LIST_SPARE,
   AGX_LIST_STARTING, /* whose launch runs, oldest first */
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

/* What counts the submissions of some states. */
enum agx_submission_counter {
   AGX_COUNTS_NOTHING,
   AGX_COUNTS_PARKED,    /* the device's parked_count: from the time a submission is parked or
                          * deferred until it has been launched, it counts against max_parked */
   AGX_COUNTS_IN_FLIGHT, /* the queue's in_flight_count */
   AGX_COUNTS_FRONTIER,  /* the device's host_frontier_waiters: those whose kind has a run */
};

struct agx_submission_row {
   uint32_t next;   /* a bit for each state that may follow */
   uint8_t list;    /* enum agx_submission_list */
   uint8_t counter; /* enum agx_submission_counter */
};

#define TO(state) (1u << AGX_SUBMISSION_##state)
/* Once it was started on the host. */
#define STARTED (TO(FRONTIER) | TO(RUNNABLE) | TO(ENDED))
#define ROW(state, list, counter, next)                                                            \
   [AGX_SUBMISSION_##state] = {next, AGX_LIST_##list, AGX_COUNTS_##counter}

/* In the header, because agx_submission_move is inline. */
static const struct agx_submission_row agx_submission_rows[AGX_SUBMISSION_STATES] = {
   ROW(SPARE, SPARE, NOTHING, TO(PREPARED)),
   ROW(PREPARED, NONE, NOTHING,
       TO(STARTING) | TO(PARKED) | TO(SENDING) | STARTED | TO(REFUSED) | TO(SPARE)),
   ROW(STARTING, STARTING, NOTHING, TO(DEFERRED) | TO(SENDING) | STARTED | TO(REFUSED)),
   ROW(PARKED, PARKED, PARKED, TO(UNBLOCKED) | TO(FAILING)),
   ROW(DEFERRED, DEFERRED, PARKED, TO(UNBLOCKED) | TO(FAILING)),
   ROW(UNBLOCKED, UNBLOCKED, PARKED,
       TO(RESTARTING) | TO(PARKED) | TO(READY) | STARTED | TO(FAILING)),
   ROW(FAILING, UNBLOCKED, PARKED, TO(ENDED)),
   ROW(RESTARTING, STARTING, PARKED, TO(DEFERRED) | TO(READY) | STARTED),
   ROW(READY, READY, NOTHING, TO(SENDING)),
   ROW(SENDING, NONE, NOTHING, TO(IN_FLIGHT) | TO(LOST) | TO(ENDED) | TO(REFUSED)),
   ROW(IN_FLIGHT, IN_FLIGHT, IN_FLIGHT, TO(LOST) | TO(ENDED)),
   ROW(LOST, IN_FLIGHT, IN_FLIGHT, TO(ENDED)),
   ROW(FRONTIER, FRONTIER, FRONTIER, TO(FRONTIER) | TO(RUNNABLE) | TO(ENDED)),
   ROW(RUNNABLE, RUNNABLE, NOTHING, TO(RUNNING)),
   ROW(RUNNING, NONE, NOTHING, TO(ENDED)),
   ROW(ENDED, ENDED, NOTHING, TO(DROPPING)),
   ROW(DROPPING, NONE, NOTHING, TO(SPARE)),
   ROW(REFUSED, NONE, NOTHING, TO(SPARE)),
};

#undef TO
#undef STARTED
#undef ROW
