/* SPDX-License-Identifier: MIT
 *
 * Selection: operations between lanes, as lower_subgroup leaves them.
 *
 *    before   %2 = shuffle %0, %1, mode
 *    after    %2 = agx.shuffle %0, %1, window, rotate, op
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/select/select_impl.h"

static void select_rank(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_instr *machine =
      agxc_select_instr(s, AGX_ISA_OP_MFSR, agxc_select_dest(instr), 0, NULL);
   agxc_set_machine_sr(machine, AGX_ISA_SR_ACTIVE_THREAD_INDEX_IN_SIMDGROUP);
}

static void select_shuffle(struct agxc_selector *s, const struct agxc_instr *instr)
{
   static const struct {
      uint8_t window, op, rotate;
   } modes[] = {
      [AGXC_SHUFFLE_INDEX] = {AGX_ISA_WINDOW_SIMD, AGX_ISA_SHUFFLE_OP_INDEX, 0},
      [AGXC_SHUFFLE_XOR] = {AGX_ISA_WINDOW_SIMD, AGX_ISA_SHUFFLE_OP_XOR, 0},
      [AGXC_SHUFFLE_UP] = {AGX_ISA_WINDOW_SIMD, AGX_ISA_SHUFFLE_OP_UP, 0},
      [AGXC_SHUFFLE_DOWN] = {AGX_ISA_WINDOW_SIMD, AGX_ISA_SHUFFLE_OP_DOWN, 0},
      [AGXC_SHUFFLE_ROTATE] = {AGX_ISA_WINDOW_SIMD, AGX_ISA_SHUFFLE_OP_UP, 1},
      [AGXC_SHUFFLE_QUAD] = {AGX_ISA_WINDOW_QUAD, AGX_ISA_SHUFFLE_OP_INDEX, 0},
   };
   enum agxc_shuffle mode = agxc_imm_shuffle(instr);
   struct agxc_instr *machine = agxc_select_op(s, AGX_ISA_OP_SHUFFLE, agxc_select_dest(instr),
                                               agxc_select_reg(s, *agxc_src_value(instr)),
                                               agxc_select_int(s, *agxc_src_operand(instr)));
   agxc_set_machine_window(machine, modes[mode].window);
   agxc_set_machine_rotate(machine, modes[mode].rotate);
   agxc_set_machine_op(machine, modes[mode].op);
}

static void select_reduce(struct agxc_selector *s, const struct agxc_instr *instr)
{
   bool scans = instr->op == AGXC_OP_SCAN, is_quad = !scans && agxc_imm_lanes(instr) == 4;
   struct agxc_ref src = agxc_select_reg(s, *agxc_src_value(instr));
   struct agxc_instr *machine =
      agxc_select_op(s, is_quad ? AGX_ISA_OP_QUAD : AGX_ISA_OP_SIMD, agxc_select_dest(instr), src);
   agxc_set_machine_prefix(machine, scans);
   agxc_set_machine_op(machine, agxc_imm_with(instr));
}

/* The instruction's width is the sum's; factors may be halves in both. Source:
 * docs/hw/machine.md, 12. */
static void select_matrix(struct agxc_selector *s, const struct agxc_instr *instr)
{
   struct agxc_ref dest = agxc_select_dest(instr), srcs[3];
   for (unsigned i = 0; i < 3; i++)
      srcs[i] = agxc_select_reg(s, agxc_srcs(instr)[i]);
   agxc_select_instr(
      s, dest.bits == 16 ? AGX_ISA_OP_SIMD_MATRIX_FMADD16 : AGX_ISA_OP_SIMD_MATRIX_FMADD32, dest, 3,
      srcs);
}

void agxc_select_subgroup(struct agxc_selector *s, const struct agxc_instr *instr)
{
   if (instr->op == AGXC_OP_MATRIX_FMA)
      select_matrix(s, instr);
   else if (instr->op == AGXC_OP_ACTIVE_RANK)
      select_rank(s, instr);
   else if (instr->op == AGXC_OP_SHUFFLE)
      select_shuffle(s, instr);
   else if (instr->op == AGXC_OP_REDUCE || instr->op == AGXC_OP_SCAN)
      select_reduce(s, instr);
   else
      agxc_fail(s->shader, AGX_UNIMPLEMENTED, "%s: %s is for lower_subgroup", s->shader->name,
                agxc_op_info(instr->op)->name);
}
