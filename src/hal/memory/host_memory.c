/* SPDX-License-Identifier: MIT
 *
 * What host memory is, as the process's own map tells: the kernel gives a GPU only memory that
 * has a descriptor.
 */
#include "hal/memory/host_memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A line of /proc/self/maps. */
struct area {
   uint64_t start, end, offset, inode;
   char access[5];
   unsigned major, minor;
};

static bool read_area(FILE *maps, struct area *out)
{
   char line[PATH_MAX + 128];
   if (!fgets(line, sizeof(line), maps))
      return false;
   *out = (struct area){0};
   return sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &out->start,
                 &out->end, out->access, &out->offset, &out->major, &out->minor, &out->inode) == 7;
}

static agx_status check(const struct area *area, uint64_t at, bool writes)
{
   const char *reason = NULL;
   if (area->inode == 0)
      reason = "is anonymous memory; memory that the GPU can have comes from memfd_create(2)";
   else if (area->access[3] != 's')
      reason = "is a private mapping; map the memory file with MAP_SHARED";
   else if (writes && area->access[1] != 'w')
      reason = "is mapped read-only; import it without AGX_ACCESS_WRITE";
   if (reason)
      return AGX_FAIL(AGX_UNAVAILABLE, "host memory at %#" PRIx64 " %s", at, reason);
   return AGX_OK;
}

static bool continues(const struct area *first, const struct area *next)
{
   return next->inode == first->inode && next->major == first->major &&
          next->minor == first->minor && next->offset - first->offset == next->start - first->start;
}

/* Goes through the areas from `at` to `end`, which must follow each other in one file. */
static agx_status walk(FILE *maps, uint64_t at, uint64_t end, bool writes, struct area *out_first)
{
   struct area area;
   bool is_first = true;
   while (at < end && read_area(maps, &area)) {
      if (area.end <= at)
         continue;
      if (area.start > at)
         break;
      AGX_TRY(check(&area, at, writes));
      if (is_first)
         *out_first = area;
      else if (!continues(out_first, &area))
         return AGX_FAIL(AGX_UNAVAILABLE, "host memory at %#" PRIx64 " is of another file", at);
      is_first = false;
      at = area.end;
   }
   if (at < end)
      return AGX_FAIL(AGX_UNAVAILABLE, "host memory at %#" PRIx64 ": nothing is mapped", at);
   return AGX_OK;
}

static bool is_file(int fd, const struct area *area)
{
   struct stat info;
   return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_ino == area->inode &&
          major(info.st_dev) == area->major && minor(info.st_dev) == area->minor;
}

/* A copy of one of the process's descriptors of the file, or -1. */
static int find_descriptor(const struct area *area)
{
   DIR *folder = opendir("/proc/self/fd");
   int found = -1;
   for (struct dirent *entry; folder && found < 0 && (entry = readdir(folder));) {
      int fd = atoi(entry->d_name);
      if (entry->d_name[0] == '.' || !is_file(fd, area))
         continue;
      found = fcntl(fd, F_DUPFD_CLOEXEC, 0);
      if (found >= 0 && !is_file(found, area)) { /* closed and opened in between */
         close(found);
         found = -1;
      }
   }
   if (folder)
      closedir(folder);
   return found;
}

/* The mapping itself leads to its file, for who has the right to follow it. */
static int follow_mapping(const struct area *area)
{
   char path[96];
   snprintf(path, sizeof(path), "/proc/self/map_files/%" PRIx64 "-%" PRIx64, area->start,
            area->end);
   return open(path, O_RDWR | O_CLOEXEC);
}

agx_status agx_host_memory_find(const void *pointer, uint64_t bytes, bool writes, int *out_fd,
                                uint64_t *out_offset)
{
   struct area area;
   uint64_t at = (uintptr_t)pointer;
   *out_fd = -1;
   *out_offset = 0;
   if (!pointer || bytes == 0 || at > UINT64_MAX - bytes)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "host memory: %" PRIu64 " bytes at %p", bytes, pointer);
   FILE *maps = fopen("/proc/self/maps", "re");
   if (!maps)
      return AGX_FAIL(AGX_UNAVAILABLE,
                      "host memory at %p: /proc/self/maps can't be read; pass the memory file's "
                      "descriptor (AGX_EXTERNAL_MEMFD)",
                      pointer);
   agx_status status = walk(maps, at, at + bytes, writes, &area);
   fclose(maps);
   AGX_TRY(status);
   int fd = find_descriptor(&area);
   if (fd < 0)
      fd = follow_mapping(&area);
   if (fd < 0)
      return AGX_FAIL(AGX_UNAVAILABLE,
                      "host memory at %p: the process has no descriptor of its memory file any "
                      "more; keep one open until it is imported",
                      pointer);
   *out_fd = fd;
   *out_offset = area.offset + (at - area.start);
   return AGX_OK;
}
