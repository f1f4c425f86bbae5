/* SPDX-License-Identifier: MIT
 *
 * The functions on paths: they lead paths of the node into the shadow tree and show
 * its file as a character device. Everything else is the C library's own work.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "winsys/virtual/preload.h"
#include "winsys/virtual/shadow.h"

/* Entry points of compilers' checks and of older C libraries; no header declares them. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
int __xstat(int version, const char *path, struct stat *info);
int __xstat64(int version, const char *path, struct stat64 *info);
int __lxstat(int version, const char *path, struct stat *info);
int __lxstat64(int version, const char *path, struct stat64 *info);
int __fxstat(int version, int fd, struct stat *info);
int __fxstat64(int version, int fd, struct stat64 *info);
ssize_t __readlink_chk(const char *path, char *buffer, size_t size, size_t room);
char *__realpath_chk(const char *path, char *resolved, size_t room);

#define SHADOWED(path)                                                                             \
   char shadow_buffer[PATH_MAX];                                                                   \
   const char *shadowed = agxv_is_inside() ? path : agxv_shadow_path(path, shadow_buffer)

static mode_t mode_argument(int flags, va_list arguments)
{
   bool creates = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
   return creates ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
   AGXV_EXPORT int name(const char *path, int flags, ...)                                          \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      SHADOWED(path);                                                                              \
      va_list arguments;                                                                           \
      va_start(arguments, flags);                                                                  \
      mode_t mode = mode_argument(flags, arguments);                                               \
      va_end(arguments);                                                                           \
      return agxv_adopt(next_##name(shadowed, flags, mode));                                       \
   }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
   AGXV_EXPORT int name(int folder, const char *path, int flags, ...)                              \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      SHADOWED(path);                                                                              \
      va_list arguments;                                                                           \
      va_start(arguments, flags);                                                                  \
      mode_t mode = mode_argument(flags, arguments);                                               \
      va_end(arguments);                                                                           \
      return agxv_adopt(next_##name(folder, shadowed, flags, mode));                               \
   }
OPENAT(openat)
OPENAT(openat64)

#define OPEN_CHECKED(name)                                                                         \
   AGXV_EXPORT int name(const char *path, int flags)                                               \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      SHADOWED(path);                                                                              \
      return agxv_adopt(next_##name(shadowed, flags));                                             \
   }
OPEN_CHECKED(__open_2)
OPEN_CHECKED(__open64_2)

#define OPENAT_CHECKED(name)                                                                       \
   AGXV_EXPORT int name(int folder, const char *path, int flags)                                   \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      SHADOWED(path);                                                                              \
      return agxv_adopt(next_##name(folder, shadowed, flags));                                     \
   }
OPENAT_CHECKED(__openat_2)
OPENAT_CHECKED(__openat64_2)

/* struct stat and struct stat64 have the same members. */
#define AS_DEVICE(result, info)                                                                    \
   do {                                                                                            \
      if ((result) == 0 && !agxv_is_inside() &&                                                    \
          agxv_shadow_is_node((info)->st_dev, (info)->st_ino)) {                                   \
         (info)->st_mode = S_IFCHR | 0666;                                                         \
         (info)->st_rdev = makedev(AGXV_NODE_MAJOR, AGXV_NODE_MINOR);                              \
      } else if ((result) == 0 && S_ISFIFO((info)->st_mode) &&                                     \
                 agxv_inode_name((info)->st_dev, (info)->st_ino)) {                                \
         (info)->st_mode &= ~(mode_t)S_IFMT; /* as anonymous inodes */                             \
      }                                                                                            \
   } while (0)

#define STAT(name, type)                                                                           \
   AGXV_EXPORT int name(const char *path, struct type *info)                                       \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      SHADOWED(path);                                                                              \
      int result = next_##name(shadowed, info);                                                    \
      AS_DEVICE(result, info);                                                                     \
      return result;                                                                               \
   }
STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)

#define FSTAT(name, type)                                                                          \
   AGXV_EXPORT int name(int fd, struct type *info)                                                 \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      int result = next_##name(fd, info);                                                          \
      AS_DEVICE(result, info);                                                                     \
      return result;                                                                               \
   }
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)

#define FSTATAT(name, type)                                                                        \
   AGXV_EXPORT int name(int folder, const char *path, struct type *info, int flags)                \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      SHADOWED(path);                                                                              \
      int result = next_##name(folder, shadowed, info, flags);                                     \
      AS_DEVICE(result, info);                                                                     \
      return result;                                                                               \
   }
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)

#define XSTAT(name, type)                                                                          \
   AGXV_EXPORT int name(int version, const char *path, struct type *info)                          \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      SHADOWED(path);                                                                              \
      int result = next_##name(version, shadowed, info);                                           \
      AS_DEVICE(result, info);                                                                     \
      return result;                                                                               \
   }
#define FXSTAT(name, type)                                                                         \
   AGXV_EXPORT int name(int version, int fd, struct type *info)                                    \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      int result = next_##name(version, fd, info);                                                 \
      AS_DEVICE(result, info);                                                                     \
      return result;                                                                               \
   }
XSTAT(__xstat, stat)
XSTAT(__xstat64, stat64)
XSTAT(__lxstat, stat)
XSTAT(__lxstat64, stat64)
FXSTAT(__fxstat, stat)
FXSTAT(__fxstat64, stat64)

AGXV_EXPORT int statx(int folder, const char *restrict path, int flags, unsigned mask,
                      struct statx *restrict info)
{
   AGXV_NEXT(statx);
   SHADOWED(path);
   int result = next_statx(folder, shadowed, flags, mask | STATX_INO, info);
   dev_t device = makedev(info->stx_dev_major, info->stx_dev_minor);
   if (result == 0 && !agxv_is_inside() && agxv_shadow_is_node(device, info->stx_ino)) {
      info->stx_mode = S_IFCHR | 0666;
      info->stx_rdev_major = AGXV_NODE_MAJOR;
      info->stx_rdev_minor = AGXV_NODE_MINOR;
   }
   return result;
}

AGXV_EXPORT int access(const char *path, int mode)
{
   AGXV_NEXT(access);
   SHADOWED(path);
   return next_access(shadowed, mode);
}

AGXV_EXPORT int faccessat(int folder, const char *path, int mode, int flags)
{
   AGXV_NEXT(faccessat);
   SHADOWED(path);
   return next_faccessat(folder, shadowed, mode, flags);
}

AGXV_EXPORT DIR *opendir(const char *path)
{
   AGXV_NEXT(opendir);
   SHADOWED(path);
   return next_opendir(shadowed);
}

AGXV_EXPORT int scandir(const char *restrict path, struct dirent ***restrict list,
                        int (*select)(const struct dirent *),
                        int (*compare)(const struct dirent **, const struct dirent **))
{
   AGXV_NEXT(scandir);
   SHADOWED(path);
   return next_scandir(shadowed, list, select, compare);
}

AGXV_EXPORT int scandir64(const char *restrict path, struct dirent64 ***restrict list,
                          int (*select)(const struct dirent64 *),
                          int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
   AGXV_NEXT(scandir64);
   SHADOWED(path);
   return next_scandir64(shadowed, list, select, compare);
}

#define BUFFER_LINK "/memfd:agx-buffer (deleted)"

/* The pipes that stand for syncobjs and sync files, and the memory files of buffers, go by the
 * names of what they stand for. */
static ssize_t named(const char *path, char *buffer, size_t size, ssize_t length)
{
   AGXV_NEXT(stat);
   struct stat info;
   char text[64] = "";
   if (length < 6 || agxv_is_inside())
      return length;
   bool is_pipe = memcmp(buffer, "pipe:[", 6) == 0;
   bool is_buffer = strncmp(buffer, BUFFER_LINK, (size_t)length) == 0;
   if ((!is_pipe && !is_buffer) || !agxv_node_if_made() || next_stat(path, &info))
      return length;
   const char *name = is_pipe ? agxv_inode_name(info.st_dev, info.st_ino) : text;
   if (!name)
      return length;
   if (is_buffer) {
      agxv_enter();
      agx_virtual_buffer_name(agxv_node_if_made(), info.st_dev, info.st_ino, text, sizeof(text));
      agxv_leave();
   }
   size_t whole = strlen(name);
   size_t copied = whole < size ? whole : size;
   memcpy(buffer, name, copied);
   return (ssize_t)copied;
}

AGXV_EXPORT ssize_t readlink(const char *restrict path, char *restrict buffer, size_t size)
{
   AGXV_NEXT(readlink);
   SHADOWED(path);
   return named(shadowed, buffer, size, next_readlink(shadowed, buffer, size));
}

AGXV_EXPORT ssize_t readlinkat(int folder, const char *restrict path, char *restrict buffer,
                               size_t size)
{
   AGXV_NEXT(readlinkat);
   SHADOWED(path);
   return next_readlinkat(folder, shadowed, buffer, size);
}

AGXV_EXPORT ssize_t __readlink_chk(const char *path, char *buffer, size_t size, size_t room)
{
   AGXV_NEXT(__readlink_chk);
   SHADOWED(path);
   return named(shadowed, buffer, size, next___readlink_chk(shadowed, buffer, size, room));
}

/* What lies in the tree has the length of a real path at most, without the tree's root. */
static char *resolved_path(char *resolved)
{
   if (resolved && !agxv_is_inside())
      agxv_shadow_strip(resolved);
   return resolved;
}

AGXV_EXPORT char *realpath(const char *restrict path, char *restrict resolved)
{
   AGXV_NEXT(realpath);
   SHADOWED(path);
   return resolved_path(next_realpath(shadowed, resolved));
}

AGXV_EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room)
{
   AGXV_NEXT(__realpath_chk);
   SHADOWED(path);
   return resolved_path(next___realpath_chk(shadowed, resolved, room));
}

AGXV_EXPORT FILE *fopen(const char *restrict path, const char *restrict mode)
{
   AGXV_NEXT(fopen);
   SHADOWED(path);
   return next_fopen(shadowed, mode);
}

AGXV_EXPORT FILE *fopen64(const char *restrict path, const char *restrict mode)
{
   AGXV_NEXT(fopen64);
   SHADOWED(path);
   return next_fopen64(shadowed, mode);
}
