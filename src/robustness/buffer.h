/* SPDX-License-Identifier: MIT
 *
 * The arithmetic of safe buffer access: total, pure, without wrap.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* True when bytes at offset lie inside a buffer of size bytes.
 * Source: reference/cmdstream, robustness.md 2. */
static inline bool agxr_buffer_in_bounds(uint32_t offset, uint32_t bytes, uint32_t size)
{
   return bytes <= size && offset <= size - bytes;
}

/* The last offset at which bytes fit into size, 0 when none does: what umin clamps to. */
static inline uint32_t agxr_buffer_last_offset(uint32_t bytes, uint32_t size)
{
   return bytes <= size ? size - bytes : 0;
}
