/* SPDX-License-Identifier: MIT
 *
 * Reads records one after the other. Every length is checked against what encloses
 * it before anything is looked at; nothing is copied or allocated.
 */
#include <string.h>

#include "base/util.h"
#include "winsys/capture.h"

/* A window on the rest of a record. */
struct cursor {
   const uint8_t *at;
   size_t left;
};

/* The next bytes, and the padding to 8 after them; NULL when they are not there. */
static const uint8_t *take(struct cursor *cursor, uint64_t bytes)
{
   if (bytes > cursor->left || agx_align_up(bytes, 8) > cursor->left)
      return NULL;
   const uint8_t *at = cursor->at;
   cursor->at += agx_align_up(bytes, 8);
   cursor->left -= agx_align_up(bytes, 8);
   return at;
}

agx_status agxw_capture_open(struct agxw_capture_reader *reader, const void *data, size_t size)
{
   struct agxw_capture_header header;
   *reader = (struct agxw_capture_reader){0};
   if (size < sizeof(header.magic) || memcmp(data, AGXW_CAPTURE_MAGIC, sizeof(header.magic)) != 0)
      return AGX_FAIL(AGX_INCOMPATIBLE, "not a capture file: it doesn't begin with AGXCAP");
   if (size < sizeof(header))
      return AGX_FAIL(AGX_DATA_LOSS, "capture cut off: %zu bytes, the header has %zu", size,
                      sizeof(header));
   memcpy(&header, data, sizeof(header));
   if (header.version != AGXW_CAPTURE_VERSION)
      return AGX_FAIL(AGX_INCOMPATIBLE, "capture of version %u; this reader knows version %u",
                      header.version, AGXW_CAPTURE_VERSION);
   if (header.header_bytes < sizeof(header) || header.header_bytes > size ||
       header.header_bytes % 8 != 0 || header.page_bytes != 16384)
      return AGX_FAIL(AGX_DATA_LOSS, "capture header: %u bytes, pages of %u bytes",
                      header.header_bytes, header.page_bytes);
   reader->data = data;
   reader->size = size;
   reader->offset = header.header_bytes;
   memcpy(reader->node, header.node, sizeof(reader->node) - 1);
   return AGX_OK;
}

static bool read_request(struct cursor cursor, struct agxw_capture_record *record)
{
   struct agxw_capture_request head;
   const uint8_t *at = take(&cursor, sizeof(head));
   if (!at)
      return false;
   memcpy(&head, at, sizeof(head));
   record->request = head.request;
   record->result = head.result;
   record->argument_bytes = head.argument_bytes;
   record->blob_count = head.blob_count;
   record->before = take(&cursor, head.argument_bytes);
   record->after = record->before ? take(&cursor, head.argument_bytes) : NULL;
   record->blobs = cursor.at;
   record->blobs_bytes = cursor.left;
   if (!record->after)
      return false;
   for (uint32_t i = 0; i < head.blob_count; i++) {
      struct agxw_capture_blob blob;
      at = take(&cursor, sizeof(blob));
      if (!at)
         return false;
      memcpy(&blob, at, sizeof(blob));
      if (!take(&cursor, blob.bytes))
         return false;
   }
   return cursor.left == 0;
}

static bool read_pages(struct cursor cursor, struct agxw_capture_record *record)
{
   struct agxw_capture_pages head;
   const uint8_t *at = take(&cursor, sizeof(head));
   if (!at)
      return false;
   memcpy(&head, at, sizeof(head));
   record->handle = head.handle;
   record->offset = head.offset;
   record->data = cursor.at;
   record->bytes = cursor.left;
   return head.offset % 16384 == 0 && cursor.left % 16384 == 0 &&
          cursor.left <= UINT64_MAX - head.offset;
}

static bool read_label(struct cursor cursor, uint64_t bytes, struct agxw_capture_record *record)
{
   struct agxw_capture_label head;
   if (bytes < sizeof(head))
      return false;
   memcpy(&head, cursor.at, sizeof(head));
   record->handle = head.handle;
   record->data = cursor.at + sizeof(head);
   record->bytes = bytes - sizeof(head);
   return true;
}

static bool read_payload(struct cursor cursor, uint64_t bytes, struct agxw_capture_record *record)
{
   switch (record->type) {
   case AGXW_CAPTURE_REQUEST:
      return read_request(cursor, record);
   case AGXW_CAPTURE_PAGES:
      return read_pages(cursor, record);
   case AGXW_CAPTURE_LABEL:
      return read_label(cursor, bytes, record);
   case AGXW_CAPTURE_NOTE:
      record->data = cursor.at;
      record->bytes = bytes;
      return true;
   }
   return false;
}

agx_status agxw_capture_next(struct agxw_capture_reader *reader,
                             struct agxw_capture_record *out_record, bool *out_more)
{
   *out_record = (struct agxw_capture_record){.file_offset = reader->offset};
   *out_more = false;
   if (reader->offset == reader->size)
      return AGX_OK;
   struct cursor cursor = {reader->data + reader->offset, reader->size - reader->offset};
   struct agxw_capture_record_header header;
   const uint8_t *at = take(&cursor, sizeof(header));
   if (!at)
      return AGX_FAIL(AGX_DATA_LOSS, "capture cut off at offset %zu of %zu", reader->offset,
                      reader->size);
   memcpy(&header, at, sizeof(header));
   const uint8_t *payload = take(&cursor, header.bytes);
   if (!payload)
      return AGX_FAIL(AGX_DATA_LOSS,
                      "capture cut off: record at offset %zu has %llu bytes, the file %zu",
                      reader->offset, (unsigned long long)header.bytes, reader->size);
   out_record->type = (enum agxw_capture_type)header.type;
   struct cursor inside = {payload, agx_align_up(header.bytes, 8)};
   if (header.reserved != 0 || !read_payload(inside, header.bytes, out_record))
      return AGX_FAIL(AGX_DATA_LOSS, "capture damaged: record of type %u at offset %zu",
                      header.type, reader->offset);
   reader->offset = (size_t)(cursor.at - reader->data);
   *out_more = true;
   return AGX_OK;
}

const void *agxw_capture_find_blob(const struct agxw_capture_record *record, uint32_t pointer_at,
                                   uint32_t *out_bytes)
{
   struct cursor cursor = {record->blobs, record->blobs_bytes};
   *out_bytes = 0;
   for (uint32_t i = 0; i < record->blob_count; i++) {
      struct agxw_capture_blob blob;
      memcpy(&blob, take(&cursor, sizeof(blob)), sizeof(blob)); /* checked when it was read */
      const uint8_t *data = take(&cursor, blob.bytes);
      if (blob.pointer_at == pointer_at) {
         *out_bytes = blob.bytes;
         return data;
      }
   }
   return NULL;
}

void agxw_capture_argument(const struct agxw_capture_record *record, bool after, void *out_argument,
                           size_t bytes)
{
   memset(out_argument, 0, bytes);
   memcpy(out_argument, after ? record->after : record->before,
          AGX_MIN(bytes, record->argument_bytes));
}
