/* SPDX-License-Identifier: MIT
 *
 * Slabs of pools: memory from the device, or from its cache, that blocks are cut from.
 */
#pragma once

#include "hal/memory/pool.h"

/* The largest; of blocks too. */
#define AGX_POOL_MAX_SLAB_B ((uint64_t)1 << 37)

/* A slab that is in no list yet. Without the lock: it asks the kernel. */
AGX_MUST_CHECK agx_status agx_pool_slab_create(struct agx_pool *pool, uint64_t size_B,
                                               struct agx_pool_slab **out_slab);
/* Destroys a slab that is in no list. */
void agx_pool_slab_destroy(struct agx_pool *pool, struct agx_pool_slab *slab);

/* Moves all idle slabs but `kept` of them to *out_slabs. With the lock held. */
void agx_pool_remove_idle_slabs(struct agx_pool *pool, uint32_t kept, struct agx_link *out_slabs);
/* Destroys them all. Without the lock. */
void agx_pool_slabs_destroy(struct agx_pool *pool, struct agx_link *slabs);
