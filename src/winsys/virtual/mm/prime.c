/* SPDX-License-Identifier: MIT
 *
 * PRIME: a buffer's descriptor is the file that is its memory (backing.h). So it can be
 * mapped, measured and passed on by the host's own means, in any process; and a file
 * that another virtual node made is taken in as a buffer of this one.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/mm/gem.h"
#include "winsys/virtual/mm/backing.h"
#include "winsys/virtual/mm/handlers.h"
#include "winsys/virtual/store/object.h"

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
