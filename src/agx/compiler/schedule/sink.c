/* SPDX-License-Identifier: MIT
 *
 * Moves computations down to the blocks that use them, where registers cost threads: what is
 * computed in front of a loop or a chain of ifs and needed only behind it lives all the way.
 *
 * An operation moves to the block that dominates all its uses, or as far down as no loop is
 * entered, when no more halves live on the way than before: its sources live on instead of its
 * results. So chains move as a whole. Nothing moves into a loop, so nothing runs more often; what
 * moves into an arm runs less often. Loads move past loops only, and only where nothing between
 * writes memory.
 *
 * Before and after: machine instructions, SSA.
 *
 *    before   %2 = collect %0, %1   loop .. end   use %0   use %2
 *    after    loop .. end   %2 = collect %0, %1   use %0   use %2
 *
 * Stands in front of pressure.c, which orders the blocks. Copies of values
 * in vectors are what it finds most: passes that join equal expressions put them at the top. Of
 * loads, what front ends fetch early: the bias that is added to a sum of many products.
 */
#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/analysis/liveness.h"
#include "agx/compiler/ir/dominance.h"
#include "agx/compiler/schedule/schedule.h"
#include "agx/compiler/schedule/schedule_impl.h"

struct sinking {
   struct agxc_shader *shader;
   const struct agxc_liveness *liveness;
   const struct agxc_dominance *dominance;
   uint32_t *crowded;       /* by block: how many before it cost threads */
   uint32_t *written;       /* by block: how many instructions before it may write memory */
   uint32_t *loops;         /* by block: how many loops begin before it */
   uint32_t *place;         /* by value: the block that dominates all uses seen, + 1 */
   agx_bitset_word *loaded; /* values: computed from what a load of the same block brings */
   uint32_t *extended; /* by value: the last block that it lives to because of what moved, + 1 */
};

/* ---- places ------------------------------------------------------------ */

static uint32_t common_dominator(const struct agxc_dominance *dominance, uint32_t a, uint32_t b)
{
   while (a != b) {
      if (dominance->level[a] >= dominance->level[b])
         a = dominance->idom[a];
      else
         b = dominance->idom[b];
   }
   return a;
}

static void note_use(struct sinking *s, const struct agxc_ref *src, uint32_t block)
{
   if (src->kind != AGXC_VALUE || block == AGXC_NO_BLOCK ||
       s->dominance->idom[block] == AGXC_NO_BLOCK)
      return;
   uint32_t *place = &s->place[src->value->id];
   *place = *place ? common_dominator(s->dominance, *place - 1, block) + 1 : block + 1;
}

/* What phis take is not moved into arms: there it would have to wait for what another arm loads
 * into the register that they share. */
static void note_phis(struct sinking *s)
{
   agxc_foreach_block (block, s->shader)
      agxc_foreach_phi (phi, block)
         for (uint32_t i = 0; i < phi->src_count; i++) {
            uint32_t pred = block->preds[i]->index, before = s->dominance->idom[block->index];
            note_use(s, &agxc_srcs(phi)[i], pred >= block->index ? pred : before);
         }
}

static bool is_in_loop(const struct agxc_loop *loop, uint32_t block)
{
   return !loop || (agxc_first_block(&loop->body)->index <= block &&
                    block <= agxc_last_block(&loop->continuing)->index);
}

/* The lowest block on the way from the instruction to its uses that isn't in a loop of its own. */
static uint32_t target_of(const struct sinking *s, const struct agxc_instr *instr)
{
   uint32_t from = instr->block->index, target = UINT32_MAX;
   agxc_foreach_dest (dest, instr) {
      uint32_t place = s->place[dest->value->id];
      if (place && target != UINT32_MAX)
         target = common_dominator(s->dominance, target, place - 1);
      else if (place)
         target = place - 1;
   }
   if (target == UINT32_MAX)
      return from;
   while (!is_in_loop(s->shader->blocks[target]->loop, from))
      target = s->dominance->idom[target];
   return target;
}

/* ---- moving ------------------------------------------------------------ */

/* The first use of what a load brings waits for it: in several arms, that would be several waits.
 */
static void find_loaded(struct sinking *s, const struct agxc_block *block)
{
   agxc_foreach_instr (instr, block) {
      bool is_loaded = agxc_isa_info(instr)->is_async;
      agxc_foreach_src (src, instr) {
         const struct agxc_instr *def = instr->op == AGXC_OP_PHI ? NULL : agxc_def_of(*src);
         is_loaded |= def && def->block == block && agx_bitset_test(s->loaded, src->value->id);
      }
      agxc_foreach_dest (dest, instr)
         if (is_loaded && dest->kind == AGXC_VALUE)
            agx_bitset_set(s->loaded, dest->value->id);
   }
}

/* A load moves only past a loop, where what it brings costs registers all the time and the loop
 * hides its latency no better than what stands behind; nothing on the way writes memory. */
static bool may_load_at(const struct sinking *s, const struct agxc_instr *instr, uint32_t target)
{
   const uint32_t from = instr->block->index;
   if (agxc_memory_of(instr) & AGXC_MEMORY_WRITES || s->written[target] != s->written[from] ||
       s->loops[target] == s->loops[from + 1])
      return false;
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && agx_bitset_test(s->loaded, src->value->id))
         return false;
   return true;
}

static bool may_move(const struct sinking *s, const struct agxc_instr *instr)
{
   const bool is_load = agxc_isa_info(instr)->unit == AGX_ISA_UNIT_MEM;
   if (instr->dest_count == 0 ||
       agxc_flags(instr) & ~(unsigned)(AGXC_COMMUTATIVE | (is_load ? AGXC_READS_MEMORY : 0)))
      return false;
   agxc_foreach_dest (dest, instr)
      if (dest->kind != AGXC_VALUE || (!is_load && agx_bitset_test(s->loaded, dest->value->id)))
         return false;
   return agxc_is_machine(instr) || instr->op == AGXC_OP_MOV || instr->op == AGXC_OP_COLLECT;
}

static bool reaches(const struct sinking *s, const struct agxc_ref *src, uint32_t target)
{
   return s->extended[src->value->id] == target + 1 ||
          agxc_is_live_in(s->liveness, s->shader->blocks[target], src->value);
}

/* Halves that live on the way to the target when the instruction moves there, and don't now. */
static int32_t growth(const struct sinking *s, const struct agxc_instr *instr, uint32_t target)
{
   int32_t halves = 0;
   agxc_foreach_dest (dest, instr)
      halves -= (int32_t)agxc_halves(dest->value);
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && !reaches(s, src, target))
         halves += (int32_t)agxc_halves(src->value);
   return halves;
}

/* Behind the target's phis: what moves later is what this may need. */
static void move(struct sinking *s, struct agxc_instr *instr, uint32_t target)
{
   struct agxc_block *block = s->shader->blocks[target];
   struct agxc_instr *first = agxc_first_instr(block);
   while (agxc_as_phi(first))
      first = agxc_next_instr(first);
   agx_list_remove(&instr->link);
   agxc_insert(&(struct agxc_builder){s->shader, block, first}, instr);
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE)
         s->extended[src->value->id] = target + 1;
}

static void count_blocks(struct sinking *s, uint32_t free)
{
   struct agx_arena *arena = s->shader->arena;
   s->crowded = AGX_ARENA_ARRAY(arena, uint32_t, s->shader->block_count + 1ull);
   s->written = AGX_ARENA_ARRAY(arena, uint32_t, s->shader->block_count + 1ull);
   s->loops = AGX_ARENA_ARRAY(arena, uint32_t, s->shader->block_count + 1ull);
   for (uint32_t i = 0; i < s->shader->block_count; i++) {
      const struct agxc_block *block = s->shader->blocks[i];
      const struct agxc_loop *loop = block->loop;
      s->crowded[i + 1] =
         s->crowded[i] + (agxc_needed_halves(s->shader, s->liveness->halves[i]) > free);
      s->loops[i + 1] = s->loops[i] + (loop && agxc_first_block(&loop->body) == block);
      s->written[i + 1] = s->written[i];
      agxc_foreach_instr (instr, block)
         s->written[i + 1] +=
            instr != agxc_terminator(block) && (agxc_memory_of(instr) & AGXC_MEMORY_WRITES) != 0;
   }
}

/* Backwards, so that users have found their places. */
static bool sink_block(struct sinking *s, struct agxc_block *block)
{
   bool progress = false;
   find_loaded(s, block);
   agxc_foreach_instr_rev (instr, block) {
      if (instr->op == AGXC_OP_PHI)
         break;
      uint32_t target = may_move(s, instr) ? target_of(s, instr) : block->index;
      bool gains = target != block->index && s->crowded[target] > s->crowded[block->index + 1];
      if (gains && agxc_isa_info(instr)->unit == AGX_ISA_UNIT_MEM)
         gains = may_load_at(s, instr, target);
      if (gains && growth(s, instr, target) <= 0) {
         move(s, instr, target);
         progress = true;
      }
      agxc_foreach_src (src, instr)
         note_use(s, src, instr->block->index);
   }
   return progress;
}

bool agxc_schedule_sink(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct agx_arena *arena = shader->arena;
   struct agx_arena_mark mark = agx_arena_mark(arena);
   struct sinking s = {.shader = shader, .liveness = agxc_liveness_compute(shader)};
   bool progress = false;
   uint32_t free = agxc_end_of_step(shader, 1);
   if (agxc_needed_halves(shader, s.liveness->max_halves) > free) {
      agxc_sched_prepare(shader);
      count_blocks(&s, free);
      s.dominance = agxc_dominance_compute(shader);
      s.place = AGX_ARENA_ARRAY(arena, uint32_t, shader->value_count);
      s.loaded = agxc_bitset_new(shader, shader->value_count);
      s.extended = AGX_ARENA_ARRAY(arena, uint32_t, shader->value_count);
      note_phis(&s);
      for (uint32_t i = shader->block_count; i-- > 0;)
         if (s.dominance->idom[i] != AGXC_NO_BLOCK)
            progress |= sink_block(&s, shader->blocks[i]);
   }
   agx_arena_release(arena, mark);
   return progress;
}
