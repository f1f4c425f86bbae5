/* SPDX-License-Identifier: MIT
 *
 * Timelines: DRM syncobjs used with increasing points only. The kernel's wait does
 * not tell whether a fence failed; that stands in the sync file of the point.
 */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "winsys/syncobj.h"

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
