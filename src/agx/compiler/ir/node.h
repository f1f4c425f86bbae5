/* SPDX-License-Identifier: MIT
 *
 * The tree of control flow: blocks of instructions, ifs and loops.
 */
#pragma once

#include "agx/compiler/ir/instr.h"

struct agxc_shader;

/* Lists of nodes start and end with a block, and no two blocks are neighbours. */
enum agxc_node_kind {
   AGXC_NODE_BLOCK,
   AGXC_NODE_IF,
   AGXC_NODE_LOOP,
};

struct agxc_node {
   struct agx_link link;
   enum agxc_node_kind kind;
   struct agxc_node *parent; /* the if or loop around it, or NULL */
   struct agx_link *list;    /* the list it is in */
};

struct agxc_block {
   struct agxc_node node;
   struct agx_link instrs;
   /* Set by agxc_index: */
   uint32_t index;              /* position in program order */
   uint32_t loop_depth;         /* loops around it */
   struct agxc_loop *loop;      /* the innermost of them, or NULL */
   struct agxc_block *succs[2]; /* of a branch: then, else; NULL where there is none */
   struct agxc_block **preds;   /* in program order; phis follow this order */
   uint32_t pred_count;
};

/* The condition is the BRANCH (or if_icmp, if_fcmp) that ends the block before. */
struct agxc_if {
   struct agxc_node node;
   struct agx_link then_list, else_list;
};

/* body runs, then continuing, then body again, until a BREAK. CONTINUE goes to the
 * start of continuing; falling out of body does too. BREAK goes to the block behind the
 * loop, and may stand in continuing as well (never CONTINUE there). Falling out of
 * continuing is the back edge. */
struct agxc_loop {
   struct agxc_node node;
   struct agx_link body, continuing;
};

/* What a node is, which its kind says. */
static inline struct agxc_block *agxc_as_block(const struct agxc_node *node)
{
   agx_assert(node->kind == AGXC_NODE_BLOCK);
   return agx_container_of(node, struct agxc_block, node);
}
static inline struct agxc_if *agxc_as_if(const struct agxc_node *node)
{
   agx_assert(node->kind == AGXC_NODE_IF);
   return agx_container_of(node, struct agxc_if, node);
}
static inline struct agxc_loop *agxc_as_loop(const struct agxc_node *node)
{
   agx_assert(node->kind == AGXC_NODE_LOOP);
   return agx_container_of(node, struct agxc_loop, node);
}

/* List i of a node, in program order: both arms of an if, body and continuing part of a loop. NULL
 * behind the last one; a block has none. */
static inline struct agx_link *agxc_list_of(const struct agxc_node *node, unsigned i)
{
   if (node->kind == AGXC_NODE_BLOCK || i > 1)
      return NULL;
   if (node->kind == AGXC_NODE_IF)
      return i ? &agxc_as_if(node)->else_list : &agxc_as_if(node)->then_list;
   return i ? &agxc_as_loop(node)->continuing : &agxc_as_loop(node)->body;
}

/* Whether a block is the first one of the loop around it. After agxc_index. */
static inline bool agxc_starts_loop(const struct agxc_block *block)
{
   return block->loop && block->loop->body.next == &block->node.link;
}

/* The first instruction of a block, or NULL. */
static inline struct agxc_instr *agxc_first_instr(const struct agxc_block *block)
{
   return agx_list_empty(&block->instrs)
             ? NULL
             : agx_container_of(block->instrs.next, struct agxc_instr, link);
}
/* The instruction behind it in its block, or NULL. */
static inline struct agxc_instr *agxc_next_instr(const struct agxc_instr *instr)
{
   return instr->link.next == &instr->block->instrs
             ? NULL
             : agx_container_of(instr->link.next, struct agxc_instr, link);
}
/* The instruction if it is a phi, else NULL; NULL stays NULL. */
static inline struct agxc_instr *agxc_as_phi(struct agxc_instr *instr)
{
   return instr && instr->op == AGXC_OP_PHI ? instr : NULL;
}
/* How many phis a block starts with. */
uint32_t agxc_count_phis(const struct agxc_block *block);
/* Which of the block's predecessors that is: the index of a phi's source. */
static inline uint32_t agxc_pred_index(const struct agxc_block *block,
                                       const struct agxc_block *pred)
{
   uint32_t low = 0, high = block->pred_count - 1; /* they are in program order */
   while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (block->preds[middle]->index < pred->index)
         low = middle + 1;
      else
         high = middle;
   }
   agx_assert(block->preds[low] == pred);
   return low;
}
/* The nodes around a node in its list, or NULL. */
static inline struct agxc_node *agxc_node_before(const struct agxc_node *node)
{
   return node->link.prev == node->list ? NULL
                                        : agx_container_of(node->link.prev, struct agxc_node, link);
}
static inline struct agxc_node *agxc_node_after(const struct agxc_node *node)
{
   return node->link.next == node->list ? NULL
                                        : agx_container_of(node->link.next, struct agxc_node, link);
}
/* The terminator of a block (BRANCH, BREAK, CONTINUE, RETURN or a machine one), or NULL. */
struct agxc_instr *agxc_terminator(const struct agxc_block *block);

/* A node outside of any list. Lists of an if or a loop begin empty. */
struct agxc_block *agxc_block_new(struct agxc_shader *shader);
struct agxc_if *agxc_if_new(struct agxc_shader *shader);
struct agxc_loop *agxc_loop_new(struct agxc_shader *shader);
/* Appends a node to a list of parent (NULL = the shader's body). */
void agxc_node_append(struct agx_link *list, struct agxc_node *parent, struct agxc_node *node);
/* Puts a node in front of another one, into the same list. */
void agxc_node_insert_before(struct agxc_node *at, struct agxc_node *node);
/* Appends a new block. */
struct agxc_block *agxc_block_append(struct agxc_shader *shader, struct agx_link *list,
                                     struct agxc_node *parent);
/* The block that a list begins with, and the one that it ends with. */
struct agxc_block *agxc_first_block(const struct agx_link *list);
struct agxc_block *agxc_last_block(const struct agx_link *list);
/* The list is one block without instructions. */
bool agxc_list_is_empty(const struct agx_link *list);
/* The blocks around an if or loop in its list. */
struct agxc_block *agxc_block_before(const struct agxc_node *node);
struct agxc_block *agxc_block_after(const struct agxc_node *node);

#define agxc_foreach_instr(it, blk)                                                                \
   for (struct agxc_instr *it = agx_container_of((blk)->instrs.next, struct agxc_instr, link);     \
        &it->link != &(blk)->instrs && agxc_prefetch(it);                                          \
        it = agx_container_of(it->link.next, struct agxc_instr, link))
#define agxc_foreach_instr_safe(it, blk)                                                           \
   for (struct agxc_instr *it = agx_container_of((blk)->instrs.next, struct agxc_instr, link),     \
                          *it##_next = agx_container_of(it->link.next, struct agxc_instr, link);   \
        &it->link != &(blk)->instrs && agxc_prefetch(it);                                          \
        it = it##_next, it##_next = agx_container_of(it->link.next, struct agxc_instr, link))
/* The phis that a block starts with; the body may remove or replace the current one. */
#define agxc_foreach_phi(it, blk)                                                                  \
   for (struct agxc_instr *it = agxc_as_phi(agxc_first_instr(blk)), *it##_next;                    \
        it && (it##_next = agxc_as_phi(agxc_next_instr(it)), true); it = it##_next)
#define agxc_foreach_node(it, lst)      agx_list_for_each (struct agxc_node, it, (lst), link)
#define agxc_foreach_node_safe(it, lst) agx_list_for_each_safe (struct agxc_node, it, (lst), link)
/* The lists of an if or a loop, in program order: for passes that recurse over the tree. */
#define agxc_foreach_list(it, nod)                                                                 \
   for (struct agx_link *it = agxc_list_of((nod), 0), *it##_first = it; it;                        \
        it = it == it##_first ? agxc_list_of((nod), 1) : NULL)
/* Backwards; the body may remove the current instruction. */
#define agxc_foreach_instr_rev(it, blk)                                                            \
   for (struct agxc_instr *it = agx_container_of((blk)->instrs.prev, struct agxc_instr, link),     \
                          *it##_prev = agx_container_of(it->link.prev, struct agxc_instr, link);   \
        &it->link != &(blk)->instrs;                                                               \
        it = it##_prev, it##_prev = agx_container_of(it->link.prev, struct agxc_instr, link))
