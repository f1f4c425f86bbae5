/* SPDX-License-Identifier: MIT
 *
 * Hands out ranges of GPU address space: pure arithmetic over a sorted list of
 * holes, first fit from the bottom. The caller locks. A freed range must be one
 * that was handed out.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

struct agxw_va_hole {
   uint64_t start, end; /* exclusive */
};

/* Embedded. */
struct agxw_va_heap {
   const struct agx_host_alloc *alloc;
   const char *name;
   uint64_t start, end;
   struct agxw_va_hole *holes; /* ascending, never touching each other */
   size_t hole_count, capacity;
   size_t live; /* ranges handed out */
};

/* start and end are multiples of AGX_PAGE_BYTES, start < end. name for messages,
 * not copied. */
AGX_MUST_CHECK agx_status agxw_va_heap_init(struct agxw_va_heap *heap, const char *name,
                                            uint64_t start, uint64_t end,
                                            const struct agx_host_alloc *alloc);
/* Ranges that are still out are forgotten. */
void agxw_va_heap_fini(struct agxw_va_heap *heap);

/* A range of at least bytes (> 0, rounded up to pages) whose start is a multiple of
 * align (a power of two, 0 = one page). One guard page after it stays unused too.
 * AGX_RESOURCE_EXHAUSTED when no hole is large enough. */
AGX_MUST_CHECK agx_status agxw_va_heap_alloc(struct agxw_va_heap *heap, uint64_t bytes,
                                             uint64_t align, uint64_t *out_va);
/* Never fails. bytes as it was asked for. */
void agxw_va_heap_free(struct agxw_va_heap *heap, uint64_t va, uint64_t bytes);

/* Bytes not handed out, guard pages not counted as free. */
uint64_t agxw_va_heap_free_bytes(const struct agxw_va_heap *heap);
