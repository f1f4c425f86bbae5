/* SPDX-License-Identifier: MIT
 *
 * Integers of 8 and 16 bits are done in more bits where the machine has no instruction of that
 * width.
 *
 * Before: operations on 8 and 16 bits. After: 8-bit operations look at no more than their low bits
 * (ir.h), and division, high products, reversal and bit fields are done on 32 bits, division by way
 * of floats.
 *
 * The pass stands behind lower_subgroup, which leaves conversions of narrow values, and in front of
 * lower_math, since the bit fields of 32 bits that it makes may have any length.
 */
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/lower/lower.h"

#define HALF 0x3f000000u /* 0.5 */
#define SIGN 0x80000000u

static struct agxc_ref op1(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                           struct agxc_ref a)
{
   return agxc_build1_folded(b, op, bits, a);
}

static struct agxc_ref op2(struct agxc_builder *b, enum agxc_op op, unsigned bits,
                           struct agxc_ref a, struct agxc_ref c)
{
   return agxc_build2_folded(b, op, bits, a, c);
}

static struct agxc_ref extend(struct agxc_builder *b, struct agxc_ref ref, bool is_signed,
                              unsigned bits)
{
   if (ref.bits == bits)
      return ref;
   return op1(b, is_signed ? AGXC_OP_SEXT : AGXC_OP_ZEXT, bits, ref);
}

static struct agxc_ref cut(struct agxc_builder *b, struct agxc_ref ref, unsigned bits)
{
   return ref.bits == bits ? ref : op1(b, AGXC_OP_TRUNC, bits, ref);
}

/* ---- division ------------------------------------------------------------ */

/* 1 / d. Both roundings together err by less than 2^-22, and the quotient is 16 bits long. */
static struct agxc_ref reciprocal(struct agxc_builder *b, struct agxc_ref d, enum agxc_op to_float,
                                  bool is_signed)
{
   if (d.kind == AGXC_IMM && d.imm) {
      unsigned shift = 64u - d.bits;
      int64_t value = is_signed ? (int64_t)((uint64_t)d.imm << shift) >> shift : d.imm;
      float inverse = 1.0f / (float)value;
      uint32_t bits;
      memcpy(&bits, &inverse, sizeof(bits));
      return agxc_u32(bits);
   }
   return agxc_build_frcp(b, agxc_build1(b, to_float, 32, d));
}

/* trunc((n + 1/2) / d), the half with n's sign: no integer lies between that and n / d, and it
 * is farther from the next one, 1 / 2d, than 2^-22 of it. */
static struct agxc_ref quotient(struct agxc_builder *b, struct agxc_ref n, struct agxc_ref d,
                                bool is_signed)
{
   enum agxc_op to_float = is_signed ? AGXC_OP_S2F : AGXC_OP_U2F;
   struct agxc_ref x = agxc_build1(b, to_float, 32, n), half = agxc_u32(HALF);
   if (is_signed)
      half = op2(b, AGXC_OP_IOR, 32, op2(b, AGXC_OP_IAND, 32, x, agxc_u32(SIGN)), half);
   x = agxc_build_fadd(b, x, half);
   x = agxc_build_fmul(b, x, reciprocal(b, d, to_float, is_signed));
   return cut(b, agxc_build1(b, is_signed ? AGXC_OP_F2S : AGXC_OP_F2U, 32, x), n.bits);
}

static struct agxc_ref divide(struct agxc_builder *b, const struct agxc_instr *instr)
{
   struct agxc_ref n = *agxc_src_a(instr), d = *agxc_src_b(instr);
   unsigned bits = n.bits;
   bool is_signed = instr->op != AGXC_OP_UDIV && instr->op != AGXC_OP_UMOD;
   bool wants_quotient = instr->op == AGXC_OP_UDIV || instr->op == AGXC_OP_SDIV;
   if (!is_signed && d.kind == AGXC_IMM && d.imm && !(d.imm & (d.imm - 1))) {
      struct agxc_ref shift = agxc_u32((uint32_t)__builtin_ctzll((uint64_t)d.imm));
      if (!wants_quotient)
         return op2(b, AGXC_OP_IAND, bits, n, agxc_imm((uint64_t)d.imm - 1, bits));
      return cut(b, op2(b, AGXC_OP_USHR, 16, extend(b, n, false, 16), shift), bits);
   }
   struct agxc_ref q = quotient(b, n, d, is_signed);
   if (wants_quotient)
      return q;
   struct agxc_ref minus_d = op1(b, AGXC_OP_INEG, bits, d);
   struct agxc_ref m = op2(b, AGXC_OP_IADD, bits, op2(b, AGXC_OP_IMUL, bits, q, minus_d), n);
   if (instr->op != AGXC_OP_SMOD)
      return m;
   /* The divisor's sign; so one divisor more where the signs differ. */
   struct agxc_ref signs = extend(b, op2(b, AGXC_OP_IXOR, bits, m, d), true, 16);
   struct agxc_ref zero = agxc_imm(0, 16), low = extend(b, m, false, 16);
   struct agxc_ref differ = op2(b, AGXC_OP_SLT, 1, signs, zero);
   struct agxc_ref some = op2(b, AGXC_OP_INE, 1, low, zero);
   struct agxc_ref moved = op2(b, AGXC_OP_IADD, bits, m, d);
   struct agxc_ref moves = op2(b, AGXC_OP_IAND, 1, differ, some);
   return agxc_build_select(b, moves, moved, m);
}

/* ---- by way of 32 bits ---------------------------------------------------- */

static struct agxc_ref multiply_high(struct agxc_builder *b, const struct agxc_instr *instr)
{
   bool is_signed = instr->op == AGXC_OP_SMULH;
   unsigned bits = agxc_dest(instr)->bits;
   struct agxc_ref a = extend(b, *agxc_src_a(instr), is_signed, 32);
   struct agxc_ref c = extend(b, *agxc_src_b(instr), is_signed, 32);
   struct agxc_ref product = op2(b, AGXC_OP_IMUL, 32, a, c);
   return cut(b, op2(b, AGXC_OP_USHR, 32, product, agxc_u32(bits)), bits);
}

static struct agxc_ref reverse(struct agxc_builder *b, const struct agxc_instr *instr)
{
   unsigned bits = agxc_dest(instr)->bits;
   struct agxc_ref wide = op1(b, AGXC_OP_BITREV, 32, extend(b, *agxc_src_a(instr), false, 32));
   return cut(b, op2(b, AGXC_OP_USHR, 32, wide, agxc_u32(32 - bits)), bits);
}

static struct agxc_ref bit_field(struct agxc_builder *b, const struct agxc_instr *instr)
{
   const struct agxc_ref *insert =
      agxc_has_src(instr, AGXC_SRC_INSERT) ? agxc_src_insert(instr) : NULL;
   struct agxc_ref srcs[4];
   uint32_t count = 0;
   agxc_foreach_src (src, instr) {
      bool is_narrow = src == agxc_src_base(instr) || src == insert;
      srcs[count++] = is_narrow ? extend(b, *src, false, 32) : *src;
   }
   struct agxc_ref wide = agxc_build(b, (enum agxc_op)instr->op, 32, 1, count, srcs);
   return cut(b, wide, agxc_dest(instr)->bits);
}

/* Bytes as 16 bits, extended as the operation reads them. */
static struct agxc_ref by_halves(struct agxc_builder *b, const struct agxc_instr *instr,
                                 bool is_signed)
{
   unsigned bits = agxc_dest(instr)->bits;
   struct agxc_ref srcs[2] = {{0}};
   uint32_t count = 0;
   agxc_foreach_src (src, instr)
      srcs[count++] = src->bits == 8 ? extend(b, *src, is_signed, 16) : *src;
   struct agxc_ref result =
      agxc_build(b, (enum agxc_op)instr->op, bits == 8 ? 16 : bits, 1, count, srcs);
   return cut(b, result, bits);
}

static struct agxc_ref unsigned_halves(struct agxc_builder *b, const struct agxc_instr *instr)
{
   return by_halves(b, instr, false);
}

static struct agxc_ref signed_halves(struct agxc_builder *b, const struct agxc_instr *instr)
{
   return by_halves(b, instr, true);
}

/* ---- the walk -------------------------------------------------------------- */

static const struct rule {
   uint16_t op, bits; /* the widest that the machine lacks */
   struct agxc_ref (*lower)(struct agxc_builder *b, const struct agxc_instr *instr);
} rules[] = {
   {AGXC_OP_UDIV, 16, divide},
   {AGXC_OP_UMOD, 16, divide},
   {AGXC_OP_SDIV, 16, divide},
   {AGXC_OP_SREM, 16, divide},
   {AGXC_OP_SMOD, 16, divide},
   {AGXC_OP_UMULH, 16, multiply_high},
   {AGXC_OP_SMULH, 16, multiply_high},
   {AGXC_OP_BITREV, 16, reverse},
   {AGXC_OP_UBFE, 16, bit_field},
   {AGXC_OP_SBFE, 16, bit_field},
   {AGXC_OP_BFI, 16, bit_field},
   {AGXC_OP_USHR, 8, unsigned_halves},
   {AGXC_OP_UMIN, 8, unsigned_halves},
   {AGXC_OP_UMAX, 8, unsigned_halves},
   {AGXC_OP_IEQ, 8, unsigned_halves},
   {AGXC_OP_INE, 8, unsigned_halves},
   {AGXC_OP_ULT, 8, unsigned_halves},
   {AGXC_OP_UGE, 8, unsigned_halves},
   {AGXC_OP_BITCOUNT, 8, unsigned_halves},
   {AGXC_OP_FIND_UMSB, 8, unsigned_halves},
   {AGXC_OP_ASHR, 8, signed_halves},
   {AGXC_OP_IMIN, 8, signed_halves},
   {AGXC_OP_IMAX, 8, signed_halves},
   {AGXC_OP_SLT, 8, signed_halves},
   {AGXC_OP_SGE, 8, signed_halves},
};

/* The rule for an instruction, or NULL if it stays. */
static const struct rule *rule_for(const struct agxc_instr *instr)
{
   const struct rule *rule = rules;
   while (rule < rules + AGX_COUNT(rules) && rule->op != instr->op)
      rule++;
   if (rule == rules + AGX_COUNT(rules))
      return NULL;
   bool is_field = agxc_has_src(instr, AGXC_SRC_BASE);
   unsigned bits = (is_field ? agxc_src_base(instr) : agxc_src_a(instr))->bits;
   return (bits == 8 || bits == 16) && bits <= rule->bits ? rule : NULL;
}

bool agxc_lower_narrow(struct agxc_shader *shader)
{
   bool progress = false;
   agxc_index(shader);
   agxc_foreach_instr_of_safe (instr, shader) {
      const struct rule *rule = rule_for(instr);
      if (!rule)
         continue;
      struct agxc_builder b = agxc_before(shader, instr);
      agxc_become_mov(shader, instr, rule->lower(&b, instr));
      progress = true;
   }
   return progress;
}
