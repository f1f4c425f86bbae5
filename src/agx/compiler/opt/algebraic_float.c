/* SPDX-License-Identifier: MIT
 *
 * Rules of opt_algebraic for floats of 32 bits, and for sums, products, signs and limits of halves.
 * Constants fold as the hardware computes: rounded to nearest even, denormals of singles to zero.
 * What is precise (NoContraction) keeps its roundings, the signs of its zeros and its special
 * values; for everything else Vulkan lets an implementation use the rules of real numbers.
 */
#include <string.h>

#include "agx/compiler/opt/algebraic.h"
#include "base/half.h"

#define is_const  agxc_alg_is_const
#define def_const agxc_alg_def_const

#define SIGN     0x80000000u
#define NAN_BITS 0x7fc00000u

/* As wide as the instruction that is looked at. */
static struct agxc_ref op1(struct agxc_algebra *a, enum agxc_op op, struct agxc_ref x)
{
   return agxc_alg1(a, op, agxc_dest(a->instr)->bits, x);
}

static struct agxc_ref op2(struct agxc_algebra *a, enum agxc_op op, struct agxc_ref x,
                           struct agxc_ref y)
{
   return agxc_alg2(a, op, agxc_dest(a->instr)->bits, x, y);
}

/* Computed by the rules of real numbers. */
static bool is_plain(const struct agxc_instr *instr)
{
   return !(instr->flags & AGXC_INSTR_PRECISE);
}

/* ---- constants ------------------------------------------------------------ */

static uint32_t flushed(uint32_t bits)
{
   return bits & 0x7f800000u ? bits : bits & SIGN;
}

static float value_of(const struct agxc_ref *ref)
{
   if (ref->bits == 16)
      return agx_half_to_float((uint16_t)ref->imm);
   uint32_t bits = flushed((uint32_t)ref->imm);
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

/* The constant of 16 or 32 bits. Sums and products of halves, computed as singles, round to what
 * they would have been at once. */
static struct agxc_ref constant(unsigned width, float value)
{
   uint32_t bits;
   if (width == 16)
      return agxc_imm(agx_half_from_float(value), 16);
   memcpy(&bits, &value, sizeof(bits));
   return agxc_u32(value != value ? NAN_BITS : flushed(bits));
}

/* The constant `value`; 0.0f is not -0.0f. */
static bool equals(const struct agxc_ref *ref, float value)
{
   return is_const(ref) && ref->imm == constant(ref->bits, value).imm;
}

static bool is_zero(const struct agxc_ref *ref)
{
   return equals(ref, 0.0f) || equals(ref, -0.0f);
}

static struct agxc_ref negated(const struct agxc_ref *ref)
{
   return agxc_imm((uint64_t)ref->imm ^ 1ull << (ref->bits - 1), ref->bits);
}

/* Neither zero, nor infinite, nor so small that its square could vanish. */
static bool is_ordinary(float value)
{
   float size = value < 0 ? -value : value;
   return size > 1e-18f && size < 1e18f;
}

static bool fold_compare(unsigned op, float x, float y, struct agxc_ref *out)
{
   bool results[] = {
      [AGXC_OP_FEQ - AGXC_OP_FEQ] = x == y,
      [AGXC_OP_FNE - AGXC_OP_FEQ] = x != y,
      [AGXC_OP_FLT - AGXC_OP_FEQ] = x < y,
      [AGXC_OP_FGE - AGXC_OP_FEQ] = x >= y,
   };
   if (op < AGXC_OP_FEQ || op > AGXC_OP_FGE)
      return false;
   *out = agxc_imm(results[op - AGXC_OP_FEQ], 1);
   return true;
}

static uint32_t to_integer(float x, bool is_signed)
{
   if (x != x)
      return 0;
   if (is_signed)
      return x >= 2147483648.0f ? INT32_MAX : x < -2147483648.0f ? SIGN : (uint32_t)(int32_t)x;
   return x >= 4294967296.0f ? UINT32_MAX : x > 0 ? (uint32_t)x : 0;
}

struct agxc_ref agxc_fold_float(const struct agxc_instr *instr)
{
   struct agxc_ref result = agxc_none();
   bool has_two = agxc_has_src(instr, AGXC_SRC_B);
   if (instr->src_count > 2 || !agxc_has_src(instr, AGXC_SRC_A) || !is_const(agxc_src_a(instr)) ||
       (has_two && !is_const(agxc_src_b(instr))))
      return result;
   float x = value_of(agxc_src_a(instr)), y = has_two ? value_of(agxc_src_b(instr)) : 0;
   uint32_t bits = (uint32_t)agxc_src_a(instr)->imm;
   unsigned width = agxc_dest(instr)->bits;
   if (fold_compare(instr->op, x, y, &result))
      return result;
   switch (instr->op) {
   case AGXC_OP_FADD:
      return constant(width, x + y);
   case AGXC_OP_FSUB:
      return constant(width, x - y);
   case AGXC_OP_FMUL:
      return constant(width, x * y);
   case AGXC_OP_FMIN:
      return x == x && !(y < x) ? *agxc_src_a(instr) : *agxc_src_b(instr);
   case AGXC_OP_FMAX:
      return x == x && !(y > x) ? *agxc_src_a(instr) : *agxc_src_b(instr);
   case AGXC_OP_FSAT:
      return constant(width, x > 1 ? 1 : x > 0 ? x : 0);
   case AGXC_OP_FRCP:
      return constant(width, 1 / x);
   case AGXC_OP_F2U:
      return agxc_u32(to_integer(x, false));
   case AGXC_OP_F2S:
      return agxc_u32(to_integer(x, true));
   case AGXC_OP_U2F:
      return constant(width, (float)bits);
   case AGXC_OP_S2F:
      return constant(width, (float)(int32_t)bits);
   default:
      return result;
   }
}

/* ---- sums ------------------------------------------------------------------ */

static struct agxc_ref rule_fadd(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (equals(&y, -0.0f) || (equals(&y, 0.0f) && !(a->instr->flags & AGXC_INSTR_PRECISE)))
      return x;
   if (!is_const(&x) && (def = agxc_def_as(y, AGXC_OP_FNEG)))
      return op2(a, AGXC_OP_FSUB, x, *agxc_src_a(def));
   if (!is_const(&y) && (def = agxc_def_as(x, AGXC_OP_FNEG)))
      return op2(a, AGXC_OP_FSUB, y, *agxc_src_a(def));
   if (!(a->instr->flags & AGXC_INSTR_PRECISE) && is_const(&y) &&
       (def = def_const(&x, AGXC_OP_FADD)) && !(def->flags & AGXC_INSTR_PRECISE))
      return op2(a, AGXC_OP_FADD, *agxc_src_a(def),
                 constant(y.bits, value_of(agxc_src_b(def)) + value_of(&y)));
   return agxc_none();
}

static struct agxc_ref rule_fsub(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (is_const(&y))
      return op2(a, AGXC_OP_FADD, x, negated(&y));
   if (equals(&x, -0.0f) || (equals(&x, 0.0f) && !(a->instr->flags & AGXC_INSTR_PRECISE)))
      return op1(a, AGXC_OP_FNEG, y);
   if ((def = agxc_def_as(y, AGXC_OP_FNEG)))
      return op2(a, AGXC_OP_FADD, x, *agxc_src_a(def));
   return agxc_none();
}

/* ---- products -------------------------------------------------------------- */

static struct agxc_ref rule_fmul(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (equals(&y, 1.0f))
      return x;
   if (equals(&y, -1.0f))
      return op1(a, AGXC_OP_FNEG, x);
   if (is_zero(&y) && !(a->instr->flags & AGXC_INSTR_PRECISE))
      return constant(y.bits, 0);
   if (agxc_same_ref(&x, &y) && is_plain(a->instr) && (def = agxc_def_as(x, AGXC_OP_FSQRT)) &&
       is_plain(def))
      return op1(a, AGXC_OP_FABS, *agxc_src_a(def));
   if (!is_const(&y))
      return agxc_none();
   if ((def = agxc_def_as(x, AGXC_OP_FNEG)))
      return op2(a, AGXC_OP_FMUL, *agxc_src_a(def), negated(&y));
   if ((a->instr->flags & AGXC_INSTR_PRECISE) || !(def = def_const(&x, AGXC_OP_FMUL)) ||
       (def->flags & AGXC_INSTR_PRECISE))
      return agxc_none();
   float c = value_of(agxc_src_b(def)), d = value_of(&y);
   return is_ordinary(c) && is_ordinary(d)
             ? op2(a, AGXC_OP_FMUL, *agxc_src_a(def), constant(y.bits, c * d))
             : agxc_none();
}

static struct agxc_ref rule_ffma(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   struct agxc_ref z = *agxc_src_c(a->instr);
   if (a->instr->flags & AGXC_INSTR_PRECISE)
      return agxc_none();
   if (is_const(&x) && is_const(&y))
      return op2(a, AGXC_OP_FADD, z, constant(x.bits, value_of(&x) * value_of(&y)));
   if (equals(&y, 1.0f))
      return op2(a, AGXC_OP_FADD, x, z);
   if (equals(&y, -1.0f))
      return op2(a, AGXC_OP_FSUB, z, x);
   if (is_zero(&z))
      return op2(a, AGXC_OP_FMUL, x, y);
   return agxc_none();
}

/* x / c is x times a rounded 1 / c: within one and a half ulp, where Vulkan asks for two and a
 * half. */
static struct agxc_ref rule_fdiv(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   if (is_const(&y) && is_ordinary(value_of(&y)))
      return op2(a, AGXC_OP_FMUL, x, constant(y.bits, 1 / value_of(&y)));
   if (equals(&x, 1.0f))
      return op1(a, AGXC_OP_FRCP, y);
   return agxc_none();
}

/* ---- signs, limits ----------------------------------------------------------- */

static struct agxc_ref rule_sign(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (a->instr->op == AGXC_OP_FABS) {
      if (agxc_def_as(x, AGXC_OP_FABS))
         return x;
      if ((def = agxc_def_as(x, AGXC_OP_FNEG)))
         return op1(a, AGXC_OP_FABS, *agxc_src_a(def));
      return agxc_none();
   }
   if ((def = agxc_def_as(x, AGXC_OP_FSUB)) && !(a->instr->flags & AGXC_INSTR_PRECISE) &&
       !(def->flags & AGXC_INSTR_PRECISE))
      return op2(a, AGXC_OP_FSUB, *agxc_src_b(def), *agxc_src_a(def));
   /* A product that others read stays: most readers take the sign as a modifier. */
   if (agxc_alg_used_once(a, &x) && (def = def_const(&x, AGXC_OP_FMUL)) &&
       !(def->flags & AGXC_INSTR_PRECISE))
      return op2(a, AGXC_OP_FMUL, *agxc_src_a(def), negated(agxc_src_b(def)));
   return agxc_none();
}

static struct agxc_ref rule_minmax(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   bool is_min = a->instr->op == AGXC_OP_FMIN;
   const struct agxc_instr *def;
   if (agxc_same_ref(&x, &y))
      return x;
   if (!is_const(&y))
      return agxc_none();
   /* Only in this order does a NaN become 0, as the hardware's saturation makes it. */
   def = is_min ? def_const(&x, AGXC_OP_FMAX) : NULL;
   if (def && equals(&y, 1.0f) && equals(agxc_src_b(def), 0.0f) &&
       !(a->instr->flags & AGXC_INSTR_PRECISE))
      return op1(a, AGXC_OP_FSAT, *agxc_src_a(def));
   if ((def = def_const(&x, (enum agxc_op)a->instr->op))) {
      float c = value_of(agxc_src_b(def)), d = value_of(&y);
      bool takes_y = is_min ? d < c : d > c;
      if (c == c && d == d)
         return op2(a, (enum agxc_op)a->instr->op, *agxc_src_a(def),
                    takes_y ? y : *agxc_src_b(def));
   }
   return agxc_none();
}

/* ---- roots and powers --------------------------------------------------------- */

static struct agxc_ref rule_frcp(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def = agxc_def_as(x, AGXC_OP_FSQRT);
   return def && !(a->instr->flags & AGXC_INSTR_PRECISE) && !(def->flags & AGXC_INSTR_PRECISE)
             ? op1(a, AGXC_OP_FRSQRT, *agxc_src_a(def))
             : agxc_none();
}

/* pow(x, c), which is undefined below 0, arrives as exp2(c log2 x). */
static struct agxc_ref rule_fexp2(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *mul = def_const(&x, AGXC_OP_FMUL);
   const struct agxc_instr *log = mul ? agxc_def_as(*agxc_src_a(mul), AGXC_OP_FLOG2) : NULL;
   if (!log || (a->instr->flags & AGXC_INSTR_PRECISE) || (mul->flags & AGXC_INSTR_PRECISE) ||
       (log->flags & AGXC_INSTR_PRECISE))
      return agxc_none();
   x = *agxc_src_a(log);
   const struct agxc_ref *power = agxc_src_b(mul);
   if (equals(power, 0.5f))
      return op1(a, AGXC_OP_FSQRT, x);
   if (equals(power, -0.5f))
      return op1(a, AGXC_OP_FRSQRT, x);
   if (equals(power, -1.0f))
      return op1(a, AGXC_OP_FRCP, x);
   if (!equals(power, 2.0f) && !equals(power, 3.0f) && !equals(power, 4.0f))
      return agxc_none();
   struct agxc_ref square = op2(a, AGXC_OP_FMUL, x, x);
   if (equals(power, 2.0f))
      return square;
   return op2(a, AGXC_OP_FMUL, square, equals(power, 3.0f) ? x : square);
}

static struct agxc_ref rule_fsat(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   return agxc_def_as(x, AGXC_OP_FSAT) ? x : agxc_none();
}

/* A converted choice between constants is a choice between converted constants. */
static struct agxc_ref rule_convert(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *choice = agxc_def_as(x, AGXC_OP_SELECT);
   if (!choice || !is_const(agxc_src_if_true(choice)) || !is_const(agxc_src_if_false(choice)))
      return agxc_none();
   struct agxc_ref yes = op1(a, (enum agxc_op)a->instr->op, *agxc_src_if_true(choice));
   struct agxc_ref no = op1(a, (enum agxc_op)a->instr->op, *agxc_src_if_false(choice));
   return agxc_alg3(a, AGXC_OP_SELECT, 32, *agxc_src_condition(choice), yes, no);
}

agxc_rule *const agxc_float_rules[AGXC_OP_ISA] = {
   [AGXC_OP_FADD] = rule_fadd,   [AGXC_OP_FSUB] = rule_fsub,   [AGXC_OP_FMUL] = rule_fmul,
   [AGXC_OP_FFMA] = rule_ffma,   [AGXC_OP_FDIV] = rule_fdiv,   [AGXC_OP_FNEG] = rule_sign,
   [AGXC_OP_FABS] = rule_sign,   [AGXC_OP_FMIN] = rule_minmax, [AGXC_OP_FMAX] = rule_minmax,
   [AGXC_OP_FRCP] = rule_frcp,   [AGXC_OP_FEXP2] = rule_fexp2, [AGXC_OP_FSAT] = rule_fsat,
   [AGXC_OP_U2F] = rule_convert, [AGXC_OP_S2F] = rule_convert,
};
