/* SPDX-License-Identifier: MIT
 *
 * Finds records behind a part of one. Of several processes that write a file one may be killed in
 * the middle of a record, or find the disk full: what the others write stands right behind that
 * part, not where its header says. read.c calls this where records don't follow each other.
 */
#include "winsys/capture/read_impl.h"

#include "base/util.h"

#define WINDOW_BYTES  65536u
#define CHAIN         3 /* records that must follow each other to be taken for such */
#define MAX_OPEN_NAME 256u

/* Whether a recorder may have written such a header. */
static bool is_sane(const struct agxw_capture_record_header *header)
{
   const uint64_t run = (uint64_t)AGXW_CAPTURE_RUN_PAGES * AGXW_CAPTURE_PAGE_BYTES;
   if (header->process == 0 || header->time_ns < 0)
      return false;
   switch (header->type) {
   case AGXW_CAPTURE_REQUEST:
      return header->bytes >= sizeof(struct agxw_capture_request);
   case AGXW_CAPTURE_PAGES:
      return header->bytes > sizeof(struct agxw_capture_pages) &&
             header->bytes <= sizeof(struct agxw_capture_pages) + run;
   case AGXW_CAPTURE_LABEL:
   case AGXW_CAPTURE_NOTE:
   case AGXW_CAPTURE_PROCESS:
      return header->bytes <= AGXW_CAPTURE_PAGE_BYTES;
   case AGXW_CAPTURE_OPEN:
      return header->bytes <= MAX_OPEN_NAME;
   case AGXW_CAPTURE_CLOSE:
      return header->bytes == 0;
   case AGXW_CAPTURE_IMPORT:
      return header->bytes == sizeof(struct agxw_capture_import);
   }
   return false;
}

/* The head of the record at offset; false: there is none, or not all of the record. */
static bool read_whole(struct agxw_capture_reader *reader, uint64_t offset,
                       struct agxw_capture_head *out_head, bool *out_more)
{
   uint8_t last;
   size_t got;
   if (agxw_capture_head_read(reader, offset, out_head, out_more) != AGX_OK)
      return false;
   return !*out_more ||
          (agxw_source_read(&reader->source, out_head->end - 1, &last, 1, &got) == AGX_OK &&
           got == 1);
}

bool agxw_capture_is_followed(struct agxw_capture_reader *reader, uint64_t offset)
{
   struct agxw_capture_head head, next;
   bool more;
   return read_whole(reader, offset, &head, &more) && more &&
          read_whole(reader, head.end, &next, &more) && (!more || is_sane(&next.header));
}

/* Whether whole records begin at offset, up to the file's end or some of them. */
static bool is_chain(struct agxw_capture_reader *reader, uint64_t offset)
{
   for (int i = 0; i < CHAIN; i++) {
      struct agxw_capture_head head;
      bool more;
      if (!read_whole(reader, offset, &head, &more) || (more && !is_sane(&head.header)))
         return false;
      if (!more)
         return i > 0;
      offset = head.end;
   }
   return true;
}

bool agxw_capture_find_record(struct agxw_capture_reader *reader, uint64_t from, uint64_t bytes,
                              uint64_t *out_offset)
{
   uint8_t window[WINDOW_BYTES + sizeof(uint64_t)];
   for (uint64_t at = 0; at < bytes; at += WINDOW_BYTES) {
      size_t got;
      if (agxw_source_read(&reader->source, from + at, window, sizeof(window), &got) != AGX_OK)
         return false;
      uint64_t count = AGX_MIN(WINDOW_BYTES, bytes - at);
      for (uint64_t i = 0; i < count && i + sizeof(uint64_t) <= got; i++) {
         /* Type and flags: most places are told by them. */
         bool may_be = agx_load_u32(window + i) - 1 < AGXW_CAPTURE_IMPORT &&
                       agx_load_u32(window + i + 4) <= AGXW_CAPTURE_ZSTD;
         if (!may_be || !is_chain(reader, from + at + i))
            continue;
         *out_offset = from + at + i;
         return true;
      }
   }
   return false;
}
