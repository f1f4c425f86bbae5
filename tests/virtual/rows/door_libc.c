/* SPDX-License-Identifier: MIT
 *
 * The door through the C library: this file knows nothing of the node.
 */
#include "rows/door_libc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support.h"

const bool door_has_descriptors = true;

static int result_of(long result)
{
   return result < 0 ? -errno : (int)result;
}

struct door_file *door_open_path(const char *path)
{
   struct door_file *it = calloc(1, sizeof(*it));
   assert_non_null(it);
   it->fd = open(path, O_RDWR | O_CLOEXEC);
   if (it->fd < 0)
      fail_msg("\"%s\" can't be opened", path);
   return it;
}

void door_close(struct door_file *it)
{
   assert_int_equal(close(it->fd), 0);
   free(it);
}

int door_fd(struct door_file *it)
{
   return it->fd;
}

int door_ioctl(struct door_file *it, unsigned long request, void *argument)
{
   return result_of(ioctl(it->fd, request, argument));
}

int door_fd_ioctl(int fd, unsigned long request, void *argument)
{
   return result_of(ioctl(fd, request, argument));
}

int door_mmap(struct door_file *it, size_t length, int prot, int flags, uint64_t offset,
              void **out_memory)
{
   *out_memory = mmap(NULL, length, prot, flags, it->fd, (off_t)offset);
   return *out_memory == MAP_FAILED ? -errno : 0;
}

int door_mmap_fd(int fd, size_t length, int prot, int flags, void **out_memory)
{
   *out_memory = mmap(NULL, length, prot, flags, fd, 0);
   return *out_memory == MAP_FAILED ? -errno : 0;
}

void door_munmap(void *memory, size_t length)
{
   assert_int_equal(munmap(memory, length), 0);
}

void door_name(int fd, char *name, size_t capacity)
{
   char path[64];
   snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
   ssize_t length = readlink(path, name, capacity - 1);
   name[length > 0 ? length : 0] = 0;
}
