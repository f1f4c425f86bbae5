/* SPDX-License-Identifier: MIT
 *
 * What the two parts of RANDOM_WIDE share: wide.c makes values, wide_module.c statements, types and
 * variables.
 */
#pragma once

#include "maker.h"

#define ARRAY_ELEMENTS 5u
#define RECORD_WORDS   3u
#define UNIFORM_VECS   32u /* of four words, then as many single words, 16 bytes apart */
#define PUSH_WORDS     RANDOM_PUSH_WORDS
#define SHARED_SUMS    4u
#define VECTORS        2u

struct wide {
   uint32_t bvec[5], fvec[5], matrix[5][5], pair, float_pair, exp_pair;
   uint32_t uniform_var, uniform_struct, uniform_vecs, uniform_words;
   uint32_t push_var, push_struct, push_words;
   uint32_t ptr_uniform_vec, ptr_uniform_word, ptr_push_word;
   uint32_t shared_type, shared_array, shared_var, ptr_shared, sums_var;
   enum type shared_element;
   uint32_t shared_count;
   uint32_t call;
   uint32_t vector_var[5][VECTORS], array_var[U64 + 1], array_ptr[U64 + 1];
   uint32_t record_type, record_vars[2], record_array;
   uint32_t spec[3];
};

uint32_t random_small_index(struct maker *m, uint32_t bound, unsigned depth);
void random_tail_atomic(struct maker *m);
uint32_t random_array_element(struct maker *m, enum type type, unsigned depth);
uint32_t random_record_word(struct maker *m, unsigned depth);
uint32_t random_vector_of(struct maker *m, enum type type, uint32_t count, unsigned depth);
uint32_t random_vector_value(struct maker *m, enum type type, uint32_t count, unsigned depth);
