/* SPDX-License-Identifier: MIT
 *
 * The virtual AGX: the kernel side of the Asahi uAPI and the DRM core ioctls it
 * needs, with a simulated GPU behind it. Behaves as kernel 7.2 does; what it
 * accepts, a real kernel accepts, and with the same errno it refuses. All state
 * lies in one shared-memory segment (docs/virtual.md), so that the node can be
 * shared by processes; in process it is the same code on a private mapping.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "agx/chip.h"
#include "base/status.h"

struct agx_virtual_node; /* one device: shared state and its worker threads */
struct agx_virtual_file; /* one open of it: handle tables */

/* Creates a node. segment_fd < 0: private to this process; else a memfd that
 * holds, or will hold, the shared state. */
AGX_MUST_CHECK agx_status agx_virtual_node_create(const struct agx_chip *chip, int segment_fd,
                                                  struct agx_virtual_node **out_node);
void agx_virtual_node_destroy(struct agx_virtual_node *node);

AGX_MUST_CHECK agx_status agx_virtual_open(struct agx_virtual_node *node,
                                           struct agx_virtual_file **out_file);
/* Frees everything created through the file, work in flight included. */
void agx_virtual_close(struct agx_virtual_file *file);

/* One ioctl as the kernel would take it: dispatches on the request's number, copies
 * min(sizes) in and out. 0 or a negative errno. Any thread. */
int agx_virtual_ioctl(struct agx_virtual_file *file, unsigned long request, void *argument);

/* mmap(2) of the node: the host address, or NULL with *out_errno. munmap(2) undoes it. */
void *agx_virtual_mmap(struct agx_virtual_file *file, void *address, size_t length, int prot,
                       int flags, uint64_t offset, int *out_errno);
