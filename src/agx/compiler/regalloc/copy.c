/* SPDX-License-Identifier: MIT
 *
 * Copies of whole values, cut into the words and halves that moves take.
 */
#include "agx/compiler/ir/machine_operand.h"
#include "agx/compiler/regalloc/ra_impl.h"

/* Part of a source, `offset` halves on. */
static struct agxc_ref part_of(struct agxc_ref src, uint32_t offset, uint32_t bits)
{
   if (src.kind == AGXC_IMM)
      return agxc_imm(offset < 4 ? (uint64_t)src.imm >> 16 * offset : 0, bits);
   if (src.kind == AGXC_UNIFORM)
      return agxc_uniform(src.half + offset, bits, 1);
   return agxc_reg(src.half + offset, bits, 1);
}

void agxc_ra_copy(struct agxc_ra *ra, uint32_t half, struct agxc_ref src, uint32_t halves)
{
   if (src.kind == AGXC_NONE || (src.kind == AGXC_REG && src.half == half))
      return; /* an undefined value is right wherever it is */
   bool has_words = half % 2 == 0 && (src.kind == AGXC_IMM || src.half % 2 == 0);
   for (uint32_t i = 0; i < halves;) {
      uint32_t bits = has_words && i + 2 <= halves ? 32 : 16;
      agx_assert(ra->copy_count < AGX_COUNT(ra->copies));
      ra->copies[ra->copy_count++] = (struct agxc_copy){half + i, bits, part_of(src, i, bits)};
      i += bits / 16;
   }
}

void agxc_ra_flush(struct agxc_ra *ra, struct agxc_builder *b)
{
   if (ra->copy_count)
      agxc_parallel_copy(b, ra->copies, ra->copy_count);
   ra->copy_count = 0;
}

/* A machine instruction that moves a value or cuts it: the low half is there already. */
static bool is_cut(const struct agxc_instr *instr)
{
   if (!agxc_has_opcode(instr, AGX_ISA_OP_MOV))
      return false;
   const struct agxc_ref *dest = agxc_machine_d(instr);
   const struct agxc_ref *src = agxc_machine_a(instr);
   return dest->kind == AGXC_VALUE && src->kind == AGXC_VALUE &&
          AGX_MAX(dest->bits, 16) <= AGX_MAX(src->bits, 16);
}

bool agxc_ra_is_copy(const struct agxc_instr *instr)
{
   switch (instr->op) {
   case AGXC_OP_MOV:
   case AGXC_OP_COLLECT:
   case AGXC_OP_SPLIT:
   case AGXC_OP_PACK64:
   case AGXC_OP_UNPACK64:
      return true;
   default:
      return is_cut(instr);
   }
}
