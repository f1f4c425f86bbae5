/* SPDX-License-Identifier: MIT
 *
 * Puts records back into the layout that the reader took them from, by a buffered stream: nothing
 * has to be there before the file is closed. A stream that can't be written keeps its errno.
 */
#include "winsys/capture/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/util.h"
#include "winsys/capture/record.h"

#define RUN_BYTES  ((size_t)AGXW_CAPTURE_RUN_PAGES * AGXW_CAPTURE_PAGE_BYTES)
#define ZSTD_LEVEL 1

struct agxw_capture_writer {
   FILE *file;
   char *path;
   ZSTD_CCtx *packer;
   uint8_t *packed; /* ZSTD_compressBound(RUN_BYTES) */
   uint64_t written;
   int error;
};

static void put_bytes(struct agxw_capture_writer *writer, const void *data, size_t bytes)
{
   if (bytes > 0 && fwrite(data, 1, bytes, writer->file) != bytes && !writer->error)
      writer->error = errno ? errno : EIO;
   writer->written += bytes;
}

/* Up to a multiple of 8. */
static void put_padding(struct agxw_capture_writer *writer, uint64_t bytes)
{
   static const uint8_t zero[8];
   put_bytes(writer, zero, agx_align_up(bytes, 8) - bytes);
}

static void put_padded(struct agxw_capture_writer *writer, const void *data, size_t bytes)
{
   put_bytes(writer, data, bytes);
   put_padding(writer, bytes);
}

static void put_head(struct agxw_capture_writer *writer, const struct agxw_capture_record *record,
                     uint32_t flags, uint64_t stored_bytes, uint64_t bytes)
{
   const struct agxw_capture_record_header header = {.type = record->type,
                                                     .flags = flags,
                                                     .stored_bytes = stored_bytes,
                                                     .bytes = bytes,
                                                     .time_ns = record->time_ns,
                                                     .process = record->process,
                                                     .file = record->file};
   put_bytes(writer, &header, sizeof(header));
}

static void put_request(struct agxw_capture_writer *writer,
                        const struct agxw_capture_record *record)
{
   const struct agxw_capture_request head = {
      .request = record->request,
      .result = record->result,
      .argument_bytes = record->argument_bytes,
      .blob_count = record->blob_count,
      .duration_ns = record->duration_ns,
      .caller = record->caller,
      .flags = agxw_capture_request_flags(record->is_awaited, record->lacks_memory)};
   uint64_t bytes =
      sizeof(head) + 2 * agx_align_up(record->argument_bytes, 8) + record->blobs_bytes;
   put_head(writer, record, 0, bytes, bytes);
   put_bytes(writer, &head, sizeof(head));
   put_padded(writer, record->before, record->argument_bytes);
   put_padded(writer, record->after, record->argument_bytes);
   put_padded(writer, record->blobs, record->blobs_bytes);
}

static void put_text(struct agxw_capture_writer *writer, const struct agxw_capture_record *record,
                     const void *head, size_t head_bytes)
{
   uint64_t bytes = head_bytes + record->text_bytes;
   put_head(writer, record, 0, bytes, bytes);
   put_bytes(writer, head, head_bytes);
   put_bytes(writer, record->text, record->text_bytes);
   put_padding(writer, bytes);
}

void agxw_capture_writer_put(struct agxw_capture_writer *writer,
                             const struct agxw_capture_record *record)
{
   const struct agxw_capture_label label = {.handle = record->handle};
   const struct agxw_capture_process process = {.parent = record->parent};
   const struct agxw_capture_import import = {.handle = record->handle,
                                              .bytes = record->object_bytes};
   switch (record->type) {
   case AGXW_CAPTURE_REQUEST:
      put_request(writer, record);
      return;
   case AGXW_CAPTURE_LABEL:
      put_text(writer, record, &label, sizeof(label));
      return;
   case AGXW_CAPTURE_PROCESS:
      put_text(writer, record, &process, sizeof(process));
      return;
   case AGXW_CAPTURE_IMPORT:
      put_head(writer, record, 0, sizeof(import), sizeof(import));
      put_bytes(writer, &import, sizeof(import));
      return;
   case AGXW_CAPTURE_NOTE:
   case AGXW_CAPTURE_OPEN:
   case AGXW_CAPTURE_CLOSE:
      put_text(writer, record, NULL, 0);
      return;
   case AGXW_CAPTURE_PAGES:
      return;
   }
}

void agxw_capture_writer_put_pages(struct agxw_capture_writer *writer,
                                   const struct agxw_capture_record *record, const void *contents)
{
   const struct agxw_capture_pages pages = {
      .handle = record->handle, .moment = record->moment, .offset = record->offset};
   agx_assert(record->type == AGXW_CAPTURE_PAGES && record->page_count <= AGXW_CAPTURE_RUN_PAGES);
   size_t bytes = (size_t)record->page_count * AGXW_CAPTURE_PAGE_BYTES;
   size_t packed = ZSTD_compressCCtx(writer->packer, writer->packed, ZSTD_compressBound(RUN_BYTES),
                                     contents, bytes, ZSTD_LEVEL);
   bool is_packed = !ZSTD_isError(packed) && packed < bytes;
   put_head(writer, record, is_packed ? AGXW_CAPTURE_ZSTD : 0,
            sizeof(pages) + (is_packed ? packed : bytes), sizeof(pages) + bytes);
   put_bytes(writer, &pages, sizeof(pages));
   put_padded(writer, is_packed ? writer->packed : contents, is_packed ? packed : bytes);
}

uint64_t agxw_capture_writer_bytes(const struct agxw_capture_writer *writer)
{
   return writer->written;
}

static void free_writer(struct agxw_capture_writer *writer)
{
   ZSTD_freeCCtx(writer->packer);
   free(writer->packed);
   free(writer->path);
   free(writer);
}

static agx_status open_stream(struct agxw_capture_writer *writer)
{
   if (!writer->path || !writer->packer || !writer->packed)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "capture: no memory for its writer");
   int fd = open(writer->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
   int error = fd < 0 ? errno : agxw_capture_make_private(fd);
   writer->file = error ? NULL : fdopen(fd, "wb");
   if (writer->file)
      return AGX_OK;
   error = error ? error : errno;
   if (fd >= 0)
      close(fd);
   return agx_status_fail_errno(error, "capture: %s can't be written", writer->path);
}

agx_status agxw_capture_writer_open(const char *path, const char *node,
                                    struct agxw_capture_writer **out_writer)
{
   struct agxw_capture_writer *writer = calloc(1, sizeof(*writer));
   *out_writer = NULL;
   if (!writer)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "capture: no memory for its writer");
   writer->path = strdup(path);
   writer->packer = ZSTD_createCCtx();
   writer->packed = malloc(ZSTD_compressBound(RUN_BYTES));
   agx_status status = open_stream(writer);
   if (status != AGX_OK) {
      free_writer(writer);
      return status;
   }
   struct agxw_capture_header header = {.version = AGXW_CAPTURE_VERSION,
                                        .header_bytes = sizeof(header),
                                        .page_bytes = AGXW_CAPTURE_PAGE_BYTES};
   memcpy(header.magic, AGXW_CAPTURE_MAGIC, sizeof(header.magic));
   snprintf(header.node, sizeof(header.node), "%s", node);
   put_bytes(writer, &header, sizeof(header));
   *out_writer = writer;
   return AGX_OK;
}

agx_status agxw_capture_writer_close(struct agxw_capture_writer *writer)
{
   if (!writer)
      return AGX_OK;
   if (fclose(writer->file) != 0 && !writer->error)
      writer->error = errno;
   agx_status status =
      writer->error
         ? agx_status_fail_errno(writer->error, "capture: %s can't be written", writer->path)
         : AGX_OK;
   free_writer(writer);
   return status;
}
