/* SPDX-License-Identifier: MIT
 *
 * Rules of opt_algebraic for 32-bit floats. Constants fold as the hardware computes: rounded
 * to nearest even, denormals to zero. What is precise (NoContraction) keeps its roundings, the
 * signs of its zeros and its special values; for everything else Vulkan lets an
 * implementation use the rules of real numbers.
 */
#include <string.h>

#include "agx/compiler/opt/algebraic.h"

#define is_const  agxc_alg_is_const
#define equals    agxc_alg_equals
#define def_const agxc_alg_def_const

#define SIGN      0x80000000u
#define ONE       0x3f800000u
#define MINUS_ONE 0xbf800000u
#define HALF      0x3f000000u
#define TWO       0x40000000u
#define THREE     0x40400000u
#define FOUR      0x40800000u
#define NAN_BITS  0x7fc00000u

static struct agxc_ref op1(struct agxc_algebra *a, enum agxc_op op, struct agxc_ref x)
{
   return agxc_alg1(a, op, 32, x);
}

static struct agxc_ref op2(struct agxc_algebra *a, enum agxc_op op, struct agxc_ref x,
                           struct agxc_ref y)
{
   return agxc_alg2(a, op, 32, x, y);
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
   uint32_t bits = flushed((uint32_t)ref->imm);
   float value;
   memcpy(&value, &bits, sizeof(value));
   return value;
}

static struct agxc_ref constant(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return agxc_u32(value != value ? NAN_BITS : flushed(bits));
}

static struct agxc_ref negated(const struct agxc_ref *ref)
{
   return agxc_u32((uint32_t)ref->imm ^ SIGN);
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
   if (fold_compare(instr->op, x, y, &result))
      return result;
   switch (instr->op) {
   case AGXC_OP_FADD:
      return constant(x + y);
   case AGXC_OP_FSUB:
      return constant(x - y);
   case AGXC_OP_FMUL:
      return constant(x * y);
   case AGXC_OP_FMIN:
      return x == x && !(y < x) ? *agxc_src_a(instr) : *agxc_src_b(instr);
   case AGXC_OP_FMAX:
      return x == x && !(y > x) ? *agxc_src_a(instr) : *agxc_src_b(instr);
   case AGXC_OP_FSAT:
      return constant(x > 1 ? 1 : x > 0 ? x : 0);
   case AGXC_OP_FRCP:
      return constant(1 / x);
   case AGXC_OP_F2U:
      return agxc_u32(to_integer(x, false));
   case AGXC_OP_F2S:
      return agxc_u32(to_integer(x, true));
   case AGXC_OP_U2F:
      return constant((float)bits);
   case AGXC_OP_S2F:
      return constant((float)(int32_t)bits);
   default:
      return result;
   }
}

/* ---- sums ------------------------------------------------------------------ */

static struct agxc_ref rule_fadd(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (equals(&y, SIGN) || (equals(&y, 0) && !(a->instr->flags & AGXC_INSTR_PRECISE)))
      return x;
   if (!is_const(&x) && (def = agxc_def_as(y, AGXC_OP_FNEG)))
      return op2(a, AGXC_OP_FSUB, x, *agxc_src_a(def));
   if (!is_const(&y) && (def = agxc_def_as(x, AGXC_OP_FNEG)))
      return op2(a, AGXC_OP_FSUB, y, *agxc_src_a(def));
   if (!(a->instr->flags & AGXC_INSTR_PRECISE) && is_const(&y) &&
       (def = def_const(&x, AGXC_OP_FADD)) && !(def->flags & AGXC_INSTR_PRECISE))
      return op2(a, AGXC_OP_FADD, *agxc_src_a(def),
                 constant(value_of(agxc_src_b(def)) + value_of(&y)));
   return agxc_none();
}

static struct agxc_ref rule_fsub(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (is_const(&y))
      return op2(a, AGXC_OP_FADD, x, negated(&y));
   if (equals(&x, SIGN) || (equals(&x, 0) && !(a->instr->flags & AGXC_INSTR_PRECISE)))
      return op1(a, AGXC_OP_FNEG, y);
   if ((def = agxc_def_as(y, AGXC_OP_FNEG)))
      return op2(a, AGXC_OP_FADD, x, *agxc_src_a(def));
   return agxc_none();
}

/* ---- products -------------------------------------------------------------- */

static struct agxc_ref rule_fmul(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def;
   if (equals(&y, ONE))
      return x;
   if (equals(&y, MINUS_ONE))
      return op1(a, AGXC_OP_FNEG, x);
   if ((equals(&y, 0) || equals(&y, SIGN)) && !(a->instr->flags & AGXC_INSTR_PRECISE))
      return agxc_u32(0);
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
   return is_ordinary(c) && is_ordinary(d) ? op2(a, AGXC_OP_FMUL, *agxc_src_a(def), constant(c * d))
                                           : agxc_none();
}

static struct agxc_ref rule_ffma(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   struct agxc_ref z = *agxc_src_c(a->instr);
   if (a->instr->flags & AGXC_INSTR_PRECISE)
      return agxc_none();
   if (is_const(&x) && is_const(&y))
      return op2(a, AGXC_OP_FADD, z, constant(value_of(&x) * value_of(&y)));
   if (equals(&y, ONE))
      return op2(a, AGXC_OP_FADD, x, z);
   if (equals(&y, MINUS_ONE))
      return op2(a, AGXC_OP_FSUB, z, x);
   if (equals(&z, 0) || equals(&z, SIGN))
      return op2(a, AGXC_OP_FMUL, x, y);
   return agxc_none();
}

/* x / c is x times a rounded 1 / c: within one and a half ulp, where Vulkan asks for two and a
 * half. */
static struct agxc_ref rule_fdiv(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   if (is_const(&y) && is_ordinary(value_of(&y)))
      return op2(a, AGXC_OP_FMUL, x, constant(1 / value_of(&y)));
   if (equals(&x, ONE))
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
   if ((def = def_const(&x, AGXC_OP_FMUL)) && !(def->flags & AGXC_INSTR_PRECISE))
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
   if (def && equals(&y, ONE) && equals(agxc_src_b(def), 0) &&
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
   struct agxc_ref square;
   x = *agxc_src_a(log);
   switch ((uint32_t)agxc_src_b(mul)->imm) {
   case HALF:
      return op1(a, AGXC_OP_FSQRT, x);
   case HALF | SIGN:
      return op1(a, AGXC_OP_FRSQRT, x);
   case MINUS_ONE:
      return op1(a, AGXC_OP_FRCP, x);
   case TWO:
      return op2(a, AGXC_OP_FMUL, x, x);
   case THREE:
   case FOUR:
      square = op2(a, AGXC_OP_FMUL, x, x);
      return op2(a, AGXC_OP_FMUL, square, equals(agxc_src_b(mul), THREE) ? x : square);
   default:
      return agxc_none();
   }
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
