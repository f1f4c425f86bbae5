/* SPDX-License-Identifier: MIT
 *
 * For tests of the whole simulator: two ways to run programs from text: one SIMD-group from given
 * registers, or a whole launch through a command stream.
 */
#pragma once

#include "support.h"

#include "agx/sim/exec/exec.h"
#include "agx/sim/machine/kernel.h"
#include "agx/sim/sim.h"
#include "agx/sim/launch/launch_impl.h"
#include "sim_memory.h"

/* One SIMD-group. Fill, then sim_group_run. */
struct sim_group {
   const char *program; /* text; a stop is added */
   struct agxs_options options;
   uint32_t halves;       /* 0: 256 */
   uint32_t exists;       /* 0: all lanes */
   uint32_t shared_bytes; /* threadgroup memory, poisoned */
   uint32_t stack_words;
   bool is_preamble;
   /* Check mode: nothing wrote the registers yet; or all but some bits of one are defined. */
   bool is_undefined;
   uint32_t undefined[128][32];          /* in and out: undefined bits */
   const struct agxs_exec_set *set;      /* NULL: the best */
   uint32_t reg[128][32];                /* in and out */
   uint16_t uniform[AGX_UNIFORM_HALVES]; /* in, and out of a preamble */
   struct sim_memory *memory;            /* NULL: only the code is mapped */
   uint32_t active;                      /* out */
   struct agxs_stats stats;              /* out */
};
struct sim_group *sim_group_new(const char *program);
agx_status sim_group_run(struct sim_group *group);

/* A launch through a stream. Fill, then sim_launch_run. */
struct sim_launch {
   struct sim_memory memory;
   struct agxs_options options;
   const char *program, *preamble; /* stop is added; preamble NULL: none */
   uint32_t grid[3], local[3];
   uint32_t halves; /* 0: 32 */
   uint32_t shared_bytes, spill_code;
   uint32_t sample_stride;  /* of tile memory, in 8 bytes */
   uint64_t uniform[32];    /* u0.. as 64-bit values */
   uint32_t barrier;        /* the stream's barrier word; 0: the usual one */
   uint32_t loaded_halves;  /* that a launch word loads; 0: all */
   struct agxs_stats stats; /* out */
};
void sim_launch_init(struct sim_launch *launch, const char *program);
agx_status sim_launch_run(struct sim_launch *launch);
void sim_launch_fini(struct sim_launch *launch);
/* Launch + barrier + terminate; returns the bytes written. */
size_t sim_write_stream(const struct sim_launch *launch, uint8_t *to);
