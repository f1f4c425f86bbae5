/* SPDX-License-Identifier: MIT
 *
 * Counts what a dispatch executes, for statistics and modelled cycles (model.h). A
 * run loop of its own (group.c) calls in here; the plain one knows nothing of it.
 * Each worker counts for itself, workgroup by workgroup, so that sums do not depend
 * on the number of threads.
 */
#pragma once

#include "agx/sim/machine/machine.h"
#include "agx/sim/check/model.h"

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
const char *agxs_class_name(enum agxs_class class_);
/* Short names of enum agx_isa_unit: "f32", "shared" ... */
const char *agxs_unit_name(unsigned unit);

/* One instruction of a kernel. Cycles and counts are sums over all its executions. */
struct agxs_spot {
   uint32_t pc; /* relative to usc_base */
   uint8_t length;
   uint8_t bytes[AGX_ISA_MAX_BYTES]; /* its code, for whoever wants to print it */
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

struct agxs_profile;

/* A texture or image instruction says what it touches, active lanes only; inside exec
 * functions. Costs one test when nothing is counted. */
void agxs_profile_note(struct agxs_group *group, uint64_t va, uint32_t bytes);
static inline void agxs_profile_touch(struct agxs_group *group, uint64_t va, uint32_t bytes)
{
   if (__builtin_expect(group->worker->profile != NULL, 0))
      agxs_profile_note(group, va, bytes);
}

/* Takes up a launch (options.profile is set) or gives all memory back. */
AGX_MUST_CHECK agx_status agxs_profile_begin(struct agxs_worker *worker);
void agxs_profile_free(struct agxs_worker *worker);

/* Around a workgroup. */
void agxs_profile_enter(struct agxs_worker *worker);
void agxs_profile_leave(struct agxs_worker *worker);

/* Before and after an instruction. False: no memory to count with (the group has failed). */
void agxs_profile_before(struct agxs_group *group, const struct agxs_uop *uop);
bool agxs_profile_after(struct agxs_group *group, const struct agxs_uop *uop);

/* Adds what another worker counted of the same launch, and empties that. */
void agxs_profile_merge(struct agxs_worker *into, struct agxs_worker *from);

/* Cycles of what was counted since begin: a preamble. */
uint64_t agxs_profile_cycles(const struct agxs_worker *worker);

/* Hands the sums to options.on_dispatch. */
AGX_MUST_CHECK agx_status agxs_profile_report(const struct agxs_worker *worker, uint64_t preamble);
