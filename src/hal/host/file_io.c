/* SPDX-License-Identifier: MIT
 *
 * Moves bytes with pread and pwrite. file_op.c calls it on the threads of the host pool.
 */
#include "hal/host/file_io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

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

/* ---- one call ----------------------------------------------------------- */

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
