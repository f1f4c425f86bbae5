/* SPDX-License-Identifier: MIT
 *
 * Memory that others have too: dma-bufs out and in. A device file has one handle for an object
 * however often it was imported, and closing it once is the end of it for all: so buffers
 * whose object may come in again stand in a list, and the last one with a handle closes it.
 */
#include <errno.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/device_impl.h"

/* Handles only come and go for imports with the lock held: what FD_TO_HANDLE gave is not closed
 * before its buffer stands in the list. */
void agxw_share_enter(struct agxw_bo *bo)
{
   pthread_mutex_lock(&bo->device->share_lock);
   agx_list_append(&bo->device->shared, &bo->link);
   bo->is_listed = true;
   pthread_mutex_unlock(&bo->device->share_lock);
}

static bool is_in_use(const struct agxw_device *device, uint32_t handle)
{
   for (const struct agx_link *it = device->shared.next; it != &device->shared; it = it->next)
      if (agx_container_of(it, struct agxw_bo, link)->handle == handle)
         return true;
   return false;
}

static bool leave_locked(struct agxw_bo *bo)
{
   struct agx_uapi_gem_close close = {.handle = bo->handle};
   agx_list_remove(&bo->link);
   bo->is_listed = false;
   bo->handle = 0;
   if (is_in_use(bo->device, close.handle))
      return true;
   return agxw_ioctl(bo->device, AGX_IOCTL_GEM_CLOSE, &close) == 0;
}

bool agxw_share_leave(struct agxw_bo *bo)
{
   pthread_mutex_lock(&bo->device->share_lock);
   bool gone = leave_locked(bo);
   pthread_mutex_unlock(&bo->device->share_lock);
   return gone;
}

bool agxw_bo_is_shareable(const struct agxw_bo *bo)
{
   return bo->is_listed;
}

agx_status agxw_bo_export(struct agxw_bo *bo, int *out_fd)
{
   struct agx_uapi_prime_handle args = {
      .handle = bo->handle, .flags = AGX_UAPI_PRIME_RDWR | AGX_UAPI_PRIME_CLOEXEC, .fd = -1};
   *out_fd = -1;
   if (!bo->is_listed)
      return AGX_FAIL(AGX_FAILED_PRECONDITION,
                      "%s: the memory is this device's own; make it shareable to export it",
                      bo->label);
   int error = agxw_ioctl(bo->device, AGX_IOCTL_PRIME_HANDLE_TO_FD, &args);
   if (error)
      return agx_status_fail_errno(error, "%s: PRIME_HANDLE_TO_FD", bo->label);
   *out_fd = args.fd;
   return AGX_OK;
}

/* ---- import ------------------------------------------------------------- */

/* The handle for the dma-buf, entered. */
static agx_status take_handle(struct agxw_bo *bo, int fd)
{
   struct agxw_device *device = bo->device;
   struct agx_uapi_prime_handle args = {.fd = fd};
   pthread_mutex_lock(&device->share_lock);
   int error = agxw_ioctl(device, AGX_IOCTL_PRIME_FD_TO_HANDLE, &args);
   if (!error) {
      bo->handle = args.handle;
      agx_list_append(&device->shared, &bo->link);
      bo->is_listed = true;
   }
   pthread_mutex_unlock(&device->share_lock);
   if (error == -EINVAL || error == -EBADF)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: descriptor %d is no dma-buf of whole pages",
                      bo->label, fd);
   if (error)
      return agx_status_fail_errno(error, "%s: PRIME_FD_TO_HANDLE", bo->label);
   return AGX_OK;
}

static agx_status find_size(struct agxw_bo *bo, int fd)
{
   int64_t bytes = bo->device->kmd->ops->dmabuf_bytes(bo->device->kmd, fd);
   if (bytes < 0)
      return agx_status_fail_errno((int)bytes, "%s: size of dma-buf %d", bo->label, fd);
   if (bytes == 0 || bytes % bo->device->page_bytes || (uint64_t)bytes > AGXW_MAX_BO_BYTES)
      return AGX_FAIL(AGX_OUT_OF_RANGE,
                      "%s: a dma-buf of %lld bytes; multiples of %u up to 2^37 "
                      "can be imported",
                      bo->label, (long long)bytes, bo->device->page_bytes);
   bo->size = bo->bytes = (uint64_t)bytes;
   return AGX_OK;
}

static agx_status import(struct agxw_bo *bo, int fd)
{
   AGX_TRY(take_handle(bo, fd));
   AGX_TRY(find_size(bo, fd));
   AGX_TRY(agxw_bo_take_address(bo, 0));
   if (bo->device->kmd->inspection->label)
      bo->device->kmd->inspection->label(bo->device->kmd, bo->handle, bo->label);
   return agxw_bo_bind_whole(bo);
}

agx_status agxw_bo_import(struct agxw_device *device, int fd, uint32_t flags, const char *label,
                          struct agxw_bo **out_bo)
{
   struct agxw_bo *bo = NULL;
   *out_bo = NULL;
   AGX_TRY(agxw_bo_new(device, AGX_PAGE_BYTES, flags & AGXW_BO_READ_ONLY, label ? label : "import",
                       &bo));
   bo->flags |= AGXW_BO_IMPORTED;
   agx_status status = import(bo, fd);
   if (status != AGX_OK) {
      agxw_bo_destroy(bo);
      return status;
   }
   agxw_places_add(bo);
   *out_bo = bo;
   return AGX_OK;
}

/* ---- host memory -------------------------------------------------------- */

/* What an errno of UDMABUF_CREATE means for the one who asked. Source: Linux,
 * drivers/dma-buf/udmabuf.c. */
static const char *reason_of(int error)
{
   switch (error) {
   case ENOENT:
   case ENODEV:
   case ENXIO:
      return "there is no /dev/udmabuf; load the kernel's udmabuf module";
   case EACCES:
   case EPERM:
      return "/dev/udmabuf can't be opened: the user needs access to it (the group kvm on most "
             "systems), and the file must be open for writing";
   case EBADF:
   case EBADFD:
      return "the descriptor is of no memory file; memfd_create(2) makes one";
   case EINVAL:
      return "the memory file must be sealed with F_SEAL_SHRINK and not against writing, and have "
             "the whole range, which may be no longer than the module's size_limit_mb (64)";
   default:
      return NULL;
   }
}

/* Without a maker the system says so before it looks at the file. */
bool agxw_device_takes_memory(struct agxw_device *device)
{
   int error = device->kmd->ops->make_dmabuf(device->kmd, -1, 0, device->page_bytes);
   return error != -ENOENT && error != -EACCES && error != -EPERM;
}

agx_status agxw_dmabuf_of_memory(struct agxw_device *device, int memory_file, uint64_t offset,
                                 uint64_t bytes, int *out_fd)
{
   *out_fd = -1;
   if ((offset | bytes) % device->page_bytes || bytes == 0)
      return AGX_FAIL(AGX_UNAVAILABLE,
                      "host memory: %llu bytes at %llu of the memory file; whole pages of %u bytes "
                      "can be imported",
                      (unsigned long long)bytes, (unsigned long long)offset, device->page_bytes);
   int fd = device->kmd->ops->make_dmabuf(device->kmd, memory_file, offset, bytes);
   if (fd >= 0) {
      *out_fd = fd;
      return AGX_OK;
   }
   const char *reason = reason_of(-fd);
   if (reason)
      return AGX_FAIL(AGX_UNAVAILABLE, "host memory: %s", reason);
   return agx_status_fail_errno(fd, "host memory: UDMABUF_CREATE of %llu bytes",
                                (unsigned long long)bytes);
}
