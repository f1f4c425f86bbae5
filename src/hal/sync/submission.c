/* SPDX-License-Identifier: MIT
 *
 * The table of a submission's states (figure in submission_state.h), and the function that moves a
 * submission through it. All other files of the room call agx_submission_move; none of them puts a
 * submission into a list, or takes it out of one.
 */

#include "hal/sync/submission.h"

/* What counts the submissions of some states. */
enum counter {
   NOTHING,
   PARKED,    /* the device's parked_count */
   IN_FLIGHT, /* the queue's in_flight_count */
   FRONTIER,  /* the device's host_frontier_waiters: those with a run */
};

struct row {
   uint32_t next; /* a bit for each state that may follow */
   uint8_t list;  /* enum agx_submission_list */
   uint8_t counter;
};

#define TO(state) (1u << AGX_SUBMISSION_##state)
/* After a launch that succeeded, or failed. */
#define LAUNCHED (TO(READY) | TO(FRONTIER) | TO(RUNNABLE) | TO(ENDED))

static const struct row rows[AGX_SUBMISSION_STATES] = {
   [AGX_SUBMISSION_SPARE] = {TO(PREPARED), AGX_LIST_SPARE, NOTHING},
   [AGX_SUBMISSION_PREPARED] = {TO(STARTING) | TO(REFUSED) | TO(SPARE), AGX_LIST_NONE, NOTHING},
   [AGX_SUBMISSION_STARTING] = {LAUNCHED | TO(PARKED) | TO(DEFERRED) | TO(REFUSED),
                                AGX_LIST_STARTING, NOTHING},
   [AGX_SUBMISSION_PARKED] = {TO(UNBLOCKED) | TO(FAILING), AGX_LIST_PARKED, PARKED},
   [AGX_SUBMISSION_DEFERRED] = {TO(UNBLOCKED) | TO(FAILING), AGX_LIST_DEFERRED, PARKED},
   [AGX_SUBMISSION_UNBLOCKED] = {TO(RESTARTING) | TO(FAILING), AGX_LIST_UNBLOCKED, PARKED},
   [AGX_SUBMISSION_FAILING] = {TO(ENDED), AGX_LIST_UNBLOCKED, PARKED},
   [AGX_SUBMISSION_RESTARTING] = {LAUNCHED | TO(PARKED) | TO(DEFERRED), AGX_LIST_STARTING, PARKED},
   [AGX_SUBMISSION_READY] = {TO(SENDING), AGX_LIST_READY, NOTHING},
   [AGX_SUBMISSION_SENDING] = {TO(IN_FLIGHT) | TO(LOST) | TO(ENDED) | TO(REFUSED), AGX_LIST_NONE,
                               NOTHING},
   [AGX_SUBMISSION_IN_FLIGHT] = {TO(LOST) | TO(ENDED), AGX_LIST_IN_FLIGHT, IN_FLIGHT},
   [AGX_SUBMISSION_LOST] = {TO(ENDED), AGX_LIST_IN_FLIGHT, IN_FLIGHT},
   [AGX_SUBMISSION_FRONTIER] = {TO(FRONTIER) | TO(RUNNABLE) | TO(ENDED), AGX_LIST_FRONTIER,
                                FRONTIER},
   [AGX_SUBMISSION_RUNNABLE] = {TO(RUNNING), AGX_LIST_RUNNABLE, NOTHING},
   [AGX_SUBMISSION_RUNNING] = {TO(ENDED), AGX_LIST_NONE, NOTHING},
   [AGX_SUBMISSION_ENDED] = {TO(DROPPING), AGX_LIST_ENDED, NOTHING},
   [AGX_SUBMISSION_DROPPING] = {TO(SPARE), AGX_LIST_NONE, NOTHING},
   [AGX_SUBMISSION_REFUSED] = {TO(SPARE), AGX_LIST_NONE, NOTHING},
};

bool agx_submission_may_move(enum agx_submission_state from, enum agx_submission_state to)
{
   return rows[from].next >> to & 1;
}

bool agx_submission_state_is_parked(enum agx_submission_state state)
{
   return rows[state].counter == PARKED;
}

static void count(struct agx_submission *submission, enum counter counter, uint32_t change)
{
   switch (counter) {
   case NOTHING:
      break;
   case PARKED:
      agx_sync_of(submission->device)->parked_count += change;
      break;
   case IN_FLIGHT:
      submission->queue->in_flight_count += change;
      break;
   case FRONTIER:
      agx_sync_of(submission->device)->host_frontier_waiters += submission->type->run ? change : 0;
      break;
   }
}

/* Everything but the lists. */
static inline void enter(struct agx_submission *submission, const struct row *left,
                         enum agx_submission_state to)
{
   agx_assert(left->next >> to & 1); /* the table of states forbids it */
   if (left->counter != rows[to].counter) {
      count(submission, left->counter, UINT32_MAX); /* one less */
      count(submission, rows[to].counter, 1);
   }
   submission->state = to;
}

/* The head of a list, but of FRONTIER, which is another queue's than the submission's own. */
static inline struct agx_link *head_of(struct agx_submission *submission,
                                       enum agx_submission_list list)
{
   agx_assert(list != AGX_LIST_FRONTIER);
   return list == AGX_LIST_IN_FLIGHT ? &submission->queue->in_flight
                                     : &agx_sync_of(submission->device)->submission_lists[list];
}

void agx_submission_move(struct agx_submission *submission, enum agx_submission_state to)
{
   const struct row *left = &rows[submission->state];
   const enum agx_submission_list entered = rows[to].list;
   struct agx_link *link = &submission->link;
   enter(submission, left, to);
   if (left->list == entered && entered != AGX_LIST_NONE)
      return;
   link->prev->next = link->next; /* of a list or, alone, of itself */
   link->next->prev = link->prev;
   if (entered == AGX_LIST_NONE)
      agx_list_init(link);
   else
      agx_list_append(head_of(submission, entered), link);
}

void agx_submission_move_before(struct agx_submission *submission, enum agx_submission_state to,
                                struct agx_link *at)
{
   enter(submission, &rows[submission->state], to);
   agx_list_remove(&submission->link);
   agx_list_insert_before(at, &submission->link);
}

/* ---- memory ------------------------------------------------------------------ */

struct agx_submission *agx_submission_acquire(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_sync_lock(sync);
   struct agx_submission *submission = agx_submissions_first(sync, AGX_LIST_SPARE);
   if (submission)
      agx_submission_move(submission, AGX_SUBMISSION_PREPARED);
   agx_sync_unlock(sync);
   if (submission)
      return submission;
   submission = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*submission));
   if (!submission)
      return NULL;
   submission->device = device;
   submission->state = AGX_SUBMISSION_PREPARED;
   agx_list_init(&submission->link);
   return submission;
}

void agx_submission_drop(struct agx_submission *submission)
{
   if (submission->session)
      agx_profile_drop(submission);
   if (submission->type->drop)
      submission->type->drop(submission);
   agx_release(submission->commands);
   for (uint32_t i = 0; i < submission->wait_count; i++) {
      agx_release(submission->waits[i].import);
      agx_release(submission->waits[i].semaphore);
   }
   for (uint32_t i = 0; i < submission->signal_count; i++)
      agx_release(submission->signals[i].semaphore);
}

void agx_submissions_fini(struct agx_device *device)
{
   struct agx_sync_state *sync = agx_sync_of(device);
   agx_list_for_each_safe (struct agx_submission, submission,
                           &sync->submission_lists[AGX_LIST_SPARE], link) {
      if (submission->fence)
         agxw_timeline_destroy(submission->fence);
      agx_host_free(agx_context_of(device)->alloc, submission, sizeof(*submission));
   }
}
