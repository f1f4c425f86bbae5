/* SPDX-License-Identifier: MIT
 *
 * The seam over a render node of the system, and which nodes there are. Requests go through
 * libdrm's drmIoctl, which repeats what a signal interrupted.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xf86drm.h>

#include "base/list.h"
#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/device_impl.h"

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

/* Which devices there are, and why one can't be used. Nothing here decides by
 * itself to use the virtual device but the name "auto". */

#define DRIVER_NAME "asahi"

static void reject(struct agxw_node_info *info, agx_status status, const char *reason)
{
   info->status = status;
   snprintf(info->reason, sizeof(info->reason), "%s", reason);
}

/* The group that the node belongs to, if it is one that a person can join. */
static void explain_permission(struct agxw_node_info *info)
{
   struct stat status;
   struct group group, *found = NULL;
   char buffer[1024];
   const char *name = "render";
   if (stat(info->path, &status) == 0 && status.st_gid != 0 &&
       getgrgid_r(status.st_gid, &group, buffer, sizeof(buffer), &found) == 0 && found)
      name = group.gr_name;
   info->status = AGX_PERMISSION_DENIED;
   snprintf(info->reason, sizeof(info->reason),
            "no permission; join the group: sudo usermod -aG %.32s $USER, then log in again", name);
}

static void explain_open(struct agxw_node_info *info, int error)
{
   if (error == EACCES || error == EPERM) {
      explain_permission(info);
      return;
   }
   info->status = agx_status_fail_errno(error, "open");
   snprintf(info->reason, sizeof(info->reason), "can't be opened: %s", strerror(error));
}

/* What the open file is; sets status and reason unless it can be used. */
static void inspect(int fd, bool any_driver, struct agxw_node_info *info)
{
   drmVersionPtr version = drmGetVersion(fd);
   if (!version) {
      reject(info, AGX_INCOMPATIBLE, "not a DRM device");
      return;
   }
   snprintf(info->driver, sizeof(info->driver), "%.*s", version->name_len, version->name);
   drmFreeVersion(version);
   uint64_t timelines = 0;
   if (!any_driver && strcmp(info->driver, DRIVER_NAME) != 0) {
      info->status = AGX_INCOMPATIBLE;
      snprintf(info->reason, sizeof(info->reason), "its driver is %.32s, not " DRIVER_NAME,
               info->driver);
   } else if (drmGetCap(fd, AGX_UAPI_CAP_SYNCOBJ_TIMELINE, &timelines) != 0 || !timelines) {
      reject(info, AGX_INCOMPATIBLE,
             "its kernel driver has no timeline syncobjs; use a newer kernel");
   }
}

int agxw_node_open(const char *path, bool any_driver, struct agxw_node_info *out_info)
{
   *out_info = (struct agxw_node_info){.status = AGX_OK};
   snprintf(out_info->path, sizeof(out_info->path), "%s", path);
   int fd = open(path, O_RDWR | O_CLOEXEC);
   if (fd < 0) {
      explain_open(out_info, errno);
      return -1;
   }
   inspect(fd, any_driver, out_info);
   if (out_info->status == AGX_OK)
      return fd;
   close(fd);
   return -1;
}

agx_status agxw_enumerate(struct agxw_node_info nodes[AGXW_MAX_NODES], uint32_t *out_count)
{
   drmDevicePtr devices[AGXW_MAX_NODES];
   *out_count = 0;
   int count = drmGetDevices2(0, devices, AGXW_MAX_NODES);
   if (count == -ENOENT)
      return AGX_OK; /* no /dev/dri: no devices */
   if (count < 0)
      return agx_status_fail_errno(count, "devices: drmGetDevices2");
   count = AGX_MIN(count, AGXW_MAX_NODES);
   for (int i = 0; i < count; i++) {
      if (!(devices[i]->available_nodes & 1 << DRM_NODE_RENDER))
         continue;
      int fd = agxw_node_open(devices[i]->nodes[DRM_NODE_RENDER], false, &nodes[(*out_count)++]);
      if (fd >= 0)
         close(fd);
   }
   drmFreeDevices(devices, count);
   return AGX_OK;
}

/* The first node that can be used; else AGX_NOT_FOUND with the reason of each. */
static agx_status open_first(struct agx_kmd **out_kmd)
{
   struct agxw_node_info nodes[AGXW_MAX_NODES];
   uint32_t count = 0;
   AGX_TRY(agxw_enumerate(nodes, &count));
   char text[400] = "there is no render node in /dev/dri";
   size_t length = 0;
   for (uint32_t i = 0; i < count; i++) {
      if (nodes[i].status == AGX_OK)
         return agx_kmd_drm_open(nodes[i].path, out_kmd);
      length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s: %s",
                                 length ? "; " : "", nodes[i].path, nodes[i].reason);
      length = AGX_MIN(length, sizeof(text) - 1);
   }
   return AGX_FAIL(AGX_NOT_FOUND, "no AGX device: %s", text);
}

static agx_status open_virtual(const char *chip, bool is_common, struct agx_kmd **out_kmd)
{
   return is_common ? agx_kmd_virtual_open_common(chip, out_kmd)
                    : agx_kmd_virtual_open(chip, out_kmd);
}

static agx_status open_named(const char *name, bool is_common, struct agx_kmd **out_kmd)
{
   if (strcmp(name, "drm") == 0)
      return open_first(out_kmd);
   if (strcmp(name, "virtual") == 0)
      return open_virtual(NULL, is_common, out_kmd);
   if (strncmp(name, "virtual:", 8) == 0)
      return open_virtual(name + 8, is_common, out_kmd);
   if (strchr(name, '/'))
      return agx_kmd_drm_open(name, out_kmd);
   if (strcmp(name, "auto") != 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "device \"%.64s\": auto, drm, virtual, virtual:CHIP and a path are possible",
                      name);
   agx_status status = open_first(out_kmd);
   return status == AGX_NOT_FOUND ? open_virtual(NULL, is_common, out_kmd) : status;
}

static agx_status open_captured(const char *name, bool is_common, const char *capture_path,
                                struct agx_kmd **out_kmd)
{
   struct agx_kmd *kmd = NULL;
   *out_kmd = NULL;
   AGX_TRY(open_named(name, is_common, &kmd));
   if (capture_path)
      return agx_kmd_capture_open(kmd, capture_path, out_kmd);
   *out_kmd = kmd;
   return AGX_OK;
}

agx_status agxw_kmd_open(const char *name, const char *capture_path, struct agx_kmd **out_kmd)
{
   return open_captured(name, false, capture_path, out_kmd);
}

agx_status agxw_kmd_open_common(const char *name, const char *capture_path,
                                struct agx_kmd **out_kmd)
{
   return open_captured(name, true, capture_path, out_kmd);
}
