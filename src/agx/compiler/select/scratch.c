/* SPDX-License-Identifier: MIT
 *
 * Selection: scratch memory. Offsets are bytes, in a register or an immediate. The shift
 * of these instructions stays 0: no known compiler uses it [U].
 * Source: docs/hw/machine.md, 16.
 *
 *    before   %1 = load_scratch %0
 *    after    %1 = agx.stack_load %0, format, mask
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/select/select_impl.h"

#define MAX_OFFSET_IMM 0x7fff /* both readings of the sign agree; docs/hw/machine.md, section 7 */

static unsigned format_of(struct agxc_selector *s, const struct agxc_ref *data)
{
   switch (data->bits) {
   case 8:
      return AGX_ISA_FORMAT_I8;
   case 16:
      return AGX_ISA_FORMAT_I16;
   case 32:
      return AGX_ISA_FORMAT_I32;
   default:
      agxc_fail(s->shader, AGX_UNIMPLEMENTED, "%s: scratch memory of %u-bit elements",
                s->shader->name, data->bits);
   }
}

static struct agxc_ref offset_of(struct agxc_selector *s, struct agxc_ref offset)
{
   if (offset.kind == AGXC_IMM && (uint64_t)offset.imm <= MAX_OFFSET_IMM)
      return agxc_imm((uint64_t)offset.imm, 32);
   return agxc_select_reg(s, offset);
}

static void select_load(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref offset = offset_of(s, *agxc_src_offset(instr));
   struct agxc_instr *machine =
      agxc_select_op(s, AGX_ISA_OP_STACK_LOAD, agxc_select_dest(instr), offset);
   agxc_set_machine_format(machine, format_of(s, agxc_dest(instr)));
   agxc_set_machine_mask(machine, (1 << agxc_dest(instr)->count) - 1);
}

static void select_store(struct agxc_selector *s, const struct agxc_instr *instr)
{
   const struct agxc_ref *data = agxc_src_data(instr);
   struct agxc_instr *machine =
      agxc_select_op(s, AGX_ISA_OP_STACK_STORE, agxc_none(), agxc_select_reg(s, *data),
                     offset_of(s, *agxc_src_offset(instr)));
   agxc_set_machine_format(machine, format_of(s, data));
   agxc_set_machine_mask(machine, (1 << data->count) - 1);
}

void agxc_select_scratch(struct agxc_selector *s, const struct agxc_instr *instr)
{
   if (instr->op == AGXC_OP_LOAD_SCRATCH)
      select_load(s, instr);
   else
      select_store(s, instr);
}
