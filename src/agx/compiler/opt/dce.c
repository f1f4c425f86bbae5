/* SPDX-License-Identifier: MIT
 *
 * Removes instructions without effect whose values nothing uses, and all stores to scratch memory
 * when nothing that is used loads from it.
 * Before: any SSA. After: each value that is left is used, or its instruction has an effect. Runs
 * where the next pass counts instructions or uses, and behind selection and spilling.
 */
#include "agx/compiler/opt/opt.h"

static bool is_dead(const struct agxc_instr *instr, const agx_bitset_word *used, bool has_scratch)
{
   if (instr->op == AGXC_OP_STORE_SCRATCH)
      return !has_scratch;
   if (agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR) || instr->dest_count == 0)
      return false;
   agxc_foreach_dest (dest, instr)
      if (dest->kind == AGXC_VALUE && agx_bitset_test(used, dest->value->id))
         return false;
   return true;
}

struct marking {
   agx_bitset_word *used;   /* values */
   agx_bitset_word *queued; /* instructions by index */
   struct agxc_instr **stack;
   uint32_t depth;
};

/* The sources of one instruction, and what defines them for later. */
static void mark_sources(struct marking *m, const struct agxc_instr *instr)
{
   agxc_foreach_src (src, instr) {
      struct agxc_instr *def = agxc_def_of(*src);
      if (src->kind == AGXC_VALUE)
         agx_bitset_set(m->used, src->value->id);
      if (!def || agx_bitset_test(m->queued, def->index))
         continue;
      agx_bitset_set(m->queued, def->index);
      m->stack[m->depth++] = def;
   }
}

static void mark_from(struct marking *m, const struct agxc_instr *instr)
{
   mark_sources(m, instr);
   while (m->depth)
      mark_sources(m, m->stack[--m->depth]);
}

static bool loads_scratch(const struct agxc_shader *shader, const agx_bitset_word *used)
{
   bool loads = false;
   agxc_foreach_instr_of (instr, shader)
      loads |=
         instr->op == AGXC_OP_LOAD_SCRATCH && agx_bitset_test(used, agxc_dest(instr)->value->id);
   return loads;
}

/* From the instructions with an effect through everything they need; each is looked at once,
 * so loops through phis end. Returns whether scratch memory is read. */
static bool mark_all(struct agxc_shader *shader, agx_bitset_word *used)
{
   struct marking m = {.used = used};
   m.queued = agxc_bitset_new(shader, shader->instr_count + 1ull);
   m.stack = AGX_ARENA_ARRAY(shader->arena, struct agxc_instr *, shader->instr_count + 1ull);
   agxc_foreach_instr_of (instr, shader) {
      bool has_effect = agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR);
      if ((has_effect || !instr->dest_count) && instr->op != AGXC_OP_STORE_SCRATCH)
         mark_from(&m, instr);
   }
   bool has_scratch = loads_scratch(shader, used);
   agxc_foreach_instr_of (instr, shader)
      if (has_scratch && instr->op == AGXC_OP_STORE_SCRATCH)
         mark_from(&m, instr);
   return has_scratch;
}

bool agxc_opt_dce(struct agxc_shader *shader)
{
   bool progress = false;
   agxc_index(shader);
   agx_bitset_word *used = agxc_bitset_new(shader, shader->value_count);
   bool has_scratch = mark_all(shader, used);
   agxc_foreach_instr_of_safe (instr, shader) {
      if (!is_dead(instr, used, has_scratch))
         continue;
      if (instr->op == AGXC_OP_STORE_SCRATCH)
         shader->scratch_B = 0; /* before spilling: all of it */
      agxc_instr_remove(instr);
      progress = true;
   }
   return progress;
}
