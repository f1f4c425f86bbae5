/* SPDX-License-Identifier: MIT
 *
 * Threads of the library: signals and changes of the floating-point environment stay with the
 * threads of the application.
 */
#include "base/thread.h"

#include <signal.h>

#include "base/float_env.h"
#include "base/util.h"

/* Blocked or not, the system delivers these to the thread that did it; blocked, it ends the
 * process without a look at the program's handler. */
static const int own_doing[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

int agx_thread_start(pthread_t *out_thread, const pthread_attr_t *attributes,
                     void *(*body)(void *user), void *user)
{
   sigset_t blocked, before;
   sigfillset(&blocked);
   for (size_t i = 0; i < AGX_COUNT(own_doing); i++)
      sigdelset(&blocked, own_doing[i]);
   /* A thread starts with its maker's signal mask and floating-point environment. */
   pthread_sigmask(SIG_SETMASK, &blocked, &before);
   struct agx_float_env env;
   agx_float_env_enter(&env);
   int error = pthread_create(out_thread, attributes, body, user);
   agx_float_env_leave(&env);
   pthread_sigmask(SIG_SETMASK, &before, NULL);
   return error;
}
