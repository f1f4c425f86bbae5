/* SPDX-License-Identifier: MIT
 *
 * Executes a compute command stream and its machine code over a memory
 * interface. Knows the hardware (src/agx) and nothing of kernels or drivers.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agx/chip.h"
#include "base/status.h"

enum agxs_access {
   AGXS_READ = 1,
   AGXS_WRITE = 2,
};

/* GPU address space as the simulator sees it. Called from several threads. */
struct agxs_memory {
   void *user;
   /* The host address of GPU address va when its 16 KiB page is mapped with that
    * access, else NULL. The result is good to the end of that page until
    * *generation changes. */
   void *(*translate)(void *user, uint64_t va, enum agxs_access access);
   /* Changes whenever a mapping goes or changes; read between workgroups. */
   const _Atomic uint64_t *generation;
};

struct agxs_dispatch_stats; /* agx/sim/profile.h */
struct agxs_exec_set;       /* agx/sim/exec.h */

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

struct agxs_options {
   bool strict;                         /* a soft fault is a hard one */
   bool check;                          /* report what real hardware leaves undefined */
   bool no_execute;                     /* walk and validate streams, run no thread */
   bool profile;                        /* count for on_dispatch; several times slower */
   uint32_t thread_count;               /* workers; 0 = one per online processor */
   uint64_t max_instructions_per_group; /* per SIMD-group; 0 = no limit; exceeding it = timeout */
   uint64_t max_workgroups;             /* per run; 0 = no limit; exceeding it = timeout */
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

/* Runs the CDM stream at stream_va to its Terminate. usc_base is the 4 GiB window
 * that code and launch words are relative to.
 * AGX_UNIMPLEMENTED names what is not modelled; AGX_DATA_LOSS is a hard fault (text:
 * address, access, dispatch, pc) or words that are none; AGX_DEADLINE_EXCEEDED an endless
 * kernel; AGX_CANCELLED options->cancel; AGX_INVALID_ARGUMENT a launch or program beyond the
 * hardware's limits; AGX_RESOURCE_EXHAUSTED one beyond the simulator's;
 * AGX_FAILED_PRECONDITION what check mode objects to. *out_stats (may be NULL) is filled in
 * any case. */
AGX_MUST_CHECK agx_status agxs_run_compute(const struct agx_chip *chip,
                                           const struct agxs_memory *memory,
                                           const struct agxs_options *options, uint64_t usc_base,
                                           uint64_t stream_va, struct agxs_stats *out_stats);
