/* SPDX-License-Identifier: MIT
 *
 * Blocks of pools beside a model of them.
 */
#pragma once

#include "hal/memory/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "support.h"

#define UNIT_B AGX_TLSF_UNIT_B
#define SLABS  4
#define UNITS  4096 /* of a slab */
#define OWNERS 512

/* ---- the model ------------------------------------------------------------- */

struct pool_model {
   uint16_t owner[SLABS][UNITS]; /* 1..; 0: free */
   struct agx_frontier death[SLABS][UNITS];
   struct agx_frontier submitted, reached;
   struct agx_test_rng rng;
   struct agx_pool_slab slabs[SLABS];
   struct agx_pool_block *blocks[OWNERS];
   uint64_t sizes[OWNERS], used_B;
};

static inline uint64_t below(struct pool_model *m, uint64_t bound)
{
   return agx_test_random_below(&m->rng, bound);
}

/* Some epochs between those reached and those submitted. */
static inline struct agx_frontier some_frontier(struct pool_model *m)
{
   struct agx_frontier frontier = {0};
   for (unsigned i = 0; i < 3; i++)
      frontier.epochs[i] =
         m->reached.epochs[i] + below(m, m->submitted.epochs[i] - m->reached.epochs[i] + 1);
   return frontier;
}

static inline void time_passes(struct pool_model *m)
{
   unsigned queue = (unsigned)below(m, 3);
   if (below(m, 2))
      m->submitted.epochs[queue] += below(m, 4);
   else
      m->reached.epochs[queue] +=
         below(m, m->submitted.epochs[queue] - m->reached.epochs[queue] + 1);
}

static inline uint32_t slab_of(const struct pool_model *m, const struct agx_pool_block *block)
{
   return (uint32_t)(block->slab - m->slabs);
}

/* The block belongs to no other owner, and its user waits for all who had any of it. */
static inline void model_take(struct pool_model *m, uint32_t owner, struct agx_pool_block *block,
                              const struct agx_pool_want *want)
{
   const uint32_t slab = slab_of(m, block);
   struct agx_frontier waited = *want->covered;
   if (want->may_wait)
      agx_frontier_merge(&waited, &block->death);
   assert_int_equal(block->state, AGX_BLOCK_USED);
   assert_true(block->size_B >= want->size_B);
   assert_true(block->size_B < want->size_B + UNIT_B);
   assert_int_equal(block->offset_B % want->align_B, 0);
   assert_true(agx_range_fits(block->offset_B, block->size_B, m->slabs[slab].size_B));
   for (uint64_t unit = block->offset_B / UNIT_B; unit * UNIT_B < block->offset_B + block->size_B;
        unit++) {
      assert_int_equal(m->owner[slab][unit], 0);
      assert_true(agx_frontier_covers(&waited, &m->death[slab][unit]));
      m->owner[slab][unit] = (uint16_t)owner;
   }
   m->blocks[owner] = block;
   m->used_B += block->size_B;
}

static inline void model_give(struct pool_model *m, uint32_t owner,
                              const struct agx_frontier *death)
{
   const struct agx_pool_block *block = m->blocks[owner];
   const uint32_t slab = slab_of(m, block);
   for (uint64_t unit = block->offset_B / UNIT_B; unit * UNIT_B < block->offset_B + block->size_B;
        unit++) {
      assert_int_equal(m->owner[slab][unit], owner);
      m->owner[slab][unit] = 0;
      m->death[slab][unit] = death ? *death : (struct agx_frontier){0};
   }
   m->used_B -= block->size_B;
   m->blocks[owner] = NULL;
}

/* The longest run of free units. */
static inline uint64_t longest_free(const struct pool_model *m)
{
   uint64_t longest = 0;
   for (uint32_t slab = 0; slab < SLABS; slab++) {
      uint64_t run = 0;
      for (uint32_t unit = 0; unit < UNITS; unit++) {
         bool free =
            m->owner[slab][unit] == 0 && agx_frontier_covers(&m->reached, &m->death[slab][unit]);
         run = free ? run + 1 : 0;
         longest = AGX_MAX(longest, run);
      }
   }
   return longest * UNIT_B;
}

static inline struct pool_model *new_model(uint64_t seed, uint64_t slab_B)
{
   struct pool_model *m = calloc(1, sizeof(*m));
   assert_non_null(m);
   m->rng.state = seed;
   for (uint32_t i = 0; i < SLABS; i++)
      m->slabs[i].size_B = slab_B;
   return m;
}
