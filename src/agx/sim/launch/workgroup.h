/* SPDX-License-Identifier: MIT
 *
 * One workgroup on one worker: its SIMD-groups run in turn, each until it ends or
 * stands at a barrier, so that the order is the same every time.
 */
#pragma once

#include "agx/sim/machine/machine.h"

/* The worker is zeroed before. */
AGX_MUST_CHECK agx_status agxs_worker_init(struct agxs_worker *worker,
                                           const struct agxs_memory *memory);
/* Frees what the worker has made. */
void agxs_worker_fini(struct agxs_worker *worker);

/* Takes up a launch: makes room for its SIMD-groups, registers and stacks. */
AGX_MUST_CHECK agx_status agxs_worker_begin(struct agxs_worker *worker,
                                            const struct agxs_dispatch *dispatch);

/* Runs one workgroup of the launch to its end. */
AGX_MUST_CHECK agx_status agxs_worker_run(struct agxs_worker *worker, const uint32_t workgroup[3]);

/* Its beginning alone: all SIMD-groups at the kernel's start. */
void agxs_worker_enter(struct agxs_worker *worker, const uint32_t workgroup[3]);
/* SIMD-groups in a workgroup of the launch. */
uint32_t agxs_worker_groups(const struct agxs_worker *worker);

/* Sets SIMD-group `index` to the kernel's start, with threads in the lanes `exists`;
 * part of agxs_worker_run. */
void agxs_group_start(struct agxs_worker *worker, uint32_t index, uint32_t exists);
