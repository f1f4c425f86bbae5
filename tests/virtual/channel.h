/* SPDX-License-Identifier: MIT
 *
 * A socket pair between two processes of a test: words of one byte, and descriptors.
 */
#pragma once

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support.h"

static inline void channel_open(int ends[2])
{
   assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
}

static inline void channel_tell(int fd)
{
   char byte = 1;
   assert_int_equal(write(fd, &byte, 1), 1);
}

static inline void channel_hear(int fd)
{
   char byte;
   assert_int_equal(read(fd, &byte, 1), 1);
}

static inline void channel_send(int socket, int fd)
{
   char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
   struct iovec data = {&byte, 1};
   struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
   struct cmsghdr *header = CMSG_FIRSTHDR(&message);
   header->cmsg_level = SOL_SOCKET;
   header->cmsg_type = SCM_RIGHTS;
   header->cmsg_len = CMSG_LEN(sizeof(int));
   memcpy(CMSG_DATA(header), &fd, sizeof(fd));
   assert_int_equal(sendmsg(socket, &message, 0), 1);
}

static inline int channel_receive(int socket)
{
   char byte, control[CMSG_SPACE(sizeof(int))];
   struct iovec data = {&byte, 1};
   struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
   int fd = -1;
   if (recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
      memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
   return fd;
}
