/* SPDX-License-Identifier: MIT
 *
 * Arithmetic, logic, comparisons and conversions, component by component.
 */
#include "agx/compiler/spirv_impl.h"

/* The result type, which must be a scalar or vector of that kind. */
static struct agxc_spv_type *result_type(struct agxc_spv *s, const struct agxc_spv_instr *in,
                                         enum agxc_spv_kind kind)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   const struct agxc_spv_type *component = agxc_spv_component(type);
   if (!component || component->kind != kind)
      agxc_spv_invalid(s, "result type %u has another kind of component", type->id);
   return type;
}

/* Operand i: count components of that kind. */
static struct agxc_ref *operand(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t i,
                                enum agxc_spv_kind kind, uint32_t count)
{
   struct agxc_spv_type *type;
   struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, i), &type);
   const struct agxc_spv_type *component = agxc_spv_component(type);
   if (!component || component->kind != kind || type->scalars != count)
      agxc_spv_invalid(s, "operand %u has type %u: %u components of another kind expected", i,
                       type->id, count);
   return refs;
}

void agxc_spv_op_alu(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_alu *alu = &agxc_spv_op_find(in->opcode)->alu;
   struct agxc_spv_type *type = result_type(s, in, alu->gives);
   const struct agxc_ref *a = operand(s, in, 0, alu->takes, type->scalars);
   const struct agxc_ref *b =
      alu->sources > 1 ? operand(s, in, 1, alu->takes, type->scalars) : NULL;
   const struct agxc_ref *first = alu->swap ? b : a, *second = alu->swap ? a : b;
   unsigned bits = agxc_spv_component(type)->bits;
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++) {
      out[i] = b ? agxc_spv_build2(s, alu->op, bits, first[i], second[i])
                 : agxc_spv_build1(s, alu->op, bits, a[i]);
      if (alu->negate)
         out[i] = agxc_spv_build1(s, AGXC_OP_INOT, 1, out[i]);
   }
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_bitcast(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id), *from;
   struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &from);
   const struct agxc_spv_type *a = agxc_spv_component(type), *b = agxc_spv_component(from);
   if (!a || !b || a->bits != b->bits || type->scalars != from->scalars || a->kind == AGXC_SPV_BOOL)
      agxc_spv_invalid(s, "from type %u to type %u", from->id, type->id);
   agxc_spv_define(s, in, refs);
}

/* All numbers have 32 bits so far: changing width changes nothing. */
void agxc_spv_op_convert_int(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type =
      result_type(s, in, in->opcode == SpvOpFConvert ? AGXC_SPV_FLOAT : AGXC_SPV_INT);
   agxc_spv_define(s, in, operand(s, in, 0, agxc_spv_component(type)->kind, type->scalars));
}

void agxc_spv_op_quantize(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = result_type(s, in, AGXC_SPV_FLOAT);
   const struct agxc_ref *a = operand(s, in, 0, AGXC_SPV_FLOAT, type->scalars);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++) {
      struct agxc_ref half = agxc_spv_build1(s, AGXC_OP_F2F, 16, a[i]);
      struct agxc_ref wide = agxc_spv_build1(s, AGXC_OP_F2F, 32, half);
      /* Denormal halves become zero with the sign kept. */
      struct agxc_ref size = agxc_spv_build1(s, AGXC_OP_FABS, 32, a[i]);
      struct agxc_ref small =
         agxc_spv_build2(s, AGXC_OP_FLT, 1, size, agxc_spv_f32(6.103515625e-05f));
      struct agxc_ref sign = agxc_spv_build2(s, AGXC_OP_IAND, 32, a[i], agxc_spv_u32(0x80000000u));
      out[i] = agxc_spv_select(s, small, sign, wide);
   }
   agxc_spv_define(s, in, out);
}

/* Two results in a struct: low and high, or sum and carry. */
void agxc_spv_op_extended(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   const struct agxc_spv_type *part = type->kind == AGXC_SPV_STRUCT && type->count == 2
                                         ? agxc_spv_component(type->members[0].type)
                                         : NULL;
   if (!part || part->kind != AGXC_SPV_INT || type->members[1].type != type->members[0].type)
      agxc_spv_invalid(s, "result type %u is no pair of integers", type->id);
   uint32_t n = type->members[0].type->scalars;
   const struct agxc_ref *a = operand(s, in, 0, AGXC_SPV_INT, n),
                         *b = operand(s, in, 1, AGXC_SPV_INT, n);
   struct agxc_ref *out = agxc_spv_refs(s, 2 * n);
   for (uint32_t i = 0; i < n; i++) {
      struct agxc_ref *low = &out[i], *high = &out[n + i];
      switch (in->opcode) {
      case SpvOpIAddCarry:
         *low = agxc_spv_build2(s, AGXC_OP_IADD, 32, a[i], b[i]);
         *high = agxc_spv_build2(s, AGXC_OP_ULT, 1, *low, a[i]);
         *high = agxc_spv_build1(s, AGXC_OP_ZEXT, 32, *high);
         break;
      case SpvOpISubBorrow:
         *low = agxc_spv_build2(s, AGXC_OP_ISUB, 32, a[i], b[i]);
         *high = agxc_spv_build2(s, AGXC_OP_ULT, 1, a[i], b[i]);
         *high = agxc_spv_build1(s, AGXC_OP_ZEXT, 32, *high);
         break;
      default:
         *low = agxc_spv_build2(s, AGXC_OP_IMUL, 32, a[i], b[i]);
         *high = agxc_spv_build2(s, in->opcode == SpvOpUMulExtended ? AGXC_OP_UMULH : AGXC_OP_SMULH,
                                 32, a[i], b[i]);
      }
   }
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_any_all(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = result_type(s, in, AGXC_SPV_BOOL), *from;
   struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &from);
   if (type->scalars != 1 || from->kind != AGXC_SPV_VECTOR || from->elem->kind != AGXC_SPV_BOOL)
      agxc_spv_invalid(s, "operand of type %u", from->id);
   struct agxc_ref *out = agxc_spv_refs(s, 1);
   out[0] = refs[0];
   for (uint32_t i = 1; i < from->scalars; i++)
      out[0] = agxc_spv_build2(s, in->opcode == SpvOpAny ? AGXC_OP_IOR : AGXC_OP_IAND, 1, out[0],
                               refs[i]);
   agxc_spv_define(s, in, out);
}

/* Less or greater: what "ordered and not equal" means. */
static struct agxc_ref differs(struct agxc_spv *s, struct agxc_ref a, struct agxc_ref b)
{
   struct agxc_ref less = agxc_spv_build2(s, AGXC_OP_FLT, 1, a, b);
   return agxc_spv_build2(s, AGXC_OP_IOR, 1, less, agxc_spv_build2(s, AGXC_OP_FLT, 1, b, a));
}

void agxc_spv_op_float_test(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = result_type(s, in, AGXC_SPV_BOOL);
   const struct agxc_ref *a = operand(s, in, 0, AGXC_SPV_FLOAT, type->scalars), *b = a;
   if (in->opcode == SpvOpFOrdNotEqual || in->opcode == SpvOpFUnordEqual)
      b = operand(s, in, 1, AGXC_SPV_FLOAT, type->scalars);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++) {
      switch (in->opcode) {
      case SpvOpIsNan:
         out[i] = agxc_spv_build2(s, AGXC_OP_FNE, 1, a[i], a[i]);
         break;
      case SpvOpIsInf:
         out[i] = agxc_spv_build2(s, AGXC_OP_IAND, 32, a[i], agxc_spv_u32(0x7fffffffu));
         out[i] = agxc_spv_build2(s, AGXC_OP_IEQ, 1, out[i], agxc_spv_u32(0x7f800000u));
         break;
      case SpvOpFOrdNotEqual:
         out[i] = differs(s, a[i], b[i]);
         break;
      default:
         out[i] = agxc_spv_build1(s, AGXC_OP_INOT, 1, differs(s, a[i], b[i]));
      }
   }
   agxc_spv_define(s, in, out);
}

/* Insert: base, insert, offset, count. Extract: base, offset, count. */
void agxc_spv_op_bit_field(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = result_type(s, in, AGXC_SPV_INT);
   bool inserts = in->opcode == SpvOpBitFieldInsert;
   const struct agxc_ref *base = operand(s, in, 0, AGXC_SPV_INT, type->scalars);
   const struct agxc_ref *insert = inserts ? operand(s, in, 1, AGXC_SPV_INT, type->scalars) : NULL;
   struct agxc_ref offset = agxc_spv_scalar(s, agxc_spv_operand(s, in, 1 + inserts), AGXC_SPV_INT);
   struct agxc_ref count = agxc_spv_scalar(s, agxc_spv_operand(s, in, 2 + inserts), AGXC_SPV_INT);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++) {
      if (inserts) {
         struct agxc_ref srcs[] = {base[i], insert[i], offset, count};
         out[i] = agxc_spv_emit(s, AGXC_OP_BFI, 32, 1, 4, srcs, 0, NULL);
      } else {
         out[i] =
            agxc_spv_build3(s, in->opcode == SpvOpBitFieldUExtract ? AGXC_OP_UBFE : AGXC_OP_SBFE,
                            32, base[i], offset, count);
      }
   }
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_select(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id), *cond_type;
   if (type->kind == AGXC_SPV_POINTER)
      agxc_spv_missing(s, "select of pointers (capability VariablePointers)");
   struct agxc_ref *cond = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &cond_type);
   const struct agxc_spv_type *component = agxc_spv_component(cond_type);
   bool fits = component && component->kind == AGXC_SPV_BOOL &&
               (cond_type->scalars == 1 ||
                (type->kind == AGXC_SPV_VECTOR && cond_type->scalars == type->scalars));
   if (!fits)
      agxc_spv_invalid(s, "condition of type %u", cond_type->id);
   const struct agxc_ref *yes = agxc_spv_value_like(s, agxc_spv_operand(s, in, 1), type);
   const struct agxc_ref *no = agxc_spv_value_like(s, agxc_spv_operand(s, in, 2), type);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      out[i] = agxc_spv_select(s, cond[cond_type->scalars == 1 ? 0 : i], yes[i], no[i]);
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_copy(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   if (type->kind != AGXC_SPV_POINTER) {
      agxc_spv_define(s, in, agxc_spv_value_like(s, agxc_spv_operand(s, in, 0), type));
      return;
   }
   struct agxc_spv_pointer *p = agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 0));
   if (p->type != type->elem)
      agxc_spv_invalid(s, "copy of a pointer to type %u", p->type->id);
   agxc_spv_define_pointer(s, in, p);
}
