/* SPDX-License-Identifier: MIT
 *
 * Changes captures for libFuzzer without breaking their frame: records go, come twice or change
 * places; words of a record become other words that stand in the file, small numbers or powers of
 * two; packed contents are unpacked, changed and packed again. Every fourth change is libFuzzer's
 * own, which breaks the frame too.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/util.h"
#include "winsys/capture/format.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#define MAX_RECORDS    256
#define MAX_UNPACKED_B (4 * AGXW_CAPTURE_PAGE_BYTES)
#define MAX_CHANGES    4u

struct part {
   size_t start, payload, end;
   uint32_t type;
   bool is_packed;
};

struct file {
   uint8_t *data;
   size_t size, max_size;
   bool is_old;
   struct part parts[MAX_RECORDS];
   uint32_t count;
   uint64_t random;
};

static uint32_t below(struct file *file, uint64_t bound)
{
   file->random ^= file->random >> 12;
   file->random ^= file->random << 25;
   file->random ^= file->random >> 27;
   return (uint32_t)((file->random * 0x2545f4914f6cdd1dull >> 16) % bound);
}

/* ---- the frame ---- */

static bool take_part(const struct file *file, size_t at, struct part *out_part)
{
   struct agxw_capture_record_header header = {0};
   struct agxw_capture_record_header_1 old;
   size_t bytes = file->is_old ? sizeof(old) : sizeof(header);
   if (at > file->size || file->size - at < bytes)
      return false;
   if (file->is_old) {
      memcpy(&old, file->data + at, sizeof(old));
      header.type = old.type;
      header.stored_bytes = old.bytes;
   } else {
      memcpy(&header, file->data + at, sizeof(header));
   }
   size_t left = file->size - at - bytes;
   if (header.stored_bytes > left || agx_align_up(header.stored_bytes, 8) > left)
      return false;
   *out_part = (struct part){.start = at,
                             .payload = at + bytes,
                             .end = at + bytes + agx_align_up(header.stored_bytes, 8),
                             .type = header.type,
                             .is_packed = header.flags & AGXW_CAPTURE_ZSTD};
   return true;
}

static bool find_parts(struct file *file)
{
   struct agxw_capture_header header;
   if (file->size < sizeof(header))
      return false;
   memcpy(&header, file->data, sizeof(header));
   file->is_old = header.version == 1;
   size_t at = header.header_bytes;
   while (file->count < MAX_RECORDS && take_part(file, at, &file->parts[file->count]))
      at = file->parts[file->count++].end;
   return file->count > 0;
}

/* ---- changes ---- */

static uint32_t new_word(struct file *file, uint32_t word)
{
   switch (below(file, 6)) {
   case 0:
      return below(file, 17);
   case 1:
      return word + below(file, 9) - 4;
   case 2:
      return 1u << below(file, 32);
   case 3:
      return word ^ 1u << below(file, 32);
   case 4:
      return UINT32_MAX >> below(file, 32);
   default: {
      uint32_t other;
      memcpy(&other, file->data + 4 * below(file, file->size / 4), sizeof(other));
      return other;
   }
   }
}

static void change_words(struct file *file, uint8_t *data, size_t size)
{
   for (uint32_t n = 1 + below(file, MAX_CHANGES); n > 0 && size >= 4; n--) {
      uint32_t word;
      uint8_t *at = data + 4 * below(file, size / 4);
      memcpy(&word, at, sizeof(word));
      word = new_word(file, word);
      memcpy(at, &word, sizeof(word));
   }
}

/* Puts `bytes` bytes in place of [from, to). */
static void splice(struct file *file, size_t from, size_t to, const uint8_t *data, size_t bytes)
{
   if (file->size - (to - from) + bytes > file->max_size)
      return;
   memmove(file->data + from + bytes, file->data + to, file->size - to);
   if (bytes > 0)
      memcpy(file->data + from, data, bytes);
   file->size += bytes - (to - from);
}

/* A copy before another record; the original goes where it is moved. */
static void copy_part(struct file *file, const struct part *part, const struct part *to, bool moves)
{
   size_t bytes = part->end - part->start;
   uint8_t *copy = malloc(bytes);
   if (!copy)
      return;
   memcpy(copy, file->data + part->start, bytes);
   if (moves && part->start >= to->start) {
      splice(file, part->start, part->end, NULL, 0);
      splice(file, to->start, to->start, copy, bytes);
   } else {
      splice(file, to->start, to->start, copy, bytes);
   }
   free(copy);
}

static void set_bytes(struct file *file, const struct part *part, uint64_t stored, uint64_t bytes)
{
   uint8_t *header = file->data + part->start;
   if (file->is_old) {
      memcpy(header + offsetof(struct agxw_capture_record_header_1, bytes), &stored,
             sizeof(stored));
      return;
   }
   memcpy(header + offsetof(struct agxw_capture_record_header, stored_bytes), &stored,
          sizeof(stored));
   memcpy(header + offsetof(struct agxw_capture_record_header, bytes), &bytes, sizeof(bytes));
}

/* The payload's length changes with it. */
static void change_payload(struct file *file, const struct part *part)
{
   size_t bytes = part->end - part->payload, room = bytes + 64;
   uint8_t *copy = calloc(1, room + 8);
   if (copy) {
      memcpy(copy, file->data + part->payload, bytes);
      bytes = LLVMFuzzerMutate(copy, bytes, room);
      size_t padded = agx_align_up(bytes, 8);
      memset(copy + bytes, 0, padded - bytes);
      if (file->size - (part->end - part->payload) + padded <= file->max_size) {
         set_bytes(file, part, bytes, bytes);
         splice(file, part->payload, part->end, copy, padded);
      }
   }
   free(copy);
}

/* Pages of memory: streams, descriptors and code. */
static void change_contents(struct file *file, const struct part *part)
{
   static uint8_t contents[MAX_UNPACKED_B], packed[MAX_UNPACKED_B + 1024];
   const size_t head = sizeof(struct agxw_capture_pages);
   uint64_t stored = agx_load_u64(file->data + part->start +
                                  offsetof(struct agxw_capture_record_header, stored_bytes));
   if (stored < head)
      return;
   size_t bytes =
      ZSTD_decompress(contents, sizeof(contents), file->data + part->payload + head, stored - head);
   if (ZSTD_isError(bytes) || bytes == 0)
      return;
   /* Where something stands: most of a page is zero. */
   size_t start = 4 * below(file, bytes / 4);
   for (size_t i = 0; i < bytes && contents[start] == 0; i += 4)
      start = (start + 4) % bytes;
   start &= ~(size_t)3;
   size_t window = AGX_MIN(64, bytes - start);
   if (below(file, 2))
      change_words(file, contents + start, window);
   else
      LLVMFuzzerMutate(contents + start, window, window);
   size_t now = ZSTD_compress(packed, sizeof(packed), contents, bytes, 1);
   size_t padded = agx_align_up(head + now, 8);
   if (ZSTD_isError(now) || part->payload + padded + file->size - part->end > file->max_size)
      return;
   memset(packed + now, 0, padded - head - now);
   splice(file, part->payload + head, part->end, packed, padded - head);
   set_bytes(file, part, head + now, head + bytes);
}

static void change(struct file *file)
{
   const struct part *part = &file->parts[below(file, file->count)];
   const struct part *other = &file->parts[below(file, file->count)];
   switch (below(file, 10)) {
   case 0:
      splice(file, part->start, AGX_MAX(part->end, other->end), NULL, 0);
      break;
   case 1:
      copy_part(file, part, other, false);
      break;
   case 2:
      copy_part(file, part, other, true);
      break;
   case 3:
      change_payload(file, part);
      break;
   case 4: /* the header's words, and the file's */
      change_words(file, file->data + part->start, part->payload - part->start);
      break;
   case 5:
      change_words(file, file->data + 8, 16);
      break;
   default:
      if (part->type == AGXW_CAPTURE_PAGES && part->is_packed && below(file, 4))
         change_contents(file, part);
      else
         change_words(file, file->data + part->payload, part->end - part->payload);
   }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
   static struct file file;
   file = (struct file){.data = data,
                        .size = size,
                        .max_size = max_size,
                        .random = seed * 0x9e3779b97f4a7c15u + 0x5eed};
   if (below(&file, 4) == 0 || !find_parts(&file))
      return LLVMFuzzerMutate(data, size, max_size);
   change(&file);
   return file.size;
}
