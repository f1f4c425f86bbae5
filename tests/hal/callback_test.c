/* SPDX-License-Identifier: MIT
 *
 * The application's functions are called without the device's lock.
 */
#include "fixture.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "hal/device/device.h"

/* Whether the caller holds the lock: others let go of it soon. */
struct guard {
   pthread_mutex_t *_Atomic lock;
   _Atomic uint32_t calls, held;
};

static void take_lock(struct guard *guard)
{
   struct timespec until;
   pthread_mutex_t *lock = guard->lock;
   if (!lock || guard->held)
      return;
   clock_gettime(CLOCK_REALTIME, &until);
   until.tv_sec += 20;
   guard->calls++;
   if (pthread_mutex_timedlock(lock, &until) != 0)
      guard->held++;
   else
      pthread_mutex_unlock(lock);
}

static void *guarded_alloc(void *user, size_t size)
{
   take_lock(user);
   return malloc(size);
}

static void guarded_free(void *user, void *memory, size_t size)
{
   take_lock(user);
   free(memory);
}

static void waiting_for_a_file_frees_nothing_under_the_lock(void **state)
{
   static struct guard guard; /* the device may end on its own thread, after this function */
   const struct agx_alloc_callbacks callbacks = {&guard, guarded_alloc, guarded_free};
   const struct agx_instance_desc desc = {.size = sizeof(desc), .alloc = &callbacks};
   struct fixture f = {0};
   const uint64_t one = 1;
   assert_ok(agx_instance_create(&desc, &f.instance));
   assert_ok(fixture_open_device(f.instance, "virtual", &f.device));
   struct agx_semaphore *done = fixture_semaphore(&f);
   int bell = eventfd(0, EFD_CLOEXEC);
   assert_true(bell >= 0);
   guard.lock = &f.device->sync.lock;
   assert_ok(agx_semaphore_import_point(done, 1, AGX_FD_EVENTFD, dup(bell)));
   assert_int_equal(write(bell, &one, sizeof(one)), sizeof(one));
   assert_ok(fixture_wait(done, 1));
   guard.lock = NULL;
   agx_release(done);
   close(bell);
   fixture_close(&f); /* after the thread that waited for the file */
   assert_int_equal(guard.held, 0);
   assert_true(guard.calls > 0);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(waiting_for_a_file_frees_nothing_under_the_lock),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
