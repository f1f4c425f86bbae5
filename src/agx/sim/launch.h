/* SPDX-License-Identifier: MIT
 *
 * One launch: its words from the stream, the USC words that it points to, and
 * running preamble and kernel.
 */
#pragma once

#include "agx/sim/dispatch.h"
#include "agx/sim/kernel.h"

#define AGXS_KERNEL_CACHE 64u

/* What one agxs_run_compute keeps between launches. */
struct agxs_run {
   const struct agx_chip *chip;
   const struct agxs_memory *memory;
   const struct agxs_options *options;
   uint64_t usc_base;
   struct agxs_pool *pool;
   const struct agxs_exec_set *set;
   struct agxs_kernel *kernels[AGXS_KERNEL_CACHE];
   uint32_t kernel_next;  /* slot that is replaced next */
   struct agxs_row *rows; /* constant pool of the kernel that runs */
   uint32_t row_capacity;
   uint16_t uniforms[AGX_UNIFORM_HALVES];
   uint64_t workgroups; /* asked for so far */
   struct agxs_stats stats;
};

/* A launch as the stream gives it. */
struct agxs_launch {
   uint32_t uniform_halves;
   uint32_t preamble_halves;
   uint32_t texture_count, sampler_count;
   uint32_t usc;     /* USC words, relative to usc_base */
   uint32_t grid[3]; /* threads */
   uint32_t local[3];
};

/* Reads GPU memory for the front end; a failure is a hard fault, reported with `what`. */
AGX_MUST_CHECK agx_status agxs_run_read(struct agxs_run *run, uint64_t va, void *bytes,
                                        uint64_t length, const char *what);

/* Checks the launch, loads its uniforms and runs it. */
AGX_MUST_CHECK agx_status agxs_run_launch(struct agxs_run *run, const struct agxs_launch *launch);
