/* SPDX-License-Identifier: MIT
 *
 * Hands out ranges of GPU address space: pure arithmetic over a sorted list of
 * holes, first fit from the bottom. The caller locks. A freed range must be one
 * that was handed out.
 *
 * With windows, the last pages of each aligned window stay free for callers that want to map
 * something there, and no range lies across the end of a window; but one that is too long
 * for a window begins with one, and covers the ends of all but perhaps its last.
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
   uint64_t window_B, kept_B;  /* of a window, and at its end; 0: no windows */
   struct agxw_va_hole *holes; /* ascending, never touching each other */
   size_t hole_count, capacity;
   size_t live; /* ranges handed out */
};

/* start and end are multiples of AGX_PAGE_BYTES, start < end. name for messages,
 * not copied. */
AGX_MUST_CHECK agx_status agxw_va_heap_init(struct agxw_va_heap *heap, const char *name,
                                            uint64_t start, uint64_t end,
                                            const struct agx_host_alloc *alloc);
/* Divides the heap, which has given out nothing yet, into windows: at multiples of window_B, a
 * power of two, with kept_B, a multiple of pages, left free at the end of each. The last window
 * ends with the heap. */
void agxw_va_heap_divide(struct agxw_va_heap *heap, uint64_t window_B, uint64_t kept_B);
/* Where the pages that are left free begin in the window that holds va. */
uint64_t agxw_va_heap_kept(const struct agxw_va_heap *heap, uint64_t va);
/* Ranges that are still out are forgotten. */
void agxw_va_heap_fini(struct agxw_va_heap *heap);

/* A range of at least bytes (> 0, rounded up to pages) whose start is a multiple of
 * align (a power of two, 0 = one page). One guard page after it stays unused too.
 * AGX_RESOURCE_EXHAUSTED when no hole is large enough. */
AGX_MUST_CHECK agx_status agxw_va_heap_alloc(struct agxw_va_heap *heap, uint64_t bytes,
                                             uint64_t align, uint64_t *out_va);
/* Never fails. bytes as it was asked for. */
void agxw_va_heap_free(struct agxw_va_heap *heap, uint64_t va, uint64_t bytes);

/* How an address space is divided, from what the kernel reports of it. Pure. */

#define AGXW_LOW_END       (UINT64_C(1) << 36)   /* below: nothing but the zero page */
#define AGXW_SINK_BYTES    (2 * UINT64_C(16384)) /* at the end of each window: zeros, waste */
#define AGXW_ZERO_PAGE     (UINT64_C(1) << 32)
#define AGXW_WINDOW_BYTES  (UINT64_C(1) << 32) /* code and launch words: 32-bit offsets */
#define AGXW_KERNEL_BYTES  (UINT64_C(32) << 30)
#define AGXW_MAX_BO_BYTES  (UINT64_C(1) << 37)
#define AGXW_ADDRESS_BYTES (UINT64_C(1) << 40) /* GPU pointers in descriptors have 40 bits */

/* All multiples of 16 KiB; ends are exclusive. */
struct agxw_address_map {
   uint64_t zero_page;                /* 2^32: reads as zero, can't be written */
   uint64_t null_start, null_end;     /* 4 GiB, aligned to it: empty but for its sinks */
   uint64_t usc_start, usc_end;       /* 4 GiB, aligned to it */
   uint64_t user_start, user_end;     /* everything else of ours */
   uint64_t kernel_start, kernel_end; /* left to the kernel: the top */
};

/* vm_start, vm_end and kernel_min are GET_PARAMS' values. AGX_INCOMPATIBLE when the
 * space is too small or the values contradict each other. */
AGX_MUST_CHECK agx_status agxw_address_map_make(uint64_t vm_start, uint64_t vm_end,
                                                uint64_t kernel_min,
                                                struct agxw_address_map *out_map);
