/* SPDX-License-Identifier: MIT
 *
 * Starts the command of `agx virtual` and waits for it. This process stays, because it
 * holds the memory file of the device that all programs started under it share: they
 * find it by this process's descriptor in /proc (AGX_VIRTUAL_SEGMENT).
 */
#include "virtual.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"

static volatile sig_atomic_t child;

/* A terminal sends these to the command itself; others come to us alone. */
static const int by_terminal[] = {SIGINT, SIGQUIT};
static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};

static void pass_on(int number)
{
   int before = errno;
   if (child > 0)
      kill((pid_t)child, number);
   errno = before;
}

static agx_status make_segment(void)
{
   char path[64];
   int fd = memfd_create("agx-virtual", MFD_CLOEXEC);
   if (fd < 0)
      return agx_status_fail_errno(errno, "the device's memory file");
   snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
   if (setenv("AGX_VIRTUAL_SEGMENT", path, 1) != 0)
      return agx_status_fail_errno(errno, "environment: AGX_VIRTUAL_SEGMENT");
   return AGX_OK;
}

/* In the child, with the signal mask of before. */
_Noreturn static void start(char **command, const sigset_t *mask)
{
   sigprocmask(SIG_SETMASK, mask, NULL);
   execvp(command[0], command);
   int error = errno;
   fprintf(stderr, "agx virtual: %s: %s\n", command[0], strerror(error));
   _exit(error == ENOENT ? AGX_EXIT_NO_COMMAND : AGX_EXIT_NO_START);
}

/* Before the child runs, all is held back, so that no signal gets lost. */
static void hold_signals(sigset_t *before)
{
   sigset_t all;
   sigfillset(&all);
   sigprocmask(SIG_SETMASK, &all, before);
}

static void take_signals(const sigset_t *mask)
{
   struct sigaction ignore = {.sa_handler = SIG_IGN};
   struct sigaction pass = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
   for (size_t i = 0; i < AGX_COUNT(by_terminal); i++)
      sigaction(by_terminal[i], &ignore, NULL);
   for (size_t i = 0; i < AGX_COUNT(passed_on); i++)
      sigaction(passed_on[i], &pass, NULL);
   sigprocmask(SIG_SETMASK, mask, NULL);
}

static int code_of(int status)
{
   return WIFSIGNALED(status) ? AGX_EXIT_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

agx_status agx_tool_run_virtual(char **command, int *out_code)
{
   sigset_t before;
   int status;
   AGX_TRY(make_segment());
   hold_signals(&before);
   pid_t pid = fork();
   if (pid == 0)
      start(command, &before);
   child = pid;
   take_signals(&before);
   if (pid < 0)
      return agx_status_fail_errno(errno, "fork");
   while (waitpid(pid, &status, 0) < 0)
      if (errno != EINTR)
         return agx_status_fail_errno(errno, "waiting for %s", command[0]);
   *out_code = code_of(status);
   return AGX_OK;
}
