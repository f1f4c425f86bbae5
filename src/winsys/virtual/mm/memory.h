/* SPDX-License-Identifier: MIT
 *
 * GPU memory: contiguous runs of 16 KiB pages in the segment. A released run is not
 * reused while a command executes that may have seen it; it comes back zeroed. All
 * with the lock held.
 */
#pragma once

#include <stdint.h>

#include "winsys/virtual/store/node.h"

/* The first page of a run owned by object, or UINT64_MAX when memory is full. */
uint64_t agxv_memory_take(struct agx_virtual_node *node, uint64_t pages, uint32_t object);
/* backing: what was mapped over the run, dropped when it is reused; or 0. */
void agxv_memory_release(struct agx_virtual_node *node, uint64_t first, uint64_t pages,
                         uint32_t backing);
/* Takes back the released runs that no command sees any more. */
void agxv_memory_bury(struct agx_virtual_node *node);
/* The object whose run starts at page, or 0. */
uint32_t agxv_memory_owner(struct agx_virtual_node *node, uint64_t page);

/* Around the execution of a command, which must not begin where the slot is < 0: as many execute
 * as there may. */
int agxv_memory_run_begin(struct agx_virtual_node *node);
/* Undoes agxv_memory_run_begin, and takes back what only this command could still see. */
void agxv_memory_run_end(struct agx_virtual_node *node, int slot);

/* The host address of a page of GPU memory. */
static inline void *agxv_memory_at(const struct agx_virtual_node *node, uint64_t page)
{
   return node->memory + (page << AGXV_PAGE_LOG2);
}
