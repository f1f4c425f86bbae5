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
struct scene {
   struct agx_device *device;
   struct agx_submission submission;
   struct agx_link own; /* of the thread that drops references */
};

static void open_scene(struct scene *scene)
{
   *scene = (struct scene){.device = calloc(1, sizeof(*scene->device))};
   assert_non_null(scene->device);
   scene->device->context.sync = &scene->device->sync;
   for (size_t i = 0; i < AGX_DEVICE_LISTS; i++)
      agx_list_init(&scene->device->sync.submission_lists[i]);
   agx_list_init(&scene->device->sync.queues[0].in_flight);
   agx_list_init(&scene->device->sync.queues[0].frontier_waiters);
   agx_list_init(&scene->own);
   scene->submission.device = scene->device;
   scene->submission.queue = &scene->device->sync.queues[0];
   scene->submission.type = &runs;
   agx_list_init(&scene->submission.link);
   agx_list_append(&scene->device->sync.submission_lists[AGX_LIST_SPARE], &scene->submission.link);
}

static void move(struct scene *scene, enum agx_submission_state to)
{
   enum agx_submission_state from = scene->submission.state;
   if (from == AGX_SUBMISSION_DROPPING)
      agx_list_init(&scene->own); /* its thread is done with it */
   if (to == AGX_SUBMISSION_FRONTIER)
      agx_submission_move_before(&scene->submission, from, to,
                                 &scene->device->sync.queues[0].frontier_waiters);
   else if (to == AGX_SUBMISSION_DROPPING)
      agx_submission_move_before(&scene->submission, from, to, &scene->own);
   else
      agx_submission_move(&scene->submission, from, to);
}

static bool may_move(enum agx_submission_state from, enum agx_submission_state to)
{
   return agx_submission_rows[from].next >> to & 1;
}

/* Takes the submission to a state by the shortest way; each state can be reached. */
static void walk_to(struct scene *scene, enum agx_submission_state target)
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
      move(scene, path[--steps]);
}

static const struct agx_link *list_that_has(const struct scene *scene)
{
   const struct agx_queue *queue = &scene->device->sync.queues[0];
   const struct agx_link *link = &scene->submission.link, *found = NULL;
   for (size_t i = 0; i < AGX_DEVICE_LISTS; i++)
      if (scene->device->sync.submission_lists[i].next == link)
         found = &scene->device->sync.submission_lists[i];
   if (queue->in_flight.next == link)
      found = &queue->in_flight;
   if (queue->frontier_waiters.next == link)
      found = &queue->frontier_waiters;
   return scene->own.next == link ? &scene->own : found;
}

static void check_place(const struct scene *scene)
{
   const struct agx_device *device = scene->device;
   const struct agx_link *lists = device->sync.submission_lists, *want = NULL;
   bool is_parked = false, is_in_flight = false, waits_for_frontier = false;
   switch (scene->submission.state) {
   case AGX_SUBMISSION_SPARE:
      want = &lists[AGX_LIST_SPARE];
      break;
   case AGX_SUBMISSION_STARTING:
   case AGX_SUBMISSION_RESTARTING:
      want = &lists[AGX_LIST_STARTING];
      is_parked = scene->submission.state == AGX_SUBMISSION_RESTARTING;
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
      want = &scene->own;
      break;
   default:
      break;
   }
   assert_ptr_equal(list_that_has(scene), want);
   assert_int_equal(device->sync.parked_count, is_parked);
   assert_int_equal(agx_submission_is_parked(&scene->submission), is_parked);
   assert_int_equal(device->sync.queues[0].in_flight_count, is_in_flight);
   assert_int_equal(device->sync.host_frontier_waiters, waits_for_frontier);
}

static void allowed_moves_change_list_and_counters(void **state)
{
   for (unsigned from = 0; from < AGX_SUBMISSION_STATES; from++) {
      for (unsigned to = 0; to < AGX_SUBMISSION_STATES; to++) {
         struct scene scene;
         assert_int_equal(may_move(from, to), allowed[from][to] == '+');
         if (allowed[from][to] != '+')
            continue;
         open_scene(&scene);
         walk_to(&scene, from);
         assert_int_equal(scene.submission.state, from);
         check_place(&scene);
         move(&scene, to);
         assert_int_equal(scene.submission.state, to);
         check_place(&scene);
         free(scene.device);
      }
   }
}

static void what_becomes_failing_keeps_its_place(void **state)
{
   struct scene scene;
   struct agx_link behind;
   open_scene(&scene);
   walk_to(&scene, AGX_SUBMISSION_UNBLOCKED);
   agx_list_append(&scene.device->sync.submission_lists[AGX_LIST_UNBLOCKED], &behind);
   move(&scene, AGX_SUBMISSION_FAILING);
   assert_ptr_equal(scene.submission.link.next, &behind);
   free(scene.device);
}

static void only_operations_that_run_are_counted_at_a_frontier(void **state)
{
   static const struct agx_op_type runs_not = {.name = "runs not"};
   struct scene scene;
   open_scene(&scene);
   scene.submission.type = &runs_not;
   walk_to(&scene, AGX_SUBMISSION_FRONTIER);
   assert_int_equal(scene.device->sync.host_frontier_waiters, 0);
   move(&scene, AGX_SUBMISSION_ENDED);
   assert_int_equal(scene.device->sync.host_frontier_waiters, 0);
   free(scene.device);
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
      struct scene scene;
      int status = 0;
      open_scene(&scene);
      walk_to(&scene, pairs[i][0]);
      pid_t child = fork();
      assert_true(child >= 0);
      if (child == 0) {
         signal(SIGABRT, SIG_DFL); /* cmocka has a handler of its own */
         move(&scene, pairs[i][1]);
         _exit(0);
      }
      assert_int_equal(waitpid(child, &status, 0), child);
      assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
      free(scene.device);
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
