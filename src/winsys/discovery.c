/* SPDX-License-Identifier: MIT
 *
 * Which devices there are, and why one can't be used. Nothing here decides by
 * itself to use the virtual device but the name "auto".
 */
#include "winsys/discovery.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xf86drm.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"

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

static agx_status open_named(const char *name, struct agx_kmd **out_kmd)
{
   if (strcmp(name, "drm") == 0)
      return open_first(out_kmd);
   if (strcmp(name, "virtual") == 0)
      return agx_kmd_virtual_open(NULL, out_kmd);
   if (strncmp(name, "virtual:", 8) == 0)
      return agx_kmd_virtual_open(name + 8, out_kmd);
   if (strchr(name, '/'))
      return agx_kmd_drm_open(name, out_kmd);
   if (strcmp(name, "auto") != 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "device \"%.64s\": auto, drm, virtual, virtual:CHIP and a path are possible",
                      name);
   agx_status status = open_first(out_kmd);
   return status == AGX_NOT_FOUND ? agx_kmd_virtual_open(NULL, out_kmd) : status;
}

agx_status agxw_kmd_open(const char *name, const char *capture_path, struct agx_kmd **out_kmd)
{
   struct agx_kmd *kmd = NULL;
   *out_kmd = NULL;
   AGX_TRY(open_named(name, &kmd));
   if (capture_path)
      return agx_kmd_capture_open(kmd, capture_path, out_kmd);
   *out_kmd = kmd;
   return AGX_OK;
}
