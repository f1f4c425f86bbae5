/* SPDX-License-Identifier: MIT
 *
 * Two-level segregated fit, for pools of the strategy AGX_POOL_VARIABLE (pool_strategy.h). Nodes in
 * the host's memory describe the blocks, because the host may not be able to write the GPU's
 * memory.
 */
#include "hal/memory/pool_tlsf.h"

#include "base/util.h"

#define COLUMNS_LOG2 4
#define MAX_UNITS    ((uint64_t)1 << 29)
#define MAX_TRIES    8 /* at blocks, which may not suit */

/* ---- bins ----------------------------------------------------------------- */

struct bin {
   uint32_t row, column;
};

static uint32_t log2_of(uint64_t value)
{
   return 63u - (uint32_t)__builtin_clzll(value);
}

/* The bin that holds blocks of so many units. */
static struct bin bin_of(uint64_t units)
{
   if (units < AGX_TLSF_COLUMNS)
      return (struct bin){0, (uint32_t)units};
   uint32_t log2 = log2_of(units);
   return (struct bin){log2 - COLUMNS_LOG2 + 1,
                       (uint32_t)(units >> (log2 - COLUMNS_LOG2)) - AGX_TLSF_COLUMNS};
}

/* The first bin all of whose blocks have at least so many units. */
static struct bin bin_above(uint64_t units)
{
   if (units >= AGX_TLSF_COLUMNS)
      units += agx_bits(log2_of(units) - COLUMNS_LOG2);
   return bin_of(units);
}

static void bins_init(struct agx_tlsf_bins *bins)
{
   bins->rows = 0;
   for (uint32_t row = 0; row < AGX_TLSF_ROWS; row++) {
      bins->columns[row] = 0;
      for (uint32_t column = 0; column < AGX_TLSF_COLUMNS; column++)
         agx_list_init(&bins->heads[row][column]);
   }
}

static void bins_insert(struct agx_tlsf_bins *bins, struct agx_pool_block *block)
{
   struct bin at = bin_of(block->size_B / AGX_TLSF_UNIT_B);
   agx_list_insert_after(&bins->heads[at.row][at.column], &block->bin);
   bins->columns[at.row] |= (uint16_t)(1u << at.column);
   bins->rows |= 1u << at.row;
}

static void bins_remove(struct agx_tlsf_bins *bins, struct agx_pool_block *block)
{
   struct bin at = bin_of(block->size_B / AGX_TLSF_UNIT_B);
   agx_list_remove(&block->bin);
   if (!agx_list_empty(&bins->heads[at.row][at.column]))
      return;
   bins->columns[at.row] &= (uint16_t) ~(1u << at.column);
   if (!bins->columns[at.row])
      bins->rows &= ~(1u << at.row);
}

/* Moves *at to the first bin from there on that has blocks. */
static bool bins_find(const struct agx_tlsf_bins *bins, struct bin *at)
{
   if (at->row >= AGX_TLSF_ROWS)
      return false;
   uint32_t columns =
      at->column < AGX_TLSF_COLUMNS ? bins->columns[at->row] & (0xffffu << at->column) : 0;
   if (!columns) {
      uint32_t rows = at->row + 1 < 32 ? bins->rows & (~0u << (at->row + 1)) : 0;
      if (!rows)
         return false;
      at->row = (uint32_t)__builtin_ctz(rows);
      columns = bins->columns[at->row];
   }
   at->column = (uint32_t)__builtin_ctz(columns);
   return true;
}

static void insert(struct agx_tlsf *tlsf, struct agx_pool_block *block)
{
   if (block->state == AGX_BLOCK_BUSY) {
      bins_insert(&tlsf->busy, block);
      tlsf->busy_B += block->size_B;
   } else {
      bins_insert(&tlsf->idle, block);
      tlsf->idle_B += block->size_B;
      agx_pool_more_idle(&tlsf->idle_slabs, block->slab, block->size_B);
   }
}

static void extract(struct agx_tlsf *tlsf, struct agx_pool_block *block)
{
   if (block->state == AGX_BLOCK_BUSY) {
      bins_remove(&tlsf->busy, block);
      tlsf->busy_B -= block->size_B;
   } else {
      bins_remove(&tlsf->idle, block);
      tlsf->idle_B -= block->size_B;
      agx_pool_less_idle(&tlsf->idle_slabs, block->slab, block->size_B);
   }
}

/* ---- joining and cutting -------------------------------------------------- */

/* block takes over the one above it, which stands in no bin. */
static void swallow_above(struct agx_tlsf *tlsf, struct agx_pool_block *block)
{
   struct agx_pool_block *above = block->above;
   block->size_B += above->size_B;
   block->above = above->above;
   if (block->above)
      block->above->below = block;
   agx_pool_nodes_return(&tlsf->nodes, above);
}

/* Makes a block that stands in no bin idle, and joins it with its idle neighbours. */
static void make_idle(struct agx_tlsf *tlsf, struct agx_pool_block *block)
{
   block->state = AGX_BLOCK_IDLE;
   block->death = (struct agx_frontier){0};
   if (block->above && block->above->state == AGX_BLOCK_IDLE) {
      extract(tlsf, block->above);
      swallow_above(tlsf, block);
   }
   if (block->below && block->below->state == AGX_BLOCK_IDLE) {
      block = block->below;
      extract(tlsf, block);
      swallow_above(tlsf, block);
   }
   insert(tlsf, block);
}

/* Cuts block, which stands in no bin, at size_B; gives the upper part, in the same state. */
static struct agx_pool_block *cut(struct agx_tlsf *tlsf, struct agx_pool_block *block,
                                  uint64_t size_B)
{
   struct agx_pool_block *upper = agx_pool_nodes_acquire(&tlsf->nodes);
   upper->slab = block->slab;
   upper->offset_B = block->offset_B + size_B;
   upper->size_B = block->size_B - size_B;
   upper->state = block->state;
   upper->death = block->death;
   upper->below = block;
   upper->above = block->above;
   if (upper->above)
      upper->above->below = upper;
   block->above = upper;
   block->size_B = size_B;
   if (block->state == AGX_BLOCK_BUSY)
      agx_list_insert_after(&block->busy, &upper->busy);
   return upper;
}

/* ---- acquiring ---------------------------------------------------------------- */

/* How far into the block an aligned range of size_B begins; UINT64_MAX: there is none. */
static uint64_t place_in(const struct agx_pool_block *block, uint64_t size_B, uint64_t align_B)
{
   uint64_t skipped_B = agx_align_up(block->offset_B, align_B) - block->offset_B;
   return agx_range_fits(skipped_B, size_B, block->size_B) ? skipped_B : UINT64_MAX;
}

/* Looks through bins from `from` on to, and with, `to`; at no more than *tries blocks. */
static struct agx_pool_block *find_in_bins(struct agx_tlsf_bins *bins,
                                           const struct agx_pool_want *want, struct bin from,
                                           struct bin to, uint32_t *tries)
{
   const uint32_t end = to.row * AGX_TLSF_COLUMNS + to.column;
   struct bin at = from;
   while (bins_find(bins, &at) && at.row * AGX_TLSF_COLUMNS + at.column <= end) {
      agx_list_for_each (struct agx_pool_block, block, &bins->heads[at.row][at.column], bin) {
         if (*tries == 0)
            return NULL;
         (*tries)--;
         if (place_in(block, want->size_B, want->align_B) != UINT64_MAX &&
             agx_pool_block_suits(block, want))
            return block;
      }
      at.column++;
   }
   return NULL;
}

/* In the bin of the size itself some blocks do; in those above it all, but for alignment; and
 * where size and alignment fit together, they fit whatever a block's offset is. */
static struct agx_pool_block *find(struct agx_tlsf_bins *bins, const struct agx_pool_want *want)
{
   const struct bin last = {AGX_TLSF_ROWS - 1, AGX_TLSF_COLUMNS - 1};
   const uint64_t units = want->size_B / AGX_TLSF_UNIT_B;
   const uint64_t slack_B = want->align_B > AGX_TLSF_UNIT_B ? want->align_B - AGX_TLSF_UNIT_B : 0;
   uint32_t tries = MAX_TRIES;
   struct agx_pool_block *block = find_in_bins(bins, want, bin_of(units), bin_of(units), &tries);
   tries = MAX_TRIES;
   if (!block)
      block = find_in_bins(bins, want, bin_above(units), last, &tries);
   tries = MAX_TRIES;
   if (!block && slack_B && units + slack_B / AGX_TLSF_UNIT_B <= MAX_UNITS)
      block = find_in_bins(bins, want, bin_above(units + slack_B / AGX_TLSF_UNIT_B), last, &tries);
   return block;
}

/* Looks at busy blocks of about the size first: memory that was just used is in the caches, and
 * idle blocks stay whole. */
static struct agx_pool_block *choose(struct agx_tlsf *tlsf, const struct agx_pool_want *want)
{
   const uint64_t units = want->size_B / AGX_TLSF_UNIT_B;
   uint32_t tries = MAX_TRIES;
   struct agx_pool_want sure = *want;
   sure.may_wait = false;
   struct agx_pool_block *block =
      find_in_bins(&tlsf->busy, &sure, bin_of(units), bin_above(2 * units), &tries);
   if (!block)
      block = find(&tlsf->idle, &sure);
   if (!block)
      block = find(&tlsf->busy, &sure);
   if (!block && want->may_wait)
      block = find(&tlsf->busy, want);
   return block;
}

agx_status agx_tlsf_acquire(struct agx_tlsf *tlsf, const struct agx_pool_want *want,
                            struct agx_pool_block **out_block)
{
   *out_block = NULL;
   if (want->size_B == 0 || want->size_B > MAX_UNITS * AGX_TLSF_UNIT_B)
      return AGX_OK;
   struct agx_pool_want rounded = *want;
   rounded.size_B = agx_align_up(want->size_B, AGX_TLSF_UNIT_B);
   rounded.align_B = AGX_MAX(want->align_B, AGX_TLSF_UNIT_B);
   AGX_TRY(agx_pool_nodes_reserve(&tlsf->nodes, 2));
   struct agx_pool_block *block = choose(tlsf, &rounded);
   if (!block)
      return AGX_OK;
   uint64_t skipped_B = place_in(block, rounded.size_B, rounded.align_B);
   extract(tlsf, block);
   if (skipped_B > 0) {
      struct agx_pool_block *upper = cut(tlsf, block, skipped_B);
      insert(tlsf, block);
      block = upper;
   }
   if (block->size_B > rounded.size_B)
      insert(tlsf, cut(tlsf, block, rounded.size_B));
   agx_list_remove(&block->busy);
   block->state = AGX_BLOCK_USED;
   *out_block = block;
   return AGX_OK;
}

/* ---- returning ------------------------------------------------------------ */

void agx_tlsf_return(struct agx_tlsf *tlsf, struct agx_pool_block *block,
                     const struct agx_frontier *death)
{
   agx_assert(block->state == AGX_BLOCK_USED);
   if (!death) {
      make_idle(tlsf, block);
      return;
   }
   block->state = AGX_BLOCK_BUSY;
   block->death = *death;
   insert(tlsf, block);
   agx_list_append(&tlsf->busy_order, &block->busy);
}

void agx_tlsf_reclaim(struct agx_tlsf *tlsf, const struct agx_frontier *reached, uint32_t limit)
{
   agx_list_for_each_safe (struct agx_pool_block, block, &tlsf->busy_order, busy) {
      if (limit-- == 0)
         return;
      if (!agx_frontier_covers(reached, &block->death))
         continue;
      extract(tlsf, block);
      agx_list_remove(&block->busy);
      make_idle(tlsf, block);
   }
}

/* ---- slabs ------------------------------------------------------------------- */

void agx_tlsf_init(struct agx_tlsf *tlsf, const struct agx_host_alloc *alloc)
{
   agx_pool_nodes_init(&tlsf->nodes, alloc);
   bins_init(&tlsf->idle);
   bins_init(&tlsf->busy);
   agx_list_init(&tlsf->idle_slabs.list);
   tlsf->idle_slabs.count = 0;
   agx_list_init(&tlsf->busy_order);
   tlsf->idle_B = tlsf->busy_B = 0;
}

void agx_tlsf_fini(struct agx_tlsf *tlsf)
{
   agx_pool_nodes_fini(&tlsf->nodes);
}

agx_status agx_tlsf_add(struct agx_tlsf *tlsf, struct agx_pool_slab *slab)
{
   agx_assert(slab->size_B > 0 && slab->size_B % AGX_TLSF_UNIT_B == 0);
   agx_assert(slab->size_B <= MAX_UNITS * AGX_TLSF_UNIT_B);
   AGX_TRY(agx_pool_nodes_reserve(&tlsf->nodes, 1));
   struct agx_pool_block *block = agx_pool_nodes_acquire(&tlsf->nodes);
   block->slab = slab;
   block->size_B = slab->size_B;
   slab->first = block;
   make_idle(tlsf, block);
   return AGX_OK;
}

void agx_tlsf_remove(struct agx_tlsf *tlsf, struct agx_pool_slab *slab)
{
   agx_assert(slab->idle_B == slab->size_B && slab->first->size_B == slab->size_B);
   extract(tlsf, slab->first);
   agx_pool_nodes_return(&tlsf->nodes, slab->first);
   slab->first = NULL;
}
