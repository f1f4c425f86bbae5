/* SPDX-License-Identifier: MIT
 *
 * A queue: one of the kernel's, fixed to the device's window for code. It holds no
 * state of ours, so any thread may submit to it at any time.
 */
#include "winsys/device.h"

agx_status agxw_queue_create(struct agxw_device *device, uint32_t priority,
                             struct agxw_queue **out_queue)
{
   *out_queue = NULL;
   struct agxw_queue *queue = agx_host_zalloc(device->alloc, sizeof(*queue));
   if (!queue)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "queue: no memory for the object");
   struct agx_uapi_queue_create create = {
      .vm_id = device->vm_id, .priority = priority, .usc_exec_base = device->address_map.usc_start};
   int error = agxw_ioctl(device, AGX_IOCTL_ASAHI_QUEUE_CREATE, &create);
   if (error) {
      agx_host_free(device->alloc, queue, sizeof(*queue));
      return agx_status_fail_errno(error, "queue: QUEUE_CREATE with priority %u", priority);
   }
   queue->device = device;
   queue->id = create.queue_id;
   *out_queue = queue;
   return AGX_OK;
}

void agxw_queue_destroy(struct agxw_queue *queue)
{
   if (!queue)
      return;
   struct agx_uapi_queue_destroy destroy = {.queue_id = queue->id};
   agxw_ioctl(queue->device, AGX_IOCTL_ASAHI_QUEUE_DESTROY, &destroy);
   agx_host_free(queue->device->alloc, queue, sizeof(*queue));
}
