/* SPDX-License-Identifier: MIT
 *
 * Register halves that instructions name, as sets; for passes behind register allocation.
 */
#pragma once

#include "agx/chip.h"
#include "agx/compiler/ir/ir.h"

/* One bit for each register half. */
struct agxc_halves {
   agx_bitset_word word[AGX_GPR_HALVES / 64];
};

/* Adds the halves of an operand that is a register; others have none. */
static inline void agxc_halves_add(struct agxc_halves *set, const struct agxc_ref *ref)
{
   if (ref->kind != AGXC_REG)
      return;
   uint32_t end = ref->half + ref->bits / 16u * AGX_MAX(ref->count, 1);
   for (uint32_t i = ref->half; i < end; i++)
      agx_bitset_set(set->word, i);
}

/* Whether the sets have a half in common. */
static inline bool agxc_halves_meet(const struct agxc_halves *a, const struct agxc_halves *b)
{
   for (unsigned i = 0; i < AGX_COUNT(a->word); i++)
      if (a->word[i] & b->word[i])
         return true;
   return false;
}

/* What an instruction reads. */
static inline struct agxc_halves agxc_halves_read(const struct agxc_instr *instr)
{
   struct agxc_halves set = {0};
   agxc_foreach_src (src, instr)
      agxc_halves_add(&set, src);
   return set;
}

/* What it writes. */
static inline struct agxc_halves agxc_halves_written(const struct agxc_instr *instr)
{
   struct agxc_halves set = {0};
   agxc_foreach_dest (dest, instr)
      agxc_halves_add(&set, dest);
   return set;
}
