/* SPDX-License-Identifier: MIT
 *
 * Writing a capture from records that a reader gave, changed or not: for tools that make captures
 * of captures. Recorders have record.h.
 */
#pragma once

#include "winsys/capture/capture.h"

struct agxw_capture_writer;

/* Makes the file anew, readable by its owner only; node stands in its header. */
AGX_MUST_CHECK agx_status agxw_capture_writer_open(const char *path, const char *node,
                                                   struct agxw_capture_writer **out_writer);
/* Writes a record of any type but PAGES as it stands there; file_offset is not looked at. */
void agxw_capture_writer_put(struct agxw_capture_writer *writer,
                             const struct agxw_capture_record *record);
/* Writes a PAGES record: process, file, time, handle, moment, offset and page_count
 * (AGXW_CAPTURE_RUN_PAGES at most) of `record`, and those pages. */
void agxw_capture_writer_put_pages(struct agxw_capture_writer *writer,
                                   const struct agxw_capture_record *record, const void *contents);
/* Bytes written so far. */
uint64_t agxw_capture_writer_bytes(const struct agxw_capture_writer *writer);
/* Closes the file: AGX_OK, or the first record that couldn't be written. NULL is fine. */
AGX_MUST_CHECK agx_status agxw_capture_writer_close(struct agxw_capture_writer *writer);
