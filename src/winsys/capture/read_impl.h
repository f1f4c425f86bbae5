/* SPDX-License-Identifier: MIT
 *
 * What the parts of the reader share: a record's place, and unpacked contents.
 */
#pragma once

#include "winsys/capture/capture.h"
#include "winsys/capture/source.h"

#define AGXW_CHUNKS 8u

/* The contents of one packed record. */
struct agxw_chunk {
   uint64_t record; /* its file_offset; 0: empty */
   uint64_t used;   /* when it was last looked at, by the reader's count */
   uint8_t *data;
   size_t capacity;
   uint64_t bytes; /* of data, unpacked */
};

struct agxw_capture_reader {
   const struct agx_host_alloc *alloc;
   struct agxw_source source;
   uint32_t version;
   char node[64];
   uint64_t next;  /* the offset of the record to read */
   bool is_broken; /* parts of records were looked for in vain, which isn't done twice */
   uint8_t *buffer;
   size_t buffer_bytes;
   struct agxw_chunk chunks[AGXW_CHUNKS];
   uint64_t looks;
   struct ZSTD_DCtx_s *unpacker;
   uint8_t *packed; /* what the last record of contents had stored */
   size_t packed_capacity;
};

/* A record's header and where it lies. */
struct agxw_capture_head {
   struct agxw_capture_record_header header;
   uint64_t payload, end; /* offsets in the file */
   bool is_packed;
};

/* The header at offset; *out_more false at the end of the data. */
AGX_MUST_CHECK agx_status agxw_capture_head_read(struct agxw_capture_reader *reader,
                                                 uint64_t offset,
                                                 struct agxw_capture_head *out_head,
                                                 bool *out_more);
/* What a PAGES record says before its contents; *out_is_good false when it can't be. */
AGX_MUST_CHECK agx_status agxw_capture_pages_read(struct agxw_capture_reader *reader,
                                                  const struct agxw_capture_head *head,
                                                  struct agxw_capture_pages *out_pages,
                                                  bool *out_is_good);
/* Whether all of the record at offset is there, and the file ends behind it or all of another is.
 */
bool agxw_capture_is_followed(struct agxw_capture_reader *reader, uint64_t offset);
/* Finds the first place among `bytes` from which on whole records stand. */
bool agxw_capture_find_record(struct agxw_capture_reader *reader, uint64_t from, uint64_t bytes,
                              uint64_t *out_offset);
/* Frees what agxw_capture_page keeps. */
void agxw_chunks_free(struct agxw_capture_reader *reader);
