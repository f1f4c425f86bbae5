/* SPDX-License-Identifier: MIT
 *
 * Writes the pieces of large kernels as SPIR-V, for shapes.c and bulk_shapes.c.
 */
#include "shape_maker.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

void shape_put_words(struct maker *k, SpvOp op, unsigned count, const uint32_t *words)
{
   struct shape_module *m = k->m;
   if (m->count + count + 1 > m->capacity) {
      m->capacity = AGX_MAX(2 * m->capacity, m->count + count + 1024);
      m->words = realloc(m->words, m->capacity * 4);
   }
   m->words[m->count++] = (count + 1) << 16 | op;
   memcpy(m->words + m->count, words, count * 4);
   m->count += count;
}

uint32_t shape_label(struct maker *k)
{
   return k->next++;
}

void shape_begin(struct maker *k, uint32_t name)
{
   shape_put(k, SpvOpLabel, name);
}

void shape_go(struct maker *k, uint32_t to)
{
   shape_put(k, SpvOpBranch, to);
}

uint32_t shape_op2(struct maker *k, SpvOp op, uint32_t a, uint32_t b)
{
   uint32_t result = k->next++;
   bool is_bool = op == SpvOpINotEqual || op == SpvOpIEqual;
   shape_put(k, op, is_bool ? BOOL : UINT, result, a, b);
   return result;
}

uint32_t shape_load(struct maker *k, uint32_t pointer)
{
   uint32_t result = k->next++;
   shape_put(k, SpvOpLoad, UINT, result, pointer);
   return result;
}

uint32_t shape_small(uint32_t value)
{
   return CONSTANT + (value & 255);
}

uint32_t shape_element(struct maker *k, uint32_t buffer, uint32_t index)
{
   uint32_t result = k->next++;
   shape_put(k, SpvOpAccessChain, POINTER_UINT, result, buffer, shape_small(0), index);
   return result;
}

uint32_t shape_place(struct maker *k, uint32_t i)
{
   uint32_t high = shape_op2(k, SpvOpShiftLeftLogical, shape_small(i >> 8), shape_small(8));
   uint32_t own = shape_op2(k, SpvOpBitwiseOr, high, shape_small(i));
   return shape_op2(k, SpvOpIAdd, THREAD, own);
}

uint32_t shape_step(struct maker *k, uint32_t variable, uint32_t i)
{
   uint32_t value = shape_op2(k, SpvOpIMul, shape_load(k, variable), FACTOR_ID);
   value = shape_op2(k, SpvOpIAdd, value, shape_small(i | 1));
   shape_put(k, SpvOpStore, variable, value);
   return shape_op2(k, SpvOpShiftRightLogical, value, shape_small(RARE));
}

uint32_t shape_step_in_c(uint32_t *x, uint32_t i)
{
   *x = *x * FACTOR + ((i | 1) & 255);
   return *x >> RARE;
}

void shape_mix(struct maker *k, uint32_t i)
{
   shape_put(k, SpvOpStore, X, shape_op2(k, SpvOpBitwiseXor, shape_load(k, X), shape_small(i)));
}

struct open shape_open_if(struct maker *k, uint32_t i)
{
   struct open open = {.shape = SHAPE_IF_NEST, .merge = shape_label(k)};
   uint32_t inside = shape_label(k),
            cond = shape_op2(k, SpvOpINotEqual, shape_step(k, X, i), shape_small(0));
   shape_put(k, SpvOpSelectionMerge, open.merge, 0);
   shape_put(k, SpvOpBranchConditional, cond, inside, open.merge);
   shape_begin(k, inside);
   return open;
}

struct open shape_open_loop(struct maker *k)
{
   struct open open = {SHAPE_LOOP_NEST, shape_label(k), shape_label(k), shape_label(k), 0};
   uint32_t inside = shape_label(k);
   shape_go(k, open.header);
   shape_begin(k, open.header);
   shape_put(k, SpvOpLoopMerge, open.merge, open.continues, 0);
   shape_go(k, inside);
   shape_begin(k, inside);
   return open;
}

struct open shape_open_switch(struct maker *k, uint32_t i)
{
   struct open open = {.shape = SHAPE_SWITCH_NEST, .merge = shape_label(k)};
   uint32_t zero = shape_label(k), one = shape_label(k), other = shape_label(k),
            selector = shape_step(k, X, i);
   shape_put(k, SpvOpSelectionMerge, open.merge, 0);
   shape_put(k, SpvOpSwitch, selector, other, 0, zero, 1, one);
   shape_begin(k, zero);
   shape_mix(k, 7);
   shape_go(k, one);
   shape_begin(k, one);
   shape_mix(k, 11);
   shape_go(k, open.merge);
   shape_begin(k, other);
   return open;
}

void shape_close(struct maker *k, const struct open *open, uint32_t i)
{
   if (open->shape == SHAPE_LOOP_NEST) {
      /* Again while LEFT is not 0, if step is rare. */
      uint32_t again = shape_label(k), rare = shape_label(k);
      uint32_t cond = shape_op2(k, SpvOpIEqual, shape_step(k, X, i), shape_small(0));
      shape_put(k, SpvOpSelectionMerge, again, 0);
      shape_put(k, SpvOpBranchConditional, cond, rare, open->merge);
      shape_begin(k, rare);
      uint32_t left = shape_load(k, LEFT), after = shape_label(k);
      cond = shape_op2(k, SpvOpIEqual, left, shape_small(0));
      shape_put(k, SpvOpSelectionMerge, after, 0);
      shape_put(k, SpvOpBranchConditional, cond, open->merge, after);
      shape_begin(k, after);
      shape_put(k, SpvOpStore, LEFT, shape_op2(k, SpvOpISub, left, shape_small(1)));
      shape_go(k, again);
      shape_begin(k, again);
      shape_go(k, open->continues);
      shape_begin(k, open->continues);
      shape_go(k, open->header);
   } else {
      shape_go(k, open->merge);
   }
   shape_begin(k, open->merge);
   shape_mix(k, i + 3);
}

void shape_put_declarations(struct maker *k, const struct bulk_shape *bulk, uint32_t size)
{
   static const uint32_t name[] = {SpvExecutionModelGLCompute, MAIN, 0x6e69616d, 0, ID};
   static const uint32_t import[] = {GLSL, 0x4c534c47, 0x6474732e, 0x3035342e, 0};
   static const SpvCapability capabilities[] = {SpvCapabilityShader,
                                                SpvCapabilityInt64,
                                                SpvCapabilityInt16,
                                                SpvCapabilityGroupNonUniform,
                                                SpvCapabilityGroupNonUniformArithmetic,
                                                SpvCapabilityGroupNonUniformShuffle,
                                                SpvCapabilityGroupNonUniformBallot};
   for (uint32_t i = 0; i < AGX_COUNT(capabilities); i++)
      shape_put(k, SpvOpCapability, capabilities[i]);
   shape_put_words(k, SpvOpExtInstImport, AGX_COUNT(import), import);
   shape_put(k, SpvOpMemoryModel, SpvAddressingModelLogical, SpvMemoryModelGLSL450);
   shape_put_words(k, SpvOpEntryPoint, AGX_COUNT(name), name);
   shape_put(k, SpvOpExecutionMode, MAIN, SpvExecutionModeLocalSize, SHAPE_THREADS, 1, 1);
   shape_put(k, SpvOpDecorate, ID, SpvDecorationBuiltIn, SpvBuiltInGlobalInvocationId);
   shape_put(k, SpvOpDecorate, ARRAY, SpvDecorationArrayStride, 4);
   shape_put(k, SpvOpDecorate, BLOCK, SpvDecorationBlock);
   shape_put(k, SpvOpMemberDecorate, BLOCK, 0, SpvDecorationOffset, 0);
   for (uint32_t i = 0; i < 2; i++) {
      shape_put(k, SpvOpDecorate, IN + i, SpvDecorationDescriptorSet, 0);
      shape_put(k, SpvOpDecorate, IN + i, SpvDecorationBinding, i);
   }
   if (bulk && bulk->decorate)
      bulk->decorate(k, size);
   shape_put(k, SpvOpTypeVoid, VOID);
   shape_put(k, SpvOpTypeFunction, FUNCTION, VOID);
   shape_put(k, SpvOpTypeBool, BOOL);
   shape_put(k, SpvOpTypeInt, UINT, 32, 0);
   shape_put(k, SpvOpTypeVector, UINT3, UINT, 3);
   shape_put(k, SpvOpTypeRuntimeArray, ARRAY, UINT);
   shape_put(k, SpvOpTypeStruct, BLOCK, ARRAY);
   shape_put(k, SpvOpTypePointer, POINTER_BLOCK, SpvStorageClassStorageBuffer, BLOCK);
   shape_put(k, SpvOpTypePointer, POINTER_UINT, SpvStorageClassStorageBuffer, UINT);
   shape_put(k, SpvOpTypePointer, POINTER_INPUT, SpvStorageClassInput, UINT3);
   shape_put(k, SpvOpTypePointer, POINTER_LOCAL, SpvStorageClassFunction, UINT);
   shape_put(k, SpvOpVariable, POINTER_INPUT, ID, SpvStorageClassInput);
   shape_put(k, SpvOpVariable, POINTER_BLOCK, IN, SpvStorageClassStorageBuffer);
   shape_put(k, SpvOpVariable, POINTER_BLOCK, OUT, SpvStorageClassStorageBuffer);
   shape_put(k, SpvOpConstant, UINT, FACTOR_ID, FACTOR);
   for (uint32_t i = 0; i < 256; i++)
      shape_put(k, SpvOpConstant, UINT, CONSTANT + i, i);
   if (bulk && bulk->declare)
      bulk->declare(k, size);
}
