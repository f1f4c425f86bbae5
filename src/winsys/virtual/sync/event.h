/* SPDX-License-Identifier: MIT
 *
 * Changes of fences and syncobjs, which every process that shares the node waits for.
 */
#pragma once

#include "winsys/virtual/store/node.h"

/* Gives up the lock until an event or the deadline: 0, -ETIME or -EINTR. Looks after
 * processes that died meanwhile. */
int agxv_wait_event(struct agx_virtual_node *node, int64_t deadline_ns);
/* Tells everybody that fences or syncobjs changed. The lock is held. */
void agxv_notify(struct agx_virtual_node *node);
