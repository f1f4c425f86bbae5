/* SPDX-License-Identifier: MIT
 *
 * The functions of the C library that the preload library stands in front of: those
 * that work on descriptors. Descriptors of the node are led to it, all others go on.
 * The functions on paths are in preload_path.c.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <errno.h>
#include <fcntl.h>
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
   return AGX_UAPI_LETTER(request) == '>';
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
   return mapped(next_mmap(address, length, prot, flags, fd, offset), length, flags);
}

AGXV_EXPORT void *mmap64(void *address, size_t length, int prot, int flags, int fd, off64_t offset)
{
   AGXV_NEXT(mmap64);
   struct agxv_open *opened = agxv_is_inside() ? NULL : agxv_get(fd);
   if (opened)
      return map_opened(opened, address, length, prot, flags, offset);
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
   return copied_by_fcntl(fd, command, next_fcntl(fd, command, argument));
}

AGXV_EXPORT int fcntl64(int fd, int command, ...)
{
   AGXV_NEXT(fcntl64);
   va_list arguments;
   va_start(arguments, command);
   void *argument = va_arg(arguments, void *);
   va_end(arguments);
   return copied_by_fcntl(fd, command, next_fcntl64(fd, command, argument));
}

/* The node has nothing to read and takes nothing. Source: reference/syncobj, A17, A18. */
AGXV_EXPORT ssize_t read(int fd, void *buffer, size_t size)
{
   AGXV_NEXT(read);
   struct agxv_open *opened = agxv_is_inside() ? NULL : agxv_get(fd);
   if (!opened)
      return next_read(fd, buffer, size);
   agxv_put(opened);
   return give(-EAGAIN);
}

AGXV_EXPORT ssize_t write(int fd, const void *buffer, size_t size)
{
   AGXV_NEXT(write);
   struct agxv_open *opened = agxv_is_inside() ? NULL : agxv_get(fd);
   if (!opened)
      return next_write(fd, buffer, size);
   agxv_put(opened);
   return give(-EINVAL);
}
