/* SPDX-License-Identifier: MIT
 *
 * Makes requests on DRM syncobjs by handle; device_impl.h declares them, timeline.c and submit.c
 * call them.
 */
#include "winsys/device_impl.h"

#include <errno.h>

int agxw_syncobj_create(const struct agxw_device *device, uint32_t flags, uint32_t *out_handle)
{
   struct agx_uapi_syncobj_create create = {.flags = flags};
   int error = agxw_ioctl(device, AGX_IOCTL_SYNCOBJ_CREATE, &create);
   *out_handle = error ? 0 : create.handle;
   return error;
}

void agxw_syncobj_destroy(const struct agxw_device *device, uint32_t handle)
{
   struct agx_uapi_syncobj_destroy destroy = {.handle = handle};
   agxw_ioctl(device, AGX_IOCTL_SYNCOBJ_DESTROY, &destroy);
}

int agxw_syncobj_transfer(const struct agxw_device *device, uint32_t from, uint64_t from_value,
                          uint32_t to, uint64_t to_value)
{
   struct agx_uapi_syncobj_transfer transfer = {
      .src_handle = from, .dst_handle = to, .src_point = from_value, .dst_point = to_value};
   return agxw_ioctl(device, AGX_IOCTL_SYNCOBJ_TRANSFER, &transfer);
}

static int to_file(const struct agxw_device *device, uint32_t handle, uint32_t flags,
                   uint64_t value, int *out_fd)
{
   struct agx_uapi_syncobj_handle export = {
      .handle = handle, .flags = flags, .fd = -1, .point = value};
   int error = agxw_ioctl(device, AGX_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export);
   *out_fd = error ? -1 : export.fd;
   return error;
}

static int from_file(const struct agxw_device *device, uint32_t handle, uint32_t flags,
                     uint64_t value, int fd)
{
   struct agx_uapi_syncobj_handle import = {
      .handle = handle, .flags = flags, .fd = fd, .point = value};
   return agxw_ioctl(device, AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import);
}

static int copy_to_sync_file(const struct agxw_device *device, uint32_t handle, uint64_t value,
                             int *out_fd)
{
   uint32_t copy;
   int error = agxw_syncobj_create(device, 0, &copy);
   if (error)
      return error;
   error = agxw_syncobj_transfer(device, handle, value, copy, 0);
   if (!error)
      error = to_file(device, copy, AGX_UAPI_SYNCOBJ_SYNC_FILE, 0, out_fd);
   agxw_syncobj_destroy(device, copy);
   return error;
}

int agxw_syncobj_to_sync_file(const struct agxw_device *device, uint32_t handle, uint64_t value,
                              int *out_fd)
{
   uint32_t flags = AGX_UAPI_SYNCOBJ_SYNC_FILE | (value ? AGX_UAPI_SYNCOBJ_TIMELINE : 0);
   int error = to_file(device, handle, flags, value, out_fd);
   return error == -EINVAL && value ? copy_to_sync_file(device, handle, value, out_fd) : error;
}

static int copy_from_sync_file(const struct agxw_device *device, uint32_t handle, uint64_t value,
                               int fd)
{
   uint32_t copy;
   int error = agxw_syncobj_create(device, 0, &copy);
   if (error)
      return error;
   error = from_file(device, copy, AGX_UAPI_SYNCOBJ_SYNC_FILE, 0, fd);
   if (!error)
      error = agxw_syncobj_transfer(device, copy, 0, handle, value);
   agxw_syncobj_destroy(device, copy);
   return error;
}

int agxw_syncobj_from_sync_file(const struct agxw_device *device, uint32_t handle, uint64_t value,
                                int fd)
{
   uint32_t flags = AGX_UAPI_SYNCOBJ_SYNC_FILE | (value ? AGX_UAPI_SYNCOBJ_TIMELINE : 0);
   int error = from_file(device, handle, flags, value, fd);
   return error == -EINVAL && value ? copy_from_sync_file(device, handle, value, fd) : error;
}

int agxw_syncobj_to_fd(const struct agxw_device *device, uint32_t handle, int *out_fd)
{
   return to_file(device, handle, 0, 0, out_fd);
}

int agxw_syncobj_from_fd(const struct agxw_device *device, int fd, uint32_t *out_handle)
{
   struct agx_uapi_syncobj_handle import = {.fd = fd};
   int error = agxw_ioctl(device, AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import);
   *out_handle = error ? 0 : import.handle;
   return error;
}
