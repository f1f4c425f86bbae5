/* SPDX-License-Identifier: MIT
 *
 * Between the files of the room: one launch (checks, uniforms, preamble, kernel), the pool of
 * threads, one workgroup, one SIMD-group, and chaos.
 */
#pragma once

#include "agx/hw/decode.h"
#include "agx/sim/image/image.h"
#include "agx/sim/machine/kernel.h"
#include "agx/sim/machine/machine.h"

#define AGXS_KERNEL_CACHE 64u

/* What one agxs_run_compute keeps between launches. */
struct agxs_chaos;

struct agxs_run {
   const struct agx_chip *chip;
   const struct agxs_memory *memory;
   const struct agxs_options *options;
   uint64_t usc_base;
   struct agxs_pool *pool;
   struct agxs_chaos *chaos;                    /* with options.chaos_seed, else NULL */
   struct agxs_helpers *helpers;                /* of the submission's helper program, or NULL */
   const struct agxs_exec_set *set, *inner_set; /* inner_set: with options.ranges, check/check.h */
   struct agxs_exec_set bounds_set;
   struct agxs_kernel *kernels[AGXS_KERNEL_CACHE];
   uint32_t kernel_next;  /* slot that is replaced next */
   struct agxs_row *rows; /* constant pool of the kernel that runs */
   uint32_t row_capacity;
   uint16_t uniforms[AGX_UNIFORM_HALVES];
   struct agxs_states states;
   uint64_t uniform_loaded[AGX_UNIFORM_HALVES / 64]; /* by launch words or the preamble */
   uint64_t workgroups;                              /* asked for so far */
   struct agxs_stats stats;
};

/* Reads GPU memory for the front end; a failure is a hard fault, reported with `what`. */
AGX_MUST_CHECK agx_status agxs_run_read(struct agxs_run *run, uint64_t va, void *bytes,
                                        uint64_t length, const char *what);

/* The sizes of an indirect launch, from memory. */
AGX_MUST_CHECK agx_status agxs_run_sizes(struct agxs_run *run, struct agx_hw_launch *launch);

/* Checks the launch (its sizes are known), loads its uniforms, runs its preamble; out->kernel is
 * NULL when there is nothing to run. The pool of *out is good until the next call. */
AGX_MUST_CHECK agx_status agxs_run_prepare(struct agxs_run *run, const struct agx_hw_launch *launch,
                                           const struct agx_hw_usc_info *program,
                                           struct agxs_dispatch *out, uint64_t *out_cycles);

/* Checks the launch (its sizes are known), loads its uniforms and runs it. */
AGX_MUST_CHECK agx_status agxs_run_launch(struct agxs_run *run, const struct agx_hw_launch *launch,
                                          const struct agx_hw_usc_info *program);

/* Runs the workgroups of launches on a few threads. The calling thread is one of
 * them; the others are made when a run first has work for them and end with it.
 * The order in which workgroups are handed out is fixed, and the failure reported
 * is that of the first workgroup that fails in that order. */

struct agxs_pool;

/* thread_count 0: one per online processor. Nothing is started yet. */
AGX_MUST_CHECK agx_status agxs_pool_create(const struct agxs_memory *memory, uint32_t thread_count,
                                           struct agxs_pool **out_pool);
/* Ends the threads; no launch runs. NULL is fine. */
void agxs_pool_destroy(struct agxs_pool *pool);

/* Runs one launch to its end, that is, all or until one fails. */
AGX_MUST_CHECK agx_status agxs_pool_run(struct agxs_pool *pool,
                                        const struct agxs_dispatch *dispatch);

/* The calling thread's own worker, for preambles and for reading memory. */
struct agxs_worker *agxs_pool_worker(struct agxs_pool *pool);

/* Adds the counts of workgroups, threads and instructions. */
void agxs_stats_add(struct agxs_stats *sum, const struct agxs_stats *more);

/* Adds up what all workers counted. */
void agxs_pool_stats(const struct agxs_pool *pool, struct agxs_stats *stats);

/* Runs one SIMD-group for a time slice. */

/* Uops that a SIMD-group runs before the next one of its workgroup has a time slice, so that
 * one may wait for what another stores. */
#define AGXS_SLICE 1000000u

/* Runs the group until it is done, at a barrier or failed, or its time slice is over (ready). */
void agxs_group_run(struct agxs_group *group);

/* One workgroup on one worker: its SIMD-groups run in turn, each until it ends or
 * stands at a barrier, so that the order is the same every time. */

/* The worker is zeroed before. */
AGX_MUST_CHECK agx_status agxs_worker_init(struct agxs_worker *worker,
                                           const struct agxs_memory *memory);
/* Frees what the worker has made. */
void agxs_worker_fini(struct agxs_worker *worker);

/* Takes up a launch: makes room for its SIMD-groups, registers and stacks. */
AGX_MUST_CHECK agx_status agxs_worker_begin(struct agxs_worker *worker,
                                            const struct agxs_dispatch *dispatch);

/* Whether the run has passed options->deadline_ns. */
bool agxs_is_overdue(const struct agxs_options *options);
/* Runs one workgroup of the launch to its end. */
AGX_MUST_CHECK agx_status agxs_worker_run(struct agxs_worker *worker, const uint32_t workgroup[3]);

/* Its beginning alone: all SIMD-groups at the kernel's start, with their stacks. */
AGX_MUST_CHECK agx_status agxs_worker_enter(struct agxs_worker *worker,
                                            const uint32_t workgroup[3]);
/* The number of the core that has workgroup `index`, in the order of the grid. */
uint32_t agxs_core_at(const struct agx_chip *chip, uint64_t index);
/* SIMD-groups in a workgroup of the launch. */
uint32_t agxs_worker_groups(const struct agxs_worker *worker);

/* Sets SIMD-group `index` to the kernel's start, with threads in the lanes `exists`;
 * part of agxs_worker_run. */
AGX_MUST_CHECK agx_status agxs_group_start(struct agxs_worker *worker, uint32_t index,
                                           uint32_t exists);

/* Helper programs: one runs for each core of which a SIMD-group needs a stack, from the first one
 * to the command's end. Between two operations it stands at a doorbell. */

/* Decodes the helper program that the options name. run->pool is there. */
AGX_MUST_CHECK agx_status agxs_helpers_create(struct agxs_run *run);
/* Asks all that run to end, and looks whether they do. */
AGX_MUST_CHECK agx_status agxs_helpers_end(struct agxs_run *run);
/* NULL is fine. */
void agxs_helpers_destroy(struct agxs_helpers *helpers);
/* Makes the core this worker's until agxs_helpers_leave; waits for another workgroup's end. */
void agxs_helpers_enter(struct agxs_helpers *helpers, uint32_t core);
/* Others may have the core. */
void agxs_helpers_leave(struct agxs_helpers *helpers, uint32_t core);
/* Has the helper program of the worker's core map the group's stack. */
AGX_MUST_CHECK agx_status agxs_stack_alloc(struct agxs_group *group);
/* Has it take back the stack of a group that has ended. */
AGX_MUST_CHECK agx_status agxs_stack_free(struct agxs_group *group);

/* Chaos: a stream run as badly as it may be. Launches between two barriers are
 * collected, and their workgroups run on a few simulated cores in an order made from
 * a seed, SIMD-group by SIMD-group in turns of random length; each core has caches
 * (memory/memory.h) that only barriers flush. One host thread, so that a seed gives the same
 * run every time. What a client should not rely on, it can't. */

/* run->options->chaos_seed is not 0. */
AGX_MUST_CHECK agx_status agxs_chaos_create(struct agxs_run *run);
/* Adds to the run's statistics. */
void agxs_chaos_destroy(struct agxs_run *run);

/* A launch of the stream; may run some of those before it. */
AGX_MUST_CHECK agx_status agxs_chaos_add(struct agxs_run *run, const struct agx_hw_launch *launch,
                                         const struct agx_hw_usc_info *program);
/* Runs all that was added, and makes memory what every core sees. */
AGX_MUST_CHECK agx_status agxs_chaos_barrier(struct agxs_run *run);

/* Number `index` of a permutation of 0 .. count - 1 that key selects. */
uint64_t agxs_chaos_permute(uint64_t key, uint64_t count, uint64_t index);
