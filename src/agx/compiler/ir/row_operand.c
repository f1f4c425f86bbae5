/* SPDX-License-Identifier: MIT
 *
 * Finds operands of machine instructions by name, in a table that is made from isa.def. The rooms
 * from selection on call it through the accessors of row_operand.h.
 */
#include "agx/compiler/ir/row_operand.h"

#include "agx/compiler/ir/row_table.inc"

bool agxc_row_has(enum agx_isa_op row, enum agxc_row_name name)
{
   return row_places[row][name] != 0;
}

struct agxc_ref *agxc_row_by_name(const struct agxc_instr *instr, enum agxc_row_name name)
{
   agx_assert(agxc_is_machine(instr) && agxc_row_has(agxc_row(instr), name));
   return &instr->operand[row_places[agxc_row(instr)][name] - 1];
}

void agxc_set_row_number(struct agxc_instr *instr, enum agxc_row_name name, int64_t number)
{
   struct agxc_ref *operand = agxc_row_by_name(instr, name);
   operand->kind = AGXC_IMM;
   operand->imm = number;
}
