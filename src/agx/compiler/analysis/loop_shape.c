/* SPDX-License-Identifier: MIT
 *
 * Recognises and copies loops with one exit, for the passes that unroll (opt/unroll.c, opt/loads/),
 * rotate or prefetch, and for induction variables (induction.c).
 */
#include "agx/compiler/analysis/loop_shape.h"

/* Larger ones, or with more loops inside each other, are of no use to any pass; so nests of loops
 * are not measured anew at each level. */
#define MAX_SIZE   1024u
#define MAX_LEVELS 4u

/* ---- shape ------------------------------------------------------------- */

static void measure_block(struct agxc_loop_shape *u, const struct agxc_block *block,
                          unsigned inner_loops)
{
   agxc_foreach_instr (instr, block) {
      u->flags |= agxc_flags(instr);
      u->barriers += instr->op == AGXC_OP_BARRIER;
      u->private_loads += instr->op == AGXC_OP_LOAD_SCRATCH;
      u->private_stores += instr->op == AGXC_OP_STORE_SCRATCH;
      u->size += instr->op != AGXC_OP_PHI && instr->op != AGXC_OP_MOV;
      u->breaks += !inner_loops && instr->op == AGXC_OP_BREAK;
      u->continues += !inner_loops && instr->op == AGXC_OP_CONTINUE;
   }
}

static void measure_list(struct agxc_loop_shape *u, const struct agx_link *list,
                         unsigned inner_loops)
{
   if (inner_loops > MAX_LEVELS)
      u->size = MAX_SIZE + 1;
   agxc_foreach_node (node, list) {
      bool is_loop = node->kind == AGXC_NODE_LOOP;
      if (u->size > MAX_SIZE || u->breaks > 1 || u->continues)
         return;
      u->inner_loops += is_loop;
      if (node->kind == AGXC_NODE_BLOCK)
         measure_block(u, agxc_as_block(node), inner_loops);
      agxc_foreach_list (inner, node)
         measure_list(u, inner, inner_loops + is_loop);
   }
}

static bool ends_in_break(const struct agx_link *list)
{
   const struct agxc_instr *last = agxc_terminator(agxc_last_block(list));
   return last && last->op == AGXC_OP_BREAK;
}

/* The top-level if of the list that holds the break. */
static bool find_exit(struct agxc_loop_shape *u, struct agx_link *list)
{
   agxc_foreach_node (node, list) {
      if (node->kind != AGXC_NODE_IF)
         continue;
      struct agxc_if *branch = agxc_as_if(node);
      bool in_then = ends_in_break(&branch->then_list);
      if (!in_then && !ends_in_break(&branch->else_list))
         continue;
      u->exit = branch;
      u->break_arm = in_then ? &branch->then_list : &branch->else_list;
      u->stay_arm = in_then ? &branch->else_list : &branch->then_list;
      u->taken = agxc_src_condition(agxc_terminator(agxc_block_before(node)));
      u->leaves_if = in_then;
      return agxc_terminator(agxc_last_block(u->stay_arm)) == NULL;
   }
   return false;
}

/* Control must reach the end of the part. */
static bool falls_through(const struct agx_link *list)
{
   return agxc_terminator(agxc_last_block(list)) == NULL;
}

bool agxc_loop_shape_find(struct agxc_loop_shape *u, struct agxc_shader *shader,
                          struct agxc_loop *loop)
{
   *u = (struct agxc_loop_shape){
      .shader = shader, .loop = loop, .header = agxc_first_block(&loop->body)};
   measure_list(u, &u->loop->body, 0);
   measure_list(u, &u->loop->continuing, 0);
   if (u->size > MAX_SIZE)
      return false;
   uint32_t phis = 0;
   agxc_foreach_phi (phi, u->header)
      phis++;
   if (u->header->pred_count != 2 || phis > AGXC_LOOP_MAX_PHIS)
      return false;
   return u->breaks == 1 && u->continues == 0 && falls_through(&u->loop->body) &&
          falls_through(&u->loop->continuing) &&
          (find_exit(u, &u->loop->body) || find_exit(u, &u->loop->continuing));
}

/* ---- copying ------------------------------------------------------------ */

/* The way in is known: of a phi with one source it is that source. The exit is decided. */
static void copy_block(const struct agxc_loop_shape *u, struct agxc_clone *clone,
                       const struct agxc_block *block)
{
   bool is_header = block == u->header;
   bool is_exit = block->node.link.next == &u->exit->node.link;
   agxc_foreach_instr (instr, block) {
      if (instr->op == AGXC_OP_BREAK || (instr->op == AGXC_OP_BRANCH && is_exit))
         continue;
      if (instr->op != AGXC_OP_PHI)
         agxc_clone_instr(clone, instr);
      else if (!is_header && instr->src_count == 1)
         agxc_clone_set(clone, agxc_dest(instr)->value,
                        agxc_clone_ref(clone, *agxc_phi_only(instr)));
      else if (!is_header)
         agxc_clone_instr(clone, instr);
   }
}

/* Top-level blocks melt into one where nothing stands between. True when the exit was taken. */
static bool copy_list(const struct agxc_loop_shape *u, struct agxc_clone *clone,
                      const struct agx_link *list, bool leaves)
{
   agxc_foreach_node (node, list) {
      if (node->kind == AGXC_NODE_BLOCK)
         copy_block(u, clone, agxc_as_block(node));
      else if (node != &u->exit->node)
         agxc_clone_node(clone, node);
      else if (copy_list(u, clone, leaves ? u->break_arm : u->stay_arm, leaves) || leaves)
         return true;
   }
   return false;
}

static void values_of_list(struct agxc_clone *clone, const struct agx_link *list,
                           const struct agxc_block *header)
{
   agxc_foreach_node (node, list) {
      if (node->kind != AGXC_NODE_BLOCK || agxc_as_block(node) != header) {
         agxc_clone_values(clone, node);
         continue;
      }
      agxc_foreach_instr (instr, header) /* its phis stand for what the iteration before left */
         agxc_foreach_dest (dest, instr)
            if (instr->op != AGXC_OP_PHI)
               agxc_clone_renew(clone, dest->value);
   }
}

void agxc_iteration_begin(const struct agxc_loop_shape *u, struct agxc_clone *clone,
                          bool comes_around)
{
   struct agxc_ref next[AGXC_LOOP_MAX_PHIS];
   uint32_t count = 0;
   agxc_foreach_phi (phi, u->header)
      next[count++] =
         agxc_clone_ref(clone, comes_around ? *agxc_phi_back(phi) : *agxc_phi_entry(phi));
   count = 0;
   agxc_foreach_phi (phi, u->header)
      agxc_clone_set(clone, agxc_dest(phi)->value, next[count++]);
}

void agxc_iteration_copy(const struct agxc_loop_shape *u, struct agxc_clone *clone, bool leaves)
{
   values_of_list(clone, &u->loop->body, u->header);
   values_of_list(clone, &u->loop->continuing, u->header);
   if (!copy_list(u, clone, &u->loop->body, leaves))
      copy_list(u, clone, &u->loop->continuing, leaves);
}

bool agxc_has_loop(const struct agxc_shader *shader)
{
   agxc_foreach_block (block, shader)
      if (block->loop_depth)
         return true;
   return false;
}

bool agxc_loops_visit(struct agx_link *list, bool (*visit)(void *user, struct agxc_loop *loop),
                      void *user)
{
   bool progress = false;
   agxc_foreach_node_safe (node, list) {
      bool inside = false;
      agxc_foreach_list (inner, node)
         inside |= agxc_loops_visit(inner, visit, user);
      progress |= inside;
      if (node->kind == AGXC_NODE_LOOP && !inside)
         progress |= visit(user, agxc_as_loop(node));
   }
   return progress;
}
