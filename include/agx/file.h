/* SPDX-License-Identifier: MIT
 *
 * Files as sources and targets of operations (AGX_OP_READ, AGX_OP_WRITE in agx/queue.h).
 */
#pragma once

#include "agx/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct agx_file;

enum agx_file_kind {
   AGX_FILE_FD = 0,          /* an open file descriptor */
   AGX_FILE_HOST_MEMORY = 1, /* bytes in host memory */
};

enum agx_file_access {
   AGX_FILE_READ = 1,
   AGX_FILE_WRITE = 2,
};

enum agx_file_flags {
   /* The descriptor becomes the file's, which closes it; when the import fails it stays the
    * caller's. Without this the file works with a duplicate. */
   AGX_FILE_TAKE_FD = 1,
};

struct agx_file_desc {
   uint32_t size;
   const void *next;
   uint32_t kind;   /* enum agx_file_kind */
   uint32_t access; /* enum agx_file_access, what operations may do: at least one */
   uint32_t flags;  /* enum agx_file_flags */
   int32_t fd;      /* AGX_FILE_FD */
   /* AGX_FILE_HOST_MEMORY: the file itself, of a fixed length. The caller keeps it until
    * release comes. */
   void *memory;
   uint64_t memory_B;
   /* Called when the file goes, after the last operation on it has ended; on any thread, without
    * a lock. NULL: no notification. Not called when the import fails. */
   void (*release)(void *user);
   void *user;
   const char *label; /* for messages; NULL: "file of descriptor 5" or "file in host memory" */
};

/* A file that operations of the device can read and write at any offset. What has no offsets is
 * refused with AGX_INVALID_ARGUMENT: pipes, sockets, terminals, directories; so is writing to
 * what was opened with O_APPEND, and O_DIRECT. AGX_PERMISSION_DENIED when the descriptor was not
 * opened for the access asked for. Neither the descriptor's position nor its length matters or
 * changes here; several files may share one. */
AGX_API AGX_MUST_CHECK agx_status agx_file_import(struct agx_device *device,
                                                  const struct agx_file_desc *desc,
                                                  struct agx_file **out_file);

struct agx_file_info {
   uint32_t size; /* set by the caller */
   uint32_t kind, access;
   /* At this moment; a file of a descriptor grows when operations write beyond its end. INT64_MAX
    * for a device that has no end. */
   uint64_t length_B;
   uint64_t read_B, written_B; /* moved so far by operations, finished or not */
};
/* Fails when the system does not tell the length. */
AGX_API AGX_MUST_CHECK agx_status agx_file_get_info(struct agx_file *file,
                                                    struct agx_file_info *out_info);

/* AGX_OP_READ: the file's bytes from offset_B on into the whole of ref. AGX_OP_WRITE: ref's bytes
 * into the file from offset_B on. Both run on a thread of the library. A range that is not in the
 * buffer (or in host memory), and an access that the file does not have, fail agx_submit; that a
 * file ends before the range read from it is found when the operation runs: AGX_OUT_OF_RANGE, and
 * AGX_DATA_LOSS where it was cut short meanwhile. A failure in the middle leaves what was moved
 * until then. Operations on one file run side by side unless semaphores order them. */
struct agx_op_file {
   struct agx_file *file;
   uint64_t offset_B; /* in the file; any, also beyond 4 GiB */
   struct agx_buffer_ref ref;
};

#ifdef __cplusplus
}
#endif
