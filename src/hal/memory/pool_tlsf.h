/* SPDX-License-Identifier: MIT
 *
 * Blocks of any size out of slabs, by two-level segregated fit: free blocks stand in bins by
 * size, sixteen to each power of two, and bit masks tell which bins have any. So taking and
 * giving back are O(1), and a block is at most a sixteenth larger than what was looked for
 * before it is cut to size. Idle neighbours are joined; busy ones stay what they are, so that what
 * has just been freed does not make its surroundings unusable.
 */
#pragma once

#include "hal/memory/pool_block.h"

#define AGX_TLSF_UNIT_B  256u /* sizes and offsets are multiples */
#define AGX_TLSF_ROWS    28   /* up to 2^37 bytes */
#define AGX_TLSF_COLUMNS 16

struct agx_tlsf_bins {
   uint32_t rows; /* those with blocks */
   uint16_t columns[AGX_TLSF_ROWS];
   struct agx_link heads[AGX_TLSF_ROWS][AGX_TLSF_COLUMNS];
};

/* Embedded. */
struct agx_tlsf {
   struct agx_pool_nodes nodes;
   struct agx_tlsf_bins idle, busy;
   struct agx_pool_idle idle_slabs;
   struct agx_link busy_order; /* agx_pool_block, the longest freed first */
   uint64_t idle_B, busy_B;
};

void agx_tlsf_init(struct agx_tlsf *tlsf, const struct agx_host_alloc *alloc);
void agx_tlsf_fini(struct agx_tlsf *tlsf);

/* A slab whose size is a multiple of units up to 2^37: one idle block. */
AGX_MUST_CHECK agx_status agx_tlsf_add(struct agx_tlsf *tlsf, struct agx_pool_slab *slab);
/* Takes an idle slab away. */
void agx_tlsf_remove(struct agx_tlsf *tlsf, struct agx_pool_slab *slab);

/* *out_block NULL: there is none. Its size is what was wanted, rounded up to units. */
AGX_MUST_CHECK agx_status agx_tlsf_take(struct agx_tlsf *tlsf, const struct agx_pool_want *want,
                                        struct agx_pool_block **out_block);
/* death NULL: the block is idle. */
void agx_tlsf_give(struct agx_tlsf *tlsf, struct agx_pool_block *block,
                   const struct agx_frontier *death);

/* Looks at up to limit busy blocks, which become idle where their death is reached. */
void agx_tlsf_reclaim(struct agx_tlsf *tlsf, const struct agx_frontier *reached, uint32_t limit);
