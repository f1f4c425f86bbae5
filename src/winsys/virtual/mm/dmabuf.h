/* SPDX-License-Identifier: MIT
 *
 * Requests on the descriptors of buffers.
 */
#pragma once

#include "winsys/virtual/mm/backing.h"

/* fd is a buffer's (agxv_buffer_bytes); the lock is held. 0 or a negative errno. */
int agxv_dmabuf_ioctl(struct agx_virtual_node *node, int fd, unsigned long request,
                      uint64_t argument);
