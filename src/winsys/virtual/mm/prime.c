/* SPDX-License-Identifier: MIT
 *
 * PRIME: a buffer's descriptor is the file that is its memory (backing.h). So it can be
 * mapped, measured and passed on by the host's own means, in any process; and a file
 * that another virtual node made is taken in as a buffer of this one.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/mm/backing.h"
#include "winsys/virtual/mm/gem.h"
#include "winsys/virtual/store/object.h"
#include "winsys/virtual/store/user.h"
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/sync/watch.h"

/* A copy of the descriptor that this process has: one open file for all, as of a dma-buf. */
static int export(struct agx_virtual_node *node, uint32_t ref)
{
   const struct agxv_gem *gem = AGXV_AT(node, agxv_gem, ref);
   if (gem->vm)
      return -EINVAL;
   int own = gem->backing ? agxv_backing_fd(node, gem->backing) : -1;
   if (own < 0)
      return -EMFILE;
   int fd = fcntl(own, F_DUPFD_CLOEXEC, 0);
   return fd < 0 ? -errno : fd;
}

AGXV_HANDLER(prime_handle_to_fd)
{
   struct agx_uapi_prime_handle *args = argument;
   if (args->flags & ~(uint32_t)(AGX_UAPI_PRIME_RDWR | AGX_UAPI_PRIME_CLOEXEC))
      return -EINVAL;
   agxv_lock(file->node);
   uint32_t ref = agxv_object_find(file, AGXV_GEM, args->handle);
   int fd = ref ? export(file->node, ref) : -ENOENT;
   agxv_unlock(file->node);
   if (fd < 0)
      return fd;
   if (!(args->flags & AGX_UAPI_PRIME_CLOEXEC))
      fcntl(fd, F_SETFD, 0);
   args->fd = fd;
   return 0;
}

/* The file's handle for a buffer, a new one if need be; 0 when there is no room. */
static uint32_t handle_for(struct agx_virtual_file *file, uint32_t gem)
{
   struct agxv_table *table = agxv_table_of(file, AGXV_GEM);
   const uint32_t *slots = agxv_at(file->node, table->slots);
   for (uint32_t i = 0; i < table->capacity; i++)
      if (slots[i] == gem)
         return i + 1;
   uint32_t handle = agxv_table_add(file->node, table, gem);
   if (handle)
      AGXV_AT(file->node, agxv_gem, gem)->refs++;
   return handle;
}

/* A file that no buffer of this node has for memory: another node's, or one whose buffer
 * went. Counted; 0 when there is no room. */
static uint32_t take_in(struct agx_virtual_node *node, int fd, uint64_t bytes)
{
   uint32_t ref = agxv_gem_new(node, bytes >> AGXV_PAGE_LOG2);
   if (!ref)
      return 0;
   if (agxv_backing_adopt(node, ref, fd) == 0)
      return ref;
   agxv_gem_put(node, ref);
   return 0;
}

static uint32_t import(struct agx_virtual_file *file, int fd, uint64_t offset, uint64_t bytes)
{
   struct agx_virtual_node *node = file->node;
   struct stat info;
   if (fstat(fd, &info))
      return 0;
   uint32_t gem = agxv_backing_find(node, info.st_dev, info.st_ino, offset, bytes);
   if (gem) {
      AGXV_AT(node, agxv_gem, gem)->refs++;
      agxv_backing_hold(node, AGXV_AT(node, agxv_gem, gem)->backing, fd);
   } else {
      gem = take_in(node, fd, bytes);
   }
   uint32_t handle = gem ? handle_for(file, gem) : 0;
   if (gem)
      agxv_gem_put(node, gem);
   return handle;
}

AGXV_HANDLER(prime_fd_to_handle)
{
   struct agx_uapi_prime_handle *args = argument;
   if (fcntl(args->fd, F_GETFD) < 0)
      return -EBADF;
   uint64_t offset, bytes = agxv_buffer_bytes(args->fd, &offset);
   if (!bytes || !agx_is_aligned(bytes, AGX_UAPI_PAGE_BYTES))
      return -EINVAL;
   agxv_lock(file->node);
   uint32_t handle = import(file, args->fd, offset, bytes);
   agxv_unlock(file->node);
   if (!handle)
      return -ENOMEM;
   args->handle = handle;
   return 0;
}

void *agx_virtual_mmap_fd(int fd, void *address, size_t length, int prot, int flags,
                          uint64_t offset, int *out_errno)
{
   *out_errno = 0;
   uint64_t first, bytes = agxv_buffer_bytes(fd, &first);
   if (!bytes)
      return NULL;
   *out_errno = EINVAL;
   uint64_t host_page = (uint64_t)sysconf(_SC_PAGESIZE);
   if ((flags & MAP_TYPE) == MAP_PRIVATE || length == 0 || length > bytes ||
       !agx_range_fits(offset, agx_align_up(length, host_page), bytes))
      return NULL;
   void *mapped = mmap(address, length, prot, flags, fd, (off_t)(first + offset));
   *out_errno = mapped == MAP_FAILED ? errno : 0;
   return mapped == MAP_FAILED ? NULL : mapped;
}

bool agx_virtual_is_buffer(int fd)
{
   return agx_virtual_buffer_bytes(fd) != 0;
}

uint64_t agx_virtual_buffer_bytes(int fd)
{
   uint64_t offset;
   return agxv_buffer_bytes(fd, &offset);
}

/* Requests on the descriptors of buffers: those of <linux/dma-buf.h>, with the fences
 * that programs put there. The driver itself neither adds fences nor waits for them:
 * synchronisation is explicit in this interface. */

#ifndef DMA_BUF_IOCTL_EXPORT_SYNC_FILE /* headers before 6.0 */
struct dma_buf_export_sync_file {
   __u32 flags;
   __s32 fd;
};
struct dma_buf_import_sync_file {
   __u32 flags;
   __s32 fd;
};
#define DMA_BUF_IOCTL_EXPORT_SYNC_FILE _IOWR(DMA_BUF_BASE, 2, struct dma_buf_export_sync_file)
#define DMA_BUF_IOCTL_IMPORT_SYNC_FILE _IOW(DMA_BUF_BASE, 3, struct dma_buf_import_sync_file)
#endif

enum {
   WRITERS,
   READERS
};

/* What stands for the file in this node; NULL where it is no buffer of it (any more). */
static struct agxv_backing *find(struct agx_virtual_node *node, uint64_t device, uint64_t inode,
                                 uint64_t offset, uint64_t bytes)
{
   uint32_t gem = agxv_backing_find(node, device, inode, offset, bytes);
   return gem ? AGXV_AT(node, agxv_backing, AGXV_AT(node, agxv_gem, gem)->backing) : NULL;
}

static bool is_access(uint64_t flags)
{
   return flags && !(flags & ~(uint64_t)DMA_BUF_SYNC_RW);
}

/* Caches are coherent: there is nothing to do but to check. */
static int sync_caches(uint64_t argument)
{
   struct dma_buf_sync args;
   if (agxv_copy_in(&args, argument, sizeof(args)))
      return -EFAULT;
   return is_access(args.flags & ~(uint64_t)DMA_BUF_SYNC_END) ? 0 : -EINVAL;
}

/* At most 31 characters, as the kernel takes them. */
static int set_name(struct agxv_backing *backing, uint64_t argument)
{
   char name[AGXV_BUFFER_NAME_BYTES] = {0};
   for (unsigned i = 0; i == 0 || name[i - 1]; i++) {
      if (i == sizeof(name))
         return -EINVAL;
      if (agxv_copy_in(&name[i], argument + i, 1))
         return -EFAULT;
   }
   if (backing)
      memcpy(backing->name, name, sizeof(name));
   return 0;
}

/* A reader waits for writers only, a writer for all. Counted, or 0 when memory is full. */
static uint32_t fences_for(struct agx_virtual_node *node, const struct agxv_backing *backing,
                           bool writes)
{
   uint32_t writers = backing ? backing->fences[WRITERS] : 0;
   uint32_t readers = backing && writes ? backing->fences[READERS] : 0;
   if (!writers && !readers)
      return agxv_fence_create_done(node);
   if (writers && readers)
      return agxv_fence_merge(node, writers, readers);
   agxv_fence_get(node, writers | readers);
   return writers | readers;
}

static int export_fences(struct agx_virtual_node *node, const struct agxv_backing *backing,
                         uint64_t argument)
{
   struct dma_buf_export_sync_file args;
   if (agxv_copy_in(&args, argument, sizeof(args)))
      return -EFAULT;
   if (!is_access(args.flags))
      return -EINVAL;
   uint32_t fence = fences_for(node, backing, args.flags & DMA_BUF_SYNC_WRITE);
   if (!fence)
      return -ENOMEM;
   args.fd = agxv_record_create(node, AGXV_RECORD_SYNC_FILE, fence);
   return args.fd < 0 ? args.fd : agxv_record_hand_out(args.fd, argument, &args, sizeof(args));
}

static int import_fence(struct agx_virtual_node *node, struct agxv_backing *backing,
                        uint64_t argument)
{
   struct dma_buf_import_sync_file args;
   if (agxv_copy_in(&args, argument, sizeof(args)))
      return -EFAULT;
   if (!is_access(args.flags))
      return -EINVAL;
   const struct agxv_record *record = agxv_record_find(node, args.fd);
   if (!record || record->kind != AGXV_RECORD_SYNC_FILE)
      return -EINVAL;
   uint32_t fence = record->target;
   if (agxv_fence_done(node, fence))
      return 0;
   if (!backing) /* nothing would hold it: its buffer was closed everywhere */
      return -EOPNOTSUPP;
   uint32_t *held = &backing->fences[args.flags & DMA_BUF_SYNC_WRITE ? WRITERS : READERS];
   uint32_t old = *held;
   if (old && !agxv_fence_done(node, old)) {
      fence = agxv_fence_merge(node, old, fence);
      if (!fence)
         return -ENOMEM;
   } else {
      agxv_fence_get(node, fence);
   }
   *held = fence;
   agxv_fence_put(node, old);
   return 0;
}

int agxv_dmabuf_ioctl(struct agx_virtual_node *node, int fd, unsigned long request,
                      uint64_t argument)
{
   struct stat info;
   if (fstat(fd, &info))
      return -EBADF;
   uint64_t offset, bytes = agxv_buffer_bytes(fd, &offset);
   struct agxv_backing *backing = find(node, info.st_dev, info.st_ino, offset, bytes);
   switch (request) {
   case DMA_BUF_IOCTL_SYNC:
      return sync_caches(argument);
   case DMA_BUF_SET_NAME_A:
   case DMA_BUF_SET_NAME_B:
      return set_name(backing, argument);
   case DMA_BUF_IOCTL_EXPORT_SYNC_FILE:
      return export_fences(node, backing, argument);
   case DMA_BUF_IOCTL_IMPORT_SYNC_FILE:
      return import_fence(node, backing, argument);
   default:
      return -ENOTTY;
   }
}

void agx_virtual_buffer_name(struct agx_virtual_node *node, uint64_t device, uint64_t inode,
                             char *name, size_t capacity)
{
   agxv_lock(node);
   const struct agxv_backing *backing = find(node, device, inode, 0, 0);
   snprintf(name, capacity, "/dmabuf:%s", backing ? backing->name : "");
   agxv_unlock(node);
}
