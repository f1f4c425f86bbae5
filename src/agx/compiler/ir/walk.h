/* SPDX-License-Identifier: MIT
 *
 * A walk over the tree of control flow, for passes that treat ifs or loops from the inside out, or
 * that keep what they know of the code before as far as it holds.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* What a visit did to its node. */
enum agxc_visited {
   AGXC_UNCHANGED,
   AGXC_CHANGED,  /* the node is still there, and what stood behind it is */
   AGXC_REPLACED, /* other nodes may stand in its place: they are visited next */
};

/* Each function may be NULL; user is what the walk got. */
struct agxc_visitor {
   /* Each block in program order; it may remove instructions, but no nodes. */
   void (*block)(void *user, struct agxc_block *block);
   /* An if whose arms have been walked, and a loop whose two lists have. */
   enum agxc_visited (*leave_if)(void *user, struct agxc_if *branch);
   enum agxc_visited (*leave_loop)(void *user, struct agxc_loop *loop);
   /* A loop before its lists. */
   void (*enter_loop)(void *user, struct agxc_loop *loop);
   /* The start of each list and its end, which gets what the start returned: what is known at the
    * end of a list need not hold behind it. */
   uint32_t (*enter_list)(void *user, const struct agx_link *list);
   void (*leave_list)(void *user, uint32_t mark);
};

/* Walks the nodes of a list, and inside of each if and loop those of its lists (then, else; body,
 * continuing), in program order. True when a visit changed anything. */
bool agxc_walk(struct agx_link *list, const struct agxc_visitor *visitor, void *user);
