/* SPDX-License-Identifier: MIT
 *
 * Observers of semaphores: what they are called with, in which order, and that none is called any
 * more once it was taken away.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "fixture.h"

/* An observer that checks what it is told, and what it was told last. */
struct listener {
   struct agx_observer observer;
   struct agx_semaphore *semaphore;
   _Atomic uint64_t value;
   _Atomic uint32_t calls, inside;
   _Atomic agx_status status;
   char text[128];
   void (*then)(struct listener *listener, uint64_t value); /* or NULL */
   void *user;
};

static void listen_to(struct agx_observer *observer, agx_status status, uint64_t value)
{
   struct listener *it = observer->user;
   assert_int_equal(it->inside++, 0); /* one after the other */
   assert_int_equal(it->status, AGX_OK);
   assert_true(value > it->value || status != AGX_OK);
   assert_int_equal(observer->value, value);
   if (status != AGX_OK)
      agx_error_text(it->text, sizeof(it->text));
   it->calls++;
   it->inside--;
   it->value = value;
   it->status = status;
   if (it->then)
      it->then(it, value);
}

static void listener_start(struct listener *it, struct agx_semaphore *semaphore, uint64_t known)
{
   *it = (struct listener){.observer = {.fn = listen_to, .user = it, .value = known},
                           .semaphore = semaphore,
                           .value = known};
   assert_ok(agx_semaphore_observe(semaphore, &it->observer));
}

static void listener_stop(struct listener *it)
{
   agx_semaphore_unobserve(it->semaphore, &it->observer);
}

static void await_value(struct listener *it, uint64_t value)
{
   while (it->value < value)
      usleep(500);
}

static void each_advance_is_told(void **state)
{
   struct fixture f;
   struct listener first, second;
   fixture_open(&f, "virtual");
   struct agx_semaphore *semaphore = fixture_semaphore(&f);
   listener_start(&first, semaphore, 0);
   assert_int_equal(first.calls, 0);
   assert_ok(agx_semaphore_signal(semaphore, 3));
   assert_int_equal(first.value, 3);
   listener_start(&second, semaphore, 0); /* what happened before counts */
   assert_int_equal(second.value, 3);
   assert_ok(agx_semaphore_signal(semaphore, 4));
   assert_int_equal(first.value, 4);
   assert_int_equal(first.calls, 2);
   assert_int_equal(second.value, 4);
   listener_stop(&second);
   listener_start(&second, semaphore, 4); /* known */
   assert_int_equal(second.calls, 0);
   agx_semaphore_fail(semaphore, AGX_ABORTED, "no more of it");
   assert_int_equal(first.status, AGX_ABORTED);
   assert_int_equal(first.value, 4);
   assert_string_equal(first.text, "no more of it");
   assert_int_equal(second.calls, 1);
   agx_semaphore_fail(semaphore, AGX_ABORTED, "again");
   assert_int_equal(first.calls, 3);
   listener_stop(&first);
   listener_stop(&first); /* no mistake */
   listener_stop(&second);
   listener_start(&first, semaphore, 4); /* of a failed one */
   assert_int_equal(first.status, AGX_ABORTED);
   listener_stop(&first);
   agx_release(semaphore);
   fixture_close(&f);
}

static void nothing_can_be_observed_with_nothing(void **state)
{
   struct fixture f;
   struct agx_observer none = {0};
   fixture_open(&f, "virtual");
   struct agx_semaphore *semaphore = fixture_semaphore(&f);
   assert_fails(agx_semaphore_observe(semaphore, NULL), AGX_INVALID_ARGUMENT,
                "the observer is NULL");
   assert_fails(agx_semaphore_observe(semaphore, &none), AGX_INVALID_ARGUMENT, "function is NULL");
   agx_semaphore_unobserve(semaphore, &none);
   agx_release(semaphore);
   fixture_close(&f);
}

/* No thread waits, none polls: the library looks after the GPU for the observer. */
static void work_of_the_gpu_is_told(void **state)
{
   struct work w;
   struct listener it, late;
   work_open(&w, "virtual");
   work_record(&w);
   listener_start(&it, w.done, 0);
   for (uint64_t i = 1; i <= 20; i++) {
      assert_ok(fixture_submit(w.f, w.commands, NO_POINT, (struct agx_point){w.done, i}));
      await_value(&it, i);
   }
   /* Behind work that is under way, on the host. */
   struct agx_semaphore *after = fixture_semaphore(w.f);
   assert_ok(fixture_submit(w.f, w.commands, NO_POINT, (struct agx_point){w.done, 21}));
   assert_ok(
      fixture_submit(w.f, NULL, (struct agx_point){w.done, 21}, (struct agx_point){after, 1}));
   listener_start(&late, after, 0);
   await_value(&late, 1);
   listener_stop(&late);
   listener_stop(&it);
   agx_release(after);
   work_close(&w);
}

/* A thread that waits tells the observers itself, and the library's own thread leaves that to it;
 * when the application goes over to observing, it looks after the GPU again. */
static void threads_that_wait_and_that_do_not_take_turns(void **state)
{
   struct work w;
   struct listener it;
   work_open(&w, "virtual");
   work_record(&w);
   listener_start(&it, w.done, 0);
   for (uint64_t i = 1; i <= 2000; i++) {
      assert_ok(fixture_submit(w.f, w.commands, NO_POINT, (struct agx_point){w.done, i}));
      if (i % 100 < 95)
         assert_ok(fixture_wait(w.done, i));
      else
         await_value(&it, i);
   }
   await_value(&it, 2000);
   listener_stop(&it);
   work_close(&w);
}

/* The observer retains its semaphore. */
static void semaphores_live_while_they_are_observed(void **state)
{
   struct work w;
   struct listener it;
   work_open(&w, "virtual");
   work_record(&w);
   struct agx_semaphore *own = fixture_semaphore(w.f);
   assert_ok(fixture_submit(w.f, w.commands, NO_POINT, (struct agx_point){own, 1}));
   listener_start(&it, own, 0);
   agx_release(own);
   await_value(&it, 1);
   listener_stop(&it);
   work_close(&w);
}

/* ---- from within ------------------------------------------------------------ */

static void stop_and_free(struct listener *it, uint64_t value)
{
   bool *is_over = it->user;
   listener_stop(it);
   memset(it, 0xcd, sizeof(*it));
   free(it);
   *is_over = true;
}

static void observers_may_end_themselves(void **state)
{
   struct fixture f;
   bool is_over = false;
   fixture_open(&f, "virtual");
   struct agx_semaphore *semaphore = fixture_semaphore(&f);
   struct listener *it = malloc(sizeof(*it));
   listener_start(it, semaphore, 0);
   it->user = &is_over;
   it->then = stop_and_free;
   assert_ok(agx_semaphore_signal(semaphore, 1));
   assert_true(is_over);
   assert_ok(agx_semaphore_signal(semaphore, 2));
   agx_release(semaphore);
   fixture_close(&f);
}

static void signal_more(struct listener *it, uint64_t value)
{
   if (value < 10)
      assert_ok(agx_semaphore_signal(it->semaphore, value + 1));
   if (value == 5) { /* anew, from within */
      listener_stop(it);
      it->observer = (struct agx_observer){.fn = listen_to, .user = it, .value = value};
      assert_ok(agx_semaphore_observe(it->semaphore, &it->observer));
   }
}

static void observers_may_signal_and_observe(void **state)
{
   struct fixture f;
   struct listener it;
   fixture_open(&f, "virtual");
   struct agx_semaphore *semaphore = fixture_semaphore(&f);
   listener_start(&it, semaphore, 0);
   it.then = signal_more;
   assert_ok(agx_semaphore_signal(semaphore, 1));
   assert_int_equal(it.value, 10);
   assert_int_equal(it.calls, 10);
   listener_stop(&it);
   agx_release(semaphore);
   fixture_close(&f);
}

/* ---- between threads -------------------------------------------------------- */

#define ROUNDS 300

struct race {
   struct agx_semaphore *semaphore;
   _Atomic bool stop;
};

static void *signal_on(void *user)
{
   struct race *race = user;
   for (uint64_t value = 1; !race->stop; value++)
      assert_ok(agx_semaphore_signal(race->semaphore, value));
   return NULL;
}

/* Memory that is poisoned as soon as the observer was taken away, by the thread that did. */
static void what_was_taken_away_is_not_called(void **state)
{
   struct fixture f;
   pthread_t thread;
   fixture_open(&f, "virtual");
   struct race race = {.semaphore = fixture_semaphore(&f)};
   assert_int_equal(pthread_create(&thread, NULL, signal_on, &race), 0);
   for (uint32_t i = 0; i < ROUNDS; i++) {
      struct listener *it = malloc(sizeof(*it));
      listener_start(it, race.semaphore, 0);
      if (i % 2)
         await_value(it, it->value + 1);
      listener_stop(it);
      assert_int_equal(it->inside, 0);
      memset(it, 0xcd, sizeof(*it));
      free(it);
   }
   race.stop = true;
   pthread_join(thread, NULL);
   agx_release(race.semaphore);
   fixture_close(&f);
}

/* Held in its call until another thread is about to take it away. */
struct held {
   struct listener it;
   _Atomic bool is_inside, may_go, is_gone;
};

static void hold(struct listener *it, uint64_t value)
{
   struct held *held = it->user;
   held->is_inside = true;
   while (!held->may_go)
      usleep(500);
   usleep(5000);
   assert_false(held->is_gone);
   it->value = UINT64_MAX;
}

static void *signal_one(void *user)
{
   assert_ok(agx_semaphore_signal(user, 1));
   return NULL;
}

static void *take_away(void *user)
{
   struct held *held = user;
   held->may_go = true;
   listener_stop(&held->it);
   assert_int_equal(held->it.value, UINT64_MAX); /* the call is over */
   held->is_gone = true;
   return NULL;
}

static void taking_away_waits_for_the_call(void **state)
{
   struct fixture f;
   struct held held = {0};
   pthread_t signals, takes[2];
   fixture_open(&f, "virtual");
   struct agx_semaphore *semaphore = fixture_semaphore(&f);
   listener_start(&held.it, semaphore, 0);
   held.it.then = hold;
   held.it.user = &held;
   assert_int_equal(pthread_create(&signals, NULL, signal_one, semaphore), 0);
   while (!held.is_inside)
      usleep(500);
   for (int i = 0; i < 2; i++)
      assert_int_equal(pthread_create(&takes[i], NULL, take_away, &held), 0);
   for (int i = 0; i < 2; i++)
      pthread_join(takes[i], NULL);
   pthread_join(signals, NULL);
   agx_release(semaphore);
   fixture_close(&f);
}

/* Several threads advance: the last value is told, none lower after a higher. */
struct advancer {
   struct agx_semaphore *semaphore;
   _Atomic uint64_t *next;
};

static void *advance(void *user)
{
   struct advancer *own = user;
   for (int i = 0; i < ROUNDS; i++)
      (void)!agx_semaphore_signal(own->semaphore, ++*own->next);
   return NULL;
}

static void the_last_value_is_told(void **state)
{
   struct fixture f;
   struct listener it;
   pthread_t threads[3];
   _Atomic uint64_t next = 0;
   fixture_open(&f, "virtual");
   struct advancer own = {fixture_semaphore(&f), &next};
   listener_start(&it, own.semaphore, 0);
   for (int i = 0; i < 3; i++)
      assert_int_equal(pthread_create(&threads[i], NULL, advance, &own), 0);
   for (int i = 0; i < 3; i++)
      pthread_join(threads[i], NULL);
   uint64_t value = 0;
   assert_ok(agx_semaphore_query(own.semaphore, &value));
   await_value(&it, value);
   assert_int_equal(it.value, value);
   listener_stop(&it);
   agx_release(own.semaphore);
   fixture_close(&f);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_advance_is_told),
      cmocka_unit_test(nothing_can_be_observed_with_nothing),
      cmocka_unit_test(work_of_the_gpu_is_told),
      cmocka_unit_test(threads_that_wait_and_that_do_not_take_turns),
      cmocka_unit_test(semaphores_live_while_they_are_observed),
      cmocka_unit_test(observers_may_end_themselves),
      cmocka_unit_test(observers_may_signal_and_observe),
      cmocka_unit_test(what_was_taken_away_is_not_called),
      cmocka_unit_test(taking_away_waits_for_the_call),
      cmocka_unit_test(the_last_value_is_told),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
