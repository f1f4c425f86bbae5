/* SPDX-License-Identifier: MIT
 *
 * Dominators in one pass: the tree of ifs and loops is reducible and program order is a reverse
 * postorder, so that edges back to a loop's first block, which dominates the loop, say nothing new.
 */
#include "agx/compiler/ir/dominance.h"

/* The deepest block that dominates both. Jumps of blocks of one level go to one level, too. */
static uint32_t nearest_common(const struct agxc_dominance *d, const uint32_t *jump, uint32_t a,
                               uint32_t b)
{
   if (d->level[a] < d->level[b]) {
      uint32_t deeper = b;
      b = a;
      a = deeper;
   }
   while (d->level[a] > d->level[b])
      a = d->level[jump[a]] >= d->level[b] ? jump[a] : d->idom[a];
   while (a != b) {
      bool far = jump[a] != jump[b];
      a = far ? jump[a] : d->idom[a];
      b = far ? jump[b] : d->idom[b];
   }
   return a;
}

/* Below its parent. Each block jumps over as many levels as a digit of its level counts in a skew
 * binary number, so that any way up takes O(log n) steps (Myers, "An applicative random-access
 * stack", 1983). */
static void add_below(struct agxc_dominance *d, uint32_t *jump, uint32_t block, uint32_t parent)
{
   uint32_t far = jump[parent];
   bool same = d->level[parent] - d->level[far] == d->level[far] - d->level[jump[far]];
   d->idom[block] = parent;
   d->level[block] = d->level[parent] + 1;
   jump[block] = same ? jump[far] : parent;
}

static void find_parents(const struct agxc_shader *shader, struct agxc_dominance *d)
{
   uint32_t *jump = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count);
   d->idom[0] = 0;
   for (uint32_t b = 1; b < shader->block_count; b++) {
      const struct agxc_block *block = shader->blocks[b];
      uint32_t common = AGXC_NO_BLOCK;
      for (uint32_t p = 0; p < block->pred_count; p++) {
         uint32_t pred = block->preds[p]->index;
         if (pred < b && d->idom[pred] != AGXC_NO_BLOCK)
            common = common == AGXC_NO_BLOCK ? pred : nearest_common(d, jump, common, pred);
      }
      d->idom[b] = common;
      if (common != AGXC_NO_BLOCK)
         add_below(d, jump, b, common);
   }
}

static void number(struct agxc_dominance *d)
{
   uint32_t at = 0, now = 0;
   for (uint32_t next = d->first_child[0];;) {
      if (next) {
         at = next - 1;
         d->enter[at] = ++now;
         next = d->first_child[at];
         continue;
      }
      d->leave[at] = now;
      if (at == 0)
         return;
      next = d->next_child[at];
      at = d->idom[at];
   }
}

struct agxc_dominance *agxc_dominance_compute(struct agxc_shader *shader)
{
   struct agxc_dominance *d = AGX_ARENA_NEW(shader->arena, struct agxc_dominance);
   uint32_t **arrays[] = {&d->idom,       &d->level, &d->first_child,
                          &d->next_child, &d->enter, &d->leave};
   for (size_t i = 0; i < AGX_COUNT(arrays); i++)
      *arrays[i] = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->block_count);
   find_parents(shader, d);
   for (uint32_t b = shader->block_count; b-- > 1;)
      if (d->idom[b] != AGXC_NO_BLOCK) {
         d->next_child[b] = d->first_child[d->idom[b]];
         d->first_child[d->idom[b]] = b + 1;
      }
   number(d);
   return d;
}
