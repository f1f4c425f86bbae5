/* SPDX-License-Identifier: MIT
 *
 * For the simulator's tests: a little GPU address space, programs from text, and
 * two ways to run them: one SIMD-group from given registers, or a whole launch
 * through a command stream.
 */
#pragma once

#include "support.h"

#include "agx/sim/exec/exec.h"
#include "agx/sim/machine/kernel.h"
#include "agx/sim/sim.h"
#include "agx/sim/launch/workgroup.h"

#define SIM_MAX_REGIONS 16
#define SIM_USC_BASE    0x1100000000ull
#define SIM_CODE        0x4000u  /* of the kernel, relative to SIM_USC_BASE */
#define SIM_PREAMBLE    0x14000u /* of the preamble */
#define SIM_WORDS       0x24000u /* USC words */
#define SIM_UNIFORMS    0x2000000000ull
#define SIM_STREAM      0x2000004000ull
#define SIM_DATA        0x2000100000ull

struct sim_region {
   uint64_t va, size;
   uint8_t *host;
   bool is_writable;
};

struct sim_memory {
   struct agxs_memory interface;
   struct sim_region region[SIM_MAX_REGIONS];
   unsigned count;
   _Atomic uint64_t generation;
};

void sim_memory_init(struct sim_memory *memory);
void sim_memory_fini(struct sim_memory *memory);
/* Zeroed memory of size bytes (rounded up to pages) at va; the same again when it is there. */
uint8_t *sim_map(struct sim_memory *memory, uint64_t va, uint64_t size, bool is_writable);

/* Assembles lines separated by newlines or ';'; returns the length. Fails the test on errors.
 * A line "name:" marks a place, "offset=@name" is the distance to it. */
size_t sim_assemble(const char *text, uint8_t *code, size_t capacity);

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
