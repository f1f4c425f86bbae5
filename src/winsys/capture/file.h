/* SPDX-License-Identifier: MIT
 *
 * The file that is written, for the recorders.
 */
#pragma once

#include <sys/uio.h>

#include "winsys/capture/format.h"
#include "winsys/capture/record.h"

/* Held while requests run, so that the file's order is the kernel's, and by all that follows.
 * Unlocking writes what waits. */
void agxw_capture_lock(struct agxw_capture_file *file);
void agxw_capture_unlock(struct agxw_capture_file *file);
/* Writes the records that wait for the end of their request: then agxw_capture_error() tells of
 * them, and they are there whatever becomes of the process. */
void agxw_capture_flush(struct agxw_capture_file *file);

/* As the file was opened with. */
const struct agxw_capture_options *agxw_capture_file_options(const struct agxw_capture_file *file);
/* Whether a limit has ended the recording. */
bool agxw_capture_is_over(struct agxw_capture_file *file);
/* Counts a submission of this process: its number, from 1. */
uint64_t agxw_capture_count_submit(struct agxw_capture_file *file);
/* Counts an open device: its number in this process, from 1. */
uint32_t agxw_capture_count_open(struct agxw_capture_file *file);
/* Forks so far, of this process and of those that it comes from: devices that were open at one may
 * be in the hands of several processes. */
uint32_t agxw_capture_forks(const struct agxw_capture_file *file);
/* This process, as the file calls it. */
uint32_t agxw_capture_process_id(const struct agxw_capture_file *file);

/* Whose records are written. */
struct agxw_capture_origin {
   uint32_t process, file;
};

/* Parts of one record, without padding; the first is left for the header. */
#define AGXW_CAPTURE_MAX_PARTS 20
/* Writes a record of `count` parts. */
void agxw_capture_put(struct agxw_capture_file *file, const struct agxw_capture_origin *origin,
                      enum agxw_capture_type type, const struct iovec *parts, int count);
/* Writes a PAGES record: up to AGXW_CAPTURE_RUN_PAGES of contents, packed. */
void agxw_capture_put_pages(struct agxw_capture_file *file,
                            const struct agxw_capture_origin *origin,
                            const struct agxw_capture_pages *pages, const void *contents,
                            size_t bytes);
/* Whether contents, of at least 8 bytes, are all zero. */
bool agxw_capture_is_zero(const uint8_t *contents, size_t bytes);
/* Packs whole pages that hold hardly more than zeros: bytes of the Zstandard frame at out, which
 * has AGXW_CAPTURE_SPARSE_BYTES; 0: they hold more. */
#define AGXW_CAPTURE_SPARSE_BYTES ((size_t)8 << 10)
size_t agxw_capture_pack_sparse(const void *contents, size_t bytes, uint8_t *out);
/* Writes a NOTE. */
void agxw_capture_put_note(struct agxw_capture_file *file, const struct agxw_capture_origin *origin,
                           const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends the recording, with a NOTE that says why. */
void agxw_capture_end(struct agxw_capture_file *file, const char *why);
