/* SPDX-License-Identifier: MIT
 *
 * What the dispatches of a capture execute when it is replayed on a virtual AGX that counts.
 */
#pragma once

#include <stdbool.h>
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

/* Adds a row to a sum: counts and cycles, and what binds the sum. */
void stats_add(struct stat_row *sum, const struct stat_row *row);
/* Takes the row of a dispatch, and what its instructions executed, which is there during the call
 * only. */
typedef void stats_watch_fn(void *user, const struct stat_row *row,
                            const struct agxs_dispatch_stats *stats);
/* Orders rows (struct stat_row) by submission, command and dispatch, for qsort and bsearch. */
int stats_compare_places(const void *a, const void *b);
/* Replays the file and calls watch for each dispatch. Behind a difference from what was recorded
 * there are none; *out_differs (NULL is fine) is true then. */
AGX_MUST_CHECK agx_status stats_watch(const char *file, stats_watch_fn *watch, void *user,
                                      bool *out_differs);
/* Replays the file; *out_rows (free it) in the order in which dispatches ran. */
AGX_MUST_CHECK agx_status stats_collect(const char *file, struct stat_row **out_rows,
                                        size_t *out_count);
