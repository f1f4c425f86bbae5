/* SPDX-License-Identifier: MIT
 *
 * What the dispatches of a capture execute when it is replayed on a virtual AGX that counts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agx/sim/check/statistics.h"
#include "base/status.h"

/* A dispatch, or the sum over those of a kernel. */
struct stat_row {
   uint64_t submission, count; /* count: of dispatches */
   uint32_t command, dispatch;
   uint64_t kernel;
   uint32_t grid[3], local[3];
   uint64_t threads, instructions, waits_met, bytes;
   uint64_t lanes_active, lanes_existing;
   uint64_t classes[AGXS_CLASS_COUNT];
   uint32_t gpr_halves, shared_B, occupancy;
   double cycles, term[AGXS_TERM_COUNT];
   enum agxs_term bound;
};

/* Replays the file; *out_rows (free it) in the order in which dispatches ran. */
AGX_MUST_CHECK agx_status stats_collect(const char *file, struct stat_row **out_rows,
                                        size_t *out_count);
