/* SPDX-License-Identifier: MIT
 *
 * Moves work off the pipe that the four slots of a core share, where that pipe is what a loop waits
 * for: a left shift by five to eight bits takes four cycles of it, and becomes two adds of 0, which
 * shift by up to four bits for free and take one cycle of a slot each.
 *
 *    %1:32 = agx.shl %0:32, #5:64      =>   %2:32 = agx.iadd #0:16, %0:32, shift=lsl4
 *                                           %1:32 = agx.iadd #0:16, %2:32, shift=lsl1
 *
 * In each loop, and in code without loops, shifts change as long as the shared pipe takes more
 * cycles than there are instructions to issue; source: docs/hw/performance.md, "Modelled cycles".
 *
 * Before and after: machine instructions, with single definitions. Stands behind opt_dce, which
 * leaves the instructions that there will be, and in front of the passes that order them.
 */
#include "agx/compiler/analysis/loop_shape.h"
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/select/select.h"

#define FREE_SHIFT 4u

/* Cycles of the instructions that stand in a loop, and in none inside it. */
struct region {
   uint32_t issue, shared;
};

static bool is_long_shift(const struct agxc_instr *instr)
{
   if (!agxc_has_opcode(instr, AGX_ISA_OP_SHL))
      return false;
   const struct agxc_ref *by = &agxc_srcs(instr)[1];
   return agxc_dest(instr)->bits == 32 && agxc_srcs(instr)[0].bits == 32 &&
          agxc_srcs(instr)[0].kind == AGXC_VALUE && by->kind == AGXC_IMM && by->imm > FREE_SHIFT &&
          by->imm <= 2 * FREE_SHIFT;
}

static struct region *region_of(struct region *regions, const struct agxc_block *block)
{
   return &regions[block->loop ? agxc_first_block(&block->loop->body)->index + 1 : 0];
}

static bool has_long_shift(const struct agxc_shader *shader)
{
   agxc_foreach_instr_of (instr, shader)
      if (is_long_shift(instr))
         return true;
   return false;
}

static struct region *measure(const struct agxc_shader *shader)
{
   struct region *regions =
      AGX_ARENA_ARRAY(shader->arena, struct region, shader->block_count + 1ull);
   agxc_foreach_block (block, shader) {
      struct region *region = region_of(regions, block);
      agxc_foreach_instr (instr, block) {
         if (!agxc_is_machine(instr))
            continue;
         struct agx_isa_cost cost = agxc_machine_cost(instr);
         region->issue++;
         region->shared += cost.shared_pipe ? cost.throughput : 0;
      }
   }
   return regions;
}

static struct agxc_instr *add_shifted(struct agxc_builder *b, struct agxc_ref dest,
                                      struct agxc_ref source, unsigned shift)
{
   struct agxc_instr *add = agxc_instr_new(b->shader, AGXC_OP_ISA + AGX_ISA_OP_IADD);
   agxc_define(add, dest);
   agxc_srcs(add)[0] = agxc_imm(0, 16);
   agxc_srcs(add)[1] = source;
   agxc_set_machine_shift(add, shift);
   agxc_insert(b, add);
   return add;
}

static void split_shift(struct agxc_shader *shader, struct agxc_instr *shl)
{
   struct agxc_builder b = agxc_before(shader, shl);
   unsigned shift = (unsigned)agxc_srcs(shl)[1].imm;
   struct agxc_ref part = agxc_use(agxc_value_new(shader, 32, 1));
   add_shifted(&b, part, agxc_srcs(shl)[0], FREE_SHIFT);
   add_shifted(&b, *agxc_dest(shl), part, shift - FREE_SHIFT);
   agxc_instr_remove(shl);
}

bool agxc_balance(struct agxc_shader *shader)
{
   bool progress = false;
   agxc_index(shader);
   if (!has_long_shift(shader))
      return false;
   struct region *regions = measure(shader);
   bool has_loop = agxc_has_loop(shader);
   agxc_foreach_block (block, shader) {
      struct region *region = region_of(regions, block);
      if (has_loop && !block->loop)
         continue;
      agxc_foreach_instr_safe (instr, block) {
         if (!is_long_shift(instr) || region->shared <= region->issue + 1)
            continue;
         region->issue++;
         region->shared -= agxc_machine_cost(instr).throughput;
         split_shift(shader, instr);
         progress = true;
      }
   }
   return progress;
}
