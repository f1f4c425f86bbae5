/* SPDX-License-Identifier: MIT
 *
 * Timelines, and what they share with other devices and processes: DRM syncobjs used with
 * increasing points only. The kernel's wait does not tell whether a fence failed; that stands in
 * the sync file of the point.
 */
#include <errno.h>
#include <linux/sync_file.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/device_impl.h"

agx_status agxw_timeline_create(struct agxw_device *device, uint64_t initial,
                                struct agxw_timeline **out_timeline)
{
   *out_timeline = NULL;
   struct agxw_timeline *timeline = agx_host_zalloc(device->alloc, sizeof(*timeline));
   if (!timeline)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "timeline: no memory for the object");
   int error = agxw_syncobj_create(device, 0, &timeline->handle);
   if (error) {
      agx_host_free(device->alloc, timeline, sizeof(*timeline));
      return agx_status_fail_errno(error, "timeline: SYNCOBJ_CREATE");
   }
   timeline->device = device;
   agx_status status = initial ? agxw_timeline_signal(timeline, initial) : AGX_OK;
   if (status != AGX_OK)
      agxw_timeline_destroy(timeline);
   else
      *out_timeline = timeline;
   return status;
}

void agxw_timeline_destroy(struct agxw_timeline *timeline)
{
   if (!timeline)
      return;
   agxw_split_forget(timeline);
   agxw_syncobj_destroy(timeline->device, timeline->handle);
   agx_host_free(timeline->device->alloc, timeline, sizeof(*timeline));
}

agx_status agxw_timeline_signal(struct agxw_timeline *timeline, uint64_t value)
{
   if (value == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "timeline %u: signal of value 0", timeline->handle);
   struct agx_uapi_syncobj_timeline_array signal = {
      .handles = (uintptr_t)&timeline->handle, .points = (uintptr_t)&value, .count_handles = 1};
   int error = agxw_ioctl(timeline->device, AGX_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, &signal);
   if (error)
      return agx_status_fail_errno(error, "timeline %u: SYNCOBJ_TIMELINE_SIGNAL of %llu",
                                   timeline->handle, (unsigned long long)value);
   return AGX_OK;
}

/* What the kernel wants of many timelines at once: an array of handles and one of values. */
struct arrays {
   const struct agx_host_alloc *alloc;
   uint32_t *handles;
   uint64_t *values;
   size_t bytes; /* on the heap; 0: in few_* */
   uint32_t few_handles[AGXW_MAX_SYNCS];
   uint64_t few_values[AGXW_MAX_SYNCS];
};

static agx_status begin_arrays(const struct agxw_device *device, struct arrays *arrays,
                               uint32_t count)
{
   arrays->alloc = device->alloc;
   arrays->handles = arrays->few_handles;
   arrays->values = arrays->few_values;
   arrays->bytes = 0;
   if (count <= AGXW_MAX_SYNCS)
      return AGX_OK;
   size_t bytes = (size_t)count * (sizeof(uint64_t) + sizeof(uint32_t));
   arrays->values = agx_host_zalloc(device->alloc, bytes);
   if (!arrays->values)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "timelines: no memory to ask for %u", count);
   arrays->handles = (uint32_t *)(arrays->values + count);
   arrays->bytes = bytes;
   return AGX_OK;
}

static void end_arrays(struct arrays *arrays)
{
   if (arrays->bytes)
      agx_host_free(arrays->alloc, arrays->values, arrays->bytes);
}

agx_status agxw_timelines_query(struct agxw_device *device, struct agxw_timeline *const *timelines,
                                uint32_t count, bool submitted, uint64_t *out_values)
{
   if (count == 0)
      return AGX_OK;
   struct arrays arrays;
   memset(out_values, 0, count * sizeof(*out_values));
   AGX_TRY(begin_arrays(device, &arrays, count));
   for (uint32_t i = 0; i < count; i++)
      arrays.handles[i] = timelines[i]->handle;
   struct agx_uapi_syncobj_timeline_array query = {
      .handles = (uintptr_t)arrays.handles,
      .points = (uintptr_t)arrays.values,
      .count_handles = count,
      .flags = submitted ? AGX_UAPI_SYNCOBJ_QUERY_LAST_SUBMITTED : 0};
   int error = agxw_ioctl(device, AGX_IOCTL_SYNCOBJ_QUERY, &query);
   if (!error)
      memcpy(out_values, arrays.values, count * sizeof(*out_values));
   end_arrays(&arrays);
   if (error)
      return agx_status_fail_errno(error, "timeline %u: SYNCOBJ_QUERY of %u", timelines[0]->handle,
                                   count);
   return AGX_OK;
}

agx_status agxw_timeline_query(struct agxw_timeline *timeline, uint64_t *out_value)
{
   return agxw_timelines_query(timeline->device, &timeline, 1, false, out_value);
}

static agx_status wait_arrays(struct agxw_device *device, const struct arrays *arrays,
                              uint32_t count, bool any, int64_t deadline_ns)
{
   struct agx_uapi_syncobj_timeline_wait wait = {
      .handles = (uintptr_t)arrays->handles,
      .points = (uintptr_t)arrays->values,
      .timeout_nsec = AGX_MAX(deadline_ns, 0),
      .count_handles = count,
      .flags = AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT | (any ? 0 : AGX_UAPI_SYNCOBJ_WAIT_ALL),
   };
   int error = agxw_ioctl(device, AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
   if (error == -ETIME)
      return AGX_FAIL(AGX_DEADLINE_EXCEEDED, "wait: %s of %u points reached in time",
                      any ? "none" : "not all", count);
   if (error)
      return agx_status_fail_errno(error, "wait: SYNCOBJ_TIMELINE_WAIT on %u points", count);
   return AGX_OK;
}

/* A point of value 0 is reached at once; to the kernel 0 would mean "the latest fence". */
agx_status agxw_wait(struct agxw_device *device, const struct agxw_point *points, uint32_t count,
                     bool any, int64_t deadline_ns)
{
   uint32_t used = 0;
   for (uint32_t i = 0; i < count; i++)
      used += points[i].value != 0;
   if (used == 0 || (any && used < count))
      return AGX_OK;
   struct arrays arrays;
   AGX_TRY(begin_arrays(device, &arrays, used));
   for (uint32_t i = 0, at = 0; i < count; i++) {
      if (points[i].value == 0)
         continue;
      arrays.handles[at] = points[i].timeline->handle;
      arrays.values[at++] = points[i].value;
   }
   agx_status status = wait_arrays(device, &arrays, used, any, deadline_ns);
   end_arrays(&arrays);
   return status;
}

/* Timelines and their points beyond this device: files of syncobjs, sync files and
 * eventfds, and points that follow other points. A point of value 0 is reached from
 * the start; to the kernel 0 would mean "the latest fence", so a syncobj that was made
 * signalled stands in for it. */

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

/* Whether a reached point's fence failed: the point is exported as a sync file and
 * its fences are asked one by one, because a timeline's own fence carries no error.
 * Once a point is reached, a kernel forgets its fence with the error as soon as the
 * timeline has a later point, reached or not (measured on 6.12): who must know gives
 * each submission a timeline whose last point it is. */

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
   {ETIMEDOUT, AGX_DATA_LOSS, "GPU hang"},
   {EIO, AGX_DATA_LOSS, "GPU fault"},
   {ECANCELED, AGX_ABORTED, "stopped by the fault of another submission, or its process has ended"},
   {ENODEV, AGX_UNAVAILABLE, "device lost"},
   {ENODATA, AGX_UNKNOWN, "failed for a reason that the kernel doesn't tell"},
};

const char *agxw_fence_error_text(int error)
{
   for (size_t i = 0; i < AGX_COUNT(fence_errors); i++)
      if (fence_errors[i].error == error)
         return fence_errors[i].text;
   return NULL;
}

static agx_status code_of(int error)
{
   for (size_t i = 0; i < AGX_COUNT(fence_errors); i++)
      if (fence_errors[i].error == error)
         return fence_errors[i].code;
   return AGX_UNKNOWN;
}

static agx_status fail_fence(const struct agxw_point *point, int error)
{
   char detail[320], number[32];
   const char *text = agxw_fence_error_text(error);
   size_t length = agxw_device_fault_text(point->timeline->device, detail, sizeof(detail));
   snprintf(number, sizeof(number), "fence error %d", error);
   return AGX_FAIL(code_of(error), "timeline %u, point %llu: %s%s%s", point->timeline->handle,
                   (unsigned long long)point->value, text ? text : number, length ? ": " : "",
                   detail);
}

agx_status agxw_point_status(const struct agxw_point *point)
{
   int error;
   return agxw_point_error(point, &error);
}

agx_status agxw_point_error(const struct agxw_point *point, int *out_error)
{
   *out_error = 0;
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
   if (state > 0)
      return agxw_split_error(point, out_error);
   *out_error = -state;
   return fail_fence(point, -state);
}
