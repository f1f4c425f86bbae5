/* SPDX-License-Identifier: MIT
 *
 * Memory that the GPU's firmware writes the times of commands to. It has to be a buffer that
 * could be shared, made known to the kernel. Source: docs/hw/kernel.md 3 and 5.
 */
#include "base/util.h"
#include "winsys/device.h"

struct agxw_stamps {
   struct agxw_device *device;
   struct agxw_bo *bo;
   uint32_t handle; /* of the binding */
   uint32_t count;
   _Atomic uint64_t *times;
};

static agx_status bind(struct agxw_stamps *stamps)
{
   struct agx_uapi_gem_bind_object bind = {
      .op = AGX_UAPI_BIND_OBJECT_OP_BIND,
      .flags = AGX_UAPI_BIND_OBJECT_USAGE_TIMESTAMPS,
      .handle = stamps->bo->handle,
      .range = stamps->bo->size,
   };
   int error = agxw_ioctl(stamps->device, AGX_IOCTL_ASAHI_GEM_BIND_OBJECT, &bind);
   if (error)
      return agx_status_fail_errno(error, "timestamps: GEM_BIND_OBJECT of %llu bytes",
                                   (unsigned long long)stamps->bo->size);
   stamps->handle = bind.object_handle;
   return AGX_OK;
}

static agx_status fill(struct agxw_stamps *stamps)
{
   void *memory = NULL;
   AGX_TRY(agxw_bo_create(stamps->device, stamps->count * sizeof(uint64_t), 0,
                          AGXW_BO_SHAREABLE | AGXW_BO_CACHED, "timestamps", &stamps->bo));
   AGX_TRY(agxw_bo_map(stamps->bo, &memory));
   stamps->times = memory;
   return bind(stamps);
}

agx_status agxw_stamps_create(struct agxw_device *device, uint32_t count,
                              struct agxw_stamps **out_stamps)
{
   *out_stamps = NULL;
   struct agxw_stamps *stamps = agx_host_zalloc(device->alloc, sizeof(*stamps));
   if (!stamps)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "timestamps: no memory for the object");
   stamps->device = device;
   stamps->count = count;
   agx_status status = fill(stamps);
   if (status != AGX_OK)
      agxw_stamps_destroy(stamps);
   else
      *out_stamps = stamps;
   return status;
}

void agxw_stamps_destroy(struct agxw_stamps *stamps)
{
   if (!stamps)
      return;
   struct agxw_device *device = stamps->device;
   if (stamps->handle) {
      struct agx_uapi_gem_bind_object unbind = {.op = AGX_UAPI_BIND_OBJECT_OP_UNBIND,
                                                .object_handle = stamps->handle};
      agxw_ioctl(device, AGX_IOCTL_ASAHI_GEM_BIND_OBJECT, &unbind);
   }
   agxw_bo_destroy(stamps->bo);
   agx_host_free(device->alloc, stamps, sizeof(*stamps));
}

_Atomic uint64_t *agxw_stamps_times(struct agxw_stamps *stamps)
{
   return stamps->times;
}

void agxw_stamps_pack(const struct agxw_compute *command, struct agx_uapi_timestamps *out_stamps)
{
   const struct agxw_stamps *stamps = command->stamps;
   *out_stamps = (struct agx_uapi_timestamps){0};
   if (!stamps)
      return;
   out_stamps->start.handle = out_stamps->end.handle = stamps->handle;
   out_stamps->start.offset = command->start_stamp * (uint32_t)sizeof(uint64_t);
   out_stamps->end.offset = command->end_stamp * (uint32_t)sizeof(uint64_t);
}

agx_status agxw_device_time(struct agxw_device *device, uint64_t *out_time)
{
   struct agx_uapi_get_time get = {0};
   *out_time = 0;
   int error = agxw_ioctl(device, AGX_IOCTL_ASAHI_GET_TIME, &get);
   if (error)
      return agx_status_fail_errno(error, "%s: GET_TIME", device->kmd->name);
   *out_time = get.gpu_timestamp;
   return AGX_OK;
}
