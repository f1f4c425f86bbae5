/* SPDX-License-Identifier: MIT
 *
 * Finds operands of machine instructions by name, in a table that is made from isa.def. The rooms
 * from selection on call it through the accessors of machine_operand.h.
 */
#include "agx/compiler/ir/machine_operand.h"

#include "agx/compiler/ir/machine_table.inc"

bool agxc_opcode_has(enum agx_isa_op opcode, enum agxc_machine_name name)
{
   return machine_places[opcode][name] != 0;
}

struct agxc_ref *agxc_machine_by_name(const struct agxc_instr *instr, enum agxc_machine_name name)
{
   agx_assert(agxc_is_machine(instr) && agxc_opcode_has(agxc_opcode(instr), name));
   return &instr->operand[machine_places[agxc_opcode(instr)][name] - 1];
}

void agxc_set_machine_number(struct agxc_instr *instr, enum agxc_machine_name name, int64_t number)
{
   struct agxc_ref *operand = agxc_machine_by_name(instr, name);
   operand->kind = AGXC_IMM;
   operand->imm = number;
}
