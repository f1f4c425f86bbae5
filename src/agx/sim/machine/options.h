/* SPDX-License-Identifier: MIT
 *
 * What a client of the simulator asks for, and what it gets: options, faults and counts.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct agxs_dispatch_stats; /* check/statistics.h */
struct agxs_exec_set;       /* machine/exec_set.h */

enum agxs_fault_kind {
   AGXS_FAULT_SOFT_LOAD,  /* load from unmapped memory: gave 0 */
   AGXS_FAULT_SOFT_STORE, /* store or atomic to unmapped or read-only memory: dropped */
   AGXS_FAULT_HARD,       /* the submission stops */
   AGXS_FAULT_BOUNDS,     /* outside of what the launch may access: was executed all the same */
};

/* A part of what one launch may access. */
struct agxs_range {
   uint64_t va, bytes;
   uint32_t dispatch; /* index of the launch in its stream, from 0 */
   uint32_t access;   /* enum agxs_access bits */
};

struct agxs_fault {
   enum agxs_fault_kind kind;
   uint64_t va, bytes; /* bytes: 0 where they are not known */
   uint32_t dispatch;  /* index of the launch in its stream, from 0 */
   uint64_t pc;        /* relative to usc_base; 0 when not from a shader */
   uint32_t workgroup[3];
   uint32_t lane_flat; /* flat index of the thread in its workgroup */
   const char *what;   /* "load", "USC words", ...; static */
};

/* Gives SIMD-groups their stack; as a submission names it. */
struct agxs_helper_program {
   uint32_t binary; /* relative to usc_base, with bit 0 set; 0: there is none */
   uint32_t cfg;    /* AGXS_HELPER_PREAMBLE or 0 */
   uint64_t data;   /* what the program finds in its argument registers */
};
#define AGXS_HELPER_PREAMBLE (1u << 16) /* preambles have stacks, too */

struct agxs_options {
   bool strict;                         /* a soft fault is a hard one */
   bool check;                          /* report what real hardware leaves undefined */
   bool no_execute;                     /* walk and validate streams, run no thread */
   bool profile;                        /* count for on_dispatch; several times slower */
   uint32_t thread_count;               /* workers; 0 = one per online processor */
   uint64_t max_instructions_per_group; /* per SIMD-group; 0 = no limit; exceeding it = timeout */
   uint64_t max_workgroups;             /* per run; 0 = no limit; exceeding it = timeout */
   int64_t deadline_ns;                 /* of CLOCK_MONOTONIC; 0 = none; passing it = timeout */
   const atomic_bool *cancel;           /* looked at every million uops; may be NULL */
   uint64_t sampler_heap;               /* 8-byte samplers that registers name; 0: none */
   uint32_t sampler_count;              /* in the heap */
   /* 0: off. Else what the stream doesn't order runs in an order made from this number, one
    * thread, with caches that only barriers flush; `profile` has no effect (docs/hw). */
   uint64_t chaos_seed;
   /* Not NULL: what shaders access is watched, and reported when it lies outside of their
    * launch's ranges. Sorted by dispatch. */
   const struct agxs_range *ranges;
   uint32_t range_count;
   const struct agxs_exec_set *exec_set; /* what executes; NULL: what suits this machine best */
   struct agxs_helper_program helper;
   bool needs_helper; /* stacks come from a helper program only; else, without one, by themselves */
   void *user;
   /* Each fault, soft or hard; any thread; may be NULL. */
   void (*on_fault)(void *user, const struct agxs_fault *fault);
   /* With profile: each launch that has run to its end without an error, in the stream's
    * order, on the calling thread; may be NULL. */
   void (*on_dispatch)(void *user, const struct agxs_dispatch_stats *stats);
};

/* Values of enum agx_isa_unit. */
#define AGXS_UNITS 8

struct agxs_stats {
   uint64_t dispatches, workgroups, simd_groups, threads;
   uint64_t instructions; /* executed, per SIMD-group */
   uint64_t soft_faults;
   uint64_t outside; /* accesses outside of options.ranges */
   /* The same by enum agx_isa_unit; only with options.check or options.profile. */
   uint64_t unit_instructions[AGXS_UNITS];
};
