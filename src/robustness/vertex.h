/* SPDX-License-Identifier: MIT
 *
 * Which part of a vertex buffer a draw may read: pure, total, without wrap. An attribute has its
 * format's bytes at offset of its vertex buffer, of which only the first 2^32 - 1 bytes count.
 * hal/record/vertex.c binds attributes by it. Source: docs/hw/access.md 3 and 4.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The bytes of a vertex buffer that count. */
static inline uint32_t agxr_vertex_size(uint64_t size)
{
   return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

/* Whether element 0 is inside. An attribute of which it isn't reads the sink, always. */
static inline bool agxr_vertex_fits(uint64_t size, uint64_t offset, uint32_t bytes)
{
   uint32_t usable = agxr_vertex_size(size);
   return offset <= usable && bytes <= usable - offset;
}
