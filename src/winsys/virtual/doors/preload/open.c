/* SPDX-License-Identifier: MIT
 *
 * The functions that open files, streams among them: paths of the node are redirected to the tree
 * of shown files (tree.h), and what is opened there becomes one of the node's descriptors.
 * Everything else is the C library's own work.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "winsys/virtual/doors/preload/preload.h"
#include "winsys/virtual/doors/tree.h"

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

AGXV_EXPORT int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *restrict actions,
                                                 int fd, const char *restrict path, int flags,
                                                 mode_t mode)
{
   AGXV_NEXT(posix_spawn_file_actions_addopen);
   AGXV_REDIRECTED(path);
   return next_posix_spawn_file_actions_addopen(actions, fd, redirected, flags, mode);
}

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

#define OPEN_CHECKED(name)                                                                         \
   AGXV_EXPORT int name(const char *path, int flags)                                               \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      REFUSED_OPEN(AT_FDCWD, path, flags, -1);                                                     \
      return agxv_adopt(next_##name(redirected, flags));                                           \
   }
OPEN_CHECKED(__open_2)
OPEN_CHECKED(__open64_2)

#define OPENAT_CHECKED(name)                                                                       \
   AGXV_EXPORT int name(int folder, const char *path, int flags)                                   \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED_AT(folder, path);                                                            \
      REFUSED_OPEN(folder, path, flags, -1);                                                       \
      return agxv_adopt(next_##name(folder, redirected, flags));                                   \
   }
OPENAT_CHECKED(__openat_2)
OPENAT_CHECKED(__openat64_2)

#define CREAT(name)                                                                                \
   AGXV_EXPORT int name(const char *path, mode_t mode)                                             \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      REFUSED_OPEN(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, -1);                              \
      return agxv_adopt(next_##name(redirected, mode));                                            \
   }
CREAT(creat)
CREAT(creat64)

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
