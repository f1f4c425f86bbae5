/* SPDX-License-Identifier: MIT
 *
 * What tests of files have in common.
 */
#pragma once

#include "conformance.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agx/file.h"

#define READ_WRITE (AGX_FILE_READ | AGX_FILE_WRITE)

/* ---- setting up ----------------------------------------------------------- */

/* A file without a name, of size bytes. */
static inline int scratch_fd(uint64_t size)
{
   int fd = memfd_create("scratch", MFD_CLOEXEC | MFD_ALLOW_SEALING);
   assert_true(fd >= 0);
   assert_int_equal(ftruncate(fd, (off_t)size), 0);
   return fd;
}

static inline agx_status import_fd(struct fixture *f, int fd, uint32_t access,
                                   struct agx_file **out_file)
{
   const struct agx_file_desc desc = {
      .size = sizeof(desc), .kind = AGX_FILE_FD, .access = access, .fd = fd};
   return agx_file_import(f->device, &desc, out_file);
}

/* Each test of moved bytes runs over a descriptor and over host memory. */
struct medium {
   struct agx_file *file;
   int fd; /* -1: memory */
   uint8_t *memory;
   uint64_t size;
};

static inline void medium_open(struct fixture *f, struct medium *medium, bool is_memory,
                               uint64_t size)
{
   *medium = (struct medium){.fd = -1, .size = size};
   struct agx_file_desc desc = {.size = sizeof(desc), .access = READ_WRITE};
   if (is_memory) {
      desc.kind = AGX_FILE_HOST_MEMORY;
      desc.memory = medium->memory = calloc(1, size);
      desc.memory_B = size;
      assert_non_null(medium->memory);
   } else {
      desc.fd = medium->fd = scratch_fd(size);
   }
   assert_ok(agx_file_import(f->device, &desc, &medium->file));
}

static inline void medium_close(struct medium *medium)
{
   agx_release(medium->file);
   if (medium->fd >= 0)
      close(medium->fd);
   free(medium->memory);
}

static inline uint8_t medium_byte(const struct medium *medium, uint64_t at)
{
   uint8_t byte = 0;
   if (medium->memory)
      return medium->memory[at];
   assert_int_equal(pread(medium->fd, &byte, 1, (off_t)at), 1);
   return byte;
}

static inline uint8_t pattern(uint64_t at)
{
   return (uint8_t)(at * 31 + (at >> 8) * 7 + 5);
}

static inline void medium_fill(struct medium *medium)
{
   uint8_t block[4096];
   for (uint64_t at = 0; at < medium->size; at += sizeof(block)) {
      size_t length = medium->size - at < sizeof(block) ? medium->size - at : sizeof(block);
      for (size_t i = 0; i < length; i++)
         block[i] = pattern(at + i);
      if (medium->memory)
         memcpy(medium->memory + at, block, length);
      else
         assert_int_equal(pwrite(medium->fd, block, length, (off_t)at), length);
   }
}

static inline struct agx_op file_op(uint32_t kind, struct agx_file *file, uint64_t file_offset,
                                    struct agx_buffer *buffer, uint64_t offset, uint64_t length)
{
   return (struct agx_op){.size = sizeof(struct agx_op),
                          .kind = kind,
                          .u.file = {file, file_offset, {buffer, offset, length}}};
}

static inline agx_status submit(struct fixture *f, struct agx_op op, struct agx_point wait,
                                struct agx_point signal)
{
   op.waits = &wait;
   op.wait_count = wait.semaphore != NULL;
   op.signals = &signal;
   op.signal_count = signal.semaphore != NULL;
   return agx_submit(f->device, &op, 1, NULL);
}

/* Submits and waits: the failure of either. */
static inline agx_status run(struct fixture *f, struct agx_op op)
{
   struct agx_semaphore *done = fixture_semaphore(f);
   agx_status status = submit(f, op, NO_POINT, conformance_point(done, 1));
   if (status == AGX_OK)
      status = fixture_wait(done, 1);
   agx_release(done);
   return status;
}
