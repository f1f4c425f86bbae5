/* SPDX-License-Identifier: MIT
 *
 * Kernels of a given control flow and size as SPIR-V, for shapes_test.c and scale_test.c.
 */
#include "shapes.h"

#include <stdlib.h>
#include <string.h>

#include <spirv/unified1/spirv.h>

#include "base/util.h"

#define FACTOR   1664525u
#define AGAIN    3u /* turns of all loops beyond their first */
#define RARE     20 /* bits of a condition's number that are dropped: one in 4096 is 0 */
#define PHIS     8u
#define LIVES    16u
#define CONSTANT 64u /* ids of the constants 0 to 255 */

enum id {
   MAIN = 1,
   VOID,
   FUNCTION,
   BOOL,
   UINT,
   UINT3,
   ARRAY,
   BLOCK,
   POINTER_BLOCK,
   POINTER_UINT,
   POINTER_INPUT,
   POINTER_LOCAL,
   ID,
   IN,
   OUT,
   FACTOR_ID,
   X,
   LEFT,
   THREAD,
   VARIABLES = 32,
   FIRST = CONSTANT + 256,
};

struct maker {
   struct shape_module *m;
   uint32_t next;
};

static void put_words(struct maker *k, SpvOp op, unsigned count, const uint32_t *words)
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

#define put(k, op, ...)                                                                            \
   put_words((k), (op), sizeof((uint32_t[]){__VA_ARGS__}) / 4, (const uint32_t[]){__VA_ARGS__})

static uint32_t label(struct maker *k)
{
   return k->next++;
}

static void begin(struct maker *k, uint32_t name)
{
   put(k, SpvOpLabel, name);
}

static void go(struct maker *k, uint32_t to)
{
   put(k, SpvOpBranch, to);
}

static uint32_t op2(struct maker *k, SpvOp op, uint32_t a, uint32_t b)
{
   uint32_t result = k->next++;
   bool is_bool = op == SpvOpINotEqual || op == SpvOpIEqual;
   put(k, op, is_bool ? BOOL : UINT, result, a, b);
   return result;
}

static uint32_t load(struct maker *k, uint32_t pointer)
{
   uint32_t result = k->next++;
   put(k, SpvOpLoad, UINT, result, pointer);
   return result;
}

static uint32_t small(uint32_t value)
{
   return CONSTANT + (value & 255);
}

static uint32_t element(struct maker *k, uint32_t buffer, uint32_t index)
{
   uint32_t result = k->next++;
   put(k, SpvOpAccessChain, POINTER_UINT, result, buffer, small(0), index);
   return result;
}

/* ---- pieces ------------------------------------------------------------ */

/* variable = variable * FACTOR + i; returns a number that is rarely 0. */
static uint32_t step(struct maker *k, uint32_t variable, uint32_t i)
{
   uint32_t value = op2(k, SpvOpIMul, load(k, variable), FACTOR_ID);
   value = op2(k, SpvOpIAdd, value, small(i | 1));
   put(k, SpvOpStore, variable, value);
   return op2(k, SpvOpShiftRightLogical, value, small(RARE));
}

static uint32_t step_in_c(uint32_t *x, uint32_t i)
{
   *x = *x * FACTOR + ((i | 1) & 255);
   return *x >> RARE;
}

static void mix(struct maker *k, uint32_t i)
{
   put(k, SpvOpStore, X, op2(k, SpvOpBitwiseXor, load(k, X), small(i)));
}

/* if (step) { */
struct open {
   enum shape shape;
   uint32_t merge, continues, header, second;
};

static struct open open_if(struct maker *k, uint32_t i)
{
   struct open open = {.shape = SHAPE_IF_NEST, .merge = label(k)};
   uint32_t inside = label(k), cond = op2(k, SpvOpINotEqual, step(k, X, i), small(0));
   put(k, SpvOpSelectionMerge, open.merge, 0);
   put(k, SpvOpBranchConditional, cond, inside, open.merge);
   begin(k, inside);
   return open;
}

static struct open open_loop(struct maker *k)
{
   struct open open = {SHAPE_LOOP_NEST, label(k), label(k), label(k), 0};
   uint32_t inside = label(k);
   go(k, open.header);
   begin(k, open.header);
   put(k, SpvOpLoopMerge, open.merge, open.continues, 0);
   go(k, inside);
   begin(k, inside);
   return open;
}

/* Case 0 falls through to case 1; the default is left open. */
static struct open open_switch(struct maker *k, uint32_t i)
{
   struct open open = {.shape = SHAPE_SWITCH_NEST, .merge = label(k)};
   uint32_t zero = label(k), one = label(k), other = label(k), selector = step(k, X, i);
   put(k, SpvOpSelectionMerge, open.merge, 0);
   put(k, SpvOpSwitch, selector, other, 0, zero, 1, one);
   begin(k, zero);
   mix(k, 7);
   go(k, one);
   begin(k, one);
   mix(k, 11);
   go(k, open.merge);
   begin(k, other);
   return open;
}

static void close(struct maker *k, const struct open *open, uint32_t i)
{
   if (open->shape == SHAPE_LOOP_NEST) {
      /* Again while LEFT is not 0, if step is rare. */
      uint32_t again = label(k), rare = label(k);
      uint32_t cond = op2(k, SpvOpIEqual, step(k, X, i), small(0));
      put(k, SpvOpSelectionMerge, again, 0);
      put(k, SpvOpBranchConditional, cond, rare, open->merge);
      begin(k, rare);
      uint32_t left = load(k, LEFT), after = label(k);
      cond = op2(k, SpvOpIEqual, left, small(0));
      put(k, SpvOpSelectionMerge, after, 0);
      put(k, SpvOpBranchConditional, cond, open->merge, after);
      begin(k, after);
      put(k, SpvOpStore, LEFT, op2(k, SpvOpISub, left, small(1)));
      go(k, again);
      begin(k, again);
      go(k, open->continues);
      begin(k, open->continues);
      go(k, open->header);
   } else {
      go(k, open->merge);
   }
   begin(k, open->merge);
   mix(k, i + 3);
}

/* ---- nests ------------------------------------------------------------- */

static enum shape kind_at(enum shape shape, uint32_t level)
{
   if (shape == SHAPE_MIXED_NEST)
      return (enum shape)(SHAPE_IF_NEST + level % 3);
   if (shape == SHAPE_RETURN_NEST)
      return level % 2 ? SHAPE_LOOP_NEST : SHAPE_IF_NEST;
   return shape;
}

static bool returns_at(enum shape shape, uint32_t level)
{
   return shape == SHAPE_RETURN_NEST && level % 16 == 15;
}

static void return_if_rare(struct maker *k, uint32_t i)
{
   uint32_t merge = label(k), inside = label(k);
   uint32_t cond = op2(k, SpvOpIEqual, step(k, X, i), small(0));
   put(k, SpvOpSelectionMerge, merge, 0);
   put(k, SpvOpBranchConditional, cond, inside, merge);
   begin(k, inside);
   put(k, SpvOpStore, element(k, OUT, THREAD), load(k, X));
   put_words(k, SpvOpReturn, 0, &cond);
   begin(k, merge);
}

static void make_nest(struct maker *k, enum shape shape, uint32_t depth)
{
   struct open *open = calloc(depth, sizeof(*open));
   for (uint32_t i = 0; i < depth; i++) {
      enum shape kind = kind_at(shape, i);
      open[i] = kind == SHAPE_IF_NEST     ? open_if(k, i)
                : kind == SHAPE_LOOP_NEST ? open_loop(k)
                                          : open_switch(k, i);
      if (returns_at(shape, i))
         return_if_rare(k, i);
   }
   for (uint32_t i = depth; i-- > 0;)
      close(k, &open[i], i);
   free(open);
}

struct run {
   enum shape shape;
   uint32_t size, x, left;
   bool returned;
};

/* The nest without recursion: the way down, where the levels stop, and the way up. */
static void run_nest(struct run *r)
{
   uint32_t at = 0; /* levels entered */
   for (bool down = true; down || at > 0;) {
      if (down && at == r->size)
         down = false;
      if (down) {
         enum shape kind = kind_at(r->shape, at);
         uint32_t value = kind == SHAPE_LOOP_NEST ? 1 : step_in_c(&r->x, at);
         bool enters = kind == SHAPE_SWITCH_NEST ? value > 1 : value != 0;
         if (kind == SHAPE_SWITCH_NEST && !enters)
            r->x ^= value == 0 ? 7 ^ 11 : 11;
         if (enters && returns_at(r->shape, at) && step_in_c(&r->x, at) == 0) {
            r->returned = true;
            return;
         }
         at += enters;
         if (!enters) {
            r->x ^= (at + 3) & 255;
            down = false;
         }
         continue;
      }
      uint32_t level = --at;
      if (kind_at(r->shape, level) == SHAPE_LOOP_NEST && step_in_c(&r->x, level) == 0 && r->left) {
         r->left--;
         down = true;
         at = level; /* the body again, without its header's edge */
         at++;
         if (returns_at(r->shape, level) && step_in_c(&r->x, level) == 0) {
            r->returned = true;
            return;
         }
         continue;
      }
      r->x ^= (level + 3) & 255;
   }
}

/* ---- rows -------------------------------------------------------------- */

static void make_row(struct maker *k, enum shape shape, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      struct open open;
      if (shape == SHAPE_IF_ROW)
         open = open_if(k, i);
      else if (shape == SHAPE_LOOP_ROW)
         open = open_loop(k);
      else
         open = open_switch(k, i);
      mix(k, i + 5);
      close(k, &open, i);
   }
}

static void run_row(struct run *r)
{
   for (uint32_t i = 0; i < r->size; i++) {
      if (r->shape == SHAPE_LOOP_ROW) {
         bool again;
         do {
            r->x ^= (i + 5) & 255;
            again = step_in_c(&r->x, i) == 0 && r->left;
            r->left -= again;
         } while (again);
      } else {
         uint32_t value = step_in_c(&r->x, i);
         bool enters = r->shape == SHAPE_SWITCH_ROW ? value > 1 : value != 0;
         r->x ^= enters ? (i + 5) & 255 : r->shape == SHAPE_IF_ROW ? 0 : value == 0 ? 7 ^ 11 : 11;
      }
      r->x ^= (i + 3) & 255;
   }
}

static void make_straight(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++)
      put(k, SpvOpStore, X, op2(k, SpvOpBitwiseXor, load(k, X), step(k, LEFT, i)));
}

static void run_straight(struct run *r)
{
   for (uint32_t i = 0; i < r->size; i++)
      r->x ^= step_in_c(&r->left, i);
}

/* count variables, all changed in each if (phis) or set before and used behind (lives). */
static void make_variables(struct maker *k, uint32_t count, bool changes, uint32_t size)
{
   for (uint32_t v = 0; v < count; v++)
      put(k, SpvOpStore, VARIABLES + v, op2(k, SpvOpIMul, load(k, X), small(2 * v + 3)));
   for (uint32_t i = 0; i < size; i++) {
      struct open open = open_if(k, i);
      for (uint32_t v = 0; changes && v < count; v++)
         put(k, SpvOpStore, VARIABLES + v,
             op2(k, SpvOpBitwiseXor, load(k, VARIABLES + v), load(k, X)));
      mix(k, i + 5);
      close(k, &open, i);
   }
   for (uint32_t v = 0; v < count; v++)
      put(k, SpvOpStore, X, op2(k, SpvOpIAdd, load(k, X), load(k, VARIABLES + v)));
}

static void run_variables(struct run *r, uint32_t count, bool changes)
{
   uint32_t variables[LIVES];
   for (uint32_t v = 0; v < count; v++)
      variables[v] = r->x * (2 * v + 3);
   for (uint32_t i = 0; i < r->size; i++) {
      if (step_in_c(&r->x, i)) {
         for (uint32_t v = 0; v < count; v++)
            variables[v] ^= changes ? r->x : 0;
         r->x ^= (i + 5) & 255;
      }
      r->x ^= (i + 3) & 255;
   }
   for (uint32_t v = 0; v < count; v++)
      r->x += variables[v];
}

static void make_memory(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++) {
      uint32_t at = op2(k, SpvOpIAdd, THREAD, op2(k, SpvOpIMul, small(i), small(i >> 8)));
      uint32_t value = op2(k, SpvOpIAdd, load(k, element(k, IN, at)), load(k, X));
      put(k, SpvOpStore, X, op2(k, SpvOpBitwiseXor, value, step(k, LEFT, i)));
      put(k, SpvOpStore, element(k, OUT, at), value);
   }
}

/* ---- the module -------------------------------------------------------- */

static void put_declarations(struct maker *k)
{
   static const uint32_t name[] = {SpvExecutionModelGLCompute, MAIN, 0x6e69616d, 0, ID};
   put(k, SpvOpCapability, SpvCapabilityShader);
   put(k, SpvOpMemoryModel, SpvAddressingModelLogical, SpvMemoryModelGLSL450);
   put_words(k, SpvOpEntryPoint, AGX_COUNT(name), name);
   put(k, SpvOpExecutionMode, MAIN, SpvExecutionModeLocalSize, SHAPE_THREADS, 1, 1);
   put(k, SpvOpDecorate, ID, SpvDecorationBuiltIn, SpvBuiltInGlobalInvocationId);
   put(k, SpvOpDecorate, ARRAY, SpvDecorationArrayStride, 4);
   put(k, SpvOpDecorate, BLOCK, SpvDecorationBlock);
   put(k, SpvOpMemberDecorate, BLOCK, 0, SpvDecorationOffset, 0);
   for (uint32_t i = 0; i < 2; i++) {
      put(k, SpvOpDecorate, IN + i, SpvDecorationDescriptorSet, 0);
      put(k, SpvOpDecorate, IN + i, SpvDecorationBinding, i);
   }
   put(k, SpvOpTypeVoid, VOID);
   put(k, SpvOpTypeFunction, FUNCTION, VOID);
   put(k, SpvOpTypeBool, BOOL);
   put(k, SpvOpTypeInt, UINT, 32, 0);
   put(k, SpvOpTypeVector, UINT3, UINT, 3);
   put(k, SpvOpTypeRuntimeArray, ARRAY, UINT);
   put(k, SpvOpTypeStruct, BLOCK, ARRAY);
   put(k, SpvOpTypePointer, POINTER_BLOCK, SpvStorageClassStorageBuffer, BLOCK);
   put(k, SpvOpTypePointer, POINTER_UINT, SpvStorageClassStorageBuffer, UINT);
   put(k, SpvOpTypePointer, POINTER_INPUT, SpvStorageClassInput, UINT3);
   put(k, SpvOpTypePointer, POINTER_LOCAL, SpvStorageClassFunction, UINT);
   put(k, SpvOpVariable, POINTER_INPUT, ID, SpvStorageClassInput);
   put(k, SpvOpVariable, POINTER_BLOCK, IN, SpvStorageClassStorageBuffer);
   put(k, SpvOpVariable, POINTER_BLOCK, OUT, SpvStorageClassStorageBuffer);
   put(k, SpvOpConstant, UINT, FACTOR_ID, FACTOR);
   for (uint32_t i = 0; i < 256; i++)
      put(k, SpvOpConstant, UINT, CONSTANT + i, i);
}

static void make_body(struct maker *k, enum shape shape, uint32_t size)
{
   if (shape <= SHAPE_RETURN_NEST)
      make_nest(k, shape, size);
   else if (shape == SHAPE_STRAIGHT)
      make_straight(k, size);
   else if (shape == SHAPE_PHI_ROW || shape == SHAPE_LONG_LIVES)
      make_variables(k, shape == SHAPE_PHI_ROW ? PHIS : LIVES, shape == SHAPE_PHI_ROW, size);
   else if (shape == SHAPE_MEMORY_ROW)
      make_memory(k, size);
   else
      make_row(k, shape, size);
}

void shape_make(struct shape_module *module, enum shape shape, uint32_t size)
{
   struct maker k = {.m = module, .next = FIRST};
   *module = (struct shape_module){0};
   /* The header; it looks like an instruction of four words until the end. */
   put_words(&k, SpvOpNop, 4, (const uint32_t[]){SpvVersion, 0, 0, 0});
   module->words[0] = SpvMagicNumber;
   module->words[1] = 0x00010300;
   put_declarations(&k);
   put(&k, SpvOpFunction, VOID, MAIN, 0, FUNCTION);
   begin(&k, label(&k));
   put(&k, SpvOpVariable, POINTER_LOCAL, X, SpvStorageClassFunction);
   put(&k, SpvOpVariable, POINTER_LOCAL, LEFT, SpvStorageClassFunction);
   for (uint32_t v = 0; v < LIVES; v++)
      put(&k, SpvOpVariable, POINTER_LOCAL, VARIABLES + v, SpvStorageClassFunction);
   uint32_t vector = k.next++;
   put(&k, SpvOpLoad, UINT3, vector, ID);
   put(&k, SpvOpCompositeExtract, UINT, THREAD, vector, 0);
   put(&k, SpvOpStore, X, load(&k, element(&k, IN, THREAD)));
   put(&k, SpvOpStore, LEFT, small(AGAIN));
   make_body(&k, shape, size);
   put(&k, SpvOpStore, element(&k, OUT, THREAD), load(&k, X));
   put_words(&k, SpvOpReturn, 0, &vector);
   put_words(&k, SpvOpFunctionEnd, 0, &vector);
   module->words[3] = k.next;
}

const char *shape_name(enum shape shape)
{
   static const char *const names[SHAPE_COUNT] = {
      "ifs nested",        "loops nested",  "switches nested", "nested in turns",
      "returns nested",    "straight line", "ifs in a row",    "loops in a row",
      "switches in a row", "many phis",     "long lives",      "loads and stores",
   };
   return names[shape];
}

uint32_t shape_result(enum shape shape, uint32_t size, uint32_t in)
{
   struct run r = {.shape = shape, .size = size, .x = in, .left = AGAIN};
   if (shape <= SHAPE_RETURN_NEST)
      run_nest(&r);
   else if (shape == SHAPE_STRAIGHT)
      run_straight(&r);
   else if (shape == SHAPE_PHI_ROW || shape == SHAPE_LONG_LIVES)
      run_variables(&r, shape == SHAPE_PHI_ROW ? PHIS : LIVES, shape == SHAPE_PHI_ROW);
   else
      run_row(&r);
   return r.x;
}
