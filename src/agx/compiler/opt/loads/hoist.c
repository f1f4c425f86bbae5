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
#include "agx/compiler/opt/loads/loads.h"

#define MAX_LOADS 8u  /* to one block: they wait in registers */
#define MAX_DEPTH 12u /* of an address */

struct hoist {
   struct agxc_shader *shader;
   struct agxc_block *to;
   uint32_t loads;
};

/* ---- moving ------------------------------------------------------------- */

static bool is_constant_load(const struct agxc_instr *instr)
{
   return instr->op == AGXC_OP_LOAD_GLOBAL && agxc_imm_of(instr, 0) & AGXC_ACCESS_CONST;
}

/* Whether what defines a value is there at the end of h->to, or can be brought there from
 * `from`, the block of the load. */
static bool can_reach(const struct hoist *h, const struct agxc_block *from,
                      const struct agxc_ref *ref, unsigned depth)
{
   const struct agxc_instr *def = ref->kind == AGXC_VALUE ? ref->value->def : NULL;
   if (!def || def->block->index <= h->to->index)
      return true;
   if (def->block != from || depth == 0 || !agxc_is_pure(def))
      return false;
   agxc_foreach_src (src, def)
      if (!can_reach(h, from, src, depth - 1))
         return false;
   return true;
}

static void move(struct hoist *h, struct agxc_instr *instr)
{
   struct agxc_instr *last = agxc_terminator(h->to);
   struct agxc_builder b = {.shader = h->shader, .block = h->to, .before = last};
   agxc_foreach_src (src, instr)
      if (src->kind == AGXC_VALUE && src->value->def->block->index > h->to->index)
         move(h, src->value->def);
   agxc_instr_remove(instr);
   agxc_insert(&b, instr);
}

static bool hoist_block(struct hoist *h, struct agxc_block *block)
{
   bool progress = false;
   agxc_foreach_instr_safe (instr, block) {
      if (h->loads == MAX_LOADS || agxc_flags(instr) & AGXC_CROSS_LANE)
         break;
      if (!is_constant_load(instr))
         continue;
      bool reaches = true;
      agxc_foreach_src (src, instr)
         reaches = reaches && can_reach(h, block, src, MAX_DEPTH);
      if (!reaches)
         continue;
      move(h, instr);
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
