/* SPDX-License-Identifier: MIT
 *
 * What the parts of the preload library share: the C library's own functions, and
 * which descriptors are open files of the virtual node.
 */
#pragma once

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "winsys/virtual/virtual.h"

#define AGXV_EXPORT __attribute__((visibility("default")))

/* Declares next_NAME: the function that stands behind ours. */
#define AGXV_NEXT(name)                                                                            \
   static _Atomic(void *) next_slot_##name;                                                        \
   __typeof__(&name) next_##name = (__typeof__(&name))agxv_next(&next_slot_##name, #name)
void *agxv_next(_Atomic(void *) *slot, const char *name);

/* True while the calling thread is inside the node's own code, which must reach the C
 * library itself. */
bool agxv_is_inside(void);
void agxv_enter(void);
void agxv_leave(void);

struct agxv_open; /* an open file description of the node; counted */

/* The node, made when first asked for; NULL when it can't be. */
struct agx_virtual_node *agxv_node(void);
/* As above, but NULL when nobody opened it yet. */
struct agx_virtual_node *agxv_node_if_made(void);

/* fd was just opened: when it is the node's file, makes it one of ours; returns fd, or -1
 * with errno (fd is closed then). */
int agxv_adopt(int fd);
/* new_fd is a copy of old_fd (>= 0), as after dup. */
void agxv_copied(int old_fd, int new_fd);
/* The open file behind fd with a reference, or NULL. */
struct agxv_open *agxv_get(int fd);
void agxv_put(struct agxv_open *open);
struct agx_virtual_file *agxv_file_of(struct agxv_open *open);
/* What a sync file, syncobj or buffer descriptor is called; NULL for all others. */
const char *agxv_fd_name(int fd);
const char *agxv_inode_name(uint64_t device, uint64_t inode);
/* fd is about to be closed. */
void agxv_closing(int fd);
