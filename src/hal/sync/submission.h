/* SPDX-License-Identifier: MIT
 *
 * Operations between agx_submit and their end. submission_state.h has the figure of their states.
 * A submission is guarded by the device's sync lock, but for what only the thread uses that takes
 * it from one state to the next.
 */
#pragma once

#include "hal/record/command_buffer.h"
#include "hal/sync/op.h"
#include "hal/sync/queue.h"
#include "hal/sync/semaphore.h"
#include "hal/profile/profile.h"
#include "hal/sync/submission_state.h"

#define AGX_MAX_POINTS 32 /* of a submission; operations of more take several (submit.c) */
#define AGX_OP_STATE_B 192

struct agx_submission {
   struct agx_link link;
   enum agx_submission_state state;
   const struct agx_op_type *type;
   struct agx_device *device;
   struct agx_queue *queue;
   uint64_t number;                       /* its own on the device, from 1 on */
   struct agx_command_buffer *commands;   /* retained; NULL: nothing for the GPU */
   struct agxw_compute stream;            /* of commands; stream_va 0: nothing to run */
   struct agx_scratch *scratch;           /* of its kernels, retained; NULL: none has a stack */
   uint32_t count;                        /* in flight: of its breadcrumb, that it adds to */
   struct agx_wait waits[AGX_MAX_POINTS]; /* semaphores retained */
   struct agx_signal signals[AGX_MAX_POINTS];
   uint32_t wait_count, signal_count;
   uint32_t unresolved;          /* parked: waits that nothing submitted reaches yet */
   struct agx_frontier frontier; /* once launched: it is over when this is reached */
   struct agx_frontier waited;   /* all that it depends on, directly or not, without itself */
   bool has_imports;             /* among its waits */
   bool is_open;                 /* running: ends by a later step of the application's */
   uint64_t epoch;               /* in flight: its own on its queue */
   /* Signalled to fence_value by the kernel with the epoch. A timeline of its own, because a
    * kernel forgets the errors of points below the latest one that is reached. Kept from use to
    * use. */
   struct agxw_timeline *fence;
   uint64_t fence_value;
   /* Parked or launching: it shall fail with this. Lost or ended, where it has an `end`: it did. */
   struct agx_failure failure;
   agx_op_end_fn end; /* the application's; or NULL */
   void *end_user;
   uint64_t tag;
   struct agx_profile *session;       /* that records it, retained; NULL: none */
   struct agx_profile_entry *profile; /* in it, until it ends */
   /* What the kind's prepare captures. Aligned as pointers are and no more: loops over a list form
    * the address of a submission around its head, which must be one. */
   _Alignas(void *) uint8_t state_B[AGX_OP_STATE_B];
};

/* The first submission in one of the device's lists, or NULL. */
AGX_SYNC_LOCKED static inline struct agx_submission *
agx_submissions_first(const struct agx_sync_state *sync, enum agx_submission_list list)
{
   const struct agx_link *head = &sync->submission_lists[list];
   return agx_list_empty(head) ? NULL : agx_container_of(head->next, struct agx_submission, link);
}

/* Whether it counts against max_parked. */
static inline bool agx_submission_is_parked(const struct agx_submission *submission)
{
   return agx_submission_rows[submission->state].counter == AGX_COUNTS_PARKED;
}

/* What a kind captured. */
#define AGX_OP_STATE(submission, type)                                                             \
   ((type *)((submission)->state_B + 0 * sizeof(char[sizeof(type) <= AGX_OP_STATE_B ? 1 : -1])))

/* Whether there is a submission in one of the device's lists. */
AGX_SYNC_LOCKED static inline bool agx_submissions_any(const struct agx_sync_state *sync,
                                                       enum agx_submission_list list)
{
   return !agx_list_empty(&sync->submission_lists[list]);
}

/* Inline, so that a move between states that the compiler knows is its list operations. */
#define MOVES AGX_SYNC_LOCKED __attribute__((always_inline))

/* Counts one more or, with UINT32_MAX, one less. */
MOVES static inline void agx_submission_count(struct agx_submission *submission, uint8_t counter,
                                              uint32_t change)
{
   if (counter == AGX_COUNTS_PARKED)
      agx_sync_of(submission->device)->parked_count += change;
   else if (counter == AGX_COUNTS_IN_FLIGHT)
      submission->queue->in_flight_count += change;
   else if (counter == AGX_COUNTS_FRONTIER && submission->type->run)
      agx_sync_of(submission->device)->host_frontier_waiters += change;
}

/* Takes the submission from one state to another, which the table of states allows, keeps the
 * counters, and puts it into a list before `at`: the head of a list or a link in it; NULL: into
 * none. Only a FRONTIER, whose list is in order of epochs, and one that is DROPPING, which goes
 * into a list of its thread, need this function; the rest of the room calls agx_submission_move.
 * What leaves DROPPING is not taken out of that list, which ends then. */
MOVES static inline void agx_submission_move_before(struct agx_submission *submission,
                                                    enum agx_submission_state from,
                                                    enum agx_submission_state to,
                                                    struct agx_link *at)
{
   const struct agx_submission_row *left = &agx_submission_rows[from];
   const struct agx_submission_row *entered = &agx_submission_rows[to];
   agx_assert(submission->state == from && left->next >> to & 1);
   if (left->counter != entered->counter) {
      agx_submission_count(submission, left->counter, UINT32_MAX);
      agx_submission_count(submission, entered->counter, 1);
   }
   submission->state = to;
   if (left->list != AGX_LIST_NONE)
      agx_list_remove(&submission->link);
   if (at)
      agx_list_insert_before(at, &submission->link);
}

/* The same, at the end of the list that goes with the state; where the submission stands in that
 * list, it keeps its place. */
MOVES static inline void agx_submission_move(struct agx_submission *submission,
                                             enum agx_submission_state from,
                                             enum agx_submission_state to)
{
   const uint8_t list = agx_submission_rows[to].list;
   struct agx_link *at;
   agx_assert(list != AGX_LIST_FRONTIER);
   if (list == AGX_LIST_NONE)
      at = NULL;
   else if (list == agx_submission_rows[from].list)
      at = submission->link.next;
   else if (list == AGX_LIST_IN_FLIGHT)
      at = &submission->queue->in_flight;
   else
      at = &agx_sync_of(submission->device)->submission_lists[list];
   agx_submission_move_before(submission, from, to, at);
}

#undef MOVES

/* schedule.c: releases what a submission holds, when it is DROPPING or REFUSED. */
AGX_SYNC_UNLOCKED void agx_submission_drop(struct agx_submission *submission);

/* The application's function for its end is to be called with this; NULL: with success. */
AGX_SYNC_LOCKED static inline void agx_submission_note_end(struct agx_submission *submission,
                                                           const struct agx_failure *failure)
{
   if (!submission->end)
      return;
   if (failure)
      submission->failure = *failure;
   else
      submission->failure.status = AGX_OK;
}
