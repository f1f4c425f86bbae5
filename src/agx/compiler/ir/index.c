/* SPDX-License-Identifier: MIT
 *
 * Numbers blocks and instructions in program order, and links the graph of control flow that
 * follows from the tree. Passes call agxc_index after they changed the tree; analyses go by its
 * numbers.
 */
#include "agx/compiler/ir/ir.h"

struct numbering {
   struct agxc_shader *shader;
   struct agxc_instr *recent[AGXC_AHEAD]; /* the last ones that were numbered */
   struct agxc_instr none;                /* in front of the first one */
};

/* Writes only what differs: most instructions are as they were, and what isn't written needs no way
 * back to memory. */
static void number_instr(struct numbering *n, struct agxc_instr *instr, struct agxc_block *block)
{
   uint32_t index = n->shader->instr_count++;
   struct agxc_instr **before = &n->recent[index % AGXC_AHEAD];
   if ((*before)->ahead != instr)
      (*before)->ahead = instr;
   *before = instr;
   if (instr->block == block && instr->index == index)
      return;
   instr->block = block;
   instr->index = index;
}

static void number_block(struct numbering *n, struct agxc_block *block, uint32_t loop_depth,
                         struct agxc_loop *loop)
{
   struct agxc_shader *shader = n->shader;
   block->index = shader->block_count;
   block->loop_depth = loop_depth;
   block->loop = loop;
   block->pred_count = 0;
   block->succs[0] = block->succs[1] = NULL;
   if (shader->block_count == shader->block_capacity) {
      uint32_t capacity = AGX_MAX(16u, 2 * shader->block_count);
      shader->blocks = agx_arena_grow(shader->arena, shader->blocks, shader->block_count, capacity,
                                      sizeof(struct agxc_block *));
      shader->block_capacity = capacity;
   }
   shader->blocks[shader->block_count++] = block;
   agxc_foreach_instr (instr, block)
      number_instr(n, instr, block);
}

static void number_list(struct numbering *n, struct agx_link *list, uint32_t loop_depth,
                        struct agxc_loop *loop)
{
   agxc_foreach_node (node, list) {
      bool is_loop = node->kind == AGXC_NODE_LOOP;
      if (node->kind == AGXC_NODE_BLOCK)
         number_block(n, agxc_as_block(node), loop_depth, loop);
      agxc_foreach_list (inner, node)
         number_list(n, inner, loop_depth + is_loop, is_loop ? agxc_as_loop(node) : loop);
   }
}

/* Where control goes at the end of a list that is not the shader's body. */
static struct agxc_block *after_list(const struct agxc_node *parent, const struct agx_link *list)
{
   if (parent->kind == AGXC_NODE_IF)
      return agxc_block_after(parent);
   return agxc_first_block(agxc_list_of(parent, list == agxc_list_of(parent, 0)));
}

static void link_succs(struct agxc_block *block)
{
   struct agxc_instr *last = agxc_terminator(block);
   struct agxc_loop *loop = block->loop;
   if (last && (last->op == AGXC_OP_RETURN || agxc_has_opcode(last, AGX_ISA_OP_STOP)))
      return;
   if (last && last->op == AGXC_OP_BREAK && loop) {
      block->succs[0] = agxc_block_after(&loop->node);
      return;
   }
   if (last && last->op == AGXC_OP_CONTINUE && loop) {
      block->succs[0] = agxc_first_block(&loop->continuing);
      return;
   }
   if (block->node.link.next == block->node.list) {
      if (block->node.parent)
         block->succs[0] = after_list(block->node.parent, block->node.list);
      return;
   }
   const struct agxc_node *next = agxc_node_after(&block->node);
   block->succs[0] = agxc_first_block(agxc_list_of(next, 0));
   if (next->kind == AGXC_NODE_IF)
      block->succs[1] = agxc_first_block(agxc_list_of(next, 1));
}

/* In one walk, since control goes back only to loops that it has come through: what none of the
 * blocks in front of it goes to is never reached, and goes nowhere. */
static uint32_t link_reachable(struct agxc_shader *shader)
{
   uint32_t edges = 0;
   agxc_foreach_block (block, shader) {
      if (block->index > 0 && block->pred_count == 0)
         continue;
      link_succs(block);
      for (unsigned i = 0; i < 2; i++) {
         if (!block->succs[i])
            continue;
         block->succs[i]->pred_count++;
         edges++;
      }
   }
   return edges;
}

static void link_preds(struct agxc_shader *shader, uint32_t edges)
{
   struct agxc_block **preds = AGX_ARENA_ARRAY(shader->arena, struct agxc_block *, edges);
   agxc_foreach_block (block, shader) {
      block->preds = preds;
      preds += block->pred_count;
      block->pred_count = 0;
   }
   agxc_foreach_block (block, shader)
      for (unsigned i = 0; i < 2; i++)
         if (block->succs[i])
            block->succs[i]->preds[block->succs[i]->pred_count++] = block;
}

void agxc_index(struct agxc_shader *shader)
{
   struct numbering n = {.shader = shader};
   for (unsigned i = 0; i < AGXC_AHEAD; i++)
      n.recent[i] = &n.none;
   /* Passes hold on to the array that they had. */
   shader->block_capacity = shader->block_count;
   shader->blocks = AGX_ARENA_ARRAY(shader->arena, struct agxc_block *, shader->block_capacity);
   shader->block_count = shader->instr_count = 0;
   number_list(&n, &shader->body, 0, NULL);
   link_preds(shader, link_reachable(shader));
}

/* Whether the list had any. */
static bool remove_from(const struct agx_link *list)
{
   bool removed = false;
   agxc_foreach_node (node, list) {
      if (node->kind != AGXC_NODE_BLOCK) {
         agxc_foreach_list (inner, node)
            removed |= remove_from(inner);
         continue;
      }
      struct agxc_block *block = agxc_as_block(node);
      if (block->index == 0 || block->pred_count > 0)
         continue;
      agxc_foreach_instr_safe (instr, block)
         agxc_instr_remove(instr);
      while (node->link.next != list)
         agx_list_remove(node->link.next);
      return true;
   }
   return removed;
}

void agxc_remove_unreached(struct agxc_shader *shader)
{
   if (remove_from(&shader->body))
      agxc_index(shader);
}

uint32_t *agxc_count_uses(struct agxc_shader *shader)
{
   uint32_t *uses = AGX_ARENA_ARRAY(shader->arena, uint32_t, shader->value_count + 1ull);
   agxc_foreach_instr_of (instr, shader)
      agxc_foreach_src (src, instr)
         if (src->kind == AGXC_VALUE)
            uses[src->value->id]++;
   return uses;
}
