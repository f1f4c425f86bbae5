/* SPDX-License-Identifier: MIT
 *
 * Constants, which become immediates here, and specialization constants, which take
 * the caller's values. OpSpecConstantOp and composites run the handlers of function bodies, which
 * lie above, through s->run_instruction; with no block to build into, they must fold.
 */
#include "agx/compiler/spirv/handler_impl.h"
#include "agx/compiler/spirv/module_impl.h"

/* The caller's value of a specialization constant, or the module's. */
static uint64_t specialized(struct agxc_spv *s, const struct agxc_spv_instr *in, uint64_t value)
{
   const struct agxc_options *options = s->shader->options;
   const struct agxc_spv_decoration *d =
      agxc_spv_decoration(agxc_spv_id(s, in->id), SpvDecorationSpecId);
   if (d)
      agxc_spv_note_constant(s, in, d->value, value);
   for (uint32_t i = 0; d && i < options->spec_count; i++)
      if (options->specs[i].id == d->value)
         value = options->specs[i].value & agx_bits(8 * options->specs[i].bytes);
   return value;
}

static void read_bool(struct agxc_spv *s, const struct agxc_spv_instr *in,
                      struct agxc_spv_type *type)
{
   if (type->kind != AGXC_SPV_BOOL)
      agxc_spv_invalid(s, "boolean of type %u", type->id);
   uint64_t value = in->opcode == SpvOpConstantTrue || in->opcode == SpvOpSpecConstantTrue;
   if (in->opcode == SpvOpSpecConstantTrue || in->opcode == SpvOpSpecConstantFalse)
      value = specialized(s, in, value) != 0;
   agxc_spv_define_scalar(s, in, AGXC_SPV_BOOL, agxc_imm(value, 1));
}

static void read_number(struct agxc_spv *s, const struct agxc_spv_instr *in,
                        struct agxc_spv_type *type)
{
   if (!agxc_spv_type_is_scalar(type) || type->kind == AGXC_SPV_BOOL)
      agxc_spv_invalid(s, "number of type %u", type->id);
   uint64_t value = agxc_spv_operand(s, in, 0);
   if (type->bits == 64)
      value |= (uint64_t)agxc_spv_operand(s, in, 1) << 32;
   if (in->opcode == SpvOpSpecConstant)
      value = specialized(s, in, value);
   agxc_spv_define_scalar(s, in, type->kind, agxc_imm(value, type->bits));
}

static void read_null(struct agxc_spv *s, const struct agxc_spv_instr *in,
                      struct agxc_spv_type *type)
{
   const uint8_t *bits = agxc_spv_scalar_bits(s, type);
   struct agxc_ref *refs = agxc_spv_refs(s, type->scalars);
   /* Workgroup memory begins at 0, so its null pointer is another number. */
   const bool is_shared =
      type->kind == AGXC_SPV_POINTER && type->storage == SpvStorageClassWorkgroup;
   for (uint32_t i = 0; i < type->scalars; i++)
      refs[i] = agxc_imm(is_shared ? agx_bits(bits[i]) : 0, bits[i]);
   agxc_spv_define(s, in, refs);
}

static void read_operation(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_instr inner = *in;
   inner.opcode = agxc_spv_operand(s, in, 0);
   inner.first++;
   const struct agxc_spv_op *row = agxc_spv_op_find(inner.opcode);
   if (!row || !(row->flags & AGXC_SPV_SPEC))
      agxc_spv_missing(
         s, "Op%s in a specialization constant is not supported: compute it in a function",
         agxc_spv_name(AGXC_SPV_NAME_OPCODE, inner.opcode));
   s->run_instruction(s, &inner);
}

static void read_composite(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_instr inner = *in;
   bool has_parts =
      in->opcode == SpvOpConstantComposite || in->opcode == SpvOpSpecConstantComposite;
   inner.opcode = has_parts ? SpvOpCompositeConstruct : SpvOpCompositeConstructReplicateEXT;
   s->run_instruction(s, &inner);
}

/* Images, pointers and the like may be undefined as long as nothing uses them. */
void agxc_spv_op_undef(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   if (agxc_spv_has_values(type))
      read_null(s, in, type);
}

void agxc_spv_read_constant(struct agxc_spv *s, const struct agxc_spv_instr *in)
{
   struct agxc_spv_type *type = agxc_spv_type_of(s, in->type_id);
   if (in->opcode == SpvOpConstantNull && type->kind != AGXC_SPV_RUNTIME_ARRAY &&
       type->scalars > AGXC_SPV_MAX_SCALARS) {
      struct agxc_spv_id *id = agxc_spv_result(s, in);
      id->kind = AGXC_SPV_ID_ZEROS;
      id->type = type;
      return;
   }
   if (in->opcode == SpvOpUndef && !agxc_spv_has_values(type)) {
      agxc_spv_result(s, in)->kind = AGXC_SPV_ID_OTHER;
      return;
   }
   agxc_spv_check_value_type(s, type);
   switch (in->opcode) {
   case SpvOpConstantTrue:
   case SpvOpConstantFalse:
   case SpvOpSpecConstantTrue:
   case SpvOpSpecConstantFalse:
      read_bool(s, in, type);
      break;
   case SpvOpConstant:
   case SpvOpSpecConstant:
      read_number(s, in, type);
      break;
   case SpvOpConstantComposite:
   case SpvOpSpecConstantComposite:
   case SpvOpConstantCompositeReplicateEXT:
   case SpvOpSpecConstantCompositeReplicateEXT:
      read_composite(s, in);
      break;
   case SpvOpSpecConstantOp:
      read_operation(s, in);
      break;
   default:
      read_null(s, in, type);
   }
}
