/* SPDX-License-Identifier: MIT
 *
 * Slots to SSA. A slot is one mutable scalar: part of a variable, of a phi, or a flag.
 * During emission each block remembers the last write of a slot; a read without one
 * makes a value that stands for what arrives at the block. When all control flow
 * stands, such arrivals become the single value that reaches them or a phi.
 *
 * Nothing here recurses, since hostile modules can make very long chains of blocks.
 */
#include "agx/compiler/spirv_impl.h"

#define MAX_ROUNDS 32 /* of simplification; what remains is right, only longer */

/* A slot at the entry of a block. */
struct arrival {
   struct agxc_block *block;
   uint32_t slot;
   struct agxc_value *value;
   struct agxc_ref *sources; /* one per predecessor */
   bool replaced;
   struct agxc_ref by;
};

/* What a slot holds at the end of a block. */
struct entry {
   struct agxc_block *block;
   uint32_t slot;
   struct agxc_ref ref;
};

struct agxc_spv_ssa {
   struct entry *table; /* open addressing */
   uint32_t table_size, table_used;
   uint8_t *slot_bits;
   uint32_t slot_count, slot_capacity;
   struct arrival *arrivals;
   uint32_t arrival_count, arrival_capacity;
   uint32_t *of_value; /* arrival + 1 by value id, once all exist */
};

void agxc_spv_ssa_begin(struct agxc_spv *s)
{
   s->ssa = AGX_ARENA_NEW(s->arena, struct agxc_spv_ssa);
   s->ssa->table_size = 1024;
   s->ssa->table = AGX_ARENA_ARRAY(s->arena, struct entry, s->ssa->table_size);
}

/* ---- the table --------------------------------------------------------- */

static uint32_t hash(const struct agxc_block *block, uint32_t slot)
{
   uint64_t h = ((uint64_t)(uintptr_t)block >> 4) * 0x9e3779b97f4a7c15ull;
   h = (h ^ slot) * 0xc2b2ae3d27d4eb4full;
   return (uint32_t)(h >> 32);
}

static struct entry *find(struct agxc_spv_ssa *ssa, const struct agxc_block *block, uint32_t slot)
{
   uint32_t mask = ssa->table_size - 1;
   uint32_t i = hash(block, slot) & mask;
   while (ssa->table[i].block && (ssa->table[i].block != block || ssa->table[i].slot != slot))
      i = (i + 1) & mask;
   return &ssa->table[i];
}

static void grow_table(struct agxc_spv *s)
{
   struct agxc_spv_ssa *ssa = s->ssa;
   struct entry *old = ssa->table;
   uint32_t old_size = ssa->table_size;
   if (old_size > UINT32_MAX / 2)
      agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "too many variables");
   ssa->table_size *= 2;
   ssa->table = AGX_ARENA_ARRAY(s->arena, struct entry, ssa->table_size);
   for (uint32_t i = 0; i < old_size; i++)
      if (old[i].block)
         *find(ssa, old[i].block, old[i].slot) = old[i];
}

void agxc_spv_slot_write_at(struct agxc_spv *s, struct agxc_block *block, uint32_t slot,
                            struct agxc_ref value)
{
   struct agxc_spv_ssa *ssa = s->ssa;
   if (ssa->table_used >= ssa->table_size / 2)
      grow_table(s);
   struct entry *entry = find(ssa, block, slot);
   ssa->table_used += !entry->block;
   *entry = (struct entry){.block = block, .slot = slot, .ref = value};
}

/* ---- during emission --------------------------------------------------- */

uint32_t agxc_spv_slots_new(struct agxc_spv *s, uint32_t count, const uint8_t *bits)
{
   struct agxc_spv_ssa *ssa = s->ssa;
   uint32_t first = ssa->slot_count;
   if (count > UINT32_MAX / 4 - first)
      agxc_spv_leave(s, AGX_RESOURCE_EXHAUSTED, "too many variables");
   if (first + count > ssa->slot_capacity) {
      uint32_t capacity = 2 * (first + count);
      ssa->slot_bits = agx_arena_grow(s->arena, ssa->slot_bits, first, capacity, 1);
      ssa->slot_capacity = capacity;
   }
   for (uint32_t i = 0; i < count; i++)
      ssa->slot_bits[first + i] = bits ? bits[i] : 32;
   ssa->slot_count += count;
   return first;
}

static struct agxc_ref arrive(struct agxc_spv *s, struct agxc_block *block, uint32_t slot)
{
   struct agxc_spv_ssa *ssa = s->ssa;
   if (ssa->arrival_count == ssa->arrival_capacity) {
      uint32_t capacity = AGX_MAX(64u, 2 * ssa->arrival_capacity);
      ssa->arrivals = agx_arena_grow(s->arena, ssa->arrivals, ssa->arrival_count, capacity,
                                     sizeof(*ssa->arrivals));
      ssa->arrival_capacity = capacity;
   }
   struct agxc_value *value = agxc_value_new(s->shader, ssa->slot_bits[slot], 1);
   ssa->arrivals[ssa->arrival_count++] =
      (struct arrival){.block = block, .slot = slot, .value = value};
   agxc_spv_slot_write_at(s, block, slot, agxc_use(value));
   return agxc_use(value);
}

static struct agxc_ref value_at_end(struct agxc_spv *s, struct agxc_block *block, uint32_t slot)
{
   struct entry *entry = find(s->ssa, block, slot);
   return entry->block ? entry->ref : arrive(s, block, slot);
}

struct agxc_ref agxc_spv_slot_read(struct agxc_spv *s, uint32_t slot)
{
   return value_at_end(s, s->b.block, slot);
}

void agxc_spv_slot_write(struct agxc_spv *s, uint32_t slot, struct agxc_ref value)
{
   agxc_spv_slot_write_at(s, s->b.block, slot, value);
}

/* ---- afterwards -------------------------------------------------------- */

/* Finds each arrival's sources, which makes more arrivals, up to the first block. */
static void connect(struct agxc_spv *s)
{
   struct agxc_spv_ssa *ssa = s->ssa;
   for (uint32_t i = 0; i < ssa->arrival_count; i++) {
      struct agxc_block *block = ssa->arrivals[i].block;
      struct agxc_ref *sources = agxc_spv_refs(s, block->pred_count);
      for (uint32_t p = 0; p < block->pred_count; p++)
         sources[p] = value_at_end(s, block->preds[p], ssa->arrivals[i].slot);
      ssa->arrivals[i].sources = sources; /* the array may have moved */
   }
}

static struct agxc_ref resolve(struct agxc_spv_ssa *ssa, struct agxc_ref ref)
{
   while (ref.kind == AGXC_VALUE && ssa->of_value[ref.value->id]) {
      struct arrival *arrival = &ssa->arrivals[ssa->of_value[ref.value->id] - 1];
      if (!arrival->replaced)
         break;
      struct agxc_ref next = arrival->by;
      /* Halve the path, so that chains stay short. */
      if (next.kind == AGXC_VALUE && ssa->of_value[next.value->id]) {
         struct arrival *after = &ssa->arrivals[ssa->of_value[next.value->id] - 1];
         if (after->replaced)
            arrival->by = after->by;
      }
      ref = arrival->by;
   }
   return ref;
}

static bool same(struct agxc_ref a, struct agxc_ref b)
{
   if (a.kind != b.kind)
      return false;
   return a.kind == AGXC_VALUE ? a.value == b.value : a.imm == b.imm && a.bits == b.bits;
}

/* True when only one value can arrive; nothing at all counts as 0. */
static bool is_trivial(struct agxc_spv_ssa *ssa, struct arrival *arrival, struct agxc_ref *out)
{
   *out = agxc_none();
   for (uint32_t i = 0; i < arrival->block->pred_count; i++) {
      struct agxc_ref source = resolve(ssa, arrival->sources[i]);
      if (source.kind == AGXC_VALUE && source.value == arrival->value)
         continue;
      if (out->kind != AGXC_NONE && !same(*out, source))
         return false;
      *out = source;
   }
   if (out->kind == AGXC_NONE)
      *out = agxc_imm(0, arrival->value->bits);
   return true;
}

static void simplify(struct agxc_spv_ssa *ssa)
{
   bool progress = true;
   for (unsigned round = 0; progress && round < MAX_ROUNDS; round++) {
      progress = false;
      for (uint32_t i = 0; i < ssa->arrival_count; i++) {
         struct arrival *arrival = &ssa->arrivals[i];
         if (arrival->replaced || !is_trivial(ssa, arrival, &arrival->by))
            continue;
         arrival->replaced = true;
         progress = true;
      }
   }
}

static void mark_sources(struct agxc_spv_ssa *ssa, struct agxc_ref ref, bool *needed,
                         uint32_t *list, uint32_t *count)
{
   ref = resolve(ssa, ref);
   uint32_t of = ref.kind == AGXC_VALUE ? ssa->of_value[ref.value->id] : 0;
   if (!of || needed[of - 1])
      return;
   needed[of - 1] = true;
   list[(*count)++] = of - 1;
}

/* Rewrites all operands, then places the phis that are still named. */
static void replace(struct agxc_spv *s)
{
   struct agxc_spv_ssa *ssa = s->ssa;
   bool *needed = AGX_ARENA_ARRAY(s->arena, bool, AGX_MAX(ssa->arrival_count, 1u));
   uint32_t *list = AGX_ARENA_ARRAY(s->arena, uint32_t, AGX_MAX(ssa->arrival_count, 1u));
   uint32_t count = 0;
   agxc_foreach_block (block, s->shader) {
      agxc_foreach_instr (instr, block) {
         agxc_foreach_src (src, instr) {
            mark_sources(ssa, *src, needed, list, &count);
            *src = resolve(ssa, *src);
         }
      }
   }
   for (uint32_t i = 0; i < count; i++) {
      struct arrival *arrival = &ssa->arrivals[list[i]];
      for (uint32_t p = 0; p < arrival->block->pred_count; p++)
         mark_sources(ssa, arrival->sources[p], needed, list, &count);
   }
   /* Each goes before the ones placed already; backwards, so that the order is kept. */
   for (uint32_t i = ssa->arrival_count; i-- > 0;) {
      struct arrival *arrival = &ssa->arrivals[i];
      if (!needed[i])
         continue;
      struct agxc_block *block = arrival->block;
      struct agxc_instr *phi = agxc_instr_new_n(s->shader, AGXC_OP_PHI, 1, block->pred_count);
      agxc_dests(phi)[0] = agxc_use(arrival->value);
      arrival->value->def = phi;
      for (uint32_t p = 0; p < block->pred_count; p++)
         agxc_srcs(phi)[p] = resolve(ssa, arrival->sources[p]);
      struct agxc_builder at = agxc_at_end(s->shader, block);
      if (!agx_list_empty(&block->instrs))
         at.before = agx_container_of(block->instrs.next, struct agxc_instr, link);
      agxc_insert(&at, phi);
   }
}

void agxc_spv_ssa_finish(struct agxc_spv *s)
{
   struct agxc_spv_ssa *ssa = s->ssa;
   agxc_index(s->shader);
   connect(s);
   ssa->of_value = AGX_ARENA_ARRAY(s->arena, uint32_t, AGX_MAX(s->shader->value_count, 1u));
   for (uint32_t i = 0; i < ssa->arrival_count; i++)
      ssa->of_value[ssa->arrivals[i].value->id] = i + 1;
   simplify(ssa);
   replace(s);
   agxc_index(s->shader);
}
