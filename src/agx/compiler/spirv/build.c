/* SPDX-License-Identifier: MIT
 *
 * Builders of IR instructions. They fold integer constants, so that OpSpecConstantOp, which has no
 * block to build into, may run the handlers of function bodies; and they mark what must be computed
 * as written. All handlers call them.
 */
#include "agx/compiler/ir/fold.h"
#include "agx/compiler/spirv/value_impl.h"

struct agxc_ref *agxc_spv_refs(struct agxc_spv *s, uint32_t count)
{
   return AGX_ARENA_ARRAY(s->arena, struct agxc_ref, AGX_MAX(count, 1u));
}

struct agxc_ref agxc_spv_f32(float value)
{
   uint32_t bits;
   memcpy(&bits, &value, sizeof(bits));
   return agxc_imm(bits, 32);
}

/* Floats are folded only where there is no block to compute them in: opt_algebraic folds the rest,
 * as modes and decorations say. */
static struct agxc_ref folded(struct agxc_spv *s, enum agxc_op op, unsigned bits, struct agxc_ref a,
                              struct agxc_ref b)
{
   struct agxc_ref result = agxc_fold(op, bits, a, b);
   return result.kind == AGXC_NONE && !s->b.block ? agxc_fold_float(op, bits, a, b) : result;
}

static void check_place(struct agxc_spv *s)
{
   if (s->b.block)
      return;
   uint32_t opcode =
      s->now.opcode == SpvOpSpecConstantOp ? agxc_spv_operand(s, &s->now, 0) : s->now.opcode;
   agxc_spv_missing(
      s, "Op%s of these constants is not supported: write its value, or compute it in a function",
      agxc_spv_name(AGXC_SPV_NAME_OPCODE, opcode));
}

struct agxc_ref agxc_spv_build1(struct agxc_spv *s, enum agxc_op op, unsigned bits,
                                struct agxc_ref a)
{
   struct agxc_ref constant = folded(s, op, bits, a, agxc_none());
   if (constant.kind != AGXC_NONE)
      return constant;
   check_place(s);
   return agxc_spv_apply_float_modes(s, agxc_build1(&s->b, op, bits, a));
}

struct agxc_ref agxc_spv_resize(struct agxc_spv *s, struct agxc_ref ref, unsigned bits,
                                bool is_signed)
{
   if (ref.bits == bits)
      return ref;
   enum agxc_op widen = is_signed ? AGXC_OP_SEXT : AGXC_OP_ZEXT;
   return agxc_spv_build1(s, ref.bits > bits ? AGXC_OP_TRUNC : widen, bits, ref);
}

/* x + 0, x * 1, x << 0 and their like: offsets are full of them. */
static bool is_neutral(enum agxc_op op, struct agxc_ref b)
{
   if (b.kind != AGXC_IMM)
      return false;
   if (op == AGXC_OP_IMUL)
      return b.imm == 1;
   return b.imm == 0 &&
          (op == AGXC_OP_IADD || op == AGXC_OP_ISUB || op == AGXC_OP_ISHL || op == AGXC_OP_UMAX);
}

/* As ir_op.def says: comparisons give a boolean, packs twice the bits. */
static unsigned result_bits(enum agxc_op op, struct agxc_ref a)
{
   if (op >= AGXC_OP_IEQ && op <= AGXC_OP_FGE)
      return 1;
   return op == AGXC_OP_PACK64 || op == AGXC_OP_PACK32 ? 2u * a.bits : a.bits;
}

struct agxc_ref agxc_spv_build2(struct agxc_spv *s, enum agxc_op op, struct agxc_ref a,
                                struct agxc_ref b)
{
   unsigned bits = result_bits(op, a);
   struct agxc_ref constant = folded(s, op, bits, a, b);
   if (constant.kind != AGXC_NONE)
      return constant;
   if (is_neutral(op, b))
      return a;
   check_place(s);
   return agxc_spv_apply_float_modes(s, agxc_build2(&s->b, op, bits, a, b));
}

struct agxc_ref agxc_spv_build3(struct agxc_spv *s, enum agxc_op op, unsigned bits,
                                struct agxc_ref a, struct agxc_ref b, struct agxc_ref c)
{
   check_place(s);
   return agxc_spv_apply_float_modes(s, agxc_build3(&s->b, op, bits, a, b, c));
}

struct agxc_ref agxc_spv_select(struct agxc_spv *s, struct agxc_ref cond, struct agxc_ref yes,
                                struct agxc_ref no)
{
   if (cond.kind == AGXC_IMM)
      return cond.imm ? yes : no;
   return agxc_spv_build3(s, AGXC_OP_SELECT, yes.bits, cond, yes, no);
}

void agxc_spv_unpack(struct agxc_spv *s, struct agxc_ref wide, struct agxc_ref *low,
                     struct agxc_ref *high)
{
   unsigned bits = wide.bits / 2;
   if (wide.kind == AGXC_IMM) {
      *low = agxc_imm((uint64_t)wide.imm, bits);
      *high = agxc_imm((uint64_t)wide.imm >> bits, bits);
      return;
   }
   check_place(s);
   const struct agxc_instr *unpack =
      bits == 32 ? agxc_build_unpack64(&s->b, wide) : agxc_build_unpack32(&s->b, wide);
   *low = *agxc_dest_low(unpack);
   *high = *agxc_dest_high(unpack);
}

struct agxc_ref agxc_spv_build_alu(struct agxc_spv *s, enum agxc_op op, unsigned bits,
                                   unsigned count, const struct agxc_ref *sources)
{
   struct agxc_ref dest = agxc_build(&s->b, op, bits, 1, count, sources);
   bool is_float = op >= AGXC_OP_FADD && op <= AGXC_OP_FCOS;
   return is_float ? agxc_spv_apply_float_modes(s, dest) : dest;
}
