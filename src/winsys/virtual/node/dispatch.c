/* SPDX-License-Identifier: MIT
 *
 * The table of requests, and how an argument gets in and out: as in the DRM core, by
 * number, with the smaller of both sizes.
 */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/virtual/gpu/job.h"
#include "winsys/virtual/mm/gem.h"
#include "winsys/virtual/node/node_impl.h"
#include "winsys/virtual/store/inject.h"
#include "winsys/virtual/store/user.h"
#include "winsys/virtual/sync/fence.h"
#include "winsys/virtual/sync/syncobj.h"
#include "winsys/virtual/sync/watch.h"

#define MAX_ARGUMENT_BYTES 64

struct request {
   const char *name;
   uint8_t nr;
   uint8_t direction; /* as in the request's code: 1 in, 2 out */
   uint16_t size;
   int (*handler)(struct agx_virtual_file *file, void *argument);
};

#define ROW(request, handler)                                                                      \
   {                                                                                               \
#handler, AGX_UAPI_NR(AGX_IOCTL_##request), AGX_UAPI_DIRECTION(AGX_IOCTL_##request),         \
         AGX_UAPI_BYTES(AGX_IOCTL_##request), agxv_##handler                                       \
   }

static const struct request requests[] = {
   ROW(VERSION, version),
   ROW(GET_CAP, get_cap),
   ROW(GEM_CLOSE, gem_close),
   ROW(PRIME_HANDLE_TO_FD, prime_handle_to_fd),
   ROW(PRIME_FD_TO_HANDLE, prime_fd_to_handle),
   ROW(ASAHI_GET_PARAMS, get_params),
   ROW(ASAHI_GET_TIME, get_time),
   ROW(ASAHI_VM_CREATE, vm_create),
   ROW(ASAHI_VM_DESTROY, vm_destroy),
   ROW(ASAHI_VM_BIND, vm_bind),
   ROW(ASAHI_GEM_CREATE, gem_create),
   ROW(ASAHI_GEM_MMAP_OFFSET, gem_mmap_offset),
   ROW(ASAHI_GEM_BIND_OBJECT, gem_bind_object),
   ROW(ASAHI_QUEUE_CREATE, queue_create),
   ROW(ASAHI_QUEUE_DESTROY, queue_destroy),
   ROW(ASAHI_SUBMIT, submit),
   ROW(SYNCOBJ_CREATE, syncobj_create),
   ROW(SYNCOBJ_DESTROY, syncobj_destroy),
   ROW(SYNCOBJ_HANDLE_TO_FD, syncobj_handle_to_fd),
   ROW(SYNCOBJ_FD_TO_HANDLE, syncobj_fd_to_handle),
   ROW(SYNCOBJ_WAIT, syncobj_wait),
   ROW(SYNCOBJ_TIMELINE_WAIT, syncobj_timeline_wait),
   ROW(SYNCOBJ_RESET, syncobj_reset),
   ROW(SYNCOBJ_SIGNAL, syncobj_signal),
   ROW(SYNCOBJ_TIMELINE_SIGNAL, syncobj_timeline_signal),
   ROW(SYNCOBJ_QUERY, syncobj_query),
   ROW(SYNCOBJ_TRANSFER, syncobj_transfer),
   ROW(SYNCOBJ_EVENTFD, syncobj_eventfd),
};

/* Numbers of the DRM core that a render node refuses with EACCES: authentication, the
 * display, client capabilities, global names, masters, leases. */
static const struct {
   uint8_t first, last;
} denied[] = {
   {0x01, 0x08}, {0x0a, 0x0b}, {0x0d, 0x0d}, {0x10, 0x11}, {0x1e, 0x1f}, {0xa0, 0xbe}, {0xc6, 0xc9},
};

_Static_assert(AGX_COUNT(requests) < AGXV_REQUEST_MMAP, "scripts count each request");

uint32_t agxv_request_find(const char *name, size_t length)
{
   for (uint32_t i = 0; i < AGX_COUNT(requests); i++)
      if (strlen(requests[i].name) == length && memcmp(requests[i].name, name, length) == 0)
         return i;
   return UINT32_MAX;
}

static const struct request *find_request(uint32_t nr)
{
   for (unsigned i = 0; i < AGX_COUNT(requests); i++)
      if (requests[i].nr == nr)
         return &requests[i];
   return NULL;
}

static int refusal(uint32_t nr)
{
   for (unsigned i = 0; i < AGX_COUNT(denied); i++)
      if (nr >= denied[i].first && nr <= denied[i].last)
         return -EACCES;
   return -EINVAL;
}

int agx_virtual_ioctl(struct agx_virtual_file *file, unsigned long code, void *argument)
{
   if (AGX_UAPI_LETTER(code) != 'd')
      return -ENOTTY;
   const struct request *request = find_request(AGX_UAPI_NR(code));
   if (!request)
      return refusal(AGX_UAPI_NR(code));
   uint32_t both = request->direction & AGX_UAPI_DIRECTION(code);
   uint32_t size = AGX_MIN(request->size, AGX_UAPI_BYTES(code));
   _Alignas(16) uint8_t copy[MAX_ARGUMENT_BYTES] = {0};
   uint64_t address = (uintptr_t)argument;
   if (both & 1 && agxv_copy_in(copy, address, size))
      return -EFAULT;
   if (file->node->inject) {
      int injected = agxv_inject_request(file->node, (uint32_t)(request - requests), request->name);
      if (injected)
         return injected;
   }
   int result = request->handler(file, copy);
   if (both & 2 && agxv_copy_out(address, copy, size))
      return -EFAULT;
   return result;
}

/* Requests on descriptors that the node gave out: finds what one stands for, and passes them on to
 * sync files (sync/) or buffers (mm/). */

int agx_virtual_fd_ioctl(struct agx_virtual_node *node, int fd, unsigned long request,
                         void *argument)
{
   int error = -ENOTTY;
   bool is_buffer = agx_virtual_is_buffer(fd);
   agxv_lock(node);
   const struct agxv_record *record = is_buffer ? NULL : agxv_record_find(node, fd);
   if (is_buffer) {
      error = agxv_dmabuf_ioctl(node, fd, request, (uintptr_t)argument);
   } else if (record && record->kind == AGXV_RECORD_SYNC_FILE) {
      /* The fence outlives the record while the request is worked on. */
      uint32_t fence = record->target;
      agxv_fence_get(node, fence);
      error = agxv_sync_file_ioctl(node, fence, request, (uintptr_t)argument);
      agxv_fence_put(node, fence);
   }
   agxv_unlock(node);
   return error;
}
