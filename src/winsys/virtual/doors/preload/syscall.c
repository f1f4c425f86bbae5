/* SPDX-License-Identifier: MIT
 *
 * syscall(3): programs that go round the C library's functions mostly still go through
 * this one. System calls on paths and descriptors are led to the functions beside, where
 * the meaning is the same; all others go on.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "winsys/virtual/doors/preload/preload_impl.h"

#define ARGUMENTS 6

static long forward(long number, const long a[ARGUMENTS])
{
   AGXV_NEXT(syscall);
   return next_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static long system_openat2(const long a[ARGUMENTS])
{
   AGXV_NEXT(syscall);
   int folder = (int)a[0];
   AGXV_REDIRECTED_AT(folder, (const char *)a[1]);
   struct open_how how = {0};
   const void *given = (const void *)a[2];
   size_t size = (size_t)a[3];
   if (redirected != (const char *)a[1] && size >= sizeof(how)) {
      /* What may be left or crossed on the way says nothing of the tree's place. */
      memcpy(&how, given, sizeof(how));
      how.resolve &= ~(uint64_t)(RESOLVE_BENEATH | RESOLVE_IN_ROOT | RESOLVE_NO_XDEV);
      given = &how;
      size = sizeof(how);
   }
   return agxv_adopt((int)next_syscall(SYS_openat2, (long)folder, redirected, given, size));
}

static long system_paths(long number, const long a[ARGUMENTS], bool *out_known)
{
   const char *path = (const char *)a[0], *path_at = (const char *)a[1];
   int folder = (int)a[0];
   *out_known = true;
   switch (number) {
#ifdef SYS_open
   case SYS_open:
      return open(path, (int)a[1], (mode_t)a[2]);
   case SYS_stat:
      return stat(path, (struct stat *)a[1]);
   case SYS_lstat:
      return lstat(path, (struct stat *)a[1]);
   case SYS_access:
      return access(path, (int)a[1]);
   case SYS_readlink:
      return readlink(path, (char *)a[1], (size_t)a[2]);
#endif
   case SYS_openat:
      return openat(folder, path_at, (int)a[2], (mode_t)a[3]);
   case SYS_openat2:
      return system_openat2(a);
   case SYS_newfstatat:
      return fstatat(folder, path_at, (struct stat *)a[2], (int)a[3]);
   case SYS_statx:
      return statx(folder, path_at, (int)a[2], (unsigned)a[3], (struct statx *)a[4]);
   case SYS_faccessat:
      return faccessat(folder, path_at, (int)a[2], 0);
#ifdef SYS_faccessat2
   case SYS_faccessat2:
      return faccessat(folder, path_at, (int)a[2], (int)a[3]);
#endif
   case SYS_readlinkat:
      return readlinkat(folder, path_at, (char *)a[2], (size_t)a[3]);
   case SYS_chdir:
      return chdir(path);
   default:
      *out_known = false;
      return 0;
   }
}

static long system_fds(long number, const long a[ARGUMENTS], bool *out_known)
{
   int fd = (int)a[0];
   *out_known = true;
   switch (number) {
   case SYS_ioctl:
      return ioctl(fd, (unsigned long)a[1], (void *)a[2]);
   case SYS_mmap:
      return (long)mmap((void *)a[0], (size_t)a[1], (int)a[2], (int)a[3], (int)a[4], (off_t)a[5]);
   case SYS_munmap:
      return munmap((void *)a[0], (size_t)a[1]);
   case SYS_close:
      return close(fd);
   case SYS_close_range:
      return close_range((unsigned)a[0], (unsigned)a[1], (int)a[2]);
   case SYS_dup:
      return dup(fd);
#ifdef SYS_dup2
   case SYS_dup2:
      return dup2(fd, (int)a[1]);
   case SYS_poll:
      return poll((struct pollfd *)a[0], (nfds_t)a[1], (int)a[2]);
#endif
   case SYS_dup3:
      return dup3(fd, (int)a[1], (int)a[2]);
   case SYS_fcntl:
      return fcntl(fd, (int)a[1], a[2]);
   case SYS_fstat:
      return fstat(fd, (struct stat *)a[1]);
   case SYS_read:
      return read(fd, (void *)a[1], (size_t)a[2]);
   case SYS_write:
      return write(fd, (const void *)a[1], (size_t)a[2]);
   case SYS_lseek:
      return lseek(fd, (off_t)a[1], (int)a[2]);
   case SYS_epoll_ctl:
      return epoll_ctl(fd, (int)a[1], (int)a[2], (struct epoll_event *)a[3]);
   default:
      *out_known = false;
      return 0;
   }
}

AGXV_EXPORT long syscall(long number, ...)
{
   long a[ARGUMENTS];
   bool is_known = false;
   va_list arguments;
   va_start(arguments, number);
   for (int i = 0; i < ARGUMENTS; i++)
      a[i] = va_arg(arguments, long);
   va_end(arguments);
   if (agxv_is_inside())
      return forward(number, a);
   long result = system_paths(number, a, &is_known);
   if (!is_known)
      result = system_fds(number, a, &is_known);
   return is_known ? result : forward(number, a);
}
