/* SPDX-License-Identifier: MIT
 *
 * 64-bit floats from and to other numbers, and rounding to whole ones, for float64.c.
 */
#include "agx/compiler/lower/float64_impl.h"

/* ---- floats ------------------------------------------------------------------ */

/* Denormals of 32 bits count as zeros, as in all operations on them. */
struct agxc_ref agxc_f64_from_float(struct agxc_builder *b, struct agxc_ref x)
{
   if (x.bits == 16)
      x = agxc_build1_folded(b, AGXC_OP_F2F, 32, x);
   struct agxc_ref size = agxc_word2(b, AGXC_OP_IAND, x, agxc_u32(0x7fffffff));
   struct agxc_ref exponent = agxc_word2(b, AGXC_OP_USHR, size, agxc_u32(23));
   struct agxc_ref none = agxc_f64_test(b, AGXC_OP_IEQ, exponent, agxc_u32(0));
   struct agxc_ref most = agxc_f64_test(b, AGXC_OP_IEQ, exponent, agxc_u32(255));
   struct agxc_ref more =
      agxc_word_select(b, most, agxc_u32(AGXC_F64_MOST - 255), agxc_u32(AGXC_F64_BIAS - 127));
   more = agxc_word2(b, AGXC_OP_ISHL, more, agxc_u32(20));
   struct agxc_ref hi =
      agxc_word2(b, AGXC_OP_IADD, agxc_word2(b, AGXC_OP_USHR, size, agxc_u32(3)), more);
   struct agxc_ref nan = agxc_f64_test(b, AGXC_OP_ULT, agxc_u32(0x7f800000), size);
   struct agxc_ref quiet = agxc_word2(b, AGXC_OP_IOR, hi, agxc_u32(AGXC_F64_QUIET));
   hi = agxc_word_select(b, none, agxc_u32(0), agxc_word_select(b, nan, quiet, hi));
   struct agxc_ref sign = agxc_word2(b, AGXC_OP_IAND, x, agxc_u32(AGXC_F64_SIGN));
   struct agxc_ref lo = agxc_word2(b, AGXC_OP_ISHL, x, agxc_u32(29));
   lo = agxc_word_select(b, none, agxc_u32(0), lo);
   return agxc_f64_join(b, lo, agxc_word2(b, AGXC_OP_IOR, hi, sign));
}

/* The significand as a word that begins at bit 30, with a last bit for all that is cut off. */
static struct agxc_ref leading_word(struct agxc_builder *b, const struct agxc_f64 *f)
{
   struct agxc_ref jammed = agxc_f64_jam(b, f->significand, agxc_u32(22));
   return agxc_build1_folded(b, AGXC_OP_TRUNC, 32, jammed);
}

/* (x + half - 1 + last bit that stays) >> n */
static struct agxc_ref rounded_word(struct agxc_builder *b, struct agxc_ref x, unsigned n)
{
   struct agxc_ref odd = agxc_word2(b, AGXC_OP_USHR, x, agxc_u32(n));
   odd = agxc_word2(b, AGXC_OP_IAND, odd, agxc_u32(1));
   x = agxc_word2(b, AGXC_OP_IADD, x, agxc_u32((1u << (n - 1)) - 1));
   return agxc_word2(b, AGXC_OP_USHR, agxc_word2(b, AGXC_OP_IADD, x, odd), agxc_u32(n));
}

static struct agxc_ref jam_word(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref n)
{
   struct agxc_ref moved = agxc_word2(b, AGXC_OP_USHR, x, n);
   struct agxc_ref back = agxc_word2(b, AGXC_OP_ISHL, moved, n);
   struct agxc_ref lost = agxc_word2(b, AGXC_OP_IXOR, back, x);
   return agxc_word2(b, AGXC_OP_IOR, moved, agxc_word2(b, AGXC_OP_UMIN, lost, agxc_u32(1)));
}

/* Rounded once; what is a denormal of 32 bits then becomes a zero, of 16 bits it stays. */
struct agxc_ref agxc_f64_to_float(struct agxc_builder *b, struct agxc_ref x, unsigned bits)
{
   unsigned fraction = bits == 16 ? 10 : 23, bias = bits == 16 ? 15 : 127, most = 2 * bias + 1;
   struct agxc_ref zero = agxc_u32(0);
   struct agxc_f64 f = agxc_f64_open(b, x);
   struct agxc_ref exponent =
      agxc_word2(b, AGXC_OP_ISUB, f.exponent, agxc_u32(AGXC_F64_BIAS - bias + 1));
   struct agxc_ref below = agxc_word2(b, AGXC_OP_ISUB, zero, exponent);
   below = agxc_word2(b, AGXC_OP_IMIN, agxc_word2(b, AGXC_OP_IMAX, below, zero), agxc_u32(31));
   struct agxc_ref word = rounded_word(b, jam_word(b, leading_word(b, &f), below), 30 - fraction);
   struct agxc_ref raised = agxc_word2(b, AGXC_OP_IMAX, exponent, zero);
   raised = agxc_word2(b, AGXC_OP_ISHL, raised, agxc_u32(fraction));
   word = agxc_word2(b, AGXC_OP_IADD, word, raised);
   if (bits == 32) {
      struct agxc_ref tiny = agxc_f64_test(b, AGXC_OP_ULT, word, agxc_u32(1u << fraction));
      word = agxc_word_select(b, tiny, zero, word);
   }
   struct agxc_ref over = agxc_f64_test(b, AGXC_OP_SLT, agxc_u32(most - 2), exponent);
   word = agxc_word_select(b, over, agxc_u32(most << fraction), word);
   struct agxc_ref nan = agxc_u32((most << fraction) | 1u << (fraction - 1));
   word = agxc_word_select(b, agxc_f64_is_nan(b, &f), nan, word);
   struct agxc_ref sign = agxc_word2(b, AGXC_OP_USHR, f.hi, agxc_u32(31));
   sign = agxc_word2(b, AGXC_OP_ISHL, sign, agxc_u32(bits - 1));
   word = agxc_word2(b, AGXC_OP_IOR, word, sign);
   return bits == 32 ? word : agxc_build1_folded(b, AGXC_OP_TRUNC, bits, word);
}

/* ---- integers ---------------------------------------------------------------- */

/* x where sign, 64 bits, is 0, and -x where it is all ones. */
static struct agxc_ref apply_sign(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref sign)
{
   return agxc_long2(b, AGXC_OP_ISUB, agxc_long2(b, AGXC_OP_IXOR, x, sign), sign);
}

struct agxc_ref agxc_f64_from_int(struct agxc_builder *b, struct agxc_ref x, bool is_signed)
{
   bool is_short = x.bits < 64;
   struct agxc_ref sign = agxc_long_imm(0), bit, hi;
   if (is_short)
      x = agxc_build1_folded(b, is_signed ? AGXC_OP_SEXT : AGXC_OP_ZEXT, 64, x);
   if (is_signed)
      sign = agxc_long2(b, AGXC_OP_ASHR, x, agxc_u32(63));
   x = apply_sign(b, x, sign);
   struct agxc_ref top = agxc_f64_top(b, x);
   struct agxc_ref exponent =
      agxc_word2(b, AGXC_OP_IADD, top, agxc_u32(AGXC_F64_BIAS - 1)); /* less 1 */
   struct agxc_ref none = agxc_f64_test(b, AGXC_OP_IEQ, x, agxc_long_imm(0));
   agxc_f64_words(b, sign, &bit, &hi);
   bit = agxc_word2(b, AGXC_OP_IAND, bit, agxc_u32(AGXC_F64_SIGN));
   /* To bit 63, and from there to bit 62; 32 bits don't reach where rounding begins. */
   x = agxc_long2(b, AGXC_OP_ISHL, x, agxc_word2(b, AGXC_OP_ISUB, agxc_u32(63), top));
   x = agxc_f64_jam(b, x, agxc_u32(1));
   exponent = agxc_word_select(b, none, agxc_u32(0), exponent);
   x = agxc_word_select(b, none, agxc_long_imm(0), x);
   return agxc_f64_round(b, bit, exponent, x, false);
}

/* Toward zero. Numbers beyond the integers give the nearest one, NaNs 0. */
struct agxc_ref agxc_f64_to_int(struct agxc_builder *b, struct agxc_ref x, unsigned bits,
                                bool is_signed)
{
   struct agxc_f64 f = agxc_f64_open(b, x);
   struct agxc_ref zero = agxc_long_imm(0);
   struct agxc_ref negative = agxc_f64_test(b, AGXC_OP_SLT, f.hi, agxc_u32(0));
   /* Bit 63 is worth 2^63; what is below 1 is moved out. */
   struct agxc_ref down = agxc_word2(b, AGXC_OP_ISUB, agxc_u32(AGXC_F64_BIAS + 63), f.exponent);
   struct agxc_ref over = agxc_f64_test(b, AGXC_OP_SLT, down, agxc_u32(0));
   struct agxc_ref size = agxc_long2(b, AGXC_OP_ISHL, f.significand, agxc_u32(11));
   size = agxc_long2(b, AGXC_OP_USHR, size, agxc_word2(b, AGXC_OP_UMIN, down, agxc_u32(64)));
   size = agxc_word_select(b, over, agxc_long_imm(UINT64_MAX), size);
   struct agxc_ref most = agxc_long_imm(agx_bits(bits - is_signed));
   if (is_signed)
      most = agxc_long2(b, AGXC_OP_IADD, most, agxc_build1_folded(b, AGXC_OP_ZEXT, 64, negative));
   else
      size = agxc_word_select(b, negative, zero, size);
   if (bits < 64 || is_signed)
      size = agxc_long2(b, AGXC_OP_UMIN, size, most);
   size = agxc_word_select(b, agxc_f64_is_nan(b, &f), zero, size);
   if (is_signed)
      size = apply_sign(b, size, agxc_build1_folded(b, AGXC_OP_SEXT, 64, negative));
   return bits == 64 ? size : agxc_build1_folded(b, AGXC_OP_TRUNC, bits, size);
}

/* ---- whole numbers ------------------------------------------------------------- */

/* Whether the fraction that is cut off adds 1 to what is left of the size: where it isn't 0, and
 * the number has the sign that the direction asks for. */
static struct agxc_ref steps_out(struct agxc_builder *b, enum agxc_op op, const struct agxc_f64 *f,
                                 struct agxc_ref differs)
{
   enum agxc_op side = op == AGXC_OP_FFLOOR ? AGXC_OP_SLT : AGXC_OP_SGE;
   struct agxc_ref on_side = agxc_f64_test(b, side, f->hi, agxc_u32(0));
   return agxc_bit2(b, AGXC_OP_IAND, on_side, differs);
}

/* x >= 1: counts of the last place, which is 2^n: the fraction is below it, and carries go to the
 * exponent as they should. */
static struct agxc_ref whole_large(struct agxc_builder *b, enum agxc_op op, struct agxc_ref x,
                                   const struct agxc_f64 *f, struct agxc_ref n)
{
   struct agxc_ref last = agxc_long2(b, AGXC_OP_ISHL, agxc_long_imm(1), n);
   struct agxc_ref below = agxc_long2(b, AGXC_OP_ISUB, last, agxc_long_imm(1));
   if (op == AGXC_OP_FRINT) {
      struct agxc_ref odd = agxc_long2(b, AGXC_OP_USHR, x, n);
      odd = agxc_long2(b, AGXC_OP_IAND, odd, agxc_long_imm(1));
      struct agxc_ref half = agxc_long2(b, AGXC_OP_USHR, below, agxc_u32(1));
      struct agxc_ref any = agxc_long2(b, AGXC_OP_UMIN, below, odd); /* none where n is 0 */
      x = agxc_long2(b, AGXC_OP_IADD, x, agxc_long2(b, AGXC_OP_IADD, half, any));
   } else if (op != AGXC_OP_FTRUNC) {
      struct agxc_ref cut = agxc_long2(b, AGXC_OP_IAND, x, below);
      struct agxc_ref differs = agxc_f64_test(b, AGXC_OP_INE, cut, agxc_long_imm(0));
      struct agxc_ref out = steps_out(b, op, f, differs);
      x = agxc_long2(b, AGXC_OP_IADD, x, agxc_word_select(b, out, last, agxc_long_imm(0)));
   }
   struct agxc_ref mask = agxc_build1_folded(b, AGXC_OP_INOT, 64, below);
   return agxc_long2(b, AGXC_OP_IAND, x, mask);
}

/* |x| < 1: 0 or 1, as the high word; just one half goes to 0. */
static struct agxc_ref whole_small(struct agxc_builder *b, enum agxc_op op, struct agxc_ref x,
                                   const struct agxc_f64 *f)
{
   struct agxc_ref one = agxc_u32(0x3ff00000), zero = agxc_u32(0), out = agxc_imm(0, 1);
   struct agxc_ref size = agxc_long2(b, AGXC_OP_IAND, x, agxc_long_imm(INT64_MAX));
   if (op == AGXC_OP_FRINT)
      out = agxc_f64_test(b, AGXC_OP_ULT, agxc_long_imm(0x3fe0000000000000u), size);
   else if (op != AGXC_OP_FTRUNC)
      out = steps_out(b, op, f, agxc_f64_test(b, AGXC_OP_INE, size, agxc_long_imm(0)));
   struct agxc_ref sign = agxc_word2(b, AGXC_OP_IAND, f->hi, agxc_u32(AGXC_F64_SIGN));
   struct agxc_ref hi = agxc_word2(b, AGXC_OP_IOR, sign, agxc_word_select(b, out, one, zero));
   return agxc_f64_join(b, zero, hi);
}

struct agxc_ref agxc_f64_whole(struct agxc_builder *b, enum agxc_op op, struct agxc_ref x)
{
   struct agxc_f64 f = agxc_f64_open(b, x);
   struct agxc_ref n = agxc_word2(b, AGXC_OP_ISUB, agxc_u32(AGXC_F64_BIAS + 52), f.exponent);
   n = agxc_word2(b, AGXC_OP_IMAX, n, agxc_u32(0));
   n = agxc_word2(b, AGXC_OP_IMIN, n, agxc_u32(52));
   struct agxc_ref large = whole_large(b, op, x, &f, n);
   struct agxc_ref small = whole_small(b, op, x, &f);
   struct agxc_ref is_small = agxc_f64_test(b, AGXC_OP_ULT, f.exponent, agxc_u32(AGXC_F64_BIAS));
   struct agxc_ref result = agxc_word_select(b, is_small, small, large);
   return agxc_word_select(b, agxc_f64_is_special(b, &f), agxc_f64_quieted(b, &f), result);
}
