/* SPDX-License-Identifier: MIT
 *
 * Computes equal expressions once: a pure instruction whose operation and sources equal
 * an earlier one's, in the same block or one that dominates it, becomes a move of that one; with
 * several results, a move for each.
 *
 *    before   %3, %4 = split %2    ..   %8, %9 = split %2
 *    after    %3, %4 = split %2    ..   %8 = mov %3   %9 = mov %4
 *
 * Before: SSA. After: moves (opt_copy_prop and opt_dce clean up). Stands behind each group of
 * passes that compute the same anew: the lower_* passes, and opt_address with its offsets.
 */
#include "agx/compiler/ir/walk.h"
#include "agx/compiler/opt/opt.h"

/* In a tree of control flow, what was computed in a list dominates everything behind it in
 * that list and inside; so the table is a stack that shrinks at the end of each list. */
struct entry {
   struct agxc_instr *instr;
   uint32_t hash;
   int32_t next; /* in its bucket, or -1 */
};

struct table {
   struct agxc_shader *shader;
   int32_t *buckets;
   uint32_t bucket_mask;
   struct entry *entries;
   uint32_t count;
   bool progress;
};

static uint32_t mix(uint32_t hash, uint64_t value)
{
   value = (value ^ hash) * 0x9e3779b97f4a7c15ull;
   return (uint32_t)(value >> 32);
}

static uint64_t identity(const struct agxc_ref *ref)
{
   switch (ref->kind) {
   case AGXC_VALUE:
      return ref->value->id;
   case AGXC_UNIFORM:
   case AGXC_REG:
      return ref->half;
   default:
      return (uint64_t)ref->imm;
   }
}

static uint64_t key(const struct agxc_ref *ref)
{
   return identity(ref) * 8 + ref->kind;
}

/* Of what equals nothing in other blocks the block counts, so that a row of them makes no long
 * list. */
static uint32_t hash_of(const struct agxc_instr *instr)
{
   bool is_local = instr->op == AGXC_OP_PHI || (agxc_flags(instr) & AGXC_CROSS_LANE);
   uint32_t hash = is_local ? mix(instr->op, instr->block->index) : instr->op;
   unsigned first = instr->dest_count;
   if (agxc_flags(instr) & AGXC_COMMUTATIVE) {
      hash = mix(hash, key(agxc_side(instr, 0)) + key(agxc_side(instr, 1)));
      first += 2;
   }
   for (unsigned i = first; i < instr->operand_count; i++)
      hash = mix(hash, key(&instr->operand[i]));
   return hash;
}

static bool same(const struct agxc_instr *a, const struct agxc_instr *b)
{
   bool is_phi = a->op == AGXC_OP_PHI; /* whose sources belong to its block's ways in */
   if (a->op != b->op || (is_phi && a->block != b->block) || a->dest_count != b->dest_count ||
       a->operand_count != b->operand_count)
      return false;
   for (unsigned i = 0; i < a->dest_count; i++)
      if (agxc_dests(a)[i].bits != agxc_dests(b)[i].bits ||
          agxc_dests(a)[i].count != agxc_dests(b)[i].count)
         return false;
   unsigned first = a->dest_count;
   if (agxc_flags(a) & AGXC_COMMUTATIVE) {
      bool straight = agxc_same_ref(agxc_side(a, 0), agxc_side(b, 0)) &&
                      agxc_same_ref(agxc_side(a, 1), agxc_side(b, 1));
      bool crossed = agxc_same_ref(agxc_side(a, 0), agxc_side(b, 1)) &&
                     agxc_same_ref(agxc_side(a, 1), agxc_side(b, 0));
      if (!straight && !crossed)
         return false;
      first += 2;
   }
   for (unsigned i = first; i < a->operand_count; i++)
      if (!agxc_same_ref(&a->operand[i], &b->operand[i]))
         return false;
   return true;
}

static bool is_candidate(const struct agxc_instr *instr)
{
   return instr->dest_count > 0 && instr->op != AGXC_OP_MOV &&
          !(agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR)) &&
          (!(agxc_flags(instr) & AGXC_READS_MEMORY) || agxc_reads_constant(instr));
}

/* Gives the results of earlier, an equal instruction, to the readers of instr. */
static void become_moves(struct table *table, struct agxc_instr *instr,
                         const struct agxc_instr *earlier)
{
   if (instr->dest_count == 1 && instr->op != AGXC_OP_PHI) {
      agxc_become_mov(table->shader, instr, *agxc_dest(earlier));
      return;
   }
   struct agxc_instr *at = instr;
   while (agxc_as_phi(at)) /* a move stands behind all of them */
      at = agxc_next_instr(at);
   struct agxc_builder b = {table->shader, instr->block, at};
   for (unsigned i = 0; i < instr->dest_count; i++) {
      struct agxc_instr *mov = agxc_instr_new(table->shader, AGXC_OP_MOV);
      *agxc_src_a(mov) = agxc_dests(earlier)[i];
      agxc_define(mov, agxc_dests(instr)[i]);
      agxc_insert(&b, mov);
   }
   agxc_instr_remove(instr);
}

static void visit_instr(struct table *table, struct agxc_instr *instr)
{
   agxc_resolve_sources(instr);
   if (!is_candidate(instr))
      return;
   uint32_t hash = hash_of(instr);
   int32_t *bucket = &table->buckets[hash & table->bucket_mask];
   for (int32_t at = *bucket; at >= 0; at = table->entries[at].next) {
      if (table->entries[at].hash != hash || !same(table->entries[at].instr, instr))
         continue;
      /* Other lanes run in another block. */
      if ((agxc_flags(instr) & AGXC_CROSS_LANE) && table->entries[at].instr->block != instr->block)
         continue;
      /* If one of both must be exact, the one that stays must. */
      table->entries[at].instr->flags |= instr->flags;
      become_moves(table, instr, table->entries[at].instr);
      table->progress = true;
      return;
   }
   table->entries[table->count] = (struct entry){instr, hash, *bucket};
   *bucket = (int32_t)table->count++;
}

static void visit_block(void *table, struct agxc_block *block)
{
   agxc_foreach_instr_safe (instr, block)
      visit_instr(table, instr);
}

static uint32_t enter_list(void *user, const struct agx_link *list)
{
   const struct table *table = user;
   return table->count;
}

static void leave_list(void *user, uint32_t mark)
{
   struct table *table = user;
   while (table->count > mark) {
      const struct entry *entry = &table->entries[--table->count];
      table->buckets[entry->hash & table->bucket_mask] = entry->next;
   }
}

/* The continuing part of a loop may be reached from inside the body only: it sees what stands
 * before the loop. */
static const struct agxc_visitor visitor = {
   .block = visit_block, .enter_list = enter_list, .leave_list = leave_list};

bool agxc_opt_cse(struct agxc_shader *shader)
{
   agxc_index(shader);
   struct table table = {.shader = shader, .bucket_mask = 63};
   while (table.bucket_mask < shader->instr_count)
      table.bucket_mask = table.bucket_mask * 2 + 1;
   table.buckets = AGX_ARENA_ARRAY(shader->arena, int32_t, table.bucket_mask + 1ull);
   for (uint32_t i = 0; i <= table.bucket_mask; i++)
      table.buckets[i] = -1;
   table.entries = AGX_ARENA_ARRAY(shader->arena, struct entry, shader->instr_count + 1ull);
   agxc_walk(&shader->body, &visitor, &table);
   return table.progress;
}
