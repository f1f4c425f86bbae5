/* SPDX-License-Identifier: MIT
 *
 * The capture file (docs/capture.md): its layout, a bounded reader, and the state of
 * memory at any point of it. What stands in the file is not trusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

#define AGXW_CAPTURE_MAGIC   "AGXCAP\r\n"
#define AGXW_CAPTURE_VERSION 1u

/* All numbers little-endian. The file's first bytes. */
struct agxw_capture_header {
   char magic[8];
   uint32_t version;
   uint32_t header_bytes; /* where the first record stands */
   uint32_t page_bytes;   /* of the GPU: 16384 */
   uint32_t reserved;     /* 0 */
   char node[64];         /* the recorded device's name, NUL-terminated */
};
_Static_assert(sizeof(struct agxw_capture_header) == 88, "capture header");

enum agxw_capture_type {
   AGXW_CAPTURE_REQUEST = 1, /* agxw_capture_request, argument before, after, blobs */
   AGXW_CAPTURE_PAGES = 2,   /* agxw_capture_pages, contents */
   AGXW_CAPTURE_LABEL = 3,   /* agxw_capture_label, text without NUL */
   AGXW_CAPTURE_NOTE = 4,    /* text without NUL: what the recorder has to say */
};

/* Before every record; records start at multiples of 8. */
struct agxw_capture_record_header {
   uint32_t type;
   uint32_t reserved; /* 0 */
   uint64_t bytes;    /* of what follows, padding to 8 not counted */
};
_Static_assert(sizeof(struct agxw_capture_record_header) == 16, "record header");

/* Followed by the argument twice, each padded to 8, and the blobs. */
struct agxw_capture_request {
   uint32_t request;
   int32_t result; /* 0 or negative errno */
   uint32_t argument_bytes;
   uint32_t blob_count;
};

/* What a pointer in the argument points at; followed by bytes, padded to 8. */
struct agxw_capture_blob {
   uint32_t pointer_at; /* offset of the pointer in the argument */
   uint32_t bytes;
};

/* Contents of a GEM object from offset on, whole pages. */
struct agxw_capture_pages {
   uint32_t handle;
   uint32_t reserved;
   uint64_t offset;
};

struct agxw_capture_label {
   uint32_t handle;
   uint32_t reserved;
};

/* ---- reading ----------------------------------------------------------- */

struct agxw_capture_reader {
   const uint8_t *data;
   size_t size, offset;
   char node[64];
};

/* One record; pointers lead into the file. */
struct agxw_capture_record {
   enum agxw_capture_type type;
   size_t file_offset;
   /* REQUEST */
   uint32_t request;
   int32_t result;
   uint32_t argument_bytes, blob_count;
   const uint8_t *before, *after, *blobs;
   size_t blobs_bytes;
   /* PAGES, LABEL */
   uint32_t handle;
   uint64_t offset;
   /* PAGES, LABEL, NOTE: contents or text */
   const uint8_t *data;
   size_t bytes;
};

/* data must stay; it starts at a multiple of 8. AGX_INCOMPATIBLE for a foreign file or
 * another version, AGX_DATA_LOSS when it is cut off. */
AGX_MUST_CHECK agx_status agxw_capture_open(struct agxw_capture_reader *reader, const void *data,
                                            size_t size);
/* The next record, *out_more false at the end. AGX_DATA_LOSS with the offset when what
 * stands there is no record. */
AGX_MUST_CHECK agx_status agxw_capture_next(struct agxw_capture_reader *reader,
                                            struct agxw_capture_record *out_record, bool *out_more);
/* What the pointer at pointer_at of a request led to, or NULL. */
const void *agxw_capture_find_blob(const struct agxw_capture_record *record, uint32_t pointer_at,
                                   uint32_t *out_bytes);
/* Copies the argument before or after the request, the tail zero. */
void agxw_capture_argument(const struct agxw_capture_record *record, bool after, void *out_argument,
                           size_t bytes);

/* ---- state ------------------------------------------------------------- */

struct agxw_capture_state;

/* The recorded device at some point of the file. Keeps pointers into the file. */
AGX_MUST_CHECK agx_status agxw_capture_state_create(const struct agx_host_alloc *alloc,
                                                    struct agxw_capture_state **out_state);
/* NULL is fine. */
void agxw_capture_state_destroy(struct agxw_capture_state *state);
/* Takes one record into account, in the file's order. */
AGX_MUST_CHECK agx_status agxw_capture_state_apply(struct agxw_capture_state *state,
                                                   const struct agxw_capture_record *record);
/* Copies GPU memory; false when part of it is not bound. Bound pages without recorded
 * contents read as zero. */
bool agxw_capture_state_read(struct agxw_capture_state *state, uint32_t vm_id, uint64_t va,
                             void *out_data, size_t bytes);
struct agxw_capture_queue {
   uint32_t id, vm_id;
   uint64_t usc_base;
};
/* NULL when there is none of that id. */
const struct agxw_capture_queue *agxw_capture_state_queue(const struct agxw_capture_state *state,
                                                          uint32_t queue_id);
/* The buffer bound at va: its label ("" without one) and where it starts, or NULL. */
const char *agxw_capture_state_label(const struct agxw_capture_state *state, uint32_t vm_id,
                                     uint64_t va, uint64_t *out_start);
