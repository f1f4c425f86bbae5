/* SPDX-License-Identifier: MIT
 *
 * Kernels of a given control flow and size as SPIR-V, for shapes_test.c and scale_test.c.
 */
#include "shape_maker.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

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
   uint32_t merge = shape_label(k), inside = shape_label(k);
   uint32_t cond = shape_op2(k, SpvOpIEqual, shape_step(k, X, i), shape_small(0));
   shape_put(k, SpvOpSelectionMerge, merge, 0);
   shape_put(k, SpvOpBranchConditional, cond, inside, merge);
   shape_begin(k, inside);
   shape_put(k, SpvOpStore, shape_element(k, OUT, THREAD), shape_load(k, X));
   shape_put_words(k, SpvOpReturn, 0, &cond);
   shape_begin(k, merge);
}

static void make_nest(struct maker *k, enum shape shape, uint32_t depth)
{
   struct open *open = calloc(depth, sizeof(*open));
   for (uint32_t i = 0; i < depth; i++) {
      enum shape kind = kind_at(shape, i);
      open[i] = kind == SHAPE_IF_NEST     ? shape_open_if(k, i)
                : kind == SHAPE_LOOP_NEST ? shape_open_loop(k)
                                          : shape_open_switch(k, i);
      if (returns_at(shape, i))
         return_if_rare(k, i);
   }
   for (uint32_t i = depth; i-- > 0;)
      shape_close(k, &open[i], i);
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
         uint32_t value = kind == SHAPE_LOOP_NEST ? 1 : shape_step_in_c(&r->x, at);
         bool enters = kind == SHAPE_SWITCH_NEST ? value > 1 : value != 0;
         if (kind == SHAPE_SWITCH_NEST && !enters)
            r->x ^= value == 0 ? 7 ^ 11 : 11;
         if (enters && returns_at(r->shape, at) && shape_step_in_c(&r->x, at) == 0) {
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
      if (kind_at(r->shape, level) == SHAPE_LOOP_NEST && shape_step_in_c(&r->x, level) == 0 &&
          r->left) {
         r->left--;
         down = true;
         at = level; /* the body again, without its header's edge */
         at++;
         if (returns_at(r->shape, level) && shape_step_in_c(&r->x, level) == 0) {
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
         open = shape_open_if(k, i);
      else if (shape == SHAPE_LOOP_ROW)
         open = shape_open_loop(k);
      else
         open = shape_open_switch(k, i);
      shape_mix(k, i + 5);
      shape_close(k, &open, i);
   }
}

static void run_row(struct run *r)
{
   for (uint32_t i = 0; i < r->size; i++) {
      if (r->shape == SHAPE_LOOP_ROW) {
         bool again;
         do {
            r->x ^= (i + 5) & 255;
            again = shape_step_in_c(&r->x, i) == 0 && r->left;
            r->left -= again;
         } while (again);
      } else {
         uint32_t value = shape_step_in_c(&r->x, i);
         bool enters = r->shape == SHAPE_SWITCH_ROW ? value > 1 : value != 0;
         r->x ^= enters ? (i + 5) & 255 : r->shape == SHAPE_IF_ROW ? 0 : value == 0 ? 7 ^ 11 : 11;
      }
      r->x ^= (i + 3) & 255;
   }
}

static void make_straight(struct maker *k, uint32_t size)
{
   for (uint32_t i = 0; i < size; i++)
      shape_put(k, SpvOpStore, X,
                shape_op2(k, SpvOpBitwiseXor, shape_load(k, X), shape_step(k, LEFT, i)));
}

static void run_straight(struct run *r)
{
   for (uint32_t i = 0; i < r->size; i++)
      r->x ^= shape_step_in_c(&r->left, i);
}

/* count variables, all changed in each if (phis) or set before and used behind (lives). */
static void make_variables(struct maker *k, uint32_t count, bool changes, uint32_t size)
{
   for (uint32_t v = 0; v < count; v++)
      shape_put(k, SpvOpStore, VARIABLES + v,
                shape_op2(k, SpvOpIMul, shape_load(k, X), shape_small(2 * v + 3)));
   for (uint32_t i = 0; i < size; i++) {
      struct open open = shape_open_if(k, i);
      for (uint32_t v = 0; changes && v < count; v++)
         shape_put(k, SpvOpStore, VARIABLES + v,
                   shape_op2(k, SpvOpBitwiseXor, shape_load(k, VARIABLES + v), shape_load(k, X)));
      shape_mix(k, i + 5);
      shape_close(k, &open, i);
   }
   for (uint32_t v = 0; v < count; v++)
      shape_put(k, SpvOpStore, X,
                shape_op2(k, SpvOpIAdd, shape_load(k, X), shape_load(k, VARIABLES + v)));
}

static void run_variables(struct run *r, uint32_t count, bool changes)
{
   uint32_t variables[LIVES];
   for (uint32_t v = 0; v < count; v++)
      variables[v] = r->x * (2 * v + 3);
   for (uint32_t i = 0; i < r->size; i++) {
      if (shape_step_in_c(&r->x, i)) {
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
      uint32_t at = shape_place(k, i);
      uint32_t value =
         shape_op2(k, SpvOpIAdd, shape_load(k, shape_element(k, IN, at)), shape_load(k, X));
      shape_put(k, SpvOpStore, X, shape_op2(k, SpvOpBitwiseXor, value, shape_step(k, LEFT, i)));
      shape_put(k, SpvOpStore, shape_element(k, OUT, at), value);
   }
}

/* ---- the module -------------------------------------------------------- */

static void make_body(struct maker *k, enum shape shape, uint32_t size)
{
   if (shape >= SHAPE_BULK)
      bulk_body(k, &bulk_shapes[shape - SHAPE_BULK], size);
   else if (shape <= SHAPE_RETURN_NEST)
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
   const struct bulk_shape *bulk = shape >= SHAPE_BULK ? &bulk_shapes[shape - SHAPE_BULK] : NULL;
   struct maker k = {.m = module, .next = FIRST};
   *module = (struct shape_module){0};
   /* The header; it looks like an instruction of four words until the end. */
   shape_put_words(&k, SpvOpNop, 4, (const uint32_t[]){SpvVersion, 0, 0, 0});
   module->words[0] = SpvMagicNumber;
   module->words[1] = 0x00010300;
   shape_put_declarations(&k, bulk, size);
   shape_put(&k, SpvOpFunction, VOID, MAIN, 0, FUNCTION);
   shape_begin(&k, shape_label(&k));
   shape_put(&k, SpvOpVariable, POINTER_LOCAL, X, SpvStorageClassFunction);
   shape_put(&k, SpvOpVariable, POINTER_LOCAL, LEFT, SpvStorageClassFunction);
   for (uint32_t v = 0; v < LIVES; v++)
      shape_put(&k, SpvOpVariable, POINTER_LOCAL, VARIABLES + v, SpvStorageClassFunction);
   if (bulk && bulk->locals)
      bulk->locals(&k, size);
   uint32_t vector = k.next++;
   shape_put(&k, SpvOpLoad, UINT3, vector, ID);
   shape_put(&k, SpvOpCompositeExtract, UINT, THREAD, vector, 0);
   shape_put(&k, SpvOpStore, X, shape_load(&k, shape_element(&k, IN, THREAD)));
   shape_put(&k, SpvOpStore, LEFT, shape_small(AGAIN));
   make_body(&k, shape, size);
   shape_put(&k, SpvOpStore, shape_element(&k, OUT, THREAD), shape_load(&k, X));
   shape_put_words(&k, SpvOpReturn, 0, &vector);
   shape_put_words(&k, SpvOpFunctionEnd, 0, &vector);
   if (bulk && bulk->functions)
      bulk->functions(&k, size);
   module->words[3] = k.next;
}

const char *shape_name(enum shape shape)
{
   static const char *const names[SHAPE_BULK] = {
      "ifs nested",        "loops nested",  "switches nested", "nested in turns",
      "returns nested",    "straight line", "ifs in a row",    "loops in a row",
      "switches in a row", "many phis",     "long lives",      "loads and stores",
   };
   return shape < SHAPE_BULK ? names[shape] : bulk_shapes[shape - SHAPE_BULK].name;
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
