/* SPDX-License-Identifier: MIT
 *
 * What /dev/udmabuf does: a dma-buf of a range of a memory file. Here it is the file opened
 * once more, and its position, which nothing else of this file has a use for, says that it is
 * one and what of the file it shows. So it stands for the same memory in any process and on any
 * node, as the descriptors of buffers do.
 *
 * Source: Linux, drivers/dma-buf/udmabuf.c, for what is refused and with what.
 */
#include "winsys/virtual/mm/udmabuf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/virtual/store/user.h"
#include "winsys/virtual/virtual.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* A position: 15 bits of mark, 28 of the first host page, 20 of the count of them. */
#define MARK        0x5dabull
#define MARK_SHIFT  48
#define FIRST_SHIFT 20
#define FIRST_BITS  28
#define COUNT_BITS  20

/* The module's default limit of one buffer. */
#define MAX_BYTES (64ull << 20)

static uint64_t host_page(void)
{
   return (uint64_t)sysconf(_SC_PAGESIZE);
}

bool agxv_udmabuf_range(int fd, uint64_t *out_offset, uint64_t *out_bytes)
{
   off_t position = lseek(fd, 0, SEEK_CUR);
   if (position < 0 || (uint64_t)position >> MARK_SHIFT != MARK)
      return false;
   uint64_t count = (uint64_t)position & ((1ull << COUNT_BITS) - 1);
   uint64_t first = (uint64_t)position >> FIRST_SHIFT & ((1ull << FIRST_BITS) - 1);
   *out_offset = first * host_page();
   *out_bytes = count * host_page();
   return count > 0;
}

void agxv_udmabuf_mark(int fd, uint64_t offset, uint64_t bytes)
{
   uint64_t first = offset / host_page(), count = bytes / host_page();
   lseek(fd, (off_t)(MARK << MARK_SHIFT | first << FIRST_SHIFT | count), SEEK_SET);
}

static int check_file(int fd, uint64_t end)
{
   struct stat info;
   int seals = fcntl(fd, F_GET_SEALS);
   if (seals < 0)
      return -EBADFD;
   if (!(seals & F_SEAL_SHRINK) || seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
      return -EINVAL;
   if (fstat(fd, &info))
      return -errno;
   return end > (uint64_t)info.st_size ? -EINVAL : 0;
}

int agx_virtual_udmabuf(int memory_file, uint64_t offset, uint64_t bytes, bool closes_on_exec)
{
   if (!agx_is_aligned(offset | bytes, host_page()) || bytes == 0 || bytes > MAX_BYTES ||
       offset > UINT64_MAX - bytes || offset / host_page() >> FIRST_BITS)
      return -EINVAL;
   int error = check_file(memory_file, offset + bytes);
   if (error)
      return error;
   char path[64];
   snprintf(path, sizeof(path), "/proc/self/fd/%d", memory_file);
   int fd = open(path, O_RDWR | (closes_on_exec ? O_CLOEXEC : 0));
   if (fd < 0)
      return -errno;
   agxv_udmabuf_mark(fd, offset, bytes);
   return fd;
}

int agx_virtual_udmabuf_ioctl(unsigned long request, void *argument)
{
   struct udmabuf_create args;
   if ((uint32_t)request != (uint32_t)UDMABUF_CREATE)
      return -ENOTTY; /* a list of ranges is none that this driver asks for */
   if (agxv_copy_in(&args, (uintptr_t)argument, sizeof(args)))
      return -EFAULT;
   if (args.flags & ~(uint32_t)UDMABUF_FLAGS_CLOEXEC)
      return -EINVAL;
   return agx_virtual_udmabuf((int)args.memfd, args.offset, args.size,
                              args.flags & UDMABUF_FLAGS_CLOEXEC);
}
