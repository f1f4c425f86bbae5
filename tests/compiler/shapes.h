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
   SHAPE_BULK,       /* bulk_shapes.c names them */
   SHAPE_WINDOWS = SHAPE_BULK,
   SHAPE_LIVES,
   SHAPE_CHAINS,
   SHAPE_LOOP_PHIS,
   SHAPE_IF_PHIS,
   SHAPE_CONSTANTS,
   SHAPE_DIVISIONS,
   SHAPE_WIDE,
   SHAPE_SHORT,
   SHAPE_FLOAT,
   SHAPE_VECTORS,
   SHAPE_MATRICES,
   SHAPE_SELECTS,
   SHAPE_BUFFERS,
   SHAPE_LOADS,
   SHAPE_GATHERS,
   SHAPE_UNIFORMS,
   SHAPE_ATOMICS,
   SHAPE_SHARED,
   SHAPE_ARRAY,
   SHAPE_ARRAYS,
   SHAPE_COMPOSITES,
   SHAPE_TABLES,
   SHAPE_SUBGROUPS,
   SHAPE_IMAGES,
   SHAPE_NESTS,
   SHAPE_RETURNS,
   SHAPE_JUMPS,
   SHAPE_CASES,
   SHAPE_KNOWN_LOOPS,
   SHAPE_LOADING_LOOPS,
   SHAPE_CALLS,
   SHAPE_FUNCTIONS,
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
/* What thread's word of output is for its word of input. Not from SHAPE_MEMORY_ROW on. */
uint32_t shape_result(enum shape shape, uint32_t size, uint32_t in);
