/* SPDX-License-Identifier: MIT
 *
 * The tree is made under a temporary name and renamed, so that processes that start
 * together see a whole one. It stays for the next process.
 */
#include "winsys/virtual/doors/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define DEVICE  "406400000.gpu"
#define VERSION "3" /* of the tree */

static char root[PATH_MAX / 4];
static size_t root_length;
static struct stat node_info, udmabuf_info;

/* What is led into the tree. All of /dev/dri is: nodes of the machine are hidden. */
static const char *const shown[] = {
   "/dev/dri",       "/dev/char/226:128",     "/dev/udmabuf",
   "/sys/class/drm", "/sys/dev/char/226:128", ("/sys/devices/platform/" DEVICE),
};

static const char *const folders[] = {
   "dev",
   "dev/dri",
   "dev/char",
   "sys",
   "sys/bus",
   "sys/bus/platform",
   "sys/class",
   "sys/class/drm",
   "sys/dev",
   "sys/dev/char",
   "sys/devices",
   "sys/devices/platform",
   ("sys/devices/platform/" DEVICE),
   ("sys/devices/platform/" DEVICE "/drm"),
   ("sys/devices/platform/" DEVICE "/drm/renderD128"),
};

static const struct {
   const char *path, *target;
} links[] = {
   {"dev/char/226:128", "../dri/renderD128"},
   {"sys/devices/platform/" DEVICE "/subsystem", "../../../bus/platform"},
   {"sys/devices/platform/" DEVICE "/drm/renderD128/device", "../../../" DEVICE},
   {"sys/devices/platform/" DEVICE "/drm/renderD128/subsystem", "../../../../../class/drm"},
   {"sys/dev/char/226:128", "../../devices/platform/" DEVICE "/drm/renderD128"},
   {"sys/class/drm/renderD128", "../../devices/platform/" DEVICE "/drm/renderD128"},
};

static const struct {
   const char *path, *text; /* %s: the chip's device tree name */
} files[] = {
   {"dev/dri/renderD128", ""},
   {"dev/udmabuf", ""},
   {"sys/devices/platform/" DEVICE "/uevent",
    "DRIVER=asahi\nOF_NAME=gpu\nOF_FULLNAME=/soc/gpu@406400000\nOF_COMPATIBLE_0=%s\n"
    "OF_COMPATIBLE_N=1\nMODALIAS=of:NgpuT(null)C%s\n"},
   {"sys/devices/platform/" DEVICE "/drm/renderD128/uevent",
    "MAJOR=226\nMINOR=128\nDEVNAME=dri/renderD128\nDEVTYPE=drm_minor\n"},
   {"sys/devices/platform/" DEVICE "/drm/renderD128/dev", "226:128\n"},
};

static bool write_file(const char *path, const char *format, const char *name)
{
   FILE *file = fopen(path, "we");
   if (!file)
      return false;
   const char *at = format;
   for (const char *mark; (mark = strstr(at, "%s")); at = mark + 2)
      fprintf(file, "%.*s%s", (int)(mark - at), at, name);
   fputs(at, file);
   return fclose(file) == 0;
}

static bool make_tree(const char *base, const struct agx_chip *chip)
{
   char path[PATH_MAX];
   for (size_t i = 0; i < AGX_COUNT(folders); i++) {
      snprintf(path, sizeof(path), "%s/%s", base, folders[i]);
      if (mkdir(path, 0755))
         return false;
   }
   for (size_t i = 0; i < AGX_COUNT(links); i++) {
      snprintf(path, sizeof(path), "%s/%s", base, links[i].path);
      if (symlink(links[i].target, path))
         return false;
   }
   for (size_t i = 0; i < AGX_COUNT(files); i++) {
      snprintf(path, sizeof(path), "%s/%s", base, files[i].path);
      if (!write_file(path, files[i].text, chip->device_tree))
         return false;
   }
   return true;
}

/* As far as it was made. */
static void remove_tree(const char *base)
{
   char path[PATH_MAX];
   for (size_t i = 0; i < AGX_COUNT(files); i++) {
      snprintf(path, sizeof(path), "%s/%s", base, files[i].path);
      unlink(path);
   }
   for (size_t i = 0; i < AGX_COUNT(links); i++) {
      snprintf(path, sizeof(path), "%s/%s", base, links[i].path);
      unlink(path);
   }
   for (size_t i = AGX_COUNT(folders); i-- > 0;) {
      snprintf(path, sizeof(path), "%s/%s", base, folders[i]);
      rmdir(path);
   }
   rmdir(base);
}

/* Below a folder that only this user can write. */
static bool make_private(const char *path)
{
   struct stat info;
   if (mkdir(path, 0700) && errno != EEXIST)
      return false;
   return lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
          !(info.st_mode & 022);
}

/* Keeps which files of the tree the devices are. */
static bool find_devices(const char *node)
{
   char udmabuf[PATH_MAX];
   snprintf(udmabuf, sizeof(udmabuf), "%s/dev/udmabuf", root);
   return stat(node, &node_info) == 0 && stat(udmabuf, &udmabuf_info) == 0;
}

static bool make_root(const char *parent, const struct agx_chip *chip)
{
   char base[PATH_MAX / 8], fresh[PATH_MAX / 4];
   snprintf(base, sizeof(base), "%s/agx-virtual-%u", parent, (unsigned)geteuid());
   if (!make_private(base))
      return false;
   snprintf(root, sizeof(root), "%s/%s-" VERSION, base, chip->name);
   char node[PATH_MAX];
   snprintf(node, sizeof(node), "%s/dev/dri/renderD128", root);
   if (find_devices(node))
      return true;
   snprintf(fresh, sizeof(fresh), "%s/new-%d", base, (int)getpid());
   if (mkdir(fresh, 0755))
      return false;
   /* Another process may have been first: then its tree is as good. */
   if (!make_tree(fresh, chip) || rename(fresh, root))
      remove_tree(fresh);
   return find_devices(node);
}

bool agxv_tree_init(const struct agx_chip *chip)
{
   const char *parents[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp", "/dev/shm"};
   for (size_t i = 0; i < AGX_COUNT(parents); i++) {
      if (parents[i] && parents[i][0] == '/' && make_root(parents[i], chip)) {
         root_length = strlen(root);
         return true;
      }
   }
   fprintf(stderr, "agx virtual: no folder for the device files: set TMPDIR to a writable one\n");
   return false;
}

static bool is_below(const char *path, const char *top)
{
   size_t length = strlen(top);
   return strncmp(path, top, length) == 0 && (path[length] == 0 || path[length] == '/');
}

static bool is_shown(const char *path)
{
   for (size_t i = 0; i < AGX_COUNT(shown); i++)
      if (is_below(path, shown[i]))
         return true;
   return false;
}

/* Most paths are none of ours, which is quickly seen. */
static bool may_be_shown(const char *path)
{
   static const char *const marks[] = {"dri", "drm", "226:128", "udmabuf", DEVICE};
   for (size_t i = 0; i < AGX_COUNT(marks); i++)
      if (strstr(path, marks[i]))
         return true;
   return path[0] != '/' && strstr(path, "..");
}

/* Takes "//", "." and ".." out of an absolute path, by its text. */
static void normalise(char *path)
{
   char *to = path;
   const char *from = path;
   while (*from) {
      from += strspn(from, "/");
      size_t length = strcspn(from, "/");
      if (length == 2 && from[0] == '.' && from[1] == '.') {
         while (to > path && *--to != '/')
            ;
      } else if (length && !(length == 1 && from[0] == '.')) {
         *to++ = '/';
         memmove(to, from, length);
         to += length;
      }
      from += length;
   }
   if (to == path)
      *to++ = '/';
   *to = 0;
}

/* The absolute path, as text; false when it can't be found. */
static bool make_absolute(int folder, const char *path, char out[PATH_MAX])
{
   char base[PATH_MAX] = "", link[64];
   if (path[0] != '/' && folder == AT_FDCWD && !getcwd(base, sizeof(base)))
      return false;
   if (path[0] != '/' && folder != AT_FDCWD) {
      snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
      ssize_t length = readlink(link, base, sizeof(base) - 1);
      if (length <= 0 || base[0] != '/')
         return false;
      base[length] = 0;
   }
   if (snprintf(out, PATH_MAX, "%s/%s", base, path) >= PATH_MAX)
      return false;
   normalise(out);
   return true;
}

const char *agxv_tree_at(int folder, const char *path, char buffer[PATH_MAX])
{
   char absolute[PATH_MAX];
   if (!root_length || !path || !path[0] || !may_be_shown(path))
      return path;
   int error = errno;
   bool is_known = make_absolute(folder, path, absolute);
   errno = error;
   if (!is_known)
      return path;
   bool was_inside = agxv_tree_strip(absolute) || is_shown(path);
   if (is_shown(absolute)) {
      int length = snprintf(buffer, PATH_MAX, "%s%s", root, absolute);
      return length < PATH_MAX ? buffer : path;
   }
   /* Out of the tree again, as "../null" beside the node. */
   return was_inside ? strcpy(buffer, absolute) : path;
}

bool agxv_tree_strip(char *path)
{
   if (!root_length || !is_below(path, root))
      return false;
   memmove(path, path + root_length, strlen(path + root_length) + 1);
   if (!path[0])
      strcpy(path, "/");
   return true;
}

int agxv_tree_open_error(int folder, const char *path, int flags)
{
   char absolute[PATH_MAX], real[PATH_MAX];
   struct stat info;
   bool is_new = (flags & O_TMPFILE) == O_TMPFILE, writes = (flags & O_ACCMODE) != O_RDONLY;
   if (!root_length || !path || !path[0] || flags & O_PATH ||
       !(writes || flags & (O_CREAT | O_TRUNC)))
      return 0;
   int before = errno;
   bool is_known = make_absolute(folder, path, absolute);
   if (is_known)
      agxv_tree_strip(absolute);
   errno = before;
   if (!is_known || !is_shown(absolute) ||
       snprintf(real, sizeof(real), "%s%s", root, absolute) >= PATH_MAX)
      return 0;
   bool is_there = lstat(real, &info) == 0;
   if (is_there && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL) && !is_new) {
      errno = before;
      return -EEXIST;
   }
   is_there = is_there && stat(real, &info) == 0;
   errno = before;
   if (!is_there)
      return flags & O_CREAT ? -EACCES : 0;
   if (is_new)
      return -EACCES;
   bool is_device =
      agxv_tree_is_node(info.st_dev, info.st_ino) || agxv_tree_is_udmabuf(info.st_dev, info.st_ino);
   return S_ISREG(info.st_mode) && !is_device ? -EACCES : 0;
}

bool agxv_tree_is_node(dev_t device, ino_t inode)
{
   return root_length && node_info.st_ino == inode && node_info.st_dev == device;
}

bool agxv_tree_is_udmabuf(dev_t device, ino_t inode)
{
   return root_length && udmabuf_info.st_ino == inode && udmabuf_info.st_dev == device;
}

void agxv_tree_node_identity(dev_t *out_device, ino_t *out_inode)
{
   *out_device = node_info.st_dev;
   *out_inode = node_info.st_ino;
}
