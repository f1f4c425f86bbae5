/* SPDX-License-Identifier: MIT
 *
 * A kernel that uses scratch memory takes its frame with the first instruction, once.
 * Before: registers. After: the same, with stack_adjust at the start when scratch_B is not 0.
 *
 *    before   the first instruction
 *    after    agx.stack_adjust, the frame's words; the first instruction
 *
 * Stands behind register allocation, since only then it is known how many bytes spilling takes
 * beside the kernel's own (agxc_scratch_alloc). The memory behind it comes from the
 * helper program that the HAL's submissions name (hal/record/scratch.c).
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/emit/emit.h"

bool agxc_insert_stack(struct agxc_shader *shader)
{
   if (!shader->scratch_B)
      return false;
   struct agxc_block *entry = agxc_first_block(&shader->body);
   struct agxc_instr *adjust = agxc_instr_new(shader, AGXC_OP_ISA + AGX_ISA_OP_STACK_ADJUST);
   *agxc_machine_index(adjust) = agxc_imm(agx_program_frame_B(shader->scratch_B) / 4, 32);
   adjust->block = entry;
   agx_list_insert_after(&entry->instrs, &adjust->link);
   return true;
}
