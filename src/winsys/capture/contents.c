/* SPDX-License-Identifier: MIT
 *
 * Recorded contents of memory, where they lie in the file. The last few packed records that were
 * looked at stay unpacked.
 */
#include <string.h>
#include <zstd.h>

#include "base/util.h"
#include "winsys/capture/read_impl.h"

#define CHUNK_BYTES ((size_t)AGXW_CAPTURE_RUN_PAGES * AGXW_CAPTURE_PAGE_BYTES)

void agxw_chunks_free(struct agxw_capture_reader *reader)
{
   for (unsigned i = 0; i < AGXW_CHUNKS; i++)
      agx_host_free(reader->alloc, reader->chunks[i].data, reader->chunks[i].capacity);
   agx_host_free(reader->alloc, reader->packed, reader->packed_capacity);
   ZSTD_freeDCtx(reader->unpacker);
}

static agx_status damaged(uint64_t record, const char *why)
{
   return AGX_FAIL(AGX_DATA_LOSS, "capture damaged: contents in the record at offset %llu: %s",
                   (unsigned long long)record, why);
}

/* Makes a buffer larger that is shorter than `bytes`; what it held is gone then. Most records hold
 * few pages, and the largest has AGXW_CAPTURE_RUN_PAGES. */
static bool make_room(struct agxw_capture_reader *reader, uint8_t **buffer, size_t *capacity,
                      size_t bytes)
{
   if (*capacity >= bytes && *buffer)
      return true;
   size_t wanted = AGX_MAX(AGX_MIN(2 * *capacity, CHUNK_BYTES), bytes);
   agx_host_free(reader->alloc, *buffer, *capacity);
   *buffer = agx_host_zalloc(reader->alloc, wanted);
   *capacity = *buffer ? wanted : 0;
   return *buffer;
}

static bool have_unpacker(struct agxw_capture_reader *reader, struct agxw_chunk *chunk,
                          uint64_t stored, uint64_t bytes)
{
   if (!reader->unpacker)
      reader->unpacker = ZSTD_createDCtx();
   return reader->unpacker &&
          make_room(reader, &reader->packed, &reader->packed_capacity, stored) &&
          make_room(reader, &chunk->data, &chunk->capacity, bytes);
}

static agx_status unpack(struct agxw_capture_reader *reader, uint64_t record,
                         const struct agxw_capture_head *head, struct agxw_chunk *chunk)
{
   uint64_t stored = head->header.stored_bytes - sizeof(struct agxw_capture_pages);
   uint64_t bytes = head->header.bytes - sizeof(struct agxw_capture_pages);
   size_t got;
   chunk->record = 0;
   if (stored > ZSTD_compressBound(CHUNK_BYTES))
      return damaged(record, "larger packed than unpacked");
   if (!have_unpacker(reader, chunk, AGX_MAX(stored, 1), AGX_MAX(bytes, 1)))
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "capture: no memory to unpack contents");
   AGX_TRY(agxw_source_read(&reader->source, head->payload + sizeof(struct agxw_capture_pages),
                            reader->packed, stored, &got));
   if (got < stored)
      return damaged(record, "cut off");
   size_t unpacked = ZSTD_decompressDCtx(reader->unpacker, chunk->data, (size_t)bytes,
                                         reader->packed, (size_t)stored);
   if (ZSTD_isError(unpacked))
      return damaged(record, ZSTD_getErrorName(unpacked));
   if (unpacked != bytes)
      return damaged(record, "shorter than its header says");
   chunk->record = record;
   chunk->bytes = bytes;
   return AGX_OK;
}

/* The chunk that holds the record, or the one that was not used for the longest time. */
static struct agxw_chunk *choose_chunk(struct agxw_capture_reader *reader, uint64_t record)
{
   struct agxw_chunk *best = &reader->chunks[0];
   for (unsigned i = 0; i < AGXW_CHUNKS; i++) {
      if (reader->chunks[i].record == record)
         return &reader->chunks[i];
      if (reader->chunks[i].used < best->used)
         best = &reader->chunks[i];
   }
   return best;
}

agx_status agxw_capture_page(struct agxw_capture_reader *reader,
                             const struct agxw_capture_place *place, uint32_t offset,
                             void *out_data, uint32_t bytes)
{
   struct agxw_chunk *chunk = choose_chunk(reader, place->record);
   uint64_t from = place->page * AGXW_CAPTURE_PAGE_BYTES + offset;
   chunk->used = ++reader->looks;
   if (chunk->record != place->record) {
      struct agxw_capture_head head;
      struct agxw_capture_pages pages;
      bool more, is_good = false;
      AGX_TRY(agxw_capture_head_read(reader, place->record, &head, &more));
      if (more)
         AGX_TRY(agxw_capture_pages_read(reader, &head, &pages, &is_good));
      if (!is_good || !agx_range_fits(from, bytes, head.header.bytes - sizeof(pages)))
         return damaged(place->record, "the file has changed since it was read");
      if (!head.is_packed) {
         size_t got;
         AGX_TRY(agxw_source_read(&reader->source, head.payload + sizeof(pages) + from, out_data,
                                  bytes, &got));
         return got == bytes ? AGX_OK : damaged(place->record, "cut off");
      }
      AGX_TRY(unpack(reader, place->record, &head, chunk));
   }
   if (!agx_range_fits(from, bytes, chunk->bytes))
      return damaged(place->record, "the file has changed since it was read");
   memcpy(out_data, chunk->data + from, bytes);
   return AGX_OK;
}
