/* SPDX-License-Identifier: MIT
 *
 * Stopped device requests: executed here by the node's own code, with the program's
 * memory read and written where it lies. Descriptors in requests are copied over.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/virtual/doors/recording.h"
#include "winsys/virtual/doors/serve/supervisor_impl.h"

#define MAX_ARGUMENT_BYTES 256

enum way {
   REFUSED, /* what isn't done for served programs */
   TAKES,   /* the program's descriptor goes to the node */
   GIVES,   /* the node's goes to the program */
};

static const struct passing {
   unsigned long request;
   enum way way;
   uint32_t offset;
} passings[] = {
   {AGX_IOCTL_PRIME_HANDLE_TO_FD, REFUSED, 0},
   {AGX_IOCTL_PRIME_FD_TO_HANDLE, REFUSED, 0},
   {AGX_IOCTL_SYNCOBJ_HANDLE_TO_FD, GIVES, offsetof(struct agx_uapi_syncobj_handle, fd)},
   {AGX_IOCTL_SYNCOBJ_FD_TO_HANDLE, TAKES, offsetof(struct agx_uapi_syncobj_handle, fd)},
   {AGX_IOCTL_SYNCOBJ_EVENTFD, TAKES, offsetof(struct agx_uapi_syncobj_eventfd, fd)},
};

static const struct passing *find_passing(unsigned long request)
{
   for (size_t i = 0; i < AGX_COUNT(passings); i++)
      if (AGX_UAPI_NR(passings[i].request) == AGX_UAPI_NR(request))
         return &passings[i];
   return NULL;
}

static unsigned long request_of(const struct agxv_call *call)
{
   return (uint32_t)call->arguments[1];
}

bool agxv_call_blocks(const struct agxv_call *call)
{
   static const unsigned long waits[] = {AGX_IOCTL_SYNCOBJ_WAIT, AGX_IOCTL_SYNCOBJ_TIMELINE_WAIT,
                                         AGX_IOCTL_SYNCOBJ_TRANSFER};
   if (call->number != SYS_ioctl || AGX_UAPI_LETTER(request_of(call)) != 'd')
      return false;
   for (size_t i = 0; i < AGX_COUNT(waits); i++)
      if (AGX_UAPI_NR(waits[i]) == AGX_UAPI_NR(request_of(call)))
         return true;
   return false;
}

static int refuse(void)
{
   static _Atomic bool said;
   if (!atomic_exchange(&said, true))
      fprintf(stderr, "agx virtual: PRIME: a program that goes past the C library can't share "
                      "buffers on the virtual AGX\n");
   return -EOPNOTSUPP;
}

/* ---- recordings ---- */

struct agxv_recorded {
   uint64_t serial;
   struct agxv_recording *recording; /* NULL: none is made */
   struct agxv_recorded *next;
};

/* What records the requests to an open file, begun with its first; it lasts as long as the
 * supervisor, for which nobody tells when a file is closed. */
static struct agxv_recording *find_recording(struct agxv_supervisor *supervisor, uint64_t serial)
{
   pthread_mutex_lock(&supervisor->lock);
   struct agxv_recorded *it = supervisor->recorded;
   while (it && it->serial != serial)
      it = it->next;
   if (!it && (it = calloc(1, sizeof(*it)))) {
      *it = (struct agxv_recorded){serial, agxv_recording_begin(supervisor->node, true),
                                   supervisor->recorded};
      supervisor->recorded = it;
   }
   pthread_mutex_unlock(&supervisor->lock);
   return it ? it->recording : NULL;
}

/* ---- requests ---- */

static int execute_passing(const struct agxv_call *call, struct agx_virtual_file *file,
                           struct agxv_recording *recording, const struct passing *passing)
{
   _Alignas(16) uint8_t copy[MAX_ARGUMENT_BYTES] = {0};
   unsigned long request = request_of(call);
   uint32_t size = AGX_UAPI_BYTES(request);
   int32_t theirs, ours = -1;
   if (passing->way == REFUSED)
      return refuse();
   if (size < passing->offset + sizeof(theirs) || size > sizeof(copy))
      return -EINVAL;
   if (agxv_call_read(call, copy, call->arguments[2], size))
      return -EFAULT;
   memcpy(&theirs, copy + passing->offset, sizeof(theirs));
   if (passing->way == TAKES) {
      ours = agxv_call_take_fd(call, theirs);
      if (ours == -EACCES)
         return ours;
      ours = ours < 0 ? -1 : ours;
      memcpy(copy + passing->offset, &ours, sizeof(ours));
   }
   int result = agxv_recording_ioctl(recording, file, request, copy);
   if (passing->way == GIVES && result == 0) {
      memcpy(&ours, copy + passing->offset, sizeof(ours));
      theirs = agxv_call_give_fd(call, ours, true);
      ours = -1;
      result = theirs < 0 ? theirs : 0;
   }
   if (ours >= 0)
      close(ours);
   memcpy(copy + passing->offset, &theirs, sizeof(theirs));
   if (result == 0 && agxv_call_write(call, call->arguments[2], copy, size))
      return -EFAULT;
   return result;
}

static bool is_there(const void *call)
{
   return agxv_call_is_there(call);
}

static int64_t execute_core(const struct agxv_call *call, int fd)
{
   struct agx_virtual_file *file;
   const struct passing *passing = find_passing(request_of(call));
   uint64_t serial = agx_virtual_fd_serial(call->supervisor->node, fd);
   if (!serial || agx_virtual_attach(call->supervisor->node, serial, &file) != AGX_OK)
      return AGXV_CALL_GOES_ON;
   int result;
   struct agxv_recording *recording = find_recording(call->supervisor, serial);
   if (passing) {
      result = execute_passing(call, file, recording, passing);
   } else {
      agx_virtual_set_caller(call->pid, is_there, call);
      result = agxv_recording_ioctl(recording, file, request_of(call),
                                    (void *)(uintptr_t)call->arguments[2]);
      agx_virtual_set_caller(0, NULL, NULL);
   }
   agx_virtual_close(file);
   return result;
}

/* Questions to sync files; those that pass descriptors are not known. */
static int64_t execute_fd(const struct agxv_call *call, int fd)
{
   if (request_of(call) != SYNC_IOC_FILE_INFO)
      return AGXV_CALL_GOES_ON;
   agx_virtual_set_caller(call->pid, is_there, call);
   int result = agx_virtual_fd_ioctl(call->supervisor->node, fd, request_of(call),
                                     (void *)(uintptr_t)call->arguments[2]);
   agx_virtual_set_caller(0, NULL, NULL);
   return result == -ENOTTY ? AGXV_CALL_GOES_ON : result;
}

int64_t agxv_call_ioctl(const struct agxv_call *call)
{
   int fd = agxv_call_take_fd(call, (int)call->arguments[0]);
   bool is_core = AGX_UAPI_LETTER(request_of(call)) == 'd';
   if (fd == -EACCES && (is_core || request_of(call) == SYNC_IOC_FILE_INFO))
      return fd;
   if (fd < 0)
      return AGXV_CALL_GOES_ON;
   int64_t result = is_core ? execute_core(call, fd) : execute_fd(call, fd);
   close(fd);
   return result;
}
