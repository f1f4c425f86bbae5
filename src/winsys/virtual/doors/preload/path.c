/* SPDX-License-Identifier: MIT
 *
 * The functions that take a path and neither open the file nor describe it: paths of the node
 * are redirected to the tree of shown files. Folders and links are in walk.c.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "winsys/virtual/doors/preload/preload.h"

AGXV_EXPORT int access(const char *path, int mode)
{
   AGXV_NEXT(access);
   AGXV_REDIRECTED(path);
   return next_access(redirected, mode);
}

AGXV_EXPORT int euidaccess(const char *path, int mode)
{
   AGXV_NEXT(euidaccess);
   AGXV_REDIRECTED(path);
   return next_euidaccess(redirected, mode);
}

AGXV_EXPORT int eaccess(const char *path, int mode)
{
   AGXV_NEXT(eaccess);
   AGXV_REDIRECTED(path);
   return next_eaccess(redirected, mode);
}

AGXV_EXPORT int faccessat(int folder, const char *path, int mode, int flags)
{
   AGXV_NEXT(faccessat);
   AGXV_REDIRECTED_AT(folder, path);
   return next_faccessat(folder, redirected, mode, flags);
}

AGXV_EXPORT int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
   AGXV_NEXT(inotify_add_watch);
   AGXV_REDIRECTED(path);
   return next_inotify_add_watch(fd, redirected, mask);
}

/* Access lists and labels, which `ls -l` asks for. */
#define XATTR(name)                                                                                \
   AGXV_EXPORT ssize_t name(const char *path, const char *attribute, void *value, size_t size)     \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      return next_##name(redirected, attribute, value, size);                                      \
   }

XATTR(getxattr)
XATTR(lgetxattr)

#define XATTRS(name)                                                                               \
   AGXV_EXPORT ssize_t name(const char *path, char *list, size_t size)                             \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      return next_##name(redirected, list, size);                                                  \
   }

XATTRS(listxattr)
XATTRS(llistxattr)

#define STATFS(name, type)                                                                         \
   AGXV_EXPORT int name(const char *restrict path, struct type *restrict info)                     \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      return next_##name(redirected, info);                                                        \
   }

STATFS(statfs, statfs)
STATFS(statfs64, statfs64)
STATFS(statvfs, statvfs)
STATFS(statvfs64, statvfs64)
