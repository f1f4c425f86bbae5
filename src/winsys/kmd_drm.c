/* SPDX-License-Identifier: MIT
 *
 * The seam over a render node of the system. Requests go through libdrm's
 * drmIoctl, which repeats what a signal interrupted.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "base/list.h"
#include "winsys/discovery.h"

struct kmd_drm {
   struct agx_kmd base;
   char name[32];
};

static int drm_ioctl(struct agx_kmd *kmd, unsigned long request, void *argument)
{
   return drmIoctl(kmd->fd, request, argument) == 0 ? 0 : -errno;
}

static void *drm_mmap(struct agx_kmd *kmd, uint64_t offset, size_t length, int *out_errno)
{
   void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, kmd->fd, (off_t)offset);
   if (memory != MAP_FAILED)
      return memory;
   *out_errno = errno;
   return NULL;
}

static void drm_munmap(struct agx_kmd *kmd, void *memory, size_t length)
{
   munmap(memory, length);
}

static int drm_fd_ioctl(struct agx_kmd *kmd, int fd, unsigned long request, void *argument)
{
   return drmIoctl(fd, request, argument) == 0 ? 0 : -errno;
}

/* Seeking is how a dma-buf tells its size. Source: Linux, drivers/dma-buf/dma-buf.c. */
static int64_t drm_dmabuf_bytes(struct agx_kmd *kmd, int fd)
{
   off_t bytes = lseek(fd, 0, SEEK_END);
   return bytes < 0 ? -errno : bytes;
}

static int drm_make_dmabuf(struct agx_kmd *kmd, int memory_file, uint64_t offset, uint64_t bytes)
{
   struct udmabuf_create create = {.memfd = (uint32_t)memory_file,
                                   .flags = UDMABUF_FLAGS_CLOEXEC,
                                   .offset = offset,
                                   .size = bytes};
   int maker = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
   if (maker < 0)
      return -errno;
   int fd = drmIoctl(maker, UDMABUF_CREATE, &create);
   int error = -errno;
   close(maker);
   return fd < 0 ? error : fd;
}

static void drm_close(struct agx_kmd *kmd)
{
   struct kmd_drm *drm = agx_container_of(kmd, struct kmd_drm, base);
   close(kmd->fd);
   free(drm);
}

/* The kernel offers none. */
static const struct agx_kmd_inspection drm_inspection;

static const struct agx_kmd_ops drm_ops = {
   .ioctl = drm_ioctl,
   .mmap = drm_mmap,
   .munmap = drm_munmap,
   .fd_ioctl = drm_fd_ioctl,
   .dmabuf_bytes = drm_dmabuf_bytes,
   .make_dmabuf = drm_make_dmabuf,
   .close = drm_close,
};

static agx_status open_path(const char *path, bool any_driver, struct agx_kmd **out_kmd)
{
   *out_kmd = NULL;
   struct agxw_node_info info;
   int fd = agxw_node_open(path, any_driver, &info);
   if (fd < 0)
      return AGX_FAIL(info.status, "%.256s: %s", path, info.reason);
   struct kmd_drm *drm = calloc(1, sizeof(*drm));
   if (!drm) {
      close(fd);
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%.256s: no memory for the device", path);
   }
   const char *slash = strrchr(path, '/');
   snprintf(drm->name, sizeof(drm->name), "%s", slash ? slash + 1 : path);
   drm->base =
      (struct agx_kmd){.ops = &drm_ops, .inspection = &drm_inspection, .name = drm->name, .fd = fd};
   *out_kmd = &drm->base;
   return AGX_OK;
}

agx_status agx_kmd_drm_open(const char *path, struct agx_kmd **out_kmd)
{
   return open_path(path, false, out_kmd);
}

agx_status agx_kmd_drm_open_syncs(const char *path, struct agx_kmd **out_kmd)
{
   return open_path(path, true, out_kmd);
}
