/* SPDX-License-Identifier: MIT
 *
 * Blocks that a source of the application's gives (AGX_POOL_CALLER). The pool keeps nothing but
 * spare nodes, and asks its source without any lock.
 */
#pragma once

#include "hal/memory/pool_block.h"

struct agx_pool;
struct agx_pool_caller_block;

/* Embedded. */
struct agx_pool_caller {
   struct agx_pool_source source;
   struct agx_pool_caller_block *spare; /* by next; guarded by the pool's lock */
   uint32_t spare_count;
};

/* Reads the source that a description names; one without AGX_POOL_CALLER has none. */
AGX_MUST_CHECK agx_status agx_pool_caller_init(struct agx_pool_caller *caller,
                                               const struct agx_pool_desc *desc);
/* All blocks were returned: tells the source, where the pool was made. */
void agx_pool_caller_fini(struct agx_pool *pool);

/* A block of the source's, checked, whose memory it retains. *out_block NULL: it has none now.
 * Calls the source, and takes the pool's lock. */
AGX_MUST_CHECK agx_status agx_pool_caller_acquire(struct agx_pool *pool,
                                                  const struct agx_pool_want *want,
                                                  struct agx_pool_block **out_block);
/* Gives a block back to the source; death NULL: all uses are over. Calls the source, and takes the
 * pool's lock. */
void agx_pool_caller_return(struct agx_pool *pool, struct agx_pool_block *block, uint32_t queue,
                            const struct agx_frontier *death);
