/* SPDX-License-Identifier: MIT
 *
 * Liveness for spilling, register allocation, scheduling and the passes that weigh registers
 * (opt/loads).
 *
 * The analysis goes from each use of a value back to its definition, once through every block in
 * between: the work is proportional to the length of the result. A second walk counts register
 * pressure.
 *
 * It follows the way that one lane takes. That is right for registers, although the code of both
 * arms of an if may run: a lane that is away keeps its registers.
 */
#include "agx/compiler/analysis/liveness.h"

static bool is_phi(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_PHI;
}

/* A value and a block. */
struct pair {
   uint32_t id, block;
};

struct pairs {
   struct agx_arena *arena;
   struct pair *pair;
   uint32_t count, capacity;
};

static void add(struct pairs *pairs, uint32_t id, uint32_t block)
{
   if (pairs->count == pairs->capacity) {
      uint32_t capacity = AGX_MAX(256u, 2 * pairs->capacity);
      pairs->pair =
         agx_arena_grow(pairs->arena, pairs->pair, pairs->count, capacity, sizeof(*pairs->pair));
      pairs->capacity = capacity;
   }
   pairs->pair[pairs->count++] = (struct pair){id, block};
}

/* ---- uses -------------------------------------------------------------- */

#define NO_BLOCK UINT32_MAX

static uint32_t *find_definitions(struct agxc_shader *shader)
{
   uint32_t *at = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->value_count);
   for (uint32_t i = 0; i < shader->value_count; i++)
      at[i] = NO_BLOCK;
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         agxc_foreach_dest (dest, instr)
            if (dest->kind == AGXC_VALUE)
               at[dest->value->id] = block->index;
   return at;
}

/* Where values must arrive: a phi takes its sources at the ends of the predecessors. */
static void find_uses(struct agxc_shader *shader, const uint32_t *definition, struct pairs *uses)
{
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         for (uint32_t i = 0; i < instr->src_count; i++) {
            const struct agxc_ref *src = &agxc_srcs(instr)[i];
            if (is_phi(instr) && i >= block->pred_count)
               break; /* nothing reaches the block */
            uint32_t at = is_phi(instr) ? block->preds[i]->index : block->index;
            if (src->kind == AGXC_VALUE && definition[src->value->id] != at)
               add(uses, src->value->id, at);
         }
}

/* first[id] is where its uses begin in the result. */
static uint32_t *sort_by_value(struct agxc_shader *shader, const struct pairs *uses,
                               uint32_t *first)
{
   uint32_t *blocks = AGX_ARENA_ARRAY(shader->arena, uint32_t, AGX_MAX(uses->count, 1u));
   for (uint32_t i = 0; i < uses->count; i++)
      first[uses->pair[i].id + 1]++;
   for (uint32_t id = 0; id < shader->value_count; id++)
      first[id + 1] += first[id];
   uint32_t *at = AGX_ARENA_ARRAY(shader->arena, uint32_t, AGX_MAX(shader->value_count, 1u));
   memcpy(at, first, shader->value_count * sizeof(*at));
   for (uint32_t i = 0; i < uses->count; i++)
      blocks[at[uses->pair[i].id]++] = uses->pair[i].block;
   return blocks;
}

/* ---- ways back --------------------------------------------------------- */

struct search {
   const struct agxc_shader *shader;
   struct pairs live;
   uint32_t *seen; /* by block: the value + 1 that got here last */
   uint32_t *stack, depth;
};

static void visit(struct search *s, uint32_t id, uint32_t block)
{
   if (s->seen[block] == id + 1)
      return;
   s->seen[block] = id + 1;
   s->stack[s->depth++] = block;
   add(&s->live, id, block);
}

static void walk_back(struct search *s, uint32_t id, uint32_t from, uint32_t definition)
{
   visit(s, id, from);
   while (s->depth > 0) {
      const struct agxc_block *block = s->shader->blocks[s->stack[--s->depth]];
      for (uint32_t i = 0; i < block->pred_count; i++)
         if (block->preds[i]->index != definition)
            visit(s, id, block->preds[i]->index);
   }
}

static void sort_by_block(struct agxc_shader *shader, const struct pairs *live,
                          struct agxc_liveness *liveness)
{
   uint32_t *first = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count + 2);
   liveness->ids = AGX_ARENA_ARRAY(shader->arena, uint32_t, AGX_MAX(live->count, 1u));
   for (uint32_t i = 0; i < live->count; i++)
      first[live->pair[i].block + 2]++;
   for (uint32_t b = 0; b < shader->block_count; b++)
      first[b + 2] += first[b + 1];
   for (uint32_t i = 0; i < live->count; i++)
      liveness->ids[first[live->pair[i].block + 1]++] = live->pair[i].id;
   liveness->first = first;
}

static void find_live(struct agxc_shader *shader, struct agxc_liveness *liveness)
{
   struct pairs uses = {.arena = shader->arena};
   uint32_t *first = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->value_count + 1);
   const uint32_t *definition = find_definitions(shader);
   find_uses(shader, definition, &uses);
   const uint32_t *blocks = sort_by_value(shader, &uses, first);
   struct search s = {.shader = shader, .live = {.arena = shader->arena}};
   s.seen = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count);
   s.stack = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count);
   for (uint32_t id = 0; id < shader->value_count; id++)
      for (uint32_t i = first[id]; i < first[id + 1]; i++)
         walk_back(&s, id, blocks[i], definition[id]);
   sort_by_block(shader, &s.live, liveness);
}

bool agxc_is_live_in(const struct agxc_liveness *liveness, const struct agxc_block *block,
                     const struct agxc_value *value)
{
   uint32_t low = liveness->first[block->index], high = liveness->first[block->index + 1];
   while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (liveness->ids[middle] == value->id)
         return true;
      if (liveness->ids[middle] < value->id)
         low = middle + 1;
      else
         high = middle;
   }
   return false;
}

/* ---- ends of blocks ---------------------------------------------------- */

struct agxc_live_set agxc_live_set_new(struct agxc_shader *shader)
{
   uint32_t count = shader->value_count;
   return (struct agxc_live_set){
      .bits = AGX_ARENA_ARRAY(shader->arena, agx_bitset_word, agx_bitset_words(count)),
      .ids = AGX_ARENA_ARRAY(shader->arena, uint32_t, AGX_MAX(count, 1u)),
   };
}

static void include(struct agxc_live_set *set, uint32_t id)
{
   if (agx_bitset_test(set->bits, id))
      return;
   agx_bitset_set(set->bits, id);
   set->ids[set->count++] = id;
}

void agxc_liveness_at_end(const struct agxc_liveness *liveness, const struct agxc_block *block,
                          struct agxc_live_set *set)
{
   while (set->count > 0)
      agx_bitset_clear(set->bits, set->ids[--set->count]);
   for (unsigned i = 0; i < AGX_COUNT(block->succs); i++) {
      const struct agxc_block *succ = block->succs[i];
      if (!succ)
         continue;
      agxc_foreach_live_in (id, liveness, succ)
         include(set, *id);
      uint32_t pred = agxc_pred_index(succ, block);
      agxc_foreach_instr (phi, succ) {
         if (!is_phi(phi))
            break;
         const struct agxc_ref *src = &agxc_srcs(phi)[pred];
         if (src->kind == AGXC_VALUE)
            include(set, src->value->id);
      }
   }
}

/* ---- pressure ---------------------------------------------------------- */

bool agxc_reads_late(const struct agxc_instr *instr, const struct agxc_ref *src)
{
   uint32_t late = agxc_isa_info(instr)->late_sources;
   return late && (late >> (src - instr->operand) & 1); /* a phi may have more than 32 sources */
}

/* set: at the block's end; its bits become those at the block's start. */
static uint32_t block_pressure(const struct agxc_shader *shader, const struct agxc_block *block,
                               const struct agxc_live_set *set)
{
   agx_bitset_word *live = set->bits;
   uint32_t halves = 0, phis = 0;
   for (uint32_t i = 0; i < set->count; i++)
      halves += agxc_halves(shader->values[set->ids[i]]);
   uint32_t most = halves;
   agxc_foreach_instr_rev (instr, block) {
      uint32_t dead = 0, late = 0, results = 0;
      agxc_foreach_dest (dest, instr) {
         if (dest->kind != AGXC_VALUE)
            continue;
         bool is_live = agx_bitset_test(live, dest->value->id);
         dead += is_live ? 0 : agxc_halves(dest->value);
         halves -= is_live ? agxc_halves(dest->value) : 0;
         phis += is_phi(instr) ? agxc_halves(dest->value) : 0;
         results = AGX_MAX(results, halves + dead + agxc_halves(dest->value));
         agx_bitset_clear(live, dest->value->id);
      }
      most = AGX_MAX(most, results);
      if (is_phi(instr))
         continue;
      agxc_foreach_src (src, instr) {
         if (src->kind != AGXC_VALUE || agx_bitset_test(live, src->value->id))
            continue;
         agx_bitset_set(live, src->value->id);
         halves += agxc_halves(src->value);
         late += agxc_reads_late(instr, src) ? agxc_halves(src->value) : 0;
      }
      most = AGX_MAX(most, AGX_MAX(halves, results + late));
   }
   return AGX_MAX(most, halves + phis);
}

struct agxc_liveness *agxc_liveness_compute(struct agxc_shader *shader)
{
   struct agxc_liveness *liveness = AGX_ARENA_NEW(shader->arena, struct agxc_liveness);
   find_live(shader, liveness);
   liveness->halves = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count);
   struct agxc_live_set live = agxc_live_set_new(shader);
   agxc_foreach_block (block, shader) {
      agxc_liveness_at_end(liveness, block, &live);
      uint32_t halves = block_pressure(shader, block, &live);
      agxc_foreach_live_in (id, liveness, block)
         agx_bitset_clear(live.bits, *id);
      liveness->halves[block->index] = halves;
      liveness->max_halves = AGX_MAX(liveness->max_halves, halves);
   }
   return liveness;
}
