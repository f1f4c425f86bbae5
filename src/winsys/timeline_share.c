/* SPDX-License-Identifier: MIT
 *
 * Timelines and their points beyond this device: files of syncobjs, sync files and
 * eventfds, and points that follow other points. A point of value 0 is reached from
 * the start; to the kernel 0 would mean "the latest fence", so a syncobj that was made
 * signalled stands in for it.
 */
#include <errno.h>
#include <linux/sync_file.h>

#include "base/util.h"
#include "winsys/syncobj.h"

agx_status agxw_timeline_export(struct agxw_timeline *timeline, int *out_fd)
{
   int error = agxw_syncobj_to_fd(timeline->device, timeline->handle, out_fd);
   if (error)
      return agx_status_fail_errno(error, "timeline %u: export as a file", timeline->handle);
   return AGX_OK;
}

agx_status agxw_timeline_import(struct agxw_device *device, int fd,
                                struct agxw_timeline **out_timeline)
{
   *out_timeline = NULL;
   struct agxw_timeline *timeline = agx_host_zalloc(device->alloc, sizeof(*timeline));
   if (!timeline)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "timeline: no memory for the object");
   int error = agxw_syncobj_from_fd(device, fd, &timeline->handle);
   if (error) {
      agx_host_free(device->alloc, timeline, sizeof(*timeline));
      if (error == -EINVAL)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "timeline: file %d is not a syncobj's", fd);
      return agx_status_fail_errno(error, "timeline: import of file %d", fd);
   }
   timeline->device = device;
   *out_timeline = timeline;
   return AGX_OK;
}

/* The syncobj that is asked about a point; value 0: one that is signalled. */
static agx_status begin_point(const struct agxw_point *point, uint32_t *out_handle)
{
   *out_handle = point->timeline->handle;
   if (point->value)
      return AGX_OK;
   int error =
      agxw_syncobj_create(point->timeline->device, AGX_UAPI_SYNCOBJ_CREATE_SIGNALED, out_handle);
   if (error)
      return agx_status_fail_errno(error, "timeline %u, point 0: SYNCOBJ_CREATE",
                                   point->timeline->handle);
   return AGX_OK;
}

static void end_point(const struct agxw_point *point, uint32_t handle)
{
   if (!point->value)
      agxw_syncobj_destroy(point->timeline->device, handle);
}

static agx_status fail_without_fence(const struct agxw_point *point, const char *verb)
{
   return AGX_FAIL(
      AGX_FAILED_PRECONDITION,
      "timeline %u, point %llu can't be %s: nothing that reaches it has been submitted",
      point->timeline->handle, (unsigned long long)point->value, verb);
}

agx_status agxw_point_export_sync_file(const struct agxw_point *point, int *out_fd)
{
   uint32_t handle;
   *out_fd = -1;
   AGX_TRY(begin_point(point, &handle));
   int error = agxw_syncobj_to_sync_file(point->timeline->device, handle, point->value, out_fd);
   end_point(point, handle);
   if (error == -EINVAL)
      return fail_without_fence(point, "exported");
   if (error)
      return agx_status_fail_errno(error, "timeline %u, point %llu: export as a sync file",
                                   point->timeline->handle, (unsigned long long)point->value);
   return AGX_OK;
}

static agx_status refuse_zero(const struct agxw_point *point, const char *what)
{
   if (point->value)
      return AGX_OK;
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "timeline %u: %s as value 0", point->timeline->handle,
                   what);
}

agx_status agxw_point_import_sync_file(const struct agxw_point *point, int fd)
{
   AGX_TRY(refuse_zero(point, "a sync file"));
   int error = agxw_syncobj_from_sync_file(point->timeline->device, point->timeline->handle,
                                           point->value, fd);
   if (error == -EINVAL)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "timeline %u, point %llu: file %d is not a sync file",
                      point->timeline->handle, (unsigned long long)point->value, fd);
   if (error)
      return agx_status_fail_errno(error, "timeline %u, point %llu: import of sync file %d",
                                   point->timeline->handle, (unsigned long long)point->value, fd);
   return AGX_OK;
}

/* Source: rows F4x; Linux, drivers/dma-buf/sync_file.c: the fences become a
 * dma_fence_array, which takes the first error of its fences over. */
agx_status agxw_sync_file_merge(struct agxw_device *device, int a, int b, int *out_fd)
{
   struct sync_merge_data merge = {.name = "agxhal", .fd2 = b, .fence = -1};
   *out_fd = -1;
   int error = device->kmd->ops->fd_ioctl(device->kmd, a, SYNC_IOC_MERGE, &merge);
   if (error)
      return agx_status_fail_errno(error, "sync files %d and %d: SYNC_IOC_MERGE", a, b);
   *out_fd = merge.fence;
   return AGX_OK;
}

agx_status agxw_point_eventfd(const struct agxw_point *point, int fd, bool when_submitted)
{
   uint32_t handle;
   AGX_TRY(begin_point(point, &handle));
   int error = agxw_syncobj_eventfd(point->timeline->device, handle, point->value, fd,
                                    when_submitted ? AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE : 0);
   end_point(point, handle);
   if (error == -EINVAL || error == -EBADF)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "timeline %u, point %llu: file %d is not an eventfd",
                      point->timeline->handle, (unsigned long long)point->value, fd);
   if (error)
      return agx_status_fail_errno(error, "timeline %u, point %llu: SYNCOBJ_EVENTFD of file %d",
                                   point->timeline->handle, (unsigned long long)point->value, fd);
   return AGX_OK;
}

agx_status agxw_point_transfer(const struct agxw_point *from, const struct agxw_point *to)
{
   AGX_TRY(refuse_zero(to, "another point"));
   if (!from->value)
      return agxw_timeline_signal(to->timeline, to->value);
   int error = agxw_syncobj_transfer(from->timeline->device, from->timeline->handle, from->value,
                                     to->timeline->handle, to->value);
   if (error == -EINVAL)
      return fail_without_fence(from, "followed");
   if (error)
      return agx_status_fail_errno(
         error, "timeline %u, point %llu: SYNCOBJ_TRANSFER to timeline %u, point %llu",
         from->timeline->handle, (unsigned long long)from->value, to->timeline->handle,
         (unsigned long long)to->value);
   return AGX_OK;
}
