/* SPDX-License-Identifier: MIT
 *
 * The lock of the shared segment, whose other side may die at any moment.
 */
#include <sys/resource.h>
#include <signal.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "base/sanitizers.h"
#include "device.h"
#include "winsys/virtual/store/node.h"
#include "winsys/virtual/store/segment.h"

/* That the lock's word lies first, and that a sleeper looks again (segment.c). */
#ifdef __GLIBC__
#define KNOWS_LOCK !AGX_THREAD_SANITIZED
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

/* In a child, whose limits are its own. */
static int create_under_a_limit(int resource, const char *words)
{
   pid_t child = fork();
   if (child == 0) {
      const struct rlimit limit = {3ull << 30, 3ull << 30};
      struct agx_virtual_node *node;
      signal(SIGXFSZ, SIG_IGN);
      setrlimit((__rlimit_resource_t)resource, &limit);
      agx_status status = agx_virtual_node_create(agx_chip_find("g13g"), -1, &node);
      bool is_told = strstr(agx_error_peek(), words) && strstr(agx_error_peek(), " 3072 ") &&
                     strstr(agx_error_peek(), " 20480 MiB") &&
                     strstr(agx_error_peek(), "AGX_VIRTUAL_MEMORY");
      _exit(!(status == AGX_RESOURCE_EXHAUSTED && is_told));
   }
   int status = 0;
   waitpid(child, &status, 0);
   return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void limits_of_the_host_are_named(void **state)
{
#if !AGX_SANITIZED
   assert_int_equal(create_under_a_limit(RLIMIT_AS, "RLIMIT_AS"), 0);
#endif
   assert_int_equal(create_under_a_limit(RLIMIT_FSIZE, "RLIMIT_FSIZE"), 0);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_of_the_host_are_named),
      cmocka_unit_test(a_lost_wake_is_made_up_for),
      cmocka_unit_test(a_dead_holder_gives_way),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
