/* SPDX-License-Identifier: MIT
 *
 * Stopped calls on paths and the looks at descriptors. Paths are taken by their text, as
 * the preload library takes them; the files are those of the same tree (tree.h), opened
 * here and put into the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/doors/tree.h"
#include "winsys/virtual/doors/serve/supervisor_impl.h"

#define NODE_PATH   "/dev/dri/renderD128"
#define MEMORY_FILE "/memfd:agx-virtual"

enum operation {
   OPEN,
   OPEN_HOW,
   CREATE,
   STAT,
   STAT_LINK,
   STAT_AT,
   STAT_FD,
   STATX,
   ACCESS,
   READLINK,
   CHDIR,
   STATFS,
   GET_ATTRIBUTE,
   LIST_ATTRIBUTES,
};

/* Where the arguments of a call lie; -1: it has none. */
static const struct row {
   int number;
   enum operation operation;
   int8_t folder, path, first; /* first: what comes after the path */
   int8_t flags;
} rows[] = {
#ifdef SYS_open
   {SYS_open, OPEN, -1, 0, 1, 1},
   {SYS_creat, CREATE, -1, 0, 1, -1},
   {SYS_stat, STAT, -1, 0, 1, -1},
   {SYS_lstat, STAT_LINK, -1, 0, 1, -1},
   {SYS_access, ACCESS, -1, 0, 1, -1},
   {SYS_readlink, READLINK, -1, 0, 1, -1},
#endif
   {SYS_openat, OPEN, 0, 1, 2, 2},
   {SYS_openat2, OPEN_HOW, 0, 1, 2, -1},
   {SYS_newfstatat, STAT_AT, 0, 1, 2, 3},
   {SYS_fstat, STAT_FD, 0, -1, 1, -1},
   {SYS_statx, STATX, 0, 1, 4, 2},
   {SYS_faccessat, ACCESS, 0, 1, 2, -1},
   {SYS_faccessat2, ACCESS, 0, 1, 2, 3},
   {SYS_readlinkat, READLINK, 0, 1, 2, -1},
   {SYS_chdir, CHDIR, -1, 0, 1, -1},
   {SYS_statfs, STATFS, -1, 0, 1, -1},
   {SYS_getxattr, GET_ATTRIBUTE, -1, 0, 1, -1},
   {SYS_lgetxattr, GET_ATTRIBUTE, -1, 0, 1, -1},
   {SYS_listxattr, LIST_ATTRIBUTES, -1, 0, 1, -1},
   {SYS_llistxattr, LIST_ATTRIBUTES, -1, 0, 1, -1},
};

static const struct row *find_row(int number)
{
   for (size_t i = 0; i < AGX_COUNT(rows); i++)
      if (rows[i].number == number)
         return &rows[i];
   return NULL;
}

/* The text at an address: 0, or a negative errno when there is none, or no end of it. */
static int read_text(const struct agxv_call *call, uint64_t from, char *to, size_t capacity)
{
   size_t length = 0;
   while (length < capacity) {
      /* Not across a page, of which the next may be missing; 4 KiB is right for all. */
      size_t part = AGX_MIN(capacity - length, 4096 - (size_t)((from + length) % 4096));
      int error = agxv_call_read(call, to + length, from + length, part);
      if (error)
         return error;
      if (memchr(to + length, 0, part))
         return 0;
      length += part;
   }
   return -ENAMETOOLONG;
}

/* The path that a call means, absolute: 0, or a negative errno when it can't be found. */
static int read_path(const struct agxv_call *call, const struct row *row, char out[PATH_MAX])
{
   char text[PATH_MAX], link[64], base[PATH_MAX] = "";
   int folder = row->folder < 0 ? AT_FDCWD : (int)call->arguments[row->folder];
   int error = read_text(call, call->arguments[row->path], text, sizeof(text));
   if (error || !text[0])
      return error ? error : -ENOENT;
   if (text[0] != '/') {
      if (folder == AT_FDCWD)
         snprintf(link, sizeof(link), "/proc/%d/cwd", call->pid);
      else
         snprintf(link, sizeof(link), "/proc/%d/fd/%d", call->pid, folder);
      ssize_t length = readlink(link, base, sizeof(base) - 1);
      if (length <= 0 || base[0] != '/' || !agxv_call_is_there(call))
         return -ENOENT;
   }
   int length = snprintf(out, PATH_MAX, "%s%s%s", base, base[0] ? "/" : "", text);
   return length > 0 && length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static bool is_node(const struct agxv_call *call, const struct stat *info)
{
   return agxv_tree_is_node(info->st_dev, info->st_ino) ||
          agx_virtual_is_segment(call->supervisor->node, info->st_dev, info->st_ino);
}

/* The node's file, newly opened for the program. */
static int64_t open_node(const struct agxv_call *call, bool close_on_exec)
{
   struct agx_virtual_file *file;
   if (agx_virtual_open(call->supervisor->node, &file) != AGX_OK)
      return -ENOMEM;
   int fd = agx_virtual_file_fd(file);
   int64_t number = fd < 0 ? fd : agxv_call_give_fd(call, fd, close_on_exec);
   agx_virtual_close(file); /* as soon as no descriptor is left */
   return number;
}

static int64_t open_path(const struct agxv_call *call, const char *path, uint64_t flags)
{
   struct stat info;
   bool close_on_exec = flags & O_CLOEXEC;
   int error = agxv_tree_open_error(AT_FDCWD, path, (int)flags);
   if (error)
      return error;
   if (stat(path, &info) == 0 && is_node(call, &info) && !(flags & (O_PATH | O_DIRECTORY)))
      return open_node(call, close_on_exec);
   int fd = open(path, (int)(flags & ~(uint64_t)(O_CREAT | O_EXCL | O_TRUNC)) | O_CLOEXEC);
   return fd < 0 ? -errno : agxv_call_give_fd(call, fd, close_on_exec);
}

static int64_t open_how(const struct agxv_call *call, const char *path)
{
   struct open_how how = {0};
   uint64_t size = AGX_MIN(call->arguments[3], (uint64_t)sizeof(how));
   if (agxv_call_read(call, &how, call->arguments[2], size))
      return -EFAULT;
   return open_path(call, path, how.flags);
}

/* The C library's struct is the kernel's on x86_64 and aarch64. */
static int64_t give_stat(const struct agxv_call *call, struct stat *info, uint64_t to)
{
   if (is_node(call, info)) {
      agxv_tree_node_identity(&info->st_dev, &info->st_ino);
      info->st_mode = S_IFCHR | 0666;
      info->st_rdev = makedev(AGXV_NODE_MAJOR, AGXV_NODE_MINOR);
      info->st_nlink = 1;
      info->st_size = info->st_blocks = 0;
   }
   return agxv_call_write(call, to, info, sizeof(*info));
}

static int64_t give_statx(const struct agxv_call *call, const char *path, int flags)
{
   struct statx it;
   if (statx(AT_FDCWD, path, flags & ~AT_EMPTY_PATH, STATX_BASIC_STATS, &it))
      return -errno;
   struct stat info = {.st_dev = makedev(it.stx_dev_major, it.stx_dev_minor), .st_ino = it.stx_ino};
   if (is_node(call, &info)) {
      agxv_tree_node_identity(&info.st_dev, &info.st_ino);
      it.stx_dev_major = major(info.st_dev);
      it.stx_dev_minor = minor(info.st_dev);
      it.stx_ino = info.st_ino;
      it.stx_mode = S_IFCHR | 0666;
      it.stx_rdev_major = AGXV_NODE_MAJOR;
      it.stx_rdev_minor = AGXV_NODE_MINOR;
      it.stx_nlink = 1;
      it.stx_size = it.stx_blocks = 0;
   }
   return agxv_call_write(call, call->arguments[4], &it, sizeof(it));
}

static int64_t give_text(const struct agxv_call *call, const struct row *row, const char *text)
{
   uint64_t capacity = call->arguments[row->first + 1];
   if (capacity == 0 || capacity > INT32_MAX)
      return -EINVAL;
   uint64_t length = AGX_MIN((uint64_t)strlen(text), capacity);
   int error = agxv_call_write(call, call->arguments[row->first], text, length);
   return error ? error : (int64_t)length;
}

static int64_t give_link(const struct agxv_call *call, const struct row *row, const char *path)
{
   char text[PATH_MAX];
   ssize_t length = readlink(path, text, sizeof(text) - 1);
   if (length < 0)
      return -errno;
   text[length] = 0;
   agxv_tree_strip(text);
   return give_text(call, row, text);
}

static int64_t give_statfs(const struct agxv_call *call, const char *path)
{
   struct statfs it;
   if (statfs(path, &it))
      return -errno;
   return agxv_call_write(call, call->arguments[1], &it, sizeof(it));
}

/* A call on a path of the tree. */
static int64_t on_shown(const struct agxv_call *call, const struct row *row, const char *path)
{
   const uint64_t *arguments = call->arguments;
   int flags = row->flags < 0 ? 0 : (int)arguments[row->flags];
   struct stat info;
   switch (row->operation) {
   case OPEN:
      return open_path(call, path, (uint64_t)(unsigned)flags);
   case OPEN_HOW:
      return open_how(call, path);
   case CREATE:
      return open_path(call, path, O_CREAT | O_WRONLY | O_TRUNC);
   case STAT:
   case STAT_LINK:
   case STAT_AT:
      flags = row->operation == STAT_LINK ? AT_SYMLINK_NOFOLLOW : flags & AT_SYMLINK_NOFOLLOW;
      if (fstatat(AT_FDCWD, path, &info, flags))
         return -errno;
      return give_stat(call, &info, arguments[row->first]);
   case STATX:
      return give_statx(call, path, flags);
   case ACCESS:
      return faccessat(AT_FDCWD, path, (int)arguments[row->first], flags & AT_EACCESS) ? -errno : 0;
   case READLINK:
      return give_link(call, row, path);
   case STATFS:
      return give_statfs(call, path);
   case GET_ATTRIBUTE: /* nothing has any there */
      return -ENODATA;
   case LIST_ATTRIBUTES:
      return stat(path, &info) ? -errno : 0;
   default: /* CHDIR: no process can do it for another one */
      return -ENOENT;
   }
}

/* A look at an open descriptor: only the node's must be shown as a device. */
static int64_t on_fd(const struct agxv_call *call, const struct row *row)
{
   char path[64];
   struct stat info;
   snprintf(path, sizeof(path), "/proc/%d/fd/%d", call->pid, (int)call->arguments[0]);
   if ((int)call->arguments[0] < 0 || stat(path, &info) || !is_node(call, &info) ||
       !agxv_call_is_there(call))
      return AGXV_CALL_GOES_ON;
   if (row->operation == STATX)
      return give_statx(call, path, 0);
   return give_stat(call, &info, call->arguments[row->first]);
}

/* /proc/self/fd/N of the node's descriptors. */
static int64_t on_proc(const struct agxv_call *call, const struct row *row, const char *path)
{
   char real[PATH_MAX + 32], text[PATH_MAX] = "";
   struct stat info;
   snprintf(real, sizeof(real), "/proc/%d/%s", call->pid, path + strlen("/proc/self/"));
   if (readlink(real, text, sizeof(text) - 1) < 0 ||
       strncmp(text, MEMORY_FILE, strlen(MEMORY_FILE)) != 0 || stat(real, &info) ||
       !is_node(call, &info) || !agxv_call_is_there(call))
      return AGXV_CALL_GOES_ON;
   return give_text(call, row, NODE_PATH);
}

int64_t agxv_call_on_path(const struct agxv_call *call, bool *out_known)
{
   const struct row *row = find_row(call->number);
   char path[PATH_MAX], buffer[PATH_MAX];
   *out_known = row;
   if (!row)
      return 0;
   bool is_looked_at = row->operation == STAT_AT || row->operation == STATX;
   if (row->operation == STAT_FD ||
       (is_looked_at && (int)call->arguments[row->flags] & AT_EMPTY_PATH &&
        (!call->arguments[row->path] ||
         (!read_text(call, call->arguments[row->path], path, sizeof(path)) && !path[0]))))
      return on_fd(call, row);
   int error = read_path(call, row, path);
   if (error) /* not let in: it might be the machine's own device */
      return error == -EACCES ? error : AGXV_CALL_GOES_ON;
   if (row->operation == READLINK && strncmp(path, "/proc/self/fd/", 14) == 0)
      return on_proc(call, row, path);
   const char *led = agxv_tree_at(AT_FDCWD, path, buffer);
   if (led == path)
      return AGXV_CALL_GOES_ON;
   return on_shown(call, row, led);
}
