/* SPDX-License-Identifier: MIT
 *
 * Rarer instructions of random kernels: vectors of all kinds, uniform buffers and push
 * constants, atomics, records and arrays of narrow elements, calls with pointers, jumps out of
 * anything, matrices, and the rest of the operations between lanes.
 */
#include <string.h>

#include "maker.h"

#define ARRAY_ELEMENTS 5u
#define RECORD_WORDS   3u
#define UNIFORM_VECS   32u /* of four words, then as many single words, 16 bytes apart */
#define PUSH_WORDS     RANDOM_PUSH_WORDS
#define SHARED_SUMS    4u
#define VECTORS        2u

struct wide {
   uint32_t bvec[5], fvec[5], matrix[5][5], pair, float_pair, exp_pair;
   uint32_t uniform_var, uniform_struct, uniform_vecs, uniform_words;
   uint32_t push_var, push_struct, push_words;
   uint32_t ptr_uniform_vec, ptr_uniform_word, ptr_push_word;
   uint32_t shared_type, shared_array, shared_var, ptr_shared, sums_var;
   enum type shared_element;
   uint32_t shared_count;
   uint32_t call;
   uint32_t vector_var[5][VECTORS], array_var[U64 + 1], array_ptr[U64 + 1];
   uint32_t record_type, record_vars[2], record_array;
   uint32_t spec[3];
};

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
static uint32_t small_index(struct maker *m, uint32_t bound, unsigned depth)
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
      uint32_t pointer = RESULT(SpvOpAccessChain, w->ptr_uniform_word, w->uniform_var,
                                random_constant(m, U32, 1), small_index(m, UNIFORM_VECS, depth));
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
      uint32_t vec = small_index(m, UNIFORM_VECS, depth);
      uint32_t pointer = RESULT(SpvOpAccessChain, w->ptr_uniform_word, w->uniform_var,
                                random_constant(m, U32, 0), vec, small_index(m, 4, depth));
      return RESULT(SpvOpLoad, t, pointer);
   }
   default: {
      uint32_t index = random_below(m, 2) ? small_index(m, PUSH_WORDS, depth)
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
   uint32_t index = RESULT(SpvOpIAdd, t, base, small_index(m, RANDOM_OUT_WORDS, 0));
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
static void tail_atomic(struct maker *m)
{
   static const SpvOp ops[] = {SpvOpAtomicIAdd, SpvOpAtomicUMax, SpvOpAtomicXor,  SpvOpAtomicOr,
                               SpvOpAtomicSMin, SpvOpAtomicISub, SpvOpAtomicSMax, SpvOpAtomicIAdd};
   uint32_t at = random_below(m, AGX_COUNT(ops)), value = random_expression(m, U32, 2);
   uint32_t pointer = RESULT(SpvOpAccessChain, m->ptr_out, m->out_var, random_constant(m, U32, 0),
                             random_constant(m, U32, RANDOM_TAIL_AT + at));
   RESULT(ops[at], m->type[U32], pointer, random_constant(m, U32, SpvScopeDevice),
          random_constant(m, U32, 0), value);
}

static uint32_t array_element(struct maker *m, enum type type, unsigned depth)
{
   return RESULT(SpvOpAccessChain, m->wide->array_ptr[type], m->wide->array_var[type],
                 small_index(m, ARRAY_ELEMENTS, depth));
}

static uint32_t record_word(struct maker *m, unsigned depth)
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
                    small_index(m, 3, depth));
   default:
      return RESULT(SpvOpAccessChain, m->ptr_private, record, random_constant(m, U32, 2),
                    small_index(m, RECORD_WORDS, depth));
   }
}

static uint32_t call(struct maker *m, unsigned depth)
{
   return RESULT(SpvOpFunctionCall, m->type[U32], m->wide->call, random_expression(m, U32, depth),
                 random_leaf(m, U32), m->variable[U32][random_below(m, VARIABLES)]);
}

/* ---- vectors ------------------------------------------------------------- */

static uint32_t vector_of(struct maker *m, enum type type, uint32_t count, unsigned depth)
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

static uint32_t vector_value(struct maker *m, enum type type, uint32_t count, unsigned depth)
{
   static const SpvOp binary[] = {SpvOpIAdd,       SpvOpISub,      SpvOpIMul,
                                  SpvOpBitwiseAnd, SpvOpBitwiseOr, SpvOpBitwiseXor};
   static const SpvOp shifts[] = {SpvOpShiftLeftLogical, SpvOpShiftRightLogical,
                                  SpvOpShiftRightArithmetic};
   static const uint32_t choices[] = {GLSLstd450UMin, GLSLstd450UMax, GLSLstd450SMin,
                                      GLSLstd450SMax};
   uint32_t t = random_vector_type(m, type, count);
   uint32_t a = vector_of(m, type, count, depth), b = vector_of(m, type, count, 0);
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
      return RESULT(SpvOpVectorInsertDynamic, t, a, element, small_index(m, count, depth));
   }
   case 5:
      return RESULT(SpvOpCompositeInsert, t, random_leaf(m, type), a, random_below(m, count));
   case 6: {
      uint32_t other = 2 + random_below(m, 3), words[6] = {a};
      words[1] = vector_of(m, type, other, 0);
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
   uint32_t value = vector_value(m, type, count, depth);
   if (random_below(m, 2))
      return RESULT(SpvOpVectorExtractDynamic, t, value, small_index(m, count, depth));
   return RESULT(SpvOpCompositeExtract, t, value, random_below(m, count));
}

/* The same bits as another type: words of vectors and vectors of words. */
static uint32_t cast(struct maker *m, enum type type, unsigned depth)
{
   if (type == U64) {
      uint32_t a = vector_of(m, U32, 2, depth);
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
      uint32_t a = vector_of(m, part, count, depth);
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
   uint32_t offset = small_index(m, 17, depth), count = small_index(m, 17, depth);
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
      return RESULT(SpvOpLoad, m->type[U32], record_word(m, depth));
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
         return RESULT(SpvOpLoad, m->type[type], array_element(m, type, depth));
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
   uint32_t a = vector_of(m, type, count, depth), b = vector_of(m, type, count, 0);
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
                    small_index(m, 32, depth));
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
   for (unsigned i = 0; i < cases + has_default; i++) {
      random_open_block(m, labels[i]);
      random_statements(m, 1);
      EMIT(SpvOpBranch, merge);
   }
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
      EMIT(SpvOpStore, array_element(m, type, 1), value);
      return;
   case 1:
      value = random_expression(m, U32, 2);
      EMIT(SpvOpStore, record_word(m, 1), value);
      return;
   case 2:
      value = RESULT(SpvOpLoad, w->record_type, w->record_vars[0]);
      value = RESULT(SpvOpCompositeInsert, w->record_type, random_leaf(m, U32), value, 2,
                     random_below(m, RECORD_WORDS));
      EMIT(SpvOpStore, w->record_vars[1], value);
      return;
   case 3:
      EMIT(SpvOpStore, var, vector_value(m, U32, count, 1));
      return;
   default:
      value = random_expression(m, U32, 2);
      EMIT(SpvOpStore, RESULT(SpvOpAccessChain, m->ptr_private, var, small_index(m, count, 1)),
           value);
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
      tail_atomic(m);
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
   uint32_t given = random_expression(m, U32, 1), at = small_index(m, SHARED_SUMS, 1);
   uint32_t value = w->shared_count > 1 ? vector_of(m, w->shared_element, w->shared_count, 1)
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
      RESULT(SpvOpAccessChain, m->ptr_shared, w->sums_var, small_index(m, SHARED_SUMS, 1));
   EMIT(SpvOpStore, m->variable[U32][random_below(m, VARIABLES)], RESULT(SpvOpLoad, t, pointer));
   pointer =
      RESULT(SpvOpAccessChain, w->ptr_shared, w->shared_var, small_index(m, RANDOM_THREADS, 1));
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
