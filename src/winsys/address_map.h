/* SPDX-License-Identifier: MIT
 *
 * How an address space is divided, from what the kernel reports of it. Pure.
 */
#pragma once

#include <stdint.h>

#include "base/status.h"

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
