/* SPDX-License-Identifier: MIT
 *
 * Runs the workgroups of launches on a few threads. The calling thread is one of
 * them; the others are made when a run first has work for them and end with it.
 * The order in which workgroups are handed out is fixed, and the failure reported
 * is that of the first workgroup that fails in that order.
 */
#pragma once

#include "agx/sim/machine/machine.h"

struct agxs_pool;

/* thread_count 0: one per online processor. Nothing is started yet. */
AGX_MUST_CHECK agx_status agxs_pool_create(const struct agxs_memory *memory, uint32_t thread_count,
                                           struct agxs_pool **out_pool);
/* Ends the threads; no launch runs. NULL is fine. */
void agxs_pool_destroy(struct agxs_pool *pool);

/* Runs one launch to its end, that is, all or until one fails. */
AGX_MUST_CHECK agx_status agxs_pool_run(struct agxs_pool *pool,
                                        const struct agxs_dispatch *dispatch);

/* The calling thread's own worker, for preambles and for reading memory. */
struct agxs_worker *agxs_pool_worker(struct agxs_pool *pool);

/* Adds the counts of workgroups, threads and instructions. */
void agxs_stats_add(struct agxs_stats *sum, const struct agxs_stats *more);

/* Adds up what all workers counted. */
void agxs_pool_stats(const struct agxs_pool *pool, struct agxs_stats *stats);
