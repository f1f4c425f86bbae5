/* SPDX-License-Identifier: MIT
 *
 * Where jumps go, between agxc_lower_control and agxc_emit.
 */
#pragma once

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
