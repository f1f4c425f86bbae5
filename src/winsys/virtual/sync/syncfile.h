/* SPDX-License-Identifier: MIT
 *
 * Requests on the descriptors of sync files.
 */
#pragma once

#include "winsys/virtual/store/node.h"

/* The sync file of this fence; the lock is held. 0 or a negative errno. */
int agxv_sync_file_ioctl(struct agx_virtual_node *node, uint32_t fence, unsigned long request,
                         uint64_t argument);
