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
      if (src->kind == AGXC_VALUE && src->value == agxc_dest(phi)->value)
         continue;
      if (only.kind == AGXC_NONE)
         only = *src;
      else if (!agxc_same_ref(src, &only))
         return agxc_none();
   }
   return only;
}

static struct agxc_ref split_source(const struct agxc_instr *split, const struct agxc_value *value)
{
   const struct agxc_instr *collect = agxc_def_as(*agxc_src_vector(split), AGXC_OP_COLLECT);
   if (!collect || collect->src_count != split->dest_count)
      return agxc_none();
   for (unsigned i = 0; i < split->dest_count; i++)
      if (agxc_element(split, i)->value == value && agxc_element(collect, i)->bits == value->bits)
         return *agxc_element(collect, i);
   return agxc_none();
}

static struct agxc_ref collect_source(const struct agxc_instr *collect)
{
   const struct agxc_instr *split = agxc_def_as(*agxc_element(collect, 0), AGXC_OP_SPLIT);
   if (!split || split->dest_count != collect->src_count)
      return agxc_none();
   for (unsigned i = 0; i < collect->src_count; i++)
      if (agxc_element(collect, i)->kind != AGXC_VALUE ||
          agxc_element(collect, i)->value != agxc_element(split, i)->value)
         return agxc_none();
   return *agxc_src_vector(split);
}

static struct agxc_ref unpack_source(const struct agxc_instr *unpack,
                                     const struct agxc_value *value)
{
   struct agxc_ref whole = *agxc_src_a(unpack);
   unsigned bits = value->bits;
   bool is_high = agxc_dest_high(unpack)->value == value;
   if (whole.kind == AGXC_IMM)
      return agxc_imm((uint64_t)whole.imm >> (is_high ? bits : 0), bits);
   const struct agxc_instr *pack = agxc_def_as(whole, bits == 32 ? AGXC_OP_PACK64 : AGXC_OP_PACK32);
   if (!pack)
      return agxc_none();
   return is_high ? *agxc_src_high(pack) : *agxc_src_low(pack);
}

/* What a value is a copy of, or AGXC_NONE. */
static struct agxc_ref source_of(const struct agxc_value *value)
{
   const struct agxc_instr *def = value->def;
   if (!def)
      return agxc_none();
   if (def->op == AGXC_OP_MOV)
      return *agxc_src_a(def);
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
   agxc_foreach_instr_of (instr, shader)
      agxc_foreach_src (src, instr)
         progress |= propagate(src, 64);
   return progress;
}
