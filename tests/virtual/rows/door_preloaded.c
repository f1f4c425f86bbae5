/* SPDX-License-Identifier: MIT
 *
 * The door through the C library: this file knows nothing of the node.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rows/door.h"
#include "rows/spinner.h"

const bool door_is_preloaded = true;

struct door_file {
   int fd;
};

static int result_of(long result)
{
   return result < 0 ? -errno : (int)result;
}

struct door_file *door_open(void)
{
   struct door_file *it = calloc(1, sizeof(*it));
   assert_non_null(it);
   it->fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
   assert_true(it->fd >= 0);
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

void door_preload(char **argv)
{
   const char *library = getenv("AGX_TEST_PRELOAD");
   if (getenv("LD_PRELOAD"))
      return;
   setenv("LD_PRELOAD", library ? library : "", 1);
   execv(argv[0], argv);
   exit(1);
}

static int spin_ioctl(void *it, unsigned long request, void *argument)
{
   return door_ioctl(it, request, argument);
}

static int spin_map_page(void *it, uint64_t offset, void **out_memory)
{
   return door_mmap(it, AGX_UAPI_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, offset,
                    out_memory);
}

/* Of the file that made them last. */
static struct spinner spinners[2];

void door_pend(struct door_file *it, unsigned stream, uint32_t handle, uint64_t value)
{
   struct spinner *spinner = &spinners[stream];
   if (!spinner->queue)
      spin_make(spinner, (struct spinner_door){spin_ioctl, spin_map_page, it});
   *spinner->flag = 0;
   spin_submit(spinner,
               (struct agx_uapi_sync){
                  value ? AGX_UAPI_SYNC_TIMELINE_SYNCOBJ : AGX_UAPI_SYNC_SYNCOBJ, handle, value});
}

void door_fire(unsigned stream)
{
   if (spinners[stream].flag)
      *spinners[stream].flag = 1;
}

void door_shut(void)
{
   memset(spinners, 0, sizeof(spinners)); /* their mappings end with the process */
}
