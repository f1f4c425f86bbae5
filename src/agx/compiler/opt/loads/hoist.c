/* SPDX-License-Identifier: MIT
 *
 * Moves loads of memory that nothing writes up over ifs that control surely leaves at their end,
 * to the first block before them: there opt_vectorize joins them with their neighbours, and one
 * wait serves several. What their addresses need moves along.
 *
 * Nothing is executed that would not have been: a load moves only along one list of nodes, past
 * ifs without break, continue or return. Loops and operations between lanes are not crossed.
 *
 * Before and after: generic SSA. Stands behind opt_unroll_partial, whose copies hold such ifs, and
 * opt_hoist_common.
 */
#include "agx/compiler/opt/loads/loads_impl.h"
#include "agx/compiler/opt/loads/loads.h"

struct hoist {
   struct agxc_shader *shader;
   struct agxc_block *to, *from; /* from: the block of the load */
   uint32_t loads;
   uint32_t ends; /* places where lanes may end, up to the last block that was seen */
};

/* ---- moving ------------------------------------------------------------- */

static bool is_there(const void *user, const struct agxc_value *value)
{
   const struct hoist *h = user;
   return value->def->block->index <= h->to->index;
}

static bool may_move(const void *user, const struct agxc_instr *instr)
{
   const struct hoist *h = user;
   return instr->block == h->from && agxc_is_pure(instr);
}

static bool hoist_block(struct hoist *h, struct agxc_block *block)
{
   const struct agxc_slice slice = {is_there, may_move, h};
   struct agxc_builder end = {h->shader, h->to, agxc_terminator(h->to)};
   bool progress = false;
   h->from = block;
   agxc_foreach_instr_safe (instr, block) {
      if (h->loads == AGXC_LOADS_OF_GROUP || agxc_flags(instr) & AGXC_CROSS_LANE)
         break;
      if (!agxc_is_constant_load(instr) || !agxc_slice_reaches_sources(&slice, instr))
         continue;
      agxc_slice_move_sources(&slice, &end, instr);
      agxc_instr_remove(instr);
      agxc_insert(&end, instr);
      h->loads++;
      progress = true;
   }
   return progress;
}

/* ---- pass --------------------------------------------------------------- */

static bool may_leave(const struct agxc_block *block)
{
   const struct agxc_instr *last = agxc_terminator(block);
   return last && last->op != AGXC_OP_BRANCH;
}

/* Blocks of a list that follow each other have nodes between them: while none of these is a loop or
 * a way out, loads go to the first of the blocks. */
bool agxc_opt_hoist_loads(struct agxc_shader *shader)
{
   bool progress = false;
   uint32_t ends = 0;
   agxc_index(shader);
   /* By the index of a list's first block. */
   struct hoist *lists = AGX_ARENA_ARRAY(shader->arena, struct hoist, shader->block_count);
   agxc_foreach_block (block, shader) {
      struct hoist *h = &lists[agxc_first_block(block->node.list)->index];
      ends += agxc_starts_loop(block);
      if (h->to && h->ends == ends)
         progress |= hoist_block(h, block);
      else
         *h = (struct hoist){.shader = shader, .to = block};
      ends += may_leave(block);
      h->ends = ends;
   }
   return progress;
}
