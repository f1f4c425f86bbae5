/* SPDX-License-Identifier: MIT
 *
 * The capture file's layout (docs/capture.md). All numbers are little-endian.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define AGXW_CAPTURE_MAGIC   "AGXCAP\r\n"
#define AGXW_CAPTURE_VERSION 2u /* that the recorder writes; version 1 is read, too */

/* The GPU's pages, which contents are recorded by. */
#define AGXW_CAPTURE_PAGE_BYTES 16384u
/* Pages in one record at most, from version 2 on: so many are kept in memory to look at one. */
#define AGXW_CAPTURE_RUN_PAGES 64u
/* What a compressed record may hold when it is unpacked. */
#define AGXW_CAPTURE_MAX_UNPACKED (UINT64_C(16) << 20)

/* The file's first bytes. */
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
   /* From version 2 on: */
   AGXW_CAPTURE_PROCESS = 5, /* agxw_capture_process, its arguments, each with a NUL behind it */
   AGXW_CAPTURE_OPEN = 6,   /* the device's name without NUL: what `file` stands for from here on */
   AGXW_CAPTURE_CLOSE = 7,  /* nothing: the device is closed */
   AGXW_CAPTURE_IMPORT = 8, /* agxw_capture_import: of the object that the last request imported */
};

/* Version 1: before every record. Records start at multiples of 8. */
struct agxw_capture_record_header_1 {
   uint32_t type;
   uint32_t reserved; /* 0 */
   uint64_t bytes;    /* of what follows, padding to 8 not counted */
};
_Static_assert(sizeof(struct agxw_capture_record_header_1) == 16, "record header");

/* What follows is one Zstandard frame. */
#define AGXW_CAPTURE_ZSTD (1u << 0)

/* Version 2. */
struct agxw_capture_record_header {
   uint32_t type;
   uint32_t flags;
   uint64_t stored_bytes; /* that follow, padding to 8 not counted */
   uint64_t bytes;        /* unpacked; as stored_bytes where nothing is packed */
   int64_t time_ns;       /* when it was written, by the monotonic clock */
   uint32_t process;      /* that opened the device, or speaks */
   uint32_t file;         /* the device's open file in that process, from 1; 0: none */
};
_Static_assert(sizeof(struct agxw_capture_record_header) == 40, "record header");

/* Followed by the argument twice, each padded to 8, and the blobs. */
struct agxw_capture_request {
   uint32_t request;
   int32_t result; /* 0 or negative errno */
   uint32_t argument_bytes;
   uint32_t blob_count;
   /* Not in version 1: */
   uint64_t duration_ns; /* how long it took */
   uint32_t caller;      /* the process that made it: the one that opened the device, or a child */
   uint32_t flags;       /* AGXW_CAPTURE_AWAITED, AGXW_CAPTURE_LACKS_MEMORY */
};
/* A submission that was waited for: what it left stands behind it. */
#define AGXW_CAPTURE_AWAITED (1u << 0)
/* A submission whose memory was not recorded: its commands can't be executed again. */
#define AGXW_CAPTURE_LACKS_MEMORY    (1u << 1)
#define AGXW_CAPTURE_REQUEST_1_BYTES 16u
/* The flags of a request's record. */
static inline uint32_t agxw_capture_request_flags(bool is_awaited, bool lacks_memory)
{
   return (is_awaited ? AGXW_CAPTURE_AWAITED : 0) | (lacks_memory ? AGXW_CAPTURE_LACKS_MEMORY : 0);
}

/* What a pointer in the argument points at; followed by bytes, padded to 8. */
struct agxw_capture_blob {
   uint32_t pointer_at; /* offset of the pointer in the argument */
   uint32_t bytes;
};

enum agxw_capture_moment {
   AGXW_CAPTURE_BEFORE = 0, /* as the next submission found it */
   AGXW_CAPTURE_AFTER = 1,  /* as the last submission left it */
};

/* Contents of a GEM object from offset on, whole pages. */
struct agxw_capture_pages {
   uint32_t handle;
   uint32_t moment; /* 0 in version 1 */
   uint64_t offset;
};

struct agxw_capture_label {
   uint32_t handle;
   uint32_t reserved;
};

struct agxw_capture_import {
   uint32_t handle;
   uint32_t reserved; /* 0 */
   uint64_t bytes;    /* of the object */
};

struct agxw_capture_process {
   uint32_t parent;
   uint32_t reserved;
};
