/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* The memory file that bytes at pointer are a shared mapping of: a descriptor of its own, which
 * the caller closes, and where in it they lie. writes: the mapping must be writable.
 * AGX_UNAVAILABLE, with the reason, for all other memory. */
AGX_MUST_CHECK agx_status agx_host_memory_find(const void *pointer, uint64_t bytes, bool writes,
                                               int *out_fd, uint64_t *out_offset);
