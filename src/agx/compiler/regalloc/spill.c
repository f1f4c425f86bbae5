/* SPDX-License-Identifier: MIT
 *
 * Spilling before registers are handed out: afterwards no more halves live at once than the
 * workgroup's size leaves, so that allocation only has to arrange them.
 *
 * One walk in program order keeps a set of values in registers. When room is needed, what
 * is used farthest away leaves (Belady's rule); it is stored once, where it is defined,
 * and read back where it is needed. Where ways join, what all of them kept is kept;
 * where a loop begins, what the loop uses, and other things only if the loop leaves
 * them room. The ends of the other ways load what they lack. A phi without room where
 * it stands becomes a place in memory that each way fills.
 *
 * Source: Braun and Hack, Register Spilling and Live-Range Splitting for SSA-Form Programs.
 * Before and after: machine instructions, SSA.
 *
 *    before   %1 = ..   (much else)   use %1
 *    after    %1 = ..   agx.stack_store %1   (much else)   %2 = agx.stack_load   use %2
 *
 * Stands behind the scheduler, whose order decides what lives at once, and in front of ra.c.
 * Versions of a value that come back meet in phis (ir/ssa.c). analysis/limits.c says how many
 * registers there are; spill_distance.c how far away next uses are; spill_memory.c makes the code.
 */
#include "agx/compiler/regalloc/spill_impl.h"

#include <stdlib.h>

#include "agx/compiler/analysis/limits.h"
#include "agx/compiler/regalloc/regalloc.h"

/* Halves below the limit: a vector on its way into memory, and what alignment loses. */
#define HEADROOM 12

/* ---- the set ----------------------------------------------------------- */

static bool is_kept(const struct agxc_spilling *s, const struct agxc_value *value)
{
   return s->index[value->id] != 0;
}

static void keep(struct agxc_spilling *s, struct agxc_value *value, uint32_t next_use)
{
   if (is_kept(s, value)) {
      s->now.values[s->index[value->id] - 1].next_use = next_use;
      return;
   }
   s->now.values[s->now.count++] = (struct agxc_kept){value, next_use};
   s->index[value->id] = s->now.count;
   s->now.halves += agxc_halves(value);
}

static void drop(struct agxc_spilling *s, const struct agxc_value *value)
{
   uint32_t at = s->index[value->id];
   if (!at)
      return;
   s->now.halves -= agxc_halves(value);
   s->now.values[at - 1] = s->now.values[--s->now.count];
   if (at - 1 < s->now.count)
      s->index[s->now.values[at - 1].value->id] = at;
   s->index[value->id] = 0;
}

static void drop_all(struct agxc_spilling *s)
{
   for (uint32_t i = 0; i < s->now.count; i++)
      s->index[s->now.values[i].value->id] = 0;
   s->now.count = s->now.halves = 0;
}

static void to_memory(struct agxc_spilling *s, const struct agxc_value *value)
{
   agx_bitset_set(s->in_memory, value->id);
}

/* What can leave; of equal distance, what needs no memory. */
static bool leaves_before(const struct agxc_kept *a, const struct agxc_kept *b)
{
   if (a->next_use != b->next_use)
      return a->next_use > b->next_use;
   return agxc_spill_is_cheap(a->value) && !agxc_spill_is_cheap(b->value);
}

/* Makes room for halves more. The instruction in hand keeps what it pinned. */
static void make_room(struct agxc_spilling *s, uint32_t halves)
{
   while (s->now.halves + halves > s->limit) {
      const struct agxc_kept *worst = NULL;
      for (uint32_t i = 0; i < s->now.count; i++) {
         const struct agxc_kept *kept = &s->now.values[i];
         if (s->pinned[kept->value->id] == s->instr || !agxc_spill_is_possible(kept->value))
            continue;
         if (!worst || leaves_before(kept, worst))
            worst = kept;
      }
      if (!worst)
         return; /* allocation will say how much is missing */
      to_memory(s, worst->value);
      drop(s, worst->value);
   }
}

/* ---- within a block ---------------------------------------------------- */

static void bring_sources(struct agxc_spilling *s, struct agxc_instr *instr)
{
   s->instr++;
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE)
         s->pinned[src->value->id] = s->instr;
   agxc_foreach_src (src, instr) {
      if (src->kind != AGXC_VALUE || is_kept(s, src->value))
         continue;
      make_room(s, agxc_halves(src->value));
      agxc_spill_reload(s, agxc_before(s->shader, instr), src->value);
      keep(s, src->value, AGXC_NEVER);
   }
}

static void let_sources_go(struct agxc_spilling *s, const struct agxc_instr *instr,
                           const uint32_t *next)
{
   for (uint32_t i = 0; i < instr->src_count; i++) {
      const struct agxc_ref *src = &agxc_srcs(instr)[i];
      if (src->kind != AGXC_VALUE)
         continue;
      if (next[i] == AGXC_NEVER)
         drop(s, src->value);
      else
         keep(s, src->value, next[i]);
   }
}

static void take_results(struct agxc_spilling *s, const struct agxc_instr *instr,
                         const uint32_t *next)
{
   uint32_t halves = 0;
   agxc_foreach_dest (dest, instr)
      halves += dest->kind == AGXC_VALUE ? agxc_halves(dest->value) : 0;
   s->instr++; /* sources have been read: they may leave */
   make_room(s, halves);
   for (uint32_t i = 0; i < instr->dest_count; i++) {
      const struct agxc_ref *dest = &agxc_dests(instr)[i];
      if (dest->kind == AGXC_VALUE && next[i] != AGXC_NEVER)
         keep(s, dest->value, next[i]);
   }
}

static void walk_block(struct agxc_spilling *s, struct agxc_block *block, const uint32_t *next)
{
   agxc_foreach_instr_safe (instr, block) {
      uint32_t operands = (uint32_t)instr->dest_count + instr->src_count;
      if (instr->op != AGXC_OP_PHI) {
         bring_sources(s, instr);
         if (!agxc_isa_info(instr)->late_sources)
            let_sources_go(s, instr, next + instr->dest_count);
         take_results(s, instr, next);
         if (agxc_isa_info(instr)->late_sources)
            let_sources_go(s, instr, next + instr->dest_count);
      }
      next += operands;
   }
}

/* ---- where blocks begin ------------------------------------------------ */

struct candidate {
   struct agxc_value *value;
   uint32_t next_use;
   uint32_t rank; /* 0 goes first */
};

static int compare_candidates(const void *a, const void *b)
{
   const struct candidate *x = a, *y = b;
   if (x->rank != y->rank)
      return x->rank < y->rank ? -1 : 1;
   if (x->next_use != y->next_use)
      return x->next_use < y->next_use ? -1 : 1;
   return x->value->id < y->value->id ? -1 : 1;
}

static bool set_has(const struct agxc_kept_set *set, const struct agxc_value *value)
{
   for (uint32_t i = 0; i < set->count; i++)
      if (set->values[i].value == value)
         return true;
   return false;
}

static bool is_loop_header(const struct agxc_block *block)
{
   for (uint32_t i = 0; i < block->pred_count; i++)
      if (block->preds[i]->index >= block->index)
         return true;
   return false;
}

/* In how many of the blocks in front the value (a phi's source: each its own) is kept. */
static uint32_t ways_with(const struct agxc_spilling *s, const struct agxc_block *block,
                          const struct agxc_value *value, const struct agxc_instr *phi)
{
   uint32_t ways = 0;
   for (uint32_t i = 0; i < block->pred_count; i++) {
      const struct agxc_ref *src = phi ? &agxc_srcs(phi)[i] : NULL;
      if (src && src->kind != AGXC_VALUE)
         ways++;
      else
         ways += set_has(&s->exit[block->preds[i]->index], src ? src->value : value);
   }
   return ways;
}

#define RANK_OUT 3 /* not kept anywhere: stays in memory */

static uint32_t rank_of(const struct agxc_spilling *s, const struct agxc_block *block,
                        const struct candidate *candidate, const struct agxc_instr *phi,
                        bool is_loop)
{
   if (!agxc_spill_is_possible(candidate->value))
      return 0;
   if (is_loop)
      return candidate->next_use < AGXC_LOOP_EXIT ? 0 : 1;
   uint32_t ways = ways_with(s, block, candidate->value, phi);
   return ways == block->pred_count ? 0 : ways > 0 ? 1 : RANK_OUT;
}

/* Most halves that live at once anywhere in the loop that begins here. */
static uint32_t loop_pressure(const struct agxc_spilling *s, const struct agxc_block *header)
{
   uint32_t last = header->index, halves = 0;
   for (uint32_t i = 0; i < header->pred_count; i++)
      last = AGX_MAX(last, header->preds[i]->index);
   for (uint32_t i = header->index; i <= last; i++)
      halves = AGX_MAX(halves, s->liveness->halves[i]);
   return halves;
}

/* Room for what a loop carries through without using it. */
static uint32_t room_through(const struct agxc_spilling *s, const struct agxc_block *header,
                             const struct candidate *candidates, uint32_t count)
{
   uint32_t through = 0, pressure = loop_pressure(s, header);
   for (uint32_t i = 0; i < count; i++)
      through += candidates[i].rank == 1 ? agxc_halves(candidates[i].value) : 0;
   uint32_t used = pressure > through ? pressure - through : 0;
   return s->limit > used ? s->limit - used : 0;
}

static uint32_t collect_candidates(const struct agxc_spilling *s, const struct agxc_block *block,
                                   struct candidate *out)
{
   uint32_t count = 0;
   bool is_loop = is_loop_header(block);
   for (uint32_t i = 0; i < s->uses->in_count[block->index]; i++) {
      const struct agxc_distance *in = &s->uses->in[block->index][i];
      struct candidate *candidate = &out[count++];
      *candidate = (struct candidate){.value = s->shader->values[in->id]};
      candidate->next_use = agxc_next_use_at_start(s->uses, block, candidate->value);
      candidate->rank = rank_of(s, block, candidate, NULL, is_loop);
   }
   return count;
}

/* Phis come with the next uses of the block's walk, which begins with them. */
static uint32_t collect_phis(const struct agxc_spilling *s, const struct agxc_block *block,
                             const uint32_t *next, struct candidate *out)
{
   uint32_t count = 0;
   bool is_loop = is_loop_header(block);
   agxc_foreach_phi (phi, block) {
      if (next[0] != AGXC_NEVER) {
         struct candidate *candidate = &out[count++];
         *candidate = (struct candidate){.value = agxc_dest(phi)->value, .next_use = next[0]};
         candidate->rank = rank_of(s, block, candidate, phi, is_loop);
      }
      next += 1 + phi->src_count;
   }
   return count;
}

static struct agxc_kept_set copy_set(const struct agxc_spilling *s)
{
   struct agxc_kept_set set = s->now;
   set.values = AGX_ARENA_ARRAY(s->shader->arena, struct agxc_kept, AGX_MAX(set.count, 1u));
   memcpy(set.values, s->now.values, set.count * sizeof(*set.values));
   return set;
}

static void decide_entry(struct agxc_spilling *s, struct agxc_block *block, const uint32_t *next)
{
   struct candidate *candidates =
      AGX_ARENA_ARRAY(s->shader->arena, struct candidate,
                      s->uses->in_count[block->index] + agxc_count_phis(block) + 1ull);
   uint32_t count = collect_candidates(s, block, candidates);
   count += collect_phis(s, block, next, candidates + count);
   qsort(candidates, count, sizeof(*candidates), compare_candidates);
   uint32_t through = UINT32_MAX;
   if (is_loop_header(block))
      through = room_through(s, block, candidates, count);
   drop_all(s);
   for (uint32_t i = 0; i < count; i++) {
      struct candidate *candidate = &candidates[i];
      uint32_t halves = agxc_halves(candidate->value);
      bool must = !agxc_spill_is_possible(candidate->value);
      bool fits = candidate->rank < RANK_OUT && s->now.halves + halves <= s->limit &&
                  (candidate->rank == 0 || halves <= through);
      if (must || fits) {
         through -= candidate->rank ? halves : 0;
         keep(s, candidate->value, candidate->next_use);
      } else {
         to_memory(s, candidate->value);
      }
   }
   agxc_foreach_phi (phi, block) {
      const struct agxc_value *value = agxc_dest(phi)->value;
      if (!is_kept(s, value) && agx_bitset_test(s->in_memory, value->id))
         agx_bitset_set(s->is_memory_phi, value->id);
   }
   s->entry[block->index] = copy_set(s);
   s->has_entry[block->index] = true;
}

/* ---- edges ------------------------------------------------------------- */

/* A value at the end of pred, in a register for a moment at least. */
static struct agxc_ref fetch(struct agxc_spilling *s, struct agxc_block *pred, struct agxc_ref src,
                             const struct agxc_value *shape)
{
   struct agxc_builder b = agxc_at_exit(s->shader, pred);
   if (src.kind == AGXC_VALUE) {
      if (set_has(&s->exit[pred->index], src.value))
         return src;
      to_memory(s, src.value);
      return agxc_use(agxc_spill_reload(s, b, src.value));
   }
   src.bits = shape->bits;
   src.count = shape->count;
   struct agxc_ref copy = agxc_use(agxc_value_new(s->shader, shape->bits, shape->count));
   struct agxc_instr *mov = agxc_instr_new(s->shader, AGXC_OP_MOV);
   *agxc_dest(mov) = copy;
   *agxc_src_a(mov) = src;
   copy.value->def = mov;
   agxc_insert(&b, mov);
   return copy;
}

/* True for a phi's source that lies where another phi's value is about to be stored. */
static bool is_overwritten(const struct agxc_spilling *s, const struct agxc_block *block,
                           const struct agxc_ref *src)
{
   return src->kind == AGXC_VALUE && src->value->def->op == AGXC_OP_PHI &&
          src->value->def->block == block && agx_bitset_test(s->is_memory_phi, src->value->id);
}

/* The phis' places in memory get their values all at once: what is read back from such a
 * place comes first. */
static void fill_memory_phis(struct agxc_spilling *s, struct agxc_block *pred,
                             struct agxc_block *block, uint32_t way)
{
   uint32_t i = 0, count = agxc_count_phis(block);
   struct agxc_ref *early = AGX_ARENA_ARRAY(s->shader->arena, struct agxc_ref, count);
   agxc_foreach_phi (phi, block) {
      const struct agxc_ref *src = &agxc_srcs(phi)[way];
      bool is_same = src->kind == AGXC_VALUE && src->value == agxc_dest(phi)->value;
      if (is_overwritten(s, block, src) && !is_same)
         early[i] = fetch(s, pred, *src, src->value);
      i++;
   }
   i = 0;
   agxc_foreach_phi (phi, block) {
      struct agxc_value *value = agxc_dest(phi)->value;
      struct agxc_ref src = agxc_srcs(phi)[way], data = early[i++];
      bool is_same = src.kind == AGXC_VALUE && src.value == value;
      if (!agx_bitset_test(s->is_memory_phi, value->id) || src.kind == AGXC_NONE || is_same)
         continue;
      if (data.kind == AGXC_NONE)
         data = fetch(s, pred, src, value);
      agxc_spill_store(s, agxc_at_exit(s->shader, pred), value, data);
   }
}

/* Gives pred's end what block wants to find in registers, and memory the rest. */
static void couple(struct agxc_spilling *s, struct agxc_block *pred, struct agxc_block *block)
{
   const struct agxc_kept_set *exit = &s->exit[pred->index], *entry = &s->entry[block->index];
   uint32_t way = agxc_pred_index(block, pred);
   fill_memory_phis(s, pred, block, way);
   for (uint32_t i = 0; i < s->uses->in_count[block->index]; i++) {
      struct agxc_value *value = s->shader->values[s->uses->in[block->index][i].id];
      bool is_live_in = set_has(entry, value);
      if (!is_live_in)
         to_memory(s, value);
      if (!is_live_in || set_has(exit, value))
         continue;
      to_memory(s, value);
      agxc_spill_reload(s, agxc_at_exit(s->shader, pred), value);
   }
   agxc_foreach_phi (phi, block) {
      const struct agxc_ref *src = &agxc_srcs(phi)[way];
      /* What is live here was just seen to; the block's own phis are not. */
      if (src->kind != AGXC_VALUE || set_has(exit, src->value) || is_overwritten(s, block, src) ||
          (set_has(entry, src->value) && agxc_is_live_in(s->liveness, block, src->value)) ||
          agx_bitset_test(s->is_memory_phi, agxc_dest(phi)->value->id))
         continue;
      to_memory(s, src->value);
      agxc_spill_reload(s, agxc_at_exit(s->shader, pred), src->value);
   }
}

/* The only way to the block: what that kept and this one still needs. */
static void take_over(struct agxc_spilling *s, const struct agxc_block *block,
                      const struct agxc_block *before)
{
   const struct agxc_kept_set *exit = &s->exit[before->index];
   drop_all(s);
   for (uint32_t i = 0; i < exit->count; i++) {
      struct agxc_value *value = exit->values[i].value;
      if (agxc_is_live_in(s->liveness, block, value))
         keep(s, value, agxc_next_use_at_start(s->uses, block, value));
   }
   s->entry[block->index] = copy_set(s);
}

static void enter_block(struct agxc_spilling *s, struct agxc_block *block, const uint32_t *next)
{
   const struct agxc_block *before = block->pred_count == 1 ? block->preds[0] : NULL;
   if (!before || before->index >= block->index || agxc_count_phis(block))
      decide_entry(s, block, next);
   else
      take_over(s, block, before);
   for (uint32_t i = 0; i < block->pred_count; i++)
      if (block->preds[i]->index < block->index)
         couple(s, block->preds[i], block);
}

static void spill_block(struct agxc_spilling *s, struct agxc_block *block)
{
   const uint32_t *next = agxc_next_uses_in(s->uses, block);
   enter_block(s, block, next);
   walk_block(s, block, next);
   s->exit[block->index] = copy_set(s);
   for (unsigned i = 0; i < AGX_COUNT(block->succs); i++)
      if (block->succs[i] && block->succs[i]->index <= block->index)
         couple(s, block, block->succs[i]);
}

/* ---- the pass ---------------------------------------------------------- */

static void find_definitions(struct agxc_shader *shader)
{
   agxc_foreach_instr_of (instr, shader)
      agxc_foreach_dest (dest, instr)
         if (dest->kind == AGXC_VALUE)
            dest->value->def = instr;
}

static struct agxc_spilling *begin(struct agxc_shader *shader, struct agxc_liveness *liveness,
                                   uint32_t limit)
{
   struct agx_arena *arena = shader->arena;
   uint32_t count = shader->value_count, blocks = shader->block_count;
   struct agxc_spilling *s = AGX_ARENA_NEW(arena, struct agxc_spilling);
   *s = (struct agxc_spilling){.shader = shader,
                               .liveness = liveness,
                               .uses = agxc_next_uses_compute(shader, liveness),
                               .limit = limit,
                               .value_count = count,
                               .version_capacity = 2 * count};
   s->now.values = AGX_ARENA_ARRAY(arena, struct agxc_kept, count + 1ull);
   s->index = AGX_ARENA_ARRAY(arena, uint32_t, count);
   s->pinned = AGX_ARENA_ARRAY(arena, uint32_t, count);
   s->in_memory = AGX_ARENA_ARRAY(arena, agx_bitset_word, agx_bitset_words(count));
   s->reloaded = AGX_ARENA_ARRAY(arena, agx_bitset_word, agx_bitset_words(count));
   s->is_memory_phi = AGX_ARENA_ARRAY(arena, agx_bitset_word, agx_bitset_words(count));
   s->place = AGX_ARENA_ARRAY(arena, uint32_t, count);
   s->version_of = AGX_ARENA_ARRAY(arena, struct agxc_value *, s->version_capacity);
   s->entry = AGX_ARENA_ARRAY(arena, struct agxc_kept_set, blocks);
   s->exit = AGX_ARENA_ARRAY(arena, struct agxc_kept_set, blocks);
   s->has_entry = AGX_ARENA_ARRAY(arena, bool, blocks);
   return s;
}

bool agxc_spill(struct agxc_shader *shader)
{
   agxc_index(shader);
   agxc_remove_unreached(shader);
   find_definitions(shader);
   struct agxc_liveness *liveness = agxc_liveness_compute(shader);
   uint32_t needed = agxc_needed_halves(shader, liveness->max_halves);
   uint32_t most = agxc_budget(shader, needed);
   if (needed <= most)
      return false;
   uint32_t limit = most - AGX_MIN(most, HEADROOM + agxc_needed_halves(shader, 0));
   struct agxc_spilling *s = begin(shader, liveness, limit);
   uint32_t own_B = (uint32_t)agx_align_up(shader->scratch_B, 4);
   agxc_foreach_block (block, shader)
      if (block->index == 0 || block->pred_count > 0)
         spill_block(s, block);
   agxc_spill_finish(s);
   shader->spilled_B = shader->scratch_B > own_B ? shader->scratch_B - own_B : 0;
   return true;
}
