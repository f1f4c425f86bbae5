/* SPDX-License-Identifier: MIT
 *
 * Arithmetic, logic and comparisons, component by component: one IR operation where op.def names
 * it, and the few that need more. handler.c calls the functions.
 */
#include "agx/compiler/spirv/handler_impl.h"

static unsigned bits_of(const struct agxc_ref *refs, const struct agxc_spv_type *type)
{
   return type->scalars ? refs[0].bits : 0;
}

static bool is_shift(uint16_t op)
{
   return op == AGXC_OP_ISHL || op == AGXC_OP_USHR || op == AGXC_OP_ASHR;
}

static bool is_conversion(const struct agxc_spv_alu *alu)
{
   return (alu->takes == AGXC_SPV_FLOAT && alu->gives == AGXC_SPV_INT) ||
          (alu->takes == AGXC_SPV_INT && alu->gives == AGXC_SPV_FLOAT);
}

/* Widths agree, but for conversions, amounts of shifts, and counts of bits. */
static void check_widths(struct agxc_spv *s, const struct agxc_spv_alu *alu, unsigned bits,
                         unsigned a, unsigned b)
{
   bool gives_other = alu->takes != alu->gives || alu->op == AGXC_OP_BITCOUNT;
   if ((!gives_other && a != bits) || (b && a != b && !is_shift(alu->op)))
      agxc_spv_invalid(s, "operands of %u and %u bits, result of %u", a, b ? b : a, bits);
}

struct agxc_ref agxc_spv_as_written(struct agxc_ref product)
{
   struct agxc_instr *def = product.kind == AGXC_VALUE ? product.value->def : NULL;
   if (def && (def->op == AGXC_OP_IMUL || def->op == AGXC_OP_ISHL))
      def->flags |= AGXC_INSTR_WRAPS;
   return product;
}

static struct agxc_ref alu_scalar(struct agxc_spv *s, const struct agxc_spv_alu *alu, unsigned bits,
                                  struct agxc_ref a, struct agxc_ref b)
{
   if (alu->op == AGXC_OP_BITCOUNT)
      return agxc_spv_resize(s, agxc_spv_build1(s, alu->op, a.bits, a), bits, false);
   if (b.kind == AGXC_NONE)
      return agxc_spv_build1(s, alu->op, bits, a);
   if (is_shift(alu->op))
      b = agxc_spv_resize(s, b, 32, false);
   struct agxc_ref out =
      alu->swap ? agxc_spv_build2(s, alu->op, b, a) : agxc_spv_build2(s, alu->op, a, b);
   return alu->negate ? agxc_spv_build1(s, AGXC_OP_INOT, 1, out) : agxc_spv_as_written(out);
}

void agxc_spv_op_alu(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_alu *alu = &agxc_spv_op_find(in->opcode)->alu;
   if (is_conversion(alu) && agxc_spv_converts_small_floats(s, in)) {
      agxc_spv_convert_small_floats(s, in);
      return;
   }
   struct agxc_spv_type *type = agxc_spv_result_type(s, in, alu->gives);
   const struct agxc_ref *a = agxc_spv_components(s, in, 0, alu->takes, type->scalars);
   const struct agxc_ref *b =
      alu->sources > 1 ? agxc_spv_components(s, in, 1, alu->takes, type->scalars) : NULL;
   unsigned bits = agxc_spv_component(type)->bits;
   check_widths(s, alu, bits, bits_of(a, type), b ? bits_of(b, type) : 0);
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++)
      out[i] = alu_scalar(s, alu, bits, a[i], b ? b[i] : agxc_none());
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
   const struct agxc_ref *a = agxc_spv_components(s, in, 0, AGXC_SPV_INT, n),
                         *b = agxc_spv_components(s, in, 1, AGXC_SPV_INT, n);
   unsigned bits = part->bits;
   if (a[0].bits != bits || b[0].bits != bits)
      agxc_spv_invalid(s, "operands of %u and %u bits, results of %u", a[0].bits, b[0].bits, bits);
   struct agxc_ref *out = agxc_spv_refs(s, 2 * n);
   for (uint32_t i = 0; i < n; i++) {
      struct agxc_ref *low = &out[i], *high = &out[n + i];
      switch (in->opcode) {
      case SpvOpIAddCarry:
         *low = agxc_spv_build2(s, AGXC_OP_IADD, a[i], b[i]);
         *high = agxc_spv_build2(s, AGXC_OP_ULT, *low, a[i]);
         *high = agxc_spv_build1(s, AGXC_OP_ZEXT, bits, *high);
         break;
      case SpvOpISubBorrow:
         *low = agxc_spv_build2(s, AGXC_OP_ISUB, a[i], b[i]);
         *high = agxc_spv_build2(s, AGXC_OP_ULT, a[i], b[i]);
         *high = agxc_spv_build1(s, AGXC_OP_ZEXT, bits, *high);
         break;
      default:
         *low = agxc_spv_as_written(agxc_spv_build2(s, AGXC_OP_IMUL, a[i], b[i]));
         *high = agxc_spv_build2(s, in->opcode == SpvOpUMulExtended ? AGXC_OP_UMULH : AGXC_OP_SMULH,
                                 a[i], b[i]);
      }
   }
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_any_all(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *from;
   struct agxc_ref *refs = agxc_spv_value(s, agxc_spv_operand(s, in, 0), &from);
   if (from->kind != AGXC_SPV_VECTOR || from->elem->kind != AGXC_SPV_BOOL)
      agxc_spv_invalid(s, "operand of type %u", from->id);
   struct agxc_ref out = refs[0];
   for (uint32_t i = 1; i < from->scalars; i++)
      out = agxc_spv_build2(s, in->opcode == SpvOpAny ? AGXC_OP_IOR : AGXC_OP_IAND, out, refs[i]);
   agxc_spv_define_scalar(s, in, AGXC_SPV_BOOL, out);
}

/* Less or greater: what "ordered and not equal" means. */
static struct agxc_ref differs(struct agxc_spv *s, struct agxc_ref a, struct agxc_ref b)
{
   struct agxc_ref less = agxc_spv_build2(s, AGXC_OP_FLT, a, b);
   return agxc_spv_build2(s, AGXC_OP_IOR, less, agxc_spv_build2(s, AGXC_OP_FLT, b, a));
}

void agxc_spv_op_float_test(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_result_type(s, in, AGXC_SPV_BOOL);
   const struct agxc_ref *a = agxc_spv_components(s, in, 0, AGXC_SPV_FLOAT, type->scalars), *b = a;
   if (in->opcode == SpvOpFOrdNotEqual || in->opcode == SpvOpFUnordEqual)
      b = agxc_spv_components(s, in, 1, AGXC_SPV_FLOAT, type->scalars);
   unsigned bits = bits_of(a, type);
   if (bits_of(b, type) != bits)
      agxc_spv_invalid(s, "operands of %u and %u bits", bits, bits_of(b, type));
   uint64_t infinity = bits == 16 ? 0x7c00 : bits == 32 ? 0x7f800000 : 0x7ffull << 52;
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   for (uint32_t i = 0; i < type->scalars; i++) {
      switch (in->opcode) {
      case SpvOpIsNan:
         out[i] = agxc_spv_build2(s, AGXC_OP_FNE, a[i], a[i]);
         break;
      case SpvOpIsInf:
         out[i] = agxc_spv_build2(s, AGXC_OP_IAND, a[i], agxc_imm(agx_bits(bits - 1), bits));
         out[i] = agxc_spv_build2(s, AGXC_OP_IEQ, out[i], agxc_imm(infinity, bits));
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
   struct agxc_spv_type *type = agxc_spv_result_type(s, in, AGXC_SPV_INT);
   bool inserts = in->opcode == SpvOpBitFieldInsert;
   const struct agxc_ref *base = agxc_spv_components(s, in, 0, AGXC_SPV_INT, type->scalars);
   const struct agxc_ref *insert =
      inserts ? agxc_spv_components(s, in, 1, AGXC_SPV_INT, type->scalars) : NULL;
   struct agxc_ref offset = agxc_spv_index(s, agxc_spv_operand(s, in, 1 + inserts));
   struct agxc_ref count = agxc_spv_index(s, agxc_spv_operand(s, in, 2 + inserts));
   struct agxc_ref *out = agxc_spv_refs(s, type->scalars);
   unsigned bits = agxc_spv_component(type)->bits;
   if (base[0].bits != bits || (inserts && insert[0].bits != bits))
      agxc_spv_invalid(s, "operand of %u bits, result of %u", base[0].bits, bits);
   bool is_unsigned = in->opcode == SpvOpBitFieldUExtract;
   for (uint32_t i = 0; i < type->scalars; i++) {
      if (inserts)
         out[i] = agxc_build_bfi(&s->b, base[i], insert[i], offset, count);
      else
         out[i] = is_unsigned ? agxc_build_ubfe(&s->b, base[i], offset, count)
                              : agxc_build_sbfe(&s->b, base[i], offset, count);
   }
   agxc_spv_define(s, in, out);
}

void agxc_spv_op_select(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id), *cond_type;
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

/* What is likely or sure serves no pass: a value goes through, and a condition ends up nowhere. */
void agxc_spv_op_expect(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   const struct agxc_spv_type *component, *type = agxc_spv_type_of(s, in->type_id);
   component = agxc_spv_component(type);
   if (!component || (component->kind != AGXC_SPV_BOOL && component->kind != AGXC_SPV_INT))
      agxc_spv_invalid(s, "of type %u, which has no booleans or integers", type->id);
   agxc_spv_value_like(s, agxc_spv_operand(s, in, 1), type);
   agxc_spv_define(s, in, agxc_spv_value_like(s, agxc_spv_operand(s, in, 0), type));
}

void agxc_spv_op_assume(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   agxc_spv_scalar(s, agxc_spv_operand(s, in, 0), AGXC_SPV_BOOL);
}

void agxc_spv_op_copy(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   bool is_handle = agxc_spv_type_is_handle(type);
   if (type->kind != AGXC_SPV_POINTER && !is_handle) {
      agxc_spv_define(s, in, agxc_spv_value_like(s, agxc_spv_operand(s, in, 0), type));
      return;
   }
   struct agxc_spv_pointer *p = agxc_spv_pointer_of(s, agxc_spv_operand(s, in, 0));
   if (p->type != (is_handle ? type : type->elem))
      agxc_spv_invalid(s, "copy of type %u, not %u", p->type->id, type->id);
   agxc_spv_define_pointer(s, in, p);
}
