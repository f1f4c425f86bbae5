/* SPDX-License-Identifier: MIT
 *
 * Costs by row, and which variant of a row's cost an instruction has.
 */
#include "agx/isa/cost.h"

#include "base/status.h"

struct cost_cycles {
   uint16_t throughput, latency;
};

struct cost_row {
   struct cost_cycles narrow, word, wide, prefix;
   bool shared_pipe;
};

#include "agx/isa/isa_cost.inc"

static unsigned widest_register(const struct agx_isa_instr *instr, const struct agx_isa_info *info)
{
   unsigned bits = 16;
   for (unsigned i = 0; i < info->operand_count; i++) {
      const struct agx_isa_operand *operand = &instr->operand[i];
      if ((operand->kind == AGX_ISA_REG || operand->kind == AGX_ISA_UNIFORM) &&
          operand->bits > bits)
         bits = operand->bits;
   }
   return bits;
}

static bool is_prefix(const struct agx_isa_instr *instr)
{
   return (instr->op == AGX_ISA_OP_SIMD && instr->operand[AGX_ISA_SIMD_PREFIX].value) ||
          (instr->op == AGX_ISA_OP_QUAD && instr->operand[AGX_ISA_QUAD_PREFIX].value);
}

struct agx_isa_cost agx_isa_cost(const struct agx_isa_instr *instr)
{
   agx_assert(instr->op < AGX_ISA_OP_COUNT);
   const struct cost_row *row = &cost_rows[instr->op];
   unsigned bits = widest_register(instr, agx_isa_info(instr->op));
   struct cost_cycles cycles = bits == 64 ? row->wide : bits == 32 ? row->word : row->narrow;
   if (is_prefix(instr))
      cycles = row->prefix;
   return (struct agx_isa_cost){cycles.throughput, cycles.latency, row->shared_pipe};
}
