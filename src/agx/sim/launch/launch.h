/* SPDX-License-Identifier: MIT
 *
 * One launch: checks, uniforms, preamble, kernel.
 */
#pragma once

#include "agx/hw/decode.h"
#include "agx/sim/launch/dispatch.h"
#include "agx/sim/image/texture.h"
#include "agx/sim/machine/kernel.h"

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
   const struct agxs_exec_set *set, *inner_set; /* inner_set: with options.ranges, check/bounds.h */
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
