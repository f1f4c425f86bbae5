/* SPDX-License-Identifier: MIT
 *
 * Conversions between widths, and bit patterns seen as other types. handler.c calls the functions.
 */
#include "agx/compiler/spirv/handler_impl.h"

void agxc_spv_op_convert_int(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_result_type(s, in, AGXC_SPV_INT);
   const struct agxc_ref *refs = agxc_spv_components(s, in, 0, AGXC_SPV_INT, type->scalars);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      out[i] =
         agxc_spv_resize(s, refs[i], agxc_spv_component(type)->bits, in->opcode == SpvOpSConvert);
   agxc_spv_define(s, in, out);
}

/* ---- floats ------------------------------------------------------------ */

/* To fewer bits, toward zero: rounding to nearest may have gone one step too far out. Source:
 * docs/hw/idioms.md 1. */
struct agxc_ref agxc_spv_narrow_toward_zero(struct agxc_spv *s, unsigned bits, struct agxc_ref x)
{
   struct agxc_ref narrow = agxc_spv_build1(s, AGXC_OP_F2F, bits, x);
   struct agxc_ref wide = agxc_spv_build1(s, AGXC_OP_F2F, x.bits, narrow);
   struct agxc_ref beyond = agxc_spv_build1(s, AGXC_OP_FABS, x.bits, wide);
   beyond = agxc_spv_build2(s, AGXC_OP_FLT, agxc_spv_build1(s, AGXC_OP_FABS, x.bits, x), beyond);
   struct agxc_ref inner = agxc_spv_build2(s, AGXC_OP_ISUB, narrow, agxc_imm(1, bits));
   return agxc_spv_select(s, beyond, inner, narrow);
}

void agxc_spv_op_convert_float(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   if (agxc_spv_converts_small_floats(s, in)) {
      agxc_spv_convert_small_floats(s, in);
      return;
   }
   struct agxc_spv_type *type = agxc_spv_result_type(s, in, AGXC_SPV_FLOAT);
   const struct agxc_ref *refs = agxc_spv_components(s, in, 0, AGXC_SPV_FLOAT, type->scalars);
   const struct agxc_spv_decoration *d =
      agxc_spv_decoration(agxc_spv_id(s, in->id), SpvDecorationFPRoundingMode);
   if (d && d->value != SpvFPRoundingModeRTE && d->value != SpvFPRoundingModeRTZ)
      agxc_spv_missing(s, "FPRoundingMode %s is not supported: use RTE or RTZ",
                       d->value == SpvFPRoundingModeRTP ? "RTP" : "RTN");
   bool toward_zero = d && d->value == SpvFPRoundingModeRTZ;
   unsigned bits = agxc_spv_component(type)->bits;
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++) {
      if (refs[i].bits == bits)
         out[i] = refs[i];
      else if (bits < refs[i].bits && toward_zero)
         out[i] = agxc_spv_narrow_toward_zero(s, bits, refs[i]);
      else
         out[i] = agxc_spv_build1(s, AGXC_OP_F2F, bits, refs[i]);
   }
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_quantize(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_result_type(s, in, AGXC_SPV_FLOAT);
   const struct agxc_ref *a = agxc_spv_components(s, in, 0, AGXC_SPV_FLOAT, type->scalars);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++) {
      if (a[i].bits != 32)
         agxc_spv_invalid(s, "floats of %u bits", a[i].bits);
      struct agxc_ref half = agxc_spv_build1(s, AGXC_OP_F2F, 16, a[i]);
      struct agxc_ref wide = agxc_spv_build1(s, AGXC_OP_F2F, 32, half);
      /* Denormal halves become zero with the sign kept. */
      struct agxc_ref size = agxc_spv_build1(s, AGXC_OP_FABS, 32, a[i]);
      struct agxc_ref small = agxc_spv_build2(s, AGXC_OP_FLT, size, agxc_spv_f32(6.103515625e-05f));
      struct agxc_ref sign = agxc_spv_build2(s, AGXC_OP_IAND, a[i], agxc_spv_u32(0x80000000u));
      out[i] = agxc_spv_select(s, small, sign, wide);
   }
   agxc_spv_define(s, in, out);
}

/* ---- bit patterns ------------------------------------------------------ */

/* The two halves of a number of 16 to 64 bits. */
static void halve(struct agxc_spv *s, struct agxc_ref ref, struct agxc_ref out[2])
{
   unsigned bits = ref.bits / 2;
   if (bits >= 16) {
      agxc_spv_unpack(s, ref, &out[0], &out[1]);
      return;
   }
   out[0] = agxc_spv_build1(s, AGXC_OP_TRUNC, bits, ref);
   out[1] = agxc_spv_build2(s, AGXC_OP_USHR, ref, agxc_spv_u32(bits));
   out[1] = agxc_spv_build1(s, AGXC_OP_TRUNC, bits, out[1]);
}

static struct agxc_ref join(struct agxc_spv *s, struct agxc_ref low, struct agxc_ref high)
{
   unsigned bits = low.bits * 2u;
   if (bits == 64)
      return agxc_spv_build2(s, AGXC_OP_PACK64, low, high);
   if (bits == 32)
      return agxc_spv_build2(s, AGXC_OP_PACK32, low, high);
   high = agxc_spv_build1(s, AGXC_OP_ZEXT, bits, high);
   high = agxc_spv_build2(s, AGXC_OP_ISHL, high, agxc_spv_u32(low.bits));
   return agxc_spv_build2(s, AGXC_OP_IOR, agxc_spv_build1(s, AGXC_OP_ZEXT, bits, low), high);
}

#define MAX_PARTS 32 /* of 8 bits in four of 64 */

void agxc_spv_op_bitcast(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id), *from;
   struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &from);
   if (type->kind == AGXC_SPV_COOPERATIVE && agxc_spv_same_shape(type, from)) {
      agxc_spv_define(s, in, refs);
      return;
   }
   const struct agxc_spv_type *a = agxc_spv_component(type), *b = agxc_spv_component(from);
   a = agxc_spv_type_is_address(type) ? type : a;
   b = agxc_spv_type_is_address(from) ? from : b;
   if (!a || !b || a->bits * type->scalars != b->bits * from->scalars || a->kind == AGXC_SPV_BOOL ||
       b->kind == AGXC_SPV_BOOL || type->kind == AGXC_SPV_COOPERATIVE ||
       from->kind == AGXC_SPV_COOPERATIVE)
      agxc_spv_invalid(s, "from type %u to type %u", from->id, type->id);
   struct agxc_ref parts[MAX_PARTS];
   uint32_t n = from->scalars;
   memcpy(parts, refs, n * sizeof(*parts));
   for (; n < type->scalars; n *= 2)
      for (uint32_t i = n; i-- > 0;)
         halve(s, parts[i], parts + 2 * i);
   for (; n > type->scalars; n /= 2)
      for (uint32_t i = 0; i < n / 2; i++)
         parts[i] = join(s, parts[2 * i], parts[2 * i + 1]);
   struct agxc_ref *out = agxc_spv_refs(s, n);
   memcpy(out, parts, n * sizeof(*out));
   agxc_spv_define(s, in, out);
}
