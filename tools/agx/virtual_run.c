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
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "base/util.h"
#include "winsys/virtual/doors/executable.h"
#include "winsys/virtual/doors/tree.h"
#include "winsys/virtual/doors/serve/supervisor.h"

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
   int fd = memfd_create("agx-virtual", MFD_CLOEXEC | MFD_ALLOW_SEALING);
   if (fd < 0)
      return agx_status_fail_errno(errno, "the device's memory file");
   *out_fd = fd;
   snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
   if (setenv("AGX_VIRTUAL_SEGMENT", path, 1) != 0)
      return agx_status_fail_errno(errno, "environment: AGX_VIRTUAL_SEGMENT");
   return AGX_OK;
}

/* That of the agx virtual around us. */
static agx_status find_segment(int *out_fd)
{
   const char *path = getenv("AGX_VIRTUAL_SEGMENT");
   *out_fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
   if (*out_fd < 0)
      return AGX_FAIL(AGX_NOT_FOUND, "--attach: there is no agx virtual to attach to");
   return AGX_OK;
}

/* Gives the descriptor that stopped calls are served by to the parent. */
static bool send_listener(int socket, int listener)
{
   char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
   struct iovec part = {&byte, 1};
   struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
   struct cmsghdr *header = CMSG_FIRSTHDR(&message);
   *header = (struct cmsghdr){
      .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
   memcpy(CMSG_DATA(header), &listener, sizeof(listener));
   return sendmsg(socket, &message, 0) == 1;
}

static int receive_listener(int socket)
{
   char control[CMSG_SPACE(sizeof(int))], byte;
   struct iovec part = {&byte, 1};
   struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
   int listener = -1;
   if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1 && CMSG_FIRSTHDR(&message))
      memcpy(&listener, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(listener));
   return listener;
}

/* Past the preload library of an agx virtual around us, which would have it served once more. */
static void execute_bare(const struct agx_virtual_run *run)
{
   char path[PATH_MAX];
   (void)agxv_executable_find(run->file, path, sizeof(path), NULL, 0);
   syscall(SYS_execve, path, run->command, environ);
}

/* In the child: with the signal mask of before, and the filter where there is a socket. */
_Noreturn static void start(const struct agx_virtual_run *run, const sigset_t *mask, int socket)
{
   int listener = socket >= 0 ? agxv_filter_install() : 0;
   if (listener < 0)
      fprintf(stderr, "agx virtual: seccomp: %s%s\n", strerror(-listener),
              listener == -EBUSY ? ": another agx virtual serves these programs already; one "
                                   "can't run inside of it"
                                 : "");
   if (listener < 0 || (socket >= 0 && !send_listener(socket, listener)))
      _exit(AGX_EXIT_NO_START);
   if (socket >= 0) {
      unsetenv("AGX_VIRTUAL_TOOL"); /* its children are served already */
      close(listener);
      close(socket);
   }
   if (run->attach)
      prctl(PR_SET_PDEATHSIG, SIGKILL); /* who can't be served any more */
   sigprocmask(SIG_SETMASK, mask, NULL);
   if (socket >= 0)
      execute_bare(run);
   if (socket < 0 || errno == ENOEXEC)
      execvp(run->file, run->command);
   int error = errno;
   fprintf(stderr, "agx virtual: %s: %s\n", run->file, strerror(error));
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
static void print_failures(struct agx_virtual_node *node)
{
   struct agx_virtual_statistics it;
   char text[600], renders[80] = "";
   agx_virtual_read_statistics(node, &it);
   agx_virtual_last_error(node, text, sizeof(text));
   uint64_t soft = it.soft_loads + it.soft_stores;
   if (it.renders)
      snprintf(renders, sizeof(renders), ", %" PRIu64 " render commands not executed", it.renders);
   if (it.failures > it.cancelled || soft)
      fprintf(stderr,
              "agx virtual: %" PRIu64 " of %" PRIu64 " submissions failed (%" PRIu64
              " over the time limit, %" PRIu64 " cancelled), %" PRIu64 " soft faults%s%s%s\n",
              it.failures, it.submissions, it.timeouts, it.cancelled, soft, renders,
              text[0] ? "; the last word: " : "", text);
   if (it.pads)
      fprintf(stderr,
              "agx virtual: %" PRIu64 " requests with a padding that isn't 0, which kernels ignore "
              "so far%s%s\n",
              it.pads, text[0] ? "; the last word: " : "", text);
}

/* The node of the programs that ran, only to look at it; NULL when no program opened it. */
static agx_status attach(const struct agx_chip *chip, int segment,
                         struct agx_virtual_node **out_node)
{
   struct stat info;
   *out_node = NULL;
   if (fstat(segment, &info) || info.st_size == 0)
      return AGX_OK;
   unsetenv("AGX_DEBUG");
   unsetenv("AGX_VIRTUAL_INJECT");
   unsetenv("AGX_VIRTUAL_STATS");
   return agx_virtual_node_create(chip, segment, out_node);
}

static agx_status serve(const struct agx_chip *chip, int segment, int socket,
                        struct agx_virtual_node **out_node)
{
   int listener = receive_listener(socket);
   close(socket);
   if (listener < 0)
      return AGX_OK; /* the child said why, and ends */
   if (!agxv_tree_init(chip))
      return AGX_FAIL(AGX_INTERNAL, "no folder for the device files");
   int copy = fcntl(segment, F_DUPFD_CLOEXEC, 0); /* programs find the other by its number */
   if (copy < 0)
      return agx_status_fail_errno(errno, "the device's memory file");
   AGX_TRY(agx_virtual_node_create(chip, copy, out_node));
   return agxv_supervisor_start(*out_node, listener);
}

/* In place of a program: its parent sees the same end. */
static void end_like(int number)
{
   const struct rlimit none = {0, 0};
   sigset_t only;
   setrlimit(RLIMIT_CORE, &none);
   signal(number, SIG_DFL);
   sigemptyset(&only);
   sigaddset(&only, number);
   sigprocmask(SIG_UNBLOCK, &only, NULL);
   raise(number);
}

static agx_status wait_for(pid_t pid, bool stands_in, int *out_code)
{
   int status;
   while (waitpid(pid, &status, 0) < 0)
      if (errno != EINTR)
         return agx_status_fail_errno(errno, "waiting for the command");
   if (WIFSIGNALED(status) && stands_in)
      end_like(WTERMSIG(status));
   *out_code = code_of(status);
   return AGX_OK;
}

agx_status agx_tool_run_virtual(const struct agx_virtual_run *run, int *out_code)
{
   sigset_t before;
   int segment = -1, sockets[2] = {-1, -1};
   struct agx_virtual_node *node = NULL;
   AGX_TRY(run->attach ? find_segment(&segment) : make_segment(&segment));
   if (run->seccomp && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
      return agx_status_fail_errno(errno, "socketpair");
   hold_signals(&before);
   pid_t pid = fork();
   if (pid == 0)
      start(run, &before, sockets[1]);
   child = pid;
   take_signals(&before);
   if (pid < 0)
      return agx_status_fail_errno(errno, "fork");
   close(sockets[1]);
   agx_status status = run->seccomp ? serve(run->chip, segment, sockets[0], &node) : AGX_OK;
   if (status != AGX_OK)
      kill(pid, SIGKILL);
   AGX_TRY(wait_for(pid, run->attach, out_code));
   AGX_TRY(status);
   if (!node)
      AGX_TRY(attach(run->chip, segment, &node));
   if (node && !run->attach)
      print_failures(node);
   return AGX_OK;
}
