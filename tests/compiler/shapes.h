/* SPDX-License-Identifier: MIT
 *
 * Large kernels of a plain shape, in SPIR-V, and what they compute: nests of any depth and
 * rows of any length, to try limits and to see how compile time grows.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum shape {
   SHAPE_IF_NEST,     /* ifs inside each other */
   SHAPE_LOOP_NEST,   /* loops that run once or, few of them, again */
   SHAPE_SWITCH_NEST, /* inside the default of a switch with cases, one of which falls through */
   SHAPE_MIXED_NEST,  /* all three in turns */
   SHAPE_RETURN_NEST, /* ifs and loops that some threads return from */
   SHAPE_STRAIGHT,    /* one block of arithmetic */
   SHAPE_IF_ROW,
   SHAPE_LOOP_ROW,
   SHAPE_SWITCH_ROW,
   SHAPE_PHI_ROW,    /* ifs with eight variables each */
   SHAPE_LONG_LIVES, /* sixteen values that live from the start to the end, over ifs */
   SHAPE_MEMORY_ROW, /* a load, sums, a store */
   SHAPE_COUNT,
};

#define SHAPE_THREADS 32u

struct shape_module {
   uint32_t *words;
   size_t count, capacity;
};

/* size levels or pieces. Binding 0: SHAPE_THREADS words of input, binding 1 as many of output;
 * SHAPE_MEMORY_ROW has size more words behind those of each binding. Free words. */
void shape_make(struct shape_module *module, enum shape shape, uint32_t size);
const char *shape_name(enum shape shape);
/* What thread's word of output is for its word of input. Not for SHAPE_MEMORY_ROW. */
uint32_t shape_result(enum shape shape, uint32_t size, uint32_t in);
