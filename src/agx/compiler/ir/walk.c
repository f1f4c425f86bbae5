/* SPDX-License-Identifier: MIT
 *
 * The walk over the tree of control flow that passes of opt/ and analyses share, in place of a
 * recursion of their own.
 */
#include "agx/compiler/ir/walk.h"

static enum agxc_visited walk_node(struct agxc_node *node, const struct agxc_visitor *visitor,
                                   void *user, bool *progress)
{
   if (node->kind == AGXC_NODE_BLOCK) {
      if (visitor->block)
         visitor->block(user, agxc_as_block(node));
      return AGXC_UNCHANGED;
   }
   if (node->kind == AGXC_NODE_LOOP && visitor->enter_loop)
      visitor->enter_loop(user, agxc_as_loop(node));
   agxc_foreach_list (inner, node)
      *progress |= agxc_walk(inner, visitor, user);
   if (node->kind == AGXC_NODE_IF)
      return visitor->leave_if ? visitor->leave_if(user, agxc_as_if(node)) : AGXC_UNCHANGED;
   return visitor->leave_loop ? visitor->leave_loop(user, agxc_as_loop(node)) : AGXC_UNCHANGED;
}

bool agxc_walk(struct agx_link *list, const struct agxc_visitor *visitor, void *user)
{
   bool progress = false;
   uint32_t mark = visitor->enter_list ? visitor->enter_list(user, list) : 0;
   for (struct agx_link *at = list->next; at != list;) {
      struct agx_link *before = at->prev, *next = at->next;
      struct agxc_node *node = agx_container_of(at, struct agxc_node, link);
      enum agxc_visited visited = walk_node(node, visitor, user, &progress);
      progress |= visited != AGXC_UNCHANGED;
      at = visited == AGXC_REPLACED ? before->next : next;
   }
   if (visitor->leave_list)
      visitor->leave_list(user, mark);
   return progress;
}
