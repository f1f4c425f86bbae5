/* SPDX-License-Identifier: MIT
 *
 * Which memory an instruction touches, and when two accesses are certainly apart: the same
 * base and the same index but for a constant. Different bases may be the same memory.
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/schedule/schedule_impl.h"

static unsigned memory_of_space(uint8_t space)
{
   return space == AGX_ISA_SPACE_DEVICE  ? AGXC_MEMORY_DEVICE
          : space == AGX_ISA_SPACE_LOCAL ? AGXC_MEMORY_LOCAL
          : space == AGX_ISA_SPACE_STACK ? AGXC_MEMORY_STACK
                                         : AGXC_MEMORY_NONE;
}

/* Accesses of a place that can be compared: loads and stores, but not atomics. */
static unsigned accessed(const struct agx_isa_info *info)
{
   return !(info->reads && info->writes) ? memory_of_space(info->reads | info->writes)
                                         : AGXC_MEMORY_NONE;
}

static bool is_coherent(const struct agxc_instr *instr)
{
   return agxc_opcode_has(agxc_opcode(instr), AGXC_MACHINE_COHERENCY)
             ? agxc_machine_coherency(instr)->imm != 0
             : (instr->flags & AGXC_INSTR_VOLATILE) != 0;
}

unsigned agxc_memory_of(const struct agxc_instr *instr)
{
   const struct agx_isa_info *info = agxc_isa_info(instr);
   unsigned flags = agxc_flags(instr), access = accessed(info);
   if (access)
      return access | (info->writes || is_coherent(instr) ? AGXC_MEMORY_WRITES : 0);
   if (info->writes == AGX_ISA_SPACE_TEXTURE)
      return AGXC_MEMORY_DEVICE | AGXC_MEMORY_WRITES;
   /* Textures are not written while they are read, unless the instruction says so. */
   if (info->reads == AGX_ISA_SPACE_TEXTURE)
      return agxc_machine_rw(instr)->imm ? AGXC_MEMORY_DEVICE : AGXC_MEMORY_NONE;
   if (info->writes == AGX_ISA_SPACE_UNIFORM)
      return AGXC_MEMORY_NONE; /* the same program does not read it */
   if (info->writes)
      return memory_of_space(info->writes) | AGXC_MEMORY_WRITES;
   if (flags & AGXC_SIDE_EFFECT)
      return AGXC_MEMORY_ALL | AGXC_MEMORY_WRITES;
   return flags & AGXC_READS_MEMORY ? AGXC_MEMORY_ALL : AGXC_MEMORY_NONE;
}

/* ---- places ------------------------------------------------------------ */

struct place {
   struct agxc_ref root; /* NONE: the constant is all */
   uint32_t constant;    /* wraps; in units */
   uint32_t unit_B, size_B;
};

/* Whether two operands hold the same number wherever the block reads them. Registers don't: another
 * instruction may write one in between. */
static bool is_same_number(const struct agxc_ref *a, const struct agxc_ref *b)
{
   return (a->kind == AGXC_NONE || a->kind == AGXC_VALUE || a->kind == AGXC_UNIFORM) &&
          agxc_same_ref(a, b);
}

static uint32_t element_B(int64_t format)
{
   switch (format) {
   case AGX_ISA_FORMAT_I8:
      return 1;
   case AGX_ISA_FORMAT_I16:
      return 2;
   case AGX_ISA_FORMAT_I32:
      return 4;
   default:
      return 16; /* packed formats: more than any of them */
   }
}

/* Takes a constant off: `iadd root, constant` as 32 bits. */
static void peel(struct place *place)
{
   if (place->root.kind != AGXC_VALUE || place->root.bits != 32 || !place->root.value->def)
      return;
   const struct agxc_instr *def = place->root.value->def;
   if (!agxc_has_opcode(def, AGX_ISA_OP_IADD))
      return;
   const struct agxc_ref *a = agxc_machine_a(def), *b = agxc_machine_b(def);
   if (b->kind != AGXC_IMM || a->bits != 32 || agxc_machine_shift(def)->imm ||
       agxc_machine_sat(def)->imm)
      return;
   place->constant += (uint32_t)b->imm;
   place->root = *a;
}

static struct place place_of(const struct agxc_instr *instr)
{
   enum agx_isa_op opcode = agxc_opcode(instr);
   const struct agxc_ref *index = agxc_machine_index(instr);
   unsigned memory = accessed(agxc_isa_info(instr));
   uint32_t element = element_B(agxc_machine_format(instr)->imm), shift = 0;
   if (agxc_opcode_has(opcode, AGXC_MACHINE_SHIFT))
      shift = (uint32_t)agxc_machine_shift(instr)->imm;
   unsigned mask = (unsigned)agxc_machine_mask(instr)->imm;
   struct place place = {.root = *index, .unit_B = element << shift};
   place.size_B = element * (uint32_t)(32 - __builtin_clz(mask | 1));
   if (memory == AGXC_MEMORY_STACK)
      place.unit_B = 1; /* bytes, whatever the format */
   if (index->kind == AGXC_IMM) {
      place.root = agxc_none();
      place.constant = (uint32_t)index->imm;
   } else if (memory != AGXC_MEMORY_LOCAL) {
      peel(&place);
   }
   return place;
}

bool agxc_memory_apart(const struct agxc_instr *a, const struct agxc_instr *b)
{
   unsigned memory = accessed(agxc_isa_info(a)), other = accessed(agxc_isa_info(b));
   if (!memory || !other)
      return false;
   if (memory != other)
      return true;
   if (agxc_opcode_has(agxc_opcode(a), AGXC_MACHINE_BASE) &&
       !is_same_number(agxc_machine_base(a), agxc_machine_base(b)))
      return false;
   struct place first = place_of(a), second = place_of(b);
   if (first.unit_B != second.unit_B || !is_same_number(&first.root, &second.root))
      return false;
   uint64_t ahead = (uint64_t)(second.constant - first.constant) * first.unit_B;
   uint64_t behind = (uint64_t)(first.constant - second.constant) * first.unit_B;
   return ahead >= first.size_B && behind >= second.size_B;
}
