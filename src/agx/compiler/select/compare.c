/* SPDX-License-Identifier: MIT
 *
 * Selection: compares, and what consumes them. A compare is fused into each select and
 * branch that uses it; on its own it becomes a select of 1 and 0.
 *
 *    before   %2 = ult %0, %1     %3 = select %2, %4, %5
 *    after    %3 = agx.icsel %0, %1, %4, %5, cond ult
 *
 * Where two compares meet in AND or OR, a select in front of the second one forces what it
 * compares, so that one instruction stands for both booleans and their connective.
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/select/select_impl.h"

/* A condition as icsel, fcsel, if_icmp and if_fcmp take it. */
struct condition {
   bool is_float;
   bool inverted;
   uint8_t cond; /* AGX_ISA_ICOND_* or AGX_ISA_FCOND_*, without the invert bit */
   struct agxc_ref a, b;
};

#define INVERT 8

/* Source: docs/hw/semantics.md 8. */
static const struct {
   uint16_t op;
   uint8_t cond;
   bool is_float, inverted;
} compares[] = {
   {AGXC_OP_IEQ, AGX_ISA_ICOND_IEQ, false, false}, {AGXC_OP_INE, AGX_ISA_ICOND_IEQ, false, true},
   {AGXC_OP_ULT, AGX_ISA_ICOND_ULT, false, false}, {AGXC_OP_UGE, AGX_ISA_ICOND_ULT, false, true},
   {AGXC_OP_SLT, AGX_ISA_ICOND_SLT, false, false}, {AGXC_OP_SGE, AGX_ISA_ICOND_SLT, false, true},
   {AGXC_OP_FEQ, AGX_ISA_FCOND_FEQ, true, false},  {AGXC_OP_FNE, AGX_ISA_FCOND_FEQ, true, true},
   {AGXC_OP_FLT, AGX_ISA_FCOND_FLT, true, false},  {AGXC_OP_FGE, AGX_ISA_FCOND_FGTE, true, false},
};

static bool match_compare(struct agxc_selector *s, const struct agxc_instr *def,
                          struct condition *out)
{
   for (size_t i = 0; def && i < AGX_COUNT(compares); i++) {
      if (compares[i].op != def->op)
         continue;
      bool is_float = compares[i].is_float;
      struct agxc_ref (*source)(struct agxc_selector *, struct agxc_ref) =
         is_float                                ? agxc_select_float
         : compares[i].cond == AGX_ISA_ICOND_SLT ? agxc_select_signed
                                                 : agxc_select_int;
      *out = (struct condition){
         .is_float = is_float,
         .inverted = compares[i].inverted,
         .cond = compares[i].cond,
         .a = source(s, *agxc_src_a(def)),
         .b = source(s, *agxc_src_b(def)),
      };
      return true;
   }
   return false;
}

/* d = condition ? x : y; selects have no invert bit. */
static void emit_choice(struct agxc_selector *s, struct agxc_ref dest,
                        const struct condition *condition, struct agxc_ref x, struct agxc_ref y)
{
   struct agxc_ref srcs[4] = {condition->a, condition->b, condition->inverted ? y : x,
                              condition->inverted ? x : y};
   bool is_float = condition->is_float;
   struct agxc_instr *instr =
      agxc_select_instr(s, is_float ? AGX_ISA_OP_FCSEL : AGX_ISA_OP_ICSEL, dest, 4, srcs);
   agxc_set_machine_cond(instr, condition->cond);
}

/* ---- two conditions in one ---------------------------------------------- */

/* What settles a compare: operand `side` replaced by this makes it what is wanted, whatever the
 * other operand is. NaN loses all ordered compares. */
struct forcing {
   unsigned side;
   struct agxc_ref value;
};

#define NAN_BITS 0x7fc00000u

/* a constant that c is not */
static struct agxc_ref other_than(const struct agxc_ref *c)
{
   return agxc_imm(c->imm == 0, 32);
}

static bool force_order(const struct agxc_instr *compare, bool less, struct forcing *out)
{
   bool is_signed = compare->op == AGXC_OP_SLT || compare->op == AGXC_OP_SGE;
   uint32_t least = is_signed ? 0x80000000u : 0, greatest = is_signed ? INT32_MAX : UINT32_MAX;
   const struct agxc_ref *a = agxc_src_a(compare), *b = agxc_src_b(compare);
   if (!less) /* nothing is below the least */
      *out = (struct forcing){1, agxc_imm(least, 32)};
   else if (b->kind == AGXC_IMM && (uint32_t)b->imm != least)
      *out = (struct forcing){0, agxc_imm(least, 32)};
   else if (a->kind == AGXC_IMM && (uint32_t)a->imm != greatest)
      *out = (struct forcing){1, agxc_imm(greatest, 32)};
   else
      return false;
   return true;
}

static bool force(const struct agxc_instr *compare, bool want, struct forcing *out)
{
   const struct agxc_ref *b = agxc_src_b(compare);
   if (agxc_src_a(compare)->bits != 32)
      return false;
   switch (compare->op) {
   case AGXC_OP_IEQ:
   case AGXC_OP_INE:
      if (want == (compare->op == AGXC_OP_IEQ))
         *out = (struct forcing){0, *b};
      else if (b->kind == AGXC_IMM)
         *out = (struct forcing){0, other_than(b)};
      else
         return false;
      return true;
   case AGXC_OP_ULT:
   case AGXC_OP_SLT:
      return force_order(compare, want, out);
   case AGXC_OP_UGE:
   case AGXC_OP_SGE:
      return force_order(compare, !want, out);
   case AGXC_OP_FEQ:
   case AGXC_OP_FLT:
   case AGXC_OP_FGE:
   case AGXC_OP_FNE:
      *out = (struct forcing){0, agxc_imm(NAN_BITS, 32)};
      return want == (compare->op == AGXC_OP_FNE);
   default:
      return false;
   }
}

static struct condition condition_at(struct agxc_selector *s, struct agxc_ref ref, unsigned depth);

/* Chains of connectives are followed so far, for each recurses. */
#define MAX_CHAIN 8

/* c and a < b, where nothing else wants the compare: (c ? b : 0) > a. c or a < b likewise. One
 * select in front of the compare, not two booleans and their connective. */
static bool match_pair(struct agxc_selector *s, const struct agxc_instr *logic, unsigned depth,
                       struct condition *out)
{
   bool is_or = logic && logic->op == AGXC_OP_IOR;
   if (!logic || depth == 0 || (logic->op != AGXC_OP_IAND && !is_or) || agxc_dest(logic)->bits != 1)
      return false;
   for (unsigned i = 2; i-- > 0;) {
      const struct agxc_ref *side = agxc_side(logic, i);
      const struct agxc_instr *compare = agxc_select_def(s, side);
      struct forcing forcing;
      if (!compare || compare->op < AGXC_OP_IEQ || compare->op > AGXC_OP_FGE ||
          !agxc_select_used_once(s, side) || !force(compare, is_or, &forcing))
         continue;
      struct condition first = condition_at(s, *agxc_side(logic, 1 - i), depth - 1);
      struct agxc_ref kept = agxc_select_choice(s, *agxc_side(compare, forcing.side));
      struct agxc_ref forced = agxc_select_choice(s, forcing.value);
      struct agxc_ref mixed = agxc_use(agxc_value_new(s->shader, 32, 1));
      emit_choice(s, mixed, &first, is_or ? forced : kept, is_or ? kept : forced);
      if (!match_compare(s, compare, out))
         return false;
      *(forcing.side ? &out->b : &out->a) = mixed;
      return true;
   }
   return false;
}

/* Any boolean: a compare, a connective of two, the negation of either, or a value that is 0 or
 * 1. */
static struct condition condition_at(struct agxc_selector *s, struct agxc_ref ref, unsigned depth)
{
   struct condition condition;
   bool inverted = false;
   for (const struct agxc_instr *def; (def = agxc_select_def_is(s, &ref, AGXC_OP_INOT));) {
      inverted = !inverted;
      ref = *agxc_src_a(def);
   }
   const struct agxc_instr *def = agxc_select_def(s, &ref);
   if (!match_compare(s, def, &condition) &&
       !(agxc_select_used_once(s, &ref) && match_pair(s, def, depth, &condition)))
      condition = (struct condition){.inverted = true,
                                     .cond = AGX_ISA_ICOND_IEQ,
                                     .a = agxc_select_int(s, ref),
                                     .b = agxc_imm(0, 16)};
   condition.inverted ^= inverted;
   return condition;
}

static struct condition condition_of(struct agxc_selector *s, struct agxc_ref ref)
{
   return condition_at(s, ref, MAX_CHAIN);
}

void agxc_select_compare(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct condition condition;
   bool matched = match_compare(s, instr, &condition);
   agx_assert(matched);
   emit_choice(s, agxc_select_dest(instr), &condition, agxc_imm(1, 16), agxc_imm(0, 16));
}

bool agxc_select_logic(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct condition condition;
   if (!match_pair(s, instr, MAX_CHAIN, &condition))
      return false;
   emit_choice(s, agxc_select_dest(instr), &condition, agxc_imm(1, 16), agxc_imm(0, 16));
   return true;
}

void agxc_select_choose(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct condition condition = condition_of(s, *agxc_src_condition(instr));
   struct agxc_ref x = agxc_select_choice(s, *agxc_src_if_true(instr));
   struct agxc_ref y = agxc_select_choice(s, *agxc_src_if_false(instr));
   emit_choice(s, agxc_select_dest(instr), &condition, x, y);
}

void agxc_select_branch(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct condition condition = condition_of(s, *agxc_src_condition(instr));
   struct agxc_ref srcs[2] = {condition.a, condition.b};
   bool is_float = condition.is_float;
   struct agxc_instr *branch = agxc_select_instr(
      s, is_float ? AGX_ISA_OP_IF_FCMP : AGX_ISA_OP_IF_ICMP, agxc_none(), 2, srcs);
   agxc_set_machine_cond(branch, condition.cond | (condition.inverted ? INVERT : 0));
   agxc_set_machine_nest(branch, 1);
}

/* No uniforms: that ballots take them is only known from the encoding [U]. */
static struct agxc_ref voted(struct agxc_selector *s, struct agxc_ref ref)
{
   if (ref.kind != AGXC_UNIFORM)
      return ref;
   struct agxc_ref plain = agxc_select_reg(s, agxc_uniform(ref.half, ref.bits, 1));
   plain.abs = ref.abs;
   plain.neg = ref.neg;
   return plain;
}

void agxc_select_ballot(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct condition condition = {.cond = AGX_ISA_ICOND_IEQ, .a = agxc_imm(0, 16)};
   condition.b = condition.a;
   if (agxc_src_condition(instr)->kind == AGXC_IMM)
      condition.inverted = agxc_src_condition(instr)->imm == 0;
   else
      condition = condition_of(s, *agxc_src_condition(instr));
   struct agxc_ref srcs[2] = {voted(s, condition.a), voted(s, condition.b)};
   bool is_float = condition.is_float;
   struct agxc_instr *machine =
      agxc_select_instr(s, is_float ? AGX_ISA_OP_FCMP_BALLOT : AGX_ISA_OP_ICMP_BALLOT,
                        agxc_select_dest(instr), 2, srcs);
   agxc_set_machine_window(machine, AGX_ISA_WINDOW_SIMD);
   agxc_set_machine_cond(machine, condition.cond | (condition.inverted ? INVERT : 0));
}

void agxc_select_minmax(struct agxc_selector *s, const struct agxc_instr *instr)
{
   static const struct {
      uint16_t op;
      uint8_t cond;
      bool is_float;
   } rows[] = {
      {AGXC_OP_IMIN, AGX_ISA_ICOND_SLT, false}, {AGXC_OP_IMAX, AGX_ISA_ICOND_SGT, false},
      {AGXC_OP_UMIN, AGX_ISA_ICOND_ULT, false}, {AGXC_OP_UMAX, AGX_ISA_ICOND_UGT, false},
      {AGXC_OP_FMIN, AGX_ISA_FCOND_FLTN, true}, {AGXC_OP_FMAX, AGX_ISA_FCOND_FGTN, true},
   };
   unsigned i = 0;
   while (rows[i].op != instr->op)
      i++;
   /* Compared and chosen are the same bits: no float immediates but 0, no modifiers. */
   struct agxc_ref chosen[2], compared[2];
   for (unsigned j = 0; j < 2; j++) {
      struct agxc_ref src = *agxc_side(instr, j);
      compared[j] = chosen[j] = agxc_select_choice(s, src);
      if (!rows[i].is_float || chosen[j].kind != AGXC_IMM)
         continue;
      if (src.imm == 0)
         compared[j] = agxc_select_float(s, src);
      else
         compared[j] = chosen[j] = agxc_select_reg(s, src);
   }
   struct condition condition = {
      .is_float = rows[i].is_float, .cond = rows[i].cond, .a = compared[0], .b = compared[1]};
   emit_choice(s, agxc_select_dest(instr), &condition, chosen[0], chosen[1]);
}
