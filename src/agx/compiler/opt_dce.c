/* SPDX-License-Identifier: MIT
 *
 * Removes instructions without effect whose values nothing uses.
 * Before: any SSA. After: each value that is left is used, or its instruction has an effect.
 */
#include "agx/compiler/passes.h"

static bool is_dead(const struct agxc_instr *instr, const agx_bitset_word *used)
{
   if (agxc_flags(instr) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR) || instr->dest_count == 0)
      return false;
   agxc_foreach_dest (dest, instr)
      if (dest->kind == AGXC_VALUE && agx_bitset_test(used, dest->value->id))
         return false;
   return true;
}

static void mark(const struct agxc_instr *instr, agx_bitset_word *used)
{
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE)
         agx_bitset_set(used, src->value->id);
}

/* Liveness through phis of loops: marks from the roots until nothing new is found. */
static void mark_all(struct agxc_shader *shader, agx_bitset_word *used)
{
   struct agxc_instr **stack =
      AGX_ARENA_ARRAY(shader->arena, struct agxc_instr *, shader->value_count + 1);
   uint32_t depth = 0;
   agx_bitset_word *queued =
      AGX_ARENA_ARRAY(shader->arena, agx_bitset_word, agx_bitset_words(shader->instr_count + 1));
   agxc_foreach_block (block, shader) {
      agxc_foreach_instr (root, block) {
         if (!(agxc_flags(root) & (AGXC_SIDE_EFFECT | AGXC_TERMINATOR)) && root->dest_count)
            continue;
         for (struct agxc_instr *instr = root; instr; instr = depth ? stack[--depth] : NULL) {
            mark(instr, used);
            agxc_foreach_src (src, instr) {
               struct agxc_instr *def = src->kind == AGXC_VALUE ? src->value->def : NULL;
               if (!def || agx_bitset_test(queued, def->index))
                  continue;
               agx_bitset_set(queued, def->index);
               stack[depth++] = def;
            }
         }
      }
   }
}

bool agxc_opt_dce(struct agxc_shader *shader)
{
   bool progress = false;
   agxc_index(shader);
   agx_bitset_word *used =
      AGX_ARENA_ARRAY(shader->arena, agx_bitset_word, agx_bitset_words(shader->value_count));
   mark_all(shader, used);
   agxc_foreach_block (block, shader) {
      agxc_foreach_instr_safe (instr, block) {
         if (!is_dead(instr, used))
            continue;
         agxc_instr_remove(instr);
         progress = true;
      }
   }
   return progress;
}
