/* SPDX-License-Identifier: MIT
 *
 * Events: the two halves of a barrier, in command buffers.
 */
#include "agx_iree.h"

struct event {
   iree_hal_resource_t resource;
   iree_allocator_t host_allocator;
   struct agx_event *core;
};

static const iree_hal_event_vtable_t vtable;

iree_status_t agx_iree_event_create(struct agx_iree_device *device, iree_hal_event_t **out_event)
{
   struct event *event = NULL;
   IREE_RETURN_IF_ERROR(
      iree_allocator_malloc(device->host_allocator, sizeof(*event), (void **)&event));
   iree_hal_resource_initialize(&vtable, &event->resource);
   event->host_allocator = device->host_allocator;
   const agx_status status = agx_event_create(device->core, &event->core);
   if (status != AGX_OK) {
      iree_allocator_free(device->host_allocator, event);
      return agx_iree_status(status);
   }
   *out_event = (iree_hal_event_t *)event;
   return iree_ok_status();
}

static void event_destroy(iree_hal_event_t *base)
{
   struct event *event = (struct event *)base;
   agx_release(event->core);
   iree_allocator_free(event->host_allocator, event);
}

struct agx_event *agx_iree_event_core(const iree_hal_event_t *base)
{
   return iree_hal_resource_is(base, &vtable) ? ((const struct event *)base)->core : NULL;
}

static const iree_hal_event_vtable_t vtable = {.destroy = event_destroy};
