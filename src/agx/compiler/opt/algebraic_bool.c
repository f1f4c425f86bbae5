/* SPDX-License-Identifier: MIT
 *
 * Rules of opt_algebraic (algebraic.c) for booleans, for compares, and for selects of anything.
 */
#include "agx/compiler/opt/algebraic.h"
#include "agx/compiler/ir/fold.h"

#define is_const  agxc_alg_is_const
#define equals    agxc_alg_equals
#define def_const agxc_alg_def_const

static struct agxc_ref truth(bool value)
{
   return agxc_imm(value, 1);
}

static struct agxc_ref op2(struct agxc_algebra *a, enum agxc_op op, struct agxc_ref x,
                           struct agxc_ref y)
{
   return agxc_alg2(a, op, 1, x, y);
}

static struct agxc_ref negation(struct agxc_algebra *a, struct agxc_ref x)
{
   return agxc_alg1(a, AGXC_OP_INOT, 1, x);
}

/* ---- logic --------------------------------------------------------------- */

/* not (a < b) is a >= b, but not of floats, where both are false for NaN. */
static struct agxc_ref rule_inot(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   const struct agxc_instr *def = agxc_def_of(x);
   enum agxc_op op = def ? agxc_opposite((enum agxc_op)def->op) : AGXC_OP_ISA;
   return op == AGXC_OP_ISA ? agxc_none() : op2(a, op, *agxc_src_a(def), *agxc_src_b(def));
}

static struct agxc_ref rule_logic(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   enum agxc_op op = (enum agxc_op)a->instr->op;
   if (agxc_same_ref(&x, &y))
      return op == AGXC_OP_IXOR ? truth(false) : x;
   if (op == AGXC_OP_IXOR && equals(&y, 1))
      return negation(a, x);
   for (unsigned i = 0; i < 2; i++) {
      const struct agxc_instr *def = agxc_def_as(*agxc_side(a->instr, i), AGXC_OP_INOT);
      if (def && agxc_same_ref(agxc_src_a(def), agxc_side(a->instr, 1 - i)))
         return truth(op != AGXC_OP_IAND);
   }
   return agxc_none();
}

/* ---- compares ------------------------------------------------------------- */

/* A choice between constants, compared with a constant, is the condition, or settled. */
static struct agxc_ref compare_choice(struct agxc_algebra *a)
{
   const struct agxc_instr *choice = agxc_def_as(*agxc_src_a(a->instr), AGXC_OP_SELECT);
   enum agxc_op op = (enum agxc_op)a->instr->op;
   if (!choice || !is_const(agxc_src_b(a->instr)) || !is_const(agxc_src_if_true(choice)) ||
       !is_const(agxc_src_if_false(choice)))
      return agxc_none();
   struct agxc_ref yes = agxc_fold(op, 1, *agxc_src_if_true(choice), *agxc_src_b(a->instr));
   struct agxc_ref no = agxc_fold(op, 1, *agxc_src_if_false(choice), *agxc_src_b(a->instr));
   if (yes.kind == AGXC_NONE || no.kind == AGXC_NONE)
      return agxc_none();
   if (yes.imm == no.imm)
      return yes;
   return yes.imm ? *agxc_src_condition(choice) : negation(a, *agxc_src_condition(choice));
}

static struct agxc_ref rule_equal(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   enum agxc_op op = (enum agxc_op)a->instr->op;
   const struct agxc_instr *def;
   if (agxc_same_ref(&x, &y))
      return truth(op == AGXC_OP_IEQ);
   if (x.bits == 1 && is_const(&y))
      return (op == AGXC_OP_IEQ) == !!y.imm ? x : negation(a, x);
   if (x.bits != 32 || !is_const(&y))
      return agxc_none();
   uint32_t c = (uint32_t)y.imm;
   if ((def = def_const(&x, AGXC_OP_IADD)))
      return op2(a, op, *agxc_src_a(def), agxc_u32(c - (uint32_t)agxc_src_b(def)->imm));
   if ((def = def_const(&x, AGXC_OP_IXOR)))
      return op2(a, op, *agxc_src_a(def), agxc_u32(c ^ (uint32_t)agxc_src_b(def)->imm));
   if ((def = agxc_def_as(x, AGXC_OP_INEG)))
      return op2(a, op, *agxc_src_a(def), agxc_u32(0u - c));
   if (c == 0 && ((def = agxc_def_as(x, AGXC_OP_ISUB)) || (def = agxc_def_as(x, AGXC_OP_IXOR))))
      return op2(a, op, *agxc_src_a(def), *agxc_src_b(def));
   return compare_choice(a);
}

/* Compares with the ends of the range are settled, those next to them are tests for equality. */
static struct agxc_ref compare_with_end(struct agxc_algebra *a, struct agxc_ref x,
                                        struct agxc_ref y)
{
   bool is_less = a->instr->op == AGXC_OP_ULT || a->instr->op == AGXC_OP_SLT;
   bool is_unsigned = a->instr->op == AGXC_OP_ULT || a->instr->op == AGXC_OP_UGE;
   uint64_t all = agx_bits(x.bits), least = is_unsigned ? 0 : 1ull << (x.bits - 1);
   uint64_t most = all ^ least;
   struct agxc_ref low = agxc_imm(least, x.bits), high = agxc_imm(most, x.bits);
   enum agxc_op equal = AGXC_OP_IEQ, other = AGXC_OP_INE;
   if (is_const(&y) && (uint64_t)y.imm == least)
      return truth(!is_less);
   if (is_const(&x) && (uint64_t)x.imm == most)
      return truth(!is_less);
   if (is_const(&y) && (uint64_t)y.imm == least + 1)
      return op2(a, is_less ? equal : other, x, low);
   if (is_const(&x) && (uint64_t)x.imm == most - 1)
      return op2(a, is_less ? equal : other, y, high);
   if (is_const(&y) && (uint64_t)y.imm == most)
      return op2(a, is_less ? other : equal, x, high);
   if (is_const(&x) && (uint64_t)x.imm == least)
      return op2(a, is_less ? other : equal, y, low);
   return agxc_none();
}

static struct agxc_ref rule_order(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   bool is_less = a->instr->op == AGXC_OP_ULT || a->instr->op == AGXC_OP_SLT;
   if (agxc_same_ref(&x, &y))
      return truth(!is_less);
   struct agxc_ref result = compare_with_end(a, x, y);
   return result.kind == AGXC_NONE ? compare_choice(a) : result;
}

/* ---- selects --------------------------------------------------------------- */

/* What x is where c is `known`: c itself, its negation, or the opposite compare say it. */
static struct agxc_ref settled(const struct agxc_ref *x, const struct agxc_ref *c, bool known)
{
   const struct agxc_instr *a = agxc_def_of(*x), *b = agxc_def_of(*c);
   if (agxc_same_ref(x, c))
      return truth(known);
   if (!a || !b)
      return *x;
   if (a->op == AGXC_OP_INOT && agxc_same_ref(agxc_src_a(a), c))
      return truth(!known);
   if (agxc_are_opposite(a, b))
      return truth(!known);
   return *x;
}

/* Of booleans: a connective. */
static struct agxc_ref choose_truth(struct agxc_algebra *a)
{
   struct agxc_ref c = *agxc_src_condition(a->instr);
   struct agxc_ref x = settled(agxc_src_if_true(a->instr), &c, true);
   struct agxc_ref y = settled(agxc_src_if_false(a->instr), &c, false);
   if (equals(&x, 1) && equals(&y, 0))
      return c;
   if (equals(&x, 0) && equals(&y, 1))
      return negation(a, c);
   if (equals(&x, 1))
      return op2(a, AGXC_OP_IOR, c, y);
   if (equals(&y, 0))
      return op2(a, AGXC_OP_IAND, c, x);
   if (equals(&x, 0))
      return op2(a, AGXC_OP_IAND, negation(a, c), y);
   if (equals(&y, 1))
      return op2(a, AGXC_OP_IOR, negation(a, c), x);
   return agxc_none();
}

static struct agxc_ref choose(struct agxc_algebra *a, struct agxc_ref c, struct agxc_ref x,
                              struct agxc_ref y)
{
   return agxc_alg3(a, AGXC_OP_SELECT, agxc_dest(a->instr)->bits, c, x, y);
}

static struct agxc_ref rule_select(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   struct agxc_ref c = *agxc_src_condition(a->instr);
   const struct agxc_instr *def;
   if (agxc_same_ref(&x, &y))
      return x;
   if ((def = agxc_def_as(c, AGXC_OP_INOT)))
      return choose(a, *agxc_src_a(def), y, x);
   if ((def = agxc_def_as(x, AGXC_OP_SELECT)) && agxc_same_ref(agxc_src_condition(def), &c))
      return choose(a, c, *agxc_src_if_true(def), y);
   if ((def = agxc_def_as(y, AGXC_OP_SELECT)) && agxc_same_ref(agxc_src_condition(def), &c))
      return choose(a, c, x, *agxc_src_if_false(def));
   return agxc_dest(a->instr)->bits == 1 ? choose_truth(a) : agxc_none();
}

/* A boolean as a number is a choice, which takes the compare in. */
static struct agxc_ref rule_extend(struct agxc_algebra *a, struct agxc_ref x, struct agxc_ref y)
{
   if (x.bits != 1 || agxc_dest(a->instr)->bits != 32)
      return agxc_none();
   uint32_t yes = a->instr->op == AGXC_OP_ZEXT ? 1 : UINT32_MAX;
   return choose(a, x, agxc_u32(yes), agxc_u32(0));
}

agxc_rule *const agxc_bool_rules[AGXC_OP_ISA] = {
   [AGXC_OP_INOT] = rule_inot,   [AGXC_OP_IAND] = rule_logic,    [AGXC_OP_IOR] = rule_logic,
   [AGXC_OP_IXOR] = rule_logic,  [AGXC_OP_IEQ] = rule_equal,     [AGXC_OP_INE] = rule_equal,
   [AGXC_OP_ULT] = rule_order,   [AGXC_OP_UGE] = rule_order,     [AGXC_OP_SLT] = rule_order,
   [AGXC_OP_SGE] = rule_order,   [AGXC_OP_SELECT] = rule_select, [AGXC_OP_ZEXT] = rule_extend,
   [AGXC_OP_SEXT] = rule_extend,
};
