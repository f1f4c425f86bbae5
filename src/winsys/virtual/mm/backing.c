/* SPDX-License-Identifier: MIT
 *
 * The files that hold the pages of shared buffers, for prime.c and gem.c, and /dev/udmabuf, which
 * makes such files. Which files exist stands in a list in the segment, with a count of its
 * changes; which of them this process has mapped, and where, in an array of the node.
 */
#include "winsys/virtual/mm/backing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/mm/memory.h"
#include "winsys/virtual/store/object.h"
#include "winsys/virtual/store/user.h"
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/virtual.h"

#define FILE_NAME "agx-buffer"
#define FILE_LINK "/memfd:" FILE_NAME " (deleted)"
#define SEALS     (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) /* so no access to a mapping faults */
#define HIGH_FD   200 /* ours stay out of the low numbers that programs count on */

static struct agxv_backing *get(const struct agx_virtual_node *node, uint32_t ref)
{
   return AGXV_AT(node, agxv_backing, ref);
}

/* Every change of the list passes here; with what this process did itself it is in step. */
static void count_change(struct agx_virtual_node *node)
{
   if (node->backings_seen == node->shared->backing_changes++)
      node->backings_seen++;
}

static struct agxv_overlay *find_overlay(struct agx_virtual_node *node, uint64_t serial)
{
   for (size_t i = 0; i < node->overlay_count; i++)
      if (node->overlays[i].serial == serial)
         return &node->overlays[i];
   return NULL;
}

static int map_over(struct agx_virtual_node *node, const struct agxv_backing *backing, int fd,
                    uint64_t offset)
{
   void *at = agxv_memory_at(node, backing->first_page);
   size_t size = backing->pages << AGXV_PAGE_LOG2;
   void *mapped = mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
                       (off_t)offset);
   return mapped == MAP_FAILED ? -errno : 0;
}

/* Puts the file in place of the segment's pages; fd is taken over where it returns 0. */
static int add_overlay(struct agx_virtual_node *node, const struct agxv_backing *backing, int fd)
{
   if (node->overlay_count == node->overlay_capacity) {
      size_t capacity = node->overlay_capacity ? node->overlay_capacity * 2 : 32;
      void *grown = realloc(node->overlays, capacity * sizeof(*node->overlays));
      if (!grown)
         return -ENOMEM;
      node->overlays = grown;
      node->overlay_capacity = capacity;
   }
   int error = map_over(node, backing, fd, backing->offset);
   if (!error)
      node->overlays[node->overlay_count++] =
         (struct agxv_overlay){backing->serial, backing->first_page, backing->pages, fd};
   return error;
}

static void remove_overlay(struct agx_virtual_node *node, struct agxv_overlay *overlay)
{
   const struct agxv_backing range = {.first_page = overlay->first_page, .pages = overlay->pages};
   uint64_t offset = AGXV_MEMORY_OFFSET + (overlay->first_page << AGXV_PAGE_LOG2);
   if (map_over(node, &range, node->fd, offset))
      agxv_trace(node, "GPU memory at page %llu stays a shared buffer's",
                 (unsigned long long)overlay->first_page);
   close(overlay->fd);
   *overlay = node->overlays[--node->overlay_count];
}

/* A copy of fd in the high numbers. */
static int copy_high(int fd)
{
   int copy = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
   return copy < 0 ? -errno : copy;
}

int agxv_backing_adopt(struct agx_virtual_node *node, uint32_t gem_ref, int fd)
{
   struct agxv_gem *gem = AGXV_AT(node, agxv_gem, gem_ref);
   struct stat info;
   uint64_t offset = 0, bytes = 0;
   if (fstat(fd, &info))
      return -errno;
   bool is_range = agxv_udmabuf_range(fd, &offset, &bytes);
   int own = copy_high(fd);
   uint32_t ref = own >= 0 ? agxv_alloc(node, sizeof(struct agxv_backing)) : 0;
   if (!ref) {
      if (own >= 0)
         close(own);
      return own < 0 ? own : -ENOMEM;
   }
   struct agxv_backing *backing = get(node, ref);
   *backing = (struct agxv_backing){.gem = gem_ref,
                                    .serial = ++node->shared->backing_serials,
                                    .device = info.st_dev,
                                    .inode = info.st_ino,
                                    .is_range = is_range,
                                    .offset = offset,
                                    .first_page = gem->first_page,
                                    .pages = gem->pages,
                                    .pid = node->pid,
                                    .fd = own};
   int error = add_overlay(node, backing, own);
   if (error) {
      close(own);
      agxv_free(node, ref, sizeof(*backing));
      return error;
   }
   backing->next = node->shared->backings;
   node->shared->backings = ref;
   gem->backing = ref;
   count_change(node);
   return 0;
}

int agxv_backing_make(struct agx_virtual_node *node, uint32_t gem)
{
   if ((uint64_t)sysconf(_SC_PAGESIZE) > AGX_UAPI_PAGE_BYTES)
      return -EOPNOTSUPP; /* a host page may hold two buffers */
   int fd = memfd_create(FILE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
   if (fd < 0)
      return -errno;
   uint64_t size = AGXV_AT(node, agxv_gem, gem)->pages << AGXV_PAGE_LOG2;
   int error = ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, SEALS) ? -errno : 0;
   if (!error)
      error = agxv_backing_adopt(node, gem, fd);
   close(fd);
   return error;
}

static void unlist(struct agx_virtual_node *node, uint32_t ref)
{
   uint32_t *link = &node->shared->backings;
   while (*link && *link != ref)
      link = &get(node, *link)->next;
   if (*link)
      *link = get(node, ref)->next;
}

void agxv_backing_drop(struct agx_virtual_node *node, uint32_t *holder)
{
   uint32_t ref = *holder;
   if (!ref)
      return;
   struct agxv_backing *backing = get(node, ref);
   struct agxv_overlay *overlay = find_overlay(node, backing->serial);
   if (overlay)
      remove_overlay(node, overlay);
   unlist(node, ref);
   count_change(node);
   for (unsigned i = 0; i < AGX_COUNT(backing->fences); i++) {
      uint32_t fence = backing->fences[i];
      backing->fences[i] = 0;
      AGXV_STEP();
      agxv_fence_put(node, fence);
   }
   *holder = 0;
   AGXV_STEP();
   agxv_free(node, ref, sizeof(*backing));
}

uint32_t agxv_backing_find(struct agx_virtual_node *node, uint64_t device, uint64_t inode,
                           uint64_t offset, uint64_t bytes)
{
   for (uint32_t ref = node->shared->backings; ref; ref = get(node, ref)->next) {
      const struct agxv_backing *backing = get(node, ref);
      bool is_range = backing->offset == offset && backing->pages << AGXV_PAGE_LOG2 == bytes;
      if (backing->gem && backing->device == device && backing->inode == inode &&
          (is_range || bytes == 0))
         return backing->gem;
   }
   return 0;
}

/* Opens the file through the process that has it, which must be the user's own. */
static int open_remote(struct agx_virtual_node *node, const struct agxv_backing *backing)
{
   char path[64];
   struct stat info;
   snprintf(path, sizeof(path), "/proc/%d/fd/%d", backing->pid, backing->fd);
   int fd = open(path, O_RDWR | O_CLOEXEC);
   if (fd < 0)
      return -1;
   bool same =
      fstat(fd, &info) == 0 && info.st_dev == backing->device && info.st_ino == backing->inode;
   if (same && backing->is_range)
      agxv_udmabuf_mark(fd, backing->offset, backing->pages << AGXV_PAGE_LOG2);
   int own = same ? copy_high(fd) : -1;
   close(fd);
   if (own >= 0 && add_overlay(node, backing, own)) {
      close(own);
      return -1;
   }
   return own < 0 ? -1 : own;
}

int agxv_backing_fd(struct agx_virtual_node *node, uint32_t ref)
{
   const struct agxv_overlay *overlay = find_overlay(node, get(node, ref)->serial);
   return overlay ? overlay->fd : open_remote(node, get(node, ref));
}

void agxv_backing_hold(struct agx_virtual_node *node, uint32_t ref, int fd)
{
   int own = find_overlay(node, get(node, ref)->serial) ? -1 : copy_high(fd);
   if (own >= 0 && add_overlay(node, get(node, ref), own))
      close(own);
   count_change(node); /* for processes that have the same file open, through fork */
}

static bool is_listed(struct agx_virtual_node *node, uint64_t serial)
{
   for (uint32_t ref = node->shared->backings; ref; ref = get(node, ref)->next)
      if (get(node, ref)->serial == serial)
         return true;
   return false;
}

/* Whether a file that this process has open may use the buffer. */
static bool is_ours(struct agx_virtual_node *node, uint32_t gem)
{
   for (struct agx_virtual_file *file = node->files; file; file = file->next)
      if (agxv_table_has(node, agxv_table_of(file, AGXV_GEM), gem))
         return true;
   return false;
}

void agxv_backing_sync(struct agx_virtual_node *node)
{
   node->backings_seen = node->shared->backing_changes;
   for (size_t i = 0; i < node->overlay_count; i++)
      if (!is_listed(node, node->overlays[i].serial))
         remove_overlay(node, &node->overlays[i--]);
   for (uint32_t ref = node->shared->backings; ref; ref = get(node, ref)->next)
      if (get(node, ref)->gem && is_ours(node, get(node, ref)->gem) &&
          agxv_backing_fd(node, ref) < 0)
         agxv_trace(node, "a shared buffer of process %d can't be opened", get(node, ref)->pid);
}

void agxv_backing_fini(struct agx_virtual_node *node)
{
   for (size_t i = 0; i < node->overlay_count; i++)
      close(node->overlays[i].fd);
   free(node->overlays);
   node->overlays = NULL;
   node->overlay_count = node->overlay_capacity = 0;
}

uint64_t agxv_buffer_bytes(int fd, uint64_t *out_offset)
{
   char path[64], target[sizeof(FILE_LINK) + 1];
   struct stat info;
   uint64_t bytes;
   *out_offset = 0;
   int seals = fcntl(fd, F_GET_SEALS);
   if (seals >= 0 && seals & F_SEAL_SHRINK && agxv_udmabuf_range(fd, out_offset, &bytes))
      return bytes;
   if (seals != SEALS || fstat(fd, &info) || info.st_size <= 0)
      return 0;
   snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
   ssize_t length = readlink(path, target, sizeof(target));
   bool is = length == (ssize_t)strlen(FILE_LINK) && memcmp(target, FILE_LINK, (size_t)length) == 0;
   return is ? (uint64_t)info.st_size : 0;
}

/* What /dev/udmabuf does: a dma-buf of a range of a memory file. Here it is the file opened
 * once more, and its position, which nothing else of this file has a use for, says that it is
 * one and what of the file it shows. So it stands for the same memory in any process and on any
 * node, as the descriptors of buffers do.
 *
 * Source: Linux, drivers/dma-buf/udmabuf.c, for what is refused and with what. */

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* A position: 15 bits of mark, 28 of the first host page, 20 of the count of them. */
#define MARK        0x5dabull
#define MARK_SHIFT  48
#define FIRST_SHIFT 20
#define FIRST_BITS  28
#define COUNT_BITS  20

/* The module's default limit of one buffer. */
#define MAX_BYTES (64ull << 20)

static uint64_t host_page(void)
{
   return (uint64_t)sysconf(_SC_PAGESIZE);
}

bool agxv_udmabuf_range(int fd, uint64_t *out_offset, uint64_t *out_bytes)
{
   off_t position = lseek(fd, 0, SEEK_CUR);
   if (position < 0 || (uint64_t)position >> MARK_SHIFT != MARK)
      return false;
   uint64_t count = (uint64_t)position & ((1ull << COUNT_BITS) - 1);
   uint64_t first = (uint64_t)position >> FIRST_SHIFT & ((1ull << FIRST_BITS) - 1);
   *out_offset = first * host_page();
   *out_bytes = count * host_page();
   return count > 0;
}

void agxv_udmabuf_mark(int fd, uint64_t offset, uint64_t bytes)
{
   uint64_t first = offset / host_page(), count = bytes / host_page();
   lseek(fd, (off_t)(MARK << MARK_SHIFT | first << FIRST_SHIFT | count), SEEK_SET);
}

static int check_file(int fd, uint64_t end)
{
   struct stat info;
   int seals = fcntl(fd, F_GET_SEALS);
   if (seals < 0)
      return -EBADFD;
   if (!(seals & F_SEAL_SHRINK) || seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
      return -EINVAL;
   if (fstat(fd, &info))
      return -errno;
   return end > (uint64_t)info.st_size ? -EINVAL : 0;
}

int agx_virtual_udmabuf(int memory_file, uint64_t offset, uint64_t bytes, bool closes_on_exec)
{
   if (!agx_is_aligned(offset | bytes, host_page()) || bytes == 0 || bytes > MAX_BYTES ||
       offset > UINT64_MAX - bytes || offset / host_page() >> FIRST_BITS)
      return -EINVAL;
   int error = check_file(memory_file, offset + bytes);
   if (error)
      return error;
   char path[64];
   snprintf(path, sizeof(path), "/proc/self/fd/%d", memory_file);
   int fd = open(path, O_RDWR | (closes_on_exec ? O_CLOEXEC : 0));
   if (fd < 0)
      return -errno;
   agxv_udmabuf_mark(fd, offset, bytes);
   return fd;
}

int agx_virtual_udmabuf_ioctl(unsigned long request, void *argument)
{
   struct udmabuf_create args;
   if ((uint32_t)request != (uint32_t)UDMABUF_CREATE)
      return -ENOTTY; /* a list of ranges is none that this driver asks for */
   if (agxv_copy_in(&args, (uintptr_t)argument, sizeof(args)))
      return -EFAULT;
   if (args.flags & ~(uint32_t)UDMABUF_FLAGS_CLOEXEC)
      return -EINVAL;
   return agx_virtual_udmabuf((int)args.memfd, args.offset, args.size,
                              args.flags & UDMABUF_FLAGS_CLOEXEC);
}
