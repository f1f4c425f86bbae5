/* SPDX-License-Identifier: MIT
 *
 * Starts the command of `agx virtual` and waits for it. This process stays, because it
 * holds the memory file of the device that all programs started under it share: they
 * find it by this process's descriptor in /proc (AGX_VIRTUAL_SEGMENT).
 */
#include "virtual.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"
#include "winsys/virtual/virtual.h"

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

static agx_status make_segment(int *out_fd)
{
   char path[64];
   int fd = memfd_create("agx-virtual", MFD_CLOEXEC);
   if (fd < 0)
      return agx_status_fail_errno(errno, "the device's memory file");
   *out_fd = fd;
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

/* What went wrong on the device, which a client may not have noticed. */
static agx_status tell_failures(const struct agx_chip *chip, int segment)
{
   struct stat info;
   struct agx_virtual_node *node;
   struct agx_virtual_statistics it;
   char text[600];
   if (fstat(segment, &info) || info.st_size == 0)
      return AGX_OK;      /* nobody opened it */
   unsetenv("AGX_DEBUG"); /* this process only looks */
   unsetenv("AGX_VIRTUAL_INJECT");
   unsetenv("AGX_VIRTUAL_STATS");
   AGX_TRY(agx_virtual_node_create(chip, segment, &node));
   agx_virtual_read_statistics(node, &it);
   agx_virtual_last_error(node, text, sizeof(text));
   agx_virtual_node_destroy(node);
   uint64_t soft = it.soft_loads + it.soft_stores;
   if (it.failures > it.cancelled || soft)
      fprintf(stderr,
              "agx virtual: %" PRIu64 " of %" PRIu64 " submissions failed (%" PRIu64
              " over the time limit, %" PRIu64 " cancelled), %" PRIu64 " soft faults%s%s\n",
              it.failures, it.submissions, it.timeouts, it.cancelled, soft,
              text[0] ? "; the last word: " : "", text);
   return AGX_OK;
}

agx_status agx_tool_run_virtual(const struct agx_chip *chip, char **command, int *out_code)
{
   sigset_t before;
   int status, segment = -1;
   AGX_TRY(make_segment(&segment));
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
   return tell_failures(chip, segment);
}
