/* SPDX-License-Identifier: MIT */
#include "kernel.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>
#include <string.h>

#include "base/util.h"

#define MAX_CONSTANTS 1024
#define MAX_DECORATED 8192
#define VARIABLES     3 /* of each type */
#define PRIVATE_WORDS 8

enum type {
   BOOL,
   U8,
   U16,
   U32,
   U64,
   F16,
   F32,
   TYPES
};
static const uint8_t widths[TYPES] = {1, 8, 16, 32, 64, 16, 32};
static const uint32_t needs[TYPES] = {
   0, RANDOM_INT8, RANDOM_INT16, 0, RANDOM_INT64, RANDOM_FLOAT16, RANDOM_FLOAT32};

/* Elements in memory: scalars, and vectors of that many. */
#define SHAPES 3
static const uint32_t shape_counts[SHAPES] = {1, 2, 4};

struct section {
   uint32_t words[RANDOM_MAX_WORDS];
   uint32_t count;
};

struct maker {
   struct agx_test_rng rng;
   uint32_t features;
   uint32_t next_id;
   struct section globals, main, helper, *to;
   struct {
      enum type type;
      uint64_t value;
      uint32_t id;
   } constants[MAX_CONSTANTS];
   uint32_t constant_count;
   uint32_t decorated[MAX_DECORATED], decorated_count;
   uint32_t type[TYPES], glsl;
   uint32_t void_type, uvec3, uvec4, private_array;
   uint32_t in_var, out_var, shared_var, gid_var, lid_var;
   uint32_t ptr_in, ptr_out, ptr_shared, ptr_private, ptr_input_word;
   uint32_t variable[TYPES][VARIABLES], array_var, counter_ptr;
   uint32_t alias_var[U64 + 1][SHAPES], alias_ptr[U64 + 1][SHAPES], alias_type[U64 + 1][SHAPES];
   uint32_t gid, lid, helper_function;
   uint32_t params[2];
   bool in_helper;
   unsigned depth, loops;
   uint32_t label; /* of the open block */
   uint32_t continue_label, break_label;
   unsigned budget;
};

static uint32_t below(struct maker *m, uint32_t bound)
{
   return (uint32_t)agx_test_random_below(&m->rng, bound);
}

static bool has(const struct maker *m, enum type type)
{
   return (m->features & needs[type]) == needs[type];
}

static bool is_float(enum type type)
{
   return type == F16 || type == F32;
}

/* ---- words -------------------------------------------------------------- */

static uint32_t new_id(struct maker *m)
{
   return m->next_id++;
}

static void put(struct section *to, SpvOp op, unsigned count, const uint32_t *words)
{
   assert_true(to->count + count + 1 <= RANDOM_MAX_WORDS);
   to->words[to->count++] = (count + 1) << SpvWordCountShift | op;
   if (count)
      memcpy(&to->words[to->count], words, count * 4);
   to->count += count;
}

#define PUT(to, op, ...)                                                                           \
   put((to), (op), AGX_COUNT(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})
#define EMIT(op, ...) PUT(m->to, op, __VA_ARGS__)

/* An instruction with a result of that type id; more words follow. */
#define RESULT(op, type_id, ...)                                                                   \
   result_of(m, op, type_id, AGX_COUNT(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})
static uint32_t result_of(struct maker *m, SpvOp op, uint32_t type_id, unsigned count,
                          const uint32_t *words)
{
   uint32_t all[16] = {type_id, new_id(m)};
   memcpy(all + 2, words, count * 4);
   put(m->to, op, count + 2, all);
   return all[1];
}

static uint32_t global(struct maker *m, SpvOp op, unsigned count, const uint32_t *words)
{
   uint32_t all[8] = {new_id(m)};
   memcpy(all + 1, words, count * 4);
   put(&m->globals, op, count + 1, all);
   return all[0];
}
#define GLOBAL(op, ...)                                                                            \
   global(m, op, AGX_COUNT(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})

static uint32_t constant(struct maker *m, enum type type, uint64_t value)
{
   value &= widths[type] == 64 ? ~0ull : (1ull << widths[type]) - 1;
   for (uint32_t i = 0; i < m->constant_count; i++)
      if (m->constants[i].type == type && m->constants[i].value == value)
         return m->constants[i].id;
   uint32_t id = new_id(m);
   if (type == BOOL)
      PUT(&m->globals, value ? SpvOpConstantTrue : SpvOpConstantFalse, m->type[BOOL], id);
   else if (type == U64)
      PUT(&m->globals, SpvOpConstant, m->type[type], id, (uint32_t)value, (uint32_t)(value >> 32));
   else
      PUT(&m->globals, SpvOpConstant, m->type[type], id, (uint32_t)value);
   assert_true(m->constant_count < MAX_CONSTANTS);
   m->constants[m->constant_count].type = type;
   m->constants[m->constant_count].value = value;
   m->constants[m->constant_count++].id = id;
   return id;
}

/* ---- expressions -------------------------------------------------------- */

static uint32_t expression(struct maker *m, enum type type, unsigned depth);

static enum type any_type(struct maker *m, bool with_bool)
{
   for (;;) {
      enum type type = (enum type)below(m, TYPES);
      if (has(m, type) && (with_bool || type != BOOL))
         return type;
   }
}

static enum type any_int(struct maker *m)
{
   enum type type;
   do
      type = any_type(m, false);
   while (is_float(type));
   return type;
}

static uint32_t glsl(struct maker *m, enum type type, uint32_t op, unsigned count,
                     const uint32_t *args)
{
   uint32_t words[8] = {m->glsl, op};
   memcpy(words + 2, args, count * 4);
   return result_of(m, SpvOpExtInst, m->type[type], count + 2, words);
}
#define GLSL(type, op, ...)                                                                        \
   glsl(m, type, op, AGX_COUNT(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})

static uint32_t exact(struct maker *m, uint32_t id)
{
   assert_true(m->decorated_count < MAX_DECORATED);
   m->decorated[m->decorated_count++] = id;
   return id;
}

/* Some bits that matter: small numbers, ones at both ends, anything. */
static uint64_t any_bits(struct maker *m)
{
   switch (below(m, 5)) {
   case 0:
      return below(m, 9);
   case 1:
      return 0 - (uint64_t)below(m, 9);
   case 2:
      return 1ull << below(m, 64);
   case 3:
      return (1ull << below(m, 64)) - 1;
   default:
      return agx_test_random(&m->rng);
   }
}

static uint64_t any_float(struct maker *m, enum type type)
{
   static const uint32_t f32[] = {0,          0x3f800000, 0xbf800000, 0x3f000000, 0x40400000,
                                  0xc1200000, 0x3e000000, 0x42c80000, 0x80000000};
   static const uint32_t f16[] = {0,      0x3c00, 0xbc00, 0x3800, 0x4200,
                                  0xc900, 0x3000, 0x5640, 0x8000};
   return type == F32 ? f32[below(m, AGX_COUNT(f32))] : f16[below(m, AGX_COUNT(f16))];
}

static uint32_t input_word(struct maker *m, uint32_t index)
{
   uint32_t masked =
      RESULT(SpvOpBitwiseAnd, m->type[U32], index, constant(m, U32, RANDOM_IN_WORDS - 1));
   uint32_t pointer = RESULT(SpvOpAccessChain, m->ptr_in, m->in_var, constant(m, U32, 0), masked);
   return RESULT(SpvOpLoad, m->type[U32], pointer);
}

/* Any integer as that integer type. */
static uint32_t convert_int(struct maker *m, enum type to, enum type from, uint32_t id)
{
   if (to == from)
      return id;
   SpvOp op = below(m, 2) ? SpvOpUConvert : SpvOpSConvert;
   return RESULT(op, m->type[to], id);
}

/* A float that is exact and small, of 8 bits of an integer. */
static uint32_t small_float(struct maker *m, enum type type, uint32_t word)
{
   uint32_t byte = RESULT(SpvOpBitwiseAnd, m->type[U32], word, constant(m, U32, 255));
   uint32_t whole = RESULT(SpvOpConvertUToF, m->type[type], byte);
   uint32_t eighth = constant(m, type, type == F32 ? 0x3e000000 : 0x3000);
   return exact(m, RESULT(SpvOpFMul, m->type[type], whole, eighth));
}

static uint32_t leaf(struct maker *m, enum type type)
{
   if (m->in_helper && type == U32 && below(m, 2))
      return m->params[below(m, 2)];
   if (!m->in_helper && below(m, 2))
      return RESULT(SpvOpLoad, m->type[type], m->variable[type][below(m, VARIABLES)]);
   if (type == BOOL)
      return constant(m, BOOL, below(m, 2));
   if (below(m, 2))
      return constant(m, type, is_float(type) ? any_float(m, type) : any_bits(m));
   uint32_t word = m->in_helper ? m->params[0] : below(m, 2) ? m->gid : m->lid;
   if (below(m, 2))
      word = input_word(m, word);
   return is_float(type) ? small_float(m, type, word) : convert_int(m, type, U32, word);
}

static uint32_t shift_amount(struct maker *m, enum type type, unsigned depth)
{
   uint32_t amount = expression(m, type, depth);
   return RESULT(SpvOpBitwiseAnd, m->type[type], amount, constant(m, type, widths[type] - 1u));
}

static uint32_t positive(struct maker *m, enum type type, unsigned depth)
{
   uint32_t any = expression(m, type, depth);
   return RESULT(SpvOpBitwiseAnd, m->type[type], any,
                 constant(m, type, (1ull << (widths[type] - 1)) - 1));
}

/* Divisors are positive, so that no quotient overflows; remainders of what is negative are
 * undefined in Vulkan. */
static uint32_t division(struct maker *m, enum type type, unsigned depth)
{
   static const SpvOp ops[] = {SpvOpUDiv, SpvOpUMod, SpvOpSDiv, SpvOpSRem, SpvOpSMod};
   SpvOp op = ops[below(m, AGX_COUNT(ops))];
   uint32_t t = m->type[type], divisor;
   uint32_t dividend =
      op == SpvOpSRem || op == SpvOpSMod ? positive(m, type, depth) : expression(m, type, depth);
   if (below(m, 2))
      divisor = constant(m, type, (any_bits(m) & ((1ull << (widths[type] - 1)) - 1)) | 1);
   else
      divisor = RESULT(SpvOpBitwiseOr, t, positive(m, type, depth), constant(m, type, 1));
   return RESULT(op, t, dividend, divisor);
}

static uint32_t float_to_int(struct maker *m, enum type type, unsigned depth)
{
   enum type from = has(m, F32) ? F32 : F16;
   uint32_t value = expression(m, from, depth);
   uint32_t zero = constant(m, from, 0);
   uint32_t top = constant(m, from, from == F32 ? 0x42c80000 : 0x5640); /* 100 */
   uint32_t low = GLSL(from, GLSLstd450NMax, value, zero);
   uint32_t both = GLSL(from, GLSLstd450NMin, low, top);
   return RESULT(below(m, 2) ? SpvOpConvertFToU : SpvOpConvertFToS, m->type[type], both);
}

static uint32_t word_op(struct maker *m, unsigned depth)
{
   uint32_t a = expression(m, U32, depth), t = m->type[U32];
   switch (below(m, 7)) {
   case 0:
      return RESULT(SpvOpBitReverse, t, a);
   case 1:
      return RESULT(SpvOpBitCount, t, a);
   case 2:
      return GLSL(U32, GLSLstd450FindUMsb, a);
   case 3:
      return GLSL(U32, GLSLstd450FindILsb, a);
   case 4:
      return RESULT(below(m, 2) ? SpvOpBitFieldUExtract : SpvOpBitFieldSExtract, t, a,
                    constant(m, U32, below(m, 16)), constant(m, U32, below(m, 17)));
   case 5:
      return RESULT(SpvOpBitFieldInsert, t, a, expression(m, U32, depth),
                    constant(m, U32, below(m, 16)), constant(m, U32, below(m, 17)));
   default:
      return input_word(m, a);
   }
}

static uint32_t vector_op(struct maker *m, unsigned depth)
{
   uint32_t e[4];
   for (unsigned i = 0; i < 4; i++)
      e[i] = i < 2 ? expression(m, U32, depth) : leaf(m, U32);
   uint32_t a = RESULT(SpvOpCompositeConstruct, m->uvec4, e[0], e[1], e[2], e[3]);
   uint32_t b = RESULT(SpvOpVectorShuffle, m->uvec4, a, a, below(m, 8), below(m, 8), below(m, 8),
                       below(m, 8));
   static const SpvOp ops[] = {SpvOpIAdd, SpvOpIMul, SpvOpBitwiseXor, SpvOpISub};
   uint32_t sum = RESULT(ops[below(m, AGX_COUNT(ops))], m->uvec4, a, b);
   if (below(m, 2))
      return RESULT(SpvOpCompositeExtract, m->type[U32], sum, below(m, 4));
   uint32_t index =
      RESULT(SpvOpBitwiseAnd, m->type[U32], expression(m, U32, depth), constant(m, U32, 3));
   return RESULT(SpvOpVectorExtractDynamic, m->type[U32], sum, index);
}

static uint32_t private_word(struct maker *m, unsigned depth)
{
   uint32_t index = RESULT(SpvOpBitwiseAnd, m->type[U32], expression(m, U32, depth),
                           constant(m, U32, PRIVATE_WORDS - 1));
   return RESULT(SpvOpAccessChain, m->ptr_private, m->array_var, index);
}

static uint32_t subgroup_op(struct maker *m, enum type type, unsigned depth)
{
   static const SpvOp reduces[] = {SpvOpGroupNonUniformIAdd, SpvOpGroupNonUniformUMax,
                                   SpvOpGroupNonUniformSMin, SpvOpGroupNonUniformBitwiseXor,
                                   SpvOpGroupNonUniformIMul};
   uint32_t a = expression(m, type, depth), scope = constant(m, U32, SpvScopeSubgroup);
   switch (below(m, 5)) {
   case 0:
      return RESULT(SpvOpGroupNonUniformBroadcastFirst, m->type[type], scope, a);
   case 1:
      if (m->depth > 1) /* the lane might be elsewhere */
         return a;
      if (below(m, 2))
         return RESULT(SpvOpGroupNonUniformBroadcast, m->type[type], scope, a,
                       constant(m, U32, below(m, 32)));
      return RESULT(
         SpvOpGroupNonUniformShuffle, m->type[type], scope, a,
         RESULT(SpvOpBitwiseAnd, m->type[U32], expression(m, U32, depth), constant(m, U32, 31)));
   case 2: {
      uint32_t ballot =
         RESULT(SpvOpGroupNonUniformBallot, m->uvec4, scope, expression(m, BOOL, depth));
      return convert_int(m, type, U32, RESULT(SpvOpCompositeExtract, m->type[U32], ballot, 0));
   }
   default:
      return RESULT(reduces[below(m, AGX_COUNT(reduces))], m->type[type], scope, below(m, 3), a);
   }
}

/* A piece of the thread's own output, as an element of that type and shape; `at` of those that
 * fit, or one that is computed. */
static uint32_t own_element(struct maker *m, enum type type, unsigned shape, uint32_t at,
                            bool is_computed)
{
   uint32_t elements = RANDOM_OUT_WORDS * 32 / (widths[type] * shape_counts[shape]);
   uint32_t t = m->type[U32], offset = constant(m, U32, at % elements);
   if (is_computed)
      offset = RESULT(SpvOpBitwiseAnd, t, expression(m, U32, 1), constant(m, U32, elements - 1));
   uint32_t base = RESULT(SpvOpIMul, t, m->gid, constant(m, U32, elements));
   return RESULT(SpvOpAccessChain, m->alias_ptr[type][shape], m->alias_var[type][shape],
                 constant(m, U32, 0), RESULT(SpvOpIAdd, t, base, offset));
}

static uint32_t memory_load(struct maker *m, enum type type)
{
   unsigned shape = below(m, SHAPES);
   uint32_t pointer = own_element(m, type, shape, below(m, 64), below(m, 3) == 0);
   uint32_t value = RESULT(SpvOpLoad, m->alias_type[type][shape], pointer);
   if (shape == 0)
      return value;
   return RESULT(SpvOpCompositeExtract, m->type[type], value, below(m, shape_counts[shape]));
}

/* A few neighbours, of which some are read as well. */
static void memory_stores(struct maker *m)
{
   enum type type = any_int(m);
   unsigned shape = below(m, SHAPES), count = 1 + below(m, 4);
   uint32_t at = below(m, 64);
   bool is_computed = below(m, 3) == 0;
   for (unsigned i = 0; i < count; i++) {
      uint32_t words[6] = {0}, value = 0;
      for (unsigned e = 0; e < shape_counts[shape]; e++)
         words[e] = value = e ? leaf(m, type) : expression(m, type, 1);
      if (shape)
         value = result_of(m, SpvOpCompositeConstruct, m->alias_type[type][shape],
                           shape_counts[shape], words);
      EMIT(SpvOpStore, own_element(m, type, shape, at + i, is_computed), value);
      if (below(m, 3) == 0)
         EMIT(SpvOpStore, m->variable[type][below(m, VARIABLES)], memory_load(m, type));
   }
}

static uint32_t int_op(struct maker *m, enum type type, unsigned depth)
{
   static const SpvOp binary[] = {SpvOpIAdd,      SpvOpISub,       SpvOpIMul, SpvOpBitwiseAnd,
                                  SpvOpBitwiseOr, SpvOpBitwiseXor, SpvOpIAdd, SpvOpISub};
   static const SpvOp shifts[] = {SpvOpShiftLeftLogical, SpvOpShiftRightLogical,
                                  SpvOpShiftRightArithmetic};
   static const uint32_t choices[] = {GLSLstd450UMin, GLSLstd450UMax, GLSLstd450SMin,
                                      GLSLstd450SMax};
   uint32_t t = m->type[type];
   if (m->features & RANDOM_MEMORY && !m->in_helper && below(m, 10) == 0)
      return memory_load(m, type);
   switch (below(m, 14)) {
   case 0:
      return RESULT(below(m, 2) ? SpvOpNot : SpvOpSNegate, t, expression(m, type, depth));
   case 1:
      return RESULT(shifts[below(m, 3)], t, expression(m, type, depth),
                    shift_amount(m, type, depth));
   case 2:
      return division(m, type, depth);
   case 3: {
      uint32_t a = expression(m, type, depth);
      return GLSL(type, choices[below(m, 4)], a, expression(m, type, depth));
   }
   case 4:
      return RESULT(SpvOpSelect, t, expression(m, BOOL, depth), expression(m, type, depth),
                    leaf(m, type));
   case 5: {
      enum type from = any_int(m);
      return convert_int(m, type, from, expression(m, from, depth));
   }
   case 6:
      if (has(m, F32) || has(m, F16))
         return float_to_int(m, type, depth);
      break;
   case 7:
      if (type == U32)
         return word_op(m, depth);
      break;
   case 8:
      if (type == U32)
         return vector_op(m, depth);
      break;
   case 9:
      if (type == U32 && !m->in_helper)
         return RESULT(SpvOpLoad, t, private_word(m, depth));
      break;
   case 10:
      if (m->features & RANDOM_SUBGROUP && !m->in_helper && type != U8)
         return subgroup_op(m, type, depth);
      break;
   case 11:
      if (type == U32 && !m->in_helper)
         return RESULT(SpvOpFunctionCall, t, m->helper_function, expression(m, U32, depth),
                       leaf(m, U32));
      break;
   default:
      break;
   }
   uint32_t a = expression(m, type, depth);
   return RESULT(binary[below(m, AGX_COUNT(binary))], t, a, expression(m, type, depth));
}

static uint32_t float_op(struct maker *m, enum type type, unsigned depth)
{
   static const SpvOp binary[] = {SpvOpFAdd, SpvOpFSub, SpvOpFMul};
   static const uint32_t unary[] = {GLSLstd450FAbs, GLSLstd450Floor,     GLSLstd450Trunc,
                                    GLSLstd450Ceil, GLSLstd450RoundEven, GLSLstd450FSign};
   uint32_t t = m->type[type], a;
   switch (below(m, 8)) {
   case 0:
      return RESULT(SpvOpFNegate, t, expression(m, type, depth));
   case 1:
      return GLSL(type, unary[below(m, AGX_COUNT(unary))], expression(m, type, depth));
   case 2:
      a = expression(m, type, depth);
      a = GLSL(type, below(m, 2) ? GLSLstd450NMin : GLSLstd450NMax, a, expression(m, type, depth));
      /* Of two zeros either may come out: plus zero makes them one. */
      return exact(m, RESULT(SpvOpFAdd, t, a, constant(m, type, 0)));
   case 3:
      return RESULT(SpvOpSelect, t, expression(m, BOOL, depth), expression(m, type, depth),
                    leaf(m, type));
   case 4:
      if (has(m, F16) && has(m, F32))
         return RESULT(SpvOpFConvert, t, expression(m, type == F16 ? F32 : F16, depth));
      break;
   case 5:
      return small_float(m, type, expression(m, U32, depth));
   default:
      break;
   }
   a = expression(m, type, depth);
   return exact(m, RESULT(binary[below(m, 3)], t, a, expression(m, type, depth)));
}

static uint32_t bool_op(struct maker *m, unsigned depth)
{
   static const SpvOp ints[] = {SpvOpIEqual,         SpvOpINotEqual,         SpvOpULessThan,
                                SpvOpSLessThan,      SpvOpUGreaterThanEqual, SpvOpSGreaterThan,
                                SpvOpULessThanEqual, SpvOpSLessThanEqual};
   static const SpvOp floats[] = {SpvOpFOrdEqual, SpvOpFUnordNotEqual, SpvOpFOrdLessThan,
                                  SpvOpFOrdGreaterThanEqual, SpvOpFUnordLessThan};
   static const SpvOp logic[] = {SpvOpLogicalAnd, SpvOpLogicalOr, SpvOpLogicalNotEqual,
                                 SpvOpLogicalEqual};
   uint32_t t = m->type[BOOL], a;
   if (below(m, 5) == 0)
      return RESULT(SpvOpLogicalNot, t, expression(m, BOOL, depth));
   if (below(m, 3) == 0) {
      a = expression(m, BOOL, depth);
      return RESULT(logic[below(m, 4)], t, a, expression(m, BOOL, depth));
   }
   enum type type = any_type(m, false);
   a = expression(m, type, depth);
   if (is_float(type))
      return RESULT(floats[below(m, AGX_COUNT(floats))], t, a, expression(m, type, depth));
   return RESULT(ints[below(m, AGX_COUNT(ints))], t, a, expression(m, type, depth));
}

static uint32_t expression(struct maker *m, enum type type, unsigned depth)
{
   if (depth == 0 || m->budget == 0)
      return leaf(m, type);
   m->budget--;
   return type == BOOL ? bool_op(m, depth - 1)
                       : (is_float(type) ? float_op : int_op)(m, type, depth - 1);
}

/* ---- statements --------------------------------------------------------- */

static void statements(struct maker *m, unsigned count);

static void open_block(struct maker *m, uint32_t label)
{
   EMIT(SpvOpLabel, label);
   m->label = label;
}

/* A word that tells all bits of a value, the same for all NaNs. */
static uint32_t word_of(struct maker *m, enum type type, uint32_t id)
{
   uint32_t t = m->type[U32];
   if (type == BOOL)
      return RESULT(SpvOpSelect, t, id, constant(m, U32, 1), constant(m, U32, 0));
   if (is_float(type)) {
      uint32_t wide = type == F32 ? id : RESULT(SpvOpFConvert, m->type[F32], id);
      uint32_t nan = RESULT(SpvOpIsNan, m->type[BOOL], wide);
      uint32_t bits = RESULT(SpvOpBitcast, t, wide);
      if (!(m->features & RANDOM_ZEROS)) { /* either may come out */
         uint32_t zero = RESULT(SpvOpFOrdEqual, m->type[BOOL], wide, constant(m, F32, 0));
         bits = RESULT(SpvOpSelect, t, zero, constant(m, U32, 0), bits);
      }
      return RESULT(SpvOpSelect, t, nan, constant(m, U32, 0x7fc00000), bits);
   }
   if (type == U64) {
      uint32_t high = RESULT(SpvOpShiftRightLogical, m->type[U64], id, constant(m, U64, 32));
      uint32_t folded = RESULT(SpvOpBitwiseXor, m->type[U64], id, high);
      return RESULT(SpvOpUConvert, t, folded);
   }
   return type == U32 ? id : RESULT(SpvOpUConvert, t, id);
}

static void output(struct maker *m, uint32_t slot, uint32_t word)
{
   uint32_t base = RESULT(SpvOpIMul, m->type[U32], m->gid, constant(m, U32, RANDOM_OUT_WORDS));
   uint32_t index = RESULT(SpvOpIAdd, m->type[U32], base, constant(m, U32, slot));
   uint32_t pointer = RESULT(SpvOpAccessChain, m->ptr_out, m->out_var, constant(m, U32, 0), index);
   EMIT(SpvOpStore, pointer, word);
}

static void assign(struct maker *m)
{
   enum type type = any_type(m, true);
   uint32_t value = expression(m, type, 1 + below(m, 3));
   EMIT(SpvOpStore, m->variable[type][below(m, VARIABLES)], value);
}

static void branch_if(struct maker *m)
{
   uint32_t condition = expression(m, BOOL, 2);
   uint32_t yes = new_id(m), no = below(m, 2) ? new_id(m) : 0, merge = new_id(m);
   EMIT(SpvOpSelectionMerge, merge, 0);
   EMIT(SpvOpBranchConditional, condition, yes, no ? no : merge);
   open_block(m, yes);
   statements(m, 1 + below(m, 3));
   EMIT(SpvOpBranch, merge);
   if (no) {
      open_block(m, no);
      statements(m, 1 + below(m, 2));
      EMIT(SpvOpBranch, merge);
   }
   open_block(m, merge);
}

static void branch_switch(struct maker *m)
{
   uint32_t selector =
      RESULT(SpvOpBitwiseAnd, m->type[U32], expression(m, U32, 2), constant(m, U32, 3));
   uint32_t merge = new_id(m), labels[4];
   unsigned cases = 1 + below(m, 3);
   for (unsigned i = 0; i <= cases; i++)
      labels[i] = new_id(m);
   uint32_t words[16] = {selector, labels[cases]};
   for (unsigned i = 0; i < cases; i++) {
      words[2 + 2 * i] = i;
      words[3 + 2 * i] = labels[i];
   }
   EMIT(SpvOpSelectionMerge, merge, 0);
   put(m->to, SpvOpSwitch, 2 + 2 * cases, words);
   for (unsigned i = 0; i <= cases; i++) {
      open_block(m, labels[i]);
      statements(m, 1 + below(m, 2));
      EMIT(SpvOpBranch, i < cases && below(m, 3) == 0 ? labels[i + 1] : merge);
   }
   open_block(m, merge);
}

/* A jump out of the loop or to its end in a block of its own. */
static void leave(struct maker *m)
{
   uint32_t yes = new_id(m), merge = new_id(m), condition = expression(m, BOOL, 2);
   EMIT(SpvOpSelectionMerge, merge, 0);
   EMIT(SpvOpBranchConditional, condition, yes, merge);
   open_block(m, yes);
   EMIT(SpvOpBranch, below(m, 2) ? m->break_label : m->continue_label);
   open_block(m, merge);
}

static void loop(struct maker *m)
{
   uint32_t header = new_id(m), test = new_id(m), body = new_id(m), merge = new_id(m);
   uint32_t next = new_id(m), counter = new_id(m), stepped = new_id(m), before = m->label;
   uint32_t outer_break = m->break_label, outer_continue = m->continue_label;
   uint32_t limit = constant(m, U32, 1 + below(m, 6));
   if (below(m, 2))
      limit = RESULT(SpvOpBitwiseAnd, m->type[U32], expression(m, U32, 1), constant(m, U32, 7));
   EMIT(SpvOpBranch, header);
   EMIT(SpvOpLabel, header);
   EMIT(SpvOpPhi, m->type[U32], counter, constant(m, U32, 0), before, stepped, next);
   EMIT(SpvOpLoopMerge, merge, next, 0);
   EMIT(SpvOpBranch, test);
   open_block(m, test);
   uint32_t condition = RESULT(SpvOpULessThan, m->type[BOOL], counter, limit);
   EMIT(SpvOpBranchConditional, condition, body, merge);
   open_block(m, body);
   m->break_label = merge;
   m->continue_label = next;
   m->loops++;
   EMIT(SpvOpStore, m->variable[U32][below(m, VARIABLES)], counter);
   statements(m, 1 + below(m, 3));
   if (below(m, 3) == 0) {
      leave(m);
      statements(m, 1);
   }
   m->loops--;
   EMIT(SpvOpBranch, next);
   open_block(m, next);
   PUT(m->to, SpvOpIAdd, m->type[U32], stepped, counter, constant(m, U32, 1));
   EMIT(SpvOpBranch, header);
   open_block(m, merge);
   m->break_label = outer_break;
   m->continue_label = outer_continue;
}

static void statement(struct maker *m)
{
   switch (m->depth < 4 ? below(m, 9) : 0) {
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
      uint32_t value = expression(m, U32, 2);
      EMIT(SpvOpStore, private_word(m, 1), value);
      return;
   }
   case 5:
      output(m, below(m, RANDOM_OUT_WORDS - 6), expression(m, U32, 2));
      return;
   case 6:
      if (!(m->features & RANDOM_MEMORY))
         break;
      memory_stores(m);
      return;
   default:
      break;
   }
   assign(m);
}

static void statements(struct maker *m, unsigned count)
{
   m->depth++;
   for (unsigned i = 0; i < count && m->budget > 0; i++)
      statement(m);
   m->depth--;
}

/* Threads of the workgroup exchange a word; where all of them come by. */
static void exchange(struct maker *m)
{
   uint32_t scope = constant(m, U32, SpvScopeWorkgroup);
   uint32_t semantics = constant(
      m, U32, SpvMemorySemanticsWorkgroupMemoryMask | SpvMemorySemanticsAcquireReleaseMask);
   uint32_t value = expression(m, U32, 2);
   uint32_t own = RESULT(SpvOpAccessChain, m->ptr_shared, m->shared_var, m->lid);
   EMIT(SpvOpControlBarrier, scope, scope, semantics);
   EMIT(SpvOpStore, own, value);
   EMIT(SpvOpControlBarrier, scope, scope, semantics);
   uint32_t away = RESULT(SpvOpIAdd, m->type[U32], m->lid, expression(m, U32, 1));
   uint32_t index =
      RESULT(SpvOpBitwiseAnd, m->type[U32], away, constant(m, U32, RANDOM_THREADS - 1));
   uint32_t other = RESULT(SpvOpAccessChain, m->ptr_shared, m->shared_var, index);
   uint32_t got = RESULT(SpvOpLoad, m->type[U32], other);
   EMIT(SpvOpStore, m->variable[U32][below(m, VARIABLES)], got);
}

/* ---- module ------------------------------------------------------------- */

static void make_types(struct maker *m)
{
   m->void_type = GLOBAL(SpvOpTypeVoid, 0);
   m->globals.count--; /* OpTypeVoid has no operand but its result */
   m->globals.words[m->globals.count - 2] = 2u << SpvWordCountShift | SpvOpTypeVoid;
   for (unsigned t = 0; t < TYPES; t++) {
      if (!has(m, (enum type)t) && t != F32)
         continue;
      m->type[t] = new_id(m);
      if (t == BOOL)
         PUT(&m->globals, SpvOpTypeBool, m->type[t]);
      else if (is_float((enum type)t))
         PUT(&m->globals, SpvOpTypeFloat, m->type[t], widths[t]);
      else
         PUT(&m->globals, SpvOpTypeInt, m->type[t], widths[t], 0);
   }
   m->uvec3 = GLOBAL(SpvOpTypeVector, m->type[U32], 3);
   m->uvec4 = GLOBAL(SpvOpTypeVector, m->type[U32], 4);
}

static uint32_t variable(struct maker *m, uint32_t pointer, SpvStorageClass class)
{
   uint32_t id = new_id(m);
   PUT(&m->globals, SpvOpVariable, pointer, id, class);
   return id;
}

struct interface {
   uint32_t in_struct, out_struct, array;
   struct alias {
      uint32_t structure, array, variable, stride;
   } aliases[(U64 + 1) * SHAPES];
   unsigned alias_count;
};

static uint32_t vector_type(struct maker *m, enum type type, uint32_t count)
{
   if (count == 1)
      return m->type[type];
   return type == U32 && count == 4 ? m->uvec4 : GLOBAL(SpvOpTypeVector, m->type[type], count);
}

/* The output once more, as arrays of all kinds of elements. */
static void make_aliases(struct maker *m, struct interface *i)
{
   for (unsigned t = U8; t <= U64; t++)
      for (unsigned shape = 0; has(m, (enum type)t) && shape < SHAPES; shape++) {
         struct alias *alias = &i->aliases[i->alias_count++];
         uint32_t element = vector_type(m, (enum type)t, shape_counts[shape]);
         alias->stride = widths[t] / 8u * shape_counts[shape];
         alias->array = GLOBAL(SpvOpTypeRuntimeArray, element);
         alias->structure = GLOBAL(SpvOpTypeStruct, alias->array);
         uint32_t whole = GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, alias->structure);
         m->alias_type[t][shape] = element;
         m->alias_ptr[t][shape] =
            element == m->type[U32]
               ? m->ptr_out
               : GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, element);
         m->alias_var[t][shape] = alias->variable =
            variable(m, whole, SpvStorageClassStorageBuffer);
      }
}

static struct interface make_interface(struct maker *m)
{
   struct interface i = {0};
   i.array = GLOBAL(SpvOpTypeRuntimeArray, m->type[U32]);
   i.in_struct = GLOBAL(SpvOpTypeStruct, i.array);
   i.out_struct = GLOBAL(SpvOpTypeStruct, i.array);
   uint32_t in = GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, i.in_struct);
   uint32_t out = GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, i.out_struct);
   m->ptr_in = m->ptr_out = GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, m->type[U32]);
   uint32_t words = GLOBAL(SpvOpTypeArray, m->type[U32], constant(m, U32, RANDOM_THREADS));
   uint32_t shared = GLOBAL(SpvOpTypePointer, SpvStorageClassWorkgroup, words);
   m->ptr_shared = GLOBAL(SpvOpTypePointer, SpvStorageClassWorkgroup, m->type[U32]);
   uint32_t input = GLOBAL(SpvOpTypePointer, SpvStorageClassInput, m->uvec3);
   m->private_array = GLOBAL(SpvOpTypeArray, m->type[U32], constant(m, U32, PRIVATE_WORDS));
   m->ptr_private = GLOBAL(SpvOpTypePointer, SpvStorageClassFunction, m->type[U32]);
   m->in_var = variable(m, in, SpvStorageClassStorageBuffer);
   m->out_var = variable(m, out, SpvStorageClassStorageBuffer);
   m->shared_var = variable(m, shared, SpvStorageClassWorkgroup);
   m->gid_var = variable(m, input, SpvStorageClassInput);
   m->lid_var = variable(m, input, SpvStorageClassInput);
   if (m->features & RANDOM_MEMORY)
      make_aliases(m, &i);
   return i;
}

/* A function of two words that calls nothing. */
static void make_helper(struct maker *m)
{
   uint32_t type = GLOBAL(SpvOpTypeFunction, m->type[U32], m->type[U32], m->type[U32]);
   m->helper_function = new_id(m);
   m->to = &m->helper;
   m->in_helper = true;
   EMIT(SpvOpFunction, m->type[U32], m->helper_function, 0, type);
   for (unsigned i = 0; i < 2; i++) {
      m->params[i] = new_id(m);
      EMIT(SpvOpFunctionParameter, m->type[U32], m->params[i]);
   }
   uint32_t early = new_id(m), late = new_id(m);
   open_block(m, new_id(m));
   m->budget = 40;
   uint32_t condition = expression(m, BOOL, 2);
   EMIT(SpvOpSelectionMerge, late, 0);
   EMIT(SpvOpBranchConditional, condition, early, late);
   open_block(m, early);
   EMIT(SpvOpReturnValue, expression(m, U32, 2));
   open_block(m, late);
   EMIT(SpvOpReturnValue, expression(m, U32, 3));
   put(m->to, SpvOpFunctionEnd, 0, NULL);
   m->in_helper = false;
}

static void make_variables(struct maker *m)
{
   uint32_t array = GLOBAL(SpvOpTypePointer, SpvStorageClassFunction, m->private_array);
   for (unsigned t = 0; t < TYPES; t++) {
      if (!has(m, (enum type)t))
         continue;
      uint32_t pointer =
         t == U32 ? m->ptr_private : GLOBAL(SpvOpTypePointer, SpvStorageClassFunction, m->type[t]);
      for (unsigned i = 0; i < VARIABLES; i++) {
         m->variable[t][i] = new_id(m);
         EMIT(SpvOpVariable, pointer, m->variable[t][i], SpvStorageClassFunction);
      }
   }
   m->array_var = new_id(m);
   EMIT(SpvOpVariable, array, m->array_var, SpvStorageClassFunction);
}

static uint32_t first_of(struct maker *m, uint32_t builtin)
{
   uint32_t all = RESULT(SpvOpLoad, m->uvec3, builtin);
   return RESULT(SpvOpCompositeExtract, m->type[U32], all, 0);
}

/* Everything has a value before anything is read. */
static void initialize(struct maker *m)
{
   for (unsigned t = 0; t < TYPES; t++)
      for (unsigned i = 0; has(m, (enum type)t) && i < VARIABLES; i++) {
         uint32_t value = t == BOOL ? constant(m, BOOL, i & 1)
                          : is_float((enum type)t)
                             ? constant(m, (enum type)t, any_float(m, (enum type)t))
                             : convert_int(m, (enum type)t, U32,
                                           i ? input_word(m, i == 1 ? m->gid : m->lid) : m->gid);
         EMIT(SpvOpStore, m->variable[t][i], value);
      }
   for (unsigned i = 0; i < PRIVATE_WORDS; i++) {
      uint32_t pointer =
         RESULT(SpvOpAccessChain, m->ptr_private, m->array_var, constant(m, U32, i));
      EMIT(SpvOpStore, pointer, constant(m, U32, any_bits(m)));
   }
   for (unsigned i = 0; i < RANDOM_OUT_WORDS; i++)
      output(m, i, constant(m, U32, i));
}

static void make_main(struct maker *m, uint32_t function)
{
   uint32_t type = GLOBAL(SpvOpTypeFunction, m->void_type);
   m->to = &m->main;
   EMIT(SpvOpFunction, m->void_type, function, 0, type);
   open_block(m, new_id(m));
   make_variables(m);
   m->gid = first_of(m, m->gid_var);
   m->lid = first_of(m, m->lid_var);
   initialize(m);
   unsigned parts = 1 + below(m, 3);
   for (unsigned i = 0; i < parts; i++) {
      m->budget = 60 + below(m, 100);
      statements(m, 2 + below(m, 6));
      m->budget = 10;
      if (m->features & RANDOM_SHARED)
         exchange(m);
   }
   for (unsigned t = 0, slot = RANDOM_OUT_WORDS - 6; t < TYPES; t++) {
      uint32_t sum = 0;
      for (unsigned i = 0; has(m, (enum type)t) && i < VARIABLES; i++) {
         uint32_t value = RESULT(SpvOpLoad, m->type[t], m->variable[t][i]);
         uint32_t word = word_of(m, (enum type)t, value);
         sum = sum ? RESULT(SpvOpIAdd, m->type[U32],
                            RESULT(SpvOpIMul, m->type[U32], sum, constant(m, U32, 31)), word)
                   : word;
      }
      if (sum)
         output(m, slot < RANDOM_OUT_WORDS ? slot++ : RANDOM_OUT_WORDS - 1, sum);
   }
   put(m->to, SpvOpReturn, 0, NULL);
   put(m->to, SpvOpFunctionEnd, 0, NULL);
}

static void put_header(struct maker *m, struct section *to, uint32_t function)
{
   static const struct {
      uint32_t feature;
      SpvCapability capability;
   } capabilities[] = {
      {0, SpvCapabilityShader},
      {RANDOM_INT8, SpvCapabilityInt8},
      {RANDOM_INT16, SpvCapabilityInt16},
      {RANDOM_INT64, SpvCapabilityInt64},
      {RANDOM_FLOAT16, SpvCapabilityFloat16},
      {RANDOM_ZEROS | RANDOM_FLOAT16, SpvCapabilitySignedZeroInfNanPreserve},
      {RANDOM_ZEROS | RANDOM_FLOAT32, SpvCapabilitySignedZeroInfNanPreserve},
      {RANDOM_MEMORY | RANDOM_INT8, SpvCapabilityStorageBuffer8BitAccess},
      {RANDOM_MEMORY | RANDOM_INT16, SpvCapabilityStorageBuffer16BitAccess},
      {RANDOM_SUBGROUP, SpvCapabilityGroupNonUniform},
      {RANDOM_SUBGROUP, SpvCapabilityGroupNonUniformBallot},
      {RANDOM_SUBGROUP, SpvCapabilityGroupNonUniformShuffle},
      {RANDOM_SUBGROUP, SpvCapabilityGroupNonUniformArithmetic},
   };
   static const char set[16] = "GLSL.std.450", name[8] = "main";
   static const _Alignas(4) char extension[24] = "SPV_KHR_float_controls";
   uint32_t words[12] = {m->glsl};
   for (size_t i = 0; i < AGX_COUNT(capabilities); i++)
      if ((m->features & capabilities[i].feature) == capabilities[i].feature)
         PUT(to, SpvOpCapability, capabilities[i].capability);
   put(to, SpvOpExtension, 6, (const uint32_t *)(const void *)extension);
   memcpy(words + 1, set, sizeof(set));
   if ((m->features & (RANDOM_MEMORY | RANDOM_INT8)) == (RANDOM_MEMORY | RANDOM_INT8)) {
      static const char storage[24] = "SPV_KHR_8bit_storage";
      uint32_t name_words[6];
      memcpy(name_words, storage, sizeof(storage));
      put(to, SpvOpExtension, 6, name_words);
   }
   put(to, SpvOpExtInstImport, 5, words);
   PUT(to, SpvOpMemoryModel, SpvAddressingModelLogical, SpvMemoryModelGLSL450);
   words[0] = SpvExecutionModelGLCompute;
   words[1] = function;
   memcpy(words + 2, name, sizeof(name));
   words[4] = m->gid_var;
   words[5] = m->lid_var;
   put(to, SpvOpEntryPoint, 6, words);
   PUT(to, SpvOpExecutionMode, function, SpvExecutionModeLocalSize, RANDOM_THREADS, 1, 1);
   for (enum type type = F16; type <= F32; type++)
      if (has(m, type) && m->features & RANDOM_ZEROS)
         PUT(to, SpvOpExecutionMode, function, SpvExecutionModeSignedZeroInfNanPreserve,
             widths[type]);
}

static void put_decorations(const struct maker *m, struct section *to, const struct interface *i)
{
   const uint32_t structs[] = {i->in_struct, i->out_struct}, vars[] = {m->in_var, m->out_var};
   PUT(to, SpvOpDecorate, i->array, SpvDecorationArrayStride, 4);
   for (unsigned k = 0; k < 2; k++) {
      PUT(to, SpvOpDecorate, structs[k], SpvDecorationBlock);
      PUT(to, SpvOpMemberDecorate, structs[k], 0, SpvDecorationOffset, 0);
      PUT(to, SpvOpDecorate, vars[k], SpvDecorationDescriptorSet, 0);
      PUT(to, SpvOpDecorate, vars[k], SpvDecorationBinding, k);
   }
   for (unsigned k = 0; k < i->alias_count; k++) {
      const struct alias *alias = &i->aliases[k];
      PUT(to, SpvOpDecorate, alias->array, SpvDecorationArrayStride, alias->stride);
      PUT(to, SpvOpDecorate, alias->structure, SpvDecorationBlock);
      PUT(to, SpvOpMemberDecorate, alias->structure, 0, SpvDecorationOffset, 0);
      PUT(to, SpvOpDecorate, alias->variable, SpvDecorationDescriptorSet, 0);
      PUT(to, SpvOpDecorate, alias->variable, SpvDecorationBinding, 1);
      PUT(to, SpvOpDecorate, alias->variable, SpvDecorationAliased);
   }
   if (i->alias_count)
      PUT(to, SpvOpDecorate, m->out_var, SpvDecorationAliased);
   PUT(to, SpvOpMemberDecorate, i->in_struct, 0, SpvDecorationNonWritable);
   PUT(to, SpvOpDecorate, m->gid_var, SpvDecorationBuiltIn, SpvBuiltInGlobalInvocationId);
   PUT(to, SpvOpDecorate, m->lid_var, SpvDecorationBuiltIn, SpvBuiltInLocalInvocationId);
   for (uint32_t k = 0; k < m->decorated_count; k++)
      PUT(to, SpvOpDecorate, m->decorated[k], SpvDecorationNoContraction);
}

static void append(struct random_kernel *kernel, const struct section *section)
{
   assert_true(kernel->count + section->count <= RANDOM_MAX_WORDS);
   memcpy(&kernel->words[kernel->count], section->words, section->count * 4);
   kernel->count += section->count;
}

void random_kernel_make(struct random_kernel *kernel, uint64_t seed, uint32_t features)
{
   static struct maker makers;
   static struct section head;
   struct maker *m = &makers;
   *m = (struct maker){.rng = {seed}, .features = features, .next_id = 1};
   head.count = 0;
   m->glsl = new_id(m);
   uint32_t function = new_id(m);
   make_types(m);
   struct interface interface = make_interface(m);
   make_helper(m);
   make_main(m, function);
   put_header(m, &head, function);
   put_decorations(m, &head, &interface);
   kernel->words[0] = SpvMagicNumber;
   kernel->words[1] = 0x00010300;
   kernel->words[2] = 0;
   kernel->words[3] = m->next_id;
   kernel->words[4] = 0;
   kernel->count = 5;
   append(kernel, &head);
   append(kernel, &m->globals);
   append(kernel, &m->helper);
   append(kernel, &m->main);
}
