/* SPDX-License-Identifier: MIT
 *
 * Distances to next uses, by a walk back through the blocks. Two rounds carry what loops
 * use around their back edges; the result only guides choices, so that suffices.
 */
#include "agx/compiler/regalloc/spill_distance_impl.h"

#define ROUNDS 2
#define FAR    (AGXC_NEVER - 1)

static void touch(struct agxc_next_uses *uses, uint32_t id, uint32_t at)
{
   if (uses->next[id] == AGXC_NEVER)
      uses->touched[uses->touched_count++] = id;
   uses->next[id] = at;
}

static void forget(struct agxc_next_uses *uses)
{
   while (uses->touched_count > 0)
      uses->next[uses->touched[--uses->touched_count]] = AGXC_NEVER;
}

static uint32_t block_length(const struct agxc_block *block)
{
   uint32_t length = 0;
   agxc_foreach_instr (instr, block)
      length++;
   return length;
}

static uint32_t add_distance(uint32_t a, uint32_t b)
{
   return a > FAR - b ? FAR : a + b;
}

/* What the blocks behind use. */
static void begin_at_end(struct agxc_next_uses *uses, const struct agxc_block *block,
                         uint32_t length)
{
   for (unsigned i = 0; i < AGX_COUNT(block->succs); i++) {
      const struct agxc_block *succ = block->succs[i];
      if (!succ)
         continue;
      uint32_t from = length;
      if (succ->loop_depth < block->loop_depth)
         from += AGXC_LOOP_EXIT * AGX_MIN(block->loop_depth - succ->loop_depth, 64);
      for (uint32_t k = 0; k < uses->in_count[succ->index]; k++) {
         const struct agxc_distance *in = &uses->in[succ->index][k];
         uint32_t at = in->distance == AGXC_NEVER ? FAR : add_distance(in->distance, from);
         if (at < uses->next[in->id])
            touch(uses, in->id, at);
      }
      uint32_t pred = agxc_pred_index(succ, block);
      agxc_foreach_phi (phi, succ) {
         const struct agxc_ref *src = &agxc_srcs(phi)[pred];
         if (src->kind == AGXC_VALUE)
            touch(uses, src->value->id, length);
      }
   }
}

/* Walks back; leaves in uses->next what is needed from the block's start on. */
static void walk(struct agxc_next_uses *uses, const struct agxc_block *block, uint32_t *out)
{
   uint32_t position = block_length(block);
   begin_at_end(uses, block, position);
   uint32_t at = 0;
   agxc_foreach_instr (instr, block)
      at += (uint32_t)instr->dest_count + instr->src_count;
   agxc_foreach_instr_rev (instr, block) {
      position--;
      at -= (uint32_t)instr->dest_count + instr->src_count;
      for (uint32_t i = 0; out && i < (uint32_t)instr->dest_count + instr->src_count; i++)
         out[at + i] = instr->operand[i].kind == AGXC_VALUE
                          ? uses->next[instr->operand[i].value->id]
                          : AGXC_NEVER;
      agxc_foreach_dest (dest, instr)
         if (dest->kind == AGXC_VALUE)
            uses->next[dest->value->id] = AGXC_NEVER;
      if (instr->op == AGXC_OP_PHI)
         continue;
      agxc_foreach_src (src, instr)
         if (src->kind == AGXC_VALUE)
            touch(uses, src->value->id, position);
   }
}

uint32_t *agxc_next_uses_in(struct agxc_next_uses *uses, const struct agxc_block *block)
{
   uint32_t operands = 0;
   agxc_foreach_instr (instr, block)
      operands += (uint32_t)instr->dest_count + instr->src_count;
   uint32_t *out = AGX_ARENA_ARRAY(uses->shader->arena, uint32_t, operands);
   walk(uses, block, out);
   forget(uses);
   return out;
}

uint32_t agxc_next_use_at_start(const struct agxc_next_uses *uses, const struct agxc_block *block,
                                const struct agxc_value *value)
{
   const struct agxc_distance *in = uses->in[block->index];
   uint32_t low = 0, high = uses->in_count[block->index];
   while (low < high) {
      uint32_t middle = (low + high) / 2;
      if (in[middle].id < value->id)
         low = middle + 1;
      else
         high = middle;
   }
   bool is_there = low < uses->in_count[block->index] && in[low].id == value->id;
   return is_there && in[low].distance != AGXC_NEVER ? in[low].distance : FAR;
}

struct agxc_next_uses *agxc_next_uses_compute(struct agxc_shader *shader,
                                              const struct agxc_liveness *liveness)
{
   struct agx_arena *arena = shader->arena;
   struct agxc_next_uses *uses = AGX_ARENA_NEW(arena, struct agxc_next_uses);
   uses->shader = shader;
   uses->in = AGX_ARENA_ARRAY(arena, struct agxc_distance *, shader->block_count);
   uses->in_count = AGX_ARENA_ARRAY(arena, uint32_t, shader->block_count);
   uses->next = AGX_ARENA_ARRAY(arena, uint32_t, shader->value_count);
   /* A value can be forgotten by its definition and touched again: once a walk. */
   uses->touched = AGX_ARENA_ARRAY(arena, uint32_t, 2ull * shader->value_count);
   memset(uses->next, 0xff, shader->value_count * sizeof(*uses->next));
   agxc_foreach_block (block, shader) {
      uint32_t i = block->index, count = liveness->first[i + 1] - liveness->first[i];
      uses->in[i] = AGX_ARENA_ARRAY(arena, struct agxc_distance, count);
      agxc_foreach_live_in (id, liveness, block)
         uses->in[i][uses->in_count[i]++] = (struct agxc_distance){*id, AGXC_NEVER};
   }
   for (unsigned round = 0; round < ROUNDS; round++)
      for (uint32_t i = shader->block_count; i-- > 0;) {
         walk(uses, shader->blocks[i], NULL);
         for (uint32_t k = 0; k < uses->in_count[i]; k++)
            uses->in[i][k].distance = uses->next[uses->in[i][k].id];
         forget(uses);
      }
   return uses;
}
