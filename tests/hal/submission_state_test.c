/* SPDX-License-Identifier: MIT
 *
 * The table of a submission's states: each allowed transition, with the list and the counters that
 * go with it, and that a forbidden one fails an assertion.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hal/device/device.h"
#include "hal/sync/submission.h"
#include "support.h"

/* From each state (SPARE first, as in the enum) to each: '+' is allowed. */
static const char *const allowed[AGX_SUBMISSION_STATES] = {
   /* Columns: SPARE, PREPARED, STARTING, PARKED, DEFERRED, UNBLOCKED, FAILING, RESTARTING, READY,
    * SENDING, IN_FLIGHT, LOST, FRONTIER, RUNNABLE, RUNNING, ENDED, DROPPING, REFUSED. */
   [AGX_SUBMISSION_SPARE] = ".+................",
   [AGX_SUBMISSION_PREPARED] = "+.++.....+..++.+.+",
   [AGX_SUBMISSION_STARTING] = "....+....+..++.+.+",
   [AGX_SUBMISSION_PARKED] = ".....++...........",
   [AGX_SUBMISSION_DEFERRED] = ".....++...........",
   [AGX_SUBMISSION_UNBLOCKED] = "...+..+++...++.+..",
   [AGX_SUBMISSION_FAILING] = "...............+..",
   [AGX_SUBMISSION_RESTARTING] = "....+...+...++.+..",
   [AGX_SUBMISSION_READY] = ".........+........",
   [AGX_SUBMISSION_SENDING] = "..........++...+.+",
   [AGX_SUBMISSION_IN_FLIGHT] = "...........+...+..",
   [AGX_SUBMISSION_LOST] = "...............+..",
   [AGX_SUBMISSION_FRONTIER] = "............++.+..",
   [AGX_SUBMISSION_RUNNABLE] = "..............+...",
   [AGX_SUBMISSION_RUNNING] = "...............+..",
   [AGX_SUBMISSION_ENDED] = "................+.",
   [AGX_SUBMISSION_DROPPING] = "+.................",
   [AGX_SUBMISSION_REFUSED] = "+.................",
};

static agx_status run_nothing(struct agx_submission *submission)
{
   return AGX_OK;
}

static const struct agx_op_type runs = {.name = "runs", .run = run_nothing};

/* A device without anything but lists, and one submission on it. */
struct submission_alone {
   struct agx_device *device;
   struct agx_submission submission;
   struct agx_link own; /* of the thread that drops references */
};

static void open_submission_alone(struct submission_alone *it)
{
   *it = (struct submission_alone){.device = calloc(1, sizeof(*it->device))};
   assert_non_null(it->device);
   it->device->context.sync = &it->device->sync;
   for (size_t i = 0; i < AGX_DEVICE_LISTS; i++)
      agx_list_init(&it->device->sync.submission_lists[i]);
   agx_list_init(&it->device->sync.queues[0].in_flight);
   agx_list_init(&it->device->sync.queues[0].frontier_waiters);
   agx_list_init(&it->own);
   it->submission.device = it->device;
   it->submission.queue = &it->device->sync.queues[0];
   it->submission.type = &runs;
   agx_list_init(&it->submission.link);
   agx_list_append(&it->device->sync.submission_lists[AGX_LIST_SPARE], &it->submission.link);
}

static void move(struct submission_alone *it, enum agx_submission_state to)
{
   enum agx_submission_state from = it->submission.state;
   if (from == AGX_SUBMISSION_DROPPING)
      agx_list_init(&it->own); /* its thread is done with it */
   if (to == AGX_SUBMISSION_FRONTIER)
      agx_submission_move_before(&it->submission, from, to,
                                 &it->device->sync.queues[0].frontier_waiters);
   else if (to == AGX_SUBMISSION_DROPPING)
      agx_submission_move_before(&it->submission, from, to, &it->own);
   else
      agx_submission_move(&it->submission, from, to);
}

static bool may_move(enum agx_submission_state from, enum agx_submission_state to)
{
   return agx_submission_rows[from].next >> to & 1;
}

/* Takes the submission to a state by the shortest way; each state can be reached. */
static void walk_to(struct submission_alone *it, enum agx_submission_state target)
{
   enum agx_submission_state before[AGX_SUBMISSION_STATES], queue[AGX_SUBMISSION_STATES] = {0};
   enum agx_submission_state path[AGX_SUBMISSION_STATES];
   bool is_seen[AGX_SUBMISSION_STATES] = {[AGX_SUBMISSION_SPARE] = true};
   unsigned count = 1, steps = 0;
   for (unsigned i = 0; i < count; i++) {
      for (unsigned to = 0; to < AGX_SUBMISSION_STATES; to++) {
         if (is_seen[to] || !may_move(queue[i], to))
            continue;
         is_seen[to] = true;
         before[to] = queue[i];
         queue[count++] = to;
      }
   }
   assert_true(is_seen[target]);
   for (enum agx_submission_state at = target; at != AGX_SUBMISSION_SPARE; at = before[at])
      path[steps++] = at;
   while (steps)
      move(it, path[--steps]);
}

static const struct agx_link *list_that_has(const struct submission_alone *it)
{
   const struct agx_queue *queue = &it->device->sync.queues[0];
   const struct agx_link *link = &it->submission.link, *found = NULL;
   for (size_t i = 0; i < AGX_DEVICE_LISTS; i++)
      if (it->device->sync.submission_lists[i].next == link)
         found = &it->device->sync.submission_lists[i];
   if (queue->in_flight.next == link)
      found = &queue->in_flight;
   if (queue->frontier_waiters.next == link)
      found = &queue->frontier_waiters;
   return it->own.next == link ? &it->own : found;
}

static void check_place(const struct submission_alone *it)
{
   const struct agx_device *device = it->device;
   const struct agx_link *lists = device->sync.submission_lists, *want = NULL;
   bool is_parked = false, is_in_flight = false, waits_for_frontier = false;
   switch (it->submission.state) {
   case AGX_SUBMISSION_SPARE:
      want = &lists[AGX_LIST_SPARE];
      break;
   case AGX_SUBMISSION_STARTING:
   case AGX_SUBMISSION_RESTARTING:
      want = &lists[AGX_LIST_STARTING];
      is_parked = it->submission.state == AGX_SUBMISSION_RESTARTING;
      break;
   case AGX_SUBMISSION_PARKED:
      want = &lists[AGX_LIST_PARKED];
      is_parked = true;
      break;
   case AGX_SUBMISSION_DEFERRED:
      want = &lists[AGX_LIST_DEFERRED];
      is_parked = true;
      break;
   case AGX_SUBMISSION_UNBLOCKED:
   case AGX_SUBMISSION_FAILING:
      want = &lists[AGX_LIST_UNBLOCKED];
      is_parked = true;
      break;
   case AGX_SUBMISSION_READY:
      want = &lists[AGX_LIST_READY];
      break;
   case AGX_SUBMISSION_IN_FLIGHT:
   case AGX_SUBMISSION_LOST:
      want = &device->sync.queues[0].in_flight;
      is_in_flight = true;
      break;
   case AGX_SUBMISSION_FRONTIER:
      want = &device->sync.queues[0].frontier_waiters;
      waits_for_frontier = true;
      break;
   case AGX_SUBMISSION_RUNNABLE:
      want = &lists[AGX_LIST_RUNNABLE];
      break;
   case AGX_SUBMISSION_ENDED:
      want = &lists[AGX_LIST_ENDED];
      break;
   case AGX_SUBMISSION_DROPPING:
      want = &it->own;
      break;
   default:
      break;
   }
   assert_ptr_equal(list_that_has(it), want);
   assert_int_equal(device->sync.parked_count, is_parked);
   assert_int_equal(agx_submission_is_parked(&it->submission), is_parked);
   assert_int_equal(device->sync.queues[0].in_flight_count, is_in_flight);
   assert_int_equal(device->sync.host_frontier_waiters, waits_for_frontier);
}

static void allowed_moves_change_list_and_counters(void **state)
{
   for (unsigned from = 0; from < AGX_SUBMISSION_STATES; from++) {
      for (unsigned to = 0; to < AGX_SUBMISSION_STATES; to++) {
         struct submission_alone it;
         assert_int_equal(may_move(from, to), allowed[from][to] == '+');
         if (allowed[from][to] != '+')
            continue;
         open_submission_alone(&it);
         walk_to(&it, from);
         assert_int_equal(it.submission.state, from);
         check_place(&it);
         move(&it, to);
         assert_int_equal(it.submission.state, to);
         check_place(&it);
         free(it.device);
      }
   }
}

static void what_becomes_failing_keeps_its_place(void **state)
{
   struct submission_alone it;
   struct agx_link behind;
   open_submission_alone(&it);
   walk_to(&it, AGX_SUBMISSION_UNBLOCKED);
   agx_list_append(&it.device->sync.submission_lists[AGX_LIST_UNBLOCKED], &behind);
   move(&it, AGX_SUBMISSION_FAILING);
   assert_ptr_equal(it.submission.link.next, &behind);
   free(it.device);
}

static void only_operations_that_run_are_counted_at_a_frontier(void **state)
{
   static const struct agx_op_type runs_not = {.name = "runs not"};
   struct submission_alone it;
   open_submission_alone(&it);
   it.submission.type = &runs_not;
   walk_to(&it, AGX_SUBMISSION_FRONTIER);
   assert_int_equal(it.device->sync.host_frontier_waiters, 0);
   move(&it, AGX_SUBMISSION_ENDED);
   assert_int_equal(it.device->sync.host_frontier_waiters, 0);
   free(it.device);
}

static void forbidden_moves_are_caught(void **state)
{
#ifndef AGX_ASSERTIONS
   skip();
#endif
   static const enum agx_submission_state pairs[][2] = {
      {AGX_SUBMISSION_SPARE, AGX_SUBMISSION_IN_FLIGHT},
      {AGX_SUBMISSION_PARKED, AGX_SUBMISSION_READY},
      {AGX_SUBMISSION_ENDED, AGX_SUBMISSION_ENDED},
      {AGX_SUBMISSION_LOST, AGX_SUBMISSION_IN_FLIGHT},
   };
   for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
      struct submission_alone it;
      int status = 0;
      open_submission_alone(&it);
      walk_to(&it, pairs[i][0]);
      pid_t child = fork();
      assert_true(child >= 0);
      if (child == 0) {
         signal(SIGABRT, SIG_DFL); /* cmocka has a handler of its own */
         move(&it, pairs[i][1]);
         _exit(0);
      }
      assert_int_equal(waitpid(child, &status, 0), child);
      assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
      free(it.device);
   }
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(allowed_moves_change_list_and_counters),
      cmocka_unit_test(what_becomes_failing_keeps_its_place),
      cmocka_unit_test(only_operations_that_run_are_counted_at_a_frontier),
      cmocka_unit_test(forbidden_moves_are_caught),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
