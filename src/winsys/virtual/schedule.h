/* SPDX-License-Identifier: MIT
 *
 * When jobs begin and when their ends are told: at once, unless a fault script says
 * otherwise. The lock is held for all of these.
 */
#pragma once

#include "winsys/virtual/job.h"

/* Whether a job whose in-syncs are done may begin, or its end be told, now; else lowers
 * *until_ns to when. */
bool agxv_job_is_due(struct agx_virtual_node *node, const struct agxv_queue *queue,
                     struct agxv_job *job, int64_t *until_ns);
/* Whether it is to be executed; if not, its outcome is set. */
bool agxv_job_may_execute(struct agx_virtual_node *node, struct agxv_job *job);
/* Sets the outcome of one that was executed. Afterwards due_ns is 0 when its end is to be
 * told now. */
void agxv_job_executed(struct agx_virtual_node *node, struct agxv_job *job, int32_t error);
