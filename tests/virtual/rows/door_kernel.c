/* SPDX-License-Identifier: MIT
 *
 * The door to a stock kernel: AGX_TEST_DEVICE is the render node of some driver with timeline
 * syncobjs, AGX_TEST_VGEM is vgem's card, which has buffers and fences that stay pending.
 */
#include <stdlib.h>

#include "rows/door_libc.h"
#include "rows/vgem.h"
#include "support.h"

#define STREAMS 2

const bool door_is_real = true;
const uint64_t door_page = 4096;

static struct {
   struct door_file *card;
   uint32_t fences[STREAMS];
} vgem;

static const char *path_in(const char *variable)
{
   const char *path = getenv(variable);
   return path ? path : "";
}

struct door_file *door_open(void)
{
   return door_open_path(path_in("AGX_TEST_DEVICE"));
}

struct door_file *door_open_buffers(void)
{
   return door_open_path(path_in("AGX_TEST_VGEM"));
}

int door_make_buffer(struct door_file *file, uint64_t size, uint32_t *out_handle)
{
   struct vgem_dumb dumb = {.width = (uint32_t)(size / 4), .height = 1, .bpp = 32};
   int result = door_ioctl(file, VGEM_CREATE_DUMB, &dumb);
   *out_handle = dumb.handle;
   return result;
}

int door_buffer_offset(struct door_file *file, uint32_t handle, uint64_t *out_offset)
{
   struct vgem_map map = {.handle = handle};
   int result = door_ioctl(file, VGEM_MAP_DUMB, &map);
   *out_offset = map.offset;
   return result;
}

void door_preload(const char *test_file) {}

static void attach(struct door_file *file, int sync_fd, uint32_t handle)
{
   struct agx_uapi_syncobj_handle import = {
      .handle = handle, .flags = AGX_UAPI_SYNCOBJ_SYNC_FILE, .fd = sync_fd};
   assert_int_equal(door_ioctl(file, AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import), 0);
}

/* By a binary syncobj: kernels before 6.16 import no sync file as a point. */
static void attach_point(struct door_file *file, int sync_fd, uint32_t handle, uint64_t value)
{
   struct agx_uapi_syncobj_create binary = {0};
   assert_int_equal(door_ioctl(file, AGX_IOCTL_SYNCOBJ_CREATE, &binary), 0);
   attach(file, sync_fd, binary.handle);
   struct agx_uapi_syncobj_transfer transfer = {
      .src_handle = binary.handle, .dst_handle = handle, .dst_point = value};
   assert_int_equal(door_ioctl(file, AGX_IOCTL_SYNCOBJ_TRANSFER, &transfer), 0);
   struct agx_uapi_syncobj_destroy destroy = {.handle = binary.handle};
   assert_int_equal(door_ioctl(file, AGX_IOCTL_SYNCOBJ_DESTROY, &destroy), 0);
}

void door_pend(struct door_file *file, unsigned stream, uint32_t handle, uint64_t value)
{
   if (!vgem.card)
      vgem.card = door_open_buffers();
   int sync_fd = vgem_pend(vgem.card->fd, &vgem.fences[stream]);
   assert_true(sync_fd >= 0);
   if (value)
      attach_point(file, sync_fd, handle, value);
   else
      attach(file, sync_fd, handle);
   close(sync_fd);
}

int door_fire(unsigned stream)
{
   return vgem.fences[stream] ? vgem_fire(vgem.card->fd, &vgem.fences[stream]) : 0;
}

void door_shut(void)
{
   if (!vgem.card)
      return;
   door_close(vgem.card);
   vgem.card = NULL;
}
