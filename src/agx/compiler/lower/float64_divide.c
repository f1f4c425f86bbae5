/* SPDX-License-Identifier: MIT
 *
 * Quotients and square roots of 64-bit floats, for float64.c. Digits of 19 bits are estimated with
 * floats of 32 bits, and what is left over is kept exactly: it fits in 64 bits with its sign,
 * though products on the way there do not, which wrap. An estimate is less than 1 off, so that a
 * digit may have either sign; the sign of what is left at the end says where the result lies.
 */
#include "agx/compiler/lower/float64_impl.h"

#define DIGIT 19u

static uint32_t power_of_2(int n)
{
   return (uint32_t)(127 + n) << 23;
}

static struct agxc_ref low_word(struct agxc_builder *b, struct agxc_ref x)
{
   return agxc_build1_folded(b, AGXC_OP_TRUNC, 32, x);
}

static struct agxc_ref left(struct agxc_builder *b, struct agxc_ref x, unsigned n)
{
   return agxc_long2(b, AGXC_OP_ISHL, x, agxc_u32(n));
}

static struct agxc_ref right(struct agxc_builder *b, struct agxc_ref x, unsigned n)
{
   return agxc_long2(b, AGXC_OP_USHR, x, agxc_u32(n));
}

/* The digit that (rest >> n) times the scale is next to, as a word. */
static struct agxc_ref estimate(struct agxc_builder *b, struct agxc_ref rest, unsigned n,
                                struct agxc_ref scale)
{
   struct agxc_ref word = low_word(b, agxc_long2(b, AGXC_OP_ASHR, rest, agxc_u32(n)));
   struct agxc_ref digit = agxc_build_fmul(b, agxc_build_s2f(b, 32, word), scale);
   return agxc_build_f2s(b, 32, agxc_build_frint(b, digit));
}

static struct agxc_ref extended(struct agxc_builder *b, struct agxc_ref digit)
{
   return agxc_build1_folded(b, AGXC_OP_SEXT, 64, digit);
}

/* What the digits mean is `result`, or less where rest is negative: the number below, and a last
 * bit unless that is exact. */
static struct agxc_ref settled(struct agxc_builder *b, struct agxc_ref result, struct agxc_ref rest)
{
   struct agxc_ref less = agxc_long2(b, AGXC_OP_ASHR, rest, agxc_u32(63));
   return agxc_f64_sticky(b, agxc_long2(b, AGXC_OP_IADD, result, less), rest);
}

/* x 2^57 / y of significands, in three digits. y is 2^21 times its leading 32 bits; relative
 * errors of reciprocal, conversions and product sum up to less than 2^-21, which is half of a digit
 * at the most: the first one is below 2^20, the others below 2^19. */
static struct agxc_ref quotient(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y)
{
   struct agxc_ref divisor = agxc_build_u2f(b, 32, low_word(b, right(b, y, 21)));
   struct agxc_ref inverse = agxc_build_frcp(b, divisor);
   struct agxc_ref scale = agxc_build_fmul(b, inverse, agxc_u32(power_of_2(DIGIT + 22 - 21)));
   struct agxc_ref rest = x, result = agxc_long_imm(0);
   for (unsigned i = 0; i < 3; i++) {
      struct agxc_ref digit = extended(b, estimate(b, rest, 22, scale));
      rest =
         agxc_long2(b, AGXC_OP_ISUB, left(b, rest, DIGIT), agxc_long2(b, AGXC_OP_IMUL, y, digit));
      result = agxc_long2(b, AGXC_OP_IADD, left(b, result, DIGIT), digit);
   }
   return settled(b, result, rest);
}

/* Infinities and zeros on either side: which of both the result is, or a NaN. */
static struct agxc_ref quotient_limits(struct agxc_builder *b, const struct agxc_f64 *f,
                                       const struct agxc_f64 *g, struct agxc_ref sign,
                                       struct agxc_ref result)
{
   struct agxc_ref f_zero = agxc_f64_is_zero(b, f), g_zero = agxc_f64_is_zero(b, g);
   struct agxc_ref f_special = agxc_f64_is_special(b, f), g_special = agxc_f64_is_special(b, g);
   struct agxc_ref nan = agxc_f64_is_nan(b, f);
   nan = agxc_bit2(b, AGXC_OP_IOR, nan, agxc_f64_is_nan(b, g));
   nan = agxc_bit2(b, AGXC_OP_IOR, nan, agxc_bit2(b, AGXC_OP_IAND, f_zero, g_zero));
   nan = agxc_bit2(b, AGXC_OP_IOR, nan, agxc_bit2(b, AGXC_OP_IAND, f_special, g_special));
   struct agxc_ref infinite = agxc_bit2(b, AGXC_OP_IOR, f_special, g_zero);
   struct agxc_ref none = agxc_bit2(b, AGXC_OP_IOR, f_zero, g_special), lo, hi;
   struct agxc_ref limited = agxc_bit2(b, AGXC_OP_IOR, infinite, none);
   struct agxc_ref infinity = agxc_word2(b, AGXC_OP_IOR, sign, agxc_u32(AGXC_F64_INFINITY));
   agxc_f64_words(b, result, &lo, &hi);
   hi = agxc_word_select(b, none, sign, hi);
   hi = agxc_word_select(b, infinite, infinity, hi);
   hi = agxc_word_select(b, nan, agxc_u32(AGXC_F64_NAN), hi);
   limited = agxc_bit2(b, AGXC_OP_IOR, limited, nan);
   return agxc_f64_join(b, agxc_word_select(b, limited, agxc_u32(0), lo), hi);
}

struct agxc_ref agxc_f64_div(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y)
{
   struct agxc_f64 f = agxc_f64_normal(b, x), g = agxc_f64_normal(b, y);
   struct agxc_ref q = quotient(b, f.significand, g.significand);
   /* It begins at bit 56 or 57. */
   struct agxc_ref is_short = agxc_f64_test(b, AGXC_OP_ULT, q, agxc_long_imm(1ull << 57));
   q = agxc_word_select(b, is_short, left(b, q, 6), left(b, q, 5));
   struct agxc_ref exponent = agxc_word2(b, AGXC_OP_ISUB, f.exponent, g.exponent);
   struct agxc_ref bias =
      agxc_word_select(b, is_short, agxc_u32(AGXC_F64_BIAS - 2), agxc_u32(AGXC_F64_BIAS - 1));
   exponent = agxc_word2(b, AGXC_OP_IADD, exponent, bias);
   struct agxc_ref sign = agxc_f64_product_sign(b, &f, &g);
   struct agxc_ref result = agxc_f64_round(b, sign, exponent, q, true);
   return quotient_limits(b, &f, &g, sign, result);
}

/* (rest << 38) - (root << 20) digit - digit^2: what is left with one digit more. */
static struct agxc_ref root_rest(struct agxc_builder *b, struct agxc_ref moved,
                                 struct agxc_ref root, struct agxc_ref digit)
{
   struct agxc_ref sum = agxc_long2(b, AGXC_OP_IADD, left(b, root, DIGIT + 1), digit);
   return agxc_long2(b, AGXC_OP_ISUB, moved, agxc_long2(b, AGXC_OP_IMUL, sum, digit));
}

/* The root of x 2^60, x being of 53 or 54 bits, in three digits. The first one is the rounded root
 * of the leading 38 bits, the others are rest / (2 root); what that leaves out, the square of the
 * digit, counts in the second one only: 0.4 at the most, beside 0.6 of rounding and estimate. */
static struct agxc_ref root_of(struct agxc_builder *b, struct agxc_ref x)
{
   struct agxc_ref leading = agxc_build_u2f(b, 32, low_word(b, right(b, x, 22)));
   struct agxc_ref inverse = agxc_build_frsqrt(b, leading); /* 8 of the first digit's */
   struct agxc_ref first = agxc_build_fmul(b, leading, inverse);
   first = agxc_build_fmul(b, first, agxc_u32(power_of_2(3)));
   struct agxc_ref root = extended(b, agxc_build_f2s(b, 32, agxc_build_frint(b, first)));
   struct agxc_ref rest = right(b, x, 16);
   rest = agxc_long2(b, AGXC_OP_ISUB, rest, agxc_long2(b, AGXC_OP_IMUL, root, root));
   rest = left(b, rest, 2 * DIGIT);
   struct agxc_ref more = agxc_long2(b, AGXC_OP_IAND, x, agxc_long_imm(0xffff));
   rest = agxc_long2(b, AGXC_OP_IADD, rest, left(b, more, 22));
   struct agxc_ref scale = agxc_build_fmul(b, inverse, agxc_u32(power_of_2(4)));
   struct agxc_ref digit = extended(b, estimate(b, rest, 27, scale));
   rest = root_rest(b, rest, root, digit);
   root = agxc_long2(b, AGXC_OP_IADD, left(b, root, DIGIT), digit);
   scale = agxc_build_fmul(b, inverse, agxc_u32(power_of_2(5)));
   digit = extended(b, estimate(b, rest, 9, scale));
   rest = root_rest(b, left(b, rest, 2 * DIGIT), root, digit);
   return settled(b, agxc_long2(b, AGXC_OP_IADD, left(b, root, DIGIT), digit), rest);
}

struct agxc_ref agxc_f64_sqrt(struct agxc_builder *b, struct agxc_ref x)
{
   struct agxc_f64 f = agxc_f64_normal(b, x);
   /* An exponent that is even without its bias: the stored one is odd. */
   struct agxc_ref odd = agxc_word2(b, AGXC_OP_IAND, f.exponent, agxc_u32(1));
   struct agxc_ref is_even = agxc_f64_test(b, AGXC_OP_INE, odd, agxc_u32(0));
   struct agxc_ref twice = agxc_long2(b, AGXC_OP_IADD, f.significand, f.significand);
   struct agxc_ref root = root_of(b, agxc_word_select(b, is_even, f.significand, twice));
   struct agxc_ref exponent = agxc_word2(b, AGXC_OP_IADD, f.exponent, odd);
   exponent = agxc_word2(b, AGXC_OP_ISUB, exponent, agxc_u32(AGXC_F64_BIAS + 1));
   exponent = agxc_word2(b, AGXC_OP_ASHR, exponent, agxc_u32(1));
   exponent = agxc_word2(b, AGXC_OP_IADD, exponent, agxc_u32(AGXC_F64_BIAS - 1));
   struct agxc_ref result = agxc_f64_round(b, agxc_u32(0), exponent, left(b, root, 6), false);
   struct agxc_ref zero = agxc_f64_is_zero(b, &f);
   struct agxc_ref same = agxc_bit2(b, AGXC_OP_IOR, zero, agxc_f64_is_special(b, &f));
   result = agxc_word_select(b, same, agxc_f64_quieted(b, &f), result);
   struct agxc_ref negative = agxc_f64_test(b, AGXC_OP_SLT, f.hi, agxc_u32(0));
   struct agxc_ref some = agxc_build1_folded(b, AGXC_OP_INOT, 1, zero);
   struct agxc_ref nan = agxc_bit2(b, AGXC_OP_IAND, negative, some);
   return agxc_word_select(b, nan, agxc_long_imm((uint64_t)AGXC_F64_NAN << 32), result);
}
