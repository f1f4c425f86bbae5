/* SPDX-License-Identifier: MIT
 *
 * Blocks of any size out of slabs, by two-level segregated fit: free blocks stand in bins by
 * size, sixteen to each power of two, and bit masks tell which bins have any. So acquiring and
 * returning are O(1), and a block is at most a sixteenth larger than what was looked for
 * before it is cut to size. Idle neighbours are joined. Busy blocks are not: a block just returned
 * would make its idle neighbours busy, too.
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
   struct agx_pool_idle_slabs idle_slabs;
   struct agx_link busy_order; /* agx_pool_block, in the order of returning */
   uint64_t idle_B, busy_B;
};

/* Starts without slabs; alloc stays valid until agx_tlsf_fini. */
void agx_tlsf_init(struct agx_tlsf *tlsf, const struct agx_host_alloc *alloc);
/* Frees the nodes; all slabs were removed. */
void agx_tlsf_fini(struct agx_tlsf *tlsf);

/* Adds a slab, whose size is a multiple of units up to 2^37, as one idle block.
 * AGX_RESOURCE_EXHAUSTED: out of host memory. */
AGX_MUST_CHECK agx_status agx_tlsf_add(struct agx_tlsf *tlsf, struct agx_pool_slab *slab);
/* Removes a slab that is idle. */
void agx_tlsf_remove(struct agx_tlsf *tlsf, struct agx_pool_slab *slab);

/* Acquires a block of the size that is wanted, rounded up to units. *out_block NULL: none suits.
 * AGX_RESOURCE_EXHAUSTED: out of host memory. */
AGX_MUST_CHECK agx_status agx_tlsf_acquire(struct agx_tlsf *tlsf, const struct agx_pool_want *want,
                                           struct agx_pool_block **out_block);
/* Returns a used block, which is busy until death is reached; NULL: it becomes idle. */
void agx_tlsf_return(struct agx_tlsf *tlsf, struct agx_pool_block *block,
                     const struct agx_frontier *death);

/* Looks at up to limit busy blocks and makes those idle whose death is reached. */
void agx_tlsf_reclaim(struct agx_tlsf *tlsf, const struct agx_frontier *reached, uint32_t limit);
