/* SPDX-License-Identifier: MIT
 *
 * Which job goes next, when jobs begin and when their fences complete: in order and at
 * once, unless a fault script or chaos says otherwise.
 */
#pragma once

#include "winsys/virtual/gpu/job.h"

/* The job of a queue, of which none executes, that this process can begin, or complete,
 * now; *out_rank says how much it deserves to be first. 0 when there is none; then *until_ns is
 * lowered to when there may be one. The lock is held. */
uint32_t agxv_queue_next(struct agx_virtual_node *node, const struct agxv_queue *queue,
                         uint64_t *out_rank, int64_t *until_ns);
/* Whether it is to be executed; if not, its outcome is set. The lock is held. */
bool agxv_job_may_execute(struct agx_virtual_node *node, struct agxv_job *job);
/* Sets the outcome of one that was executed. Afterwards due_ns is 0 when it is to be
 * completed now. The lock is held. */
void agxv_job_executed(struct agx_virtual_node *node, struct agxv_job *job, int32_t error);
/* The command that goes next, `done` being those that did, one bit each. */
uint32_t agxv_job_command(const struct agx_virtual_node *node, const struct agxv_job *job,
                          uint64_t done);
/* The seed of a command's run on the simulator; 0 without chaos. */
uint64_t agxv_chaos_seed(const struct agx_virtual_node *node, uint64_t submission,
                         uint32_t command);
