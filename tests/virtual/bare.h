/* SPDX-License-Identifier: MIT
 *
 * A node with nothing but its segment, for tests of the rooms below node/.
 */
#pragma once

#include <unistd.h>

#include "agx/chip.h"
#include "support.h"
#include "winsys/virtual/store/node.h"

static inline void bare_ignore(struct agx_virtual_node *node) {}

static inline bool bare_start_nothing(struct agx_virtual_node *node)
{
   return true;
}

/* 4 MiB of GPU memory; the lock is taken. */
static inline void bare_open(struct agx_virtual_node *node)
{
   static const struct agxv_node_calls calls = {bare_ignore, bare_ignore, bare_start_nothing};
   const uint64_t memory_bytes = 4 << 20;
   *node = (struct agx_virtual_node){.chip = *agx_chip_find("g13g"),
                                     .pid = getpid(),
                                     .options.memory_bytes = memory_bytes,
                                     .calls = &calls};
   pthread_mutex_init(&node->local, NULL);
   assert_int_equal(agxv_segment_attach(node, -1, memory_bytes), 0);
   agxv_lock(node);
}

static inline void bare_close(struct agx_virtual_node *node)
{
   agxv_unlock(node);
   agxv_segment_detach(node);
   pthread_mutex_destroy(&node->local);
}
