/* SPDX-License-Identifier: MIT
 *
 * Where a capture's bytes come from: memory, a file, or a pipe, of which what was read is kept in a
 * file without a name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct agxw_source {
   const uint8_t *memory; /* NULL: fd */
   uint64_t size;         /* of memory, or what the spool holds */
   int fd, spool;         /* spool: -1 unless fd is a pipe */
   bool is_drained;       /* the pipe has ended */
};

/* Takes fd over, also on failure. */
AGX_MUST_CHECK agx_status agxw_source_open(struct agxw_source *source, int fd);
/* Closes what agxw_source_open opened. */
void agxw_source_close(struct agxw_source *source);
/* Copies up to bytes from offset on; *out_got is less than bytes only where the data ends. */
AGX_MUST_CHECK agx_status agxw_source_read(struct agxw_source *source, uint64_t offset, void *out,
                                           size_t bytes, size_t *out_got);
