/* SPDX-License-Identifier: MIT
 *
 * Counts forks for agx_fork_check() and has the rooms above forget, in the child, what their
 * threads of the parent were doing. The first agx_instance_create() starts it.
 */
#include "hal/core/fork.h"

#include <pthread.h>
#include <stddef.h>

uint32_t agx_forks;
_Thread_local bool agx_on_library_thread;

static const agx_fork_hook *all;

static void after_fork_in_child(void)
{
   agx_forks++;
   agx_on_library_thread = false;
   for (const agx_fork_hook *hook = all; *hook; hook++)
      (*hook)();
}

void agx_forks_watch(const agx_fork_hook *hooks)
{
   static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
   pthread_mutex_lock(&lock);
   if (!all) {
      all = hooks;
      pthread_atfork(NULL, NULL, after_fork_in_child);
   }
   pthread_mutex_unlock(&lock);
}
