/* SPDX-License-Identifier: MIT
 *
 * Where slots need phis: in the iterated dominance frontier of their writes, but only in blocks
 * where a read can still follow. Frontiers are not stored, since in nests of loops they grow with
 * the square of the depth; each write looks through the part of the dominator tree below it, the
 * deepest one first, so that no block is looked at twice for a slot (Sreedhar and Gao, "A linear
 * time algorithm for placing phi-nodes", POPL 1995). Where a slot does not live, the search does
 * not go: so a slot's work is what its life is long. It does not live where no write reaches, as
 * in front of the first one, even if a path leads from there to a read.
 */
#include "agx/compiler/ir/ssa_impl.h"

struct placing {
   struct agxc_ssa *ssa;
   struct agxc_ssa_graph *graph;
   /* By block: the last slot + 1 that lives at its start, is written in it, has a phi there, or
    * whose search has seen it. */
   uint32_t *live, *written, *joined, *seen;
   /* By block: the first one of the outermost loop around it; without a loop, itself. */
   uint32_t *outermost;
   uint32_t first;       /* no write of this slot reaches a block in front of that one */
   uint32_t *first_read; /* by slot: arrival + 1 */
   uint32_t *next_read;  /* by arrival */
   uint32_t *stack, stack_depth;
   uint32_t *heap, heap_count; /* blocks with writes, the deepest first */
};

/* ---- lives --------------------------------------------------------------- */

static void make_live(struct placing *p, uint32_t slot, uint32_t block)
{
   if (p->live[block] == slot + 1 || block < p->first)
      return;
   p->live[block] = slot + 1;
   p->stack[p->stack_depth++] = block;
}

static void find_live(struct placing *p, uint32_t slot)
{
   for (uint32_t i = p->first_read[slot]; i; i = p->next_read[i - 1])
      make_live(p, slot, p->ssa->arrivals[i - 1].block->index);
   while (p->stack_depth > 0) {
      const struct agxc_block *block = p->ssa->shader->blocks[p->stack[--p->stack_depth]];
      for (uint32_t i = 0; i < block->pred_count; i++)
         if (p->written[block->preds[i]->index] != slot + 1)
            make_live(p, slot, block->preds[i]->index);
   }
}

/* ---- the heap ------------------------------------------------------------ */

static bool is_deeper(const struct placing *p, uint32_t a, uint32_t b)
{
   return p->graph->dominance->level[a] > p->graph->dominance->level[b];
}

static void push(struct placing *p, uint32_t block)
{
   uint32_t at = p->heap_count++;
   for (; at > 0 && is_deeper(p, block, p->heap[(at - 1) / 2]); at = (at - 1) / 2)
      p->heap[at] = p->heap[(at - 1) / 2];
   p->heap[at] = block;
}

static uint32_t pop(struct placing *p)
{
   uint32_t top = p->heap[0], last = p->heap[--p->heap_count], at = 0;
   for (;;) {
      uint32_t child = 2 * at + 1;
      if (child >= p->heap_count)
         break;
      if (child + 1 < p->heap_count && is_deeper(p, p->heap[child + 1], p->heap[child]))
         child++;
      if (!is_deeper(p, p->heap[child], last))
         break;
      p->heap[at] = p->heap[child];
      at = child;
   }
   p->heap[at] = last;
   return top;
}

/* ---- phis ---------------------------------------------------------------- */

static void add_phi(struct placing *p, uint32_t slot, uint32_t block)
{
   struct agxc_block *at = p->ssa->shader->blocks[block];
   struct agxc_arrival *phi = agxc_ssa_add_arrival(p->ssa, at, slot);
   phi->sources = AGX_ARENA_ARRAY(p->ssa->arena, struct agxc_ref, AGX_MAX(at->pred_count, 1u));
   phi->next = p->graph->phis[block];
   p->graph->phis[block] = p->ssa->arrival_count;
   p->joined[block] = slot + 1;
   if (p->written[block] != slot + 1)
      push(p, block);
}

/* Edges out of the block that leave what the writer, of that level, dominates. */
static void join(struct placing *p, uint32_t slot, uint32_t block, uint32_t level)
{
   const struct agxc_dominance *d = p->graph->dominance;
   for (unsigned i = 0; i < 2; i++) {
      const struct agxc_block *succ = p->ssa->shader->blocks[block]->succs[i];
      if (succ && d->idom[succ->index] != block && d->level[succ->index] <= level &&
          p->live[succ->index] == slot + 1 && p->joined[succ->index] != slot + 1)
         add_phi(p, slot, succ->index);
   }
}

static void search_below(struct placing *p, uint32_t slot, uint32_t writer)
{
   const struct agxc_dominance *d = p->graph->dominance;
   p->seen[writer] = slot + 1;
   p->stack[p->stack_depth++] = writer;
   while (p->stack_depth > 0) {
      uint32_t block = p->stack[--p->stack_depth];
      join(p, slot, block, d->level[writer]);
      for (uint32_t child = d->first_child[block]; child; child = d->next_child[child - 1])
         if (p->seen[child - 1] != slot + 1 && p->live[child - 1] == slot + 1) {
            p->seen[child - 1] = slot + 1;
            p->stack[p->stack_depth++] = child - 1;
         }
   }
}

/* Blocks between loops have none around them. */
static uint32_t *find_outermost(const struct agxc_ssa *ssa)
{
   uint32_t *first = AGX_ARENA_ARRAY(ssa->arena, uint32_t, ssa->shader->block_count), last = 0;
   agxc_foreach_block (block, ssa->shader) {
      if (!block->loop || !ssa->shader->blocks[block->index - 1]->loop)
         last = block->index;
      first[block->index] = last;
   }
   return first;
}

static void place(struct placing *p, uint32_t slot, uint32_t first_write)
{
   p->first = UINT32_MAX;
   for (uint32_t i = first_write; i; i = p->ssa->writes[i - 1].next_in_slot) {
      const struct agxc_block *block = p->ssa->writes[i - 1].block;
      p->written[block->index] = slot + 1;
      p->first = AGX_MIN(p->first, p->outermost[block->index]);
      push(p, block->index);
   }
   find_live(p, slot);
   while (p->heap_count > 0)
      search_below(p, slot, pop(p));
}

/* The reads of slots, in blocks that something reaches. */
static void sort_reads(struct placing *p)
{
   for (uint32_t i = 0; i < p->ssa->read_count; i++) {
      const struct agxc_arrival *read = &p->ssa->arrivals[i];
      p->next_read[i] = p->first_read[read->slot];
      p->first_read[read->slot] = i + 1;
   }
}

void agxc_ssa_place_phis(struct agxc_ssa *ssa, struct agxc_ssa_graph *graph,
                         const uint32_t *first_write)
{
   uint32_t blocks = ssa->shader->block_count;
   struct placing p = {.ssa = ssa, .graph = graph, .outermost = find_outermost(ssa)};
   uint32_t **arrays[] = {&p.live, &p.written, &p.joined, &p.seen, &p.stack, &p.heap};
   for (size_t i = 0; i < AGX_COUNT(arrays); i++)
      *arrays[i] = AGX_ARENA_ARRAY(ssa->arena, uint32_t, blocks);
   p.first_read = AGX_ARENA_ARRAY(ssa->arena, uint32_t, AGX_MAX(ssa->slot_count, 1u));
   p.next_read = AGX_ARENA_ARRAY(ssa->arena, uint32_t, AGX_MAX(ssa->read_count, 1u));
   sort_reads(&p);
   for (uint32_t slot = 0; slot < ssa->slot_count; slot++)
      if (p.first_read[slot])
         place(&p, slot, first_write[slot]);
}
