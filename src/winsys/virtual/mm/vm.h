/* SPDX-License-Identifier: MIT
 *
 * GPU address spaces: 39 bits, 16 KiB pages, in tables of three levels. The tables
 * are the only truth about what is mapped, so replacing or splitting a mapping is
 * just writing entries. Readers take no lock: entries are single atomic words, and a
 * table lives as long as its address space.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "winsys/virtual/store/object.h"

#define AGXV_VA_BITS    39
#define AGXV_VM_START   0x4000ull
#define AGXV_VM_END     0x7fffff8000ull
#define AGXV_KERNEL_MIN 0x20000000ull

#define AGXV_TOP_LOG2   9
#define AGXV_TABLE_LOG2 8

struct agxv_vm {
   uint32_t refs; /* its number, queues, private buffers, bind records */
   uint32_t file;
   uint64_t kernel_start, kernel_end;
   _Atomic uint64_t generation; /* counts mappings that went or changed */
   _Atomic uint32_t top[1 << AGXV_TOP_LOG2];
};

/* Takes a reference. The lock is held, as for all of these. */
void agxv_vm_get(struct agx_virtual_node *node, uint32_t vm);
/* Gives up a reference; the last one frees the address space and its tables. */
void agxv_vm_put(struct agx_virtual_node *node, uint32_t vm);

/* Unmaps a buffer from the address spaces of a file (0: from all). */
void agxv_vm_forget_gem(struct agx_virtual_node *node, uint32_t gem, uint32_t file);
/* Unmaps everything. */
void agxv_vm_clear(struct agx_virtual_node *node, uint32_t vm);

/* The host address of va when its page is mapped with that access, else NULL. Lock-free. */
void *agxv_vm_translate(struct agx_virtual_node *node, struct agxv_vm *vm, uint64_t va,
                        enum agxs_access access);
