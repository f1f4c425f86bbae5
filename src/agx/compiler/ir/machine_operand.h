/* SPDX-License-Identifier: MIT
 *
 * Operands of machine instructions by their names in isa.def, for the rooms from selection on.
 * agxc_machine_NAME(instr) is the operand of that name of any opcode that has one; an opcode that
 * has none fails an assertion: *agxc_machine_base(load), agxc_machine_coherency(load)->imm.
 * agxc_set_machine_NAME(instr, n) sets an immediate or a modifier. Code that takes several opcodes
 * asks agxc_opcode_has() first, or keeps enum agxc_machine_name in its tables, never a position.
 */
#pragma once

#include "agx/compiler/ir/ir.h"
#include "agx/compiler/ir/machine_enum.h"

/* Groups of the scoreboard that `wait` knows. */
#define AGXC_WAIT_GROUPS 2

/* Whether instructions of this opcode have an operand of that name. */
bool agxc_opcode_has(enum agx_isa_op opcode, enum agxc_machine_name name);

/* The operand of that name of a machine instruction whose opcode has one. */
struct agxc_ref *agxc_machine_by_name(const struct agxc_instr *instr, enum agxc_machine_name name);

/* Makes the operand of that name, an immediate or a modifier, this number. */
void agxc_set_machine_number(struct agxc_instr *instr, enum agxc_machine_name name, int64_t number);

#include "agx/compiler/ir/machine_ops.h"
