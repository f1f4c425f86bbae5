/* SPDX-License-Identifier: MIT
 *
 * Files, and moving bytes between a file and memory: pieces of bounded size, continued where the
 * system stopped short.
 */
#pragma once

#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "agx/file.h"
#include "hal/core/context.h"

/* The system's calls, and a test's. */
struct agx_file_calls {
   ssize_t (*pread)(int fd, void *memory, size_t size, off_t offset);
   ssize_t (*pwrite)(int fd, const void *memory, size_t size, off_t offset);
   int (*fstat)(int fd, struct stat *out);
};
extern const struct agx_file_calls agx_file_system_calls;

/* Beyond this no file has bytes. */
#define AGX_FILE_MAX_B ((uint64_t)INT64_MAX)

/* Where a file's bytes are. */
struct agx_file_store {
   const char *name;                   /* for messages */
   const struct agx_file_calls *calls; /* NULL: the bytes are in memory */
   int fd;
   void *memory;
   uint64_t memory_B;
};

#define AGX_FILE_LABEL_BYTES 48

struct agx_file {
   struct agx_object object;
   struct agx_device *device;
   struct agx_file_store store;
   uint32_t kind, access;
   void (*release)(void *user);
   void *user;
   char label[AGX_FILE_LABEL_BYTES];
   _Atomic uint64_t moved_B[2]; /* read, written */
};

struct agx_transfer {
   const struct agx_file_store *store;
   uint64_t offset_B; /* in the file; offset_B + length_B is at most AGX_FILE_MAX_B */
   uint64_t length_B;
   uint64_t done_B;
   bool is_write; /* memory to file */
};

/* The file's bytes at present; AGX_FILE_MAX_B for a device without an end. */
AGX_MUST_CHECK agx_status agx_file_store_length(const struct agx_file_store *store,
                                                uint64_t *out_length_B);

/* Fails with AGX_OUT_OF_RANGE when a transfer, not yet begun, would read beyond the end. */
AGX_MUST_CHECK agx_status agx_transfer_check(const struct agx_transfer *transfer);

/* Moves most_B bytes, or what is left, to or from memory, where the transfer's byte 0 is. An
 * interrupted or short call is continued. Ends short only with a failure, which says at which
 * byte of the file: AGX_DATA_LOSS where the file ended before it should or the medium failed,
 * AGX_RESOURCE_EXHAUSTED when it is full. */
AGX_MUST_CHECK agx_status agx_transfer_move(struct agx_transfer *transfer, void *memory,
                                            uint64_t most_B);
