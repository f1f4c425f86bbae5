/* SPDX-License-Identifier: MIT
 *
 * The functions that describe a file: the node's file of the tree of shown files (tree.h) is
 * shown as a character device, pipes that stand for sync files as anonymous inodes.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "winsys/virtual/doors/preload/preload.h"
#include "winsys/virtual/doors/tree.h"

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
