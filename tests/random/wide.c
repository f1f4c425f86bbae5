/* SPDX-License-Identifier: MIT
 *
 * Rarer values of random kernels: vectors of all kinds, words of uniform buffers and push
 * constants, atomics, records and arrays of narrow elements, calls with pointers, matrices, and the
 * rest of the operations between lanes. expression.c asks for them with RANDOM_WIDE.
 */
#include "wide.h"

static uint32_t splat(struct maker *m, enum type type, uint32_t count, uint64_t value)
{
   uint32_t c = random_constant(m, type, value), words[] = {c, c, c, c};
   return random_result(m, SpvOpCompositeConstruct, random_vector_type(m, type, count), count,
                        words);
}

static uint32_t bool_vector(struct maker *m, uint32_t count)
{
   if (!m->wide->bvec[count])
      m->wide->bvec[count] = GLOBAL(SpvOpTypeVector, m->type[BOOL], count);
   return m->wide->bvec[count];
}

static uint32_t float_vector(struct maker *m, uint32_t count)
{
   if (!m->wide->fvec[count])
      m->wide->fvec[count] = GLOBAL(SpvOpTypeVector, m->type[F32], count);
   return m->wide->fvec[count];
}

static uint32_t matrix_type(struct maker *m, uint32_t columns, uint32_t rows)
{
   uint32_t *id = &m->wide->matrix[columns][rows];
   if (!*id)
      *id = GLOBAL(SpvOpTypeMatrix, float_vector(m, rows), columns);
   return *id;
}

/* Less than bound. */
uint32_t random_small_index(struct maker *m, uint32_t bound, unsigned depth)
{
   uint32_t any = random_expression(m, U32, depth);
   return RESULT(SpvOpUMod, m->type[U32], any, random_constant(m, U32, bound));
}

/* ---- words from elsewhere ------------------------------------------------ */

static uint32_t uniform_word(struct maker *m, unsigned depth)
{
   struct wide *w = m->wide;
   uint32_t t = m->type[U32];
   switch (random_below(m, 4)) {
   case 0: {
      uint32_t pointer =
         RESULT(SpvOpAccessChain, w->ptr_uniform_word, w->uniform_var, random_constant(m, U32, 1),
                random_small_index(m, UNIFORM_VECS, depth));
      return RESULT(SpvOpLoad, t, pointer);
   }
   case 1: {
      uint32_t pointer =
         RESULT(SpvOpAccessChain, w->ptr_uniform_vec, w->uniform_var, random_constant(m, U32, 0),
                random_constant(m, U32, random_below(m, UNIFORM_VECS)));
      uint32_t value = RESULT(SpvOpLoad, m->uvec4, pointer);
      return RESULT(SpvOpCompositeExtract, t, value, random_below(m, 4));
   }
   case 2: {
      uint32_t vec = random_small_index(m, UNIFORM_VECS, depth);
      uint32_t pointer = RESULT(SpvOpAccessChain, w->ptr_uniform_word, w->uniform_var,
                                random_constant(m, U32, 0), vec, random_small_index(m, 4, depth));
      return RESULT(SpvOpLoad, t, pointer);
   }
   default: {
      uint32_t index = random_below(m, 2) ? random_small_index(m, PUSH_WORDS, depth)
                                          : random_constant(m, U32, random_below(m, PUSH_WORDS));
      uint32_t pointer =
         RESULT(SpvOpAccessChain, w->ptr_push_word, w->push_var, random_constant(m, U32, 0), index);
      return RESULT(SpvOpLoad, t, pointer);
   }
   }
}

/* On a word that no other invocation touches: what it returns is certain. */
static uint32_t own_atomic(struct maker *m, unsigned depth)
{
   static const SpvOp ops[] = {
      SpvOpAtomicIAdd, SpvOpAtomicISub, SpvOpAtomicUMax,     SpvOpAtomicSMin, SpvOpAtomicAnd,
      SpvOpAtomicOr,   SpvOpAtomicXor,  SpvOpAtomicExchange, SpvOpAtomicUMin, SpvOpAtomicSMax};
   uint32_t t = m->type[U32], value = random_expression(m, U32, depth);
   uint32_t base = RESULT(SpvOpIMul, t, m->gid, random_constant(m, U32, RANDOM_OUT_WORDS));
   uint32_t index = RESULT(SpvOpIAdd, t, base, random_small_index(m, RANDOM_OUT_WORDS, 0));
   uint32_t pointer =
      RESULT(SpvOpAccessChain, m->ptr_out, m->out_var, random_constant(m, U32, 0), index);
   uint32_t scope = random_constant(m, U32, SpvScopeDevice), relaxed = random_constant(m, U32, 0);
   if (random_below(m, 5) == 0)
      return RESULT(SpvOpAtomicCompareExchange, t, pointer, scope, relaxed, relaxed, value,
                    random_leaf(m, U32));
   if (random_below(m, 5) == 0)
      return RESULT(random_below(m, 2) ? SpvOpAtomicIIncrement : SpvOpAtomicIDecrement, t, pointer,
                    scope, relaxed);
   return RESULT(ops[random_below(m, AGX_COUNT(ops))], t, pointer, scope, relaxed, value);
}

/* All threads on a few words behind the output: each word has its operation, whose order
 * doesn't matter. */
void random_tail_atomic(struct maker *m)
{
   static const SpvOp ops[] = {SpvOpAtomicIAdd, SpvOpAtomicUMax, SpvOpAtomicXor,  SpvOpAtomicOr,
                               SpvOpAtomicSMin, SpvOpAtomicISub, SpvOpAtomicSMax, SpvOpAtomicIAdd};
   uint32_t at = random_below(m, AGX_COUNT(ops)), value = random_expression(m, U32, 2);
   uint32_t pointer = RESULT(SpvOpAccessChain, m->ptr_out, m->out_var, random_constant(m, U32, 0),
                             random_constant(m, U32, RANDOM_TAIL_AT + at));
   RESULT(ops[at], m->type[U32], pointer, random_constant(m, U32, SpvScopeDevice),
          random_constant(m, U32, 0), value);
}

uint32_t random_array_element(struct maker *m, enum type type, unsigned depth)
{
   return RESULT(SpvOpAccessChain, m->wide->array_ptr[type], m->wide->array_var[type],
                 random_small_index(m, ARRAY_ELEMENTS, depth));
}

uint32_t random_record_word(struct maker *m, unsigned depth)
{
   struct wide *w = m->wide;
   uint32_t record = w->record_vars[random_below(m, 2)];
   switch (random_below(m, 4)) {
   case 0:
      return RESULT(SpvOpAccessChain, m->ptr_private, record, random_constant(m, U32, 0));
   case 1:
      return RESULT(SpvOpAccessChain, m->ptr_private, record, random_constant(m, U32, 1),
                    random_constant(m, U32, random_below(m, 3)));
   case 2:
      return RESULT(SpvOpAccessChain, m->ptr_private, record, random_constant(m, U32, 1),
                    random_small_index(m, 3, depth));
   default:
      return RESULT(SpvOpAccessChain, m->ptr_private, record, random_constant(m, U32, 2),
                    random_small_index(m, RECORD_WORDS, depth));
   }
}

static uint32_t call(struct maker *m, unsigned depth)
{
   return RESULT(SpvOpFunctionCall, m->type[U32], m->wide->call, random_expression(m, U32, depth),
                 random_leaf(m, U32), m->variable[U32][random_below(m, VARIABLES)]);
}

/* ---- vectors ------------------------------------------------------------- */

uint32_t random_vector_of(struct maker *m, enum type type, uint32_t count, unsigned depth)
{
   uint32_t words[4], t = random_vector_type(m, type, count);
   if (type == U32 && !m->in_helper && random_below(m, 3) == 0)
      return RESULT(SpvOpLoad, t, m->wide->vector_var[count][random_below(m, VECTORS)]);
   for (uint32_t i = 0; i < count; i++)
      words[i] = i ? random_leaf(m, type) : random_expression(m, type, depth);
   return random_result(m, SpvOpCompositeConstruct, t, count, words);
}

static uint32_t compared(struct maker *m, enum type type, uint32_t count, uint32_t a, uint32_t b)
{
   static const SpvOp ops[] = {SpvOpIEqual, SpvOpINotEqual, SpvOpULessThan, SpvOpSLessThan,
                               SpvOpUGreaterThanEqual};
   (void)type;
   return RESULT(ops[random_below(m, AGX_COUNT(ops))], bool_vector(m, count), a, b);
}

uint32_t random_vector_value(struct maker *m, enum type type, uint32_t count, unsigned depth)
{
   static const SpvOp binary[] = {SpvOpIAdd,       SpvOpISub,      SpvOpIMul,
                                  SpvOpBitwiseAnd, SpvOpBitwiseOr, SpvOpBitwiseXor};
   static const SpvOp shifts[] = {SpvOpShiftLeftLogical, SpvOpShiftRightLogical,
                                  SpvOpShiftRightArithmetic};
   static const uint32_t choices[] = {GLSLstd450UMin, GLSLstd450UMax, GLSLstd450SMin,
                                      GLSLstd450SMax};
   uint32_t t = random_vector_type(m, type, count);
   uint32_t a = random_vector_of(m, type, count, depth), b = random_vector_of(m, type, count, 0);
   switch (random_below(m, 9)) {
   case 0:
      b = RESULT(SpvOpBitwiseAnd, t, b, splat(m, type, count, random_widths[type] - 1u));
      return RESULT(shifts[random_below(m, 3)], t, a, b);
   case 1:
      return RESULT(SpvOpSelect, t, compared(m, type, count, a, b), a, b);
   case 2:
      return RESULT(SpvOpExtInst, t, m->glsl, choices[random_below(m, 4)], a, b);
   case 3:
      return RESULT(random_below(m, 2) ? SpvOpNot : SpvOpSNegate, t, a);
   case 4: {
      uint32_t element = random_expression(m, type, depth);
      return RESULT(SpvOpVectorInsertDynamic, t, a, element, random_small_index(m, count, depth));
   }
   case 5:
      return RESULT(SpvOpCompositeInsert, t, random_leaf(m, type), a, random_below(m, count));
   case 6: {
      uint32_t other = 2 + random_below(m, 3), words[6] = {a};
      words[1] = random_vector_of(m, type, other, 0);
      for (uint32_t i = 0; i < count; i++)
         words[2 + i] = random_below(m, count + other);
      return random_result(m, SpvOpVectorShuffle, t, count + 2, words);
   }
   case 7: {
      enum type narrow = random_int_type(m);
      if (narrow == type)
         break;
      uint32_t there = RESULT(SpvOpUConvert, random_vector_type(m, narrow, count), a);
      return RESULT(random_below(m, 2) ? SpvOpUConvert : SpvOpSConvert, t, there);
   }
   default:
      break;
   }
   return RESULT(binary[random_below(m, AGX_COUNT(binary))], t, a, b);
}

static uint32_t vector_int(struct maker *m, enum type type, unsigned depth)
{
   uint32_t count = 2 + random_below(m, 3), t = m->type[type];
   uint32_t value = random_vector_value(m, type, count, depth);
   if (random_below(m, 2))
      return RESULT(SpvOpVectorExtractDynamic, t, value, random_small_index(m, count, depth));
   return RESULT(SpvOpCompositeExtract, t, value, random_below(m, count));
}

/* The same bits as another type: words of vectors and vectors of words. */
static uint32_t cast(struct maker *m, enum type type, unsigned depth)
{
   if (type == U64) {
      uint32_t a = random_vector_of(m, U32, 2, depth);
      return RESULT(SpvOpBitcast, m->type[U64], a);
   }
   if (type == U32 && random_has(m, U64) && random_below(m, 2)) {
      uint32_t a = random_expression(m, U64, depth);
      uint32_t both = RESULT(SpvOpBitcast, random_vector_type(m, U32, 2), a);
      return RESULT(SpvOpCompositeExtract, m->type[U32], both, random_below(m, 2));
   }
   if (type == U32 && random_has(m, F32) && random_below(m, 2))
      return RESULT(SpvOpBitcast, m->type[U32],
                    random_small_float(m, F32, random_expression(m, U32, depth)));
   enum type part = type == U32 && random_has(m, U16) ? U16 : U8;
   if (type == U8 || !random_has(m, part))
      return random_expression(m, type, depth);
   uint32_t count = random_widths[type] / random_widths[part];
   if (random_below(m, 2)) {
      uint32_t a = random_vector_of(m, part, count, depth);
      return RESULT(SpvOpBitcast, m->type[type], a);
   }
   uint32_t a = random_expression(m, type, depth);
   uint32_t parts = RESULT(SpvOpBitcast, random_vector_type(m, part, count), a);
   uint32_t one = RESULT(SpvOpCompositeExtract, m->type[part], parts, random_below(m, count));
   return random_convert_int(m, type, part, one);
}

/* ---- integers ------------------------------------------------------------ */

static uint32_t extended(struct maker *m, unsigned depth)
{
   static const SpvOp ops[] = {SpvOpIAddCarry, SpvOpISubBorrow, SpvOpUMulExtended,
                               SpvOpSMulExtended};
   uint32_t a = random_expression(m, U32, depth), b = random_expression(m, U32, depth);
   if (!m->wide->pair)
      m->wide->pair = GLOBAL(SpvOpTypeStruct, m->type[U32], m->type[U32]);
   uint32_t both = RESULT(ops[random_below(m, AGX_COUNT(ops))], m->wide->pair, a, b);
   return RESULT(SpvOpCompositeExtract, m->type[U32], both, random_below(m, 2));
}

static uint32_t bit_field(struct maker *m, unsigned depth)
{
   uint32_t t = m->type[U32], a = random_expression(m, U32, depth);
   uint32_t offset = random_small_index(m, 17, depth), count = random_small_index(m, 17, depth);
   if (random_below(m, 3) == 0)
      return RESULT(SpvOpBitFieldInsert, t, a, random_expression(m, U32, depth), offset, count);
   return RESULT(random_below(m, 2) ? SpvOpBitFieldUExtract : SpvOpBitFieldSExtract, t, a, offset,
                 count);
}

static uint32_t clamped(struct maker *m, enum type type, unsigned depth)
{
   uint64_t top = 1ull << (random_widths[type] - 2);
   uint32_t a = random_expression(m, type, depth);
   uint32_t low = random_constant(m, type, random_bits(m) & (top - 1));
   uint32_t high = random_constant(m, type, top | (random_bits(m) & (top - 1)));
   switch (random_below(m, 4)) {
   case 0:
      return GLSL(type, GLSLstd450UClamp, a, low, high);
   case 1:
      return GLSL(type, GLSLstd450SClamp, a, low, high);
   case 2:
      return GLSL(type, GLSLstd450SAbs, a);
   default:
      return GLSL(type, GLSLstd450SSign, a);
   }
}

/* By an amount of another type. */
static uint32_t mixed_shift(struct maker *m, enum type type, unsigned depth)
{
   static const SpvOp ops[] = {SpvOpShiftLeftLogical, SpvOpShiftRightLogical,
                               SpvOpShiftRightArithmetic};
   enum type other = random_int_type(m);
   uint32_t a = random_expression(m, type, depth), by = random_expression(m, other, depth);
   by = RESULT(SpvOpBitwiseAnd, m->type[other], by,
               random_constant(m, other, random_widths[type] - 1u));
   return RESULT(ops[random_below(m, 3)], m->type[type], a, by);
}

static uint32_t word_value(struct maker *m, unsigned depth)
{
   switch (random_below(m, m->in_helper ? 3 : 8)) {
   case 0:
      return extended(m, depth);
   case 1:
      return bit_field(m, depth);
   case 2:
      return m->wide->spec[random_below(m, AGX_COUNT(m->wide->spec))];
   case 3:
      return uniform_word(m, depth);
   case 4:
      return own_atomic(m, depth);
   case 5:
      return call(m, depth);
   case 6:
      return RESULT(SpvOpArrayLength, m->type[U32], m->in_var, 0);
   default:
      return RESULT(SpvOpLoad, m->type[U32], random_record_word(m, depth));
   }
}

uint32_t random_wide_int(struct maker *m, enum type type, unsigned depth)
{
   switch (random_below(m, 8)) {
   case 0:
   case 1:
      return vector_int(m, type, depth);
   case 2:
      return cast(m, type, depth);
   case 3:
      return clamped(m, type, depth);
   case 4:
      return mixed_shift(m, type, depth);
   case 5:
      if (!m->in_helper)
         return RESULT(SpvOpLoad, m->type[type], random_array_element(m, type, depth));
      return vector_int(m, type, depth);
   default:
      if (type == U32)
         return word_value(m, depth);
      return RESULT(SpvOpCopyObject, m->type[type], random_expression(m, type, depth));
   }
}

/* ---- floats -------------------------------------------------------------- */

/* A multiple of an eighth below 32 in size: products of two and their sums are exact. */
static uint32_t exact_float(struct maker *m, unsigned depth)
{
   uint32_t a = random_small_float(m, F32, random_expression(m, U32, depth));
   return random_below(m, 2) ? RESULT(SpvOpFNegate, m->type[F32], a) : a;
}

static uint32_t exact_vector(struct maker *m, uint32_t count, unsigned depth)
{
   uint32_t words[4];
   for (uint32_t i = 0; i < count; i++)
      words[i] = exact_float(m, i ? 0 : depth);
   return random_result(m, SpvOpCompositeConstruct, float_vector(m, count), count, words);
}

static uint32_t exact_matrix(struct maker *m, uint32_t columns, uint32_t rows)
{
   uint32_t words[4];
   for (uint32_t i = 0; i < columns; i++)
      words[i] = exact_vector(m, rows, 0);
   uint32_t matrix =
      random_result(m, SpvOpCompositeConstruct, matrix_type(m, columns, rows), columns, words);
   return matrix;
}

static uint32_t matrix_value(struct maker *m, unsigned depth)
{
   uint32_t columns = 2 + random_below(m, 3), rows = 2 + random_below(m, 3), t = m->type[F32];
   uint32_t a = random_below(m, 2) ? exact_matrix(m, columns, rows)
                                   : RESULT(SpvOpTranspose, matrix_type(m, columns, rows),
                                            exact_matrix(m, rows, columns));
   switch (random_below(m, 6)) {
   case 0: {
      uint32_t v =
         RESULT(SpvOpMatrixTimesVector, float_vector(m, rows), a, exact_vector(m, columns, depth));
      return RESULT(SpvOpCompositeExtract, t, v, random_below(m, rows));
   }
   case 1: {
      uint32_t v = exact_vector(m, rows, depth);
      v = RESULT(SpvOpVectorTimesMatrix, float_vector(m, columns), v, a);
      return RESULT(SpvOpCompositeExtract, t, v, random_below(m, columns));
   }
   case 2: {
      uint32_t inner = 2 + random_below(m, 3);
      uint32_t b = exact_matrix(m, inner, columns);
      uint32_t c = RESULT(SpvOpMatrixTimesMatrix, matrix_type(m, inner, rows), a, b);
      return RESULT(SpvOpCompositeExtract, t, c, random_below(m, inner), random_below(m, rows));
   }
   case 3: {
      uint32_t v = exact_vector(m, rows, depth), u = exact_vector(m, columns, 0);
      uint32_t c = RESULT(SpvOpOuterProduct, matrix_type(m, columns, rows), v, u);
      return RESULT(SpvOpCompositeExtract, t, c, random_below(m, columns), random_below(m, rows));
   }
   case 4:
      return GLSL(F32, GLSLstd450Determinant, exact_matrix(m, 2, 2));
   default: {
      uint32_t c =
         RESULT(SpvOpMatrixTimesScalar, matrix_type(m, columns, rows), a, exact_float(m, depth));
      return RESULT(SpvOpCompositeExtract, t, c, random_below(m, columns), random_below(m, rows));
   }
   }
}

static uint32_t parts_of_float(struct maker *m, unsigned depth)
{
   struct wide *w = m->wide;
   uint32_t t = m->type[F32], a = exact_float(m, depth);
   if (random_below(m, 2)) {
      if (!w->float_pair)
         w->float_pair = GLOBAL(SpvOpTypeStruct, t, t);
      uint32_t both = RESULT(SpvOpExtInst, w->float_pair, m->glsl, GLSLstd450ModfStruct, a);
      return RESULT(SpvOpCompositeExtract, t, both, random_below(m, 2));
   }
   if (!w->exp_pair)
      w->exp_pair = GLOBAL(SpvOpTypeStruct, t, m->type[U32]);
   uint32_t both = RESULT(SpvOpExtInst, w->exp_pair, m->glsl, GLSLstd450FrexpStruct, a);
   if (random_below(m, 2))
      return RESULT(SpvOpCompositeExtract, t, both, 0);
   uint32_t exponent = RESULT(SpvOpCompositeExtract, m->type[U32], both, 1);
   return RESULT(SpvOpConvertSToF, t, exponent);
}

static uint32_t float_value(struct maker *m, unsigned depth)
{
   uint32_t t = m->type[F32], count = 2 + random_below(m, 3);
   switch (random_below(m, 9)) {
   case 0: {
      uint32_t a = exact_vector(m, count, depth);
      return RESULT(SpvOpDot, t, a, exact_vector(m, count, 0));
   }
   case 1:
   case 2:
      return matrix_value(m, depth);
   case 3: {
      uint32_t a = exact_float(m, depth), b = exact_float(m, depth);
      return GLSL(F32, GLSLstd450Fma, a, b, exact_float(m, 0));
   }
   case 4:
      return parts_of_float(m, depth);
   case 5: {
      uint32_t by = random_constant(m, U32, random_below(m, 9) - 4u);
      return GLSL(F32, GLSLstd450Ldexp, exact_float(m, depth), by);
   }
   case 6: {
      uint32_t a = exact_vector(m, 3, depth);
      uint32_t cross = RESULT(SpvOpExtInst, float_vector(m, 3), m->glsl, GLSLstd450Cross, a,
                              exact_vector(m, 3, 0));
      return RESULT(SpvOpCompositeExtract, t, cross, random_below(m, 3));
   }
   case 7: {
      uint32_t a = exact_vector(m, 2, depth);
      uint32_t packed = RESULT(SpvOpExtInst, m->type[U32], m->glsl, GLSLstd450PackHalf2x16, a);
      uint32_t both =
         RESULT(SpvOpExtInst, float_vector(m, 2), m->glsl, GLSLstd450UnpackHalf2x16, packed);
      return RESULT(SpvOpCompositeExtract, t, both, random_below(m, 2));
   }
   default: {
      uint32_t a = exact_float(m, depth);
      return GLSL(F32, GLSLstd450Step, a, exact_float(m, depth));
   }
   }
}

/* Of two zeros either may come out: plus zero makes them one. */
uint32_t random_wide_float(struct maker *m, enum type type, unsigned depth)
{
   uint32_t value;
   if (type == F32) {
      value = float_value(m, depth);
   } else {
      uint32_t byte = RESULT(SpvOpBitwiseAnd, m->type[U32], random_expression(m, U32, depth),
                             random_constant(m, U32, 511));
      uint32_t around = RESULT(SpvOpISub, m->type[U32], byte, random_constant(m, U32, 256));
      value = RESULT(SpvOpConvertSToF, m->type[type], around);
   }
   return random_exact(m, RESULT(SpvOpFAdd, m->type[type], value, random_constant(m, type, 0)));
}

uint32_t random_wide_bool(struct maker *m, unsigned depth)
{
   enum type type = random_int_type(m);
   uint32_t count = 2 + random_below(m, 3);
   uint32_t a = random_vector_of(m, type, count, depth), b = random_vector_of(m, type, count, 0);
   uint32_t each = compared(m, type, count, a, b);
   if (random_below(m, 3) == 0)
      each = RESULT(SpvOpLogicalNot, bool_vector(m, count), each);
   return RESULT(random_below(m, 2) ? SpvOpAny : SpvOpAll, m->type[BOOL], each);
}

/* ---- lanes --------------------------------------------------------------- */

/* Each lane of the subgroup is here. */
static bool all_here(const struct maker *m)
{
   return m->depth <= 1 && m->loops == 0 && !m->has_left && !m->in_helper;
}

static uint32_t clustered(struct maker *m, enum type type, unsigned depth)
{
   static const SpvOp ops[] = {
      SpvOpGroupNonUniformIAdd,      SpvOpGroupNonUniformUMin,       SpvOpGroupNonUniformUMax,
      SpvOpGroupNonUniformSMax,      SpvOpGroupNonUniformSMin,       SpvOpGroupNonUniformBitwiseAnd,
      SpvOpGroupNonUniformBitwiseOr, SpvOpGroupNonUniformBitwiseXor, SpvOpGroupNonUniformIMul};
   SpvOp op = ops[random_below(m, AGX_COUNT(ops))];
   uint32_t scope = random_constant(m, U32, SpvScopeSubgroup);
   uint32_t a = random_expression(m, type, depth);
   if (random_below(m, 2))
      return RESULT(op, m->type[type], scope, random_below(m, 3), a);
   return RESULT(op, m->type[type], scope, SpvGroupOperationClusteredReduce, a,
                 random_constant(m, U32, 1u << random_below(m, 6)));
}

static uint32_t moved(struct maker *m, enum type type, unsigned depth)
{
   uint32_t t = m->type[U32], scope = random_constant(m, U32, SpvScopeSubgroup);
   uint32_t a = random_expression(m, type, depth);
   uint32_t by = random_constant(m, U32, random_below(m, 32));
   switch (random_below(m, 5)) {
   case 0:
      return RESULT(SpvOpGroupNonUniformShuffleXor, m->type[type], scope, a, by);
   case 1:
      return RESULT(SpvOpGroupNonUniformQuadSwap, m->type[type], scope, a,
                    random_constant(m, U32, random_below(m, 3)));
   case 2:
      return RESULT(SpvOpGroupNonUniformQuadBroadcast, m->type[type], scope, a,
                    random_constant(m, U32, random_below(m, 4)));
   default: {
      bool up = random_below(m, 2);
      uint32_t lane = RESULT(SpvOpBitwiseAnd, t, m->lid, random_constant(m, U32, 31));
      uint32_t got = RESULT(up ? SpvOpGroupNonUniformShuffleUp : SpvOpGroupNonUniformShuffleDown,
                            m->type[type], scope, a, by);
      uint32_t last = RESULT(SpvOpISub, t, random_constant(m, U32, 31), lane);
      uint32_t is_there = RESULT(SpvOpUGreaterThanEqual, m->type[BOOL], up ? lane : last, by);
      return RESULT(SpvOpSelect, m->type[type], is_there, got, a);
   }
   }
}

static uint32_t voted(struct maker *m, unsigned depth)
{
   static const SpvOp logic[] = {SpvOpGroupNonUniformLogicalAnd, SpvOpGroupNonUniformLogicalOr,
                                 SpvOpGroupNonUniformLogicalXor};
   uint32_t t = m->type[BOOL], scope = random_constant(m, U32, SpvScopeSubgroup);
   switch (random_below(m, 5)) {
   case 0:
      return RESULT(SpvOpGroupNonUniformElect, t, scope);
   case 1:
      return RESULT(random_below(m, 2) ? SpvOpGroupNonUniformAll : SpvOpGroupNonUniformAny, t,
                    scope, random_expression(m, BOOL, depth));
   case 2:
      return RESULT(SpvOpGroupNonUniformAllEqual, t, scope, random_expression(m, U32, depth));
   case 3: {
      uint32_t ballot =
         RESULT(SpvOpGroupNonUniformBallot, m->uvec4, scope, random_expression(m, BOOL, depth));
      if (random_below(m, 2))
         return RESULT(SpvOpGroupNonUniformInverseBallot, t, scope, ballot);
      return RESULT(SpvOpGroupNonUniformBallotBitExtract, t, scope, ballot,
                    random_small_index(m, 32, depth));
   }
   default:
      return RESULT(logic[random_below(m, 3)], t, scope, random_below(m, 3),
                    random_expression(m, BOOL, depth));
   }
}

uint32_t random_wide_lanes(struct maker *m, enum type type, unsigned depth)
{
   uint32_t t = m->type[U32], scope = random_constant(m, U32, SpvScopeSubgroup), word;
   switch (random_below(m, 5)) {
   case 0:
   case 1:
      return clustered(m, type, depth);
   case 2:
      return all_here(m) ? moved(m, type, depth) : clustered(m, type, depth);
   case 3:
      word = RESULT(SpvOpSelect, t, voted(m, depth), random_constant(m, U32, 1),
                    random_constant(m, U32, 0));
      break;
   default: {
      /* Some bit is set. */
      uint32_t ballot =
         RESULT(SpvOpGroupNonUniformBallot, m->uvec4, scope, random_constant(m, BOOL, 1));
      switch (random_below(m, 3)) {
      case 0:
         word = RESULT(SpvOpGroupNonUniformBallotFindLSB, t, scope, ballot);
         break;
      case 1:
         word = RESULT(SpvOpGroupNonUniformBallotFindMSB, t, scope, ballot);
         break;
      default:
         word = RESULT(SpvOpGroupNonUniformBallotBitCount, t, scope, random_below(m, 3), ballot);
         break;
      }
      break;
   }
   }
   return random_convert_int(m, type, U32, word);
}
