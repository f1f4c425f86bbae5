/* SPDX-License-Identifier: MIT
 *
 * Operands of machine instructions by their names in isa.def, for the rooms from selection on.
 * agxc_row_NAME(instr) is the operand of that name of any row that has one; a row that has none
 * fails an assertion: *agxc_row_base(load), agxc_row_coherency(load)->imm. agxc_set_row_NAME(instr,
 * n) sets an immediate or a modifier. Code that takes several rows asks agxc_row_has() first, or
 * keeps enum agxc_row_name in its tables, never a position.
 */
#pragma once

#include "agx/compiler/ir/ir.h"
#include "agx/compiler/ir/row_enum.h"

/* Whether the row has an operand of that name. */
bool agxc_row_has(enum agx_isa_op row, enum agxc_row_name name);

/* The operand of that name of a machine instruction whose row has one. */
struct agxc_ref *agxc_row_by_name(const struct agxc_instr *instr, enum agxc_row_name name);

/* Makes the operand of that name, an immediate or a modifier, this number. */
void agxc_set_row_number(struct agxc_instr *instr, enum agxc_row_name name, int64_t number);

#include "agx/compiler/ir/rows.h"
