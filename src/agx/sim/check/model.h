/* SPDX-License-Identifier: MIT
 *
 * Modelled cycles of one dispatch: a bound made of sums over what was executed, the
 * same for every compiler's code. Source: docs/hw/performance.md, "Modelled cycles,
 * defined once". Pure arithmetic; profile.c does the counting.
 */
#pragma once

#include <stdint.h>

#include "agx/chip.h"

#define AGXS_LINE_BYTES     128u /* of data and of code */
#define AGXS_CODE_LINES     96u  /* that the instruction cache holds */
#define AGXS_CODE_LINE_COST 16u  /* cycles to fetch one [A] */
#define AGXS_DATA_LINE_COST 2u   /* cycles of the load-store unit for one [A] */
#define AGXS_CORE_SHARED    (60u * 1024)
#define AGXS_RACE_GROUPS    32u /* SIMD-groups per core of the chip that a race needs */

/* Sums over all SIMD-groups of one dispatch; cycles unless said otherwise. */
struct agxs_counts {
   uint64_t workgroups, simd_groups, threads;
   uint64_t issue;        /* executed instructions */
   uint64_t complex_pipe; /* throughput of what the shared pipe executed */
   uint64_t lsu;
   uint64_t refetch;
   uint64_t stall;
   uint64_t longest;    /* the largest issue + stall of a SIMD-group */
   uint64_t lines;      /* distinct lines of data in a workgroup */
   uint64_t code_lines; /* distinct lines of code that were executed */
   uint64_t preamble;   /* issue + stall of the preamble */
   uint32_t gpr_halves, shared_B, workgroup_threads;
};

/* What can bound `main`, in the order in which perf.md lists it. */
enum agxs_term {
   AGXS_TERM_ISSUE,
   AGXS_TERM_COMPLEX,
   AGXS_TERM_LSU,
   AGXS_TERM_REFETCH,
   AGXS_TERM_TRAFFIC,
   AGXS_TERM_LATENCY, /* (issue + stall) of all by the SIMD-groups that are resident */
   AGXS_TERM_LONGEST,
   AGXS_TERM_COUNT,
};

struct agxs_model {
   uint64_t repeat;      /* how often the grid runs */
   uint64_t cores;       /* K */
   uint32_t occupancy;   /* SIMD-groups resident per core */
   uint64_t concurrency; /* of all cores, not more than there are */
   double term[AGXS_TERM_COUNT];
   enum agxs_term bound; /* the largest term */
   double cold, main, total;
};

/* Short names of terms, for reports: "issue", "complex", "lsu" ... */
const char *agxs_term_name(enum agxs_term term);

/* SIMD-groups resident on a core, in whole workgroups and at least one. */
uint32_t agxs_occupancy(uint32_t gpr_halves, uint32_t shared_B, uint32_t workgroup_threads);

/* How often the grid must run so that start-up does not decide a race; at least 1. */
uint64_t agxs_model_repeats(const struct agxs_counts *counts, const struct agx_chip *chip);

/* The dispatch with its grid run `repeat` times, one beside the other: sums multiply, the
 * longest SIMD-group and the code don't. */
struct agxs_model agxs_model(const struct agxs_counts *counts, const struct agx_chip *chip,
                             uint64_t repeat);
