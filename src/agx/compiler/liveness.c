/* SPDX-License-Identifier: MIT
 *
 * Backward dataflow with a worklist; each block is revisited only when the set at one of
 * a successor's start grew. Register pressure is counted in the same walk, afterwards.
 */
#include "agx/compiler/liveness.h"

static bool is_phi(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_PHI;
}

/* Turns the set at the end of a block into the one at its start. */
static void walk_back(const struct agxc_block *block, agx_bitset_word *live)
{
   agxc_foreach_instr_rev (instr, block) {
      agxc_foreach_dest (dest, instr)
         if (dest->kind == AGXC_VALUE)
            agx_bitset_clear(live, dest->value->id);
      if (is_phi(instr))
         continue;
      agxc_foreach_src (src, instr)
         if (src->kind == AGXC_VALUE)
            agx_bitset_set(live, src->value->id);
   }
}

/* Adds what phis of block take from its predecessor number i. */
static void add_phi_sources(const struct agxc_block *block, uint32_t i, agx_bitset_word *live)
{
   agxc_foreach_instr (instr, block) {
      if (!is_phi(instr))
         break;
      const struct agxc_ref *src = &agxc_srcs(instr)[i];
      if (src->kind == AGXC_VALUE)
         agx_bitset_set(live, src->value->id);
   }
}

void agxc_liveness_at_end(const struct agxc_liveness *liveness, const struct agxc_block *block,
                          agx_bitset_word *out_live)
{
   memset(out_live, 0, liveness->words * sizeof(*out_live));
   for (unsigned i = 0; i < AGX_COUNT(block->succs); i++) {
      const struct agxc_block *succ = block->succs[i];
      if (!succ)
         continue;
      agx_bitset_union(out_live, liveness->in[succ->index], liveness->words);
      uint32_t pred = 0;
      while (succ->preds[pred] != block)
         pred++;
      add_phi_sources(succ, pred, out_live);
   }
}

struct worklist {
   uint32_t *stack, depth;
   agx_bitset_word *queued;
};

static void push(struct worklist *list, const struct agxc_block *block)
{
   if (agx_bitset_test(list->queued, block->index))
      return;
   agx_bitset_set(list->queued, block->index);
   list->stack[list->depth++] = block->index;
}

static void flow(struct agxc_shader *shader, struct agxc_liveness *liveness)
{
   agx_bitset_word *live = AGX_ARENA_ARRAY(shader->arena, agx_bitset_word, liveness->words);
   struct worklist list = {
      .stack = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count),
      .queued =
         AGX_ARENA_ARRAY(shader->arena, agx_bitset_word, agx_bitset_words(shader->block_count)),
   };
   agxc_foreach_block (block, shader)
      push(&list, block);
   while (list.depth > 0) {
      const struct agxc_block *block = shader->blocks[list.stack[--list.depth]];
      agx_bitset_clear(list.queued, block->index);
      agxc_liveness_at_end(liveness, block, live);
      walk_back(block, live);
      if (!agx_bitset_union(liveness->in[block->index], live, liveness->words))
         continue;
      for (uint32_t i = 0; i < block->pred_count; i++)
         push(&list, block->preds[i]);
   }
}

/* ---- pressure ---------------------------------------------------------- */

static uint32_t set_halves(const struct agxc_shader *shader, const agx_bitset_word *live)
{
   uint32_t halves = 0;
   agx_bitset_for_each (id, live, shader->value_count)
      halves += agxc_halves(shader->values[id]);
   return halves;
}

static uint32_t block_pressure(const struct agxc_shader *shader, const struct agxc_block *block,
                               agx_bitset_word *live)
{
   uint32_t halves = set_halves(shader, live), most = halves, phis = 0;
   agxc_foreach_instr_rev (instr, block) {
      uint32_t dead = 0;
      agxc_foreach_dest (dest, instr) {
         if (dest->kind != AGXC_VALUE)
            continue;
         bool is_live = agx_bitset_test(live, dest->value->id);
         dead += is_live ? 0 : agxc_halves(dest->value);
         halves -= is_live ? agxc_halves(dest->value) : 0;
         phis += is_phi(instr) ? agxc_halves(dest->value) : 0;
         most = AGX_MAX(most, halves + dead + agxc_halves(dest->value));
         agx_bitset_clear(live, dest->value->id);
      }
      if (is_phi(instr))
         continue;
      agxc_foreach_src (src, instr) {
         if (src->kind != AGXC_VALUE || agx_bitset_test(live, src->value->id))
            continue;
         agx_bitset_set(live, src->value->id);
         halves += agxc_halves(src->value);
      }
      most = AGX_MAX(most, halves);
   }
   return AGX_MAX(most, halves + phis);
}

struct agxc_liveness *agxc_liveness_compute(struct agxc_shader *shader)
{
   struct agxc_liveness *liveness = AGX_ARENA_NEW(shader->arena, struct agxc_liveness);
   liveness->words = (uint32_t)agx_bitset_words(shader->value_count);
   liveness->in = AGX_ARENA_ARRAY(shader->arena, agx_bitset_word *, shader->block_count);
   for (uint32_t i = 0; i < shader->block_count; i++)
      liveness->in[i] = AGX_ARENA_ARRAY(shader->arena, agx_bitset_word, liveness->words);
   liveness->halves = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count);
   flow(shader, liveness);

   agx_bitset_word *live = AGX_ARENA_ARRAY(shader->arena, agx_bitset_word, liveness->words);
   agxc_foreach_block (block, shader) {
      agxc_liveness_at_end(liveness, block, live);
      uint32_t halves = block_pressure(shader, block, live);
      liveness->halves[block->index] = halves;
      liveness->max_halves = AGX_MAX(liveness->max_halves, halves);
   }
   return liveness;
}
