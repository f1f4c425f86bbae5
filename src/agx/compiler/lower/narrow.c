/* SPDX-License-Identifier: MIT
 *
 * Integers of 8 and 16 bits, where the operation has no row of that width.
 * Before: generic SSA. After: 8-bit operations look at no more than their low bits (ir.h), and
 * division, high products, reversal and bit fields are done on 32 bits, division by way of
 * floats. Breaks nothing.
 */
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/lower/lower.h"

#define HALF 0x3f000000u /* 0.5 */
#define SIGN 0x80000000u

struct lowering {
   struct agxc_builder b;
};

static struct agxc_ref op1(struct lowering *l, enum agxc_op op, unsigned bits, struct agxc_ref a)
{
   struct agxc_ref folded = agxc_fold(op, bits, a, agxc_none());
   return folded.kind == AGXC_NONE ? agxc_build1(&l->b, op, bits, a) : folded;
}

static struct agxc_ref op2(struct lowering *l, enum agxc_op op, unsigned bits, struct agxc_ref a,
                           struct agxc_ref c)
{
   struct agxc_ref folded = agxc_fold(op, bits, a, c);
   return folded.kind == AGXC_NONE ? agxc_build2(&l->b, op, bits, a, c) : folded;
}

static struct agxc_ref imm32(uint32_t value)
{
   return agxc_imm(value, 32);
}

static struct agxc_ref extend(struct lowering *l, struct agxc_ref ref, bool is_signed,
                              unsigned bits)
{
   if (ref.bits == bits)
      return ref;
   return op1(l, is_signed ? AGXC_OP_SEXT : AGXC_OP_ZEXT, bits, ref);
}

static struct agxc_ref cut(struct lowering *l, struct agxc_ref ref, unsigned bits)
{
   return ref.bits == bits ? ref : op1(l, AGXC_OP_TRUNC, bits, ref);
}

/* ---- division ------------------------------------------------------------ */

/* 1 / d. Both roundings together err by less than 2^-22, and the quotient is 16 bits long. */
static struct agxc_ref reciprocal(struct lowering *l, struct agxc_ref d, enum agxc_op to_float,
                                  bool is_signed)
{
   if (d.kind == AGXC_IMM && d.imm) {
      unsigned shift = 64u - d.bits;
      int64_t value = is_signed ? (int64_t)((uint64_t)d.imm << shift) >> shift : d.imm;
      float inverse = 1.0f / (float)value;
      uint32_t bits;
      memcpy(&bits, &inverse, sizeof(bits));
      return imm32(bits);
   }
   return agxc_build_frcp(&l->b, agxc_build1(&l->b, to_float, 32, d));
}

/* trunc((n + 1/2) / d), the half with n's sign: no integer lies between that and n / d, and it
 * is farther from the next one, 1 / 2d, than 2^-22 of it. */
static struct agxc_ref quotient(struct lowering *l, struct agxc_ref n, struct agxc_ref d,
                                bool is_signed)
{
   enum agxc_op to_float = is_signed ? AGXC_OP_S2F : AGXC_OP_U2F;
   struct agxc_ref x = agxc_build1(&l->b, to_float, 32, n), half = imm32(HALF);
   if (is_signed)
      half = op2(l, AGXC_OP_IOR, 32, op2(l, AGXC_OP_IAND, 32, x, imm32(SIGN)), half);
   x = agxc_build_fadd(&l->b, x, half);
   x = agxc_build_fmul(&l->b, x, reciprocal(l, d, to_float, is_signed));
   return cut(l, agxc_build1(&l->b, is_signed ? AGXC_OP_F2S : AGXC_OP_F2U, 32, x), n.bits);
}

static struct agxc_ref divide(struct lowering *l, const struct agxc_instr *instr)
{
   struct agxc_ref n = instr->operand[1], d = instr->operand[2];
   unsigned bits = n.bits;
   bool is_signed = instr->op != AGXC_OP_UDIV && instr->op != AGXC_OP_UMOD;
   bool wants_quotient = instr->op == AGXC_OP_UDIV || instr->op == AGXC_OP_SDIV;
   if (!is_signed && d.kind == AGXC_IMM && d.imm && !(d.imm & (d.imm - 1))) {
      struct agxc_ref shift = imm32((uint32_t)__builtin_ctzll((uint64_t)d.imm));
      if (!wants_quotient)
         return op2(l, AGXC_OP_IAND, bits, n, agxc_imm((uint64_t)d.imm - 1, bits));
      return cut(l, op2(l, AGXC_OP_USHR, 16, extend(l, n, false, 16), shift), bits);
   }
   struct agxc_ref q = quotient(l, n, d, is_signed);
   if (wants_quotient)
      return q;
   struct agxc_ref minus_d = op1(l, AGXC_OP_INEG, bits, d);
   struct agxc_ref m = op2(l, AGXC_OP_IADD, bits, op2(l, AGXC_OP_IMUL, bits, q, minus_d), n);
   if (instr->op != AGXC_OP_SMOD)
      return m;
   /* The divisor's sign; so one divisor more where the signs differ. */
   struct agxc_ref signs = extend(l, op2(l, AGXC_OP_IXOR, bits, m, d), true, 16);
   struct agxc_ref zero = agxc_imm(0, 16), low = extend(l, m, false, 16);
   struct agxc_ref differ = op2(l, AGXC_OP_SLT, 1, signs, zero);
   struct agxc_ref some = op2(l, AGXC_OP_INE, 1, low, zero);
   struct agxc_ref moved = op2(l, AGXC_OP_IADD, bits, m, d);
   struct agxc_ref moves = op2(l, AGXC_OP_IAND, 1, differ, some);
   return agxc_build_select(&l->b, moves, moved, m);
}

/* ---- by way of 32 bits ---------------------------------------------------- */

static struct agxc_ref multiply_high(struct lowering *l, const struct agxc_instr *instr)
{
   bool is_signed = instr->op == AGXC_OP_SMULH;
   unsigned bits = instr->operand[0].bits;
   struct agxc_ref a = extend(l, instr->operand[1], is_signed, 32);
   struct agxc_ref c = extend(l, instr->operand[2], is_signed, 32);
   struct agxc_ref product = op2(l, AGXC_OP_IMUL, 32, a, c);
   return cut(l, op2(l, AGXC_OP_USHR, 32, product, imm32(bits)), bits);
}

static struct agxc_ref reverse(struct lowering *l, const struct agxc_instr *instr)
{
   unsigned bits = instr->operand[0].bits;
   struct agxc_ref wide = op1(l, AGXC_OP_BITREV, 32, extend(l, instr->operand[1], false, 32));
   return cut(l, op2(l, AGXC_OP_USHR, 32, wide, imm32(32 - bits)), bits);
}

static struct agxc_ref bit_field(struct lowering *l, const struct agxc_instr *instr)
{
   const struct agxc_ref *from = agxc_srcs(instr);
   struct agxc_ref srcs[4];
   unsigned narrow = instr->op == AGXC_OP_BFI ? 2 : 1;
   for (unsigned i = 0; i < instr->src_count; i++)
      srcs[i] = i < narrow ? extend(l, from[i], false, 32) : from[i];
   struct agxc_ref wide = agxc_build(&l->b, (enum agxc_op)instr->op, 32, 1, instr->src_count, srcs);
   return cut(l, wide, instr->operand[0].bits);
}

/* Bytes as 16 bits, extended as the operation reads them. */
static struct agxc_ref by_halves(struct lowering *l, const struct agxc_instr *instr, bool is_signed)
{
   unsigned bits = instr->operand[0].bits;
   struct agxc_ref srcs[2] = {{0}};
   for (unsigned i = 0; i < instr->src_count; i++)
      srcs[i] = instr->operand[1 + i].bits == 8 ? extend(l, instr->operand[1 + i], is_signed, 16)
                                                : instr->operand[1 + i];
   struct agxc_ref result =
      agxc_build(&l->b, (enum agxc_op)instr->op, bits == 8 ? 16 : bits, 1, instr->src_count, srcs);
   return cut(l, result, bits);
}

/* ---- the walk -------------------------------------------------------------- */

static struct agxc_ref lower(struct lowering *l, const struct agxc_instr *instr)
{
   bool is_byte = instr->operand[1].bits == 8;
   switch (instr->op) {
   case AGXC_OP_UDIV:
   case AGXC_OP_UMOD:
   case AGXC_OP_SDIV:
   case AGXC_OP_SREM:
   case AGXC_OP_SMOD:
      return divide(l, instr);
   case AGXC_OP_UMULH:
   case AGXC_OP_SMULH:
      return multiply_high(l, instr);
   case AGXC_OP_BITREV:
      return reverse(l, instr);
   case AGXC_OP_UBFE:
   case AGXC_OP_SBFE:
   case AGXC_OP_BFI:
      return bit_field(l, instr);
   case AGXC_OP_USHR:
   case AGXC_OP_UMIN:
   case AGXC_OP_UMAX:
   case AGXC_OP_IEQ:
   case AGXC_OP_INE:
   case AGXC_OP_ULT:
   case AGXC_OP_UGE:
   case AGXC_OP_BITCOUNT:
   case AGXC_OP_FIND_UMSB:
      return is_byte ? by_halves(l, instr, false) : agxc_none();
   case AGXC_OP_ASHR:
   case AGXC_OP_IMIN:
   case AGXC_OP_IMAX:
   case AGXC_OP_SLT:
   case AGXC_OP_SGE:
      return is_byte ? by_halves(l, instr, true) : agxc_none();
   default:
      return agxc_none();
   }
}

bool agxc_lower_narrow(struct agxc_shader *shader)
{
   bool progress = false;
   agxc_index(shader);
   agxc_foreach_block (block, shader) {
      agxc_foreach_instr_safe (instr, block) {
         unsigned bits = instr->dest_count == 1 && instr->src_count ? instr->operand[1].bits : 0;
         if (bits != 8 && bits != 16)
            continue;
         struct lowering l = {.b = agxc_before(shader, instr)};
         struct agxc_ref result = lower(&l, instr);
         if (result.kind == AGXC_NONE)
            continue;
         agxc_become_mov(shader, instr, result);
         progress = true;
      }
   }
   return progress;
}
