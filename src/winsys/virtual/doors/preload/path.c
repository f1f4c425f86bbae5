/* SPDX-License-Identifier: MIT
 *
 * The functions of the C library that take a path, but for those about folders and links (walk.c):
 * paths of the node are redirected to the tree of shown files (tree.h).
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "winsys/virtual/doors/preload/preload_impl.h"
#include "winsys/virtual/doors/tree.h"

AGXV_LED(int, access, (const char *path, int mode), (redirected, mode))
AGXV_LED(int, euidaccess, (const char *path, int mode), (redirected, mode))
AGXV_LED(int, eaccess, (const char *path, int mode), (redirected, mode))
AGXV_LED_AT(int, faccessat, folder, (int folder, const char *path, int mode, int flags),
            (folder, redirected, mode, flags))
AGXV_LED(int, inotify_add_watch, (int fd, const char *path, uint32_t mask), (fd, redirected, mask))

/* Access lists and labels, which `ls -l` asks for. */
AGXV_LED(ssize_t, getxattr, (const char *path, const char *attribute, void *value, size_t size),
         (redirected, attribute, value, size))
AGXV_LED(ssize_t, lgetxattr, (const char *path, const char *attribute, void *value, size_t size),
         (redirected, attribute, value, size))
AGXV_LED(ssize_t, listxattr, (const char *path, char *list, size_t size), (redirected, list, size))
AGXV_LED(ssize_t, llistxattr, (const char *path, char *list, size_t size), (redirected, list, size))

AGXV_LED(int, statfs, (const char *path, struct statfs *info), (redirected, info))
AGXV_LED(int, statfs64, (const char *path, struct statfs64 *info), (redirected, info))
AGXV_LED(int, statvfs, (const char *restrict path, struct statvfs *restrict info),
         (redirected, info))
AGXV_LED(int, statvfs64, (const char *restrict path, struct statvfs64 *restrict info),
         (redirected, info))

/* The functions that open files, streams among them: paths of the node are redirected to the tree
 * of shown files (tree.h), and what is opened there becomes one of the node's descriptors.
 * Everything else is the C library's own work. */

/* Entry points of compilers' checks; no header declares them. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);

/* 0, or a negative errno where the device's folders take nothing new. */
static int open_error(int folder, const char *path, int flags)
{
   if (agxv_is_inside())
      return 0;
   agxv_enter();
   int error = agxv_tree_open_error(folder, path, flags);
   agxv_leave();
   return error;
}

/* As fopen takes it; "c", "e", "m" and the like don't matter. */
static int flags_of(const char *mode)
{
   int flags = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
   flags |= mode[0] == 'w' ? O_CREAT | O_TRUNC : mode[0] == 'a' ? O_CREAT : 0;
   return flags | (mode[0] != 'r' && strchr(mode, 'x') ? O_EXCL : 0);
}

#define REFUSED_OPEN(folder, path, flags, failure)                                                 \
   do {                                                                                            \
      int refused = open_error(folder, path, flags);                                               \
      if (refused) {                                                                               \
         errno = -refused;                                                                         \
         return failure;                                                                           \
      }                                                                                            \
   } while (0)

static mode_t mode_argument(int flags, va_list arguments)
{
   bool creates = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
   return creates ? va_arg(arguments, mode_t) : 0;
}

/* The C library closes a stream's descriptor by itself. */
static struct agxv_open *take_stream(FILE *stream)
{
   return stream && agxv_has_nodes() ? agxv_open_take(fileno(stream)) : NULL;
}

AGXV_EXPORT int fclose(FILE *stream)
{
   AGXV_NEXT(fclose);
   struct agxv_open *opened = take_stream(stream);
   int result = next_fclose(stream);
   int error = errno;
   agxv_open_put(opened);
   errno = error;
   return result;
}

AGXV_LED(int, posix_spawn_file_actions_addopen,
         (posix_spawn_file_actions_t *restrict actions, int fd, const char *restrict path,
          int flags, mode_t mode),
         (actions, fd, redirected, flags, mode))

#define OPEN(name)                                                                                 \
   AGXV_EXPORT int name(const char *path, int flags, ...)                                          \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      va_list arguments;                                                                           \
      va_start(arguments, flags);                                                                  \
      mode_t mode = mode_argument(flags, arguments);                                               \
      va_end(arguments);                                                                           \
      REFUSED_OPEN(AT_FDCWD, path, flags, -1);                                                     \
      return agxv_adopt(next_##name(redirected, flags, mode));                                     \
   }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
   AGXV_EXPORT int name(int folder, const char *path, int flags, ...)                              \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED_AT(folder, path);                                                            \
      va_list arguments;                                                                           \
      va_start(arguments, flags);                                                                  \
      mode_t mode = mode_argument(flags, arguments);                                               \
      va_end(arguments);                                                                           \
      REFUSED_OPEN(folder, path, flags, -1);                                                       \
      return agxv_adopt(next_##name(folder, redirected, flags, mode));                             \
   }
OPENAT(openat)
OPENAT(openat64)

/* Those without further arguments. */
#define OPEN_PLAIN(name, folder, flags, parameters, arguments)                                     \
   AGXV_EXPORT int name parameters                                                                 \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED_AT(folder, path);                                                            \
      REFUSED_OPEN(folder, path, flags, -1);                                                       \
      return agxv_adopt(next_##name arguments);                                                    \
   }
#define CREATES (O_CREAT | O_WRONLY | O_TRUNC)
OPEN_PLAIN(__open_2, AT_FDCWD, flags, (const char *path, int flags), (redirected, flags))
OPEN_PLAIN(__open64_2, AT_FDCWD, flags, (const char *path, int flags), (redirected, flags))
OPEN_PLAIN(__openat_2, folder, flags, (int folder, const char *path, int flags),
           (folder, redirected, flags))
OPEN_PLAIN(__openat64_2, folder, flags, (int folder, const char *path, int flags),
           (folder, redirected, flags))
OPEN_PLAIN(creat, AT_FDCWD, CREATES, (const char *path, mode_t mode), (redirected, mode))
OPEN_PLAIN(creat64, AT_FDCWD, CREATES, (const char *path, mode_t mode), (redirected, mode))

#define FOPEN(name)                                                                                \
   AGXV_EXPORT FILE *name(const char *restrict path, const char *restrict mode)                    \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      REFUSED_OPEN(AT_FDCWD, path, flags_of(mode), NULL);                                          \
      return next_##name(redirected, mode);                                                        \
   }
FOPEN(fopen)
FOPEN(fopen64)

#define FREOPEN(name)                                                                              \
   AGXV_EXPORT FILE *name(const char *restrict path, const char *restrict mode,                    \
                          FILE *restrict stream)                                                   \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      struct agxv_open *opened = take_stream(stream);                                              \
      FILE *result = next_##name(redirected, mode, stream);                                        \
      agxv_open_put(opened);                                                                       \
      return result;                                                                               \
   }
FREOPEN(freopen)
FREOPEN(freopen64)

/* The functions that describe a file: the node's file of the tree of shown files (tree.h) is
 * shown as a character device, pipes that stand for sync files as anonymous inodes. */

/* Entry points of older C libraries; no header declares them. */
int __xstat(int version, const char *path, struct stat *info);
int __xstat64(int version, const char *path, struct stat64 *info);
int __lxstat(int version, const char *path, struct stat *info);
int __lxstat64(int version, const char *path, struct stat64 *info);
int __fxstat(int version, int fd, struct stat *info);
int __fxstat64(int version, int fd, struct stat64 *info);

AGXV_EXPORT int statx(int folder, const char *restrict path, int flags, unsigned mask,
                      struct statx *restrict info)
{
   AGXV_NEXT(statx);
   AGXV_REDIRECTED_AT(folder, path);
   int result = next_statx(folder, redirected, flags, mask | STATX_INO, info);
   dev_t device = result ? 0 : makedev(info->stx_dev_major, info->stx_dev_minor);
   if (result == 0 && !agxv_is_inside() && agxv_is_device(device, info->stx_ino)) {
      ino_t inode;
      agxv_tree_node_identity(&device, &inode);
      info->stx_dev_major = major(device);
      info->stx_dev_minor = minor(device);
      info->stx_ino = inode;
      info->stx_mode = S_IFCHR | 0666;
      info->stx_rdev_major = AGXV_NODE_MAJOR;
      info->stx_rdev_minor = AGXV_NODE_MINOR;
      info->stx_nlink = 1;
      info->stx_size = info->stx_blocks = 0;
   }
   return result;
}

/* What the file of the tree, or the memory file behind a descriptor, is shown as; struct
 * stat and struct stat64 have the same members. Pipes are anonymous inodes. */
#define AS_DEVICE(result, info)                                                                    \
   do {                                                                                            \
      if ((result) != 0 || agxv_is_inside())                                                       \
         break;                                                                                    \
      if (agxv_is_device((info)->st_dev, (info)->st_ino)) {                                        \
         agxv_tree_node_identity(&(info)->st_dev, &(info)->st_ino);                                \
         (info)->st_mode = S_IFCHR | 0666;                                                         \
         (info)->st_rdev = makedev(AGXV_NODE_MAJOR, AGXV_NODE_MINOR);                              \
         (info)->st_nlink = 1;                                                                     \
         (info)->st_size = 0;                                                                      \
         (info)->st_blocks = 0;                                                                    \
      } else if (S_ISFIFO((info)->st_mode) && agxv_inode_name((info)->st_dev, (info)->st_ino)) {   \
         (info)->st_mode &= ~(mode_t)S_IFMT;                                                       \
      }                                                                                            \
   } while (0)

#define STAT(name, type)                                                                           \
   AGXV_EXPORT int name(const char *path, struct type *info)                                       \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      int result = next_##name(redirected, info);                                                  \
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
      AGXV_REDIRECTED_AT(folder, path);                                                            \
      int result = next_##name(folder, redirected, info, flags);                                   \
      AS_DEVICE(result, info);                                                                     \
      return result;                                                                               \
   }
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)

#define XSTAT(name, type)                                                                          \
   AGXV_EXPORT int name(int version, const char *path, struct type *info)                          \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      int result = next_##name(version, redirected, info);                                         \
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
