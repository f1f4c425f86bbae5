/* SPDX-License-Identifier: MIT
 *
 * Rarer statements of random kernels, such as jumps out of anything, and the types, variables and
 * decorations that wide.c's values need. statement.c and kernel.c ask for them with RANDOM_WIDE.
 */
#include "wide.h"

/* ---- statements ---------------------------------------------------------- */

/* Its condition is behind its body, and two words go round. */
static void do_while(struct maker *m)
{
   uint32_t t = m->type[U32], header = random_id(m), body = random_id(m), merge = random_id(m);
   uint32_t next = random_id(m), counter = random_id(m), stepped = random_id(m), sum = random_id(m);
   uint32_t summed = random_id(m), before = m->label;
   uint32_t outer_break = m->break_label, outer_continue = m->continue_label;
   uint32_t first = random_expression(m, U32, 1);
   EMIT(SpvOpBranch, header);
   EMIT(SpvOpLabel, header);
   EMIT(SpvOpPhi, t, counter, random_constant(m, U32, 0), before, stepped, next);
   EMIT(SpvOpPhi, t, sum, first, before, summed, next);
   EMIT(SpvOpLoopMerge, merge, next, 0);
   EMIT(SpvOpBranch, body);
   random_open_block(m, body);
   m->break_label = merge;
   m->continue_label = next;
   m->loops++;
   EMIT(SpvOpStore, m->variable[U32][random_below(m, VARIABLES)], sum);
   random_statements(m, 1 + random_below(m, 3));
   EMIT(SpvOpBranch, next);
   random_open_block(m, next);
   EMIT(SpvOpIAdd, t, stepped, counter, random_constant(m, U32, 1));
   uint32_t loaded = RESULT(SpvOpLoad, t, m->variable[U32][random_below(m, VARIABLES)]);
   EMIT(SpvOpIAdd, t, summed, sum, loaded);
   uint32_t goes_on = RESULT(SpvOpULessThan, m->type[BOOL], stepped,
                             random_constant(m, U32, 1 + random_below(m, 5)));
   if (random_below(m, 2))
      goes_on = RESULT(SpvOpLogicalAnd, m->type[BOOL], goes_on, random_expression(m, BOOL, 1));
   m->loops--;
   EMIT(SpvOpBranchConditional, goes_on, header, merge);
   random_open_block(m, merge);
   m->break_label = outer_break;
   m->continue_label = outer_continue;
}

/* Something, then out of the loop, to its end, or out of the kernel. */
static void jump(struct maker *m)
{
   bool returns = m->may_return && (m->loops == 0 || random_below(m, 2));
   uint32_t condition = random_expression(m, BOOL, 2), yes = random_id(m), merge = random_id(m);
   EMIT(SpvOpSelectionMerge, merge, 0);
   EMIT(SpvOpBranchConditional, condition, yes, merge);
   random_open_block(m, yes);
   if (m->loops || m->may_return)
      random_statements(m, 1 + random_below(m, 2));
   if (returns)
      random_put(m->to, SpvOpReturn, 0, NULL);
   else if (m->loops)
      EMIT(SpvOpBranch, random_below(m, 2) ? m->break_label : m->continue_label);
   else
      EMIT(SpvOpBranch, merge);
   m->has_left |= returns;
   random_open_block(m, merge);
}

static void diamond(struct maker *m)
{
   enum type type = random_int_type(m);
   uint32_t condition = random_expression(m, BOOL, 2), merge = random_id(m);
   uint32_t label[2] = {random_id(m), random_id(m)}, value[2];
   EMIT(SpvOpSelectionMerge, merge, 0);
   EMIT(SpvOpBranchConditional, condition, label[0], label[1]);
   for (unsigned i = 0; i < 2; i++) {
      random_open_block(m, label[i]);
      m->depth++; /* not all are here */
      value[i] = random_expression(m, type, 2);
      m->depth--;
      EMIT(SpvOpBranch, merge);
   }
   random_open_block(m, merge);
   uint32_t either = RESULT(SpvOpPhi, m->type[type], value[0], label[0], value[1], label[1]);
   EMIT(SpvOpStore, m->variable[type][random_below(m, VARIABLES)], either);
}

static void switch_of(struct maker *m)
{
   enum type type = random_int_type(m);
   uint64_t mask = 1ull << random_below(m, random_widths[type] - 1u) | 1;
   uint32_t selector = RESULT(SpvOpBitwiseAnd, m->type[type], random_expression(m, type, 2),
                              random_constant(m, type, mask));
   uint64_t literals[] = {0, mask, mask & ~1ull};
   unsigned cases = mask == 1 ? 2 : 3, words = 0;
   uint32_t merge = random_id(m), labels[4], all[16];
   for (unsigned i = 0; i <= cases; i++)
      labels[i] = random_id(m);
   all[words++] = selector;
   all[words++] = random_below(m, 3) ? labels[cases] : merge;
   bool has_default = all[1] != merge;
   for (unsigned i = 0; i < cases; i++) {
      all[words++] = (uint32_t)literals[i];
      if (type == U64)
         all[words++] = (uint32_t)(literals[i] >> 32);
      all[words++] = labels[random_below(m, 4) == 0 && i ? i - 1 : i];
   }
   EMIT(SpvOpSelectionMerge, merge, 0);
   random_put(m->to, SpvOpSwitch, words, all);
   m->switches++;
   for (unsigned i = 0; i < cases + has_default; i++) {
      random_open_block(m, labels[i]);
      random_statements(m, 1);
      EMIT(SpvOpBranch, merge);
   }
   m->switches--;
   random_open_block(m, merge);
}

static void store_somewhere(struct maker *m)
{
   struct wide *w = m->wide;
   enum type type = random_int_type(m);
   uint32_t count = 2 + random_below(m, 3), value;
   uint32_t var = w->vector_var[count][random_below(m, VECTORS)];
   switch (random_below(m, 5)) {
   case 0:
      value = random_expression(m, type, 2);
      EMIT(SpvOpStore, random_array_element(m, type, 1), value);
      return;
   case 1:
      value = random_expression(m, U32, 2);
      EMIT(SpvOpStore, random_record_word(m, 1), value);
      return;
   case 2:
      value = RESULT(SpvOpLoad, w->record_type, w->record_vars[0]);
      value = RESULT(SpvOpCompositeInsert, w->record_type, random_leaf(m, U32), value, 2,
                     random_below(m, RECORD_WORDS));
      EMIT(SpvOpStore, w->record_vars[1], value);
      return;
   case 3:
      EMIT(SpvOpStore, var, random_vector_value(m, U32, count, 1));
      return;
   default:
      value = random_expression(m, U32, 2);
      EMIT(SpvOpStore,
           RESULT(SpvOpAccessChain, m->ptr_private, var, random_small_index(m, count, 1)), value);
      return;
   }
}

void random_wide_statement(struct maker *m)
{
   switch (random_below(m, 8)) {
   case 0:
      if (m->loops < 2) {
         do_while(m);
         return;
      }
      break;
   case 1:
   case 2:
      jump(m);
      return;
   case 3:
      diamond(m);
      return;
   case 4:
      switch_of(m);
      return;
   case 5:
      random_tail_atomic(m);
      return;
   default:
      break;
   }
   store_somewhere(m);
}

/* Elements of some type, and sums of what all threads give, by way of shared memory. */
void random_wide_exchange(struct maker *m)
{
   struct wide *w = m->wide;
   static const SpvOp ops[] = {SpvOpAtomicIAdd, SpvOpAtomicUMax, SpvOpAtomicXor, SpvOpAtomicISub};
   uint32_t t = m->type[U32], scope = random_constant(m, U32, SpvScopeWorkgroup);
   uint32_t relaxed = random_constant(m, U32, 0);
   uint32_t semantics = random_constant(
      m, U32, SpvMemorySemanticsWorkgroupMemoryMask | SpvMemorySemanticsAcquireReleaseMask);
   uint32_t given = random_expression(m, U32, 1), at = random_small_index(m, SHARED_SUMS, 1);
   uint32_t value = w->shared_count > 1 ? random_vector_of(m, w->shared_element, w->shared_count, 1)
                                        : random_expression(m, w->shared_element, 1);
   SpvOp op = ops[random_below(m, AGX_COUNT(ops))];
   EMIT(SpvOpControlBarrier, scope, scope, semantics);
   EMIT(SpvOpStore, RESULT(SpvOpAccessChain, w->ptr_shared, w->shared_var, m->lid), value);
   uint32_t is_low =
      RESULT(SpvOpULessThan, m->type[BOOL], m->lid, random_constant(m, U32, SHARED_SUMS));
   uint32_t yes = random_id(m), merge = random_id(m);
   EMIT(SpvOpSelectionMerge, merge, 0);
   EMIT(SpvOpBranchConditional, is_low, yes, merge);
   random_open_block(m, yes);
   EMIT(SpvOpStore, RESULT(SpvOpAccessChain, m->ptr_shared, w->sums_var, m->lid), m->lid);
   EMIT(SpvOpBranch, merge);
   random_open_block(m, merge);
   EMIT(SpvOpControlBarrier, scope, scope, semantics);
   RESULT(op, t, RESULT(SpvOpAccessChain, m->ptr_shared, w->sums_var, at), scope, relaxed, given);
   EMIT(SpvOpControlBarrier, scope, scope, semantics);
   uint32_t pointer =
      RESULT(SpvOpAccessChain, m->ptr_shared, w->sums_var, random_small_index(m, SHARED_SUMS, 1));
   EMIT(SpvOpStore, m->variable[U32][random_below(m, VARIABLES)], RESULT(SpvOpLoad, t, pointer));
   pointer = RESULT(SpvOpAccessChain, w->ptr_shared, w->shared_var,
                    random_small_index(m, RANDOM_THREADS, 1));
   uint32_t got = RESULT(SpvOpLoad, w->shared_type, pointer);
   if (w->shared_count > 1)
      got = RESULT(SpvOpCompositeExtract, m->type[w->shared_element], got,
                   random_below(m, w->shared_count));
   EMIT(SpvOpStore, m->variable[w->shared_element][random_below(m, VARIABLES)], got);
}

/* ---- module -------------------------------------------------------------- */

static void make_shared(struct maker *m)
{
   struct wide *w = m->wide;
   w->shared_element = random_int_type(m);
   w->shared_count = 1 + random_below(m, 4);
   w->shared_type = random_vector_type(m, w->shared_element, w->shared_count);
   w->ptr_shared = GLOBAL(SpvOpTypePointer, SpvStorageClassWorkgroup, w->shared_type);
   w->shared_array =
      GLOBAL(SpvOpTypeArray, w->shared_type, random_constant(m, U32, RANDOM_THREADS));
   uint32_t whole = GLOBAL(SpvOpTypePointer, SpvStorageClassWorkgroup, w->shared_array);
   w->shared_var = random_variable(m, whole, SpvStorageClassWorkgroup);
   uint32_t sums = GLOBAL(SpvOpTypeArray, m->type[U32], random_constant(m, U32, SHARED_SUMS));
   whole = GLOBAL(SpvOpTypePointer, SpvStorageClassWorkgroup, sums);
   w->sums_var = random_variable(m, whole, SpvStorageClassWorkgroup);
}

void random_wide_open(struct maker *m)
{
   static struct wide wides;
   struct wide *w = m->wide = &wides;
   uint32_t t = m->type[U32];
   *w = (struct wide){0};
   w->uniform_vecs = GLOBAL(SpvOpTypeArray, m->uvec4, random_constant(m, U32, UNIFORM_VECS));
   w->uniform_words = GLOBAL(SpvOpTypeArray, t, random_constant(m, U32, UNIFORM_VECS));
   w->uniform_struct = GLOBAL(SpvOpTypeStruct, w->uniform_vecs, w->uniform_words);
   uint32_t whole = GLOBAL(SpvOpTypePointer, SpvStorageClassUniform, w->uniform_struct);
   w->uniform_var = random_variable(m, whole, SpvStorageClassUniform);
   w->ptr_uniform_vec = GLOBAL(SpvOpTypePointer, SpvStorageClassUniform, m->uvec4);
   w->ptr_uniform_word = GLOBAL(SpvOpTypePointer, SpvStorageClassUniform, t);
   w->push_words = GLOBAL(SpvOpTypeArray, t, random_constant(m, U32, PUSH_WORDS));
   w->push_struct = GLOBAL(SpvOpTypeStruct, w->push_words);
   whole = GLOBAL(SpvOpTypePointer, SpvStorageClassPushConstant, w->push_struct);
   w->push_var = random_variable(m, whole, SpvStorageClassPushConstant);
   w->ptr_push_word = GLOBAL(SpvOpTypePointer, SpvStorageClassPushConstant, t);
   w->record_array = GLOBAL(SpvOpTypeArray, t, random_constant(m, U32, RECORD_WORDS));
   w->record_type = GLOBAL(SpvOpTypeStruct, t, m->uvec3, w->record_array);
   for (unsigned i = 0; i < 2; i++) {
      w->spec[i] = random_id(m);
      PUT(&m->globals, SpvOpSpecConstant, t, w->spec[i], (uint32_t)random_bits(m));
   }
   w->spec[2] = random_id(m);
   PUT(&m->globals, SpvOpSpecConstantOp, t, w->spec[2], SpvOpISub, w->spec[0], w->spec[1]);
   if (m->features & RANDOM_SHARED)
      make_shared(m);
}

/* A function that calls another, returns from within a loop, and writes through a pointer. */
void random_wide_helper(struct maker *m)
{
   uint32_t t = m->type[U32];
   uint32_t type = GLOBAL(SpvOpTypeFunction, t, t, t, m->ptr_private);
   uint32_t entry = random_id(m), header = random_id(m), test = random_id(m), body = random_id(m);
   uint32_t next = random_id(m), merge = random_id(m), early = random_id(m), late = random_id(m);
   uint32_t pointer = random_id(m), counter = random_id(m), stepped = random_id(m);
   m->wide->call = random_id(m);
   m->to = &m->helper;
   m->in_helper = true;
   m->budget = 60;
   EMIT(SpvOpFunction, t, m->wide->call, 0, type);
   for (unsigned i = 0; i < 2; i++) {
      m->params[i] = random_id(m);
      EMIT(SpvOpFunctionParameter, t, m->params[i]);
   }
   EMIT(SpvOpFunctionParameter, m->ptr_private, pointer);
   random_open_block(m, entry);
   uint32_t limit =
      RESULT(SpvOpBitwiseAnd, t, random_expression(m, U32, 1), random_constant(m, U32, 3));
   EMIT(SpvOpBranch, header);
   random_open_block(m, header);
   EMIT(SpvOpPhi, t, counter, random_constant(m, U32, 0), entry, stepped, next);
   EMIT(SpvOpLoopMerge, merge, next, 0);
   EMIT(SpvOpBranch, test);
   random_open_block(m, test);
   EMIT(SpvOpBranchConditional, RESULT(SpvOpULessThan, m->type[BOOL], counter, limit), body, merge);
   random_open_block(m, body);
   uint32_t got = RESULT(SpvOpFunctionCall, t, m->helper_function, counter, m->params[1]);
   uint32_t old = RESULT(SpvOpLoad, t, pointer);
   EMIT(SpvOpStore, pointer, RESULT(SpvOpIAdd, t, got, old));
   uint32_t condition = RESULT(SpvOpSLessThan, m->type[BOOL], old, random_expression(m, U32, 1));
   EMIT(SpvOpSelectionMerge, late, 0);
   EMIT(SpvOpBranchConditional, condition, early, late);
   random_open_block(m, early);
   EMIT(SpvOpStore, pointer, random_expression(m, U32, 2));
   EMIT(SpvOpReturnValue, RESULT(SpvOpBitwiseXor, t, got, counter));
   random_open_block(m, late);
   EMIT(SpvOpBranch, next);
   random_open_block(m, next);
   EMIT(SpvOpIAdd, t, stepped, counter, random_constant(m, U32, 1));
   EMIT(SpvOpBranch, header);
   random_open_block(m, merge);
   uint32_t last = RESULT(SpvOpLoad, t, pointer);
   EMIT(SpvOpReturnValue, RESULT(SpvOpIAdd, t, last, random_expression(m, U32, 2)));
   random_put(m->to, SpvOpFunctionEnd, 0, NULL);
   m->in_helper = false;
}

static uint32_t local(struct maker *m, uint32_t type)
{
   uint32_t id = random_id(m);
   EMIT(SpvOpVariable, GLOBAL(SpvOpTypePointer, SpvStorageClassFunction, type), id,
        SpvStorageClassFunction);
   return id;
}

void random_wide_variables(struct maker *m)
{
   struct wide *w = m->wide;
   for (uint32_t count = 2; count <= 4; count++)
      for (unsigned i = 0; i < VECTORS; i++)
         w->vector_var[count][i] = local(m, random_vector_type(m, U32, count));
   for (unsigned i = 0; i < 2; i++)
      w->record_vars[i] = local(m, w->record_type);
   for (enum type type = U8; type <= U64; type++) {
      if (!random_has(m, type))
         continue;
      uint32_t array =
         GLOBAL(SpvOpTypeArray, m->type[type], random_constant(m, U32, ARRAY_ELEMENTS));
      w->array_ptr[type] = type == U32
                              ? m->ptr_private
                              : GLOBAL(SpvOpTypePointer, SpvStorageClassFunction, m->type[type]);
      w->array_var[type] = local(m, array);
   }
}

void random_wide_initialize(struct maker *m)
{
   struct wide *w = m->wide;
   uint32_t t = m->type[U32], words[4] = {m->gid, m->lid, random_constant(m, U32, 77), m->gid};
   for (uint32_t count = 2; count <= 4; count++)
      for (unsigned i = 0; i < VECTORS; i++)
         EMIT(SpvOpStore, w->vector_var[count][i],
              random_result(m, SpvOpCompositeConstruct, random_vector_type(m, U32, count), count,
                            words));
   uint32_t vec = random_result(m, SpvOpCompositeConstruct, m->uvec3, 3, words);
   uint32_t array = random_result(m, SpvOpCompositeConstruct, w->record_array, RECORD_WORDS, words);
   uint32_t record = RESULT(SpvOpCompositeConstruct, w->record_type, m->gid, vec, array);
   for (unsigned i = 0; i < 2; i++)
      EMIT(SpvOpStore, w->record_vars[i], record);
   for (enum type type = U8; type <= U64; type++)
      for (uint32_t i = 0; random_has(m, type) && i < ARRAY_ELEMENTS; i++) {
         uint32_t pointer = RESULT(SpvOpAccessChain, w->array_ptr[type], w->array_var[type],
                                   random_constant(m, U32, i));
         EMIT(SpvOpStore, pointer, random_constant(m, type, random_bits(m)));
      }
   (void)t;
}

void random_wide_decorate(const struct maker *m, struct section *to)
{
   const struct wide *w = m->wide;
   PUT(to, SpvOpDecorate, w->uniform_vecs, SpvDecorationArrayStride, 16);
   PUT(to, SpvOpDecorate, w->uniform_words, SpvDecorationArrayStride, 16);
   PUT(to, SpvOpDecorate, w->uniform_struct, SpvDecorationBlock);
   PUT(to, SpvOpMemberDecorate, w->uniform_struct, 0, SpvDecorationOffset, 0);
   PUT(to, SpvOpMemberDecorate, w->uniform_struct, 1, SpvDecorationOffset, UNIFORM_VECS * 16);
   PUT(to, SpvOpDecorate, w->uniform_var, SpvDecorationDescriptorSet, 0);
   PUT(to, SpvOpDecorate, w->uniform_var, SpvDecorationBinding, 2);
   PUT(to, SpvOpDecorate, w->push_words, SpvDecorationArrayStride, 4);
   PUT(to, SpvOpDecorate, w->push_struct, SpvDecorationBlock);
   PUT(to, SpvOpMemberDecorate, w->push_struct, 0, SpvDecorationOffset, 0);
   for (uint32_t i = 0; i < 2; i++)
      PUT(to, SpvOpDecorate, w->spec[i], SpvDecorationSpecId, i);
}
