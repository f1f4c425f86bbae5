/* SPDX-License-Identifier: MIT
 *
 * What the passes behind register allocation share: register halves of operands as sets,
 * and where control may go from the end of a block.
 */
#pragma once

#include "agx/chip.h"
#include "agx/compiler/ir/ir.h"

/* One bit for each register half. */
struct agxc_halves {
   agx_bitset_word word[AGX_GPR_HALVES / 64];
};

static inline void agxc_halves_add(struct agxc_halves *set, const struct agxc_ref *ref)
{
   if (ref->kind != AGXC_REG)
      return;
   uint32_t end = ref->half + ref->bits / 16u * AGX_MAX(ref->count, 1);
   for (uint32_t i = ref->half; i < end; i++)
      agx_bitset_set(set->word, i);
}

static inline bool agxc_halves_meet(const struct agxc_halves *a, const struct agxc_halves *b)
{
   for (unsigned i = 0; i < AGX_COUNT(a->word); i++)
      if (a->word[i] & b->word[i])
         return true;
   return false;
}

static inline struct agxc_halves agxc_halves_read(const struct agxc_instr *instr)
{
   struct agxc_halves set = {0};
   agxc_foreach_src (src, instr)
      agxc_halves_add(&set, src);
   return set;
}

static inline struct agxc_halves agxc_halves_written(const struct agxc_instr *instr)
{
   struct agxc_halves set = {0};
   agxc_foreach_dest (dest, instr)
      agxc_halves_add(&set, dest);
   return set;
}

/* The block that a jump goes to, or NULL for any other instruction. Between
 * agxc_lower_control and agxc_emit the offset is the block's index. */
static inline struct agxc_block *agxc_jump_target(const struct agxc_shader *shader,
                                                  const struct agxc_instr *instr)
{
   if (!agxc_is_row(instr, AGX_ISA_OP_JMP_ANY) && !agxc_is_row(instr, AGX_ISA_OP_JMP_NONE))
      return NULL;
   return shader->blocks[instr->operand[AGX_ISA_JMP_ANY_OFFSET].imm];
}
