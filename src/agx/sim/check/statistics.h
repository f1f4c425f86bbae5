/* SPDX-License-Identifier: MIT
 *
 * What options.profile gives a client: counts and modelled cycles (model.h) of one launch, as a
 * whole and instruction by instruction.
 */
#pragma once

#include "agx/isa/isa.h"
#include "agx/sim/check/model.h"
#include "agx/sim/machine/options.h"

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
