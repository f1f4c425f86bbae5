/* SPDX-License-Identifier: MIT
 *
 * Timelines: DRM syncobjs used with increasing points only. The kernel's wait does
 * not tell whether a fence failed; that stands in the sync file of the point.
 */
#include <errno.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/device.h"

agx_status agxw_timeline_create(struct agxw_device *device, uint64_t initial,
                                struct agxw_timeline **out_timeline)
{
   *out_timeline = NULL;
   struct agxw_timeline *timeline = agx_host_zalloc(device->alloc, sizeof(*timeline));
   if (!timeline)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "timeline: no memory for the object");
   struct agx_uapi_syncobj_create create = {0};
   int error = agxw_ioctl(device, AGX_IOCTL_SYNCOBJ_CREATE, &create);
   if (error) {
      agx_host_free(device->alloc, timeline, sizeof(*timeline));
      return agx_status_fail_errno(error, "timeline: SYNCOBJ_CREATE");
   }
   timeline->device = device;
   timeline->handle = create.handle;
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
   struct agx_uapi_syncobj_destroy destroy = {.handle = timeline->handle};
   agxw_ioctl(timeline->device, AGX_IOCTL_SYNCOBJ_DESTROY, &destroy);
   agx_host_free(timeline->device->alloc, timeline, sizeof(*timeline));
}

agx_status agxw_timeline_query(struct agxw_timeline *timeline, uint64_t *out_value)
{
   *out_value = 0;
   uint64_t value = 0;
   struct agx_uapi_syncobj_timeline_array query = {
      .handles = (uintptr_t)&timeline->handle, .points = (uintptr_t)&value, .count_handles = 1};
   int error = agxw_ioctl(timeline->device, AGX_IOCTL_SYNCOBJ_QUERY, &query);
   if (error)
      return agx_status_fail_errno(error, "timeline %u: SYNCOBJ_QUERY", timeline->handle);
   *out_value = value;
   return AGX_OK;
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

/* One ioctl over at most AGXW_MAX_SYNCS points. A point of value 0 is reached at
 * once; to the kernel 0 would mean "the latest fence". */
static agx_status wait_some(struct agxw_device *device, const struct agxw_point *points,
                            uint32_t count, bool any, int64_t deadline_ns)
{
   uint32_t handles[AGXW_MAX_SYNCS];
   uint64_t values[AGXW_MAX_SYNCS];
   uint32_t used = 0;
   for (uint32_t i = 0; i < count; i++) {
      if (points[i].value == 0 && any)
         return AGX_OK;
      if (points[i].value == 0)
         continue;
      handles[used] = points[i].timeline->handle;
      values[used++] = points[i].value;
   }
   if (used == 0)
      return AGX_OK;
   struct agx_uapi_syncobj_timeline_wait wait = {
      .handles = (uintptr_t)handles,
      .points = (uintptr_t)values,
      .timeout_nsec = AGX_MAX(deadline_ns, 0),
      .count_handles = used,
      .flags = AGX_UAPI_SYNCOBJ_WAIT_FOR_SUBMIT | (any ? 0 : AGX_UAPI_SYNCOBJ_WAIT_ALL),
   };
   int error = agxw_ioctl(device, AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
   if (error == -ETIME)
      return AGX_FAIL(AGX_DEADLINE_EXCEEDED, "wait: %s of %u points reached in time",
                      any ? "none" : "not all", used);
   if (error)
      return agx_status_fail_errno(error, "wait: SYNCOBJ_TIMELINE_WAIT on %u points", used);
   return AGX_OK;
}

agx_status agxw_wait(struct agxw_device *device, const struct agxw_point *points, uint32_t count,
                     bool any, int64_t deadline_ns)
{
   if (any && count > AGXW_MAX_SYNCS)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "wait: any of %u points; %u are possible", count,
                      AGXW_MAX_SYNCS);
   for (uint32_t first = 0; first < count; first += AGXW_MAX_SYNCS)
      AGX_TRY(wait_some(device, points + first, AGX_MIN(count - first, AGXW_MAX_SYNCS), any,
                        deadline_ns));
   return AGX_OK;
}
