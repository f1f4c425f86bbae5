/* SPDX-License-Identifier: MIT
 *
 * The tables of an address space. An entry of the last level is a page: bit 0 set,
 * bit 1 readable, bit 2 writable, then the number of the GPU memory page. An entry of
 * the second level is a table's reference shifted left by one, or a page that stands
 * for all 256 of its range (which is how one page repeats over a large range).
 */
#pragma once

#include "winsys/virtual/mm/vm.h"

#define AGXV_PTE_VALID 1u
#define AGXV_PTE_READ  2u
#define AGXV_PTE_WRITE 4u
#define AGXV_PTE_SHIFT 3

/* Maps range bytes at va to consecutive pages from the entry first on, or all to the same
 * page. The lock is held. False, and nothing changed, when the segment is full. */
bool agxv_pagetable_map(struct agx_virtual_node *node, struct agxv_vm *vm, uint64_t va,
                        uint64_t range, uint32_t first, bool repeat);
/* Unmaps those pages of the range that lie in first .. first + count of GPU memory. */
void agxv_pagetable_unmap(struct agx_virtual_node *node, struct agxv_vm *vm, uint64_t va,
                          uint64_t range, uint64_t first, uint64_t count);
/* Frees all tables of an address space that nothing reads any more. */
void agxv_pagetable_free_all(struct agx_virtual_node *node, struct agxv_vm *vm);
