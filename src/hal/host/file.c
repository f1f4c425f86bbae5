/* SPDX-License-Identifier: MIT
 *
 * Files: importing them, and moving their bytes with pread and pwrite, which file_op.c calls on the
 * threads of the host pool.
 */
#include "hal/host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "hal/core/desc.h"

_Static_assert(sizeof(off_t) == 8, "offsets beyond 2 GiB");

/* Linux moves at most this much in one call anyway; below it a caller can tell what came back. */
#define MOST_PER_CALL_B ((uint64_t)1 << 30)

const struct agx_file_calls agx_file_system_calls = {pread, pwrite, fstat};

agx_status agx_file_store_length(const struct agx_file_store *store, uint64_t *out_length_B)
{
   struct stat status;
   *out_length_B = store->memory_B;
   if (!store->calls)
      return AGX_OK;
   if (store->calls->fstat(store->fd, &status))
      return agx_status_fail_errno(errno, "%s: its length", store->name);
   *out_length_B = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : AGX_FILE_MAX_B;
   return AGX_OK;
}

agx_status agx_transfer_check(const struct agx_transfer *transfer)
{
   uint64_t length_B;
   if (transfer->is_write && transfer->store->calls)
      return AGX_OK; /* it grows */
   AGX_TRY(agx_file_store_length(transfer->store, &length_B));
   if (agx_range_fits(transfer->offset_B, transfer->length_B, length_B))
      return AGX_OK;
   return AGX_FAIL(AGX_OUT_OF_RANGE,
                   "%s: %s %" PRIu64 " bytes at %" PRIu64 "; the file has %" PRIu64,
                   transfer->store->name, transfer->is_write ? "write" : "read", transfer->length_B,
                   transfer->offset_B, length_B);
}

/* ---- moving bytes: one call ----------------------------------------------------------- */

static agx_status failed_call(const struct agx_transfer *transfer, int error)
{
   agx_status status = agx_status_fail_errno(
      error, "%s: %s at byte %" PRIu64 ", %" PRIu64 " of %" PRIu64 " bytes done",
      transfer->store->name, transfer->is_write ? "write" : "read",
      transfer->offset_B + transfer->done_B, transfer->done_B, transfer->length_B);
   return error == EIO ? AGX_DATA_LOSS : status;
}

/* No byte more, though the system calls it no error. */
static agx_status stuck(const struct agx_transfer *transfer)
{
   uint64_t at = transfer->offset_B + transfer->done_B;
   return AGX_FAIL(
      AGX_DATA_LOSS, "%s: %s at byte %" PRIu64 ", %" PRIu64 " of %" PRIu64 " bytes done: %s",
      transfer->store->name, transfer->is_write ? "write" : "read", at, transfer->done_B,
      transfer->length_B, transfer->is_write ? "it takes no more" : "it ended while it was read");
}

static agx_status move_some(struct agx_transfer *transfer, char *memory, uint64_t size_B)
{
   const struct agx_file_store *store = transfer->store;
   off_t offset = (off_t)(transfer->offset_B + transfer->done_B);
   size_t size = (size_t)AGX_MIN(size_B, MOST_PER_CALL_B);
   ssize_t moved = transfer->is_write ? store->calls->pwrite(store->fd, memory, size, offset)
                                      : store->calls->pread(store->fd, memory, size, offset);
   if (moved < 0)
      return errno == EINTR ? AGX_OK : failed_call(transfer, errno);
   if (moved == 0)
      return stuck(transfer);
   transfer->done_B += AGX_MIN((uint64_t)moved, size);
   return AGX_OK;
}

static void copy_some(struct agx_transfer *transfer, char *memory, uint64_t size_B)
{
   char *file = (char *)transfer->store->memory + transfer->offset_B + transfer->done_B;
   if (transfer->is_write)
      memmove(file, memory, size_B); /* an application may have given us the buffer's own memory */
   else
      memmove(memory, file, size_B);
   transfer->done_B += size_B;
}

agx_status agx_transfer_move(struct agx_transfer *transfer, void *memory, uint64_t most_B)
{
   uint64_t end_B = transfer->done_B + AGX_MIN(most_B, transfer->length_B - transfer->done_B);
   while (transfer->done_B < end_B) {
      char *at = (char *)memory + transfer->done_B;
      if (transfer->store->calls)
         AGX_TRY(move_some(transfer, at, end_B - transfer->done_B));
      else
         copy_some(transfer, at, end_B - transfer->done_B);
   }
   return AGX_OK;
}

/* ---- what a descriptor is ------------------------------------------------- */

/* What has no offsets: a name for each. */
static const struct {
   mode_t type;
   const char *name;
} refused[] = {
   {S_IFIFO, "a pipe"},
   {S_IFSOCK, "a socket"},
   {S_IFDIR, "a directory"},
   {S_IFLNK, "a symbolic link"},
};

static const char *refused_name(int fd, mode_t type)
{
   for (size_t i = 0; i < AGX_COUNT(refused); i++)
      if (refused[i].type == type)
         return refused[i].name;
   if (type == S_IFCHR && lseek(fd, 0, SEEK_CUR) < 0)
      return "a device that is a stream";
   return type == S_IFREG || type == S_IFBLK || type == S_IFCHR ? NULL : "no file";
}

static agx_status check_kind(int fd)
{
   struct stat status;
   if (fstat(fd, &status))
      return agx_status_fail_errno(errno, "file: descriptor %d", fd);
   const char *name = refused_name(fd, status.st_mode & S_IFMT);
   if (name)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "file: descriptor %d is %s, which has no offsets; move its bytes through "
                      "host memory",
                      fd, name);
   return AGX_OK;
}

static agx_status check_mode(int fd, uint32_t access)
{
   int flags = fcntl(fd, F_GETFL);
   if (flags < 0)
      return agx_status_fail_errno(errno, "file: descriptor %d", fd);
   int mode = flags & O_ACCMODE;
   bool can_read = mode == O_RDONLY || mode == O_RDWR;
   bool can_write = mode == O_WRONLY || mode == O_RDWR;
   if (flags & O_PATH)
      return AGX_FAIL(AGX_PERMISSION_DENIED, "file: descriptor %d was opened with O_PATH", fd);
   if ((access & AGX_FILE_READ && !can_read) || (access & AGX_FILE_WRITE && !can_write))
      return AGX_FAIL(AGX_PERMISSION_DENIED, "file: descriptor %d was opened for %s only", fd,
                      can_read ? "reading" : "writing");
   if (access & AGX_FILE_WRITE && flags & O_APPEND)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "file: descriptor %d was opened with O_APPEND, which writes to the end "
                      "whatever the offset",
                      fd);
   if (flags & O_DIRECT)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "file: descriptor %d was opened with O_DIRECT, which the memory of a GPU "
                      "can't serve",
                      fd);
   return AGX_OK;
}

static agx_status open_fd(const struct agx_file_desc *desc, struct agx_file_store *store)
{
   AGX_TRY(check_kind(desc->fd));
   AGX_TRY(check_mode(desc->fd, desc->access));
   int fd = desc->fd;
   if (!(desc->flags & AGX_FILE_TAKE_FD))
      fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
   if (fd < 0)
      return agx_status_fail_errno(errno, "file: duplicate of descriptor %d", desc->fd);
   *store = (struct agx_file_store){.calls = &agx_file_system_calls, .fd = fd};
   return AGX_OK;
}

static agx_status open_memory(const struct agx_file_desc *desc, struct agx_file_store *store)
{
   if (desc->flags & AGX_FILE_TAKE_FD)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "file: AGX_FILE_TAKE_FD with host memory, which has no descriptor");
   if (!desc->memory && desc->memory_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "file: %llu bytes of host memory at NULL",
                      (unsigned long long)desc->memory_B);
   if (desc->memory_B > AGX_FILE_MAX_B || (uintptr_t)desc->memory > UINTPTR_MAX - desc->memory_B)
      return AGX_FAIL(
         AGX_OUT_OF_RANGE,
         "file: %llu bytes of host memory at %p; at most %llu, up to the end of addresses",
         (unsigned long long)desc->memory_B, desc->memory, (unsigned long long)AGX_FILE_MAX_B);
   *store = (struct agx_file_store){.fd = -1, .memory = desc->memory, .memory_B = desc->memory_B};
   return AGX_OK;
}

/* ---- the object ----------------------------------------------------------- */

static void file_destroy(struct agx_object *object)
{
   struct agx_file *file = agx_container_of(object, struct agx_file, object);
   struct agx_device *device = file->device;
   if (file->store.calls)
      close(file->store.fd);
   if (file->release)
      file->release(file->user);
   agx_host_free(agx_context_of(device)->alloc, file, sizeof(*file));
   agx_release(device);
}

static void set_label(struct agx_file *file, const struct agx_file_desc *desc)
{
   if (desc->label)
      snprintf(file->label, sizeof(file->label), "%s", desc->label);
   else if (desc->kind == AGX_FILE_FD)
      snprintf(file->label, sizeof(file->label), "file of descriptor %d", desc->fd);
   else
      snprintf(file->label, sizeof(file->label), "file in host memory");
   file->store.name = file->label;
}

static const struct agx_object_type file_type = {"file", file_destroy};

static agx_status open_store(const struct agx_file_desc *desc, struct agx_file_store *store)
{
   if (desc->access == 0)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "file: access 0x0; AGX_FILE_READ, AGX_FILE_WRITE or both");
   AGX_TRY(agx_bits_check("file", "access", desc->access, AGX_FILE_READ | AGX_FILE_WRITE));
   AGX_TRY(agx_bits_check("file", "flags", desc->flags, AGX_FILE_TAKE_FD));
   if (desc->kind == AGX_FILE_FD)
      return open_fd(desc, store);
   if (desc->kind == AGX_FILE_HOST_MEMORY)
      return open_memory(desc, store);
   return AGX_FAIL(AGX_UNIMPLEMENTED,
                   "file: kind %u; AGX_FILE_FD and AGX_FILE_HOST_MEMORY are known", desc->kind);
}

agx_status agx_file_import(struct agx_device *device, const struct agx_file_desc *desc,
                           struct agx_file **out_file)
{
   struct agx_file_desc read;
   *out_file = NULL;
   AGX_TRY(agx_fork_check(device));
   AGX_TRY(agx_desc_read("agx_file_desc", desc, &read, sizeof(read)));
   struct agx_file *file = agx_host_zalloc(agx_context_of(device)->alloc, sizeof(*file));
   if (!file)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "file: out of host memory");
   agx_status status = open_store(&read, &file->store);
   if (status != AGX_OK) {
      agx_host_free(agx_context_of(device)->alloc, file, sizeof(*file));
      return status;
   }
   agx_object_init(&file->object, &file_type);
   agx_retain(device);
   file->device = device;
   set_label(file, &read);
   file->kind = read.kind;
   file->access = read.access;
   file->release = read.release;
   file->user = read.user;
   *out_file = file;
   return AGX_OK;
}

agx_status agx_file_get_info(struct agx_file *file, struct agx_file_info *out_info)
{
   struct agx_file_info info = {
      .kind = file->kind,
      .access = file->access,
      .read_B = atomic_load(&file->moved_B[0]),
      .written_B = atomic_load(&file->moved_B[1]),
   };
   AGX_TRY(agx_file_store_length(&file->store, &info.length_B));
   return agx_info_write("agx_file_info", out_info, &info, sizeof(info));
}
