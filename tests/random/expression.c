/* SPDX-License-Identifier: MIT
 *
 * Words of random kernels, and expressions of any type and depth. kernel.c and statement.c ask for
 * them.
 */
#include "maker.h"

#include <string.h>

/* ---- words -------------------------------------------------------------- */

uint32_t random_id(struct maker *m)
{
   return m->next_id++;
}

void random_put(struct section *to, SpvOp op, unsigned count, const uint32_t *words)
{
   assert_true(to->count + count + 1 <= RANDOM_MAX_WORDS);
   to->words[to->count++] = (count + 1) << SpvWordCountShift | op;
   if (count)
      memcpy(&to->words[to->count], words, count * 4);
   to->count += count;
}

uint32_t random_result(struct maker *m, SpvOp op, uint32_t type_id, unsigned count,
                       const uint32_t *words)
{
   uint32_t all[16] = {type_id, random_id(m)};
   memcpy(all + 2, words, count * 4);
   random_put(m->to, op, count + 2, all);
   return all[1];
}

uint32_t random_global(struct maker *m, SpvOp op, unsigned count, const uint32_t *words)
{
   uint32_t all[8] = {random_id(m)};
   memcpy(all + 1, words, count * 4);
   random_put(&m->globals, op, count + 1, all);
   return all[0];
}

uint32_t random_constant(struct maker *m, enum type type, uint64_t value)
{
   value &= random_widths[type] == 64 ? ~0ull : (1ull << random_widths[type]) - 1;
   for (uint32_t i = 0; i < m->constant_count; i++)
      if (m->constants[i].type == type && m->constants[i].value == value)
         return m->constants[i].id;
   uint32_t id = random_id(m);
   if (type == BOOL)
      PUT(&m->globals, value ? SpvOpConstantTrue : SpvOpConstantFalse, m->type[BOOL], id);
   else if (random_widths[type] == 64)
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

enum type random_any_type(struct maker *m, bool with_bool)
{
   for (;;) {
      enum type type = (enum type)random_below(m, random_has(m, F64) ? TYPES : F64);
      if (random_has(m, type) && (with_bool || type != BOOL))
         return type;
   }
}

enum type random_int_type(struct maker *m)
{
   enum type type;
   do
      type = random_any_type(m, false);
   while (random_is_float(type));
   return type;
}

uint32_t random_glsl(struct maker *m, enum type type, uint32_t op, unsigned count,
                     const uint32_t *args)
{
   uint32_t words[8] = {m->glsl, op};
   memcpy(words + 2, args, count * 4);
   return random_result(m, SpvOpExtInst, m->type[type], count + 2, words);
}

uint32_t random_exact(struct maker *m, uint32_t id)
{
   assert_true(m->decorated_count < MAX_DECORATED);
   m->decorated[m->decorated_count++] = id;
   return id;
}

/* Some bits that matter: small numbers, ones at both ends, anything. */
uint64_t random_bits(struct maker *m)
{
   switch (random_below(m, 5)) {
   case 0:
      return random_below(m, 9);
   case 1:
      return 0 - (uint64_t)random_below(m, 9);
   case 2:
      return 1ull << random_below(m, 64);
   case 3:
      return (1ull << random_below(m, 64)) - 1;
   default:
      return agx_test_random(&m->rng);
   }
}

/* A normal number or a zero of 32 bits, as 64. */
static uint64_t double_bits(uint32_t f32)
{
   uint64_t sign = (uint64_t)(f32 >> 31) << 63, rest = f32 & 0x7fffffff;
   return rest ? sign | ((rest << 29) + (896ull << 52)) : sign;
}

uint64_t random_any_float(struct maker *m, enum type type)
{
   static const uint32_t f32[] = {0,          0x3f800000, 0xbf800000, 0x3f000000, 0x40400000,
                                  0xc1200000, 0x3e000000, 0x42c80000, 0x80000000};
   static const uint32_t f16[] = {0,      0x3c00, 0xbc00, 0x3800, 0x4200,
                                  0xc900, 0x3000, 0x5640, 0x8000};
   uint32_t at = random_below(m, AGX_COUNT(f32));
   if (type == F64)
      return double_bits(f32[at]);
   return type == F32 ? f32[at] : f16[at];
}

uint32_t random_input_word(struct maker *m, uint32_t index)
{
   uint32_t masked =
      RESULT(SpvOpBitwiseAnd, m->type[U32], index, random_constant(m, U32, RANDOM_IN_WORDS - 1));
   uint32_t pointer =
      RESULT(SpvOpAccessChain, m->ptr_in, m->in_var, random_constant(m, U32, 0), masked);
   return RESULT(SpvOpLoad, m->type[U32], pointer);
}

/* Any integer as that integer type. */
uint32_t random_convert_int(struct maker *m, enum type to, enum type from, uint32_t id)
{
   if (to == from)
      return id;
   SpvOp op = random_below(m, 2) ? SpvOpUConvert : SpvOpSConvert;
   return RESULT(op, m->type[to], id);
}

/* A constant, given as its bits of 32 and of 16. */
static uint32_t float_constant(struct maker *m, enum type type, uint32_t f32, uint32_t f16)
{
   return random_constant(m, type, type == F64 ? double_bits(f32) : type == F32 ? f32 : f16);
}

/* A float that is exact and small, of 8 bits of an integer. */
uint32_t random_small_float(struct maker *m, enum type type, uint32_t word)
{
   uint32_t byte = RESULT(SpvOpBitwiseAnd, m->type[U32], word, random_constant(m, U32, 255));
   uint32_t whole = RESULT(SpvOpConvertUToF, m->type[type], byte);
   uint32_t eighth = float_constant(m, type, 0x3e000000, 0x3000);
   return random_exact(m, RESULT(SpvOpFMul, m->type[type], whole, eighth));
}

uint32_t random_leaf(struct maker *m, enum type type)
{
   if (m->in_helper && type == U32 && random_below(m, 2))
      return m->params[random_below(m, 2)];
   if (!m->in_helper && random_below(m, 2))
      return RESULT(SpvOpLoad, m->type[type], m->variable[type][random_below(m, VARIABLES)]);
   if (type == BOOL)
      return random_constant(m, BOOL, random_below(m, 2));
   if (random_below(m, 2))
      return random_constant(m, type,
                             random_is_float(type) ? random_any_float(m, type) : random_bits(m));
   uint32_t word = m->in_helper ? m->params[0] : random_below(m, 2) ? m->gid : m->lid;
   if (random_below(m, 2))
      word = random_input_word(m, word);
   return random_is_float(type) ? random_small_float(m, type, word)
                                : random_convert_int(m, type, U32, word);
}

static uint32_t shift_amount(struct maker *m, enum type type, unsigned depth)
{
   uint32_t amount = random_expression(m, type, depth);
   return RESULT(SpvOpBitwiseAnd, m->type[type], amount,
                 random_constant(m, type, random_widths[type] - 1u));
}

static uint32_t positive(struct maker *m, enum type type, unsigned depth)
{
   uint32_t any = random_expression(m, type, depth);
   return RESULT(SpvOpBitwiseAnd, m->type[type], any,
                 random_constant(m, type, (1ull << (random_widths[type] - 1)) - 1));
}

/* Divisors are positive, so that no quotient overflows; remainders of what is negative are
 * undefined in Vulkan. */
static uint32_t division(struct maker *m, enum type type, unsigned depth)
{
   static const SpvOp ops[] = {SpvOpUDiv, SpvOpUMod, SpvOpSDiv, SpvOpSRem, SpvOpSMod};
   SpvOp op = ops[random_below(m, AGX_COUNT(ops))];
   uint32_t t = m->type[type], divisor;
   uint32_t dividend = op == SpvOpSRem || op == SpvOpSMod ? positive(m, type, depth)
                                                          : random_expression(m, type, depth);
   if (random_below(m, 2))
      divisor =
         random_constant(m, type, (random_bits(m) & ((1ull << (random_widths[type] - 1)) - 1)) | 1);
   else
      divisor = RESULT(SpvOpBitwiseOr, t, positive(m, type, depth), random_constant(m, type, 1));
   return RESULT(op, t, dividend, divisor);
}

static uint32_t float_to_int(struct maker *m, enum type type, unsigned depth)
{
   enum type from = random_has(m, F32) ? F32 : F16;
   if (random_has(m, F64) && (!random_has(m, from) || random_below(m, 2)))
      from = F64;
   uint32_t value = random_expression(m, from, depth);
   uint32_t zero = random_constant(m, from, 0);
   uint32_t top = float_constant(m, from, 0x42c80000, 0x5640); /* 100 */
   uint32_t low = GLSL(from, GLSLstd450NMax, value, zero);
   uint32_t both = GLSL(from, GLSLstd450NMin, low, top);
   return RESULT(random_below(m, 2) ? SpvOpConvertFToU : SpvOpConvertFToS, m->type[type], both);
}

static uint32_t word_op(struct maker *m, unsigned depth)
{
   uint32_t a = random_expression(m, U32, depth), t = m->type[U32];
   switch (random_below(m, 7)) {
   case 0:
      return RESULT(SpvOpBitReverse, t, a);
   case 1:
      return RESULT(SpvOpBitCount, t, a);
   case 2:
      return GLSL(U32, GLSLstd450FindUMsb, a);
   case 3:
      return GLSL(U32, GLSLstd450FindILsb, a);
   case 4:
      return RESULT(random_below(m, 2) ? SpvOpBitFieldUExtract : SpvOpBitFieldSExtract, t, a,
                    random_constant(m, U32, random_below(m, 16)),
                    random_constant(m, U32, random_below(m, 17)));
   case 5:
      return RESULT(SpvOpBitFieldInsert, t, a, random_expression(m, U32, depth),
                    random_constant(m, U32, random_below(m, 16)),
                    random_constant(m, U32, random_below(m, 17)));
   default:
      return random_input_word(m, a);
   }
}

static uint32_t vector_op(struct maker *m, unsigned depth)
{
   uint32_t e[4];
   for (unsigned i = 0; i < 4; i++)
      e[i] = i < 2 ? random_expression(m, U32, depth) : random_leaf(m, U32);
   uint32_t a = RESULT(SpvOpCompositeConstruct, m->uvec4, e[0], e[1], e[2], e[3]);
   uint32_t b = RESULT(SpvOpVectorShuffle, m->uvec4, a, a, random_below(m, 8), random_below(m, 8),
                       random_below(m, 8), random_below(m, 8));
   static const SpvOp ops[] = {SpvOpIAdd, SpvOpIMul, SpvOpBitwiseXor, SpvOpISub};
   uint32_t sum = RESULT(ops[random_below(m, AGX_COUNT(ops))], m->uvec4, a, b);
   if (random_below(m, 2))
      return RESULT(SpvOpCompositeExtract, m->type[U32], sum, random_below(m, 4));
   uint32_t index = RESULT(SpvOpBitwiseAnd, m->type[U32], random_expression(m, U32, depth),
                           random_constant(m, U32, 3));
   return RESULT(SpvOpVectorExtractDynamic, m->type[U32], sum, index);
}

uint32_t random_private_word(struct maker *m, unsigned depth)
{
   uint32_t index = RESULT(SpvOpBitwiseAnd, m->type[U32], random_expression(m, U32, depth),
                           random_constant(m, U32, PRIVATE_WORDS - 1));
   return RESULT(SpvOpAccessChain, m->ptr_private, m->array_var, index);
}

static uint32_t subgroup_op(struct maker *m, enum type type, unsigned depth)
{
   if (m->features & RANDOM_WIDE && random_below(m, 2))
      return random_wide_lanes(m, type, depth);
   static const SpvOp reduces[] = {SpvOpGroupNonUniformIAdd, SpvOpGroupNonUniformUMax,
                                   SpvOpGroupNonUniformSMin, SpvOpGroupNonUniformBitwiseXor,
                                   SpvOpGroupNonUniformIMul};
   uint32_t a = random_expression(m, type, depth),
            scope = random_constant(m, U32, SpvScopeSubgroup);
   switch (random_below(m, 5)) {
   case 0:
      return RESULT(SpvOpGroupNonUniformBroadcastFirst, m->type[type], scope, a);
   case 1:
      if (m->depth > 1 || m->loops || m->has_left) /* the lane might be elsewhere */
         return a;
      if (random_below(m, 2))
         return RESULT(SpvOpGroupNonUniformBroadcast, m->type[type], scope, a,
                       random_constant(m, U32, random_below(m, 32)));
      return RESULT(SpvOpGroupNonUniformShuffle, m->type[type], scope, a,
                    RESULT(SpvOpBitwiseAnd, m->type[U32], random_expression(m, U32, depth),
                           random_constant(m, U32, 31)));
   case 2: {
      uint32_t ballot =
         RESULT(SpvOpGroupNonUniformBallot, m->uvec4, scope, random_expression(m, BOOL, depth));
      return random_convert_int(m, type, U32,
                                RESULT(SpvOpCompositeExtract, m->type[U32], ballot, 0));
   }
   default:
      return RESULT(reduces[random_below(m, AGX_COUNT(reduces))], m->type[type], scope,
                    random_below(m, 3), a);
   }
}

static unsigned any_shape(struct maker *m)
{
   return random_below(m, m->features & RANDOM_WIDE ? SHAPES : SHAPES - 1);
}

/* A piece of the thread's own output, as an element of that type and shape; `at` of those that
 * fit, or one that is computed. */
static uint32_t own_element(struct maker *m, enum type type, unsigned shape, uint32_t at,
                            bool is_computed)
{
   uint32_t elements = RANDOM_OUT_WORDS * 32 / (random_widths[type] * random_shape_slots[shape]);
   uint32_t t = m->type[U32], offset = random_constant(m, U32, at % elements);
   if (is_computed)
      offset = RESULT(SpvOpBitwiseAnd, t, random_expression(m, U32, 1),
                      random_constant(m, U32, elements - 1));
   uint32_t base = RESULT(SpvOpIMul, t, m->gid, random_constant(m, U32, elements));
   return RESULT(SpvOpAccessChain, m->alias_ptr[type][shape], m->alias_var[type][shape],
                 random_constant(m, U32, 0), RESULT(SpvOpIAdd, t, base, offset));
}

static uint32_t memory_load(struct maker *m, enum type type)
{
   unsigned shape = any_shape(m);
   uint32_t pointer = own_element(m, type, shape, random_below(m, 64), random_below(m, 3) == 0);
   uint32_t value = RESULT(SpvOpLoad, m->alias_type[type][shape], pointer);
   if (shape == 0)
      return value;
   return RESULT(SpvOpCompositeExtract, m->type[type], value,
                 random_below(m, random_shape_counts[shape]));
}

/* A few neighbours, of which some are read as well. */
void random_memory_stores(struct maker *m)
{
   enum type type = random_int_type(m);
   unsigned shape = any_shape(m), count = 1 + random_below(m, 4);
   uint32_t at = random_below(m, 64);
   bool is_computed = random_below(m, 3) == 0;
   for (unsigned i = 0; i < count; i++) {
      uint32_t words[6] = {0}, value = 0;
      for (unsigned e = 0; e < random_shape_counts[shape]; e++)
         words[e] = value = e ? random_leaf(m, type) : random_expression(m, type, 1);
      if (shape)
         value = random_result(m, SpvOpCompositeConstruct, m->alias_type[type][shape],
                               random_shape_counts[shape], words);
      EMIT(SpvOpStore, own_element(m, type, shape, at + i, is_computed), value);
      if (random_below(m, 3) == 0)
         EMIT(SpvOpStore, m->variable[type][random_below(m, VARIABLES)], memory_load(m, type));
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
   if (m->features & RANDOM_MEMORY && !m->in_helper && random_below(m, 10) == 0)
      return memory_load(m, type);
   if (m->features & RANDOM_WIDE && random_below(m, 3) == 0)
      return random_wide_int(m, type, depth);
   switch (random_below(m, 14)) {
   case 0:
      return RESULT(random_below(m, 2) ? SpvOpNot : SpvOpSNegate, t,
                    random_expression(m, type, depth));
   case 1:
      return RESULT(shifts[random_below(m, 3)], t, random_expression(m, type, depth),
                    shift_amount(m, type, depth));
   case 2:
      return division(m, type, depth);
   case 3: {
      uint32_t a = random_expression(m, type, depth);
      return GLSL(type, choices[random_below(m, 4)], a, random_expression(m, type, depth));
   }
   case 4:
      return RESULT(SpvOpSelect, t, random_expression(m, BOOL, depth),
                    random_expression(m, type, depth), random_leaf(m, type));
   case 5: {
      enum type from = random_int_type(m);
      return random_convert_int(m, type, from, random_expression(m, from, depth));
   }
   case 6:
      if (random_has(m, F32) || random_has(m, F16) || random_has(m, F64))
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
         return RESULT(SpvOpLoad, t, random_private_word(m, depth));
      break;
   case 10:
      if (type != U8 && random_lanes_meet(m))
         return subgroup_op(m, type, depth);
      break;
   case 11:
      if (type == U32 && !m->in_helper)
         return RESULT(SpvOpFunctionCall, t, m->helper_function, random_expression(m, U32, depth),
                       random_leaf(m, U32));
      break;
   default:
      break;
   }
   uint32_t a = random_expression(m, type, depth);
   return RESULT(binary[random_below(m, AGX_COUNT(binary))], t, a,
                 random_expression(m, type, depth));
}

/* A float type that the kernel has besides that one, or the same. */
static enum type other_float(struct maker *m, enum type type)
{
   enum type others[TYPES];
   uint32_t count = 0;
   for (enum type t = F16; t <= F64; t++)
      if (t != type && random_has(m, t))
         others[count++] = t;
   return count == 0 ? type : others[count == 1 ? 0 : random_below(m, count)];
}

/* Of all lanes, in no order: the least and the most, and sums that are exact. */
static uint32_t double_of_lanes(struct maker *m, unsigned depth)
{
   static const SpvOp reduces[] = {SpvOpGroupNonUniformFAdd, SpvOpGroupNonUniformFMin,
                                   SpvOpGroupNonUniformFMax};
   uint32_t t = m->type[F64], scope = random_constant(m, U32, SpvScopeSubgroup);
   uint32_t which = random_below(m, 4);
   if (which == 3)
      return RESULT(SpvOpGroupNonUniformBroadcastFirst, t, scope, random_expression(m, F64, depth));
   uint32_t a = random_small_float(m, F64, random_expression(m, U32, depth));
   return random_exact(m, RESULT(reduces[which], t, scope, random_below(m, 3), a));
}

/* What is exact, or rounded as IEEE 754 has it, of 64 bits alone. Divisors are at least 1, so that
 * no sign of a zero matters. */
static uint32_t double_op(struct maker *m, unsigned depth)
{
   uint32_t t = m->type[F64], a;
   switch (random_below(m, random_lanes_meet(m) ? 5 : 4)) {
   case 0:
      a = GLSL(F64, GLSLstd450FAbs, random_expression(m, F64, depth));
      a = random_exact(m, RESULT(SpvOpFAdd, t, a, float_constant(m, F64, 0x3f800000, 0)));
      return random_exact(m, RESULT(SpvOpFDiv, t, random_expression(m, F64, depth), a));
   case 1:
      a = GLSL(F64, GLSLstd450FAbs, random_expression(m, F64, depth));
      return random_exact(m, GLSL(F64, GLSLstd450Sqrt, a));
   case 2: {
      enum type from = random_int_type(m);
      SpvOp op = random_below(m, 2) ? SpvOpConvertUToF : SpvOpConvertSToF;
      return RESULT(op, t, random_expression(m, from, depth));
   }
   case 3: {
      uint32_t three = float_constant(m, F64, 0x40400000, 0);
      a = random_small_float(m, F64, random_expression(m, U32, depth));
      return random_exact(m, RESULT(SpvOpFDiv, t, a, three));
   }
   default:
      return double_of_lanes(m, depth);
   }
}

static uint32_t float_op(struct maker *m, enum type type, unsigned depth)
{
   static const SpvOp binary[] = {SpvOpFAdd, SpvOpFSub, SpvOpFMul};
   static const uint32_t unary[] = {GLSLstd450FAbs, GLSLstd450Floor,     GLSLstd450Trunc,
                                    GLSLstd450Ceil, GLSLstd450RoundEven, GLSLstd450FSign};
   uint32_t t = m->type[type], a;
   enum type other;
   if (type == F64 && random_below(m, 4) == 0)
      return double_op(m, depth);
   if (m->features & RANDOM_WIDE && random_below(m, 3) == 0)
      return random_wide_float(m, type, depth);
   switch (random_below(m, 8)) {
   case 0:
      return RESULT(SpvOpFNegate, t, random_expression(m, type, depth));
   case 1:
      return GLSL(type, unary[random_below(m, AGX_COUNT(unary))],
                  random_expression(m, type, depth));
   case 2:
      a = random_expression(m, type, depth);
      a = GLSL(type, random_below(m, 2) ? GLSLstd450NMin : GLSLstd450NMax, a,
               random_expression(m, type, depth));
      /* Of two zeros either may come out: plus zero makes them one. */
      return random_exact(m, RESULT(SpvOpFAdd, t, a, random_constant(m, type, 0)));
   case 3:
      return RESULT(SpvOpSelect, t, random_expression(m, BOOL, depth),
                    random_expression(m, type, depth), random_leaf(m, type));
   case 4:
      other = other_float(m, type);
      if (other != type)
         return RESULT(SpvOpFConvert, t, random_expression(m, other, depth));
      break;
   case 5:
      return random_small_float(m, type, random_expression(m, U32, depth));
   default:
      break;
   }
   a = random_expression(m, type, depth);
   return random_exact(m,
                       RESULT(binary[random_below(m, 3)], t, a, random_expression(m, type, depth)));
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
   if (m->features & RANDOM_WIDE && random_below(m, 5) == 0)
      return random_wide_bool(m, depth);
   if (random_below(m, 5) == 0)
      return RESULT(SpvOpLogicalNot, t, random_expression(m, BOOL, depth));
   if (random_below(m, 3) == 0) {
      a = random_expression(m, BOOL, depth);
      return RESULT(logic[random_below(m, 4)], t, a, random_expression(m, BOOL, depth));
   }
   enum type type = random_any_type(m, false);
   a = random_expression(m, type, depth);
   if (random_is_float(type))
      return RESULT(floats[random_below(m, AGX_COUNT(floats))], t, a,
                    random_expression(m, type, depth));
   return RESULT(ints[random_below(m, AGX_COUNT(ints))], t, a, random_expression(m, type, depth));
}

uint32_t random_expression(struct maker *m, enum type type, unsigned depth)
{
   if (depth == 0 || m->budget == 0)
      return random_leaf(m, type);
   m->budget--;
   return type == BOOL ? bool_op(m, depth - 1)
                       : (random_is_float(type) ? float_op : int_op)(m, type, depth - 1);
}
