/* SPDX-License-Identifier: MIT
 *
 * What a helper program is given to hand out as stacks: a header with a record for each core, a
 * list of blocks for each core that is enabled, and the blocks. Source: docs/hw/cmdstream.md 5.
 */
#pragma once

#include "agx/chip.h"
#include "base/status.h"

/* SIMD-groups of one core that have stacks at once. */
#define AGX_HW_SCRATCH_GROUPS    128u
#define AGX_HW_SCRATCH_MAX_WORDS (4u * 8u << 12)

/* The cores that a GPU has. */
struct agx_hw_cores {
   uint32_t cluster_count, cores_per_cluster;
   const uint64_t *masks; /* of each cluster: a bit for each core that is enabled */
};

struct agx_hw_scratch {
   uint32_t words;       /* of a thread's stack: what was asked for, rounded up */
   uint32_t size_code;   /* of a block: it holds 8 << 2 * size_code words of each thread */
   uint32_t block_count; /* of a stack, 1 to 4 */
   uint64_t block_B;     /* of 32 threads; blocks are aligned to it */
   uint32_t core_count;  /* enabled */
   uint64_t lists_at, blocks_at, total_B;
};

/* Plans stacks of so many words for each thread, 1 to AGX_HW_SCRATCH_MAX_WORDS.
 * AGX_OUT_OF_RANGE when a core's number has no record in the header. */
AGX_MUST_CHECK agx_status agx_hw_scratch_plan(uint32_t words, const struct agx_hw_cores *cores,
                                              struct agx_hw_scratch *out_scratch);
/* Writes header and lists, the first blocks_at bytes of memory that lies at va, which is aligned
 * to block_B and ends below 2^40. */
void agx_hw_scratch_write(const struct agx_hw_scratch *scratch, const struct agx_hw_cores *cores,
                          uint64_t va, void *out_memory);
