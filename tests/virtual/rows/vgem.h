/* SPDX-License-Identifier: MIT
 *
 * Fences that a program signals itself, from the stock kernel's driver vgem: attached to a
 * buffer's dma-buf, they come out of it as a sync file that any driver takes. vgem signals
 * what was left for ten seconds. Source: docs/hw/kernel.md 6, 2.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "winsys/asahi_uapi.h"

#ifndef DMA_BUF_IOCTL_EXPORT_SYNC_FILE /* headers before 6.0 */
struct dma_buf_export_sync_file {
   __u32 flags;
   __s32 fd;
};
#define DMA_BUF_IOCTL_EXPORT_SYNC_FILE _IOWR(DMA_BUF_BASE, 2, struct dma_buf_export_sync_file)
#endif

struct vgem_attach {
   uint32_t handle, flags, out_fence, pad;
};
struct vgem_signal {
   uint32_t fence, flags;
};
struct vgem_dumb {
   uint32_t height, width, bpp, flags, handle, pitch;
   uint64_t size;
};

struct vgem_map {
   uint32_t handle, pad;
   uint64_t offset;
};

#define VGEM_ATTACH      _IOWR('d', 0x41, struct vgem_attach)
#define VGEM_SIGNAL      _IOW('d', 0x42, struct vgem_signal)
#define VGEM_CREATE_DUMB _IOWR('d', 0xb2, struct vgem_dumb)
#define VGEM_MAP_DUMB    _IOWR('d', 0xb3, struct vgem_map)
#define VGEM_WRITE       1

/* The sync file of a new fence on the buffer, which is let go, or a negative errno. */
static inline int vgem_pend_on(int card, uint32_t buffer, uint32_t *out_fence)
{
   struct agx_uapi_prime_handle prime = {.handle = buffer, .flags = O_CLOEXEC | O_RDWR, .fd = -1};
   if (ioctl(card, AGX_IOCTL_PRIME_HANDLE_TO_FD, &prime) != 0)
      return -errno;
   struct vgem_attach attach = {.handle = buffer, .flags = VGEM_WRITE};
   struct dma_buf_export_sync_file export = {.flags = DMA_BUF_SYNC_READ, .fd = -1};
   int error = ioctl(card, VGEM_ATTACH, &attach) != 0 ? errno : 0;
   if (!error && ioctl(prime.fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export) != 0)
      error = errno;
   close(prime.fd);
   *out_fence = attach.out_fence;
   return error ? -error : export.fd;
}

static inline int vgem_pend(int card, uint32_t *out_fence)
{
   struct vgem_dumb dumb = {.height = 16, .width = 64, .bpp = 32};
   if (ioctl(card, VGEM_CREATE_DUMB, &dumb) != 0)
      return -errno;
   int fd = vgem_pend_on(card, dumb.handle, out_fence);
   struct agx_uapi_gem_close close_args = {.handle = dumb.handle};
   ioctl(card, AGX_IOCTL_GEM_CLOSE, &close_args);
   return fd;
}

/* Signals the fence, once: -ETIMEDOUT when vgem did. */
static inline int vgem_fire(int card, uint32_t *fence)
{
   struct vgem_signal signal = {.fence = *fence};
   int error = ioctl(card, VGEM_SIGNAL, &signal) != 0 ? -errno : 0;
   *fence = 0;
   return error;
}
