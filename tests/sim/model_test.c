/* SPDX-License-Identifier: MIT
 *
 * A second reading of docs/hw/semantics.md: each operation for one lane, in integers
 * of 128 bits and in double, straight from the table's operands and nothing of the
 * simulator. Random instructions of all modelled rows, random registers and lanes; the
 * whole register file must come out the same, in every variant of the exec functions.
 */
#include "sim_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agx/isa/isa.h"
#include "base/half.h"
#include "base/util.h"
#include "rows.h"

#define ROUNDS   100 /* encodings of each row */
#define MAX_TEXT 400

typedef __int128 wide;

static struct agx_test_rng rng = {0x30de1};

struct machine {
   uint32_t reg[128][32];
   uint16_t uniform[AGX_UNIFORM_HALVES];
   uint32_t active;
   struct agx_isa_instr instr;
};

typedef uint64_t operation(const struct machine *m, unsigned lane);

/* ---- operands ------------------------------------------------------------------- */

static const struct agx_isa_operand *operand(const struct machine *m, const char *name)
{
   static const struct agx_isa_operand none;
   const struct agx_isa_info *info = agx_isa_info(m->instr.op);
   for (unsigned i = 0; i < info->operand_count; i++) {
      if (strcmp(info->operand[i].name, name) == 0)
         return &m->instr.operand[i];
   }
   return &none;
}

static int64_t number(const struct machine *m, const char *name)
{
   return operand(m, name)->value;
}

static unsigned size_of(const struct agx_isa_operand *o)
{
   return o->kind == AGX_ISA_REG || o->kind == AGX_ISA_UNIFORM ? o->bits : 16;
}

static uint64_t raw(const struct machine *m, const struct agx_isa_operand *o, unsigned lane)
{
   uint64_t value = 0;
   if (o->kind != AGX_ISA_REG && o->kind != AGX_ISA_UNIFORM)
      return (uint64_t)o->value;
   for (unsigned i = 0; i < o->bits / 16u; i++) {
      unsigned half = (unsigned)o->value + i;
      uint64_t bits = o->kind == AGX_ISA_REG ? m->reg[half / 2][lane] >> (half & 1) * 16 & 0xffff
                                             : m->uniform[half];
      value |= bits << 16 * i;
   }
   return value;
}

static int64_t extend(uint64_t value, unsigned bits)
{
   return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* With the operand's own sx, exact. */
static wide integer(const struct machine *m, const char *name, unsigned lane)
{
   const struct agx_isa_operand *o = operand(m, name);
   uint64_t value = raw(m, o, lane);
   return o->sx ? (wide)extend(value, size_of(o)) : (wide)value;
}

static uint32_t plain(const struct machine *m, const char *name, unsigned lane)
{
   return (uint32_t)raw(m, operand(m, name), lane);
}

static float as_float(uint32_t bits)
{
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

static uint32_t as_bits(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return bits;
}

static float flush(float value)
{
   return fabsf(value) < 0x1p-126f ? copysignf(0.0f, value) : value;
}

/* A float source: half exactly, single flushed, minifloat; then abs, then neg. */
static double real_of(const struct machine *m, const struct agx_isa_operand *o, unsigned lane)
{
   uint64_t bits = raw(m, o, lane);
   double value;
   if (o->kind == AGX_ISA_FIMM) {
      unsigned e = bits >> 4 & 7, f = bits & 15;
      value = e ? ldexp(16.0 + f, (int)e - 7) : f / 64.0;
      value = bits & 128 ? -value : value;
   } else {
      value = o->bits == 16 ? (double)agx_half_to_float((uint16_t)bits)
                            : (double)flush(as_float((uint32_t)bits));
   }
   value = o->abs ? fabs(value) : value;
   return o->neg ? -value : value;
}

static double real(const struct machine *m, const char *name, unsigned lane)
{
   return real_of(m, operand(m, name), lane);
}

/* ---- integers -------------------------------------------------------------------- */

static uint64_t saturate(const struct machine *m, wide value, bool is_signed, unsigned bits)
{
   wide high = is_signed ? ((wide)1 << (bits - 1)) - 1 : ((wide)1 << bits) - 1;
   wide low = is_signed ? -((wide)1 << (bits - 1)) : 0;
   return (uint64_t)(value > high ? high : value < low ? low : value);
}

/* a + (b shifted), or a * b + (c shifted). */
static uint64_t add(const struct machine *m, unsigned lane)
{
   bool is_multiply = m->instr.op == AGX_ISA_OP_IMUL || m->instr.op == AGX_ISA_OP_IMADD ||
                      m->instr.op == AGX_ISA_OP_IMSUB;
   bool is_minus = m->instr.op == AGX_ISA_OP_ISUB || m->instr.op == AGX_ISA_OP_IMSUB;
   const struct agx_isa_operand *a = operand(m, "a"), *b = operand(m, "b"), *c = operand(m, "c");
   const char *addend_name = is_multiply ? "c" : "b";
   const struct agx_isa_operand *addend_operand = is_multiply ? c : b;
   wide addend = integer(m, addend_name, lane), base = integer(m, "a", lane);
   int64_t shift = number(m, "shift");
   unsigned bits = operand(m, "d")->bits;
   addend = is_minus ? -addend : addend;
   /* Multiplied, since a shift of something negative is not defined in C. */
   addend = shift < 5 ? addend * (1 << shift) : 0;
   if (is_multiply)
      base *= integer(m, "b", lane);
   bool is_wide = is_multiply ? size_of(c) == 64 : size_of(a) == 64 || size_of(b) == 64;
   bool is_signed = a->sx || b->sx || addend_operand->sx;
   if (number(m, "sat") && shift == 0 && bits <= 32 && !is_wide)
      return saturate(m, base + addend, is_signed, bits);
   return (uint64_t)(base + addend);
}

static uint64_t shift(const struct machine *m, unsigned lane)
{
   typedef unsigned __int128 uwide;
   unsigned bits = (unsigned)number(m, "bitmask");
   uwide mask = bits ? ((uwide)1 << bits) - 1 : 0xffffffffu;
   uwide a = plain(m, "a", lane), b = plain(m, "b", lane);
   unsigned s = plain(m, "c", lane) & 127;
   uwide kept;
   switch (m->instr.op) {
   case AGX_ISA_OP_SHL:
      return s < 32 ? (uint64_t)(b << s) : 0;
   case AGX_ISA_OP_SHR:
      return (uint64_t)(b >> s);
   case AGX_ISA_OP_BFI:
      return s < 64 ? (uint64_t)((a & ~(mask << s)) | (b & mask) << s) : (uint64_t)a;
   case AGX_ISA_OP_BFEIL:
      return (uint64_t)((a & ~mask) | (b >> s & mask));
   case AGX_ISA_OP_EXTR:
      return (uint64_t)((b << 32 | a) >> s & mask);
   case AGX_ISA_OP_SHLHI:
      kept = s > 32 ? (s < 96 ? mask << (s - 32) : 0) : mask;
      return (uint64_t)(((s < 96 ? b << s >> 32 : 0) & kept) | (a & ~kept));
   default: /* shrhi */
      kept = mask << 32 >> (s < 32 ? s : 32);
      return (uint64_t)((b << 32 >> s & kept) | (a & ~kept));
   }
}

static uint64_t shift_arithmetic(const struct machine *m, unsigned lane)
{
   const struct agx_isa_operand *a = operand(m, "a");
   wide value = extend(raw(m, a, lane), size_of(a));
   if (m->instr.op == AGX_ISA_OP_ASRH)
      value *= (wide)1 << 32;
   return (uint64_t)(value >> (plain(m, "b", lane) & 127));
}

static uint64_t bitop(const struct machine *m, unsigned lane)
{
   static const uint8_t fixed[AGX_ISA_OP_COUNT] = {
      [AGX_ISA_OP_AND] = 8,  [AGX_ISA_OP_ANDN1] = 4, [AGX_ISA_OP_ANDN2] = 2,
      [AGX_ISA_OP_XOR] = 6,  [AGX_ISA_OP_OR] = 14,   [AGX_ISA_OP_NOR] = 1,
      [AGX_ISA_OP_XNOR] = 9, [AGX_ISA_OP_ORN1] = 13, [AGX_ISA_OP_ORN2] = 11,
      [AGX_ISA_OP_NAND] = 7, [AGX_ISA_OP_ONE] = 15,  [AGX_ISA_OP_NOT] = 5,
      [AGX_ISA_OP_MOV] = 10, [AGX_ISA_OP_MOV_A] = 3, [AGX_ISA_OP_NOT_A] = 12,
   };
   unsigned table =
      m->instr.op == AGX_ISA_OP_BITOP ? (unsigned)number(m, "truth") : fixed[m->instr.op];
   uint32_t a = plain(m, "a", lane), b = plain(m, "b", lane), result = 0;
   if (table == 3 || table == 12)
      return a;
   for (unsigned bit = 0; bit < 32; bit++)
      result |= (table >> ((a >> bit & 1) + 2 * (b >> bit & 1)) & 1) << bit;
   return result;
}

static uint64_t count(const struct machine *m, unsigned lane)
{
   uint32_t a = plain(m, "a", lane), b = plain(m, "b", lane);
   uint64_t result = 0;
   switch (m->instr.op) {
   case AGX_ISA_OP_BITREV:
      for (unsigned bit = 0; bit < 32; bit++)
         result |= (uint64_t)(a >> bit & 1) << (31 - bit);
      return result;
   case AGX_ISA_OP_POPCNT:
      for (unsigned bit = 0; bit < 32; bit++)
         result += a >> bit & 1;
      return result;
   case AGX_ISA_OP_FFS:
      for (unsigned bit = 31; bit < 32; bit--) {
         if (a >> bit & 1)
            return bit;
      }
      return ~0ull;
   default: /* intl */
      for (unsigned bit = 0; bit < 16; bit++)
         result |= (uint64_t)(a >> bit & 1) << 2 * bit | (uint64_t)(b >> bit & 1) << (2 * bit + 1);
      return result;
   }
}

/* ---- conditions -------------------------------------------------------------------- */

static bool int_condition(const struct machine *m, unsigned lane)
{
   int64_t condition = number(m, "cond");
   const struct agx_isa_operand *oa = operand(m, "a"), *ob = operand(m, "b");
   uint64_t ua = raw(m, oa, lane), ub = raw(m, ob, lane);
   int64_t a = condition & 4 ? extend(ua, size_of(oa)) : (int64_t)ua;
   int64_t b = condition & 4 ? extend(ub, size_of(ob)) : (int64_t)ub;
   bool holds = (condition & 3) == 0 ? a == b : (condition & 3) == 1 ? a < b : a > b;
   return holds != (condition >> 3 & 1);
}

static bool float_condition(const struct machine *m, unsigned lane)
{
   int64_t condition = number(m, "cond");
   double a = real(m, "a", lane), b = real(m, "b", lane);
   bool holds[8] = {a == b, a<b, a> b, a < b || isnan(b), false, a >= b, a <= b, a > b || isnan(b)};
   return holds[condition & 7] != (condition >> 3 & 1);
}

static bool condition(const struct machine *m, unsigned lane)
{
   bool is_float = m->instr.op == AGX_ISA_OP_FCSEL || m->instr.op == AGX_ISA_OP_FCMP_BALLOT;
   return is_float ? float_condition(m, lane) : int_condition(m, lane);
}

static uint64_t choose(const struct machine *m, unsigned lane)
{
   return plain(m, condition(m, lane) ? "x" : "y", lane);
}

static uint64_t ballot(const struct machine *m, unsigned lane)
{
   bool is_all = m->instr.op == AGX_ISA_OP_BALLOT;
   uint32_t votes = 0;
   for (unsigned i = 0; i < 32; i++)
      votes |= (uint32_t)((m->active >> i & 1) && (is_all || condition(m, i))) << i;
   return is_all || number(m, "window") ? votes : votes >> (lane & ~3u) & 15;
}

/* ---- lanes ---------------------------------------------------------------------------- */

static uint64_t shuffle(const struct machine *m, unsigned l)
{
   uint32_t b = plain(m, "b", l);
   int64_t op = number(m, "op");
   bool is_quad = !number(m, "window");
   uint64_t wanted = op == AGX_ISA_SHUFFLE_OP_INDEX  ? b
                     : op == AGX_ISA_SHUFFLE_OP_XOR  ? (l ^ b)
                     : op == AGX_ISA_SHUFFLE_OP_DOWN ? (uint64_t)l + b
                                                     : (uint64_t)l - b;
   if (is_quad)
      wanted = (l & ~3u) | (wanted & 3);
   else if (number(m, "rotate"))
      wanted &= 31;
   if (wanted >= 32)
      return plain(m, "a", l);
   unsigned quad = (unsigned)wanted & ~3u, k = 0, j = l & 3;
   uint32_t counted = operand(m, "b")->kind == AGX_ISA_REG ? m->active : ~0u;
   for (unsigned i = 0; i < 4; i++)
      k |= counted >> (quad + i) & 1 ? plain(m, "b", quad + i) & 3 : 0;
   unsigned from = op == AGX_ISA_SHUFFLE_OP_INDEX  ? k
                   : op == AGX_ISA_SHUFFLE_OP_XOR  ? (j ^ k)
                   : op == AGX_ISA_SHUFFLE_OP_DOWN ? j + k
                                                   : j - k;
   return plain(m, "a", quad + (from & 3));
}

static uint64_t reduce_integers(const struct machine *m, unsigned lane)
{
   const struct agx_isa_operand *a = operand(m, "a");
   int64_t op = number(m, "op");
   unsigned width = m->instr.op == AGX_ISA_OP_SIMD ? 32 : 4, first = lane & ~(width - 1);
   unsigned bits = a->kind == AGX_ISA_IMM ? operand(m, "d")->bits : a->bits;
   bool is_signed = op == AGX_ISA_SUBOP_SMIN || op == AGX_ISA_SUBOP_SMAX;
   int64_t lowest = -((int64_t)1 << (bits - 1)), ones = (int64_t)(((uint64_t)1 << bits) - 1);
   int64_t total = op == AGX_ISA_SUBOP_AND || op == AGX_ISA_SUBOP_UMIN ? ones
                   : op == AGX_ISA_SUBOP_SMIN                          ? -lowest - 1
                   : op == AGX_ISA_SUBOP_SMAX                          ? lowest
                                                                       : 0;
   for (unsigned i = first; i < (number(m, "prefix") ? lane : first + width); i++) {
      if (!(m->active >> i & 1))
         continue;
      int64_t x = is_signed ? extend(raw(m, a, i), size_of(a)) : (int64_t)raw(m, a, i);
      total = op == AGX_ISA_SUBOP_AND                                                 ? total & x
              : op == AGX_ISA_SUBOP_OR                                                ? total | x
              : op == AGX_ISA_SUBOP_XOR                                               ? total ^ x
              : op == AGX_ISA_SUBOP_IADD                                              ? total + x
              : (op == AGX_ISA_SUBOP_SMIN || op == AGX_ISA_SUBOP_UMIN) == (x < total) ? x
                                                                                      : total;
   }
   return (uint64_t)total;
}

/* ---- floats --------------------------------------------------------------------------- */

/* Cut so that a second rounding, to half, is innocent: odd in the last place kept. */
static float round_to_odd(double value)
{
   float f = (float)value;
   if ((double)f == value || isnan(value) || isinf(f))
      return f;
   uint32_t bits = as_bits(f);
   bool is_larger = fabs((double)f) > fabs(value);
   return as_float((bits - is_larger) | 1);
}

/* Section 2: single first, flushed, saturated, then half. */
static uint64_t single_result(const struct machine *m, double value)
{
   float f = flush((float)value);
   if (number(m, "sat"))
      f = f > 0.0f ? fminf(f, 1.0f) : 0.0f;
   if (operand(m, "d")->bits == 16)
      return isnan(f) ? 0x7e00 : agx_half_from_float(f);
   return isnan(f) ? 0x7fc00000u : as_bits(f);
}

static uint64_t half_result(const struct machine *m, double value)
{
   if (number(m, "sat"))
      value = value > 0.0 ? fmin(value, 1.0) : 0.0;
   return isnan(value) ? 0x7e00 : agx_half_from_float(round_to_odd(value));
}

/* Sums of two singles, and products, round right by way of double. */
static uint64_t float_add(const struct machine *m, unsigned lane)
{
   return single_result(m, real(m, "a", lane) + real(m, "b", lane));
}

static uint64_t float_multiply(const struct machine *m, unsigned lane)
{
   return single_result(m, real(m, "a", lane) * real(m, "b", lane));
}

static uint64_t half_add(const struct machine *m, unsigned lane)
{
   return half_result(m, real(m, "a", lane) + real(m, "b", lane));
}

static uint64_t half_multiply(const struct machine *m, unsigned lane)
{
   return half_result(m, real(m, "a", lane) * real(m, "b", lane));
}

static uint64_t float_fused(const struct machine *m, unsigned lane)
{
   float a = (float)real(m, "a", lane), b = (float)real(m, "b", lane);
   return single_result(m, (double)fmaf(a, b, (float)real(m, "c", lane)));
}

/* A product of halves has 22 digits; with a half added, 53 hold all but a far tail. */
static uint64_t half_fused(const struct machine *m, unsigned lane)
{
   return half_result(m, fma(real(m, "a", lane), real(m, "b", lane), real(m, "c", lane)));
}

static uint64_t round_float(const struct machine *m, unsigned lane)
{
   double a = real(m, "a", lane);
   return single_result(m, m->instr.op == AGX_ISA_OP_FLOOR   ? floor(a)
                           : m->instr.op == AGX_ISA_OP_CEIL  ? ceil(a)
                           : m->instr.op == AGX_ISA_OP_TRUNC ? trunc(a)
                                                             : rint(a));
}

static uint64_t derive(const struct machine *m, unsigned lane)
{
   unsigned bit = m->instr.op == AGX_ISA_OP_DFDX ? 1 : 2;
   return single_result(m, real(m, "a", lane | bit) - real(m, "a", lane & ~bit));
}

struct conversion {
   uint8_t bits;
   bool is_signed;
};

static struct conversion conversion_of(enum agx_isa_op op)
{
   static const struct conversion known[AGX_ISA_OP_COUNT] = {
      [AGX_ISA_OP_U8_TO_F] = {8, false},   [AGX_ISA_OP_S8_TO_F] = {8, true},
      [AGX_ISA_OP_U16_TO_F] = {16, false}, [AGX_ISA_OP_S16_TO_F] = {16, true},
      [AGX_ISA_OP_U32_TO_F] = {32, false}, [AGX_ISA_OP_S32_TO_F] = {32, true},
      [AGX_ISA_OP_F_TO_U16] = {16, false}, [AGX_ISA_OP_F_TO_S16] = {16, true},
      [AGX_ISA_OP_F_TO_U32] = {32, false}, [AGX_ISA_OP_F_TO_S32] = {32, true},
   };
   return known[op];
}

/* A double cut to `digits` significant bits toward zero. */
static double cut(double value, int digits)
{
   int exponent;
   double fraction = frexp(value, &exponent);
   return ldexp(trunc(ldexp(fraction, digits)), exponent - digits);
}

static uint64_t int_to_float(const struct machine *m, unsigned lane)
{
   struct conversion c = conversion_of(m->instr.op);
   uint64_t low = plain(m, "a", lane) & (((uint64_t)1 << c.bits) - 1);
   double value = c.is_signed ? (double)extend(low, c.bits) : (double)low;
   bool is_nearest = number(m, "round") == AGX_ISA_ROUND_RTE;
   if (operand(m, "d")->bits == 32)
      return as_bits((float)(is_nearest ? value : cut(value, 24)));
   if (is_nearest)
      return agx_half_from_float(round_to_odd(value));
   return agx_half_from_float((float)fmax(fmin(cut(value, 11), 65504.0), -65504.0));
}

static uint64_t float_to_int(const struct machine *m, unsigned lane)
{
   struct conversion c = conversion_of(m->instr.op);
   double a = real(m, "a", lane), span = ldexp(1.0, c.bits - c.is_signed);
   a = number(m, "round") == AGX_ISA_ROUND_RTE ? rint(a) : trunc(a);
   a = isnan(a) ? 0.0 : fmin(fmax(a, c.is_signed ? -span : 0.0), span - 1.0);
   return (uint64_t)(int64_t)a;
}

static uint64_t load_immediate(const struct machine *m, unsigned lane)
{
   return (uint64_t)number(m, "imm");
}

/* ---- the table ------------------------------------------------------------------------ */

#define OP(row, fn)                                                                                \
   {                                                                                               \
      AGX_ISA_OP_##row, fn                                                                         \
   }

static const struct {
   enum agx_isa_op op;
   operation *compute;
} operations[] = {
   OP(LDIMM16, load_immediate),
   OP(LDIMM32, load_immediate),
   OP(IADD, add),
   OP(ISUB, add),
   OP(IMUL, add),
   OP(IMADD, add),
   OP(IMSUB, add),
   OP(SHL, shift),
   OP(SHR, shift),
   OP(BFI, shift),
   OP(BFEIL, shift),
   OP(EXTR, shift),
   OP(SHLHI, shift),
   OP(SHRHI, shift),
   OP(ASR, shift_arithmetic),
   OP(ASRH, shift_arithmetic),
   OP(NOT_A, bitop),
   OP(MOV, bitop),
   OP(NOT, bitop),
   OP(MOV_A, bitop),
   OP(ZERO, bitop),
   OP(AND, bitop),
   OP(ANDN1, bitop),
   OP(ANDN2, bitop),
   OP(XOR, bitop),
   OP(OR, bitop),
   OP(NOR, bitop),
   OP(XNOR, bitop),
   OP(ORN1, bitop),
   OP(ORN2, bitop),
   OP(NAND, bitop),
   OP(ONE, bitop),
   OP(BITOP, bitop),
   OP(BITREV, count),
   OP(POPCNT, count),
   OP(FFS, count),
   OP(INTL, count),
   OP(ICSEL, choose),
   OP(FCSEL, choose),
   OP(BALLOT, ballot),
   OP(ICMP_BALLOT, ballot),
   OP(FCMP_BALLOT, ballot),
   OP(SHUFFLE, shuffle),
   OP(QUAD, reduce_integers),
   OP(SIMD, reduce_integers),
   OP(FADD, float_add),
   OP(FMUL, float_multiply),
   OP(FFMA, float_fused),
   OP(HADD, half_add),
   OP(HMUL, half_multiply),
   OP(HFMA, half_fused),
   OP(FLOOR, round_float),
   OP(CEIL, round_float),
   OP(TRUNC, round_float),
   OP(RINT, round_float),
   OP(DFDX, derive),
   OP(DFDY, derive),
   OP(U8_TO_F, int_to_float),
   OP(S8_TO_F, int_to_float),
   OP(U16_TO_F, int_to_float),
   OP(S16_TO_F, int_to_float),
   OP(U32_TO_F, int_to_float),
   OP(S32_TO_F, int_to_float),
   OP(F_TO_U16, float_to_int),
   OP(F_TO_S16, float_to_int),
   OP(F_TO_U32, float_to_int),
   OP(F_TO_S32, float_to_int),
};

/* Writes what the lanes get; sources are read from before. */
static void execute(struct machine *after, const struct machine *m, operation *compute)
{
   const struct agx_isa_operand *d = operand(m, "d");
   for (unsigned lane = 0; lane < 32; lane++) {
      if (!(m->active >> lane & 1))
         continue;
      uint64_t value = compute(m, lane);
      for (unsigned i = 0; i < d->bits / 16u; i++) {
         unsigned half = (unsigned)d->value + i, at = (half & 1) * 16;
         uint32_t *row = &after->reg[half / 2][lane];
         *row = (*row & ~(0xffffu << at)) | (uint32_t)(value >> 16 * i & 0xffff) << at;
      }
   }
}

/* Float reductions have no order to be held to. */
static bool is_left_out(const struct machine *m)
{
   bool is_reduction = m->instr.op == AGX_ISA_OP_QUAD || m->instr.op == AGX_ISA_OP_SIMD;
   return is_reduction && number(m, "op") < AGX_ISA_SUBOP_IADD && (number(m, "op") & 1);
}

static uint32_t random_value(void)
{
   static const uint32_t edges[] = {
      0,          1,          2,          31,         32,         0x7fff,     0x8000,
      0xffff,     0x7fffffff, 0x80000000, 0xffffffff, 0x00800000, 0x007fffff, 0x3f800000,
      0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f7fffff, 0x4f000000, 0xcf000000,
      0x3c003c00, 0x00010001, 0x7c00fc00, 0x7e007bff, 0x03ff0400, 0x33000000, 0x477fe000,
      0x477ff000, 0x4b000001, 0x3f000000, 0x3fc00000,
   };
   uint32_t bits = (uint32_t)agx_test_random(&rng);
   switch (agx_test_random_below(&rng, 4)) {
   case 0:
      return edges[bits % AGX_COUNT(edges)];
   case 1: /* floats near 1 */
      return (bits & 0x80ffffff) | 0x3e000000;
   case 2:
      return bits & 63;
   default:
      return bits;
   }
}

static bool run_one(enum agx_isa_op op, operation *compute, const struct agxs_exec_set *set)
{
   char program[MAX_TEXT + 32] = "ldimm16 d=r0l imm=0\n";
   struct machine *m = calloc(2, sizeof(*m)), *after = m + 1;
   assert_non_null(m);
   assert_true(random_row_instr(op, &rng, &m->instr));
   agx_isa_print(&m->instr, program + strlen(program), MAX_TEXT);
   struct sim_group *group = sim_group_new(program);
   group->set = set;
   m->active = agx_test_random_below(&rng, 2) ? ~0u : (uint32_t)agx_test_random(&rng) | 1;
   group->exists = m->active;
   for (unsigned r = 0; r < 128; r++) {
      for (unsigned lane = 0; lane < 32; lane++)
         m->reg[r][lane] = group->reg[r][lane] = random_value();
   }
   for (unsigned lane = 0; lane < 32; lane++)
      m->reg[0][lane] &= m->active >> lane & 1 ? 0xffff0000u : ~0u; /* the program's first line */
   for (unsigned half = 0; half < AGX_UNIFORM_HALVES; half++)
      m->uniform[half] = group->uniform[half] = (uint16_t)random_value();
   agx_status status = sim_group_run(group);
   bool is_compared = status == AGX_OK && !is_left_out(m);
   if (is_compared) {
      *after = *m;
      execute(after, m, compute);
   }
   for (unsigned r = 0; r < 128 && is_compared; r++) {
      for (unsigned lane = 0; lane < 32; lane++) {
         if (group->reg[r][lane] != after->reg[r][lane])
            fail_msg("%s: lane %u of 0x%08x: r%u is 0x%08x, not 0x%08x", program, lane, m->active,
                     r, group->reg[r][lane], after->reg[r][lane]);
      }
   }
   free(group);
   free(m);
   return is_compared;
}

static void run_all(const struct agxs_exec_set *set)
{
   for (unsigned i = 0; i < AGX_COUNT(operations); i++) {
      unsigned compared = 0;
      for (unsigned round = 0; round < ROUNDS; round++)
         compared += run_one(operations[i].op, operations[i].compute, set);
      if (compared < ROUNDS / 20)
         fail_msg("%s: only %u compared", agx_isa_info(operations[i].op)->name, compared);
   }
}

static void computes_as_the_second_reading(void **state)
{
   run_all(agxs_exec_best());
}

static void the_plain_variant_too(void **state)
{
   run_all(&agxs_exec_set_plain);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(computes_as_the_second_reading),
      cmocka_unit_test(the_plain_variant_too),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
