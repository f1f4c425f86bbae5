/* SPDX-License-Identifier: MIT
 *
 * Rules of opt_algebraic for floats of 32 bits, and for sums, products, signs and limits of halves.
 * What constants give, ir/fold.c says.
 * What is precise (NoContraction) keeps its roundings, the signs of its zeros and its special
 * values; for everything else Vulkan lets an implementation use the rules of real numbers.
 */
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/opt/algebraic.h"

#define is_const  agxc_alg_is_const
#define def_const agxc_alg_def_const

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

/* The constant `value`; 0.0f is not -0.0f. */
static bool equals(const struct agxc_ref *ref, float value)
{
   return is_const(ref) && ref->imm == agxc_float_constant(ref->bits, value).imm;
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
                 agxc_float_constant(y.bits, agxc_float_of(agxc_src_b(def)) + agxc_float_of(&y)));
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
      return agxc_float_constant(y.bits, 0);
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
   float c = agxc_float_of(agxc_src_b(def)), d = agxc_float_of(&y);
   return is_ordinary(c) && is_ordinary(d)
             ? op2(a, AGXC_OP_FMUL, *agxc_src_a(def), agxc_float_constant(y.bits, c * d))
             : agxc_none();
}

static struct agxc_ref rule_ffma(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   struct agxc_ref z = *agxc_src_c(a->instr);
   if (a->instr->flags & AGXC_INSTR_PRECISE)
      return agxc_none();
   if (is_const(&x) && is_const(&y))
      return op2(a, AGXC_OP_FADD, z,
                 agxc_float_constant(x.bits, agxc_float_of(&x) * agxc_float_of(&y)));
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
   if (is_const(&y) && is_ordinary(agxc_float_of(&y)))
      return op2(a, AGXC_OP_FMUL, x, agxc_float_constant(y.bits, 1 / agxc_float_of(&y)));
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
      float c = agxc_float_of(agxc_src_b(def)), d = agxc_float_of(&y);
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
