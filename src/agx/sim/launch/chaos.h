/* SPDX-License-Identifier: MIT
 *
 * Chaos: a stream run as badly as it may be. Launches between two barriers are
 * collected, and their workgroups run on a few simulated cores in an order made from
 * a seed, SIMD-group by SIMD-group in turns of random length; each core has caches
 * (cache.h) that only barriers flush. One host thread, so that a seed gives the same
 * run every time. What a client should not rely on, it can't.
 */
#pragma once

#include "agx/sim/launch/launch.h"

/* run->options->chaos_seed is not 0. */
AGX_MUST_CHECK agx_status agxs_chaos_create(struct agxs_run *run);
/* Adds to the run's statistics. */
void agxs_chaos_destroy(struct agxs_run *run);

/* A launch of the stream; may run some of those before it. */
AGX_MUST_CHECK agx_status agxs_chaos_add(struct agxs_run *run, const struct agx_hw_launch *launch,
                                         const struct agx_hw_usc_info *program);
/* Runs all that was added, and makes memory what every core sees. */
AGX_MUST_CHECK agx_status agxs_chaos_barrier(struct agxs_run *run);

/* Number `index` of a permutation of 0 .. count - 1 that key selects. */
uint64_t agxs_chaos_permute(uint64_t key, uint64_t count, uint64_t index);
