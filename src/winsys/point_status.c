/* SPDX-License-Identifier: MIT
 *
 * Whether a reached point's fence failed: the point is exported as a sync file and
 * its fences are asked one by one, because a timeline's own fence carries no error.
 * Once a point is reached, a kernel forgets its fence with the error as soon as the
 * timeline has a later point, reached or not (measured on 6.12): who must know gives
 * each submission a timeline whose last point it is.
 */
#include <errno.h>
#include <linux/sync_file.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/syncobj.h"

#define MAX_FENCES 32

/* Puts the sync file's state in *out_state: 1 signalled, 0 pending, negative: the
 * errno of a fence in it. Returns a negative errno when it can't be asked. */
static int read_state(struct agx_kmd *kmd, int fd, int *out_state)
{
   struct sync_fence_info fences[MAX_FENCES] = {0};
   struct sync_file_info info = {.num_fences = MAX_FENCES, .sync_fence_info = (uintptr_t)fences};
   int error = kmd->ops->fd_ioctl(kmd, fd, SYNC_IOC_FILE_INFO, &info);
   if (error == -EINVAL) { /* more fences than that: the sum of them has to do */
      info = (struct sync_file_info){0};
      error = kmd->ops->fd_ioctl(kmd, fd, SYNC_IOC_FILE_INFO, &info);
   }
   if (error)
      return error;
   *out_state = info.status;
   for (uint32_t i = 0; info.sync_fence_info && i < AGX_MIN(info.num_fences, MAX_FENCES); i++)
      if (fences[i].status < 0)
         *out_state = fences[i].status;
   return 0;
}

/* What the errors of fences mean. Source: docs/hw/kernel.md 5. */
static const struct {
   int error;
   agx_status code;
   const char *text;
} fence_errors[] = {
   {ETIMEDOUT, AGX_DEADLINE_EXCEEDED, "the GPU hung"},
   {EIO, AGX_DATA_LOSS, "GPU fault"},
   {ECANCELED, AGX_ABORTED, "stopped by the fault of another submission, or its process has ended"},
   {ENODEV, AGX_UNAVAILABLE, "device lost"},
   {ENODATA, AGX_UNKNOWN, "failed for a reason that the kernel doesn't tell"},
};

static agx_status fail_fence(const struct agxw_point *point, int error)
{
   char detail[320];
   size_t length = agxw_device_fault_text(point->timeline->device, detail, sizeof(detail));
   const char *separator = length ? ": " : "";
   for (size_t i = 0; i < AGX_COUNT(fence_errors); i++)
      if (fence_errors[i].error == -error)
         return AGX_FAIL(fence_errors[i].code, "timeline %u, point %llu: %s%s%s",
                         point->timeline->handle, (unsigned long long)point->value,
                         fence_errors[i].text, separator, detail);
   return AGX_FAIL(AGX_UNKNOWN, "timeline %u, point %llu: fence error %d%s%s",
                   point->timeline->handle, (unsigned long long)point->value, -error, separator,
                   detail);
}

agx_status agxw_point_status(const struct agxw_point *point)
{
   if (point->value == 0)
      return AGX_OK;
   int fd = -1, state = 0;
   int error = agxw_syncobj_to_sync_file(point->timeline->device, point->timeline->handle,
                                         point->value, &fd);
   if (error)
      return agx_status_fail_errno(error, "timeline %u, point %llu: export as a sync file",
                                   point->timeline->handle, (unsigned long long)point->value);
   error = read_state(point->timeline->device->kmd, fd, &state);
   close(fd);
   if (error)
      return agx_status_fail_errno(error, "timeline %u, point %llu: SYNC_IOC_FILE_INFO",
                                   point->timeline->handle, (unsigned long long)point->value);
   if (state == 0)
      return AGX_FAIL(AGX_FAILED_PRECONDITION, "timeline %u, point %llu is not reached yet",
                      point->timeline->handle, (unsigned long long)point->value);
   return state < 0 ? fail_fence(point, state) : agxw_split_status(point);
}
