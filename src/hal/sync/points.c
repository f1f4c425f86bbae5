/* SPDX-License-Identifier: MIT
 *
 * Points: whether a value is reached, or which submission or import will reach it. Waits
 * of parked submissions stand in the list of their semaphore, so that a signal finds those that it
 * unblocks without a search; so do signals whose frontier is known. schedule.c asks when it starts
 * a submission, semaphore.c when a value is reached, wait.c and sync_file.c for the host and for
 * other processes.
 */
#include "hal/sync/points.h"

#include "hal/sync/import.h"
#include "hal/sync/notify.h"
#include "hal/sync/watch.h"
#include "hal/sync/submission.h"

enum agx_readiness agx_point_resolve(const struct agx_point *point, struct agx_cause *cause)
{
   const struct agx_semaphore *semaphore = point->semaphore;
   *cause = (struct agx_cause){0};
   if (agx_semaphore_has_reached(semaphore, point->value))
      return AGX_READY;
   if (semaphore->failure.status != AGX_OK)
      return AGX_WAIT_FAILED;
   agx_list_for_each (struct agx_signal, signal, &semaphore->pending, link) {
      if (signal->value < point->value)
         continue;
      cause->signal = signal;
      return AGX_READY;
   }
   agx_list_for_each (struct agx_import, import, &semaphore->imports, of_semaphore) {
      if (import->value < point->value)
         continue;
      cause->import = import;
      return AGX_ELSEWHERE;
   }
   return AGX_NOT_YET;
}

const struct agx_failure *agx_submission_refused_wait(const struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->wait_count; i++) {
      const struct agx_wait *wait = &submission->waits[i];
      if (wait->semaphore->failure.status != AGX_OK &&
          !agx_semaphore_has_reached(wait->semaphore, wait->value))
         return &wait->semaphore->failure;
   }
   return NULL;
}

const struct agx_failure *agx_submission_failed_wait(const struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->wait_count; i++) {
      const struct agx_semaphore *semaphore = submission->waits[i].semaphore;
      if (semaphore->value < submission->waits[i].value && semaphore->failure.status != AGX_OK)
         return &semaphore->failure;
   }
   return NULL;
}

static void unlink_waits(struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->wait_count; i++)
      agx_list_remove(&submission->waits[i].link);
   submission->unresolved = 0;
}

/* By value, the lowest first; mostly the new one is the highest. */
static void link_wait(struct agx_wait *wait)
{
   struct agx_link *head = &wait->semaphore->waiting, *at = head;
   while (at->prev != head &&
          agx_container_of(at->prev, struct agx_wait, link)->value > wait->value)
      at = at->prev;
   agx_list_insert_before(at, &wait->link);
}

/* While a wait is for what was not submitted yet, all waits that are not reached stand in their
 * semaphores' lists. */
void agx_submission_link_waits(struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->wait_count; i++)
      if (submission->waits[i].semaphore->value < submission->waits[i].value)
         link_wait(&submission->waits[i]);
}

/* Only the GPU can wait for another's work. */
static void take_import(struct agx_wait *wait, struct agx_import *import)
{
   wait->is_resolved = wait->submission->stream.stream_va != 0;
   if (!wait->is_resolved || wait->import)
      return;
   agx_retain(import);
   wait->import = import;
   wait->submission->has_imports = true;
}

enum agx_readiness agx_submission_resolve_waits(struct agx_submission *submission)
{
   struct agx_frontier *frontier = &submission->frontier, *waited = &submission->waited;
   *frontier = *waited = (struct agx_frontier){0};
   submission->unresolved = 0;
   for (uint32_t i = 0; i < submission->wait_count; i++) {
      struct agx_wait *wait = &submission->waits[i];
      const struct agx_point point = {wait->semaphore, wait->value};
      struct agx_cause cause;
      enum agx_readiness readiness = agx_point_resolve(&point, &cause);
      if (readiness == AGX_WAIT_FAILED)
         return AGX_WAIT_FAILED;
      wait->is_resolved = readiness == AGX_READY;
      if (cause.signal) {
         agx_frontier_merge(frontier, &cause.signal->submission->frontier);
         agx_frontier_merge(waited, &cause.signal->submission->waited);
      }
      if (cause.import)
         take_import(wait, cause.import);
      submission->unresolved += !wait->is_resolved;
   }
   if (submission->wait_count)
      agx_frontier_merge(waited, frontier);
   return submission->unresolved ? AGX_NOT_YET : AGX_READY;
}

void agx_waits_resolve(struct agx_semaphore *semaphore, uint64_t value)
{
   struct agx_link *head = &semaphore->waiting, *at = head->next;
   while (at != head) {
      struct agx_wait *wait = agx_container_of(at, struct agx_wait, link);
      struct agx_submission *submission = wait->submission;
      if (wait->value > value)
         return;
      at = at->next;
      if (wait->value <= semaphore->value)
         agx_list_remove(&wait->link);
      submission->unresolved -= !wait->is_resolved;
      wait->is_resolved = true;
      if (submission->unresolved && semaphore->failure.status == AGX_OK)
         continue;
      while (at != head && agx_container_of(at, struct agx_wait, link)->submission == submission)
         at = at->next; /* that goes with it */
      unlink_waits(submission);
      agx_submission_move(submission, AGX_SUBMISSION_PARKED, AGX_SUBMISSION_UNBLOCKED);
   }
}

static bool comes_after(const struct agx_submission *later, const struct agx_submission *earlier)
{
   if (later->queue == earlier->queue && later->state == AGX_SUBMISSION_IN_FLIGHT &&
       earlier->state == AGX_SUBMISSION_IN_FLIGHT)
      return true; /* the later is its last one yet */
   struct agx_frontier all = later->waited;
   agx_frontier_merge(&all, &later->frontier);
   return agx_frontier_covers(&all, &earlier->frontier);
}

/* By value, the lowest first; mostly the new one is the highest, and comes true last. */
AGX_SYNC_LOCKED static void file_signal(struct agx_signal *signal)
{
   struct agx_semaphore *semaphore = signal->semaphore;
   struct agx_link *head = &semaphore->pending, *at = head;
   while (at->prev != head &&
          agx_container_of(at->prev, struct agx_signal, link)->value > signal->value)
      at = at->prev;
   bool is_first = agx_list_empty(head);
   bool is_late =
      !is_first &&
      (at != head || !comes_after(signal->submission,
                                  agx_container_of(at->prev, struct agx_signal, link)->submission));
   semaphore->is_disordered = is_late || (semaphore->is_disordered && !is_first);
   agx_list_insert_before(at, &signal->link);
   agx_observers_await(signal);
   if (is_late && semaphore->kernel_waiters)
      agx_device_interrupt(semaphore->device); /* there is more that they may wait for */
}

void agx_submission_file_signals(struct agx_submission *submission)
{
   for (uint32_t i = 0; i < submission->signal_count; i++) {
      struct agx_signal *signal = &submission->signals[i];
      file_signal(signal);
      agx_waits_resolve(signal->semaphore, signal->value);
   }
}
