/* SPDX-License-Identifier: MIT
 *
 * Makes a random kernel as SPIR-V from a seed, with the buffers that it takes. random_test.c and
 * shrunk_test.c compile and run it.
 */
#include "maker.h"

#include <string.h>

const uint8_t random_widths[TYPES] = {1, 8, 16, 32, 64, 16, 32};
static const uint32_t needs[TYPES] = {
   0, RANDOM_INT8, RANDOM_INT16, 0, RANDOM_INT64, RANDOM_FLOAT16, RANDOM_FLOAT32};

static const uint32_t shape_counts[SHAPES] = {1, 2, 4, 3}, shape_slots[SHAPES] = {1, 2, 4, 4};

uint32_t random_below(struct maker *m, uint32_t bound)
{
   return (uint32_t)agx_test_random_below(&m->rng, bound);
}

bool random_has(const struct maker *m, enum type type)
{
   return (m->features & needs[type]) == needs[type];
}

bool random_is_float(enum type type)
{
   return type == F16 || type == F32;
}

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

static enum type any_type(struct maker *m, bool with_bool)
{
   for (;;) {
      enum type type = (enum type)random_below(m, TYPES);
      if (random_has(m, type) && (with_bool || type != BOOL))
         return type;
   }
}

enum type random_int_type(struct maker *m)
{
   enum type type;
   do
      type = any_type(m, false);
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

static uint64_t any_float(struct maker *m, enum type type)
{
   static const uint32_t f32[] = {0,          0x3f800000, 0xbf800000, 0x3f000000, 0x40400000,
                                  0xc1200000, 0x3e000000, 0x42c80000, 0x80000000};
   static const uint32_t f16[] = {0,      0x3c00, 0xbc00, 0x3800, 0x4200,
                                  0xc900, 0x3000, 0x5640, 0x8000};
   return type == F32 ? f32[random_below(m, AGX_COUNT(f32))] : f16[random_below(m, AGX_COUNT(f16))];
}

static uint32_t input_word(struct maker *m, uint32_t index)
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

/* A float that is exact and small, of 8 bits of an integer. */
uint32_t random_small_float(struct maker *m, enum type type, uint32_t word)
{
   uint32_t byte = RESULT(SpvOpBitwiseAnd, m->type[U32], word, random_constant(m, U32, 255));
   uint32_t whole = RESULT(SpvOpConvertUToF, m->type[type], byte);
   uint32_t eighth = random_constant(m, type, type == F32 ? 0x3e000000 : 0x3000);
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
      return random_constant(m, type, random_is_float(type) ? any_float(m, type) : random_bits(m));
   uint32_t word = m->in_helper ? m->params[0] : random_below(m, 2) ? m->gid : m->lid;
   if (random_below(m, 2))
      word = input_word(m, word);
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
   uint32_t value = random_expression(m, from, depth);
   uint32_t zero = random_constant(m, from, 0);
   uint32_t top = random_constant(m, from, from == F32 ? 0x42c80000 : 0x5640); /* 100 */
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
      return input_word(m, a);
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

static uint32_t private_word(struct maker *m, unsigned depth)
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
   uint32_t elements = RANDOM_OUT_WORDS * 32 / (random_widths[type] * shape_slots[shape]);
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
   return RESULT(SpvOpCompositeExtract, m->type[type], value, random_below(m, shape_counts[shape]));
}

/* A few neighbours, of which some are read as well. */
static void memory_stores(struct maker *m)
{
   enum type type = random_int_type(m);
   unsigned shape = any_shape(m), count = 1 + random_below(m, 4);
   uint32_t at = random_below(m, 64);
   bool is_computed = random_below(m, 3) == 0;
   for (unsigned i = 0; i < count; i++) {
      uint32_t words[6] = {0}, value = 0;
      for (unsigned e = 0; e < shape_counts[shape]; e++)
         words[e] = value = e ? random_leaf(m, type) : random_expression(m, type, 1);
      if (shape)
         value = random_result(m, SpvOpCompositeConstruct, m->alias_type[type][shape],
                               shape_counts[shape], words);
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
      if (random_has(m, F32) || random_has(m, F16))
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

static uint32_t float_op(struct maker *m, enum type type, unsigned depth)
{
   static const SpvOp binary[] = {SpvOpFAdd, SpvOpFSub, SpvOpFMul};
   static const uint32_t unary[] = {GLSLstd450FAbs, GLSLstd450Floor,     GLSLstd450Trunc,
                                    GLSLstd450Ceil, GLSLstd450RoundEven, GLSLstd450FSign};
   uint32_t t = m->type[type], a;
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
      if (random_has(m, F16) && random_has(m, F32))
         return RESULT(SpvOpFConvert, t, random_expression(m, type == F16 ? F32 : F16, depth));
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
   enum type type = any_type(m, false);
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

/* ---- statements --------------------------------------------------------- */

void random_open_block(struct maker *m, uint32_t label)
{
   EMIT(SpvOpLabel, label);
   m->label = label;
}

/* A word that tells all bits of a value, the same for all NaNs. */
static uint32_t word_of(struct maker *m, enum type type, uint32_t id)
{
   uint32_t t = m->type[U32];
   if (type == BOOL)
      return RESULT(SpvOpSelect, t, id, random_constant(m, U32, 1), random_constant(m, U32, 0));
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

static void output(struct maker *m, uint32_t slot, uint32_t word)
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
   enum type type = any_type(m, true);
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
   for (unsigned i = 0; i <= cases; i++) {
      random_open_block(m, labels[i]);
      random_statements(m, 1 + random_below(m, 2));
      EMIT(SpvOpBranch, i < cases && random_below(m, 3) == 0 ? labels[i + 1] : merge);
   }
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

static void statement(struct maker *m)
{
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
      EMIT(SpvOpStore, private_word(m, 1), value);
      return;
   }
   case 5:
      output(m, random_below(m, RANDOM_OUT_WORDS - 6), random_expression(m, U32, 2));
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

void random_statements(struct maker *m, unsigned count)
{
   m->depth++;
   for (unsigned i = 0; i < count && m->budget > 0; i++)
      statement(m);
   m->depth--;
}

/* Threads of the workgroup exchange a word; where all of them come by. */
static void exchange(struct maker *m)
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

/* ---- module ------------------------------------------------------------- */

static void make_types(struct maker *m)
{
   m->void_type = GLOBAL(SpvOpTypeVoid, 0);
   m->globals.count--; /* OpTypeVoid has no operand but its result */
   m->globals.words[m->globals.count - 2] = 2u << SpvWordCountShift | SpvOpTypeVoid;
   for (unsigned t = 0; t < TYPES; t++) {
      if (!random_has(m, (enum type)t) && t != F32)
         continue;
      m->type[t] = random_id(m);
      if (t == BOOL)
         PUT(&m->globals, SpvOpTypeBool, m->type[t]);
      else if (random_is_float((enum type)t))
         PUT(&m->globals, SpvOpTypeFloat, m->type[t], random_widths[t]);
      else
         PUT(&m->globals, SpvOpTypeInt, m->type[t], random_widths[t], 0);
   }
   m->uvec3 = GLOBAL(SpvOpTypeVector, m->type[U32], 3);
   m->uvec4 = GLOBAL(SpvOpTypeVector, m->type[U32], 4);
   m->vector[U32][3] = m->uvec3;
   m->vector[U32][4] = m->uvec4;
}

uint32_t random_variable(struct maker *m, uint32_t pointer, SpvStorageClass class)
{
   uint32_t id = random_id(m);
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

uint32_t random_vector_type(struct maker *m, enum type type, uint32_t count)
{
   if (count == 1)
      return m->type[type];
   if (!m->vector[type][count])
      m->vector[type][count] = GLOBAL(SpvOpTypeVector, m->type[type], count);
   return m->vector[type][count];
}

/* The output once more, as arrays of all kinds of elements. */
static void make_aliases(struct maker *m, struct interface *i)
{
   const unsigned shapes = m->features & RANDOM_WIDE ? SHAPES : SHAPES - 1;
   for (unsigned t = U8; t <= U64; t++)
      for (unsigned shape = 0; random_has(m, (enum type)t) && shape < shapes; shape++) {
         struct alias *alias = &i->aliases[i->alias_count++];
         uint32_t element = random_vector_type(m, (enum type)t, shape_counts[shape]);
         alias->stride = random_widths[t] / 8u * shape_slots[shape];
         alias->array = GLOBAL(SpvOpTypeRuntimeArray, element);
         alias->structure = GLOBAL(SpvOpTypeStruct, alias->array);
         uint32_t whole = GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, alias->structure);
         m->alias_type[t][shape] = element;
         m->alias_ptr[t][shape] =
            element == m->type[U32]
               ? m->ptr_out
               : GLOBAL(SpvOpTypePointer, SpvStorageClassStorageBuffer, element);
         m->alias_var[t][shape] = alias->variable =
            random_variable(m, whole, SpvStorageClassStorageBuffer);
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
   uint32_t words = GLOBAL(SpvOpTypeArray, m->type[U32], random_constant(m, U32, RANDOM_THREADS));
   uint32_t shared = GLOBAL(SpvOpTypePointer, SpvStorageClassWorkgroup, words);
   m->ptr_shared = GLOBAL(SpvOpTypePointer, SpvStorageClassWorkgroup, m->type[U32]);
   uint32_t input = GLOBAL(SpvOpTypePointer, SpvStorageClassInput, m->uvec3);
   m->private_array = GLOBAL(SpvOpTypeArray, m->type[U32], random_constant(m, U32, PRIVATE_WORDS));
   m->ptr_private = GLOBAL(SpvOpTypePointer, SpvStorageClassFunction, m->type[U32]);
   m->in_var = random_variable(m, in, SpvStorageClassStorageBuffer);
   m->out_var = random_variable(m, out, SpvStorageClassStorageBuffer);
   m->shared_var = random_variable(m, shared, SpvStorageClassWorkgroup);
   m->gid_var = random_variable(m, input, SpvStorageClassInput);
   m->lid_var = random_variable(m, input, SpvStorageClassInput);
   if (m->features & RANDOM_MEMORY)
      make_aliases(m, &i);
   if (m->features & RANDOM_WIDE)
      random_wide_open(m);
   return i;
}

/* A function of two words that calls nothing. */
static void make_helper(struct maker *m)
{
   uint32_t type = GLOBAL(SpvOpTypeFunction, m->type[U32], m->type[U32], m->type[U32]);
   m->helper_function = random_id(m);
   m->to = &m->helper;
   m->in_helper = true;
   EMIT(SpvOpFunction, m->type[U32], m->helper_function, 0, type);
   for (unsigned i = 0; i < 2; i++) {
      m->params[i] = random_id(m);
      EMIT(SpvOpFunctionParameter, m->type[U32], m->params[i]);
   }
   uint32_t early = random_id(m), late = random_id(m);
   random_open_block(m, random_id(m));
   m->budget = 40;
   uint32_t condition = random_expression(m, BOOL, 2);
   EMIT(SpvOpSelectionMerge, late, 0);
   EMIT(SpvOpBranchConditional, condition, early, late);
   random_open_block(m, early);
   EMIT(SpvOpReturnValue, random_expression(m, U32, 2));
   random_open_block(m, late);
   EMIT(SpvOpReturnValue, random_expression(m, U32, 3));
   random_put(m->to, SpvOpFunctionEnd, 0, NULL);
   m->in_helper = false;
}

static void make_variables(struct maker *m)
{
   uint32_t array = GLOBAL(SpvOpTypePointer, SpvStorageClassFunction, m->private_array);
   for (unsigned t = 0; t < TYPES; t++) {
      if (!random_has(m, (enum type)t))
         continue;
      uint32_t pointer =
         t == U32 ? m->ptr_private : GLOBAL(SpvOpTypePointer, SpvStorageClassFunction, m->type[t]);
      for (unsigned i = 0; i < VARIABLES; i++) {
         m->variable[t][i] = random_id(m);
         EMIT(SpvOpVariable, pointer, m->variable[t][i], SpvStorageClassFunction);
      }
   }
   m->array_var = random_id(m);
   EMIT(SpvOpVariable, array, m->array_var, SpvStorageClassFunction);
   if (m->features & RANDOM_WIDE)
      random_wide_variables(m);
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
      for (unsigned i = 0; random_has(m, (enum type)t) && i < VARIABLES; i++) {
         uint32_t value =
            t == BOOL ? random_constant(m, BOOL, i & 1)
            : random_is_float((enum type)t)
               ? random_constant(m, (enum type)t, any_float(m, (enum type)t))
               : random_convert_int(m, (enum type)t, U32,
                                    i ? input_word(m, i == 1 ? m->gid : m->lid) : m->gid);
         EMIT(SpvOpStore, m->variable[t][i], value);
      }
   for (unsigned i = 0; i < PRIVATE_WORDS; i++) {
      uint32_t pointer =
         RESULT(SpvOpAccessChain, m->ptr_private, m->array_var, random_constant(m, U32, i));
      EMIT(SpvOpStore, pointer, random_constant(m, U32, random_bits(m)));
   }
   if (m->features & RANDOM_WIDE)
      random_wide_initialize(m);
   for (unsigned i = 0; i < RANDOM_OUT_WORDS; i++)
      output(m, i, random_constant(m, U32, i));
}

static void make_main(struct maker *m, uint32_t function)
{
   uint32_t type = GLOBAL(SpvOpTypeFunction, m->void_type);
   m->to = &m->main;
   EMIT(SpvOpFunction, m->void_type, function, 0, type);
   random_open_block(m, random_id(m));
   make_variables(m);
   m->gid = first_of(m, m->gid_var);
   m->lid = first_of(m, m->lid_var);
   initialize(m);
   unsigned parts = 1 + random_below(m, 3);
   for (unsigned i = 0; i < parts; i++) {
      m->budget = 60 + random_below(m, 100);
      random_statements(m, 2 + random_below(m, 6));
      m->budget = 10;
      if (m->features & RANDOM_SHARED)
         exchange(m);
   }
   if (m->features & RANDOM_WIDE) {
      m->budget = 40;
      m->may_return = true;
      random_statements(m, 2 + random_below(m, 4));
   }
   for (unsigned t = 0, slot = RANDOM_OUT_WORDS - 6; t < TYPES; t++) {
      uint32_t sum = 0;
      for (unsigned i = 0; random_has(m, (enum type)t) && i < VARIABLES; i++) {
         uint32_t value = RESULT(SpvOpLoad, m->type[t], m->variable[t][i]);
         uint32_t word = word_of(m, (enum type)t, value);
         sum = sum ? RESULT(SpvOpIAdd, m->type[U32],
                            RESULT(SpvOpIMul, m->type[U32], sum, random_constant(m, U32, 31)), word)
                   : word;
      }
      if (sum)
         output(m, slot < RANDOM_OUT_WORDS ? slot++ : RANDOM_OUT_WORDS - 1, sum);
   }
   random_put(m->to, SpvOpReturn, 0, NULL);
   random_put(m->to, SpvOpFunctionEnd, 0, NULL);
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
      {RANDOM_SUBGROUP | RANDOM_WIDE, SpvCapabilityGroupNonUniformVote},
      {RANDOM_SUBGROUP | RANDOM_WIDE, SpvCapabilityGroupNonUniformShuffleRelative},
      {RANDOM_SUBGROUP | RANDOM_WIDE, SpvCapabilityGroupNonUniformClustered},
      {RANDOM_SUBGROUP | RANDOM_WIDE, SpvCapabilityGroupNonUniformQuad},
   };
   static const char set[16] = "GLSL.std.450", name[8] = "main";
   static const _Alignas(4) char extension[24] = "SPV_KHR_float_controls";
   uint32_t words[12] = {m->glsl};
   for (size_t i = 0; i < AGX_COUNT(capabilities); i++)
      if ((m->features & capabilities[i].feature) == capabilities[i].feature)
         PUT(to, SpvOpCapability, capabilities[i].capability);
   random_put(to, SpvOpExtension, 6, (const uint32_t *)(const void *)extension);
   memcpy(words + 1, set, sizeof(set));
   if ((m->features & (RANDOM_MEMORY | RANDOM_INT8)) == (RANDOM_MEMORY | RANDOM_INT8)) {
      static const char storage[24] = "SPV_KHR_8bit_storage";
      uint32_t name_words[6];
      memcpy(name_words, storage, sizeof(storage));
      random_put(to, SpvOpExtension, 6, name_words);
   }
   random_put(to, SpvOpExtInstImport, 5, words);
   PUT(to, SpvOpMemoryModel, SpvAddressingModelLogical, SpvMemoryModelGLSL450);
   words[0] = SpvExecutionModelGLCompute;
   words[1] = function;
   memcpy(words + 2, name, sizeof(name));
   words[4] = m->gid_var;
   words[5] = m->lid_var;
   random_put(to, SpvOpEntryPoint, 6, words);
   PUT(to, SpvOpExecutionMode, function, SpvExecutionModeLocalSize, RANDOM_THREADS, 1, 1);
   for (enum type type = F16; type <= F32; type++)
      if (random_has(m, type) && m->features & RANDOM_ZEROS)
         PUT(to, SpvOpExecutionMode, function, SpvExecutionModeSignedZeroInfNanPreserve,
             random_widths[type]);
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
   if (m->features & RANDOM_WIDE)
      random_wide_decorate(m, to);
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
   m->glsl = random_id(m);
   uint32_t function = random_id(m);
   make_types(m);
   struct interface interface = make_interface(m);
   make_helper(m);
   if (features & RANDOM_WIDE)
      random_wide_helper(m);
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
