/* SPDX-License-Identifier: MIT
 *
 * For the tests of all rooms of the simulator: a little GPU address space, and programs from text.
 */
#pragma once

#include "support.h"

#include "agx/chip.h"
#include "agx/sim/memory/space.h"

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
