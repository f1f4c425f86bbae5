/* SPDX-License-Identifier: MIT
 *
 * What the parts of the maker of random kernels share: kernel.c makes the module,
 * expression.c and statement.c what every kernel has, wide.c and wide_module.c the rarer
 * instructions, with RANDOM_WIDE.
 */
#pragma once

#include <spirv/unified1/GLSL.std.450.h>
#include <spirv/unified1/spirv.h>

#include "base/util.h"
#include "kernel.h"

#define MAX_CONSTANTS 1024
#define MAX_DECORATED 8192
#define VARIABLES     3 /* of each type */
#define PRIVATE_WORDS 8

enum type {
   BOOL,
   U8,
   U16,
   U32,
   U64,
   F16,
   F32,
   F64,
   TYPES
};
extern const uint8_t random_widths[TYPES];

/* Elements in memory: scalars, and vectors of 2, 4 and (with RANDOM_WIDE) 3. */
#define SHAPES 4

struct section {
   uint32_t words[RANDOM_MAX_WORDS];
   uint32_t count;
};

struct wide; /* of wide.h */

struct maker {
   struct agx_test_rng rng;
   uint32_t features;
   uint32_t next_id;
   struct section globals, main, helper, *to;
   struct {
      enum type type;
      uint64_t value;
      uint32_t id;
   } constants[MAX_CONSTANTS];
   uint32_t constant_count;
   uint32_t decorated[MAX_DECORATED], decorated_count;
   uint32_t type[TYPES], glsl;
   uint32_t void_type, uvec3, uvec4, private_array;
   uint32_t vector[TYPES][5]; /* of 2 to 4 */
   uint32_t in_var, out_var, shared_var, gid_var, lid_var;
   uint32_t ptr_in, ptr_out, ptr_shared, ptr_private, ptr_input_word;
   uint32_t variable[TYPES][VARIABLES], array_var, counter_ptr;
   uint32_t alias_var[U64 + 1][SHAPES], alias_ptr[U64 + 1][SHAPES], alias_type[U64 + 1][SHAPES];
   uint32_t gid, lid, helper_function;
   uint32_t params[2];
   bool in_helper;
   unsigned depth, loops, switches;
   bool is_open;   /* lanes may meet in switches, too */
   uint32_t label; /* of the open block */
   uint32_t continue_label, break_label;
   unsigned budget;
   bool may_return; /* no barrier follows */
   bool has_left;   /* threads may have */
   struct wide *wide;
};

/* The macros take the maker as m. */
#define PUT(to, op, ...)                                                                           \
   random_put((to), (op), AGX_COUNT(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})
#define EMIT(op, ...) PUT(m->to, op, __VA_ARGS__)

/* An instruction with a result of that type id; more words follow. */
#define RESULT(op, type_id, ...)                                                                   \
   random_result(m, op, type_id, AGX_COUNT(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})
#define GLOBAL(op, ...)                                                                            \
   random_global(m, op, AGX_COUNT(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})
#define GLSL(type, op, ...)                                                                        \
   random_glsl(m, type, op, AGX_COUNT(((uint32_t[]){__VA_ARGS__})), (uint32_t[]){__VA_ARGS__})

/* kernel.c; elements of a shape, and their slots. */
extern const uint32_t random_shape_counts[SHAPES], random_shape_slots[SHAPES];
uint32_t random_below(struct maker *m, uint32_t bound);
bool random_has(const struct maker *m, enum type type);
bool random_is_float(enum type type);
bool random_lanes_meet(const struct maker *m);
uint32_t random_variable(struct maker *m, uint32_t pointer, SpvStorageClass class);
uint32_t random_vector_type(struct maker *m, enum type type, uint32_t count);

/* expression.c */
uint32_t random_id(struct maker *m);
void random_put(struct section *to, SpvOp op, unsigned count, const uint32_t *words);
uint32_t random_result(struct maker *m, SpvOp op, uint32_t type_id, unsigned count,
                       const uint32_t *words);
uint32_t random_global(struct maker *m, SpvOp op, unsigned count, const uint32_t *words);
uint32_t random_constant(struct maker *m, enum type type, uint64_t value);
uint32_t random_expression(struct maker *m, enum type type, unsigned depth);
enum type random_int_type(struct maker *m);
uint32_t random_glsl(struct maker *m, enum type type, uint32_t op, unsigned count,
                     const uint32_t *args);
uint32_t random_exact(struct maker *m, uint32_t id);
uint64_t random_bits(struct maker *m);
uint32_t random_small_float(struct maker *m, enum type type, uint32_t word);
uint32_t random_convert_int(struct maker *m, enum type to, enum type from, uint32_t id);
uint32_t random_leaf(struct maker *m, enum type type);
enum type random_any_type(struct maker *m, bool with_bool);
uint64_t random_any_float(struct maker *m, enum type type);
uint32_t random_input_word(struct maker *m, uint32_t index);
uint32_t random_private_word(struct maker *m, unsigned depth);
void random_memory_stores(struct maker *m);

/* statement.c */
void random_open_block(struct maker *m, uint32_t label);
void random_statements(struct maker *m, unsigned count);
uint32_t random_word_of(struct maker *m, enum type type, uint32_t id);
void random_output(struct maker *m, uint32_t slot, uint32_t word);
void random_exchange(struct maker *m);

/* wide.c and wide_module.c: types and variables of the module, then of the main function, and
 * decorations. */
void random_wide_open(struct maker *m);
void random_wide_helper(struct maker *m);
void random_wide_variables(struct maker *m);
void random_wide_initialize(struct maker *m);
void random_wide_decorate(const struct maker *m, struct section *to);
uint32_t random_wide_int(struct maker *m, enum type type, unsigned depth);
uint32_t random_wide_float(struct maker *m, enum type type, unsigned depth);
uint32_t random_wide_bool(struct maker *m, unsigned depth);
uint32_t random_wide_lanes(struct maker *m, enum type type, unsigned depth);
void random_wide_statement(struct maker *m);
void random_wide_exchange(struct maker *m);
