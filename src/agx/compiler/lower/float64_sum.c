/* SPDX-License-Identifier: MIT
 *
 * Fields of 64-bit floats, rounding, sums and products, for float64.c. Significands stand in 64
 * bits with room below for what rounding needs: a guard bit, and a last bit that says whether ones
 * were cut off.
 */
#include "agx/compiler/lower/float64_impl.h"

/* ---- fields ---------------------------------------------------------------- */

struct agxc_ref agxc_f64_test(struct agxc_builder *b, enum agxc_op op, struct agxc_ref a,
                              struct agxc_ref c)
{
   struct agxc_ref folded = agxc_fold(op, 1, a, c);
   return folded.kind == AGXC_NONE ? agxc_build2(b, op, 1, a, c) : folded;
}

void agxc_f64_words(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref *lo,
                    struct agxc_ref *hi)
{
   if (x.kind == AGXC_IMM) {
      *lo = agxc_u32((uint32_t)x.imm);
      *hi = agxc_u32((uint64_t)x.imm >> 32);
      return;
   }
   const struct agxc_instr *unpack = agxc_build_unpack64(b, x);
   *lo = *agxc_dest_low(unpack);
   *hi = *agxc_dest_high(unpack);
}

struct agxc_ref agxc_f64_join(struct agxc_builder *b, struct agxc_ref lo, struct agxc_ref hi)
{
   return agxc_long2(b, AGXC_OP_PACK64, lo, hi);
}

struct agxc_ref agxc_f64_top(struct agxc_builder *b, struct agxc_ref x)
{
   struct agxc_ref top = agxc_build1_folded(b, AGXC_OP_FIND_UMSB, 64, x);
   return agxc_build1_folded(b, AGXC_OP_TRUNC, 32, top);
}

static struct agxc_ref long_of_bit(struct agxc_builder *b, struct agxc_ref bit)
{
   return agxc_build1_folded(b, AGXC_OP_ZEXT, 64, bit);
}

struct agxc_ref agxc_f64_sticky(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref more)
{
   struct agxc_ref some = agxc_f64_test(b, AGXC_OP_INE, more, agxc_long_imm(0));
   return agxc_long2(b, AGXC_OP_IOR, x, long_of_bit(b, some));
}

struct agxc_ref agxc_f64_jam(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref n)
{
   struct agxc_ref moved = agxc_long2(b, AGXC_OP_USHR, x, n);
   struct agxc_ref back = agxc_long2(b, AGXC_OP_ISHL, moved, n);
   return agxc_f64_sticky(b, moved, agxc_long2(b, AGXC_OP_IXOR, back, x));
}

struct agxc_f64 agxc_f64_open(struct agxc_builder *b, struct agxc_ref x)
{
   struct agxc_f64 f;
   agxc_f64_words(b, x, &f.lo, &f.hi);
   f.exponent = agxc_word2(b, AGXC_OP_USHR, f.hi, agxc_u32(20));
   f.exponent = agxc_word2(b, AGXC_OP_IAND, f.exponent, agxc_u32(AGXC_F64_MOST));
   struct agxc_ref hidden = agxc_word2(b, AGXC_OP_UMIN, f.exponent, agxc_u32(1));
   hidden = agxc_word2(b, AGXC_OP_ISHL, hidden, agxc_u32(20));
   struct agxc_ref top = agxc_word2(b, AGXC_OP_IAND, f.hi, agxc_u32(0xfffff));
   f.significand = agxc_f64_join(b, f.lo, agxc_word2(b, AGXC_OP_IOR, top, hidden));
   return f;
}

struct agxc_f64 agxc_f64_normal(struct agxc_builder *b, struct agxc_ref x)
{
   struct agxc_f64 f = agxc_f64_open(b, x);
   struct agxc_ref top = agxc_f64_top(b, f.significand); /* 52 of normal numbers */
   struct agxc_ref up = agxc_word2(b, AGXC_OP_ISUB, agxc_u32(52), top);
   f.significand = agxc_long2(b, AGXC_OP_ISHL, f.significand, up);
   f.exponent = agxc_word2(b, AGXC_OP_UMAX, f.exponent, agxc_u32(1));
   f.exponent = agxc_word2(b, AGXC_OP_ISUB, f.exponent, up);
   return f;
}

struct agxc_ref agxc_f64_is_nan(struct agxc_builder *b, const struct agxc_f64 *x)
{
   struct agxc_ref size = agxc_word2(b, AGXC_OP_IAND, x->hi, agxc_u32(~AGXC_F64_SIGN));
   size = agxc_word2(b, AGXC_OP_IOR, size, agxc_word2(b, AGXC_OP_UMIN, x->lo, agxc_u32(1)));
   return agxc_f64_test(b, AGXC_OP_ULT, agxc_u32(AGXC_F64_INFINITY), size);
}

struct agxc_ref agxc_f64_is_special(struct agxc_builder *b, const struct agxc_f64 *x)
{
   return agxc_f64_test(b, AGXC_OP_IEQ, x->exponent, agxc_u32(AGXC_F64_MOST));
}

struct agxc_ref agxc_f64_is_zero(struct agxc_builder *b, const struct agxc_f64 *x)
{
   return agxc_f64_test(b, AGXC_OP_IEQ, x->significand, agxc_long_imm(0));
}

struct agxc_ref agxc_f64_quieted(struct agxc_builder *b, const struct agxc_f64 *x)
{
   struct agxc_ref quiet = agxc_word2(b, AGXC_OP_IOR, x->hi, agxc_u32(AGXC_F64_QUIET));
   return agxc_f64_join(b, x->lo, agxc_word_select(b, agxc_f64_is_nan(b, x), quiet, x->hi));
}

struct agxc_ref agxc_f64_product_sign(struct agxc_builder *b, const struct agxc_f64 *x,
                                      const struct agxc_f64 *y)
{
   struct agxc_ref signs = agxc_word2(b, AGXC_OP_IXOR, x->hi, y->hi);
   return agxc_word2(b, AGXC_OP_IAND, signs, agxc_u32(AGXC_F64_SIGN));
}

/* ---- rounding -------------------------------------------------------------- */

/* Halfway cases round up where the last bit that stays is set. What carries out of the significand
 * counts the exponent up, to that of infinity at the end. */
struct agxc_ref agxc_f64_round(struct agxc_builder *b, struct agxc_ref sign,
                               struct agxc_ref exponent, struct agxc_ref significand, bool is_small)
{
   struct agxc_ref zero = agxc_u32(0), lo, hi;
   if (is_small) {
      struct agxc_ref below = agxc_word2(b, AGXC_OP_ISUB, zero, exponent);
      below = agxc_word2(b, AGXC_OP_IMIN, agxc_word2(b, AGXC_OP_IMAX, below, zero), agxc_u32(63));
      significand = agxc_f64_jam(b, significand, below);
      exponent = agxc_word2(b, AGXC_OP_IMAX, exponent, zero);
   }
   struct agxc_ref odd = agxc_long2(b, AGXC_OP_USHR, significand, agxc_u32(10));
   odd = agxc_long2(b, AGXC_OP_IAND, odd, agxc_long_imm(1));
   struct agxc_ref half = agxc_long2(b, AGXC_OP_IADD, odd, agxc_long_imm(0x1ff));
   significand = agxc_long2(b, AGXC_OP_IADD, significand, half);
   agxc_f64_words(b, agxc_long2(b, AGXC_OP_USHR, significand, agxc_u32(10)), &lo, &hi);
   hi = agxc_word2(b, AGXC_OP_IADD, hi, agxc_word2(b, AGXC_OP_ISHL, exponent, agxc_u32(20)));
   struct agxc_ref over = agxc_f64_test(b, AGXC_OP_SLT, agxc_u32(AGXC_F64_MOST - 2), exponent);
   hi = agxc_word_select(b, over, agxc_u32(AGXC_F64_INFINITY), hi);
   lo = agxc_word_select(b, over, zero, lo);
   return agxc_f64_join(b, lo, agxc_word2(b, AGXC_OP_IOR, hi, sign));
}

/* cond ? (hi, 0) : x */
static struct agxc_ref unless(struct agxc_builder *b, struct agxc_ref cond, struct agxc_ref hi,
                              struct agxc_ref x)
{
   return agxc_word_select(b, cond, agxc_f64_join(b, agxc_u32(0), hi), x);
}

/* ---- sums ------------------------------------------------------------------ */

static struct agxc_ref size_of(struct agxc_builder *b, struct agxc_ref x)
{
   return agxc_long2(b, AGXC_OP_IAND, x, agxc_long_imm(INT64_MAX));
}

/* Zero has the sign that both have, else none. */
static struct agxc_ref sum_sign(struct agxc_builder *b, struct agxc_ref is_zero, struct agxc_ref x,
                                struct agxc_ref y)
{
   struct agxc_ref both = agxc_word2(b, AGXC_OP_IAND, x, y);
   return agxc_word2(b, AGXC_OP_IAND, agxc_word_select(b, is_zero, both, x),
                     agxc_u32(AGXC_F64_SIGN));
}

/* Significands begin at bit 61. Where bits of the smaller one are lost, the difference is at most
 * one bit shorter; denormal results lose none. */
struct agxc_ref agxc_f64_add(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y)
{
   struct agxc_ref one = agxc_u32(1), zero = agxc_u32(0);
   struct agxc_ref swap = agxc_f64_test(b, AGXC_OP_ULT, size_of(b, x), size_of(b, y));
   struct agxc_f64 big = agxc_f64_open(b, agxc_word_select(b, swap, y, x));
   struct agxc_f64 small = agxc_f64_open(b, agxc_word_select(b, swap, x, y));
   struct agxc_ref exponent = agxc_word2(b, AGXC_OP_UMAX, big.exponent, one);
   struct agxc_ref n = agxc_word2(b, AGXC_OP_UMAX, small.exponent, one);
   n = agxc_word2(b, AGXC_OP_UMIN, agxc_word2(b, AGXC_OP_ISUB, exponent, n), agxc_u32(63));
   struct agxc_ref first = agxc_long2(b, AGXC_OP_ISHL, big.significand, agxc_u32(9));
   struct agxc_ref second = agxc_long2(b, AGXC_OP_ISHL, small.significand, agxc_u32(9));
   second = agxc_f64_jam(b, second, n);
   struct agxc_ref signs = agxc_word2(b, AGXC_OP_IXOR, big.hi, small.hi);
   struct agxc_ref differ = agxc_f64_test(b, AGXC_OP_SLT, signs, zero);
   struct agxc_ref sum = agxc_long2(b, AGXC_OP_IADD, first, second);
   sum = agxc_word_select(b, differ, agxc_long2(b, AGXC_OP_ISUB, first, second), sum);
   struct agxc_ref is_zero = agxc_f64_test(b, AGXC_OP_IEQ, sum, agxc_long_imm(0));
   struct agxc_ref up = agxc_word2(b, AGXC_OP_ISUB, agxc_u32(62), agxc_f64_top(b, sum));
   up = agxc_word2(b, AGXC_OP_UMIN, up, exponent);
   sum = agxc_long2(b, AGXC_OP_ISHL, sum, up);
   exponent = agxc_word_select(b, is_zero, zero, agxc_word2(b, AGXC_OP_ISUB, exponent, up));
   struct agxc_ref sign = sum_sign(b, is_zero, big.hi, small.hi);
   struct agxc_ref result = agxc_f64_round(b, sign, exponent, sum, false);
   /* Infinities of different sign give a NaN. */
   struct agxc_ref nan = agxc_bit2(b, AGXC_OP_IAND, differ, agxc_f64_is_special(b, &small));
   nan = agxc_bit2(b, AGXC_OP_IOR, nan, agxc_f64_is_nan(b, &big));
   struct agxc_ref hi = agxc_word_select(b, nan, agxc_u32(AGXC_F64_NAN), big.hi);
   return unless(b, agxc_f64_is_special(b, &big), hi, result);
}

/* ---- products -------------------------------------------------------------- */

static struct agxc_ref either(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y)
{
   return agxc_bit2(b, AGXC_OP_IOR, x, y);
}

struct agxc_ref agxc_f64_mul(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y)
{
   struct agxc_f64 f = agxc_f64_normal(b, x), g = agxc_f64_normal(b, y);
   struct agxc_ref first = agxc_long2(b, AGXC_OP_ISHL, f.significand, agxc_u32(10));
   struct agxc_ref second = agxc_long2(b, AGXC_OP_ISHL, g.significand, agxc_u32(11));
   struct agxc_ref high = agxc_long2(b, AGXC_OP_UMULH, first, second);
   high = agxc_f64_sticky(b, high, agxc_long2(b, AGXC_OP_IMUL, first, second));
   /* It begins at bit 61 or 62. */
   struct agxc_ref is_short =
      agxc_f64_test(b, AGXC_OP_ULT, high, agxc_long_imm(0x4000000000000000u));
   struct agxc_ref is_zero = agxc_f64_test(b, AGXC_OP_IEQ, high, agxc_long_imm(0));
   high = agxc_word_select(b, is_short, agxc_long2(b, AGXC_OP_IADD, high, high), high);
   struct agxc_ref bias =
      agxc_word_select(b, is_short, agxc_u32(0u - AGXC_F64_BIAS - 1), agxc_u32(0u - AGXC_F64_BIAS));
   struct agxc_ref exponent = agxc_word2(b, AGXC_OP_IADD, f.exponent, g.exponent);
   exponent = agxc_word2(b, AGXC_OP_IADD, exponent, bias);
   exponent = agxc_word_select(b, is_zero, agxc_u32(0), exponent);
   struct agxc_ref sign = agxc_f64_product_sign(b, &f, &g);
   struct agxc_ref result = agxc_f64_round(b, sign, exponent, high, true);
   struct agxc_ref f_special = agxc_f64_is_special(b, &f);
   struct agxc_ref special = either(b, f_special, agxc_f64_is_special(b, &g));
   struct agxc_ref f_nan = agxc_f64_is_nan(b, &f);
   struct agxc_ref nan = either(b, either(b, f_nan, agxc_f64_is_nan(b, &g)), is_zero);
   struct agxc_ref infinity = agxc_word2(b, AGXC_OP_IOR, sign, agxc_u32(AGXC_F64_INFINITY));
   return unless(b, special, agxc_word_select(b, nan, agxc_u32(AGXC_F64_NAN), infinity), result);
}

struct agxc_ref agxc_f64_ldexp(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref n)
{
   struct agxc_f64 f = agxc_f64_normal(b, x);
   n = agxc_word2(b, AGXC_OP_IMAX, n, agxc_u32((uint32_t)-3000));
   n = agxc_word2(b, AGXC_OP_IMIN, n, agxc_u32(3000));
   struct agxc_ref exponent = agxc_word2(b, AGXC_OP_IADD, f.exponent, n);
   exponent = agxc_word2(b, AGXC_OP_ISUB, exponent, agxc_u32(1));
   struct agxc_ref sign = agxc_word2(b, AGXC_OP_IAND, f.hi, agxc_u32(AGXC_F64_SIGN));
   struct agxc_ref significand = agxc_long2(b, AGXC_OP_ISHL, f.significand, agxc_u32(10));
   struct agxc_ref result = agxc_f64_round(b, sign, exponent, significand, true);
   struct agxc_ref same = either(b, agxc_f64_is_special(b, &f), agxc_f64_is_zero(b, &f));
   return agxc_word_select(b, same, agxc_f64_quieted(b, &f), result);
}
