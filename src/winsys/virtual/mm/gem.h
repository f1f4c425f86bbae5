/* SPDX-License-Identifier: MIT
 *
 * Buffers and the references that keep them. The lock is held.
 */
#pragma once

#include "winsys/virtual/mm/backing.h"
#include "winsys/virtual/store/node.h"
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

/* Requests on the descriptors of buffers. */

/* fd is a buffer's (agxv_buffer_bytes); the lock is held. 0 or a negative errno. */
int agxv_dmabuf_ioctl(struct agx_virtual_node *node, int fd, unsigned long request,
                      uint64_t argument);

/* The handlers of requests about buffers and address spaces. */

AGXV_HANDLER(gem_create);
AGXV_HANDLER(gem_close);
AGXV_HANDLER(gem_mmap_offset);
AGXV_HANDLER(gem_bind_object);
AGXV_HANDLER(prime_handle_to_fd);
AGXV_HANDLER(prime_fd_to_handle);
AGXV_HANDLER(vm_create);
AGXV_HANDLER(vm_destroy);
AGXV_HANDLER(vm_bind);
