/* SPDX-License-Identifier: MIT
 *
 * The functions on folders and links. What the C library does by itself inside of one of
 * them doesn't come by here, so each gets its path led into the tree of shown files, and the paths
 * that it gives back led out again.
 */
#undef _FILE_OFFSET_BITS /* both names of each function are defined here */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "winsys/virtual/doors/preload/preload_impl.h"
#include "winsys/virtual/doors/tree.h"

#define MEMORY_FILE "/memfd:agx-virtual"
#define BUFFER_FILE "/memfd:agx-buffer (deleted)"

/* Entry points of compilers' checks; no header declares them. */
ssize_t __readlink_chk(const char *path, char *buffer, size_t size, size_t room);
ssize_t __readlinkat_chk(int folder, const char *path, char *buffer, size_t size, size_t room);
char *__realpath_chk(const char *path, char *resolved, size_t room);
char *__getcwd_chk(char *buffer, size_t size, size_t room);

AGXV_LED(DIR *, opendir, (const char *path), (redirected))
AGXV_LED(int, chdir, (const char *path), (redirected))

#define SCANDIR(name, entry)                                                                       \
   AGXV_EXPORT int name(const char *restrict path, struct entry ***restrict list,                  \
                        int (*select)(const struct entry *),                                       \
                        int (*compare)(const struct entry **, const struct entry **))              \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      return next_##name(redirected, list, select, compare);                                       \
   }
SCANDIR(scandir, dirent)
SCANDIR(scandir64, dirent64)

#define SCANDIRAT(name, entry)                                                                     \
   AGXV_EXPORT int name(int folder, const char *restrict path, struct entry ***restrict list,      \
                        int (*select)(const struct entry *),                                       \
                        int (*compare)(const struct entry **, const struct entry **))              \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED_AT(folder, path);                                                            \
      return next_##name(folder, redirected, list, select, compare);                               \
   }
SCANDIRAT(scandirat, dirent)
SCANDIRAT(scandirat64, dirent64)

/* glob can be given functions to stat_path with: ours, which it would else not call. */
static void *glob_open(const char *path)
{
   return opendir(path);
}

static void glob_close(void *folder)
{
   closedir(folder);
}

#define GLOB(name, type, entry, status, read, stat_path, lstat_path)                               \
   static struct entry *name##_read(void *folder)                                                  \
   {                                                                                               \
      return read(folder);                                                                         \
   }                                                                                               \
   static int name##_stat(const char *restrict path, struct status *restrict info)                 \
   {                                                                                               \
      return stat_path(path, info);                                                                \
   }                                                                                               \
   static int name##_lstat(const char *restrict path, struct status *restrict info)                \
   {                                                                                               \
      return lstat_path(path, info);                                                               \
   }                                                                                               \
   AGXV_EXPORT int name(const char *restrict pattern, int flags,                                   \
                        int (*on_error)(const char *, int), type *restrict result)                 \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      if (agxv_is_inside() || flags & GLOB_ALTDIRFUNC)                                             \
         return next_##name(pattern, flags, on_error, result);                                     \
      result->gl_opendir = glob_open;                                                              \
      result->gl_closedir = glob_close;                                                            \
      result->gl_readdir = name##_read;                                                            \
      result->gl_stat = name##_stat;                                                               \
      result->gl_lstat = name##_lstat;                                                             \
      int error = next_##name(pattern, flags | GLOB_ALTDIRFUNC, on_error, result);                 \
      result->gl_flags &= ~GLOB_ALTDIRFUNC;                                                        \
      return error;                                                                                \
   }
GLOB(glob, glob_t, dirent, stat, readdir, stat, lstat)
GLOB(glob64, glob64_t, dirent64, stat64, readdir64, stat64, lstat64)

/* Walks of a tree call back with paths; one at a time in a thread. */
static _Thread_local void *walk_callback;

static const char *led_out(const char *path, char buffer[PATH_MAX])
{
   size_t length = strnlen(path, PATH_MAX);
   if (length == PATH_MAX)
      return path;
   memcpy(buffer, path, length + 1);
   agxv_tree_strip(buffer);
   return buffer;
}

#define WALK(name, walker, status, callback_type, more, more_names, extra, extra_name)             \
   static int name##_step(const char *path, const struct status *info, int kind more)              \
   {                                                                                               \
      char buffer[PATH_MAX];                                                                       \
      struct status shown = *info;                                                                 \
      if (agxv_is_device(info->st_dev, info->st_ino))                                              \
         lstat64(path, (struct stat64 *)&shown);                                                   \
      return ((callback_type)walk_callback)(led_out(path, buffer), &shown, kind more_names);       \
   }                                                                                               \
   AGXV_EXPORT int name(const char *path, callback_type callback, int descriptors extra)           \
   {                                                                                               \
      AGXV_NEXT(name);                                                                             \
      AGXV_REDIRECTED(path);                                                                       \
      if (redirected == path)                                                                      \
         return next_##name(path, callback, descriptors extra_name);                               \
      void *outer = walk_callback;                                                                 \
      walk_callback = (void *)callback;                                                            \
      int result = next_##name(redirected, name##_step, descriptors extra_name);                   \
      walk_callback = outer;                                                                       \
      return result;                                                                               \
   }
#define COMMA ,
WALK(ftw, ftw, stat, __ftw_func_t, , , , )
WALK(ftw64, ftw64, stat64, __ftw64_func_t, , , , )
WALK(nftw, nftw, stat, __nftw_func_t, COMMA struct FTW *where, COMMA where, COMMA int flags,
     COMMA flags)
WALK(nftw64, nftw64, stat64, __nftw64_func_t, COMMA struct FTW *where, COMMA where, COMMA int flags,
     COMMA flags)

/* A path that the C library found, led out of the tree; it gets shorter, never longer. */
static char *led_out_here(char *path)
{
   if (path && !agxv_is_inside())
      agxv_tree_strip(path);
   return path;
}

AGXV_EXPORT char *getcwd(char *buffer, size_t size)
{
   AGXV_NEXT(getcwd);
   return led_out_here(next_getcwd(buffer, size));
}

AGXV_EXPORT char *__getcwd_chk(char *buffer, size_t size, size_t room)
{
   AGXV_NEXT(__getcwd_chk);
   return led_out_here(next___getcwd_chk(buffer, size, room));
}

AGXV_EXPORT char *get_current_dir_name(void)
{
   AGXV_NEXT(get_current_dir_name);
   return led_out_here(next_get_current_dir_name());
}

AGXV_EXPORT char *realpath(const char *restrict path, char *restrict resolved)
{
   AGXV_NEXT(realpath);
   AGXV_REDIRECTED(path);
   return led_out_here(next_realpath(redirected, resolved));
}

AGXV_EXPORT char *canonicalize_file_name(const char *path)
{
   AGXV_NEXT(canonicalize_file_name);
   AGXV_REDIRECTED(path);
   return led_out_here(next_canonicalize_file_name(redirected));
}

AGXV_EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room)
{
   AGXV_NEXT(__realpath_chk);
   AGXV_REDIRECTED(path);
   return led_out_here(next___realpath_chk(redirected, resolved, room));
}

/* How what a link leads to is called: the pipes that stand for syncobjs and sync files, the
 * memory files of buffers and of the node, files of the tree. NULL for all others. */
static const char *name_of(int folder, const char *path, char *link)
{
   AGXV_NEXT(fstatat);
   struct stat info;
   bool is_pipe = strncmp(link, "pipe:[", 6) == 0, is_buffer = strcmp(link, BUFFER_FILE) == 0;
   if (!is_pipe && !is_buffer && strncmp(link, MEMORY_FILE, strlen(MEMORY_FILE)) != 0)
      return agxv_tree_strip(link) ? link : NULL;
   if (next_fstatat(folder, path, &info, 0))
      return NULL;
   if (is_pipe)
      return agxv_inode_name(info.st_dev, info.st_ino);
   if (!is_buffer)
      return agxv_is_device(info.st_dev, info.st_ino) ? "/dev/dri/renderD128" : NULL;
   if (!agxv_node_if_made())
      return NULL;
   agxv_enter();
   agx_virtual_buffer_name(agxv_node_if_made(), info.st_dev, info.st_ino, link, PATH_MAX);
   agxv_leave();
   return link;
}

static ssize_t named(int folder, const char *path, char *buffer, size_t size, ssize_t length)
{
   char link[PATH_MAX];
   if (length <= 0 || (size_t)length == size || length >= PATH_MAX || agxv_is_inside())
      return length;
   memcpy(link, buffer, (size_t)length);
   link[length] = 0;
   int error = errno;
   const char *name = name_of(folder, path, link);
   errno = error;
   if (!name)
      return length;
   size_t whole = strlen(name);
   size_t copied = whole < size ? whole : size;
   memset(buffer, 0, (size_t)length); /* programs terminate buffers beforehand */
   memcpy(buffer, name, copied);
   return (ssize_t)copied;
}

AGXV_EXPORT ssize_t readlink(const char *restrict path, char *restrict buffer, size_t size)
{
   AGXV_NEXT(readlink);
   AGXV_REDIRECTED(path);
   return named(AT_FDCWD, redirected, buffer, size, next_readlink(redirected, buffer, size));
}

AGXV_EXPORT ssize_t readlinkat(int folder, const char *restrict path, char *restrict buffer,
                               size_t size)
{
   AGXV_NEXT(readlinkat);
   AGXV_REDIRECTED_AT(folder, path);
   return named(folder, redirected, buffer, size,
                next_readlinkat(folder, redirected, buffer, size));
}

AGXV_EXPORT ssize_t __readlink_chk(const char *path, char *buffer, size_t size, size_t room)
{
   AGXV_NEXT(__readlink_chk);
   AGXV_REDIRECTED(path);
   return named(AT_FDCWD, redirected, buffer, size,
                next___readlink_chk(redirected, buffer, size, room));
}

AGXV_EXPORT ssize_t __readlinkat_chk(int folder, const char *path, char *buffer, size_t size,
                                     size_t room)
{
   AGXV_NEXT(__readlinkat_chk);
   AGXV_REDIRECTED_AT(folder, path);
   return named(folder, redirected, buffer, size,
                next___readlinkat_chk(folder, redirected, buffer, size, room));
}
