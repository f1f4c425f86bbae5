/* SPDX-License-Identifier: MIT
 *
 * Large kernels of one kind of instruction each, for scale_test.c and scale_bench.c. shapes.c puts
 * them between its prologue and its epilogue; what they compute does not matter.
 */
#include <stdlib.h>
#include <string.h>

#include <spirv/unified1/GLSL.std.450.h>

#include "base/util.h"
#include "shape_maker.h"

#define WINDOW   100u /* values that live together */
#define BUFFERS  16u
#define LEVELS   16u
#define ELEMENTS 64u
/* A variable that no pass knows, since it begins with what was loaded. */
#define SEED (VARIABLES + LIVES - 1)

static uint32_t ids(struct maker *k, uint32_t count)
{
   uint32_t first = k->next;
   k->next += count;
   return first;
}

/* An instruction with a result, whose id follows after the first of the words, or for a type comes
 * before all of them. */
static uint32_t put_result(struct maker *k, SpvOp op, uint32_t before, unsigned count,
                           const uint32_t *words)
{
   uint32_t all[ELEMENTS], result = k->next++;
   memcpy(all, words, before * 4);
   all[before] = result;
   memcpy(all + before + 1, words + before, (count - before) * 4);
   shape_put_words(k, op, count + 1, all);
   return result;
}

#define put_op(k, op, ...)                                                                         \
   put_result((k), (op), 1, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (const uint32_t[]){__VA_ARGS__})
#define put_type(k, op, ...)                                                                       \
   put_result((k), (op), 0, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (const uint32_t[]){__VA_ARGS__})

static uint32_t pointer_to(struct maker *k, SpvStorageClass storage, uint32_t type)
{
   return put_type(k, SpvOpTypePointer, storage, type);
}

static uint32_t x_of(struct maker *k)
{
   return shape_load(k, X);
}

static void to_x(struct maker *k, uint32_t value)
{
   shape_put(k, SpvOpStore, X, shape_op2(k, SpvOpBitwiseXor, x_of(k), value));
}

static uint32_t any(struct maker *k, uint32_t i, uint32_t below)
{
   return shape_op2(k, SpvOpBitwiseAnd, shape_step(k, SEED, i), shape_small(below - 1));
}

/* ---- many values ------------------------------------------------------------ */

/* A chain of multiplications, whose results are used again in the opposite order. */
static void make_lives(struct maker *k, uint32_t count)
{
   uint32_t *values = calloc(count, sizeof(*values)), sum = x_of(k);
   for (uint32_t i = 0; i < count; i++)
      values[i] = shape_step(k, SEED, i);
   for (uint32_t i = count; i-- > 0;)
      sum = shape_op2(k, i % 2 ? SpvOpIAdd : SpvOpBitwiseXor, sum, values[i]);
   shape_put(k, SpvOpStore, X, sum);
   free(values);
}

static void make_windows(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i += WINDOW) {
      struct open open = shape_open_if(k, i);
      make_lives(k, AGX_MIN(WINDOW, size - i));
      shape_close(k, &open, i);
   }
}

/* Chains side by side. */
static void make_chains(struct maker *k, uint32_t size)
{
   for (uint32_t v = 0; v < LIVES; v++)
      shape_put(k, SpvOpStore, VARIABLES + v,
                shape_op2(k, SpvOpIMul, x_of(k), shape_small(2 * v + 3)));
   for (uint32_t i = 0; i < size; i++)
      shape_step(k, VARIABLES + i % LIVES, i);
   for (uint32_t v = 0; v < LIVES; v++)
      to_x(k, shape_load(k, VARIABLES + v));
}

static void local_words(struct maker *k, uint32_t size)
{
   k->own[0] = ids(k, size);
   for (uint32_t i = 0; i < size; i++)
      shape_put(k, SpvOpVariable, POINTER_LOCAL, k->own[0] + i, SpvStorageClassFunction);
}

/* All variables change in one loop, or in one if. */
static void change_variables(struct maker *k, uint32_t size, bool is_loop)
{
   for (uint32_t i = 0; i < size; i++)
      shape_put(k, SpvOpStore, k->own[0] + i, shape_step(k, SEED, i));
   struct open open = is_loop ? shape_open_loop(k) : shape_open_if(k, 1);
   for (uint32_t i = 0; i < size; i++)
      shape_step(k, k->own[0] + i, i);
   shape_close(k, &open, 1);
   for (uint32_t i = 0; i < size; i++)
      to_x(k, shape_load(k, k->own[0] + i));
}

static void make_loop_phis(struct maker *k, uint32_t size)
{
   change_variables(k, size, true);
}

static void make_if_phis(struct maker *k, uint32_t size)
{
   change_variables(k, size, false);
}

static void declare_constants(struct maker *k, uint32_t size)
{
   k->own[0] = ids(k, size);
   for (uint32_t i = 0; i < size; i++)
      shape_put(k, SpvOpConstant, UINT, k->own[0] + i, i * FACTOR);
}

static void make_constants(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++)
      shape_put(k, SpvOpStore, X,
                shape_op2(k, i % 2 ? SpvOpIAdd : SpvOpBitwiseXor, x_of(k), k->own[0] + i));
}

/* ---- arithmetic --------------------------------------------------------------- */

static void make_divisions(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      SpvOp op = i % 2 ? SpvOpUMod : SpvOpUDiv;
      to_x(k, shape_op2(k, op, x_of(k), shape_op2(k, SpvOpIAdd, THREAD, shape_small(i))));
   }
}

static void declare_wide(struct maker *k, uint32_t size)
{
   k->own[0] = put_type(k, SpvOpTypeInt, 64, 0);
}

static void make_wide(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      uint32_t wide = put_op(k, SpvOpUConvert, k->own[0], x_of(k));
      wide = put_op(k, SpvOpIMul, k->own[0], wide, wide);
      wide = put_op(k, SpvOpShiftRightLogical, k->own[0], wide, shape_small(i & 31));
      to_x(k, put_op(k, SpvOpUConvert, UINT, wide));
   }
}

static void declare_short(struct maker *k, uint32_t size)
{
   k->own[0] = put_type(k, SpvOpTypeInt, 16, 0);
}

static void declare_float(struct maker *k, uint32_t size)
{
   k->own[0] = put_type(k, SpvOpTypeFloat, 32);
   k->own[1] = put_type(k, SpvOpTypeVector, k->own[0], 4);
   k->own[2] = put_type(k, SpvOpTypeMatrix, k->own[1], 4);
}

static void make_functions_of_float(struct maker *k, uint32_t size)
{
   static const uint32_t functions[] = {GLSLstd450Sin, GLSLstd450Exp2, GLSLstd450Sqrt,
                                        GLSLstd450Log2, GLSLstd450Floor};
   for (uint32_t i = 0; i < size; i++) {
      uint32_t value = put_op(k, SpvOpConvertUToF, k->own[0], x_of(k));
      value = put_op(k, SpvOpExtInst, k->own[0], GLSL, functions[i % AGX_COUNT(functions)], value);
      value = put_op(k, SpvOpFMul, k->own[0], value, value);
      to_x(k, put_op(k, SpvOpConvertFToU, UINT, value));
   }
}

static void make_vectors(struct maker *k, uint32_t size)
{
   uint32_t x = put_op(k, SpvOpConvertUToF, k->own[0], x_of(k));
   uint32_t vector = put_op(k, SpvOpCompositeConstruct, k->own[1], x, x, x, x);
   for (uint32_t i = 0; i < size; i++) {
      uint32_t other = put_op(k, SpvOpVectorShuffle, k->own[1], vector, vector, i % 4, 5, 2, 3);
      other = put_op(k, SpvOpFMul, k->own[1], vector, other);
      vector = put_op(k, SpvOpFAdd, k->own[1], other, vector);
      if (i % 4 == 3)
         vector = put_op(k, SpvOpCompositeInsert, k->own[1], x, vector, 1);
   }
   x = put_op(k, SpvOpCompositeExtract, k->own[0], vector, 0);
   to_x(k, put_op(k, SpvOpConvertFToU, UINT, x));
}

static void make_matrices(struct maker *k, uint32_t size)
{
   uint32_t x = put_op(k, SpvOpConvertUToF, k->own[0], x_of(k));
   uint32_t vector = put_op(k, SpvOpCompositeConstruct, k->own[1], x, x, x, x);
   for (uint32_t i = 0; i < size; i++) {
      uint32_t matrix =
         put_op(k, SpvOpCompositeConstruct, k->own[2], vector, vector, vector, vector);
      vector = put_op(k, SpvOpMatrixTimesVector, k->own[1], matrix, vector);
   }
   x = put_op(k, SpvOpCompositeExtract, k->own[0], vector, 3);
   to_x(k, put_op(k, SpvOpConvertFToU, UINT, x));
}

static void make_short(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      uint32_t value = put_op(k, SpvOpUConvert, k->own[0], x_of(k));
      value = put_op(k, SpvOpIMul, k->own[0], value, value);
      value = put_op(k, SpvOpShiftRightLogical, k->own[0], value, shape_small(i & 7));
      shape_put(k, SpvOpStore, X,
                shape_op2(k, SpvOpIAdd, x_of(k), put_op(k, SpvOpUConvert, UINT, value)));
   }
}

static void make_selects(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      uint32_t one = put_op(k, SpvOpULessThan, BOOL, x_of(k), shape_step(k, SEED, i));
      uint32_t two = put_op(k, SpvOpIEqual, BOOL, x_of(k), shape_small(i));
      uint32_t both = put_op(k, i % 2 ? SpvOpLogicalAnd : SpvOpLogicalOr, BOOL, one, two);
      to_x(k, put_op(k, SpvOpSelect, UINT, both, shape_small(i + 1), THREAD));
   }
}

/* ---- memory --------------------------------------------------------------------- */

static void decorate_buffers(struct maker *k, uint32_t size)
{
   k->own[0] = ids(k, BUFFERS);
   for (uint32_t i = 0; i < BUFFERS; i++) {
      shape_put(k, SpvOpDecorate, k->own[0] + i, SpvDecorationDescriptorSet, 0);
      shape_put(k, SpvOpDecorate, k->own[0] + i, SpvDecorationBinding, 2 + i);
   }
}

static void declare_buffers(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < BUFFERS; i++)
      shape_put(k, SpvOpVariable, POINTER_BLOCK, k->own[0] + i, SpvStorageClassStorageBuffer);
}

static void make_buffers(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      uint32_t where = shape_place(k, i / BUFFERS);
      uint32_t value = shape_load(k, shape_element(k, k->own[0] + i % BUFFERS, where));
      value = shape_op2(k, SpvOpIAdd, value, x_of(k));
      shape_put(k, SpvOpStore, shape_element(k, k->own[0] + i * 7 % BUFFERS, where), value);
   }
}

/* Loads of all, which nothing keeps apart. */
static void make_loads(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++)
      to_x(k, shape_load(k, shape_element(k, IN, shape_place(k, i))));
}

/* Any word becomes another's. */
static void make_gathers(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      uint32_t value = shape_load(k, shape_element(k, OUT, any(k, i, 256)));
      shape_put(k, SpvOpStore, shape_element(k, OUT, any(k, i, 128)), value);
   }
}

/* Of what all threads read alike the preamble takes what it can. */
static void make_uniforms(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      uint32_t index = shape_op2(k, SpvOpISub, shape_place(k, i), THREAD);
      uint32_t value = shape_load(k, shape_element(k, k->own[0] + i % BUFFERS, index));
      to_x(k, shape_op2(k, SpvOpIMul, value, value));
   }
}

static void make_atomics(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++)
      to_x(k, put_op(k, SpvOpAtomicIAdd, UINT, shape_element(k, OUT, shape_place(k, i)),
                     shape_small(SpvScopeDevice), shape_small(0), x_of(k)));
}

static void declare_shared(struct maker *k, uint32_t size)
{
   uint32_t array = put_type(k, SpvOpTypeArray, UINT, shape_small(ELEMENTS));
   uint32_t all = pointer_to(k, SpvStorageClassWorkgroup, array);
   k->own[0] = pointer_to(k, SpvStorageClassWorkgroup, UINT);
   k->own[1] = put_op(k, SpvOpVariable, all, SpvStorageClassWorkgroup);
}

static void make_shared(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      uint32_t mine = put_op(k, SpvOpAccessChain, k->own[0], k->own[1], THREAD);
      shape_put(k, SpvOpStore, mine, x_of(k));
      shape_put(k, SpvOpControlBarrier, shape_small(SpvScopeWorkgroup),
                shape_small(SpvScopeWorkgroup), shape_small(8));
      uint32_t other = shape_op2(k, SpvOpBitwiseXor, THREAD, shape_small(i % 32));
      to_x(k, shape_load(k, put_op(k, SpvOpAccessChain, k->own[0], k->own[1], other)));
      shape_put(k, SpvOpControlBarrier, shape_small(SpvScopeWorkgroup),
                shape_small(SpvScopeWorkgroup), shape_small(8));
   }
}

static void declare_array(struct maker *k, uint32_t size)
{
   uint32_t array = put_type(k, SpvOpTypeArray, UINT, shape_small(ELEMENTS));
   k->own[0] = pointer_to(k, SpvStorageClassFunction, array);
   k->own[2] = array;
}

static void local_array(struct maker *k, uint32_t size)
{
   k->own[1] = put_op(k, SpvOpVariable, k->own[0], SpvStorageClassFunction);
}

static uint32_t local_element(struct maker *k, uint32_t array, uint32_t index)
{
   return put_op(k, SpvOpAccessChain, POINTER_LOCAL, array, index);
}

static void make_array(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      shape_put(k, SpvOpStore, local_element(k, k->own[1], any(k, i, ELEMENTS)), x_of(k));
      to_x(k, shape_load(k, local_element(k, k->own[1], any(k, i, ELEMENTS))));
   }
}

#define SOME 4u /* elements of one of many arrays */

static void declare_arrays(struct maker *k, uint32_t size)
{
   uint32_t array = put_type(k, SpvOpTypeArray, UINT, shape_small(SOME));
   k->own[0] = pointer_to(k, SpvStorageClassFunction, array);
}

static void local_arrays(struct maker *k, uint32_t size)
{
   k->own[1] = ids(k, size);
   for (uint32_t i = 0; i < size; i++)
      shape_put(k, SpvOpVariable, k->own[0], k->own[1] + i, SpvStorageClassFunction);
}

static void make_arrays(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      for (uint32_t e = 0; e < SOME; e++)
         shape_put(k, SpvOpStore, local_element(k, k->own[1] + i, shape_small(e)), x_of(k));
      shape_put(k, SpvOpStore, local_element(k, k->own[1] + i, any(k, i, SOME)), shape_small(i));
      to_x(k, shape_load(k, local_element(k, k->own[1] + i, any(k, i, SOME))));
   }
}

/* An array as a value. */
static void make_composites(struct maker *k, uint32_t size)
{
   uint32_t value = put_op(k, SpvOpLoad, k->own[2], k->own[1]);
   for (uint32_t i = 0; i < size; i++) {
      value = put_op(k, SpvOpCompositeInsert, k->own[2], x_of(k), value, i % ELEMENTS);
      to_x(k, put_op(k, SpvOpCompositeExtract, UINT, value, i * 7 % ELEMENTS));
   }
}

/* Constant arrays, of which one element each is used. */
static void declare_tables(struct maker *k, uint32_t size)
{
   uint32_t array = put_type(k, SpvOpTypeArray, UINT, shape_small(ELEMENTS));
   uint32_t pointer = pointer_to(k, SpvStorageClassPrivate, array), elements[ELEMENTS + 2];
   k->own[0] = pointer_to(k, SpvStorageClassPrivate, UINT);
   uint32_t tables = AGX_MAX(1, size / ELEMENTS), constants = ids(k, tables);
   k->own[1] = ids(k, tables);
   for (uint32_t i = 0; i < tables; i++) {
      elements[0] = array;
      elements[1] = constants + i;
      for (uint32_t e = 0; e < ELEMENTS; e++)
         elements[2 + e] = put_op(k, SpvOpConstant, UINT, (i * ELEMENTS + e) * FACTOR);
      shape_put_words(k, SpvOpConstantComposite, ELEMENTS + 2, elements);
      shape_put(k, SpvOpVariable, pointer, k->own[1] + i, SpvStorageClassPrivate, constants + i);
   }
}

static void make_tables(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < AGX_MAX(1, size / ELEMENTS); i++)
      to_x(k, shape_load(
                 k, put_op(k, SpvOpAccessChain, k->own[0], k->own[1] + i, any(k, i, ELEMENTS))));
}

/* ---- what lanes share, images ------------------------------------------------------ */

static void make_subgroups(struct maker *k, uint32_t size)
{
   uint32_t scope = shape_small(SpvScopeSubgroup);
   for (uint32_t i = 0; i < size; i++) {
      uint32_t value = x_of(k);
      if (i % 3 == 0)
         value = put_op(k, SpvOpGroupNonUniformIAdd, UINT, scope, SpvGroupOperationReduce, value);
      else if (i % 3 == 1)
         value = put_op(k, SpvOpGroupNonUniformShuffleXor, UINT, scope, value, shape_small(i % 32));
      else
         value = put_op(k, SpvOpGroupNonUniformBroadcastFirst, UINT, scope, value);
      shape_put(k, SpvOpStore, X,
                shape_op2(k, SpvOpIMul, value, shape_op2(k, SpvOpIAdd, x_of(k), THREAD)));
   }
}

static void decorate_image(struct maker *k, uint32_t size)
{
   k->own[0] = ids(k, 1);
   shape_put(k, SpvOpDecorate, k->own[0], SpvDecorationDescriptorSet, 0);
   shape_put(k, SpvOpDecorate, k->own[0], SpvDecorationBinding, 2);
}

static void declare_image(struct maker *k, uint32_t size)
{
   k->own[1] = put_type(k, SpvOpTypeImage, UINT, SpvDim2D, 0, 0, 0, 2, SpvImageFormatR32ui);
   uint32_t pointer = pointer_to(k, SpvStorageClassUniformConstant, k->own[1]);
   shape_put(k, SpvOpVariable, pointer, k->own[0], SpvStorageClassUniformConstant);
   k->own[2] = put_type(k, SpvOpTypeVector, UINT, 2);
   k->own[3] = put_type(k, SpvOpTypeVector, UINT, 4);
}

static void make_images(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      uint32_t image = put_op(k, SpvOpLoad, k->own[1], k->own[0]);
      uint32_t where = put_op(k, SpvOpCompositeConstruct, k->own[2], THREAD, shape_small(i));
      uint32_t texel = put_op(k, SpvOpImageRead, k->own[3], image, where);
      to_x(k, put_op(k, SpvOpCompositeExtract, UINT, texel, 0));
      if (i % 2) {
         texel = put_op(k, SpvOpCompositeInsert, k->own[3], x_of(k), texel, 0);
         shape_put(k, SpvOpImageWrite, image, where, texel);
      }
   }
}

/* ---- control flow -------------------------------------------------------------------- */

static void make_nests(struct maker *k, uint32_t size)
{
   struct open open[LEVELS];
   for (uint32_t i = 0; i < size; i += LEVELS) {
      for (uint32_t level = 0; level < LEVELS; level++)
         open[level] = level % 3 == 0   ? shape_open_if(k, i)
                       : level % 3 == 1 ? shape_open_loop(k)
                                        : shape_open_switch(k, i);
      shape_mix(k, i);
      for (uint32_t level = LEVELS; level-- > 0;)
         shape_close(k, &open[level], level);
   }
}

/* if (rare) leave; op is OpReturn, or a branch goes to a block. */
static void leave_if_rare(struct maker *k, uint32_t i, uint32_t to)
{
   uint32_t merge = shape_label(k), inside = shape_label(k);
   uint32_t cond = shape_op2(k, SpvOpIEqual, shape_step(k, X, i), shape_small(0));
   shape_put(k, SpvOpSelectionMerge, merge, 0);
   shape_put(k, SpvOpBranchConditional, cond, inside, merge);
   shape_begin(k, inside);
   if (to)
      shape_go(k, to);
   else
      shape_put_words(k, SpvOpReturn, 0, &cond);
   shape_begin(k, merge);
}

static void make_returns(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++)
      leave_if_rare(k, i, 0);
}

static void make_jumps(struct maker *k, uint32_t size)
{
   struct open open = shape_open_loop(k);
   for (uint32_t i = 0; i < size; i++)
      leave_if_rare(k, i, i % 2 ? open.merge : open.continues);
   shape_close(k, &open, 1);
}

/* One switch of all. */
static void make_cases(struct maker *k, uint32_t size)
{
   uint32_t selector = shape_step(k, SEED, 1), merge = shape_label(k), first = ids(k, size);
   uint32_t *words = calloc(2 * size + 2, sizeof(*words));
   uint32_t most = AGX_MIN(size, 30000u), count = 0;
   for (uint32_t done = 0; done < size; done += most) {
      count = AGX_MIN(most, size - done);
      merge = shape_label(k);
      words[0] = selector;
      words[1] = merge;
      for (uint32_t i = 0; i < count; i++) {
         words[2 + 2 * i] = i * 3;
         words[3 + 2 * i] = first + done + i;
      }
      shape_put(k, SpvOpSelectionMerge, merge, 0);
      shape_put_words(k, SpvOpSwitch, 2 * count + 2, words);
      for (uint32_t i = 0; i < count; i++) {
         shape_begin(k, first + done + i);
         shape_mix(k, i);
         shape_go(k, merge);
      }
      shape_begin(k, merge);
   }
   free(words);
}

/* for (i = 0; i < limit; i++) X ^= IN[THREAD + i] */
static void open_count(struct maker *k, uint32_t variable, uint32_t limit, struct open *open)
{
   shape_put(k, SpvOpStore, variable, shape_small(0));
   *open = (struct open){SHAPE_LOOP_NEST, shape_label(k), shape_label(k), shape_label(k), variable};
   uint32_t inside = shape_label(k), test = shape_label(k);
   shape_go(k, open->header);
   shape_begin(k, open->header);
   shape_put(k, SpvOpLoopMerge, open->merge, open->continues, 0);
   shape_go(k, test);
   shape_begin(k, test);
   uint32_t cond = put_op(k, SpvOpULessThan, BOOL, shape_load(k, variable), limit);
   shape_put(k, SpvOpBranchConditional, cond, inside, open->merge);
   shape_begin(k, inside);
}

static void close_count(struct maker *k, const struct open *open)
{
   shape_go(k, open->continues);
   shape_begin(k, open->continues);
   uint32_t next = shape_op2(k, SpvOpIAdd, shape_load(k, open->second), shape_small(1));
   shape_put(k, SpvOpStore, open->second, next);
   shape_go(k, open->header);
   shape_begin(k, open->merge);
}

/* Loops of four turns in each other. */
static void make_known_loops(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      struct open outer, inner;
      open_count(k, VARIABLES, shape_small(4), &outer);
      open_count(k, VARIABLES + 1, shape_small(4), &inner);
      to_x(k, shape_op2(k, SpvOpIMul, x_of(k), shape_load(k, VARIABLES + 1)));
      close_count(k, &inner);
      close_count(k, &outer);
   }
}

/* Loops of unknown turns that load. */
static void make_loading_loops(struct maker *k, uint32_t size)
{
   uint32_t limit = x_of(k);
   for (uint32_t i = 0; i < size; i++) {
      struct open loop;
      open_count(k, VARIABLES, limit, &loop);
      uint32_t index = shape_op2(k, SpvOpIAdd, shape_place(k, i), shape_load(k, VARIABLES));
      to_x(k, shape_load(k, shape_element(k, IN, index)));
      close_count(k, &loop);
   }
}

/* ---- functions ------------------------------------------------------------------------ */

static void declare_function(struct maker *k, uint32_t size)
{
   k->own[0] = put_type(k, SpvOpTypeFunction, UINT, UINT);
   k->own[1] = ids(k, size + 1);
}

static void make_calls(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++)
      to_x(k, put_op(k, SpvOpFunctionCall, UINT, k->own[1], x_of(k)));
}

/* if (a == 7) return a * FACTOR; return a ^ 5; */
static void put_function(struct maker *k, uint32_t size)
{
   uint32_t a = ids(k, 1), inside = ids(k, 1), merge = ids(k, 1), none = 0;
   shape_put(k, SpvOpFunction, UINT, k->own[1], 0, k->own[0]);
   shape_put(k, SpvOpFunctionParameter, UINT, a);
   shape_begin(k, ids(k, 1));
   uint32_t cond = shape_op2(k, SpvOpIEqual, a, shape_small(7));
   shape_put(k, SpvOpSelectionMerge, merge, 0);
   shape_put(k, SpvOpBranchConditional, cond, inside, merge);
   shape_begin(k, inside);
   shape_put(k, SpvOpReturnValue, shape_op2(k, SpvOpIMul, a, FACTOR_ID));
   shape_begin(k, merge);
   shape_put(k, SpvOpReturnValue, shape_op2(k, SpvOpBitwiseXor, a, shape_small(5)));
   shape_put_words(k, SpvOpFunctionEnd, 0, &none);
}

/* Each function calls the next, up to so many. */
static bool is_called(uint32_t i)
{
   return i % LEVELS != 0;
}

static void make_call_chains(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++)
      if (!is_called(i))
         to_x(k, put_op(k, SpvOpFunctionCall, UINT, k->own[1] + i, x_of(k)));
}

static void put_functions(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0, none = 0; i < size; i++) {
      uint32_t a = ids(k, 1);
      shape_put(k, SpvOpFunction, UINT, k->own[1] + i, 0, k->own[0]);
      shape_put(k, SpvOpFunctionParameter, UINT, a);
      shape_begin(k, ids(k, 1));
      uint32_t value = shape_op2(k, SpvOpIMul, a, FACTOR_ID);
      if (i + 1 < size && is_called(i + 1))
         value = put_op(k, SpvOpFunctionCall, UINT, k->own[1] + i + 1, value);
      shape_put(k, SpvOpReturnValue, shape_op2(k, SpvOpBitwiseXor, value, a));
      shape_put_words(k, SpvOpFunctionEnd, 0, &none);
   }
}

/* ---- all ------------------------------------------------------------------------- */

const struct bulk_shape bulk_shapes[] = {
   [SHAPE_WINDOWS - SHAPE_BULK] = {"windows of live values", .body = make_windows},
   [SHAPE_LIVES - SHAPE_BULK] = {"all values live", .body = make_lives},
   [SHAPE_CHAINS - SHAPE_BULK] = {"chains side by side", .body = make_chains},
   [SHAPE_LOOP_PHIS -
      SHAPE_BULK] = {"phis of one loop", .locals = local_words, .body = make_loop_phis},
   [SHAPE_IF_PHIS - SHAPE_BULK] = {"phis of one if", .locals = local_words, .body = make_if_phis},
   [SHAPE_CONSTANTS -
      SHAPE_BULK] = {"constants", .declare = declare_constants, .body = make_constants},
   [SHAPE_DIVISIONS - SHAPE_BULK] = {"divisions", .body = make_divisions},
   [SHAPE_WIDE - SHAPE_BULK] = {"64 bits", .declare = declare_wide, .body = make_wide},
   [SHAPE_SHORT - SHAPE_BULK] = {"16 bits", .declare = declare_short, .body = make_short},
   [SHAPE_FLOAT - SHAPE_BULK] = {"functions of floats", .declare = declare_float,
                                 .body = make_functions_of_float},
   [SHAPE_VECTORS - SHAPE_BULK] = {"vectors", .declare = declare_float, .body = make_vectors},
   [SHAPE_MATRICES - SHAPE_BULK] = {"matrices", .declare = declare_float, .body = make_matrices},
   [SHAPE_SELECTS - SHAPE_BULK] = {"selects", .body = make_selects},
   [SHAPE_BUFFERS - SHAPE_BULK] = {"many buffers", .decorate = decorate_buffers,
                                   .declare = declare_buffers, .body = make_buffers},
   [SHAPE_LOADS - SHAPE_BULK] = {"loads", .body = make_loads},
   [SHAPE_GATHERS - SHAPE_BULK] = {"gathers", .body = make_gathers},
   [SHAPE_UNIFORMS - SHAPE_BULK] = {"uniform loads", .decorate = decorate_buffers,
                                    .declare = declare_buffers, .body = make_uniforms},
   [SHAPE_ATOMICS - SHAPE_BULK] = {"atomics", .body = make_atomics},
   [SHAPE_SHARED -
      SHAPE_BULK] = {"workgroup memory", .declare = declare_shared, .body = make_shared},
   [SHAPE_ARRAY - SHAPE_BULK] = {"one private array", .declare = declare_array,
                                 .locals = local_array, .body = make_array},
   [SHAPE_ARRAYS - SHAPE_BULK] = {"private arrays", .declare = declare_arrays,
                                  .locals = local_arrays, .body = make_arrays},
   [SHAPE_COMPOSITES - SHAPE_BULK] = {"composites", .declare = declare_array, .locals = local_array,
                                      .body = make_composites},
   [SHAPE_TABLES -
      SHAPE_BULK] = {"constant tables", .declare = declare_tables, .body = make_tables},
   [SHAPE_SUBGROUPS - SHAPE_BULK] = {"subgroup operations", .body = make_subgroups},
   [SHAPE_IMAGES - SHAPE_BULK] = {"images", .decorate = decorate_image, .declare = declare_image,
                                  .body = make_images},
   [SHAPE_NESTS - SHAPE_BULK] = {"nests in a row", .body = make_nests},
   [SHAPE_RETURNS - SHAPE_BULK] = {"returns in a row", .body = make_returns},
   [SHAPE_JUMPS - SHAPE_BULK] = {"breaks and continues", .body = make_jumps},
   [SHAPE_CASES - SHAPE_BULK] = {"cases of one switch", .body = make_cases},
   [SHAPE_KNOWN_LOOPS - SHAPE_BULK] = {"loops of known turns", .body = make_known_loops},
   [SHAPE_LOADING_LOOPS - SHAPE_BULK] = {"loops that load", .body = make_loading_loops},
   [SHAPE_CALLS - SHAPE_BULK] = {"calls", .declare = declare_function, .body = make_calls,
                                 .functions = put_function},
   [SHAPE_FUNCTIONS - SHAPE_BULK] = {"functions", .declare = declare_function,
                                     .body = make_call_chains, .functions = put_functions},
};
_Static_assert(AGX_COUNT(bulk_shapes) == SHAPE_COUNT - SHAPE_BULK, "one row for each shape");

void bulk_body(struct maker *k, const struct bulk_shape *bulk, uint32_t size)
{
   shape_put(k, SpvOpStore, SEED, x_of(k));
   bulk->body(k, size);
}
