/* SPDX-License-Identifier: MIT
 *
 * Functions that the library calls may fork: in the child the thread is no longer one of the
 * library's own, and may open, use and close a device as any other thread.
 */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing_alloc.h"
#include "base/status.h"
#include "fixture.h"

#define HANGS_AFTER_S 60

/* ---- the child --------------------------------------------------------------- */

static agx_status sleep_and_count(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   _Atomic int *calls = user;
   usleep(20000); /* so long that a wait that returns early is seen */
   ++*calls;
   return AGX_OK;
}

static bool is_right(bool is, const char *what)
{
   if (!is)
      dprintf(STDERR_FILENO, "in the child: %s: \"%s\"\n", what, agx_error_peek());
   return is;
}

static struct agx_device *open_another(struct agx_instance *instance)
{
   const struct agx_device_desc desc = {.size = sizeof(desc), .name = "virtual"};
   struct agx_device *device = NULL;
   is_right(agx_device_open(instance, &desc, &device) == AGX_OK, "open");
   return device;
}

/* Threads of the library leave it to another one to close a device. */
static bool closes_by_itself(void)
{
   struct failing_alloc alloc;
   struct agx_instance *instance = NULL;
   failing_alloc_init(&alloc, SIZE_MAX);
   const struct agx_alloc_callbacks callbacks = {alloc.alloc.user, alloc.alloc.alloc,
                                                 alloc.alloc.free};
   const struct agx_instance_desc desc = {.size = sizeof(desc), .alloc = &callbacks};
   if (!is_right(agx_instance_create(&desc, &instance) == AGX_OK, "an instance"))
      return false;
   struct agx_device *device = open_another(instance);
   agx_release(device);
   agx_release(instance);
   return device && is_right(alloc.live == 0, "the device is not gone yet");
}

/* AGX_DEBUG=serial waits for each operation, unless a thread of the library asks for it. */
static bool waits_for_each(void)
{
   struct agx_instance *instance = NULL;
   _Atomic int calls = 0;
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_HOST_CALL,
                             .u.host_call = {.fn = sleep_and_count, .user = &calls}};
   if (!is_right(agx_instance_create(NULL, &instance) == AGX_OK, "an instance"))
      return false;
   struct agx_device *device = open_another(instance);
   bool works = device && is_right(agx_submit(device, &op, 1, NULL) == AGX_OK, "submit") &&
                is_right(calls == 1, "submit has not waited");
   agx_release(device);
   agx_release(instance);
   return works;
}

static void be_the_child(void)
{
   alarm(HANGS_AFTER_S);
   setenv("AGX_DEBUG", "serial", 1);
   bool closes = closes_by_itself(), waits = waits_for_each();
   _exit(closes && waits ? 0 : 1);
}

/* ---- who forks ----------------------------------------------------------------- */

struct forker {
   struct fixture f;
   struct agx_semaphore *semaphore;
   sem_t may_fork, is_over;
   int status; /* the child's */
};

/* While the test's own thread sleeps: sanitizers hold no lock of their allocator over a fork, so
 * that a child hangs if another thread is in it. */
static void fork_here(struct forker *forker)
{
   while (sem_wait(&forker->may_fork) != 0)
      ;
   forker->status = -1;
   fflush(NULL);
   pid_t child = fork();
   if (child == 0)
      be_the_child();
   if (child > 0 && waitpid(child, &forker->status, 0) != child)
      forker->status = -1;
   sem_post(&forker->is_over);
}

static agx_status fork_in_call(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   fork_here(user);
   return AGX_OK;
}

static void fork_in_watch(struct agx_watch *watch, agx_status status, uint64_t value)
{
   fork_here(watch->user);
}

static void open_forker(struct forker *forker)
{
   *forker = (struct forker){0};
   fixture_open(&forker->f, "virtual");
   forker->semaphore = fixture_semaphore(&forker->f);
   assert_int_equal(sem_init(&forker->may_fork, 0, 0), 0);
   assert_int_equal(sem_init(&forker->is_over, 0, 0), 0);
}

static void close_forker(struct forker *forker)
{
   sem_post(&forker->may_fork);
   while (sem_wait(&forker->is_over) != 0)
      ;
   assert_int_equal(forker->status, 0);
   assert_ok(fixture_wait(forker->semaphore, 1)); /* the parent goes on */
   agx_release(forker->semaphore);
   fixture_close(&forker->f);
   sem_destroy(&forker->may_fork);
   sem_destroy(&forker->is_over);
}

/* ---- tests -------------------------------------------------------------------- */

static void a_host_call_forks(void **state)
{
   struct forker forker;
   open_forker(&forker);
   const struct agx_point signal = {forker.semaphore, 1};
   const struct agx_op op = {.size = sizeof(op),
                             .kind = AGX_OP_HOST_CALL,
                             .signals = &signal,
                             .signal_count = 1,
                             .u.host_call = {.fn = fork_in_call, .user = &forker}};
   assert_ok(agx_submit(forker.f.device, &op, 1, NULL));
   close_forker(&forker);
}

/* In a thread of the library's, which waits for the file. */
static void a_watch_forks(void **state)
{
   struct forker forker;
   const uint64_t one = 1;
   open_forker(&forker);
   struct agx_watch watch = {.value = 1, .fn = fork_in_watch, .user = &forker};
   int bell = eventfd(0, EFD_CLOEXEC), kept = dup(bell);
   assert_ok(agx_semaphore_watch(forker.semaphore, &watch));
   assert_ok(agx_semaphore_import_point(forker.semaphore, 1, AGX_FD_EVENTFD, bell));
   assert_int_equal(write(kept, &one, sizeof(one)), sizeof(one));
   close_forker(&forker);
   close(kept);
}

/* In the thread that signals, and is about to do what has become possible. */
static void a_watch_of_ones_own_forks(void **state)
{
   struct forker forker;
   open_forker(&forker);
   struct agx_watch watch = {.value = 1, .fn = fork_in_watch, .user = &forker};
   assert_ok(agx_semaphore_watch(forker.semaphore, &watch));
   sem_post(&forker.may_fork); /* this thread forks */
   assert_ok(agx_semaphore_signal(forker.semaphore, 1));
   close_forker(&forker);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_host_call_forks),
      cmocka_unit_test(a_watch_forks),
      cmocka_unit_test(a_watch_of_ones_own_forks),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
