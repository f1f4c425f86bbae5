/* SPDX-License-Identifier: MIT
 *
 * What this process told of the bounds of dispatches (agx_virtual_tell_bounds), by the address of
 * their stream. A list: whoever tells bounds is looking for mistakes, not for speed.
 */
#pragma once

#include "winsys/virtual/store/node.h"

struct agxv_told {
   struct agxv_told *next;
   uint64_t stream_va;
   uint32_t refs; /* under node->local: of the list, and of executions */
   uint32_t count;
   struct agxs_range ranges[];
};

/* What was told of the stream, to be put back; NULL when nothing was. */
struct agxv_told *agxv_bounds_get(struct agx_virtual_node *node, uint64_t stream_va);
void agxv_bounds_put(struct agx_virtual_node *node, struct agxv_told *told);
/* Forgets everything; nothing executes. */
void agxv_bounds_fini(struct agx_virtual_node *node);
