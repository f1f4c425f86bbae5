/* SPDX-License-Identifier: MIT
 *
 * Float divisions and remainders and bit fields of variable length become operations that the
 * machine has.
 *
 *    before   %2 = fdiv %0, %1
 *    after    %3 = frcp %1        %2 = fmul %0, %3
 *
 * The pass is the last one that replaces operations by others, since the ones before it leave bit
 * fields. Everything behind it, from the opt_algebraic that follows to selection, sees only
 * operations that selection knows.
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
   struct agxc_ref high = agxc_build_ishl(b, agxc_u32(0xffffffff), count);
   return agxc_build_inot(b, high);
}

static bool is_short_constant(const struct agxc_ref *count)
{
   return count->kind == AGXC_IMM && count->imm >= 1 && count->imm <= 31;
}

static struct agxc_ref extract_unsigned(struct agxc_builder *b, const struct agxc_instr *field)
{
   struct agxc_ref moved = agxc_build_ushr(b, *agxc_src_base(field), *agxc_src_start(field));
   return agxc_build_iand(b, moved, low_mask(b, *agxc_src_width(field)));
}

/* Up against bit 31, then down with the sign; an empty field is 0. */
static struct agxc_ref extract_signed(struct agxc_builder *b, const struct agxc_instr *instr)
{
   struct agxc_ref width = *agxc_src_width(instr), zero = agxc_u32(0);
   struct agxc_ref down = agxc_build_isub(b, agxc_u32(32), width);
   struct agxc_ref up = agxc_build_isub(b, down, *agxc_src_start(instr));
   struct agxc_ref top = agxc_build_ishl(b, *agxc_src_base(instr), up);
   struct agxc_ref field = agxc_build_ashr(b, top, down);
   struct agxc_ref empty = agxc_build_ieq(b, width, zero);
   return agxc_build_select(b, empty, zero, field);
}

static struct agxc_ref insert_field(struct agxc_builder *b, const struct agxc_instr *field)
{
   struct agxc_ref start = *agxc_src_start(field);
   struct agxc_ref mask = agxc_build_ishl(b, low_mask(b, *agxc_src_width(field)), start);
   struct agxc_ref moved = agxc_build_ishl(b, *agxc_src_insert(field), start);
   struct agxc_ref kept = agxc_build_iand(b, *agxc_src_base(field), agxc_build_inot(b, mask));
   struct agxc_ref put = agxc_build_iand(b, moved, mask);
   return agxc_build_ior(b, kept, put);
}

/* Halves by way of floats: selection folds the conversions into the instructions. */
static struct agxc_ref lower_half(struct agxc_builder *b, const struct agxc_instr *instr)
{
   bool divides = instr->op == AGXC_OP_FDIV;
   if (!divides && instr->op != AGXC_OP_FMOD && instr->op != AGXC_OP_FREM)
      return agxc_none();
   struct agxc_ref x = agxc_build_f2f(b, 32, *agxc_src_a(instr));
   struct agxc_ref y = agxc_build_f2f(b, 32, *agxc_src_b(instr));
   struct agxc_ref wide =
      divides ? divide(b, x, y) : float_remainder(b, (enum agxc_op)instr->op, x, y);
   return agxc_build_f2f(b, 16, wide);
}

/* The replacement, or AGXC_NONE for what stays. */
static struct agxc_ref lower(struct agxc_builder *b, const struct agxc_instr *instr)
{
   if (instr->dest_count == 1 && agxc_dest(instr)->bits == 16)
      return lower_half(b, instr);
   if (instr->dest_count != 1 || agxc_dest(instr)->bits != 32)
      return agxc_none();
   switch (instr->op) {
   case AGXC_OP_FDIV:
      return divide(b, *agxc_src_a(instr), *agxc_src_b(instr));
   case AGXC_OP_FMOD:
   case AGXC_OP_FREM:
      return float_remainder(b, (enum agxc_op)instr->op, *agxc_src_a(instr), *agxc_src_b(instr));
   case AGXC_OP_UBFE:
      return is_short_constant(agxc_src_width(instr)) ? agxc_none() : extract_unsigned(b, instr);
   case AGXC_OP_SBFE:
      return extract_signed(b, instr);
   case AGXC_OP_BFI:
      return is_short_constant(agxc_src_width(instr)) ? agxc_none() : insert_field(b, instr);
   default:
      return agxc_none();
   }
}

bool agxc_lower_math(struct agxc_shader *shader)
{
   bool progress = false;
   agxc_index(shader);
   agxc_foreach_instr_of_safe (instr, shader) {
      struct agxc_builder b = agxc_before(shader, instr);
      struct agxc_ref result = lower(&b, instr);
      if (result.kind == AGXC_NONE)
         continue;
      agxc_become_mov(shader, instr, result);
      progress = true;
   }
   return progress;
}
