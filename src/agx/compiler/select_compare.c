/* SPDX-License-Identifier: MIT
 *
 * Selection: compares, and what consumes them. A compare is fused into each select and
 * branch that uses it; on its own it becomes a select of 1 and 0.
 */
#include "agx/compiler/select_impl.h"

/* A condition as icsel, fcsel, if_icmp and if_fcmp take it. */
struct condition {
   bool is_float;
   bool inverted;
   uint8_t cond; /* AGX_ISA_ICOND_* or AGX_ISA_FCOND_*, without the invert bit */
   struct agxc_ref a, b;
};

#define INVERT 8

/* Source: reference/isa, semantics.md 8. */
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
      const struct agxc_ref *srcs = agxc_srcs(def);
      bool is_float = compares[i].is_float;
      struct agxc_ref (*source)(struct agxc_selector *, struct agxc_ref) =
         is_float                                ? agxc_select_float
         : compares[i].cond == AGX_ISA_ICOND_SLT ? agxc_select_signed
                                                 : agxc_select_int;
      *out = (struct condition){
         .is_float = is_float,
         .inverted = compares[i].inverted,
         .cond = compares[i].cond,
         .a = source(s, srcs[0]),
         .b = source(s, srcs[1]),
      };
      return true;
   }
   return false;
}

/* Any boolean: a compare, the negation of one, or a value that is 0 or 1. */
static struct condition condition_of(struct agxc_selector *s, struct agxc_ref ref)
{
   struct condition condition;
   bool inverted = false;
   for (const struct agxc_instr *def; (def = agxc_select_def_is(s, &ref, AGXC_OP_INOT));) {
      inverted = !inverted;
      ref = def->operand[1];
   }
   if (!match_compare(s, agxc_select_def(s, &ref), &condition))
      condition = (struct condition){.inverted = true,
                                     .cond = AGX_ISA_ICOND_IEQ,
                                     .a = agxc_select_int(s, ref),
                                     .b = agxc_imm(0, 16)};
   condition.inverted ^= inverted;
   return condition;
}

/* d = condition ? x : y; selects have no invert bit. */
static void emit_choice(struct agxc_selector *s, struct agxc_ref dest,
                        const struct condition *condition, struct agxc_ref x, struct agxc_ref y)
{
   struct agxc_ref srcs[4] = {condition->a, condition->b, condition->inverted ? y : x,
                              condition->inverted ? x : y};
   bool is_float = condition->is_float;
   struct agxc_instr *instr =
      agxc_select_row(s, is_float ? AGX_ISA_OP_FCSEL : AGX_ISA_OP_ICSEL, dest, 4, srcs);
   agxc_set_mod(instr, is_float ? AGX_ISA_FCSEL_COND : AGX_ISA_ICSEL_COND, condition->cond);
}

void agxc_select_compare(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct condition condition;
   bool matched = match_compare(s, instr, &condition);
   agx_assert(matched);
   emit_choice(s, agxc_use(instr->operand[0].value), &condition, agxc_imm(1, 16), agxc_imm(0, 16));
}

void agxc_select_choose(struct agxc_selector *s, const struct agxc_instr *instr)
{
   const struct agxc_ref *srcs = agxc_srcs(instr);
   struct condition condition = condition_of(s, srcs[0]);
   struct agxc_ref x = agxc_select_choice(s, srcs[1]), y = agxc_select_choice(s, srcs[2]);
   emit_choice(s, agxc_use(instr->operand[0].value), &condition, x, y);
}

void agxc_select_branch(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct condition condition = condition_of(s, instr->operand[0]);
   struct agxc_ref srcs[2] = {condition.a, condition.b};
   bool is_float = condition.is_float;
   struct agxc_instr *branch =
      agxc_select_row(s, is_float ? AGX_ISA_OP_IF_FCMP : AGX_ISA_OP_IF_ICMP, agxc_none(), 2, srcs);
   agxc_set_mod(branch, is_float ? AGX_ISA_IF_FCMP_COND : AGX_ISA_IF_ICMP_COND,
                condition.cond | (condition.inverted ? INVERT : 0));
   agxc_set_mod(branch, is_float ? AGX_ISA_IF_FCMP_NEST : AGX_ISA_IF_ICMP_NEST, 1);
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
   if (instr->operand[1].kind == AGXC_IMM)
      condition.inverted = instr->operand[1].imm == 0;
   else
      condition = condition_of(s, instr->operand[1]);
   struct agxc_ref srcs[2] = {voted(s, condition.a), voted(s, condition.b)};
   bool is_float = condition.is_float;
   struct agxc_instr *row =
      agxc_select_row(s, is_float ? AGX_ISA_OP_FCMP_BALLOT : AGX_ISA_OP_ICMP_BALLOT,
                      agxc_use(instr->operand[0].value), 2, srcs);
   agxc_set_mod(row, AGX_ISA_ICMP_BALLOT_WINDOW, AGX_ISA_WINDOW_SIMD);
   agxc_set_mod(row, AGX_ISA_ICMP_BALLOT_COND, condition.cond | (condition.inverted ? INVERT : 0));
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
   const struct agxc_ref *srcs = agxc_srcs(instr);
   /* Compared and chosen are the same bits: no float immediates, no modifiers. */
   struct agxc_ref a = agxc_select_choice(s, srcs[0]), b = agxc_select_choice(s, srcs[1]);
   if (rows[i].is_float && a.kind == AGXC_IMM)
      a = agxc_select_reg(s, srcs[0]);
   if (rows[i].is_float && b.kind == AGXC_IMM)
      b = agxc_select_reg(s, srcs[1]);
   struct condition condition = {
      .is_float = rows[i].is_float, .cond = rows[i].cond, .a = a, .b = b};
   emit_choice(s, agxc_use(instr->operand[0].value), &condition, a, b);
}
