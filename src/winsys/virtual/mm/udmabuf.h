/* SPDX-License-Identifier: MIT
 *
 * dma-bufs of ranges of memory files, as /dev/udmabuf makes them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether fd, which is a memory file, stands for such a range, and for which. */
bool agxv_udmabuf_range(int fd, uint64_t *out_offset, uint64_t *out_bytes);
/* Makes it stand for one. Both are multiples of the host's pages. */
void agxv_udmabuf_mark(int fd, uint64_t offset, uint64_t bytes);
