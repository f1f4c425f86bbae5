/* SPDX-License-Identifier: MIT
 *
 * Takes offsets apart for memory references (memory_ref.c), robust accesses (lower/robust.c) and
 * the passes that join or rewrite accesses (opt/vectorize.c, opt/address.c).
 */
#include "agx/compiler/analysis/offset.h"

uint64_t agxc_offset_factor(const struct agxc_instr *instr)
{
   if (instr->op != AGXC_OP_ISHL && instr->op != AGXC_OP_IMUL)
      return 0;
   const struct agxc_ref *by = agxc_src_b(instr);
   if (by->kind != AGXC_IMM)
      return 0;
   if (instr->op == AGXC_OP_IMUL)
      return (uint64_t)by->imm;
   return (uint64_t)by->imm < agxc_dest(instr)->bits ? 1ull << by->imm : 0;
}

struct agxc_ref agxc_offset_root(struct agxc_ref offset, uint32_t *constant)
{
   offset = agxc_skip_moves(offset);
   if (offset.kind == AGXC_IMM) {
      *constant += (uint32_t)offset.imm;
      return agxc_none();
   }
   const struct agxc_instr *add = agxc_def_as(offset, AGXC_OP_IADD);
   if (!add || agxc_src_b(add)->kind != AGXC_IMM)
      return offset;
   *constant += (uint32_t)agxc_src_b(add)->imm;
   return *agxc_src_a(add);
}

/* A summand that is still to be taken apart. */
struct part {
   struct agxc_offset_term term;
   unsigned depth;
};

/* The parts that a summand is the sum of, or the multiple of; how many, 0 if it is a term. */
static unsigned split_part(const struct part *part, enum agxc_offset_mode mode, struct part out[2])
{
   const struct agxc_instr *def = agxc_def_of(part->term.ref);
   if (!def)
      return 0;
   const bool is_linear = mode == AGXC_OFFSET_LINEAR;
   const bool is_sum = def->op == AGXC_OP_IADD || (def->op == AGXC_OP_ISUB && is_linear);
   const uint64_t factor = part->term.factor, by = is_linear ? agxc_offset_factor(def) : 0;
   /* A constant is no step: offsets that differ by one are taken apart equally far. */
   const unsigned step = !is_sum || agxc_src_b(def)->kind != AGXC_IMM;
   if ((!is_sum && !by) || part->depth < step)
      return 0;
   const unsigned depth = part->depth - step;
   out[0] = (struct part){{*agxc_src_a(def), is_sum ? factor : factor * by}, depth};
   if (is_sum)
      out[1] =
         (struct part){{*agxc_src_b(def), def->op == AGXC_OP_IADD ? factor : 0 - factor}, depth};
   return is_sum ? 2 : 1;
}

struct agxc_offset agxc_offset_split(struct agxc_ref offset, enum agxc_offset_mode mode,
                                     unsigned depth)
{
   struct agxc_offset sum = {0};
   struct part todo[AGXC_OFFSET_MAX_TERMS] = {{{offset, 1}, depth}}; /* the last one is next */
   for (uint32_t left = 1; left > 0;) {
      struct part part = todo[--left], parts[2];
      part.term.ref = agxc_skip_moves(part.term.ref);
      if (part.term.ref.kind == AGXC_IMM) {
         sum.constant += part.term.factor * (uint64_t)part.term.ref.imm;
         continue;
      }
      /* What is left to do always has room. */
      unsigned count =
         sum.count + left + 2 <= AGXC_OFFSET_MAX_TERMS ? split_part(&part, mode, parts) : 0;
      if (count == 0)
         sum.terms[sum.count++] = part.term;
      while (count > 0)
         todo[left++] = parts[--count];
   }
   return sum;
}
