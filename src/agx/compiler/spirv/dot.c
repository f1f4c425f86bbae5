/* SPDX-License-Identifier: MIT
 *
 * Integer dot products (SPV_KHR_integer_dot_product, SPIR-V 1.6): of vectors of any width, and
 * of four bytes packed into a word, with or without a saturating sum.
 *
 * No machine instruction computes them. Bytes come from the two halves of a word, which cost
 * nothing to name: the low byte by a mask (or the sign extension of 8 bits), the high one by one
 * shift. Extended halves are free as factors, so each product is one multiply-add.
 *
 * And dot products of 16-bit floats with a sum of 32 or 16 (SPV_VALVE_mixed_float_dot_product).
 */
#include "agx/compiler/spirv/handler_impl.h"

#define PACKED_4X8 0 /* PackedVectorFormat4x8Bit */

/* The four bytes of a word as halves. */
static void unpack_bytes(struct agxc_spv *s, struct agxc_ref word, bool is_signed,
                         struct agxc_ref out[4])
{
   struct agxc_ref half[2];
   if (word.kind == AGXC_IMM) {
      for (unsigned i = 0; i < 4; i++) {
         int64_t byte = word.imm >> 8 * i & 0xff;
         out[i] = agxc_imm((uint64_t)(is_signed ? (int8_t)byte : byte), 16);
      }
      return;
   }
   agxc_spv_unpack(s, word, &half[0], &half[1]);
   for (unsigned i = 0; i < 2; i++) {
      struct agxc_ref eight = agxc_spv_u32(8);
      if (is_signed) {
         out[2 * i] = agxc_spv_build2(s, AGXC_OP_ISHL, half[i], eight);
         out[2 * i] = agxc_spv_build2(s, AGXC_OP_ASHR, out[2 * i], eight);
         out[2 * i + 1] = agxc_spv_build2(s, AGXC_OP_ASHR, half[i], eight);
      } else {
         out[2 * i] = agxc_spv_build2(s, AGXC_OP_IAND, half[i], agxc_imm(0xff, 16));
         out[2 * i + 1] = agxc_spv_build2(s, AGXC_OP_USHR, half[i], eight);
      }
   }
}

/* The elements of operand i, extended to `bits`; returns how many. */
static uint32_t elements(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i,
                         bool is_packed, bool is_signed, unsigned bits, struct agxc_ref out[4])
{
   struct agxc_spv_type *type;
   const struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, i), &type);
   bool fits = is_packed ? type->kind == AGXC_SPV_INT && type->bits == 32
                         : type->kind == AGXC_SPV_VECTOR && type->elem->kind == AGXC_SPV_INT &&
                              type->elem->bits <= bits;
   if (!fits)
      agxc_spv_invalid(s, "operand %u of type %u", i, type->id);
   if (is_packed)
      unpack_bytes(s, refs[0], is_signed, out);
   else
      memcpy(out, refs, type->count * sizeof(*out));
   uint32_t count = is_packed ? 4 : type->count;
   for (uint32_t j = 0; j < count; j++)
      out[j] = agxc_spv_resize(s, out[j], bits, is_signed);
   return count;
}

struct agxc_ref agxc_spv_add_limited(struct agxc_spv *s, struct agxc_ref a, struct agxc_ref b,
                                     bool is_signed, unsigned bits)
{
   unsigned wide = a.bits;
   struct agxc_ref sum = agxc_spv_build2(s, AGXC_OP_IADD, a, b);
   uint64_t top = 1ull << (bits - 1);
   if (bits < wide) {
      if (!is_signed)
         return agxc_spv_build2(s, AGXC_OP_UMIN, sum, agxc_imm(2 * top - 1, wide));
      sum = agxc_spv_build2(s, AGXC_OP_IMIN, sum, agxc_imm(top - 1, wide));
      return agxc_spv_build2(s, AGXC_OP_IMAX, sum, agxc_imm(0 - top, wide));
   }
   if (!is_signed) {
      struct agxc_ref wraps = agxc_spv_build2(s, AGXC_OP_ULT, sum, a);
      return agxc_spv_select(s, wraps, agxc_imm(~0ull, wide), sum);
   }
   /* It overflows when both have one sign and the sum another; then it is the other end. */
   struct agxc_ref x = agxc_spv_build2(s, AGXC_OP_IXOR, sum, a);
   struct agxc_ref y = agxc_spv_build2(s, AGXC_OP_IXOR, sum, b);
   struct agxc_ref both = agxc_spv_build2(s, AGXC_OP_IAND, x, y);
   struct agxc_ref overflows = agxc_spv_build2(s, AGXC_OP_SLT, both, agxc_imm(0, wide));
   struct agxc_ref sign = agxc_spv_build2(s, AGXC_OP_ASHR, a, agxc_spv_u32(wide - 1));
   struct agxc_ref end = agxc_spv_build2(s, AGXC_OP_IXOR, sign, agxc_imm(top - 1, wide));
   return agxc_spv_select(s, overflows, end, sum);
}

void agxc_spv_op_integer_dot(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   uint32_t variant = agxc_spv_op_find(in->opcode)->variant;
   bool is_signed = variant & AGXC_SPV_DOT_FIRST_SIGNED;
   bool saturates = variant & AGXC_SPV_DOT_SATURATES;
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   if (type->kind != AGXC_SPV_INT)
      agxc_spv_invalid(s, "result type %u is no integer", type->id);
   uint32_t format_at = saturates ? 3 : 2;
   bool is_packed = agxc_spv_operand_count(in) > format_at;
   if (is_packed && agxc_spv_operand(s, in, format_at) != PACKED_4X8)
      agxc_spv_missing(s,
                       "packed vector format %u is not supported: use PackedVectorFormat4x8Bit (0)",
                       agxc_spv_operand(s, in, format_at));
   /* Results of fewer bits are the low ones of 32. */
   unsigned bits = AGX_MAX(type->bits, 32);
   struct agxc_ref a[4], b[4], sum = agxc_none();
   uint32_t count = elements(s, in, 0, is_packed, is_signed, bits, a);
   if (elements(s, in, 1, is_packed, variant & AGXC_SPV_DOT_SECOND_SIGNED, bits, b) != count)
      agxc_spv_invalid(s, "vectors of different lengths");
   for (uint32_t i = 0; i < count; i++) {
      struct agxc_ref product = agxc_spv_build2(s, AGXC_OP_IMUL, a[i], b[i]);
      sum = i ? agxc_spv_build2(s, AGXC_OP_IADD, sum, product) : product;
   }
   if (saturates) {
      struct agxc_ref start = agxc_spv_value_like(s, agxc_spv_operand(s, in, 2), type)[0];
      sum = agxc_spv_add_limited(s, sum, agxc_spv_resize(s, start, bits, is_signed), is_signed,
                                 type->bits);
   }
   agxc_spv_define_scalar(s, in, AGXC_SPV_INT, agxc_spv_resize(s, sum, type->bits, false));
}

/* Products of halves are exact in 32 bits, in which they are added. */
void agxc_spv_op_float_dot(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   const struct agxc_ref *a = agxc_spv_components(s, in, 0, AGXC_SPV_FLOAT, 2);
   const struct agxc_ref *b = agxc_spv_components(s, in, 1, AGXC_SPV_FLOAT, 2);
   unsigned bits = in->opcode == SpvOpFDot2MixAcc32VALVE ? 32 : 16;
   if (type->kind != AGXC_SPV_FLOAT || type->bits != bits || a[0].bits != 16 || b[0].bits != 16)
      agxc_spv_invalid(s, "of %u and %u bits to type %u", a[0].bits, b[0].bits, type->id);
   struct agxc_ref sum = agxc_spv_value_like(s, agxc_spv_operand(s, in, 2), type)[0];
   if (bits == 16)
      sum = agxc_spv_build1(s, AGXC_OP_F2F, 32, sum);
   for (uint32_t i = 0; i < 2; i++)
      sum = agxc_spv_build3(s, AGXC_OP_FFMA, 32, agxc_spv_build1(s, AGXC_OP_F2F, 32, a[i]),
                            agxc_spv_build1(s, AGXC_OP_F2F, 32, b[i]), sum);
   if (bits == 16)
      sum = agxc_spv_build1(s, AGXC_OP_F2F, 16, sum);
   agxc_spv_define_scalar(s, in, AGXC_SPV_FLOAT, sum);
}
