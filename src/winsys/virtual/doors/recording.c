/* SPDX-License-Identifier: MIT
 *
 * Recorders (winsys/capture) between the doors and the node.
 */
#include "winsys/virtual/doors/recording.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "winsys/capture/record.h"
#include "winsys/virtual/store/user.h"

struct agxv_recording {
   struct agx_virtual_node *node;
   struct agxw_recorder *recorder;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct agxw_capture_file *capture; /* NULL: nothing is recorded */

/* The file that the calling thread's request goes to: doors may know one by several. */
static _Thread_local struct agx_virtual_file *current __attribute__((tls_model("initial-exec")));

static _Thread_local const void *asked __attribute__((tls_model("initial-exec"))); /* by it */

/* ---- the node, for recorders ---- */

/* What the recorder asks itself, as where a buffer is mapped, stands in our memory, also where the
 * program is another process. */
static int node_ioctl(void *user, unsigned long request, void *argument)
{
   if (argument == asked)
      return agx_virtual_ioctl(current, request, argument);
   int32_t whose = agxv_user_switch(0);
   int result = agx_virtual_ioctl(current, request, argument);
   agxv_user_switch(whose);
   return result;
}

static void *node_mmap(void *user, uint64_t offset, size_t length, int *out_errno)
{
   return agx_virtual_mmap(current, NULL, length, PROT_READ, MAP_SHARED, offset, out_errno);
}

static void node_munmap(void *user, void *memory, size_t length)
{
   const struct agxv_recording *recording = user;
   munmap(memory, length);
   agx_virtual_unmapped(recording->node, memory, length);
}

static int64_t node_dmabuf_bytes(void *user, int fd)
{
   return (int64_t)agx_virtual_buffer_bytes(fd);
}

static bool node_find_memory(void *user, uint64_t offset, uint64_t from, uint64_t *out_begin,
                             uint64_t *out_end)
{
   return agx_virtual_find_memory(current, offset, from, out_begin, out_end);
}

static int node_read(void *user, void *out, uint64_t address, size_t bytes)
{
   return agxv_copy_in(out, address, bytes);
}

static const struct agxw_recorded_ops local_ops = {
   .ioctl = node_ioctl,
   .mmap = node_mmap,
   .munmap = node_munmap,
   .dmabuf_bytes = node_dmabuf_bytes,
   .read = node_read,
   .find_memory = node_find_memory,
};

static const struct agxw_recorded_ops remote_ops = {
   .ioctl = node_ioctl,
   .mmap = node_mmap,
   .munmap = node_munmap,
   .dmabuf_bytes = node_dmabuf_bytes,
   .read = node_read,
   .find_memory = node_find_memory,
   .is_remote = true,
};

/* ---- recordings ---- */

static void open_capture(void)
{
   if (agxw_capture_file_join(false, &capture) != AGX_OK)
      fprintf(stderr, "agx virtual: nothing is recorded: %s\n", agx_error_peek());
}

struct agxv_recording *agxv_recording_begin(struct agx_virtual_node *node, bool is_remote)
{
   pthread_once(&once, open_capture);
   struct agxv_recording *recording = capture ? calloc(1, sizeof(*recording)) : NULL;
   const struct agxw_recorded_ops *ops = is_remote ? &remote_ops : &local_ops;
   if (!recording)
      return NULL;
   recording->node = node;
   char name[40];
   snprintf(name, sizeof(name), "virtual:%s", agx_virtual_node_chip(node)->name);
   if (agxw_recorder_create(capture, ops, recording, name, &recording->recorder) != AGX_OK) {
      fprintf(stderr, "agx virtual: an open of the device is not recorded: %s\n", agx_error_peek());
      free(recording);
      return NULL;
   }
   return recording;
}

void agxv_recording_end(struct agxv_recording *recording, struct agx_virtual_file *file)
{
   if (!recording)
      return;
   current = file;
   agxw_recorder_destroy(recording->recorder);
   current = NULL;
   free(recording);
}

int agxv_recording_ioctl(struct agxv_recording *recording, struct agx_virtual_file *file,
                         unsigned long request, void *argument)
{
   if (!recording)
      return agx_virtual_ioctl(file, request, argument);
   current = file;
   asked = argument;
   int result = agxw_recorder_ioctl(recording->recorder, request, argument);
   current = NULL;
   asked = NULL;
   return result;
}

int agxv_recording_next_fd(int first)
{
   int fd = capture ? agxw_capture_file_fd(capture) : -1;
   return fd >= first ? fd : INT_MAX;
}

bool agxv_recording_move_fd(int fd)
{
   return capture && fd == agxw_capture_file_fd(capture) && agxw_capture_file_move(capture);
}
