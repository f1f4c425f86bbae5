/* SPDX-License-Identifier: MIT
 *
 * Buffers and the references that keep them. The lock is held.
 */
#pragma once

#include "winsys/virtual/store/object.h"

/* A buffer of that many pages, refs 1; 0 when there is no memory. */
uint32_t agxv_gem_new(struct agx_virtual_node *node, uint64_t pages);
/* Ends those of processes that died, or with a pid of that process. */
void agxv_hold_reap(struct agx_virtual_node *node, int32_t pid);
/* After a fork: this process holds what its mappings say. */
void agxv_hold_again(struct agx_virtual_node *node);
/* Gives up a reference; the last one gives the memory back. */
void agxv_gem_put(struct agx_virtual_node *node, uint32_t ref);
/* The same of a binding for timestamps (GEM_BIND_OBJECT). */
void agxv_bound_put(struct agx_virtual_node *node, uint32_t ref);
