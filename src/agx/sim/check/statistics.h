/* SPDX-License-Identifier: MIT
 *
 * What options.profile gives a client: counts and modelled cycles of one launch, as a
 * whole and instruction by instruction.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "agx/chip.h"
#include "agx/isa/isa.h"
#include "agx/sim/machine/options.h"

/* Modelled cycles of one dispatch: a bound made of sums over what was executed, the
 * same for every compiler's code. Source: docs/hw/performance.md, "Modelled cycles,
 * defined once". Pure arithmetic; profile.c does the counting. */

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

/* What can bound `main`, in the order in which docs/hw/performance.md lists it. */
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

/* What the load-store and texture units were asked for. */
enum agxs_class {
   AGXS_CLASS_OTHER,
   AGXS_CLASS_LOAD,
   AGXS_CLASS_STORE,
   AGXS_CLASS_ATOMIC,
   AGXS_CLASS_LOCAL, /* threadgroup memory, its atomics too */
   AGXS_CLASS_STACK,
   AGXS_CLASS_TEXTURE, /* samples, image loads and stores */
   AGXS_CLASS_WAIT,
   AGXS_CLASS_BARRIER,
   AGXS_CLASS_COUNT,
};
/* Short names: "load", "local" ... */
const char *agxs_class_name(enum agxs_class class_);
/* Short names of enum agx_isa_unit: "f32", "shared" ... */
const char *agxs_unit_name(unsigned unit);

/* One instruction of a kernel. Cycles and counts are sums over all its executions. */
struct agxs_spot {
   uint32_t pc; /* relative to usc_base */
   uint8_t length;
   uint8_t bytes[AGX_ISA_MAX_BYTES]; /* its code, to be printed */
   uint64_t executed;                /* by SIMD-groups */
   uint64_t stall;                   /* cycles that it waited for operands or operations */
   uint64_t complex_pipe, lsu, refetch;
   uint64_t lines; /* of data, distinct in each execution */
   uint64_t lanes; /* that were active */
};

struct agxs_dispatch_stats {
   const struct agx_chip *chip;
   uint32_t index;    /* of the launch in its stream */
   uint64_t usc_base; /* what entry and pcs are relative to */
   uint32_t entry;
   uint64_t code_hash; /* FNV-1a of all reachable code: names a kernel from run to run */
   uint32_t grid[3], local[3];
   struct agxs_counts counts;
   uint64_t units[AGXS_UNITS];
   uint64_t classes[AGXS_CLASS_COUNT];
   uint64_t waits_met;      /* waits that met an outstanding operation ... */
   uint64_t wait_stall;     /* ... and the cycles that these took */
   uint64_t line_accesses;  /* lines of data, distinct in each instruction */
   uint64_t requested_B;    /* bytes that active lanes named, in device memory and textures */
   uint64_t lanes_active;   /* sum over executed instructions */
   uint64_t lanes_existing; /* the same, of lanes that have a thread */
   uint64_t partial, empty; /* instructions with some, with none of these lanes active */
   struct agxs_spot *spots; /* what was executed at least once, by pc; only during the call */
   uint32_t spot_count;
};

/* Statistics of a dispatch as text: a table for people, an object of JSON for programs
 * (docs/hw/simulator.md lists its keys). Both name each term of the model and what binds
 * `main`, on the dispatch's own grid and on the grid repeated for a race. */

/* Where the dispatch comes from. */
struct agxs_origin {
   uint64_t submission; /* from 1 */
   uint32_t command;    /* of the submission */
};

/* The table, with at most `spots` instructions: those that add most to what binds. */
void agxs_report_table(FILE *to, const struct agxs_dispatch_stats *stats,
                       const struct agxs_origin *origin, uint32_t spots);

/* One line: the object and a newline. */
void agxs_report_json(FILE *to, const struct agxs_dispatch_stats *stats,
                      const struct agxs_origin *origin);
