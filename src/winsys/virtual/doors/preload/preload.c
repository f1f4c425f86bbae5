/* SPDX-License-Identifier: MIT
 *
 * The functions of the C library that the preload library stands in front of: those
 * that work on descriptors. Descriptors of the node are led to it, all others go on.
 * The functions on paths are in path.c.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "winsys/asahi_uapi.h"
#include "winsys/virtual/doors/preload/preload_impl.h"

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
   bool is_core = AGX_UAPI_LETTER(request) == 'd';
   struct agxv_open *opened = agxv_is_inside() ? NULL
                              : is_core        ? agxv_open_find(fd, true)
                                               : agxv_open_get(fd);
   int result;
   if (opened) {
      agxv_enter();
      result =
         agxv_recording_ioctl(agxv_recording_of(opened), agxv_file_of(opened), request, argument);
      agxv_leave();
      agxv_open_put(opened);
      return agxv_to_errno(result);
   }
   if (AGX_UAPI_LETTER(request) == 'u' && !agxv_is_inside() && agxv_is_udmabuf(fd)) {
      agxv_enter();
      result = agx_virtual_udmabuf_ioctl(request, argument);
      agxv_leave();
      return agxv_to_errno(result);
   }
   if (is_fd_request(request) && agxv_node_if_made() && !agxv_is_inside()) {
      agxv_enter();
      result = agx_virtual_fd_ioctl(agxv_node_if_made(), fd, request, argument);
      agxv_leave();
      if (result != -ENOTTY)
         return agxv_to_errno(result);
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
   agxv_open_put(opened);
   if (memory)
      return memory;
   errno = error;
   return MAP_FAILED;
}

/* Programs mostly map files privately, and those are none of ours. */
static struct agxv_open *find_mapped(int fd, int flags)
{
   if (fd < 0 || agxv_is_inside())
      return NULL;
   bool is_private = flags & MAP_ANONYMOUS || (flags & MAP_TYPE) == MAP_PRIVATE;
   return is_private ? agxv_open_get(fd) : agxv_open_find(fd, false);
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
   struct agxv_open *opened = find_mapped(fd, flags);
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
   struct agxv_open *opened = find_mapped(fd, flags);
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

/* Both done, in the order that the node wants: it asks the host whether other descriptors
 * of the file are open. */
static int closed(struct agxv_open *opened, int result)
{
   int error = errno;
   agxv_open_put(opened);
   errno = error;
   return result;
}

AGXV_EXPORT int close(int fd)
{
   AGXV_NEXT(close);
   if (agxv_is_inside())
      return next_close(fd);
   if (agxv_is_own(fd))
      return agxv_to_errno(-EBADF);
   struct agxv_open *opened = agxv_open_take(fd);
   return closed(opened, next_close(fd));
}

static void close_opened(unsigned first, unsigned last)
{
   for (unsigned fd = first; agxv_has_nodes() && fd <= last && fd < AGXV_MAX_FDS; fd++)
      if (agxv_is_node((int)fd))
         close((int)fd);
}

/* Around the descriptors that the node holds for itself. */
AGXV_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
   AGXV_NEXT(close_range);
   struct agx_virtual_node *node = agxv_is_inside() ? NULL : agxv_node_if_made();
   if (!node || first > last || flags & (int)CLOSE_RANGE_CLOEXEC)
      return next_close_range(first, last, flags);
   close_opened(first, last);
   for (unsigned at = first, own; at <= last; at = own + 1) {
      agxv_enter();
      own = (unsigned)agxv_next_own_fd(at > INT_MAX ? INT_MAX : (int)at);
      agxv_leave();
      if (own > last || own == INT_MAX)
         return next_close_range(at, last, flags);
      int result = own > at ? next_close_range(at, own - 1, flags) : 0;
      if (result)
         return result;
   }
   return 0;
}

AGXV_EXPORT void closefrom(int first)
{
   if (close_range((unsigned)(first < 0 ? 0 : first), ~0u, 0) == 0)
      return;
   for (int fd = first < 0 ? 0 : first; fd < AGXV_MAX_FDS; fd++) /* an old kernel */
      close(fd);
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
   agxv_make_room(to);
   int copy = next_dup2(fd, to);
   agxv_copied(fd, copy);
   return copy;
}

AGXV_EXPORT int dup3(int fd, int to, int flags)
{
   AGXV_NEXT(dup3);
   agxv_make_room(to);
   int copy = next_dup3(fd, to, flags);
   agxv_copied(fd, copy);
   return copy;
}

/* A buffer's file shows no seals: only memory files have any. */
static bool is_seal_question(int fd, int command)
{
   return (command == F_GET_SEALS || command == F_ADD_SEALS) && agxv_is_buffer(fd);
}

static int copied_by_fcntl(int fd, int command, int result)
{
   if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
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
      return agxv_to_errno(-EINVAL);
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
      return agxv_to_errno(-EINVAL);
   return copied_by_fcntl(fd, command, next_fcntl64(fd, command, argument));
}
