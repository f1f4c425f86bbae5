/* SPDX-License-Identifier: MIT
 *
 * The bounds of dispatches that this process declared (agx_virtual_declare_bounds), by the address
 * of their stream. A list: bounds are declared to find mistakes, not for speed.
 */
#pragma once

#include "winsys/virtual/store/node.h"

struct agxv_declared_bounds {
   struct agxv_declared_bounds *next;
   uint64_t stream_va;
   uint32_t refs; /* under node->local: of the list, and of executions */
   uint32_t count;
   struct agxs_range ranges[];
};

/* What was declared for the stream, to be put back; NULL when nothing was. */
struct agxv_declared_bounds *agxv_bounds_get(struct agx_virtual_node *node, uint64_t stream_va);
/* Gives back what agxv_bounds_get gave; NULL is fine. */
void agxv_bounds_put(struct agx_virtual_node *node, struct agxv_declared_bounds *bounds);
/* Forgets everything; nothing executes. */
void agxv_bounds_fini(struct agx_virtual_node *node);
