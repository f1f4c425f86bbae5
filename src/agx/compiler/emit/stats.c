/* SPDX-License-Identifier: MIT
 *
 * Counts of instructions, and the cycles of one pass through each block from the table
 * of costs: what the shared pipe takes, or everything else, whichever is more.
 */
#include "agx/compiler/emit/stats_impl.h"

#include "agx/compiler/ir/machine_operand.h"
#include "agx/isa/cost.h"

void agxc_stats_begin(struct agxc_stats *stats, const struct agxc_shader *shader)
{
   *stats = (struct agxc_stats){.spills_from = shader->scratch_B - shader->spilled_B};
}

/* The shader's own memory of threads uses the same instructions, below what is spilled. */
static bool is_spill(const struct agxc_stats *stats, const struct agxc_ref *index)
{
   return index->kind == AGXC_IMM && index->imm >= stats->spills_from;
}

void agxc_stats_count(struct agxc_stats *stats, const struct agxc_instr *instr,
                      const struct agx_isa_instr *isa)
{
   struct agx_isa_cost cost = agx_isa_cost(isa);
   stats->pipe_cycles[cost.shared_pipe] += cost.throughput;
   stats->counts.instructions++;
   stats->counts.waits += isa->op == AGX_ISA_OP_WAIT;
   stats->counts.loads += isa->op == AGX_ISA_OP_LOAD;
   stats->counts.spills +=
      isa->op == AGX_ISA_OP_STACK_STORE && is_spill(stats, agxc_machine_index(instr));
   stats->counts.fills +=
      isa->op == AGX_ISA_OP_STACK_LOAD && is_spill(stats, agxc_machine_index(instr));
}

void agxc_stats_finish(struct agxc_stats *stats, struct agxc_shader *shader)
{
   stats->counts.cycles = AGX_MAX(stats->pipe_cycles[0], stats->pipe_cycles[1]);
   stats->counts.threads = agx_occupancy_threads(shader->gpr_halves);
   shader->stats = stats->counts;
}
