/* SPDX-License-Identifier: MIT
 *
 * Replaces uses of a move by its source; likewise uses of phis whose sources are all one value,
 * of a part whose whole was just put together, and of a whole put together from all its parts.
 * Before: generic SSA. After: moves and such phis are unused (opt_dce removes them). Runs behind
 * every pass that leaves moves.
 */
#include "agx/compiler/opt/opt.h"

/* The one thing that every source of a phi is, itself aside; AGXC_NONE when they differ. */
static struct agxc_ref phi_source(const struct agxc_instr *phi)
{
   struct agxc_ref only = agxc_none();
   agxc_foreach_src (src, phi) {
      if (src->kind == AGXC_VALUE && src->value == phi->operand[0].value)
         continue;
      if (only.kind == AGXC_NONE)
         only = *src;
      else if (src->kind != only.kind || src->bits != only.bits ||
               (src->kind == AGXC_VALUE     ? src->value != only.value
                : src->kind == AGXC_UNIFORM ? src->half != only.half
                                            : src->imm != only.imm))
         return agxc_none();
   }
   return only;
}

static struct agxc_ref split_source(const struct agxc_instr *split, const struct agxc_value *value)
{
   const struct agxc_ref *vector = &split->operand[split->dest_count];
   const struct agxc_instr *collect = vector->kind == AGXC_VALUE ? vector->value->def : NULL;
   if (!collect || collect->op != AGXC_OP_COLLECT || collect->src_count != split->dest_count)
      return agxc_none();
   for (unsigned i = 0; i < split->dest_count; i++)
      if (split->operand[i].value == value && collect->operand[1 + i].bits == value->bits)
         return collect->operand[1 + i];
   return agxc_none();
}

static struct agxc_ref collect_source(const struct agxc_instr *collect)
{
   const struct agxc_ref *first = &collect->operand[1];
   const struct agxc_instr *split = first->kind == AGXC_VALUE ? first->value->def : NULL;
   if (!split || split->op != AGXC_OP_SPLIT || split->dest_count != collect->src_count)
      return agxc_none();
   for (unsigned i = 0; i < collect->src_count; i++)
      if (collect->operand[1 + i].kind != AGXC_VALUE ||
          collect->operand[1 + i].value != split->operand[i].value)
         return agxc_none();
   return split->operand[split->dest_count];
}

static struct agxc_ref unpack_source(const struct agxc_instr *unpack,
                                     const struct agxc_value *value)
{
   const struct agxc_ref *whole = &unpack->operand[2];
   unsigned i = unpack->operand[1].value == value, bits = value->bits;
   if (whole->kind == AGXC_IMM)
      return agxc_imm((uint64_t)whole->imm >> i * bits, bits);
   const struct agxc_instr *pack = whole->kind == AGXC_VALUE ? whole->value->def : NULL;
   if (!pack || pack->op != (bits == 32 ? AGXC_OP_PACK64 : AGXC_OP_PACK32))
      return agxc_none();
   return pack->operand[1 + i];
}

/* What a value is a copy of, or AGXC_NONE. */
static struct agxc_ref source_of(const struct agxc_value *value)
{
   const struct agxc_instr *def = value->def;
   if (!def)
      return agxc_none();
   if (def->op == AGXC_OP_MOV)
      return def->operand[1];
   if (def->op == AGXC_OP_PHI)
      return phi_source(def);
   if (def->op == AGXC_OP_SPLIT)
      return split_source(def, value);
   if (def->op == AGXC_OP_COLLECT)
      return collect_source(def);
   if (def->op == AGXC_OP_UNPACK64 || def->op == AGXC_OP_UNPACK32)
      return unpack_source(def, value);
   return agxc_none();
}

/* Chains are as long as there are values at most; each step shortens what later ones see. */
static bool propagate(struct agxc_ref *src, uint32_t limit)
{
   bool progress = false;
   for (uint32_t i = 0; i < limit && src->kind == AGXC_VALUE; i++) {
      struct agxc_ref source = source_of(src->value);
      if (source.kind == AGXC_NONE)
         break;
      *src = source;
      progress = true;
   }
   return progress;
}

bool agxc_opt_copy_prop(struct agxc_shader *shader)
{
   bool progress = false;
   agxc_index(shader);
   agxc_foreach_block (block, shader)
      agxc_foreach_instr (instr, block)
         agxc_foreach_src (src, instr)
            progress |= propagate(src, 64);
   return progress;
}
