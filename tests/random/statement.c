/* SPDX-License-Identifier: MIT
 *
 * Statements of random kernels: assignments, stores, structured control flow of any kind, and words
 * that lanes exchange. kernel.c asks for them.
 */
#include "maker.h"

void random_open_block(struct maker *m, uint32_t label)
{
   EMIT(SpvOpLabel, label);
   m->label = label;
}

static uint32_t word_of_double(struct maker *m, uint32_t id)
{
   uint32_t t = m->type[U32], zero = random_constant(m, U32, 0);
   uint32_t nan = RESULT(SpvOpIsNan, m->type[BOOL], id);
   uint32_t both = RESULT(SpvOpBitcast, random_vector_type(m, U32, 2), id);
   uint32_t low = RESULT(SpvOpCompositeExtract, t, both, 0);
   uint32_t high = RESULT(SpvOpCompositeExtract, t, both, 1);
   uint32_t bits =
      RESULT(SpvOpIAdd, t, RESULT(SpvOpIMul, t, low, random_constant(m, U32, 31)), high);
   if (!(m->features & RANDOM_ZEROS)) { /* either may come out */
      uint32_t is_zero = RESULT(SpvOpFOrdEqual, m->type[BOOL], id, random_constant(m, F64, 0));
      bits = RESULT(SpvOpSelect, t, is_zero, zero, bits);
   }
   return RESULT(SpvOpSelect, t, nan, random_constant(m, U32, 0x7fc00000), bits);
}

/* A word that tells all bits of a value, the same for all NaNs. */
uint32_t random_word_of(struct maker *m, enum type type, uint32_t id)
{
   uint32_t t = m->type[U32];
   if (type == BOOL)
      return RESULT(SpvOpSelect, t, id, random_constant(m, U32, 1), random_constant(m, U32, 0));
   if (type == F64)
      return word_of_double(m, id);
   if (random_is_float(type)) {
      uint32_t wide = type == F32 ? id : RESULT(SpvOpFConvert, m->type[F32], id);
      uint32_t nan = RESULT(SpvOpIsNan, m->type[BOOL], wide);
      uint32_t bits = RESULT(SpvOpBitcast, t, wide);
      if (!(m->features & RANDOM_ZEROS)) { /* either may come out */
         uint32_t zero = RESULT(SpvOpFOrdEqual, m->type[BOOL], wide, random_constant(m, F32, 0));
         bits = RESULT(SpvOpSelect, t, zero, random_constant(m, U32, 0), bits);
      }
      return RESULT(SpvOpSelect, t, nan, random_constant(m, U32, 0x7fc00000), bits);
   }
   if (type == U64) {
      uint32_t high = RESULT(SpvOpShiftRightLogical, m->type[U64], id, random_constant(m, U64, 32));
      uint32_t folded = RESULT(SpvOpBitwiseXor, m->type[U64], id, high);
      return RESULT(SpvOpUConvert, t, folded);
   }
   return type == U32 ? id : RESULT(SpvOpUConvert, t, id);
}

void random_output(struct maker *m, uint32_t slot, uint32_t word)
{
   uint32_t base =
      RESULT(SpvOpIMul, m->type[U32], m->gid, random_constant(m, U32, RANDOM_OUT_WORDS));
   uint32_t index = RESULT(SpvOpIAdd, m->type[U32], base, random_constant(m, U32, slot));
   uint32_t pointer =
      RESULT(SpvOpAccessChain, m->ptr_out, m->out_var, random_constant(m, U32, 0), index);
   EMIT(SpvOpStore, pointer, word);
}

static void assign(struct maker *m)
{
   enum type type = random_any_type(m, true);
   uint32_t value = random_expression(m, type, 1 + random_below(m, 3));
   EMIT(SpvOpStore, m->variable[type][random_below(m, VARIABLES)], value);
}

static void branch_if(struct maker *m)
{
   uint32_t condition = random_expression(m, BOOL, 2);
   uint32_t yes = random_id(m), no = random_below(m, 2) ? random_id(m) : 0, merge = random_id(m);
   EMIT(SpvOpSelectionMerge, merge, 0);
   EMIT(SpvOpBranchConditional, condition, yes, no ? no : merge);
   random_open_block(m, yes);
   random_statements(m, 1 + random_below(m, 3));
   EMIT(SpvOpBranch, merge);
   if (no) {
      random_open_block(m, no);
      random_statements(m, 1 + random_below(m, 2));
      EMIT(SpvOpBranch, merge);
   }
   random_open_block(m, merge);
}

static void branch_switch(struct maker *m)
{
   uint32_t selector = RESULT(SpvOpBitwiseAnd, m->type[U32], random_expression(m, U32, 2),
                              random_constant(m, U32, 3));
   uint32_t merge = random_id(m), labels[4];
   unsigned cases = 1 + random_below(m, 3);
   for (unsigned i = 0; i <= cases; i++)
      labels[i] = random_id(m);
   uint32_t words[16] = {selector, labels[cases]};
   for (unsigned i = 0; i < cases; i++) {
      words[2 + 2 * i] = i;
      words[3 + 2 * i] = labels[i];
   }
   EMIT(SpvOpSelectionMerge, merge, 0);
   random_put(m->to, SpvOpSwitch, 2 + 2 * cases, words);
   m->switches++;
   for (unsigned i = 0; i <= cases; i++) {
      random_open_block(m, labels[i]);
      random_statements(m, 1 + random_below(m, 2));
      EMIT(SpvOpBranch, i < cases && random_below(m, 3) == 0 ? labels[i + 1] : merge);
   }
   m->switches--;
   random_open_block(m, merge);
}

/* A jump out of the loop or to its end in a block of its own. */
static void leave(struct maker *m)
{
   uint32_t yes = random_id(m), merge = random_id(m), condition = random_expression(m, BOOL, 2);
   EMIT(SpvOpSelectionMerge, merge, 0);
   EMIT(SpvOpBranchConditional, condition, yes, merge);
   random_open_block(m, yes);
   EMIT(SpvOpBranch, random_below(m, 2) ? m->break_label : m->continue_label);
   random_open_block(m, merge);
}

static void loop(struct maker *m)
{
   uint32_t header = random_id(m), test = random_id(m), body = random_id(m), merge = random_id(m);
   uint32_t next = random_id(m), counter = random_id(m), stepped = random_id(m), before = m->label;
   uint32_t outer_break = m->break_label, outer_continue = m->continue_label;
   uint32_t limit = random_constant(m, U32, 1 + random_below(m, 6));
   if (random_below(m, 2))
      limit = RESULT(SpvOpBitwiseAnd, m->type[U32], random_expression(m, U32, 1),
                     random_constant(m, U32, 7));
   EMIT(SpvOpBranch, header);
   EMIT(SpvOpLabel, header);
   EMIT(SpvOpPhi, m->type[U32], counter, random_constant(m, U32, 0), before, stepped, next);
   EMIT(SpvOpLoopMerge, merge, next, 0);
   EMIT(SpvOpBranch, test);
   random_open_block(m, test);
   uint32_t condition = RESULT(SpvOpULessThan, m->type[BOOL], counter, limit);
   EMIT(SpvOpBranchConditional, condition, body, merge);
   random_open_block(m, body);
   m->break_label = merge;
   m->continue_label = next;
   m->loops++;
   EMIT(SpvOpStore, m->variable[U32][random_below(m, VARIABLES)], counter);
   random_statements(m, 1 + random_below(m, 3));
   if (random_below(m, 3) == 0) {
      leave(m);
      random_statements(m, 1);
   }
   m->loops--;
   EMIT(SpvOpBranch, next);
   random_open_block(m, next);
   PUT(m->to, SpvOpIAdd, m->type[U32], stepped, counter, random_constant(m, U32, 1));
   EMIT(SpvOpBranch, header);
   random_open_block(m, merge);
   m->break_label = outer_break;
   m->continue_label = outer_continue;
}

/* ---- loops that load and sum ----------------------------------------------- */

#define MAX_SUMS 3

struct sums {
   uint32_t i, stepped, limit; /* the counter, in the next iteration, and where it ends */
   uint32_t sum[MAX_SUMS], next[MAX_SUMS], count;
};

/* Something of the counter, for an address or a value. */
static uint32_t of_counter(struct maker *m, const struct sums *s)
{
   uint32_t t = m->type[U32];
   const uint32_t others[] = {m->gid, m->lid, s->limit, random_constant(m, U32, 40),
                              random_constant(m, U32, 3)};
   uint32_t other = others[random_below(m, AGX_COUNT(others))];
   switch (random_below(m, 6)) {
   case 0:
      return s->i;
   case 1:
      return s->stepped;
   case 2:
      return RESULT(SpvOpIMul, t, s->i, other);
   case 3:
      return RESULT(SpvOpISub, t, other, s->i);
   default:
      return RESULT(SpvOpIAdd, t, random_below(m, 4) ? s->i : s->stepped, other);
   }
}

/* A word, of loads or a compare of the counter. */
static uint32_t word_of_counter(struct maker *m, const struct sums *s)
{
   static const SpvOp compares[] = {SpvOpIEqual, SpvOpULessThan, SpvOpINotEqual};
   uint32_t t = m->type[U32], place = of_counter(m, s);
   if (random_below(m, 8) == 0)
      return place;
   uint32_t word = random_input_word(m, place);
   if (random_below(m, 4) == 0)
      word = random_input_word(m, word);
   if (random_below(m, 3))
      return word;
   uint32_t is_here = RESULT(compares[random_below(m, 3)], m->type[BOOL], of_counter(m, s),
                             random_constant(m, U32, random_below(m, 9)));
   return RESULT(SpvOpSelect, t, is_here, word, s->sum[random_below(m, s->count)]);
}

static void sums_body(struct maker *m, struct sums *s, uint32_t step)
{
   static const SpvOp joins[] = {SpvOpIAdd, SpvOpBitwiseXor, SpvOpIAdd, SpvOpISub};
   uint32_t t = m->type[U32];
   PUT(m->to, SpvOpIAdd, t, s->stepped, s->i, random_constant(m, U32, step));
   for (uint32_t k = 0; k < s->count; k++) {
      uint32_t word = word_of_counter(m, s), before = s->sum[k];
      if (random_below(m, 3) == 0)
         before = RESULT(SpvOpIMul, t, before, random_constant(m, U32, 31));
      if (random_below(m, 5) == 0)
         PUT(m->to, SpvOpCopyObject, t, s->next[k], word);
      else
         PUT(m->to, joins[random_below(m, AGX_COUNT(joins))], t, s->next[k], before, word);
   }
   if (random_below(m, 4) == 0)
      random_output(m, random_below(m, RANDOM_OUT_WORDS - 6), word_of_counter(m, s));
}

/* for (i = first; i < limit; i += step) of one block; what unrolling and batching of loads look for
 */
static void sums(struct maker *m)
{
   struct sums s = {random_id(m), random_id(m), 0, {0}, {0}, 1 + random_below(m, MAX_SUMS)};
   uint32_t header = random_id(m), body = random_id(m), next = random_id(m), merge = random_id(m);
   uint32_t t = m->type[U32], before = m->label, step = 1u << random_below(m, 6);
   const uint32_t firsts[] = {random_constant(m, U32, 0), m->lid, random_constant(m, U32, 5)};
   uint32_t first = firsts[random_below(m, AGX_COUNT(firsts))], starts[MAX_SUMS];
   for (uint32_t k = 0; k < s.count; k++) {
      starts[k] = random_leaf(m, U32);
      s.sum[k] = random_id(m);
      s.next[k] = random_id(m);
   }
   uint32_t word = random_input_word(m, random_below(m, 2) ? m->gid : random_constant(m, U32, 7));
   s.limit = random_below(m, 3) == 0
                ? random_constant(m, U32, random_below(m, 70))
                : RESULT(SpvOpBitwiseAnd, t, word, random_constant(m, U32, 63));
   EMIT(SpvOpBranch, header);
   random_open_block(m, header);
   EMIT(SpvOpPhi, t, s.i, first, before, s.stepped, next);
   for (uint32_t k = 0; k < s.count; k++)
      EMIT(SpvOpPhi, t, s.sum[k], starts[k], before, s.next[k], next);
   uint32_t stays =
      RESULT(random_below(m, 2) ? SpvOpULessThan : SpvOpSLessThan, m->type[BOOL], s.i, s.limit);
   EMIT(SpvOpLoopMerge, merge, next, 0);
   EMIT(SpvOpBranchConditional, stays, body, merge);
   random_open_block(m, body);
   sums_body(m, &s, step);
   EMIT(SpvOpBranch, next);
   random_open_block(m, next);
   EMIT(SpvOpBranch, header);
   random_open_block(m, merge);
   for (uint32_t k = 0; k < s.count; k++)
      EMIT(SpvOpStore, m->variable[U32][random_below(m, VARIABLES)], s.sum[k]);
}

static void statement(struct maker *m)
{
   if (m->features & RANDOM_SUMS && !m->in_helper && random_below(m, 3) == 0) {
      sums(m);
      return;
   }
   if (m->features & RANDOM_WIDE && m->depth < 4 && random_below(m, 3) == 0) {
      random_wide_statement(m);
      return;
   }
   switch (m->depth < 4 ? random_below(m, 9) : 0) {
   case 1:
      branch_if(m);
      return;
   case 2:
      if (m->loops < 2) {
         loop(m);
         return;
      }
      break;
   case 3:
      branch_switch(m);
      return;
   case 4: {
      uint32_t value = random_expression(m, U32, 2);
      EMIT(SpvOpStore, random_private_word(m, 1), value);
      return;
   }
   case 5:
      random_output(m, random_below(m, RANDOM_OUT_WORDS - 6), random_expression(m, U32, 2));
      return;
   case 6:
      if (!(m->features & RANDOM_MEMORY))
         break;
      random_memory_stores(m);
      return;
   default:
      break;
   }
   assign(m);
}

void random_statements(struct maker *m, unsigned count)
{
   m->depth++;
   for (unsigned i = 0; i < count && m->budget > 0; i++)
      statement(m);
   m->depth--;
}

/* Threads of the workgroup exchange a word; where all of them come by. */
void random_exchange(struct maker *m)
{
   if (m->features & RANDOM_WIDE && random_below(m, 2)) {
      random_wide_exchange(m);
      return;
   }
   uint32_t scope = random_constant(m, U32, SpvScopeWorkgroup);
   uint32_t semantics = random_constant(
      m, U32, SpvMemorySemanticsWorkgroupMemoryMask | SpvMemorySemanticsAcquireReleaseMask);
   uint32_t value = random_expression(m, U32, 2);
   uint32_t own = RESULT(SpvOpAccessChain, m->ptr_shared, m->shared_var, m->lid);
   EMIT(SpvOpControlBarrier, scope, scope, semantics);
   EMIT(SpvOpStore, own, value);
   EMIT(SpvOpControlBarrier, scope, scope, semantics);
   uint32_t away = RESULT(SpvOpIAdd, m->type[U32], m->lid, random_expression(m, U32, 1));
   uint32_t index =
      RESULT(SpvOpBitwiseAnd, m->type[U32], away, random_constant(m, U32, RANDOM_THREADS - 1));
   uint32_t other = RESULT(SpvOpAccessChain, m->ptr_shared, m->shared_var, index);
   uint32_t got = RESULT(SpvOpLoad, m->type[U32], other);
   EMIT(SpvOpStore, m->variable[U32][random_below(m, VARIABLES)], got);
}
