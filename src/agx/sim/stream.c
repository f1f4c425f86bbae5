/* SPDX-License-Identifier: MIT
 *
 * The walk over a compute stream: launches, barriers, links, calls and returns,
 * to the terminator. Launches run to their end one after another, so a barrier
 * has nothing left to order. Source: reference/cmdstream cdm.md 1. A stream is
 * hostile: blocks and call depth are limited, each word is checked.
 */
#include "agx/sim/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agx/sim/launch.h"
#include "base/util.h"

#define MAX_BLOCKS 1048576u
#define MAX_CALLS  8u

enum block {
   BLOCK_LAUNCH,
   BLOCK_LINK,
   BLOCK_TERMINATE,
   BLOCK_BARRIER,
   BLOCK_RETURN,
};

enum mode {
   MODE_DIRECT,
   MODE_INDIRECT_GLOBAL,
   MODE_INDIRECT_LOCAL,
};

struct walk {
   struct agxs_run *run;
   uint64_t va; /* of the next word */
   uint64_t calls[MAX_CALLS];
   uint32_t call_count;
   bool is_done;
};

static uint32_t bits(uint32_t word, unsigned start, unsigned width)
{
   return word >> start & (uint32_t)agx_bits(width);
}

static agx_status next_words(struct walk *walk, uint32_t *words, unsigned count)
{
   uint8_t bytes[24];
   AGX_TRY(agxs_run_read(walk->run, walk->va, bytes, 4u * count, "stream"));
   for (unsigned i = 0; i < count; i++)
      words[i] = agxs_get_le32(bytes + 4 * i);
   walk->va += 4u * count;
   return AGX_OK;
}

static agx_status malformed(const struct walk *walk, const char *what)
{
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "stream at 0x%" PRIx64 ": %s", walk->va, what);
}

static uint32_t groups(uint32_t raw, uint32_t unit, uint32_t width)
{
   return (raw ? raw : 1u << width) * unit;
}

/* Workgroup counts or thread counts and local sizes from memory. */
static agx_status read_indirect(struct walk *walk, uint32_t mode, struct agxs_launch *launch)
{
   uint32_t words[2];
   uint8_t bytes[24];
   AGX_TRY(next_words(walk, words, 2));
   uint64_t va = (uint64_t)bits(words[0], 0, 8) << 32 | words[1];
   if (words[0] >> 8 || words[1] & 3)
      return malformed(walk, "indirect address is not 4-aligned or beyond 40 bits");
   AGX_TRY(agxs_run_read(walk->run, va, bytes, mode == MODE_INDIRECT_LOCAL ? 24 : 12,
                         "indirect parameters"));
   for (unsigned axis = 0; axis < 3; axis++) {
      launch->grid[axis] = agxs_get_le32(bytes + 4 * axis);
      if (mode == MODE_INDIRECT_LOCAL)
         launch->local[axis] = agxs_get_le32(bytes + 12 + 4 * axis);
   }
   return AGX_OK;
}

/* Indirect global sizes count workgroups; everything behind counts threads. */
static agx_status scale_grid(const struct walk *walk, struct agxs_launch *launch)
{
   for (unsigned axis = 0; axis < 3; axis++) {
      if (__builtin_mul_overflow(launch->grid[axis], launch->local[axis], &launch->grid[axis]))
         return malformed(walk, "indirect workgroup count times local size exceeds 32 bits");
   }
   return AGX_OK;
}

static agx_status read_sizes(struct walk *walk, uint32_t mode, struct agxs_launch *launch)
{
   if (mode == MODE_DIRECT)
      AGX_TRY(next_words(walk, launch->grid, 3));
   else
      AGX_TRY(read_indirect(walk, mode, launch));
   if (mode != MODE_INDIRECT_LOCAL)
      AGX_TRY(next_words(walk, launch->local, 3));
   return mode == MODE_INDIRECT_GLOBAL ? scale_grid(walk, launch) : AGX_OK;
}

static agx_status walk_launch(struct walk *walk, uint32_t word)
{
   uint32_t words[3], mode = bits(word, 27, 2);
   AGX_TRY(next_words(walk, words, 1));
   struct agxs_launch launch = {
      .uniform_halves = groups(bits(word, 1, 3), 64, 3),
      .texture_count = groups(bits(word, 4, 5), 8, 5),
      .preamble_halves = groups(bits(word, 12, 4), 16, 4),
      .usc = words[0],
   };
   if (mode > MODE_INDIRECT_LOCAL)
      return malformed(walk, "launch mode 3");
   if (bits(word, 16, 11) || word & 1)
      return malformed(walk, "launch has unknown bits set");
   if (words[0] & 63)
      return malformed(walk, "USC words are not 64-aligned");
   if (walk->run->chip->cdm_has_unk_words) {
      AGX_TRY(next_words(walk, words + 1, 2));
      if (words[1] != 0 || words[2] != 0x40000000)
         return malformed(walk, "launch lacks the two words of this chip");
   }
   AGX_TRY(read_sizes(walk, mode, &launch));
   AGX_TRY(agxs_run_launch(walk->run, &launch));
   walk->run->stats.dispatches++;
   return AGX_OK;
}

static agx_status walk_link(struct walk *walk, uint32_t word)
{
   uint32_t low;
   AGX_TRY(next_words(walk, &low, 1));
   if (low & 3)
      return malformed(walk, "link target is not 4-aligned");
   if (bits(word, 28, 1)) {
      if (walk->call_count == MAX_CALLS)
         return malformed(walk, "calls are nested too deeply");
      walk->calls[walk->call_count++] = walk->va;
   }
   walk->va = (uint64_t)bits(word, 0, 8) << 32 | low;
   return AGX_OK;
}

static agx_status walk_return(struct walk *walk)
{
   if (!walk->call_count)
      return malformed(walk, "return without a call");
   walk->va = walk->calls[--walk->call_count];
   return AGX_OK;
}

static agx_status walk_block(struct walk *walk)
{
   uint32_t word, second;
   AGX_TRY(next_words(walk, &word, 1));
   switch (bits(word, 29, 3)) {
   case BLOCK_LAUNCH:
      return walk_launch(walk, word);
   case BLOCK_LINK:
      return walk_link(walk, word);
   case BLOCK_TERMINATE:
      walk->is_done = true;
      return next_words(walk, &second, 1);
   case BLOCK_BARRIER:
      return bits(word, 27, 1) ? walk_return(walk) : AGX_OK;
   case BLOCK_RETURN:
      return walk_return(walk);
   default:
      return malformed(walk, "unknown block type");
   }
}

static agx_status walk_stream(struct agxs_run *run, uint64_t stream_va)
{
   struct walk walk = {.run = run, .va = stream_va};
   if (stream_va & 3)
      return malformed(&walk, "not 4-aligned");
   for (uint32_t i = 0; i < MAX_BLOCKS; i++) {
      AGX_TRY(walk_block(&walk));
      if (walk.is_done)
         return AGX_OK;
   }
   return malformed(&walk, "too many blocks; it does not seem to end");
}

agx_status agxs_run_compute(const struct agx_chip *chip, const struct agxs_memory *memory,
                            const struct agxs_options *options, uint64_t usc_base,
                            uint64_t stream_va, struct agxs_stats *out_stats)
{
   struct agxs_run run = {
      .chip = chip,
      .memory = memory,
      .options = options,
      .usc_base = usc_base,
      .set = agxs_exec_best(),
   };
   if (out_stats)
      memset(out_stats, 0, sizeof(*out_stats));
   AGX_TRY(agxs_pool_create(memory, options->thread_count, &run.pool));
   agx_status status = walk_stream(&run, stream_va);
   agxs_pool_stats(run.pool, &run.stats);
   agxs_pool_destroy(run.pool);
   for (unsigned i = 0; i < AGXS_KERNEL_CACHE; i++)
      agxs_kernel_destroy(run.kernels[i]);
   free(run.rows);
   if (out_stats)
      *out_stats = run.stats;
   return status;
}
