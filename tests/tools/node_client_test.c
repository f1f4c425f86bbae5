/* SPDX-License-Identifier: MIT
 *
 * What a program under `agxdump record --device drm` may do, which agxdump_test runs: it has the
 * node open three times, by descriptors that come and go in every way, and asks its parameters by
 * each. Alone, without a node, it fails.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "winsys/asahi_uapi.h"

#define NODE "/dev/dri/renderD128"

static int ask(int fd)
{
   struct agx_uapi_params_global params;
   struct agx_uapi_get_params get = {.pointer = (uintptr_t)&params, .size = sizeof(params)};
   return ioctl(fd, AGX_IOCTL_ASAHI_GET_PARAMS, &get);
}

static void need(int good, const char *what)
{
   if (good)
      return;
   fprintf(stderr, "node_client: %s: %s\n", what, strerror(errno));
   exit(1);
}

/* Sends fd to this process itself. */
static int pass(int fd)
{
   union {
      struct cmsghdr head;
      char room[CMSG_SPACE(sizeof(int))];
   } control = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
                         .cmsg_level = SOL_SOCKET,
                         .cmsg_type = SCM_RIGHTS}};
   char byte = 0;
   struct iovec part = {&byte, 1};
   struct msghdr message = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control.room)};
   int pair[2], got;
   need(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
   memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
   need(sendmsg(pair[0], &message, 0) == 1, "sendmsg");
   need(recvmsg(pair[1], &message, 0) == 1, "recvmsg");
   memcpy(&got, CMSG_DATA(&control.head), sizeof(got));
   close(pair[0]);
   close(pair[1]);
   return got;
}

/* The highest descriptor that this process has: a stranger's, when nobody here opened it. */
static int highest(void)
{
   DIR *folder = opendir("/proc/self/fd");
   int found = -1;
   need(folder != NULL, "/proc/self/fd");
   for (struct dirent *entry; (entry = readdir(folder));)
      found = atoi(entry->d_name) > found ? atoi(entry->d_name) : found;
   closedir(folder);
   return found;
}

AGX_TEST_FILE(void)
{
   int first = open(NODE, O_RDWR | O_CLOEXEC), second = open(NODE, O_RDWR);
   need(first >= 0 && second >= 0, NODE);
   need(ask(first) == 0 && ask(second) == 0, "by two opens");
   int copy = dup(first);
   close(first);
   need(ask(copy) == 0, "by a copy");
   int high = fcntl(copy, F_DUPFD_CLOEXEC, 50);
   need(ask(high) == 0, "by a high copy");
   need(dup2(second, copy) == copy && ask(copy) == 0, "over a copy");
   int passed = pass(high);
   need(ask(passed) == 0, "by a descriptor that was sent");
   close(high);
   need(ask(-1) == -1 && errno == EBADF, "by none");
   pid_t child = fork();
   if (child == 0)
      _exit(ask(second) != 0);
   int status;
   need(waitpid(child, &status, 0) == child && status == 0, "in a child");
   child = vfork();
   if (child == 0) {
      close(second);
      _exit(0);
   }
   need(waitpid(child, &status, 0) == child && ask(second) == 0, "behind a vfork");
   /* A daemon closes whatever it may have inherited, and takes any number. */
   need(dup2(second, highest()) >= 0, "over the highest");
   need(ask(second) == 0, "behind that");
   close_range(passed + 1, ~0u, 0);
   for (int fd = 3; fd < 1024; fd++)
      if (fd != second)
         close(fd);
   need(ask(second) == 0, "behind all that");
   int third = open(NODE, O_RDWR);
   copy = dup(third);
   close(third);
   need(ask(copy) == 0, "by the last of two");
   close(copy);
   return 0;
}
