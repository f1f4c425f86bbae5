/* SPDX-License-Identifier: MIT
 *
 * Products with a summand, rounded once, of 64-bit floats, for float64.c. Product and summand
 * stand in 128 bits, from bit 125 or 124 on.
 */
#include "agx/compiler/lower/float64_impl.h"

struct pair {
   struct agxc_ref lo, hi; /* 64 bits each */
};

static struct pair choose(struct agxc_builder *b, struct agxc_ref cond, struct pair yes,
                          struct pair no)
{
   struct agxc_ref hi = agxc_word_select(b, cond, yes.hi, no.hi);
   return (struct pair){agxc_word_select(b, cond, yes.lo, no.lo), hi};
}

/* 64 - n; shifts count modulo 128, and give 0 from 64 on. */
static struct agxc_ref other_way(struct agxc_builder *b, struct agxc_ref n)
{
   n = agxc_word2(b, AGXC_OP_ISUB, agxc_u32(64), n);
   return agxc_word2(b, AGXC_OP_IAND, n, agxc_u32(127));
}

/* x >> n, n below 128, with a last bit for what is lost. */
static struct pair jam(struct agxc_builder *b, struct pair x, struct agxc_ref n)
{
   struct agxc_ref rest = agxc_word2(b, AGXC_OP_ISUB, n, agxc_u32(64));
   rest = agxc_word2(b, AGXC_OP_IAND, rest, agxc_u32(127));
   struct agxc_ref by_more = agxc_f64_test(b, AGXC_OP_ULT, agxc_u32(63), n);
   struct agxc_ref far = agxc_f64_jam(b, x.hi, rest);
   far = agxc_f64_sticky(b, far, x.lo);
   struct agxc_ref crossing = agxc_long2(b, AGXC_OP_ISHL, x.hi, other_way(b, n));
   struct agxc_ref near = agxc_long2(b, AGXC_OP_IOR, agxc_f64_jam(b, x.lo, n), crossing);
   return (struct pair){agxc_word_select(b, by_more, far, near),
                        agxc_long2(b, AGXC_OP_USHR, x.hi, n)};
}

/* x, or -x where the bit is set. */
static struct pair negated(struct agxc_builder *b, struct pair x, struct agxc_ref bit)
{
   struct agxc_ref mask = agxc_build1_folded(b, AGXC_OP_SEXT, 64, bit);
   struct agxc_ref none = agxc_f64_test(b, AGXC_OP_IEQ, x.lo, agxc_long_imm(0));
   struct agxc_ref carry = agxc_bit2(b, AGXC_OP_IAND, none, bit);
   struct agxc_ref lo = agxc_long2(b, AGXC_OP_IXOR, x.lo, mask);
   struct agxc_ref hi = agxc_long2(b, AGXC_OP_IXOR, x.hi, mask);
   lo = agxc_long2(b, AGXC_OP_ISUB, lo, mask);
   hi = agxc_long2(b, AGXC_OP_IADD, hi, agxc_build1_folded(b, AGXC_OP_ZEXT, 64, carry));
   return (struct pair){lo, hi};
}

static struct pair sum_of(struct agxc_builder *b, struct pair x, struct pair y)
{
   struct agxc_ref lo = agxc_long2(b, AGXC_OP_IADD, x.lo, y.lo);
   struct agxc_ref carry = agxc_f64_test(b, AGXC_OP_ULT, lo, y.lo);
   struct agxc_ref hi = agxc_long2(b, AGXC_OP_IADD, x.hi, y.hi);
   carry = agxc_build1_folded(b, AGXC_OP_ZEXT, 64, carry);
   return (struct pair){lo, agxc_long2(b, AGXC_OP_IADD, hi, carry)};
}

/* Brings the first bit to bit 126, or as far as 127 places reach, as 64 bits; *exponent counts. */
static struct agxc_ref leading(struct agxc_builder *b, struct pair x, struct agxc_ref *exponent)
{
   struct agxc_ref is_low = agxc_f64_test(b, AGXC_OP_IEQ, x.hi, agxc_long_imm(0));
   struct agxc_ref less = agxc_word_select(b, is_low, agxc_u32(64), agxc_u32(0));
   x = choose(b, is_low, (struct pair){agxc_long_imm(0), x.lo}, x);
   /* The low word alone may begin at bit 63. */
   struct agxc_ref lost = agxc_long2(b, AGXC_OP_USHR, x.hi, agxc_u32(63));
   x.lo = agxc_long2(b, AGXC_OP_IOR, x.lo, agxc_long2(b, AGXC_OP_IAND, x.hi, lost));
   struct agxc_ref is_long = agxc_f64_test(b, AGXC_OP_INE, lost, agxc_long_imm(0));
   struct agxc_ref halved = agxc_long2(b, AGXC_OP_USHR, x.hi, agxc_u32(1));
   x.hi = agxc_word_select(b, is_long, halved, x.hi);
   less = agxc_word2(b, AGXC_OP_ISUB, less, agxc_build1_folded(b, AGXC_OP_ZEXT, 32, is_long));
   struct agxc_ref up = agxc_word2(b, AGXC_OP_ISUB, agxc_u32(62), agxc_f64_top(b, x.hi));
   struct agxc_ref crossing = agxc_long2(b, AGXC_OP_USHR, x.lo, other_way(b, up));
   struct agxc_ref rest = agxc_long2(b, AGXC_OP_ISHL, x.lo, up);
   x.hi = agxc_long2(b, AGXC_OP_IOR, agxc_long2(b, AGXC_OP_ISHL, x.hi, up), crossing);
   *exponent = agxc_word2(b, AGXC_OP_ISUB, *exponent, agxc_word2(b, AGXC_OP_IADD, less, up));
   return agxc_f64_sticky(b, x.hi, rest);
}

/* Signs and exponents of product and summand; of zeros, exponents below all others. */
struct terms {
   struct agxc_f64 x, y, z;
   struct agxc_ref sign, differ; /* of the product, a word; from the summand's, a bit */
   struct agxc_ref no_product;
};

static struct agxc_ref add_terms(struct agxc_builder *b, const struct terms *t)
{
   struct agxc_ref first = agxc_long2(b, AGXC_OP_ISHL, t->x.significand, agxc_u32(10));
   struct agxc_ref second = agxc_long2(b, AGXC_OP_ISHL, t->y.significand, agxc_u32(10));
   struct pair p = {agxc_long2(b, AGXC_OP_IMUL, first, second),
                    agxc_long2(b, AGXC_OP_UMULH, first, second)};
   struct pair c = {agxc_long_imm(0), agxc_long2(b, AGXC_OP_ISHL, t->z.significand, agxc_u32(9))};
   struct agxc_ref p_exponent = agxc_word2(b, AGXC_OP_IADD, t->x.exponent, t->y.exponent);
   p_exponent = agxc_word2(b, AGXC_OP_ISUB, p_exponent, agxc_u32(AGXC_F64_BIAS - 1));
   p_exponent = agxc_word_select(b, t->no_product, agxc_u32((uint32_t)-8000), p_exponent);
   struct agxc_ref no_summand = agxc_f64_is_zero(b, &t->z);
   struct agxc_ref c_exponent =
      agxc_word_select(b, no_summand, agxc_u32((uint32_t)-9000), t->z.exponent);
   struct agxc_ref c_leads = agxc_f64_test(b, AGXC_OP_SLT, p_exponent, c_exponent);
   struct agxc_ref exponent = agxc_word2(b, AGXC_OP_IMAX, p_exponent, c_exponent);
   struct agxc_ref least = agxc_word2(b, AGXC_OP_IMIN, p_exponent, c_exponent);
   struct agxc_ref n = agxc_word2(b, AGXC_OP_ISUB, exponent, least);
   n = agxc_word2(b, AGXC_OP_UMIN, n, agxc_u32(127));
   struct pair big = choose(b, c_leads, c, p), small = jam(b, choose(b, c_leads, p, c), n);
   struct pair sum = sum_of(b, big, negated(b, small, t->differ));
   struct agxc_ref hi_word, lo_word;
   agxc_f64_words(b, sum.hi, &lo_word, &hi_word);
   struct agxc_ref negative = agxc_f64_test(b, AGXC_OP_SLT, hi_word, agxc_u32(0));
   sum = negated(b, sum, negative);
   struct agxc_ref any = agxc_long2(b, AGXC_OP_IOR, sum.lo, sum.hi);
   struct agxc_ref is_zero = agxc_f64_test(b, AGXC_OP_IEQ, any, agxc_long_imm(0));
   struct agxc_ref significand = leading(b, sum, &exponent);
   exponent = agxc_word_select(b, is_zero, agxc_u32(0), exponent);
   struct agxc_ref both = agxc_word2(b, AGXC_OP_IAND, t->sign, t->z.hi);
   struct agxc_ref sign = agxc_word_select(b, c_leads, t->z.hi, t->sign);
   sign = agxc_word2(b, AGXC_OP_IXOR, sign,
                     agxc_word_select(b, negative, agxc_u32(AGXC_F64_SIGN), agxc_u32(0)));
   sign = agxc_word2(b, AGXC_OP_IAND, agxc_word_select(b, is_zero, both, sign),
                     agxc_u32(AGXC_F64_SIGN));
   return agxc_f64_round(b, sign, exponent, significand, true);
}

struct agxc_ref agxc_f64_fma(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y,
                             struct agxc_ref z)
{
   struct terms t = {.x = agxc_f64_normal(b, x)};
   t.y = agxc_f64_normal(b, y);
   t.z = agxc_f64_normal(b, z);
   t.sign = agxc_f64_product_sign(b, &t.x, &t.y);
   struct agxc_ref signs = agxc_word2(b, AGXC_OP_IXOR, t.sign, t.z.hi);
   t.differ = agxc_f64_test(b, AGXC_OP_SLT, signs, agxc_u32(0));
   t.no_product = agxc_f64_is_zero(b, &t.x);
   t.no_product = agxc_bit2(b, AGXC_OP_IOR, t.no_product, agxc_f64_is_zero(b, &t.y));
   struct agxc_ref result = add_terms(b, &t);
   struct agxc_ref product = agxc_f64_is_special(b, &t.x);
   product = agxc_bit2(b, AGXC_OP_IOR, product, agxc_f64_is_special(b, &t.y));
   struct agxc_ref summand = agxc_f64_is_special(b, &t.z);
   struct agxc_ref nan = agxc_bit2(b, AGXC_OP_IAND, product, t.no_product);
   struct agxc_ref opposite = agxc_bit2(b, AGXC_OP_IAND, product, summand);
   nan = agxc_bit2(b, AGXC_OP_IOR, nan, agxc_bit2(b, AGXC_OP_IAND, opposite, t.differ));
   nan = agxc_bit2(b, AGXC_OP_IOR, nan, agxc_f64_is_nan(b, &t.x));
   nan = agxc_bit2(b, AGXC_OP_IOR, nan, agxc_f64_is_nan(b, &t.y));
   nan = agxc_bit2(b, AGXC_OP_IOR, nan, agxc_f64_is_nan(b, &t.z));
   struct agxc_ref sign = agxc_word_select(b, product, t.sign, t.z.hi);
   sign = agxc_word2(b, AGXC_OP_IAND, sign, agxc_u32(AGXC_F64_SIGN));
   struct agxc_ref hi = agxc_word2(b, AGXC_OP_IOR, sign, agxc_u32(AGXC_F64_INFINITY));
   hi = agxc_word_select(b, nan, agxc_u32(AGXC_F64_NAN), hi);
   struct agxc_ref limited = agxc_bit2(b, AGXC_OP_IOR, product, summand);
   return agxc_word_select(b, limited, agxc_f64_join(b, agxc_u32(0), hi), result);
}
