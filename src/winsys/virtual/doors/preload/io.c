/* SPDX-License-Identifier: MIT
 *
 * Reading, writing and waiting: the node has nothing to read and takes nothing, and
 * neither have the descriptors that it gives out. Source: docs/hw/kernel.md 6, rows A17 to
 * A20, E3, G13, G14, G40 to G42. What must not reach the memory file behind the node's descriptors
 * is refused.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/uio.h>
#include <unistd.h>

#include "winsys/virtual/doors/preload/preload_impl.h"

/* Entry points of compilers' checks; no header declares them. */
ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t room);

AGXV_EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
   AGXV_NEXT(read);
   if (agxv_is_node(fd))
      return agxv_to_errno(-EAGAIN);
   return agxv_fd_name(fd) || agxv_is_buffer(fd) ? agxv_to_errno(-EINVAL)
                                                 : next_read(fd, buffer, size);
}

AGXV_EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
   AGXV_NEXT(__read_chk);
   if (agxv_is_node(fd))
      return agxv_to_errno(-EAGAIN);
   return agxv_fd_name(fd) || agxv_is_buffer(fd) ? agxv_to_errno(-EINVAL)
                                                 : next___read_chk(fd, buffer, size, room);
}

/* The function, or the error when fd is the node, or EINVAL when it is a buffer. */
#define REFUSED(type, name, error, parameters, arguments)                                          \
   AGXV_EXPORT type name parameters                                                                \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      if (agxv_is_node(fd))                                                                        \
         return agxv_to_errno(-(error));                                                           \
      return agxv_is_buffer(fd) ? agxv_to_errno(-EINVAL) : next_##name arguments;                  \
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

/* A buffer's file is sought in only for its size, and stays where it is. */
static int64_t seek_buffer(uint64_t bytes, int64_t offset, int whence)
{
   if (offset || (whence != SEEK_SET && whence != SEEK_END))
      return agxv_to_errno(-EINVAL);
   return whence == SEEK_END ? (int64_t)bytes : 0;
}

AGXV_EXPORT off_t lseek(int fd, off_t offset, int whence)
{
   AGXV_NEXT(lseek);
   if (agxv_is_node(fd))
      return 0;
   uint64_t bytes = agxv_buffer_size(fd);
   return bytes ? (off_t)seek_buffer(bytes, offset, whence) : next_lseek(fd, offset, whence);
}

AGXV_EXPORT off64_t lseek64(int fd, off64_t offset, int whence)
{
   AGXV_NEXT(lseek64);
   if (agxv_is_node(fd))
      return 0;
   uint64_t bytes = agxv_buffer_size(fd);
   return bytes ? seek_buffer(bytes, offset, whence) : next_lseek64(fd, offset, whence);
}

#define FEW_POLLED 64

/* A list without the node's descriptors, on which nothing ever happens. */
struct polled {
   struct pollfd few[FEW_POLLED];
   struct pollfd *list; /* few, or pages of its own: poll may be called in signal handlers */
};

/* 1: to is such a list; 0: fds has none of the node's; or a negative errno. */
static int without_nodes(const struct pollfd *fds, nfds_t count, struct polled *to)
{
   AGXV_NEXT(mmap);
   struct rlimit limit;
   nfds_t first = 0;
   if (agxv_is_inside() || !agxv_has_nodes())
      return 0;
   if (count > FEW_POLLED && (getrlimit(RLIMIT_NOFILE, &limit) || count > limit.rlim_cur))
      return 0; /* the kernel refuses it, unread */
   while (first < count && !agxv_is_node(fds[first].fd))
      first++;
   if (first == count)
      return 0;
   to->list = to->few;
   if (count > FEW_POLLED)
      to->list = next_mmap(NULL, count * sizeof(*fds), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   if (to->list == MAP_FAILED)
      return -ENOMEM;
   memcpy(to->list, fds, count * sizeof(*fds));
   for (nfds_t i = first; i < count; i++)
      if (agxv_is_node(fds[i].fd))
         to->list[i].fd = -1;
   return 1;
}

static int give_polled(struct pollfd *fds, nfds_t count, struct polled *from, int result)
{
   AGXV_NEXT(munmap);
   int error = errno;
   for (nfds_t i = 0; i < count && result >= 0; i++)
      fds[i].revents = from->list[i].revents;
   if (from->list != from->few)
      next_munmap(from->list, count * sizeof(*fds));
   errno = error;
   return result;
}

#define POLL(name, parameters, whole, part)                                                        \
   AGXV_EXPORT int name parameters                                                                 \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      struct polled copy;                                                                          \
      int given = without_nodes(fds, count, &copy);                                                \
      if (given <= 0)                                                                              \
         return given ? agxv_to_errno(given) : next_##name whole;                                  \
      return give_polled(fds, count, &copy, next_##name part);                                     \
   }
POLL(poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout),
     (copy.list, count, timeout))
POLL(ppoll,
     (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask),
     (fds, count, timeout, mask), (copy.list, count, timeout, mask))
POLL(__poll_chk, (struct pollfd * fds, nfds_t count, int timeout, size_t room),
     (fds, count, timeout, room), (copy.list, count, timeout, room))
POLL(__ppoll_chk,
     (struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
      size_t room),
     (fds, count, timeout, mask, room), (copy.list, count, timeout, mask, room))

/* The node's descriptors leave the sets, as if nothing had happened on them. */
static void forget_nodes(int count, fd_set *one, fd_set *two, fd_set *three)
{
   fd_set *const sets[] = {one, two, three};
   for (int fd = 0; fd < count && fd < FD_SETSIZE; fd++) {
      bool is_polled = false;
      for (int i = 0; i < 3; i++)
         is_polled |= sets[i] && FD_ISSET(fd, sets[i]);
      if (!is_polled || !agxv_is_node(fd))
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
