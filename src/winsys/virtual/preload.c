/* SPDX-License-Identifier: MIT
 *
 * The functions of the C library that the preload library stands in front of: those
 * that work on descriptors. Descriptors of the node are led to it, all others go on.
 * The functions on paths are in preload_path.c.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "winsys/asahi_uapi.h"
#include "winsys/virtual/preload.h"

/* A negative errno becomes -1 with errno. */
static int give(int result)
{
   if (result >= 0)
      return result;
   errno = -result;
   return -1;
}

static bool is_fd_request(unsigned long request)
{
   return AGX_UAPI_LETTER(request) == '>' || AGX_UAPI_LETTER(request) == 'b';
}

AGXV_EXPORT int ioctl(int fd, unsigned long request, ...)
{
   AGXV_NEXT(ioctl);
   va_list arguments;
   va_start(arguments, request);
   void *argument = va_arg(arguments, void *);
   va_end(arguments);
   struct agxv_open *opened = agxv_is_inside() ? NULL : agxv_get(fd);
   int result;
   if (opened) {
      agxv_enter();
      result = agx_virtual_ioctl(agxv_file_of(opened), request, argument);
      agxv_leave();
      agxv_put(opened);
      return give(result);
   }
   if (is_fd_request(request) && agxv_node_if_made() && !agxv_is_inside()) {
      agxv_enter();
      result = agx_virtual_fd_ioctl(agxv_node_if_made(), fd, request, argument);
      agxv_leave();
      if (result != -ENOTTY)
         return give(result);
   }
   return next_ioctl(fd, request, argument);
}

static void *map_opened(struct agxv_open *opened, void *address, size_t length, int prot, int flags,
                        int64_t offset)
{
   int error = 0;
   agxv_enter();
   void *memory = agx_virtual_mmap(agxv_file_of(opened), address, length, prot, flags,
                                   (uint64_t)offset, &error);
   agxv_leave();
   agxv_put(opened);
   if (memory)
      return memory;
   errno = error;
   return MAP_FAILED;
}

/* A buffer's own descriptor; NULL where it is none. */
static void *map_buffer(void *address, size_t length, int prot, int flags, int fd, int64_t offset)
{
   struct agx_virtual_node *node = agxv_node_if_made();
   if (fd < 0 || !node || agxv_is_inside())
      return NULL;
   int error, before = errno;
   agxv_enter();
   void *memory = agx_virtual_mmap_fd(fd, address, length, prot, flags, (uint64_t)offset, &error);
   agxv_leave();
   errno = error ? error : before;
   return error ? MAP_FAILED : memory;
}

/* What was there before is gone when a mapping was put over it. */
static void *mapped(void *memory, size_t length, int flags)
{
   if (memory != MAP_FAILED && flags & MAP_FIXED && agxv_node_if_made() && !agxv_is_inside()) {
      agxv_enter();
      agx_virtual_unmapped(agxv_node_if_made(), memory, length);
      agxv_leave();
   }
   return memory;
}

AGXV_EXPORT void *mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
   AGXV_NEXT(mmap);
   struct agxv_open *opened = agxv_is_inside() ? NULL : agxv_get(fd);
   if (opened)
      return map_opened(opened, address, length, prot, flags, offset);
   void *memory = map_buffer(address, length, prot, flags, fd, offset);
   if (memory)
      return memory;
   return mapped(next_mmap(address, length, prot, flags, fd, offset), length, flags);
}

AGXV_EXPORT void *mmap64(void *address, size_t length, int prot, int flags, int fd, off64_t offset)
{
   AGXV_NEXT(mmap64);
   struct agxv_open *opened = agxv_is_inside() ? NULL : agxv_get(fd);
   if (opened)
      return map_opened(opened, address, length, prot, flags, offset);
   void *memory = map_buffer(address, length, prot, flags, fd, offset);
   if (memory)
      return memory;
   return mapped(next_mmap64(address, length, prot, flags, fd, offset), length, flags);
}

AGXV_EXPORT int munmap(void *address, size_t length)
{
   AGXV_NEXT(munmap);
   int result = next_munmap(address, length);
   if (result == 0 && agxv_node_if_made() && !agxv_is_inside()) {
      agxv_enter();
      agx_virtual_unmapped(agxv_node_if_made(), address, length);
      agxv_leave();
   }
   return result;
}

AGXV_EXPORT int close(int fd)
{
   AGXV_NEXT(close);
   if (!agxv_is_inside())
      agxv_closing(fd);
   return next_close(fd);
}

AGXV_EXPORT int dup(int fd)
{
   AGXV_NEXT(dup);
   int copy = next_dup(fd);
   agxv_copied(fd, copy);
   return copy;
}

AGXV_EXPORT int dup2(int fd, int to)
{
   AGXV_NEXT(dup2);
   int copy = next_dup2(fd, to);
   agxv_copied(fd, copy);
   return copy;
}

AGXV_EXPORT int dup3(int fd, int to, int flags)
{
   AGXV_NEXT(dup3);
   int copy = next_dup3(fd, to, flags);
   agxv_copied(fd, copy);
   return copy;
}

static bool is_buffer(int fd)
{
   if (agxv_is_inside() || !agxv_node_if_made())
      return false;
   int error = errno;
   agxv_enter();
   bool is = agx_virtual_is_buffer(fd);
   agxv_leave();
   errno = error;
   return is;
}

/* A buffer's file shows no seals: only memory files have any. */
static bool is_seal_question(int fd, int command)
{
   return (command == F_GET_SEALS || command == F_ADD_SEALS) && is_buffer(fd);
}

static int copied_by_fcntl(int fd, int command, int result)
{
   if ((command == F_DUPFD || command == F_DUPFD_CLOEXEC) && !agxv_is_inside())
      agxv_copied(fd, result);
   return result;
}

AGXV_EXPORT int fcntl(int fd, int command, ...)
{
   AGXV_NEXT(fcntl);
   va_list arguments;
   va_start(arguments, command);
   void *argument = va_arg(arguments, void *);
   va_end(arguments);
   if (is_seal_question(fd, command))
      return give(-EINVAL);
   return copied_by_fcntl(fd, command, next_fcntl(fd, command, argument));
}

AGXV_EXPORT int fcntl64(int fd, int command, ...)
{
   AGXV_NEXT(fcntl64);
   va_list arguments;
   va_start(arguments, command);
   void *argument = va_arg(arguments, void *);
   va_end(arguments);
   if (is_seal_question(fd, command))
      return give(-EINVAL);
   return copied_by_fcntl(fd, command, next_fcntl64(fd, command, argument));
}

static bool is_node(int fd)
{
   struct agxv_open *opened = agxv_is_inside() ? NULL : agxv_get(fd);
   if (opened)
      agxv_put(opened);
   return opened;
}

/* The node has nothing to read and takes nothing, and neither have the descriptors that
 * it gives out. Source: reference/syncobj, rows A17 to A20, E3, G13, G14, G40 to G42. */
AGXV_EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
   AGXV_NEXT(read);
   if (is_node(fd))
      return give(-EAGAIN);
   return agxv_fd_name(fd) || is_buffer(fd) ? give(-EINVAL) : next_read(fd, buffer, size);
}

AGXV_EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
   AGXV_NEXT(write);
   return is_node(fd) || is_buffer(fd) ? give(-EINVAL) : next_write(fd, buffer, size);
}

/* A buffer's file is sought in only for its size. */
static bool is_bad_seek(int fd, int64_t offset, int whence)
{
   return (offset || (whence != SEEK_SET && whence != SEEK_END)) && is_buffer(fd);
}

AGXV_EXPORT off_t lseek(int fd, off_t offset, int whence)
{
   AGXV_NEXT(lseek);
   if (is_node(fd))
      return 0;
   return is_bad_seek(fd, offset, whence) ? give(-EINVAL) : next_lseek(fd, offset, whence);
}

AGXV_EXPORT off64_t lseek64(int fd, off64_t offset, int whence)
{
   AGXV_NEXT(lseek64);
   if (is_node(fd))
      return 0;
   return is_bad_seek(fd, offset, whence) ? give(-EINVAL) : next_lseek64(fd, offset, whence);
}

AGXV_EXPORT int ftruncate(int fd, off_t length)
{
   AGXV_NEXT(ftruncate);
   return is_node(fd) || is_buffer(fd) ? give(-EINVAL) : next_ftruncate(fd, length);
}

AGXV_EXPORT int ftruncate64(int fd, off64_t length)
{
   AGXV_NEXT(ftruncate64);
   return is_node(fd) || is_buffer(fd) ? give(-EINVAL) : next_ftruncate64(fd, length);
}

#define POLLED 64

/* A copy without the node's descriptors, on which nothing ever happens; NULL where there
 * are none, or more than fit. */
static struct pollfd *without_nodes(const struct pollfd *fds, nfds_t count,
                                    struct pollfd copy[POLLED])
{
   bool any = false;
   for (nfds_t i = 0; i < count && count <= POLLED; i++) {
      bool node = is_node(fds[i].fd);
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

AGXV_EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
   AGXV_NEXT(poll);
   struct pollfd copy[POLLED];
   if (agxv_is_inside() || !without_nodes(fds, count, copy))
      return next_poll(fds, count, timeout);
   return polled(fds, count, copy, next_poll(copy, count, timeout));
}

AGXV_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                      const sigset_t *mask)
{
   AGXV_NEXT(ppoll);
   struct pollfd copy[POLLED];
   if (agxv_is_inside() || !without_nodes(fds, count, copy))
      return next_ppoll(fds, count, timeout, mask);
   return polled(fds, count, copy, next_ppoll(copy, count, timeout, mask));
}
