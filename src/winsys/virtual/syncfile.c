/* SPDX-License-Identifier: MIT
 *
 * Requests on descriptors that the node gave out: sync files. Layouts and codes are
 * those of <linux/sync_file.h>.
 */
#include <errno.h>
#include <linux/sync_file.h>
#include <stdio.h>

#include "base/util.h"
#include "winsys/virtual/fence.h"
#include "winsys/virtual/node.h"
#include "winsys/virtual/user.h"
#include "winsys/virtual/watch.h"

/* 0 pending, 1 done, or the error. */
static int32_t status_of(const struct agxv_fence *fence)
{
   if (!fence->done)
      return 0;
   return fence->error ? fence->error : 1;
}

static int file_info(struct agx_virtual_node *node, uint32_t fence_ref, uint64_t argument)
{
   const struct agxv_fence *fence = AGXV_AT(node, agxv_fence, fence_ref);
   struct sync_file_info info;
   if (agxv_copy_in(&info, argument, sizeof(info)))
      return -EFAULT;
   if (info.flags || info.pad)
      return -EINVAL;
   struct sync_fence_info one = {.status = status_of(fence), .timestamp_ns = fence->done_ns};
   snprintf(one.obj_name, sizeof(one.obj_name), "%s", fence->is_point ? "point" : "submission");
   snprintf(one.driver_name, sizeof(one.driver_name), "asahi");
   if (info.num_fences && agxv_copy_out(info.sync_fence_info, &one, sizeof(one)))
      return -EFAULT;
   snprintf(info.name, sizeof(info.name), "asahi-virtual");
   info.status = one.status;
   info.num_fences = 1;
   return agxv_copy_out(argument, &info, sizeof(info));
}

static int merge(struct agx_virtual_node *node, uint32_t fence, uint64_t argument)
{
   struct sync_merge_data data;
   if (agxv_copy_in(&data, argument, sizeof(data)))
      return -EFAULT;
   if (data.flags || data.pad)
      return -EINVAL;
   const struct agxv_record *other = agxv_record_find(node, data.fd2);
   if (!other || other->kind != AGXV_RECORD_SYNC_FILE)
      return -ENOENT;
   const uint32_t parts[] = {fence, other->target};
   uint32_t both = agxv_fence_create(node);
   bool fits = both;
   int32_t error = 0;
   for (unsigned i = 0; fits && i < AGX_COUNT(parts); i++) {
      fits = agxv_fence_depend(node, both, parts[i]);
      if (AGXV_AT(node, agxv_fence, parts[i])->error)
         error = AGXV_AT(node, agxv_fence, parts[i])->error;
   }
   if (!fits) {
      agxv_fence_put(node, both);
      return -ENOMEM;
   }
   agxv_fence_signal(node, both, error);
   data.fence = agxv_record_create(node, AGXV_RECORD_SYNC_FILE, both);
   return data.fence < 0 ? data.fence : agxv_copy_out(argument, &data, sizeof(data));
}

int agx_virtual_fd_ioctl(struct agx_virtual_node *node, int fd, unsigned long request,
                         void *argument)
{
   int error = -ENOTTY;
   agxv_lock(node);
   const struct agxv_record *record = agxv_record_find(node, fd);
   if (record && record->kind == AGXV_RECORD_SYNC_FILE) {
      /* The fence outlives the record while the request is worked on. */
      uint32_t fence = record->target;
      agxv_fence_get(node, fence);
      if (request == SYNC_IOC_FILE_INFO)
         error = file_info(node, fence, (uintptr_t)argument);
      else if (request == SYNC_IOC_MERGE)
         error = merge(node, fence, (uintptr_t)argument);
      agxv_fence_put(node, fence);
   }
   agxv_unlock(node);
   return error;
}
