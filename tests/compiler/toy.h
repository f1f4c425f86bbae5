/* SPDX-License-Identifier: MIT
 *
 * A toy language with structured control flow: random programs in it, what they mean
 * for one lane, and the same as SSA machine code.
 */
#pragma once

#include "backend_support.h"

#define MAX_VARS    48
#define MAX_STMTS   400
#define TABLE_WORDS 64 /* memory that programs read, in front of the results */
#define MAX_TRIPS   6

enum kind {
   ADD,    /* dst = a + b, in dst's width */
   XOR,    /* dst = a ^ b */
   SELECT, /* dst = compare(a, b) ? c : b */
   COPY,   /* dst = a, cut or widened */
   CONST,  /* dst = number */
   LOAD,   /* dst = table[a % 32], 32 bits */
   LOAD4,  /* four variables = table[a % 32 ...] */
   STORE4, /* four variables to the lane's slot */
   IF,
   LOOP,
   BREAK,
   CONTINUE,
   RETURN, /* stores all variables first */
};

struct stmt {
   enum kind kind;
   uint8_t dst, a, b, c, vars[4];
   uint8_t cond; /* AGX_ISA_ICOND_* */
   uint32_t number;
   struct stmt *then, *orelse; /* LOOP: body, continuing */
   struct stmt *next;
};

struct toy_program {
   struct agx_test_rng rng;
   struct stmt stmts[MAX_STMTS];
   unsigned stmt_count, var_count;
   uint8_t bits[MAX_VARS];
   struct stmt *body;
};

enum flow {
   FALL,
   BREAKS,
   CONTINUES,
   RETURNS,
};

struct lane {
   const struct toy_program *program;
   uint64_t vars[MAX_VARS];
   const uint32_t *table;
   uint32_t *slot; /* results: four words, then the variables */
};

/* Bytes of a lane's results: the vector, and 8 for each variable. */
#define SLOT_B (16 + 8 * MAX_VARS)

/* A program of var_count variables of mixed widths; the same for the same seed. */
void make_program(struct toy_program *program, uint64_t seed, unsigned var_count);

/* Interprets the program for a lane whose variables are set; stores all of them when it
 * ends, wherever that is. */
void run_lane(struct lane *lane);

/* Builds the program in an empty shader. */
void generate_program(const struct toy_program *program, struct agxc_shader *shader);
