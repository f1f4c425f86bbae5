/* SPDX-License-Identifier: MIT
 *
 * The file that is written, for the recorders.
 */
#pragma once

#include <sys/uio.h>

#include "winsys/capture/format.h"
#include "winsys/capture/record.h"

/* Held while requests run, so that the file's order is the kernel's, and by all that follows. */
void agxw_capture_lock(struct agxw_capture_file *file);
void agxw_capture_unlock(struct agxw_capture_file *file);

/* As the file was opened with. */
const struct agxw_capture_options *agxw_capture_file_options(const struct agxw_capture_file *file);
/* errno of the first write that failed, or 0. */
int agxw_capture_error(const struct agxw_capture_file *file);
/* Whether a limit has ended the recording. */
bool agxw_capture_is_over(struct agxw_capture_file *file);
/* Counts a submission of this process: its number, from 1. */
uint64_t agxw_capture_count_submit(struct agxw_capture_file *file);
/* Counts an open device: its number in this process, from 1. */
uint32_t agxw_capture_count_open(struct agxw_capture_file *file);
/* Times that this process was forked off: what it remembers of contents may be old. */
uint32_t agxw_capture_generation(const struct agxw_capture_file *file);
/* This process, as the file calls it. */
uint32_t agxw_capture_process_id(const struct agxw_capture_file *file);

/* Whose records are written. */
struct agxw_capture_origin {
   uint32_t process, file;
};

/* Parts of one record, without padding; the first is left for the header. */
#define AGXW_CAPTURE_MAX_PARTS 20
/* Writes a record of `count` parts at once. */
void agxw_capture_put(struct agxw_capture_file *file, const struct agxw_capture_origin *origin,
                      enum agxw_capture_type type, const struct iovec *parts, int count);
/* Writes a PAGES record: up to AGXW_CAPTURE_RUN_PAGES of contents, packed. */
void agxw_capture_put_pages(struct agxw_capture_file *file,
                            const struct agxw_capture_origin *origin,
                            const struct agxw_capture_pages *pages, const void *contents,
                            size_t bytes);
/* Writes a NOTE. */
void agxw_capture_put_note(struct agxw_capture_file *file, const struct agxw_capture_origin *origin,
                           const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends the recording, with a NOTE that says why. */
void agxw_capture_end(struct agxw_capture_file *file, const char *why);
