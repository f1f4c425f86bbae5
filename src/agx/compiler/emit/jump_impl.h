/* SPDX-License-Identifier: MIT
 *
 * Where jumps go, between agxc_lower_control and agxc_emit, and when one over code pays.
 */
#pragma once

#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/ir/ir.h"
#include "agx/compiler/ir/machine_operand.h"

/* The block that a jump goes to, or NULL for any other instruction. Between
 * agxc_lower_control and agxc_emit the offset is the block's index. */
static inline struct agxc_block *agxc_jump_target(const struct agxc_shader *shader,
                                                  const struct agxc_instr *instr)
{
   if (!agxc_has_opcode(instr, AGX_ISA_OP_JMP_ANY) && !agxc_has_opcode(instr, AGX_ISA_OP_JMP_NONE))
      return NULL;
   return shader->blocks[agxc_machine_offset(instr)->imm];
}

/* What r0l of a returned lane is: more than nested levels can take away; and as many more levels do
 * not wrap the 16 bits. */
#define AGXC_RETURNED (AGXC_MOST_NESTING + 1)
_Static_assert(AGXC_RETURNED + AGXC_MOST_NESTING <= UINT16_MAX, "levels are counted in 16 bits");

/* Cycles that skipped code must save for a jump to pay: it is one instruction wherever it is not
 * taken. [A] */
#define AGXC_JUMP_CYCLES   20u
#define AGXC_ACCESS_CYCLES 10u /* of an access to memory, and of a wait for one */

/* What an instruction counts there; BREAK, CONTINUE and RETURN become a move. */
static inline uint32_t agxc_skipped_cycles(const struct agxc_instr *instr)
{
   if (!agxc_is_machine(instr))
      return 1;
   bool is_access = agxc_isa_info(instr)->unit == AGX_ISA_UNIT_MEM;
   return is_access ? AGXC_ACCESS_CYCLES : agxc_machine_cost(instr).throughput;
}
