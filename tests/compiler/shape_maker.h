/* SPDX-License-Identifier: MIT
 *
 * What shapes.c and bulk_shapes.c write SPIR-V with: words, operations, and ifs, loops and
 * switches that are opened and closed.
 */
#pragma once

#include <stdbool.h>

#include <spirv/unified1/spirv.h>

#include "shapes.h"

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
   GLSL,
   VARIABLES = 32,
   FIRST = CONSTANT + 256,
};

struct maker {
   struct shape_module *m;
   uint32_t next;
   uint32_t own[4]; /* ids that one shape keeps */
};

/* A shape of bulk_shapes.c: annotations, types and globals, variables of MAIN, instructions,
 * functions. Each may be NULL. */
struct bulk_shape {
   const char *name;
   void (*decorate)(struct maker *k, uint32_t size);
   void (*declare)(struct maker *k, uint32_t size);
   void (*locals)(struct maker *k, uint32_t size);
   void (*body)(struct maker *k, uint32_t size);
   void (*functions)(struct maker *k, uint32_t size);
};
extern const struct bulk_shape bulk_shapes[];
/* The instructions of MAIN. */
void bulk_body(struct maker *k, const struct bulk_shape *bulk, uint32_t size);

/* One instruction: its operands as words. */
void shape_put_words(struct maker *k, SpvOp op, unsigned count, const uint32_t *words);
#define shape_put(k, op, ...)                                                                      \
   shape_put_words((k), (op), sizeof((uint32_t[]){__VA_ARGS__}) / 4,                               \
                   (const uint32_t[]){__VA_ARGS__})

/* A new id. */
uint32_t shape_label(struct maker *k);
/* The block of that name begins. */
void shape_begin(struct maker *k, uint32_t name);
/* A branch. */
void shape_go(struct maker *k, uint32_t to);
/* The result of an operation on two words. */
uint32_t shape_op2(struct maker *k, SpvOp op, uint32_t a, uint32_t b);
/* What a variable or an element holds. */
uint32_t shape_load(struct maker *k, uint32_t pointer);
/* The constant value & 255. */
uint32_t shape_small(uint32_t value);
/* A pointer to a word of a binding. */
uint32_t shape_element(struct maker *k, uint32_t buffer, uint32_t index);
/* The thread's number plus a number of i's own: all are different up to 2^16. */
uint32_t shape_place(struct maker *k, uint32_t i);
/* variable = variable * FACTOR + i; returns a number that is rarely 0. */
uint32_t shape_step(struct maker *k, uint32_t variable, uint32_t i);
/* The same in C. */
uint32_t shape_step_in_c(uint32_t *x, uint32_t i);
/* X ^= i & 255. */
void shape_mix(struct maker *k, uint32_t i);

/* What is still to be closed. */
struct open {
   enum shape shape;
   uint32_t merge, continues, header, second;
};

/* if (step(X)) { */
struct open shape_open_if(struct maker *k, uint32_t i);
/* do { */
struct open shape_open_loop(struct maker *k);
/* Case 0 falls through to case 1; the default is left open. */
struct open shape_open_switch(struct maker *k, uint32_t i);
/* } of all three; a loop turns again while LEFT is not 0, if a step is rare. */
void shape_close(struct maker *k, const struct open *open, uint32_t i);
/* All in front of the function MAIN; bulk may be NULL. */
void shape_put_declarations(struct maker *k, const struct bulk_shape *bulk, uint32_t size);
