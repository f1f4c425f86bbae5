/* SPDX-License-Identifier: MIT
 *
 * Arithmetic of frontiers (agx/pool.h): how far each queue of a device has come, or must come
 * before something may happen. Pools compare them to decide who may have a block, submissions to
 * decide when they are over.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agx/pool.h"

/* Makes *frontier the later of the two, queue by queue. */
static inline void agx_frontier_merge(struct agx_frontier *frontier,
                                      const struct agx_frontier *other)
{
   for (unsigned i = 0; i < AGX_MAX_QUEUES; i++)
      if (other->epochs[i] > frontier->epochs[i])
         frontier->epochs[i] = other->epochs[i];
}

/* Whether a wait for frontier is a wait for other, too: no epoch of other is later. */
static inline bool agx_frontier_covers(const struct agx_frontier *frontier,
                                       const struct agx_frontier *other)
{
   for (unsigned i = 0; i < AGX_MAX_QUEUES; i++)
      if (other->epochs[i] > frontier->epochs[i])
         return false;
   return true;
}
