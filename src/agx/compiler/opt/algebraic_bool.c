/* SPDX-License-Identifier: MIT
 *
 * Rules of opt_algebraic (algebraic.c) for booleans, for compares, and for selects of anything.
 */
#include "agx/compiler/opt/algebraic.h"
#include "agx/compiler/ir/fold.h"

#define is_const  agxc_alg_is_const
#define equals    agxc_alg_equals
#define def_is    agxc_alg_def_is
#define def_const agxc_alg_def_const
#define same      agxc_alg_same

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

/* Compares that are each other's negation. */
static const uint16_t opposite[][2] = {
   {AGXC_OP_IEQ, AGXC_OP_INE}, {AGXC_OP_INE, AGXC_OP_IEQ}, {AGXC_OP_ULT, AGXC_OP_UGE},
   {AGXC_OP_UGE, AGXC_OP_ULT}, {AGXC_OP_SLT, AGXC_OP_SGE}, {AGXC_OP_SGE, AGXC_OP_SLT},
   {AGXC_OP_FEQ, AGXC_OP_FNE}, {AGXC_OP_FNE, AGXC_OP_FEQ},
};

/* not (a < b) is a >= b, but not of floats, where both are false for NaN. */
static struct agxc_ref rule_inot(struct agxc_algebra *a, const struct agxc_instr *instr)
{
   const struct agxc_instr *def = agxc_alg_def(&instr->operand[1]);
   for (size_t i = 0; def && i < AGX_COUNT(opposite); i++)
      if (opposite[i][0] == def->op)
         return op2(a, (enum agxc_op)opposite[i][1], def->operand[1], def->operand[2]);
   return agxc_none();
}

static struct agxc_ref rule_logic(struct agxc_algebra *a, const struct agxc_instr *instr)
{
   struct agxc_ref x = instr->operand[1], y = instr->operand[2];
   enum agxc_op op = (enum agxc_op)instr->op;
   if (same(&x, &y))
      return op == AGXC_OP_IXOR ? truth(false) : x;
   if (op == AGXC_OP_IXOR && equals(&y, 1))
      return negation(a, x);
   for (unsigned i = 1; i <= 2; i++) {
      const struct agxc_instr *def = def_is(&instr->operand[i], AGXC_OP_INOT);
      if (def && same(&def->operand[1], &instr->operand[3 - i]))
         return truth(op != AGXC_OP_IAND);
   }
   return agxc_none();
}

/* ---- compares ------------------------------------------------------------- */

/* A choice between constants, compared with a constant, is the condition, or settled. */
static struct agxc_ref compare_choice(struct agxc_algebra *a, const struct agxc_instr *instr)
{
   const struct agxc_instr *choice = def_is(&instr->operand[1], AGXC_OP_SELECT);
   enum agxc_op op = (enum agxc_op)instr->op;
   if (!choice || !is_const(&instr->operand[2]) || !is_const(&choice->operand[2]) ||
       !is_const(&choice->operand[3]))
      return agxc_none();
   struct agxc_ref yes = agxc_fold(op, 1, choice->operand[2], instr->operand[2]);
   struct agxc_ref no = agxc_fold(op, 1, choice->operand[3], instr->operand[2]);
   if (yes.kind == AGXC_NONE || no.kind == AGXC_NONE)
      return agxc_none();
   if (yes.imm == no.imm)
      return yes;
   return yes.imm ? choice->operand[1] : negation(a, choice->operand[1]);
}

static struct agxc_ref rule_equal(struct agxc_algebra *a, const struct agxc_instr *instr)
{
   struct agxc_ref x = instr->operand[1], y = instr->operand[2];
   enum agxc_op op = (enum agxc_op)instr->op;
   const struct agxc_instr *def;
   if (same(&x, &y))
      return truth(op == AGXC_OP_IEQ);
   if (x.bits == 1 && is_const(&y))
      return (op == AGXC_OP_IEQ) == !!y.imm ? x : negation(a, x);
   if (x.bits != 32 || !is_const(&y))
      return agxc_none();
   uint32_t c = (uint32_t)y.imm;
   if ((def = def_const(&x, AGXC_OP_IADD)))
      return op2(a, op, def->operand[1], agxc_imm(c - (uint32_t)def->operand[2].imm, 32));
   if ((def = def_const(&x, AGXC_OP_IXOR)))
      return op2(a, op, def->operand[1], agxc_imm(c ^ (uint32_t)def->operand[2].imm, 32));
   if ((def = def_is(&x, AGXC_OP_INEG)))
      return op2(a, op, def->operand[1], agxc_imm(0u - c, 32));
   if (c == 0 && ((def = def_is(&x, AGXC_OP_ISUB)) || (def = def_is(&x, AGXC_OP_IXOR))))
      return op2(a, op, def->operand[1], def->operand[2]);
   return compare_choice(a, instr);
}

static struct agxc_ref rule_order(struct agxc_algebra *a, const struct agxc_instr *instr)
{
   struct agxc_ref x = instr->operand[1], y = instr->operand[2];
   bool is_less = instr->op == AGXC_OP_ULT || instr->op == AGXC_OP_SLT;
   bool is_unsigned = instr->op == AGXC_OP_ULT || instr->op == AGXC_OP_UGE;
   if (same(&x, &y))
      return truth(!is_less);
   if (is_unsigned && equals(&y, 0) && y.bits <= 32)
      return truth(!is_less);
   if (is_unsigned && equals(&y, 1) && y.bits <= 32)
      return op2(a, is_less ? AGXC_OP_IEQ : AGXC_OP_INE, x, agxc_imm(0, x.bits));
   if (is_unsigned && equals(&x, 0) && x.bits <= 32)
      return op2(a, is_less ? AGXC_OP_INE : AGXC_OP_IEQ, y, x);
   return compare_choice(a, instr);
}

/* ---- selects --------------------------------------------------------------- */

/* What x is where c is `known`: c itself, its negation, or the opposite compare say it. */
static struct agxc_ref settled(const struct agxc_ref *x, const struct agxc_ref *c, bool known)
{
   const struct agxc_instr *a = agxc_alg_def(x), *b = agxc_alg_def(c);
   if (same(x, c))
      return truth(known);
   if (!a || !b)
      return *x;
   if (a->op == AGXC_OP_INOT && same(&a->operand[1], c))
      return truth(!known);
   bool compares = a->src_count == 2 && b->src_count == 2 && same(&a->operand[1], &b->operand[1]) &&
                   same(&a->operand[2], &b->operand[2]);
   for (size_t i = 0; compares && i < AGX_COUNT(opposite); i++)
      if (opposite[i][0] == a->op && opposite[i][1] == b->op)
         return truth(!known);
   return *x;
}

/* Of booleans: a connective. */
static struct agxc_ref choose_truth(struct agxc_algebra *a, const struct agxc_instr *instr)
{
   struct agxc_ref c = instr->operand[1];
   struct agxc_ref x = settled(&instr->operand[2], &c, true);
   struct agxc_ref y = settled(&instr->operand[3], &c, false);
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

static struct agxc_ref choose(struct agxc_algebra *a, const struct agxc_instr *instr,
                              struct agxc_ref c, struct agxc_ref x, struct agxc_ref y)
{
   return agxc_alg3(a, AGXC_OP_SELECT, instr->operand[0].bits, c, x, y);
}

static struct agxc_ref rule_select(struct agxc_algebra *a, const struct agxc_instr *instr)
{
   struct agxc_ref c = instr->operand[1], x = instr->operand[2], y = instr->operand[3];
   const struct agxc_instr *def;
   if (same(&x, &y))
      return x;
   if ((def = def_is(&c, AGXC_OP_INOT)))
      return choose(a, instr, def->operand[1], y, x);
   if ((def = def_is(&x, AGXC_OP_SELECT)) && same(&def->operand[1], &c))
      return choose(a, instr, c, def->operand[2], y);
   if ((def = def_is(&y, AGXC_OP_SELECT)) && same(&def->operand[1], &c))
      return choose(a, instr, c, x, def->operand[3]);
   return instr->operand[0].bits == 1 ? choose_truth(a, instr) : agxc_none();
}

/* A boolean as a number is a choice, which takes the compare in. */
static struct agxc_ref rule_extend(struct agxc_algebra *a, const struct agxc_instr *instr)
{
   if (instr->operand[1].bits != 1 || instr->operand[0].bits != 32)
      return agxc_none();
   uint32_t yes = instr->op == AGXC_OP_ZEXT ? 1 : UINT32_MAX;
   return choose(a, instr, instr->operand[1], agxc_imm(yes, 32), agxc_imm(0, 32));
}

struct agxc_ref agxc_algebra_bool(struct agxc_algebra *a, const struct agxc_instr *instr)
{
   switch (instr->op) {
   case AGXC_OP_INOT:
      return rule_inot(a, instr);
   case AGXC_OP_IAND:
   case AGXC_OP_IOR:
   case AGXC_OP_IXOR:
      return rule_logic(a, instr);
   case AGXC_OP_IEQ:
   case AGXC_OP_INE:
      return rule_equal(a, instr);
   case AGXC_OP_ULT:
   case AGXC_OP_UGE:
   case AGXC_OP_SLT:
   case AGXC_OP_SGE:
      return rule_order(a, instr);
   case AGXC_OP_SELECT:
      return rule_select(a, instr);
   case AGXC_OP_ZEXT:
   case AGXC_OP_SEXT:
      return rule_extend(a, instr);
   default:
      return agxc_none();
   }
}
