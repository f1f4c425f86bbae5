/* SPDX-License-Identifier: MIT
 *
 * What the files of 64-bit floats share: their fields, operations on 64-bit integers that fold
 * constants, and rounding. Everything is built of integer operations, which lower_int64 turns
 * into words, so that constants fold without a float of the host.
 */
#pragma once

#include "agx/compiler/lower/int64_impl.h"

#define AGXC_F64_SIGN     0x80000000u         /* of the high word */
#define AGXC_F64_INFINITY 0x7ff00000u         /* high word; the low one is 0 */
#define AGXC_F64_NAN      0x7ff80000u         /* the NaN that operations give, likewise */
#define AGXC_F64_QUIET    0x00080000u         /* in the high word of a NaN */
#define AGXC_F64_HIDDEN   0x0010000000000000u /* the bit above the fraction */
#define AGXC_F64_MOST     0x7ffu              /* exponent of infinities and NaNs */
#define AGXC_F64_BIAS     1023u

/* A number taken apart. */
struct agxc_f64 {
   struct agxc_ref lo, hi; /* its words */
   struct agxc_ref
      exponent; /* a word: as it is stored; behind agxc_f64_normal less for denormals */
   struct agxc_ref significand; /* 64 bits, the first of them bit 52; 0 of a zero */
};

/* Operations on 64 bits, on bits that a comparison gave (1), and comparisons; all fold. */
static inline struct agxc_ref agxc_long2(struct agxc_builder *b, enum agxc_op op, struct agxc_ref a,
                                         struct agxc_ref c)
{
   return agxc_build2_folded(b, op, 64, a, c);
}
static inline struct agxc_ref agxc_bit2(struct agxc_builder *b, enum agxc_op op, struct agxc_ref a,
                                        struct agxc_ref c)
{
   return agxc_build2_folded(b, op, 1, a, c);
}
static inline struct agxc_ref agxc_long_imm(uint64_t value)
{
   return agxc_imm(value, 64);
}
/* A comparison of words or of 64 bits. */
struct agxc_ref agxc_f64_test(struct agxc_builder *b, enum agxc_op op, struct agxc_ref a,
                              struct agxc_ref c);
/* Both words of 64 bits, and 64 bits of two words. */
void agxc_f64_words(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref *lo,
                    struct agxc_ref *hi);
struct agxc_ref agxc_f64_join(struct agxc_builder *b, struct agxc_ref lo, struct agxc_ref hi);
/* The place of the highest bit, a word; -1 of 0. */
struct agxc_ref agxc_f64_top(struct agxc_builder *b, struct agxc_ref x);
/* x >> n with the last bit set where ones are lost; n is 127 at most. */
struct agxc_ref agxc_f64_jam(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref n);
/* x, and the last bit set where `more` (64 bits) isn't 0. */
struct agxc_ref agxc_f64_sticky(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref more);

/* Takes a number apart; its significand is as it is stored, with the hidden bit. */
struct agxc_f64 agxc_f64_open(struct agxc_builder *b, struct agxc_ref x);
/* The same with denormals brought up, so that bit 52 is set unless the number is 0. */
struct agxc_f64 agxc_f64_normal(struct agxc_builder *b, struct agxc_ref x);
/* Tests, which give a bit: of a NaN, of an infinity or NaN, of zero. */
struct agxc_ref agxc_f64_is_nan(struct agxc_builder *b, const struct agxc_f64 *x);
struct agxc_ref agxc_f64_is_special(struct agxc_builder *b, const struct agxc_f64 *x);
struct agxc_ref agxc_f64_is_zero(struct agxc_builder *b, const struct agxc_f64 *x);
/* The number itself, as a quiet NaN where it is one. */
struct agxc_ref agxc_f64_quieted(struct agxc_builder *b, const struct agxc_f64 *x);
/* A word with the sign bit where exactly one of both numbers is negative. */
struct agxc_ref agxc_f64_product_sign(struct agxc_builder *b, const struct agxc_f64 *x,
                                      const struct agxc_f64 *y);

/* Rounds to nearest even and puts together a number: its significand has its first bit at bit 62,
 * its last says whether there is more, and exponent is the stored one less 1. Where is_small,
 * the exponent may be negative: the result is a denormal or 0 then. */
struct agxc_ref agxc_f64_round(struct agxc_builder *b, struct agxc_ref sign,
                               struct agxc_ref exponent, struct agxc_ref significand,
                               bool is_small);

/* Sums and products (float64_sum.c), rounded once, as all that follow. */
struct agxc_ref agxc_f64_add(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y);
struct agxc_ref agxc_f64_mul(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y);
/* x y + z (float64_fma.c). */
struct agxc_ref agxc_f64_fma(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y,
                             struct agxc_ref z);
/* Quotient and square root (float64_divide.c). */
struct agxc_ref agxc_f64_div(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y);
struct agxc_ref agxc_f64_sqrt(struct agxc_builder *b, struct agxc_ref x);
/* x 2^n; n is a word. */
struct agxc_ref agxc_f64_ldexp(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref n);

/* Conversions (float64_convert.c) from floats of 16 or 32 bits, and to them. */
struct agxc_ref agxc_f64_from_float(struct agxc_builder *b, struct agxc_ref x);
struct agxc_ref agxc_f64_to_float(struct agxc_builder *b, struct agxc_ref x, unsigned bits);
/* Conversions from and to integers of 8 to 64 bits. */
struct agxc_ref agxc_f64_from_int(struct agxc_builder *b, struct agxc_ref x, bool is_signed);
struct agxc_ref agxc_f64_to_int(struct agxc_builder *b, struct agxc_ref x, unsigned bits,
                                bool is_signed);
/* The whole number next to x: op is FFLOOR, FCEIL, FTRUNC or FRINT. */
struct agxc_ref agxc_f64_whole(struct agxc_builder *b, enum agxc_op op, struct agxc_ref x);
