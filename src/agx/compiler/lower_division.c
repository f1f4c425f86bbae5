/* SPDX-License-Identifier: MIT
 *
 * 32-bit integer division. By a power of two: shifts and masks. By anything else: a float
 * reciprocal, refined, gives an estimate that multiply-high and two corrections make exact.
 * Source of the recipe: reference/isa, idioms.md 2. Requires SSA; breaks nothing.
 */
#include "agx/compiler/passes.h"

#define ONE         0x3f800000u
#define ALMOST_2_32 0x4f7ffffeu /* 4294966784.0: below 2^32 by more than rcp can be off */

static struct agxc_ref imm(uint32_t value)
{
   return agxc_imm(value, 32);
}

static struct agxc_ref op2(struct agxc_builder *b, enum agxc_op op, struct agxc_ref a,
                           struct agxc_ref c)
{
   return agxc_build2(b, op, 32, a, c);
}

/* 1 / x within half an ulp. A divisor of 0 gives a NaN in the refinement, not in rcp. */
static struct agxc_ref refined_reciprocal(struct agxc_builder *b, struct agxc_ref x)
{
   struct agxc_ref u = agxc_build1(b, AGXC_OP_FRCP, 32, x);
   struct agxc_ref minus_x = agxc_build1(b, AGXC_OP_FNEG, 32, x);
   struct agxc_ref error = agxc_build3(b, AGXC_OP_FFMA, 32, minus_x, u, imm(ONE));
   struct agxc_ref v = agxc_build3(b, AGXC_OP_FFMA, 32, error, u, u);
   struct agxc_ref is_number = agxc_build2(b, AGXC_OP_FEQ, 1, v, v);
   return agxc_build3(b, AGXC_OP_SELECT, 32, is_number, v, u);
}

/* One correction: where the remainder is not below d, one more goes into the quotient. */
static void correct(struct agxc_builder *b, struct agxc_ref d, struct agxc_ref *q,
                    struct agxc_ref *m)
{
   struct agxc_ref more = agxc_build2(b, AGXC_OP_UGE, 1, *m, d);
   *q = agxc_build3(b, AGXC_OP_SELECT, 32, more, op2(b, AGXC_OP_IADD, *q, imm(1)), *q);
   *m = agxc_build3(b, AGXC_OP_SELECT, 32, more, op2(b, AGXC_OP_ISUB, *m, d), *m);
}

static void divide_unsigned(struct agxc_builder *b, struct agxc_ref n, struct agxc_ref d,
                            struct agxc_ref *out_q, struct agxc_ref *out_m)
{
   struct agxc_ref r = refined_reciprocal(b, agxc_build1(b, AGXC_OP_U2F, 32, d));
   struct agxc_ref scaled = op2(b, AGXC_OP_FMUL, r, imm(ALMOST_2_32));
   struct agxc_ref q0 = agxc_build1(b, AGXC_OP_F2U, 32, scaled);
   struct agxc_ref minus_d = agxc_build1(b, AGXC_OP_INEG, 32, d);
   struct agxc_ref e = op2(b, AGXC_OP_IMUL, q0, minus_d);
   q0 = op2(b, AGXC_OP_IADD, q0, op2(b, AGXC_OP_UMULH, q0, e));
   *out_q = op2(b, AGXC_OP_UMULH, n, q0);
   *out_m = op2(b, AGXC_OP_ISUB, n, op2(b, AGXC_OP_IMUL, *out_q, d));
   correct(b, d, out_q, out_m);
   correct(b, d, out_q, out_m);
}

/* 0 or all ones. */
static struct agxc_ref sign_of(struct agxc_builder *b, struct agxc_ref x)
{
   return op2(b, AGXC_OP_ASHR, x, imm(31));
}

/* x, negated where sign is all ones. */
static struct agxc_ref apply_sign(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref sign)
{
   return op2(b, AGXC_OP_ISUB, op2(b, AGXC_OP_IXOR, x, sign), sign);
}

static struct agxc_ref divide_signed(struct agxc_builder *b, const struct agxc_instr *instr)
{
   struct agxc_ref n = instr->operand[1], d = instr->operand[2], q, m;
   struct agxc_ref n_sign = sign_of(b, n), d_sign = sign_of(b, d);
   divide_unsigned(b, apply_sign(b, n, n_sign), apply_sign(b, d, d_sign), &q, &m);
   if (instr->op == AGXC_OP_SDIV)
      return apply_sign(b, q, op2(b, AGXC_OP_IXOR, n_sign, d_sign));
   m = apply_sign(b, m, n_sign);
   if (instr->op == AGXC_OP_SREM)
      return m;
   /* SMOD: the divisor's sign; so one divisor more where the signs differ. */
   struct agxc_ref differ = agxc_build2(b, AGXC_OP_SLT, 1, op2(b, AGXC_OP_IXOR, m, d), imm(0));
   struct agxc_ref is_zero = agxc_build2(b, AGXC_OP_IEQ, 1, m, imm(0));
   struct agxc_ref moved =
      agxc_build3(b, AGXC_OP_SELECT, 32, differ, op2(b, AGXC_OP_IADD, m, d), m);
   return agxc_build3(b, AGXC_OP_SELECT, 32, is_zero, m, moved);
}

static struct agxc_ref lower(struct agxc_builder *b, const struct agxc_instr *instr)
{
   struct agxc_ref n = instr->operand[1], d = instr->operand[2], q, m;
   bool by_power = d.kind == AGXC_IMM && d.imm && !((uint64_t)d.imm & ((uint64_t)d.imm - 1));
   switch (instr->op) {
   case AGXC_OP_UDIV:
      if (by_power)
         return op2(b, AGXC_OP_USHR, n, imm((uint32_t)__builtin_ctzll((uint64_t)d.imm)));
      divide_unsigned(b, n, d, &q, &m);
      return q;
   case AGXC_OP_UMOD:
      if (by_power)
         return op2(b, AGXC_OP_IAND, n, imm((uint32_t)d.imm - 1));
      divide_unsigned(b, n, d, &q, &m);
      return m;
   default:
      return divide_signed(b, instr);
   }
}

bool agxc_lower_division(struct agxc_shader *shader)
{
   bool progress = false;
   agxc_index(shader);
   agxc_foreach_block (block, shader) {
      agxc_foreach_instr_safe (instr, block) {
         if (instr->op < AGXC_OP_UDIV || instr->op > AGXC_OP_SMOD)
            continue;
         if (instr->operand[0].bits != 32)
            agxc_fail(shader, AGX_UNIMPLEMENTED, "%s: division of %u-bit integers", shader->name,
                      instr->operand[0].bits);
         struct agxc_builder b = agxc_before(shader, instr);
         agxc_become_mov(shader, instr, lower(&b, instr));
         progress = true;
      }
   }
   return progress;
}
