/* SPDX-License-Identifier: MIT
 *
 * Operations without a row become ones that have one: divisions of floats, remainders, bit
 * fields of variable length.
 * Requires SSA; breaks nothing.
 */
#include "agx/compiler/lower/lower.h"

/* Within the 2.5 ulp that SPIR-V for Vulkan allows: rcp is 1 ulp off, the product half. */
static struct agxc_ref divide(struct agxc_builder *b, struct agxc_ref x, struct agxc_ref y)
{
   return agxc_build_fmul(b, x, agxc_build_frcp(b, y));
}

/* x - y round(x / y), the rounding being floor (FMOD) or trunc (FREM). */
static struct agxc_ref float_remainder(struct agxc_builder *b, enum agxc_op op, struct agxc_ref x,
                                       struct agxc_ref y)
{
   enum agxc_op round = op == AGXC_OP_FMOD ? AGXC_OP_FFLOOR : AGXC_OP_FTRUNC;
   struct agxc_ref whole = agxc_build1(b, round, 32, divide(b, x, y));
   struct agxc_ref negated = agxc_build_fneg(b, whole);
   return agxc_build_ffma(b, negated, y, x);
}

/* count ones from bit 0 up; a shift by 32 gives 0, so 32 gives all. */
static struct agxc_ref low_mask(struct agxc_builder *b, struct agxc_ref count)
{
   struct agxc_ref high = agxc_build_ishl(b, agxc_imm(0xffffffff, 32), count);
   return agxc_build_inot(b, high);
}

static bool is_short_constant(const struct agxc_ref *count)
{
   return count->kind == AGXC_IMM && count->imm >= 1 && count->imm <= 31;
}

static struct agxc_ref extract_unsigned(struct agxc_builder *b, const struct agxc_ref srcs[3])
{
   struct agxc_ref moved = agxc_build_ushr(b, srcs[0], srcs[1]);
   return agxc_build_iand(b, moved, low_mask(b, srcs[2]));
}

/* Up against bit 31, then down with the sign; an empty field is 0. */
static struct agxc_ref extract_signed(struct agxc_builder *b, const struct agxc_ref srcs[3])
{
   struct agxc_ref down = agxc_build_isub(b, agxc_imm(32, 32), srcs[2]);
   struct agxc_ref up = agxc_build_isub(b, down, srcs[1]);
   struct agxc_ref top = agxc_build_ishl(b, srcs[0], up);
   struct agxc_ref field = agxc_build_ashr(b, top, down);
   struct agxc_ref empty = agxc_build_ieq(b, srcs[2], agxc_imm(0, 32));
   return agxc_build_select(b, empty, agxc_imm(0, 32), field);
}

static struct agxc_ref insert_field(struct agxc_builder *b, const struct agxc_ref srcs[4])
{
   struct agxc_ref mask = agxc_build_ishl(b, low_mask(b, srcs[3]), srcs[2]);
   struct agxc_ref moved = agxc_build_ishl(b, srcs[1], srcs[2]);
   struct agxc_ref kept = agxc_build_iand(b, srcs[0], agxc_build_inot(b, mask));
   struct agxc_ref put = agxc_build_iand(b, moved, mask);
   return agxc_build_ior(b, kept, put);
}

/* Halves by way of floats: selection widens and rounds in the rows themselves. */
static struct agxc_ref lower_half(struct agxc_builder *b, const struct agxc_instr *instr)
{
   bool divides = instr->op == AGXC_OP_FDIV;
   if (!divides && instr->op != AGXC_OP_FMOD && instr->op != AGXC_OP_FREM)
      return agxc_none();
   struct agxc_ref x = agxc_build_f2f(b, 32, instr->operand[1]);
   struct agxc_ref y = agxc_build_f2f(b, 32, instr->operand[2]);
   struct agxc_ref wide =
      divides ? divide(b, x, y) : float_remainder(b, (enum agxc_op)instr->op, x, y);
   return agxc_build_f2f(b, 16, wide);
}

/* The replacement, or AGXC_NONE for what stays. */
static struct agxc_ref lower(struct agxc_builder *b, const struct agxc_instr *instr)
{
   const struct agxc_ref *srcs = agxc_srcs(instr);
   if (instr->dest_count == 1 && instr->operand[0].bits == 16)
      return lower_half(b, instr);
   if (instr->dest_count != 1 || instr->operand[0].bits != 32)
      return agxc_none();
   switch (instr->op) {
   case AGXC_OP_FDIV:
      return divide(b, srcs[0], srcs[1]);
   case AGXC_OP_FMOD:
   case AGXC_OP_FREM:
      return float_remainder(b, (enum agxc_op)instr->op, srcs[0], srcs[1]);
   case AGXC_OP_UBFE:
      return is_short_constant(&srcs[2]) ? agxc_none() : extract_unsigned(b, srcs);
   case AGXC_OP_SBFE:
      return extract_signed(b, srcs);
   case AGXC_OP_BFI:
      return is_short_constant(&srcs[3]) ? agxc_none() : insert_field(b, srcs);
   default:
      return agxc_none();
   }
}

bool agxc_lower_math(struct agxc_shader *shader)
{
   bool progress = false;
   agxc_index(shader);
   agxc_foreach_block (block, shader) {
      agxc_foreach_instr_safe (instr, block) {
         struct agxc_builder b = agxc_before(shader, instr);
         struct agxc_ref result = lower(&b, instr);
         if (result.kind == AGXC_NONE)
            continue;
         agxc_become_mov(shader, instr, result);
         progress = true;
      }
   }
   return progress;
}
