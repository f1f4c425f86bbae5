/* SPDX-License-Identifier: MIT
 *
 * Arithmetic on 64-bit values that are pairs of words, for int64.c and int64_divide.c. It folds
 * constants and keeps an upper bound of each value, so that values below 2^32 cost what words cost.
 */
#include "agx/compiler/analysis/range.h"
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/lower/int64_impl.h"

/* ---- words -------------------------------------------------------------- */

static bool is_imm(struct agxc_ref ref, uint32_t value)
{
   return ref.kind == AGXC_IMM && (uint32_t)ref.imm == value;
}

struct agxc_ref agxc_word_compare(struct agxc_builder *b, enum agxc_op op, struct agxc_ref a,
                                  struct agxc_ref c)
{
   struct agxc_ref folded = agxc_fold(op, 1, a, c);
   if (op == AGXC_OP_ULT && is_imm(c, 0))
      folded = agxc_imm(0, 1);
   return folded.kind == AGXC_NONE ? agxc_build2(b, op, 1, a, c) : folded;
}

struct agxc_ref agxc_word_select(struct agxc_builder *b, struct agxc_ref cond, struct agxc_ref yes,
                                 struct agxc_ref no)
{
   if (cond.kind == AGXC_IMM)
      return cond.imm ? yes : no;
   if (yes.kind == AGXC_IMM && no.kind == AGXC_IMM && yes.imm == no.imm)
      return yes;
   return agxc_build_select(b, cond, yes, no);
}

/* ---- pairs --------------------------------------------------------------- */

struct agxc_wide agxc_wide_make(struct agxc_ref lo, struct agxc_ref hi)
{
   struct agxc_wide w = {.lo = lo, .hi = hi, .max = UINT64_MAX};
   if (hi.kind == AGXC_IMM)
      w.max = (uint64_t)hi.imm << 32 | (lo.kind == AGXC_IMM ? (uint64_t)lo.imm : UINT32_MAX);
   return w;
}

struct agxc_wide agxc_wide_imm(uint64_t value)
{
   struct agxc_wide w =
      agxc_wide_make(agxc_u32((uint32_t)value), agxc_u32((uint32_t)(value >> 32)));
   w.whole = agxc_imm(value, 64);
   return w;
}

/* Takes a value in one piece apart. */
static struct agxc_wide split(struct agxc_builder *b, struct agxc_ref whole)
{
   const struct agxc_instr *unpack = agxc_build_unpack64(b, whole);
   struct agxc_wide w = agxc_wide_make(*agxc_dest_low(unpack), *agxc_dest_high(unpack));
   w.whole = whole;
   return w;
}

struct agxc_ref agxc_wide_whole(struct agxc_builder *b, const struct agxc_wide *w)
{
   if (w->whole.kind != AGXC_NONE)
      return w->whole;
   if (w->lo.kind == AGXC_IMM && w->hi.kind == AGXC_IMM)
      return agxc_imm((uint64_t)w->hi.imm << 32 | (uint64_t)w->lo.imm, 64);
   return agxc_build_pack64(b, w->lo, w->hi);
}

bool agxc_wide_is_word(const struct agxc_wide *w)
{
   return is_imm(w->hi, 0);
}

struct agxc_wide agxc_wide_of_sign(struct agxc_builder *b, struct agxc_ref lo)
{
   return agxc_wide_make(lo, agxc_word2(b, AGXC_OP_ASHR, lo, agxc_u32(31)));
}

/* What x op y is at the most. */
static uint64_t most(enum agxc_op op, uint64_t x, uint64_t y)
{
   return agxc_range_combine(op, 64, (struct agxc_range){0, x}, (struct agxc_range){0, y}).max;
}

/* Where the bound is below 2^32, the high word is 0. */
struct agxc_wide agxc_wide_bounded(struct agxc_wide w, uint64_t max)
{
   w.max = AGX_MIN(w.max, max);
   if (w.max <= UINT32_MAX && !agxc_wide_is_word(&w)) {
      w.hi = agxc_u32(0);
      w.whole = agxc_none();
   }
   return w;
}

/* ---- sums and products --------------------------------------------------- */

static bool is_zero(const struct agxc_wide *w)
{
   return is_imm(w->lo, 0) && is_imm(w->hi, 0);
}

struct agxc_wide agxc_wide_add(struct agxc_builder *b, struct agxc_wide x, struct agxc_wide y)
{
   uint64_t max = most(AGXC_OP_IADD, x.max, y.max);
   if (is_zero(&x) || is_zero(&y))
      return is_zero(&x) ? y : x;
   if (max <= UINT32_MAX) {
      struct agxc_wide w = agxc_wide_make(agxc_word2(b, AGXC_OP_IADD, x.lo, y.lo), agxc_u32(0));
      return agxc_wide_bounded(w, max);
   }
   if (is_imm(x.lo, 0) || is_imm(y.lo, 0)) { /* no carry */
      struct agxc_ref hi = agxc_word2(b, AGXC_OP_IADD, x.hi, y.hi);
      return agxc_wide_bounded(agxc_wide_make(is_imm(x.lo, 0) ? y.lo : x.lo, hi), max);
   }
   struct agxc_ref whole = agxc_wide_whole(b, &y);
   whole = agxc_build_iadd(b, agxc_wide_whole(b, &x), whole);
   return agxc_wide_bounded(split(b, whole), max);
}

struct agxc_wide agxc_wide_sub(struct agxc_builder *b, struct agxc_wide x, struct agxc_wide y)
{
   if (is_imm(y.lo, 0))
      return agxc_wide_make(x.lo, agxc_word2(b, AGXC_OP_ISUB, x.hi, y.hi));
   struct agxc_ref whole = agxc_wide_whole(b, &y);
   whole = agxc_build_isub(b, agxc_wide_whole(b, &x), whole);
   return split(b, whole);
}

struct agxc_wide agxc_wide_mad(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y,
                               struct agxc_wide c)
{
   struct agxc_ref product = agxc_build_umul64(b, x, y);
   if (!is_zero(&c))
      product = agxc_build_iadd(b, product, agxc_wide_whole(b, &c));
   return split(b, product);
}

/* Whether hi is the sign of lo, as agxc_wide_of_sign makes it. */
static bool is_sign_extended(const struct agxc_wide *w)
{
   const struct agxc_instr *shift = agxc_def_as(w->hi, AGXC_OP_ASHR);
   return shift && w->lo.kind == AGXC_VALUE && agxc_same_ref(agxc_src_a(shift), &w->lo) &&
          is_imm(*agxc_src_b(shift), 31);
}

static bool is_signed_word(const struct agxc_wide *w)
{
   uint64_t imm = (uint64_t)w->hi.imm << 32 | (uint64_t)w->lo.imm;
   if (w->hi.kind == AGXC_IMM && w->lo.kind == AGXC_IMM)
      return (int64_t)imm == (int32_t)imm;
   return is_sign_extended(w) || w->max <= INT32_MAX;
}

struct agxc_wide agxc_wide_mul(struct agxc_builder *b, struct agxc_wide x, struct agxc_wide y)
{
   uint64_t max = most(AGXC_OP_IMUL, x.max, y.max);
   if (max <= UINT32_MAX)
      return agxc_wide_bounded(agxc_wide_make(agxc_word2(b, AGXC_OP_IMUL, x.lo, y.lo), agxc_u32(0)),
                               max);
   bool words = agxc_wide_is_word(&x) && agxc_wide_is_word(&y);
   if (!words && is_signed_word(&x) && is_signed_word(&y))
      return split(b, agxc_build_smul64(b, x.lo, y.lo));
   struct agxc_wide w = agxc_wide_mad(b, x.lo, y.lo, agxc_wide_imm(0));
   if (words)
      return agxc_wide_bounded(w, max);
   struct agxc_ref hi = w.hi;
   hi = agxc_word2(b, AGXC_OP_IADD, agxc_word2(b, AGXC_OP_IMUL, x.lo, y.hi), hi);
   hi = agxc_word2(b, AGXC_OP_IADD, agxc_word2(b, AGXC_OP_IMUL, x.hi, y.lo), hi);
   return agxc_wide_make(w.lo, hi);
}

/* No sum overflows: (2^32 - 1)^2 + 2 (2^32 - 1) is the largest 64-bit number. */
struct agxc_wide agxc_wide_umulh(struct agxc_builder *b, struct agxc_wide x, struct agxc_wide y)
{
   struct agxc_ref zero = agxc_u32(0);
   struct agxc_wide low = agxc_wide_mad(b, x.lo, y.lo, agxc_wide_imm(0));
   struct agxc_wide left = agxc_wide_mad(b, x.hi, y.lo, agxc_wide_make(low.hi, zero));
   struct agxc_wide right = agxc_wide_mad(b, x.lo, y.hi, agxc_wide_make(left.lo, zero));
   struct agxc_wide high = agxc_wide_mad(b, x.hi, y.hi, agxc_wide_make(left.hi, zero));
   return agxc_wide_add(b, high, agxc_wide_make(right.hi, zero));
}

/* ---- bits ---------------------------------------------------------------- */

struct agxc_wide agxc_wide_bits(struct agxc_builder *b, enum agxc_op op, struct agxc_wide x,
                                struct agxc_wide y)
{
   struct agxc_ref hi = agxc_word2(b, op, x.hi, y.hi);
   struct agxc_wide w = agxc_wide_make(agxc_word2(b, op, x.lo, y.lo), hi);
   return agxc_wide_bounded(w, most(op, x.max, y.max));
}

/* (hi:lo) >> n, the low word, for n of 1 to 31. */
static struct agxc_ref funnel(struct agxc_builder *b, struct agxc_ref hi, struct agxc_ref lo,
                              unsigned n)
{
   lo = agxc_word2(b, AGXC_OP_USHR, lo, agxc_u32(n));
   return agxc_word2(b, AGXC_OP_IOR, agxc_word2(b, AGXC_OP_ISHL, hi, agxc_u32(32 - n)), lo);
}

static struct agxc_wide shift_by(struct agxc_builder *b, enum agxc_op op, struct agxc_wide x,
                                 unsigned n)
{
   struct agxc_ref empty = op == AGXC_OP_ASHR ? agxc_word2(b, op, x.hi, agxc_u32(31)) : agxc_u32(0);
   struct agxc_ref rest = agxc_u32(n % 32);
   if (n == 0)
      return x;
   if (n >= 64)
      return agxc_wide_make(empty, empty);
   if (op == AGXC_OP_ISHL && n >= 32)
      return agxc_wide_make(empty, agxc_word2(b, op, x.lo, rest));
   if (op == AGXC_OP_ISHL) {
      struct agxc_ref top = funnel(b, x.hi, x.lo, 32 - n);
      return agxc_wide_make(agxc_word2(b, op, x.lo, rest), top);
   }
   struct agxc_ref hi = agxc_word2(b, op, x.hi, rest);
   struct agxc_wide w =
      n >= 32 ? agxc_wide_make(hi, empty) : agxc_wide_make(funnel(b, x.hi, x.lo, n), hi);
   return op == AGXC_OP_USHR ? agxc_wide_bounded(w, x.max >> n) : w;
}

struct agxc_wide agxc_wide_shift(struct agxc_builder *b, enum agxc_op op, struct agxc_wide x,
                                 struct agxc_ref n)
{
   if (n.kind == AGXC_IMM)
      return shift_by(b, op, x, (unsigned)n.imm % 128);
   /* Shifts of words give 0, or the sign, from 32 on. */
   struct agxc_ref hi = agxc_word2(b, op, x.hi, n), lo, crossing;
   switch (op) {
   case AGXC_OP_ISHL:
      lo = agxc_word2(b, op, x.lo, n);
      crossing = agxc_build_shlhi(b, x.lo, n);
      return agxc_wide_make(lo, agxc_word2(b, AGXC_OP_IOR, hi, crossing));
   case AGXC_OP_USHR:
      lo = agxc_word2(b, op, x.lo, n);
      if (!agxc_wide_is_word(&x))
         lo = agxc_build_shrhi(b, lo, x.hi, n);
      return agxc_wide_bounded(agxc_wide_make(lo, hi), x.max);
   default:
      lo = agxc_word2(b, AGXC_OP_USHR, x.lo, n);
      crossing = agxc_build_asrh(b, x.hi, n);
      return agxc_wide_make(agxc_word2(b, AGXC_OP_IOR, lo, crossing), hi);
   }
}

/* ---- choices ------------------------------------------------------------- */

static struct agxc_ref inverted(struct agxc_builder *b, struct agxc_ref cond)
{
   return cond.kind == AGXC_IMM ? agxc_imm(!cond.imm, 1) : agxc_build_inot(b, cond);
}

struct agxc_ref agxc_wide_compare(struct agxc_builder *b, enum agxc_op op, struct agxc_wide x,
                                  struct agxc_wide y)
{
   bool words = agxc_wide_is_word(&x) && agxc_wide_is_word(&y);
   switch (op) {
   case AGXC_OP_IEQ:
   case AGXC_OP_INE: {
      struct agxc_ref lo = agxc_word2(b, AGXC_OP_IXOR, x.lo, y.lo);
      struct agxc_ref hi = agxc_word2(b, AGXC_OP_IXOR, x.hi, y.hi);
      if (words)
         return agxc_word_compare(b, op, x.lo, y.lo);
      return agxc_word_compare(b, op, agxc_word2(b, AGXC_OP_IOR, lo, hi), agxc_u32(0));
   }
   case AGXC_OP_UGE:
      return inverted(b, agxc_wide_compare(b, AGXC_OP_ULT, x, y));
   case AGXC_OP_SGE:
      return inverted(b, agxc_wide_compare(b, AGXC_OP_SLT, x, y));
   default:
      break;
   }
   if (is_zero(&y) && op == AGXC_OP_SLT)
      return agxc_word_compare(b, op, x.hi, y.hi);
   struct agxc_ref low = agxc_word_compare(b, AGXC_OP_ULT, x.lo, y.lo);
   if (words)
      return low;
   struct agxc_ref high = agxc_word_compare(b, op, x.hi, y.hi);
   return agxc_word_select(b, agxc_word_compare(b, AGXC_OP_IEQ, x.hi, y.hi), low, high);
}

struct agxc_wide agxc_wide_select(struct agxc_builder *b, struct agxc_ref cond,
                                  struct agxc_wide yes, struct agxc_wide no)
{
   struct agxc_ref hi = agxc_word_select(b, cond, yes.hi, no.hi);
   struct agxc_wide w = agxc_wide_make(agxc_word_select(b, cond, yes.lo, no.lo), hi);
   return agxc_wide_bounded(w, most(AGXC_OP_UMAX, yes.max, no.max));
}

struct agxc_ref agxc_wide_sign(struct agxc_builder *b, const struct agxc_wide *x)
{
   if (x->max <= INT64_MAX)
      return agxc_u32(0);
   return agxc_word2(b, AGXC_OP_ASHR, x->hi, agxc_u32(31));
}

struct agxc_wide agxc_wide_apply_sign(struct agxc_builder *b, struct agxc_wide x,
                                      struct agxc_ref sign)
{
   if (is_imm(sign, 0))
      return x;
   struct agxc_wide both = agxc_wide_make(sign, sign);
   struct agxc_wide flipped = agxc_wide_bits(b, AGXC_OP_IXOR, x, both);
   return agxc_wide_sub(b, flipped, agxc_wide_of_sign(b, sign));
}
