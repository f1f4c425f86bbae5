/* SPDX-License-Identifier: MIT
 *
 * Requests on DRM syncobjs by handle, for this folder only. All give 0 or a negative
 * errno; callers know what to say about it.
 */
#pragma once

#include "winsys/device.h"

/* flags: AGX_UAPI_SYNCOBJ_CREATE_SIGNALED or 0. */
int agxw_syncobj_create(const struct agxw_device *device, uint32_t flags, uint32_t *out_handle);
/* Destroys the handle. */
void agxw_syncobj_destroy(const struct agxw_device *device, uint32_t handle);
/* The fence of from's point (0: its latest) becomes to's point, or with 0 all that to holds. */
int agxw_syncobj_transfer(const struct agxw_device *device, uint32_t from, uint64_t from_value,
                          uint32_t to, uint64_t to_value);

/* The fence of a point (0: the latest) as a sync file, and such a file's fence as a point.
 * -EINVAL: the point has no fence, or the file is no sync file. Kernels before 6.16 know sync
 * files of binary syncobjs only; there the fence goes through one made for the purpose. */
int agxw_syncobj_to_sync_file(const struct agxw_device *device, uint32_t handle, uint64_t value,
                              int *out_fd);
/* The other way: the fence of a sync file becomes the point, or with value 0 all that the syncobj
 * holds. */
int agxw_syncobj_from_sync_file(const struct agxw_device *device, uint32_t handle, uint64_t value,
                                int fd);

/* The syncobj itself as a file, and back; each way back makes another handle. */
int agxw_syncobj_to_fd(const struct agxw_device *device, uint32_t handle, int *out_fd);
/* A new handle for the syncobj that a file stands for. */
int agxw_syncobj_from_fd(const struct agxw_device *device, int fd, uint32_t *out_handle);

/* Adds 1 to an eventfd when the point (0: the latest fence) is reached, or with
 * AGX_UAPI_SYNCOBJ_WAIT_AVAILABLE once it has a fence. */
int agxw_syncobj_eventfd(const struct agxw_device *device, uint32_t handle, uint64_t value, int fd,
                         uint32_t flags);
