/* SPDX-License-Identifier: MIT
 *
 * Waits of served programs, and the signals that end them. The kernel doesn't interrupt a call that
 * the supervisor has taken but for a deadly signal, so that nothing is done twice. Other signals
 * must end a wait, too: the supervisor looks now and then whether the program's thread has a signal
 * to take, and then interrupts its own thread that serves the wait.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "winsys/virtual/doors/serve/supervisor_impl.h"

#define RESTART 512 /* ERESTARTSYS, for the kernel alone: the handler's SA_RESTART decides */

static int wake_signal(void)
{
   return SIGRTMAX;
}

static void wake(int number)
{
   (void)number; /* its coming is all */
}

void agxv_waits_init(struct agxv_supervisor *supervisor)
{
   const struct sigaction action = {.sa_handler = wake}; /* without SA_RESTART */
   sigaction(wake_signal(), &action, NULL);
   pthread_mutex_init(&supervisor->lock, NULL);
   supervisor->waits = NULL;
}

void agxv_wait_begin(struct agxv_wait *wait, const struct agxv_call *call)
{
   struct agxv_supervisor *supervisor = call->supervisor;
   sigset_t only;
   sigemptyset(&only);
   sigaddset(&only, wake_signal());
   pthread_sigmask(SIG_UNBLOCK, &only, NULL);
   *wait = (struct agxv_wait){.call = call, .thread = pthread_self()};
   pthread_mutex_lock(&supervisor->lock);
   wait->next = supervisor->waits;
   supervisor->waits = wait;
   pthread_mutex_unlock(&supervisor->lock);
}

int64_t agxv_wait_end(struct agxv_wait *wait, int64_t result)
{
   struct agxv_supervisor *supervisor = wait->call->supervisor;
   pthread_mutex_lock(&supervisor->lock);
   struct agxv_wait **link = &supervisor->waits;
   while (*link != wait)
      link = &(*link)->next;
   *link = wait->next;
   bool restarts = wait->restarts;
   pthread_mutex_unlock(&supervisor->lock);
   return result == -EINTR && restarts ? -RESTART : result;
}

/* Whether a thread has a signal to take. *out_own: the signal is the thread's own: what is sent to
 * a process goes to its first thread, unless that blocks it. */
static bool has_signal(int32_t thread, bool *out_own)
{
   char path[64], line[128];
   unsigned long long pending = 0, shared = 0, blocked = 0;
   int32_t process = 0;
   snprintf(path, sizeof(path), "/proc/%d/status", thread);
   FILE *file = fopen(path, "re");
   while (file && fgets(line, sizeof(line), file)) {
      (void)(sscanf(line, "Tgid: %d", &process) == 1 ||
             sscanf(line, "SigPnd: %llx", &pending) == 1 ||
             sscanf(line, "ShdPnd: %llx", &shared) == 1 ||
             sscanf(line, "SigBlk: %llx", &blocked) == 1);
   }
   if (file)
      fclose(file);
   *out_own = (pending & ~blocked) || process == thread;
   return ((pending | shared) & ~blocked) != 0;
}

bool agxv_waits_poll_signals(struct agxv_supervisor *supervisor)
{
   pthread_mutex_lock(&supervisor->lock);
   for (struct agxv_wait *wait = supervisor->waits; wait; wait = wait->next) {
      bool is_own = false;
      if (!has_signal(wait->call->pid, &is_own) && agxv_call_is_there(wait->call))
         continue;
      wait->restarts = is_own;
      pthread_kill(wait->thread, wake_signal());
   }
   bool any = supervisor->waits != NULL;
   pthread_mutex_unlock(&supervisor->lock);
   return any;
}
