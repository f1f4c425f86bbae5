/* SPDX-License-Identifier: MIT
 *
 * The door in process. Pending fences are submissions that the machine holds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../device.h"
#include "rows/door.h"
#include "rows/machine.h"
#include "../script.h"

const bool door_has_descriptors = false, door_is_real = false;

const char *door_chip = "g13g", *door_script;

struct door_file {
   struct device device;
   uint32_t queues[2];
};

static struct agx_virtual_node *node;

struct door_file *door_open(void)
{
   struct door_file *file = calloc(1, sizeof(*file));
   assert_non_null(file);
   if (!node) {
      assert_ok(agx_virtual_node_create(agx_chip_find(door_chip), -1, &node));
      if (door_script)
         assert_ok(set_script(node, door_script));
      agx_virtual_set_run_compute(node, machine_run);
   }
   file->device.node = node;
   assert_ok(agx_virtual_open(node, &file->device.file));
   return file;
}

struct door_file *door_open_buffers(void)
{
   return door_open();
}

void door_close(struct door_file *file)
{
   agx_virtual_close(file->device.file);
   free(file);
}

int door_fd(struct door_file *file)
{
   return -1;
}

int door_ioctl(struct door_file *file, unsigned long request, void *argument)
{
   return agx_virtual_ioctl(file->device.file, request, argument);
}

int door_fd_ioctl(int fd, unsigned long request, void *argument)
{
   return agx_virtual_fd_ioctl(node, fd, request, argument);
}

int door_mmap(struct door_file *file, size_t length, int prot, int flags, uint64_t offset,
              void **out_memory)
{
   int error = 0;
   *out_memory = agx_virtual_mmap(file->device.file, NULL, length, prot, flags, offset, &error);
   return -error;
}

int door_mmap_fd(int fd, size_t length, int prot, int flags, void **out_memory)
{
   int error = 0;
   *out_memory = agx_virtual_mmap_fd(fd, NULL, length, prot, flags, 0, &error);
   return -error;
}

void door_munmap(void *memory, size_t length)
{
   munmap(memory, length);
   agx_virtual_unmapped(node, memory, length);
}

void door_name(int fd, char *name, size_t capacity)
{
   struct stat info;
   assert_int_equal(fstat(fd, &info), 0);
   if (agx_virtual_is_buffer(fd))
      agx_virtual_buffer_name(node, info.st_dev, info.st_ino, name, capacity);
   else
      snprintf(name, capacity, "%s", agx_virtual_inode_name(node, info.st_dev, info.st_ino));
}

void door_preload(const char *test_file) {}

void door_shut(void)
{
   agx_virtual_node_destroy(node);
   node = NULL;
}

void door_pend(struct door_file *file, unsigned stream, uint32_t handle, uint64_t value)
{
   machine_close(stream);
   if (!file->device.vm)
      file->device.vm = make_vm(&file->device);
   if (!file->queues[stream])
      file->queues[stream] = make_queue(&file->device, file->device.vm);
   struct agx_uapi_sync out = {value ? AGX_UAPI_SYNC_TIMELINE_SYNCOBJ : AGX_UAPI_SYNC_SYNCOBJ,
                               handle, value};
   struct compute_record command = compute_command(stream);
   file->device.queue = file->queues[stream];
   assert_int_equal(submit(&file->device, &command, &out, 0, 1), 0);
}

int door_fire(unsigned stream)
{
   machine_fire(stream);
   return 0;
}
