/* SPDX-License-Identifier: MIT
 *
 * PRIME: a buffer's descriptor is an empty memory file of the buffer's size, whose
 * inode number names the buffer in every process of the node. It is no memory of its
 * own: mapping it works where the preload library sees the call, or through the
 * handle that PRIME_FD_TO_HANDLE gives.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "winsys/virtual/ioctl.h"
#include "winsys/virtual/object.h"
#include "winsys/virtual/watch.h"

/* A new memory file for the buffer, that is kept. */
static int make_file(struct agx_virtual_node *node, uint32_t ref)
{
   struct agxv_gem *gem = AGXV_AT(node, agxv_gem, ref);
   int fd = memfd_create("agx-buffer", MFD_CLOEXEC);
   if (fd < 0)
      return -errno;
   int error = ftruncate(fd, (off_t)(gem->pages << AGXV_PAGE_LOG2)) ? -errno : 0;
   if (!error)
      error = agxv_record_keep(node, fd, AGXV_RECORD_BUFFER, ref);
   if (!error)
      gem->refs++;
   close(fd);
   return error;
}

/* Clients get files opened anew, which the host counts: so it can be seen when the last
 * is closed. */
static int export(struct agx_virtual_node *node, uint32_t ref)
{
   int fd = agxv_record_open(node, AGXV_RECORD_BUFFER, ref);
   if (fd != -ENOENT)
      return fd;
   int error = make_file(node, ref);
   return error ? error : agxv_record_open(node, AGXV_RECORD_BUFFER, ref);
}

AGXV_HANDLER(prime_handle_to_fd)
{
   struct agx_uapi_prime_handle *args = argument;
   if (args->flags & ~(uint32_t)(AGX_UAPI_PRIME_RDWR | AGX_UAPI_PRIME_CLOEXEC))
      return -EINVAL;
   agxv_lock(file->node);
   uint32_t ref = agxv_find(file, AGXV_GEM, args->handle);
   int fd = -ENOENT;
   if (ref)
      fd = AGXV_AT(file->node, agxv_gem, ref)->vm ? -EINVAL : export(file->node, ref);
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

AGXV_HANDLER(prime_fd_to_handle)
{
   struct agx_uapi_prime_handle *args = argument;
   if (fcntl(args->fd, F_GETFD) < 0)
      return -EBADF;
   agxv_lock(file->node);
   const struct agxv_record *record = agxv_record_find(file->node, args->fd);
   bool is_buffer = record && record->kind == AGXV_RECORD_BUFFER;
   uint32_t handle = is_buffer ? handle_for(file, record->target) : 0;
   agxv_unlock(file->node);
   if (!is_buffer)
      return -EINVAL;
   if (!handle)
      return -ENOMEM;
   args->handle = handle;
   return 0;
}
