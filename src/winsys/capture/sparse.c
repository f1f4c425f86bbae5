/* SPDX-License-Identifier: MIT
 *
 * Zstandard frames of contents that are nearly all zero, as the pages that a small submission
 * changes are: raw blocks of what isn't zero, and blocks of one repeated byte in between (RFC
 * 8878, 3.1.1). The library takes two to ten microseconds for such a page, most of them for tables
 * of its own.
 */
#include <string.h>

#include "base/util.h"
#include "winsys/capture/file.h"

#define LINE_BYTES  ((size_t)64)
#define MAX_RAW     ((size_t)4096) /* more is left to the library */
#define BLOCK_BYTES ((size_t)64 << 10)
#define HEAD_BYTES  ((size_t)3)
_Static_assert(AGXW_CAPTURE_SPARSE_BYTES >=
                  9 + MAX_RAW + (MAX_RAW / LINE_BYTES) * (2 * HEAD_BYTES + 1) +
                     ((size_t)AGXW_CAPTURE_RUN_PAGES * AGXW_CAPTURE_PAGE_BYTES / BLOCK_BYTES + 1) *
                        (HEAD_BYTES + 1),
               "the frame fits");

enum block_type {
   RAW = 0,
   REPEATED = 1,
};

struct frame {
   uint8_t *out;
   size_t bytes, raw_bytes;
};

static bool is_zero_line(const uint8_t *line)
{
   uint64_t any = 0;
   for (size_t i = 0; i < LINE_BYTES; i += 8)
      any |= agx_load_u64(line + i);
   return any == 0;
}

/* The first word is zero, and every other the same as the one before it. */
bool agxw_capture_is_zero(const uint8_t *contents, size_t bytes)
{
   return agx_load_u64(contents) == 0 && memcmp(contents, contents + 8, bytes - 8) == 0;
}

static void put_block(struct frame *frame, enum block_type type, size_t bytes, bool is_last)
{
   uint32_t head = (uint32_t)bytes << 3 | (uint32_t)type << 1 | is_last;
   for (size_t i = 0; i < HEAD_BYTES; i++)
      frame->out[frame->bytes++] = (uint8_t)(head >> 8 * i);
}

static void put_zeros(struct frame *frame, size_t bytes, bool is_last)
{
   while (bytes > 0) {
      size_t now = AGX_MIN(bytes, BLOCK_BYTES);
      bytes -= now;
      put_block(frame, REPEATED, now, is_last && bytes == 0);
      frame->out[frame->bytes++] = 0;
   }
}

static bool put_raw(struct frame *frame, const uint8_t *data, size_t bytes, bool is_last)
{
   frame->raw_bytes += bytes;
   if (frame->raw_bytes > MAX_RAW)
      return false;
   put_block(frame, RAW, bytes, is_last);
   memcpy(frame->out + frame->bytes, data, bytes);
   frame->bytes += bytes;
   return true;
}

/* Its size in four bytes, no checksum, no dictionary; what is unpacked is the window. */
static void put_frame_head(struct frame *frame, size_t bytes)
{
   static const uint8_t head[] = {0x28, 0xb5, 0x2f, 0xfd, 2 << 6 | 1 << 5};
   const uint32_t unpacked = (uint32_t)bytes;
   memcpy(frame->out, head, sizeof(head));
   memcpy(frame->out + sizeof(head), &unpacked, sizeof(unpacked));
   frame->bytes = sizeof(head) + sizeof(unpacked);
}

size_t agxw_capture_pack_sparse(const void *contents, size_t bytes, uint8_t *out)
{
   const uint8_t *data = contents;
   struct frame frame = {.out = out};
   put_frame_head(&frame, bytes);
   for (size_t at = 0; at < bytes;) {
      size_t begin = at;
      while (at < bytes && is_zero_line(data + at))
         at += LINE_BYTES;
      put_zeros(&frame, at - begin, at == bytes);
      begin = at;
      while (at < bytes && at - begin <= MAX_RAW && !is_zero_line(data + at))
         at += LINE_BYTES;
      if (at > begin && !put_raw(&frame, data + begin, at - begin, at == bytes))
         return 0;
   }
   return frame.bytes;
}
