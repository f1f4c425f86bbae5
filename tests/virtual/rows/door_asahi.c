/* SPDX-License-Identifier: MIT
 *
 * Buffers of this driver's nodes, for the doors to the virtual one.
 */
#include "rows/door.h"
#include "winsys/asahi_uapi.h"

const uint64_t door_page = AGX_UAPI_PAGE_BYTES;

int door_make_buffer(struct door_file *file, uint64_t size, uint32_t *out_handle)
{
   struct agx_uapi_gem_create create = {.size = size};
   int result = door_ioctl(file, AGX_IOCTL_ASAHI_GEM_CREATE, &create);
   *out_handle = create.handle;
   return result;
}

int door_buffer_offset(struct door_file *file, uint32_t handle, uint64_t *out_offset)
{
   struct agx_uapi_gem_mmap_offset get = {.handle = handle};
   int result = door_ioctl(file, AGX_IOCTL_ASAHI_GEM_MMAP_OFFSET, &get);
   *out_offset = get.offset;
   return result;
}
