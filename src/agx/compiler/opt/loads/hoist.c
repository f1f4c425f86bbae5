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
#include "agx/compiler/opt/loads/limits_impl.h"
#include "agx/compiler/opt/loads/loads.h"
#include "agx/compiler/opt/loads/slice_impl.h"

struct hoist {
   struct agxc_shader *shader;
   struct agxc_block *to, *from; /* from: the block of the load */
   uint32_t loads;
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

struct visited {
   bool progress;
   bool leaves; /* some lanes may end in it */
};

static bool may_leave(const struct agxc_block *block)
{
   const struct agxc_instr *last = agxc_terminator(block);
   return last && last->op != AGXC_OP_BRANCH;
}

static struct visited visit_list(struct agxc_shader *shader, struct agx_link *list)
{
   struct hoist h = {.shader = shader};
   struct visited all = {0};
   agxc_foreach_node (node, list) {
      bool leaves = node->kind == AGXC_NODE_LOOP;
      if (node->kind == AGXC_NODE_BLOCK) {
         struct agxc_block *block = agxc_as_block(node);
         all.leaves |= may_leave(block);
         if (h.to)
            all.progress |= hoist_block(&h, block);
         else
            h.to = block;
      }
      agxc_foreach_list (inner, node) {
         struct visited part = visit_list(shader, inner);
         all.progress |= part.progress;
         leaves |= part.leaves;
      }
      all.leaves |= leaves;
      if (leaves)
         h = (struct hoist){.shader = shader};
   }
   return all;
}

bool agxc_opt_hoist_loads(struct agxc_shader *shader)
{
   agxc_index(shader);
   return visit_list(shader, &shader->body).progress;
}
