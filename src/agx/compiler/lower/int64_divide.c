/* SPDX-License-Identifier: MIT
 *
 * 64-bit division, for int64.c. By a constant: multiply-high and shifts. By anything else:
 * quotients in four steps, each from a float estimate that is never too large, then one correction.
 */
#include "agx/compiler/lower/int64_impl.h"

/* Floats that an estimate needs, e being what it may fall short of the quotient:
 * converting, joining and inverting dividend and divisor errs by 2^-21 in all, so 1 - 2^-20
 * makes the estimate too small for certain, by e = 1.5 * 2^-20 at most.
 *
 * With a quotient below 2^64 to begin with, a step that gives the high word leaves less than
 * 2^64 e + 2^32 < 2^44.5, the next less than 2^24.9 + 2^32; one subtraction makes that less
 * than 2^32. A step in the low word leaves 2^32 e + 1 < 2^12.5, the next less than 1.01. */
#define BELOW_ONE 0x3f7ffff0u /* 1 - 2^-20 */
#define POWER_32  0x4f800000u /* 2^32 */

struct division {
   struct agxc_builder *b;
   struct agxc_wide d, minus_d;
   struct agxc_ref inverse, inverse_high; /* just below 1 / d, and 2^-32 of it */
};

static struct agxc_ref to_float(struct division *v, const struct agxc_wide *x)
{
   struct agxc_ref low = agxc_build_u2f(v->b, 32, x->lo);
   if (agxc_wide_is_word(x))
      return low;
   struct agxc_ref high = agxc_build_u2f(v->b, 32, x->hi);
   return agxc_build_ffma(v->b, high, agxc_u32(POWER_32), low);
}

static void begin(struct division *v, struct agxc_builder *b, struct agxc_wide d)
{
   v->b = b;
   v->d = d;
   v->minus_d = agxc_wide_is_word(&d)
                   ? agxc_wide_make(agxc_word1(b, AGXC_OP_INEG, d.lo), agxc_u32(UINT32_MAX))
                   : agxc_wide_sub(b, agxc_wide_imm(0), d);
   struct agxc_ref inverse = agxc_build_frcp(b, to_float(v, &d));
   v->inverse = agxc_build_fmul(v->b, inverse, agxc_u32(BELOW_ONE));
   v->inverse_high = agxc_build_fmul(v->b, v->inverse, agxc_u32(AGXC_POWER_MINUS_32));
}

/* r - q d. */
static struct agxc_wide subtract(struct division *v, struct agxc_wide r, struct agxc_ref q)
{
   if (agxc_wide_is_word(&v->d)) {
      struct agxc_wide product = agxc_wide_mad(v->b, q, v->d.lo, agxc_wide_imm(0));
      return agxc_wide_sub(v->b, r, product);
   }
   struct agxc_wide w = agxc_wide_mad(v->b, q, v->minus_d.lo, r);
   struct agxc_ref cross = agxc_word2(v->b, AGXC_OP_IMUL, q, v->minus_d.hi);
   return agxc_wide_make(w.lo, agxc_word2(v->b, AGXC_OP_IADD, cross, w.hi));
}

/* Of the quotient's high word; the product changes the remainder's high word only. */
static struct agxc_ref high_step(struct division *v, struct agxc_wide *r)
{
   struct agxc_ref estimate = agxc_build_fmul(v->b, to_float(v, r), v->inverse_high);
   struct agxc_ref q = agxc_build_f2u(v->b, 32, estimate);
   struct agxc_ref product = agxc_word2(v->b, AGXC_OP_IMUL, q, v->minus_d.lo);
   *r = agxc_wide_make(r->lo, agxc_word2(v->b, AGXC_OP_IADD, product, r->hi));
   return q;
}

/* Where 2^32 d still fits, which asks for a divisor of one word: takes it off. */
static struct agxc_ref high_correction(struct division *v, struct agxc_wide *r)
{
   struct agxc_builder *b = v->b;
   struct agxc_ref fits = agxc_word_compare(b, AGXC_OP_IEQ, v->d.hi, agxc_u32(0));
   struct agxc_ref d = agxc_word_select(b, fits, v->d.lo, agxc_u32(0));
   struct agxc_ref less = agxc_word2(b, AGXC_OP_ISUB, r->hi, d);
   struct agxc_ref hi = agxc_word2(b, AGXC_OP_UMIN, r->hi, less); /* wraps where it is too much */
   struct agxc_ref changed = agxc_word_compare(b, AGXC_OP_INE, hi, r->hi);
   *r = agxc_wide_make(r->lo, hi);
   return agxc_build_zext(b, 32, changed);
}

static struct agxc_ref low_step(struct division *v, struct agxc_wide *r)
{
   struct agxc_ref estimate = agxc_build_fmul(v->b, to_float(v, r), v->inverse);
   struct agxc_ref q = agxc_build_f2u(v->b, 32, estimate);
   *r = subtract(v, *r, q);
   return q;
}

static void divide_unsigned(struct agxc_builder *b, struct agxc_wide n, struct agxc_wide d,
                            struct agxc_wide *q, struct agxc_wide *r)
{
   struct agxc_ref zero = agxc_u32(0), high = zero;
   if (agxc_wide_is_word(&n) && agxc_wide_is_word(&d)) {
      *q = agxc_wide_make(agxc_build_udiv(b, n.lo, d.lo), zero);
      *r = agxc_wide_make(agxc_build_umod(b, n.lo, d.lo), zero);
      return;
   }
   struct division v;
   begin(&v, b, d);
   *r = n;
   if (!agxc_wide_is_word(&n)) {
      high = high_step(&v, r);
      high = agxc_word2(b, AGXC_OP_IADD, high, high_step(&v, r));
      high = agxc_word2(b, AGXC_OP_IADD, high, high_correction(&v, r));
   }
   struct agxc_ref low = low_step(&v, r);
   low = agxc_word2(b, AGXC_OP_IADD, low, low_step(&v, r));
   struct agxc_ref more = agxc_wide_compare(b, AGXC_OP_UGE, *r, d);
   struct agxc_wide one = agxc_wide_make(agxc_build_zext(b, 32, more), zero);
   *q = agxc_wide_add(b, agxc_wide_make(low, high), one);
   *r = agxc_wide_select(b, more, agxc_wide_sub(b, *r, d), *r);
}

/* ---- constants ----------------------------------------------------------- */

/* floor(2^(64 + s) / d), which has up to 65 bits. */
static unsigned __int128 power_over(unsigned s, uint64_t d)
{
   unsigned __int128 half = (unsigned __int128)1 << (63 + s);
   return half / d * 2 + (half % d * 2 >= d);
}

/* n * m >> 64 + s is n / d where m is the next integer above 2^(64 + s) / d and what that adds
 * times n stays below 2^(64 + s). Where no m of 64 bits does, one of 65 always does: its top bit
 * is added by hand. */
static struct agxc_wide quotient_by(struct agxc_builder *b, struct agxc_wide n, uint64_t d)
{
   unsigned zeros = (unsigned)__builtin_ctzll(d);
   n = agxc_wide_shift(b, AGXC_OP_USHR, n, agxc_u32(zeros));
   d >>= zeros;
   if (d == 1)
      return n;
   unsigned log2 = 63u - (unsigned)__builtin_clzll(d);
   for (unsigned s = 0; s <= log2; s++) {
      unsigned __int128 power = (unsigned __int128)1 << (64 + s), m = power_over(s, d) + 1;
      unsigned __int128 excess = m * d - power; /* at most d */
      if (m >> 64 || excess * n.max >> (64 + s))
         continue;
      struct agxc_wide q = agxc_wide_umulh(b, n, agxc_wide_imm((uint64_t)m));
      q = agxc_wide_shift(b, AGXC_OP_USHR, q, agxc_u32(s));
      return agxc_wide_bounded(q, n.max / d);
   }
   uint64_t m = (uint64_t)(power_over(log2 + 1, d) + 1);
   struct agxc_wide t = agxc_wide_umulh(b, n, agxc_wide_imm(m));
   struct agxc_wide half = agxc_wide_shift(b, AGXC_OP_USHR, agxc_wide_sub(b, n, t), agxc_u32(1));
   return agxc_wide_shift(b, AGXC_OP_USHR, agxc_wide_add(b, half, t), agxc_u32(log2));
}

static void divide_by(struct agxc_builder *b, struct agxc_wide n, uint64_t d, struct agxc_wide *q,
                      struct agxc_wide *r)
{
   *q = quotient_by(b, n, d);
   if (!(d & (d - 1))) {
      *r = agxc_wide_bits(b, AGXC_OP_IAND, n, agxc_wide_imm(d - 1));
      return;
   }
   *r = agxc_wide_sub(b, n, agxc_wide_mul(b, *q, agxc_wide_imm(d)));
   *r = agxc_wide_bounded(*r, d - 1);
}

/* ---- signs --------------------------------------------------------------- */

static bool is_constant(const struct agxc_wide *w, uint64_t *value)
{
   *value = (uint64_t)w->hi.imm << 32 | (uint64_t)w->lo.imm;
   return w->lo.kind == AGXC_IMM && w->hi.kind == AGXC_IMM && *value;
}

static void divide(struct agxc_builder *b, struct agxc_wide n, struct agxc_wide d,
                   struct agxc_wide *q, struct agxc_wide *r)
{
   uint64_t constant;
   if (is_constant(&d, &constant))
      divide_by(b, n, constant, q, r);
   else
      divide_unsigned(b, n, d, q, r);
}

/* The absolute value of x, whose sign is all ones or 0. */
static struct agxc_wide magnitude(struct agxc_builder *b, struct agxc_wide x, struct agxc_ref sign)
{
   uint64_t constant;
   if (is_constant(&x, &constant))
      return agxc_wide_imm(constant >> 63 ? 0 - constant : constant);
   x = agxc_wide_apply_sign(b, x, sign);
   x.max = AGX_MIN(x.max, 1ull << 63);
   return x;
}

struct agxc_wide agxc_wide_divide(struct agxc_builder *b, enum agxc_op op, struct agxc_wide n,
                                  struct agxc_wide d)
{
   struct agxc_wide q, r;
   if (op == AGXC_OP_UDIV || op == AGXC_OP_UMOD) {
      divide(b, n, d, &q, &r);
      return op == AGXC_OP_UDIV ? q : r;
   }
   struct agxc_ref n_sign = agxc_wide_sign(b, &n), d_sign = agxc_wide_sign(b, &d);
   struct agxc_wide size = magnitude(b, d, d_sign);
   divide(b, magnitude(b, n, n_sign), size, &q, &r);
   if (op == AGXC_OP_SDIV)
      return agxc_wide_apply_sign(b, q, agxc_word2(b, AGXC_OP_IXOR, n_sign, d_sign));
   r = agxc_wide_apply_sign(b, r, n_sign);
   if (op == AGXC_OP_SREM)
      return r;
   /* SMOD: the divisor's sign; so one divisor more where the signs differ. */
   struct agxc_ref signs = agxc_word2(b, AGXC_OP_IXOR, r.hi, d.hi);
   struct agxc_ref differ = agxc_word_compare(b, AGXC_OP_SLT, signs, agxc_u32(0));
   struct agxc_ref some = agxc_wide_compare(b, AGXC_OP_INE, r, agxc_wide_imm(0));
   struct agxc_ref moves = agxc_word_select(b, differ, some, agxc_imm(0, 1));
   return agxc_wide_select(b, moves, agxc_wide_add(b, r, d), r);
}
