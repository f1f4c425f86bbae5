/* SPDX-License-Identifier: MIT
 *
 * Events are all in the recording: what they order within a command buffer becomes barriers, and
 * what lies in different ones is ordered already, as submissions are.
 */
#include "hal/record/event.h"

#include "base/util.h"

static void event_destroy(struct agx_object *object)
{
   struct agx_event *event = agx_container_of(object, struct agx_event, object);
   struct agx_device *device = event->device;
   agx_host_free(agx_context_of(device)->alloc, event, sizeof(*event));
   agx_release(device);
}

static const struct agx_object_type event_type = {"event", event_destroy};

agx_status agx_event_create(struct agx_device *device, struct agx_event **out_event)
{
   *out_event = NULL;
   AGX_TRY(agx_fork_check(device));
   struct agx_event *event = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*event));
   if (!event)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "event: out of host memory");
   agx_object_init(&event->object, &event_type);
   agx_retain(device);
   event->device = device;
   *out_event = event;
   return AGX_OK;
}
