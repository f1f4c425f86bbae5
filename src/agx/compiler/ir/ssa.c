/* SPDX-License-Identifier: MIT
 *
 * Slots to SSA. During the walk each block remembers the last write of a slot; a read
 * without one makes a value that stands for what arrives at the block.
 *
 * When all control flow stands: phis of every slot that is read (ssa_phis.c); then one walk down
 * the dominator tree, which replaces what arrives by the write or phi above it. Phis that
 * one value reaches, or that no instruction reads, are dropped.
 *
 * Nothing here recurses, since hostile modules can make very long chains of blocks.
 */
#include "agx/compiler/ir/ssa_impl.h"

#include <string.h>

#define MAX_ROUNDS 32 /* of simplification; what remains is right, only longer */

struct agxc_ssa *agxc_ssa_begin(struct agxc_shader *shader)
{
   struct agxc_ssa *ssa = AGX_ARENA_NEW(shader->arena, struct agxc_ssa);
   ssa->shader = shader;
   ssa->arena = shader->arena;
   ssa->table_size = 1024;
   ssa->table = AGX_ARENA_ARRAY(ssa->arena, uint32_t, ssa->table_size);
   return ssa;
}

static struct agxc_ref *refs_new(struct agxc_ssa *ssa, uint32_t count)
{
   return AGX_ARENA_ARRAY(ssa->arena, struct agxc_ref, AGX_MAX(count, 1u));
}

/* ---- writes ------------------------------------------------------------ */

static uint32_t hash(const struct agxc_block *block, uint32_t slot)
{
   uint64_t h = ((uint64_t)(uintptr_t)block >> 4) * 0x9e3779b97f4a7c15ull;
   h = (h ^ slot) * 0xc2b2ae3d27d4eb4full;
   return (uint32_t)(h >> 32);
}

/* The table's cell of a write, empty when there is none. */
static uint32_t *find(struct agxc_ssa *ssa, const struct agxc_block *block, uint32_t slot)
{
   uint32_t mask = ssa->table_size - 1, i = hash(block, slot) & mask;
   for (; ssa->table[i]; i = (i + 1) & mask) {
      const struct agxc_slot_write *write = &ssa->writes[ssa->table[i] - 1];
      if (write->block == block && write->slot == slot)
         break;
   }
   return &ssa->table[i];
}

static void grow_table(struct agxc_ssa *ssa)
{
   if (ssa->table_size > UINT32_MAX / 4)
      agxc_fail(ssa->shader, AGX_RESOURCE_EXHAUSTED, "too many variables");
   ssa->table_size *= 2;
   ssa->table = AGX_ARENA_ARRAY(ssa->arena, uint32_t, ssa->table_size);
   for (uint32_t i = 0; i < ssa->write_count; i++)
      *find(ssa, ssa->writes[i].block, ssa->writes[i].slot) = i + 1;
}

void agxc_slot_write(struct agxc_ssa *ssa, struct agxc_block *block, uint32_t slot,
                     struct agxc_ref value)
{
   if (ssa->write_count >= ssa->table_size / 2)
      grow_table(ssa);
   uint32_t *cell = find(ssa, block, slot);
   if (!*cell) {
      if (ssa->write_count == ssa->write_capacity) {
         uint32_t capacity = AGX_MAX(256u, 2 * ssa->write_capacity);
         ssa->writes = agx_arena_grow(ssa->arena, ssa->writes, ssa->write_count, capacity,
                                      sizeof(*ssa->writes));
         ssa->write_capacity = capacity;
      }
      *cell = ++ssa->write_count;
      ssa->writes[*cell - 1] = (struct agxc_slot_write){.block = block, .slot = slot};
   }
   ssa->writes[*cell - 1].ref = value;
}

/* ---- during emission --------------------------------------------------- */

uint32_t agxc_slots_new(struct agxc_ssa *ssa, uint32_t count, const uint8_t *bits)
{
   uint32_t first = ssa->slot_count;
   if (count > UINT32_MAX / 4 - first)
      agxc_fail(ssa->shader, AGX_RESOURCE_EXHAUSTED, "too many variables");
   if (first + count > ssa->slot_capacity) {
      uint32_t capacity = 2 * (first + count);
      ssa->slot_bits = agx_arena_grow(ssa->arena, ssa->slot_bits, first, capacity, 1);
      ssa->slot_elements = agx_arena_grow(ssa->arena, ssa->slot_elements, first, capacity, 1);
      ssa->slot_capacity = capacity;
   }
   for (uint32_t i = 0; i < count; i++) {
      ssa->slot_bits[first + i] = bits ? bits[i] : 32;
      ssa->slot_elements[first + i] = 1;
   }
   ssa->slot_count += count;
   return first;
}

uint32_t agxc_slot_new_like(struct agxc_ssa *ssa, const struct agxc_value *value)
{
   uint32_t slot = agxc_slots_new(ssa, 1, &value->bits);
   ssa->slot_elements[slot] = value->count;
   return slot;
}

struct agxc_arrival *agxc_ssa_add_arrival(struct agxc_ssa *ssa, struct agxc_block *block,
                                          uint32_t slot)
{
   if (ssa->arrival_count == ssa->arrival_capacity) {
      uint32_t capacity = AGX_MAX(64u, 2 * ssa->arrival_capacity);
      ssa->arrivals = agx_arena_grow(ssa->arena, ssa->arrivals, ssa->arrival_count, capacity,
                                     sizeof(*ssa->arrivals));
      ssa->arrival_capacity = capacity;
   }
   struct agxc_arrival *arrival = &ssa->arrivals[ssa->arrival_count++];
   *arrival = (struct agxc_arrival){.block = block, .slot = slot};
   arrival->value = agxc_value_new(ssa->shader, ssa->slot_bits[slot], ssa->slot_elements[slot]);
   return arrival;
}

struct agxc_ref agxc_slot_read(struct agxc_ssa *ssa, struct agxc_block *block, uint32_t slot)
{
   uint32_t at = *find(ssa, block, slot);
   if (at)
      return ssa->writes[at - 1].ref;
   struct agxc_ref ref = agxc_use(agxc_ssa_add_arrival(ssa, block, slot)->value);
   agxc_slot_write(ssa, block, slot, ref);
   return ref;
}

/* ---- reads and writes of blocks ---------------------------------------- */

static uint32_t *words(struct agxc_ssa *ssa, uint32_t count)
{
   return AGX_ARENA_ARRAY(ssa->arena, uint32_t, AGX_MAX(count, 1u));
}

static struct agxc_ssa_graph *make_graph(struct agxc_ssa *ssa)
{
   struct agxc_ssa_graph *g = AGX_ARENA_NEW(ssa->arena, struct agxc_ssa_graph);
   uint32_t count = ssa->shader->block_count;
   g->dominance = agxc_dominance_compute(ssa->shader);
   g->place = agx_arena_array(ssa->arena, count, sizeof(*g->place));
   g->reads = words(ssa, count);
   g->writes = words(ssa, count);
   g->phis = words(ssa, count);
   agxc_foreach_block (block, ssa->shader)
      for (uint32_t p = 0; p < block->pred_count; p++) {
         const struct agxc_block *pred = block->preds[p];
         g->place[pred->index][pred->succs[0] != block] = p;
      }
   return g;
}

static void index_values(struct agxc_ssa *ssa)
{
   ssa->of_value = words(ssa, ssa->shader->value_count);
   for (uint32_t i = 0; i < ssa->arrival_count; i++)
      ssa->of_value[ssa->arrivals[i].value->id] = i + 1;
}

/* False for the entry that a read has left behind. */
static bool is_write(struct agxc_ssa *ssa, const struct agxc_slot_write *write)
{
   uint32_t of = write->ref.kind == AGXC_VALUE ? ssa->of_value[write->ref.value->id] : 0;
   return !of || ssa->arrivals[of - 1].block != write->block ||
          ssa->arrivals[of - 1].slot != write->slot;
}

/* Puts reads and writes into their blocks' lists; returns each slot's first write. */
static uint32_t *sort_by_block(struct agxc_ssa *ssa, struct agxc_ssa_graph *g)
{
   uint32_t *of_slot = words(ssa, ssa->slot_count);
   for (uint32_t i = ssa->arrival_count; i-- > 0;) {
      struct agxc_arrival *arrival = &ssa->arrivals[i];
      arrival->next = g->reads[arrival->block->index];
      g->reads[arrival->block->index] = i + 1;
   }
   for (uint32_t i = ssa->write_count; i-- > 0;) {
      struct agxc_slot_write *write = &ssa->writes[i];
      if (!is_write(ssa, write) || g->dominance->idom[write->block->index] == AGXC_NO_BLOCK)
         continue;
      write->next = g->writes[write->block->index];
      g->writes[write->block->index] = i + 1;
      write->next_in_slot = of_slot[write->slot];
      of_slot[write->slot] = i + 1;
   }
   return of_slot;
}

/* ---- renaming ---------------------------------------------------------- */

static struct agxc_ref resolve(struct agxc_ssa *ssa, struct agxc_ref ref)
{
   while (ref.kind == AGXC_VALUE && ssa->of_value[ref.value->id]) {
      struct agxc_arrival *arrival = &ssa->arrivals[ssa->of_value[ref.value->id] - 1];
      if (!arrival->replaced)
         break;
      struct agxc_ref next = arrival->by;
      /* Halve the path, so that chains stay short. */
      if (next.kind == AGXC_VALUE && ssa->of_value[next.value->id]) {
         struct agxc_arrival *after = &ssa->arrivals[ssa->of_value[next.value->id] - 1];
         if (after->replaced)
            arrival->by = after->by;
      }
      ref = arrival->by;
   }
   return ref;
}

struct rename {
   struct agxc_ssa *ssa;
   struct agxc_ssa_graph *graph;
   struct agxc_ref *now; /* by slot: NONE before any write */
   struct undo {
      uint32_t slot;
      struct agxc_ref was;
   } * undo;
   uint32_t undo_count;
};

static void set(struct rename *r, uint32_t slot, struct agxc_ref ref)
{
   r->undo[r->undo_count++] = (struct undo){slot, r->now[slot]};
   r->now[slot] = ref;
}

static struct agxc_ref current(struct rename *r, uint32_t slot)
{
   struct agxc_ref ref = r->now[slot];
   return ref.kind == AGXC_NONE ? agxc_imm(0, r->ssa->slot_bits[slot]) : ref;
}

static void rename_block(struct rename *r, const struct agxc_block *block)
{
   struct agxc_arrival *arrivals = r->ssa->arrivals;
   for (uint32_t i = r->graph->phis[block->index]; i; i = arrivals[i - 1].next)
      set(r, arrivals[i - 1].slot, agxc_use(arrivals[i - 1].value));
   for (uint32_t i = r->graph->reads[block->index]; i; i = arrivals[i - 1].next) {
      arrivals[i - 1].by = current(r, arrivals[i - 1].slot);
      arrivals[i - 1].replaced = true;
   }
   for (uint32_t i = r->graph->writes[block->index]; i; i = r->ssa->writes[i - 1].next)
      set(r, r->ssa->writes[i - 1].slot, resolve(r->ssa, r->ssa->writes[i - 1].ref));
   for (unsigned k = 0; k < 2; k++) {
      const struct agxc_block *succ = block->succs[k];
      uint32_t place = r->graph->place[block->index][k];
      for (uint32_t i = succ ? r->graph->phis[succ->index] : 0; i; i = arrivals[i - 1].next)
         arrivals[i - 1].sources[place] = current(r, arrivals[i - 1].slot);
   }
}

/* Preorder; a block's changes are undone when its subtree is through. */
static void rename_all(struct agxc_ssa *ssa, struct agxc_ssa_graph *g)
{
   struct rename r = {.ssa = ssa, .graph = g};
   r.now = refs_new(ssa, ssa->slot_count);
   r.undo = AGX_ARENA_ARRAY(ssa->arena, struct undo, ssa->write_count + ssa->arrival_count + 1);
   const struct agxc_dominance *d = g->dominance;
   uint32_t *marks = words(ssa, ssa->shader->block_count), at = 0;
   rename_block(&r, ssa->shader->blocks[0]);
   for (uint32_t next = d->first_child[0];;) {
      if (next) {
         at = next - 1;
         marks[at] = r.undo_count;
         rename_block(&r, ssa->shader->blocks[at]);
         next = d->first_child[at];
         continue;
      }
      if (at == 0)
         break;
      for (; r.undo_count > marks[at]; r.undo_count--)
         r.now[r.undo[r.undo_count - 1].slot] = r.undo[r.undo_count - 1].was;
      next = d->next_child[at];
      at = d->idom[at];
   }
   for (uint32_t i = 0; i < ssa->read_count; i++)
      if (!ssa->arrivals[i].replaced) { /* nothing reaches the block */
         ssa->arrivals[i].by = agxc_imm(0, ssa->arrivals[i].value->bits);
         ssa->arrivals[i].replaced = true;
      }
}

/* ---- clearing up ------------------------------------------------------- */

/* True when only one value can reach a phi. */
static bool is_trivial(struct agxc_ssa *ssa, struct agxc_arrival *phi, struct agxc_ref *out)
{
   *out = agxc_none();
   for (uint32_t i = 0; i < phi->block->pred_count; i++) {
      struct agxc_ref source = resolve(ssa, phi->sources[i]);
      if (source.kind == AGXC_VALUE && source.value == phi->value)
         continue;
      if (out->kind != AGXC_NONE && !agxc_same_ref(out, &source))
         return false;
      *out = source;
   }
   if (out->kind == AGXC_NONE)
      *out = agxc_imm(0, phi->value->bits);
   return true;
}

static void simplify(struct agxc_ssa *ssa)
{
   bool progress = true;
   for (unsigned round = 0; progress && round < MAX_ROUNDS; round++) {
      progress = false;
      for (uint32_t i = ssa->read_count; i < ssa->arrival_count; i++) {
         struct agxc_arrival *phi = &ssa->arrivals[i];
         struct agxc_ref by;
         if (phi->replaced || !is_trivial(ssa, phi, &by))
            continue;
         phi->by = by;
         phi->replaced = progress = true;
      }
   }
}

static void need(struct agxc_ssa *ssa, struct agxc_ref ref, bool *needed, uint32_t *list,
                 uint32_t *count)
{
   ref = resolve(ssa, ref);
   uint32_t of = ref.kind == AGXC_VALUE ? ssa->of_value[ref.value->id] : 0;
   if (!of || needed[of - 1])
      return;
   needed[of - 1] = true;
   list[(*count)++] = of - 1;
}

/* In front of the phis that are there already. */
static void insert_phi(struct agxc_ssa *ssa, struct agxc_arrival *arrival)
{
   struct agxc_block *block = arrival->block;
   struct agxc_instr *phi = agxc_instr_new_n(ssa->shader, AGXC_OP_PHI, 1, block->pred_count);
   agxc_dests(phi)[0] = agxc_use(arrival->value);
   arrival->value->def = phi;
   for (uint32_t p = 0; p < block->pred_count; p++)
      agxc_srcs(phi)[p] = resolve(ssa, arrival->sources[p]);
   struct agxc_builder at = agxc_at_start(ssa->shader, block);
   agxc_insert(&at, phi);
}

/* Rewrites all operands, then places the phis that are still named. */
static void replace(struct agxc_ssa *ssa)
{
   bool *needed = AGX_ARENA_ARRAY(ssa->arena, bool, AGX_MAX(ssa->arrival_count, 1u));
   uint32_t *list = words(ssa, ssa->arrival_count), count = 0;
   agxc_foreach_block (block, ssa->shader) {
      agxc_foreach_instr (instr, block) {
         agxc_foreach_src (src, instr) {
            need(ssa, *src, needed, list, &count);
            struct agxc_ref by = resolve(ssa, *src);
            if (src->kind == AGXC_VALUE && by.kind == AGXC_VALUE)
               src->value = by.value; /* with the modifiers that machine instructions have */
            else
               *src = by;
         }
      }
   }
   for (uint32_t i = 0; i < count; i++) {
      struct agxc_arrival *phi = &ssa->arrivals[list[i]];
      for (uint32_t p = 0; p < phi->block->pred_count; p++)
         need(ssa, phi->sources[p], needed, list, &count);
   }
   for (uint32_t i = ssa->arrival_count; i-- > ssa->read_count;)
      if (needed[i])
         insert_phi(ssa, &ssa->arrivals[i]);
}

void agxc_ssa_finish(struct agxc_ssa *ssa)
{
   agxc_index(ssa->shader);
   struct agxc_ssa_graph *g = make_graph(ssa);
   ssa->read_count = ssa->arrival_count;
   index_values(ssa);
   agxc_ssa_place_phis(ssa, g, sort_by_block(ssa, g));
   index_values(ssa);
   rename_all(ssa, g);
   simplify(ssa);
   replace(ssa);
   agxc_index(ssa->shader);
}
