/* SPDX-License-Identifier: MIT
 *
 * The bytes of a capture. Interrupted and short reads go on until the data ends.
 */
#include "winsys/capture/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"

#define SPOOL_BYTES 65536

static int open_spool(void)
{
   char path[256];
   const char *folder = getenv("TMPDIR");
   snprintf(path, sizeof(path), "%.200s/agxdump-XXXXXX", folder && *folder ? folder : "/tmp");
   int fd = mkostemp(path, 02000000); /* O_CLOEXEC */
   if (fd >= 0)
      unlink(path);
   return fd;
}

agx_status agxw_source_open(struct agxw_source *source, int fd)
{
   struct stat info;
   *source = (struct agxw_source){.fd = fd, .spool = -1};
   if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
      return AGX_OK;
   source->spool = open_spool();
   if (source->spool >= 0)
      return AGX_OK;
   int error = errno;
   close(fd);
   return agx_status_fail_errno(error, "capture: no temporary file for what comes from the pipe");
}

void agxw_source_close(struct agxw_source *source)
{
   if (source->memory)
      return;
   close(source->fd);
   if (source->spool >= 0)
      close(source->spool);
}

/* Takes from the pipe until the spool holds `end` bytes or the pipe ends. */
static agx_status fill_spool(struct agxw_source *source, uint64_t end)
{
   uint8_t buffer[SPOOL_BYTES];
   while (source->size < end && !source->is_drained) {
      ssize_t got = read(source->fd, buffer, sizeof(buffer));
      if (got < 0 && errno == EINTR)
         continue;
      if (got < 0)
         return agx_status_fail_errno(errno, "capture: the pipe can't be read");
      source->is_drained = got == 0;
      for (ssize_t at = 0; at < got;) {
         ssize_t put = pwrite(source->spool, buffer + at, (size_t)(got - at),
                              (off_t)(source->size + (uint64_t)at));
         if (put < 0 && errno != EINTR)
            return agx_status_fail_errno(errno, "capture: the temporary file can't be written");
         at += AGX_MAX(put, 0);
      }
      source->size += (uint64_t)got;
   }
   return AGX_OK;
}

static agx_status read_file(int fd, uint64_t offset, uint8_t *out, size_t bytes, size_t *out_got)
{
   while (*out_got < bytes) {
      ssize_t got = pread(fd, out + *out_got, bytes - *out_got, (off_t)(offset + *out_got));
      if (got < 0 && errno == EINTR)
         continue;
      if (got < 0)
         return agx_status_fail_errno(errno, "capture: can't be read at offset %llu",
                                      (unsigned long long)(offset + *out_got));
      if (got == 0)
         break;
      *out_got += (size_t)got;
   }
   return AGX_OK;
}

agx_status agxw_source_read(struct agxw_source *source, uint64_t offset, void *out, size_t bytes,
                            size_t *out_got)
{
   *out_got = 0;
   if (offset > INT64_MAX - bytes) /* as no file is */
      return AGX_OK;
   if (source->memory) {
      *out_got = offset < source->size ? (size_t)AGX_MIN(bytes, source->size - offset) : 0;
      if (*out_got > 0)
         memcpy(out, source->memory + offset, *out_got);
      return AGX_OK;
   }
   if (source->spool < 0)
      return read_file(source->fd, offset, out, bytes, out_got);
   AGX_TRY(fill_spool(source, offset + bytes));
   return read_file(source->spool, offset, out, bytes, out_got);
}
