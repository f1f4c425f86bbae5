/* SPDX-License-Identifier: MIT
 *
 * Costs of generic operations and what selection folds, for passes that decide what to move or to
 * compute twice (opt/loads/, opt/preamble.c, opt/if_conversion.c); of machine instructions, for
 * schedule/ and emit/control.c.
 */
#include "agx/compiler/analysis/op_cost.h"
#include "agx/compiler/ir/launch_slots.h"

/* Of a sum; comparisons have half of it, quotients twice as much (docs/precision.md). */
#define LONG_FLOAT_SIZE 80u

static bool is_compare(unsigned op)
{
   return op >= AGXC_OP_IEQ && op <= AGXC_OP_FGE;
}

unsigned agxc_op_cost(const struct agxc_instr *instr)
{
   static const struct {
      uint16_t first, last;
      uint8_t cost;
   } costs[] = {
      {AGXC_OP_MOV, AGXC_OP_SPLIT, 0},
      {AGXC_OP_UNPACK64, AGXC_OP_UNPACK64, 0},
      {AGXC_OP_PACK64, AGXC_OP_PACK64, 2},
      {AGXC_OP_IMUL, AGXC_OP_SMULH, 4},
      {AGXC_OP_ISHL, AGXC_OP_ASHR, 4},
      {AGXC_OP_BITCOUNT, AGXC_OP_BFI, 4},
      {AGXC_OP_F2U, AGXC_OP_S2F, 4},
      {AGXC_OP_FFLOOR, AGXC_OP_FFRACT, 4},
      {AGXC_OP_FRCP, AGXC_OP_FCOS, 8},
      {AGXC_OP_LOAD_FORMAT, AGXC_OP_LOAD_GLOBAL, AGXC_COST_LOAD},
      {AGXC_OP_IMAGE_LOAD, AGXC_OP_IMAGE_SAMPLE, 2 * AGXC_COST_LOAD},
      {AGXC_OP_FNEG, AGXC_OP_FABS, 0},
   };
   for (size_t i = 0; i < AGX_COUNT(costs); i++)
      if (instr->op >= costs[i].first && instr->op <= costs[i].last)
         return costs[i].cost;
   return 1;
}

bool agxc_is_long_float(const struct agxc_instr *instr)
{
   enum agxc_op op = (enum agxc_op)instr->op;
   bool is_float = (op >= AGXC_OP_FADD && op <= AGXC_OP_FCOS) ||
                   (op >= AGXC_OP_FEQ && op <= AGXC_OP_FGE) || op == AGXC_OP_F2F;
   if (instr->dest_count != 1 || !agxc_has_src(instr, AGXC_SRC_A))
      return false;
   bool takes = agxc_src_a(instr)->bits == 64, gives = agxc_dest(instr)->bits == 64;
   return (is_float && (takes || gives)) || ((op == AGXC_OP_F2U || op == AGXC_OP_F2S) && takes) ||
          ((op == AGXC_OP_U2F || op == AGXC_OP_S2F) && gives);
}

unsigned agxc_op_size(const struct agxc_instr *instr)
{
   bool is_sign = instr->op == AGXC_OP_FNEG || instr->op == AGXC_OP_FABS;
   return agxc_is_long_float(instr) && !is_sign ? LONG_FLOAT_SIZE : 1;
}

unsigned agxc_load_latency(void)
{
   return agx_isa_cost(&(const struct agx_isa_instr){.op = AGX_ISA_OP_LOAD}).latency;
}

struct agx_isa_cost agxc_machine_cost(const struct agxc_instr *instr)
{
   struct agx_isa_instr isa = {.op = (uint16_t)agxc_opcode(instr)};
   for (unsigned i = 0; i < instr->operand_count; i++) {
      const struct agxc_ref *ref = &instr->operand[i];
      bool is_register =
         ref->kind == AGXC_VALUE || ref->kind == AGXC_REG || ref->kind == AGXC_UNIFORM;
      isa.operand[i].kind = is_register ? AGX_ISA_REG : AGX_ISA_IMM;
      isa.operand[i].bits = ref->bits;
      isa.operand[i].value = is_register ? 0 : ref->imm;
   }
   return agx_isa_cost(&isa);
}

bool agxc_op_folds(const struct agxc_instr *instr, const struct agxc_instr *user,
                   const struct agxc_ref *operand)
{
   bool is_shift = instr->op == AGXC_OP_ISHL && agxc_src_b(instr)->kind == AGXC_IMM &&
                   agxc_src_b(instr)->imm <= 4;
   if (is_compare(instr->op) || (instr->op == AGXC_OP_INOT && agxc_dest(instr)->bits == 1))
      return user->op == AGXC_OP_BRANCH ||
             (user->op == AGXC_OP_SELECT && operand == agxc_src_condition(user));
   /* x << n | y >> 32 - n is one instruction, which takes n alone. */
   if (instr->op == AGXC_OP_ISUB && agxc_src_a(instr)->kind == AGXC_IMM &&
       agxc_src_a(instr)->imm == 32)
      return (user->op == AGXC_OP_ISHL || user->op == AGXC_OP_USHR) && operand == agxc_src_b(user);
   return is_shift && (user->op == AGXC_OP_IADD || user->op == AGXC_OP_ISUB);
}

/* Bindings start at multiples of 4, and no page ends within a word: of an array of unknown length
 * one byte is sure to be bound, and so its first word is there. */
static uint64_t words_of(uint64_t bytes)
{
   return (bytes + 3) & ~3ull;
}

bool agxc_load_is_safe(const struct agxc_shader *shader, const struct agxc_instr *load)
{
   const struct agxc_ref *base = agxc_src_address(load), *offset = agxc_src_offset(load);
   if (base->kind != AGXC_UNIFORM)
      return false;
   const struct agx_program_uniform *slot = agxc_slot_at(shader, base->half);
   if (slot && slot->kind == AGX_UNIFORM_BUFFER_GUARD)
      return true;
   if (!slot || slot->kind != AGX_UNIFORM_BUFFER_ADDRESS)
      return false;
   if (shader->bindings[slot->index].robustness)
      return !(agxc_imm_access(load) & AGXC_ACCESS_UNCHECKED) || offset->kind == AGXC_IMM;
   uint64_t bytes = agxc_dest(load)->bits / 8u * agxc_dest(load)->count;
   uint64_t bound = shader->bindings[slot->index].min_size_B;
   return offset->kind == AGXC_IMM && agx_range_fits((uint64_t)offset->imm, bytes, words_of(bound));
}
