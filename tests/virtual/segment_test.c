/* SPDX-License-Identifier: MIT
 *
 * The lock of the shared segment, whose other side may die at any moment.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "device.h"
#include "winsys/virtual/store/node.h"
#include "winsys/virtual/store/segment.h"

/* That the lock's word lies first, and that a sleeper looks again (segment.c). */
#ifdef __GLIBC__
#define KNOWS_LOCK !AGXV_THREAD_CHECKED
#else
#define KNOWS_LOCK false
#endif

static void *take(void *user)
{
   struct agx_virtual_node *node = user;
   agxv_lock(node);
   agxv_unlock(node);
   return NULL;
}

/* What is left when a woken waiter of another process dies and a third process locks first: a
 * thread that sleeps, and a lock whose word says that none does. */
static void a_lost_wake_is_made_up_for(void **state)
{
   if (!KNOWS_LOCK)
      skip();
   struct device device = device_open(NULL);
   _Atomic uint32_t *word = (_Atomic uint32_t *)&device.node->shared->lock;
   pthread_t sleeper;
   agxv_lock(device.node);
   assert_int_equal(pthread_create(&sleeper, NULL, take, device.node), 0);
   while (!(atomic_load(word) & FUTEX_WAITERS))
      sched_yield();
   atomic_fetch_and(word, ~(uint32_t)FUTEX_WAITERS);
   agxv_unlock(device.node);
   assert_int_equal(pthread_join(sleeper, NULL), 0);
   device_close(&device);
}

static void a_dead_holder_gives_way(void **state)
{
   struct device device = device_open(NULL);
   pid_t holder = fork();
   if (holder == 0) {
      agxv_lock(device.node);
      _exit(0);
   }
   assert_int_equal(waitpid(holder, NULL, 0), holder);
   agxv_lock(device.node);
   agxv_unlock(device.node);
   device_close(&device);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lost_wake_is_made_up_for),
      cmocka_unit_test(a_dead_holder_gives_way),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
