/* SPDX-License-Identifier: MIT
 *
 * Requests on descriptors that the node gave out: finds what one stands for, and passes them on to
 * sync files (sync/) or buffers (mm/).
 */
#include <errno.h>

#include "winsys/virtual/mm/dmabuf.h"
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/sync/syncfile.h"
#include "winsys/virtual/sync/watch.h"

int agx_virtual_fd_ioctl(struct agx_virtual_node *node, int fd, unsigned long request,
                         void *argument)
{
   int error = -ENOTTY;
   bool is_buffer = agx_virtual_is_buffer(fd);
   agxv_lock(node);
   const struct agxv_record *record = is_buffer ? NULL : agxv_record_find(node, fd);
   if (is_buffer) {
      error = agxv_dmabuf_ioctl(node, fd, request, (uintptr_t)argument);
   } else if (record && record->kind == AGXV_RECORD_SYNC_FILE) {
      /* The fence outlives the record while the request is worked on. */
      uint32_t fence = record->target;
      agxv_fence_get(node, fence);
      error = agxv_sync_file_ioctl(node, fence, request, (uintptr_t)argument);
      agxv_fence_put(node, fence);
   }
   agxv_unlock(node);
   return error;
}
