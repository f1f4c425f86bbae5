/* SPDX-License-Identifier: MIT
 *
 * Reading, writing and waiting: the node has nothing to read and takes nothing, and
 * neither have the descriptors that it gives out. Source: reference/syncobj, rows A17 to
 * A20, E3, G13, G14, G40 to G42. What must not reach the memory file behind the node's descriptors
 * is refused.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <unistd.h>

#include "winsys/virtual/preload.h"

/* Entry points of compilers' checks; no header declares them. */
ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t room);

AGXV_EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
   AGXV_NEXT(read);
   if (agxv_is_node(fd))
      return agxv_give(-EAGAIN);
   return agxv_fd_name(fd) || agxv_is_buffer(fd) ? agxv_give(-EINVAL) : next_read(fd, buffer, size);
}

AGXV_EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
   AGXV_NEXT(__read_chk);
   if (agxv_is_node(fd))
      return agxv_give(-EAGAIN);
   return agxv_fd_name(fd) || agxv_is_buffer(fd) ? agxv_give(-EINVAL)
                                                 : next___read_chk(fd, buffer, size, room);
}

/* The function, or the error when fd is the node, or EINVAL when it is a buffer. */
#define REFUSED(type, name, error, parameters, arguments)                                          \
   AGXV_EXPORT type name parameters                                                                \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      if (agxv_is_node(fd))                                                                        \
         return agxv_give(-(error));                                                               \
      return agxv_is_buffer(fd) ? agxv_give(-EINVAL) : next_##name arguments;                      \
   }
REFUSED(ssize_t, write, EINVAL, (int fd, const void *data, size_t size), (fd, data, size))
REFUSED(ssize_t, readv, EAGAIN, (int fd, const struct iovec *parts, int count), (fd, parts, count))
REFUSED(ssize_t, writev, EINVAL, (int fd, const struct iovec *parts, int count), (fd, parts, count))
REFUSED(ssize_t, pread, EAGAIN, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
REFUSED(ssize_t, pread64, EAGAIN, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at))
REFUSED(ssize_t, pwrite, EINVAL, (int fd, const void *from, size_t size, off_t at),
        (fd, from, size, at))
REFUSED(ssize_t, pwrite64, EINVAL, (int fd, const void *from, size_t size, off64_t at),
        (fd, from, size, at))
REFUSED(int, ftruncate, EINVAL, (int fd, off_t size), (fd, size))
REFUSED(int, ftruncate64, EINVAL, (int fd, off64_t size), (fd, size))

/* A buffer's file is sought in only for its size. */
static bool is_bad_seek(int fd, int64_t offset, int whence)
{
   return (offset || (whence != SEEK_SET && whence != SEEK_END)) && agxv_is_buffer(fd);
}

AGXV_EXPORT off_t lseek(int fd, off_t offset, int whence)
{
   AGXV_NEXT(lseek);
   if (agxv_is_node(fd))
      return 0;
   return is_bad_seek(fd, offset, whence) ? agxv_give(-EINVAL) : next_lseek(fd, offset, whence);
}

AGXV_EXPORT off64_t lseek64(int fd, off64_t offset, int whence)
{
   AGXV_NEXT(lseek64);
   if (agxv_is_node(fd))
      return 0;
   return is_bad_seek(fd, offset, whence) ? agxv_give(-EINVAL) : next_lseek64(fd, offset, whence);
}

#define POLLED 64

/* A copy without the node's descriptors, on which nothing ever happens; NULL where there
 * are none, or more than fit. */
static struct pollfd *without_nodes(const struct pollfd *fds, nfds_t count,
                                    struct pollfd copy[POLLED])
{
   bool any = false;
   for (nfds_t i = 0; i < count && count <= POLLED; i++) {
      bool node = agxv_is_node(fds[i].fd);
      copy[i] = fds[i];
      if (node)
         copy[i].fd = -1;
      any |= node;
   }
   return any ? copy : NULL;
}

static int polled(struct pollfd *fds, nfds_t count, const struct pollfd *copy, int result)
{
   for (nfds_t i = 0; i < count && result >= 0; i++)
      fds[i].revents = copy[i].revents;
   return result;
}

#define POLL(name, parameters, whole, part)                                                        \
   AGXV_EXPORT int name parameters                                                                 \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      struct pollfd copy[POLLED];                                                                  \
      if (agxv_is_inside() || !without_nodes(fds, count, copy))                                    \
         return next_##name whole;                                                                 \
      return polled(fds, count, copy, next_##name part);                                           \
   }
POLL(poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout),
     (copy, count, timeout))
POLL(ppoll,
     (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
     (fds, count, timeout, mask), (copy, count, timeout, mask))
POLL(__poll_chk, (struct pollfd * fds, nfds_t count, int timeout, size_t room),
     (fds, count, timeout, room), (copy, count, timeout, sizeof(copy)))
POLL(__ppoll_chk,
     (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
      size_t room),
     (fds, count, timeout, mask, room), (copy, count, timeout, mask, sizeof(copy)))

/* The node's descriptors leave the sets, as if nothing had happened on them. */
static void forget_nodes(int count, fd_set *one, fd_set *two, fd_set *three)
{
   fd_set *const sets[] = {one, two, three};
   for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
      bool is_asked = false;
      for (int i = 0; i < 3; i++)
         is_asked |= sets[i] && FD_ISSET(fd, sets[i]);
      if (!is_asked || !agxv_is_node(fd))
         continue;
      for (int i = 0; i < 3; i++)
         if (sets[i])
            FD_CLR(fd, sets[i]);
   }
}

AGXV_EXPORT int select(int count, fd_set *restrict readable, fd_set *restrict writable,
                       fd_set *restrict special, struct timeval *restrict timeout)
{
   AGXV_NEXT(select);
   if (agxv_has_nodes())
      forget_nodes(count, readable, writable, special);
   return next_select(count, readable, writable, special, timeout);
}

AGXV_EXPORT int pselect(int count, fd_set *restrict readable, fd_set *restrict writable,
                        fd_set *restrict special, const struct timespec *restrict timeout,
                        const sigset_t *restrict mask)
{
   AGXV_NEXT(pselect);
   if (agxv_has_nodes())
      forget_nodes(count, readable, writable, special);
   return next_pselect(count, readable, writable, special, timeout, mask);
}

/* The host's epoll refuses memory files; on the node nothing would ever happen. */
AGXV_EXPORT int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
   AGXV_NEXT(epoll_ctl);
   return agxv_is_node(fd) ? 0 : next_epoll_ctl(epoll, operation, fd, event);
}
