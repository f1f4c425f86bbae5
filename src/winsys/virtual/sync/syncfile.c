/* SPDX-License-Identifier: MIT
 *
 * Requests on the descriptors of sync files, which node/fd_ioctl.c passes on. Layouts and codes are
 * those of <linux/sync_file.h>.
 */
#include "winsys/virtual/sync/syncfile.h"

#include <errno.h>
#include <linux/sync_file.h>
#include <stdio.h>

#include "base/util.h"
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/store/node.h"
#include "winsys/virtual/store/user.h"
#include "winsys/virtual/sync/watch.h"

#define MAX_PARTS 256u /* fences that one info lists */

/* 0 pending, 1 done, or the error. */
static int32_t status_of(const struct agxv_fence *fence)
{
   if (!fence->done)
      return 0;
   return fence->error ? fence->error : 1;
}

static struct sync_fence_info describe(const struct agxv_fence *fence)
{
   struct sync_fence_info one = {.status = status_of(fence), .timestamp_ns = fence->done_ns};
   snprintf(one.obj_name, sizeof(one.obj_name), "%s", fence->is_point ? "point" : "submission");
   snprintf(one.driver_name, sizeof(one.driver_name), "asahi");
   return one;
}

/* One entry for each fence that it is made of. */
static int file_info(struct agx_virtual_node *node, uint32_t fence, uint64_t argument)
{
   struct sync_file_info info;
   uint32_t parts[MAX_PARTS];
   if (agxv_copy_in(&info, argument, sizeof(info)))
      return -EFAULT;
   if (info.flags || info.pad)
      return -EINVAL;
   uint32_t count = agxv_fence_parts(node, fence, parts, MAX_PARTS);
   info.status = status_of(AGXV_AT(node, agxv_fence, fence));
   if (info.num_fences && info.num_fences < count)
      return -EINVAL;
   for (uint32_t i = 0; info.num_fences && i < count; i++) {
      struct sync_fence_info one = describe(AGXV_AT(node, agxv_fence, parts[i]));
      if (agxv_copy_out(info.sync_fence_info + i * sizeof(one), &one, sizeof(one)))
         return -EFAULT;
   }
   snprintf(info.name, sizeof(info.name), "asahi-virtual");
   info.num_fences = count;
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
   uint32_t both = agxv_fence_merge(node, fence, other->target);
   if (!both)
      return -ENOMEM;
   data.fence = agxv_record_create(node, AGXV_RECORD_SYNC_FILE, both);
   return data.fence < 0 ? data.fence
                         : agxv_record_hand_out(data.fence, argument, &data, sizeof(data));
}

int agxv_sync_file_ioctl(struct agx_virtual_node *node, uint32_t fence, unsigned long request,
                         uint64_t argument)
{
   if (request == SYNC_IOC_FILE_INFO)
      return file_info(node, fence, argument);
   return request == SYNC_IOC_MERGE ? merge(node, fence, argument) : -ENOTTY;
}
