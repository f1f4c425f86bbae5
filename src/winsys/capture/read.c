/* SPDX-License-Identifier: MIT
 *
 * Reads records one after the other. Every length is checked against what encloses it before
 * anything is looked at, and memory grows only with bytes that were there. Contents of memory are
 * skipped, and read by contents.c when they are wanted.
 */
#include "winsys/capture/read_impl.h"

#include <string.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"

#define FIRST_BUFFER_BYTES 65536u
#define MAX_ERRNO          4095                /* that a request of Linux can fail with */
#define MAX_PART_BYTES     (UINT64_C(4) << 20) /* that a writer may leave of a record */

/* ---- opening ---- */

static agx_status check_header(struct agxw_capture_reader *reader,
                               const struct agxw_capture_header *header, size_t got)
{
   if (got < sizeof(header->magic) ||
       memcmp(header->magic, AGXW_CAPTURE_MAGIC, sizeof(header->magic)) != 0)
      return AGX_FAIL(AGX_INCOMPATIBLE, "not a capture file: it doesn't begin with AGXCAP");
   if (got < sizeof(*header))
      return AGX_FAIL(AGX_DATA_LOSS, "capture cut off: %zu bytes, the header has %zu", got,
                      sizeof(*header));
   if (header->version < 1 || header->version > AGXW_CAPTURE_VERSION)
      return AGX_FAIL(AGX_INCOMPATIBLE, "capture of version %u; this reader knows versions 1 to %u",
                      header->version, AGXW_CAPTURE_VERSION);
   if (header->header_bytes < sizeof(*header) || header->header_bytes % 8 != 0 ||
       header->header_bytes > 4096 || header->page_bytes != AGXW_CAPTURE_PAGE_BYTES)
      return AGX_FAIL(AGX_DATA_LOSS, "capture header: %u bytes, pages of %u bytes",
                      header->header_bytes, header->page_bytes);
   reader->version = header->version;
   reader->next = header->header_bytes;
   memcpy(reader->node, header->node, sizeof(reader->node) - 1);
   return AGX_OK;
}

static agx_status open_source(struct agxw_capture_reader *reader)
{
   struct agxw_capture_header header = {0};
   size_t got;
   AGX_TRY(agxw_source_read(&reader->source, 0, &header, sizeof(header), &got));
   return check_header(reader, &header, got);
}

static agx_status start(struct agxw_capture_reader *reader, const struct agx_host_alloc *alloc,
                        struct agxw_capture_reader **out_reader)
{
   reader->alloc = alloc;
   agx_status status = open_source(reader);
   if (status != AGX_OK)
      agxw_capture_close(reader);
   else
      *out_reader = reader;
   return status;
}

static agx_status no_memory(uint64_t bytes)
{
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "capture: no memory for %llu bytes of its reader",
                   (unsigned long long)bytes);
}

agx_status agxw_capture_open_memory(const struct agx_host_alloc *alloc, const void *data,
                                    size_t size, struct agxw_capture_reader **out_reader)
{
   *out_reader = NULL;
   struct agxw_capture_reader *reader = agx_host_zalloc(alloc, sizeof(*reader));
   if (!reader)
      return no_memory(sizeof(*reader));
   static const uint8_t nothing;
   reader->source = (struct agxw_source){.memory = size ? data : &nothing, .size = size};
   return start(reader, alloc, out_reader);
}

agx_status agxw_capture_open_fd(const struct agx_host_alloc *alloc, int fd,
                                struct agxw_capture_reader **out_reader)
{
   struct agxw_source source;
   *out_reader = NULL;
   AGX_TRY(agxw_source_open(&source, fd));
   struct agxw_capture_reader *reader = agx_host_zalloc(alloc, sizeof(*reader));
   if (!reader) {
      agxw_source_close(&source);
      return no_memory(sizeof(*reader));
   }
   reader->source = source;
   return start(reader, alloc, out_reader);
}

void agxw_capture_close(struct agxw_capture_reader *reader)
{
   if (!reader)
      return;
   agxw_source_close(&reader->source);
   agxw_chunks_free(reader);
   agx_host_free(reader->alloc, reader->buffer, reader->buffer_bytes);
   agx_host_free(reader->alloc, reader, sizeof(*reader));
}

const char *agxw_capture_node(const struct agxw_capture_reader *reader)
{
   return reader->node;
}

uint32_t agxw_capture_version(const struct agxw_capture_reader *reader)
{
   return reader->version;
}

void agxw_capture_seek(struct agxw_capture_reader *reader, uint64_t file_offset)
{
   reader->next = file_offset;
}

/* ---- headers ---- */

static agx_status cut_off(uint64_t offset)
{
   return AGX_FAIL(AGX_DATA_LOSS, "capture cut off: the record at offset %llu is not whole",
                   (unsigned long long)offset);
}

static agx_status damaged(uint32_t type, uint64_t offset)
{
   return AGX_FAIL(AGX_DATA_LOSS, "capture damaged: record of type %u at offset %llu", type,
                   (unsigned long long)offset);
}

agx_status agxw_capture_head_read(struct agxw_capture_reader *reader, uint64_t offset,
                                  struct agxw_capture_head *out_head, bool *out_more)
{
   struct agxw_capture_record_header header = {0};
   struct agxw_capture_record_header_1 old = {0};
   bool is_old = reader->version == 1;
   size_t bytes = is_old ? sizeof(old) : sizeof(header), got;
   AGX_TRY(agxw_source_read(&reader->source, offset, is_old ? (void *)&old : (void *)&header, bytes,
                            &got));
   *out_more = got > 0;
   if (got == 0)
      return AGX_OK;
   if (got < bytes)
      return cut_off(offset);
   if (is_old)
      header = (struct agxw_capture_record_header){
         .type = old.type, .flags = old.reserved, .stored_bytes = old.bytes, .bytes = old.bytes};
   bool is_packed =
      header.flags == AGXW_CAPTURE_ZSTD && !is_old && header.type == AGXW_CAPTURE_PAGES;
   if ((header.flags != 0 && !is_packed) || header.stored_bytes > INT64_MAX / 2 ||
       (!is_packed && header.bytes != header.stored_bytes))
      return damaged(header.type, offset);
   *out_head =
      (struct agxw_capture_head){.header = header,
                                 .payload = offset + bytes,
                                 .is_packed = is_packed,
                                 .end = offset + bytes + agx_align_up(header.stored_bytes, 8)};
   return AGX_OK;
}

/* ---- payloads ---- */

/* Reads into the reader's buffer, which grows with what was there. */
static agx_status read_payload(struct agxw_capture_reader *reader,
                               const struct agxw_capture_head *head)
{
   uint64_t wanted = head->end - head->payload, have = 0;
   while (have < wanted) {
      if (have == reader->buffer_bytes) {
         size_t bytes = AGX_MAX(2 * reader->buffer_bytes, FIRST_BUFFER_BYTES);
         uint8_t *buffer = agx_host_zalloc(reader->alloc, bytes);
         if (!buffer)
            return no_memory(bytes);
         if (have > 0)
            memcpy(buffer, reader->buffer, have);
         agx_host_free(reader->alloc, reader->buffer, reader->buffer_bytes);
         reader->buffer = buffer;
         reader->buffer_bytes = bytes;
      }
      size_t part = (size_t)AGX_MIN(wanted - have, reader->buffer_bytes - have), got;
      AGX_TRY(agxw_source_read(&reader->source, head->payload + have, reader->buffer + have, part,
                               &got));
      if (got < part)
         return cut_off(reader->next);
      have += got;
   }
   return AGX_OK;
}

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

static bool parse_request(const struct agxw_capture_reader *reader, struct cursor cursor,
                          struct agxw_capture_record *record)
{
   struct agxw_capture_request head = {0};
   size_t head_bytes = reader->version == 1 ? AGXW_CAPTURE_REQUEST_1_BYTES : sizeof(head);
   const uint8_t *at = take(&cursor, head_bytes);
   if (!at)
      return false;
   memcpy(&head, at, head_bytes);
   record->request = head.request;
   record->result = head.result;
   record->argument_bytes = head.argument_bytes;
   record->blob_count = head.blob_count;
   record->duration_ns = head.duration_ns;
   record->caller = head.caller;
   record->is_awaited = head.flags & AGXW_CAPTURE_AWAITED;
   record->lacks_memory = head.flags & AGXW_CAPTURE_LACKS_MEMORY;
   record->before = take(&cursor, head.argument_bytes);
   record->after = record->before ? take(&cursor, head.argument_bytes) : NULL;
   record->blobs = cursor.at;
   record->blobs_bytes = cursor.left;
   if (!record->after || head.result > 0 || head.result < -MAX_ERRNO)
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

static bool parse_text(const uint8_t *payload, uint64_t bytes, size_t head_bytes,
                       struct agxw_capture_record *record)
{
   if (bytes < head_bytes)
      return false;
   /* The buffer may not be there yet where nothing stands in the record. */
   record->text = bytes > 0 ? (const char *)payload + head_bytes : "";
   record->text_bytes = bytes - head_bytes;
   return true;
}

static bool parse(const struct agxw_capture_reader *reader, uint64_t bytes,
                  struct agxw_capture_record *record)
{
   const uint8_t *payload = reader->buffer;
   bool is_new = reader->version > 1;
   switch (record->type) {
   case AGXW_CAPTURE_REQUEST:
      return bytes > 0 &&
             parse_request(reader, (struct cursor){payload, agx_align_up(bytes, 8)}, record);
   case AGXW_CAPTURE_LABEL:
      if (!parse_text(payload, bytes, sizeof(struct agxw_capture_label), record))
         return false;
      memcpy(&record->handle, payload, sizeof(record->handle));
      return true;
   case AGXW_CAPTURE_IMPORT:
      if (!is_new || bytes != sizeof(struct agxw_capture_import))
         return false;
      memcpy(&record->handle, payload, sizeof(record->handle));
      record->object_bytes = agx_load_u64(payload + offsetof(struct agxw_capture_import, bytes));
      return true;
   case AGXW_CAPTURE_NOTE:
      return parse_text(payload, bytes, 0, record);
   case AGXW_CAPTURE_PROCESS:
      if (!is_new || !parse_text(payload, bytes, sizeof(struct agxw_capture_process), record))
         return false;
      memcpy(&record->parent, payload, sizeof(record->parent));
      return true;
   case AGXW_CAPTURE_OPEN:
   case AGXW_CAPTURE_CLOSE:
      return is_new && parse_text(payload, bytes, 0, record);
   case AGXW_CAPTURE_PAGES:
      return false;
   }
   return false;
}

agx_status agxw_capture_pages_read(struct agxw_capture_reader *reader,
                                   const struct agxw_capture_head *head,
                                   struct agxw_capture_pages *out_pages, bool *out_is_good)
{
   size_t got;
   AGX_TRY(agxw_source_read(&reader->source, head->payload, out_pages, sizeof(*out_pages), &got));
   uint64_t contents = head->header.bytes - sizeof(*out_pages);
   *out_is_good =
      got == sizeof(*out_pages) && head->header.stored_bytes >= sizeof(*out_pages) &&
      head->header.bytes >= sizeof(*out_pages) && contents % AGXW_CAPTURE_PAGE_BYTES == 0 &&
      out_pages->offset % AGXW_CAPTURE_PAGE_BYTES == 0 && contents <= INT64_MAX / 2 &&
      out_pages->offset <= INT64_MAX / 2 && out_pages->moment <= AGXW_CAPTURE_AFTER &&
      (!head->is_packed || contents <= (uint64_t)AGXW_CAPTURE_RUN_PAGES * AGXW_CAPTURE_PAGE_BYTES);
   return AGX_OK;
}

/* The last byte tells whether all of a record is there that is not read. */
static agx_status check_end(struct agxw_capture_reader *reader,
                            const struct agxw_capture_head *head)
{
   uint8_t last;
   size_t got;
   AGX_TRY(agxw_source_read(&reader->source, head->end - 1, &last, 1, &got));
   return got ? AGX_OK : cut_off(reader->next);
}

static agx_status take_pages(struct agxw_capture_reader *reader,
                             const struct agxw_capture_head *head,
                             struct agxw_capture_record *record)
{
   struct agxw_capture_pages pages = {0};
   bool is_good;
   AGX_TRY(check_end(reader, head));
   AGX_TRY(agxw_capture_pages_read(reader, head, &pages, &is_good));
   if (!is_good)
      return damaged(record->type, reader->next);
   record->handle = pages.handle;
   record->moment = (enum agxw_capture_moment)pages.moment;
   record->offset = pages.offset;
   record->page_count = (head->header.bytes - sizeof(pages)) / AGXW_CAPTURE_PAGE_BYTES;
   return AGX_OK;
}

static agx_status read_record(struct agxw_capture_reader *reader,
                              struct agxw_capture_record *out_record, bool *out_more)
{
   struct agxw_capture_head head;
   bool more;
   *out_record = (struct agxw_capture_record){.file_offset = reader->next};
   *out_more = false;
   AGX_TRY(agxw_capture_head_read(reader, reader->next, &head, &more));
   if (!more)
      return AGX_OK;
   out_record->type = (enum agxw_capture_type)head.header.type;
   out_record->time_ns = head.header.time_ns;
   out_record->process = head.header.process;
   out_record->file = head.header.file;
   if (out_record->type == AGXW_CAPTURE_PAGES) {
      AGX_TRY(take_pages(reader, &head, out_record));
   } else {
      AGX_TRY(read_payload(reader, &head));
      if (!parse(reader, head.header.bytes, out_record))
         return damaged(head.header.type, reader->next);
   }
   reader->next = head.end;
   *out_more = true;
   return AGX_OK;
}

/* A part of a record that a writer left, which died or found no room, becomes a note where records
 * of others stand behind it. False: none do. */
static bool skip_part(struct agxw_capture_reader *reader, uint64_t most,
                      struct agxw_capture_record *record)
{
   static const char note[] = "a part of a record is left out: its writer died, or found no room";
   uint64_t found;
   if (!agxw_capture_find_record(reader, record->file_offset + 1, most, &found))
      return false;
   *record = (struct agxw_capture_record){.type = AGXW_CAPTURE_NOTE,
                                          .file_offset = record->file_offset,
                                          .text = note,
                                          .text_bytes = strlen(note)};
   reader->next = found;
   return true;
}

agx_status agxw_capture_next(struct agxw_capture_reader *reader,
                             struct agxw_capture_record *out_record, bool *out_more)
{
   char text[AGX_ERROR_TEXT_BYTES];
   agx_status status = read_record(reader, out_record, out_more);
   bool is_read = status == AGX_OK, is_end = is_read && !*out_more;
   bool can_look = reader->source.memory || reader->source.spool < 0; /* a pipe is waited for */
   if (reader->version == 1 || reader->is_broken || !can_look || is_end ||
       (!is_read && status != AGX_DATA_LOSS) ||
       agxw_capture_is_followed(reader, out_record->file_offset))
      return status;
   agx_error_save(text);
   uint64_t bytes = reader->next - out_record->file_offset;
   if (skip_part(reader, is_read ? AGX_MIN(bytes, MAX_PART_BYTES) : MAX_PART_BYTES, out_record)) {
      *out_more = true;
      return AGX_OK;
   }
   reader->is_broken = !is_read; /* else the next one is a part, without all of its header */
   agx_error_restore(text);
   return status;
}

/* ---- requests ---- */

bool agxw_capture_is_request(const struct agxw_capture_record *record, unsigned long request)
{
   return record->type == AGXW_CAPTURE_REQUEST &&
          AGX_UAPI_NR(record->request) == AGX_UAPI_NR(request);
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
