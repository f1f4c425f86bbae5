/* SPDX-License-Identifier: MIT
 *
 * What the files of 64-bit lowering share: a 64-bit value as two words, and arithmetic on
 * such pairs. Only sums, differences and 32x32-bit products stay operations on 64 bits, which
 * the hardware has; everything else is done on words.
 */
#pragma once

#include "agx/compiler/ir/fold.h"

#define AGXC_POWER_MINUS_32 0x2f800000u /* 2^-32 as a float */

/* A 64-bit value. max is an upper bound, as an unsigned number; hi is the constant 0 where it
 * is below 2^32. */
struct agxc_wide {
   struct agxc_ref lo, hi;
   struct agxc_ref whole; /* the same in one piece, or AGXC_NONE */
   uint64_t max;
};

/* Operations on words, whose result is a word. */
static inline struct agxc_ref agxc_word1(struct agxc_builder *b, enum agxc_op op, struct agxc_ref a)
{
   return agxc_build1_folded(b, op, 32, a);
}
static inline struct agxc_ref agxc_word2(struct agxc_builder *b, enum agxc_op op, struct agxc_ref a,
                                         struct agxc_ref c)
{
   return agxc_build2_folded(b, op, 32, a, c);
}
/* A comparison of words, and a choice between values of any shape by a boolean; both fold. */
struct agxc_ref agxc_word_compare(struct agxc_builder *b, enum agxc_op op, struct agxc_ref a,
                                  struct agxc_ref c);
struct agxc_ref agxc_word_select(struct agxc_builder *b, struct agxc_ref cond, struct agxc_ref yes,
                                 struct agxc_ref no);

/* A constant, and a pair of words whose bound follows from hi. */
struct agxc_wide agxc_wide_imm(uint64_t value);
struct agxc_wide agxc_wide_make(struct agxc_ref lo, struct agxc_ref hi);
/* The value in one piece, put together where it isn't. */
struct agxc_ref agxc_wide_whole(struct agxc_builder *b, const struct agxc_wide *w);
/* Whether hi is known to be 0. */
bool agxc_wide_is_word(const struct agxc_wide *w);
/* A word, sign-extended. */
struct agxc_wide agxc_wide_of_sign(struct agxc_builder *b, struct agxc_ref lo);
/* The same value, known not to exceed max. */
struct agxc_wide agxc_wide_bounded(struct agxc_wide w, uint64_t max);

/* Sums, differences and products modulo 2^64. */
struct agxc_wide agxc_wide_add(struct agxc_builder *b, struct agxc_wide x, struct agxc_wide y);
struct agxc_wide agxc_wide_sub(struct agxc_builder *b, struct agxc_wide x, struct agxc_wide y);
struct agxc_wide agxc_wide_mul(struct agxc_builder *b, struct agxc_wide x, struct agxc_wide y);
/* The 64-bit product of two words plus c, modulo 2^64. */
struct agxc_wide agxc_wide_mad(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y,
                               struct agxc_wide c);
/* The high 64 bits of the 128-bit product. */
struct agxc_wide agxc_wide_umulh(struct agxc_builder *b, struct agxc_wide x, struct agxc_wide y);
/* Bitwise operations: op is IAND, IOR or IXOR. */
struct agxc_wide agxc_wide_bits(struct agxc_builder *b, enum agxc_op op, struct agxc_wide x,
                                struct agxc_wide y);
/* Shifts: op is ISHL, USHR or ASHR; n, a word, counts modulo 128. */
struct agxc_wide agxc_wide_shift(struct agxc_builder *b, enum agxc_op op, struct agxc_wide x,
                                 struct agxc_ref n);
/* A comparison: op is one of integers, IEQ to SGE. */
struct agxc_ref agxc_wide_compare(struct agxc_builder *b, enum agxc_op op, struct agxc_wide x,
                                  struct agxc_wide y);
/* cond ? yes : no. */
struct agxc_wide agxc_wide_select(struct agxc_builder *b, struct agxc_ref cond,
                                  struct agxc_wide yes, struct agxc_wide no);
/* A word of all ones where x is negative, else 0; and x negated where sign is all ones, else x. */
struct agxc_ref agxc_wide_sign(struct agxc_builder *b, const struct agxc_wide *x);
struct agxc_wide agxc_wide_apply_sign(struct agxc_builder *b, struct agxc_wide x,
                                      struct agxc_ref sign);

/* Quotients and remainders: op is UDIV to SMOD (int64_divide.c). What a division by 0 gives is
 * undefined. */
struct agxc_wide agxc_wide_divide(struct agxc_builder *b, enum agxc_op op, struct agxc_wide n,
                                  struct agxc_wide d);
